// SPDX-License-Identifier: Apache-2.0
// Tables of an ab report with columns for each arm: those columns, and their other form: with many
// arms the table grows downwards, a row for each arm, so that none is left out.
#include <math.h>
#include <string.h>

#include "show/report.h"

// ---- columns of arms and comparisons ----

etp_column etp_ab_time_column(const etp_ab *ab, const etp_ab_arm *arm)
{
    return (etp_column){.key = etp_arena_printf(ab->arena, "%s_ns", arm->name),
                        .title = arm->measured,
                        .kind = ETP_KIND_NS};
}

etp_column etp_ab_share_column(const etp_ab *ab, const etp_ab_arm *arm)
{
    return (etp_column){.key = etp_arena_printf(ab->arena, "%s_share", arm->name),
                        .title = "share",
                        .kind = ETP_KIND_PERCENT};
}

etp_column etp_ab_speedup_column(const etp_ab *ab, size_t at)
{
    etp_column column = {.key = "speedup", .title = "speedup", .kind = ETP_KIND_RATIO};
    if (ab->n_comparisons > 1) {
        const etp_ab_arm *arm = &ab->arms[ab->comparisons[at].candidate];
        column.key = etp_arena_printf(ab->arena, "%s_speedup", arm->name);
        column.title = etp_arena_printf(ab->arena, "speedup of %s", arm->measured);
    }
    return column;
}

void etp_ab_operator_tail(const etp_ab *ab, etp_column *out)
{
    const unsigned roof = ab->roofs ? 0 : ETP_COL_ABSENT;
    bool engaged = false;
    for (size_t i = 0; i < ab->n_operators; i++) {
        engaged = engaged || ab->operators[i].engaged.state != ETP_ENGAGEMENT_UNKNOWN;
    }
    const etp_column tail[ETP_AB_OPERATOR_TAIL] = {
        {.key = "t_roof_ns",
         .title = "roof",
         .kind = ETP_KIND_NS,
         .flags = ETP_COL_MINOR | roof,
         .help = "least time that its work can take on this device"},
        {.key = "of_roof",
         .title = "of roof",
         .kind = ETP_KIND_PERCENT,
         .flags = roof,
         .help = "least time that its work can take on this device, of the time it took"},
        {.key = "why", .title = "why", .help = ETP_AB_WHY_HELP},
        {.key = "engaged", .title = "feature", .flags = engaged ? 0 : ETP_COL_MINOR},
        {.key = "name_now", .title = "runs as", .flags = ETP_COL_CODE | ETP_COL_MINOR},
        {.key = "reason", .title = "feature reason", .flags = ETP_COL_MINOR},
    };
    memcpy(out, tail, sizeof tail);
}

void etp_ab_operator_tail_cells(const etp_ab *ab, const etp_ab_operator *op, uint32_t arm,
                                etp_cell *out)
{
    const etp_roof_place *p = op->roofs ? &op->roofs[arm] : NULL;
    bool placed = p && p->verdict != ETP_ROOF_UNKNOWN;
    bool judged = arm == ab->bottleneck_arm; // the others' features were not looked for
    bool engaged = op->engaged.state == ETP_ENGAGED;
    const etp_cell tail[ETP_AB_OPERATOR_TAIL] = {
        etp_cell_rounded_ns(placed ? p->roof_ns : (double)NAN),
        etp_cell_double(p ? p->efficiency : (double)NAN),
        etp_cell_z(etp_z_if(judged, etp_why_name(op->why))),
        etp_cell_judged(etp_cell_z(etp_z_if(judged, etp_ab_engaged_word(op->engaged.state))),
                        engaged ? ETP_GOOD : ETP_PLAIN),
        etp_cell_if(op->names[arm].len, etp_cell_str(op->names[arm])),
        etp_cell_z(etp_z_if(judged, etp_reason_text(op->engaged.reason))),
    };
    memcpy(out, tail, sizeof tail);
}

// ---- a row for each arm ----

// The comparison of ARM with the baseline; n_comparisons when there is none to be told.
static size_t against_baseline(const etp_ab *ab, uint32_t arm)
{
    size_t i = ab->emulated ? ab->n_comparisons : 0;
    while (i < ab->n_comparisons &&
           (ab->comparisons[i].candidate != arm || ab->comparisons[i].baseline != ab->baseline)) {
        i++;
    }
    return i;
}

void etp_ab_long_category_table(const etp_ab *ab, etp_report *r)
{
    static const etp_column k_columns[] = {
        {.key = "category", .title = "category"},
        {.key = "five", .title = "group", .flags = ETP_COL_MINOR},
        {.key = "arm", .title = "arm", .flags = ETP_COL_CODE},
        {.key = "ns", .title = "time", .kind = ETP_KIND_NS},
        {.key = "share", .title = "share", .kind = ETP_KIND_PERCENT},
        {.key = "speedup", .title = "speedup", .kind = ETP_KIND_RATIO},
        {.key = "ceiling",
         .title = "if it took none",
         .kind = ETP_KIND_RATIO,
         .flags = ETP_COL_MINOR},
    };
    etp_table *t = etp_report_table(r, "categories", "Operator Category Breakdown", k_columns, 7);
    for (size_t k = 0; k < ab->n_categories; k++) {
        const etp_ab_category *c = &ab->categories[k];
        for (size_t i = 0; i < ab->n_arms; i++) {
            uint32_t a = ab->shown[i];
            size_t at = against_baseline(ab, a);
            ETP_ROW(t,
                    etp_cell_colored(etp_cell_z(etp_category_name(c->category)),
                                     etp_ab_category_color(c->category)),
                    etp_cell_z(etp_kit_category_name(etp_kit_category_of(c->category))),
                    etp_cell_called(ab->arms[a].name, ab->arms[a].measured), etp_cell_ns(c->ns[a]),
                    etp_cell_double(c->share[a]),
                    at < ab->n_comparisons ? etp_cell_gain(c->speedup[at], c->lo[at], c->hi[at])
                                           : etp_cell_missing(),
                    ab->emulated ? etp_cell_missing() : etp_cell_double(c->ceiling[a]));
        }
    }
}

void etp_ab_long_operator_table(const etp_ab *ab, etp_report *r)
{
    enum { HEAD = 6, LEVEL = HEAD + ETP_AB_OPERATOR_TAIL };
    etp_column columns[LEVEL + 1] = {
        {.key = "id", .title = "id", .flags = ETP_COL_MINOR},
        {.key = "label", .title = "operator", .flags = ETP_COL_CODE},
        {.key = "category", .title = "category", .flags = ETP_COL_MINOR},
        {.key = "arm", .title = "arm", .flags = ETP_COL_CODE},
        {.key = "ns", .title = "time", .kind = ETP_KIND_NS, .flags = ETP_COL_BAR},
        {.key = "speedup", .title = "speedup", .kind = ETP_KIND_RATIO},
        [LEVEL] = {.key = "level", // beside other names
                   .title = "ran at",
         .flags = ab->misnamed ? ETP_COL_MINOR : ETP_COL_ABSENT},
    };
    etp_ab_operator_tail(ab, columns + HEAD);
    etp_table *t = etp_report_table(r, ETP_AB_TABLE_OPERATORS, NULL, columns, LEVEL + 1);
    // Fifteen operators, as in the wide table.
    etp_table_limit(t, 15 * ab->n_arms);
    for (size_t i = 0; i < ab->n_operators; i++) {
        const etp_ab_operator *op = &ab->operators[ab->by_time[i]];
        for (size_t k = 0; k < ab->n_arms; k++) {
            uint32_t a = ab->shown[k];
            size_t against = against_baseline(ab, a);
            bool told = against < ab->n_comparisons;
            etp_cell cells[LEVEL + 1] = {etp_cell_z(op->id),
                                         etp_cell_z(op->label),
                                         etp_cell_z(etp_category_name(op->category)),
                                         etp_cell_called(ab->arms[a].name, ab->arms[a].measured),
                                         etp_cell_ns(op->ns[a]),
                                         etp_cell_double(told ? op->speedup[against] : (double)NAN),
                                         [LEVEL] = etp_cell_z(ab->arms[a].level_name)};
            etp_ab_operator_tail_cells(ab, op, a, cells + HEAD);
            etp_table_add_row(t, cells, LEVEL + 1);
        }
    }
}

void etp_ab_long_name_table(const etp_ab *ab, etp_report *r)
{
    static const etp_column k_columns[] = {
        {.key = "id", .title = "id"},
        {.key = "arm", .title = "arm", .flags = ETP_COL_CODE},
        {.key = "name", .title = "name", .flags = ETP_COL_CODE},
        {.key = "engaged", .title = "feature"},
        {.key = "reason", .title = "why"},
    };
    etp_table *t = etp_report_table(r, "names", NULL, k_columns, 5);
    for (size_t i = 0; i < ab->n_operators; i++) {
        const etp_ab_operator *op = &ab->operators[i];
        for (size_t k = 0; k < ab->n_arms; k++) {
            uint32_t a = ab->shown[k];
            ETP_ROW(
                t, etp_cell_z(op->id), etp_cell_called(ab->arms[a].name, ab->arms[a].measured),
                etp_cell_if(op->names[a].len, etp_cell_str(op->names[a])),
                etp_cell_z(
                    etp_z_if(a == ab->bottleneck_arm, etp_ab_engaged_word(op->engaged.state))),
                etp_cell_z(etp_z_if(a == ab->bottleneck_arm, etp_reason_text(op->engaged.reason))));
        }
    }
}
