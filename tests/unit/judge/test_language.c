// SPDX-License-Identifier: Apache-2.0
// What is said of language models. tests/data/fixes/decode_token: a decoder of one layer, width 32,
// 2 heads of 16, hidden width 96, 64 tokens, a cache of 16, as `etprof export llm:FILE.json
// --static
// --dtype 8da4w` makes it; the recording is of six tokens.
#include <stdio.h>
#include <string.h>

#include "../folder.h"
#include "../made.h"
#include "unit.h"

#define DATA ETP_TEST_SOURCE_DIR "/tests/data/fixes/"

static const etp_ab_finding *finding_of(const etp_ab *ab, etp_finding_kind kind)
{
    const etp_ab_finding *found = NULL;
    for (size_t i = 0; i < ab->judged.findings.n; i++) {
        const etp_ab_finding *f = &ab->judged.findings.items[i];
        found = f->kind == kind ? f : found;
    }
    return found;
}

static etp_ab_session *open_dump(const char *dump, const char *program, const char *roofs)
{
    etp_error err = ERROR_NONE;
    etp_ab_session *s = NULL;
    etp_ab_options how = {.program = program, .roofs = roofs};
    ASSERT_OK(etp_ab_open(&dump, 1, &how, &s, &err), err);
    return s;
}

// Weights: four matrices of 32 × 32, three of 96 × 32, one of 64 × 32: 15,360 of half a byte and a
// scale of two bytes for each 32 of them. Cache: keys and values, 2 × 16 × 16 floats each. The
// made-up memory reads 50 bytes a nanosecond.
static void a_token_against_memory(void **state)
{
    const uint64_t weights = 15360 / 2 + 15360 / 32 * 2, cache = 2 * 2 * 16 * 16 * 4;
    assert_int_equal(weights, 8640);
    assert_int_equal(cache, 4096);
    etp_ab_session *s =
        open_dump(DATA "decode_token.etdump", DATA "decode_token.pte", DATA "roofs.json");
    const etp_ab *ab = etp_ab_answer(s);
    const etp_ab_finding *f = finding_of(ab, ETP_FINDING_DECODE_ROOF);
    assert_non_null(f);
    double least = (double)(weights + cache) / 50;
    char words[200];
    snprintf(words, sizeof words, "is at %.2g %% of what memory allows",
             100 * least / (double)ab->arms[0].traced_ns);
    assert_non_null(strstr(f->text, "8.64 kB of weights and 4.10 kB of cache"));
    assert_non_null(strstr(f->text, "which takes memory 255 ns"));
    assert_non_null(strstr(f->text, words));
    etp_ab_close(s);
}

static void nothing_is_said_without_roofs_or_of_others(void **state)
{
    etp_ab_session *s = open_dump(DATA "decode_token.etdump", DATA "decode_token.pte", NULL);
    assert_null(finding_of(etp_ab_answer(s), ETP_FINDING_DECODE_ROOF));
    etp_ab_close(s);
    s = open_dump(DATA "layer_norm.etdump", DATA "layer_norm.pte", DATA "roofs.json");
    assert_null(finding_of(etp_ab_answer(s), ETP_FINDING_DECODE_ROOF));
    assert_null(finding_of(etp_ab_answer(s), ETP_FINDING_ATTENTION));
    etp_ab_close(s);
}

// By ExecuTorch's own reader: 26 kernel calls, of which two slice_scatter and two copy_ write
// tensors of 1 × 2 × 16 × 16 floats, and nothing else does.
static void attention_that_is_written_out(void **state)
{
    etp_ab_session *s = open_dump(DATA "decode_token.etdump", DATA "decode_token.pte", NULL);
    const etp_ab *ab = etp_ab_answer(s);
    const etp_ab_finding *f = finding_of(ab, ETP_FINDING_ATTENTION);
    assert_non_null(f);
    assert_non_null(
        strstr(f->text, "4 kernels of a call write as much as a whole cache of 2.05 kB"));
    assert_non_null(strstr(f->text, "26 kernels and"));
    int64_t ns = 0;
    size_t n = 0;
    for (size_t i = 0; i < ab->n_operators; i++) {
        const char *label = ab->operators[i].label;
        bool copies = strncmp(label, "slice_scatter", 13) == 0 || strncmp(label, "copy_", 5) == 0;
        ns += copies ? ab->operators[i].ns[0] : 0;
        n += copies;
    }
    assert_int_equal(n, 4);
    char words[64];
    snprintf(words, sizeof words, "which take %.0f %% of an inference",
             100 * (double)ns / (double)ab->arms[0].traced_ns);
    assert_non_null(strstr(f->text, words));
    assert_int_equal(f->n_evidence, 4);
    assert_null(finding_of(ab, ETP_FINDING_LAST_MATRIX)); // the delegate has it
    etp_ab_close(s);
}

// A method may keep its state in buffers and take nothing: it is not a text decoder, and no reason
// to fall over.
static void a_method_without_inputs(void **state)
{
    etp_str bytes = {0};
    etp_pte pte;
    folder *f = *state;
    assert_int_equal(
        etp_os_read_text(DATA "decode_token.pte", (size_t)1 << 20, &f->arena, &bytes, NULL),
        ETP_OK);
    char *edited = etp_arena_strdup(&f->arena, bytes);
    assert_int_equal(etp_pte_read((etp_bytes){.ptr = (const uint8_t *)edited, .len = bytes.len},
                                  &f->arena, &pte, NULL),
                     ETP_OK);
    assert_true(pte.methods[0].inputs.n > 0);
    // A vector of a FlatBuffer begins with its length.
    memset(edited + (pte.methods[0].inputs.le - (const uint8_t *)edited) - 4, 0, 4);
    const char *path = folder_path(f, "no_inputs.pte");
    assert_int_equal(etp_os_write_atomic(path, (etp_str){edited, bytes.len}, NULL), ETP_OK);
    etp_ab_session *s = open_dump(DATA "decode_token.etdump", path, NULL);
    assert_null(etp_ab_answer(s)->program_problem); // it is joined: its operators are the same
    assert_null(finding_of(etp_ab_answer(s), ETP_FINDING_ATTENTION));
    etp_ab_close(s);
}
