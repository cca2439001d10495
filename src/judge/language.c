// SPDX-License-Identifier: Apache-2.0
// What is said of language models: 4-bit weights whose scales keep them off SME, and how much of
// what memory allows a token at a time reaches; decoder.c has what is said of the rest of a
// program.
#include <math.h>

#include "base/number.h"
#include "judge/judge.h"

typedef struct share {
    double all, on, grouped; // of what multiplies: MACs, or time where the program is not known
} share;

// An operator of unknown work or time is left out of numerator and denominator alike.
static share shares_of(const etp_ab *ab, bool of_macs)
{
    share s = {0};
    for (size_t i = 0; i < ab->n_operators; i++) {
        const etp_ab_operator *op = &ab->operators[i];
        bool known = of_macs ? op->macs != ETP_AB_NO_MACS
                             : op->ns[ab->engagement.arm] != ETP_NS_UNKNOWN && !ab->emulated;
        if (!op->engaged.eligible || !known) {
            continue;
        }
        double amount = of_macs ? (double)op->macs : (double)op->ns[ab->engagement.arm];
        s.all += amount;
        s.on += op->engaged.state == ETP_ENGAGED ? amount : 0;
        s.grouped += op->engaged.reason == ETP_REASON_BLOCKWISE_4BIT ? amount : 0;
    }
    return s;
}

// Groups are what exporters of language models choose by themselves, and what SME has no kernel
// for; one scale per channel is a choice at export.
void etp_ab_groupwise_finding(const etp_ab_session *s, etp_ab_findings *to)
{
    const etp_ab *ab = &s->ab;
    etp_texts ids = {0};
    for (size_t i = 0; i < ab->n_operators; i++) {
        const etp_ab_operator *op = &ab->operators[i];
        // That reason is only given where the feature is SME.
        bool mine = op->engaged.eligible && op->engaged.reason == ETP_REASON_BLOCKWISE_4BIT;
        if (mine) {
            ETP_ADD(s->ab.arena, &ids, op->id);
        }
    }
    share by_macs = shares_of(ab, true), by_time = shares_of(ab, false);
    bool macs = by_macs.grouped > 0;
    const share *x = macs ? &by_macs : &by_time;
    if (ids.n == 0 || !(x->all > 0)) {
        return;
    }
    const char *feature = ETP_OR(ab->engagement.feature_name, "SME");
    ETP_FIND_ROWS(
        to, ETP_FINDING_GROUPWISE, ETP_SEVERITY_WARN, ids.items, ids.n,
        "4-bit weights with a scale per group have no SME kernel: %.0f %% of %s %s on %s, and "
        "with one scale per channel %.0f %% could be (export with --dtype 8da4w --group-size "
        "channel, and look at what it does to the outputs)",
        100 * x->on / x->all,
        macs ? "the multiply-accumulates" : "the time of matrix multiplications",
        macs ? "are" : "is", feature, 100 * (x->on + x->grouped) / x->all);
}

// ---- one token at a time ----

typedef struct token_bytes { // that every token has to read
    uint64_t weights, cache;
} token_bytes;

// The buffer that a kernel call keeps for the next call, ETP_NO_INDEX. Attention that is written
// out ends with a copy into its cache; the fused one has an operator of its own.
static uint32_t cache_of(const etp_method *m, const etp_instruction *in)
{
    bool fused = etp_str_eqz(in->op, "llama::update_cache.out");
    if (!fused && !etp_str_eqz(in->op, "aten::copy_")) {
        return ETP_NO_INDEX;
    }
    uint32_t tensors = 0;
    for (uint32_t i = 0; i < in->n_inputs; i++) {
        const etp_value *v = &m->values[in->inputs[i]];
        if (v->kind == ETP_EVALUE_TENSOR && tensors++ == fused) {
            return v->rank >= 3 && !v->constant && !v->dynamic && !v->sized ? in->inputs[i]
                                                                            : ETP_NO_INDEX;
        }
    }
    return ETP_NO_INDEX;
}

// What fused attention reads of its cache at the place of the call; ETP_BYTES_UNKNOWN where that is
// not known, or for others.
static uint64_t seen_of(const etp_method *m, const etp_instruction *in)
{
    bool known = etp_str_starts(in->op, ETP_STR("llama::custom_sdpa")) && in->work.known &&
                 !in->work.bound && in->n_inputs > 0;
    uint64_t queries = known ? m->values[in->inputs[0]].bytes : ETP_BYTES_UNKNOWN;
    return queries <= in->work.bytes / 2 ? in->work.bytes - 2 * queries : ETP_BYTES_UNKNOWN;
}

// The bytes that have to come from memory for one token, each once: less cannot be read, whatever
// the kernels do.
static token_bytes bytes_of(const etp_method *m)
{
    token_bytes b = {.weights = etp_ab_multiplied_weights(m)};
    uint64_t read = 0;
    for (uint32_t i = 0; i < m->n_instructions; i++) {
        const etp_instruction *in = &m->instructions[i];
        uint64_t seen = in->kind == ETP_INSTR_KERNEL ? seen_of(m, in) : ETP_BYTES_UNKNOWN;
        uint32_t cache = in->kind == ETP_INSTR_KERNEL ? cache_of(m, in) : ETP_NO_INDEX;
        read = etp_ab_add_bytes(read, seen);
        b.cache =
            cache == ETP_NO_INDEX ? b.cache : etp_ab_add_bytes(b.cache, m->values[cache].bytes);
    }
    // Fused attention says how much of the cache it reads at this depth; then the whole buffer,
    // which its update operator names, is not what counts.
    b.cache = read > 0 ? read : b.cache;
    return b;
}

// The method that an arm ran, NULL unknown.
// The first row that the join could place tells.
static const etp_method *method_of(const etp_ab *ab, uint32_t arm)
{
    const etp_profile *p = ab->arms[arm].profile;
    const etp_profile_facts *f = p ? p->facts : NULL;
    for (size_t i = 0; f && !f->problem && i < p->n_rows; i++) {
        if (f->rows[i].method < f->program->n_methods) {
            return &f->program->methods[f->rows[i].method];
        }
    }
    return NULL;
}

// Token ids are int64, and a static export for decoding has shape [1, 1] or [1].
static bool takes_one_token(const etp_method *m)
{
    const etp_value *tokens = m->n_inputs ? &m->values[m->inputs[0]] : NULL;
    bool ids = tokens && tokens->kind == ETP_EVALUE_TENSOR && tokens->dtype == ETP_DTYPE_INT64 &&
               !tokens->dynamic && tokens->rank > 0;
    for (uint32_t i = 0; ids && i < tokens->rank; i++) {
        ids = tokens->dims[i] == 1;
    }
    return ids;
}

static bool decodes(const etp_ab_session *s, const etp_method *m)
{
    const etp_run *run = &s->run;
    // All arms of an opened phase belong to it, so the first tells which it is.
    bool phases = s->has_run && run->phases.n > 0 && run->arms.n > 0;
    return phases ? run->phases.items[run->arms.items[0].phase].kind == ETP_PHASE_OF_DECODE
                  : takes_one_token(m);
}

// Least time of reading B with the arm's threads, and the time that a token takes, ns.
// Without an untraced median (a recording alone) the traced inference stands in: it is longer, so
// the share of the roof is a little too small.
static bool token_times(const etp_ab *ab, uint32_t at, const token_bytes *b, double *least,
                        double *takes)
{
    const etp_ab_arm *arm = &ab->arms[at];
    int64_t ns = arm->median_ns != ETP_NS_UNKNOWN ? arm->median_ns : arm->traced_ns;
    *least = etp_roof_read_ns(ab->roofs, ETP_MAX(arm->threads, 1),
                              etp_ab_add_bytes(b->weights, b->cache));
    *takes = (double)ns;
    return ns > 0 && *least > 0;
}

void etp_ab_decode_finding(const etp_ab_session *s, etp_ab_findings *to)
{
    const etp_ab *ab = &s->ab;
    uint32_t arm = ab->engagement.arm;
    const etp_method *m =
        ab->n_arms && etp_ab_sound_roofs(ab) && !ab->emulated ? method_of(ab, arm) : NULL;
    token_bytes b = m && decodes(s, m) ? bytes_of(m) : (token_bytes){0};
    double least, takes, least_before, before;
    if (b.cache == 0 || b.weights == 0 || !token_times(ab, arm, &b, &least, &takes)) {
        return; // no language model, or nothing to hold it against
    }
    const char *other = "";
    if (ab->baseline != arm && token_times(ab, ab->baseline, &b, &least_before, &before)) {
        other = etp_arena_printf(s->ab.arena, ", %s at %s %%", ab->arms[ab->baseline].measured,
                                 ETP_DIGITS(100 * least_before / before, 2));
    }
    ETP_FIND(to, ETP_FINDING_DECODE_ROOF, ETP_SEVERITY_INFO, "roofs.json",
             "a token reads %s of weights and %s of cache, which takes memory "
             "%s: %s is at %s %% of what memory allows%s",
             ETP_BYTES(b.weights), ETP_BYTES(b.cache), ETP_NS(least), ab->arms[arm].measured,
             ETP_DIGITS(100 * least / takes, 2), other);
}

void etp_ab_program_findings(const etp_ab_session *s, etp_ab_findings *to)
{
    const etp_ab *ab = &s->ab;
    const etp_method *m = ab->n_arms ? method_of(ab, ab->engagement.arm) : NULL;
    uint32_t cache = ETP_NO_INDEX;
    for (uint32_t i = 0; m && i < m->n_instructions && cache == ETP_NO_INDEX; i++) {
        cache = m->instructions[i].kind == ETP_INSTR_KERNEL ? cache_of(m, &m->instructions[i])
                                                            : ETP_NO_INDEX;
    }
    const etp_value *tokens = m && m->n_inputs ? &m->values[m->inputs[0]] : NULL;
    bool decoder = cache != ETP_NO_INDEX && tokens && tokens->kind == ETP_EVALUE_TENSOR &&
                   tokens->dtype == ETP_DTYPE_INT64;
    if (decoder) {
        etp_ab_decoder_findings(ab, m, m->values[cache].bytes, to);
    }
}
