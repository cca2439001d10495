// SPDX-License-Identifier: Apache-2.0
// The order of a session's steps, and what is undone on every way out.
#include "session/session.h"

#include <stdio.h>
#include <string.h>

#include <etprof/flat_tensor.h>

#include "base/guard.h"
#include "base/path.h"
#include "device/clusters.h"
#include "device/prepare.h"
#include "explain/kernels.h"
#include "isa/isa.h"
#include "measure/foreign.h"
#include "os/os.h"
#include "program/data_file.h"
#include "session/coverage.h"
#include "session/inputs.h"
#include "session/platform.h"
#include "session/roofs.h"

#define PATIENCE_S 30.0 // for a quieter machine, in a whole session

// The steps stand in the order of what they cost: words are checked before files are read, files
// before a device is opened, and the run folder is made only when there is a plan to measure.
typedef struct request { // of etp_session_run
    const etp_session_options *o;
    etp_session_view *view;
    etp_session_plan_options plan_options; // as the caller gave them, then settled
    etp_device *device;
    etp_arena *arena;
} request;

static void tell(const request *r, const char *fmt, ...) ETP_PRINTF(2, 3);

static void tell(const request *r, const char *fmt, ...)
{
    char text[4096 + 300]; // a path and some words
    if (!r->view->message) {
        return;
    }
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    r->view->message(r->view->ctx, text);
}

// Makes the folder of a new session, or takes that of a resumed one.
static etp_status folder(request *r, etp_error *err)
{
    const etp_session_options *o = r->o;
    etp_platform platform = r->device->info.platform;
    if (o->going_on) {
        r->view->dir = o->dir;
        tell(r, "run folder %s: going on after block %u", o->dir, o->going_on->blocks_done);
        return ETP_OK;
    }
    const char *wanted =
        o->dir ? o->dir
               : etp_run_default_dir(r->arena, o->plan.models[0], etp_platform_name(platform));
    ETP_TRY(etp_arena_check(r->arena, err, "run folder"));
    etp_expected_platform expected = {etp_platform_of_folder(wanted), "the run folder", wanted};
    ETP_TRY(etp_platform_check(&expected, o->device, platform, err));
    ETP_TRY(etp_run_create_folder(wanted, o->exact, r->arena, &r->view->dir, err));
    tell(r, "run folder %s%s", r->view->dir,
         etp_if(strcmp(r->view->dir, wanted) != 0, " (the name without a number is taken)"));
    return ETP_OK;
}

// What the device can do at most goes into the folder when it is known for the device's present
// state (etprof roofs). A resumed folder keeps those that it began with.
static etp_status roofs(const request *r, etp_str *out, etp_error *err)
{
    etp_roofs_answer answer;
    if (r->device->info.emulated || r->o->going_on ||
        etp_roofs_cached(r->device, ETP_ROOFS_CACHE, r->arena, &answer, NULL) != ETP_OK ||
        answer.table.n == 0) {
        return ETP_OK;
    }
    return etp_roofs_document(&answer, r->arena, out, err);
}

// The session's inputs where nobody asks for any.
static void choose_inputs(request *r)
{
    etp_session_plan_options *p = &r->plan_options;
    const bool builds = p->builds && p->n_models > 1; // whose models have inputs of their own
    if (!r->o->inputs_beside || p->settings.inputs || p->n_models == 0 || builds) {
        return;
    }
    const etp_inputs_found found = etp_inputs_beside(p->models[0], p->settings.method, r->arena);
    for (size_t i = 1; found.files && i < p->n_models; i++) {
        const char *m = p->models[i];
        const etp_inputs_found other = etp_inputs_beside(m, p->settings.method, r->arena);
        if (other.files && other.bytes != found.bytes) { // of one model in another precision
            tell(r, "inputs     random: those beside %s are of another type or size", m);
            return;
        }
    }
    p->settings.inputs = found.files;
    if (found.files) {
        tell(r, "inputs     %s (%zu files beside the model)", found.dir, found.n);
    }
}

typedef struct data_files { // of a session
    const char *list;       // as planned
    etp_flat_tensor *items;
    etp_file *files;
    bool *needed; // by a program
    size_t n;
} data_files;

static etp_status open_data(const char *list, etp_arena *arena, data_files *out, etp_error *err)
{
    *out = (data_files){.list = list};
    for (etp_str one, rest = etp_str_from(ETP_OR(list, "")); etp_str_part(&rest, ',', &one);) {
        out->n++;
    }
    out->items = ETP_NEW_ARRAY(arena, etp_flat_tensor, out->n);
    out->files = ETP_NEW_ARRAY(arena, etp_file, out->n);
    out->needed = ETP_NEW_ARRAY(arena, bool, out->n);
    size_t i = 0;
    for (etp_str one, rest = etp_str_from(ETP_OR(list, "")); etp_str_part(&rest, ',', &one); i++) {
        const char *path = etp_arena_strdup(arena, one);
        ETP_NEED(out->items && out->files && out->needed && path, err, "data files");
        for (etp_str other, others = rest; etp_str_part(&others, ',', &other);) {
            if (etp_str_eq(one, other)) { // the runtime would find each of its tensors twice
                return etp_fail(err, ETP_USAGE, "--data: %s is given twice", path);
            }
        }
        ETP_TRY(etp_file_open(path, UINT64_MAX, &out->files[i], err));
        if (etp_flat_tensor_read(out->files[i].bytes, arena, &out->items[i], err) != ETP_OK) {
            return etp_fail_ctx(err, "%s", path);
        }
    }
    return ETP_OK;
}

#define NAMED 3 // of the missing tensors

static etp_status need_data(const char *model, const etp_program *program, const data_files *data,
                            etp_arena *arena, etp_error *err)
{
    etp_outside all;
    etp_program_outside(program, arena, &all);
    const char *names = "";
    size_t missing = 0;
    for (size_t i = 0; i < all.n; i++) {
        bool found = false;
        for (size_t k = 0; k < data->n; k++) {
            bool has = etp_flat_tensor_find(&data->items[k], all.items[i]) != NULL;
            data->needed[k] = data->needed[k] || has;
            found = found || has;
        }
        if (!found && missing++ < NAMED) {
            names = etp_arena_printf(arena, "%s%s%.*s", names, etp_if(missing > 1, ", "),
                                     ETP_STR_ARG(all.items[i]));
        }
    }
    if (missing == 0) {
        return ETP_OK;
    }
    return etp_fail(err, ETP_USAGE,
                    "%s keeps weights in data files (.ptd): %zu of %zu tensors are %s%s (%s%s); "
                    "give the file that has them: --data FILE, once for each",
                    model, missing, all.n, data->n ? "not in " : "missing",
                    etp_if(data->n > 0, data->list), names, etp_if(missing > NAMED, ", …"));
}

static etp_status read_needs(const char *model, const etp_program *program, const data_files *data,
                             etp_arena *arena, etp_error *err)
{
    ETP_GUARDED(arena, err, "data files", need_data(model, program, data, arena, err));
}

// MODEL can be measured with DATA, as far as its bytes tell. What cannot be read here is the
// runner's to judge.
static etp_status check_model(const char *model, const data_files *data, etp_bytes bytes,
                              etp_arena *arena, etp_error *err)
{
    const etp_program *program = NULL;
    ETP_TRY(etp_model_check(model, bytes, err));
    if (etp_program_open(bytes, NULL, &program, NULL) != ETP_OK) {
        for (size_t i = 0; i < data->n; i++) {
            data->needed[i] = true; // as far as is known
        }
        return ETP_OK;
    }
    etp_status st = read_needs(model, program, data, arena, err);
    etp_program_close(program);
    return st;
}

// Before anything is launched: what is no program, or has not all its weights, ends the runner
// while it is loaded, launch after launch.
static etp_status check_models(const request *r, etp_error *err)
{
    const etp_session_plan_options *p = &r->o->plan;
    etp_arena *arena = r->arena;
    data_files data;
    etp_status st = open_data(p->settings.data, arena, &data, err);
    for (uint32_t i = 0; i < p->n_models && st == ETP_OK; i++) {
        etp_file file;
        st = etp_file_open(p->models[i], UINT64_MAX, &file, err);
        if (st == ETP_OK) {
            st = check_model(p->models[i], &data, file.bytes, arena, err);
            etp_file_close(&file);
        }
    }
    etp_str one, rest = etp_str_from(ETP_OR(data.list, ""));
    for (size_t i = 0; st == ETP_OK && etp_str_part(&rest, ',', &one); i++) {
        if (!data.needed[i]) {
            tell(r, "data       %.*s has no tensor that the program reads from such a file",
                 ETP_STR_ARG(one));
        }
    }
    for (size_t i = 0; data.files && i < data.n; i++) {
        etp_file_close(&data.files[i]);
    }
    return st;
}

// XNNPACK is built without code for some features of CPU.
static etp_status find_usable(const request *r, const etp_device_cpu *cpu,
                              etp_session_plan_options *p, etp_error *err)
{
    etp_isa_cpu *usable = ETP_NEW(r->arena, etp_isa_cpu);
    ETP_NEED(usable, err, "the plan");
    ETP_TRY(etp_kernels_usable_in(r->device->bundle.dir, &cpu->cpu, usable, err));
    p->usable = usable;
    return ETP_OK;
}

static etp_status make_plan(request *r, etp_session_plan *out, etp_error *err)
{
    etp_session_plan_options *p = &r->plan_options;
    etp_device_cpu cpu;
    // A stock runner cannot be asked what its CPU has: etprof-launch answers in its place.
    if (p->n_runners > 0) {
        ETP_TRY(etp_foreign_prepare(r->device, err));
        ETP_TRY(etp_foreign_probe(r->device, r->view, r->arena, &cpu, err));
    } else {
        ETP_TRY(etp_session_probe(r->device, p->timeout_s, r->view, r->arena, &cpu, err));
    }
    // A second that is spent only where a build may lack something.
    bool newest = etp_isa_has(&cpu.cpu, ETP_HAS_AMX) || etp_isa_has(&cpu.cpu, ETP_HAS_AVX10_2) ||
                  etp_isa_has(&cpu.cpu, ETP_HAS_AVX512_FP16) || etp_isa_has(&cpu.cpu, ETP_HAS_SME);
    if (p->n_runners == 0 && newest) {
        ETP_TRY(find_usable(r, &cpu, p, err));
    }
    if (r->o->settle) {
        ETP_TRY(r->o->settle(r->o->settle_ctx, r->device, &cpu, p, err));
    }
    // Names may say which platform they are of.
    for (size_t i = 0; p->level_names && i < p->n_levels; i++) {
        const char *name = p->level_names[i];
        const etp_expected_platform expected = {
            name ? etp_platform_of_name(name) : ETP_PLATFORM_UNKNOWN, "experiment", name};
        ETP_TRY(etp_platform_check(&expected, r->o->device, r->device->info.platform, err));
    }
    ETP_TRY(etp_cpus_resolve(r->device, p->settings.cpus, r->arena, &p->settings.cpus, err));
    bool alone = p->n_hide > 0;
    for (size_t i = 0; i < p->n_levels; i++) {
        etp_level level = etp_level_find(ETP_ISA_NONE, p->levels[i]);
        alone = alone || etp_level_hides_one(level);
    }
    if (p->n_runners == 0 && alone && !p->usable) {
        ETP_TRY(find_usable(r, &cpu, p, err));
    }
    return etp_session_plan_make(p, r->device, &cpu, r->arena, out, err);
}

static etp_status measure(request *r, etp_error *err)
{
    const etp_session_options *o = r->o;
    etp_session_plan planned;
    etp_str known = ETP_STR("");
    ETP_TRY(make_plan(r, &planned, err));
    // The kit's names say SME2 wherever they are measured: what stands in for it is said before
    // anything is measured.
    const etp_session_plan_options *p = &r->plan_options;
    const size_t phases = ETP_MAX(planned.n_phases, 1);
    const size_t each = p->n_levels ? planned.n_arms / (phases * p->n_models * p->n_levels) : 0;
    const etp_isa_cpu *cpu = &planned.cpu.cpu, *usable = ETP_OR(p->usable, cpu);
    const bool has = etp_isa_has(cpu, ETP_HAS_SME2), hidden = p->n_hide > 0;
    bool stands_in = false;
    etp_level level;
    for (size_t i = 0; p->level_names && i < p->n_levels && !hidden; i++) {
        const char *name = p->level_names[i], *word = p->levels[i];
        if (name && !stands_in && etp_isa_stands_for(usable, word, &level) &&
            strstr(name, "sme2") && etp_isa_best(usable) != ETP_LEVEL_SME2) {
            stands_in = true;
            tell(r, "NO SME2    this %s; other levels stand in, and nothing here is about SME2:",
                 has ? "runner's XNNPACK has no code for SME2, the CPU has it" : "CPU has no SME2");
        }
        if (name) {
            tell(r, "level      %s = %s", name,
                 etp_level_unsaid(planned.arms[i * each].level_name));
        }
    }
    if (o->instead) {
        return o->instead(o->instead_ctx, r->device, &planned, r->view, err);
    }
    // Before the folder is made: roofs that cannot be measured end the session, and leave nothing
    // behind.
    ETP_TRY(roofs(r, &known, err));
    ETP_TRY(folder(r, err));
    etp_os_lock lock = {0}; // a resumed folder is locked since before it was read
    if (!o->going_on) {
        ETP_TRY(etp_run_lock(r->view->dir, r->arena, &lock, err));
    }
    planned.dir = r->view->dir;
    planned.config = o->config;
    planned.resume = o->going_on;
    planned.command = o->command;
    planned.roofs = known;
    planned.state_dir = o->place.state_dir;
    planned.cache_dir = ".etprof/cache";
    etp_status st = etp_session_measure(r->device, &planned, r->view, err);
    etp_os_lock_release(&lock);
    return st;
}

// Settings that an earlier session left behind are part of what is measured now.
static void warn_of_journal(const request *r, const char *dir)
{
    etp_prepare_journals list;
    if (!dir || etp_prepare_list(dir, r->arena, &list, NULL) != ETP_OK) {
        return;
    }
    for (size_t i = 0; i < list.n; i++) {
        if (strcmp(list.items[i].spec, r->device->info.spec) == 0) {
            tell(r,
                 "%s still has the settings of an earlier session (--prepare %s); "
                 "'etprof doctor devices restore' undoes them",
                 r->device->info.spec, etp_prepare_mode_name(list.items[i].mode));
        }
    }
}

// The journal lies in the user's home and not in the run folder: a device that a killed session
// left set up is found again by any later command.
static etp_status prepare(const request *r, etp_prepare_mode mode, etp_error *err)
{
    const char *state = r->o->place.state_dir;
    const char *dir = state ? etp_arena_printf(r->arena, "%s/" ETP_PREPARE_DIR, state) : NULL;
    bool undone;
    if (mode == ETP_PREPARE_NONE) {
        warn_of_journal(r, dir);
        return ETP_OK;
    }
    if (!dir) {
        return etp_fail(
            err, ETP_ENVIRONMENT,
            "--prepare writes down what it changes in your home folder, and neither HOME "
            "nor XDG_STATE_HOME names one: set one of them");
    }
    ETP_TRY(etp_device_prepare(r->device, mode, dir, &undone, err));
    if (undone) {
        tell(r, "the settings that an earlier session had left on %s were restored first",
             r->device->info.spec);
    }
    tell(r, "%s was set up for this session (--prepare %s): %s; undone at the end",
         r->device->info.spec, etp_prepare_mode_name(mode), etp_prepare_sets(mode, r->arena));
    return ETP_OK;
}

// etprof-launch of this machine lies beside the program; else the bundle has one.
static const char *launcher_beside(const char *program, etp_arena *arena)
{
    const char *exe = etp_os_absolute(program, arena);
    etp_str folder = exe ? etp_path_folder(exe) : (etp_str){0};
    const char *path =
        folder.ptr ? etp_arena_printf(arena, "%.*s/etprof-launch", ETP_STR_ARG(folder)) : NULL;
    return etp_z_if(path && etp_os_is_executable(path), path);
}

etp_status etp_session_open_device(const etp_place *place, const char *spec, const char *runner,
                                   double timeout_s, etp_device **out, etp_error *err)
{
    etp_device_options how = {
        .spec = spec,
        .runner = ETP_OR(runner, place->runner),
        .qemu = place->qemu,
        .ssh_config = place->ssh_config,
        .android_serial = place->android_serial,
        .search_path = place->search_path,
        .program = place->program,
        .timeout_s = timeout_s,
        .work_root = place->work_dir,
    };
    return etp_device_open(&how, out, err);
}

etp_status etp_session_run(const etp_session_options *o, etp_session_view *view, etp_arena *arena,
                           etp_error *err)
{
    request r = {.o = o, .view = view, .plan_options = o->plan, .arena = arena};
    view->coverage = etp_session_coverage_of;
    r.plan_options.timeout_s = o->timeout;
    r.plan_options.patience_s = o->place.no_wait ? 0 : PATIENCE_S;
    choose_inputs(&r);
    etp_prepare_mode mode;
    ETP_TRY(etp_prepare_mode_read(o->prepare, &mode, err));
    // Who mistyped a name need not look for a runner first.
    ETP_TRY(check_models(&r, err));
    bool local = etp_device_kind_of(o->device) == ETP_DEVICE_LOCAL;
    const char *runner = o->runner;
    if (o->plan.n_runners > 0) { // the device needs no runner of ours
        runner = local ? launcher_beside(o->place.program, arena) : NULL;
    }
    ETP_TRY(etp_session_open_device(&o->place, o->device, runner, o->timeout, &r.device, err));
    // From here on the device may have other settings than its own.
    etp_status st = prepare(&r, mode, err);
    if (st == ETP_OK) {
        st = measure(&r, err);
    }
    // They are put back on every way out. The measurement counts, so that a failure is no error.
    etp_error why;
    if (etp_device_restore(r.device, &why) != ETP_OK) {
        const char *text = etp_arena_printf(r.arena,
                                            "the settings of %s could not be restored (%s): run "
                                            "'etprof doctor devices restore' here "
                                            "when it is back",
                                            r.device->info.spec, why.msg);
        r.view->not_restored = ETP_OR(text, "the device's settings could not be restored");
    }
    etp_device_close(r.device);
    return st;
}
