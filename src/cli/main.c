// SPDX-License-Identifier: Apache-2.0
// Entry point: finds the verb, parses its options, prints errors, decides the exit code. What the
// environment says is read here (the locale in say.c).
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <etprof/version.h>

#include "base/number.h"
#include "base/shell.h"
#include "base/sink.h"
#include "base/suggest.h"
#include "cli/command.h"
#include "cli/newest.h"
#include "cli/say.h"
#include "os/os.h"

#define STACK_BYTES ((uint64_t)512 << 10) // verify needs 192 KiB

static const char *environment(const char *name)
{
    const char *v = getenv(name);
    return etp_z_if(v && v[0], v);
}

static bool is_word(const char *value, const char *word)
{
    return value && strcmp(value, word) == 0;
}

static bool wants_color(void)
{
    const char *force = environment("CLICOLOR_FORCE");
    return !environment("NO_COLOR") && (isatty(STDOUT_FILENO) || (force && !is_word(force, "0")));
}

// Columns of the terminal, or what COLUMNS says; 0: neither is known.
static unsigned known_width(void)
{
    struct winsize size;
    uint64_t columns = 0;
    if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col) {
        return size.ws_col;
    }
    const char *env = environment("COLUMNS");
    // COLUMNS is what a user may export; a width that no terminal has is not believed.
    if (env && etp_parse_u64(etp_str_from(env), &columns) && columns >= 40 && columns <= 400) {
        return (unsigned)columns;
    }
    return 0;
}

static void print_error(const char *verb, const etp_error *err)
{
    etp_say("etprof%s%s: %s", etp_if(verb, " "), ETP_OR(verb, ""), err->msg);
    if (err->offset != ETP_NO_OFFSET) {
        etp_say(" (at byte %llu)", (unsigned long long)err->offset);
    }
    etp_say("\n");
}

// Words that are no verbs and that people type all the same.
static const char *verb_instead(const char *word)
{
    static const char *const k_instead[][2] = {
        {"config",
         "'etprof run --init MODEL.pte' writes a config, 'etprof run CONFIG.json' measures what it "
         "says, 'etprof validate CONFIG.json' checks it"},
        {"bisect",
         "'git bisect run' finds the commit with 'etprof gate NEW --against OLD --bisect' as its "
         "judge, see 'etprof help gate'"                },
    };
    for (size_t i = 0; i < sizeof k_instead / sizeof *k_instead; i++) {
        if (strcmp(word, k_instead[i][0]) == 0) {
            return k_instead[i][1];
        }
    }
    return NULL;
}

// Most mistyped verbs are no verbs at all but the operand of one: a model, a recording, a folder.
// The line says what to do with it.
static int usage_error(const char *word)
{
    const char *names[64];
    size_t n = 0;
    for (const etp_command *const *c = k_etp_commands; *c && n < 63; c++) {
        names[n++] = (*c)->name;
    }
    names[n] = NULL;
    const char *near = etp_suggest(word, names);
    etp_str path = etp_str_from(word);
    if (etp_str_ends(path, ETP_STR(".pte"))) {
        etp_say("etprof: %s is a model: 'etprof ab %s' measures it, 'etprof inspect %s' shows what "
                "is in it\n",
                word, word, word);
    } else if (etp_str_ends(path, ETP_STR(".etdump")) ||
               etp_str_ends(path, ETP_STR(".etdump" ETP_OS_PACKED)) || etp_os_is_dir(word)) {
        etp_say("etprof: no verb '%s'; 'etprof analyze %s' explains it\n", word, word);
    } else if (verb_instead(word)) {
        etp_say("etprof: no verb '%s'; %s\n", word, verb_instead(word));
    } else if (near) {
        etp_say("etprof: no verb '%s'; did you mean '%s'?\n", word, near);
    } else {
        etp_say("etprof: no verb '%s'; see 'etprof help'\n", word);
    }
    return 2;
}

// The word `help` is no record of the table: it is about the others, and what stands behind it is
// no operand of a verb.
static int help(int argc, char **argv)
{
    if (argc < 2 || strcmp(argv[1], "--all") == 0) {
        etp_help_overview(stdout, argc >= 2, known_width());
        return 0;
    }
    if (strcmp(argv[1], "exit-codes") == 0) {
        const size_t width = known_width();
        static const char *const k_codes[][2] = {
            {"  0      ", "a complete answer was produced, or the answer is yes"            },
            {"  1      ",
             "the answer is no: gate failed, something invalid or altered, outputs differ"  },
            {"  2      ", "usage"                                                           },
            {"  3      ", "unknown: not enough data"                                        },
            {"  4      ", "broken or unsupported input file"                                },
            {"  5      ", "environment, I/O, memory, device"                                },
            {"  6      ", "a measured program failed, a block was lost, or a proof is false"},
            {"  128+N  ", "ended by signal N, data saved"                                   },
            {"  70     ", "a bug of etprof"                                                 },
        };
        for (size_t i = 0; i < sizeof k_codes / sizeof *k_codes; i++) {
            etp_help_line(stdout, k_codes[i][0], k_codes[i][1], width);
        }
        puts("\nSeveral apply: the first of 2, 70, 128+N, 4, 5, 6, 1, 3, 0.");
        return 0;
    }
    if (strcmp(argv[1], "--completion") == 0) {
        const char *shell = argc > 2 ? argv[2] : "bash";
        if (!etp_completion(stdout, shell)) {
            etp_say("etprof: no completion for '%s'; there is bash, zsh and fish\n", shell);
            return 2;
        }
        return 0;
    }
    bool manual = strcmp(argv[1], "--man") == 0;
    if (manual && (argc == 2 || strcmp(argv[2], "etprof") == 0)) {
        etp_manual_program(stdout);
        return 0;
    }
    const char *verb = manual ? argv[2] : argv[1];
    const etp_command *cmd = etp_command_find(verb);
    if (!cmd) {
        return usage_error(verb);
    }
    if (manual) {
        etp_manual_command(stdout, cmd);
    } else {
        etp_help_command(stdout, cmd, known_width());
    }
    return 0;
}

static etp_status newest_runs(etp_cli *cli, int n, char **operands, etp_error *err)
{
    for (int i = 0; i < n; i++) {
        const char *path = operands[i];
        ETP_TRY(etp_cli_newest(cli, &path, err));
        memcpy(&operands[i], &path, sizeof path); // verbs do not write into their operands
    }
    return ETP_OK;
}

static int run_command(etp_cli *cli, const etp_command *cmd, int argc, char **argv)
{
    etp_error err = {.offset = ETP_NO_OFFSET};
    cli->verb = cmd;
    if (cmd->raw_args && argc == 2 && strcmp(argv[1], "-h") == 0) {
        etp_help_brief(stdout, cmd, known_width());
        return 0;
    }
    // A verb that becomes another program only comes back when that failed.
    if (cmd->raw_args) {
        etp_status raw = cmd->run(cli, NULL, argc - 1, argv + 1, &err);
        print_error(cmd->name, &err);
        return etp_status_exit_code(raw);
    }
    // Zeroed: what is not given is zero, NULL or an empty list, unless the verb has defaults.
    void *opts = etp_arena_alloc(&cli->arena, cmd->opts_size);
    if (!opts) {
        etp_say("etprof: out of memory\n");
        return 5;
    }
    if (cmd->defaults) {
        memcpy(opts, cmd->defaults, cmd->opts_size);
    }
    int n_operands = 0;
    etp_cli_help wants_help = ETP_HELP_NONE;
    etp_status st = etp_options_parse(cli, cmd, argc, argv, opts, &n_operands, &wants_help, &err);
    if (st == ETP_OK && wants_help != ETP_HELP_NONE) {
        if (wants_help == ETP_HELP_BRIEF) {
            etp_help_brief(stdout, cmd, known_width());
        } else {
            etp_help_command(stdout, cmd, known_width());
        }
        return 0;
    }
    cli->progress = cli->progress && !cli->quiet;
    // Before the verb sees its operands: a path that stands for a run means the same in all of
    // them.
    if (st == ETP_OK && cmd->takes_runs) {
        st = newest_runs(cli, n_operands, argv, &err);
    }
    if (st == ETP_OK) {
        st = cmd->run(cli, opts, n_operands, argv, &err);
    }
    if (cli->arena.failed) { // whatever it made of that
        st = etp_fail_nomem(&err, cmd->name);
    }
    if (st != ETP_OK) {
        print_error(cmd->name, &err);
        int code = etp_status_exit_code(st); // 128: of a signal that has a number
        etp_cli_outcome(cli, st == ETP_INTERRUPTED ? code + etp_os_interrupted() : code);
    }
    return cli->exit_code;
}

int main(int argc, char **argv)
{
    // First of all: a closed standard stream would give its number to the next file that is opened.
    etp_os_begin();
    etp_cli cli = {
        .width = known_width() ? known_width() : 80,
        .color = wants_color(),
        .utf8 = etp_terminal_is_utf8(),
        .progress = isatty(STDERR_FILENO),
        .progress_lines = is_word(environment("ETPROF_PROGRESS"), "lines"),
        .terminal = isatty(STDOUT_FILENO),
        .env_runner = environment("ETPROF_RUNNER"),
        .env_qemu = environment("ETPROF_QEMU"),
        .no_wait = environment("ETPROF_NO_WAIT") != NULL,
        .env_path = environment("PATH"),
        .env_ssh_config = environment("ETPROF_SSH_CONFIG"),
        .env_home = environment("HOME"),
        .env_state = environment("XDG_STATE_HOME"),
        .env_tmpdir = environment("TMPDIR"),
        .env_android_serial = environment("ANDROID_SERIAL"),
        .env_python = environment("ETPROF_PYTHON"),
        .env_config = environment("ETPROF_CONFIG"),
        .env_command = environment("ETPROF_COMMAND"),
        .newest = environment("ETPROF_NEWEST") != NULL,
    };
    int code = 0;
    etp_error err;
    if (etp_os_need_stack(STACK_BYTES, &err) != ETP_OK) { // else the system ends us without a word
        etp_say_ours("etprof: ");
        etp_say_ours(err.msg);
        etp_say_ours("\n");
        return 5;
    }
    // A call without a verb is a mistake, and so its help goes to standard error.
    if (argc < 2) {
        etp_help_overview(stderr, false, known_width());
        return 2;
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        printf("etprof %s\n", ETP_VERSION);
    } else if (strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0 ||
               strcmp(argv[1], "-h") == 0) {
        code = help(argc - 1, argv + 1);
    } else {
        const etp_command *cmd = etp_command_find(argv[1]);
        // Runners, models and the Python package are looked for beside it.
        cli.program = etp_os_self_exe(&cli.arena);
        // The command line as a shell would take it back.
        etp_strbuf buf;
        etp_strbuf_init(&buf, &cli.arena);
        etp_strbuf_appendz(&buf, "etprof");
        for (int i = 1; i < argc; i++) {
            etp_strbuf_appendz(&buf, " ");
            etp_shell_word(&buf, argv[i]);
        }
        cli.command_line = etp_z_if(!buf.failed, buf.ptr);
        code = cmd ? run_command(&cli, cmd, argc - 1, argv + 1) : usage_error(argv[1]);
    }
    // A full disk or a closed pipe must not look like success.
    if (fflush(stdout) != 0 || ferror(stdout)) {
        if (errno != EPIPE && code != 5) { // 5: the verb itself has said what it could not write
            etp_say("etprof: writing standard output: %s\n", strerror(errno));
        }
        code = code ? code : 5;
    }
    etp_arena_dispose(&cli.arena);
    return code;
}
