// SPDX-License-Identifier: Apache-2.0
// Report trees that several tests look at.
#include "sample.h"

#include <math.h>

#define NONE ((double)NAN)
enum { N_CATEGORIES = 7, N_OPERATORS = 60, N_BLOCKS = 10 };

static const char *const k_category[N_CATEGORIES] = {
    "Convolution",   "GEMM",   "Data movement",   "Elementwise",
    "Normalization", "Resize", "Quantize/convert"};
static const double k_neon_ns[N_CATEGORIES] = {612.4e6, 331.9e6, 92.6e6, 61.2e6,
                                               35.4e6,  18.8e6,  9.9e6};
static const double k_sme2_ns[N_CATEGORIES] = {72.1e6, 44.8e6, 98.3e6, 47.5e6, 22.6e6, 12.0e6, 0};

static void add_head(etp_report *r)
{
    etp_report_subtitle(r, "neon → sme2 on a sample device · 1 thread · fp16");
    etp_headline h = {
        .label = "sme2 against neon",
        .verdict = "faster",
        .severity = ETP_GOOD,
        .value = 3.904,
        .lo = 3.861,
        .hi = 3.948,
        .interval = "95 % t interval over 10 paired blocks, sign-flip p = 0.002",
        .detail =
            "1163.0 ms → 297.9 ms. Convolution and GEMM were 81 % of the time and are 39 % now; "
            "data movement is the largest category (33 %).",
    };
    etp_report_headline(r, &h);
    etp_report_fact(r, "grade", "A · one binary, feature masked");
    etp_report_fact(r, "noise floor", "0.7 %%");
    etp_report_fact(r, "blocks", "10 of 10");
    etp_report_fact(r, "proof", "names: 31 of 34 operators switched");
    etp_report_fact(r, "outputs", "equal, max |Δ| 3.1e-4");
    etp_keys *k = etp_report_keys(r, NULL);
    etp_keys_add(k, ETP_PLAIN, "why",
                 "Convolution −540.3 ms · GEMM −287.1 ms · quantize/convert gone "
                 "−9.9 ms · data movement +5.7 ms · unexplained +0.3 ms");
    etp_keys_add(
        k, ETP_PLAIN, "engaged",
        "96.1 %% of MACs on SME2; not engaged: 3 operators: depthwise "
        "(no kernel), fully connected with M = 1 (slower), batch matrix multiply (dynamic weight)");
    etp_keys_add(k, ETP_BAD, "slower",
                 "fully_connected #7 +1.4 ms (M = 1: the packed SME2 row kernel "
                 "was chosen, the NEON dot was faster)");
    etp_keys_add(k, ETP_PLAIN, "next fix",
                 "1. transpose #4, #9: 31…58 ms (at 11 %% of copy bandwidth) "
                 "2. fuse HardSwish into conv: 6…9 ms");
    etp_keys_add(k, ETP_GOOD, "ruled out", "thermal (A/A 0.998) · tracer (0.4 %%) · threads (one)");
}

static void add_time_section(etp_report *r)
{
    etp_report_section(r, 1, "time", "Where the time went");
    etp_chart *c = etp_report_chart(r, ETP_CHART_STACKED, "operator_breakdown", "Time by category",
                                    ETP_KIND_NS);
    for (size_t k = 0; k < N_CATEGORIES; k++) {
        etp_chart_series(c, k_category[k]);
    }
    etp_chart_row(c, "neon", k_neon_ns, N_CATEGORIES);
    etp_chart_row(c, "sme2", k_sme2_ns, N_CATEGORIES);
    etp_chart_describe(c, "With SME2 convolution and GEMM shrink from 81 %% to 39 %% of the time; "
                          "data movement becomes the largest category.");

    etp_chart *w = etp_report_chart(r, ETP_CHART_WATERFALL, "ledger",
                                    "From 1163.0 ms to 297.9 ms, every step", ETP_KIND_NS);
    etp_chart_describe(
        w, "Steps add up exactly to the measured difference. Whiskers: 95 %% intervals.");
    etp_chart_total(w, "neon", 1163.0e6);
    etp_chart_step(w, "Convolution", "operator", false, -540.3e6, -548.0e6, -532.6e6);
    etp_chart_step(w, "GEMM", "operator", false, -287.1e6, -291.2e6, -283.0e6);
    etp_chart_step(w, "Quantize/convert", "vanished", false, -9.9e6, -10.4e6, -9.4e6);
    etp_chart_step(w, "Elementwise", "operator", false, -13.7e6, -15.9e6, -11.5e6);
    etp_chart_step(w, "Normalization", "operator", false, -12.8e6, -14.1e6, -11.5e6);
    etp_chart_step(w, "Resize", "operator", false, -6.8e6, -8.2e6, -5.4e6);
    etp_chart_step(w, "Data movement", "inserted", false, 5.7e6, 3.1e6, 8.3e6);
    etp_chart_step(w, "Delegate boundary", "boundary", false, -0.4e6, -1.0e6, 0.2e6);
    etp_chart_step(w, "Tracer", "tracer", true, -0.1e6, NONE, NONE);
    etp_chart_step(w, "Unexplained", "unexplained", true, 0.3e6, -1.7e6, 2.3e6);
    etp_chart_total(w, "sme2", 297.9e6);
    etp_report_note(r, ETP_WARN,
                    "One operator became slower with SME2: fully_connected #7 by 1.4 ms. "
                    "Keeping it on NEON would give that back.");
}

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static void add_operator_row(etp_table *t, size_t i, uint32_t *seed, int64_t sums[2])
{
    static const char *const k_name[] = {"Convolution (NHWC, F16) IGEMM",
                                         "Fully Connected (NC, F16) GEMM",
                                         "Transpose (ND, X16)",
                                         "Add (ND, F16)",
                                         "LayerNorm (native_layer_norm.out)",
                                         "Resize Bilinear (NHWC, F16)",
                                         "Convert (NC, F32, F16)"};
    size_t k = i % N_CATEGORIES;
    double scale = 1.0 / (1.0 + (double)(i / N_CATEGORIES));
    double jitter = 0.8 + 0.4 * (double)(next_random(seed) % 1000) / 1000;
    int64_t neon = (int64_t)(k_neon_ns[k] * 0.3 * scale * jitter);
    int64_t sme2 = (int64_t)(k_sme2_ns[k] * 0.3 * scale * jitter);
    char name[96];
    snprintf(name, sizeof name, "%s #%zu", k_name[k], i / N_CATEGORIES + 1);
    sums[0] += neon;
    sums[1] += sme2;
    bool gone = sme2 == 0, convolution = k < 2;
    ETP_ROW(t, etp_cell_z(name), etp_cell_z(k_category[k]), etp_cell_ns(neon),
            gone ? etp_cell_missing() : etp_cell_ns(sme2), etp_cell_ns(sme2 - neon),
            gone ? etp_cell_missing() : etp_cell_double((double)neon / (double)sme2),
            convolution ? etp_cell_u64(1000000 + next_random(seed) % 90000000) : etp_cell_missing(),
            convolution ? etp_cell_judged(etp_cell_z("yes: PF16"), ETP_GOOD)
                        : etp_cell_z("not eligible"));
}

static void add_operator_section(etp_report *r)
{
    static const etp_column k_columns[] = {
        {.key = "operator", .title = "operator", .kind = ETP_KIND_TEXT, .flags = ETP_COL_CODE},
        {.key = "category", .title = "category", .kind = ETP_KIND_TEXT},
        {.key = "neon_ns", .title = "neon", .kind = ETP_KIND_NS, .flags = ETP_COL_BAR},
        {.key = "sme2_ns", .title = "sme2", .kind = ETP_KIND_NS, .flags = ETP_COL_BAR},
        {.key = "delta_ns",
         .title = "Δ",
         .kind = ETP_KIND_NS,
         .flags = ETP_COL_SIGNED,
         .help = "sme2 minus neon"},
        {.key = "speedup", .title = "speedup", .kind = ETP_KIND_RATIO},
        {.key = "macs", .title = "MACs", .kind = ETP_KIND_INT, .flags = ETP_COL_MINOR},
        {.key = "engaged", .title = "on SME2", .kind = ETP_KIND_TEXT, .flags = ETP_COL_MINOR},
    };
    etp_report_section(r, 1, "operators", "Operators");
    etp_table *t =
        etp_report_table(r, "operators",
                         "Every operator of both arms, aligned by the "
                         "program's graph. Mean exclusive time over all traced iterations.",
                         k_columns, sizeof k_columns / sizeof *k_columns);
    etp_table_limit(t, 15);
    uint32_t seed = 7;
    int64_t sums[2] = {0, 0};
    for (size_t i = 0; i < N_OPERATORS; i++) {
        add_operator_row(t, i, &seed, sums);
    }
    ETP_ROW(t, etp_cell_z("all operators"), etp_cell_z(""), etp_cell_ns(sums[0]),
            etp_cell_ns(sums[1]), etp_cell_ns(sums[1] - sums[0]),
            etp_cell_double((double)sums[0] / (double)sums[1]), etp_cell_missing(), etp_cell_z(""));
    etp_table_row_is_total(t);
}

static void add_raw_section(etp_report *r)
{
    etp_report_section(r, 1, "raw", "The measurement");
    etp_chart *l = etp_report_chart(r, ETP_CHART_INTERVALS, "latency_comparison",
                                    "Latency of one inference", ETP_KIND_NS);
    etp_chart_interval(l, 0, "neon", NULL, 1163.0e6, 1157.1e6, 1168.9e6);
    etp_chart_interval(l, 1, "sme2", "3.90× faster", 297.9e6, 295.2e6, 300.6e6);
    etp_chart_describe(l, "Median over blocks with its 95 %% interval.");

    etp_chart *b = etp_report_chart(r, ETP_CHART_BLOCKS, "blocks", "Raw blocks", ETP_KIND_NS);
    etp_chart_series(b, "neon");
    etp_chart_series(b, "sme2");
    etp_chart_x_title(b, "block");
    etp_chart_describe(b, "One dot per launch; a line joins the two launches of a block.");
    uint32_t seed = 11;
    for (int i = 1; i <= N_BLOCKS; i++) {
        char label[16];
        snprintf(label, sizeof label, "%d", i);
        double values[2] = {1155e6 + (double)(next_random(&seed) % 160000) * 100,
                            294e6 + (double)(next_random(&seed) % 80000) * 100};
        if (i == 7) {
            values[1] = NONE; // a launch that was lost
        }
        etp_chart_row(b, label, values, 2);
    }
    etp_chart *x =
        etp_report_chart(r, ETP_CHART_LINES, "threads", "Speedup against threads", ETP_KIND_RATIO);
    etp_chart_series(x, "fp16");
    etp_chart_series(x, "int8");
    etp_chart_x_title(x, "threads");
    for (int i = 0; i < 4; i++) {
        double v[2] = {3.9 / (1 + 0.25 * i), 1.83 / (1 + 0.1 * i)};
        etp_chart_point(x, (double)(1 << i), v, 2);
    }
}

static void add_evidence_section(etp_report *r)
{
    static const etp_column k_columns[] = {
        {.key = "arm", .title = "arm", .kind = ETP_KIND_TEXT},
        {.key = "launches", .title = "launches", .kind = ETP_KIND_INT},
        {.key = "load_ns", .title = "load", .kind = ETP_KIND_NS},
        {.key = "peak_rss_bytes", .title = "peak memory", .kind = ETP_KIND_BYTES},
        {.key = "share", .title = "share of MACs on SME2", .kind = ETP_KIND_PERCENT},
        {.key = "mask", .title = "features cleared", .kind = ETP_KIND_TEXT, .flags = ETP_COL_CODE},
    };
    etp_report_section(r, 1, "evidence", "Evidence");
    etp_report_section_is_detail(r);
    etp_report_text(r,
                    "Both arms ran the same binary and the same model file; the level was set by "
                    "clearing processor features before the runtime started.");
    etp_table *t =
        etp_report_table(r, "arms", "Arms", k_columns, sizeof k_columns / sizeof *k_columns);
    ETP_ROW(t, etp_cell_z("neon"), etp_cell_u64(26), etp_cell_ns(48200000), etp_cell_u64(183500800),
            etp_cell_double(0), etp_cell_z("hwcap2 0x7e0007e07f800000"));
    ETP_ROW(t, etp_cell_z("sme2"), etp_cell_u64(20), etp_cell_ns(61900000), etp_cell_u64(201326592),
            etp_cell_double(0.961), etp_cell_z("none"));
    etp_chart *c = etp_report_chart(r, ETP_CHART_STACKED, "again", "The same again", ETP_KIND_NS);
    for (size_t k = 0; k < N_CATEGORIES; k++) {
        etp_chart_series(c, k_category[k]);
    }
    etp_chart_row(c, "neon", k_neon_ns, N_CATEGORIES);
    etp_chart_row(c, "sme2", k_sme2_ns, N_CATEGORIES);
    etp_report_section(r, 2, "notes", "Notes");
    etp_report_note(r, ETP_INFO, "XNNPACK reads the clock around each operator in both arms.");
    etp_report_note(r, ETP_GOOD, "Outputs of both arms agree.");
    etp_report_note(r, ETP_BAD,
                    "Block 7: the sme2 launch was killed by signal 9; the block is not used.");
    etp_report_section(r, 2, "reproduce", "Reproduce");
    etp_report_code(r, "The same measurement again:",
                    ETP_STR("etprof ab encoder_xnnpack_fp16.pte --levels neon,sme2 \\\n"
                            "  --threads 1 --blocks 10\n"));
}

etp_report *sample_full(etp_arena *arena)
{
    etp_report *r = etp_report_create(arena, "encoder_xnnpack_fp16.pte");
    add_head(r);
    add_time_section(r);
    add_operator_section(r);
    add_raw_section(r);
    add_evidence_section(r);
    etp_report_attach_json(r, "numbers",
                           ETP_STR("{\"schema\":\"etprof.ab/1\",\"note\":\"</script>\"}"));
    return r;
}

static const char k_hostile_text[] =
    "=</script><script>alert('x')</script>&amp;\"|`**[a](javascript:x) \x1b[31m\r\nline2\t\x7f\xff"
    "\xc0\xaf \xe2\x80\xae"
    "flow\xef\xbf\xbe \xed\xa0\x80 <!-- ]]> %s {{}} ${x}";
const etp_str k_hostile = {k_hostile_text, sizeof k_hostile_text - 1};

static void add_graph(etp_report *r, const char *z)
{
    etp_picture *g = etp_report_picture(r, "graph");
    etp_picture_text(g, "title", z);
    etp_picture_text(g, "view0", z);
    etp_picture_text(g, "view1", z);
    etp_picture_list(g, "boxes");
    for (int i = 0; i < 6; i++) {
        etp_picture_item(g);
        etp_picture_text(g, "label", z);
        etp_picture_text(g, "tip", z);
        etp_picture_text(g, "group", i % 3 ? z : NULL);
        etp_picture_link(g, i ? "op1" : z);
        etp_picture_list(g, "heat");
        etp_picture_number(g, NULL, NONE);
        etp_picture_number(g, NULL, -1e300);
        etp_picture_number(g, NULL, 1e300);
        etp_picture_end(g);
        etp_picture_end(g);
    }
    etp_picture_end(g);
    etp_picture_list(g, "edges");
    for (int i = 0; i < 8; i++) { // backwards and out of the graph too
        const double edges[] = {i, 5, i, i / 2, 0, i};
        for (size_t k = 0; k < sizeof edges / sizeof *edges; k++) {
            etp_picture_number(g, NULL, edges[k]);
        }
    }
    etp_picture_end(g);
    etp_picture_end(g);
}

// What the page alone has.
static void add_page_parts(etp_report *r, const char *z)
{
    add_graph(r, z);
    static const char *const k_empty[] = {"graph", "spans", "plane", "plan"};
    for (size_t i = 0; i < sizeof k_empty / sizeof *k_empty; i++) {
        etp_picture_end(etp_report_picture(r, k_empty[i]));
    }
    etp_picture *s = etp_report_picture(r, "spans");
    etp_picture_text(s, "title", z);
    etp_picture_list(s, "tracks");
    etp_picture_item(s);
    etp_picture_text(s, "label", z);
    etp_picture_number(s, "length", NONE);
    etp_picture_list(s, "spans");
    static const struct {
        double from, length, depth, color;
    } k_spans[] = {
        {0,      1e300,            3, 99},
        {-1e300, (double)INFINITY, 0, 1 },
        {1,      -1,               0, 1 }
    };
    for (size_t i = 0; i < sizeof k_spans / sizeof *k_spans; i++) {
        etp_picture_item(s);
        etp_picture_text(s, "label", z);
        etp_picture_link(s, "op1");
        etp_picture_number(s, "from", k_spans[i].from);
        etp_picture_number(s, "length", k_spans[i].length);
        etp_picture_number(s, "depth", k_spans[i].depth);
        etp_picture_number(s, "color", k_spans[i].color);
        etp_picture_end(s);
    }
    for (int i = 0; i < 4; i++) { // list, track, list, all
        etp_picture_end(s);
    }
    etp_picture *plane = etp_report_picture(r, "plane");
    static const char *const k_lists[] = {"points", "roofs"};
    static const double k_xy[][2] = {
        {1e-20, 1e20},
        {1,     1   },
        {0,     -1  },
        {NONE,  -1  },
        {1e29,  0   },
        {1e-9,  1e9 }
    };
    etp_picture_text(plane, "title", z);
    for (size_t k = 0; k < 2; k++) {
        etp_picture_list(plane, k_lists[k]);
        for (size_t i = 0; i < sizeof k_xy / sizeof *k_xy; i++) {
            etp_picture_item(plane);
            etp_picture_text(plane, "label", z);
            etp_picture_link(plane, i ? z : "op1");
            etp_picture_number(plane, k ? "slope" : "x", k_xy[i][0]);
            etp_picture_number(plane, k ? "ceiling" : "y", k_xy[i][1]);
            etp_picture_number(plane, "from_y", i ? 1e300 : NONE);
            etp_picture_end(plane);
        }
        etp_picture_end(plane);
    }
    etp_picture_end(plane);
    etp_report_section(r, 1, "drawers", z);
    etp_report_drawer(r, "op1", z);
    etp_report_text(r, "op1 (F32, op1) %s op1", z);
    etp_report_fold(r, z);
    etp_report_drawer(r, "F32", z);
}

static void add_hostile_head(etp_report *r, const char *z)
{
    etp_headline h = {
        .label = z,
        .verdict = z,
        .severity = ETP_BAD,
        .value = NONE,
        .lo = NONE,
        .hi = NONE,
        .interval = z,
        .detail = z,
        .ends = {{z, 1, NONE, 1e300, NULL}, {z, -1, -1e300, NONE, NULL}}
    };
    etp_report_headline(r, &h);
    for (int i = 0; i < 5; i++) {
        etp_action a = {z, z, z, z, z, i ? 1 : 0, i ? 1e300 : NONE, NONE, 1};
        etp_report_action(r, &a);
    }
}

etp_report *sample_hostile(etp_arena *arena)
{
    char z[256];
    snprintf(z, sizeof z, "%.*s", ETP_STR_ARG(k_hostile));
    etp_report *r = etp_report_create(arena, z);
    etp_report_subtitle(r, "%s", z);
    add_hostile_head(r, z);
    etp_report_fact(r, z, "%s", z);
    etp_report_section(r, 1, z, z);
    etp_report_text(r, "%s", z);
    etp_report_note(r, ETP_WARN, "%s", z);
    etp_report_fold(r, z);
    etp_report_code(r, z, k_hostile);
    etp_report_fold(r, z);
    etp_keys *k = etp_report_keys(r, z);
    etp_keys_add(k, ETP_BAD, z, "%s", z);
    etp_column columns[] = {
        {.key = z, .title = z, .flags = ETP_COL_CODE, .help = z},
        {.key = "n",
         .title = z,
         .kind = ETP_KIND_DOUBLE,
         .unit = z,
         .flags = ETP_COL_BAR | ETP_COL_SIGNED}
    };
    etp_table *t = etp_report_table(r, z, z, columns, 2);
    ETP_ROW(t, etp_cell_str(k_hostile), etp_cell_double(-1e300));
    ETP_ROW(t, etp_cell_z(""), etp_cell_double((double)INFINITY));
    ETP_ROW(t, etp_cell_str((etp_str){"a\0b", 3}), etp_cell_i64(INT64_MIN));
    ETP_ROW(t, etp_cell_missing(), etp_cell_u64(UINT64_MAX));
    etp_table_row_link(t, "op1");
    ETP_ROW(t, etp_cell_colored(etp_cell_z("op1"), 99), etp_cell_u64(1));
    etp_table_row_link(t, z);
    etp_report_table(r, "no-rows", z, columns, 2);
    for (int kind = ETP_CHART_STACKED; kind <= ETP_CHART_LINES; kind++) {
        for (int rows = 0; rows < 3; rows++) {
            char id[16];
            snprintf(id, sizeof id, "odd-%d-%d", kind, rows); // the checker asks for each by name
            etp_chart *c = etp_report_chart(r, (etp_chart_kind)kind, id, z, ETP_KIND_NS);
            double odd[3][2] = {
                {0,                NONE  },
                {-5,               1e300 },
                {(double)INFINITY, 1e-300}
            };
            etp_chart_describe(c, "%s", z);
            etp_chart_x_title(c, z);
            bool single = kind == ETP_CHART_WATERFALL || kind == ETP_CHART_INTERVALS;
            for (int s = 0; s < 2 && !single; s++) {
                etp_chart_series(c, z);
            }
            for (int i = 0; i <= rows && rows > 0; i++) {
                if (kind == ETP_CHART_WATERFALL) {
                    etp_chart_total(c, z, odd[i][0]);
                    etp_chart_step(c, z, z, i == 1, odd[i][1], odd[i][0], odd[i][1]);
                } else if (kind == ETP_CHART_INTERVALS) {
                    etp_chart_interval(c, (size_t)i, z, z, odd[i][1], odd[i][0], odd[i][1]);
                } else if (kind == ETP_CHART_LINES) {
                    etp_chart_point(c, -1e300 + i, odd[i], 2);
                } else {
                    etp_chart_row(c, z, odd[i], 2);
                }
            }
        }
    }
    add_page_parts(r, z);
    etp_report_attach_json(r, "numbers",
                           ETP_STR("{\"note\":\"</script><script>alert('x')</script>\"}"));
    return r;
}
