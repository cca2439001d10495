// SPDX-License-Identifier: Apache-2.0
// etprof export and etprof models: carried out by the Python package, because PyTorch's exporter is
// Python. These verbs find it and become it.
#include <string.h>

#include "cli/command.h"
#include "os/os.h"

// Folder that holds the Python package: installed beside the program, or in the source tree.
static const char *package_folder(etp_cli *cli)
{
    static const char *const k_places[] = {"../share/etprof/python", "../../../python", "../python"};
    const char *slash = cli->program ? strrchr(cli->program, '/') : NULL;
    for (size_t i = 0; slash && i < sizeof k_places / sizeof *k_places; i++) {
        const char *path = etp_arena_printf(&cli->arena, "%.*s/%s/etprof/export",
                                            (int)(slash - cli->program), cli->program, k_places[i]);
        if (path && etp_os_is_dir(path)) {
            return etp_arena_printf(&cli->arena, "%.*s/%s", (int)(slash - cli->program),
                                    cli->program, k_places[i]);
        }
    }
    return NULL;
}

static etp_status become_module(etp_cli *cli, const char *module, int argc, char **argv,
                                etp_error *err)
{
    const char *folder = package_folder(cli);
    if (!folder) {
        return etp_fail(err, ETP_ENVIRONMENT,
                        "the Python package of etprof is not beside this program; install it with "
                        "pip and use 'python -m %s'",
                        module);
    }
    struct {
        const char **items;
        size_t n, cap;
    } words = {0};
    const char *path = etp_arena_printf(&cli->arena, "PYTHONPATH=%s", folder);
    const char *python = cli->env_python ? cli->env_python : "python3";
    bool ok = path && ETP_PUSH(&cli->arena, &words, python) &&
              ETP_PUSH(&cli->arena, &words, "-m") && ETP_PUSH(&cli->arena, &words, module);
    for (int i = 0; ok && i < argc; i++) {
        ok = ETP_PUSH(&cli->arena, &words, argv[i]);
    }
    if (!ok || !ETP_PUSH(&cli->arena, &words, NULL)) {
        return etp_fail_nomem(err, "arguments");
    }
    const char *const environment[] = {path, NULL};
    return etp_os_become(words.items, environment, err);
}

static etp_status run_export(etp_cli *cli, const void *opts, int argc, char **argv, etp_error *err)
{
    (void)opts;
    return become_module(cli, "etprof.export", argc, argv, err);
}

static etp_status run_models(etp_cli *cli, const void *opts, int argc, char **argv, etp_error *err)
{
    (void)opts;
    return become_module(cli, "etprof.models", argc, argv, err);
}

const etp_command etp_cmd_export = {
    .name = "export",
    .summary = "from a PyTorch model to a checked .pte (Python; 'etprof export --help')",
    .usage = "MODEL [--dtype fp32|fp16|int8|int8-dynamic|int4] [--outdir DIR]",
    .description = "Writes <model>_<backend>_<precision>.pte, its .etrecord and example inputs, runs it and compares\n"
                   "with PyTorch. The first use installs PyTorch into .venv after saying how much that is.\n"
                   "Options are those of the Python package: etprof export --help.",
    .examples = "  etprof export toy_cnn --dtype int8\n"
                "  etprof export path/to/model.py:Class --dtype fp16",
    .raw_args = true,
    .run = run_export,
};

const etp_command etp_cmd_models = {
    .name = "models",
    .summary = "models that export knows, and how to add one (Python)",
    .usage = "[new NAME]",
    .examples = "  etprof models\n  etprof models new my_encoder",
    .raw_args = true,
    .run = run_models,
};
