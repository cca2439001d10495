// SPDX-License-Identifier: Apache-2.0
// Makes one launch and keeps what comes of it: rows, trace, outputs, log, or the reason of its
// loss.
#include <stdio.h>

#include "base/path.h"
#include "base/sha256.h"
#include "measure/cores.h"
#include "measure/decoder.h"
#include "measure/foreign.h"
#include "measure/outputs.h"
#include "measure/phases.h"
#include "measure/quiet.h"
#include "measure/selftest.h"
#include "measure/state.h"

// A bound on what a runner makes the session take in.
#define DUMP_LIMIT ((uint64_t)1 << 30)

etp_status etp_session_memory(const etp_session *s, etp_error *err)
{
    ETP_TRY(etp_arena_check(&s->arena, err, "the session"));
    return etp_arena_check(&s->block_arena, err, "a block");
}

// ---- what a launch left ----

static const char *log_name(etp_session *s, const etp_task *t, bool lost)
{
    etp_arena *arena = &s->block_arena;
    const etp_run_arm *arm = &s->run.arms.items[t->arm];
    if (!lost) {
        return t->kind == ETP_LAUNCH_SAMPLED
                   ? etp_run_sampled_name(arena, arm, t->block, t->nth, "_sampled.log")
                   : etp_run_dump_name(arena, arm, t->block, ".log");
    }
    const char *suffix = etp_arena_printf(arena, "_%s_lost.log", etp_launch_kind_name(t->kind));
    return etp_run_dump_name(arena, arm, t->block, suffix);
}

// The whole file is verified when it is analysed. Here a launch that left none, or something else,
// is told from others: it counts as lost.
// A trace is there, of a bearable size, and begins like one (with or without a size in front).
static bool is_dump(const char *path, char *why, size_t why_cap)
{
    etp_error err;
    etp_file file;
    if (etp_file_open(path, DUMP_LIMIT, &file, &err) != ETP_OK) {
        snprintf(why, why_cap, "its trace: %s", err.msg);
        return false;
    }
    bool ok = file.bytes.len >= 12 && (memcmp(file.bytes.ptr + 4, "ED00", 4) == 0 ||
                                       memcmp(file.bytes.ptr + 8, "ED00", 4) == 0);
    if (!ok) {
        snprintf(why, why_cap, "its trace is not an ETDump (%zu bytes)", file.bytes.len);
    }
    etp_file_close(&file);
    return ok;
}

// Where a launch's files are looked at before they go into the run folder; NULL on out of memory.
static const char *scratch(etp_session *s, const char *name)
{
    return etp_arena_printf(&s->block_arena, "%s/%s", s->device->work_dir, name);
}

static etp_status take_dump(etp_session *s, const etp_task *t, const char *remote,
                            etp_launch_outcome *o, etp_error *err)
{
    const char *name =
        etp_run_dump_name(&s->block_arena, &s->run.arms.items[t->arm], t->block, ".etdump");
    const char *local = scratch(s, "here.etdump");
    ETP_NEED(name && local, err, "a trace");
    etp_error pull_err;
    char why[600];
    etp_status pulled = s->device->ops->pull(s->device, remote, local, &pull_err);
    if (pulled == ETP_NOMEM) {
        return etp_fail_nomem(err, "a trace");
    }
    if (pulled == ETP_INTERRUPTED) { // the user's wish, not the launch's fault
        o->ok = false;
        o->interrupted = true;
        return etp_os_remove_tree(local, err);
    }
    if (pulled == ETP_OK && is_dump(local, why, sizeof why)) {
        // Taken over by content and not moved: the folder may keep it compressed.
        etp_file file;
        ETP_TRY(etp_file_open(local, DUMP_LIMIT, &file, err));
        etp_str content = {(const char *)file.bytes.ptr, file.bytes.len};
        etp_status st = etp_run_keep_file(&s->plan->settings, s->plan->dir, name, content, err);
        etp_file_close(&file);
        return st == ETP_OK ? etp_os_remove_tree(local, err) : st;
    }
    if (pulled != ETP_OK) {
        snprintf(why, sizeof why, "its trace is missing: %s", pull_err.msg);
    }
    o->ok = false;
    o->reason = ETP_LOST_FILE;
    o->detail = etp_arena_printf(&s->block_arena, "%s", why);
    return etp_os_remove_tree(local, err);
}

static const char *file_of(etp_session *s, const etp_task *t, const char *suffix)
{
    return etp_run_sampled_name(&s->block_arena, &s->run.arms.items[t->arm], t->block, t->nth,
                                suffix);
}

// Program counters of a sampled launch, joined to what ran at the time, and the code they point
// into.
static etp_status take_samples(etp_session *s, const etp_task *t, const etp_launch_request *q,
                               etp_launch_outcome *o, etp_error *err)
{
    etp_sampled_files files = {.raw = scratch(s, "here.samples"),
                               .dump = scratch(s, "here.etdump"),
                               .dir = s->plan->dir,
                               .settings = &s->plan->settings,
                               .samples = file_of(s, t, ".samples"),
                               .code = file_of(s, t, ".code")};
    etp_error why = {.offset = ETP_NO_OFFSET};
    etp_status st = s->device->ops->pull(s->device, q->samples, files.raw, &why);
    if (st == ETP_OK) {
        st = s->device->ops->pull(s->device, q->dump, files.dump, &why);
    }
    if (st == ETP_OK) {
        st = etp_sampled_keep(s->device, &s->libraries, o, &files, &s->block_arena, &why);
    }
    ETP_TRY(etp_os_remove_tree(files.raw, err));
    ETP_TRY(etp_os_remove_tree(files.dump, err));
    if (st == ETP_INTERRUPTED) {
        o->ok = false;
        o->interrupted = true;
    } else if (st != ETP_OK) {
        o->ok = false;
        o->reason = ETP_LOST_FILE;
        o->detail = etp_arena_printf(&s->block_arena, "its samples: %s", why.msg);
    }
    return ETP_OK;
}

// Outputs of a second launch in LOCAL are kept only where they are not those of the first: such a
// program has none that arms could be compared by.
static etp_status take_again(etp_session *s, const etp_task *t, const char *local, etp_error *err)
{
    const etp_run_arm *arm = &s->run.arms.items[t->arm];
    const char *first = etp_run_path(&s->block_arena, s->plan->dir,
                                     etp_str_from(etp_run_outputs_name(&s->block_arena, arm)));
    bool equal = true;
    etp_status st = etp_outputs_equal(first, local, &s->block_arena, &equal, err);
    if (st == ETP_OK && !equal) {
        st = etp_os_move_below(local, s->plan->dir,
                               etp_run_outputs_again_name(&s->block_arena, arm), err);
    }
    return st;
}

static etp_status take_outputs(etp_session *s, const etp_task *t, const char *remote,
                               const etp_launch_request *q, etp_error *err)
{
    etp_error why;
    const char *name = etp_run_outputs_name(&s->block_arena, &s->run.arms.items[t->arm]);
    const char *local = scratch(s, "here.outputs");
    etp_status st = s->device->ops->pull(s->device, remote, local, &why);
    const etp_planned_arm *arm = &s->plan->arms[t->arm];
    if (st == ETP_OK && arm->foreign) { // its files come without their shapes
        st = etp_foreign_list_outputs(local, s->plan->model_paths[arm->model],
                                      s->plan->settings.method, &s->block_arena, &why);
    }
    etp_arm_state *state = &s->arms[t->arm];
    bool again = state->has_outputs;
    if (st == ETP_OK) {
        st = again ? take_again(s, t, local, &why)
                   : etp_os_move_below(local, s->plan->dir, name, &why);
    }
    if (st == ETP_NOMEM) {
        return etp_fail(err, st, "%s", why.msg);
    }
    if (again) {
        state->has_again = true;
        return etp_os_remove_tree(local, err);
    }
    // One set of outputs is kept of each arm; where that failed the next launch tries again.
    state->has_outputs = st == ETP_OK;
    state->outputs_block = t->block;
    state->outputs_warmup = q->warmup;
    state->outputs_iterations = q->iterations;
    if (st != ETP_OK) {
        char words[ETP_CANDIDATE_CHARS];
        etp_session_say(s, "outputs of %s could not be kept: %s",
                        etp_session_arm_words(s->plan, t->arm, words), why.msg);
    }
    return ETP_OK;
}

// NAMES of one program among ALL of the session. True: some are new.
static bool add_names(etp_session *s, etp_str names, etp_str *all)
{
    bool more = false;
    for (etp_str name; etp_str_part(&names, ',', &name);) {
        name = etp_str_trim(name, " ");
        if (!etp_names_have(*all, ',', name)) {
            const char *longer = etp_arena_printf(&s->arena, "%.*s%s%.*s", ETP_STR_ARG(*all),
                                                  etp_if(all->len, ", "), ETP_STR_ARG(name));
            *all = longer ? etp_str_from(longer) : *all;
            more = true;
        }
    }
    return more;
}

// The notes on kernels grow while programs are loaded: the later text takes the place of the
// earlier one.
static void put_note(etp_session *s, etp_note note, const char *text)
{
    for (size_t i = 0; i < s->run.n_notes; i++) {
        if (etp_run_note_kind(&s->run.notes[i]) == note) {
            s->run.notes[i].text = etp_str_from(text);
            return;
        }
    }
    etp_session_note(s, note, text);
}

static etp_status record_launch(etp_session *s, const etp_task *t, const etp_launch_outcome *o,
                                etp_error *err)
{
    // By the numbers of etp_launch_kind.
    static const etp_phase k_phase_of[] = {ETP_PHASE_TIMED, ETP_PHASE_TRACED, ETP_PHASE_CONTROL,
                                           ETP_PHASE_SAMPLED};
    // Of a launch with a cold page cache the load alone counts, of one for memory no time.
    const uint64_t n = t->kind >= ETP_LAUNCH_COLD ? 0 : o->n_warmup + o->n_iterations;
    for (uint64_t i = 0; i < n; i++) {
        etp_run_sample row = {.arm = t->arm,
                              .block = t->block,
                              .launch = s->next_launch,
                              .iteration = (uint32_t)i,
                              .phase = i < o->n_warmup ? ETP_PHASE_WARMUP : k_phase_of[t->kind],
                              .start_ns = o->iterations[i].start_ns,
                              .duration_ns = o->iterations[i].ns};
        ETP_ADD(&s->block_arena, &s->samples, row);
    }
    if (add_names(s, o->kernels_ours, &s->kernels_ours)) {
        // Kernels that ExecuTorch's SDK lacks and our runner brings.
        const etp_str names = s->kernels_ours;
        const char *are = memchr(names.ptr, ',', names.len) ? "are etprof's own kernels; their"
                                                            : "is etprof's own kernel; its";
        put_note(s, ETP_NOTE_KERNELS_OURS,
                 etp_arena_printf(&s->arena, "%.*s %s time is not ExecuTorch's", ETP_STR_ARG(names),
                                  are));
    }
    if (add_names(s, o->kernels_theirs, &s->kernels_theirs)) {
        // Those of a library of the user's.
        const char *path = s->plan->settings.kernels_lib;
        char hex[ETP_SHA256_HEX_CHARS];
        const etp_str names = s->kernels_theirs;
        bool several = memchr(names.ptr, ',', names.len) != NULL;
        ETP_TRY(etp_os_hash_file(path, hex, NULL, err));
        put_note(s, ETP_NOTE_KERNELS_LIB,
                 etp_arena_printf(&s->arena, "%.*s %s of %s (SHA-256 %.12s)", ETP_STR_ARG(names),
                                  several ? "are kernels" : "is a kernel", etp_path_name(path),
                                  hex));
    }
    etp_run_launch l = o->record;
    l.arm = t->arm;
    l.block = t->block;
    l.launch = s->next_launch;
    l.position = t->position;
    l.kind = t->kind;
    ETP_ADD(&s->block_arena, &s->launches, l);
    return ETP_OK;
}

// ---- one launch ----

// What the runner says about model, method or inputs is not going to change by trying again.
// *at_level: it may at another level.
static etp_status status_of_code(etp_wire_code code, bool *at_level)
{
    static const struct {
        etp_status status; // ETP_OK: it may go better the next time
        bool at_level;
    } k_codes[ETP_WIRE_CODES] = {
        [ETP_WIRE_CODE_USAGE] = {ETP_USAGE,       false},
        [ETP_WIRE_CODE_LEVEL] = {ETP_ENVIRONMENT, true },
        [ETP_WIRE_CODE_MASK] = {ETP_ENVIRONMENT, true },
        [ETP_WIRE_CODE_FILE] = {ETP_IO,          false},
        [ETP_WIRE_CODE_NOT_PTE] = {ETP_CORRUPT,     false},
        [ETP_WIRE_CODE_DATA] = {ETP_CORRUPT,     false},
        [ETP_WIRE_CODE_METHOD] = {ETP_USAGE,       false},
        [ETP_WIRE_CODE_INPUT] = {ETP_USAGE,       false},
        [ETP_WIRE_CODE_LOAD] = {ETP_UNSUPPORTED, true },
        [ETP_WIRE_CODE_KIND] = {ETP_ENVIRONMENT, false},
    };
    *at_level = k_codes[code].at_level;
    return k_codes[code].status;
}

// A launch that gave nothing. Errors end the session.
static etp_status lose_launch(etp_session *s, const etp_task *t, const etp_launch_outcome *o,
                              uint32_t attempt, etp_error *err)
{
    etp_arm_state *arm = &s->arms[t->arm];
    bool at_level;
    const char *detail = etp_arena_printf(&s->arena, "%s", ETP_OR(o->detail, ""));
    etp_run_lost l = {.arm = t->arm,
                      .block = t->block,
                      .launch = s->next_launch,
                      .kind = t->kind,
                      .reason = o->reason,
                      .attempt = attempt,
                      .detail = etp_str_from(detail)};
    ETP_NEED(detail && ETP_PUSH(&s->arena, &s->run.lost, l), err, "lost launches");
    s->view->launches_lost++;
    // Waiting does not mend it, and what it says is for the user to judge.
    if (s->device->changed && o->reason == ETP_LOST_START) {
        return etp_fail(err, ETP_ENVIRONMENT, "%s", o->detail);
    }
    etp_status fatal = arm->succeeded ? ETP_OK : status_of_code(o->code, &at_level);
    if (fatal != ETP_OK && !at_level) {
        return etp_fail(err, fatal, "%s", o->detail);
    }
    if (fatal != ETP_OK) { // blocks.c looks at what the other arms say
        arm->dead = true;
        arm->refusal = fatal;
        arm->refusal_text = s->run.lost.items[s->run.lost.n - 1].detail.ptr;
        return ETP_OK;
    }
    char words[ETP_CANDIDATE_CHARS];
    etp_session_say(s, "%s: %s launch lost (%s): %s", etp_session_arm_words(s->plan, t->arm, words),
                    etp_launch_kind_name(t->kind), etp_lost_reason_name(o->reason), o->detail);
    return ETP_OK;
}

// What follows goes into a command line, where a text that is missing would ask for another launch.
static etp_status make_request(etp_session *s, const etp_task *t, bool pilot, etp_launch_request *q,
                               etp_error *err)
{
    ETP_TRY(etp_session_memory(s, err));
    etp_arm_state *arm = &s->arms[t->arm];
    bool traced = t->kind == ETP_LAUNCH_TRACED, sampled = t->kind == ETP_LAUNCH_SAMPLED;
    // What a block has shown is better than what the trial foretold.
    uint64_t iteration_ns =
        arm->cost.each_ns > 0 ? (uint64_t)arm->cost.each_ns : arm->counts.iteration_ns;
    const uint64_t counted = traced ? arm->counts.traced : arm->counts.iterations;
    *q = (etp_launch_request){
        .arm = &s->plan->arms[t->arm],
        .model = arm->model,
        .data = s->data,
        .kernels_lib = s->kernels_lib,
        .inputs = arm->inputs,
        .steps = arm->steps,
        .method = s->plan->settings.method,
        .cpus = s->plan->settings.cpus,
        .kind = t->kind,
        .warmup = arm->counts.warmup,
        .iterations = sampled ? etp_sampled_iterations(iteration_ns, s->sampling.each_ns) : counted,
        .expected_iteration_ns = iteration_ns,
        .timeout_ns = s->plan->timeout_ns,
        .cpu = &s->plan->cpu.cpu,
        .interrupted = etp_session_interrupted,
        .before_end = etp_session_before_end,
        .interrupted_ctx = s,
    };
    if (q->arm->cache > ETP_CACHE_OFF) { // a file for each arm: levels pack differently
        if (!arm->packed_cache) { // cleared once: later launches find what the first one wrote
            const char *file = NULL, *name = etp_arena_printf(&s->arena, "packed-%u", t->arm);
            ETP_TRY(s->device->ops->scratch(s->device, name, &s->arena, &file, err));
            arm->packed_cache =
                etp_arena_printf(&s->arena, "%s:%s", etp_packed_cache_name(q->arm->cache), file);
        }
        q->packed_cache = arm->packed_cache;
    }
    // A script names them itself.
    if (!q->steps && (t->kind == ETP_LAUNCH_TIMED || t->kind == ETP_LAUNCH_MEMORY)) {
        if (!arm->kept) {
            const uint32_t model = q->arm->model;
            ETP_TRY(etp_method_kept(s->plan->model_paths[model], q->method, &s->arena, &arm->kept,
                                    err));
        }
        q->kept = arm->kept;
    }
    if (t->kind == ETP_LAUNCH_COLD) {
        q->warmup = 0;
        q->iterations = 1;
    }
    q->phase = etp_session_phase_of(s->plan, t->arm);
    q->tokenizer = s->tokenizer;
    q->iterations = etp_phase_whole(q->arm->foreign ? NULL : q->phase, q->iterations);
    if (pilot) {
        // The pilot warms up by time, since its counts are what it is there to find.
        q->warmup = 0;
        q->pilot_warmup_ns = ETP_PILOT_WARMUP_NS;
        q->iterations = ETP_PILOT_ITERATIONS;
        return ETP_OK;
    }
    if (traced || sampled) {
        ETP_TRY(s->device->ops->scratch(s->device, "trace.etdump", &s->block_arena, &q->dump, err));
    }
    // Once for each arm: it takes another load.
    q->ledger = traced && t->block == 1;
    if (sampled) {
        ETP_TRY(
            s->device->ops->scratch(s->device, "samples.csv", &s->block_arena, &q->samples, err));
    }
    bool text = q->arm->foreign && q->arm->foreign->kind == ETP_FOREIGN_TEXT; // words, no tensors
    // Once of a first launch, and once of one that does the same in another block.
    const bool again = !arm->has_again && arm->outputs_iterations == q->iterations &&
                       arm->outputs_warmup == q->warmup && arm->outputs_block != t->block;
    if ((again || !arm->has_outputs) && !text &&
        // The first launch that is not timed writes them. Only a session without traces has to let
        // a timed one do it, after its last iteration.
        t->kind == (!s->plan->settings.no_trace ? ETP_LAUNCH_TRACED : ETP_LAUNCH_TIMED)) {
        ETP_TRY(s->device->ops->scratch(s->device, "outputs", &s->block_arena, &q->outputs, err));
    }
    return ETP_OK;
}

// Launches and keeps what comes of it. Errors end the session.
static etp_status launch_task(etp_session *s, const etp_task *t, bool pilot, uint32_t attempt,
                              etp_launch_outcome *o, etp_error *err)
{
    etp_arm_state *arm = &s->arms[t->arm];
    etp_launch_request q;
    etp_status made = make_request(s, t, pilot, &q, err);
    if (made != ETP_OK && etp_session_interrupted(s) != 0) { // it came between two launches
        *o = (etp_launch_outcome){.interrupted = true};
        s->cut_short = !pilot;
        return ETP_OK;
    }
    ETP_TRY(made);
    etp_session_show(s, pilot ? "pilot" : "block", t);
    // Counted before it is known what becomes of it: a lost launch has its number too.
    s->next_launch++;
    ETP_TRY(etp_launch_run(s->device, &q, &s->block_arena, o, err));
    etp_session_view *view = s->view;
    view->launches++;
    arm->tells_stages = o->tells_stages || arm->tells_stages;
    view->launch_wall_ns += o->record.wall_ns;
    if (t->kind == ETP_LAUNCH_SAMPLED && o->ok) {
        arm->sampled_wall_ns = o->record.wall_ns;
    } else if (t->kind == ETP_LAUNCH_TRACED && o->ok) {
        arm->traced_wall_ns = o->record.wall_ns;
    } else if (t->kind == ETP_LAUNCH_COLD && o->ok) {
        arm->cold_wall_ns = o->record.wall_ns;
    }
    if (t->kind == ETP_LAUNCH_TIMED && o->ok) {
        etp_quiet_add(s, t->arm, o, &s->lately);
    }
    // Pilots have another number of iterations and would make blocks look shorter.
    if (t->kind == ETP_LAUNCH_TIMED && t->block > 0 && o->ok) {
        arm->timed_wall_ns = o->record.wall_ns;
        etp_run_wait_add(&s->waited, &o->record);
        etp_quiet_add(s, t->arm, o, &arm->waited);
    }
    if (o->interrupted) {
        s->cut_short = !pilot;
        return ETP_OK;
    }
    if (o->ok && q.samples) {
        ETP_TRY(take_samples(s, t, &q, o, err));
    } else if (o->ok && q.dump) {
        ETP_TRY(take_dump(s, t, q.dump, o, err));
    }
    if (o->interrupted) { // while its files were on their way
        s->cut_short = !pilot;
        return ETP_OK;
    }
    if (o->ok && q.outputs) {
        ETP_TRY(take_outputs(s, t, q.outputs, &q, err));
    }
    // Of launches that went well only the logs of those with a recording are kept, beside it.
    if (!pilot && (q.dump || !o->ok)) {
        etp_strbuf text;
        etp_strbuf_init(&text, &s->block_arena);
        etp_strbuf_append(&text, o->said);
        etp_strbuf_append(&text, o->log);
        ETP_TRY(
            etp_os_write_below(s->plan->dir, log_name(s, t, !o->ok), etp_strbuf_str(&text), err));
    }
    ETP_TRY(etp_session_memory(s, err)); // before what is missing is taken for a launch's fault
    if (!o->ok) {
        ETP_TRY(lose_launch(s, t, o, attempt, err));
    }
    arm->succeeded = arm->succeeded || o->ok;
    etp_cores_check(s, t->arm, o->record.cpus_allowed);
    if (o->ok && o->mean_only) {
        etp_session_note(
            s, ETP_NOTE_RUNNER_MEAN_ONLY,
            "the runner's log tells only the sum of its executions: an iteration is their "
            "mean, the warm-up is in it");
    }
    return pilot || !o->ok ? ETP_OK : record_launch(s, t, o, err);
}

// The budget ends a block where its next launch has no room: what was measured of it stays, and no
// block is counted that is not whole.
static bool out_of_time(etp_session *s, const etp_task *t, etp_launch_outcome *o)
{
    if (etp_session_has_time(s, t->block, etp_session_launch_ns(s, t->arm, t->kind))) {
        return false;
    }
    *o = (etp_launch_outcome){.interrupted = true};
    s->cut_short = s->out_of_time = true;
    return true;
}

// A start that failed for want of memory or processes may work a moment later; it is the one loss
// that says nothing about the arm.
etp_status etp_session_launch(etp_session *s, const etp_task *t, etp_launch_outcome *o,
                              etp_error *err)
{
    if (out_of_time(s, t, o)) {
        return ETP_OK;
    }
    ETP_TRY(launch_task(s, t, false, 1, o, err));
    if (o->ok || o->interrupted || o->reason != ETP_LOST_START) {
        return ETP_OK;
    }
    size_t lost = s->run.lost.n - 1;
    etp_os_sleep_ns(500000000);
    ETP_TRY(launch_task(s, t, false, 2, o, err));
    s->run.lost.items[lost].recovered = o->ok;
    s->view->launches_lost -= o->ok;
    return ETP_OK;
}

etp_status etp_session_pilot_launch(etp_session *s, const etp_task *t, uint32_t attempt,
                                    etp_launch_outcome *o, etp_error *err)
{
    return launch_task(s, t, true, attempt, o, err);
}
