// SPDX-License-Identifier: Apache-2.0
// A run folder of ours as a whole: does it open, do its samples fit its plan and its dumps, and are
// raw and derived files what they were (answered by verify)?
#include <math.h>

#include "base/number.h"
#include "integrity/validate/parts.h"
#include "integrity/verify.h"

#define RAW "raw files cannot be made again: restore it from a copy, or measure again"

// Of a folder that does not open: nobody can say what else it should hold.
static void check_rows_are_there(etp_validator *v)
{
    static const char *const k_needed[] = {ETP_RUN_SAMPLES, ETP_RUN_ENVIRONMENT};
    for (size_t i = 0; i < 2; i++) {
        if (!etp_valid_find(v, k_needed[i])) {
            etp_valid_note(v, k_needed[i], "run.missing", false, "there", RAW, "absent");
        }
    }
}

// Every file that analysis would miss.
// Of a session that ended those it has hashes of, of another one the rows and the traces of its
// committed blocks (etp_run_must_hold): an interrupted session holds less.
static etp_status check_layout(etp_validator *v, const etp_run *run, etp_error *err)
{
    etp_run_names names;
    ETP_TRY(etp_run_must_hold(run, v->arena, &names, err));
    for (size_t i = 0; i < names.n; i++) {
        if (!etp_valid_find(v, names.items[i])) {
            etp_valid_note(v, names.items[i], "run.missing", false,
                           "there, as manifest.json and its launches say", RAW, "absent");
        }
    }
    return ETP_OK;
}

// Rows of whole blocks only: what the reader keeps.
static void check_samples(etp_validator *v, const etp_run *run)
{
    uint64_t timed = 0;
    for (size_t i = 0; i < run->samples.n; i++) {
        const etp_run_sample *s = &run->samples.items[i];
        timed += s->phase == ETP_PHASE_TIMED;
        if (s->duration_ns == 0) {
            etp_valid_note(v, ETP_RUN_SAMPLES, "samples.zero", false, "durations above 0",
                           "the row was edited, or the device's clock is broken: " RAW,
                           "block %u, launch %u, iteration %u", s->block, s->launch, s->iteration);
            return;
        }
    }
    bool launched = false; // a block that was cut short may hold the control and nothing else
    for (size_t i = 0; i < run->launches.n; i++) {
        launched = launched || run->launches.items[i].kind == ETP_LAUNCH_TIMED;
    }
    bool ok = timed > 0 || !launched;
    etp_valid_note(v, ETP_RUN_SAMPLES, ok ? "samples" : "samples.none", ok,
                   "timed rows of whole blocks", "the rows were removed: " RAW,
                   "%llu timed rows in %u blocks", (unsigned long long)timed, run->blocks_done);
}

// The runner times around what the dump times: a dump of another experiment or launch does not fit
// into the traced rows of its own.
static void check_dump_fits(etp_validator *v, const etp_run *run, const etp_run_dump *dump)
{
    const char *name = etp_arena_strdup(v->arena, dump->path);
    const etp_valid_file *f = etp_valid_find(v, name);
    if (!f || !f->readable) {
        return;
    }
    size_t rows = 0;
    for (size_t i = 0; i < run->samples.n; i++) {
        const etp_run_sample *s = &run->samples.items[i];
        if (s->arm != dump->arm || s->block != dump->block || s->phase != ETP_PHASE_TRACED) {
            continue;
        }
        // Traced rows of one arm and block stand in the order of the executions in their dump.
        if (rows < f->n_execute && f->execute_ns[rows] > s->duration_ns) {
            etp_valid_note(
                v, name, "dump.samples", false,
                etp_arena_printf(v->arena, "within the %llu ns of its row in samples.csv",
                                 (unsigned long long)s->duration_ns),
                "the dump is of another experiment or launch (two were swapped?): " RAW,
                "execution %zu of %llu ns", rows, (unsigned long long)f->execute_ns[rows]);
            return;
        }
        rows++;
    }
    bool ok = rows == f->n_execute;
    etp_valid_note(
        v, name, ok ? "dump.samples" : "dump.count", ok,
        etp_arena_printf(v->arena, "%zu executions, as traced rows in samples.csv", rows),
        "the dump is of another launch: " RAW, "%zu executions", f->n_execute);
}

// metrics.json's latencies are the timed rows.
// Milliseconds with decimals against nanoseconds: 1e-6 ms is the last nanosecond.
static void check_metrics(etp_validator *v, const etp_run *run)
{
    const etp_valid_file *f = etp_valid_find(v, "metrics.json");
    size_t i;
    json_t *r;
    json_array_foreach(f ? json_object_get(f->json, "results") : NULL, i, r)
    {
        const char *name = etp_valid_text(r, "experiment");
        const json_t *list = json_object_get(json_object_get(r, "metrics"), "latency_ms");
        size_t rows = 0;
        double worst = 0;
        for (size_t k = 0; k < run->samples.n; k++) {
            const etp_run_sample *s = &run->samples.items[k];
            if (s->phase != ETP_PHASE_TIMED || !name ||
                !etp_str_eqz(run->arms.items[s->arm].name, name)) {
                continue;
            }
            double ms = json_number_value(json_array_get(list, rows++));
            worst = fmax(worst, fabs(ms - (double)s->duration_ns / 1e6));
        }
        if (rows && (rows != json_array_size(list) || worst > 1e-6)) {
            etp_valid_note(v, f->name, "metrics.samples", false,
                           etp_arena_printf(v->arena, "the %zu timed rows of samples.csv", rows),
                           "one of the two was edited: 'etprof verify' says which",
                           "%s: %zu latencies, off by up to %s ms", name, json_array_size(list),
                           ETP_DIGITS(worst, 6));
            return;
        }
    }
}

static bool same_text(const json_t *a, const json_t *b, const char *key)
{
    const char *x = json_string_value(json_object_get(a, key));
    const char *y = json_string_value(json_object_get(b, key));
    return x && y && strcmp(x, y) == 0;
}

// The comparison in COMPARISONS of the same two arms as C: a name says the phase, too. NULL: none.
static const json_t *same_pair(const json_t *comparisons, const json_t *c)
{
    for (size_t i = 0; i < json_array_size(comparisons); i++) {
        const json_t *x = json_array_get(comparisons, i);
        if (same_text(x, c, "candidate") && same_text(x, c, "baseline")) {
            return x;
        }
    }
    return NULL;
}

// A session of several phases has a whole document for each later one, and the summary has the
// comparisons of all.
static const json_t *told_in(const json_t *report, const json_t *c)
{
    const json_t *found = same_pair(json_object_get(report, "comparisons"), c);
    const json_t *phases = json_object_get(report, "phases");
    for (size_t i = 0; !found && i < json_array_size(phases); i++) {
        const json_t *later = json_object_get(json_array_get(phases, i), "document");
        found = same_pair(json_object_get(later, "comparisons"), c);
    }
    return found;
}

// The headline occurs in two files.
static void check_headlines(etp_validator *v)
{
    const etp_valid_file *report = etp_valid_find(v, "report.json");
    size_t i;
    json_t *c;
    // A summary's name begins with its model's, so it is found by its schema.
    for (size_t k = 0; report && report->json && k < v->files.n; k++) {
        const etp_valid_file *f = &v->files.items[k];
        if (!f->json || f->document != ETP_VALID_PIPELINE_SUMMARY) {
            continue;
        }
        json_array_foreach(json_object_get(f->json, "comparisons"), i, c)
        {
            double a = etp_valid_number(c, "speedup.estimate");
            double b = etp_valid_number(told_in(report->json, c), "speedup.estimate");
            if (!(isnan(a) && isnan(b)) && !etp_valid_close(a, b)) {
                etp_valid_note(
                    v, f->name, "summary.speedup", false,
                    etp_arena_printf(v->arena, "%s as in report.json", ETP_DIGITS(b, 6)),
                    "one of the two was edited or is older: make both again with 'etprof report'",
                    "%s", ETP_DIGITS(a, 6));
                return;
            }
        }
    }
}

// States without a row here are no problem: as recorded, within rounding, or of a session that did
// not end.
static void take_verify(etp_validator *v, const etp_verify *answer)
{
    static const struct {
        const char *id, *expected, *fix;
    } k_states[ETP_VERIFY_STATES] = {
        [ETP_VERIFY_ALTERED] = {"hash.altered",    "the bytes that were recorded",
                                "edited after it was written: raw files from a copy, derived ones "
                                "with 'etprof report'"                                                        },
        [ETP_VERIFY_MISSING] =
            {"hash.missing",    "there, as recorded",
                                "removed or renamed: raw files from a copy, derived ones with 'etprof report'"},
        [ETP_VERIFY_ADDED] = {"hash.added",      "only files that the session recorded",
                                "the session did not write it: move it out of the folder"                     },
        [ETP_VERIFY_DIFFERS] = {"derived.differs", "what the raw files give",
                                "its hash was renewed after an edit, or another version wrote it: "
                                "'etprof report' makes it again"                                              },
    };
    for (size_t i = 0; i < answer->files.n; i++) {
        const etp_verify_file *f = &answer->files.items[i];
        // Raw files that are not there have their check already (check_layout).
        bool said = f->raw && f->state == ETP_VERIFY_MISSING && !etp_valid_find(v, f->path);
        if (k_states[f->state].id && !said) {
            etp_valid_note(v, f->path, k_states[f->state].id, false, k_states[f->state].expected,
                           k_states[f->state].fix, "%s", etp_verify_state_name(f->state));
        }
    }
    etp_valid_note(v, NULL, "verify", etp_verify_verdict(answer) != 0,
                   "raw files as recorded, derived ones as they follow",
                   "see the files above; 'etprof verify' lists all", "%zu files, session %s",
                   answer->files.n, answer->session);
}

etp_status etp_valid_run(etp_validator *v, const char *work_root, etp_error *err)
{
    etp_run run;
    etp_error why = {.offset = ETP_NO_OFFSET};
    etp_status st = etp_run_open(v->root, v->arena, &run, &why);
    if (st == ETP_NOMEM) {
        return etp_fail_nomem(err, v->root);
    }
    if (st != ETP_OK) {
        etp_valid_note(v, NULL, "run.open", false, "a run folder that can be read", RAW, "%s",
                       why.msg);
        check_rows_are_there(v);
        return ETP_OK;
    }
    // From the cheap to the dear: verify hashes every file and computes all derived ones again.
    ETP_TRY(check_layout(v, &run, err));
    check_samples(v, &run);
    for (size_t i = 0; i < run.dumps.n; i++) {
        check_dump_fits(v, &run, &run.dumps.items[i]);
    }
    check_metrics(v, &run);
    check_headlines(v);
    etp_verify answer;
    st = etp_verify_folder(v->root, work_root, v->arena, &answer, &why);
    if (st == ETP_NOMEM) {
        return etp_fail_nomem(err, v->root);
    }
    if (st == ETP_OK) {
        take_verify(v, &answer);
    } else {
        etp_valid_note(v, NULL, "verify", false, "numbers that follow from the raw files", RAW,
                       "%s", why.msg);
    }
    return ETP_OK;
}
