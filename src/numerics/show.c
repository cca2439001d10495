// SPDX-License-Identifier: Apache-2.0
// The answer as a document and as a report.
#include "document/rows.h"
#include "numerics/numerics.h"
#include "numerics/times.h"

static const char *verdict_name(etp_numerics_verdict v)
{
    static const char *const k_names[] = {"unknown", "agree", "part", "grow"};
    return k_names[v];
}

WORDS(k_verdicts, verdict_name, etp_numerics_verdict, ETP_NUMERICS_GROW + 1)

#define OF etp_numerics_row
static const etp_field k_row_rows[] = {
    FIELD("place", UINT, place, "in the order of execution"),
    FIELD("name", TEXT, name, "the operator", .flags = ETP_SET),
    FIELD("dtype", TEXT, dtype, "of its output"),
    FIELD("elements", UINT, elements, "of its output"),
    FIELD("alone", BOOL, alone,
          "true: without what leads there, on the baseline's operands in both arms"),
    FIELD("within", BOOL, within, "the tolerance of a session's outputs"),
    FIELD("same_bits", BOOL, same_bits, "byte for byte"),
    FIELD("mismatched", UINT, mismatched, "elements outside the tolerance"),
    FIELD("max_abs", RATIO, max_abs, "largest difference; null: infinite, or nothing to compare"),
    FIELD("max_rel", RATIO, max_rel, "largest difference ÷ the larger of the two"),
    FIELD("snr_db", RATIO, snr_db, "power ÷ that of the difference; null: there is no difference",
          .range = ETP_SIGNED),
    FIELD("cosine", RATIO, cosine, "of the two outputs", .range = ETP_WITHIN_1),
    FIELD("baseline_ns", RATIO, baseline_ns,
          "of an execution; null: not measured, or it ran as a part of another"),
    FIELD("candidate_ns", RATIO, candidate_ns, "likewise"),
};
static SHAPE(k_row, k_row_rows);
#undef OF
#define OF etp_numerics
static const etp_field k_rows[] = {
    FIELD("baseline", TEXT, baseline, "an arm", .flags = ETP_SET),
    FIELD("candidate", TEXT, candidate, "the other", .flags = ETP_SET),
    FIELD("verdict", WORD, verdict,
          "part: an operator makes something else of the same operands; grow: none does, small "
          "differences add up",
          .words = &k_verdicts),
    FIELD("exact", BOOL, exact, "true: the rule is the same bits, false: the tolerance"),
    FIELD("operator", TEXT, parts, "part: which; grow: the first whose output is outside"),
    FIELD("why", TEXT, why,
          "it is unknown; part of two programs: is the operator the same in both"),
    FIELD("operators", UINT, operators, "of the method, those in delegates too"),
    FIELD("not_cut", UINT, not_cut, "of them: what they make cannot be handed out"),
    FIELD("launches", UINT, launches, "that it took"),
    FIELD("waited", RATIO, waited, "for a CPU, share of the time", .range = ETP_0_TO_1),
    FIELD("untimed", TEXT, untimed, "why there are no times"),
    VECTOR("rows", OBJECT, rows, "operators that were compared", .shape = &k_row),
};
static SHAPE(k_numerics, k_rows);
#undef OF
const etp_document k_etp_numerics_document = {"etprof.numerics/1", "What ab --numerics prints",
                                              &k_numerics};

static void say(const etp_numerics *a, etp_report *r)
{
    const char *rule = a->exact ? "the same bits" : "within tolerance";
    switch (a->verdict) {
    case ETP_NUMERICS_AGREE:
        etp_report_note(r, ETP_GOOD, "the outputs of both arms are %s: no operator is at fault",
                        rule);
        return;
    case ETP_NUMERICS_PART:
        etp_report_note(r, ETP_BAD,
                        "they diverge at %s: its inputs are equal, its output is not %s%s%s",
                        a->parts, rule, etp_if(a->why, "; "), ETP_OR(a->why, ""));
        return;
    case ETP_NUMERICS_GROW:
        etp_report_note(
            r, ETP_WARN,
            "no single operator diverges: %s, the first whose output is not %s, agrees when it "
            "runs alone on the baseline's operands; small differences add up before it",
            a->parts, rule);
        return;
    default:
        etp_report_note(r, ETP_WARN, "unknown: %s%s%s", ETP_OR(a->parts, ""),
                        etp_if(a->parts, ": "), a->why);
    }
}

const etp_report *etp_numerics_report(const etp_numerics *a, etp_numerics_form form,
                                      etp_arena *arena)
{
    static const etp_column k_columns[] = {
        {.key = "place", .title = "#", .kind = ETP_KIND_INT},
        {.key = "operator", .title = "operator", .flags = ETP_COL_CODE},
        {.key = "dtype", .title = "type"},
        {.key = "verdict", .title = "output"},
        {.key = "mismatched", .title = "outside", .kind = ETP_KIND_INT},
        {.key = "elements", .title = "of", .kind = ETP_KIND_INT, .flags = ETP_COL_MINOR},
        {.key = "max_abs", .title = "largest error", .kind = ETP_KIND_DOUBLE, .decimals = 6},
        {.key = "max_rel", .title = "relative", .kind = ETP_KIND_DOUBLE, .decimals = 6},
        {.key = "snr_db", .title = "SNR", .kind = ETP_KIND_DOUBLE, .unit = "dB", .decimals = 1},
        {.key = "cosine", .title = "cosine", .kind = ETP_KIND_DOUBLE, .decimals = 6},
        {.key = "baseline_ns", .title = "baseline", .kind = ETP_KIND_NS},
        {.key = "candidate_ns", .title = "candidate", .kind = ETP_KIND_NS},
    };
    etp_report *r = etp_report_create(arena, "numerics");
    etp_report_section(r, 1, "operators", "Where the numbers part");
    say(a, r);
    etp_report_text(r, "%s against %s; %lu of %lu operators can be compared, %lu launches",
                    a->candidate, a->baseline, (unsigned long)(a->operators - a->not_cut),
                    (unsigned long)a->operators, (unsigned long)a->launches);
    etp_arm_times_say(a->untimed, a->waited, r);
    etp_table *t = a->rows.n > 0 || form == ETP_NUMERICS_TABLE
                       ? etp_report_table(r, "operators", NULL, k_columns,
                                          sizeof k_columns / sizeof *k_columns)
                       : NULL;
    for (size_t i = 0; i < a->rows.n; i++) {
        const etp_numerics_row *row = &a->rows.items[i];
        const bool apart = a->exact ? !row->same_bits : !row->within;
        const char *differ = row->within ? "within" : "outside";
        const char *state = row->same_bits ? "same bits" : differ;
        const char *name =
            etp_arena_printf(arena, "%s%s", row->name, etp_if(row->alone, ", alone"));
        ETP_ROW(t, etp_cell_u64(row->place), etp_cell_z(name), etp_cell_z(row->dtype),
                etp_cell_judged(etp_cell_z(state), apart ? ETP_BAD : ETP_PLAIN),
                etp_cell_u64(row->mismatched), etp_cell_u64(row->elements),
                etp_cell_double(row->max_abs), etp_cell_double(row->max_rel),
                etp_cell_double(row->snr_db), etp_cell_double(row->cosine),
                etp_cell_double(row->baseline_ns), etp_cell_double(row->candidate_ns));
    }
    if (form == ETP_NUMERICS_PAGE) {
        etp_error_graph_section(&a->graph, r);
    }
    return r;
}
