// SPDX-License-Identifier: Apache-2.0
// What each CPU feature brings, where a session hides one at a time: the share of the time without
// it that it saves.
#include <math.h>

#include "base/number.h"
#include "show/report.h"
#include "show/screen.h"

static etp_isa_feature hidden_by(const etp_ab *ab, const etp_ab_comparison *c)
{
    return etp_level_without(ab->arms[c->candidate].level);
}

// The estimate is time with it ÷ time without.
static double saves(double ratio, const etp_ab_comparison *c)
{
    return c->withheld ? (double)NAN : 1 - ratio;
}

// "−2.1 %"
static const char *percent(double share, etp_arena *arena)
{
    return etp_arena_printf(arena, "%s%.1f", etp_if(share <= -0.0005, "−"), fabs(100 * share));
}

static bool helps(const etp_ab *ab, const etp_ab_comparison *c)
{
    return hidden_by(ab, c) < ETP_HAS_COUNT && !c->withheld && c->verdict == ETP_VERDICT_SLOWER;
}

// How many features the arm without one is without: those that need it go with it.
static size_t hidden_with(const etp_ab *ab, const etp_ab_comparison *c)
{
    size_t n = 0;
    for (int f = 0; f < ETP_HAS_COUNT; f++) {
        n += etp_level_hides(ab->arms[c->candidate].level, (etp_isa_feature)f);
    }
    return n;
}

// What was hidden, so what the difference belongs to: "AVX512F and what needs it".
static const char *hidden_title(const etp_ab *ab, const etp_ab_comparison *c, etp_arena *arena)
{
    return etp_arena_printf(arena, "%s%s", etp_isa_feature_title(hidden_by(ab, c)),
                            etp_if(hidden_with(ab, c) > 1, " and what needs it"));
}

// Where a row is of several features, others are of some of the same; NULL: nowhere.
static const char *overlap(const etp_ab *ab)
{
    for (size_t i = 0; i < ab->n_comparisons; i++) {
        const etp_ab_comparison *c = &ab->comparisons[i];
        if (hidden_by(ab, c) < ETP_HAS_COUNT && hidden_with(ab, c) > 1) {
            return "Hiding a feature also hides the features that depend on it: the rows do not "
                   "add up.";
        }
    }
    return NULL;
}

static void most(const etp_ab *ab, etp_screen *s, etp_arena *arena)
{
    // The one whose arm is slowest; of those as slow within its interval the one that hides least,
    // because what the others hide beyond that changes nothing.
    const etp_ab_comparison *slowest = NULL, *best = NULL;
    for (size_t i = 0; i < ab->n_comparisons; i++) {
        const etp_ab_comparison *c = &ab->comparisons[i];
        slowest = helps(ab, c) && (!slowest || c->estimate < slowest->estimate) ? c : slowest;
    }
    for (size_t i = 0; slowest && i < ab->n_comparisons; i++) {
        const etp_ab_comparison *c = &ab->comparisons[i];
        bool as_slow = helps(ab, c) && c->estimate <= slowest->hi;
        best = as_slow && (!best || hidden_with(ab, c) < hidden_with(ab, best)) ? c : best;
    }
    bool all = true, none = true; // all have a figure; none of them excludes that nothing changes
    uint32_t blocks = 0;
    for (size_t i = 0; i < ab->n_comparisons; i++) {
        const etp_ab_comparison *c = &ab->comparisons[i];
        all = all && !c->withheld;
        none = none && c->lo <= 1 && c->hi >= 1;
        blocks = ETP_MAX(c->blocks, blocks);
    }
    const char *parts[ETP_SCREEN_PARTS] = {NULL};
    if (best) {
        parts[0] = etp_arena_printf(arena, "95 %% [%s, %s]", percent(1 - best->hi, arena),
                                    percent(1 - best->lo, arena));
        etp_screen_headline(s, ETP_GOOD,
                            etp_arena_printf(arena, "%s %s %s %% of the time%s",
                                             hidden_title(ab, best, arena),
                                             hidden_with(ab, best) > 1 ? "bring most: they save"
                                                                       : "brings most: it saves",
                                             percent(1 - best->estimate, arena),
                                             etp_if(!all, " (not all features have a figure)")),
                            parts);
    } else if (blocks < ETP_MIN_BLOCKS) {
        etp_screen_headline(s, ETP_WARN,
                            etp_arena_printf(arena, "no verdict yet: %u of at least %u blocks",
                                             blocks, (unsigned)ETP_MIN_BLOCKS),
                            parts);
    } else if (all) {
        etp_screen_headline(s, none ? ETP_INFO : ETP_WARN,
                            none ? "no feature changes the time beyond the noise"
                                 : "no feature is known to change the time",
                            parts);
    }
}

void etp_ab_feature_grid(const etp_ab *ab, etp_screen *s, etp_arena *arena)
{
    double longest = 0;
    most(ab, s, arena);
    for (size_t i = 0; i < ab->n_arms; i++) {
        longest = fmax(longest, (double)ab->arms[i].median_ns);
    }
    const etp_screen_unit unit = etp_screen_unit_among(longest, 0);
    const char *columns[ETP_SCREEN_FIGURES] = {"with", "without", "brings", "95 %"};
    etp_screen_grid(s, "What each feature brings", unit.name, columns);
    for (size_t i = 0; i < ab->n_comparisons; i++) {
        const etp_ab_comparison *c = &ab->comparisons[i];
        if (hidden_by(ab, c) == ETP_HAS_COUNT) {
            continue;
        }
        const etp_ab_arm *with = &ab->arms[c->baseline], *without = &ab->arms[c->candidate];
        double share = saves(c->estimate, c), lo = saves(c->hi, c), hi = saves(c->lo, c);
        etp_screen_row row = {.label = etp_isa_feature_title(hidden_by(ab, c)),
                              .bar = isfinite(share) ? fmax(share, 0) : 0};
        if (with->median_ns != ETP_NS_UNKNOWN && without->median_ns != ETP_NS_UNKNOWN) {
            row.figures[0] = etp_screen_in_unit(&unit, (double)with->median_ns, arena);
            row.figures[1] = etp_screen_in_unit(&unit, (double)without->median_ns, arena);
        }
        if (isfinite(share) && etp_interval_tells(c->lo, c->hi)) {
            row.figures[2] = etp_arena_printf(arena, "%s %%", percent(share, arena));
            row.figures[3] =
                etp_arena_printf(arena, "[%s, %s]", percent(lo, arena), percent(hi, arena));
        }
        if (c->withheld) {
            row.note = row.short_note = "no figure";
        }
        row.severity = etp_ab_severity_of_verdict(
            c->verdict == ETP_VERDICT_SLOWER ? ETP_VERDICT_FASTER : ETP_VERDICT_UNKNOWN);
        etp_screen_add(s, &row);
    }
    const char *words = overlap(ab);
    if (words) {
        etp_screen_remark(s, ETP_PLAIN, words);
    }
}

void etp_ab_feature_table(const etp_ab *ab, etp_report *r)
{
    static const etp_column k_columns[] = {
        {.key = "feature", .title = "feature"},
        {.key = "with_ns", .title = "with", .kind = ETP_KIND_NS},
        {.key = "without_ns", .title = "without", .kind = ETP_KIND_NS},
        {.key = "brings", .title = "brings", .kind = ETP_KIND_PERCENT},
        {.key = "lo", .title = "from", .kind = ETP_KIND_PERCENT},
        {.key = "hi", .title = "to", .kind = ETP_KIND_PERCENT},
        {.key = "why", .title = "why not"},
    };
    if (!etp_ab_tells_features(ab)) {
        return;
    }
    etp_table *t = etp_report_table(r, "features", "What each feature brings", k_columns, 7);
    for (size_t i = 0; i < ab->n_comparisons; i++) {
        const etp_ab_comparison *c = &ab->comparisons[i];
        if (hidden_by(ab, c) == ETP_HAS_COUNT) {
            continue;
        }
        bool tells = !c->withheld && etp_interval_tells(c->lo, c->hi);
        const char *open = etp_if(!tells, "no interval yet");
        ETP_ROW(t,
                etp_cell_called(etp_isa_feature_name(hidden_by(ab, c)),
                                hidden_title(ab, c, etp_report_arena(r))),
                etp_cell_ns(ab->arms[c->baseline].median_ns),
                etp_cell_ns(ab->arms[c->candidate].median_ns),
                etp_cell_double(etp_value_if(tells, 1 - c->estimate)),
                etp_cell_double(etp_value_if(tells, 1 - c->hi)),
                etp_cell_double(etp_value_if(tells, 1 - c->lo)),
                etp_cell_z(c->withheld ? etp_ab_withheld_text(c->withheld) : open));
    }
    const char *words = overlap(ab);
    if (words) {
        etp_report_note(r, ETP_PLAIN, "%s", words);
    }
}
