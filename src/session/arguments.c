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
#define OPTION(where, field, type, key, limit, ab, run, resume, config, name, ...) \
    {name, ETP_AT_##where(field), sizeof(ETP_C_##type), resume},
#include "store/options.def"
};
#define N_ROWS (sizeof k_rows / sizeof *k_rows)

// What is zero counts as not given. A zero that was typed asks for the default, and so it comes to
// the same.
static bool is_given(const etp_session_arguments *arguments, const row *r)
{
    static const char k_zero[sizeof(etp_opt_list)] = {0};
    return memcmp((const char *)arguments + r->offset, k_zero, r->size) != 0;
}

void etp_session_arguments_override(const etp_session_arguments *typed,
                                    etp_session_arguments *config)
{
    for (size_t i = 0; i < N_ROWS; i++) {
        if (is_given(typed, &k_rows[i])) {
            memcpy((char *)config + k_rows[i].offset, (const char *)typed + k_rows[i].offset,
                   k_rows[i].size);
        }
    }
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

etp_status etp_session_options_of(const etp_session_arguments *arguments, etp_arena *arena,
                                  etp_session_options *out, etp_error *err)
{
    const etp_session_call *call = &arguments->call;
    // A folder that somebody names is meant exactly: it must not silently become NAME.2.
    *out = (etp_session_options){
        .plan = {.levels = call->levels.items,
                 .n_levels = call->levels.n,
                 .hide = call->hide.items,
                 .n_hide = call->hide.n,
                 .which_feature = call->which_feature,
                 .n_threads = call->threads.n,
                 .baseline = call->baseline,
                 .settings = arguments->settings},
        .call = *call,
        .dir = call->out,
        .exact = call->out != NULL,
        .inputs_beside = true
    };
    ETP_TRY(etp_settings_check(&arguments->settings, err));
    return parse_threads(&call->threads, arena, &out->plan.threads, err);
}

static bool says_how_far(const char *name)
{
    static const char *const k_how_far[] = {"blocks", "budget", "precision"};
    for (size_t i = 0; i < sizeof k_how_far / sizeof *k_how_far; i++) {
        if (strcmp(k_how_far[i], name) == 0) {
            return true;
        }
    }
    return false;
}

etp_status etp_session_again_of(const etp_session_arguments *arguments, const char *operands,
                                etp_session_again *out, etp_error *err)
{
    const bool extend = arguments->call.extend != NULL;
    *out = (etp_session_again){
        .dir = extend ? arguments->call.extend : arguments->call.resume,
        .call = arguments->call,
        .resume = true,
        // Of the settings only those that say how far it goes; the rest is the folder's.
        .extend = extend ? &arguments->settings : NULL,
    };
    const char *name = NULL;
    if (arguments->call.resume && extend) {
        return etp_fail(
            err, ETP_USAGE,
            "--resume goes on with an unfinished session, --extend with a finished one: "
            "leave out one of them");
    }
    for (size_t i = 0; i < N_ROWS && !name; i++) {
        const row *r = &k_rows[i];
        bool free = r->resume || (extend && says_how_far(r->name));
        name = !free && is_given(arguments, r) ? r->name : NULL;
    }
    if (!operands && !name) {
        return ETP_OK;
    }
    return etp_fail(err, ETP_USAGE, "--%s goes on with the plan in its folder: leave out %s%s",
                    extend ? "extend" : "resume", operands ? "" : "--", operands ? operands : name);
}
