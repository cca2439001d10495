// SPDX-License-Identifier: Apache-2.0
// From the options of the measuring verbs to those of a session.
#include "cli/session_options.h"

#include <string.h>

#include "base/number.h"

etp_status etp_threads_parse(etp_cli *cli, const etp_opt_list *list, const uint32_t **out,
                             etp_error *err)
{
    uint32_t *threads = ETP_NEW_ARRAY(&cli->arena, uint32_t, list->n);
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

void etp_session_arguments_override(const etp_opt *table, const etp_session_arguments *arguments,
                                    etp_session_arguments *config)
{
    for (const etp_opt *o = table; o->name; o++) {
        // A verb's struct begins with the arguments of the session; rows beyond them are the verb's
        // own.
        if (o->offset < sizeof *arguments && etp_option_is_given(o, arguments)) {
            memcpy((char *)config + o->offset, (const char *)arguments + o->offset,
                   etp_option_size(o->type));
        }
    }
}

etp_status etp_session_plan_options_from_arguments(const etp_session_arguments *g,
                                                   etp_session_plan_options *out, etp_error *err)
{
    *out = (etp_session_plan_options){.levels = g->levels.items,
                                      .n_levels = g->levels.n,
                                      .baseline = g->baseline,
                                      .settings = g->settings,
                                      .timeout_s = g->timeout};
    return g->settings.blocks > ETP_MAX_BLOCKS
               ? etp_fail(err, ETP_USAGE, "--blocks is at most %d", ETP_MAX_BLOCKS)
               : ETP_OK;
}

etp_status etp_resume_check(const etp_opt *table, const etp_session_arguments *opts,
                            const char *operands, etp_error *err)
{
    static const char *const k_how_far[] = {"blocks", "budget", "precision", "min-blocks"};
    if (opts->resume && opts->extend) {
        return etp_fail(
            err, ETP_USAGE,
            "--resume goes on with an unfinished session, --extend with a finished one: "
            "leave out one of them");
    }
    // how it is shown, and what may differ from one half of a session to the other
#define FREE_0(name)
#define FREE_1(name) name,
    static const char *const k_free[] = {
#define OPTION(where, field, type, key, limit, ab, sweep, run, resume, config, name, ...) \
    FREE_##resume(name)
#include "store/options.def"
        NULL};
    const char *allowed[sizeof k_free / sizeof *k_free + sizeof k_how_far / sizeof *k_how_far];
    size_t n = 0;
    for (size_t i = 0; opts->extend && i < sizeof k_how_far / sizeof *k_how_far; i++) {
        allowed[n++] = k_how_far[i];
    }
    memcpy(allowed + n, k_free, sizeof k_free); // with its end
    const char *name = etp_option_given(table, opts, allowed);
    if (!operands && !name) {
        return ETP_OK;
    }
    return etp_fail(err, ETP_USAGE, "--%s goes on with the plan in its folder: leave out %s%s",
                    opts->extend ? "extend" : "resume", operands ? "" : "--",
                    operands ? operands : name);
}
