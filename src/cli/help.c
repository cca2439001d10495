// SPDX-License-Identifier: Apache-2.0
// Help text, generated from the command records.
#include <string.h>

#include "cli/command.h"

const etp_command *etp_command_find(const char *name)
{
    for (const etp_command *const *c = k_etp_commands; *c; c++) {
        if (strcmp((*c)->name, name) == 0) {
            return *c;
        }
    }
    return NULL;
}

void etp_help_overview(FILE *out, bool all)
{
    fputs("etprof: how much faster is a model with a CPU feature, why, what proves it, what next\n"
          "\n"
          "usage: etprof VERB [OPTIONS] [OPERANDS]\n"
          "\n",
          out);
    for (const etp_command *const *c = k_etp_commands; *c; c++) {
        fprintf(out, "  %-10s %s\n", (*c)->name, (*c)->summary);
        if (all) {
            fprintf(out, "  %-10s etprof %s %s\n", "", (*c)->name, (*c)->usage);
        }
    }
    fputs("\n"
          "Start with   etprof ab MODEL.pte\n"
          "More about   etprof help VERB, etprof help exit-codes, etprof --version\n"
          "             etprof help --man VERB | man -l -\n"
          "             eval \"$(etprof help --completion bash)\" (also zsh, fish)\n",
          out);
}

static void option_line(FILE *out, const etp_opt *o)
{
    char left[64];
    char short_form[8] = "    ";
    if (o->short_name) {
        snprintf(short_form, sizeof short_form, "-%c, ", o->short_name);
    }
    snprintf(left, sizeof left, "%s--%s%s%s", short_form, o->name, o->arg ? " " : "",
             o->arg ? o->arg : "");
    fprintf(out, "  %-28s %s", left, o->help);
    for (int i = 0; o->values && o->values[i]; i++) {
        fprintf(out, "%s%s", i ? ", " : ": ", o->values[i]);
    }
    fputc('\n', out);
}

void etp_help_command(FILE *out, const etp_command *cmd)
{
    fprintf(out, "etprof %s: %s\n\nusage: etprof %s%s%s\n", cmd->name, cmd->summary, cmd->name,
            cmd->usage[0] ? " " : "", cmd->usage);
    if (cmd->description) {
        fprintf(out, "\n%s\n", cmd->description);
    }
    if (cmd->raw_args) {
        if (cmd->examples) {
            fprintf(out, "\nexamples\n%s\n", cmd->examples);
        }
        return;
    }
    fputs("\noptions\n", out);
    for (const etp_opt *o = etp_option_shown(cmd->opts); o && o->name;
         o = etp_option_shown(o + 1)) {
        option_line(out, o);
    }
    if (cmd->formats) {
        fputs("  -f, --format FORMAT          ", out);
        bool first = true;
        for (int f = 0; f < ETP_CLI_FORMATS; f++) {
            if (cmd->formats & ETP_CLI_FORMAT_BIT(f)) {
                fprintf(out, "%s%s", first ? "" : ", ", etp_cli_format_name((etp_cli_format)f));
                first = false;
            }
        }
        fputs("\n  -o, --output FILE            write there instead of to standard output\n", out);
    }
    fputs("      --color WHEN             auto, always, never\n"
          "  -q, --quiet                  no progress, no hints\n"
          "  -h, --help                   this text\n",
          out);
    if (cmd->examples) {
        fprintf(out, "\nexamples\n%s\n", cmd->examples);
    }
}
