// SPDX-License-Identifier: Apache-2.0
// Time of a full explanation of two recordings: open, join, align, ledger, findings, fixes, JSON.
//   bench_explain BASELINE.etdump CANDIDATE.etdump MODEL.pte|- REPEATS LIMIT_MS
// Exit 1 when the fastest of the repeats takes longer than the limit (other work on the machine
// makes single ones slower, never faster).
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge/open.h"
#include "show/json.h"

static etp_status explain_once(const char *const paths[2], const etp_ab_options *how, size_t *bytes,
                               etp_error *err)
{
    etp_ab_session *session = NULL;
    ETP_TRY(etp_ab_open(paths, 2, how, &session, err));
    etp_arena arena = {0};
    etp_strbuf text;
    etp_json j;
    etp_strbuf_init(&text, &arena);
    etp_sink sink = etp_sink_strbuf(&text);
    etp_json_init(&j, &sink, true);
    const etp_ab *ab = etp_ab_answer(session);
    etp_document_write(&j, &k_etp_ab_document, ab, ab);
    *bytes = text.len;
    etp_arena_dispose(&arena);
    etp_ab_close(session);
    return ETP_OK;
}

int main(int argc, char **argv)
{
    if (argc != 6) {
        fprintf(stderr, "usage: bench_explain BASELINE CANDIDATE MODEL.pte|- REPEATS LIMIT_MS\n");
        return 2;
    }
    const char *const paths[2] = {argv[1], argv[2]};
    etp_ab_options how = {.program = strcmp(argv[3], "-") == 0 ? NULL : argv[3], .two_sides = true};
    etp_error err = {.offset = ETP_NO_OFFSET};
    double best = 1e300, sum = 0, limit = strtod(argv[5], NULL);
    long repeats = strtol(argv[4], NULL, 10);
    size_t bytes = 0;
    for (long i = 0; i < repeats; i++) {
        uint64_t start = etp_os_now_ns();
        if (explain_once(paths, &how, &bytes, &err) != ETP_OK) {
            fprintf(stderr, "%s\n", err.msg);
            return 4;
        }
        double ms = (double)(etp_os_now_ns() - start) / 1e6;
        best = ms < best ? ms : best;
        sum += ms;
    }
    printf("%.2f ms fastest, %.2f ms mean of %ld, document of %zu bytes, limit %.0f ms\n", best,
           sum / (double)repeats, repeats, bytes, limit);
    return best <= limit ? 0 : 1;
}
