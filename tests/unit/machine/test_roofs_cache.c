// SPDX-License-Identifier: Apache-2.0
// What is remembered of roofs, what is not believed, and documents that are none.
#include <math.h>

#include "../folder.h"
#include "unit.h"
#include <etprof/stats.h>

#include "base/sink.h"
#include "machine/roofs.h"
#include "store/roofs_file.h"

static etp_roofs_answer roofs(folder *f, uint32_t threads, bool fresh)
{
    etp_roofs_options o = {.threads = {threads}, .n_threads = 1, .seconds = 0.1};
    etp_roofs_answer a;
    etp_error err;
    ASSERT_OK(etp_roofs_of(NULL, f->path, &o, fresh, &f->arena, &a, &err), err);
    assert_true(a.table.n > 0);
    // Beside other programs nothing is kept: this test is about what is. So as if it had been
    // quiet.
    if (a.doubt) {
        a.table.waited = 0;
        for (size_t i = 0; i < a.table.n; i++) {
            a.table.items[i].again = a.table.items[i].best;
        }
        assert_null(etp_roofs_doubt(&a.table, ETP_WAIT_MOST));
        assert_int_equal(etp_roofs_keep(&a, f->path, &f->arena, NULL), ETP_OK);
    }
    return a;
}

static const char *only_file(folder *f)
{
    etp_dir_list list;
    assert_int_equal(etp_os_list(f->path, &f->arena, &list, NULL), ETP_OK);
    assert_int_equal(list.n, 1);
    return etp_arena_printf(&f->arena, "%s/%s", f->path, list.items[0].name);
}

static size_t of_threads(const etp_roofs_answer *a, uint32_t threads)
{
    size_t n = 0;
    for (size_t i = 0; i < a->table.n; i++) {
        n += a->table.items[i].threads == threads && a->table.items[i].what != ETP_ROOF_TIMER;
    }
    return n;
}

static void remembers(void **state)
{
    folder *f = *state;
    etp_roofs_answer first = roofs(f, 1, false), again = roofs(f, 1, false);
    assert_false(first.cached);
    assert_true(again.cached);
    assert_int_equal(first.table.n, again.table.n);
    for (size_t i = 0; i < first.table.n; i++) {
        assert_true(etp_roof_same(&first.table.items[i], &again.table.items[i]));
        assert_int_equal(first.table.items[i].best, again.table.items[i].best);
    }
    assert_false(roofs(f, 1, true).cached);
}

static void keeps_other_thread_counts(void **state)
{
    folder *f = *state;
    size_t n = of_threads(&(etp_roofs_answer){.table = roofs(f, 1, false).table}, 1);
    etp_roofs_answer two = roofs(f, 2, false);
    assert_false(two.cached);
    assert_int_equal(of_threads(&two, 2), n);
    assert_int_equal(of_threads(&two, 1), n);
    etp_roofs_answer one = roofs(f, 1, false);
    assert_true(one.cached);
    assert_int_equal(of_threads(&one, 2), n);
}

// The file as it is, with FROM replaced by TO, or with TO alone.
static void spoil(folder *f, const char *from, const char *to)
{
    const char *path = only_file(f);
    etp_str text;
    assert_int_equal(etp_os_read_text(path, 1 << 20, &f->arena, &text, NULL), ETP_OK);
    etp_strbuf b;
    etp_strbuf_init(&b, &f->arena);
    size_t at = from ? etp_str_find(text, etp_str_from(from)) : text.len;
    assert_true(!from || at < text.len);
    etp_strbuf_append(&b, (etp_str){text.ptr, from ? at : 0});
    etp_strbuf_appendz(&b, to);
    if (from) {
        at += strlen(from);
        etp_strbuf_append(&b, (etp_str){text.ptr + at, text.len - at});
    }
    assert_int_equal(etp_os_write_atomic(path, etp_strbuf_str(&b), NULL), ETP_OK);
}

static void does_not_believe(void **state)
{
    folder *f = *state;
    static const struct {
        const char *from, *to;
    } k_spoilt[] = {
        {NULL,                    ""                                               },
        {NULL,                    "what,isa\n"                                     },
        {NULL,                    "{\"schema\": \"etprof.roofs/1\", \"roofs\": []}"},
        {"\"device\": \"local\"", "\"device\": \"ssh:other\""                      },
        {"\"cpus\": ",            "\"cpus\": 9"                                    }, // another number of processors
        {"\"emulated\": false",   "\"emulated\": true"                             },
        {"\"governor\": ",        "\"governor\": \"other\", \"was\": "             },
        {"\"boost\": ",           "\"boost\": true, \"max_khz\": 7, \"was\": "     },
        {"\"unit\": \"op/s\"",    "\"unit\": \"m/s\""                              },
        {"\"measured\": ",        "\"measured\": 1600000000, \"was\": "            }, // old
        {"\"measured\": ",        "\"measured\": 9900000000, \"was\": "            }, // to come
        {"\"waited_share\": ",    "\"waited_share\": 0.06, \"was\": "              }, // busy
    };
    (void)roofs(f, 1, false);
    const char *path = only_file(f);
    etp_str good;
    assert_int_equal(etp_os_read_text(path, 1 << 20, &f->arena, &good, NULL), ETP_OK);
    for (size_t i = 0; i < sizeof k_spoilt / sizeof *k_spoilt; i++) {
        spoil(f, k_spoilt[i].from, k_spoilt[i].to);
        etp_roofs_answer a;
        assert_int_equal(etp_roofs_cached(NULL, f->path, &f->arena, &a, NULL), ETP_OK);
        if (a.table.n != 0) {
            fail_msg("case %zu was believed", i);
        }
        assert_int_equal(etp_os_write_atomic(path, good, NULL), ETP_OK);
        assert_true(roofs(f, 1, false).cached); // the reason was what had been spoilt
    }
    spoil(f, k_spoilt[0].from, k_spoilt[0].to);
    assert_false(roofs(f, 1, false).cached);
    assert_true(roofs(f, 1, false).cached); // the file was put right
}

#define ROOF                                                                                    \
    "{\"isa\": \"avx2\", \"what\": \"fma_f32\", \"unit\": \"op/s\", \"threads\": 1, \"best\": " \
    "20, \"median\": 10}"
#define DOCUMENT(roof) \
    "{\"schema\": \"etprof.roofs/1\", \"device\": \"local\", \"cpus\": 2, \"roofs\": [" roof "]}"

static void documents(void **state)
{
    folder *f = *state;
    etp_roof_table t;
    etp_error err;
    assert_int_equal(etp_roofs_read(etp_str_from(DOCUMENT(ROOF)), &f->arena, &t, &err), ETP_OK);
    assert_int_equal(t.n, 1);
    assert_int_equal(t.items[0].best, 20);
    assert_int_equal(t.boost, -1);
    assert_int_equal(t.cpus, 2);
    static const char *const k_bad[] = {
        "",
        "[]",
        "{}",
        "{\"schema\": \"etprof.ab/1\"}",
        DOCUMENT(""),
        DOCUMENT("1"),
        DOCUMENT("{}"),
        DOCUMENT("{\"what\": \"copy\", \"unit\": \"byte/s\", \"threads\": 0, \"best\": 1, "
                 "\"median\": 1}"),
        DOCUMENT("{\"what\": \"copy\", \"unit\": \"byte/s\", \"threads\": 257, \"best\": 1, "
                 "\"median\": 1}"),
        DOCUMENT("{\"what\": \"copy\", \"unit\": \"byte/s\", \"threads\": 1, \"best\": 1, "
                 "\"median\": 2}"),
        DOCUMENT(
            "{\"what\": \"region\", \"unit\": \"ns\", \"threads\": 1, \"best\": 2, \"median\": 1}"),
        DOCUMENT("{\"what\": \"copy\", \"unit\": \"byte/s\", \"threads\": 1, \"best\": 0, "
                 "\"median\": 2}"),
        DOCUMENT("{\"what\": \"copy\", \"unit\": \"byte/s\", \"threads\": 1, \"best\": -5, "
                 "\"median\": -6}"),
        DOCUMENT("{\"what\": \"copy\", \"unit\": \"byte/s\", \"threads\": 1, \"best\": 2.5, "
                 "\"median\": 2}"),
        DOCUMENT("{\"what\": \"copy\", \"unit\": \"byte/s\", \"threads\": 1, \"best\": "
                 "9000000000000000000, \"median\": 2}"),
        DOCUMENT("{\"what\": \"copy\", \"unit\": \"byte/s\", \"threads\": 1, \"best\": 2, "
                 "\"median\": 1, \"again\": 3}"),
        DOCUMENT("{\"what\": \"region\", \"unit\": \"ns\", \"threads\": 1, \"best\": 2, "
                 "\"median\": 2, \"again\": 1}"),
        DOCUMENT("{\"what\": 7, \"unit\": \"byte/s\", \"threads\": 1, \"best\": 2, \"median\": 2}"),
    };
    for (size_t i = 0; i < sizeof k_bad / sizeof *k_bad; i++) {
        if (etp_roofs_read(etp_str_from(k_bad[i]), &f->arena, &t, &err) != ETP_CORRUPT) {
            fail_msg("accepted: %s", k_bad[i]);
        }
    }
}

// 8065484793 × 1e-9 is 8.065484793000001 as a double, 8065484793 ÷ 1e9 is not.
static void rates_are_decimal(void **state)
{
    folder *f = *state;
    etp_roof items[] = {
        {.isa = "sse",
         .what = ETP_ROOF_FMA_F32,
         .threads = 1,
         .best = 18181111725,
         .median = 8065484793}
    };
    const etp_roofs_answer a = {
        .table = {
                  .device = "local", .cpu = "", .features = "", .governor = "", .items = items, .n = 1}
    };
    const etp_report *r = etp_roofs_rows(&a, &f->arena);
    etp_strbuf text;
    etp_strbuf_init(&text, &f->arena);
    etp_sink sink = etp_sink_strbuf(&text);
    const etp_report_style style = {.select = "roofs"};
    assert_int_equal(etp_report_write(r, etp_write_csv, &style, &sink, NULL), ETP_OK);
    assert_non_null(strstr(etp_strbuf_str(&text).ptr, "fma_f32,sse,1,,18.181111725,8.065484793,,"));
}

// Rates of which a quarter may differ between passes; of a region's length nothing is asked.
static void what_is_doubted(void **state)
{
    etp_roof items[8];
    for (size_t i = 0; i < 8; i++) {
        items[i] = (etp_roof){.unit = i < 7 ? ETP_ROOF_BYTE_S : ETP_ROOF_NS, .best = 100};
        items[i].again = i < 7 ? 96 : 900;
    }
    etp_roof_table t = {.items = items, .n = 8, .waited = (double)NAN};
    assert_null(etp_roofs_doubt(&t, ETP_WAIT_MOST));
    items[0].again = 94;
    assert_null(etp_roofs_doubt(&t, ETP_WAIT_MOST)); // 1 of 7
    items[1].again = 0;
    assert_null(etp_roofs_doubt(&t, ETP_WAIT_MOST)); // there was no other pass
    items[2].again = 1;
    assert_non_null(strstr(etp_roofs_doubt(&t, ETP_WAIT_MOST), "differs from the next")); // 2 of 6
    items[2].again = 100;
    t.waited = 0.049;
    assert_null(etp_roofs_doubt(&t, ETP_WAIT_MOST));
    t.waited = 0.051;
    assert_non_null(strstr(etp_roofs_doubt(&t, ETP_WAIT_MOST), "other programs"));
}

// A terminal has a line for each loop and each working set, in units of their size; CSV has all.
static void is_short_to_read(void **state)
{
    folder *f = *state;
    etp_roof items[64];
    size_t n = 0;
    for (uint32_t threads = 1; threads <= 4; threads *= 2) {
        const etp_roof fma = {.isa = "sse",
                              .what = ETP_ROOF_FMA_F32,
                              .unit = ETP_ROOF_OP_S,
                              .threads = threads,
                              .best = 50000000000u * threads,
                              .median = 1};
        items[n++] = fma;
        for (uint64_t bytes = 16384; bytes <= 1 << 20; bytes *= 64) {
            const etp_roof_what k_what[] = {ETP_ROOF_READ, ETP_ROOF_WRITE, ETP_ROOF_COPY,
                                            ETP_ROOF_STRIDED_COPY};
            for (size_t k = 0; k < 4; k++) {
                items[n++] = (etp_roof){.isa = k ? "" : "avx2",
                                        .what = k_what[k],
                                        .unit = ETP_ROOF_BYTE_S,
                                        .threads = threads,
                                        .bytes = bytes,
                                        .best = (10 * k + threads) * 1000000000,
                                        .median = 1};
            }
        }
    }
    items[n++] = (etp_roof){.isa = "",
                            .what = ETP_ROOF_TIMER,
                            .unit = ETP_ROOF_NS,
                            .threads = 1,
                            .best = 20,
                            .median = 20};
    const etp_roofs_answer a = {
        .table = {
                  .device = "local", .cpu = "", .features = "", .governor = "", .items = items, .n = n}
    };
    etp_strbuf text;
    etp_strbuf_init(&text, &f->arena);
    etp_sink sink = etp_sink_strbuf(&text);
    const etp_report_style style = {.width = 80};
    assert_int_equal(
        etp_report_write(etp_roofs_report(&a, &f->arena), etp_write_text, &style, &sink, NULL),
        ETP_OK);
    const char *said = etp_strbuf_str(&text).ptr;
    size_t lines = 0;
    for (const char *c = said; *c; c++) {
        lines += *c == '\n';
    }
    assert_true(lines <= 24);
    assert_null(strstr(said, "0.02"));
    assert_non_null(
        strstr(said, "multiply-add, float32  sse                  50.0      100.0      200.0"));
    assert_non_null(strstr(said, "16.4 kB             4   4.0   14.0  24.0           34.0"));
    assert_null(strstr(said, "kB             2"));
    assert_non_null(strstr(said, "20 ns, 1 thread"));
}
