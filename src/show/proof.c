// SPDX-License-Identifier: Apache-2.0
// What ran where: operator names of all arms side by side, without times.
#include <string.h>

#include "show/report.h"

enum { MAX_ARMS = 6 }; // with more of them each gets a row: tables_long.c

// Counters (" #3") number the operators of a call and are no part of what ran.
static etp_str base_name(etp_str name)
{
    etp_op_name parsed;
    etp_op_parse(name, &parsed);
    return parsed.base;
}

static bool same_names(const etp_ab *ab, const etp_ab_operator *x, const etp_ab_operator *y)
{
    for (size_t a = 0; a < ab->n_arms; a++) {
        if (!etp_str_eq(base_name(x->names[a]), base_name(y->names[a]))) {
            return false;
        }
    }
    return true;
}

static bool differs(const etp_ab *ab, const etp_ab_operator *op)
{
    for (size_t a = 1; a < ab->n_arms; a++) {
        if (!etp_str_eq(base_name(op->names[a]), base_name(op->names[0]))) {
            return true;
        }
    }
    return false;
}

// One line per set of arms that know the operator by the same name.
static void add_names(const etp_ab *ab, const etp_ab_operator *op, size_t count, etp_keys *keys,
                      etp_arena *arena)
{
    char key[40];
    snprintf(key, sizeof key, "%zu operator%s", count, etp_if(count != 1, "s"));
    for (size_t i = 0; i < ab->n_arms; i++) {
        uint32_t a = ab->shown[i];
        etp_str name = base_name(op->names[a]);
        bool said = false;
        for (size_t k = 0; k < i; k++) {
            said = said || etp_str_eq(base_name(op->names[ab->shown[k]]), name);
        }
        if (said) {
            continue;
        }
        etp_strbuf arms;
        etp_strbuf_init(&arms, arena);
        for (size_t k = i; k < ab->n_arms; k++) {
            if (etp_str_eq(base_name(op->names[ab->shown[k]]), name)) {
                etp_strbuf_printf(&arms, "%s%s", etp_if(arms.len, ", "),
                                  ab->arms[ab->shown[k]].measured);
            }
        }
        etp_keys_add(keys, ETP_PLAIN, etp_if(!i, key), "%s: %.*s", etp_strbuf_str(&arms).ptr,
                     ETP_STR_ARG(name.len ? name : ETP_STR("(no such operator)")));
    }
}

static void name_table(const etp_ab *ab, etp_report *r)
{
    if (ab->n_arms > MAX_ARMS) {
        etp_ab_long_name_table(ab, r);
        return;
    }
    etp_column columns[MAX_ARMS + 3] = {
        {.key = "id", .title = "id"}
    };
    size_t arms = ab->n_arms;
    for (size_t i = 0; i < arms; i++) {
        const etp_ab_arm *arm = &ab->arms[ab->shown[i]];
        columns[1 + i] =
            (etp_column){.key = arm->name, .title = arm->measured, .flags = ETP_COL_CODE};
    }
    columns[1 + arms] = (etp_column){.key = "engaged", .title = "feature"};
    columns[2 + arms] = (etp_column){.key = "reason", .title = "why"};
    etp_table *t = etp_report_table(r, "names", NULL, columns, arms + 3);
    for (size_t i = 0; i < ab->n_operators; i++) {
        const etp_ab_operator *op = &ab->operators[i];
        etp_cell cells[MAX_ARMS + 3] = {etp_cell_z(op->id)};
        for (size_t a = 0; a < arms; a++) {
            etp_str name = op->names[ab->shown[a]];
            cells[1 + a] = etp_cell_if(name.len, etp_cell_str(name));
        }
        cells[1 + arms] = etp_cell_z(etp_ab_engaged_word(op->engaged.state));
        cells[2 + arms] = etp_cell_z(etp_reason_text(op->engaged.reason));
        etp_table_add_row(t, cells, arms + 3);
    }
}

const etp_report *etp_ab_proof_report(const etp_ab *ab, etp_arena *arena)
{
    etp_report *r = etp_report_create(arena, ab->title);
    etp_report_subtitle(r, "what ran where%s", etp_if(ab->emulated, " (emulated: no times)"));
    etp_report_section(r, 1, "proof", "Proof per arm");
    etp_ab_proof_keys(ab, etp_report_keys(r, NULL), arena);
    size_t same = 0;
    etp_report_section(r, 1, "changed", "Operators that changed with the level");
    etp_keys *keys = etp_report_keys(r, NULL);
    for (size_t i = 0; i < ab->n_operators; i++) {
        const etp_ab_operator *op = &ab->operators[i];
        if (!differs(ab, op)) {
            same++;
            continue;
        }
        size_t count = 0;
        bool first = true;
        for (size_t k = 0; k < ab->n_operators; k++) {
            bool equal = same_names(ab, op, &ab->operators[k]);
            count += equal;
            // A set of names that an earlier operator had is shown with that one, and counted
            // there.
            first = first && !(equal && k < i);
        }
        if (first) {
            add_names(ab, op, count, keys, arena);
        }
    }
    etp_report_text(r, "%zu other operators have the same name in every arm.", same);
    etp_report_section(r, 1, "names-section", "Every operator");
    etp_report_section_is_detail(r);
    name_table(ab, r);
    return r;
}
