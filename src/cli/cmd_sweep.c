// SPDX-License-Identifier: Apache-2.0
// etprof sweep: models × levels × threads in one session of paired blocks, and what the factors do
// alone and together.
#include <stddef.h>

#include "cli/measure.h"
#include "cli/say.h"
#include "cli/session_options.h"
#include "cli/show_ab.h"
#include "study/sweep/sweep.h"

typedef struct sweep_options {
    etp_session_arguments session;
    etp_opt_list models;
} sweep_options;

static const etp_opt k_options[] = {
    {"models", 'm', ETP_OPT_LIST, offsetof(sweep_options, models), "A.pte,...",
     "models, beside those named as operands", NULL},
#define OPTION(where, field, type, key, limit, ab, sweep, run, resume, config, ...) \
    ETP_ROW_##sweep(where, field, type, __VA_ARGS__)
#include "store/options.def"
    {0},
};

static etp_status all_models(etp_cli *cli, const sweep_options *o, int argc, char **argv,
                             etp_session_plan_options *out, etp_error *err)
{
    size_t n = 0;
    const char **models = ETP_NEW_ARRAY(&cli->arena, const char *, o->models.n + (size_t)argc + 1);
    ETP_NEED(models, err, "options");
    for (int i = 0; i < argc; i++) {
        models[n++] = argv[i];
    }
    for (size_t i = 0; i < o->models.n; i++) {
        models[n++] = o->models.items[i];
    }
    if (n == 0) {
        return etp_fail(err, ETP_USAGE,
                        "name the models: --models a.pte,b.pte (or --resume DIR, --extend DIR); "
                        "see 'etprof help sweep'");
    }
    out->models = models;
    out->n_models = n;
    return ETP_OK;
}

static etp_status measure_new(etp_cli *cli, const sweep_options *o, int argc, char **argv,
                              const char **out_dir, etp_error *err)
{
    etp_session_options options;
    etp_session_plan_options *plan = &options.plan;
    ETP_TRY(etp_session_options_of(&o->session, &cli->arena, &options, err));
    ETP_TRY(all_models(cli, o, argc, argv, plan, err));
    const etp_session_call *c = &o->session.call;
    ETP_TRY(
        etp_session_runners(c->runner, NULL, NULL, &cli->arena, plan, &options.call.runner, err));
    const char *note = NULL;
    ETP_TRY(etp_sweep_prepare(plan, &cli->arena, &options.inputs_beside, &note, err));
    if (note && !cli->quiet) {
        etp_say("models     %s\n", note);
    }
    return etp_cli_measure(cli, &options, out_dir, err);
}

static etp_status run(etp_cli *cli, const void *opts, int argc, char **argv, etp_error *err)
{
    const sweep_options *o = opts;
    const etp_session_call *c = &o->session.call;
    const char *dir = NULL;
    if (c->resume || c->extend) {
        const char *operands = argc > 0 || o->models.n > 0 ? "the models" : NULL;
        ETP_TRY(etp_cli_resume(cli, &o->session, operands, &dir, err));
    } else {
        ETP_TRY(measure_new(cli, o, argc, argv, &dir, err));
    }
    etp_ab_options answer = {.margin = c->margin};
    return etp_show_measured(cli, dir, &answer, c, true, err);
}

const etp_command etp_cmd_sweep = {
    .name = "sweep",
    .grouped = true,
    .summary = "models x levels x threads in one session: what pays, and where",
    .usage = "--models A.pte,B.pte [--levels LEVEL,...] [--threads 1,2,...] | --resume DIR | "
             "--extend DIR",
    .description =
        "Measures every cell of models x levels x threads once per block, in a random order that "
        "cancels\n"
        "drift. Answers with time and speedup per cell, the thread count beyond which more threads "
        "stop\n"
        "paying, the geometric mean over the models, and interactions: where one factor does more "
        "or\n"
        "less when another is changed. Writes one run folder; analyze, verify and --resume know "
        "it.",
    .examples = "  etprof sweep --models fp16.pte,int8.pte --levels sme2,neon\n"
                "  etprof sweep model.pte --levels vnni,avx2 --threads 1,2,4 --budget 5m\n"
                "  etprof sweep a.pte b.pte --threads 1,2 --prefill 64 --decode 32\n"
                "  etprof analyze out_model --format json\n"
                "  etprof sweep --resume out_model",
    .opts = k_options,
    .opts_size = sizeof(sweep_options),
    .formats = ETP_CLI_STANDARD_FORMATS | ETP_CLI_FORMAT_BIT(ETP_CLI_HTML),
    .page = etp_write_html,
    .min_args = 0,
    .max_args = -1,
    .run = run,
};
