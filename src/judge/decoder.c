// SPDX-License-Identifier: Apache-2.0
// What is said of a text decoder's program beside its quantisation: attention that is written out,
// a last matrix outside the delegate, and how many tokens of a prompt a call should take.
#include <math.h>

#include "base/number.h"
#include "judge/judge.h"

typedef struct decoder {
    const etp_ab *ab;
    etp_ab_findings *to;
    const etp_method *m;
    uint32_t arm;
} decoder;

// Does IN write a cache? Told by its shape: as large as the one that cache_of found, with at least
// three dimensions, and of a fixed size while tokens come and go.
static bool writes(const etp_method *m, const etp_instruction *in, uint64_t bytes)
{
    bool found = false;
    for (uint32_t i = 0; i < in->n_outputs; i++) {
        const etp_value *v = &m->values[in->outputs[i]];
        found = found || (v->kind == ETP_EVALUE_TENSOR && v->rank >= 3 && !v->constant &&
                          !v->dynamic && !v->sized && v->bytes == bytes);
    }
    return found;
}

// Time of one kernel call in the arm, 0 unknown; its operator goes to OUT.
// Kernels are found again by chain and instruction; the ids become the finding's evidence.
static void add_call(const decoder *d, const etp_instruction *in, int64_t *ns, etp_texts *out)
{
    for (size_t i = 0; i < d->ab->n_operators; i++) {
        const etp_ab_operator *op = &d->ab->operators[i];
        bool mine = !op->delegated && op->chain == (int32_t)in->chain &&
                    op->instruction == (int32_t)in->index;
        if (mine) {
            ETP_ADD(d->ab->arena, out, op->id);
        }
        *ns += mine && op->ns[d->arm] > 0 ? op->ns[d->arm] : 0;
    }
}

// " and take 23 % of an inference"; empty where times say nothing.
static const char *share_words(const decoder *d, int64_t ns, const char *before)
{
    int64_t all = d->ab->arms[d->arm].traced_ns;
    return d->ab->emulated || all <= 0 || ns <= 0
               ? ""
               : etp_arena_printf(d->ab->arena, "%s %.0f %% of an inference", before,
                                  100 * (double)ns / (double)all);
}

// ---- attention ----

static void attention(const decoder *d, uint64_t cache)
{
    etp_texts found = {0};
    int64_t ns = 0;
    uint32_t kernels = 0;
    for (uint32_t i = 0; i < d->m->n_instructions; i++) {
        const etp_instruction *in = &d->m->instructions[i];
        if (in->kind == ETP_INSTR_KERNEL && writes(d->m, in, cache)) {
            kernels++;
            add_call(d, in, &ns, &found);
        }
    }
    const char *share = share_words(d, ns, ", which take");
    if (kernels == 0) {
        return;
    }
    ETP_FIND_ROWS(
        d->to, ETP_FINDING_ATTENTION, ETP_SEVERITY_INFO, found.items, found.n,
        "attention is written out: %u kernels of a call write as much as a whole cache of "
        "%s%s, "
        "however few tokens it holds (%u kernels and %u delegate calls in all); the fused "
        "operators write the new tokens and read those seen (export with --attention fused, "
        "use_sdpa_with_kv_cache)",
        kernels, ETP_BYTES(cache), share, d->m->n_of_kind[ETP_INSTR_KERNEL],
        d->m->n_of_kind[ETP_INSTR_DELEGATE]);
}

// ---- the last matrix and the embedding ----

// A kernel that multiplies and whose result is as wide as the method's first output: the
// vocabulary.
static bool makes_logits(const etp_method *m, const etp_instruction *in)
{
    const etp_value *out = m->n_outputs ? &m->values[m->outputs[0]] : NULL;
    if (in->kind != ETP_INSTR_KERNEL || in->work.macs == 0 || !out ||
        out->kind != ETP_EVALUE_TENSOR || out->rank == 0) {
        return false;
    }
    for (uint32_t i = 0; i < in->n_outputs; i++) {
        const etp_value *v = &m->values[in->outputs[i]];
        if (v->kind == ETP_EVALUE_TENSOR && v->rank > 0 &&
            v->dims[v->rank - 1] == out->dims[out->rank - 1]) {
            return true;
        }
    }
    return false;
}

uint64_t etp_ab_add_bytes(uint64_t a, uint64_t b)
{
    return b == ETP_BYTES_UNKNOWN || a > UINT64_MAX - b ? a : a + b; // sizes in files are claims
}

uint64_t etp_ab_multiplied_weights(const etp_method *m)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < m->n_instructions; i++) {
        const etp_instruction *in = &m->instructions[i];
        const etp_partition *p =
            in->kind == ETP_INSTR_DELEGATE ? &m->partitions[in->partition] : NULL;
        bool kernel = in->kind == ETP_INSTR_KERNEL && in->work.macs;
        sum = kernel ? etp_ab_add_bytes(sum, in->weight_bytes) : sum;
        for (uint32_t n = 0; p && n < p->n_nodes; n++) {
            sum = p->nodes[n].work.macs ? etp_ab_add_bytes(sum, p->nodes[n].weight_bytes) : sum;
        }
    }
    return sum;
}

void etp_ab_decoder_findings(const etp_ab *ab, const etp_method *m, uint64_t cache,
                             etp_ab_findings *to)
{
    const decoder d = {ab, to, m, ab->engagement.arm};
    bool fused = false;
    for (uint32_t i = 0; i < m->n_instructions; i++) {
        // ExecuTorch's custom operators for language models; with them attention is one operator
        // and there is nothing written out.
        fused = fused || etp_str_starts(m->instructions[i].op, ETP_STR("llama::"));
    }
    if (!fused) {
        attention(&d, cache);
    }
    etp_texts found = {0};
    int64_t last_ns = 0, first_ns = 0;
    const etp_instruction *last = NULL, *first = NULL;
    for (uint32_t i = 0; i < d.m->n_instructions; i++) {
        const etp_instruction *in = &d.m->instructions[i];
        // The last that fits: layers before it may happen to be as wide.
        if (makes_logits(d.m, in)) {
            last = in;
        }
        bool embeds =
            in->kind == ETP_INSTR_KERNEL && etp_str_find(in->op, ETP_STR("embedding")) < in->op.len;
        first = !first && embeds ? in : first;
    }
    if (!last) {
        return; // an embedding is a kernel in every export, and cheap
    }
    add_call(&d, last, &last_ns, &found);
    if (first) {
        add_call(&d, first, &first_ns, &found);
    }
    uint64_t all = etp_ab_multiplied_weights(d.m);
    const char *weights = "", *embedding = "";
    if (last->weight_bytes != ETP_BYTES_UNKNOWN && last->weight_bytes <= all && all > 0) {
        weights = etp_arena_printf(d.ab->arena, ", %s or %.0f %% of all weights that multiply",
                                   ETP_BYTES(last->weight_bytes),
                                   100 * (double)last->weight_bytes / (double)all);
    }
    const char *share = share_words(&d, last_ns, ", takes"),
               *other = share_words(&d, first_ns, ", with");
    if (first) {
        embedding = etp_arena_printf(d.ab->arena, "; the embedding (%.*s) is outside too%s",
                                     ETP_STR_ARG(first->op), other);
    }
    ETP_FIND_ROWS(d.to, ETP_FINDING_LAST_MATRIX, ETP_SEVERITY_WARN, found.items, found.n,
                  "the last matrix is outside the delegate: %.*s%s%s%s; let the "
                  "partitioner take it, or quantise it with the others",
                  ETP_STR_ARG(last->op), weights, share, embedding);
}

// ---- chunks of a prompt ----

void etp_ab_chunk_finding(const etp_ab_session *s, etp_ab_findings *to)
{
    const etp_ab *least = NULL, *most = NULL;
    uint32_t arm = s->ab.engagement.arm;
    for (size_t i = 0; i < s->ab.n_phases && !s->ab.emulated; i++) {
        const etp_ab *one = s->ab.phases[i];
        const etp_run_phase *p = one->phased;
        // From an empty cache only: at a depth attention reads more, and calls of two lengths would
        // differ by that too.
        bool whole = p->kind == ETP_PHASE_OF_PREFILL && p->depth == 0 && p->tokens > 0 &&
                     arm < one->n_arms && etp_ab_token_rate(one, arm) > 0 &&
                     !(one->arms[arm].waited > ETP_WAIT_MOST);
        least = whole && (!least || p->tokens < least->phased->tokens) ? one : least;
        most = whole && (!most || p->tokens > most->phased->tokens) ? one : most;
    }
    if (!least || most->phased->tokens == least->phased->tokens) {
        return;
    }
    double few = etp_ab_token_rate(least, arm), many = etp_ab_token_rate(most, arm);
    bool gains = many > few;
    double ratio = gains ? many / few : few / many;
    ETP_FIND(to, ETP_FINDING_CHUNK, ETP_SEVERITY_INFO, "samples.csv",
             "prompts in calls of %llu tokens: %.0f tok/s, of %llu: %.0f tok/s at %s; "
             "%s calls are %.2f× as fast a token (medians, not compared in pairs)",
             (unsigned long long)least->phased->tokens, few,
             (unsigned long long)most->phased->tokens, many, s->ab.arms[arm].measured,
             gains ? "long" : "short", ratio);
}
