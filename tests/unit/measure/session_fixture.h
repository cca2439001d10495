// SPDX-License-Identifier: Apache-2.0
// A device with the fake runner on it, and one call for a whole session. ROOT names the folder of
// the test program and is defined before this is included.
#ifndef ETP_TEST_SESSION_FIXTURE_H
#define ETP_TEST_SESSION_FIXTURE_H

#include <signal.h>
#include <stdio.h>

#include "measure/session.h"
#include "unit.h"

typedef struct fixture {
    etp_arena arena;
    etp_device *device;
    etp_device_cpu cpu;
    const char *dir; // of the test
    char messages[8192];
    unsigned stop_after; // interrupt once so many launches have begun; 0 never
    unsigned begun;
    const double *shares;    // of the operators' time that are known after each round of samples;
    const double *reachable; // NULL: nobody is asked
    const bool *few;         // of both arms after each round, NULL: enough
    unsigned rounds;         // asked so far
    double times[16];        // what was asked for
} fixture;

static inline void on_progress(void *ctx, const etp_session_view *p)
{
    fixture *f = ctx;
    f->begun += p->arm != NULL;
}

static inline void on_message(void *ctx, const char *text)
{
    fixture *f = ctx;
    size_t n = strlen(f->messages);
    if (strncmp(text, "plan ", 5) == 0 || text[0] == ' ') { // what every session tells, and goes on
        return;
    }
    snprintf(f->messages + n, sizeof f->messages - n, "%s\n", text);
}

static inline int on_interrupted(void *ctx)
{
    const fixture *f = ctx;
    return f->stop_after > 0 && f->begun > f->stop_after ? SIGINT : 0;
}

// The second arm is the one that something is asked about.
static inline bool on_coverage(void *ctx, const char *dir, double times, double *share,
                               double *reachable, bool *too_few, size_t n)
{
    fixture *f = ctx;
    assert_true(etp_run_is(dir) && n == 2 && f->rounds < 16);
    share[1] = f->shares[f->rounds];
    reachable[1] = f->reachable[f->rounds];
    too_few[0] = too_few[1] = f->few && f->few[f->rounds];
    f->times[f->rounds++] = times;
    return true;
}

static inline int set_up(void **state)
{
    static fixture f;
    f = (fixture){0};
    *state = &f;
    etp_error err = {0};
    const etp_device_options o = {.runner = ETP_FAKE_RUNNER, .work_root = ROOT "/work"};
    if (etp_os_temp_dir(ROOT, "t", &f.arena, &f.dir, &err) != ETP_OK ||
        etp_device_open(&o, &f.device, &err) != ETP_OK ||
        etp_session_probe(f.device, 0, NULL, &f.arena, &f.cpu, &err) != ETP_OK) {
        print_error("%s\n", err.msg);
        return -1;
    }
    return 0;
}

static inline int tear_down(void **state)
{
    fixture *f = *state;
    etp_device_close(f->device);
    etp_dir_list left;
    bool clean = etp_os_list(ROOT "/work", &f->arena, &left, NULL) == ETP_OK && left.n == 0;
    if (!clean) {
        print_error("temporary folders were left behind\n");
    }
    etp_status st = etp_os_remove_tree(ROOT, NULL);
    etp_arena_dispose(&f->arena);
    return st == ETP_OK && clean ? 0 : -1;
}

static inline const char *write_model(fixture *f, const char *script)
{
    const char *path = etp_arena_printf(&f->arena, "%s/fake_xnnpack_fp32.pte", f->dir);
    const char *text = etp_arena_printf(&f->arena, "xxxxET12\n\n\n\n%s", script);
    assert_int_equal(etp_os_write_atomic(path, etp_str_from(text), NULL), ETP_OK);
    return path;
}

typedef struct outcome {
    etp_status status;
    etp_error err;
    etp_session_plan plan;
    etp_session_view result;
    const char *dir;
    etp_run run; // read back
} outcome;

static inline outcome session(fixture *f, const char *script,
                              const etp_session_plan_options *options)
{
    static const char *const k_levels[] = {"sme2", "neon"};
    const char *model = write_model(f, script);
    etp_session_plan_options opts = *options;
    opts.models = &model;
    opts.n_models = 1;
    if (opts.n_levels == 0) {
        opts.levels = k_levels;
        opts.n_levels = 2;
    }
    opts.settings.seed = opts.settings.seed ? opts.settings.seed : 42;
    outcome o = {0};
    assert_int_equal(etp_session_plan_make(&opts, f->device, &f->cpu, &f->arena, &o.plan, &o.err),
                     ETP_OK);
    const char *wanted = etp_arena_printf(&f->arena, "%s/runs/linux", f->dir);
    assert_int_equal(etp_run_create_folder(wanted, false, &f->arena, &o.dir, &o.err), ETP_OK);
    assert_true(etp_os_is_dir(o.dir));
    o.plan.dir = o.dir;
    o.plan.command = "etprof ab fake.pte";
    o.result = (etp_session_view){.ctx = f,
                                  .progress = on_progress,
                                  .message = on_message,
                                  .interrupted = on_interrupted,
                                  .coverage = f->shares ? on_coverage : NULL};
    o.status = etp_session_measure(f->device, &o.plan, &o.result, &o.err);
    etp_error err = {0};
    if (etp_os_is_dir(o.dir) && etp_run_open(o.dir, &f->arena, &o.run, &err) != ETP_OK) {
        fail_msg("cannot read the folder back: %s", err.msg);
    }
    return o;
}

static inline size_t count_samples(const etp_run *run, uint32_t arm, uint32_t block,
                                   etp_phase phase)
{
    size_t n = 0;
    for (size_t i = 0; i < run->samples.n; i++) {
        const etp_run_sample *s = &run->samples.items[i];
        n += s->arm == arm && (block == 0 || s->block == block) && s->phase == phase;
    }
    return n;
}

#define SET_UP set_up
#define TEAR_DOWN tear_down

#endif
