// SPDX-License-Identifier: Apache-2.0
// Sums over the chunks of a prompt.
#include "show/first_token.h"

#include "base/number.h"
#include "document/document.h"

// The answer of the phase that takes tokens of a prompt of PROMPT from AT on, the longest there is.
// NULL: none.
static const etp_ab *chunk_at(const etp_ab *ab, uint64_t prompt, uint64_t at)
{
    const etp_ab *found = NULL;
    uint64_t longest = 0;
    for (size_t i = 0; i < ab->n_phases; i++) {
        const etp_run_phase *p = &ab->phased[i];
        uint64_t n = p->tokens * p->calls;
        if (p->kind == ETP_PHASE_OF_PREFILL && p->depth == at && n > longest && n <= prompt - at) {
            found = ab->phases[i];
            longest = n;
        }
    }
    return found;
}

// Chunk by chunk from the first token on; a gap means that a length was not measured, and a sum
// with a gap is no time to the first token.
int64_t etp_ab_first_token(const etp_ab *ab, uint64_t prompt, uint32_t arm)
{
    int64_t sum = 0;
    for (uint64_t at = 0; at < prompt;) {
        const etp_ab *chunk = chunk_at(ab, prompt, at);
        int64_t ns = chunk ? chunk->arms[arm].median_ns : ETP_NS_UNKNOWN;
        if (ns == ETP_NS_UNKNOWN || ns < 0 || ab->emulated ||
            ns > (INT64_MAX - sum) / (int64_t)ETP_MAX(chunk->phased->calls, 1)) {
            return ETP_NS_UNKNOWN;
        }
        sum += ns * (int64_t)chunk->phased->calls;
        at += chunk->phased->tokens * chunk->phased->calls;
    }
    return prompt > 0 ? sum : ETP_NS_UNKNOWN;
}

// Each length once, in the order of the phases; a phase of no prompt has 0.
size_t etp_ab_prompts(const etp_ab *ab, uint64_t *out)
{
    size_t n = 0;
    for (size_t i = 0; i < ab->n_phases; i++) {
        bool known = ab->phased[i].prompt == 0;
        for (size_t k = 0; !known && k < n; k++) {
            known = out[k] == ab->phased[i].prompt;
        }
        if (!known && n < ETP_AB_PROMPTS) {
            out[n++] = ab->phased[i].prompt;
        }
    }
    return n;
}

void etp_ab_first_tokens_write(etp_json *j, const etp_json_cursor *at)
{
    const etp_ab *ab = at->object;
    uint64_t prompts[ETP_AB_PROMPTS];
    size_t n = etp_ab_prompts(ab, prompts);
    etp_json_begin_array(j);
    for (size_t i = 0; i < n; i++) {
        etp_json_begin_object(j);
        etp_json_kv_u64(j, "prompt", prompts[i]);
        etp_json_key(j, "arms");
        etp_json_begin_array(j);
        for (uint32_t k = 0; k < ab->n_arms; k++) {
            etp_json_begin_object_inline(j);
            etp_json_kv_z(j, "name", ab->arms[k].name);
            etp_json_kv_z(j, "level", ab->arms[k].level_name);
            etp_ns_member(j, "ns", etp_ab_first_token(ab, prompts[i], k));
            etp_json_end(j);
        }
        etp_json_end(j);
        etp_json_end(j);
    }
    etp_json_end(j);
}
