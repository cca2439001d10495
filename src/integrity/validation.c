// SPDX-License-Identifier: Apache-2.0
// A validation: read from the Python package, made of doctor's checks, shown.
#include "integrity/validation.h"

#include "base/guard.h"
#include "base/json_read.h"
#include "document/rows.h"

#define MOST_CHECKS 1000000 // the package looks at 100,000 files at most

void etp_validate_setup(const etp_checks *checks, etp_arena *arena, etp_validation *out)
{
    *out = (etp_validation){.what = "setup"};
    for (size_t i = 0; i < checks->n; i++) {
        etp_check c = checks->items[i];
        etp_checks_add(&out->checks, arena, c);
        // Here what cannot be told counts as failed: a machine that does not say whether it can
        // measure is not set up.
        out->failed += c.required && c.ok != 1;
    }
}

// ---- showing ----

FIND(is_valid, etp_validation, etp_validation, MAKE(yes, it->failed == 0))

#define OF etp_check
static const etp_field k_check_rows[] = {
    ETP_CHECK_ID,
    FIELD("file", TEXT, file, "in the folder; null: the folder, or the machine"),
    ETP_CHECK_ROWS,
};
static SHAPE_ON_ONE_LINE(k_check, k_check_rows);
#undef OF
#define OF etp_validation
static const etp_field k_rows[] = {
    COMPUTED("ok", BOOL, is_valid, "nothing required failed", .flags = ETP_SET),
    FIELD("what", TEXT, what, "was looked at", .flags = ETP_SET),
    FIELD("failed", UINT, failed, "required checks that say no"),
    VECTOR("checks", OBJECT, checks, "by file", .shape = &k_check, .most = MOST_CHECKS),
};
static SHAPE(k_validation, k_rows);
#undef OF
const etp_document k_etp_validate_document = {"etprof.validate/1", "What validate prints",
                                              &k_validation};

etp_status etp_validation_read(etp_str text, etp_arena *arena, etp_validation *out, etp_error *err)
{
    *out = (etp_validation){0};
    return etp_object_of_text(text, &k_validation, out, arena, err);
}

const etp_report *etp_validate_report(const etp_validation *v, etp_arena *arena)
{
    static const etp_column k_columns[] = {
        {.key = "file", .title = "file", .flags = ETP_COL_CODE},
        {.key = "id", .title = "check", .flags = ETP_COL_CODE},
        {.key = "ok", .title = "ok"},
        {.key = "found", .title = "found"},
        {.key = "expected", .title = "expected"},
        {.key = "fix", .title = "fix", .flags = ETP_COL_MINOR},
    };
    etp_report *r = etp_report_create(arena, "validation");
    etp_report_section(r, 1, "answer", v->failed ? "Not valid" : "Valid");
    if (v->failed) {
        etp_report_note(r, ETP_BAD, "no: %zu of %zu checks of this %s failed", v->failed,
                        v->checks.n, v->what);
    } else {
        etp_report_note(r, ETP_GOOD, "yes: %zu checks of this %s, none failed", v->checks.n,
                        v->what);
    }
    for (size_t i = 0; i < v->checks.n; i++) {
        const etp_check *c = &v->checks.items[i];
        if (c->ok == 0) { // told twice: as a note that can be read without the table, and in it
            const char *file = ETP_OR(c->file, "");
            etp_report_note(r, c->required ? ETP_BAD : ETP_WARN,
                            "%s%s%s: found: %s, expected: %s; %s", file, etp_if(file[0], ": "),
                            c->id, c->found, c->expected, ETP_OR(c->fix, ""));
        }
    }
    etp_report_section(r, 1, "checks", "Checks");
    etp_report_section_is_detail(r);
    etp_table *t = etp_report_table(r, "checks", NULL, k_columns, 6);
    for (size_t i = 0; i < v->checks.n; i++) {
        const etp_check *c = &v->checks.items[i];
        ETP_ROW(t, etp_cell_z(c->file), etp_cell_z(c->id),
                etp_cell_answer(c->ok, c->required ? ETP_BAD : ETP_WARN), etp_cell_z(c->found),
                etp_cell_z(c->expected), etp_cell_z(c->fix));
    }
    return r;
}
