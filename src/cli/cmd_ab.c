// SPDX-License-Identifier: Apache-2.0
// etprof ab MODEL…: measure two or more arms in paired launches and explain the difference.
#include <string.h>

#include "cli/emit.h"
#include "cli/measure.h"
#include "cli/python.h"
#include "cli/say.h"
#include "cli/session_options.h"
#include "cli/show_ab.h"
#include "numerics/numerics.h"

static const etp_opt k_options[] = {
#define OPTION(where, field, type, key, limit, verbs, resume, ...) \
    ETP_OPTION(ETP_OF_AB verbs, where, field, type, __VA_ARGS__)
#include "store/options.def"
    {0},
};

typedef struct comparing {
    etp_cli *cli;
    etp_numerics_options options;
    etp_numerics out;
} comparing;

static etp_status ask_pytorch(void *ctx, const char *request, etp_error *err)
{
    etp_str said;
    return etp_cli_ask_python(ctx, "reference", request, &said, err);
}

static etp_status compare_numbers(void *ctx, etp_device *device, const etp_session_plan *plan,
                                  const etp_session_view *view, etp_error *err)
{
    comparing *c = ctx;
    return etp_numerics_measure(device, plan, view, &c->options, &c->cli->arena, &c->out, err);
}

static etp_status show_numbers(etp_cli *cli, const etp_numerics *numerics, etp_error *err)
{
    static const int k_codes[] = {3, 0, 1, 1}; // by etp_numerics_verdict
    const etp_precision *p = numerics->precision;
    static const etp_numerics_form k_forms[ETP_CLI_FORMATS] = {
        [ETP_CLI_HTML] = ETP_NUMERICS_PAGE, [ETP_CLI_CSV] = ETP_NUMERICS_TABLE};
    const etp_numerics_form form = k_forms[cli->format];
    ETP_TRY(etp_cli_show(cli, p ? &k_etp_precision_document : &k_etp_numerics_document,
                         p ? (const void *)p : numerics,
                         p ? etp_precision_report(p, form == ETP_NUMERICS_PAGE, &cli->arena)
                           : etp_numerics_report(numerics, form, &cli->arena),
                         "operators", err));
    etp_cli_outcome(cli, p ? 0 : k_codes[numerics->verdict]);
    return ETP_OK;
}

// The line of TEXT that begins at *REST, and goes on behind it.
static const char *next_line(etp_str *rest, etp_arena *arena)
{
    etp_str line;
    if (!etp_str_cut(rest, "\n", &line)) {
        rest->len = 0;
    }
    return etp_arena_strdup(arena, line);
}

// Releases are builds like others once the Python package has made bundles of them. PROGRAMS:
// those that they export of SOURCE, unless it is NULL.
static etp_status take_releases(etp_cli *cli, etp_session_options *call, const char *source,
                                const char *programs[2], etp_error *err)
{
    if (call->runner_a || call->runner_b || call->runner) {
        return etp_fail(err, ETP_USAGE,
                        "--executorch brings the runners of two releases: leave out --runner, "
                        "--runner-a and --runner-b");
    }
    if (!cli->quiet) {
        etp_say("releases   ExecuTorch %s: pip fetches what is not here yet, a wheel of about 20 MB"
                "%s\n",
                call->executorch,
                source ? "; to export, PyTorch too" : "; before 1.4 also PyTorch of that time");
    }
    const char *asked = call->executorch;
    if (source) {
        asked = etp_arena_printf(&cli->arena, "%s\n%s", asked, source);
        ETP_TRY(etp_arena_check(&cli->arena, err, "the releases"));
    }
    etp_str lines;
    ETP_TRY(etp_cli_ask_python(cli, "releases", asked, &lines, err));
    call->runner_a = next_line(&lines, &cli->arena);
    call->runner_b = next_line(&lines, &cli->arena);
    programs[0] = next_line(&lines, &cli->arena);
    programs[1] = next_line(&lines, &cli->arena);
    return etp_arena_check(&cli->arena, err, "the releases");
}

static etp_status measure_new(etp_cli *cli, const etp_session_options *c, int argc, char **argv,
                              const char **out_dir, etp_error *err)
{
    if (argc == 0) {
        return etp_fail(err, ETP_USAGE,
                        "a MODEL.pte is missing (or --resume DIR); see 'etprof help ab'");
    }
    etp_session_options options;
    etp_session_plan_options *plan = &options.plan;
    etp_session_options builds = *c;
    ETP_TRY(etp_session_options_of(c, &cli->arena, &options, err));
    options.config = cli->env_config;
    options.exact = options.exact && !cli->env_config;
    const char *source = NULL; // as `etprof export` takes it
    for (int i = 0; i < argc && c->executorch; i++) {
        if (!etp_str_ends(etp_str_from(argv[i]), ETP_STR(".pte"))) {
            source = argv[i];
        }
    }
    if (source && argc > 1) {
        return etp_fail(err, ETP_USAGE,
                        "releases export one source: give %s alone, or programs (.pte)", source);
    }
    plan->models = (const char *const *)argv;
    plan->n_models = (size_t)argc;
    const char *programs[2];
    if (c->executorch) {
        ETP_TRY(take_releases(cli, &builds, source, programs, err));
    }
    if (source) {
        plan->models = programs;
        plan->n_models = 2;
    }
    // Decides whether the runner is ours: one of others goes from RUNNER into the plan.
    ETP_TRY(etp_session_runners(builds.runner, builds.runner_a, builds.runner_b, &cli->arena, plan,
                                &options.runner, err));
    comparing numbers = {
        .cli = cli,
        .options = {.ask = c->reference ? ask_pytorch : NULL,
                    .ask_ctx = cli,
                    .every = c->full || cli->format == ETP_CLI_HTML}
    };
    if (c->numerics) {
        options.instead = compare_numbers;
        options.instead_ctx = &numbers;
    }
    ETP_TRY(etp_cli_measure(cli, &options, out_dir, err));
    return c->numerics ? show_numbers(cli, &numbers.out, err) : ETP_OK;
}

static etp_status run(etp_cli *cli, const void *opts, int argc, char **argv, etp_error *err)
{
    const etp_session_options *c = opts;
    const char *dir = NULL;
    if (c->numerics && (c->price || c->resume)) {
        return etp_fail(err, ETP_USAGE,
                        "--numerics measures nothing: leave out --price and --resume");
    }
    if (c->reference && (!c->numerics || strcmp(c->reference, "eager") != 0)) {
        return etp_fail(err, ETP_USAGE, "--reference takes 'eager', and --numerics beside it");
    }
    if (c->resume) {
        ETP_TRY(etp_cli_resume(cli, c, etp_z_if(argc > 0, "the model"), &dir, err));
    } else {
        ETP_TRY(measure_new(cli, c, argc, argv, &dir, err));
    }
    if (c->numerics) { // there is none
        return ETP_OK;
    }
    // The folder is read back as `analyze` would read it: what is shown now can be shown again at
    // any time.
    return etp_show_measured(cli, dir, c, err);
}

const etp_command etp_cmd_ab = {
    .name = "ab",
    .grouped = true,
    .summary = "how much faster is a model at another level, why, and what proves it",
    .usage = "MODEL.pte [MODEL2.pte ...] [--levels LEVEL,...] | --resume DIR",
    .description = "Launches the arms in paired blocks, in an order that cancels drift, with one "
                   "runner whose CPU\n"
                   "features are masked at start. Latency comes from untraced launches, the "
                   "breakdown from traced\n"
                   "ones. Writes a run folder (out_<model>/runs/<platform>) with raw samples, "
                   "traces and reports.",
    .examples = "  etprof ab model.pte\n"
                "  etprof ab model.pte --levels vnni,avx512,avx2 --blocks 12\n"
                "  etprof ab model.pte --hide avx512fp16\n"
                "  etprof ab model.pte --hide each --blocks 12\n"
                "  etprof ab model.pte --precision 1% --budget 5m\n"
                "  etprof ab model.pte --sustain 10m\n"
                "  etprof ab fp16.pte int8.pte --levels sme2 --budget 60s\n"
                "  etprof ab a.pte b.pte --runner-a BUNDLE --runner-b BUNDLE2\n"
                "  etprof ab model.pte --executorch 1.4.1,1.5.1\n"
                "  etprof ab model.pte --device qemu --levels sme2,sme1,neon\n"
                "  etprof ab model.pte --levels avx512,avx2 --numerics\n"
                "  etprof ab --resume out_model\n"
                "  etprof ab --resume out_model --blocks 8",
    .opts = k_options,
    .opts_size = sizeof(etp_session_options),
    .formats = ETP_CLI_STANDARD_FORMATS | ETP_CLI_FORMAT_BIT(ETP_CLI_HTML),
    .page = etp_write_html,
    .min_args = 0,
    .max_args = 32,
    .run = run,
};
