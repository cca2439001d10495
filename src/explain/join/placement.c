// SPDX-License-Identifier: Apache-2.0
// Aligns the operators that XNNPACK reported for one delegate call to the nodes of the payload.
//
// Operators come in the order of the optimised graph, which keeps the order of the nodes: merging
// removes some, fallbacks insert a few. So this is the cheapest monotone alignment, and how much
// dearer the second-best place of an operator is tells how sure its place is.
#include "base/choice.h"
#include "base/guard.h"
#include "explain/join/parts.h"

#define WINDOW 1024 // operators and nodes aligned at a time: bounds time and memory for any input

typedef struct aligner {
    const etp_value_flow *flow;
    const etp_match_op *ops;
    uint32_t n_ops, n_nodes;
    // Per node, per operator: what it costs that nothing on the other side is its partner.
    uint32_t *skip_node, *skip_op; // costs
    uint32_t *cost;                // of matches: ops × nodes of the window
    uint32_t *forward, *backward;  // (ops + 1) × (nodes + 1) of the window
    etp_placed_operator *placed;
    uint32_t *owner;         // per node: operator that did its work, ETP_NO_INDEX
    uint32_t contradictions; // operators and nodes that contradict
} aligner;

typedef struct window {
    uint32_t op0, n_ops, node0, n_nodes;
    bool last; // reaches both ends
} window;

// Saturates, so that ETP_COST_NEVER stays what it is however much is added to it.
static uint32_t add(uint32_t a, uint32_t b)
{
    return a > ETP_COST_NEVER || b > ETP_COST_NEVER - a ? ETP_COST_NEVER : a + b;
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return ETP_MIN(a, b);
}

static size_t cell(const window *w, uint32_t op, uint32_t node)
{
    return (size_t)op * (w->n_nodes + 1) + node;
}

static uint32_t match(const aligner *a, const window *w, uint32_t op, uint32_t node)
{
    return a->cost[(size_t)op * w->n_nodes + node];
}

// forward[i][j]: least cost of aligning the first i operators with the first j nodes of the window.
// backward[i][j]: of aligning what is left from there. Their sum through a cell is the best
// alignment that passes it, which is what next_best needs.
static void fill_forward(aligner *a, const window *w)
{
    uint32_t *f = a->forward;
    for (uint32_t i = 0; i <= w->n_ops; i++) {
        for (uint32_t j = 0; j <= w->n_nodes; j++) {
            uint32_t best = i == 0 && j == 0 ? 0 : ETP_COST_NEVER;
            if (i > 0) {
                best = least(best, add(f[cell(w, i - 1, j)], a->skip_op[w->op0 + i - 1]));
            }
            if (j > 0) {
                best = least(best, add(f[cell(w, i, j - 1)], a->skip_node[w->node0 + j - 1]));
            }
            if (i > 0 && j > 0) {
                best = least(best, add(f[cell(w, i - 1, j - 1)], match(a, w, i - 1, j - 1)));
            }
            f[cell(w, i, j)] = best;
        }
    }
}

static void fill_backward(aligner *a, const window *w)
{
    uint32_t *b = a->backward;
    for (uint32_t i = w->n_ops + 1; i-- > 0;) {
        for (uint32_t j = w->n_nodes + 1; j-- > 0;) {
            // Inside the input a window may stop at either of its edges, since the next one goes on
            // from there; the last one has to use up both sides.
            bool end =
                w->last ? i == w->n_ops && j == w->n_nodes : i == w->n_ops || j == w->n_nodes;
            uint32_t best = end ? 0 : ETP_COST_NEVER;
            if (i < w->n_ops) {
                best = least(best, add(b[cell(w, i + 1, j)], a->skip_op[w->op0 + i]));
            }
            if (j < w->n_nodes) {
                best = least(best, add(b[cell(w, i, j + 1)], a->skip_node[w->node0 + j]));
            }
            if (i < w->n_ops && j < w->n_nodes) {
                best = least(best, add(b[cell(w, i + 1, j + 1)], match(a, w, i, j)));
            }
            b[cell(w, i, j)] = best;
        }
    }
}

// Cost of the best alignment in which operator I is not at node J (J = n_nodes: is not skipped).
static uint32_t next_best(const aligner *a, const window *w, uint32_t i, uint32_t at)
{
    uint32_t best = ETP_COST_NEVER;
    for (uint32_t j = 0; j <= w->n_nodes; j++) {
        if (at != ETP_NO_INDEX) {
            uint32_t skipped = add(add(a->forward[cell(w, i, j)], a->skip_op[w->op0 + i]),
                                   a->backward[cell(w, i + 1, j)]);
            best = least(best, skipped);
        }
        if (j < w->n_nodes && j != at) {
            uint32_t here = add(add(a->forward[cell(w, i, j)], match(a, w, i, j)),
                                a->backward[cell(w, i + 1, j + 1)]);
            best = least(best, here);
        }
    }
    return best;
}

// 1 where any other place would cost a whole contradiction more, 0.5 where another place costs the
// same; less a fifth for each contradiction of the place itself.
static double confidence_of(uint32_t total, uint32_t second, uint32_t own_cost)
{
    double margin = second <= total ? 0.0 : (double)(second - total) / ETP_COST_UNIT;
    double sure = margin >= 1.0 ? 1.0 : 0.5 + 0.5 * margin;
    double quality = 1.0 - 0.2 * (double)own_cost / ETP_COST_UNIT;
    return quality < 0.0 ? 0.0 : sure * quality;
}

// Walks the cheapest path; places the first LIMIT operators. Gives the first node not yet passed.
// Of equally cheap steps a match is taken before a skip, and a skipped node before a skipped
// operator, so the same input always gives the same path.
static uint32_t walk(aligner *a, const window *w, uint32_t limit)
{
    uint32_t total = a->backward[0];
    uint32_t i = 0, j = 0;
    while (i < limit) {
        uint32_t here = a->backward[cell(w, i, j)];
        uint32_t op = w->op0 + i, node = w->node0 + j;
        if (j < w->n_nodes) {
            uint32_t cost = match(a, w, i, j);
            if (cost < ETP_COST_NEVER && add(cost, a->backward[cell(w, i + 1, j + 1)]) == here) {
                a->placed[op].node = node;
                a->placed[op].confidence = confidence_of(total, next_best(a, w, i, j), cost);
                a->owner[node] = op;
                i++;
                j++;
                continue;
            }
            if (add(a->skip_node[node], a->backward[cell(w, i, j + 1)]) == here) {
                j++;
                continue;
            }
        }
        // Cheap to skip are only the families that the runtime is known to insert
        // (etp_skip_operator_cost). Any other operator without a node contradicts the program.
        a->placed[op].inserted = a->skip_op[op] < 2 * ETP_COST_UNIT;
        a->placed[op].confidence = a->placed[op].inserted
                                       ? confidence_of(total, next_best(a, w, i, ETP_NO_INDEX), 0)
                                       : 0.0;
        a->contradictions += !a->placed[op].inserted;
        i++;
    }
    return w->node0 + j;
}

static void align_all(aligner *a)
{
    window w = {0};
    for (;;) {
        w.n_ops = least(a->n_ops - w.op0, WINDOW);
        w.n_nodes = least(a->n_nodes - w.node0, WINDOW);
        w.last = w.op0 + w.n_ops == a->n_ops && w.node0 + w.n_nodes == a->n_nodes;
        for (uint32_t i = 0; i < w.n_ops; i++) {
            for (uint32_t j = 0; j < w.n_nodes; j++) {
                a->cost[(size_t)i * w.n_nodes + j] =
                    etp_match_cost(a->flow, w.node0 + j, &a->ops[w.op0 + i]);
            }
        }
        fill_forward(a, &w);
        fill_backward(a, &w);
        // Away from the ends only the first half of a window is decided with enough context.
        uint32_t limit = w.last ? w.n_ops : (w.n_ops + 1) / 2;
        // At least one operator is decided in each round, so the loop ends.
        w.node0 = walk(a, &w, limit);
        w.op0 += limit;
        if (w.op0 == a->n_ops) {
            return;
        }
    }
}

// ---- what was merged into what ----

// The nodes of a chain that became one table. An operator placed on one of them contradicts that:
// then neither is sure.
static void own_table(aligner *a, uint32_t op)
{
    uint32_t last = a->placed[op].node;
    uint32_t start = etp_flow_lut_start(a->flow, last);
    uint32_t names = last;
    for (uint32_t at = last; at != start;) {
        at = etp_flow_sole_producer(a->flow, at); // never none: the chain was found this way
        uint32_t other = a->owner[at];
        if (other != ETP_NO_INDEX) {
            a->placed[op].confidence *= 0.5;
            a->placed[other].confidence *= 0.5;
            a->contradictions++;
            break;
        }
        a->owner[at] = op;
        if (a->flow->partition->nodes[at].type != ETP_XNN_CONVERT) {
            names = at;
        }
    }
    a->placed[op].node = names; // "Hardswish" says more than the "Convert" at its end
}

// Two passes, because chains of merged nodes point to their owner in both directions: what went
// into its producer is resolved front to back, what went into its consumer back to front.
static void own_merged(aligner *a)
{
    const etp_partition *p = a->flow->partition;
    for (uint32_t n = 0; n < p->n_nodes; n++) { // producers come first
        if (a->owner[n] == ETP_NO_INDEX &&
            etp_value_flow_fate(a->flow, n) == ETP_FATE_INTO_PRODUCER) {
            a->owner[n] = a->owner[etp_flow_sole_producer(a->flow, n)];
        }
    }
    for (uint32_t n = p->n_nodes; n-- > 0;) {
        if (a->owner[n] == ETP_NO_INDEX &&
            etp_value_flow_fate(a->flow, n) == ETP_FATE_INTO_CONSUMER) {
            uint32_t consumer = a->flow->consumer[p->nodes[n].outputs[0]];
            a->owner[n] = consumer == ETP_NO_INDEX ? ETP_NO_INDEX : a->owner[consumer];
        }
    }
    for (uint32_t n = 0; n < p->n_nodes; n++) {
        a->contradictions += a->owner[n] == ETP_NO_INDEX;
    }
}

// Turns "node → operator" round into "operator → nodes" by counting, one shared array for all:
// going through the nodes in order leaves each operator's ascending.
static void collect(aligner *a, etp_arena *arena, etp_operator_placement *out)
{
    uint32_t *covered = ETP_NEW_ARRAY(arena, uint32_t, a->n_nodes);
    uint32_t *next = ETP_NEW_ARRAY(arena, uint32_t, a->n_ops);
    for (uint32_t n = 0; n < a->n_nodes; n++) {
        if (a->owner[n] != ETP_NO_INDEX) {
            a->placed[a->owner[n]].n++;
        }
    }
    uint32_t at = 0;
    for (uint32_t i = 0; i < a->n_ops; i++) {
        a->placed[i].first = next[i] = at;
        at += a->placed[i].n;
    }
    for (uint32_t n = 0; n < a->n_nodes; n++) {
        if (a->owner[n] != ETP_NO_INDEX) {
            covered[next[a->owner[n]]++] = n;
        }
    }
    out->covered = covered;
}

static void prepare(aligner *a, const etp_str *names, etp_arena *scratch)
{
    size_t cells = (size_t)(least(a->n_ops, WINDOW) + 1) * (least(a->n_nodes, WINDOW) + 1);
    etp_match_op *ops = ETP_NEW_ARRAY(scratch, etp_match_op, a->n_ops);
    a->skip_op = ETP_NEW_ARRAY(scratch, uint32_t, a->n_ops);
    a->skip_node = ETP_NEW_ARRAY(scratch, uint32_t, a->n_nodes);
    a->owner = ETP_NEW_ARRAY(scratch, uint32_t, a->n_nodes);
    // Not zeroed: each window fills what it reads, and these are megabytes.
    a->cost = etp_arena_alloc_raw(scratch, cells, sizeof *a->cost);
    a->forward = etp_arena_alloc_raw(scratch, cells, sizeof *a->forward);
    a->backward = etp_arena_alloc_raw(scratch, cells, sizeof *a->backward);
    a->ops = ops;
    for (uint32_t i = 0; i < a->n_ops; i++) {
        etp_match_prepare(names[i], &ops[i]);
        a->skip_op[i] = etp_skip_operator_cost(&ops[i]);
        a->placed[i].node = ETP_NO_INDEX;
    }
    for (uint32_t n = 0; n < a->n_nodes; n++) {
        a->skip_node[n] = etp_skip_node_cost(a->flow, n);
        a->owner[n] = ETP_NO_INDEX;
    }
}

void etp_align_operators(const etp_partition *partition, const etp_str *names, uint32_t n,
                         etp_arena *arena, etp_operator_placement *out)
{
    etp_arena scratch;
    etp_arena_scratch(&scratch, arena);
    etp_value_flow flow;
    aligner a = {.flow = &flow,
                 .n_ops = n,
                 .n_nodes = partition->n_nodes,
                 .placed = ETP_NEW_ARRAY(arena, etp_placed_operator, n)};
    *out = (etp_operator_placement){.placed = a.placed};
    etp_flow_make(partition, &scratch, &flow);
    prepare(&a, names, &scratch);
    align_all(&a);
    for (uint32_t i = 0; i < n; i++) {
        if (a.placed[i].node != ETP_NO_INDEX && a.ops[i].is_table) {
            own_table(&a, i);
        }
    }
    own_merged(&a);
    out->fit = n + a.n_nodes == 0 ? 1.0 : 1.0 - (double)a.contradictions / (double)(n + a.n_nodes);
    collect(&a, arena, out);
    etp_arena_dispose(&scratch);
}
