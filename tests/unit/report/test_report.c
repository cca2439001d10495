// SPDX-License-Identifier: Apache-2.0
// Tests of the report room against output written by hand.
#include <math.h>

#include "report/screen.h"
#include "report/svg.h"
#include "sample.h"
#include "unit.h"

#define NONE ((double)NAN)

static etp_report_writer *const k_formats[] = {etp_write_text, etp_write_md, etp_write_csv,
                                               etp_write_html, etp_write_svg};
enum { N_FORMATS = sizeof k_formats / sizeof *k_formats };

static const char *render(etp_arena *arena, const etp_report *r, etp_report_writer *format,
                          const etp_report_style *style)
{
    etp_strbuf buf;
    etp_strbuf_init(&buf, arena);
    etp_sink sink = etp_sink_strbuf(&buf);
    assert_int_equal(etp_report_write(r, format, style, &sink, NULL), ETP_OK);
    return etp_strbuf_str(&buf).ptr;
}

static etp_report *small_tree(etp_arena *arena)
{
    static const etp_column k_columns[] = {
        {.key = "name", .title = "operator", .kind = ETP_KIND_TEXT, .flags = ETP_COL_CODE},
        {.key = "ns", .title = "time", .kind = ETP_KIND_NS, .flags = ETP_COL_BAR},
        {.key = "delta_ns", .title = "change", .kind = ETP_KIND_NS, .flags = ETP_COL_SIGNED},
        {.key = "share", .title = "share", .kind = ETP_KIND_PERCENT},
        {.key = "speedup", .title = "speedup", .kind = ETP_KIND_RATIO},
        {.key = "bytes", .title = "weights", .kind = ETP_KIND_BYTES},
        {.key = "calls", .title = "calls", .kind = ETP_KIND_INT, .flags = ETP_COL_MINOR},
    };
    etp_report *r = etp_report_create(arena, "a|b.pte");
    etp_headline h = {.label = "on against off",
                      .verdict = "faster",
                      .severity = ETP_GOOD,
                      .value = 2,
                      .lo = 1.95,
                      .hi = 2.05};
    etp_report_headline(r, &h);
    etp_report_fact(r, "blocks", "%d", 10);
    etp_report_section(r, 1, "ops", "Operators");
    etp_table *t = etp_report_table(r, "ops", "All of them", k_columns, 7);
    ETP_ROW(t, etp_cell_z("conv `x`"), etp_cell_ns(8000000), etp_cell_ns(-1500000),
            etp_cell_double(0.8), etp_cell_double(1.1875), etp_cell_u64(2500000), etp_cell_u64(3));
    ETP_ROW(t, etp_cell_z("=add|2"), etp_cell_ns(2000000), etp_cell_ns(250000),
            etp_cell_double(0.2), etp_cell_missing(), etp_cell_missing(), etp_cell_u64(UINT64_MAX));
    ETP_ROW(t, etp_cell_z("all"), etp_cell_ns(10000000), etp_cell_ns(-1250000), etp_cell_double(1),
            etp_cell_missing(), etp_cell_missing(), etp_cell_missing());
    etp_table_row_is_total(t);
    etp_report_note(r, ETP_WARN, "look");
    return r;
}

static void text_is_aligned(void **state)
{
    etp_arena *arena = *state;
    etp_report_style style = {.width = 90, .unicode = true};
    assert_string_equal(
        render(arena, small_tree(arena), etp_write_text, &style),
        "a|b.pte\n"
        "\n"
        "2.00× faster  [1.95, 2.05]  on against off\n"
        "\n"
        "blocks 10\n"
        "\n"
        "Operators\n"
        "─────────\n"
        "All of them\n"
        "operator  time (ms)  change (ms)    share  speedup  weights (MB)                 calls\n"
        "──────────────────────────────────────────────────────────────────────────────────────\n"
        "conv `x`      8.000       −1.500   80.0 %    1.19×         2.500                     3\n"
        "=add|2        2.000       +0.250   20.0 %        –             –  18446744073709551615\n"
        "──────────────────────────────────────────────────────────────────────────────────────\n"
        "all          10.000       −1.250  100.0 %        –             –                     –\n"
        "\n"
        "warning: look\n");
}

static void names_of_cxx_break_behind_their_colons(void **state)
{
    static const etp_column k_columns[] = {
        {.key = "name", .title = "name", .kind = ETP_KIND_TEXT}
    };
    etp_arena *arena = *state;
    etp_report *r = etp_report_create(arena, "t");
    etp_table *t = etp_report_table(r, "t", NULL, k_columns, 1);
    ETP_ROW(t,
            etp_cell_z("torch::executor::native::optlayernormoutofaverylongname::theverylastpart"));
    etp_report_style narrow = {.width = 60};
    assert_string_equal(render(arena, r, etp_write_text, &narrow),
                        "t\n"
                        "\n"
                        "name\n"
                        "------------------------------------------------------------\n"
                        "torch::executor::native::optlayernormoutofaverylongname::\n"
                        "theverylastpart\n");
}

static void figures_keep_their_units(void **state)
{
    etp_arena *arena = *state;
    etp_report *r = etp_report_create(arena, "t");
    etp_report_section(r, 1, "s", "S");
    etp_report_text(
        r, "Convolutions of this model take about 36 %% of it, (1.234 ms), and 12 moves 3 µs.");
    etp_report_style narrow = {.width = 40};
    assert_string_equal(render(arena, r, etp_write_text, &narrow),
                        "t\n"
                        "\n"
                        "S\n"
                        "-\n"
                        "Convolutions of this model take about\n" // 36 would fit, the per cent not
                        "36 % of it, (1.234 ms), and 12 moves\n"
                        "3 us.\n");
}

static void text_fits_narrow_terminals(void **state)
{
    static const etp_column k_columns[] = {
        {.key = "name", .title = "name", .kind = ETP_KIND_TEXT},
        {.key = "ns", .title = "time", .kind = ETP_KIND_NS, .flags = ETP_COL_BAR | ETP_COL_SIGNED},
        {.key = "long", .title = "a title that needs room", .flags = ETP_COL_MINOR},
    };
    etp_arena *arena = *state;
    etp_report *r = etp_report_create(arena, "t");
    etp_table *t = etp_report_table(r, "t", NULL, k_columns, 3);
    ETP_ROW(t, etp_cell_z("a name of thirty-six columns, in all"),
            etp_cell_judged(etp_cell_ns(-2000), ETP_GOOD), etp_cell_z("x"));
    ETP_ROW(t, etp_cell_z("µ"), etp_cell_judged(etp_cell_ns(1000), ETP_BAD), etp_cell_z("x"));
    // ASCII: the minor column and the bar are gone, the title takes two lines of eight columns, the
    // name two of the remaining thirty.
    etp_report_style narrow = {.width = 40};
    assert_string_equal(render(arena, r, etp_write_text, &narrow),
                        "t\n"
                        "\n"
                        "                                    time\n"
                        "name                                (us)\n"
                        "----------------------------------------\n"
                        "a name of thirty-six columns,     -2.000\nin all\n"
                        "u                                 +1.000\n");
    // Room for everything: bar of ten cells, half of it for the second row; colours by meaning.
    etp_report_style wide = {.width = 100, .unicode = true, .color = true};
    assert_string_equal(
        render(arena, r, etp_write_text, &wide),
        "\x1b[1mt\n"
        "\x1b[0m\n"
        "\x1b[2mname                                  time (µs)             a title that needs room"
        "\x1b[0m\n"
        "───────────────────────────────────────────────────────────────────────────────────\n"
        "a name of thirty-six columns, in all  \x1b[32m   −2.000\x1b[0m ██████████  x\n"
        "µ                                     \x1b[31m   +1.000\x1b[0m █████       x\n");
}

static void markdown_is_escaped(void **state)
{
    etp_arena *arena = *state;
    assert_string_equal(
        render(arena, small_tree(arena), etp_write_md, NULL),
        "# a\\|b.pte\n"
        "\n"
        "**2.00× faster** \\[1.95, 2.05\\] on against off\n"
        "\n"
        "blocks **10**\n"
        "\n"
        "## Operators\n"
        "\n"
        "All of them\n"
        "\n"
        "| operator | time (ms) | change (ms) | share | speedup | weights (MB) | calls |\n"
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n"
        "| conv \\`x\\` | 8.000 | −1.500 | 80.0 % | 1.19× | 2.500 | 3 |\n"
        "| `=add\\|2` | 2.000 | +0.250 | 20.0 % | – | – | 18446744073709551615 |\n"
        "| **`all`** | **10.000** | **−1.250** | **100.0 %** | **–** | **–** | **–** |\n"
        "\n"
        "> [!WARNING]\n"
        "> look\n"
        "\n");
}

static void markdown_shows_text_as_it_is(void **state)
{
    etp_arena *arena = *state;
    static const struct {
        const char *in, *out;
    } k_cases[] = {
        {"snake_case _x_ a*b", "snake_case \\_x\\_ a\\*b"    },
        {"18.06 ms",           "18.06 ms"                    },
        {"18. a list",         "18\\. a list"                },
        {"1) a list",          "1\\) a list"                 },
        {"- a list",           "\\- a list"                  },
        {"# a heading",        "\\# a heading"               },
        {"a - b = c",          "a - b = c"                   },
        {"Add #12 [x](y)",     "Add #<!-- -->12 \\[x\\](y)"  },
        {"@name (@c) @",       "@<!-- -->name (@<!-- -->c) @"},
        {"<b> & \\",           "&lt;b&gt; &amp; \\\\"        },
    };
    for (size_t i = 0; i < sizeof k_cases / sizeof *k_cases; i++) {
        etp_report *r = etp_report_create(arena, "t");
        etp_report_text(r, "%s", k_cases[i].in);
        char expected[128];
        snprintf(expected, sizeof expected, "# t\n\n%s\n\n", k_cases[i].out);
        assert_string_equal(render(arena, r, etp_write_md, NULL), expected);
    }
}

// What docs.github.com lists under "Autolinked references and URLs", and emoji by their names.
static void markdown_links_nothing(void **state)
{
    etp_arena *arena = *state;
    static const struct {
        const char *in, *out;
    } k_cases[] = {
        {"GH-12 (gh-7) GH- GH-x",   "GH-<!-- -->12 (gh-<!-- -->7) GH- GH-x"},
        {"HIGH-12 cpu-7 x_GH-1",    "HIGH-12 cpu-7 x_GH-1"                 },
        {"me/repo#3 #x C# 1",       "me/repo#<!-- -->3 #x C# 1"            },
        {"ssh:me@host.local",       "ssh:me@<!-- -->host.local"            },
        {"http://a.b ftp://c.d",    "http:<!-- -->//a.b ftp:<!-- -->//c.d" },
        {"www.a.b wwww. www",       "www<!-- -->.a.b wwww. www"            },
        {"std::x::y :+1: a::b",     "std::<!-- -->x::y :<!-- -->+1: a::b"  },
        {"10:20:30, 4:3: a:GEMM:b", "10:20:30, 4:3: a:GEMM:b"              },
    };
    for (size_t i = 0; i < sizeof k_cases / sizeof *k_cases; i++) {
        etp_report *r = etp_report_create(arena, "t");
        etp_report_text(r, "%s", k_cases[i].in);
        char expected[128];
        snprintf(expected, sizeof expected, "# t\n\n%s\n\n", k_cases[i].out);
        assert_string_equal(render(arena, r, etp_write_md, NULL), expected);
    }
}

static void markdown_fences_grow(void **state)
{
    etp_arena *arena = *state;
    etp_report *r = etp_report_create(arena, "t");
    etp_report_code(r, NULL, ETP_STR("a\n````\nb\n\n"));
    etp_keys *k = etp_report_keys(r, NULL);
    etp_keys_add(k, ETP_PLAIN, "proof", "one");
    etp_keys_add(k, ETP_PLAIN, "", "two");
    assert_string_equal(render(arena, r, etp_write_md, NULL),
                        "# t\n\n`````\na\n````\nb\n`````\n\n- **proof** one\n  - two\n\n");
}

static void csv_is_exact_and_guarded(void **state)
{
    etp_arena *arena = *state;
    assert_string_equal(render(arena, small_tree(arena), etp_write_csv, NULL),
                        "name,ns,delta_ns,share,speedup,bytes,calls\n"
                        "conv `x`,8000000,-1500000,0.8,1.1875,2500000,3\n"
                        "'=add|2,2000000,250000,0.2,,,18446744073709551615\n"
                        "all,10000000,-1250000,1,,,\n");
}

// Machines get what commands take, people what it is called.
static void names_are_for_commands(void **state)
{
    etp_arena *arena = *state;
    etp_column column = {.key = "arm", .title = "arm", .flags = ETP_COL_CODE};
    etp_report *r = etp_report_create(arena, "t");
    etp_table *t = etp_report_table(r, "t", NULL, &column, 1);
    ETP_ROW(t, etp_cell_called("linux_vnni", "VNNI"));
    ETP_ROW(t, etp_cell_called("linux_avx2", "linux_avx2"));
    assert_string_equal(render(arena, r, etp_write_csv, NULL), "arm\nlinux_vnni\nlinux_avx2\n");
    const char *md = render(arena, r, etp_write_md, NULL),
               *html = render(arena, r, etp_write_html, NULL);
    assert_non_null(strstr(md, "| VNNI |\n| `linux_avx2` |"));
    assert_non_null(strstr(html, "[[\"VNNI\",null,\"\",0,1]]")); // the page sets it as a word
    assert_non_null(strstr(html, "[\"linux_avx2\"]"));
    assert_non_null(strstr(render(arena, r, etp_write_text, NULL), "VNNI\nlinux_avx2"));
}

// The guard must also hold for texts longer than its own buffer.
static void csv_guards_long_text(void **state)
{
    etp_arena *arena = *state;
    etp_column column = {.key = "k", .title = "k"};
    char text[400];
    memset(text, '"', sizeof text - 1);
    text[0] = '@';
    text[sizeof text - 1] = '\0';
    etp_report *r = etp_report_create(arena, "t");
    etp_table *t = etp_report_table(r, "t", NULL, &column, 1);
    ETP_ROW(t, etp_cell_z(text));
    const char *csv = render(arena, r, etp_write_csv, NULL);
    assert_memory_equal(csv, "k\n\"'@\"\"", 7);
    assert_int_equal(strlen(csv), 2 + 3 + 2 * 398 + 2);
}

static void strings_become_harmless(void **state)
{
    etp_arena *arena = *state;
    static const struct {
        const char *in, *out;
    } k_cases[] = {
        {"plain é × 漢",           "plain é × 漢"},
        {"a\x1b[31mb",                "a␛[31mb"      },
        {"a\nb\tc\x7f",               "a␊b␉c␡"   },
        {"\xc2\x9b"
         "x",                "�x"           }, // C1 control
        {"\xe2\x80\xaetxt.exe",       "�txt.exe"     }, // right-to-left override
        {"\xe2\x81\xa6x\xe2\x80\x8b", "�x�"        }, // isolate, zero width space
        {"\xff\xc0\xaf",              "���"      }, // not UTF-8, overlong
        {"\xed\xa0\x80",              "���"      }, // surrogate
        {"\xef\xbf\xbe\xef\xbb\xbf",  "��"         }, // U+FFFE, byte order mark
        {"\xf0\x9f\xbf\xbf",          "�"            }, // U+1FFFF
    };
    for (size_t i = 0; i < sizeof k_cases / sizeof *k_cases; i++) {
        etp_report *r = etp_report_create(arena, k_cases[i].in);
        etp_report_style style = {.unicode = true};
        char expected[64];
        snprintf(expected, sizeof expected, "%s\n", k_cases[i].out);
        assert_string_equal(render(arena, r, etp_write_text, &style), expected);
    }
}

static void numbers_read_well(void **state)
{
    static const struct {
        etp_kind kind;
        double max, value;
        const char *text;
    } k_cases[] = {
        {ETP_KIND_NS,      1163e6,  1163e6,   "1163.0 ms"},
        {ETP_KIND_NS,      1163e6,  -5e3,     "0.0 ms"   },
        {ETP_KIND_NS,      297.9e6, 2.345e6,  "2.35 ms"  },
        {ETP_KIND_NS,      9.5e6,   2.3456e6, "2.346 ms" },
        {ETP_KIND_NS,      20e9,    1e9,      "1.00 s"   },
        {ETP_KIND_NS,      999,     12,       "12 ns"    },
        {ETP_KIND_NS,      45e3,    1500,     "1.50 µs" },
        {ETP_KIND_BYTES,   2048,    2048,     "2.048 kB" },
        {ETP_KIND_BYTES,   12,      12,       "12 B"     },
        {ETP_KIND_RATIO,   0,       3.904,    "3.90×"   },
        {ETP_KIND_PERCENT, 1,       0.1234,   "12.3 %"   },
        {ETP_KIND_DOUBLE,  0,       -0.0004,  "0.000"    },
        {ETP_KIND_INT,     0,       7,        "7"        },
        {ETP_KIND_RATIO,   0,       NONE,     "–"      },
    };
    for (size_t i = 0; i < sizeof k_cases / sizeof *k_cases; i++) {
        char buf[ETP_VIEW_CHARS];
        etp_view v = etp_view_for(k_cases[i].kind, k_cases[i].max, NULL, 0);
        assert_string_equal(etp_view_value(&v, k_cases[i].value, buf), k_cases[i].text);
    }
}

static void charts_have_a_text_form(void **state)
{
    etp_arena *arena = *state;
    etp_report *r = etp_report_create(arena, "t");
    etp_chart *s = etp_report_chart(r, ETP_CHART_STACKED, "s", "Shares", ETP_KIND_NS);
    etp_chart_series(s, "conv");
    etp_chart_series(s, "add");
    etp_chart_row(s, "off", (double[]){3e6, 1e6}, 2);
    etp_chart_row(s, "on", (double[]){1e6, NONE}, 2);
    etp_chart *w = etp_report_chart(r, ETP_CHART_WATERFALL, "w", "", ETP_KIND_NS);
    etp_chart_total(w, "off", 4e6);
    etp_chart_step(w, "conv", "operator", false, -3e6, -3.1e6, -2.9e6);
    etp_chart_step(w, "tracer", "tracer", true, 1e6, NONE, NONE);
    etp_chart_total(w, "on", 2e6);
    // 40 columns: 40 − 3 − 2 − 11 = 24 for the stacked bars, the least of 10 for the waterfall.
    etp_report_style style = {.width = 40};
    assert_string_equal(render(arena, r, etp_write_text, &style),
                        "t\n"
                        "\n"
                        "Shares\n"
                        "off   4.000 ms  ##################======\n"
                        "on    1.000 ms  ######\n"
                        "                       off\n" // 40 columns have room for one
                        "# conv    3.000 ms  75.0 %\n"
                        "= add     1.000 ms  25.0 %\n"
                        "                        on\n"
                        "# conv    1.000 ms 100.0 %\n"
                        "= add            -       -\n"
                        "\n"
                        "off       4.000 ms  ##########\n"
                        "conv     -3.000 ms     -------  [-3.100, -2.900]\n"
                        "tracer   +1.000 ms     ++\n"
                        "on        2.000 ms  #####\n");
}

// A ledger whose tracer row gives back what the steps took too much of dips below zero.
static void waterfall_may_dip_below_zero(void **state)
{
    etp_arena *arena = *state;
    etp_report *r = etp_report_create(arena, "t");
    etp_chart *w = etp_report_chart(r, ETP_CHART_WATERFALL, "w", "", ETP_KIND_INT);
    etp_chart_total(w, "off", 6);
    etp_chart_step(w, "conv", "operator", false, -10, NONE, NONE);
    etp_chart_step(w, "tracer", "tracer", true, 7, NONE, NONE);
    etp_chart_total(w, "on", 3);
    etp_report_style style = {.width = 40}; // ten cells for −4…6
    assert_string_equal(render(arena, r, etp_write_text, &style), "t\n"
                                                                  "\n"
                                                                  "off              6      ######\n"
                                                                  "conv           -10  ----------\n"
                                                                  "tracer          +7  +++++++\n"
                                                                  "on               3      ###\n");
}

static void lists_in_a_row_share_their_columns(void **state)
{
    etp_arena *arena = *state;
    etp_report *r = etp_report_create(arena, "t");
    etp_keys_add(etp_report_keys(r, NULL), ETP_PLAIN, "why", "a");
    etp_report_keys(r, "an empty list is not shown");
    etp_keys_add(etp_report_keys(r, NULL), ETP_PLAIN, "ruled out", "b");
    etp_report_text(r, "x");
    etp_keys_add(etp_report_keys(r, "T"), ETP_PLAIN, "k", "%s",
                 "words that run over the line's end");
    etp_report_style style = {.width = 40};
    assert_string_equal(render(arena, r, etp_write_text, &style),
                        "t\n\nwhy        a\n\nruled out  b\n\nx\n\nT\n"
                        "k  words that run over the line's end\n");
}

static void brief_leaves_out_detail(void **state)
{
    etp_arena *arena = *state;
    etp_report *r = etp_report_create(arena, "t");
    etp_report_section(r, 1, "a", "A");
    etp_report_section_is_detail(r);
    etp_report_text(r, "hidden");
    etp_report_section(r, 2, "b", "B");
    etp_report_text(r, "hidden");
    etp_report_section(r, 1, "c", "C");
    etp_report_text(r, "shown");
    etp_report_section(r, 2, "d", "D");
    etp_report_section_is_detail(r);
    etp_report_section(r, 2, "e", "E");
    etp_report_style style = {.brief = true};
    assert_string_equal(render(arena, r, etp_write_text, &style), "t\n\nC\n-\nshown\n\nE\n");
    assert_string_equal(render(arena, r, etp_write_text, NULL),
                        "t\n\nA\n-\nhidden\n\nB\nhidden\n\nC\n-\nshown\n\nD\nE\n");
}

// One author twice: its section is a level deeper, its ids do not meet, CSV finds each table.
static void parts_keep_ids_apart(void **state)
{
    etp_arena *arena = *state;
    etp_column column = {.key = "n", .title = "n", .kind = ETP_KIND_INT};
    etp_report *r = etp_report_create(arena, "t");
    for (int i = 1; i <= 2; i++) {
        etp_report_begin_part(r, i == 1 ? "p1" : "p2", i == 1 ? "First" : "Second");
        etp_report_section(r, 1, "s", "Inner");
        etp_table *t = etp_report_table(r, "n", NULL, &column, 1);
        ETP_ROW(t, etp_cell_i64(i));
    }
    etp_report_end_part(r);
    etp_report_section(r, 1, "s", "After");
    assert_string_equal(
        render(arena, r, etp_write_text, NULL),
        "t\n\nFirst\n-----\nInner\nn\n-\n1\n\nSecond\n------\nInner\nn\n-\n2\n\nAfter\n-----\n");
    etp_report_style style = {.select = "p2-n"};
    assert_string_equal(render(arena, r, etp_write_csv, &style), "n\n2\n");
    const char *page = render(arena, r, etp_write_html, NULL);
    assert_non_null(strstr(page, "\"level\":1,\"id\":\"p1\""));
    assert_non_null(strstr(page, "\"level\":2,\"id\":\"p1-s\""));
    assert_non_null(strstr(page, "\"level\":2,\"id\":\"p2-s\""));
    assert_non_null(strstr(page, "\"level\":1,\"id\":\"s\""));
}

// A table with more columns than a line has room for goes on below, each row named again; words of
// titles stay whole.
static void wide_tables_go_on_below(void **state)
{
    static const char *const k_titles[] = {"interrupted", "inferences", "operators", "migrations",
                                           "launches",    "reshaping",  "converted", "normalised"};
    enum { N = sizeof k_titles / sizeof *k_titles, WIDTH = 60 };
    etp_arena *arena = *state;
    etp_report *r = etp_report_create(arena, "t");
    etp_column columns[N + 1] = {
        {.key = "name", .title = "name"}
    };
    etp_cell cells[N + 1] = {etp_cell_z("the only row")};
    for (size_t i = 0; i < N; i++) {
        columns[i + 1] =
            (etp_column){.key = k_titles[i], .title = k_titles[i], .kind = ETP_KIND_INT};
        cells[i + 1] = etp_cell_u64(1000 + i);
    }
    etp_table_add_row(etp_report_table(r, "t", NULL, columns, N + 1), cells, N + 1);
    etp_strbuf text;
    etp_strbuf_init(&text, arena);
    etp_sink sink = etp_sink_strbuf(&text);
    etp_report_style style = {.width = WIDTH};
    assert_int_equal(etp_report_write(r, etp_write_text, &style, &sink, NULL), ETP_OK);
    const char *out = etp_strbuf_str(&text).ptr;
    size_t rows = 0;
    for (const char *at = out; (at = strstr(at, "the only row")); at++) {
        rows++;
    }
    assert_int_equal(rows, 2);
    for (size_t i = 0; i < N; i++) {
        char number[8];
        snprintf(number, sizeof number, "%zu", 1000 + i);
        assert_non_null(strstr(out, k_titles[i]));
        assert_non_null(strstr(out, number));
    }
    for (const char *line = out; *line;) {
        size_t n = strcspn(line, "\n");
        assert_true(n <= WIDTH);
        line += n + (line[n] == '\n');
    }
}

static void long_tables_are_limited(void **state)
{
    etp_arena *arena = *state;
    const etp_column columns[] = {
        {.key = "no", .flags = ETP_COL_ABSENT},
        {.key = "n", .title = "n", .kind = ETP_KIND_INT}
    };
    etp_report *r = etp_report_create(arena, "t");
    etp_table *t = etp_report_table(r, "t", NULL, columns, 2);
    etp_table_limit(t, 2);
    for (int i = 1; i <= 5; i++) {
        ETP_ROW(t, etp_cell_z("left out"), etp_cell_i64(i));
    }
    ETP_ROW(t, etp_cell_z("left out"), etp_cell_i64(15));
    etp_table_row_is_total(t);
    assert_string_equal(render(arena, r, etp_write_text, NULL),
                        "t\n\n n\n--\n 1\n 2\n--\n15\n3 more rows\n");
    assert_non_null(strstr(render(arena, r, etp_write_md, NULL), "| **15** |\n\n3 more rows\n"));
    assert_string_equal(render(arena, r, etp_write_csv, NULL), "n\n1\n2\n3\n4\n5\n15\n");
}

static bool refuse(etp_sink *sink, const char *ptr, size_t len)
{
    (void)sink;
    (void)ptr;
    (void)len;
    return false;
}

static void trouble_becomes_a_status(void **state)
{
    etp_arena *arena = *state;
    etp_report *r = small_tree(arena);
    etp_strbuf buf;
    etp_strbuf_init(&buf, arena);
    etp_sink sink = etp_sink_strbuf(&buf);
    etp_error err;
    etp_report_style style = {.select = "nothing"};
    assert_int_equal(etp_report_write(r, etp_write_csv, &style, &sink, &err), ETP_USAGE);
    assert_string_equal(err.msg, "this report has no table named 'nothing'");
    assert_int_equal(etp_report_write(r, etp_write_svg, NULL, &sink, &err), ETP_USAGE);
    assert_string_equal(err.msg, "this report has no chart");
    assert_int_equal(etp_report_write(NULL, etp_write_md, NULL, &sink, &err), ETP_NOMEM);
    for (size_t i = 0; i < N_FORMATS - 1; i++) {
        etp_sink bad = {.write = refuse};
        assert_int_equal(etp_report_write(r, k_formats[i], NULL, &bad, &err), ETP_IO);
    }
}

static void lines_fit_the_terminal(void **state)
{
    etp_arena *arena = *state;
    for (int width = 80; width <= 120; width += 10) {
        etp_report_style style = {.width = width, .unicode = true};
        const char *p = render(arena, sample_full(arena), etp_write_text, &style);
        while (*p) {
            size_t n = strcspn(p, "\n");
            assert_true(etp_width((etp_str){p, n}) <= (size_t)width);
            p += n + 1;
        }
    }
}

static void ticks_are_round_and_inside(void **state)
{
    double ticks[8], step = 0;
    etp_scale s = {0, 1163, 0, 100};
    assert_int_equal(etp_scale_ticks(&s, 7, ticks, &step), 6);
    assert_true(step == 200 && ticks[0] == 0 && ticks[5] == 1000);
    s = (etp_scale){297.4, 301.6, 0, 100};
    assert_int_equal(etp_scale_ticks(&s, 4, ticks, &step), 2);
    assert_true(step == 2 && ticks[0] == 298 && ticks[1] == 300);
    uint32_t seed = 3;
    for (int i = 0; i < 20000; i++) {
        double v[2];
        for (int k = 0; k < 2; k++) {
            seed = seed * 1664525u + 1013904223u;
            v[k] = ((double)(seed >> 8) - 8e6) * pow(10, (double)(seed % 60) - 30);
        }
        etp_scale any = {fmin(v[0], v[1]), fmax(v[0], v[1]), 0, 1};
        size_t n = etp_scale_ticks(&any, 2 + (size_t)i % 7, ticks, &step);
        assert_true(n <= 8);
        for (size_t k = 0; k < n; k++) {
            double slack = step * 1e-6;
            assert_true(ticks[k] >= any.lo - slack && ticks[k] <= any.hi + slack);
        }
    }
}

static void same_tree_same_bytes(void **state)
{
    for (size_t f = 0; f < N_FORMATS; f++) {
        etp_arena a = {0}, b = {0};
        assert_string_equal(render(&a, sample_hostile(&a), k_formats[f], NULL),
                            render(&b, sample_hostile(&b), k_formats[f], NULL));
        etp_arena_dispose(&a);
        etp_arena_dispose(&b);
    }
}

// A command that does not fit goes on behind a backslash, never inside quotes, where the shell
// would take the backslash as it stands. In ASCII an arrow is one.
static void commands_can_be_copied(void **state)
{
    etp_arena *arena = *state;
    etp_strbuf text;
    etp_screen *s = etp_screen_create(arena, "t");
    etp_screen_step(s, "What to do next", "N1", "1 ms", "slower \u2190 here",
                    "etprof whatif out 'back op33' 'back op35' 'back op37'", true);
    for (int width = 30; width < 70; width++) {
        etp_strbuf_init(&text, arena);
        etp_sink sink = etp_sink_strbuf(&text);
        const etp_report_style style = {.width = width};
        assert_int_equal(etp_screen_write(s, &style, &sink, NULL), ETP_OK);
        const char *shown = etp_strbuf_str(&text).ptr;
        assert_non_null(shown);
        assert_non_null(strstr(shown, "slower <"));
        const char *at = strstr(shown, "etprof whatif");
        assert_non_null(at);
        unsigned quotes = 0;
        for (; *at; at++) {
            quotes += *at == '\'' ? 1 : 0;
            assert_false(*at == '\\' && quotes % 2 == 1);
        }
        assert_int_equal(quotes, 6);
    }
}
