// SPDX-License-Identifier: Apache-2.0
// Sections for readers who ask what to look at: latencies beside each other, operators with a large
// part of an inference, delegates against kernels outside, which kernels a feature changed, what to
// do next. Each takes one answer or several: of several, a first column says whose row it is.
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "show/report.h"
#include "show/times.h"

#define MAX_COLUMNS 20
#define MAX_ROWS 40 // in text and Markdown

// Columns of these flags, which are above those of report.h, are left out when nothing is compared
// in any of the answers, or when anything is or nothing is known of what arms cost.
#define OF_COMPARISON 0x10000u
#define OF_COSTS 0x20000u
#define OF_NAMES 0x40000u // or when arms are called as commands call them

// A table whose width depends on the answers: a first column of runs where there are several,
// columns of a comparison where anything was compared.
typedef struct views_table {
    const etp_ab_views *views;
    const etp_column *columns;
    size_t n;
    etp_table *table; // NULL until the first row
    const char *id, *caption;
} views_table;

static bool any_compared(const etp_ab_views *v)
{
    for (size_t k = 0; k < v->n; k++) {
        if (v->items[k].ab->n_comparisons) {
            return true;
        }
    }
    return false;
}

// The first row opens the table, so that there is none without rows.
static void add_row(views_table *t, etp_report *r, size_t view, const etp_cell *cells)
{
    if (!t->table) {
        etp_column all[MAX_COLUMNS] = {
            {.key = "run", .flags = t->views->n > 1 ? 0 : ETP_COL_ABSENT}
        };
        const etp_ab_views *v = t->views;
        bool costs = false, names = false;
        for (size_t k = 0; k < v->n; k++) {
            for (size_t a = 0; a < v->items[k].ab->n_arms; a++) {
                const etp_ab_arm *arm = &v->items[k].ab->arms[a];
                costs = costs || arm->costs[ETP_COST_LOAD] != ETP_NS_UNKNOWN;
                names = names || strcmp(arm->name, arm->measured) != 0;
            }
        }
        const unsigned alone = OF_COMPARISON | (costs ? 0 : OF_COSTS);
        const unsigned absent = (any_compared(v) ? OF_COSTS : alone) | (names ? 0 : OF_NAMES);
        for (size_t i = 0; i < t->n; i++) {
            all[i + 1] = t->columns[i];
            all[i + 1].flags |= t->columns[i].flags & absent ? ETP_COL_ABSENT : 0;
            all[i + 1].flags &= ~(OF_COMPARISON | OF_COSTS | OF_NAMES);
        }
        t->table = etp_report_table(r, t->id, t->caption, all, t->n + 1);
        etp_table_limit(t->table, MAX_ROWS);
    }
    etp_cell all[MAX_COLUMNS] = {etp_cell_z(t->views->items[view].run)};
    memcpy(all + 1, cells, t->n * sizeof *cells);
    const char *scope = t->views->items[view].scope;
    if (scope) { // else that of the part stays
        etp_report_scope(r, scope, NULL);
    }
    etp_table_add_row(t->table, all, t->n + 1);
    if (scope) {
        etp_report_scope(r, NULL, NULL);
    }
}

#define VIEWS_TABLE(v, columns, id, caption) \
    {(v), (columns), sizeof(columns) / sizeof *(columns), NULL, id, caption}
#define ADD_ROW(t, r, view, ...) add_row((t), (r), (view), (const etp_cell[]){__VA_ARGS__})

// The baseline's time ÷ the arm's, NAN for the baseline and where figures are withheld.
static double gained_part(const etp_ab *ab, uint32_t arm, etp_ab_clocked_time before,
                          etp_ab_clocked_time after)
{
    const etp_ab_comparison *c = etp_ab_comparison_of(ab, arm);
    return c ? etp_ab_part_ratio(ab, (size_t)(c - ab->comparisons), &before, &after) : (double)NAN;
}

// Of times whose clock cuts nothing off: untraced medians, and Method::execute in nanoseconds.
static double gained(const etp_ab *ab, uint32_t arm, int64_t before, int64_t after)
{
    return gained_part(ab, arm, (etp_ab_clocked_time){before, 0}, (etp_ab_clocked_time){after, 0});
}

// Of what delegates did, or of all kernels outside them.
static double gained_side(const etp_ab *ab, uint32_t arm, bool delegated,
                          etp_ab_clocked_time before, etp_ab_clocked_time after, etp_arena *arena)
{
    const etp_ab_comparison *c = etp_ab_comparison_of(ab, arm);
    bool *in = ETP_NEW_ARRAY(arena, bool, ab->n_operators + 1);
    for (size_t i = 0; in && i < ab->n_operators; i++) {
        in[i] = ab->operators[i].delegated == delegated;
    }
    return c && in
               ? etp_ab_sum_speedup(ab, (size_t)(c - ab->comparisons), in, &before, &after, arena)
               : (double)NAN;
}

// The untraced one, with its interval.
static etp_cell speedup_of(const etp_ab *ab, uint32_t arm, int64_t before)
{
    double ratio = gained(ab, arm, before, ab->arms[arm].median_ns);
    const etp_ab_comparison *c = etp_ab_comparison_of(ab, arm);
    return c && isfinite(ratio) ? etp_cell_gain(c->estimate, c->lo, c->hi) : etp_cell_double(ratio);
}

static const char *prefix(const etp_ab_views *v, size_t view, etp_arena *arena)
{
    const char *text = v->n > 1 ? etp_arena_printf(arena, "%s: ", v->items[view].run) : "";
    return ETP_OR(text, "");
}

// A share that is not known is told by its bounds.
static void say_share(etp_strbuf *text, double share, double lo, double hi, const char *what)
{
    if (isfinite(share)) {
        etp_strbuf_printf(text, "%.0f %% of %s, ", 100 * share, what);
    } else if (isfinite(lo)) {
        etp_strbuf_printf(text, "%.0f to %.0f %% of %s, ", 100 * lo, 100 * hi, what);
    }
}

// Why nothing was sampled at all, as far as the session says.
// Each with the option that changes it, where there is one.
static const char *unsampled(const etp_ab_engagement *e)
{
    static const char *const k_why[ETP_SAMPLES_ENDS] = {
        [ETP_SAMPLES_OFF] = "not sampled: --kernels never",
        [ETP_SAMPLES_UNTRACED] = "not sampled: --no-trace",
        [ETP_SAMPLES_DEVICE] = "not sampled: program counters cannot be sampled on this device",
        [ETP_SAMPLES_RUNNER] = "not sampled: only etprof's own runner samples",
        [ETP_SAMPLES_PART] =
            "not sampled: it would take over a third of the session; --kernels always does it",
        [ETP_SAMPLES_BLOCKS] =
            "not sampled: the budget would no longer hold six blocks; --kernels always does it",
    };
    return e->sampled ? NULL : k_why[e->sampling];
}

// "engaged  92 % of MACs, 61 % of the time on SME2 · off: 3 depthwise convolution: …".
void etp_ab_engaged_key(const etp_ab *ab, etp_keys *keys, etp_arena *arena)
{
    const etp_ab_engagement *e = &ab->engagement;
    if (!e->feature_name || e->eligible == 0) {
        return;
    }
    // Nothing is known: shares from 0 to 100 % would look like a result.
    if (e->unknown == e->eligible) {
        const char *why = unsampled(e);
        etp_keys_add(keys, ETP_PLAIN, "engaged",
                     "not provable from names: %u convolutions and matrix multiplications keep one "
                     "name at every level%s%s",
                     e->eligible, etp_if(why, " · "), ETP_OR(why, ""));
        return;
    }
    etp_strbuf text;
    etp_strbuf_init(&text, arena);
    say_share(&text, e->macs_share, e->macs_lo, e->macs_hi, "MACs");
    say_share(&text, e->time_share, e->time_lo, e->time_hi, "the time");
    etp_strbuf_printf(&text, "%u of %u convolutions and matrix multiplications on %s", e->engaged,
                      e->eligible, e->feature_name);
    if (e->row_kernels) {
        etp_strbuf_printf(&text, " (%u with a row kernel: M = 1)", e->row_kernels);
    }
    // Reasons come with the longest time first; the section on kernels has all.
    for (size_t i = 0; i < e->n_reasons && i < 2; i++) {
        etp_strbuf_printf(&text, " · %u off: %s", e->off_for[e->reasons[i]].operators,
                          etp_reason_text(e->reasons[i]));
    }
    if (e->unknown) {
        etp_strbuf_printf(&text, " · %u not known", e->unknown);
        if (isfinite(e->time_hi) && isfinite(e->time_lo)) {
            etp_strbuf_printf(&text, " (%.1f %% of the time)", 100 * (e->time_hi - e->time_lo));
        }
    }
    // " · sampled in 4 launches, no more: …"; nothing where one was enough.
    static const char *const k_ends[ETP_SAMPLES_ENDS] = {
        [ETP_SAMPLES_KNOWN] = "the kernels are known for 90 % of their time",
        [ETP_SAMPLES_BUDGET] = "the rest of the budget goes to blocks",
        [ETP_SAMPLES_PART] = "more would take over a third of the session",
        [ETP_SAMPLES_BOUND] = "that is the most",
        [ETP_SAMPLES_NO_GAIN] = "more samples would not show more",
    };
    // The usual case needs no words.
    bool early = e->sampling == ETP_SAMPLES_KNOWN && e->sampled == 1;
    if (e->sampled && k_ends[e->sampling] && !early) {
        etp_strbuf_printf(&text, " · sampling ended after %u %s: %s", e->sampled,
                          e->sampled == 1 ? "launch" : "launches", k_ends[e->sampling]);
    }
    etp_keys_add(keys, e->off ? ETP_INFO : ETP_GOOD, "engaged", "%s", etp_strbuf_str(&text).ptr);
}

// ---- latency ----

void etp_ab_latency_table(const etp_ab_views *v, etp_report *r)
{
    static const etp_column k_columns[] = {
        {.key = "experiment", .title = "experiment", .flags = ETP_COL_CODE},
        {.key = "arm", .title = "arm", .flags = OF_NAMES},
        {.key = "level", .title = "level", .flags = ETP_COL_MINOR},
        {.key = "threads", .title = "threads", .kind = ETP_KIND_INT, .flags = ETP_COL_MINOR},
        {.key = "untraced_ns", .title = "untraced", .kind = ETP_KIND_NS},
        {.key = "untraced_lo_ns", .title = "low", .kind = ETP_KIND_NS, .flags = ETP_COL_MINOR},
        {.key = "untraced_hi_ns", .title = "high", .kind = ETP_KIND_NS, .flags = ETP_COL_MINOR},
        {.key = "speedup", .title = "speedup", .kind = ETP_KIND_RATIO, .flags = OF_COMPARISON},
        {.key = "etdump_mean_ns", .title = "ETDump mean", .kind = ETP_KIND_NS},
        {.key = "etdump_median_ns", .title = "ETDump median", .kind = ETP_KIND_NS},
        {.key = "etdump_runs", .title = "executions", .kind = ETP_KIND_INT, .flags = ETP_COL_MINOR},
        {.key = "etdump_speedup",
         .title = "ETDump speedup",
         .kind = ETP_KIND_RATIO,
         .flags = ETP_COL_MINOR | OF_COMPARISON},
        {.key = "difference",
         .title = "tracer",
         .kind = ETP_KIND_PERCENT,
         .flags = ETP_COL_SIGNED | ETP_COL_MINOR},
        {.key = "launches", .title = "launches", .kind = ETP_KIND_INT, .flags = ETP_COL_MINOR},
        {.key = "samples", .title = "iterations", .kind = ETP_KIND_INT, .flags = ETP_COL_MINOR},
        {.key = "load_ns", .title = "load", .kind = ETP_KIND_NS, .flags = OF_COSTS},
        {.key = "first_ns", .title = "first run", .kind = ETP_KIND_NS, .flags = OF_COSTS},
        {.key = "peak_rss_bytes",
         .title = "peak memory",
         .kind = ETP_KIND_BYTES,
         .flags = OF_COSTS},
    };
    views_table t = VIEWS_TABLE(v, k_columns, "latencies", "Latency Comparison");
    for (size_t k = 0; k < v->n; k++) {
        const etp_ab *ab = v->items[k].ab;
        for (size_t i = 0; i < ab->n_arms; i++) {
            uint32_t at = ab->shown[i];
            const etp_ab_comparison *c = etp_ab_comparison_of(ab, at);
            const etp_ab_arm *a = &ab->arms[at], *base = &ab->arms[c ? c->baseline : ab->baseline];
            // The tracer's part by paired blocks, not as a quotient of the two columns beside it:
            // they are means of different launches.
            double cost =
                etp_value_if(a->tracing_overhead.blocks > 0, a->tracing_overhead.estimate - 1);
            ADD_ROW(&t, r, k, etp_cell_z(a->name), etp_cell_z(a->measured),
                    etp_cell_called(a->level_name, etp_ab_level_word(a)),
                    etp_cell_if(a->threads, etp_cell_u64(a->threads)), etp_cell_ns(a->median_ns),
                    etp_cell_rounded_ns(a->lo_ns), etp_cell_rounded_ns(a->hi_ns),
                    speedup_of(ab, at, base->median_ns), etp_cell_ns(a->traced_mean_ns),
                    etp_cell_rounded_ns(a->traced_median_ns),
                    etp_cell_if(a->traced_runs, etp_cell_u64(a->traced_runs)),
                    etp_cell_double(gained(ab, at, etp_whole_ns(base->traced_median_ns),
                                           etp_whole_ns(a->traced_median_ns))),
                    etp_cell_double(cost), etp_cell_u64(a->launches), etp_cell_u64(a->samples),
                    etp_cell_ns(a->costs[ETP_COST_LOAD]), etp_cell_ns(a->costs[ETP_COST_FIRST]),
                    etp_cell_ns(a->costs[ETP_COST_PEAK]));
        }
    }
    etp_table_limit(t.table, 0); // it is the only one that has every arm
    etp_report_text(r, "Untraced: no tracer attached, geometric mean of the launches' medians; the "
                       "verdict rests on it. "
                       "ETDump: Method::execute of traced launches, with what tracing costs; their "
                       "speedup is that of the medians.");
}

// ---- categories ----

// Rows per run, where arms of one run would be columns: names of experiments differ between
// platforms.
void etp_ab_category_table(const etp_ab_views *v, etp_report *r)
{
    static const etp_column k_columns[] = {
        {.key = "category", .title = "category"},
        {.key = "five", .title = "group", .flags = ETP_COL_MINOR},
        {.key = "before_ns", .title = "before", .kind = ETP_KIND_NS, .flags = OF_COMPARISON},
        {.key = "before_share", .title = "share", .kind = ETP_KIND_PERCENT, .flags = OF_COMPARISON},
        {.key = "now_ns", .title = "now", .kind = ETP_KIND_NS},
        {.key = "now_share", .title = "share", .kind = ETP_KIND_PERCENT},
        {.key = "speedup", .title = "speedup", .kind = ETP_KIND_RATIO, .flags = OF_COMPARISON},
    };
    views_table t = VIEWS_TABLE(v, k_columns, "categories", "Operator Category Breakdown");
    for (size_t k = 0; k < v->n; k++) {
        const etp_ab *ab = v->items[k].ab;
        bool compared = ab->n_comparisons > 0;
        for (size_t i = 0; i < ab->n_categories; i++) {
            const etp_ab_category *c = &ab->categories[i];
            ADD_ROW(&t, r, k,
                    etp_cell_colored(etp_cell_z(etp_category_name(c->category)),
                                     etp_ab_category_color(c->category)),
                    etp_cell_z(etp_kit_category_name(etp_kit_category_of(c->category))),
                    // Without a comparison the only arm is "now".
                    etp_cell_ns(compared ? c->ns[ab->baseline] : ETP_NS_UNKNOWN),
                    etp_cell_double(etp_value_if(compared, c->share[ab->baseline])),
                    etp_cell_ns(c->ns[ab->bottleneck_arm]),
                    etp_cell_double(c->share[ab->bottleneck_arm]),
                    compared ? etp_cell_gain(c->speedup[0], c->lo[0], c->hi[0])
                             : etp_cell_missing());
        }
    }
}

// ---- bottlenecks ----

// Ids of the fixes that rest on the operator: "N1, N3".
const char *etp_ab_fixes_of(const etp_ab *ab, const char *id, etp_arena *arena)
{
    etp_strbuf text;
    etp_strbuf_init(&text, arena);
    for (size_t f = 0; f < ab->fixes.n; f++) {
        for (size_t e = 0; e < ab->fixes.items[f].n_evidence; e++) {
            if (strcmp(ab->fixes.items[f].evidence[e], id) == 0) {
                etp_strbuf_printf(&text, "%s%s", etp_if(text.len, ", "), ab->fixes.items[f].id);
                break;
            }
        }
    }
    return text.len && !text.failed ? etp_strbuf_str(&text).ptr : NULL;
}

// The longest operator, and its share of an inference; NAN: there is none.
static double longest_share(const etp_ab *ab, uint32_t *out_longest)
{
    uint32_t longest = 0;
    for (uint32_t i = 1; i < ab->n_operators; i++) {
        int64_t ns = ab->operators[i].ns[ab->bottleneck_arm];
        longest = ns != ETP_NS_UNKNOWN && ns > ab->operators[longest].ns[ab->bottleneck_arm]
                      ? i
                      : longest;
    }
    *out_longest = longest;
    double total = etp_known_ns(ab->arms[ab->bottleneck_arm].traced_ns);
    return ab->n_operators && total > 0
               ? etp_known_ns(ab->operators[longest].ns[ab->bottleneck_arm]) / total
               : (double)NAN;
}

// The most that can have been cut off an operator which would be hot with it; 0: none would.
static double most_cut(const etp_ab *ab)
{
    double total = etp_known_ns(ab->arms[ab->bottleneck_arm].traced_ns), most = 0;
    for (uint32_t i = 0; i < ab->n_operators; i++) {
        const etp_ab_clocked_time p =
            etp_ab_operator_time(ab, &ab->operators[i], ab->bottleneck_arm);
        bool hot = (double)p.ns + (double)p.truncation_ns > ETP_BOTTLENECK_SHARE * total;
        most = hot ? fmax(most, (double)p.truncation_ns) : most;
    }
    return most;
}

// The clock of a delegate need not be that of the runtime around it, and what does not fit into the
// inference has no share of it.
bool etp_ab_clock_note(const etp_ab *ab, const char *who, etp_report *r)
{
    uint32_t longest;
    double most = ab->bottlenecks.n == 0 ? longest_share(ab, &longest) : (double)NAN;
    if (!(most > 1)) {
        return false;
    }
    etp_report_note(r, ETP_WARN,
                    "%san operator, %s, takes longer than the inference that it is part of "
                    "(%s times): the delegate's clock is "
                    "not the runtime's, or the dump is damaged; shares mean nothing here",
                    who, ab->operators[longest].label, ETP_DIGITS(most, 3));
    return true;
}

static void hot_notes(const etp_ab_views *v, size_t view, etp_report *r, etp_arena *arena)
{
    const etp_ab *ab = v->items[view].ab;
    const etp_ab_arm *arm = &ab->arms[ab->bottleneck_arm];
    double total = etp_known_ns(arm->traced_ns);
    if (!(total > 0)) {
        return;
    }
    const char *who = prefix(v, view, arena);
    if (etp_ab_clock_note(ab, who, r)) {
        return;
    }
    uint32_t longest;
    double most = ab->bottlenecks.n == 0 ? longest_share(ab, &longest) : (double)NAN;
    double cut = isfinite(most) ? most_cut(ab) : 0;
    if (cut > 0) {
        char time[2][ETP_NUMBER_CHARS];
        etp_report_note(r, ETP_INFO,
                        "%swhether an operator takes more than %.0f %% of an inference is not "
                        "known: the clock can have cut off %s, an inference takes %s",
                        who, 100 * ETP_BOTTLENECK_SHARE, etp_format_ns(cut, time[0]),
                        etp_format_ns(total, time[1]));
    } else if (isfinite(most)) {
        etp_report_note(
            r, ETP_INFO,
            "%sno operator takes more than %.0f %% of an inference; the longest, %s, %.1f %%", who,
            100 * ETP_BOTTLENECK_SHARE, ab->operators[longest].label, 100 * most);
    }
    // Both sums are told even below their limits: "little" is an answer too.
    double portable = etp_known_ns(arm->time_breakdown.portable_ns) / total,
           movement = etp_known_ns(arm->time_breakdown.movement_ns) / total;
    if (arm->time_breakdown.portable) {
        etp_report_note(r, portable > ETP_BOTTLENECK_SHARE ? ETP_WARN : ETP_INFO,
                        "%skernels outside delegates take %.1f %% of an inference (%u of them)",
                        who, 100 * portable, arm->time_breakdown.portable);
    }
    if (arm->time_breakdown.movement) {
        etp_report_note(
            r, movement > ETP_BOTTLENECK_MOVEMENT_SHARE ? ETP_WARN : ETP_INFO,
            "%soperators that only move or convert data take %.1f %% of an inference (%u of them)",
            who, 100 * movement, arm->time_breakdown.movement);
    }
}

void etp_ab_hot_section(const etp_ab_views *v, etp_report *r, etp_arena *arena)
{
    bool any = false;
    for (size_t k = 0; k < v->n; k++) {
        const etp_ab *ab = v->items[k].ab;
        any = any || (ab->n_operators && !ab->emulated);
    }
    if (!any) {
        return;
    }
    etp_report_section(r, 1, "bottlenecks-section", "Bottlenecks");
    etp_report_section_is_detail(r);
    etp_report_text(r,
                    "Operators with more than %.0f %% of an inference (Method::execute): portable "
                    "kernels first, then operators that only move or convert data, then those with "
                    "a smaller speedup than the whole.",
                    100 * ETP_BOTTLENECK_SHARE);
    static const etp_column k_columns[] = {
        {.key = "id", .title = "id"},
        {.key = "operator", .title = "operator", .flags = ETP_COL_CODE},
        {.key = "why", .title = "why"},
        {.key = "before_ns",
         .title = "before",
         .kind = ETP_KIND_NS,
         .flags = ETP_COL_MINOR | OF_COMPARISON},
        {.key = "now_ns", .title = "now", .kind = ETP_KIND_NS},
        {.key = "share", .title = "share", .kind = ETP_KIND_PERCENT},
        {.key = "speedup", .title = "speedup", .kind = ETP_KIND_RATIO, .flags = OF_COMPARISON},
        {.key = "fixes", .title = "fixes"},
        {.key = "source", .title = "from", .flags = ETP_COL_MINOR},
    };
    views_table t = VIEWS_TABLE(v, k_columns, "bottlenecks", NULL);
    for (size_t k = 0; k < v->n; k++) {
        const etp_ab *ab = v->items[k].ab;
        // Of the first comparison, whose candidate is the arm that runs now.
        const etp_severity *changes = etp_ab_operator_changes(ab, 0, arena);
        for (size_t i = 0; i < ab->bottlenecks.n; i++) {
            const etp_ab_operator *op = &ab->operators[ab->bottlenecks.items[i]];
            bool compared = ab->n_comparisons > 0;
            const etp_severity change = changes ? changes[op - ab->operators] : ETP_PLAIN;
            const char *source =
                op->source_file ? etp_arena_printf(arena, "%s:%u", op->source_file, op->source_line)
                                : NULL;
            ADD_ROW(&t, r, k, etp_cell_z(op->id), etp_cell_z(op->label),
                    etp_cell_z(etp_bottleneck_kind_name(op->bottleneck.kind)),
                    compared ? etp_cell_ns(op->ns[ab->baseline]) : etp_cell_missing(),
                    etp_cell_ns(op->ns[ab->bottleneck_arm]), etp_cell_double(op->bottleneck.share),
                    compared ? etp_cell_judged(etp_cell_double(op->speedup[0]), change)
                             : etp_cell_missing(),
                    etp_cell_z(etp_ab_fixes_of(ab, op->id, arena)), etp_cell_z(source));
        }
    }
    for (size_t k = 0; k < v->n; k++) {
        if (!v->items[k].ab->emulated) {
            hot_notes(v, k, r, arena);
        }
    }
}

// ---- delegates against kernels outside ----

static void split_table(const etp_ab_views *v, etp_report *r, etp_arena *arena)
{
    static const etp_column k_columns[] = {
        {.key = "experiment", .title = "experiment", .flags = ETP_COL_CODE},
        {.key = "delegated_ns", .title = "delegated", .kind = ETP_KIND_NS},
        {.key = "delegated_share", .title = "share", .kind = ETP_KIND_PERCENT},
        {.key = "delegated_operators",
         .title = "operators",
         .kind = ETP_KIND_INT,
         .flags = ETP_COL_MINOR},
        {.key = "delegated_speedup",
         .title = "speedup",
         .kind = ETP_KIND_RATIO,
         .flags = ETP_COL_MINOR | OF_COMPARISON},
        {.key = "portable_ns", .title = "portable", .kind = ETP_KIND_NS},
        {.key = "portable_share", .title = "share", .kind = ETP_KIND_PERCENT},
        {.key = "portable_kernels",
         .title = "kernels",
         .kind = ETP_KIND_INT,
         .flags = ETP_COL_MINOR},
        {.key = "portable_speedup",
         .title = "speedup",
         .kind = ETP_KIND_RATIO,
         .flags = ETP_COL_MINOR | OF_COMPARISON},
        {.key = "boundary_ns",
         .title = "around operators",
         .kind = ETP_KIND_NS,
         .help = "delegate calls less their operators: set-up, and what whole microseconds cut off "
                 "the operators"},
        {.key = "calls", .title = "calls", .kind = ETP_KIND_INT, .flags = ETP_COL_MINOR},
        {.key = "rest_ns", .title = "rest", .kind = ETP_KIND_NS},
        {.key = "etdump_mean_ns", .title = "inference", .kind = ETP_KIND_NS},
    };
    views_table t = VIEWS_TABLE(v, k_columns, "delegation", NULL);
    for (size_t k = 0; k < v->n; k++) {
        const etp_ab *ab = v->items[k].ab;
        const etp_ab_arm *base = &ab->arms[ab->baseline];
        for (size_t i = 0; i < ab->n_arms; i++) {
            uint32_t at = ab->shown[i];
            const etp_ab_arm *a = &ab->arms[at];
            if (!a->profile) {
                continue;
            }
            double total = etp_known_ns(a->traced_ns);
            ADD_ROW(&t, r, k, etp_cell_called(a->name, a->measured),
                    etp_cell_ns(a->time_breakdown.delegated_ns),
                    etp_cell_double((double)a->time_breakdown.delegated_ns / total),
                    etp_cell_u64(a->time_breakdown.delegated),
                    etp_cell_double(
                        gained_side(ab, at, true,
                                    (etp_ab_clocked_time){base->time_breakdown.delegated_ns,
                                                          base->time_breakdown.delegated_cut_ns},
                                    (etp_ab_clocked_time){a->time_breakdown.delegated_ns,
                                                          a->time_breakdown.delegated_cut_ns},
                                    arena)),
                    etp_cell_ns(a->time_breakdown.portable_ns),
                    etp_cell_double((double)a->time_breakdown.portable_ns / total),
                    etp_cell_u64(a->time_breakdown.portable),
                    etp_cell_double(gained_side(
                        ab, at, false,
                        (etp_ab_clocked_time){base->time_breakdown.portable_ns,
                                              base->time_breakdown.portable * ETP_AB_READING_NS},
                        // Kernels outside delegates are timed in nanoseconds: what their clock can
                        // hide is two readings of it for each.
                        (etp_ab_clocked_time){a->time_breakdown.portable_ns,
                                              a->time_breakdown.portable * ETP_AB_READING_NS},
                        arena)),
                    etp_cell_ns(a->time_breakdown.boundary_ns),
                    etp_cell_u64(a->time_breakdown.calls),
                    etp_cell_ns(a->time_breakdown.framework_ns + a->time_breakdown.unexplained_ns),
                    etp_cell_ns(a->traced_ns));
        }
    }
}

void etp_ab_split_section(const etp_ab_views *v, etp_report *r, etp_arena *arena)
{
    bool any = false, emulated = false;
    for (size_t k = 0; k < v->n; k++) {
        const etp_ab *ab = v->items[k].ab;
        emulated = emulated || ab->emulated;
        for (size_t a = 0; a < ab->n_arms; a++) {
            any = any || ab->arms[a].profile;
        }
    }
    if (!any) {
        return;
    }
    etp_report_section(r, 1, "delegation-section", "Portable against delegated");
    etp_report_section_is_folded(r);
    etp_report_section_is_detail(r);
    etp_report_text(r,
                    "Means of one traced inference, over the executions around each launch's "
                    "median; delegated, portable, around operators and rest add up to it.%s",
                    etp_if(emulated, " Times of an emulator say nothing about speed."));
    split_table(v, r, arena);
    // The kernels outside delegates of the arm that runs now: what the partitioner left behind.
    // Summed by name: one kernel that is called for each layer is one thing to mend.
    static const etp_column k_columns[] = {
        {.key = "kernel", .title = "kernel outside delegates", .flags = ETP_COL_CODE   },
        {.key = "calls",  .title = "calls",                    .kind = ETP_KIND_INT    },
        {.key = "ns",     .title = "time",                     .kind = ETP_KIND_NS     },
        {.key = "share",  .title = "share",                    .kind = ETP_KIND_PERCENT},
    };
    enum { MOST = 10 }; // of one run
    views_table t = VIEWS_TABLE(v, k_columns, "portable", NULL);
    for (size_t k = 0; k < v->n; k++) {
        const etp_ab *ab = v->items[k].ab;
        const etp_ab_arm *arm = &ab->arms[ab->bottleneck_arm];
        etp_ab_kernels *names = NULL;
        size_t n = etp_ab_portable_names(ab, arena, &names);
        for (size_t i = 0; i < n && i < MOST; i++) {
            ADD_ROW(&t, r, k, etp_cell_str(names[i].now), etp_cell_u64(names[i].operators),
                    etp_cell_ns(names[i].now_time.ns),
                    etp_cell_double((double)names[i].now_time.ns / etp_known_ns(arm->traced_ns)));
        }
        if (n > MOST) {
            etp_report_note(r, ETP_PLAIN, "%s%zu more kernels outside delegates, shorter ones",
                            prefix(v, k, arena), n - MOST);
        }
    }
}

// ---- kernels ----

static const etp_column k_kernel_columns[] = {
    {.key = "kernels", .title = "kernels", .flags = ETP_COL_CODE},
    {.key = "operators", .title = "operators", .kind = ETP_KIND_INT, .flags = ETP_COL_MINOR},
    {.key = "before_ns", .title = "before", .kind = ETP_KIND_NS, .flags = OF_COMPARISON},
    {.key = "now_ns", .title = "now", .kind = ETP_KIND_NS},
    {.key = "speedup", .title = "speedup", .kind = ETP_KIND_RATIO, .flags = OF_COMPARISON},
    {.key = "feature", .title = "feature"},
    {.key = "reason", .title = "why", .flags = ETP_COL_MINOR},
};

static bool is_word(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// "Convolution (NHWC, F32 → PF32) IGEMM": names that change keep the parts they have in common.
// Head and tail are cut back to the ends of words, or "F32 → PF32" would become "→ P".
static const char *change_text(const etp_ab *ab, const etp_ab_kernels *g, etp_arena *arena)
{
    etp_str a = g->before, b = g->now;
    if (ab->n_comparisons == 0 || ab->bottleneck_arm == ab->baseline || etp_str_eq(a, b)) {
        return etp_arena_printf(arena, "%.*s", (int)b.len, b.ptr);
    }
    if (a.len == 0 || b.len == 0) {
        etp_str name = a.len ? a : b;
        return etp_arena_printf(arena, "%.*s, only %s", (int)name.len, name.ptr,
                                a.len ? "before" : "now");
    }
    size_t head = 0, tail = 0, shorter = ETP_MIN(a.len, b.len);
    while (head < shorter && a.ptr[head] == b.ptr[head]) {
        head++;
    }
    while (head > 0 && is_word(a.ptr[head - 1])) {
        head--; // not within a word
    }
    while (tail < shorter - head && a.ptr[a.len - tail - 1] == b.ptr[b.len - tail - 1]) {
        tail++;
    }
    while (tail > 0 && is_word(a.ptr[a.len - tail])) {
        tail--;
    }
    return etp_arena_printf(arena, "%.*s%.*s → %.*s%.*s", (int)head, a.ptr,
                            (int)(a.len - head - tail), a.ptr + head, (int)(b.len - head - tail),
                            b.ptr + head, (int)tail, a.ptr + a.len - tail);
}

// A group of one is that operator, with its speedup.
static double group_speedup(const etp_ab *ab, const etp_ab_kernels *g)
{
    const etp_ab_comparison *c = etp_ab_comparison_of(ab, ab->bottleneck_arm);
    return c && g->operators == 1
               ? g->first->speedup[c - ab->comparisons]
               : gained_part(ab, ab->bottleneck_arm, g->before_time, g->now_time);
}

// By names, which is what every recording has; samples tell more where a session took them.
void etp_ab_kernel_section(const etp_ab_views *v, etp_report *r, etp_arena *arena)
{
    bool any = false;
    for (size_t k = 0; k < v->n; k++) {
        any = any || v->items[k].ab->engagement.eligible;
    }
    if (!any) {
        return;
    }
    etp_report_section(r, 1, "kernels", "Kernel insights");
    etp_report_section_is_folded(r);
    etp_report_section_is_detail(r);
    etp_report_text(r,
                    "Convolutions and matrix multiplications%s, by the names that their kernels "
                    "have in the recordings.",
                    etp_if(any_compared(v), ", and operators whose name changed"));
    for (size_t k = 0; k < v->n; k++) {
        etp_ab_engaged_key(v->items[k].ab, etp_report_keys(r, etp_z_if(v->n > 1, v->items[k].run)),
                           arena);
    }
    views_table t = VIEWS_TABLE(v, k_kernel_columns, "kernel-insights", NULL);
    bool silent = false, sampled = false;
    const char *why = NULL;
    for (size_t k = 0; k < v->n; k++) {
        const etp_ab *ab = v->items[k].ab;
        etp_ab_kernels *groups = NULL;
        size_t n = etp_ab_kernel_groups(ab, arena, &groups);
        for (size_t i = 0; i < n; i++) {
            const etp_ab_kernels *g = &groups[i];
            // The names are what an emulated run is for; its times would mislead.
            bool timed = !ab->emulated;
            etp_cell engaged = etp_cell_z(etp_ab_engaged_word(g->state));
            ADD_ROW(&t, r, k, etp_cell_z(change_text(ab, g, arena)), etp_cell_u64(g->operators),
                    etp_cell_if(timed && g->before.len, etp_cell_ns(g->before_time.ns)),
                    etp_cell_if(timed && g->now.len, etp_cell_ns(g->now_time.ns)),
                    etp_cell_double(group_speedup(ab, g)),
                    g->state == ETP_ENGAGED ? etp_cell_judged(engaged, ETP_GOOD) : engaged,
                    etp_cell_z(etp_reason_text(g->reason)));
        }
        const etp_ab_engagement *e = &ab->engagement;
        silent = silent || e->unknown;
        sampled = sampled || e->sampled;
        why = why ? why : unsampled(e);
    }
    if (silent && why) {
        etp_report_note(r, ETP_PLAIN, "operator names do not always show which kernel ran; %s",
                        why);
    } else if (silent && !sampled) {
        etp_report_note(
            r, ETP_PLAIN,
            "operator names do not always show which kernel ran; 'etprof ab MODEL.pte --kernels "
            "always' samples it");
    }
}

// ---- what to do next ----

// Figures as a table, sentences below it: a column of sentences would leave no room for figures.
void etp_ab_fix_section(const etp_ab_views *v, etp_report *r)
{
    static const etp_column k_columns[] = {
        {.key = "id", .title = "id"},
        {.key = "kind", .title = "kind"},
        {.key = "expected_ns", .title = "likely gain", .kind = ETP_KIND_NS},
        {.key = "share", .title = "of inference", .kind = ETP_KIND_PERCENT},
        {.key = "lo_ns", .title = "at least", .kind = ETP_KIND_NS},
        {.key = "hi_ns", .title = "at most", .kind = ETP_KIND_NS},
        {.key = "concerns_ns", .title = "concerns", .kind = ETP_KIND_NS},
        {.key = "cases", .title = "cases", .kind = ETP_KIND_INT},
    };
    size_t rows = 0;
    for (size_t k = 0; k < v->n; k++) {
        rows += v->items[k].ab->fixes.n;
    }
    if (rows == 0) {
        return;
    }
    etp_report_section(r, 1, "fixes", "Next fixes");
    etp_report_section_is_detail(r);
    const etp_ab *first = v->items[0].ab;
    etp_report_text(r,
                    "Gain per inference of %s, by addition of measured times; gains of fixes of "
                    "the same operators do not add up. Those that may gain most come first, more "
                    "threads and small gains last. Cases: measured models behind the range. "
                    "'etprof explain N1 DIR' shows the operators and the formula of one.",
                    v->n > 1 ? "the candidate" : first->arms[first->bottleneck_arm].measured);
    views_table t = VIEWS_TABLE(v, k_columns, "fixes", NULL);
    for (size_t k = 0; k < v->n; k++) {
        for (size_t i = 0; i < v->items[k].ab->fixes.n; i++) {
            const etp_ab_fix *f = &v->items[k].ab->fixes.items[i];
            ADD_ROW(&t, r, k, etp_cell_z(f->id), etp_cell_z(etp_fix_id(f->kind)),
                    etp_cell_ns(f->expected_ns), etp_cell_double(f->share), etp_cell_ns(f->lo_ns),
                    etp_cell_ns(f->hi_ns), etp_cell_ns(f->concerns_ns), etp_cell_u64(f->cases));
        }
    }
    etp_keys *keys = etp_report_keys(r, NULL);
    for (size_t k = 0; k < v->n; k++) {
        for (size_t i = 0; i < v->items[k].ab->fixes.n; i++) {
            const etp_ab_fix *f = &v->items[k].ab->fixes.items[i];
            if (v->items[k].scope) {
                etp_report_scope(r, v->items[k].scope, NULL);
            }
            etp_keys_add(keys, ETP_PLAIN, f->id, "%s%s%s → %s", etp_if(v->n > 1, v->items[k].run),
                         etp_if(v->n > 1, ": "), f->text, f->recipe);
            if (v->items[k].scope) {
                etp_report_scope(r, NULL, NULL);
            }
        }
    }
}
