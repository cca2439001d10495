// SPDX-License-Identifier: Apache-2.0
// The verbs that the Python package carries out: export, because PyTorch's exporter is Python,
// skills, and mcp, whose protocol the official SDK speaks. They find it and become it, as do
// history, fix, run and convert for Parquet; validate asks it.
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/number.h"
#include "base/path.h"
#include "cli/command.h"
#include "cli/python.h"
#include "device/remote.h"
#include "os/os.h"

#define MOST_NS ((uint64_t)24 * 3600 * 1000000000) // a folder of hundreds of gigabytes is hashed
#define MOST_BYTES ((size_t)256 << 20)

// Folder that holds the Python package: installed beside the program, in the source tree, or around
// the program in a wheel (etprof/tree/bin).
static const char *package_folder(etp_cli *cli)
{
    static const char *const k_places[] = {"../share/etprof/python", "../../../python", "../python",
                                           "../../.."};
    static const char k_of_wheel[] = "/etprof/tree/bin"; // above any other is not ours
    etp_str folder = cli->program ? etp_path_folder(cli->program) : (etp_str){0};
    size_t own = sizeof k_of_wheel - 1, n = sizeof k_places / sizeof *k_places;
    n -= folder.len < own || memcmp(folder.ptr + folder.len - own, k_of_wheel, own) != 0;
    for (size_t i = 0; folder.ptr && i < n; i++) {
        const char *path = etp_arena_printf(&cli->arena, "%.*s/%s/etprof/export",
                                            ETP_STR_ARG(folder), k_places[i]);
        if (path && etp_os_is_dir(path)) {
            return etp_arena_printf(&cli->arena, "%.*s/%s", ETP_STR_ARG(folder), k_places[i]);
        }
    }
    return NULL;
}

// The command line PYTHON -I START VERB ARGV…; ends with NULL. Isolated (-I) and by absolute paths:
// Python would otherwise import argparse.py of the working directory.
static etp_status command_line(etp_cli *cli, const char *verb, int argc, const char *const *argv,
                               const char *const **out, etp_error *err)
{
    const char *folder = package_folder(cli);
    if (!folder) {
        return etp_fail(err, ETP_ENVIRONMENT,
                        "the Python package of etprof is not beside this program; install it with "
                        "pip and use 'python -m etprof.%s'",
                        verb);
    }
    const char *python = ETP_OR(cli->env_python, "python3");
    if (!strchr(python, '/')) {
        const char *found = etp_remote_find(python, cli->env_path, &cli->arena);
        if (!found) {
            return etp_fail(err, ETP_ENVIRONMENT, "no %s in PATH; name one with ETPROF_PYTHON",
                            python);
        }
        python = found;
    }
    etp_opt_list words = {0};
    const char *start = etp_arena_printf(&cli->arena, "%s/etprof/start.py", folder);
    const char *const first[] = {python, "-I", start, verb};
    for (size_t i = 0; i < sizeof first / sizeof *first; i++) {
        ETP_ADD(&cli->arena, &words, first[i]);
    }
    for (int i = 0; i < argc; i++) {
        ETP_ADD(&cli->arena, &words, argv[i]);
    }
    ETP_ADD(&cli->arena, &words, NULL);
    *out = words.items;
    return etp_arena_check(&cli->arena, err, "arguments");
}

etp_status etp_cli_become_python(etp_cli *cli, const char *verb, int argc, const char *const *argv,
                                 etp_error *err)
{
    const char *const *words = NULL;
    ETP_TRY(command_line(cli, verb, argc, argv, &words, err));
    const char *self = etp_arena_printf(&cli->arena, "ETPROF=%s", cli->program);
    const char *const set[] = {self, NULL};
    ETP_TRY(etp_arena_check(&cli->arena, err, "arguments"));
    // This process becomes Python: signals, the terminal and the exit code are Python's own. It
    // only comes back when that failed. Verbs that Python starts are this very program's.
    return etp_os_exec(words, set, err);
}

etp_status etp_cli_become_python_with(etp_cli *cli, const char *verb, const char *const *options,
                                      size_t n, int argc, char **argv, etp_error *err)
{
    etp_opt_list words = {0};
    for (size_t i = 0; i < n; i++) {
        if (options[i]) {
            ETP_ADD(&cli->arena, &words, options[i]);
        }
    }
    ETP_ADD(&cli->arena, &words, "--");
    for (int i = 0; i < argc; i++) {
        ETP_ADD(&cli->arena, &words, argv[i]);
    }
    ETP_TRY(etp_arena_check(&cli->arena, err, "arguments"));
    return etp_cli_become_python(cli, verb, (int)words.n, words.items, err);
}

// "--NAME=VALUE" where there is one.
static void put(etp_cli *cli, etp_opt_list *how, const char *name, const char *value)
{
    if (value) {
        ETP_ADD(&cli->arena, how, etp_arena_printf(&cli->arena, "--%s=%s", name, value));
    }
}

static void put_option(etp_cli *cli, etp_opt_list *how, const etp_opt *o, const char *at)
{
    union {
        bool on;
        int which;
        uint64_t count;
        double amount;
        const char *text;
        etp_opt_list list;
    } v;
    etp_arena *a = &cli->arena;
    switch (o->type) {
    case ETP_OPT_FLAG:
        memcpy(&v.on, at, sizeof v.on);
        if (v.on) {
            ETP_ADD(a, how, etp_arena_printf(a, "--%s", o->name));
        }
        break;
    case ETP_OPT_LIST:
        memcpy(&v.list, at, sizeof v.list);
        for (size_t i = 0; i < v.list.n; i++) {
            put(cli, how, o->name, v.list.items[i]);
        }
        break;
    case ETP_OPT_CHOICE:
        memcpy(&v.which, at, sizeof v.which);
        put(cli, how, o->name, o->values[v.which]);
        break;
    case ETP_OPT_COUNT:
        memcpy(&v.count, at, sizeof v.count);
        if (v.count > 0) {
            put(cli, how, o->name, etp_arena_printf(a, "%" PRIu64, v.count));
        }
        break;
    case ETP_OPT_PERCENT:
        memcpy(&v.amount, at, sizeof v.amount);
        if (v.amount > 0) {
            put(cli, how, o->name, etp_arena_printf(a, "%s%%", ETP_DIGITS(100 * v.amount, 15)));
        }
        break;
    case ETP_OPT_TIME:
        memcpy(&v.amount, at, sizeof v.amount);
        if (v.amount > 0) {
            put(cli, how, o->name, etp_arena_printf(a, "%ss", ETP_DIGITS(v.amount, 15)));
        }
        break;
    case ETP_OPT_STRING:
        memcpy(&v.text, at, sizeof v.text);
        put(cli, how, o->name, v.text);
        break;
    default:
        assert(!"an option that a verb of Python can have");
    }
}

etp_status etp_cli_run_in_python(etp_cli *cli, const void *opts, int argc, char **argv,
                                 etp_error *err)
{
    etp_opt_list how = {0};
    for (const etp_opt *o = cli->verb->opts; o->name; o++) {
        put_option(cli, &how, o, (const char *)opts + o->offset);
    }
    put(cli, &how, "format", etp_cli_format_name(cli->format));
    put(cli, &how, "output", cli->output);
    if (cli->quiet) {
        ETP_ADD(&cli->arena, &how, "--quiet");
    }
    return etp_cli_become_python_with(cli, cli->verb->name, how.items, how.n, argc, argv, err);
}

etp_status etp_cli_ask_python(etp_cli *cli, const char *verb, const char *operand, etp_str *out,
                              etp_error *err)
{
    static const etp_status k_of_exit_code[] = {
        [2] = ETP_USAGE, [4] = ETP_CORRUPT, [5] = ETP_ENVIRONMENT, [6] = ETP_CHILD};
    const char *const *words = NULL;
    etp_process p;
    etp_str said;
    ETP_TRY(command_line(cli, verb, 1, &operand, &words, err));
    const char *self = etp_arena_printf(&cli->arena, "ETPROF=%s", cli->program);
    const char *const set[] = {self, NULL};
    const etp_process_spec spec = {.argv = words, .env_set = set};
    ETP_TRY(etp_arena_check(&cli->arena, err, "arguments"));
    ETP_TRY(etp_process_capture(&spec, MOST_NS, MOST_BYTES, &cli->arena, &p, out, &said, err));
    if (p.signal == 0 && p.exit_code == 0) {
        return ETP_OK;
    }
    size_t code = p.signal == 0 && p.exit_code > 0 ? (size_t)p.exit_code : 0;
    bool known = code < sizeof k_of_exit_code / sizeof *k_of_exit_code && k_of_exit_code[code];
    while (said.len && said.ptr[said.len - 1] == '\n') {
        said.len--;
    }
    // What Python says last names the reason, also below a traceback.
    size_t from = known ? 0 : said.len;
    while (from > 0 && said.ptr[from - 1] != '\n') {
        from--;
    }
    return etp_fail(err, known ? k_of_exit_code[code] : ETP_INTERNAL, "%.*s",
                    (int)(said.len - from), said.ptr + from);
}

// As typed: the Python package parses them, and its help is the one that is shown.
static etp_status become(etp_cli *cli, const void *opts, int argc, char **argv, etp_error *err)
{
    (void)opts;
    return etp_cli_become_python(cli, cli->verb->name, argc, (const char *const *)argv, err);
}

const etp_command etp_cmd_export = {
    .name = "export",
    .summary = "from a PyTorch model to a checked .pte (Python; 'etprof export --help')",
    .usage = "MODEL [--dtype PRECISION] [--outdir DIR] | --list | --new NAME",
    .description = "Writes <model>_<backend>_<precision>.pte, its .etrecord and example inputs, "
                   "runs it and compares\n"
                   "with PyTorch. The first use installs PyTorch into an environment of its own "
                   "after saying how much\n"
                   "that is. --list prints the models that it knows, --new starts a folder of your "
                   "own. Options are\n"
                   "those of the Python package: etprof export --help.",
    .examples = "  etprof export toy_cnn --dtype int8\n"
                "  etprof export path/to/model.py:Class --dtype fp16",
    .raw_args = true,
    .run = become,
};

const etp_command etp_cmd_skills = {
    .name = "skills",
    .summary = "playbooks with gates: print them, or execute their commands",
    .usage = "[NAME | run LIST | install DIR]",
    .description =
        "Without a name, the catalogue. NAME is a number, a name or a file's name; its "
        "Markdown is printed.\n"
        "run executes the steps and gates of LIST (01-07, 03,05, setup-agent) in the "
        "working directory, the\n"
        "root of a clone, and stops at the first that fails: exit code 1.\n"
        "install copies all of them where an agent looks for skills, a folder with SKILL.md each.",
    .examples = "  etprof skills 04\n"
                "  etprof skills run 01-07 --format json\n"
                "  etprof skills install .claude/skills\n"
                "  etprof skills run 03-05 --set model=mobilenet_v3_small --set dtype=int8",
    .raw_args = true,
    .run = become,
};

const etp_command etp_cmd_mcp = {
    .name = "mcp",
    .summary = "a Model Context Protocol server for agents, over standard input and output",
    .usage = "[--root FOLDER ...]",
    .description =
        "Tools: measure, compare, explain, report, whatif, gate, verify_claim, inspect, export, "
        "devices; run\n"
        "folders as resources, the playbooks as prompts. Each tool is a verb of this program. "
        "Nothing is listened\n"
        "to but standard input. Needs the Python package mcp. docs/library.md says how agents are "
        "told "
        "of it.",
    .examples = "  etprof mcp\n"
                "  etprof mcp --root ~/models",
    .raw_args = true,
    .run = become,
};
