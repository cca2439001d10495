// SPDX-License-Identifier: Apache-2.0
// Weights that XNNPACK packs again at each load: what a file of packed weights saved where arms
// were measured with and without one, else the command that measures it.
#include "judge/judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/shell.h"

// Below these nobody waits for it, or misses it.
#define LEAST_BYTES 5e5
#define LEAST_NS 5e6

static const char k_recipe[] =
    "give the XNNPACK backend packed_cache_path, a file that the app may write, and "
    "weight_cache_enabled when it loads the program; the first load writes the file, and a new "
    "model or ExecuTorch needs a new one";
static const char k_formula[] =
    "median of the arm that packs × (1 − 1 ÷ ratio); ratio and 95 % interval are paired over the "
    "blocks, as --price shows them. Loading, first inference and memory: no part of it is a gain "
    "of later inferences";

// Of what COST of an arm is, FROM: what a candidate saves that is better by RATIO.
static etp_interval saved_of(int64_t from, const etp_paired *ratio)
{
    const double ends[] = {ratio->estimate, ratio->lo, ratio->hi};
    double saved[3];
    for (size_t i = 0; i < 3; i++) {
        bool known = from != ETP_NS_UNKNOWN && ratio->blocks > 0 && ends[i] > 0;
        saved[i] = etp_value_if(known, round((double)from * (1 - 1 / ends[i])));
    }
    return (etp_interval){saved[0], saved[1], saved[2]};
}

// ", dirty memory takes 2.3 MB → 1.5 MB"; nothing of a cost whose ratio is not given.
static void append_change(etp_strbuf *text, const etp_ab *ab, const etp_ab_comparison *c,
                          etp_cost cost)
{
    double from = (double)ab->arms[c->baseline].costs[cost];
    double to = (double)ab->arms[c->candidate].costs[cost];
    if (c->costs[cost].blocks == 0) {
        return;
    }
    etp_strbuf_printf(text, "%s%s ", etp_if(text->len > 0, ", "), k_etp_costs[cost].title);
    if (k_etp_costs[cost].bytes) {
        etp_strbuf_printf(text, "%s → %s", ETP_BYTES((uint64_t)from), ETP_BYTES((uint64_t)to));
    } else {
        etp_strbuf_printf(text, "%s → %s", ETP_NS(from), ETP_NS(to));
    }
}

void etp_ab_find_load_fixes(const etp_ab *ab, etp_ab *out)
{
    for (size_t i = 0; i < ab->n_comparisons + ab->n_within; i++) {
        const etp_ab_comparison *c = etp_ab_comparison_at(ab, i);
        const etp_ab_arm *b = &ab->arms[c->baseline], *x = &ab->arms[c->candidate];
        const etp_paired *costs = c->costs;
        bool unused = x->memory.code > 0 && x->memory.cache == 0; // it fell back to the heap
        bool pays = costs[ETP_COST_LOAD].verdict == ETP_VERDICT_FASTER ||
                    costs[ETP_COST_DIRTY].verdict == ETP_VERDICT_FASTER;
        // Do the two differ in that one of them reads what an earlier load has packed?
        bool only_cache = b->cache == ETP_CACHE_OFF && x->cache == ETP_CACHE_WARM &&
                          b->build == x->build && etp_ab_same_group(b, x) && b->level_name &&
                          x->level_name && strcmp(b->level_name, x->level_name) == 0;
        if (!only_cache || unused || !pays) { // of what is withheld there is no verdict
            continue;
        }
        etp_strbuf text;
        etp_strbuf_init(&text, ab->arena);
        append_change(&text, ab, c, ETP_COST_LOAD);
        append_change(&text, ab, c, ETP_COST_FIRST);
        append_change(&text, ab, c, ETP_COST_DIRTY);
        const etp_ab_load_fix fix = {
            .id = etp_arena_printf(ab->arena, "L%zu", out->load_fixes.n + 1),
            .kind = "packed_cache",
            .arm = b->name,
            .with = x->name,
            .text = etp_arena_printf(ab->arena, "keep packed weights in a file (%s, not %s): %s",
                                     x->measured, b->measured, etp_strbuf_str(&text).ptr),
            .recipe = k_recipe,
            .load_ns = saved_of(b->costs[ETP_COST_LOAD], &costs[ETP_COST_LOAD]),
            .first_ns = saved_of(b->costs[ETP_COST_FIRST], &costs[ETP_COST_FIRST]),
            .dirty_bytes = saved_of(b->costs[ETP_COST_DIRTY], &costs[ETP_COST_DIRTY]),
            .formula = k_formula,
            .evidence = {etp_arena_printf(ab->arena, "arm:%s", b->name),
                         etp_arena_printf(ab->arena, "arm:%s", x->name)},
        };
        ETP_ADD(ab->arena, &out->load_fixes, fix);
    }
}

// ---- not measured yet ----

// ExecuTorch 1.5.1 is the first that keeps packed weights in a file.
static bool has_cache(const char *version)
{
    static const long k_first[] = {1, 5, 1};
    for (size_t i = 0; version && i < 3; i++) {
        char *end;
        long is = strtol(version, &end, 10);
        if (end == version || is != k_first[i]) {
            return end != version && is > k_first[i];
        }
        version = *end == '.' ? end + 1 : end;
    }
    return version != NULL;
}

// Bytes of weights of MODEL's partitions that the program names: no others are kept in the file.
static uint64_t named_bytes(const etp_ab_session *s, uint32_t model)
{
    const etp_program *p = model < s->in.programs.n ? s->in.programs.items[model].program : NULL;
    uint64_t sum = 0;
    for (uint32_t m = 0; p && m < p->n_methods; m++) {
        for (uint32_t i = 0; i < p->methods[m].n_partitions; i++) {
            const etp_partition *part = &p->methods[m].partitions[i];
            for (uint32_t v = 0; v < part->n_values; v++) {
                const etp_value *value = &part->values[v];
                bool counts = value->constant && value->name.len > 0;
                sum += counts && value->bytes != ETP_BYTES_UNKNOWN ? value->bytes : 0;
            }
        }
    }
    return sum;
}

void etp_ab_packing_finding(const etp_ab_session *s, etp_ab_findings *to)
{
    const etp_ab *ab = &s->ab;
    const etp_ab_arm *a = ab->n_arms ? &ab->arms[etp_ab_subject(ab)] : NULL;
    for (size_t i = 0; i < ab->n_arms; i++) {
        if (ab->arms[i].cache == ETP_CACHE_WARM) {
            return; // what it saves was measured
        }
    }
    if (!a || ab->phase || ab->emulated || a->cache > ETP_CACHE_OFF || a->model >= ab->n_models ||
        !has_cache(ETP_OR(a->executorch, ab->executorch_version))) {
        return;
    }
    int64_t load_ns = 0; // of the launch that tells its parts
    for (size_t i = 0; i < a->load.n; i++) {
        const etp_load_what what = a->load.parts[i].what;
        if (what >= ETP_LOAD_MAPPING && what <= ETP_LOAD_CREATION) {
            load_ns += (int64_t)a->load.parts[i].ns;
        }
    }
    if ((double)load_ns < LEAST_NS || (double)a->load.packed_bytes < LEAST_BYTES ||
        (double)a->load.packing_ns < 0.5 * (double)load_ns ||
        (double)named_bytes(s, a->model) < LEAST_BYTES) {
        return;
    }
    const char *level =
        a->level_name ? etp_shell_command(ab->arena, " --levels %s", a->level_name) : "";
    const char *command =
        etp_arena_printf(ab->arena, "%s%s --threads %u --packed-cache off,warm --price",
                         etp_shell_command(ab->arena, "etprof ab %s", ab->models[a->model].path),
                         level, ETP_MAX(a->threads, 1));
    ETP_FIND(to, ETP_FINDING_PACKING, ETP_SEVERITY_INFO,
             etp_arena_printf(ab->arena, "arm:%s", a->name),
             "%s packs %s of weights at each load, which took %s of %s in a recorded "
             "launch. What a file of packed weights would save is measured by: %s",
             a->measured, ETP_BYTES(a->load.packed_bytes), ETP_NS((double)a->load.packing_ns),
             ETP_NS((double)load_ns), command);
}
