// SPDX-License-Identifier: Apache-2.0
// Lines of the protocol: what is written is what is read, and what a hostile or
// broken runner may print is refused with its place.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"
#include "wire/wire.h"

static etp_wire_msg msg; // 11 KB: not for the stack of every test

static const char *parse_fails(const char *line, size_t len)
{
    static char why[200];
    why[0] = '\0';
    memset(&msg, 0xff, sizeof msg);
    // A copy of exactly this size, so that a sanitizer sees every byte too far.
    char *copy = malloc(len + (len == 0));
    assert_non_null(copy);
    memcpy(copy, line, len);
    bool ok = etp_wire_parse(copy, len, &msg, why, sizeof why);
    free(copy);
    if (ok) {
        fail_msg("accepted: %.80s", line);
    }
    static etp_wire_msg zero;
    assert_memory_equal(&msg, &zero, sizeof msg);
    assert_true(strncmp(why, "byte ", 5) == 0);
    return why;
}

static void parses(const char *line)
{
    char why[200] = "";
    if (!etp_wire_parse(line, strlen(line), &msg, why, sizeof why)) {
        fail_msg("refused: %.120s: %s", line, why);
    }
}

static void expected_bytes(void **state)
{
    char line[ETP_WIRE_LINE_MAX];
    etp_wire_msg m = {
        .type = ETP_WIRE_ITER, .u.iter = {.i = 7, .start_ns = UINT64_MAX}
    };
    size_t n = etp_wire_format(&m, line, sizeof line);
    static const char k_iter[] =
        "{\"type\":\"iter\",\"i\":7,\"start_ns\":18446744073709551615,\"ns\":0}\n";
    assert_int_equal(n, strlen(k_iter));
    assert_memory_equal(line, k_iter, n);
    assert_int_equal(etp_wire_format(&m, line, n - 1), 0);

    m.u.iter.counts =
        (etp_wire_counts){.cpu_ns = 1, .cycles = UINT64_MAX, .instructions = 3, .scaled = 1};
    n = etp_wire_format(&m, line, sizeof line);
    line[n] = '\0';
    assert_string_equal(
        line, "{\"type\":\"iter\",\"i\":7,\"start_ns\":18446744073709551615,\"ns\":0,\"cpu_ns\":1,"
              "\"cycles\":18446744073709551615,\"instructions\":3,\"scaled\":1}\n");
    parses(line);
    assert_memory_equal(&msg.u.iter, &m.u.iter, sizeof m.u.iter);
    parses("{\"type\":\"iter\",\"i\":1,\"start_ns\":2,\"ns\":3,\"cache_misses\":4,\"faults\":5,"
           "\"task_clock_ns\":6}");
    assert_int_equal(msg.u.iter.counts.cache_misses, 4);
    assert_int_equal(msg.u.iter.counts.faults, 5);
    assert_int_equal(msg.u.iter.counts.task_clock_ns, 6);
    assert_int_equal(msg.u.iter.counts.cycles, 0);

    etp_wire_msg e = {.type = ETP_WIRE_ERROR};
    strcpy(e.u.error.code, "file");
    strcpy(e.u.error.message, "a\"b\\c\n\x01\x7f \xc3\xa9 \xff\xc0\x80 \xed\xa0\x80");
    n = etp_wire_format(&e, line, sizeof line);
    line[n] = '\0';
    assert_string_equal(line, "{\"type\":\"error\",\"code\":\"file\",\"message\":\"a\\\"b\\\\c\\n"
                              "\\u0001\\u007f \xc3\xa9 \xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd "
                              "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"}\n");
    parses(line);
    assert_int_equal(msg.type, ETP_WIRE_ERROR);
    assert_string_equal(msg.u.error.code, "file");
}

static void everything_round_trips(void **state)
{
    static etp_wire_msg m;
    char line[ETP_WIRE_LINE_MAX];
    etp_wire_hello *h = &m.u.hello;
    memset(&m, 0, sizeof m);
    m.type = ETP_WIRE_HELLO;
    h->protocol = 1;
    h->pid = 4711;
    h->threads = 3;
    h->mask.calls = 21;
    memset(h->nonce, 'n', sizeof h->nonce - 1);
    memset(h->mask.requested, 'r', sizeof h->mask.requested - 1);
    memset(h->mask.cleared, '"', sizeof h->mask.cleared - 1);
    memset(h->cpu, '\\', sizeof h->cpu - 1);
    memset(h->flags, '\x01', sizeof h->flags - 1); // six bytes each: the longest line there is
    strcpy(h->mask.caller, "libexecutorch_backend_xnnpack.so");
    strcpy(h->counters.events, "none");
    strcpy(h->counters.cache, "ll_cache_miss_rd");
    memset(h->counters.why, '\x01', sizeof h->counters.why - 1);
    memset(h->counters.fix, '\x01', sizeof h->counters.fix - 1);
    size_t n = etp_wire_format(&m, line, sizeof line);
    assert_true(n > 0);
    line[n] = '\0';
    parses(line);
    assert_int_equal(msg.type, ETP_WIRE_HELLO);
    assert_memory_equal(&msg.u.hello, h, sizeof *h);

    memset(&m, 0, sizeof m);
    m.type = ETP_WIRE_SELFTEST;
    m.u.selftest.count = ETP_WIRE_LEVELS_MAX;
    for (size_t i = 0; i < ETP_WIRE_LEVELS_MAX; i++) {
        etp_wire_level *l = &m.u.selftest.levels[i];
        (void)snprintf(l->level, sizeof l->level, "level%zu", i);
        l->ok = (etp_wire_truth)(i % 3);
        strcpy(l->linear, "Fully Connected (NC, QDU8, F32, QC8W) GEMM");
        memset(l->why, 'w', sizeof l->why - 1);
    }
    n = etp_wire_format(&m, line, sizeof line);
    assert_true(n > 0);
    line[n] = '\0';
    parses(line);
    assert_int_equal(msg.type, ETP_WIRE_SELFTEST);
    assert_memory_equal(&msg.u.selftest, &m.u.selftest, sizeof m.u.selftest);

    memset(&m, 0, sizeof m);
    m.type = ETP_WIRE_LOAD;
    m.u.load.ns = 7;
    memset(m.u.load.kernels_ours, 'k', sizeof m.u.load.kernels_ours - 1);
    n = etp_wire_format(&m, line, sizeof line);
    assert_true(n > 0);
    line[n] = '\0';
    parses(line);
    assert_memory_equal(&msg.u.load, &m.u.load, sizeof m.u.load);

    memset(&m, 0, sizeof m);
    m.type = ETP_WIRE_ROOF;
    m.u.roof = (etp_wire_roof){.isa = "avx2",
                               .what = "fma_f32",
                               .unit = "op/s",
                               .threads = 8,
                               .bytes = 7,
                               .best = UINT64_MAX,
                               .median = 5};
    n = etp_wire_format(&m, line, sizeof line);
    assert_true(n > 0);
    line[n] = '\0';
    assert_string_equal(
        line,
        "{\"type\":\"roof\",\"isa\":\"avx2\",\"what\":\"fma_f32\",\"unit\":\"op/s\",\"threads\":8,"
        "\"bytes\":7,\"best\":18446744073709551615,\"median\":5}\n");
    parses(line);
    assert_int_equal(msg.type, ETP_WIRE_ROOF);
    assert_memory_equal(&msg.u.roof, &m.u.roof, sizeof m.u.roof);
}

static void parts_of_loading(void **state)
{
    static char line[ETP_WIRE_LINE_MAX];
    etp_wire_msg m;
    memset(&m, 0, sizeof m);
    m.type = ETP_WIRE_PART;
    m.u.part = (etp_wire_part){.what = "packing",
                               .delegate = 3,
                               .operation = 2,
                               .bytes = 520128,
                               .ns = UINT64_MAX,
                               .faults = 5,
                               .workspace = 7};
    size_t n = etp_wire_format(&m, line, sizeof line);
    assert_true(n > 0);
    line[n] = '\0';
    assert_string_equal(line, "{\"type\":\"part\",\"what\":\"packing\",\"delegate\":3,"
                              "\"operation\":2,\"bytes\":520128,\"ns\":18446744073709551615,"
                              "\"faults\":5,\"workspace\":7}\n");
    parses(line);
    assert_memory_equal(&msg.u.part, &m.u.part, sizeof m.u.part);
    assert_int_equal(etp_wire_part_find("packing"), ETP_LOAD_PACKING);
    assert_int_equal(etp_wire_part_find("first"), ETP_LOAD_FIRST);
    assert_int_equal(etp_wire_part_find("Packing"), ETP_LOAD_WHATS);
    assert_string_equal(etp_wire_part_word(ETP_LOAD_PROCESS), "process");
}

static void liberal_where_it_may(void **state)
{
    parses(
        " { \"ns\" : 5 , \"type\" : \"load\" , \"later\" : [1, -2.5e+3, {\"a\": [null, true]}] } ");
    assert_int_equal(msg.type, ETP_WIRE_LOAD);
    assert_int_equal(msg.u.load.ns, 5);
    assert_int_equal(msg.u.load.rss_bytes, 0);
    assert_string_equal(msg.u.load.kernels_ours, "");
    parses("{\"type\":\"load\",\"ns\":5,\"kernels_ours\":\"llama::custom_sdpa.out\"}");
    assert_string_equal(msg.u.load.kernels_ours, "llama::custom_sdpa.out");
    parses("{\"type\":\"done\",\"n\":3}\r\n");
    assert_int_equal(msg.u.done.n, 3);
    assert_int_equal(msg.u.done.hook_call_ps, 0);
    parses("{\"type\":\"done\",\"n\":3,\"hook_calls\":27,\"hook_call_ps\":400}");
    assert_int_equal(msg.u.done.hook_calls, 27);
    assert_int_equal(msg.u.done.hook_call_ps, 400);
    parses("{\"type\":\"done\",\"n\":1,\"dirty_bytes\":4096,\"clean_bytes\":8192}");
    assert_int_equal(msg.u.done.dirty_bytes, 4096);
    assert_int_equal(msg.u.done.clean_bytes, 8192);
    parses("{\"type\":\"done\",\"n\":1,\"memory\":{\"code\":3,\"packed\":5,\"later\":7}}");
    assert_int_equal(msg.u.done.memory.code, 3);
    assert_int_equal(msg.u.done.memory.packed, 5);
    assert_int_equal(msg.u.done.memory.program, 0);
    parses("{\"type\":\"done\",\"n\":1,\"memory\":{\"code\":3},\"memory_load\":{\"code\":4,"
           "\"kept\":6,\"peak_bytes\":11},\"memory_peak\":{\"copies\":8,\"peak_bytes\":19}}");
    assert_int_equal(msg.u.done.memory.code, 3);
    assert_int_equal(msg.u.done.stages.load.rows.code, 4);
    assert_int_equal(msg.u.done.stages.load.rows.kept, 6);
    assert_int_equal(msg.u.done.stages.load.peak_bytes, 11);
    assert_int_equal(etp_memory_sum(&msg.u.done.stages.load.rows), 10);
    assert_int_equal(etp_memory_sum(&msg.u.done.stages.first.rows), 0);
    assert_int_equal(msg.u.done.stages.peak.rows.copies, 8);
    assert_int_equal(msg.u.done.stages.peak.peak_bytes, 19);
    parses("{\"type\":\"progress\",\"x\":1}");
    assert_int_equal(msg.type, ETP_WIRE_UNKNOWN);
    assert_string_equal(msg.word, "progress");
    parses("{\"type\":\"error\",\"code\":\"file\",\"message\":\"\\u00e9\\ud83d\\ude00\\/\\t\"}");
    assert_string_equal(msg.u.error.message, "\xc3\xa9\xf0\x9f\x98\x80/\t");
    // A key that is longer than any of ours is skipped like other unknown ones.
    parses("{\"type\":\"done\",\"n\":1,\"0123456789012345678901234567890123456789"
           "01234567890123456789012345678901234567890\":0}");
    // Unknown keys may repeat.
    parses("{\"type\":\"done\",\"n\":1,\"x\":0,\"x\":0}");
    // The keys of mask are known only inside it.
    parses(
        "{\"type\":\"hello\",\"protocol\":1,\"calls\":\"no\",\"mask\":{\"calls\":9,\"more\":{}}}");
    assert_int_equal(msg.u.hello.mask.calls, 9);
}

static void refused(void **state)
{
    static const struct {
        const char *line, *why;
    } k_bad[] = {
        {"",                                                                       "byte 0: expected an object"         },
        {"\n",                                                                     "byte 0: expected an object"         },
        {"Segmentation fault",                                                     "byte 0: expected an object"         },
        {"[]",                                                                     "byte 0: expected an object"         },
        {"{",                                                                      "byte 1: expected a string"          },
        {"{}",                                                                     "byte 2: no key \"type\""            },
        {"{\"type\":\"iter\"",                                                     "byte 14: expected ',' or '}'"       },
        {"{\"type\":\"iter\",}",                                                   "byte 15: expected a string"         },
        {"{\"type\":\"iter\"} x",                                                  "byte 16: something after the object"},
        {"{\"type\":\"iter\"}{}",                                                  "byte 15: something after the object"},
        {"{\"type\":\"iter\",\"i\":1,\"ns\":2}",                                   "no key \"start_ns\""                },
        {"{\"type\":\"iter\",\"i\":-1,\"start_ns\":0,\"ns\":2}",                   "non-negative integer"               },
        {"{\"type\":\"iter\",\"i\":1.5,\"start_ns\":0,\"ns\":2}",                  "non-negative integer"               },
        {"{\"type\":\"iter\",\"i\":1e3,\"start_ns\":0,\"ns\":2}",                  "non-negative integer"               },
        {"{\"type\":\"iter\",\"i\":\"1\",\"start_ns\":0,\"ns\":2}",                "non-negative integer"               },
        {"{\"type\":\"iter\",\"i\":null,\"start_ns\":0,\"ns\":2}",                 "non-negative integer"               },
        {"{\"type\":\"iter\",\"i\":007,\"start_ns\":0,\"ns\":2}",                  "bad"                                },
        {"{\"type\":\"iter\",\"i\":18446744073709551616,\"start_ns\":0,\"ns\":2}", "too large"                          },
        {"{\"type\":\"iter\",\"i\":1,\"i\":1,\"start_ns\":0,\"ns\":2}",            "twice"                              },
        {"{\"type\":\"iter\",\"type\":\"iter\"}",                                  "twice"                              },
        {"{\"type\":5}",                                                           "expected a string"                  },
        {"{\"type\":\"hello\",\"protocol\":1,\"mask\":[]}",                        "expected an object"                 },
        {"{\"type\":\"hello\",\"protocol\":1,\"mask\":{\"calls\":1,\"calls\":1}}", "twice"                              },
        {"{\"type\":\"error\",\"code\":\"x\"}",                                    "no key \"message\""                 },
        {"{\"type\":\"done\",\"n\":1,\"x\":tru}",                                  "expected a value"                   },
        {"{\"type\":\"done\",\"n\":1,\"x\":01}",                                   "expected ',' or '}'"                },
        {"{\"type\":\"done\",\"n\":1,\"x\":.5}",                                   "expected a value"                   },
        {"{\"type\":\"done\",\"n\":1,\"x\":1.}",                                   "bad number"                         },
        {"{\"type\":\"done\",\"n\":1,\"x\":1e}",                                   "bad number"                         },
        {"{\"type\":\"done\",\"n\":1,\"x\":-}",                                    "bad number"                         },
        {"{\"type\":\"done\",\"n\":1,\"x\":NaN}",                                  "expected a value"                   },
        {"{\"type\":\"done\",\"n\":1,\"x\":[1,]}",                                 "expected a value"                   },
        {"{\"type\":\"done\",\"n\":1,\"x\":[1}",                                   "the end of a list"                  },
        {"{\"type\":\"done\",\"n\":1,\"x\":{\"a\"}}",                              "expected ':'"                       },
        {"{\"type\":\"done\",\"n\":1,\"x\":\"\\x\"}",                              "bad escape"                         },
        {"{\"type\":\"done\",\"n\":1,\"x\":\"\\u12\"}",                            "bad \\u escape"                     },
        {"{\"type\":\"done\",\"n\":1,\"x\":\"\\ud83d\"}",                          "half a surrogate pair"              },
        {"{\"type\":\"done\",\"n\":1,\"x\":\"\\ud83dxxxxxx\"}",                    "half a surrogate pair"              },
        {"{\"type\":\"done\",\"n\":1,\"x\":\"\\ud83d\\u0041\"}",                   "half a surrogate pair"              },
        {"{\"type\":\"done\",\"n\":1,\"x\":\"\\udc00\"}",                          "half a surrogate pair"              },
        {"{\"type\":\"done\",\"n\":1,\"x\":\"\\u0000\"}",                          "NUL in a string"                    },
        {"{\"type\":\"done\",\"n\":1,\"x\":\"\t\"}",                               "control character"                  },
        {"{\"type\":\"done\",\"n\":1,\"x\":\"\xc0\x80\"}",                         "not UTF-8"                          },
        {"{\"type\":\"done\",\"n\":1,\"x\":\"\xed\xa0\x80\"}",                     "not UTF-8"                          },
        {"{\"type\":\"done\",\"n\":1,\"x\":\"\xf4\x90\x80\x80\"}",                 "not UTF-8"                          },
        {"{\"type\":\"done\",\"n\":1,\"x\":\"\xe2\x82",                            "not UTF-8"                          },
        {"{\"type\":\"done\",\"n\":1,\"x\":\"",                                    "string without end"                 },
        {"{\"type\":\"done\",\"n\":1,\"x\":\"\\",                                  "bad escape"                         },
        {"{\"type\":\"done\",\"n\":1,\"x\":[[[[[[[[[1]]]]]]]]]}",                  "nested too deeply"                  },
        {"{\"type\":\"selftest\"}",                                                "no key \"levels\""                  },
        {"{\"type\":\"selftest\",\"levels\":{}}",                                  "expected a list"                    },
        {"{\"type\":\"selftest\",\"levels\":[1]}",                                 "expected an object"                 },
        {"{\"type\":\"selftest\",\"levels\":[{\"level\":\"a\"}]}",                 "no key \"ok\""                      },
        {"{\"type\":\"selftest\",\"levels\":[{\"level\":\"a\",\"ok\":1}]}",        "expected a value"                   },
        {"{\"type\":\"selftest\",\"levels\":[{\"level\":\"a\",\"ok\":true},]}",    "expected a value"                   },
    };
    for (size_t i = 0; i < sizeof k_bad / sizeof k_bad[0]; i++) {
        const char *why = parse_fails(k_bad[i].line, strlen(k_bad[i].line));
        if (strstr(why, k_bad[i].why) == NULL && strcmp(k_bad[i].why, "bad") != 0) {
            fail_msg("%s: said '%s'", k_bad[i].line, why);
        }
    }
    static const char k_nul[] = "{\"type\":\"done\",\"n\":1,\"x\":\"a\0b\"}";
    assert_non_null(strstr(parse_fails(k_nul, sizeof k_nul - 1), "control character"));
}

static void too_long(void **state)
{
    size_t cap = ETP_WIRE_LINE_MAX + 100;
    char *line = malloc(cap);
    assert_non_null(line);
    memset(line, ' ', cap);
    assert_non_null(strstr(parse_fails(line, ETP_WIRE_LINE_MAX + 1), "line too long"));
    // A text that does not fit its place is an error, never cut.
    int at = snprintf(line, cap, "{\"type\":\"error\",\"code\":\"");
    memset(line + at, 'c', ETP_WIRE_WORD_MAX + 1);
    strcpy(line + at + ETP_WIRE_WORD_MAX + 1, "\",\"message\":\"\"}");
    assert_non_null(strstr(parse_fails(line, strlen(line)), "string too long"));
    strcpy(line + at + ETP_WIRE_WORD_MAX, "\",\"message\":\"\"}");
    parses(line);
    strcpy(line, "{\"type\":\"selftest\",\"levels\":[");
    for (int i = 0; i <= ETP_WIRE_LEVELS_MAX; i++) {
        strcat(line, i == 0 ? "" : ",");
        strcat(line, "{\"level\":\"a\",\"ok\":null}");
    }
    strcat(line, "]}");
    assert_non_null(strstr(parse_fails(line, strlen(line)), "too many levels"));
    free(line);
}

// Every prefix and many single-byte changes of good lines: no crash, no hang, and
// never a message of one type with the fields of another.
static void damaged_lines(void **state)
{
    static const char *const k_good[] = {
        "{\"type\":\"hello\",\"protocol\":1,\"pid\":7,\"nonce\":\"\\u00e9\",\"mask\":{"
        "\"requested\":"
        "\"x86_64:none\",\"calls\":2},\"cpu\":\"\xe2\x82\xac\",\"flags\":\"\",\"z\":[1,{\"a\":-1."
        "5e9}]}",
        "{\"type\":\"selftest\",\"levels\":[{\"level\":\"vnni\",\"ok\":true},{\"level\":\"sse\","
        "\"ok\":null}]}",
    };
    char why[200];
    for (size_t g = 0; g < 2; g++) {
        size_t len = strlen(k_good[g]);
        for (size_t cut = 0; cut < len; cut++) {
            (void)parse_fails(k_good[g], cut);
        }
        char *copy = malloc(len);
        assert_non_null(copy);
        uint32_t seed = 12345;
        for (int i = 0; i < 20000; i++) {
            memcpy(copy, k_good[g], len);
            for (int k = 0; k < 1 + i % 3; k++) {
                seed = seed * 1664525u + 1013904223u;
                copy[(seed >> 8) % len] = (char)(seed >> 24);
            }
            if (etp_wire_parse(copy, len, &msg, why, sizeof why)) {
                assert_true(msg.word[0] != '\0' || msg.type == ETP_WIRE_UNKNOWN);
            }
        }
        free(copy);
    }
}
