// SPDX-License-Identifier: Apache-2.0
// The table of two precisions as a document and as a report.
#include <math.h>

#include "document/rows.h"
#include "numerics/precision.h"
#include "numerics/times.h"

#define OF etp_precision_row
static const etp_field k_row_rows[] = {
    FIELD("place", UINT, place, "in the baseline's order of execution"),
    FIELD("name", TEXT, name, "the operator, in the baseline", .flags = ETP_SET),
    FIELD("partner", TEXT, partner, "in the candidate", .flags = ETP_SET),
    FIELD("module", TEXT, module, "of the model; null: no record beside the baseline tells"),
    FIELD("dtype", TEXT, dtype, "of its result in the candidate"),
    FIELD("weights", TEXT, weights, "of the candidate; null: it has none"),
    FIELD("why", TEXT, why, "nothing is said of its numbers"),
    FIELD("elements", UINT, elements, "of its result; 0: they were not compared"),
    FIELD("max_abs", RATIO, max_abs, "largest difference, everything before it included"),
    FIELD("max_rel", RATIO, max_rel,
          "largest difference ÷ the larger of the two, of elements above a tenth of the largest"),
    FIELD("snr_db", RATIO, snr_db,
          "power ÷ that of the difference, measured; null: there is no difference",
          .range = ETP_SIGNED),
    FIELD("cosine", RATIO, cosine, "of the two results", .range = ETP_WITHIN_1),
    FIELD("exact_operands", BOOL, exact_operands, "it takes inputs of the method alone"),
    FIELD("operands_db", RATIO, operands_db, "SNR of its operands; null: exact, or not known",
          .range = ETP_SIGNED),
    FIELD("loss_db", RATIO, loss_db, "operands_db − snr_db: what it loses; null likewise",
          .range = ETP_SIGNED),
    FIELD("noise", RATIO, noise,
          "that it adds: power of the difference ÷ that of its result; null: not known"),
    FIELD("share", RATIO, share, "of the noise of the whole outputs that began here, estimated",
          .range = ETP_0_TO_1),
    FIELD("baseline_ns", RATIO, baseline_ns, "of an execution; null: shorter than its clock tells"),
    FIELD("candidate_ns", RATIO, candidate_ns, "likewise"),
    FIELD("speedup", RATIO, speedup, "baseline ÷ candidate"),
};
static SHAPE(k_row, k_row_rows);
#undef OF
#define OF etp_precision_keep
static const etp_field k_keep_rows[] = {
    FIELD("operators", UINT, operators, "that stay: this one and those above it"),
    FIELD("name", TEXT, name, "of this one, in the baseline", .flags = ETP_SET),
    FIELD("module", TEXT, module, "of the model"),
    FIELD("share", RATIO, share, "of the noise of the whole outputs that began here, estimated",
          .range = ETP_0_TO_1),
    FIELD("snr_db", RATIO, snr_db, "of the whole outputs, estimated", .range = ETP_SIGNED),
    FIELD("ns", RATIO, ns, "by which an execution gets longer; converts around them come on top",
          .range = ETP_SIGNED),
};
static SHAPE(k_keep, k_keep_rows);
#undef OF
#define OF etp_precision
static const etp_field k_rows[] = {
    FIELD("baseline", TEXT, baseline, "an arm, taken for exact", .flags = ETP_SET),
    FIELD("candidate", TEXT, candidate, "the other", .flags = ETP_SET),
    FIELD("eager", BOOL, eager, "the baseline is PyTorch, which runs the graph that was lowered"),
    FIELD("snr_db", RATIO, snr_db,
          "of the whole outputs, of the worst of them; null: no difference", .range = ETP_SIGNED),
    FIELD("max_abs", RATIO, max_abs, "likewise"),
    FIELD("max_rel", RATIO, max_rel, "likewise"),
    FIELD("cosine", RATIO, cosine, "likewise", .range = ETP_WITHIN_1),
    FIELD("baseline_ns", RATIO, baseline_ns, "of a traced execution"),
    FIELD("candidate_ns", RATIO, candidate_ns, "likewise"),
    FIELD("waited", RATIO, waited, "for a CPU, share of the time", .range = ETP_0_TO_1),
    FIELD("untimed", TEXT, untimed, "why there are no times"),
    FIELD("multiplying", UINT, multiplying, "operators of the baseline that multiply matrices"),
    FIELD("unpaired", UINT, unpaired, "of them: without a certain partner in the candidate"),
    FIELD("first_unpaired", TEXT, first_unpaired, "the first of those"),
    FIELD("launches", UINT, launches, "that it took"),
    FIELD("command", TEXT, command,
          "that makes and measures a program in which operators of `keep` with half of the noise "
          "stay as they are in the baseline"),
    FIELD("no_command", TEXT, no_command, "why no command is given"),
    VECTOR("rows", OBJECT, rows, "operators that multiply matrices", .shape = &k_row),
    VECTOR("keep", OBJECT, keep,
           "what would be gained where operators stay, the largest share first", .shape = &k_keep),
};
static SHAPE(k_precision, k_rows);
#undef OF
const etp_document k_etp_precision_document = {
    "etprof.precision/1", "What ab --numerics prints of two precisions", &k_precision};

static void show_rows(const etp_precision *p, etp_report *r)
{
    static const etp_column k_columns[] = {
        {.key = "place", .title = "#", .kind = ETP_KIND_INT, .flags = ETP_COL_MINOR},
        {.key = "operator", .title = "operator", .flags = ETP_COL_CODE},
        {.key = "module", .title = "module", .flags = ETP_COL_CODE},
        {.key = "dtype", .title = "type"},
        {.key = "weights", .title = "weights", .flags = ETP_COL_MINOR},
        {.key = "operands_db",
         .title = "SNR before",
         .kind = ETP_KIND_DOUBLE,
         .unit = "dB",
         .decimals = 1},
        {.key = "snr_db", .title = "SNR", .kind = ETP_KIND_DOUBLE, .unit = "dB", .decimals = 1},
        {.key = "loss_db", .title = "loss", .kind = ETP_KIND_DOUBLE, .unit = "dB", .decimals = 1},
        {.key = "share", .title = "of the noise", .kind = ETP_KIND_PERCENT},
        {.key = "max_abs",
         .title = "largest error",
         .kind = ETP_KIND_DOUBLE,
         .decimals = 6,
         .flags = ETP_COL_MINOR},
        {.key = "max_rel",
         .title = "relative",
         .kind = ETP_KIND_DOUBLE,
         .decimals = 6,
         .flags = ETP_COL_MINOR},
        {.key = "cosine",
         .title = "cosine",
         .kind = ETP_KIND_DOUBLE,
         .decimals = 6,
         .flags = ETP_COL_MINOR},
        {.key = "baseline_ns", .title = "baseline", .kind = ETP_KIND_NS},
        {.key = "candidate_ns", .title = "candidate", .kind = ETP_KIND_NS},
        {.key = "speedup", .title = "speedup", .kind = ETP_KIND_RATIO},
        {.key = "why", .title = "why", .flags = ETP_COL_MINOR},
    };
    etp_table *t =
        etp_report_table(r, "operators", NULL, k_columns, sizeof k_columns / sizeof *k_columns);
    for (size_t i = 0; i < p->rows.n; i++) {
        const etp_precision_row *x = &p->rows.items[i];
        ETP_ROW(t, etp_cell_u64(x->place), etp_cell_z(x->name), etp_cell_z(x->module),
                etp_cell_z(x->dtype), etp_cell_z(x->weights), etp_cell_double(x->operands_db),
                etp_cell_double(x->snr_db), etp_cell_double(x->loss_db), etp_cell_double(x->share),
                etp_cell_double(x->max_abs), etp_cell_double(x->max_rel),
                etp_cell_double(x->cosine), etp_cell_double(x->baseline_ns),
                etp_cell_double(x->candidate_ns), etp_cell_double(x->speedup), etp_cell_z(x->why));
    }
}

static void show_keep(const etp_precision *p, etp_report *r)
{
    static const etp_column k_columns[] = {
        {.key = "operators", .title = "stay", .kind = ETP_KIND_INT},
        {.key = "operator", .title = "the last of them", .flags = ETP_COL_CODE},
        {.key = "module", .title = "module", .flags = ETP_COL_CODE},
        {.key = "share", .title = "of the noise", .kind = ETP_KIND_PERCENT},
        {.key = "snr_db",
         .title = "SNR, estimated",
         .kind = ETP_KIND_DOUBLE,
         .unit = "dB",
         .decimals = 1},
        {.key = "ns", .title = "longer by", .kind = ETP_KIND_NS},
    };
    etp_report_section(r, 1, "keep",
                       "Keep the operators that lose most as they are in the baseline");
    etp_report_text(r,
                    "Measured: SNR of the outputs %s dB. The rest is estimated: of the "
                    "noise at the end the part that began in these operators is taken away, which "
                    "may be off by "
                    "some dB; converts around them are not in their times.",
                    ETP_DIGITS(p->snr_db, 3));
    etp_table *t =
        etp_report_table(r, "keep", NULL, k_columns, sizeof k_columns / sizeof *k_columns);
    for (size_t i = 0; i < p->keep.n; i++) {
        const etp_precision_keep *x = &p->keep.items[i];
        ETP_ROW(t, etp_cell_u64(x->operators), etp_cell_z(x->name), etp_cell_z(x->module),
                etp_cell_double(x->share), etp_cell_double(x->snr_db), etp_cell_double(x->ns));
    }
    if (p->command) {
        etp_report_code(r, "makes and measures such a program", etp_str_from(p->command));
    } else if (p->no_command) {
        etp_report_text(r, "no command makes such a program: %s", p->no_command);
    }
}

const etp_report *etp_precision_report(const etp_precision *p, bool page, etp_arena *arena)
{
    etp_report *r = etp_report_create(arena, "precision");
    etp_report_section(r, 1, "operators", "What each operator loses, and gains");
    if (isfinite(p->snr_db)) {
        etp_report_note(r, ETP_PLAIN, "the outputs of %s have an SNR of %s dB against %s",
                        p->candidate, ETP_DIGITS(p->snr_db, 3), p->baseline);
    } else {
        etp_report_note(r, ETP_GOOD, "the outputs of both programs are the same numbers");
    }
    if (p->unpaired > 0) {
        etp_report_note(r, ETP_WARN,
                        "%lu of %lu operators that multiply have no certain partner in the other "
                        "program and are left out, the first is %s",
                        (unsigned long)p->unpaired, (unsigned long)p->multiplying,
                        p->first_unpaired);
    }
    etp_arm_times_say(p->untimed, p->waited, r);
    etp_report_text(r, "%s against %s, %lu launches", p->candidate, p->baseline,
                    (unsigned long)p->launches);
    if (p->rows.n > 0) {
        show_rows(p, r);
    }
    if (p->keep.n > 0) {
        show_keep(p, r);
    }
    if (page) {
        etp_error_graph_section(&p->graph, r);
    }
    return r;
}
