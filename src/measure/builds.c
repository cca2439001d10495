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
    bundle->sdk_digest = folder ? hash : ""; // of the bytes: somebody may have put a library there
    const char *text =
        bundle->sdk_version[0]
            ? etp_arena_printf(arena, "etprof's runner with ExecuTorch %s%s%.10s",
                               bundle->sdk_version, bundle->sdk_sha[0] ? " " : "", bundle->sdk_sha)
            : "etprof's runner";
    *out = (etp_run_build){.path = etp_str_from(folder ? bundle->dir : bundle->runner),
                           .sha256 = etp_str_from(hash),
                           .executorch = etp_str_from(bundle->sdk_version),
                           .text = etp_str_from(text),
                           .own = true};
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
    const etp_session_plan_arm *a = &s->plan->arms[arm];
    const etp_bundle *b = a->bundle ? a->bundle : &s->device->bundle;
    return a->foreign ? a->foreign->sha256 : b->runner_sha256;
}
