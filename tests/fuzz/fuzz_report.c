// SPDX-License-Identifier: Apache-2.0
// Reports of generated sessions: arms, blocks, threads, iterations and texts as the bytes say, up
// to the limits of each and one beyond.
#include "verbs.h"

typedef struct bytes {
    const uint8_t *ptr;
    size_t len, at;
} bytes;

static unsigned next(bytes *b)
{
    return b->at < b->len ? b->ptr[b->at++] : 0;
}

// Small mostly, sometimes at a limit.
static unsigned count(bytes *b, unsigned limit)
{
    unsigned v = next(b);
    if (v >= 254) {
        return limit + v - 254;
    }
    return v >= 240 ? 1 + v * limit / 256 : 1 + v % 6;
}

static void text(etp_strbuf *out, bytes *b)
{
    static const char *const k_texts[] = {"arm",      "b|c",         "<b>", "=1",
                                          "\xc3\xa9", "x\\u001b[2J", "%s",  "a b"};
    etp_strbuf_appendz(out, k_texts[next(b) % 8]);
    for (unsigned n = next(b), i = 0; n >= 250 && i < 180; i++) {
        etp_strbuf_appendz(out, "y");
    }
}

static void write_arms(etp_strbuf *m, bytes *b, unsigned arms)
{
    static const char *const k_levels[] = {"", "sse", "avx2", "sme2", "neon", "nonsense"};
    bytes names = *b; // the same texts for each name, made distinct by the number
    for (unsigned a = 0; a < arms; a++) {
        unsigned threads = count(b, 1024);
        bytes again = names;
        etp_strbuf_printf(m, "%s{\"name\":\"", a ? "," : "");
        text(m, &again);
        etp_strbuf_printf(m,
                          "%u\",\"level\":\"%s\",\"threads\":%u,\"model\":%u,\"prefix\":\"p%u\","
                          "\"runner_sha256\":\"\",\"emulated\":%s}",
                          a, k_levels[next(b) % 6], threads, next(b) == 9 ? 1u : 0u, a,
                          next(b) == 7 ? "true" : "false");
    }
}

static void write_manifest(etp_strbuf *m, bytes *b, unsigned arms, unsigned blocks, bool order)
{
    etp_strbuf_appendz(m, "{\"schema\":\"etprof.run/1\",\"state\":\"finished\",\"tool\":{\"name\":"
                          "\"etprof\",\"version\":\"0.1.0\"},\"generated_at\":"
                          "\"2026-11-20T09:00:00Z\",\"model\":\"m.pte\",\"models\":[{\"path\":"
                          "\"m.pte\",\"stem\":\"m\",\"sha256\":\"\",\"bytes\":1}],");
    etp_strbuf_printf(m,
                      "\"blocks_done\":%u,\"plan\":{\"seed\":%u,\"blocks\":%u,\"control_blocks\":"
                      "%u,\"baseline\":%u,\"asked\":{\"warmup\":0,\"timed\":2,\"traced\":0},"
                      "\"arms\":[",
                      blocks, next(b), blocks, next(b) % 2 ? blocks : 0, next(b) % (arms + 1));
    write_arms(m, b, arms);
    etp_strbuf_appendz(m, "],\"order\":[");
    for (unsigned k = 0; order && k < blocks; k++) {
        etp_strbuf_appendz(m, k ? ",[" : "[");
        for (unsigned a = 0; a < arms; a++) {
            etp_strbuf_printf(m, "%s%u", a ? "," : "", (a + k) % arms);
        }
        etp_strbuf_appendz(m, "]");
    }
    etp_strbuf_appendz(m, "]},\"device\":{\"spec\":\"local\",\"platform\":\"linux\",\"facts\":{"
                          "\"system\":\"");
    text(m, b);
    etp_strbuf_appendz(m, "\"}},\"lost\":[],\"unreadable\":[],\"notes\":[],\"files\":[]}");
}

static void write_samples(etp_strbuf *rows, bytes *b, unsigned arms, unsigned blocks, bytes names)
{
    unsigned iterations = 1 + next(b) % 3, launch = 0, spread = next(b);
    etp_strbuf_appendz(rows, "experiment,block,launch,iteration,phase,start_ns,duration_ns\n");
    for (unsigned k = 1; k <= blocks && k <= 4; k++) {
        for (unsigned a = 0; a < arms; a++) {
            launch++;
            for (unsigned i = 0; i < iterations; i++) {
                bytes again = names;
                text(rows, &again);
                etp_strbuf_printf(rows, "%u,%u,%u,%u,timed,%u,%llu\n", a, k, launch, i,
                                  launch * 1000 + i,
                                  (unsigned long long)(1000 + a + i * spread) << (next(b) % 48));
            }
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bytes b = {data, size, 0};
    etp_arena arena = {0};
    etp_strbuf manifest, rows;
    etp_strbuf_init(&manifest, &arena);
    etp_strbuf_init(&rows, &arena);
    unsigned verb = next(&b) % 3, arms = count(&b, 1024), blocks = count(&b, arms > 32 ? 8 : 200);
    bytes names = {data, size, size < 12 ? size : 12};
    bytes rest = {data, size, names.at};
    write_manifest(&manifest, &rest, arms, blocks, next(&b) % 4 != 0);
    write_samples(&rows, &rest, arms, blocks, (bytes){data, size, names.at});
    const char *dir = fuzz_empty_folder();
    etp_str m = etp_strbuf_str(&manifest), s = etp_strbuf_str(&rows), none = {0};
    FUZZ_CHECK(etp_os_replace_below(dir, "manifest.json", fuzz_fill_member, &m, NULL) == ETP_OK);
    FUZZ_CHECK(etp_os_replace_below(dir, "samples.csv", fuzz_fill_member, &s, NULL) == ETP_OK);
    FUZZ_CHECK(etp_os_replace_below(dir, "environment.jsonl", fuzz_fill_member, &none, NULL) ==
               ETP_OK);
    fuzz_run_verb(dir, verb);
    etp_arena_dispose(&arena);
    return 0;
}
