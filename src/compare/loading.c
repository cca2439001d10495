// SPDX-License-Identifier: Apache-2.0
// What an arm's process does up to the end of its first inference, and which operators its packed
// weights are of.
#include "compare/session.h"

// Index of the next part, from AT on, in which DELEGATE packs; the number of parts when none does.
static size_t next_packing(const etp_ab_arm *arm, uint64_t delegate, size_t at)
{
    while (at < arm->load.n && (arm->load.parts[at].what != ETP_LOAD_PACKING ||
                                arm->load.parts[at].delegate != delegate)) {
        at++;
    }
    return at;
}

// XNNPACK packs in the order of the nodes. What it packs is at least half of what the program holds
// (float32 packed as float16): where numbers or sizes do not fit, nothing is called by a name.
static bool fits(const etp_partition *p, uint64_t delegate, etp_ab_arm *arm)
{
    size_t at = 0;
    uint64_t number = 0;
    for (uint32_t i = 0; i < p->n_nodes; i++) {
        const etp_node *node = &p->nodes[i];
        bool packs = node->type == ETP_XNN_FULLY_CONNECTED || node->type == ETP_XNN_CONV_2D ||
                     node->type == ETP_XNN_DEPTHWISE_CONV_2D ||
                     node->type == ETP_XNN_CONV_TRANSPOSE_2D ||
                     node->type == ETP_XNN_BATCH_MATRIX_MULTIPLY;
        if (!packs || node->n_inputs < 2 || !p->values[node->inputs[1]].constant) {
            continue;
        }
        const etp_value *weights = &p->values[node->inputs[1]];
        at = next_packing(arm, delegate, at);
        if (at == arm->load.n || arm->load.parts[at].operation != ++number ||
            weights->bytes == ETP_BYTES_UNKNOWN || arm->load.parts[at].bytes < weights->bytes / 2) {
            return false;
        }
        arm->load.partition[at] = p;
        arm->load.node[at++] = i;
    }
    return next_packing(arm, delegate, at) == arm->load.n;
}

// Are the delegates that were loaded those of M, one after the other?
static bool name_by(const etp_method *m, etp_ab_arm *arm)
{
    uint64_t delegate = 0;
    for (uint32_t k = 0; k < m->n_partitions; k++) {
        const etp_partition *p = &m->partitions[k];
        if (p->graph && !fits(p, ++delegate, arm)) { // else of another backend
            return false;
        }
    }
    return delegate == arm->load.delegates;
}

static const etp_run_launch *told(const etp_run *run, uint32_t arm)
{
    for (size_t i = 0; i < run->launches.n; i++) {
        const etp_run_launch *l = &run->launches.items[i];
        if (l->arm == arm && l->parts.n > 0) {
            return l;
        }
    }
    return NULL;
}

void etp_ab_take_load(const etp_ab_session *s, const etp_run *run, uint32_t run_arm, uint32_t at,
                      etp_ab_arm *out)
{
    const etp_run_launch *l = told(run, run_arm);
    if (!l) {
        return;
    }
    out->load.n = l->parts.n;
    out->load.parts = l->parts.items;
    out->load.partition = ETP_NEW_ARRAY(s->ab.arena, const etp_partition *, out->load.n);
    out->load.node = ETP_NEW_ARRAY(s->ab.arena, uint32_t, out->load.n);
    for (size_t i = 0; i < out->load.n; i++) {
        const etp_run_part *p = &l->parts.items[i];
        bool packing = p->what == ETP_LOAD_PACKING;
        out->load.whole_ns += (int64_t)p->ns;
        out->load.packing_ns += packing ? (int64_t)p->ns : 0;
        out->load.packed_bytes += packing ? p->bytes : 0;
        out->load.workspaces = ETP_MAX(p->workspace, out->load.workspaces);
        out->load.delegates = ETP_MAX(p->delegate, out->load.delegates);
    }
    const uint32_t model = s->ab.arms[at].model;
    const etp_program *program =
        model < s->in.programs.n ? s->in.programs.items[model].program : NULL;
    bool named = false;
    for (uint32_t m = 0; program && m < program->n_methods && !named && out->load.packed_bytes;
         m++) {
        named = name_by(&program->methods[m], out);
        for (size_t i = 0; i < out->load.n && !named; i++) { // what it named of some parts
            out->load.partition[i] = NULL;
        }
    }
}

const etp_ab_operator *etp_ab_owner(const etp_ab *ab, uint32_t arm, const etp_value *values,
                                    uint32_t node)
{
    const etp_profile *p = ab->arms[arm].profile;
    for (size_t i = 0; p && p->facts && !p->facts->problem && i < ab->n_operators; i++) {
        const etp_profile_row *row = ab->operators[i].rows[arm];
        const etp_row_facts *facts = row ? &p->facts->rows[row - p->rows] : NULL;
        if (!facts || facts->op.values != values) {
            continue;
        }
        for (uint32_t k = 0; k < facts->n_nodes; k++) {
            if (facts->nodes[k] == node) {
                return &ab->operators[i];
            }
        }
    }
    return NULL;
}
