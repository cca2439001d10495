// SPDX-License-Identifier: Apache-2.0
// What operators and categories have that a rule can be about, and the units of limits.
#include "study/gate/members.h"

#include <ctype.h>
#include <math.h>

#include "base/number.h"
#include "trace/ops.h"

#define CATEGORY "category(\""

typedef enum member { NS, SHARE, SPEEDUP } member;

static const struct {
    const char *name;
    etp_gate_unit unit;
    bool of_operators; // too: their speedup has no interval, so no rule
} k_members[] = {
    [NS] = {"ns",      ETP_GATE_TIME,    true },
    [SHARE] = {"share",   ETP_GATE_PERCENT, true },
    [SPEEDUP] = {"speedup", ETP_GATE_RATIO,   false},
};
#define N_MEMBERS (sizeof k_members / sizeof *k_members)

static etp_str from(etp_str s, size_t at)
{
    return (etp_str){s.ptr + at, s.len - at};
}

// "op35." at the beginning of S: the length of the name, 0 when it is none.
static size_t operator_name(etp_str s)
{
    size_t i = 2;
    if (s.len < 4 || s.ptr[0] != 'o' || s.ptr[1] != 'p') {
        return 0;
    }
    while (i < s.len && isdigit((unsigned char)s.ptr[i])) {
        i++;
    }
    return i > 2 && i < s.len && s.ptr[i] == '.' ? i : 0;
}

etp_status etp_gate_member_parse(const char *text, etp_str head, etp_gate_member *out,
                                 etp_str *phase, size_t *used, etp_error *err)
{
    *out = (etp_gate_member){0};
    *used = 0;
    // It begins the text or stands behind a phase and a dot, before any blank.
    for (size_t at = 0; at < head.len && !isspace((unsigned char)head.ptr[at]); at++) {
        if (at > 0 && head.ptr[at - 1] != '.') {
            continue;
        }
        etp_str s = from(head, at);
        size_t name = operator_name(s), dot = name;
        etp_str of = {s.ptr, name};
        if (etp_str_starts(s, ETP_STR(CATEGORY))) {
            of = from(s, sizeof CATEGORY - 1);
            of.len = etp_str_find(of, ETP_STR("\")."));
            dot = of.len + (sizeof CATEGORY - 1) + 2;
            out->category = true;
            if (dot >= s.len) {
                return etp_fail(err, ETP_USAGE,
                                "'%s': a category is written category(\"Data movement\").share",
                                text);
            }
        } else if (name == 0) {
            continue;
        }
        size_t end = dot + 1;
        while (end < s.len && !isspace((unsigned char)s.ptr[end])) {
            end++;
        }
        etp_str word = {s.ptr + dot + 1, end - dot - 1};
        for (size_t m = 0; m < N_MEMBERS; m++) {
            if (etp_str_eqz(word, k_members[m].name) &&
                (out->category || k_members[m].of_operators)) {
                *phase = (etp_str){etp_z_if(at > 0, head.ptr), at > 0 ? at - 1 : 0};
                out->name = (etp_str){s.ptr, end};
                out->of = of;
                out->row = m;
                out->unit = k_members[m].unit;
                *used = at + end;
                return ETP_OK;
            }
        }
        return etp_fail(err, ETP_USAGE, "'%s': '%.*s' is not ns or share%s", text,
                        ETP_STR_ARG(word),
                        out->category ? " or speedup" : ", the members of an operator");
    }
    return ETP_OK;
}

etp_gate_member etp_gate_share_of(etp_str category)
{
    return (etp_gate_member){
        .of = category, .category = true, .row = SHARE, .unit = ETP_GATE_PERCENT};
}

// VALUE with its unit, as the metric wants it.
// FALSE for another etp_gate_unit's unit too: "speedup >= 5 ms" is a mistake, not 5.
bool etp_gate_limit_parse(etp_str s, etp_gate_unit dim, double *out)
{
    // The first that ends the text is taken, so longer ones stand before those they end in: "ms"
    // before "s", "MB" before "B".
    static const struct {
        const char *suffix;
        etp_gate_unit dim;
        double factor;
    } k_units[] = {
        {"ns",        ETP_GATE_TIME,     1         },
        {"us",        ETP_GATE_TIME,     1e3       },
        {"\xC2\xB5s", ETP_GATE_TIME,     1e3       },
        {"ms",        ETP_GATE_TIME,     1e6       },
        {"s",         ETP_GATE_TIME,     1e9       },
        {"KiB",       ETP_GATE_BYTES,    1024      },
        {"MiB",       ETP_GATE_BYTES,    1048576   },
        {"GiB",       ETP_GATE_BYTES,    1073741824},
        {"kB",        ETP_GATE_BYTES,    1e3       },
        {"MB",        ETP_GATE_BYTES,    1e6       },
        {"GB",        ETP_GATE_BYTES,    1e9       },
        {"B",         ETP_GATE_BYTES,    1         },
        {"%",         ETP_GATE_PERCENT,  100       },
        {"x",         ETP_GATE_RATIO,    1         },
        {"\xC3\x97",  ETP_GATE_RATIO,    1         },
        {"tok/s",     ETP_GATE_A_SECOND, 1         },
    };
    s = etp_str_trim(s, " \t\n\v\f\r");
    double factor = dim != ETP_GATE_TIME && dim != ETP_GATE_BYTES; // times and sizes need a unit
    for (size_t i = 0; i < sizeof k_units / sizeof *k_units; i++) {
        etp_str suffix = etp_str_from(k_units[i].suffix);
        if (k_units[i].dim == dim && etp_str_ends(s, suffix)) {
            factor = k_units[i].factor;
            s.len -= suffix.len;
            break;
        }
    }
    if (factor == 0 || !etp_parse_double(etp_str_trim(s, " \t\n\v\f\r"), out) || *out < 0) {
        return false;
    }
    *out = dim == ETP_GATE_PERCENT ? *out / factor
                                   : *out * factor; // 95 / 100 is 0.95, 95 * 0.01 is not
    return true;
}

// ---- figures ----

static const char *disturbed(const etp_ab *ab, uint32_t arm, etp_arena *arena)
{
    const etp_ab_arm *a = &ab->arms[arm];
    if (a->emulated) {
        return "emulated: its times say nothing";
    }
    if (a->tensors_logged) {
        return "tensors were logged: its times are not the program's";
    }
    if (!(a->waited > ETP_WAIT_MOST)) {
        return NULL;
    }
    const char *crowded = etp_ab_crowded(ab);
    return crowded ? crowded
                   : etp_arena_printf(arena, "other programs had the CPU for %.0f %% of its time",
                                      100 * a->waited);
}

const char *etp_gate_arm_unknown(const etp_ab *ab, uint32_t arm, etp_arena *arena)
{
    const char *why = disturbed(ab, arm, arena);
    bool lengths = ab->bare && ab->arms[arm].several_lengths;
    return !why && lengths ? etp_ab_withheld_text(ETP_WITHHELD_LENGTHS) : why;
}

// ---- executions that a figure is not of ----

typedef struct others {
    const etp_gate_member *m;
    const etp_profile_row *row; // of the operator; NULL: those of the CATEGORY
    etp_category category;
    double lo, hi; // so far
    size_t n;
} others;

// Executions that took FROM or more.
static void take_block(others *o, const etp_trace_block *b, uint64_t from, etp_arena *arena)
{
    const uint64_t *whole = etp_trace_durations(b, b->execute);
    bool *of = ETP_NEW_ARRAY(arena, bool, b->n_events);
    // Which events of B the member is about.
    uint32_t occurrence = 0;
    etp_ops_mark(b, of);
    for (size_t i = 0; i < b->n_events; i++) {
        const etp_trace_event *e = &b->events[i];
        bool named = o->row && e->kind == o->row->event && e->chain == o->row->chain &&
                     e->instruction == o->row->instruction &&
                     (o->row->silent || etp_str_eq(e->name, o->row->name));
        of[i] = o->row ? named && occurrence == o->row->occurrence
                       : of[i] && etp_op_category(e->name) == o->category;
        occurrence += named;
    }
    for (size_t r = 0; r < b->n_runs; r++) {
        double ns = 0;
        for (uint32_t i = 0; i < b->n_events; i++) {
            ns += of[i] ? (double)etp_trace_durations(b, i)[r] : 0;
        }
        if (whole[r] >= from) {
            double v = o->m->row == NS ? ns : ns / (double)whole[r];
            o->lo = o->n == 0 || v < o->lo ? v : o->lo;
            o->hi = o->n == 0 || v > o->hi ? v : o->hi;
            o->n++;
        }
    }
}

typedef struct part_figure {
    double ns, share;
    double truncation_ns, over_ns; // that its clock can have counted too little, and too much
    double hidden;                 // part of an inference that may be of the member too
} part_figure;

static void add_part(const etp_ab *ab, const etp_gate_member *m, uint32_t arm,
                     const part_figure *part, others *o, etp_arena *arena, etp_gate_figures *out)
{
    const double ns = part->ns, truncation_ns = part->truncation_ns, share = part->share,
                 hidden = part->hidden;
    const char *unknown = disturbed(ab, arm, arena);
    double whole = etp_known_ns(ab->arms[arm].traced_ns),
           cut = whole > 0 ? truncation_ns / whole : 0;
    const etp_profile *p = ab->arms[arm].profile;
    const double tick = p ? (double)p->tick_ns : 0;
    // An emulator's shares may be asked for.
    etp_gate_figure f = {.value = share,
                         .lo = share,
                         .hi = fmin(share + hidden + ETP_MAX(cut, 0), fmax(share, 1)),
                         .arm = arm,
                         .unknown = etp_z_if(!ab->arms[arm].emulated, unknown),
                         .settles = etp_ab_again_command(ab, arena),
                         .cut = cut > 0,
                         .hidden = hidden > 0};
    if ((tick > 0 || part->over_ns > 0) && whole > 0) { // the inference is counted in ticks, too
        f.lo = fmax(0, share * whole - part->over_ns) / (whole + tick);
        f.hi =
            whole > tick ? fmin(1, (share * whole + truncation_ns) / (whole - tick) + hidden) : 1;
    }
    if (m->row == NS) {
        double more = hidden > 0 ? hidden * etp_known_ns(ab->arms[arm].traced_ns) : 0;
        f.value = ns;
        f.lo = fmax(0, ns - part->over_ns);
        f.hi = ns + truncation_ns + more;
        f.unknown = unknown;
        f.hidden = more > 0;
    }
    // Of recordings alone: those of other durations, and those that took far longer than is usual.
    bool every = ab->arms[arm].several_lengths;
    for (size_t d = 0; ab->bare && p && d < p->n_dumps; d++) {
        for (size_t i = 0; i < etp_trace_block_count(p->traces[d]); i++) {
            const etp_trace_block *b = etp_trace_block_at(p->traces[d], i);
            if (b->has_execute && (every || !b->rare)) {
                take_block(o, b, every ? 0 : etp_ops_far_ns(b, arena), arena);
            }
        }
    }
    if (o->n > 0) {
        f.others_lo = o->lo - (f.value - f.lo);
        f.others_hi = o->hi + (f.hi - f.value); // what clocks and delegates hide, likewise
        const char *are = o->n == 1 ? "is" : "are";
        const char *most = etp_gate_figure_words(arena, o->m->unit, o->hi);
        f.others = every
                       ? etp_ab_withheld_text(ETP_WITHHELD_LENGTHS)
                       : etp_arena_printf(arena, "%zu of its executions %s left out, with up to %s",
                                          o->n, are, most);
    }
    ETP_ADD(arena, out, f);
}

// What the ticks of OP's clock may have counted too much of an inference.
static double ticks_of(const etp_ab *ab, const etp_ab_operator *op, uint32_t arm)
{
    const etp_profile *p = ab->arms[arm].profile;
    const etp_profile_row *own = op->rows[arm];
    int64_t sum = own && own->tick_ns ? etp_profile_cut_ns(p, own) : 0;
    for (size_t i = 0; i < op->merged[arm].n; i++) {
        const etp_profile_row *row = op->merged[arm].items[i];
        sum += row != own && row->tick_ns ? etp_profile_cut_ns(p, row) : 0;
    }
    return (double)sum;
}

static etp_status operator_figures(const char *text, const etp_gate_member *m, const etp_ab *ab,
                                   etp_arena *arena, etp_gate_figures *out, etp_error *err)
{
    for (size_t i = 0; i < ab->n_operators; i++) {
        const etp_ab_operator *op = &ab->operators[i];
        for (uint32_t a = 0; etp_str_eqz(m->of, op->id) && a < ab->n_arms; a++) {
            const etp_ab_clocked_time part = etp_ab_operator_time(ab, op, a);
            const etp_profile *p = ab->arms[a].profile;
            others o = {.m = m, .row = op->rows[a]};
            part_figure figure = {.ns = etp_known_ns(part.ns),
                                  .truncation_ns = etp_known_ns(part.truncation_ns),
                                  .over_ns = ticks_of(ab, op, a)};
            figure.share = figure.ns / etp_known_ns(ab->arms[a].traced_ns);
            if (p && op->delegated && etp_ab_logs_partly(p)) { // the mean is of all executions
                figure.hidden = etp_ab_category_most(ab, a, op->category, 0);
            }
            add_part(ab, m, a, &figure, &o, arena, out);
        }
    }
    if (out->n == 0) {
        return etp_fail(err, ETP_USAGE,
                        "'%s': the folder has no operator %.*s; etprof analyze --format json lists "
                        "them",
                        text, ETP_STR_ARG(m->of));
    }
    return ETP_OK;
}

// The answer has no row of a category that does not occur: it takes no time.
static void category_times(const etp_gate_member *m, const etp_ab *ab, etp_category category,
                           const etp_ab_category *c, etp_arena *arena, etp_gate_figures *out)
{
    for (uint32_t a = 0; a < ab->n_arms; a++) {
        const etp_profile *p = ab->arms[a].profile;
        double none = etp_value_if(p && p->execute_total_ns > 0, 0);
        double seen = c && c->ns[a] != ETP_NS_UNKNOWN ? etp_known_ns(c->ns[a]) : none;
        double share = c && isfinite(c->share[a]) ? c->share[a] : none;
        bool logged = false; // any part of an inference, of whatever category
        for (size_t i = 0; i < ab->n_categories; i++) {
            logged = logged || ab->categories[i].share[a] > 0;
        }
        double most = logged || !(none == 0) ? etp_ab_category_most(ab, a, category, share) : 1;
        others o = {.m = m, .category = category};
        double over = 0;
        for (size_t i = 0; i < ab->n_operators; i++) {
            const etp_ab_operator *op = &ab->operators[i];
            over += op->category == category ? ticks_of(ab, op, a) : 0;
        }
        if (category == ETP_CATEGORY_UNLOGGED && p) { // a difference of clocks
            over += (double)etp_ab_rests_over(p);
        }
        double cut = c && c->ns[a] != ETP_NS_UNKNOWN ? etp_known_ns(c->truncation_ns[a]) : none;
        const part_figure figure = {.ns = seen,
                                    .share = share,
                                    .truncation_ns = cut,
                                    .over_ns = over,
                                    .hidden = ETP_LESS(most, share)};
        add_part(ab, m, a, &figure, &o, arena, out);
    }
}

etp_status etp_gate_member_figures(const char *text, const etp_gate_member *m, const etp_ab *ab,
                                   etp_arena *arena, etp_gate_figures *out, etp_error *err)
{
    *out = (etp_gate_figures){0};
    if (!m->category) {
        return operator_figures(text, m, ab, arena, out, err);
    }
    etp_category wanted = etp_category_find(m->of);
    const etp_ab_category *c = NULL;
    if (!etp_str_eqz(m->of, etp_category_name(wanted))) {
        return etp_fail(err, ETP_USAGE,
                        "'%s': no category '%.*s'; for example Convolution, GEMM, Data movement",
                        text, ETP_STR_ARG(m->of));
    }
    for (size_t i = 0; i < ab->n_categories; i++) {
        c = ab->categories[i].category == wanted ? &ab->categories[i] : c;
    }
    if (m->row == SPEEDUP) {
        for (size_t i = 0; i < ab->n_comparisons; i++) {
            const etp_ab_comparison *k = &ab->comparisons[i];
            etp_gate_figure f = {.value = NAN,
                                 .lo = NAN,
                                 .hi = NAN,
                                 .arm = k->candidate,
                                 .unknown = etp_gate_arm_unknown(ab, k->candidate, arena),
                                 .settles = etp_ab_again_command(ab, arena)};
            if (c) {
                f.value = c->speedup[i];
                f.lo = c->lo[i];
                f.hi = c->hi[i];
            }
            if (k->withheld) {
                f.settles = etp_ab_settle_command(ab, k, arena);
                f.unknown = etp_arena_printf(arena, "withheld: %s", etp_withheld_name(k->withheld));
            }
            ETP_ADD(arena, out, f);
        }
    } else {
        category_times(m, ab, wanted, c, arena, out);
    }
    return ETP_OK;
}
