// SPDX-License-Identifier: Apache-2.0
// From the rows of store/options.def to a session.
#include "session/arguments.h"

#include <string.h>

#include "base/number.h"

typedef struct row {
    const char *name;
    size_t offset, size;
    bool resume; // may be given with --resume
} row;

static const row k_rows[] = {
#define OPTION(where, field, type, key, limit, verbs, resume, name, ...) \
    {name, ETP_AT_##where(field), sizeof(ETP_C_##type), resume},
#include "store/options.def"
};
#define N_ROWS (sizeof k_rows / sizeof *k_rows)

// What is zero counts as not given. A zero that was typed asks for the default, and so it comes to
// the same.
static bool is_given(const etp_session_options *typed, const row *r)
{
    static const char k_zero[sizeof(etp_opt_list)] = {0};
    return memcmp((const char *)typed + r->offset, k_zero, r->size) != 0;
}

// "NAME=LEVEL" is a level and what its arms are called.
static etp_status parse_levels(const etp_opt_list *list, etp_arena *arena,
                               etp_session_plan_options *out, etp_error *err)
{
    const char **names = ETP_NEW_ARRAY(arena, const char *, list->n);
    const char **levels = ETP_NEW_ARRAY(arena, const char *, list->n);
    ETP_NEED(names && levels, err, "options");
    for (size_t i = 0; i < list->n; i++) {
        const char *equals = strrchr(list->items[i], '='); // no level has one
        const etp_str name = {list->items[i], equals ? (size_t)(equals - list->items[i]) : 0};
        names[i] = equals ? etp_arena_strdup(arena, name) : NULL;
        levels[i] = equals ? equals + 1 : list->items[i];
    }
    out->levels = levels;
    out->level_names = names;
    out->n_levels = list->n;
    return etp_arena_check(arena, err, "options");
}

static etp_status parse_threads(const etp_opt_list *list, etp_arena *arena, const uint32_t **out,
                                etp_error *err)
{
    uint32_t *threads = ETP_NEW_ARRAY(arena, uint32_t, list->n);
    ETP_NEED(threads, err, "options");
    for (size_t i = 0; i < list->n; i++) {
        uint64_t v = 0;
        if (!etp_parse_u64(etp_str_from(list->items[i]), &v) || v == 0 || v > 1024) {
            return etp_fail(err, ETP_USAGE, "--threads takes numbers from 1 to 1024, not '%s'",
                            list->items[i]);
        }
        threads[i] = (uint32_t)v;
    }
    *out = threads;
    return ETP_OK;
}

static etp_status parse_sample(const char *when, etp_settings *out, etp_error *err)
{
    static const char *const k_when[] = {"auto", "always", "never"};
    size_t i = 0;
    while (when && i < sizeof k_when / sizeof *k_when && strcmp(k_when[i], when) != 0) {
        i++;
    }
    out->kernels = i == 1;
    out->no_kernels = i == 2;
    return i < sizeof k_when / sizeof *k_when
               ? ETP_OK
               : etp_fail(err, ETP_USAGE, "--kernels takes always, never or auto, not '%s'", when);
}

// "N@D,..." is both settings of decoding.
static etp_status parse_decode(etp_settings *set, etp_arena *arena, etp_error *err)
{
    const etp_str typed = etp_str_from(ETP_OR(set->decode, ""));
    const size_t at = etp_str_find(typed, ETP_STR("@"));
    if (at == typed.len) {
        return ETP_OK;
    }
    if (at == 0 || at + 1 == typed.len) {
        return etp_fail(err, ETP_USAGE, "--decode takes N or N@D,..., not '%s'", typed.ptr);
    }
    set->depth = typed.ptr + at + 1;
    set->decode = etp_arena_strdup(arena, (etp_str){typed.ptr, at});
    return etp_arena_check(arena, err, "options");
}

etp_status etp_session_options_of(const etp_session_options *typed, etp_arena *arena,
                                  etp_session_options *out, etp_error *err)
{
    // A folder that somebody names is meant exactly: it must not silently become NAME.2.
    *out = *typed;
    out->plan.hide = typed->hide.items;
    out->plan.n_hide = typed->hide.n;
    out->plan.n_threads = typed->threads.n;
    out->plan.baseline = typed->baseline;
    out->dir = typed->out;
    out->exact = typed->out != NULL;
    out->inputs_beside = true;
    if (typed->sustain > 0) { // as many blocks as fit, whatever they have shown
        etp_settings *set = &out->plan.settings;
        if (set->budget_s > 0 || set->precision > 0) {
            return etp_fail(err, ETP_USAGE, "--sustain says how long: leave out --%s",
                            set->budget_s > 0 ? "budget" : "precision");
        }
        set->budget_s = typed->sustain;
        set->blocks = ETP_OR(set->blocks, ETP_MAX_BLOCKS);
    }
    ETP_TRY(parse_levels(&typed->levels, arena, &out->plan, err));
    ETP_TRY(etp_settings_check(&typed->plan.settings, err));
    ETP_TRY(parse_decode(&out->plan.settings, arena, err));
    ETP_TRY(parse_sample(typed->sample, &out->plan.settings, err));
    out->plan.settings.cold_loads = typed->price;
    const etp_opt_list *list = &typed->packed_cache;
    etp_packed_cache *states = ETP_NEW_ARRAY(arena, etp_packed_cache, list->n + 1);
    ETP_NEED(states, err, "options");
    for (size_t i = 0; i < list->n; i++) {
        if (!etp_packed_cache_find(etp_str_from(list->items[i]), &states[i])) {
            return etp_fail(err, ETP_USAGE, "--packed-cache takes off, cold and warm, not '%s'",
                            list->items[i]);
        }
    }
    out->plan.caches = states;
    out->plan.n_caches = list->n;
    return parse_threads(&typed->threads, arena, &out->plan.threads, err);
}

etp_status etp_session_again_of(const etp_session_options *typed, const char *operands,
                                etp_session_options *out, etp_error *err)
{
    *out = *typed;
    out->dir = typed->resume;
    const char *name = NULL;
    for (size_t i = 0; i < N_ROWS && !name; i++) {
        const row *r = &k_rows[i];
        name = !r->resume && is_given(typed, r) ? r->name : NULL;
    }
    if (!operands && !name) {
        return ETP_OK;
    }
    return etp_fail(err, ETP_USAGE, "--resume goes on with the plan in its folder: leave out %s%s",
                    etp_if(!operands, "--"), ETP_OR(operands, name));
}
