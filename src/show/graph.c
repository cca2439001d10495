// SPDX-License-Identifier: Apache-2.0
// The operators of an answer as the graph they are: which one takes what another has made.
#include "show/graph.h"

#include <math.h>
#include <stdlib.h>

#include "base/guard.h"
#include "base/number.h"

typedef struct maker {
    uint32_t *of; // per value: operator that made it, ETP_NO_INDEX none
    uint32_t n;
} maker;

// Values carry the flow: whoever takes one follows the operator that made it last. Values inside a
// partition are numbered anew for each of its calls, so their makers are forgotten when the next
// call begins.
typedef struct tracing {
    const etp_ab *ab;
    etp_arena *arena;
    etp_ab_flow *out;
    const etp_method *method;
    maker method_values, partition_values;
    const etp_instruction *call; // whose partition the second is of
} tracing;

static maker new_maker(uint32_t n, etp_arena *arena)
{
    maker m = {ETP_NEW_ARRAY(arena, uint32_t, n + 1), n};
    for (uint32_t i = 0; i < n; i++) {
        m.of[i] = ETP_NO_INDEX;
    }
    return m;
}

static uint32_t made_by(const maker *m, uint32_t value)
{
    return value < m->n ? m->of[value] : ETP_NO_INDEX;
}

// The method's value that is operand VALUE of the partition, ETP_NO_INDEX: it stays inside.
// A delegate call's arguments are its inputs, then its outputs; `external` is a position among
// them.
static uint32_t outside(const tracing *t, const etp_partition *p, uint32_t value)
{
    uint32_t arg = value < p->n_values ? p->values[value].external : ETP_NO_INDEX;
    const etp_instruction *c = t->call;
    if (arg < c->n_inputs) {
        return c->inputs[arg];
    }
    bool inside = arg == ETP_NO_INDEX || arg - c->n_inputs >= c->n_outputs;
    return inside ? ETP_NO_INDEX : c->outputs[arg - c->n_inputs];
}

static void add_edge(tracing *t, uint32_t from, uint32_t to)
{
    // Edges are added by where they lead, so twins can only be among the last ones.
    bool known = from == ETP_NO_INDEX || from == to;
    for (size_t i = t->out->n; !known && i > 0 && t->out->items[i - 1].to == to; i--) {
        known = t->out->items[i - 1].from == from;
    }
    if (!known) {
        ETP_ADD(t->arena, t->out, ((etp_ab_edge){from, to}));
    }
}

static void trace_operator(tracing *t, uint32_t op)
{
    const etp_ab_operator *o = &t->ab->operators[op];
    const etp_op_facts *f = &o->facts->op;
    const etp_method *m = t->method;
    uint32_t at = etp_method_find_instruction(m, (uint32_t)o->chain, (uint32_t)o->instruction);
    const etp_instruction *call = at != ETP_NO_INDEX ? &m->instructions[at] : NULL;
    const etp_partition *p = call && o->delegated && call->partition < m->n_partitions
                                 ? &m->partitions[call->partition]
                                 : NULL;
    if (p && call != t->call) {
        t->call = call;
        t->partition_values = new_maker(p->n_values, t->arena);
    }
    if (f->n_inputs == 0 && f->n_outputs == 0 && op > 0) { // added by the runtime: after the last
        const etp_ab_operator *before = &t->ab->operators[op - 1];
        if (before->chain == o->chain && before->instruction == o->instruction) {
            add_edge(t, op - 1, op);
        }
        return;
    }
    // Which list of values the facts index tells whether the operator lies inside the partition.
    bool inner = p && f->values == p->values;
    if (!inner && f->values != m->values) {
        return;
    }
    for (uint32_t i = 0; i < f->n_inputs; i++) {
        // First inside the partition, then through its arguments: a value that comes from outside
        // has no maker inside.
        uint32_t v = f->inputs[i], from = inner ? made_by(&t->partition_values, v) : ETP_NO_INDEX;
        uint32_t value = inner ? outside(t, p, v) : v;
        add_edge(t, from == ETP_NO_INDEX ? made_by(&t->method_values, value) : from, op);
    }
    for (uint32_t i = 0; i < f->n_outputs; i++) {
        uint32_t v = f->outputs[i], value = inner ? outside(t, p, v) : v;
        if (inner && v < t->partition_values.n) {
            t->partition_values.of[v] = op;
        }
        if (value < t->method_values.n) {
            t->method_values.of[value] = op;
        }
    }
}

const etp_method *etp_ab_method_of(const etp_ab_arm *arm)
{
    const etp_profile *p = arm->profile;
    const etp_program *program = p && p->facts ? p->facts->program : NULL;
    for (size_t i = 0; program && i < p->n_rows; i++) {
        if (p->facts->rows[i].method < program->n_methods) {
            return &program->methods[p->facts->rows[i].method];
        }
    }
    return NULL;
}

static etp_status trace_all(const etp_ab *ab, etp_arena *arena, etp_ab_flow *out)
{
    tracing t = {.ab = ab,
                 .arena = arena,
                 .out = out,
                 .method = ab->n_arms ? etp_ab_method_of(&ab->arms[ab->bottleneck_arm]) : NULL};
    if (!t.method) {
        return ETP_OK;
    }
    t.method_values = new_maker(t.method->n_values, arena);
    for (uint32_t i = 0; i < ab->n_operators; i++) {
        const etp_row_facts *f = ab->operators[i].facts;
        if (f && f->method == t.method->index && ab->operators[i].chain >= 0 &&
            ab->operators[i].instruction >= 0) {
            trace_operator(&t, i);
        }
    }
    return ETP_OK;
}

static etp_status guarded(const etp_ab *ab, etp_arena *arena, etp_ab_flow *out, etp_error *err)
{
    ETP_GUARDED(arena, err, "the graph", trace_all(ab, arena, out));
}

etp_ab_flow etp_ab_flow_of(const etp_ab *ab, etp_arena *arena)
{
    etp_ab_flow flow = {0};
    return guarded(ab, arena, &flow, NULL) == ETP_OK ? flow : (etp_ab_flow){0};
}

// ---- the picture ----

// A frame's name: which call it is, and of which backend, of whose name 32 bytes have room.
static const char *group_of(const etp_ab_operator *op, char buf[static 64])
{
    if (!op->delegated) {
        return NULL;
    }
    etp_str backend = op->facts ? op->facts->op.backend : (etp_str){"", 0};
    snprintf(buf, 64, "delegate call %d%s%.*s", op->instruction, etp_if(backend.len, " · "),
             backend.len < 32 ? (int)backend.len : 32, backend.ptr);
    return buf;
}

void etp_ab_graph_section(const etp_ab *ab, const etp_ab_flow *flow, etp_report *r)
{
    enum { MOST_BOXES = 1500 };
    if (flow->n == 0 || ab->n_operators > MOST_BOXES) {
        return;
    }
    uint32_t after = ab->bottleneck_arm, before = ab->baseline;
    bool compared = etp_ab_told(ab, 0);
    etp_report_section(r, 1, "graph", "The model");
    etp_report_section_is_folded(r);
    etp_report_text(
        r,
        "Operators of %s from the first to the last, delegate calls as frames. The "
        "darker, the longer; what got slower, and what stays off the feature, is orange.",
        ab->arms[after].measured);
    etp_picture *g = etp_report_picture(r, "graph");
    etp_picture_text(g, "title", "Operators and what leads from one to another");
    etp_picture_text(g, "view0", "time");
    etp_picture_text(g, "view1", etp_z_if(compared, "time saved"));
    etp_picture_text(g, "view2", etp_z_if(ab->engagement.feature_name, "engagement"));
    etp_picture_list(g, "boxes");
    double most = 1;
    for (size_t i = 0; i < ab->n_operators; i++) { // unknown times are far below 0
        most = fmax(most, (double)ab->operators[i].ns[after]);
    }
    for (size_t i = 0; i < ab->n_operators; i++) {
        const etp_ab_operator *op = &ab->operators[i];
        char group[64], tip[2 * ETP_NUMBER_CHARS + 8];
        bool known = op->ns[after] != ETP_NS_UNKNOWN,
             both = known && op->ns[before] != ETP_NS_UNKNOWN;
        snprintf(tip, sizeof tip, "%s%s%s", both && compared ? ETP_NS((double)op->ns[before]) : "",
                 etp_if(both && compared, " → "), known ? ETP_NS((double)op->ns[after]) : "–");
        double saved = both ? (double)(op->ns[before] - op->ns[after]) / most : (double)NAN;
        double on = (double)NAN;
        if (op->engaged.state == ETP_ENGAGED) {
            on = 70;
        } else if (op->engaged.state == ETP_PARTLY_ENGAGED) {
            on = 35;
        } else if (op->engaged.state == ETP_NOT_ENGAGED && op->engaged.eligible) {
            on = -70;
        }
        etp_picture_item(g);
        etp_picture_text(g, "label", op->label);
        etp_picture_text(g, "tip", tip);
        etp_picture_text(g, "group", group_of(op, group));
        etp_picture_link(g, op->id);
        // Square roots, because a few operators take most of the time and the others would all look
        // alike.
        etp_picture_list(g, "heat");
        etp_picture_number(g, NULL,
                           etp_value_if(known, round(100 * sqrt((double)op->ns[after] / most))));
        etp_picture_number(g, NULL, round(copysign(100 * sqrt(fabs(saved)), saved)));
        etp_picture_number(g, NULL, on);
        etp_picture_end(g);
        etp_picture_end(g);
    }
    etp_picture_end(g);
    etp_picture_list(g, "edges");
    for (size_t i = 0; i < flow->n; i++) {
        etp_picture_number(g, NULL, flow->items[i].from);
        etp_picture_number(g, NULL, flow->items[i].to);
    }
    etp_picture_end(g);
    etp_picture_end(g);
}

// ---- arms as tracks ----

static etp_picture *begin_tracks(etp_report *r, const char *title)
{
    etp_picture *s = etp_report_picture(r, "spans");
    etp_picture_text(s, "title", title);
    etp_picture_list(s, "tracks");
    return s;
}

static void begin_track(etp_picture *s, const char *label, double length)
{
    etp_picture_item(s);
    etp_picture_text(s, "label", label);
    etp_picture_number(s, "length", length);
    etp_picture_list(s, "spans");
}

// Of a track, or of all: its list and itself.
static void end_track(etp_picture *s)
{
    etp_picture_end(s);
    etp_picture_end(s);
}

// TRACK: its length. A thousandth of it is less than a pixel.
static void span(etp_picture *s, double track, const char *label, const char *link, double from,
                 double length, unsigned depth, unsigned color)
{
    if (length < track / 1000) {
        return;
    }
    etp_picture_item(s);
    etp_picture_text(s, "label", label);
    etp_picture_link(s, link);
    etp_picture_number(s, "from", from);
    etp_picture_number(s, "length", length);
    if (depth) {
        etp_picture_number(s, "depth", depth);
    }
    if (color) {
        etp_picture_number(s, "color", color);
    }
    etp_picture_end(s);
}

// Operators are laid end to end in the program's order: recordings have no places that could be
// drawn (XNNPACK's begin times are made up from durations). What lies between operators shows at
// the end, as the rest of the track.
static void arm_track(const etp_ab *ab, uint32_t arm, etp_picture *s)
{
    double at = 0, from = 0;
    const etp_ab_operator *first = NULL;
    const double whole = etp_known_ns(ab->arms[arm].traced_ns);
    begin_track(s, ab->arms[arm].measured, whole);
    for (size_t i = 0; i <= ab->n_operators; i++) {
        const etp_ab_operator *op = i < ab->n_operators ? &ab->operators[i] : NULL;
        bool here = op && op->ns[arm] != ETP_NS_UNKNOWN;
        // Operators of one delegate call follow each other and share a box above them.
        bool same = op && first && first->delegated && op->delegated && op->chain == first->chain &&
                    op->instruction == first->instruction;
        if (first && !same && (here || !op)) {
            char group[64];
            const char *name = group_of(first, group);
            span(s, whole, ETP_OR(name, first->label), name ? NULL : first->id, from, at - from, 0,
                 0);
            first = NULL;
        }
        if (here) {
            from = first ? from : at;
            first = ETP_OR(first, op);
            span(s, whole, op->label, op->id, at, (double)op->ns[arm], 1,
                 etp_ab_category_color(op->category));
            at += (double)op->ns[arm];
        }
    }
    end_track(s);
}

typedef struct change {
    uint32_t op;
    int64_t ns;
} change;

static int largest_first(const void *pa, const void *pb)
{
    const change *a = pa, *b = pb;
    const int by_time = ETP_ORDER(b->ns, a->ns);
    return etp_order_then(by_time, ETP_ORDER(a->op, b->op));
}

// What was saved, or (SIGN −1) lost, operator by operator, the largest first.
// Operators that only one arm has are no change of an operator: the ledger has them as inserted and
// vanished.
static void change_track(const etp_ab *ab, int sign, const char *label, change *changes,
                         etp_picture *s)
{
    size_t n = 0;
    int64_t sum = 0;
    for (uint32_t i = 0; i < ab->n_operators; i++) {
        const int64_t *ns = ab->operators[i].ns;
        if (ns[ab->baseline] != ETP_NS_UNKNOWN && ns[ab->bottleneck_arm] != ETP_NS_UNKNOWN) {
            int64_t saved = sign * (ns[ab->baseline] - ns[ab->bottleneck_arm]);
            if (saved > 0) {
                changes[n++] = (change){i, saved};
                sum += saved;
            }
        }
    }
    if (n == 0) {
        return;
    }
    qsort(changes, n, sizeof *changes, largest_first);
    begin_track(s, label, (double)sum);
    double at = 0;
    for (size_t i = 0; i < n; i++) {
        const etp_ab_operator *op = &ab->operators[changes[i].op];
        span(s, (double)sum, op->label, op->id, at, (double)changes[i].ns, 0,
             etp_ab_category_color(op->category));
        at += (double)changes[i].ns;
    }
    end_track(s);
}

void etp_ab_spans_section(const etp_ab *ab, etp_report *r, etp_arena *arena)
{
    enum { ARMS = 4, MOST = 2000 };
    if (ab->n_operators == 0 || ab->n_operators > MOST || ab->n_arms > ARMS) {
        return;
    }
    etp_report_section(r, 1, "icicle", "Operator by operator");
    etp_report_section_is_folded(r);
    etp_report_text(r, "Every operator at its place in an inference, all arms on one scale; above "
                       "it the delegate call or kernel it belongs to. Colours are categories.");
    etp_picture *s = begin_tracks(r, "One traced inference");
    for (size_t i = 0; i < ab->n_arms; i++) {
        if (ab->arms[ab->shown[i]].profile) {
            arm_track(ab, ab->shown[i], s);
        }
    }
    end_track(s);
    change *changes = ETP_NEW_ARRAY(arena, change, ab->n_operators);
    if (etp_ab_told(ab, 0) && changes) {
        s = begin_tracks(r, "The difference");
        change_track(ab, 1, "saved", changes, s);
        change_track(ab, -1, "lost", changes, s);
        end_track(s);
    }
}
