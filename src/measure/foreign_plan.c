// SPDX-License-Identifier: Apache-2.0
// Plans sessions with runners of others: which arm gets which build, and what that means for the
// comparison.
#include <stdio.h>

#include "measure/foreign.h"

#define LAUNCHER "etprof-launch"

etp_status etp_foreign_prepare(etp_device *d, etp_error *err)
{
    etp_bundle *b = &d->bundle;
    const char *path = etp_arena_printf(&d->arena, "%s/" LAUNCHER, b->dir);
    const char **start = ETP_NEW_ARRAY(&d->arena, const char *, 2);
    ETP_NEED(start, err, "the device");
    if (d->info.emulated) {
        return etp_fail(err, ETP_UNSUPPORTED,
                        "user-mode emulation cannot start programs for others (no exec): a runner "
                        "that is not etprof's needs a real device");
    }
    if (!etp_os_is_executable(path)) {
        return etp_fail(err, ETP_ENVIRONMENT,
                        "no " LAUNCHER
                        " in %s, which starts runners that are not etprof's: build the bundle "
                        "again with scripts/build-runner",
                        b->dir);
    }
    start[0] = d->info.local_pid ? path : "./" LAUNCHER;
    // In place of the runner's own loader: a stock runner brings its own way of being started, and
    // etprof-launch is linked statically.
    b->start = start;
    b->runner = path;
    b->own_libraries = false; // the runner uses the system's
    return etp_os_hash_file(path, b->runner_sha256, NULL, err);
}

void etp_plan_note(etp_session_plan *p, etp_note note, const char *text)
{
    if (text && p->n_runner_notes < sizeof p->runner_notes / sizeof *p->runner_notes) {
        p->runner_notes[p->n_runner_notes].note = note;
        p->runner_notes[p->n_runner_notes++].text = text;
    }
}

static etp_status need_flag(const etp_foreign *f, etp_foreign_flag flag, bool needed,
                            const char *name, const char *option, etp_error *err)
{
    if (!needed || f->flags[flag]) {
        return ETP_OK;
    }
    return etp_fail(err, ETP_UNSUPPORTED, "%s has no --%s (an older release?): leave out %s",
                    f->path, name, option);
}

static etp_status check_text_flags(const etp_foreign *f, const etp_session_plan *p,
                                   uint32_t threads, etp_error *err)
{
    const bool *has = f->flags;
    if (!has[ETP_FOREIGN_MODEL_PATH] || !has[ETP_FOREIGN_PROMPT] ||
        !(has[ETP_FOREIGN_MAX_NEW_TOKENS] || has[ETP_FOREIGN_SEQ_LEN])) {
        const char *more = has[ETP_FOREIGN_PROMPT] ? "max_new_tokens" : "prompt";
        return etp_fail(err, ETP_ENVIRONMENT,
                        "%s does not take llama_main's --%s: it is not a runner of language models",
                        f->path, has[ETP_FOREIGN_MODEL_PATH] ? more : "model_path");
    }
    // A script may bring a tokenizer of its own.
    if (f->is_elf && !p->settings.tokenizer) {
        return etp_fail(err, ETP_USAGE,
                        "%s needs the tokenizer of the model, which takes the prompt apart: give "
                        "--tokenizer FILE",
                        f->path);
    }
    ETP_TRY(need_flag(f, ETP_FOREIGN_CPU_THREADS, threads > 1, "cpu_threads", "--threads", err));
    ETP_TRY(need_flag(f, ETP_FOREIGN_METHOD_NAME, p->settings.method != NULL, "method_name",
                      "--method", err));
    return need_flag(f,
                     has[ETP_FOREIGN_DATA_PATHS] ? ETP_FOREIGN_DATA_PATHS : ETP_FOREIGN_DATA_PATH,
                     p->settings.data != NULL, "data_path", "--data", err);
}

// What a session needs of a build is asked before anything is launched: an unknown flag would end
// the program launch after launch.
static etp_status check_flags(const etp_foreign *f, const etp_session_plan *p, uint32_t threads,
                              etp_error *err)
{
    etp_input_kind inputs = etp_input_kind_of(p->inputs[0].spec);
    if (f->kind == ETP_FOREIGN_TEXT) {
        return check_text_flags(f, p, threads, err);
    }
    if (!f->flags[ETP_FOREIGN_MODEL_PATH] || !f->flags[ETP_FOREIGN_NUM_EXECUTIONS]) {
        return etp_fail(err, ETP_ENVIRONMENT,
                        "%s does not take executor_runner's --%s: it is not an executor_runner, or "
                        "one that is too old to repeat an inference",
                        f->path,
                        f->flags[ETP_FOREIGN_MODEL_PATH] ? "num_executions" : "model_path");
    }
    ETP_TRY(need_flag(f, ETP_FOREIGN_CPU_THREADS, threads > 1, "cpu_threads", "--threads", err));
    ETP_TRY(need_flag(f, ETP_FOREIGN_METHOD_NAME, p->settings.method != NULL, "method_name",
                      "--method", err));
    ETP_TRY(
        need_flag(f, ETP_FOREIGN_DATA_PATH, p->settings.data != NULL, "data_path", "--data", err));
    if (p->settings.data && strchr(p->settings.data, ',')) {
        return etp_fail(err, ETP_USAGE,
                        "%s takes one data file (--data_path), not several: leave out --runner",
                        f->path);
    }
    ETP_TRY(need_flag(f, ETP_FOREIGN_INPUTS, inputs != ETP_INPUTS_ONES, "inputs", "--inputs", err));
    if (inputs == ETP_INPUTS_RANDOM) {
        return etp_fail(
            err, ETP_USAGE,
            "a stock executor_runner has no random inputs: --inputs ones (its default) or files");
    }
    return ETP_OK;
}

// One inspection per file: arms with one path share it.
static etp_status assign_runner(const char *path, etp_session_plan *p, uint32_t arm,
                                etp_arena *arena, etp_error *err)
{
    const char *full = etp_os_absolute(path, arena);
    for (uint32_t i = 0; full && i < arm; i++) {
        if (strcmp(p->arms[i].foreign->path, full) == 0) {
            p->arms[arm].foreign = p->arms[i].foreign;
            return ETP_OK;
        }
    }
    etp_foreign *foreign = ETP_NEW(arena, etp_foreign);
    ETP_NEED(foreign, err, "the plan");
    p->arms[arm].foreign = foreign;
    return etp_foreign_inspect(path, p->settings.tokenizer != NULL, arena, foreign, err);
}

static void judge_tracers(etp_session_plan *p, etp_arena *arena)
{
    // All arms are of one kind (check_kinds).
    bool text = p->arms[0].foreign->kind == ETP_FOREIGN_TEXT;
    uint32_t with = 0, without = 0;
    const char *one = "";
    for (uint32_t i = 0; i < p->n_arms; i++) {
        const etp_foreign *f = p->arms[i].foreign;
        with += f->tracer == ETP_KNOWN_YES;
        without += f->tracer == ETP_KNOWN_NO;
        one = f->tracer == ETP_KNOWN_NO ? p->arms[i].name : one;
    }
    if (with > 0 && without > 0) {
        etp_plan_note(
            p, ETP_NOTE_RUNNER_TRACERS_DIFFER,
            etp_arena_printf(arena,
                             "one build has an event tracer, that of %s has none: only one of them "
                             "pays for it, and nothing can be said about operators",
                             one));
    } else if (without > 0) {
        etp_plan_note(
            p, ETP_NOTE_RUNNER_NO_TRACER,
            text ? "the runner writes no recording (its file shows no event tracer behind "
                   "--etdump_path): no operator names, so no breakdown, and no proof of a "
                   "level from names"
                 : "the runner was built without event tracer: no operator names, so no "
                   "breakdown, and no proof of a level from names (configure ExecuTorch with "
                   "-DEXECUTORCH_ENABLE_EVENT_TRACER=ON)");
    } else if (with > 0) {
        etp_plan_note(
            p, ETP_NOTE_RUNNER_ALWAYS_TRACES,
            text ? "the runner traces every launch: its latency includes the tracer, in all arms "
                   "alike"
                 : "the runner traces every launch: its latency includes the tracer, in all arms "
                   "alike, and its recordings include the warm-up, so that the breakdown is slower "
                   "than the "
                   "latency");
    }
    // Recordings of some arms alone could not be set against each other.
    p->settings.no_trace = p->settings.no_trace || without > 0;
}

// OF_ONE_LEVEL: two builds were named as such, and both run at the level of their arms; else two
// builds stand for two levels.
static void judge_builds(etp_session_plan *p, bool of_one_level, etp_arena *arena)
{
    const etp_foreign *a = p->arms[0].foreign, *b = NULL; // the first two that differ in bytes
    for (uint32_t i = 0; i < p->n_arms; i++) {
        const etp_foreign *f = p->arms[i].foreign;
        b = !b && strcmp(a->sha256, f->sha256) != 0 ? f : b;
        if (f->xnnpack == ETP_KNOWN_NO) {
            etp_plan_note(
                p, ETP_NOTE_RUNNER_NO_XNNPACK,
                etp_arena_printf(arena,
                                 "the runner of %s was built without XNNPACK: programs that were "
                                 "lowered to it do not load",
                                 p->arms[i].name));
        }
        if (f->sme == ETP_KNOWN_NO &&
            (p->arms[i].level == ETP_LEVEL_SME2 || p->arms[i].level == ETP_LEVEL_SME1)) {
            etp_plan_note(
                p, ETP_NOTE_RUNNER_NO_SME,
                etp_arena_printf(arena,
                                 "the runner of %s holds no SME code at all: it was built with SME "
                                 "switched off",
                                 p->arms[i].name));
        }
    }
    if (!b) {
        return;
    }
    for (uint32_t i = 0; i < p->n_arms && !of_one_level; i++) {
        etp_planned_arm *arm = &p->arms[i];
        arm->mask[0] = '\0'; // the builds are the switch
        arm->level_name = etp_arena_printf(arena, ETP_LEVEL_SAID "%s", arm->level_name);
    }
    const char *what = etp_foreign_differences(a, b, arena);
    etp_plan_note(p, ETP_NOTE_RUNNER_BUILDS_DIFFER,
                  etp_arena_printf(
                      arena,
                      "two builds are compared, not one at two levels: a difference may come from "
                      "anything that was built differently (%s)",
                      what[0] ? what : "their files do not show what"));
}

// Answers are few in a launch, so counts that nobody gave are fixed: no trial launch.
static etp_status check_kinds(etp_session_plan *p, etp_error *err)
{
    const etp_foreign *first = p->arms[0].foreign;
    bool repeats = first->flags[ETP_FOREIGN_NUM_EXECUTIONS];
    for (uint32_t i = 1; i < p->n_arms; i++) {
        if (p->arms[i].foreign->kind != first->kind) {
            return etp_fail(err, ETP_USAGE,
                            "%s and %s are of different kinds: an executor_runner, and a runner of "
                            "language models",
                            first->path, p->arms[i].foreign->path);
        }
        repeats = repeats && p->arms[i].foreign->flags[ETP_FOREIGN_NUM_EXECUTIONS];
    }
    if (first->kind != ETP_FOREIGN_TEXT) {
        return ETP_OK;
    }
    if (!repeats && p->settings.iterations > 1) {
        return etp_fail(err, ETP_USAGE,
                        "--iterations %llu: %s answers once and ends; give more --blocks",
                        (unsigned long long)p->settings.iterations, first->path);
    }
    if (p->settings.precision > 0) {
        return etp_fail(err, ETP_USAGE,
                        "--precision: this runner's clock counts whole milliseconds, and equal "
                        "readings would look precise; give --blocks");
    }
    p->settings.warmup = ETP_MAX(p->settings.warmup, 1);
    const uint64_t usual = repeats ? 5 : 1;
    p->settings.iterations = ETP_OR(p->settings.iterations, usual);
    p->settings.traced = ETP_MAX(p->settings.traced, 1);
    return ETP_OK;
}

etp_status etp_foreign_plan(const etp_session_plan_options *o, etp_arena *arena,
                            etp_session_plan *p, etp_error *err)
{
    if (o->n_runners == 0) {
        return ETP_OK;
    }
    size_t n_threads = ETP_MAX(o->n_threads, 1);
    // Levels that were chosen by default are not in the options: their number follows from the
    // arms.
    size_t n_levels = p->n_arms / (o->n_models * n_threads * ETP_MAX(p->n_phases, 1));
    if (o->n_runners != 1 && o->n_runners != n_levels) {
        return etp_fail(err, ETP_USAGE, "%zu runners for %zu levels", o->n_runners, n_levels);
    }
    if (p->settings.kernels) {
        return etp_fail(err, ETP_UNSUPPORTED,
                        "program counters are sampled by etprof's own runner only: leave out "
                        "--kernels always, or --runner");
    }
    for (uint32_t i = 0; i < p->n_arms; i++) {
        // Arms are made in the order phases × models × levels × threads.
        size_t level = i / n_threads % n_levels; // the same in each phase
        ETP_TRY(assign_runner(o->runners[o->n_runners == 1 ? 0 : level], p, i, arena, err));
        const etp_foreign *f = p->arms[i].foreign;
        ETP_TRY(check_flags(f, p, p->arms[i].threads, err));
        // What the file itself rules out; what it does not show is found out by the first launch.
        const char *family = etp_isa_family_name(p->cpu.cpu.family);
        if (f->is_elf && strcmp(f->machine, family) != 0) {
            return etp_fail(err, ETP_ENVIRONMENT, "%s is a program for %s, the device is %s",
                            f->path, f->machine, family);
        }
        if (f->logging == ETP_KNOWN_NO && f->kind == ETP_FOREIGN_EXECUTOR) {
            return etp_fail(
                err, ETP_ENVIRONMENT,
                "%s says nowhere how long an inference took: it was built without logging, or is "
                "of a release from before times were logged. Configure ExecuTorch with "
                "-DEXECUTORCH_ENABLE_LOGGING=ON, or give its recordings to 'etprof analyze'",
                f->path);
        }
    }
    ETP_TRY(check_kinds(p, err));
    judge_builds(p, o->builds != NULL, arena);
    // A level is set by a library that answers for the system's question about CPU features.
    // Programs for x86-64 ask the CPU itself, static ones load no libraries.
    bool one_twice = o->n_runners > 1 && !o->builds; // two would have no mask left
    for (uint32_t i = 0; i < p->n_arms; i++) {
        etp_planned_arm *a = &p->arms[i];
        bool x86 = p->cpu.cpu.family == ETP_ISA_X86_64;
        if (a->mask[0] == '\0' || !(x86 || (a->foreign->is_elf && a->foreign->is_static))) {
            continue;
        }
        if (!etp_level_hides_nothing(&p->cpu.cpu, a->level)) {
            return etp_fail(err, ETP_UNSUPPORTED,
                            "level %s cannot be set for %s: %s. %s; or measure it as it is: "
                            "%s--levels best",
                            a->level_name, a->foreign->path,
                            x86 ? "on x86-64 a program asks the CPU itself"
                                : "it is linked statically and loads no library that would answer "
                                  "for the CPU",
                            one_twice ? "--runner-a and --runner-b name the same build: give one "
                                        "without the feature as --runner-a"
                                      : "Build it twice, with the feature and without, and compare "
                                        "the builds: etprof ab MODEL --runner-a OFF --runner-b "
                                        "ON --levels OFF,ON",
                            etp_if(one_twice, "--runner "));
        }
        a->mask[0] = '\0'; // started as it is
    }
    judge_tracers(p, arena);
    return ETP_OK;
}
