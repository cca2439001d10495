// SPDX-License-Identifier: Apache-2.0
// Runners of others: their log lines, of new and old releases, in pieces and among noise; and what
// their files show. Lines are as ExecuTorch's executor_runner prints them; the ELF files are put
// together here.
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "measure/foreign.h"
#include "unit.h"

typedef struct heard {
    etp_arena arena;
    etp_foreign_log log;
} heard;

static heard hear(const char *text, size_t piece, uint64_t asked)
{
    heard h = {.log = {.executions = asked}};
    size_t len = strlen(text);
    h.log.arena = &h.arena;
    for (size_t i = 0; i < len; i += piece) {
        size_t n = len - i < piece ? len - i : piece;
        etp_foreign_log_feed(&h.log, 1, text + i, n, 1000000000 + i);
    }
    return h;
}

static void the_lines_of_every_release(void **state)
{
    static const struct {
        const char *text;
        uint64_t n, first_ns, total_ns, load_ns, threads;
    } k_logs[] = {
        // 1.x: times of the iterations
        {"I 00:00:00.000391 executorch:executor_runner.cpp:394] Resetting threadpool with num "
         "threads = 4\n"
         "I 00:00:00.004 executorch:executor_runner.cpp:538] Model loaded in 3.250000 ms.\n"
         "I 00:00:00.01 executorch:executor_runner.cpp:590] Iteration 1 of 2: 1.234567 ms\n"
         "I 00:00:00.02 executorch:executor_runner.cpp:590] Iteration 2 of 2: 0.000000 ms\n"
         "I 00:00:00.02 executorch:executor_runner.cpp:600] Model executed successfully 2 time(s) "
         "in 1.234567 ms.\n",                                           2, 1234567, 1234567,  3250000, 4},
        // before: the sum alone
        {"I 00:00:00.123456 executorch:executor_runner.cpp:270] Model executed successfully 2 "
         "time(s) in 24.5 ms.\n",                                       0, 0,       24500000, 0,       0},
        // logcat's prefix, a carriage return, no end of the last line
        {"11-21 10:00:00.000  1234  1234 I ExecuTorch: Iteration 1 of 2: 7 ms\r\n"
         "11-21 10:00:00.007  1234  1234 I ExecuTorch: Iteration 2 of 2: 8.5 ms\r\nIteration 3 of "
         "2: 9 ms",                                                     2, 7000000, 0,        0,       0},
        // the oldest tell no time at all
        {"I executorch:executor_runner.cpp:206] Model executed successfully.\n", 0, 0,       0,        0,       0},
        {"Iteration of Iteration 1 of 2: nan ms\nIteration 1 of 2: -3 ms\nIteration 1 of 2: 1e999 "
         "ms\n",                                                        0, 0,       0,        0,       0},
    };
    for (size_t i = 0; i < sizeof k_logs / sizeof *k_logs; i++) {
        for (size_t piece = 1; piece <= 4096; piece = piece * 3 + 1) {
            heard h = hear(k_logs[i].text, piece, 2);
            assert_int_equal(h.log.iterations.n, k_logs[i].n);
            assert_string_equal(h.log.wrong, "");
            if (k_logs[i].n > 0) {
                assert_int_equal(h.log.iterations.items[0].ns, k_logs[i].first_ns);
                assert_true(h.log.iterations.items[1].ns > 0); // a time below its digits is no 0
                assert_true(h.log.iterations.items[1].start_ns >=
                            h.log.iterations.items[0].start_ns + h.log.iterations.items[0].ns);
            }
            assert_int_equal(h.log.total_ns, k_logs[i].total_ns);
            assert_int_equal(h.log.load_ns, k_logs[i].load_ns);
            assert_int_equal(h.log.threads, k_logs[i].threads);
            etp_arena_dispose(&h.arena);
        }
    }
}

static void noise_is_passed_over(void **state)
{
    etp_arena *arena = *state;
    etp_strbuf text;
    etp_strbuf_init(&text, arena);
    for (int i = 0; i < 10000; i++) {
        etp_strbuf_printf(&text, "W xnnpack: line %d of a talkative backend \x01\xff\n", i);
    }
    for (int i = 0; i < 3000; i++) { // one line far longer than any that counts
        etp_strbuf_appendz(&text, "tensor([1.0, 2.0]) ");
    }
    etp_strbuf_appendz(&text, "Iteration 9 of 9: 9 ms\nIteration 1 of 1: 2 ms\n");
    assert_false(text.failed);
    heard h = hear(text.ptr, 4096, 1);
    assert_int_equal(h.log.iterations.n, 1);
    assert_string_equal(h.log.wrong, "");
    etp_arena_dispose(&h.arena);
}

static void contradictions_are_kept(void **state)
{
    static const struct {
        const char *text, *wrong;
    } k_logs[] = {
        {"Iteration 1 of 3: 1 ms\n",                            "executions: 3, asked for 2"      },
        {"Iteration 2 of 2: 1 ms\n",                            "its log has iteration 2, after 0"},
        {"Iteration 1 of 2: 1 ms\nIteration 2 of 2: 1 ms\n"
         "Iteration 3 of 2: 1 ms\n",                   "its log has iteration 3, after 2"},
        {"Model executed successfully 1 time(s) in 24.5 ms.\n", "executions: 1, asked for 2"      },
    };
    for (size_t i = 0; i < sizeof k_logs / sizeof *k_logs; i++) {
        heard h = hear(k_logs[i].text, 7, 2);
        assert_string_equal(h.log.wrong, k_logs[i].wrong);
        etp_arena_dispose(&h.arena);
    }
}

// ---- statistics of runners of language models ----

// As extension/llm/runner/stats.h of ExecuTorch 1.5 writes them.
#define STATS(prompt, generated, start, prompt_end, end, second)                                 \
    "{\"prefill_token_per_sec\":9200,\"decode_token_per_sec\":2214,\"prompt_tokens\":" prompt    \
    ",\"generated_tokens\":" generated                                                           \
    ",\"model_load_start_ms\":100,\"model_load_end_ms\":350,\"inference_start_ms\":" start       \
    ",\"inference_end_ms\":" end ",\"model_execution_start_ms\":0,\"model_execution_end_ms\":0," \
    "\"prompt_eval_end_ms\":" prompt_end ",\"first_token_ms\":" prompt_end                       \
    ",\"aggregate_sampling_time_ms\":1,\"aggregate_model_execution_time_ms\":19,"                \
    "\"SCALING_FACTOR_UNITS_PER_SECOND\":" second "}"

static heard hear_text(const char *text, size_t piece, uint64_t asked)
{
    heard h = {
        .log = {.executions = asked, .kind = ETP_FOREIGN_TEXT}
    };
    size_t len = strlen(text);
    h.log.arena = &h.arena;
    for (size_t i = 0; i < len; i += piece) {
        size_t n = len - i < piece ? len - i : piece;
        etp_foreign_log_feed(&h.log, 0, text + i, n, 1000000000 + i);
    }
    return h;
}

static void the_statistics_of_an_answer(void **state)
{
    static const char k_text[] =
        "I 00:00:00.000391 executorch:main.cpp:66] Resetting threadpool with num threads = 2\n"
        "a a a Iteration 1 of 1: 3 ms\nand PyTorchObserver {\"prompt_tokens\":1}\n" // its text
        "PyTorchObserver " STATS(
            "46", "31", "1000", "1005", "1019",
            "1000") "\r\n"
                    "I 00:00:01 executorch:stats.h:1] Prompt Tokens: 46    Generated Tokens: 31\n";
    for (size_t piece = 1; piece <= 4096; piece = piece * 3 + 1) {
        heard h = hear_text(k_text, piece, 1);
        assert_string_equal(h.log.wrong, "");
        assert_string_equal(h.log.bad, "");
        assert_int_equal(h.log.answers.n, 1);
        const etp_foreign_stats *s = h.log.answers.items;
        assert_int_equal(s->prompt_tokens, 46);
        assert_int_equal(s->new_tokens, 31);
        assert_int_equal(s->prefill_ms, 5);
        assert_int_equal(s->decode_ms, 14);
        assert_int_equal(s->load_ms, 250);
        assert_int_equal(h.log.threads, 2);
        assert_int_equal(h.log.iterations.n, 0);
        etp_arena_dispose(&h.arena);
    }
    heard more =
        hear_text("PyTorchObserver " STATS("4", "3", "1", "2", "3",
                                           "1000") "\n"
                                                   "PyTorchObserver " STATS("4", "3", "1", "2", "3",
                                                                            "1000") "\n",
                  64, 1);
    assert_string_equal(more.log.wrong, "answers: more than 1, asked for 1");
    etp_arena_dispose(&more.arena);
}

static void statistics_that_cannot_be(void **state)
{
    static const struct {
        const char *text, *why;
    } k_bad[] = {
        {"", "not a JSON object"},
        {"{\"prompt_tokens\":", "not a JSON object"},
        {"[1]", "not a JSON object"},
        {"{}", "no SCALING_FACTOR"},
        {"{\"prompt_tokens\":1,\"prompt_tokens\":1}", "duplicate object key"},
        {STATS("46", "31", "1000", "1005", "1019", "1000000"), "1000000 units a second"},
        {STATS("46", "31", "1000", "999", "1019", "1000"), "is before"},
        {STATS("46", "31", "1000", "1005", "1004", "1000"), "is before"},
        {STATS("0", "31", "1000", "1005", "1019", "1000"), "no token"},
        {STATS("-1", "31", "1000", "1005", "1019", "1000"), "prompt_tokens is not a whole"},
        {STATS("46", "3.5", "1000", "1005", "1019", "1000"), "generated_tokens is no"},
        {STATS("46", "31", "NaN", "1005", "1019", "1000"), "NaN"},
        {STATS("46", "31", "\"1000\"", "1005", "1019", "1000"), "inference_start_ms is no"},
        {STATS("46", "31", "1000", "1005", "99999999999999999", "1000"), "inference_end_ms is no"},
        {STATS("46", "31", "1000", "1005", "99999999999999999999", "1000"), "not a JSON object"},
    };
    for (size_t i = 0; i < sizeof k_bad / sizeof *k_bad; i++) {
        char why[200] = "";
        etp_foreign_stats s;
        assert_false(etp_foreign_stats_read(etp_str_from(k_bad[i].text), &s, why, sizeof why));
        if (!strstr(why, k_bad[i].why)) {
            print_error("%s: %s\n", k_bad[i].text, why);
        }
        assert_non_null(strstr(why, k_bad[i].why));
    }
}

// ---- files ----

static void put(unsigned char *to, uint64_t v, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        to[i] = (unsigned char)(v >> 8 * i);
    }
}

// A 64-bit ELF file of MACHINE with the sections .comment and .rodata (and .interp when DYNAMIC).
static void write_program(const char *path, unsigned machine, bool dynamic, const char *comment,
                          const char *text, size_t text_len)
{
    static const char k_names[] = "\0.comment\0.rodata\0.interp\0.shstrtab";
    static unsigned char file[8192];
    const struct {
        uint64_t name;
        const void *data;
        size_t len;
    } parts[] = {
        {1,  comment,      strlen(comment) + 1},
        {10, text,         text_len           },
        {26, k_names,      sizeof k_names     },
        {18, "/lib/ld.so", 11                 }
    };
    size_t n = dynamic ? 4 : 3, at = 1024;
    memset(file, 0, sizeof file);
    memcpy(file, "\177ELF\2\1\1", 7);
    put(file + 16, 2, 2); // e_type: a program
    put(file + 18, machine, 2);
    put(file + 20, 1, 4);
    put(file + 32, 64, 8);    // e_phoff: one segment with all of it
    put(file + 40, 128, 8);   // e_shoff
    put(file + 52, 64, 2);    // e_ehsize
    put(file + 54, 56, 2);    // e_phentsize
    put(file + 56, 1, 2);     // e_phnum
    put(file + 58, 64, 2);    // e_shentsize
    put(file + 60, n + 1, 2); // e_shnum
    put(file + 62, 3, 2);     // e_shstrndx
    for (size_t i = 0; i < n; i++) {
        unsigned char *section = file + 128 + 64 * (i + 1);
        put(section, parts[i].name, 4);
        put(section + 4, i == 2 ? 3 : 1, 4); // SHT_STRTAB, SHT_PROGBITS
        put(section + 24, at, 8);
        put(section + 32, parts[i].len, 8);
        put(section + 48, 4, 8);
        memcpy(file + at, parts[i].data, parts[i].len);
        at += (parts[i].len + 15) / 16 * 16;
    }
    put(file + 64, 1, 4); // PT_LOAD
    put(file + 68, 5, 4); // to be read and executed
    put(file + 96, at, 8);
    put(file + 104, at, 8);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(file, 1, at, f), at);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(chmod(path, 0755), 0);
}

#define FLAGS "model_path\0num_executions\0cpu_threads\0"
#define LOGS "Iteration %u of %u: %f ms\0Model executed successfully %u time(s) in %f ms.\0"
#define PATH "test_foreign.elf"
#define WRITE(machine, dynamic, text) \
    write_program(PATH, machine, dynamic, "GCC: (GNU) 13.2", text, sizeof text)

enum { X86_64 = 62, AARCH64 = 183 };

static etp_foreign inspected(etp_arena *arena)
{
    etp_foreign f;
    assert_int_equal(etp_foreign_inspect(PATH, false, arena, &f, NULL), ETP_OK);
    return f;
}

static void a_build_shows_what_it_lacks(void **state)
{
    static const char k_whole[] =
        FLAGS LOGS "etdump_path\0XnnpackBackend\0\0\0\0\x7f\x47\x03\xd5"; // SMSTART
    etp_arena *arena = *state;
    WRITE(AARCH64, false, k_whole);
    etp_foreign f = inspected(arena);
    assert_string_equal(f.machine, "aarch64");
    assert_string_equal(f.compiler, "GCC: (GNU) 13.2");
    assert_true(f.is_static && f.tracer == ETP_KNOWN_YES && f.xnnpack == ETP_KNOWN_YES &&
                f.logging == ETP_KNOWN_YES);
    assert_true(f.flags[ETP_FOREIGN_CPU_THREADS] && !f.flags[ETP_FOREIGN_METHOD_NAME]);

    WRITE(AARCH64, false, FLAGS LOGS "etdump_path\0");
    f = inspected(arena);
    assert_true(f.tracer == ETP_KNOWN_YES && f.xnnpack == ETP_KNOWN_NO && f.sme == ETP_KNOWN_NO);
    assert_non_null(strstr(f.summary, "no XNNPACK, no SME code"));

    // What libraries bring cannot be seen in the program.
    WRITE(AARCH64, true, FLAGS LOGS "libexecutorch.so\0");
    f = inspected(arena);
    assert_true(!f.is_static && f.tracer == ETP_KNOWN_NO && f.xnnpack == ETP_KNOWN_NOT &&
                f.sme == ETP_KNOWN_NOT);

    // No log; and a log from before it had times.
    WRITE(X86_64, false, FLAGS "etdump_path\0");
    assert_int_equal(inspected(arena).logging, ETP_KNOWN_NO);
    WRITE(X86_64, false, FLAGS "Model executed successfully.\0");
    assert_int_equal(inspected(arena).logging, ETP_KNOWN_NO);
    WRITE(X86_64, false, FLAGS "Model executed successfully %u time(s) in %f ms.\0");
    assert_int_equal(inspected(arena).logging, ETP_KNOWN_YES);
    remove(PATH);
}

#define TEXT_FLAGS "model_path\0tokenizer_path\0prompt\0max_new_tokens\0temperature\0etdump_path\0"

static void a_runner_of_language_models_is_recognised(void **state)
{
    etp_arena *arena = *state;
    etp_foreign f;
    WRITE(X86_64, false, TEXT_FLAGS "PyTorchObserver %s\n\0");
    assert_true(etp_foreign_is(PATH));
    f = inspected(arena);
    assert_int_equal(f.kind, ETP_FOREIGN_TEXT);
    assert_int_equal(f.tracer, ETP_KNOWN_NO); // the flag alone writes nothing
    assert_false(f.flags[ETP_FOREIGN_ETDUMP_PATH]);
    WRITE(X86_64, false, TEXT_FLAGS "_ZN10executorch6etdump9ETDumpGenC1E\0");
    assert_int_equal(inspected(arena).tracer, ETP_KNOWN_YES);
    WRITE(X86_64, false, FLAGS LOGS "tokenizer_path\0max_new_tokens\0");
    assert_int_equal(inspected(arena).kind, ETP_FOREIGN_EXECUTOR); // it repeats an inference
    assert_int_equal(etp_foreign_inspect(PATH, true, arena, &f, NULL), ETP_OK);
    assert_int_equal(f.kind, ETP_FOREIGN_TEXT);
    remove(PATH);
}

static void sme_code_is_whole_instructions(void **state)
{
    static const struct {
        char code[8];
        etp_known sme;
    } k_codes[] = {
        {{0x7f, 0x47, 0x03, (char)0xd5, 0},    ETP_KNOWN_YES}, // smstart
        {{0x7f, 0x43, 0x03, (char)0xd5, 0},    ETP_KNOWN_YES}, // smstart sm
        {{0x7f, 0x45, 0x03, (char)0xd5, 0},    ETP_KNOWN_YES}, // smstart za
        {{0x7f, 0x46, 0x03, (char)0xd5, 0},    ETP_KNOWN_NO }, // smstop
        {{0, 0x7f, 0x47, 0x03, (char)0xd5, 0}, ETP_KNOWN_NO }, // not at the start of an instruction
    };
    for (size_t i = 0; i < sizeof k_codes / sizeof *k_codes; i++) {
        write_program(PATH, AARCH64, false, "", k_codes[i].code, sizeof k_codes[i].code);
        assert_int_equal(inspected(*state).sme, k_codes[i].sme);
    }
    remove(PATH);
}

static void builds_differ_in_what_their_files_show(void **state)
{
    etp_arena *arena = *state;
    WRITE(AARCH64, false, FLAGS LOGS "etdump_path\0XnnpackBackend\0");
    etp_foreign a = inspected(arena);
    assert_string_equal(etp_foreign_differences(&a, &a, arena), "");
    write_program(PATH, AARCH64, false, "clang version 18.0.1", FLAGS LOGS "XnnpackBackend",
                  sizeof FLAGS LOGS "XnnpackBackend");
    etp_foreign b = inspected(arena);
    const char *text = etp_foreign_differences(&a, &b, arena);
    assert_non_null(strstr(text, "compiler: GCC: (GNU) 13.2 against clang version 18.0.1"));
    assert_non_null(strstr(text, "event tracer: yes against no"));
    assert_null(strstr(text, "XNNPACK"));
    remove(PATH);
}
