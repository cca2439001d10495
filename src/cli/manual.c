// SPDX-License-Identifier: Apache-2.0
// The manual pages, one of each verb and one of the program, from the same records as --help.
#include <string.h>

#include <etprof/version.h>

#include "cli/command.h"

// Text for roff: backslashes, leading dots and quotes, and hyphens that are minus signs.
static void roff(FILE *out, const char *text)
{
    bool line_start = true;
    for (const char *p = text; *p; p++) {
        // At the beginning of a line these make it a request; \& is nothing that stands before
        // them.
        if (line_start && (*p == '.' || *p == '\'')) {
            fputs("\\&", out);
        }
        if (*p == '\\') {
            fputs("\\e", out);
        } else if (*p == '-') {
            fputs("\\-", out);
        } else {
            fputc(*p, out);
        }
        line_start = *p == '\n';
    }
}

static void manual_option(FILE *out, const etp_opt *o)
{
    fputs(".TP\n.B ", out);
    if (o->short_name) {
        fprintf(out, "\\-%c, ", o->short_name);
    }
    fputs("\\-\\-", out);
    roff(out, o->name);
    if (o->arg) {
        fprintf(out, " \\fI%s\\fR", o->arg);
    }
    fputc('\n', out);
    roff(out, o->help);
    const char *before = etp_if(o->help[0], ": ");
    for (int i = 0; o->values && o->values[i]; i++) {
        fputs(before, out);
        roff(out, o->values[i]);
        before = ", ";
    }
    fputc('\n', out);
}

static void manual_options(FILE *out, const etp_command *cmd)
{
    etp_opt shared[ETP_SHARED_OPTIONS];
    const char *names[ETP_CLI_FORMATS + 1];
    size_t n = etp_shared_options(cmd, shared, names);
    fputs(".SH OPTIONS\n", out);
    for (const etp_opt *o = cmd->opts; o && o->name; o++) {
        manual_option(out, o);
    }
    for (size_t i = 0; i < n; i++) {
        manual_option(out, &shared[i]);
    }
}

// The sections and their order are those that man-pages(7) names.
void etp_manual_command(FILE *out, const etp_command *cmd)
{
    fprintf(out, ".TH ETPROF\\-%s 1 \"\" \"etprof %s\"\n.SH NAME\netprof\\-%s \\- ", cmd->name,
            ETP_VERSION, cmd->name);
    roff(out, cmd->summary);
    fprintf(out, "\n.SH SYNOPSIS\n.B etprof %s\n", cmd->name);
    roff(out, cmd->usage);
    fputc('\n', out);
    if (cmd->description) {
        fputs(".SH DESCRIPTION\n", out);
        roff(out, cmd->description);
        fputc('\n', out);
    }
    if (!cmd->raw_args) { // else another program parses them
        manual_options(out, cmd);
    }
    fputs(".SH EXIT STATUS\nSee\n.BR \"etprof help exit\\-codes\" .\n", out);
    if (cmd->examples) {
        fputs(".SH EXAMPLES\n.nf\n", out);
        roff(out, cmd->examples);
        fputs("\n.fi\n", out);
    }
    fputs(".SH SEE ALSO\n.BR etprof (1)\n", out);
}

void etp_manual_program(FILE *out)
{
    fprintf(out,
            ".TH ETPROF 1 \"\" \"etprof %s\"\n.SH NAME\netprof \\- native profiler of ExecuTorch "
            "models\n",
            ETP_VERSION);
    fputs(".SH SYNOPSIS\n.B etprof\n.I VERB\n[OPTIONS] [OPERANDS]\n"
          ".SH DESCRIPTION\n"
          "Says how much faster a model is with a CPU feature, why, what proves it and what to do "
          "next.\n"
          ".B etprof ab\n.I MODEL.pte\nis where to begin.\n.SH VERBS\n",
          out);
    for (const etp_command *const *c = k_etp_commands; *c; c++) {
        fprintf(out, ".TP\n.BR etprof\\-%s (1)\n", (*c)->name);
        roff(out, (*c)->summary);
        fputc('\n', out);
    }
    fputs(".SH ENVIRONMENT\n"
          ".TP\n.B ETPROF_RUNNER\nrunner program or bundle folder, where no \\-\\-runner is given\n"
          ".TP\n.B ETPROF_NEWEST\nwhen set, a run folder's name stands for the newest run of that "
          "name (NAME, NAME.2, NAME.3 ...)\n"
          ".TP\n.B ETPROF_PYTHON\nthe Python of\n.BR etprof\\-export (1)\nand the "
          "other verbs in Python\n"
          ".TP\n.B ETPROF_NO_WAIT\nwhen set, sessions begin at once on a busy machine, too\n"
          ".TP\n.B ETPROF_QEMU\nqemu\\-aarch64 10.1 or newer, for \\-\\-device qemu\n"
          ".TP\n.B ETPROF_SSH_CONFIG\nssh's configuration file, for \\-\\-device ssh:HOST\n"
          ".TP\n.B ANDROID_SERIAL\nthe device of \\-\\-device adb\n"
          ".TP\n.B NO_COLOR\nwhen set, no colours\n"
          ".TP\n.B CLICOLOR_FORCE\n1: colours also into a pipe\n"
          ".SH EXIT STATUS\nSee\n.BR \"etprof help exit\\-codes\" .\n",
          out);
}
