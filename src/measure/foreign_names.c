// SPDX-License-Identifier: Apache-2.0
// What a runner of others calls one operator of each data type: it runs the model that etprof's own
// runner is asked with, under the launcher, with a recording, at a level with the feature that
// names can show and at one without. A runner that cannot be asked is judged by the table.
#include <stdalign.h>

#include <etprof/etdump.h>

#include "measure/foreign.h"
#include "measure/selftest.h"
#include "types.h"

#define DUMP_LIMIT ((uint64_t)16 << 20)
#define SILENCE_NS ((uint64_t)10 * 1000000000u) // for an inference of microseconds

typedef struct question {
    etp_device *device;
    const etp_session_plan *plan;
    const char *model; // on the device
    int (*interrupted)(void *ctx);
    void *ctx;
    etp_arena *arena;
} question;

// "Convolution (NHWC, F32) IGEMM #1" is the operator, the number tells it from its like.
static etp_str base_name(etp_str name)
{
    (void)etp_str_cut(&name, "#", &name);
    return etp_str_trim(name, " ");
}

// By the data types in the names of these three kinds a level can be told (isa.h).
static bool has_kernels(etp_str name)
{
    static const char *const k_kinds[] = {"Convolution (", "Fully Connected (",
                                          "Batch Matrix Multiply ("};
    for (size_t i = 0; i < sizeof k_kinds / sizeof *k_kinds; i++) {
        if (etp_str_starts(name, etp_str_from(k_kinds[i]))) {
            return true;
        }
    }
    return false;
}

// Adds to LIST the names in the recording at PATH; false when it is none.
static bool read_names(const char *path, etp_arena *arena, const char **list)
{
    etp_file file;
    etp_etdump dump;
    if (etp_file_open(path, DUMP_LIMIT, &file, NULL) != ETP_OK) {
        return false;
    }
    bool ok = etp_etdump_open(file.bytes, &dump, NULL) == ETP_OK;
    for (size_t r = 0; ok && r < dump.n_runs; r++) {
        etp_etdump_run run = etp_etdump_run_at(&dump, r);
        for (size_t e = 0; e < run.n_events; e++) {
            etp_etdump_profile ev;
            if (!etp_etdump_profile_of(etp_etdump_event_at(&run, e), &ev)) {
                continue;
            }
            etp_str name = base_name(ev.delegate_id_str.len > 0 ? ev.delegate_id_str : ev.name);
            if (has_kernels(name) && !etp_names_have(etp_str_from(*list), ';', name)) {
                *list = etp_arena_printf(arena, "%s%s%.*s", *list, etp_if(**list, "; "),
                                         ETP_STR_ARG(name));
                ok = ok && *list;
            }
        }
    }
    etp_file_close(&file);
    return ok;
}

// One inference of F at MASK. False when it gave no names.
static bool run_once(const question *q, const etp_foreign *f, const char *mask, const char **list)
{
    etp_planned_arm arm = {.name = "names", .prefix = "names", .threads = 1};
    etp_launch_request request = {.arm = &arm,
                                  .model = q->model,
                                  .inputs = "ones",
                                  .kind = ETP_LAUNCH_TRACED,
                                  .iterations = 1,
                                  .timeout_ns = ETP_MIN(q->plan->timeout_ns, SILENCE_NS),
                                  .cpu = &q->plan->cpu.cpu,
                                  .interrupted = q->interrupted,
                                  .interrupted_ctx = q->ctx};
    etp_launch_outcome o;
    const char *here = etp_arena_printf(q->arena, "%s/names.etdump", q->device->work_dir);
    // A copy: what a launch learns of the runner here is about another model.
    etp_foreign once = *f;
    arm.foreign = &once;
    snprintf(arm.mask, sizeof arm.mask, "%s", mask);
    etp_status st =
        q->device->ops->scratch(q->device, "names-there.etdump", q->arena, &request.dump, NULL);
    bool ok = here && st == ETP_OK &&
              etp_foreign_run(q->device, &request, q->arena, &o, NULL) == ETP_OK && o.ok &&
              q->device->ops->pull(q->device, request.dump, here, NULL) == ETP_OK &&
              read_names(here, q->arena, list) && **list;
    if (here) {
        st = etp_os_remove_tree(here, NULL);
    }
    (void)st;
    return ok;
}

// Every build of the plan once; their names together.
static bool ask_level(const question *q, const char *mask, const char **list)
{
    *list = "";
    for (uint32_t i = 0; i < q->plan->n_arms; i++) {
        const etp_foreign *f = q->plan->arms[i].foreign;
        bool before = false;
        for (uint32_t k = 0; k < i; k++) {
            before = before || strcmp(q->plan->arms[k].foreign->sha256, f->sha256) == 0;
        }
        if (!before && !run_once(q, f, mask, list)) {
            return false;
        }
    }
    return true;
}

// With the feature hidden the build has a name of the feature, and no name is another one: so the
// runner does not heed what is hidden, or its names mean nothing. Only the first can be where the
// file holds code of the feature, and then the names of that run are the evidence against it.
static bool all_alike(const char *on, const char *off, const etp_session_plan *plan)
{
    bool feature = false, code = true;
    for (etp_str name, rest = etp_str_from(off); etp_str_part(&rest, ';', &name);) {
        name = etp_str_trim(name, " ");
        feature = feature || etp_isa_name_proof(name.ptr, name.len) == ETP_PROVES_SME;
    }
    for (uint32_t i = 0; i < plan->n_arms; i++) {
        code = code && plan->arms[i].foreign->sme != ETP_KNOWN_NO;
    }
    return feature && code && strcmp(on, off) == 0;
}

void etp_foreign_names(etp_device *device, const etp_session_plan *plan,
                       int (*interrupted)(void *ctx), void *ctx, etp_arena *arena,
                       etp_selftest_result *out)
{
    question q = {device, plan, NULL, interrupted, ctx, arena};
    etp_level levels[ETP_LEVEL_COUNT];
    size_t n = etp_level_list(plan->cpu.cpu.family, levels);
    const char *names[2] = {NULL, NULL}; // without the feature, with it
    *out = (etp_selftest_result){.text = ""};
    for (uint32_t i = 0; i < plan->n_arms; i++) {
        const etp_foreign *f = plan->arms[i].foreign;
        if (!f || !f->flags[ETP_FOREIGN_ETDUMP_PATH] || f->tracer == ETP_KNOWN_NO ||
            f->kind == ETP_FOREIGN_TEXT) {
            return;
        }
    }
    if (plan->cpu.cpu.family == ETP_ISA_X86_64) { // no level can be set
        return;
    }
    const char *here = etp_arena_printf(arena, "%s/names.pte", device->work_dir);
    const etp_str bytes = {(const char *)k_selftest_types, sizeof k_selftest_types};
    bool there = plan->n_arms > 0 && here && etp_os_write_atomic(here, bytes, NULL) == ETP_OK &&
                 device->ops->push(device, here, arena, &q.model, NULL) == ETP_OK;
    for (size_t i = 0; i < n && there; i++) {
        etp_named named = etp_level_named(levels[i]);
        bool on = named == ETP_NAMED_ON;
        etp_level_state state = etp_level_state_of(&plan->cpu.cpu, levels[i]);
        etp_isa_mask mask = etp_level_mask(levels[i]);
        char text[ETP_ISA_TEXT_MAX];
        // One level of either kind is enough; the best of them comes first in the list.
        bool clear = named != ETP_NAMED_UNCLEAR;
        if (!clear || names[on] || !state.available || !state.switchable) {
            continue;
        }
        (void)etp_isa_mask_format(&mask, text, sizeof text);
        if (interrupted(ctx) != 0 || !ask_level(&q, text, &names[on])) {
            out->n_names = 0;
            return;
        }
        out->names[out->n_names].level = etp_level_get(levels[i])->name;
        out->names[out->n_names++].names = names[on];
    }
    if (names[0] && names[1] && all_alike(names[1], names[0], plan)) {
        out->n_names = 0;
    }
}
