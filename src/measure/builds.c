// SPDX-License-Identifier: Apache-2.0
// Two builds of a runner, each of which runs every model: bundles of etprof's runner, whose
// ExecuTorch and XNNPACK may be anybody's, or two executor_runners of others.
#include "measure/foreign.h"
#include "measure/state.h"

static etp_status open_own(const char *path, const etp_device *device, etp_arena *arena,
                           etp_bundle *bundle, etp_run_build *out, etp_error *err)
{
    // No program of ours to look beside: a build is what was named, never the default runner.
    ETP_TRY(etp_bundle_find(path, NULL, device->info.triple, arena, bundle, err));
    const char *hash = NULL;
    ETP_TRY(etp_bundle_hash(bundle, arena, &hash, err));
    // A bare program without a bundle.json is known by its own bytes alone.
    bool folder = bundle->sdk_digest[0] != '\0';
    bundle->sdk_digest =
        etp_if(folder, hash); // of the bytes: somebody may have put a library there
    const char *what = bundle->python ? "Python runtime of" : "etprof's runner with";
    const char *text = "etprof's runner";
    if (bundle->sdk_version[0]) {
        text = etp_arena_printf(arena, "%s ExecuTorch %s%s%.10s", what, bundle->sdk_version,
                                etp_if(bundle->sdk_sha[0], " "), bundle->sdk_sha);
    }
    *out = (etp_run_build){.path = etp_str_from(folder ? bundle->dir : bundle->runner),
                           .sha256 = etp_str_from(hash),
                           .executorch = etp_str_from(bundle->sdk_version),
                           .text = etp_str_from(text),
                           .wheel_sha256 = etp_str_from(bundle->wheel_sha256),
                           .own = true};
    return ETP_OK;
}

// The Python runtimes of two releases, on this machine, as the CPU is.
static etp_status plan_python(const etp_session_plan_options *o, const etp_device *device,
                              const etp_bundle bundles[2], etp_arena *arena, etp_session_plan *p,
                              etp_error *err)
{
    if (bundles[0].python != bundles[1].python) {
        return etp_fail(err, ETP_USAGE,
                        "%s runs in Python and %s does not: they take times in other ways; "
                        "give two builds of one kind",
                        bundles[!bundles[0].python].dir, bundles[bundles[0].python].dir);
    }
    if (!bundles[0].python) {
        return ETP_OK;
    }
    const bool data = o->settings.data || o->settings.kernels_lib;
    const char *cannot =
        etp_z_if(p->settings.kernels, "is not sampled: leave out --kernels always");
    if (!device->info.local_pid) {
        cannot = "is measured on this machine alone: leave out --device";
    } else if (p->n_phases > 0) {
        cannot = "runs a method as a whole, not step by step: leave out --prefill, --decode "
                 "and --shape";
    } else if (data) {
        cannot = "takes a program alone: leave out --data and --custom-ops";
    }
    if (cannot) {
        return etp_fail(err, ETP_UNSUPPORTED, "the Python runtime of a release %s", cannot);
    }
    for (uint32_t i = 0; i < p->n_arms; i++) {
        etp_planned_arm *a = &p->arms[i];
        if (!etp_level_hides_nothing(&p->cpu.cpu, a->level)) {
            return etp_fail(err, ETP_UNSUPPORTED,
                            "the Python runtime of a release runs at the CPU's own level: leave "
                            "out --levels %s",
                            a->level_name);
        }
        a->mask[0] = '\0'; // started as it is
    }
    for (size_t side = 0; side < 2; side++) {
        if (bundles[side].no_tracer && !p->settings.no_trace) {
            p->settings.no_trace = true; // one side's operators could not be held against anything
            etp_plan_note(p, ETP_NOTE_RUNNER_NO_TRACER,
                          etp_arena_printf(arena,
                                           "the wheel of ExecuTorch %s was built without event "
                                           "tracer: neither release is recorded, and operators "
                                           "are not compared",
                                           bundles[side].sdk_version));
        }
    }
    p->settings.no_kernels = true;
    etp_plan_note(p, ETP_NOTE_BUILDS_PYTHON,
                  "both releases ran in their Python runtime, because a wheel has no C++ SDK (or "
                  "none that could be built against here): a time includes one call from Python, "
                  "and memory is what the program added to Python's own");
    return ETP_OK;
}

etp_status etp_builds_plan(const etp_session_plan_options *o, const etp_device *device,
                           etp_arena *arena, etp_session_plan *p, etp_error *err)
{
    if (!o->builds) {
        return ETP_OK;
    }
    etp_bundle *bundles = ETP_NEW_ARRAY(arena, etp_bundle, 2);
    ETP_NEED(bundles, err, "the builds");
    bool own = o->n_runners == 0;
    for (uint32_t side = 0; side < 2; side++) {
        const etp_foreign *f = own ? NULL : p->arms[side].foreign;
        if (own) {
            ETP_TRY(
                open_own(o->builds[side], device, arena, &bundles[side], &p->builds[side], err));
        } else {
            p->builds[side] = (etp_run_build){.path = etp_str_from(f->path),
                                              .sha256 = etp_str_from(f->sha256),
                                              .executorch = ETP_STR(""),
                                              .text = etp_str_from(f->summary)};
        }
    }
    p->n_builds = 2;
    if (own) {
        ETP_TRY(plan_python(o, device, bundles, arena, p, err));
    }
    // Arms come in pairs A, B (`side`), each pair at one model, level and number of threads.
    for (uint32_t i = 0; i < p->n_arms && own; i++) {
        p->arms[i].bundle = &bundles[p->arms[i].side];
    }
    if (etp_str_eq(p->builds[0].sha256, p->builds[1].sha256)) {
        etp_plan_note(
            p, ETP_NOTE_BUILDS_SAME,
            "both builds are the same, byte for byte: whatever differs between them is chance");
    }
    return ETP_OK;
}

const char *etp_session_runner_hash(const etp_session *s, uint32_t arm)
{
    const etp_planned_arm *a = &s->plan->arms[arm];
    const etp_bundle *b = a->bundle ? a->bundle : &s->device->bundle;
    return a->foreign ? a->foreign->sha256 : b->runner_sha256;
}
