// SPDX-License-Identifier: Apache-2.0
// What users ask explain and whatif: each line is an expression and an id, asked of one comparison.
#include "judge/fixes/whatif.h"
#include "judge/open.h"
#include "show/explanation.h"
#include "verbs.h"

#define DUMP ETP_FUZZ_DATA "/mixed_xnnpack_fp32.etdump"
#define LOADED ETP_FUZZ_DATA "/mixed_xnnpack_fp32_load.etdump"

static const etp_ab *comparison(void)
{
    static etp_ab_session *session; // one for many inputs: answers about it live in its arena
    static unsigned asked;
    if (asked++ % 256 == 0) {
        etp_ab_close(session);
        const char *const paths[] = {DUMP, LOADED};
        const etp_ab_options how = {.two_sides = true,
                                    .program = ETP_FUZZ_DATA "/mixed_xnnpack_fp32.pte"};
        FUZZ_CHECK(etp_ab_open(paths, 2, &how, &session, NULL) == ETP_OK);
    }
    return etp_ab_answer(session);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { MOST = 8 };
    const char *lines[MOST];
    size_t n = 0;
    etp_arena arena = {0};
    const etp_ab *ab = comparison();
    for (size_t at = 0; at <= size && n < MOST; n++) {
        etp_str rest = {(const char *)data + at, size - at};
        etp_str line = {rest.ptr, size > at ? etp_str_find(rest, ETP_STR("\n")) : 0};
        lines[n] = etp_arena_strdup(&arena, line);
        FUZZ_CHECK(lines[n] != NULL);
        at += line.len + 1;
    }
    etp_whatif w;
    etp_error err = {.offset = ETP_NO_OFFSET};
    if (etp_whatif_build(ab, lines, n, &w, &err) == ETP_OK) {
        FUZZ_CHECK(w.n_steps == n);
        fuzz_render(etp_whatif_report(&w, &arena), NULL);
        fuzz_as_json(&k_etp_whatif_document, &w);
    } else {
        FUZZ_CHECK(err.msg[0] != '\0');
    }
    for (size_t i = 0; i < n; i++) {
        etp_explanation claim;
        if (etp_explanation_find(ab, lines[i], &claim, NULL) == ETP_OK) {
            fuzz_render(etp_explanation_report(&claim, &arena), NULL);
            fuzz_as_json(&k_etp_explain_document, &claim);
        }
    }
    etp_arena_dispose(&arena);
    return 0;
}
