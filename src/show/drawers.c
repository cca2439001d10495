// SPDX-License-Identifier: Apache-2.0
// The drawers of the HTML page: what is known of one operator, finding or fix, under its id.

#include <math.h>
#include <string.h>

#include "base/number.h"
#include "show/graph.h"
#include "show/times.h"

enum { DRAWERS = 600, LEAST_DRAWERS = 20 }; // operators that have one: the longest, of all answers

// From what was measured to what explains it: times, feature, roof, and what is known without them.
static void operator_drawer(const etp_ab *ab, const etp_ab_operator *op, etp_report *r,
                            etp_arena *arena)
{
    etp_report_drawer(r, op->id, op->label);
    etp_keys *keys = etp_report_keys(r, NULL);
    etp_ab_time_keys(ab, op, keys, arena);
    etp_keys_add(keys, ETP_PLAIN, "category", op->delegated ? "%s, in delegate call %d" : "%s",
                 etp_category_name(op->category), op->instruction);
    if (op->engaged.eligible) {
        const char *word = etp_ab_engaged_word(op->engaged.state),
                   *reason = etp_reason_text(op->engaged.reason);
        etp_keys_add(keys, op->engaged.state == ETP_ENGAGED ? ETP_GOOD : ETP_PLAIN, "feature",
                     "%s%s%s", ETP_OR(word, "unknown"), etp_if(reason, ": "), ETP_OR(reason, ""));
    }
    for (size_t i = 0; op->roofs && i < ab->n_arms; i++) {
        uint32_t a = ab->shown[i];
        const etp_roof_place *p = &op->roofs[a];
        if (p->verdict != ETP_ROOF_UNKNOWN && op->rows[a]) {
            etp_keys_add(keys, ETP_PLAIN, "roof", "%s: %s, %.0f %% of what the device can do (%s)",
                         ab->arms[a].measured, etp_roof_verdict_name(p->verdict),
                         100 * p->efficiency, ETP_NS(p->roof_ns));
        }
    }
    etp_ab_operator_facts(ab, op, r, keys, arena);
}

// ---- findings and fixes ----

// What the sentence OF rests on: operators as a table, everything else by name.
// Evidence may be ids of operators, of ledger rows, of arms, or the name of a file: only operators
// have figures to show.
static void evidence(const etp_ab *ab, const char *of, const char *const *ids, size_t n,
                     etp_keys *keys, etp_report *r, etp_arena *arena)
{
    enum { ROWS = 12 };
    uint32_t after = ab->bottleneck_arm;
    const etp_column columns[] = {
        {.key = "operator", .title = "operator", .flags = ETP_COL_CODE},
        {.key = "before",
         .title = ab->arms[ab->baseline].measured,
         .kind = ETP_KIND_NS,
         .flags = ETP_COL_BAR},
        {.key = "after",
         .title = ab->arms[after].measured,
         .kind = ETP_KIND_NS,
         .flags = ETP_COL_BAR},
    };
    etp_strbuf others;
    etp_strbuf_init(&others, arena);
    etp_table *t = NULL;
    size_t rows = 0;
    for (size_t i = 0; i < n; i++) {
        const etp_ab_operator *op = etp_ab_operator_of(ab, ids[i]);
        if (!op || rows >= ROWS) {
            etp_strbuf_printf(&others, "%s%s", etp_if(others.len, ", "), ids[i]);
            continue;
        }
        rows++;
        // The table begins with its first row; evidence that names no operator has none.
        const size_t shown = after == ab->baseline ? 2 : 3;
        if (!t) {
            t = etp_report_table(r, etp_arena_printf(arena, "rows-%s", of), NULL, columns, shown);
        }
        const etp_cell cells[] = {etp_cell_z(op->label), etp_cell_ns(op->ns[ab->baseline]),
                                  etp_cell_ns(op->ns[after])};
        etp_table_add_row(t, cells, shown);
        etp_table_row_link(t, op->id);
    }
    if (others.len) {
        etp_keys_add(keys, ETP_PLAIN, rows ? "also" : "rests on", "%s",
                     etp_strbuf_str(&others).ptr);
    }
}

static void drawers_of(const etp_ab *ab, size_t most, etp_report *r, etp_arena *arena)
{
    for (size_t i = 0; i < ab->fixes.n; i++) {
        const etp_ab_fix *f = &ab->fixes.items[i];
        etp_report_drawer(r, f->id, f->text);
        if (f->typed) {
            etp_report_line(r, NULL, f->typed);
        }
        etp_keys *keys = etp_report_keys(r, NULL);
        if (f->advice) {
            etp_keys_add(keys, ETP_PLAIN, "do", "%s", f->advice);
        }
        etp_keys_add(keys, ETP_PLAIN, "gain", "%s", f->formula);
        evidence(ab, f->id, (const char *const *)f->evidence, f->n_evidence, keys, r, arena);
    }
    for (size_t i = 0; i < ab->judged.findings.n; i++) {
        const etp_ab_finding *f = &ab->judged.findings.items[i];
        etp_report_drawer(r, f->id, f->text);
        etp_keys *keys = etp_report_keys(r, NULL);
        if (f->formula) {
            etp_keys_add(keys, ETP_PLAIN, "how", "%s", f->formula);
        }
        evidence(ab, f->id, f->evidence, f->n_evidence, keys, r, arena);
    }
    for (size_t i = 0; i < ab->n_operators && i < most; i++) {
        operator_drawer(ab, &ab->operators[ab->by_time[i]], r, arena);
    }
}

// In the order fixes, findings, operators: where bytes run out, what was judged stays and the
// shortest operators go.
void etp_ab_drawers(const etp_ab_views *v, etp_report *r, etp_arena *arena)
{
    // Shared out evenly: a page of many answers has few of each rather than all of the first.
    size_t most = v->n ? DRAWERS / v->n : 0;
    bool left = false, any = false;
    most = ETP_MAX(most, LEAST_DRAWERS);
    for (size_t i = 0; i < v->n; i++) {
        const etp_ab *ab = v->items[i].ab;
        any = any || ab->fixes.n > 0 || ab->judged.findings.n > 0 || ab->n_operators > 0;
    }
    if (!any) { // a session that ended before its first block: no empty section
        return;
    }
    etp_report_section(r, 1, "details", "Details");
    for (size_t i = 0; i < v->n; i++) {
        etp_report_scope(r, v->items[i].scope, v->items[i].run);
        drawers_of(v->items[i].ab, most, r, arena);
        left = left || v->items[i].ab->n_operators > most;
    }
    etp_report_scope(r, NULL, NULL);
    if (left) {
        etp_report_section(r, 2, "details-left", "Other operators");
        etp_report_text(r,
                        "The %zu longest operators%s have details here, 'etprof explain' has all.",
                        most, etp_if(v->n > 1, " of each"));
    }
}
