// SPDX-License-Identifier: Apache-2.0
// The programs behind the dumps of an answer: a run folder's own copies, or the .pte that the user
// names for bare dumps.
#include "base/guard.h"
#include "compare/session.h"
#include "program/belong.h"
#include "program/call.h"

#define PROGRAM_LIMIT ((uint64_t)64 << 30)

// CALL NULL: sizes of dynamic tensors stay upper bounds.
static etp_status open_program(etp_ab_program *p, const char *path, const etp_call *call,
                               etp_error *err)
{
    ETP_TRY(etp_file_open(path, PROGRAM_LIMIT, &p->file, err));
    etp_status st = etp_program_open_call(p->file.bytes, call, &p->program, err);
    return st == ETP_OK ? ETP_OK : etp_fail_ctx(err, "%s", path);
}

static etp_status open_named(const etp_ab_session *s, etp_ab_findings *noticed, etp_ab_inputs *in,
                             etp_error *err)
{
    const etp_ab_options *options = &s->options;
    if (options->record && !options->program) {
        return etp_fail(err, ETP_USAGE,
                        "--etrecord needs --pte: the program leads from operators to the record");
    }
    if (!options->program) {
        return ETP_OK;
    }
    etp_ab_program *p = ETP_NEW(s->ab.arena, etp_ab_program);
    ETP_NEED(p, err, "program");
    in->programs.items = p;
    in->programs.n = 1;
    ETP_TRY(open_program(p, options->program, NULL, err));
    if (!options->record) {
        return ETP_OK;
    }
    etp_file file;
    ETP_TRY(etp_file_open(options->record, PROGRAM_LIMIT, &file, err));
    etp_status st = etp_etrecord_read(file.bytes, s->ab.arena, &p->record, err);
    etp_file_close(&file);
    p->has_record = st == ETP_OK;
    etp_belonging record = {0};
    if (st == ETP_OK) {
        etp_record_belongs(p->program, &p->record, s->ab.arena, &record);
        st = etp_belonging_need(&record, err);
        p->record_share = etp_belonging_share(&record);
    }
    if (st == ETP_OK && record.differs) {
        ETP_FIND(noticed, ETP_FINDING_PROGRAM_DIFFERS, ETP_SEVERITY_WARN, "program",
                 "the record agrees with the program in %u of %u points: %s", record.agreed,
                 record.compared, record.differs);
    }
    return st == ETP_OK ? ETP_OK : etp_fail_ctx(err, "%s", options->record);
}

static etp_status read_sources(etp_arena *arena, etp_ab_program *p, const char *path,
                               etp_error *err)
{
    etp_file file;
    etp_status st = etp_os_is_file(path) ? etp_file_open(path, PROGRAM_LIMIT, &file, err) : ETP_NO;
    if (st != ETP_OK) {
        return st == ETP_NOMEM ? st : ETP_OK;
    }
    etp_str text = {(const char *)file.bytes.ptr, file.bytes.len};
    // Texts are copied into the arena; lines unknown is no reason to give up the rest.
    p->has_record = etp_run_read_sources(text, arena, &p->record, NULL) == ETP_OK;
    p->record_share = 1; // of others none was kept
    etp_file_close(&file);
    return ETP_OK;
}

// What an arm called again and again. Without phases, etprof's runner gives inputs as large as they
// may be, unless somebody's files do.
static bool call_of(const etp_run *run, size_t arm, etp_call_input *room, etp_call *out)
{
    const etp_run_arm *a = &run->arms.items[arm];
    if (run->phases.n > 0) {
        const etp_run_phase *p = &run->phases.items[a->phase];
        return p->method.len > 0 && etp_call_read(p->method, p->inputs, p->start, room, out);
    }
    const char *inputs = run->settings.inputs, *method = run->settings.method;
    return etp_input_kind_of(inputs) != ETP_INPUTS_FILES && a->runner.len == 0 &&
           etp_call_read(etp_str_from(ETP_OR(method, "")), ETP_STR(""), ETP_STR(""), room, out);
}

// A folder without programs (older, or the model was too large) is explained by names alone.
etp_status etp_ab_open_kept(etp_arena *arena, const char *dir, const etp_run *run, size_t model,
                            size_t arm, etp_ab_findings *noticed, etp_ab_program *out,
                            etp_error *err)
{
    etp_call_input room[ETP_CALL_INPUTS];
    etp_call call;
    bool told = arm < run->arms.n && call_of(run, arm, room, &call);
    const char *graph = etp_run_program_name(arena, run, model, ".pte");
    const char *lines = etp_run_program_name(arena, run, model, ".sources.csv");
    graph = etp_run_path(arena, dir, etp_str_from(graph));
    lines = etp_run_path(arena, dir, etp_str_from(lines));
    ETP_TRY(etp_arena_check(arena, err, "programs")); // what is not there is passed over
    etp_error why = {.offset = ETP_NO_OFFSET};
    if (!etp_os_is_file(graph)) {
        return ETP_OK;
    }
    etp_status st = open_program(out, graph, told ? &call : NULL, &why);
    if (st == ETP_NOMEM) {
        return etp_fail_nomem(err, graph);
    }
    if (st != ETP_OK) {
        ETP_FIND(noticed, ETP_FINDING_PROGRAM_UNUSED, ETP_SEVERITY_WARN, "program",
                 "program not used: %s", why.msg);
        return ETP_OK;
    }
    return read_sources(arena, out, lines, err);
}

static etp_status open_all_kept(const etp_ab_session *s, etp_ab_findings *noticed,
                                etp_ab_inputs *in, etp_error *err)
{
    const char *dir = etp_arena_strdup(s->ab.arena, s->run.dir);
    in->programs.items = ETP_NEW_ARRAY(s->ab.arena, etp_ab_program, s->run.models.n + 1);
    ETP_NEED(in->programs.items && dir, err, "programs");
    in->programs.n = s->run.models.n;
    for (size_t i = 0; i < in->programs.n; i++) {
        ETP_TRY(etp_ab_open_kept(s->ab.arena, dir, &s->run, i, 0, noticed, &in->programs.items[i],
                                 err));
    }
    return ETP_OK;
}

etp_status etp_ab_open_programs(const etp_ab_session *s, etp_ab_findings *noticed,
                                etp_ab_inputs *in, etp_error *err)
{
    ETP_UNGUARDED(s->ab.arena, s->has_run && !s->options.program
                                   ? open_all_kept(s, noticed, in, err)
                                   : open_named(s, noticed, in, err));
}

static const etp_ab_program *kept_of(const etp_ab_session *s, uint32_t arm)
{
    uint32_t model = s->in.programs.n == 1 ? 0 : s->ab.arms[arm].model;
    return model < s->in.programs.n ? &s->in.programs.items[model] : NULL;
}

const etp_program *etp_ab_program_of(const etp_ab_session *s, uint32_t arm)
{
    const etp_ab_program *p = kept_of(s, arm);
    return p ? p->program : NULL;
}

etp_status etp_ab_join_arm(const etp_ab_session *s, uint32_t arm, etp_profile *profile,
                           const etp_trace *const *traces, etp_ab_findings *noticed, etp_error *err)
{
    const etp_ab_program *p = kept_of(s, arm);
    if (!p || !p->program) {
        return ETP_OK;
    }
    ETP_TRY(etp_profile_join(profile, traces, p->program, p->has_record ? &p->record : NULL,
                             s->ab.arena, err));
    // A run folder's programs are those that it ran.
    double identity = s->has_run && !s->options.program ? 1 : profile->facts->identity;
    for (size_t i = 0; i < profile->n_rows; i++) {
        etp_row_facts *row = &profile->facts->rows[i];
        row->confidence *= identity * (row->has_source ? p->record_share : 1);
    }
    if (profile->facts->problem) {
        ETP_FIND(noticed, ETP_FINDING_PROGRAM_UNUSED, ETP_SEVERITY_WARN, "program",
                 "%s: explained by names alone: %s", etp_ab_arm_called(&s->ab, arm),
                 profile->facts->problem);
    } else if (profile->facts->differs || (identity < 1 && profile->facts->doubt)) {
        bool little = profile->facts->differs || identity < ETP_JOIN_TELLS;
        ETP_FIND(noticed, ETP_FINDING_PROGRAM_DIFFERS,
                 little ? ETP_SEVERITY_WARN : ETP_SEVERITY_INFO, "program", "%s: %s",
                 etp_ab_arm_called(&s->ab, arm), profile->facts->doubt);
    }
    return ETP_OK;
}

etp_status etp_ab_need_program(const etp_ab_session *s, etp_error *err)
{
    const char *why = NULL, *of = NULL;
    for (uint32_t a = 0; a < s->ab.n_arms; a++) {
        const etp_profile *p = s->ab.arms[a].profile;
        if (p && p->facts && !p->facts->problem) {
            return ETP_OK;
        }
        if (p && p->facts && !why && !p->places_guessed) {
            why = p->facts->problem;
            of = etp_ab_arm_called(&s->ab, a);
        }
    }
    // One that the user names and that is of no recording is an error.
    return s->options.program && why ? etp_join_refuse(of, why, err) : ETP_OK;
}
