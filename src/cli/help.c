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

// Every verb in one group: the golden cases of help hold that none is missing.
static const struct {
    const char *title, *verbs[12];
} k_groups[] = {
    {"measure",          {"ab", "run", "sweep", "plan", "rerun", "roofs", NULL}         },
    {"explain",
     {"analyze", "compare", "explain", "whatif", "report", "gate", "baselines", "history", "stats",
      "kernels", "verify-claim", NULL}                                                  },
    {"files",
     {"inspect", "ops", "convert", "export", "models", "pack", "unpack", "verify", "validate",
      NULL}                                                                             },
    {"set-up and check", {"doctor", "levels", "devices", "smoke", "skills", "mcp", NULL}},
};

void etp_help_overview(FILE *out, bool all)
{
    fputs("etprof: how much faster is a model with a CPU feature, why, what proves it, what next\n"
          "\n"
          "usage: etprof VERB [OPTIONS] [OPERANDS]\n"
          "\n",
          out);
    for (size_t g = 0; g < sizeof k_groups / sizeof *k_groups; g++) {
        fprintf(out, "%s%s\n", g ? "\n" : "", k_groups[g].title);
        for (size_t i = 0; k_groups[g].verbs[i]; i++) {
            const etp_command *c = etp_command_find(k_groups[g].verbs[i]);
            fprintf(out, "  %-12s %s\n", c->name, c->summary);
            if (all) {
                fprintf(out, "  %-12s etprof %s %s\n", "", c->name, c->usage);
            }
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

static const struct {
    const char *group, *name;
} k_session_options[] = {
#define OPTION_GROUP(title) {title, NULL},
#define OPTION(where, field, type, key, limit, ab, sweep, run, resume, config, name, ...) \
    {NULL, name},
#include "store/options.def"
};

// The heading of an option; NOW, the one before it, for those that are no session's.
static const char *group_of(const etp_command *cmd, const etp_opt *o, const char *now)
{
    const char *group = now;
    for (size_t i = 0; cmd->grouped && i < sizeof k_session_options / sizeof *k_session_options;
         i++) {
        group = k_session_options[i].group ? k_session_options[i].group : group;
        if (k_session_options[i].name && strcmp(k_session_options[i].name, o->name) == 0) {
            return group;
        }
    }
    return now;
}

static void option_lines(FILE *out, const etp_command *cmd)
{
    const char *const none = "options";
    const char *group = none, *shown = NULL;
    for (const etp_opt *o = etp_option_shown(cmd->opts); o && o->name;
         o = etp_option_shown(o + 1)) {
        group = group_of(cmd, o, group);
        if (group != shown) {
            fprintf(out, "\n%s\n", group);
        }
        shown = group;
        option_line(out, o);
    }
    if (!shown) {
        fprintf(out, "\n%s\n", none);
    }
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
    option_lines(out, cmd);
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

// What the first glance needs: usage, an example, the first options; the rest is a --help away.
void etp_help_brief(FILE *out, const etp_command *cmd)
{
    enum { SHOWN = 7 };
    fprintf(out, "etprof %s: %s\n\nusage: etprof %s%s%s\n", cmd->name, cmd->summary, cmd->name,
            cmd->usage[0] ? " " : "", cmd->usage);
    if (cmd->examples) {
        fprintf(out, "e.g.   %.*s\n", (int)strcspn(cmd->examples + 2, "\n"), cmd->examples + 2);
    }
    fputc('\n', out);
    int n = 0;
    for (const etp_opt *o = etp_option_shown(cmd->opts); o && o->name && n < SHOWN;
         o = etp_option_shown(o + 1)) {
        option_line(out, o);
        n++;
    }
    fprintf(out, "%s'etprof %s --help' has everything\n", n ? "\n" : "", cmd->name);
}
