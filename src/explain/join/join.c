// SPDX-License-Identifier: Apache-2.0
// The join of a trace block to a program: which method ran, which instruction and which node each
// event belongs to. What several methods would explain equally well is reported as ambiguous.
#include <math.h>

#include "base/choice.h"
#include "base/guard.h"
#include "explain/join/parts.h"

#define LEAST_DOUBT 1e-4
// 100 tera-MAC/s: several times what any CPU can do with all its cores.
#define MOST_MACS_PER_NS 1e5
#define STEP_NS 1000 // of the clock of XNNPACK's operators

typedef struct candidate {
    const etp_method *method;
    etp_join_event *events;
    const char *reason;             // why it does not fit, NULL when it does
    uint32_t n_said, n_other;       // operators whose names say something, those that differ
    const char *differs;            // the first of these
    uint32_t matched;               // events with an instruction
    uint32_t n_calls, n_calls_seen; // kernel and delegate instructions
    uint32_t n_named, misnamed;     // kernels; those of another name
    double fit;                     // of the delegates' alignments, weighted by operators
    bool complete;
} candidate;

typedef struct joiner {
    const etp_program *program;
    const etp_trace_block *block;
    etp_arena *arena;
} joiner;

// ---- events to instructions ----

// "native_call_add.out" against "aten::add.out": the namespace is missing in most, and kernels
// registered without an overload have no dot.
static bool kernel_name_fits(etp_str event, etp_str op)
{
    etp_str name = event, before;
    if (!etp_str_skip(&name, "native_call_")) {
        return false;
    }
    if (etp_str_eq(name, op)) {
        return true; // with namespace
    }
    etp_str_cut(&op, "::", &before);
    if (etp_str_find(name, ETP_STR(".")) == name.len) { // no overload in the event
        op.len = etp_str_find(op, ETP_STR("."));
    }
    return etp_str_eq(name, op);
}

// Of which an instruction leaves E; NONE: it is of no instruction. An OPERATOR_CALL wraps the
// native_call of the same instruction, a DELEGATE_CALL the delegate's operators: both of a pair
// point to one instruction.
static etp_instruction_kind kind_of(const etp_trace_event *e)
{
    if (e->chain < 0 || e->instruction < 0) {
        return ETP_INSTR_NONE;
    }
    switch (e->kind) {
    case ETP_EVENT_OPERATOR_CALL:
    case ETP_EVENT_NATIVE_CALL:
        return ETP_INSTR_KERNEL;
    case ETP_EVENT_DELEGATE_CALL:
    case ETP_EVENT_DELEGATE_OP:
        return ETP_INSTR_DELEGATE;
    case ETP_EVENT_CONTROL:
        if (etp_str_eqz(e->name, "JF_CALL")) {
            return ETP_INSTR_JUMP_FALSE;
        }
        return etp_str_eqz(e->name, "MOVE_CALL") ? ETP_INSTR_MOVE : ETP_INSTR_FREE;
    default:
        return ETP_INSTR_NONE;
    }
}

static const char *kind_words(etp_instruction_kind kind)
{
    static const char *const k_words[ETP_INSTR_OTHER + 1] = {
        [ETP_INSTR_KERNEL] = "a kernel call", [ETP_INSTR_DELEGATE] = "a delegate call",
        [ETP_INSTR_MOVE] = "a move",          [ETP_INSTR_JUMP_FALSE] = "a jump",
        [ETP_INSTR_FREE] = "a free",
    };
    return ETP_OR(k_words[kind], "of another kind");
}

// An operator that the program can or cannot have run.
static void take_opinion(const joiner *j, candidate *c, const etp_trace_event *e, bool differs,
                         etp_str instead)
{
    c->n_said++;
    c->n_other += differs;
    if (differs && !c->differs) {
        c->differs = etp_arena_printf(
            j->arena, "'%.*s' was recorded at instruction %d, where the program has %.*s",
            ETP_STR_ARG(e->name), e->instruction, ETP_STR_ARG(instead));
    }
}

// One event of a wrong kind is enough to refuse a method: chain and instruction are numbers that
// the runtime wrote, and no rewriting of the delegate changes them. Names may differ, so they only
// lower the confidence.
static void match_events(const joiner *j, candidate *c, bool *seen)
{
    const etp_method *m = c->method;
    for (uint32_t i = 0; i < j->block->n_events; i++) {
        const etp_trace_event *e = &j->block->events[i];
        const etp_instruction_kind kind = kind_of(e);
        if (kind == ETP_INSTR_NONE) {
            continue;
        }
        uint32_t at = etp_method_find_instruction(m, (uint32_t)e->chain, (uint32_t)e->instruction);
        if (at == ETP_NO_INDEX) {
            c->reason = etp_arena_printf(
                j->arena,
                "method %.*s has no instruction %d in chain %d, where '%.*s' was recorded",
                ETP_STR_ARG(m->name), e->instruction, e->chain, ETP_STR_ARG(e->name));
            return;
        }
        const etp_instruction *in = &m->instructions[at];
        if (kind != in->kind) {
            c->reason = etp_arena_printf(
                j->arena, "'%.*s' was recorded at instruction %d, which is %s in method %.*s",
                ETP_STR_ARG(e->name), e->instruction, kind_words(in->kind), ETP_STR_ARG(m->name));
            return;
        }
        double confidence = 1.0;
        if (e->kind == ETP_EVENT_NATIVE_CALL) {
            bool fits = kernel_name_fits(e->name, in->op);
            c->n_named++;
            c->misnamed += !fits;
            confidence = fits ? 1.0 : 0.5;
            take_opinion(j, c, e, !fits, in->op);
        }
        c->events[i].instruction = at;
        c->events[i].partition = in->partition;
        c->events[i].confidence = confidence;
        c->matched++;
        seen[at] = true;
    }
}

static void judge(const joiner *j, candidate *c, const bool *seen)
{
    const etp_method *m = c->method;
    // Without any: a recording at method level, of operators inside delegates only.
    bool with_kernels = false;
    for (uint32_t i = 0; i < j->block->n_events; i++) {
        etp_event_kind k = j->block->events[i].kind;
        with_kernels = with_kernels || k == ETP_EVENT_OPERATOR_CALL || k == ETP_EVENT_NATIVE_CALL ||
                       k == ETP_EVENT_DELEGATE_CALL;
    }
    for (uint32_t i = 0; i < m->n_instructions; i++) {
        etp_instruction_kind k = m->instructions[i].kind;
        if (k == ETP_INSTR_DELEGATE || (k == ETP_INSTR_KERNEL && with_kernels)) {
            // Only what must leave an event is counted: delegates always do, kernels where the
            // recording has any of theirs.
            c->n_calls++;
            c->n_calls_seen += seen[i];
        }
    }
    c->complete = c->n_calls_seen == c->n_calls;
    if (c->reason) {
        return;
    }
    // A few kernels may be registered under another name. A method with a branch leaves out what it
    // did not take, and an execution without its Method::execute may have failed in the middle:
    // nothing else explains a missing call.
    if (c->matched == 0) {
        c->reason = "the block has no event that belongs to an instruction";
    } else if (c->misnamed * 10 > c->n_named) {
        c->reason = etp_arena_printf(j->arena, "%u of %u kernels fit: %s", c->n_named - c->misnamed,
                                     c->n_named, c->differs);
    } else if (!c->complete && j->block->has_execute && m->n_of_kind[ETP_INSTR_JUMP_FALSE] == 0) {
        c->reason = "instructions of the program are missing in a finished execution";
    }
}

// ---- operators to nodes ----

static etp_str expected_of(const joiner *j, const etp_partition *p, const etp_placed_operator *at)
{
    if (at->node == ETP_NO_INDEX) {
        // What the partition's nodes are, for who expected others: "Conv2d, Add, …".
        const char *text = "";
        for (uint32_t i = 0; i < p->n_nodes && i < 4; i++) {
            text = etp_arena_printf(j->arena, "%s%s%.*s", text, etp_if(i, ", "),
                                    ETP_STR_ARG(p->nodes[i].type_name));
        }
        return etp_str_from(
            etp_arena_printf(j->arena, "%s%s", text, etp_if(p->n_nodes > 4, ", …")));
    }
    const etp_node *n = &p->nodes[at->node];
    return etp_str_from(etp_arena_printf(
        j->arena, "%.*s of %s", ETP_STR_ARG(n->type_name),
        n->n_inputs > 0 ? etp_dtype_name(p->values[n->inputs[0]].dtype) : "no input"));
}

static void take_opinions(const joiner *j, candidate *c, const etp_partition *p,
                          const uint32_t *members, uint32_t n, const etp_placed_operator *placed)
{
    etp_match_op *ops = ETP_NEW_ARRAY(j->arena, etp_match_op, n);
    bool converts = false;
    for (uint32_t i = 0; i < n; i++) {
        etp_match_prepare(j->block->events[members[i]].name, &ops[i]);
        converts = converts || etp_str_eqz(ops[i].name.family, "Convert");
    }
    for (uint32_t i = 0; i < n; i++) {
        bool differs = etp_match_contradicts(p, &ops[i], &placed[i], converts);
        etp_str instead = differs && !c->differs ? expected_of(j, p, &placed[i]) : (etp_str){0};
        // Of names without a type only conversions say whose they are: XNNPACK itself puts clamps
        // behind operators that cannot do them.
        if (ops[i].name.n_dtypes > 0 || etp_str_eqz(ops[i].name.family, "Convert")) {
            take_opinion(j, c, &j->block->events[members[i]], differs, instead);
        }
    }
}

static void place(const joiner *j, candidate *c, const uint32_t *members, uint32_t n,
                  etp_str *names, double *explained)
{
    uint32_t partition = c->events[members[0]].partition;
    if (partition == ETP_NO_INDEX || !c->method->partitions[partition].graph) {
        // A backend whose payload cannot be read neither speaks for a method nor against it.
        *explained += n; // nothing to contradict
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        names[i] = j->block->events[members[i]].name;
    }
    etp_operator_placement alignment;
    etp_align_operators(&c->method->partitions[partition], names, n, j->arena, &alignment);
    for (uint32_t i = 0; i < n; i++) {
        etp_join_event *e = &c->events[members[i]];
        const etp_placed_operator *p = &alignment.placed[i];
        e->node = p->node;
        e->nodes = alignment.covered + p->first;
        e->n_nodes = p->n;
        e->inserted = p->inserted;
        // An alignment that contradicts elsewhere makes every single place in it less sure.
        e->confidence = p->confidence * alignment.fit;
    }
    *explained += alignment.fit * n;
    const etp_partition *p = &c->method->partitions[partition];
    take_opinions(j, c, p, members, n, alignment.placed);
    // What multiplies in the program and is no operator of the call differs as a name does.
    bool *done = ETP_NEW_ARRAY(j->arena, bool, p->n_nodes);
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = 0; k < alignment.placed[i].n; k++) {
            done[alignment.covered[alignment.placed[i].first + k]] = true;
        }
    }
    // Without its Method::execute the call may have failed in the middle.
    for (uint32_t i = 0; j->block->has_execute && i < p->n_nodes; i++) {
        if (!done[i] && etp_node_multiplies(p->nodes[i].type)) {
            c->n_said++;
            c->n_other++;
        }
    }
}

static double agreement_of(const candidate *c)
{
    return c->n_said == 0 ? 1.0 : 1.0 - (double)c->n_other / c->n_said;
}

static void place_operators(const joiner *j, candidate *c)
{
    const etp_trace_block *block = j->block;
    size_t n_events = block->n_events;
    bool *done = ETP_NEW_ARRAY(j->arena, bool, n_events);
    uint32_t *members = ETP_NEW_ARRAY(j->arena, uint32_t, n_events);
    etp_str *names = ETP_NEW_ARRAY(j->arena, etp_str, n_events);
    double explained = 0;
    size_t n_ops = 0;
    for (uint32_t i = 0; i < n_events; i++) {
        if (done[i] || block->events[i].kind != ETP_EVENT_DELEGATE_OP ||
            c->events[i].instruction == ETP_NO_INDEX) {
            continue;
        }
        // Operators of one delegate call: same parent and instruction, in file order. A recording
        // without DELEGATE_CALL can have several calls of one instruction side by side; counters
        // tell them apart.
        const etp_trace_event *lead = &block->events[i];
        bool has_call = lead->call != ETP_NO_INDEX;
        uint32_t n = 0;
        for (uint32_t k = i; k < n_events; k++) {
            const etp_trace_event *e = &block->events[k];
            if (done[k] || e->kind != ETP_EVENT_DELEGATE_OP || e->call != lead->call ||
                e->chain != lead->chain || e->instruction != lead->instruction) {
                continue;
            }
            if (!has_call && k != i && etp_str_eq(e->name, lead->name)) {
                break; // the same "… #1" again: the next call
            }
            done[k] = true;
            members[n++] = k;
        }
        n_ops += n;
        place(j, c, members, n, names, &explained);
    }
    // Below a half, more of the operators and nodes contradict each other than agree.
    c->fit = n_ops == 0 ? 1.0 : explained / (double)n_ops;
    double agreement = agreement_of(c);
    if (c->fit < 0.5 || agreement < 0.5 || (agreement < ETP_JOIN_BELONGS && c->n_other > 1)) {
        const char *first = ETP_OR(c->differs, "nodes of the program were not recorded");
        c->reason = etp_arena_printf(j->arena, "%u of %u operators fit: %s", c->n_said - c->n_other,
                                     c->n_said, first);
    }
}

// An operator that does more in its time than a CPU can is one of another size.
static void check_rates(const joiner *j, candidate *c)
{
    const etp_join only = {
        .method = c->method->index, .events = c->events, .n_events = (uint32_t)j->block->n_events};
    for (uint32_t i = 0; !c->reason && i < only.n_events; i++) {
        double mean = (double)etp_trace_total_ns(j->block, i) / (double)j->block->n_runs;
        etp_op_facts facts;
        etp_join_facts(j->program, &only, i, &facts);
        if (facts.work.known && !facts.work.bound && j->block->events[i].apart == ETP_APART_NOT &&
            (double)facts.work.macs > MOST_MACS_PER_NS * (mean + STEP_NS)) {
            c->reason = etp_arena_printf(
                j->arena, "'%.*s' took %.0f ns, in which no CPU does the %llu MACs of the program",
                ETP_STR_ARG(j->block->events[i].name), mean, (unsigned long long)facts.work.macs);
        }
    }
}

// ---- choosing a method ----

static bool same_nodes(const etp_join_event *a, const etp_join_event *b)
{
    return a->node == b->node && a->n_nodes == b->n_nodes &&
           (a->n_nodes == 0 || memcmp(a->nodes, b->nodes, a->n_nodes * sizeof *a->nodes) == 0);
}

static int type_of(const candidate *c, const etp_join_event *e)
{
    return e->node == ETP_NO_INDEX ? 0 : c->method->partitions[e->partition].nodes[e->node].type;
}

// Keeps in A's events only what B says too.
// A's arrays are changed in place: A is the best candidate, whose events become the join's.
static void intersect(candidate *a, const candidate *b, size_t n_events)
{
    for (size_t i = 0; i < n_events; i++) {
        etp_join_event *x = &a->events[i];
        const etp_join_event *y = &b->events[i];
        if (x->instruction != y->instruction || x->partition != y->partition) {
            *x = (etp_join_event){
                .instruction = ETP_NO_INDEX, .partition = ETP_NO_INDEX, .node = ETP_NO_INDEX};
            continue;
        }
        if (!same_nodes(x, y) || type_of(a, x) != type_of(b, y)) {
            x->node = ETP_NO_INDEX;
            x->nodes = NULL;
            x->n_nodes = 0;
            x->confidence = 0;
        }
        x->inserted = x->inserted && y->inserted;
        x->confidence = ETP_MIN(x->confidence, y->confidence);
    }
}

// How well a fitting candidate explains the block; higher is better.
static bool better(const candidate *a, const candidate *b)
{
    if (a->misnamed != b->misnamed) {
        return a->misnamed < b->misnamed;
    }
    if (a->complete != b->complete) {
        return a->complete;
    }
    // Fits that are this close do not choose between methods: both are then candidates, and the
    // join is ambiguous rather than a guess.
    return a->fit > b->fit + 0.02;
}

static void choose(const joiner *j, candidate *candidates, size_t n, etp_join *out)
{
    candidate *best = NULL;
    uint32_t *list = ETP_NEW_ARRAY(j->arena, uint32_t, n);
    out->candidates = list;
    for (size_t i = 0; i < n; i++) {
        candidate *c = &candidates[i];
        if (c->reason) {
            out->reason = ETP_OR(out->reason, c->reason);
        } else if (!best || better(c, best)) {
            best = c;
        }
    }
    if (!best) {
        return;
    }
    out->reason = NULL;
    out->method = best->method->index;
    out->complete = best->complete;
    out->events = best->events;
    uint32_t names = best->n_said - best->n_other;
    double agreed = (double)names + best->n_calls_seen;
    out->agreement = agreement_of(best);
    out->differs = best->differs;
    out->identity = 1 - fmax(1 / (1 + agreed * agreed), LEAST_DOUBT);
    if (best->differs) {
        out->doubt =
            etp_arena_printf(j->arena, "%.0f %% of its operators are those of the program: %s",
                             100 * out->agreement, best->differs);
    } else if (out->identity >= ETP_JOIN_TELLS) {
        out->doubt =
            "the program is known by names and calls alone: a recording holds no sizes, so "
            "shapes and MACs are those of the program given";
    } else {
        out->doubt =
            etp_arena_printf(j->arena,
                             "taken for the program's by %u %s and %u %s: a recording holds no "
                             "sizes, so another program with the same names would pass",
                             names, names == 1 ? "operator's name" : "operators' names",
                             best->n_calls_seen, best->n_calls_seen == 1 ? "call" : "calls");
    }
    for (size_t i = 0; i < n; i++) {
        if (!candidates[i].reason && !better(best, &candidates[i])) {
            list[out->n_candidates++] = candidates[i].method->index;
            if (&candidates[i] != best) {
                intersect(best, &candidates[i], j->block->n_events);
                out->ambiguous = true;
            }
        }
    }
}

static etp_status join(const etp_program *program, const etp_trace_block *block, etp_arena *arena,
                       etp_join *out)
{
    joiner j = {program, block, arena};
    *out = (etp_join){.method = ETP_NO_INDEX, .n_events = (uint32_t)block->n_events};
    candidate *candidates = ETP_NEW_ARRAY(arena, candidate, program->n_methods);
    for (uint32_t i = 0; i < program->n_methods; i++) {
        const etp_method *method = &program->methods[i];
        candidate *c = &candidates[i];
        bool *seen = ETP_NEW_ARRAY(arena, bool, method->n_instructions);
        c->events = ETP_NEW_ARRAY(arena, etp_join_event, block->n_events);
        c->method = method;
        for (uint32_t k = 0; k < block->n_events; k++) {
            c->events[k].instruction = c->events[k].partition = c->events[k].node = ETP_NO_INDEX;
        }
        match_events(&j, c, seen);
        judge(&j, c, seen);
        if (!c->reason) {
            place_operators(&j, c);
            check_rates(&j, c);
        }
    }
    choose(&j, candidates, program->n_methods, out);
    if (out->method != ETP_NO_INDEX) {
        return ETP_OK;
    }
    // Nothing fits, nothing is claimed.
    // The tried candidates may hold halves of a match; callers index events without asking whether
    // a method was found.
    etp_join_event *none = ETP_NEW_ARRAY(arena, etp_join_event, block->n_events);
    for (size_t i = 0; i < block->n_events; i++) {
        none[i].instruction = none[i].partition = none[i].node = ETP_NO_INDEX;
    }
    out->events = none;
    out->reason = ETP_OR(out->reason, "the program has no method");
    return ETP_OK;
}

etp_status etp_join_refuse(const char *recording, const char *reason, etp_error *err)
{
    return etp_fail(err, ETP_USAGE,
                    "%s is not a recording of this program: %s; give the .pte that ran", recording,
                    reason);
}

etp_status etp_join_block(const etp_program *program, const etp_trace_block *block,
                          etp_arena *arena, etp_join *out, etp_error *err)
{
    ETP_GUARDED(arena, err, "join", join(program, block, arena, out));
}
