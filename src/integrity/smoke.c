// SPDX-License-Identifier: Apache-2.0
// The steps of a smoke test after measuring, and how they are shown.
#include "integrity/smoke.h"
#include "document/rows.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/guard.h"
#include "integrity/validate/validate.h"
#include "publish/files.h"
#include "store/store.h"

static const char *smoke_name(etp_smoke_id id)
{
    static const char *const k_names[ETP_SMOKE_IDS] = {"model",  "measure",  "evidence", "analyse",
                                                       "report", "validate", "dumps"};
    return k_names[id];
}

void etp_smoke_note(etp_smoke *s, etp_arena *arena, etp_smoke_id id, int ok, const char *fix,
                    const char *text, ...)
{
    char buf[512];
    va_list args;
    va_start(args, text);
    vsnprintf(buf, sizeof buf, text, args);
    va_end(args);
    etp_smoke_step step = {id, ok, etp_arena_strdup(arena, etp_str_from(buf)),
                           ok == 1 ? NULL : fix};
    ETP_ADD(arena, &s->steps, step);
    s->failed += ok == 0;
}

etp_status etp_smoke_failed(etp_smoke *s, etp_arena *arena, etp_smoke_id id, const char *fix,
                            const etp_error *why, etp_error *err)
{
    if (why->status == ETP_NOMEM) {
        return etp_fail_nomem(err, smoke_name(id));
    }
    etp_smoke_note(s, arena, id, 0, fix, "%s", why->msg);
    return ETP_OK;
}

// Every arm has latencies and traces.
static void note_samples(etp_smoke *s, const etp_ab *ab, etp_arena *arena)
{
    uint64_t samples = 0, dumps = 0;
    const char *without = NULL;
    for (size_t i = 0; i < ab->n_arms; i++) {
        samples += ab->arms[i].samples;
        dumps += ab->arms[i].n_dumps;
        if (ab->arms[i].samples == 0 || !ab->arms[i].profile) {
            without = ab->arms[i].name;
        }
    }
    etp_smoke_note(s, arena, ETP_SMOKE_MEASURE, without == NULL,
                   "read the .log files in the experiment's folder",
                   "%zu arms, %llu timed inferences, %llu dumps%s%s", ab->n_arms,
                   (unsigned long long)samples, (unsigned long long)dumps,
                   without ? "; nothing usable of " : "", without ? without : "");
}

static void note_evidence(etp_smoke *s, const etp_ab *ab, etp_arena *arena)
{
    size_t confirmed = 0;
    const char *contradicted = NULL;
    for (size_t i = 0; i < ab->n_arms; i++) {
        confirmed += ab->arms[i].proof.truth == ETP_CONFIRMED;
        if (ab->arms[i].proof.truth == ETP_CONTRADICTED) {
            contradicted = ab->arms[i].name;
        }
    }
    if (contradicted) {
        etp_smoke_note(s, arena, ETP_SMOKE_EVIDENCE, 0,
                       "etprof report FOLDER shows the evidence; the mask did not work",
                       "%s did not run at its level", contradicted);
        return;
    }
    // Names do not tell every level apart, so a self-test of the mask is enough; with neither it
    // cannot be told.
    bool masked = etp_run_selftest_tells(ab->selftest);
    etp_smoke_note(s, arena, ETP_SMOKE_EVIDENCE, confirmed || masked ? 1 : -1, NULL,
                   "self-test of masking %s; %zu of %zu levels proved by what ran",
                   masked         ? "passed"
                   : ab->selftest ? "cannot tell"
                                  : "not run",
                   confirmed, ab->n_arms);
}

static void note_analysis(etp_smoke *s, const etp_ab *ab, etp_arena *arena)
{
    for (size_t i = 0; i < ab->n_comparisons; i++) {
        const etp_ledger *l = &ab->ledgers[i].ledger;
        int64_t sum = 0;
        for (size_t k = 0; k < l->n; k++) {
            sum += l->items[k].delta_ns;
        }
        // Whole nanoseconds add up exactly or not at all.
        if (l->n == 0 || sum != l->delta_ns) {
            etp_smoke_note(s, arena, ETP_SMOKE_ANALYSE, 0,
                           l->n ? "report this: it is our bug" : "see the traces above",
                           l->n ? "the ledger of %s does not add up"
                                : "no ledger for %s: a trace is missing",
                           ab->arms[ab->ledgers[i].candidate].name);
            return;
        }
    }
    // Outputs that nothing was compared with (-1) are no failure.
    bool outputs = ab->correctness.ok != 0;
    etp_smoke_note(s, arena, ETP_SMOKE_ANALYSE, outputs && ab->n_operators > 0,
                   "etprof report FOLDER says which outputs differ",
                   "%zu operators in %zu categories, %zu ledgers that add up, outputs %s",
                   ab->n_operators, ab->n_categories, ab->n_comparisons,
                   ab->correctness.ok == 1 ? "alike"
                   : outputs               ? "not compared"
                                           : "differ");
}

static etp_status note_report(etp_smoke *s, const etp_ab_session *session, const char *dir,
                              etp_arena *arena, etp_error *err)
{
    static const char *const k_files[] = {"report.html", "report.md", "report.json", "metrics.json",
                                          "analysis_summary.json"};
    etp_error why = {.offset = ETP_NO_OFFSET};
    const char *missing = NULL;
    if (etp_ab_write_files(session, dir, &why) != ETP_OK) {
        return etp_smoke_failed(s, arena, ETP_SMOKE_REPORT,
                                "make room, or name a folder with --out", &why, err);
    }
    // The writer's word is not enough: what people and other programs open must lie there.
    for (size_t i = 0; i < sizeof k_files / sizeof *k_files; i++) {
        const char *path = etp_run_path(arena, dir, etp_str_from(k_files[i]));
        missing = etp_os_is_file(path) ? missing : k_files[i];
    }
    etp_smoke_note(
        s, arena, ETP_SMOKE_REPORT, missing == NULL, "report this: it is our bug", "%s%s",
        missing ? "not written: " : "report.html, report.md, report.json, tables and pictures",
        missing ? missing : "");
    return ETP_OK;
}

static etp_status note_session(etp_smoke *s, const etp_ab_session *session, const char *dir,
                               etp_arena *arena, etp_error *err)
{
    const etp_ab *ab = etp_ab_answer(session);
    note_samples(s, ab, arena);
    note_evidence(s, ab, arena);
    note_analysis(s, ab, arena);
    return note_report(s, session, dir, arena, err);
}

// The session is open meanwhile, hence a guard of its own.
static etp_status guarded_session(etp_smoke *s, const etp_ab_session *session, const char *dir,
                                  etp_arena *arena, etp_error *err)
{
    ETP_GUARDED(arena, err, "steps", note_session(s, session, dir, arena, err));
}

static etp_status analyse(etp_smoke *s, const char *dir, etp_arena *arena, etp_error *err)
{
    etp_ab_session *session = NULL;
    etp_error why = {.offset = ETP_NO_OFFSET};
    if (etp_ab_open(&dir, 1, NULL, &session, &why) != ETP_OK) {
        return etp_smoke_failed(s, arena, ETP_SMOKE_ANALYSE,
                                "etprof validate FOLDER says what is wrong with it", &why, err);
    }
    etp_status st = guarded_session(s, session, dir, arena, err);
    etp_ab_close(session);
    return st;
}

static etp_status note_validation(etp_smoke *s, const char *dir, const char *work_root,
                                  etp_arena *arena, etp_error *err)
{
    etp_validation v;
    ETP_TRY(etp_validate_path(dir, work_root, arena, &v, err));
    const char *first = "";
    // Backwards, so that the first failed check is the one that is left.
    for (size_t i = v.checks.n; i-- > 0;) {
        const etp_check *c = &v.checks.items[i];
        first = c->required && c->ok == 0
                    ? etp_arena_printf(arena, ": %s %s", c->file ? c->file : "", c->id)
                    : first;
    }
    etp_smoke_note(s, arena, ETP_SMOKE_VALIDATE, v.failed == 0,
                   "etprof validate FOLDER says what to do",
                   "%zu checks of %zu files, %zu failed%s", v.checks.n, v.files, v.failed, first);
    return ETP_OK;
}

// The dumps must tell the same without the rest of the folder.
static etp_status note_dumps(etp_smoke *s, const char *dir, etp_arena *arena, etp_error *err)
{
    etp_run run;
    etp_error why = {.offset = ETP_NO_OFFSET};
    etp_ab_session *session = NULL;
    etp_status st = etp_run_open(dir, arena, &run, &why);
    if (st == ETP_NOMEM) {
        return etp_fail_nomem(err, dir);
    }
    if (st != ETP_OK || run.dumps.n == 0) {
        etp_smoke_note(s, arena, ETP_SMOKE_DUMPS, 0, "no launch left a trace: read the .log files",
                       "no dump");
        return ETP_OK;
    }
    const char **paths = ETP_NEW_ARRAY(arena, const char *, run.dumps.n);
    for (size_t i = 0; i < run.dumps.n; i++) {
        paths[i] = etp_run_path(arena, dir, run.dumps.items[i].path);
    }
    if (etp_ab_open(paths, run.dumps.n, NULL, &session, &why) != ETP_OK) {
        return etp_smoke_failed(s, arena, ETP_SMOKE_DUMPS, "etprof validate FOLDER says which",
                                &why, err);
    }
    // Arms of dumps alone are told by the names of their folders and files.
    size_t arms = etp_ab_answer(session)->n_arms;
    etp_ab_close(session);
    etp_smoke_note(s, arena, ETP_SMOKE_DUMPS, arms == run.arms.n, "report this: it is our bug",
                   "%zu dumps read alone, %zu arms", run.dumps.n, arms);
    return ETP_OK;
}

static etp_status examine(etp_smoke *s, const char *dir, const char *work_root, etp_arena *arena,
                          etp_error *err)
{
    ETP_TRY(analyse(s, dir, arena, err));
    ETP_TRY(note_validation(s, dir, work_root, arena, err));
    return note_dumps(s, dir, arena, err);
}

etp_status etp_smoke_examine(etp_smoke *s, const char *dir, const char *work_root, etp_arena *arena,
                             etp_error *err)
{
    ETP_GUARDED(arena, err, "steps", examine(s, dir, work_root, arena, err));
}

// ---- showing ----

WORDS(k_ids, smoke_name, etp_smoke_id, ETP_SMOKE_IDS)
FIND(is_sound, etp_smoke, etp_smoke, MAKE(yes, it->failed == 0))
FIND(tenths, etp_smoke, etp_smoke, MAKE(real, round(it->seconds * 10) / 10))

#define OF etp_smoke_step
static const etp_field k_step_rows[] = {
    FIELD("id", WORD, id, "", .words = &k_ids),
    FIELD("ok", MAYBE, ok, "null: cannot be told here"),
    FIELD("text", TEXT, text, "what was found", .flags = ETP_SET),
    FIELD("fix", TEXT, fix, "what to do next"),
};
static SHAPE_ON_ONE_LINE(k_step, k_step_rows);
#undef OF
#define OF etp_smoke
static const etp_field k_rows[] = {
    MADE("ok", BOOL, is_sound, "", .flags = ETP_SET),
    MADE("seconds", NUMBER, tenths, "it took", .flags = ETP_SET),
    FIELD("folder", TEXT, folder, "run folder; null: none, or it was removed"),
    VECTOR("steps", OBJECT, steps, "in order", .shape = &k_step),
};
static SHAPE(k_smoke, k_rows);
#undef OF
const etp_document k_etp_smoke_document = {"etprof.smoke/1", "What smoke prints", &k_smoke};

void etp_smoke_json(const void *smoke, etp_json *j)
{
    etp_document_write(j, &k_etp_smoke_document, smoke, smoke);
}

// No more than the steps say: where one cannot be told, not all of them are seen to work.
static void note_answer(const etp_smoke *s, etp_report *r, etp_arena *arena)
{
    size_t unknown = 0;
    const char *names = "";
    for (size_t i = 0; i < s->steps.n; i++) {
        if (s->steps.items[i].ok < 0) {
            names = etp_arena_printf(arena, "%s%s%s", names, unknown ? ", " : "",
                                     smoke_name(s->steps.items[i].id));
            unknown++;
        }
    }
    if (s->failed) {
        etp_report_note(r, ETP_BAD, "no: %zu of %zu steps failed", s->failed, s->steps.n);
    } else if (unknown) {
        etp_report_note(r, ETP_INFO,
                        "%zu of %zu steps work, none failed; whether %s %s cannot be told here",
                        s->steps.n - unknown, s->steps.n, names, unknown == 1 ? "works" : "work");
    } else {
        etp_report_note(r, ETP_GOOD, "yes: all %zu steps work", s->steps.n);
    }
}

const etp_report *etp_smoke_report(const etp_smoke *s, etp_arena *arena)
{
    static const etp_column k_columns[] = {
        {.key = "id", .title = "step", .flags = ETP_COL_CODE},
        {.key = "ok", .title = "ok"},
        {.key = "text", .title = "found"},
        {.key = "fix", .title = "next step", .flags = ETP_COL_MINOR},
    };
    etp_report *r = etp_report_create(arena, "smoke test");
    etp_report_section(r, 1, "answer", "Does everything work here?");
    note_answer(s, r, arena);
    etp_table *t = etp_report_table(r, "steps", NULL, k_columns, 4);
    for (size_t i = 0; i < s->steps.n; i++) {
        const etp_smoke_step *step = &s->steps.items[i];
        ETP_ROW(t, etp_cell_z(smoke_name(step->id)),
                etp_cell_judged(etp_cell_z(step->ok < 0 ? "?"
                                           : step->ok   ? "yes"
                                                        : "no"),
                                step->ok == 1  ? ETP_GOOD
                                : step->ok < 0 ? ETP_PLAIN
                                               : ETP_BAD),
                etp_cell_z(step->text), etp_cell_z(step->fix));
    }
    for (size_t i = 0; i < s->steps.n; i++) {
        if (s->steps.items[i].ok == 0) {
            etp_report_note(r, ETP_BAD, "%s: %s; %s", smoke_name(s->steps.items[i].id),
                            s->steps.items[i].text, s->steps.items[i].fix);
        }
    }
    if (s->folder) {
        etp_report_text(r, "run folder %s", s->folder);
    }
    etp_report_text(
        r, "%.1f s. These few inferences test the way, not the speed: 'etprof ab' measures.",
        s->seconds);
    return r;
}
