// SPDX-License-Identifier: Apache-2.0
// Begins and ends a session: the folder's head, files on the device, self-test; then blocks.c.

#include <etprof/version.h>

#include "measure/cores.h"
#include "measure/environment.h"
#include "measure/foreign.h"
#include "measure/selftest.h"
#include "measure/state.h"
#include "program/belong.h"

static etp_status describe(etp_session *s, etp_error *err)
{
    const etp_session_plan *p = s->plan;
    etp_run *r = &s->run;
    const etp_bundle *b = &s->device->bundle;
    char now[24];
    const char *at = etp_arena_printf(&s->arena, "%s", etp_os_utc_now(now));
    r->tool_version = ETP_STR(ETP_VERSION);
    r->generated_at = etp_str_from(at);
    r->platform = etp_str_from(etp_platform_name(s->device->info.platform));
    r->config = etp_str_from(s->plan->config);
    r->command = etp_str_from(s->plan->command);
    bool known = b->sdk_version[0] != '\0';
    r->executorch.version = etp_str_from(known ? b->sdk_version : p->cpu.executorch);
    r->executorch.sha = etp_str_from(b->sdk_sha);
    r->executorch.present = r->executorch.version.len > 0;
    r->device_spec = etp_str_from(s->device->info.spec);
    r->device_cpu = etp_str_from(p->cpu.text);
    r->emulated = s->device->info.emulated;
    r->settings = p->settings;
    r->hashes = p->hashes;
    r->control_blocks = p->control_blocks;
    r->baseline = p->baseline;
    for (size_t i = 0; i < p->n_models; i++) {
        ETP_ADD(&s->arena, &r->models, p->models[i]);
    }
    for (uint32_t i = 0; i < p->n_phases; i++) {
        ETP_ADD(&s->arena, &r->phases, p->phases[i].run);
    }
    for (uint32_t i = 0; i < p->n_builds; i++) {
        ETP_ADD(&s->arena, &r->builds, p->builds[i]);
    }
    for (uint32_t i = 0; i < p->n_arms; i++) {
        const etp_foreign *foreign = p->arms[i].foreign;
        etp_run_arm arm = {.name = etp_str_from(p->arms[i].name),
                           .level = etp_str_from(p->arms[i].level_name),
                           .threads = p->arms[i].threads,
                           .model = p->arms[i].model,
                           .phase = p->arms[i].phase,
                           .side = p->arms[i].side,
                           .cache = p->arms[i].cache,
                           .runner_sha256 = etp_str_from(etp_session_runner_hash(s, i)),
                           .runner = etp_str_from(foreign ? foreign->path : NULL),
                           .build = etp_str_from(foreign ? foreign->summary : NULL),
                           .prefix = etp_str_from(p->arms[i].prefix),
                           .emulated = s->device->info.emulated};
        ETP_ADD(&s->arena, &r->arms, arm);
        // Made now, so that a folder that cannot be written is known before anything was launched.
        ETP_TRY(etp_os_mkdirs_below(s->plan->dir, p->arms[i].name, err));
    }
    for (size_t i = 0; i < p->n_runner_notes; i++) {
        etp_session_note(s, p->runner_notes[i].note, p->runner_notes[i].text);
    }
    ETP_TRY(etp_environment_describe(s->device, &s->arena, r, err));
    etp_environment_counters(&p->cpu, &s->arena, r);
    ETP_TRY(etp_arena_check(&s->arena, err, "the session")); // each arm has a place in RUN
    etp_cores_units(s);
    const char *crowded = etp_cores_crowded(s);
    if (crowded) {
        etp_session_say(s, "%s: they will wait for CPU time; use fewer (--threads)", crowded);
    }
    return ETP_OK;
}

static etp_status push(etp_session *s, const char *local, const char **out, etp_error *err)
{
    ETP_TRY(s->device->ops->push(s->device, local, &s->arena, out, err));
    etp_session_watch(s, local, *out);
    return ETP_OK;
}

// Once for the session. A model or library that several arms share is sent once: devices know files
// by their hash.
static etp_status push_files(etp_session *s, etp_error *err)
{
    const etp_session_plan *p = s->plan;
    for (uint32_t i = 0; i < p->n_arms; i++) {
        const etp_planned_arm *arm = &p->arms[i];
        etp_arm_state *there = &s->arms[i];
        ETP_TRY(push(s, p->model_paths[arm->model], &there->model, err));
        // One raw file per input, in the form that the runner takes.
        const etp_inputs *in = &p->inputs[arm->model];
        there->inputs = etp_if(!in->files, in->spec);
        for (size_t k = 0; in->files && k < in->n; k++) {
            const char *file = NULL;
            ETP_TRY(push(s, in->files[k], &file, err));
            there->inputs =
                etp_arena_printf(&s->arena, "%s%s%s", there->inputs, etp_if(k, ","), file);
        }
        const etp_planned_phase *phase = etp_session_phase_of(p, i);
        if (arm->foreign) {
            ETP_TRY(push(s, arm->foreign->path, &arm->foreign->there, err));
        } else if (phase) {
            ETP_TRY(push(s, phase->files[arm->model], &there->steps, err));
        }
    }
    const etp_settings *set = &p->settings;
    const struct {
        const char *local, **there;
    } k_shared[] = {
        {set->tokenizer,   &s->tokenizer  },
        {set->kernels_lib, &s->kernels_lib},
    };
    for (size_t i = 0; i < sizeof k_shared / sizeof *k_shared; i++) {
        if (k_shared[i].local) {
            ETP_TRY(push(s, k_shared[i].local, k_shared[i].there, err));
        }
    }
    if (set->kernels_lib && s->device->info.local_pid) { // alone it goes to other devices
        ETP_TRY(etp_session_watch_needed(s, set->kernels_lib, err));
    }
    for (etp_str one, rest = etp_str_from(ETP_OR(set->data, "")); etp_str_part(&rest, ',', &one);) {
        const char *there = NULL, *local = etp_arena_strdup(&s->arena, one);
        ETP_NEED(local, err, "data files");
        ETP_TRY(push(s, local, &there, err));
        s->data = s->data ? etp_arena_printf(&s->arena, "%s,%s", s->data, there) : there;
    }
    // Each runner once: arms share them.
    for (uint32_t i = 0; i < p->n_arms; i++) {
        const etp_planned_arm *arm = &p->arms[i];
        bool known = false;
        for (uint32_t k = 0; k < i && !known; k++) {
            known = p->arms[k].foreign == arm->foreign && p->arms[k].bundle == arm->bundle;
        }
        const etp_bundle *own = arm->bundle ? arm->bundle : &s->device->bundle;
        etp_str hash = arm->bundle ? p->builds[arm->side].sha256 : p->hashes.bundle;
        if (!known) {
            ETP_TRY(etp_session_watch_bundle(s, own, hash, err)); // beside others: the launcher
            if (arm->foreign) {
                ETP_TRY(etp_session_watch_foreign(s, arm->foreign, err));
            }
        }
    }
    ETP_TRY(etp_session_as_planned(s, err));
    return etp_session_memory(s, err);
}

static etp_status test_runner(etp_session *s, etp_error *err)
{
    bool foreign = s->plan->arms[0].foreign != NULL;
    const etp_bundle *build = s->plan->arms[0].bundle;
    if (s->plan->no_selftest || (build && build->python)) { // which has none
        return ETP_OK;
    }
    etp_session_show(s, "selftest", NULL);
    etp_selftest_result t;
    if (foreign) {
        etp_foreign_names(s->device, s->plan, etp_session_interrupted, s, &s->arena, &t);
    } else if (s->plan->n_builds > 0) {
        ETP_TRY(etp_selftest_builds(s->device, s->plan, s->plan->cache_dir, &s->arena, &t, err));
    } else {
        ETP_TRY(etp_selftest_run(s->device, s->plan, s->plan->cache_dir, &s->arena, &t, err));
    }
    s->run.selftest_ok = t.ok;
    s->run.selftest = etp_str_from(t.text);
    for (s->run.n_names = 0; s->run.n_names < t.n_names; s->run.n_names++) {
        s->run.names[s->run.n_names].level = etp_str_from(t.names[s->run.n_names].level);
        s->run.names[s->run.n_names].names = etp_str_from(t.names[s->run.n_names].names);
    }
    // Runners of others have no self-test; that they cannot be asked is no news.
    if (!t.ok && !foreign) {
        etp_session_say(s, "self-test of the runner: %s", t.text);
    }
    return ETP_OK;
}

// A record of another program would name its source lines. One that is broken, or a program that
// cannot be read, costs the lines and not the session.
static bool belongs(const char *model, const etp_etrecord *record, etp_arena *arena, etp_error *why)
{
    etp_file file;
    const etp_program *program = NULL;
    etp_belonging b = {0};
    if (etp_file_open(model, UINT64_MAX, &file, why) != ETP_OK) {
        return false;
    }
    etp_status st = etp_program_open(file.bytes, NULL, &program, why);
    if (st == ETP_OK) {
        etp_record_belongs(program, record, arena, &b);
        st = etp_belonging_need(&b, why);
    }
    etp_program_close(program);
    etp_file_close(&file);
    return st == ETP_OK;
}

static etp_status keep_program(etp_session *s, size_t i, const char **out_note, etp_error *err)
{
    const char *model = s->plan->model_paths[i];
    const char *beside = etp_run_record_beside(model, &s->arena);
    etp_file file = {0};
    etp_etrecord record;
    etp_error why = {.offset = ETP_NO_OFFSET};
    bool usable = beside && etp_file_open(beside, UINT64_MAX, &file, &why) == ETP_OK &&
                  etp_etrecord_read(file.bytes, &s->arena, &record, &why) == ETP_OK &&
                  belongs(model, &record, &s->arena, &why);
    if (beside && !usable) {
        etp_session_say(s, "%s is not used: %s", beside, why.msg);
    }
    etp_status st =
        etp_run_keep_program(&s->writer, i, model, usable ? &record : NULL, out_note, err);
    etp_file_close(&file);
    return st;
}

// Called before the manifest is written, so that --resume works however early a session is killed.
static void trust(etp_session *s)
{
    etp_error why;
    if (s->plan->state_dir && etp_run_trust(s->plan->state_dir, &s->run, &why) != ETP_OK) {
        etp_session_say(s, "rerun and --resume of this folder will need --trust: %s", why.msg);
    }
}

static etp_status measure(etp_session *s, etp_error *err)
{
    if (s->plan->resume) {
        ETP_TRY(etp_session_resume(s, err));
        trust(s);
        ETP_TRY(etp_run_resume(s->plan->dir, &s->arena, &s->run, &s->writer, err));
    } else {
        ETP_TRY(describe(s, err));
        trust(s);
        ETP_TRY(etp_run_begin(s->plan->dir, &s->arena, &s->run, &s->writer, err));
    }
    // From here on the folder has a manifest, which every way out brings to an end.
    s->writing = true;
    if (!s->plan->resume) {
        for (size_t i = 0; i < s->plan->n_models; i++) {
            const char *note = NULL;
            ETP_TRY(keep_program(s, i, &note, err));
            if (note) {
                etp_session_say(s, "%s", note);
            }
        }
        // What the model's author expects of these inputs belongs to the raw data.
        const char *from = s->plan->inputs[0].expected;
        if (from) {
            ETP_TRY(etp_os_move_below(from, s->plan->dir, ETP_RUN_EXPECTED, err));
        }
        if (s->plan->roofs.len > 0) {
            ETP_TRY(etp_run_keep_roofs(&s->writer, s->plan->roofs, err));
        }
    }
    ETP_TRY(push_files(s, err));
    ETP_TRY(test_runner(s, err));
    // Timed, and where asked for traced and cold; the pilot, the controls and the samples
    // come on top.
    uint32_t done = s->run.blocks_done, goal = s->plan->blocks + s->incomplete;
    uint32_t n = ETP_LESS(goal, done) * etp_session_launches_of_block(s);
    for (uint32_t b = done + 1; b <= goal && b <= s->plan->control_blocks; b++) {
        n += ETP_MAX(s->plan->n_phases, 1); // one for the baseline of each phase
    }
    for (uint32_t i = 0; i < s->plan->n_arms && done == 0; i++) {
        n += etp_session_is_cold(s, i); // one that reads memory
        n += s->plan->settings.kernels;
    }
    s->sampling.each_ns = 0; // nothing was sampled yet
    if (etp_pilot_needed(s->plan) && !s->plan->resume) {
        n += s->plan->n_arms;
    }
    s->view->expected_launches = n;
    ETP_TRY(etp_session_pilot(s, err));
    return etp_session_interrupted(s) != 0 ? ETP_OK : etp_session_blocks(s, err);
}

// Nothing was measured and nothing will be, whatever the machine: a mistyped method or a broken
// model should not cost the user a numbered folder.
static void remove_folder(etp_session *s)
{
    static const char *const k_files[] = {ETP_RUN_MANIFEST, ETP_RUN_SAMPLES, ETP_RUN_ENVIRONMENT,
                                          ETP_RUN_ROOFS, ETP_RUN_LOCK};
    etp_status ignored = ETP_OK;
    for (uint32_t i = 0; i < s->plan->n_arms; i++) {
        ignored = etp_os_remove_below(s->plan->dir, s->plan->arms[i].name, NULL);
    }
    ignored = etp_os_remove_below(s->plan->dir, ETP_RUN_PROGRAMS, NULL);
    for (size_t i = 0; i < sizeof k_files / sizeof *k_files; i++) {
        ignored = etp_os_remove_below(s->plan->dir, k_files[i], NULL);
    }
    ignored = etp_os_rmdir(s->plan->dir, NULL);
    (void)ignored; // what cannot be removed stays, and is a folder without blocks
}

static void finish_folder(etp_session *s, etp_status *status, etp_error *err)
{
    // These say that the request itself was wrong: the same command would fail again.
    bool hopeless = *status == ETP_USAGE || *status == ETP_CORRUPT || *status == ETP_UNSUPPORTED ||
                    *status == ETP_ENVIRONMENT;
    if (hopeless && s->run.blocks_done == 0 && !s->plan->resume) {
        remove_folder(s);
        return;
    }
    // Other work on the machine is the commonest reason of noise, and the one the user can end. The
    // answer weighs the same launches by the same rule (cause "contention"); this note is for
    // whoever reads the folder.
    double share = etp_run_wait_share(&s->waited);
    if (share > ETP_WAIT_MUCH && !etp_cores_crowded(s)) {
        const char *text =
            etp_arena_printf(&s->arena,
                             "timed launches waited for a free CPU for up to %.1f %% of their "
                             "time: other work is running on this machine",
                             100 * share);
        etp_session_note(s, ETP_NOTE_CPU_CONTENDED,
                         ETP_OR(text, "the runner had to wait for a free CPU"));
    }
    s->run.signal = s->view->signal;
    s->run.stopped = s->view->stopped;
    etp_error finish_err;
    etp_status finished = etp_run_finish(&s->writer, s->view->state, &finish_err);
    if (*status == ETP_OK && finished != ETP_OK) { // else the first error is the cause
        *status = finished;
        if (err) {
            *err = finish_err;
        }
    }
}

etp_status etp_session_measure(etp_device *device, const etp_session_plan *plan,
                               etp_session_view *view, etp_error *err)
{
    view->dir = plan->dir;
    etp_session s = {.device = device,
                     .plan = plan,
                     .view = view,
                     .start_ns = etp_os_now_ns(),
                     .patience_ns = plan->patience_ns};
    s.arms = ETP_NEW_ARRAY(&s.arena, etp_arm_state, plan->n_arms);
    etp_status status = s.arms ? measure(&s, err) : etp_fail_nomem(err, "the session");
    // Asked once more at the end: a signal that came after the last launch was still meant for this
    // session.
    view->signal = etp_session_interrupted(&s);
    view->state = status == ETP_OK && view->signal == 0 ? ETP_RUN_FINISHED : ETP_RUN_INTERRUPTED;
    if (s.writing) {
        finish_folder(&s, &status, err);
    } else if (status != ETP_OK && s.arms && !plan->resume) { // a full disk
        remove_folder(&s);
    }
    // The answer counts a block that the budget left without recordings; --resume completes it.
    bool cut = s.cut_short && !(s.out_of_time && s.all_timed);
    view->blocks = s.run.blocks_done - (cut && s.run.blocks_done > 0);
    view->wall_ns = etp_os_now_ns() - s.start_ns;
    etp_sampled_close(&s.libraries);
    etp_os_moves_close(&s.moves);
    etp_arena_dispose(&s.block_arena);
    etp_arena_dispose(&s.arena);
    return status;
}
