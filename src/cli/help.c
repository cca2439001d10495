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

// Every verb in one group: the golden cases of help hold that none is missing. The order is by what
// somebody wants to do, not by the alphabet. The first OFTEN of each are in the short help.
static const struct {
    const char *title, *verbs[12];
    size_t often;
} k_groups[] = {
    {"measure",          {"ab", "fix", "run", "rerun", "replay", "roofs", NULL},               3},
    {"explain",
     {"analyze", "compare", "explain", "whatif", "gate", "history", "stats", "kernels", NULL},
     6                                                                                          },
    {"files",            {"inspect", "ops", "convert", "export", "verify", "validate", NULL},  5},
    {"set-up and check", {"doctor", "skills", "mcp", NULL},                                    2},
};

enum { HELP_AT = 31, USAGE_AT = 7 };

// Characters of UTF-8, each counted by its first byte: bytes that go on with one have 10 as their
// highest bits.
static size_t columns_of(const char *text, size_t n)
{
    size_t columns = 0;
    for (size_t i = 0; i < n; i++) {
        columns += ((unsigned char)text[i] & 0xC0) != 0x80;
    }
    return columns;
}

// TEXT from column AT on, the next lines from INDENT; WIDTH 0: as long as it is. Lines of one
// paragraph are joined where they have to be broken. Gives the number of lines; OUT NULL counts.
static int put_wrapped(FILE *out, const char *text, size_t at, size_t indent, size_t width)
{
    int lines = 1;
    for (bool first = true; *text; first = false) {
        // A line break between two words of a paragraph is only where the source was broken. An
        // empty line ends a paragraph, and an indented line stands for itself.
        bool joined = width && text[0] == '\n' && text[1] && text[1] != '\n' && text[1] != ' ';
        // GAP blanks and then a word of N bytes. A line break that is joined counts as one blank.
        size_t gap = strspn(text, joined ? "\n" : " "), n = strcspn(text + gap, " \n");
        if (!joined && *text == '\n') {
            lines++;
            at = indent;
            text++;
            if (out) {
                fprintf(out, "\n%*s", *text && *text != '\n' ? (int)indent : 0, "");
            }
            continue;
        }
        gap = joined ? 1 : gap;
        size_t columns = columns_of(text + gap, n);
        bool breaks = width && !first && at > indent && at + gap + columns > width;
        lines += breaks;
        // The column behind the word, whether it stands in this line or begins the next.
        at = breaks ? indent + columns : at + gap + columns;
        if (out) {
            fprintf(out, "%s%*s%.*s", etp_if(breaks, "\n"), (int)(breaks ? indent : gap), "",
                    (int)n, text + gap);
        }
        text += gap + n;
    }
    return lines;
}

void etp_help_overview(FILE *out, bool all, size_t width)
{
    enum { SUMMARY_AT = 15 };
    put_wrapped(out,
                "etprof: how much faster is a model with a CPU feature, why, what proves it, "
                "what next\n\nusage: etprof VERB [OPTIONS] [OPERANDS]\n\n",
                0, 0, width);
    for (size_t g = 0; g < sizeof k_groups / sizeof *k_groups; g++) {
        fprintf(out, "%s%s\n", etp_if(g, "\n"), k_groups[g].title);
        for (size_t i = 0; k_groups[g].verbs[i] && (all || i < k_groups[g].often); i++) {
            const etp_command *c = etp_command_find(k_groups[g].verbs[i]);
            fprintf(out, "  %-12s ", c->name);
            put_wrapped(out, c->summary, SUMMARY_AT, SUMMARY_AT, width);
            if (all) {
                fprintf(out, "\n  %-12s etprof %s ", "", c->name);
                put_wrapped(out, c->usage, SUMMARY_AT + strlen("etprof ") + strlen(c->name) + 1,
                            SUMMARY_AT + 2, width);
            }
            fputc('\n', out);
        }
    }
    fputs("\n"
          "Start with   etprof ab MODEL.pte\n",
          out);
    if (!all) {
        fputs("More verbs   etprof help --all\n", out);
    }
    fputs("More about   etprof help VERB, etprof help exit-codes,\n"
          "             etprof --version\n"
          "             etprof help --man VERB | man -l -\n"
          "             eval \"$(etprof help --completion bash)\"\n"
          "             (also zsh, fish)\n",
          out);
}

void etp_help_line(FILE *out, const char *left, const char *text, size_t width)
{
    size_t at = columns_of(left, strlen(left));
    fputs(left, out);
    put_wrapped(out, text, at, at, width);
    fputc('\n', out);
}

// Gives the number of lines; OUT NULL counts.
static int option_line(FILE *out, const etp_opt *o, size_t width)
{
    char left[64], text[400];
    char short_form[8] = "    ";
    if (o->short_name) {
        snprintf(short_form, sizeof short_form, "-%c, ", o->short_name);
    }
    // Options without a letter begin where those with one have their word.
    snprintf(left, sizeof left, "%s--%s%s%s", short_form, o->name, etp_if(o->arg, " "),
             ETP_OR(o->arg, ""));
    size_t n = (size_t)snprintf(text, sizeof text, "%s", o->help);
    for (int i = 0; o->values && o->values[i] && n < sizeof text; i++) {
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", etp_if(n, i ? ", " : ": "),
                              o->values[i]);
    }
    size_t at = 3 + etp_larger(strlen(left), 28);
    if (out) {
        fprintf(out, "  %-28s ", left);
    }
    int lines = put_wrapped(out, text, at, HELP_AT, width);
    if (out) {
        fputc('\n', out);
    }
    return lines;
}

// "etprof ab: what it is for" and its usage; gives the number of lines.
static int put_head(FILE *out, const etp_command *cmd, size_t width)
{
    fprintf(out, "etprof %s: ", cmd->name);
    int lines = put_wrapped(out, cmd->summary, strlen("etprof : ") + strlen(cmd->name), 2, width);
    fprintf(out, "\n\nusage: etprof %s%s", cmd->name, etp_if(cmd->usage[0], " "));
    lines += put_wrapped(out, cmd->usage, strlen("usage: etprof  ") + strlen(cmd->name),
                         USAGE_AT + 2, width);
    fputc('\n', out);
    return lines + 1;
}

static const struct {
    const char *group, *name;
} k_session_options[] = {
#define OPTION_GROUP(title) {title, NULL},
#define OPTION(where, field, type, key, limit, verbs, resume, name, ...) {NULL, name},
#include "store/options.def"
};

// The heading of an option; NOW, the one before it, for those that are no session's.
// Headings stand between the rows of options.def, so the heading of an option is the last one
// before it there.
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

static void option_lines(FILE *out, const etp_command *cmd, size_t width)
{
    const char *const none = "options";
    const char *group = none, *shown = NULL;
    for (const etp_opt *o = cmd->opts; o && o->name; o++) {
        group = group_of(cmd, o, group);
        if (group != shown) {
            fprintf(out, "\n%s\n", group);
        }
        shown = group;
        option_line(out, o, width);
    }
    // A verb without options of its own still has the shared ones below this heading.
    if (!shown) {
        fprintf(out, "\n%s\n", none);
    }
}

void etp_help_command(FILE *out, const etp_command *cmd, size_t width)
{
    put_head(out, cmd, width);
    if (cmd->description) {
        fputc('\n', out);
        put_wrapped(out, cmd->description, 0, 0, width);
        fputc('\n', out);
    }
    if (cmd->raw_args) {
        if (cmd->examples) {
            fprintf(out, "\nexamples\n%s\n", cmd->examples);
        }
        return;
    }
    option_lines(out, cmd, width);
    etp_opt shared[ETP_SHARED_OPTIONS];
    const char *names[ETP_CLI_FORMATS + 1];
    size_t n = etp_shared_options(cmd, shared, names);
    for (size_t i = 0; i < n; i++) {
        option_line(out, &shared[i], width);
    }
    fputs("  -h, --help                   this text\n", out);
    if (cmd->examples) {
        fprintf(out, "\nexamples\n%s\n", cmd->examples);
    }
}

// What the first glance needs: usage, an example, the first options; the rest is a --help away.
void etp_help_brief(FILE *out, const etp_command *cmd, size_t width)
{
    enum { SHOWN = 7, LINES = 15, AROUND = 4 }; // around options: an example, blanks, the last line
    int used = put_head(out, cmd, width) + AROUND;
    if (cmd->examples) {
        fprintf(out, "e.g.   %.*s\n", (int)strcspn(cmd->examples + 2, "\n"), cmd->examples + 2);
    }
    fputc('\n', out);
    int n = 0;
    if (cmd->raw_args && cmd->description) {
        put_wrapped(out, cmd->description, 0, 0, width);
        fputc('\n', out);
        n++;
    }
    for (const etp_opt *o = cmd->opts; o && o->name && n < SHOWN; o++) {
        // Counted first: an option that would not fit is left out, and a shorter one after it may
        // still be shown.
        int lines = option_line(NULL, o, width);
        if (used + lines <= LINES) {
            used += lines;
            option_line(out, o, width);
            n++;
        }
    }
    fprintf(out, "%s'etprof %s --help' has everything\n", etp_if(n, "\n"), cmd->name);
}
