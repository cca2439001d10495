// SPDX-License-Identifier: Apache-2.0
// From what was asked for to what will be launched.
#include <math.h>
#include <stdio.h>

#include <etprof/stats.h>

#include "base/number.h"
#include "base/path.h"
#include "base/sha256.h"

#include "measure/foreign.h"
#include "measure/phases.h"
#include "measure/session.h"

#define MAX_ARMS 64

// ---- models ----

// Names that become folder and file names.
static bool is_plain(etp_str s)
{
    return etp_run_name_ok(s) && s.len <= 120 && s.ptr[0] != '.';
}

static const char *kind_of(const char *path, etp_bytes b)
{
    if (etp_str_ends(etp_str_from(path), ETP_STR(".py"))) {
        return "Python source: 'etprof export FILE.py:CLASS' makes a .pte of it";
    }
    // File identifiers of FlatBuffers stand at byte 4; an ETDump may have its size in front, which
    // moves its own to byte 8.
    const char *id = b.len >= 12 ? (const char *)b.ptr : "            ";
    if (memcmp(id + 4, "ED00", 4) == 0 || memcmp(id + 8, "ED00", 4) == 0) {
        return "an ETDump (a recording): see etprof ops";
    }
    if (memcmp(id + 4, "BP08", 4) == 0) {
        return "a bundled program; give the .pte it was made from";
    }
    if (memcmp(id + 4, "FT01", 4) == 0) {
        return "a .ptd data file";
    }
    if (memcmp(id, "PK\003\004", 4) == 0) {
        return "a zip archive, as torch.save and torch.export write them (.pt, .pt2): export it to "
               "a .pte first, with ExecuTorch or as 'etprof export --help' says";
    }
    if (memcmp(id + 4, "TFL3", 4) == 0) {
        return "a LiteRT (TensorFlow Lite) model; etprof measures ExecuTorch programs (.pte)";
    }
    return "not an ExecuTorch program (no ET12 at byte 4)";
}

etp_status etp_model_check(const char *path, etp_bytes bytes, etp_error *err)
{
    if (bytes.len == 0) {
        return etp_fail(err, ETP_CORRUPT, "%s is empty", path);
    }
    if (bytes.len < 12) {
        return etp_fail(err, ETP_CORRUPT, "%s is not an ExecuTorch program: it has only %zu bytes",
                        path, bytes.len);
    }
    if (memcmp(bytes.ptr + 4, "ET", 2) != 0) {
        return etp_fail(err, ETP_CORRUPT, "%s is %s", path, kind_of(path, bytes));
    }
    if (memcmp(bytes.ptr + 4, "ET12", 4) != 0) {
        return etp_fail(err, ETP_UNSUPPORTED,
                        "%s has program format '%.4s', this etprof knows ET12", path,
                        (const char *)bytes.ptr + 4);
    }
    return ETP_OK;
}

static etp_status read_model(const char *path, etp_arena *arena, etp_run_model *out,
                             const char **out_path, etp_error *err)
{
    etp_file file;
    ETP_TRY(etp_file_open(path, UINT64_MAX, &file, err));
    etp_status status = etp_model_check(path, file.bytes, err);
    if (status == ETP_OK) {
        char hex[ETP_SHA256_HEX_CHARS];
        etp_sha256_of(file.bytes.ptr, file.bytes.len, hex);
        out->bytes = file.bytes.len;
        out->sha256 = etp_str_from(etp_arena_strdup(arena, etp_str_from(hex)));
        *out_path = etp_os_absolute(path, arena);
        out->path = etp_str_from(*out_path);
        // Without folder and .pte: it goes into the names of nearly all files of the run folder.
        etp_str stem = etp_path_last(etp_str_from(path));
        stem.len -= etp_str_ends(stem, ETP_STR(".pte")) ? 4 : 0;
        out->stem = etp_str_from(etp_arena_strdup(arena, stem));
        status = etp_arena_check(arena, err, path);
        if (status == ETP_OK && !is_plain(out->stem)) {
            status = etp_fail(err, ETP_USAGE,
                              "%s: cannot make a folder name from this file name; rename it", path);
        }
    }
    if (status == ETP_OK) {
        status = etp_run_read_export(path, file.bytes, arena, out, err);
    }
    etp_file_close(&file);
    return status;
}

// ---- levels ----

// The N of LEVELS, those that hide one feature alone by its name. AVAILABLE_ON NULL: all of them,
// for who mistyped a name; else those that this CPU has.
static const char *names_of(const etp_level *levels, size_t n, const etp_isa_cpu *available_on,
                            etp_arena *arena)
{
    const char *text = "";
    for (size_t i = 0; i < n && text; i++) {
        if (!available_on || etp_level_state_of(available_on, levels[i]).available) {
            bool one = etp_level_hides_one(levels[i]);
            text = etp_arena_printf(arena, "%s%s%s", text, etp_if(text[0], ", "),
                                    one ? etp_isa_feature_name(etp_level_without(levels[i]))
                                        : etp_level_get(levels[i])->name);
        }
    }
    return text && text[0] ? text : "none";
}

static const char *level_list(etp_isa_family family, const etp_isa_cpu *available_on,
                              etp_arena *arena)
{
    etp_level levels[ETP_LEVEL_COUNT];
    return names_of(levels, etp_level_list(family, levels), available_on, arena);
}

// The features of this CPU that can be hidden one by one.
static const char *feature_list(const etp_isa_cpu *cpu, etp_arena *arena)
{
    etp_level levels[ETP_LEVEL_COUNT];
    return names_of(levels, etp_level_list_single(cpu->family, levels), cpu, arena);
}

// A word that is a level of another processor family is no typing error: the machine is the wrong
// one.
static etp_status check_level(const etp_session_plan_options *o, const char *name,
                              const etp_isa_cpu *cpu, etp_arena *arena, etp_level *out,
                              etp_error *err)
{
    if (etp_isa_stands_for(ETP_OR(o->usable, cpu), name, out)) {
        return *out ? ETP_OK : etp_fail(err, ETP_ENVIRONMENT, "no level of this CPU is %s", name);
    }
    *out = etp_level_find(cpu->family, name);
    if (*out == ETP_LEVEL_NONE) {
        bool elsewhere = etp_level_find(ETP_ISA_NONE, name) != ETP_LEVEL_NONE;
        return etp_fail(err, elsewhere ? ETP_ENVIRONMENT : ETP_USAGE, "%s %s; %s has: %s",
                        elsewhere ? "this processor has no level" : "unknown level", name,
                        etp_isa_family_name(cpu->family),
                        level_list(cpu->family, elsewhere ? cpu : NULL, arena));
    }
    etp_level_state state = etp_level_state_of(cpu, *out);
    bool alone = etp_level_hides_one(*out);
    bool coded = !o->usable || etp_level_state_of(o->usable, *out).available;
    if (alone && !state.available) {
        return etp_fail(err, ETP_ENVIRONMENT, "cannot hide %s: %s; it has: %s", name + 1, state.how,
                        feature_list(cpu, arena));
    }
    if (!state.available) {
        return etp_fail(err, ETP_ENVIRONMENT, "level %s cannot be had on this CPU: %s; it has: %s",
                        name, state.how, level_list(cpu->family, cpu, arena));
    }
    if (alone && !coded) {
        return etp_fail(err, ETP_ENVIRONMENT,
                        "hiding %s changes nothing: this runner's XNNPACK has no code for it; it "
                        "has code for: %s",
                        name + 1, feature_list(o->usable, arena));
    }
    if (!coded) {
        return etp_fail(err, ETP_ENVIRONMENT,
                        "level %s cannot be had with this runner: its XNNPACK has no code for it, "
                        "the CPU has the feature; it has: %s",
                        name, level_list(cpu->family, o->usable, arena));
    }
    return ETP_OK;
}

typedef struct level_choice {
    etp_level items[MAX_ARMS];
    const char *names[MAX_ARMS]; // as etp_session_plan_options.level_names
    size_t n;
} level_choice;

static etp_status add_level(const etp_session_plan_options *o, etp_level level, level_choice *out,
                            etp_error *err)
{
    for (size_t k = 0; k < out->n; k++) {
        // With names of their own two arms may run at one level: a config may ask for it.
        if (out->items[k] == level && o->n_names == 0 && !out->names[k]) {
            return etp_fail(err, ETP_USAGE, "level %s is given twice", etp_level_get(level)->name);
        }
    }
    if (out->n == MAX_ARMS) {
        return etp_fail(err, ETP_USAGE, "more than %d levels", MAX_ARMS);
    }
    out->items[out->n++] = level;
    return ETP_OK;
}

// `--hide each`
static etp_status add_each_hidden(const etp_session_plan_options *o, const etp_isa_cpu *cpu,
                                  level_choice *out, etp_error *err)
{
    etp_level single[ETP_LEVEL_COUNT];
    size_t n = etp_level_list_single(cpu->family, single);
    for (size_t i = 0; i < n; i++) {
        etp_level_state state = etp_level_state_of(ETP_OR(o->usable, cpu), single[i]);
        if (state.available && state.switchable) {
            ETP_TRY(add_level(o, single[i], out, err));
        }
    }
    return ETP_OK;
}

// Levels that hide one feature each, beside those that are given or the one that hides nothing.
static etp_status choose_hidden(const etp_session_plan_options *o, const etp_isa_cpu *cpu,
                                etp_arena *arena, level_choice *out, etp_error *err)
{
    if (out->n == 0) {
        ETP_TRY(add_level(o, etp_level_find(cpu->family, "best"), out, err));
    }
    for (size_t i = 0; i < o->n_hide; i++) {
        if (strcmp(o->hide[i], "each") == 0) {
            ETP_TRY(add_each_hidden(o, cpu, out, err));
            continue;
        }
        // A flag of the processor is hidden by the feature that it belongs to.
        const char *feature = etp_isa_feature_name(etp_isa_feature_of_flag(o->hide[i]));
        const char *name = etp_arena_printf(arena, "-%s", feature ? feature : o->hide[i]);
        etp_level level;
        ETP_NEED(name, err, "the plan");
        if (etp_level_find(ETP_ISA_NONE, name) == ETP_LEVEL_NONE) {
            return etp_fail(err, ETP_USAGE, "no feature %s; this CPU has: %s", o->hide[i],
                            feature_list(cpu, arena));
        }
        ETP_TRY(check_level(o, name, cpu, arena, &level, err));
        ETP_TRY(add_level(o, level, out, err));
    }
    if (out->n == 1) {
        return etp_fail(err, ETP_ENVIRONMENT, "no feature of this CPU can be hidden");
    }
    return ETP_OK;
}

static etp_status choose_levels(const etp_session_plan_options *o, const etp_isa_cpu *cpu,
                                etp_arena *arena, level_choice *out, etp_error *err)
{
    *out = (level_choice){0};
    if (o->n_levels > MAX_ARMS) {
        return etp_fail(err, ETP_USAGE, "more than %d levels", MAX_ARMS);
    }
    for (size_t i = 0; i < o->n_levels; i++) {
        etp_level level;
        ETP_TRY(check_level(o, o->levels[i], cpu, arena, &level, err));
        ETP_TRY(add_level(o, level, out, err));
        out->names[i] = o->level_names ? o->level_names[i] : NULL;
    }
    if (o->n_hide > 0) {
        return choose_hidden(o, cpu, arena, out, err);
    }
    if (out->n > 0) {
        return ETP_OK;
    }
    const etp_isa_cpu *usable = ETP_OR(o->usable, cpu);
    etp_level best = etp_isa_best(usable), plain = etp_isa_plain(usable);
    if (best != ETP_LEVEL_NONE && o->n_runners > 0 && cpu->family == ETP_ISA_X86_64) {
        best = ETP_LEVEL_BEST_X86_64; // as it is: what the build of others has is not known
    }
    if (best == ETP_LEVEL_NONE) {
        return etp_fail(err, ETP_ENVIRONMENT, "this processor's levels are unknown: give --levels");
    }
    out->items[out->n++] = best;
    // Several models or thread counts are a comparison already.
    bool one_model = o->n_models == 1 && o->n_threads <= 1 && !o->builds;
    if (one_model) {
        if (plain == ETP_LEVEL_NONE) {
            return etp_fail(err, ETP_ENVIRONMENT,
                            "this CPU has one level only (%s): nothing to compare with",
                            etp_level_get(best)->name);
        }
        out->items[out->n++] = plain;
    }
    return ETP_OK;
}

// ---- arms ----

static const char *experiment_name(const etp_session_plan_options *o, etp_platform platform,
                                   const level_choice *levels, size_t chosen,
                                   const etp_run_model *model, uint32_t threads,
                                   const etp_planned_phase *phase, etp_arena *arena)
{
    // The kit's names for its one comparison: tools that read its folders look for these.
    bool has_sme2 = false, has_neon = false;
    for (size_t i = 0; i < levels->n; i++) {
        has_sme2 = has_sme2 || levels->items[i] == ETP_LEVEL_SME2;
        has_neon = has_neon || levels->items[i] == ETP_LEVEL_NEON;
    }
    const etp_level level = levels->items[chosen];
    const char *word = etp_level_get(level)->name, *own = levels->names[chosen];
    if (has_sme2 && has_neon && level == ETP_LEVEL_SME2) {
        word = "sme2_on";
    } else if (has_sme2 && has_neon && level == ETP_LEVEL_NEON) {
        word = "sme2_off";
    }
    const char *name =
        own ? own : etp_arena_printf(arena, "%s_%s", etp_platform_name(platform), word);
    if (name && o->n_models > 1) { // the same experiment on another model is another experiment
        name = etp_arena_printf(arena, "%.*s_%s", ETP_STR_ARG(model->stem), name);
    }
    // Only what differs between the arms is in their names.
    if (name && o->n_threads > 1) {
        name = etp_arena_printf(arena, "%s_t%u", name, threads);
    }
    if (name && phase) {
        name = etp_arena_printf(arena, "%s_%s", name, phase->word);
    }
    return name;
}

static etp_status add_arm(const etp_session_plan_options *o, etp_platform platform,
                          const level_choice *levels, size_t chosen, uint32_t model,
                          uint32_t threads, uint32_t phase, etp_arena *arena, etp_session_plan *out,
                          etp_error *err)
{
    if (out->n_arms == MAX_ARMS) {
        return etp_fail(err, ETP_USAGE, "more than %d arms (models x levels x threads%s)", MAX_ARMS,
                        etp_if(out->n_phases > 0, " x phases"));
    }
    etp_planned_arm *a = &out->arms[out->n_arms];
    const etp_run_model *m = &out->models[model];
    // Arms of two builds, and those of the cache's states, are made one after the other.
    *a = (etp_planned_arm){.level = levels->items[chosen],
                           .level_name = etp_level_get(levels->items[chosen])->name,
                           .threads = threads,
                           .model = model,
                           .phase = phase,
                           .side = o->builds ? out->n_arms % 2 : 0,
                           .cache = o->n_caches ? o->caches[out->n_arms % o->n_caches]
                                                : ETP_CACHE_UNSAID};
    a->name = o->n_names > out->n_arms
                  ? etp_arena_strdup(arena, etp_str_from(o->names[out->n_arms]))
                  : experiment_name(o, platform, levels, chosen, m, threads,
                                    etp_session_phase_of(out, out->n_arms), arena);
    if (a->name && o->builds && o->n_names <= out->n_arms) {
        a->name = etp_arena_printf(arena, "%s_%c", a->name, "ab"[a->side]);
    }
    if (a->name && a->cache && o->n_names <= out->n_arms) {
        a->name = etp_arena_printf(arena, "%s_cache_%s", a->name, etp_packed_cache_name(a->cache));
    }
    a->prefix = etp_arena_printf(arena, "%.*s_%s_t%u", ETP_STR_ARG(m->stem), a->name, threads);
    etp_isa_mask mask = etp_level_mask(a->level);
    (void)etp_isa_mask_format(&mask, a->mask, sizeof a->mask); // every level's has room
    ETP_TRY(etp_arena_check(arena, err, "the plan"));          // the name is looked at
    if (!is_plain(etp_str_from(a->name)) || strchr(a->name, ',') || strlen(a->prefix) > 180) {
        return etp_fail(err, ETP_USAGE, "experiment name \"%s\" cannot name a folder", a->name);
    }
    // A name is a folder of the run folder, so it must be one arm's alone.
    for (uint32_t i = 0; i < out->n_arms; i++) {
        if (strcmp(out->arms[i].name, a->name) == 0) {
            return etp_fail(err, ETP_USAGE,
                            "two arms are called %s: give models, levels and threads that differ",
                            a->name);
        }
    }
    out->n_arms++;
    return ETP_OK;
}

static etp_status make_phase_arms(const etp_session_plan_options *o, etp_platform platform,
                                  const level_choice *levels, uint32_t phase, etp_arena *arena,
                                  etp_session_plan *out, etp_error *err)
{
    size_t n_threads = ETP_MAX(o->n_threads, 1);
    size_t sides = ETP_MAX(o->n_caches, 1);
    sides = o->builds ? 2 : sides;
    for (size_t m = 0; m < o->n_models; m++) {
        for (size_t l = 0; l < levels->n; l++) {
            for (size_t t = 0; t < n_threads * sides; t++) {
                // Each thread count comes once for each build, or state of the cache, in a row.
                uint32_t threads = o->n_threads ? o->threads[t / sides] : 1;
                if (threads < 1 || threads > 1024) {
                    return etp_fail(err, ETP_USAGE, "threads: %u is not in 1 to 1024", threads);
                }
                ETP_TRY(
                    add_arm(o, platform, levels, l, (uint32_t)m, threads, phase, arena, out, err));
            }
        }
    }
    return ETP_OK;
}

static etp_status make_arms(const etp_session_plan_options *o, etp_platform platform,
                            const etp_isa_cpu *cpu, etp_arena *arena, etp_session_plan *out,
                            etp_error *err)
{
    level_choice levels;
    for (size_t i = 0; i < o->n_caches; i++) {
        for (size_t k = 0; k < i; k++) {
            if (o->caches[i] == o->caches[k]) {
                return etp_fail(err, ETP_USAGE, "--packed-cache names '%s' twice",
                                etp_packed_cache_name(o->caches[i]));
            }
        }
    }
    if (o->n_caches > 0 && (o->builds || o->n_runners > 0)) {
        return etp_fail(err, ETP_USAGE,
                        "--packed-cache needs one runner, etprof's own: leave out --runner, "
                        "--runner-a and --runner-b");
    }
    ETP_TRY(choose_levels(o, cpu, arena, &levels, err));
    out->arms = ETP_NEW_ARRAY(arena, etp_planned_arm, MAX_ARMS);
    ETP_NEED(out->arms, err, "the plan");
    // Every phase has the same arms in the same order, so that the same arm of another phase is
    // found by arithmetic.
    for (uint32_t p = 0; p < ETP_MAX(out->n_phases, 1); p++) {
        ETP_TRY(make_phase_arms(o, platform, &levels, p, arena, out, err));
    }
    if (o->n_names > 0 && o->n_names != out->n_arms) {
        return etp_fail(err, ETP_USAGE, "%zu experiment names for %u arms", o->n_names,
                        out->n_arms);
    }
    return ETP_OK;
}

// A level names its arm as long as only one arm has it.
static const char *arm_of_level(const etp_session_plan *plan, uint32_t n_arms, const char *wanted)
{
    const char *found = wanted;
    uint32_t n = 0;
    for (uint32_t i = 0; wanted && i < n_arms; i++) {
        if (strcmp(plan->arms[i].name, wanted) == 0) {
            return wanted;
        }
        if (strcmp(etp_level_unsaid(plan->arms[i].level_name), wanted) == 0) {
            found = n == 0 ? plan->arms[i].name : found;
            n++;
        }
    }
    return n == 1 ? found : wanted;
}

static etp_status choose_baseline(const etp_session_plan_options *o, etp_arena *arena,
                                  etp_session_plan *out, etp_error *err)
{
    // Chosen among the arms of the first phase; in the others it is the arm at the same place.
    uint32_t n = out->n_phases > 0 ? out->n_arms / out->n_phases : out->n_arms;
    if (o->builds) {
        out->baseline = 0; // and of each other model and phase the arm before the candidate
        return ETP_OK;
    }
    etp_arm_name *names = ETP_NEW_ARRAY(arena, etp_arm_name, n);
    ETP_NEED(names, err, "the plan");
    size_t single = 0;
    for (uint32_t i = 0; i < n; i++) {
        single += etp_level_hides_one(out->arms[i].level);
    }
    for (uint32_t i = 0; i < n; i++) {
        names[i] = (etp_arm_name){etp_str_from(out->arms[i].name),
                                  etp_level_rank(out->arms[i].level, single)};
    }
    // The rule is shared with the reader of folders, so that a plan and its answer agree.
    ETP_TRY(etp_choose_baseline(names, n, etp_str_from(arm_of_level(out, n, o->baseline)),
                                (etp_str){0}, &out->baseline, err));
    if (!o->baseline) {
        // Of the arms that differ in their threads and the cache of packed weights alone: fewest
        // threads, then the first state of the cache. Which was named first says nothing, as with
        // levels.
        for (uint32_t i = 0; i < n; i++) {
            const etp_planned_arm *a = &out->arms[i], *least = &out->arms[out->baseline];
            bool less = a->threads < least->threads ||
                        (a->threads == least->threads && a->cache < least->cache);
            if (a->model == least->model && a->level == least->level && less) {
                out->baseline = i;
            }
        }
    }
    return ETP_OK;
}

// ---- the rest ----

static etp_status set_counts(const etp_session_plan_options *o, bool emulated,
                             etp_session_plan *out, etp_error *err)
{
    etp_settings *set = &out->settings;
    ETP_TRY(etp_settings_check(set, err));
    out->blocks_exact = set->blocks > 0;
    if (!(set->precision >= 0 && set->precision < 1)) {
        return etp_fail(err, ETP_USAGE, "precision: %s %% is not below 100 %%",
                        ETP_DIGITS(100 * set->precision, 6));
    }
    if (set->precision > 0 && (out->n_arms < 2 || emulated)) {
        return etp_fail(err, ETP_USAGE, "precision is of a speedup: %s",
                        emulated ? "an emulator's times have none" : "there is one arm only");
    }
    if (emulated) { // minutes per launch, and the times mean nothing
        set->warmup = ETP_MAX(set->warmup, 1);
        set->iterations = set->iterations ? set->iterations : 3;
    }
    // Something else than the number of blocks ends such a session; then the number is only a
    // bound.
    bool open = set->budget_s > 0 || set->precision > 0;
    uint32_t usual = open ? ETP_BUDGET_BLOCKS : ETP_DEFAULT_BLOCKS, most = emulated ? 1 : usual;
    out->blocks = set->blocks ? (uint32_t)set->blocks : most;
    set->blocks = out->blocks;
    out->control_blocks = ETP_CONTROL_BLOCKS;
    if (o->no_control || emulated || out->n_arms < 2) {
        out->control_blocks = 0;
    }
    double unasked = emulated ? 600 : 60, seconds = o->timeout_s > 0 ? o->timeout_s : unasked;
    // Tests ask for very little; a day is for ever, and no product of it wraps.
    seconds = fmin(fmax(seconds, 0.05), 86400);
    out->timeout_ns = (uint64_t)(seconds * 1e9);
    double patience = set->budget_s > 0 ? fmin(o->patience_s, set->budget_s / 4) : o->patience_s;
    out->patience_ns = emulated ? 0 : (uint64_t)(patience * 1e9);
    if (set->kernels && emulated) {
        return etp_fail(
            err, ETP_ENVIRONMENT,
            "program counters cannot be sampled under emulation (signals break SME state "
            "there, and the counters would be the emulator's); leave out --kernels always");
    }
    return ETP_OK;
}

const etp_planned_phase *etp_session_phase_of(const etp_session_plan *plan, uint32_t arm)
{
    return plan->n_phases > 0 ? &plan->phases[plan->arms[arm].phase] : NULL;
}

uint32_t etp_session_baseline_of(const etp_session_plan *plan, uint32_t arm)
{
    uint32_t each = plan->n_phases > 0 ? plan->n_arms / plan->n_phases : plan->n_arms;
    // Pairs of builds stand side by side, the baseline's first: arm minus its side.
    if (plan->n_builds > 0) {
        return arm - plan->arms[arm].side;
    }
    return plan->arms[arm].phase * each + plan->baseline;
}

bool etp_session_is_control(const etp_session_plan *plan, uint32_t arm)
{
    // Two builds have one control for the whole session, that of the first pair; phases have one
    // each, because their noise differs.
    bool phases = plan->n_phases > 0 && plan->n_builds == 0;
    return arm == (phases ? etp_session_baseline_of(plan, arm) : plan->baseline);
}

// Absolute paths and hashes of the files of LIST (NULL: none), which people know as WHAT.
static etp_status hash_files(const char *list, const char *what, etp_arena *arena,
                             etp_session_plan *plan, const char **out_paths, etp_str *out_hashes,
                             uint64_t *out_bytes, etp_error *err)
{
    const char *paths = NULL, *hashes = NULL;
    uint64_t sum = 0;
    for (etp_str one, rest = etp_str_from(ETP_OR(list, "")); etp_settings_next_file(&rest, &one);) {
        char hex[ETP_SHA256_HEX_CHARS];
        uint64_t bytes;
        etp_planned_file f;
        const char *path = etp_arena_strdup(arena, one);
        if (!etp_os_is_file(path)) {
            return etp_os_fail_absent(what, path, ETP_IO, err);
        }
        // Absolute, since the manifest is read from other working directories.
        f.path = etp_os_absolute(path, arena);
        ETP_NEED(f.path, err, path); // NULL would say that none was asked for
        f.mark = etp_os_mark_of(f.path);
        ETP_TRY(etp_os_hash_file(f.path, hex, &bytes, err));
        sum += bytes;
        f.sha256 = etp_arena_strdup(arena, etp_str_from(hex));
        ETP_ADD(arena, &plan->files, f);
        paths = paths ? etp_arena_printf(arena, "%s,%s", paths, f.path) : f.path;
        hashes = hashes ? etp_arena_printf(arena, "%s,%s", hashes, f.sha256) : f.sha256;
        ETP_NEED(paths && hashes, err, what);
    }
    *out_paths = paths;
    *out_hashes = etp_str_from(hashes);
    if (out_bytes) {
        *out_bytes = sum;
    }
    return ETP_OK;
}

// Per model: the same arrays may lie differently in memory. TEXT: a prompt is all that a runner of
// language models gets.
static etp_status prepare_inputs(const etp_session_plan_options *o, const etp_device *device,
                                 bool text, etp_arena *arena, etp_session_plan *out, etp_error *err)
{
    const char *fallback = o->n_runners ? "ones" : "random:0"; // a stock runner fills in ones
    const char *spec = o->settings.inputs && !text ? o->settings.inputs : fallback;
    out->inputs = ETP_NEW_ARRAY(arena, etp_inputs, out->n_models);
    ETP_NEED(out->inputs, err, "inputs");
    const char *given = etp_z_if(etp_input_kind_of(spec) == ETP_INPUTS_FILES, spec);
    ETP_TRY(hash_files(given, "input", arena, out, &given, &out->hashes.inputs, NULL, err));
    for (size_t m = 0; m < out->n_models; m++) {
        const char *dir = etp_arena_printf(arena, "%s/inputs-%zu", device->work_dir, m);
        ETP_TRY(etp_inputs_prepare(spec, out->model_paths[m], o->settings.method, dir, arena,
                                   &out->inputs[m], err));
    }
    out->settings.inputs = out->inputs[0].spec;
    const char *shapes = out->inputs[0].shapes;
    for (size_t m = 1; m < out->n_models; m++) {
        const char *other = out->inputs[m].shapes;
        if (!shapes != !other || (shapes && strcmp(shapes, other) != 0)) {
            return etp_fail(err, ETP_USAGE,
                            "--inputs are of other shapes than %s takes: measure the models apart",
                            out->model_paths[m]);
        }
    }
    if (shapes && !out->settings.shape) { // a phase of their shapes
        out->settings.shape = shapes;
    }
    return ETP_OK;
}

static etp_status make_plan(const etp_session_plan_options *options, const etp_device *device,
                            const etp_device_cpu *cpu, etp_arena *arena, etp_session_plan *out,
                            etp_error *err)
{
    *out = (etp_session_plan){.cpu = *cpu, .settings = options->settings};
    // 53 bits, so that every reader of JSON gives it back exactly.
    if (!out->settings.seed) {
        out->settings.seed = etp_os_random_u64() & ETP_MAX_SEED;
    }
    if (options->n_models == 0 || options->n_models > MAX_ARMS) {
        return etp_fail(err, ETP_USAGE, "give 1 to %d models", MAX_ARMS);
    }
    out->models = ETP_NEW_ARRAY(arena, etp_run_model, options->n_models);
    out->model_paths = ETP_NEW_ARRAY(arena, const char *, options->n_models);
    ETP_NEED(out->models && out->model_paths, err, "the plan");
    out->n_models = options->n_models;
    for (size_t i = 0; i < options->n_models; i++) {
        etp_planned_file f = {.mark = etp_os_mark_of(options->models[i])};
        ETP_TRY(read_model(options->models[i], arena, &out->models[i], &out->model_paths[i], err));
        f.path = out->model_paths[i];
        f.sha256 = out->models[i].sha256.ptr;
        ETP_ADD(arena, &out->files, f);
    }
    // The order matters: shapes of inputs make a phase, arms are multiplied by phases, counts
    // depend on the number of arms, and runners of others are checked against inputs and counts.
    // Of these only the kind is wanted here: the arms, which get the builds, are not made yet.
    bool text = false; // somebody else's runner of language models answers
    for (size_t i = 0; i < options->n_runners; i++) {
        etp_foreign *first = ETP_NEW(arena, etp_foreign);
        ETP_NEED(first, err, "phases");
        ETP_TRY(etp_foreign_inspect(options->runners[i], options->settings.tokenizer != NULL, arena,
                                    first, err));
        text = text || first->kind == ETP_FOREIGN_TEXT;
    }
    ETP_TRY(prepare_inputs(options, device, text, arena, out, err));
    etp_settings *set = &out->settings;
    if (text) {
        ETP_TRY(etp_foreign_text_settle(set, arena, err));
    }
    if (set->prefill || set->decode || set->shape) {
        if (options->n_runners > 0 && !text) {
            return etp_fail(
                err, ETP_USAGE,
                "phases need etprof's own runner, which takes a model step by step, or one "
                "of language models (llama_main, with --tokenizer): leave out --runner");
        }
        const char *dir = etp_arena_printf(arena, "%s/steps", device->work_dir);
        ETP_TRY(etp_os_mkdirs(dir, err));
        ETP_TRY(etp_phases_make(set, &out->inputs[0], out->model_paths, out->n_models, dir, arena,
                                &out->phases, &out->n_phases, err));
        if (text) {
            ETP_TRY(etp_foreign_text_phases(out, arena, err));
        }
    }
    ETP_TRY(make_arms(options, device->info.platform, &cpu->cpu, arena, out, err));
    ETP_TRY(choose_baseline(options, arena, out, err));
    ETP_TRY(set_counts(options, device->info.emulated, out, err));
    ETP_TRY(hash_files(set->data, "data file", arena, out, &set->data, &out->hashes.data,
                       &out->hashes.data_bytes, err));
    ETP_TRY(hash_files(set->tokenizer, "tokenizer", arena, out, &set->tokenizer,
                       &out->hashes.tokenizer, NULL, err));
    // Of two builds, or of runners of others, builds and arms have the hashes.
    const etp_bundle *b = &device->bundle;
    if (options->n_runners == 0 && !options->builds && b->sdk_digest && b->sdk_digest[0]) {
        const char *hash = NULL;
        ETP_TRY(etp_bundle_hash(b, arena, &hash, err));
        out->hashes.bundle = etp_str_from(hash);
    }
    if (set->kernels_lib) {
        if (options->n_runners > 0) {
            return etp_fail(err, ETP_USAGE,
                            "--custom-ops is loaded by etprof's own runner: leave out --runner, or "
                            "build the kernels into yours");
        }
        ETP_TRY(hash_files(set->kernels_lib, "library of kernels", arena, out, &set->kernels_lib,
                           &out->hashes.kernels_lib, NULL, err));
    }
    ETP_TRY(etp_foreign_plan(options, arena, out, err));
    return etp_builds_plan(options, device, arena, out, err);
}

// A plan that lacks a text would measure something else: it is asked here, once, before anything of
// it is launched. Where memory ran out, that is the reason, whatever was made of what is missing.
etp_status etp_session_plan_make(const etp_session_plan_options *options, const etp_device *device,
                                 const etp_device_cpu *cpu, etp_arena *arena, etp_session_plan *out,
                                 etp_error *err)
{
    etp_status made = make_plan(options, device, cpu, arena, out, err);
    ETP_TRY(etp_arena_check(arena, err, "the plan"));
    return made;
}
