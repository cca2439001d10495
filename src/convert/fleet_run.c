// SPDX-License-Identifier: Apache-2.0
// Rows of a run folder: what its manifest and raw rows hold, and what its analysis says.
#include <math.h>

#include "convert/document_columns.h"
#include "convert/fleet_source.h"

#define COLUMN ETP_MEMBER_COLUMN
static const etp_member_column k_arm[] = {
#include "document/ab_arm.def"
};
static const etp_member_column k_comparison[] = {
#include "document/ab_comparison.def"
};
static const etp_member_column k_fix[] = {
#include "document/ab_fix.def"
};
#define MEMBERS(b, row, list) members(b, row, list, sizeof(list) / sizeof(list)[0])

static void members(etp_batch *b, const json_t *row, const etp_member_column *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const json_t *object = list[i].outer ? etp_member_of(row, list[i].outer) : row;
        etp_member_put(b, list[i].type, etp_member_of(object, list[i].key));
    }
}

// A session's worst moment, by which a fleet finds devices that were throttled.
typedef struct thermal { // over the moments before and after the blocks
    double highest_c;
    uint64_t status, cap, cap_lowest, slept_ns;
    bool any_status, any_slept;
} thermal;

static void take_moment(thermal *h, const etp_run_moment *m)
{
    if (isfinite(m->temperature_c) && !(h->highest_c >= m->temperature_c)) {
        h->highest_c = m->temperature_c;
    }
    if (m->thermal_status != UINT64_MAX) {
        h->status = h->any_status && h->status > m->thermal_status ? h->status : m->thermal_status;
        h->any_status = true;
    }
    if (m->freq_cap_khz != UINT64_MAX && m->freq_cap_khz > 0) {
        h->cap = ETP_MAX(m->freq_cap_khz, h->cap);
        h->cap_lowest =
            h->cap_lowest == 0 || m->freq_cap_khz < h->cap_lowest ? m->freq_cap_khz : h->cap_lowest;
    }
}

static etp_status put_session(etp_fleet_rows_of *r, const json_t *report, etp_batch *b,
                              etp_error *err)
{
    const etp_run *run = &r->folder.run;
    thermal h = {.highest_c = (double)NAN};
    for (size_t i = 0; i < run->blocks.n; i++) {
        take_moment(&h, &run->blocks.items[i].start);
        take_moment(&h, &run->blocks.items[i].end);
        uint64_t slept = run->blocks.items[i].slept_ns;
        h.slept_ns += slept != UINT64_MAX ? slept : 0;
        h.any_slept = h.any_slept || slept != UINT64_MAX;
    }
    etp_table_session_keys(&r->folder, b);
    etp_batch_text(b, etp_str_from(r->source->kind));
    etp_batch_text_if(b, etp_str_from(etp_run_state_name(run->state)));
    etp_batch_text_if(b, etp_str_from(etp_run_stop_name(run->stopped)));
    etp_batch_text_if(b, run->tool_version);
    etp_batch_text_if(b, run->executorch.version);
    etp_batch_text_if(b, run->executorch.sha);
    etp_member_put(b, ETP_COLUMN_TEXT, etp_member_of(report, "grade"));
    etp_member_put(b, ETP_COLUMN_TEXT, etp_member_of(report, "grade_reason"));
    etp_batch_i64(b, (int64_t)run->arms.n);
    etp_batch_i64(b, (int64_t)run->models.n);
    etp_batch_i64(b, run->blocks_done);
    etp_batch_i64(b, (int64_t)run->lost.n);
    etp_batch_f64_if(b, h.highest_c, true);
    etp_batch_i64_if(b, h.status, h.any_status);
    // The lowest limit of the clock against the highest one seen: 1 when the system never lowered
    // it.
    etp_batch_f64_if(b, (double)h.cap_lowest / (double)ETP_MAX(h.cap, 1), h.cap > 0);
    etp_batch_i64_if(b, h.slept_ns, h.any_slept);
    const json_t *first = json_array_get(etp_member_of(report, "comparisons"), 0);
    etp_member_put(b, ETP_COLUMN_F64, etp_member_of(first, "noise_floor"));
    return etp_batch_end_row(b, err);
}

static etp_status put_arm(etp_fleet_rows_of *r, const json_t *arm, etp_batch *b, etp_error *err)
{
    const etp_run *run = &r->folder.run;
    uint32_t index = etp_member_arm(run, json_string_value(etp_member_of(arm, "name")));
    // An arm of the report that the manifest does not have: its keys would be another arm's.
    if (index == run->arms.n) {
        return ETP_OK;
    }
    etp_table_keys(&r->folder, index, b);
    etp_batch_bool(b, r->baseline ? etp_str_eqz(run->arms.items[index].name, r->baseline)
                                  : index == run->baseline);
    MEMBERS(b, arm, k_arm);
    return etp_batch_end_row(b, err);
}

static etp_status put_comparison(etp_fleet_rows_of *r, const json_t *c, etp_batch *b,
                                 etp_error *err)
{
    const etp_run *run = &r->folder.run;
    const char *baseline = json_string_value(etp_member_of(c, "baseline"));
    uint32_t index = etp_member_arm(run, json_string_value(etp_member_of(c, "candidate"))),
             base = etp_member_arm(run, baseline);
    if (index == run->arms.n || base == run->arms.n) {
        return ETP_OK;
    }
    etp_table_keys(&r->folder, index, b);
    etp_batch_text(b, etp_str_from(baseline));
    etp_batch_text_if(b, run->arms.items[base].level);
    MEMBERS(b, c, k_comparison);
    return etp_batch_end_row(b, err);
}

static etp_status put_fix(etp_fleet_rows_of *r, const json_t *fix, etp_batch *b, etp_error *err)
{
    etp_table_session_keys(&r->folder, b);
    MEMBERS(b, fix, k_fix);
    return etp_batch_end_row(b, err);
}

typedef etp_status put_item(etp_fleet_rows_of *r, const json_t *item, etp_batch *b, etp_error *err);

static etp_status put_list(etp_fleet_rows_of *r, etp_kept_rows *rows, const json_t *list,
                           put_item *put, etp_error *err)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        etp_batch *b = etp_kept_room(rows, err);
        ETP_TRY(b ? put(r, json_array_get(list, i), b, err) : ETP_NOMEM);
    }
    return ETP_OK;
}

static etp_status put_operators(etp_fleet_rows_of *r, etp_kept_rows *rows, json_t *report,
                                etp_error *err)
{
    ETP_TRY(etp_table_take_report(&r->folder, report, err));
    for (bool more = true; more;) {
        etp_batch *b = etp_kept_room(rows, err);
        ETP_TRY(b ? k_etp_operator_rows.next(&r->folder, b, &more, err) : ETP_NOMEM);
    }
    return ETP_OK;
}

static etp_status put_samples(etp_fleet_rows_of *r, etp_kept_rows *rows, etp_error *err)
{
    const etp_run *run = &r->folder.run;
    for (size_t i = 0; i < run->samples.n; i++) {
        etp_batch *b = etp_kept_room(rows, err);
        ETP_TRY(b ? etp_table_put_sample(&r->folder, &run->samples.items[i], b, err) : ETP_NOMEM);
    }
    return ETP_OK;
}

static etp_status put_all(etp_fleet_rows_of *r, etp_kept_rows *rows, json_t *report, etp_error *err)
{
    etp_batch *b = etp_kept_room(&rows[ETP_FLEET_SESSIONS], err);
    ETP_TRY(b ? put_session(r, report, b, err) : ETP_NOMEM);
    // The documents of all phases give rows; samples and operators are read once, because they tell
    // phases apart by themselves.
    const json_t *phases =
        etp_member_of(report, "phases"); // the first of them is the report itself
    const json_t *document = report;
    for (size_t i = 1; document; i++) {
        r->baseline = json_string_value(
            etp_member_of(json_array_get(etp_member_of(document, "comparisons"), 0), "baseline"));
        ETP_TRY(put_list(r, &rows[ETP_FLEET_ARMS], etp_member_of(document, "arms"), put_arm, err));
        ETP_TRY(put_list(r, &rows[ETP_FLEET_COMPARISONS], etp_member_of(document, "comparisons"),
                         put_comparison, err));
        ETP_TRY(put_list(r, &rows[ETP_FLEET_FIXES], etp_member_of(document, "next_fixes"), put_fix,
                         err));
        document = etp_member_of(json_array_get(phases, i), "document");
    }
    ETP_TRY(put_samples(r, &rows[ETP_FLEET_SAMPLES], err));
    return put_operators(r, &rows[ETP_FLEET_OPERATORS], report, err);
}

etp_status etp_fleet_put_run(etp_kept_rows *rows, const etp_fleet_source *source,
                             const etp_run *run, json_t *report, etp_error *err)
{
    etp_fleet_rows_of r;
    etp_status status = etp_fleet_begin(source, run, &r, err);
    if (status == ETP_OK) {
        r.folder.rows.path = source->path;
        status = put_all(&r, rows, report, err);
    }
    etp_fleet_end(&r);
    return status;
}
