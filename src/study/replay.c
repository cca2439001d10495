// SPDX-License-Identifier: Apache-2.0
// An operator in its model and alone.
#include "study/replay.h"

#include <math.h>

#include "base/guard.h"
#include "document/rows.h"
#include "explain/engage.h"
#include "program/call.h"

#define CLOCK_NS 1000.0 // what XNNPACK's clock cuts off

static bool decimal(etp_str s, uint64_t *out)
{
    bool digits = true; // not 0x10
    for (size_t i = 0; i < s.len; i++) {
        digits = digits && s.ptr[i] >= '0' && s.ptr[i] <= '9';
    }
    return digits && etp_parse_u64(s, out);
}

etp_status etp_replay_place(const etp_method *m, const char *word, etp_cut_place *out,
                            etp_error *err)
{
    etp_str delegate, rest = etp_str_from(word);
    uint64_t d = 0, n = 0;
    if (!etp_str_part(&rest, ':', &delegate) || !decimal(delegate, &d) || !decimal(rest, &n)) {
        return etp_fail(err, ETP_USAGE,
                        "an operator is DELEGATE:NODE, as 'etprof inspect --tree' numbers them "
                        "(0:3), not '%s'",
                        word);
    }
    for (uint32_t i = 0; i < m->n_instructions; i++) {
        const etp_instruction *x = &m->instructions[i];
        if (x->kind == ETP_INSTR_DELEGATE && m->partitions[x->partition].index == d) {
            const etp_partition *p = &m->partitions[x->partition];
            *out = (etp_cut_place){m, i, (uint32_t)n};
            if (!p->graph) {
                return etp_fail(
                    err, ETP_UNSUPPORTED, "delegate %llu (%.*s): %s", (unsigned long long)d,
                    ETP_STR_ARG(p->backend),
                    ETP_OR(p->problem, "only nodes of XNNPACK delegates can be cut out"));
            }
            if (n >= p->n_nodes) {
                return etp_fail(err, ETP_USAGE, "delegate %llu has no node %llu, it has %lu",
                                (unsigned long long)d, (unsigned long long)n,
                                (unsigned long)p->n_nodes);
            }
            return ETP_OK;
        }
    }
    return etp_fail(err, ETP_USAGE, "no delegate %llu is called, the method has %lu",
                    (unsigned long long)d, (unsigned long)m->n_partitions);
}

// The partition that ROW's instruction calls; ETP_NO_INDEX: it calls no delegate.
static uint32_t partition_of(const etp_method *m, const etp_profile_row *row)
{
    for (uint32_t i = 0; i < m->n_instructions; i++) {
        const etp_instruction *x = &m->instructions[i];
        if (x->kind == ETP_INSTR_DELEGATE && row->chain == (int32_t)x->chain &&
            row->instruction == (int32_t)x->index) {
            return m->partitions[x->partition].index;
        }
    }
    return ETP_NO_INDEX;
}

etp_status etp_replay_operator(const etp_ab *ab, const char *id, etp_arena *arena,
                               const char **out_model, const char **out_word, etp_error *err)
{
    const etp_ab_operator *op = etp_ab_operator_of(ab, id);
    if (!op) {
        return etp_fail(err, ETP_USAGE, "the answer has no operator '%s', it has op1 to op%zu", id,
                        ab->n_operators);
    }
    for (uint32_t k = 0; k <= ab->n_arms; k++) { // the arm that the answer is about, then others
        const uint32_t arm = k == 0 ? ab->bottleneck_arm : k - 1;
        const etp_profile *p = arm < ab->n_arms ? ab->arms[arm].profile : NULL;
        const etp_profile_row *row = p && p->facts ? op->rows[arm] : NULL;
        const etp_row_facts *facts = row ? &p->facts->rows[row - p->rows] : NULL;
        if (!facts || facts->method == ETP_NO_INDEX || facts->n_nodes == 0) {
            continue;
        }
        const uint32_t d = partition_of(&p->facts->program->methods[facts->method], row);
        if (d != ETP_NO_INDEX) { // converts that belong to it come before it
            *out_model = ab->models[ab->arms[arm].model].path;
            *out_word = etp_arena_printf(arena, "%lu:%lu", (unsigned long)d,
                                         (unsigned long)facts->nodes[facts->n_nodes - 1]);
            return etp_arena_check(arena, err, "the operator");
        }
    }
    return etp_fail(err, ETP_USAGE,
                    "%s (%s) is not a node of an XNNPACK delegate: only those can be cut out", id,
                    op->label);
}

static void add_shape(etp_strbuf *text, const etp_value *v, const char *before)
{
    etp_strbuf_printf(text, "%s%s%s[", before, etp_if(v->constant, "constant "),
                      etp_dtype_name(v->dtype));
    for (uint32_t i = 0; i < v->rank; i++) {
        etp_strbuf_printf(text, "%s%lld", etp_if(i, ","), (long long)v->dims[i]);
    }
    etp_strbuf_appendz(text, "]");
}

const char *etp_replay_shapes(const etp_cut_place *at, etp_arena *arena)
{
    const etp_instruction *i = &at->method->instructions[at->instruction];
    const etp_partition *p = &at->method->partitions[i->partition];
    const etp_node *n = &p->nodes[at->node];
    etp_strbuf text;
    etp_strbuf_init(&text, arena);
    for (uint32_t k = 0; k < n->n_inputs; k++) {
        add_shape(&text, &p->values[n->inputs[k]], etp_if(k, ", "));
    }
    for (uint32_t k = 0; k < n->n_outputs; k++) {
        add_shape(&text, &p->values[n->outputs[k]], k ? ", " : " → ");
    }
    return text.ptr;
}

// ---- times ----

static etp_replay_time time_of(const etp_profile *p, const etp_profile_row *row, etp_arena *arena)
{
    const etp_interval mean = etp_profile_typical(p, row, arena);
    return (etp_replay_time){mean.estimate, mean.lo, mean.hi,
                             row ? etp_arena_strdup(arena, row->name) : NULL};
}

// Their intervals meet, or the clock cannot tell them apart.
static bool meet(const etp_replay_time *a, const etp_replay_time *b)
{
    return fabs(a->ns - b->ns) <= CLOCK_NS || (b->lo <= a->hi && a->lo <= b->hi);
}

// Why A, the time in the model, is not held against B; NULL: it is.
static const char *not_held(const etp_replay_time *a, const etp_replay_time *b, bool same_nodes)
{
    if (!a->name || !b->name) {
        return "the recordings do not name the operator";
    }
    if (!isfinite(a->ns) || !isfinite(b->ns)) {
        return "it is shorter than XNNPACK's clock resolves";
    }
    if (!same_nodes) {
        return "fusion: the model runs it as one with its neighbours";
    }
    return etp_z_if(!(isfinite(a->lo) && isfinite(b->lo)), "an interval takes two blocks");
}

// SAME: of each way, whether the operator ran with as many nodes as in the model.
static void judge(etp_replay_row *row, const bool *same)
{
    static const char *const k_why[ETP_REPLAY_WAYS] = {
        [ETP_REPLAY_COLD] = "cold caches: alone its operands and weights stay in them",
        [ETP_REPLAY_AMONG] = "neighbours: they decide where its operands and its result lie"};
    const char *why = NULL;
    row->agrees = -1;
    row->way = ETP_REPLAY_WAYS;
    if (row->waited > ETP_WAIT_MOST) {
        row->why = "other programs had the CPU";
        return;
    }
    for (unsigned k = 0; k < ETP_REPLAY_WAYS; k++) {
        const etp_replay_time *x = &row->times[k];
        const char *no = not_held(&row->model, x, same[k]);
        why = k == 0 ? no : why; // of the capsule
        row->agrees = no ? row->agrees : 0;
        if (!no && meet(&row->model, x)) {
            row->agrees = 1;
            row->way = k;
            row->why = ETP_OR(why, k_why[k]);
            return;
        }
    }
    row->why = row->agrees < 0 ? why : "neither cold caches nor neighbours explain it";
}

etp_replay_time etp_replay_alone(const etp_profile *p, etp_arena *arena)
{
    const etp_method *m = p && p->facts && p->facts->program ? p->facts->program->methods : NULL;
    // Converts that belong to the operator come before it.
    uint32_t n = 0, last = m && m->n_partitions > 0 ? m->partitions[0].n_nodes - 1 : 0;
    return time_of(p, etp_profile_row_of(p, 0, 0, last, &n), arena);
}

// The arm of program MODEL that is otherwise like ARM; NULL: none.
static const etp_ab_arm *like(const etp_ab *ab, const etp_ab_arm *arm, uint32_t model)
{
    for (size_t i = 0; i < ab->n_arms; i++) {
        const etp_ab_arm *x = &ab->arms[i];
        if (x->model == model && x->level == arm->level && x->threads == arm->threads) {
            return x;
        }
    }
    return NULL;
}

static etp_status take(const etp_ab *ab, const etp_cut_place *at, etp_arena *arena, etp_replay *out)
{
    const etp_instruction *i = &at->method->instructions[at->instruction];
    out->rows = ETP_NEW_ARRAY(arena, etp_replay_row, ab->n_arms);
    for (size_t k = 0; k < ab->n_arms; k++) {
        const etp_ab_arm *model = &ab->arms[ab->shown[k]];
        if (model->model != 0 || !like(ab, model, 1)) {
            continue;
        }
        uint32_t n = 0, n_other = 0, program = 1;
        bool same[ETP_REPLAY_WAYS] = {false};
        const etp_profile_row *in =
            etp_profile_row_of(model->profile, i->chain, i->index, at->node, &n);
        etp_replay_row *row = &out->rows[out->n_rows++];
        *row = (etp_replay_row){
            .level = model->level_name ? etp_arena_printf(arena, "%s", model->level_name) : NULL,
            .threads = model->threads,
            .waited = model->waited,
            .model = time_of(model->profile, in, arena)};
        for (unsigned w = 0; w < ETP_REPLAY_WAYS; w++) {
            const etp_ab_arm *arm = out->programs[w].path ? like(ab, model, program++) : NULL;
            const etp_profile *p = arm ? arm->profile : NULL;
            const etp_profile_row *by_itself =
                etp_profile_row_of(p, 0, 0, out->programs[w].node, &n_other);
            row->times[w] = time_of(p, by_itself, arena);
            same[w] = n == n_other;
            row->waited = arm ? fmax(row->waited, arm->waited) : row->waited; // passes over a NAN
        }
        judge(row, same);
    }
    return ETP_OK;
}

uint64_t etp_replay_besides(const etp_cut_place *at)
{
    const etp_method *m = at->method;
    const etp_partition *own = &m->partitions[m->instructions[at->instruction].partition];
    uint64_t weights = 0, largest = 0;
    for (uint32_t i = 0; i < m->n_partitions; i++) {
        const etp_partition *p = &m->partitions[i];
        weights += p->weight_bytes;
        for (uint32_t k = 0; k < p->n_nodes; k++) {
            const etp_work *w = &p->nodes[k].work;
            uint64_t moved = w->known ? ETP_LESS(w->bytes, p->nodes[k].weight_bytes) : 0;
            largest = ETP_MAX(moved, largest);
        }
    }
    return ETP_LESS(weights, own->nodes[at->node].weight_bytes) + largest;
}

etp_status etp_replay_take(const etp_ab *ab, const etp_cut_place *at, etp_arena *arena,
                           etp_replay *out, etp_error *err)
{
    ETP_GUARDED(arena, err, "the replay", take(ab, at, arena, out));
}

// ---- forms ----

#define OF etp_replay_time
static const etp_field k_time_rows[] = {
    FIELD("ns", RATIO, ns, "of an execution, mean over the blocks"),
    FIELD("lo", RATIO, lo, "95 % interval over the blocks; null: fewer than two",
          .range = ETP_SIGNED),
    FIELD("hi", RATIO, hi, "likewise", .range = ETP_SIGNED),
    FIELD("name", TEXT, name, "of the operator as it ran"),
};
SHAPE_ON_ONE_LINE(k_etp_replay_time, k_time_rows);
#undef OF
static const char *way_name(etp_replay_way way)
{
    static const char *const k_names[ETP_REPLAY_WAYS] = {"alone", "cold", "among"};
    return k_names[way];
}
WORDS(k_ways, way_name, etp_replay_way, ETP_REPLAY_WAYS)
KNOWN(has_way, etp_replay_way, *it != ETP_REPLAY_WAYS)
#define OF etp_replay_row
static const etp_field k_row_rows[] = {
    FIELD("level", TEXT, level, ""),
    FIELD("threads", UINT, threads, ""),
    FIELD("model", OBJECT, model, "in the model", .shape = &k_etp_replay_time),
    FIELD("alone", OBJECT, times[ETP_REPLAY_ALONE], "in the capsule", .shape = &k_etp_replay_time),
    FIELD("cold", OBJECT, times[ETP_REPLAY_COLD],
          "in the capsule, with as much handed over in between as the model has besides",
          .shape = &k_etp_replay_time),
    FIELD("among", OBJECT, times[ETP_REPLAY_AMONG], "likewise, with its neighbours around it",
          .shape = &k_etp_replay_time),
    FIELD("waited", RATIO, waited, "for a CPU, share of the time of the arm that waited most"),
    FIELD("agrees", TRISTATE, agrees,
          "one of the three meets the model's: their intervals do, or the clock of whole "
          "microseconds cannot tell the times apart"),
    FIELD("as", WORD, way, "the first that does", .words = &k_ways, .when = has_way),
    FIELD("why", TEXT, why, "the capsule's does not, or it is not known"),
};
static SHAPE(k_row, k_row_rows);
#undef OF
#define OF etp_replay
static const etp_field k_rows[] = {
    FIELD("operator", TEXT, name, "in the model", .flags = ETP_SET),
    FIELD("type", TEXT, type, "of the node", .flags = ETP_SET),
    FIELD("shapes", TEXT, shapes, "operands → results", .flags = ETP_SET),
    FIELD("model", TEXT, model, "", .flags = ETP_SET),
    FIELD("capsule", TEXT, capsule, "a program of this operator alone", .flags = ETP_SET),
    FIELD("bytes", UINT, bytes, "of the capsule"),
    FIELD("real_weights", BOOL, real_weights, "false: their elements stand in another order"),
    FIELD("outside", UINT, outside, "tensors that it needs of the model's .ptd files"),
    FIELD("command", TEXT, command, "that measures it again", .flags = ETP_SET),
    LIST("levels", OBJECT, rows, n_rows, "in the order of a report", .shape = &k_row),
};
static SHAPE(k_replay, k_rows);
#undef OF
const etp_document k_etp_replay_document = {"etprof.replay/1", "What replay prints", &k_replay};

static const char *weights_of(const etp_replay *a, etp_arena *arena)
{
    if (a->outside > 0) {
        return etp_arena_printf(
            arena, "%zu of its tensors are in the model's .ptd: it needs --data", a->outside);
    }
    return a->real_weights ? "with the weights of the model"
                           : "with the model's weights in another order";
}

const etp_report *etp_replay_report(const etp_replay *a, etp_arena *arena)
{
    static const etp_column k_columns[] = {
        {.key = "level", .title = "level"},
        {.key = "threads", .title = "threads", .kind = ETP_KIND_INT, .flags = ETP_COL_MINOR},
        {.key = "model_ns", .title = "in the model", .kind = ETP_KIND_NS},
        {.key = "alone_ns", .title = "alone", .kind = ETP_KIND_NS},
        {.key = "alone_lo_ns", .title = "from", .kind = ETP_KIND_NS, .flags = ETP_COL_MINOR},
        {.key = "alone_hi_ns", .title = "to", .kind = ETP_KIND_NS, .flags = ETP_COL_MINOR},
        {.key = "cold_ns", .title = "cold", .kind = ETP_KIND_NS},
        {.key = "among_ns", .title = "among", .kind = ETP_KIND_NS},
        {.key = "agrees", .title = "agree"},
        {.key = "name", .title = "ran as", .flags = ETP_COL_CODE},
        {.key = "why", .title = "why"},
    };
    static const char *const k_agrees[] = {"unknown", "no", "yes"};
    etp_report *r = etp_report_create(arena, a->name);
    etp_report_section(r, 1, "levels", "In the model and alone");
    etp_report_text(r, "%s %s", a->type, a->shapes);
    etp_report_text(r, "%s: %llu bytes, %s", a->capsule, (unsigned long long)a->bytes,
                    weights_of(a, arena));
    etp_table *t = a->n_rows ? etp_report_table(r, "levels", NULL, k_columns, 11) : NULL;
    for (size_t i = 0; i < a->n_rows; i++) {
        const etp_replay_row *x = &a->rows[i];
        const etp_replay_time *alone = &x->times[ETP_REPLAY_ALONE];
        ETP_ROW(t, etp_cell_z(x->level), etp_cell_u64(x->threads), etp_cell_double(x->model.ns),
                etp_cell_double(alone->ns), etp_cell_double(alone->lo), etp_cell_double(alone->hi),
                etp_cell_double(x->times[ETP_REPLAY_COLD].ns),
                etp_cell_double(x->times[ETP_REPLAY_AMONG].ns), etp_cell_z(k_agrees[x->agrees + 1]),
                etp_cell_z(alone->name), etp_cell_z(x->why));
    }
    return r;
}

static void add_us(etp_strbuf *text, const etp_replay_time *t)
{
    if (!isfinite(t->ns)) {
        etp_strbuf_appendz(text, " – |");
        return;
    }
    etp_strbuf_printf(text, " %s µs", ETP_DIGITS(t->ns / 1e3, 4));
    if (isfinite(t->lo)) {
        etp_strbuf_printf(text, " (%s–%s)", ETP_DIGITS(t->lo / 1e3, 4), ETP_DIGITS(t->hi / 1e3, 4));
    }
    etp_strbuf_appendz(text, " |");
}

etp_str etp_replay_issue(const etp_replay *a, etp_arena *arena)
{
    etp_strbuf text;
    double busy = (double)NAN;
    etp_strbuf_init(&text, arena);
    etp_strbuf_printf(&text,
                      "### %s, one operator by itself\n\n`%s`\n\n"
                      "| level | threads | in the model | alone | alone, cold caches | ran as |\n"
                      "|---|---|---|---|---|---|\n",
                      a->type, a->shapes);
    for (size_t i = 0; i < a->n_rows; i++) {
        const etp_replay_row *x = &a->rows[i];
        etp_strbuf_printf(&text, "| %s | %lu |", ETP_OR(x->level, "–"), (unsigned long)x->threads);
        add_us(&text, &x->model);
        const etp_replay_time *alone = &x->times[ETP_REPLAY_ALONE];
        add_us(&text, alone);
        add_us(&text, &x->times[ETP_REPLAY_COLD]);
        etp_strbuf_printf(&text, " `%s` |\n", ETP_OR(alone->name, ""));
        busy = fmax(busy, x->waited);
    }
    if (busy > ETP_WAIT_MOST) {
        etp_strbuf_printf(&text,
                          "\n**Other programs had the CPU for up to %.0f %% of the time: measure "
                          "again before this is sent.**\n",
                          100 * busy);
    }
    etp_strbuf_printf(&text,
                      "\nTimes of an execution with 95 %% intervals over the blocks, as XNNPACK's "
                      "clock tells them (whole microseconds).\nThe program of the operator: `%s`, "
                      "%llu bytes, %s.\n\n```\n%s\n```\n",
                      a->capsule, (unsigned long long)a->bytes, weights_of(a, arena), a->command);
    return etp_strbuf_str(&text);
}
