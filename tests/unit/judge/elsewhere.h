// SPDX-License-Identifier: Apache-2.0
// Findings whose pairs of data stand in other tests, and what a finding must say.
#ifndef ETP_TESTS_JUDGE_ELSEWHERE_H
#define ETP_TESTS_JUDGE_ELSEWHERE_H

// Text decoders: test_language.c, runner.phases. Recordings: tests/recordings. The cache of packed
// weights: runner.packed_cache. Different models: test_models.c, sides.
static inline bool tested_elsewhere(etp_finding_kind k)
{
    return (k >= ETP_FINDING_DECODE_ROOF && k <= ETP_FINDING_CHUNK) ||
           (k >= ETP_FINDING_TRACE_DAMAGED && k <= ETP_FINDING_PARTLY_LOGGED) ||
           k == ETP_FINDING_PACKED_CACHE || k == ETP_FINDING_PACKING ||
           k == ETP_FINDING_PROGRAM_DIFFERS || k == ETP_FINDING_OUTPUTS_RANDOM ||
           k == ETP_FINDING_OUTPUTS_EXPECTED || k == ETP_FINDING_ALTERED ||
           k == ETP_FINDING_UNRELATED;
}

static inline void expect_words(const char *id, const char *text, const char *words)
{
    if (!text[0] || !strstr(text, words)) {
        fail_msg("%s: '%s' does not say '%s'", id, text, words);
    }
}

#endif
