// SPDX-License-Identifier: Apache-2.0
// What a verb of the command line is: one const record per cmd_<verb>.c, listed in commands.c.
// Parsing, help and the "did you mean" hints all come from these records.
#ifndef ETP_CLI_COMMAND_H
#define ETP_CLI_COMMAND_H

#include <stddef.h>
#include <stdio.h>

#include <etprof/arena.h>

#include "report/report.h"
#include "store/settings.h"

typedef enum etp_opt_type {
    ETP_OPT_FLAG,    // bool
    ETP_OPT_STRING,  // const char *
    ETP_OPT_FILES,   // const char *; given again, joined by a comma
    ETP_OPT_LIST,    // etp_opt_list: comma-separated and repeatable
    ETP_OPT_COUNT,   // uint64_t ≥ 1
    ETP_OPT_NUMBER,  // double ≥ 0
    ETP_OPT_PERCENT, // double ≥ 0, a ratio typed in percent: "1%" or "1" is 0.01
    ETP_OPT_TIME,    // double > 0 in seconds: "90", "90s", "2m", "1.5h"
    ETP_OPT_COOL,    // etp_cool: "38" or "38,5m"
    ETP_OPT_CHOICE   // int: index into values[]
} etp_opt_type;

typedef struct etp_opt {
    const char *name; // without the dashes
    char short_name;  // 0: none
    etp_opt_type type;
    size_t offset;             // of the field in the command's options struct
    const char *arg;           // shown in help: "FILE"; NULL for flags
    const char *help;          // one line, lower case, no full stop
    const char *const *values; // NULL-terminated, for ETP_OPT_CHOICE
} etp_opt;

// A row of a verb's table; OF is the struct that its field is in.
#define OPT(name, letter, type, field, arg, help) \
    {name, letter, ETP_OPT_##type, offsetof(OF, field), arg, help, NULL}
#define CHOICE(name, field, arg, help, values) \
    {name, 0, ETP_OPT_CHOICE, offsetof(OF, field), arg, help, values}

typedef enum etp_cli_format {
    ETP_CLI_TEXT,
    ETP_CLI_JSON,
    ETP_CLI_CSV,
    ETP_CLI_MD,
    ETP_CLI_HTML,
    ETP_CLI_GITHUB,
    ETP_CLI_INSPECTOR,
    ETP_CLI_INSPECTOR_JSON,
    ETP_CLI_FORMATS
} etp_cli_format;

#define ETP_CLI_FORMAT_BIT(f) (1u << (f))
#define ETP_CLI_STANDARD_FORMATS                                           \
    (ETP_CLI_FORMAT_BIT(ETP_CLI_TEXT) | ETP_CLI_FORMAT_BIT(ETP_CLI_JSON) | \
     ETP_CLI_FORMAT_BIT(ETP_CLI_CSV) | ETP_CLI_FORMAT_BIT(ETP_CLI_MD))

// Everything that a verb may know of its surroundings. The environment is read once, in main.c;
// verbs see these fields alone.
typedef struct etp_cli {
    etp_arena arena; // lives until exit
    etp_cli_format format;
    const struct etp_command *verb;
    bool color;          // on stdout
    bool utf8;           // the terminal shows it
    bool progress_lines; // ETPROF_PROGRESS=lines: for programs that read standard error
    bool progress;       // stderr is a terminal and --quiet was not given
    bool quiet;
    bool terminal;                     // stdout is one
    unsigned width;                    // columns of the terminal, 80 when unknown
    const char *output;                // --output FILE, NULL = stdout
    uint64_t limit;                    // --limit: bytes of a comment, 0 = ETP_GITHUB_BYTES
    int exit_code;                     // worst outcome so far, see etp_cli_outcome
    const char *program;               // path of this executable, NULL when unknown
    const char *command_line;          // as typed, quoted for a shell; NULL on out of memory
    const char *env_runner, *env_qemu; // ETPROF_RUNNER, ETPROF_QEMU; NULL when unset or empty
    bool no_wait;                      // ETPROF_NO_WAIT is set
    const char *env_path;              // PATH
    const char *env_ssh_config, *env_android_serial; // ETPROF_SSH_CONFIG, ANDROID_SERIAL
    const char *env_home, *env_state, *env_tmpdir;   // HOME, XDG_STATE_HOME, TMPDIR
    const char *env_python;                          // ETPROF_PYTHON
    const char *env_config, *env_command;            // of `run`: see cli/measure.h
    bool newest;                                     // ETPROF_NEWEST: see cli/newest.h
} etp_cli;

typedef struct etp_command {
    const char *name;
    const char *summary;     // one line
    const char *usage;       // operands: "MODEL.pte [MODEL2.pte]"
    const char *description; // paragraphs for `etprof help VERB`; may be NULL
    const char *examples;    // lines "etprof …", may be NULL
    const etp_opt *opts;     // ends with a NULL name; may be NULL
    size_t opts_size;
    const void *defaults; // opts_size bytes; NULL means all zero
    unsigned formats;     // ETP_CLI_FORMAT_BITs; 0: the verb has no --format
    // With ETP_CLI_HTML, with ETP_CLI_GITHUB: what writes it; other verbs link neither.
    etp_report_writer *page;
    etp_comment_writer *comment;
    bool raw_args;          // argv goes to run as typed: another program parses it
    bool grouped;           // the options of a session, under the headings of store/options.def
    bool takes_runs;        // an operand above runs stands for the newest of them (cli/newest.h)
    int min_args, max_args; // operands; max_args -1: any number
    // Returns ETP_OK also when the answer is bad news; that goes through etp_cli_outcome.
    etp_status (*run)(etp_cli *cli, const void *opts, int argc, char **argv, etp_error *err);
} etp_command;

// NULL-terminated, in the order of help.
extern const etp_command *const k_etp_commands[];

// Records an outcome; the process exits with the first of 2, 70, 128+N, 4, 5, 6, 1, 3, 0 that
// occurred.
void etp_cli_outcome(etp_cli *cli, int exit_code);

typedef enum etp_cli_help { ETP_HELP_NONE, ETP_HELP_BRIEF, ETP_HELP_WHOLE } etp_cli_help;

// Parses argv[1…] of a verb into OPTS (opts_size bytes, defaults filled in) and moves the operands
// to argv[0 … *n_operands). -h and --help set *help.
ETP_NODISCARD etp_status etp_options_parse(etp_cli *cli, const etp_command *cmd, int argc,
                                           char **argv, void *opts, int *n_operands,
                                           etp_cli_help *help, etp_error *err);
void etp_help_overview(FILE *out, bool all, size_t width);
// LEFT and behind it TEXT, whose further lines begin where it does.
void etp_help_line(FILE *out, const char *left, const char *text, size_t width);
// WIDTH: of the terminal; 0: lines are as long as they come.
void etp_help_command(FILE *out, const etp_command *cmd, size_t width);
void etp_help_brief(FILE *out, const etp_command *cmd, size_t width); // at most 15 lines
void etp_manual_command(FILE *out, const etp_command *cmd);           // roff, man(7)
void etp_manual_program(FILE *out);
bool etp_completion(FILE *out, const char *shell); // false: no such shell
const char *etp_cli_format_name(etp_cli_format format);
#define ETP_SHARED_OPTIONS 3
// The options that every verb has beside --help; how many. Those of --format are put into NAMES.
size_t etp_shared_options(const etp_command *cmd, etp_opt out[ETP_SHARED_OPTIONS],
                          const char *names[ETP_CLI_FORMATS + 1]);
const etp_command *etp_command_find(const char *name); // NULL when there is none

#endif
