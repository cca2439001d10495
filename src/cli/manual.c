// SPDX-License-Identifier: Apache-2.0
// The manual page of a verb and the shell completion, from the same records as --help.
#include <string.h>

#include <etprof/version.h>

#include "cli/command.h"

// Text for roff: backslashes, leading dots and quotes, and hyphens that are minus signs.
static void roff(FILE *out, const char *text)
{
    bool line_start = true;
    for (const char *p = text; *p; p++) {
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
    for (int i = 0; o->values && o->values[i]; i++) {
        fprintf(out, "%s%s", i ? ", " : ": ", o->values[i]);
    }
    fputc('\n', out);
}

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
    fputs(".SH OPTIONS\n", out);
    for (const etp_opt *o = cmd->opts; o && o->name; o++) {
        manual_option(out, o);
    }
    if (cmd->formats) {
        fputs(".TP\n.B \\-f, \\-\\-format \\fIFORMAT\\fR\n", out);
        const char *between = "";
        for (int f = 0; f < ETP_CLI_FORMATS; f++) {
            if (cmd->formats & ETP_CLI_FORMAT_BIT(f)) {
                fputs(between, out);
                roff(out, etp_cli_format_name((etp_cli_format)f));
                between = ", ";
            }
        }
        fputs("\n.TP\n.B \\-o, \\-\\-output \\fIFILE\\fR\nwrite there instead of to standard output\n",
              out);
    }
    fputs(".TP\n.B \\-\\-color \\fIWHEN\\fR\nauto, always, never\n"
          ".TP\n.B \\-q, \\-\\-quiet\nno progress, no hints\n"
          ".SH EXIT STATUS\nSee\n.BR \"etprof help exit\\-codes\" .\n",
          out);
    if (cmd->examples) {
        fputs(".SH EXAMPLES\n.nf\n", out);
        roff(out, cmd->examples);
        fputs("\n.fi\n", out);
    }
}

void etp_completion_bash(FILE *out)
{
    fputs("# bash completion of etprof: eval \"$(etprof help --completion)\"\n"
          "_etprof() {\n"
          "    local cur=${COMP_WORDS[COMP_CWORD]} words=\n"
          "    if [ \"$COMP_CWORD\" = 1 ]; then words=\"help",
          out);
    for (const etp_command *const *c = k_etp_commands; *c; c++) {
        fprintf(out, " %s", (*c)->name);
    }
    fputs("\"\n    else case ${COMP_WORDS[1]} in\n", out);
    for (const etp_command *const *c = k_etp_commands; *c; c++) {
        fprintf(out, "        %s) words=\"", (*c)->name);
        for (const etp_opt *o = (*c)->opts; o && o->name; o++) {
            fprintf(out, "--%s ", o->name);
        }
        fputs((*c)->formats ? "--format --output --color --quiet --help\" ;;\n"
                            : "--color --quiet --help\" ;;\n",
              out);
    }
    fputs("        esac\n"
          "    fi\n"
          "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\") $(compgen -f -- \"$cur\"))\n"
          "}\n"
          "complete -o filenames -F _etprof etprof\n",
          out);
}
