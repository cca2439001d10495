// SPDX-License-Identifier: Apache-2.0
// Parsing of a verb's options from its table.
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/suggest.h"
#include "cli/command.h"

#define COOL_WAIT_S 600.0

static const char *const k_format_names[ETP_CLI_FORMATS] = {
    "text", "json", "csv", "md", "html", "github", "inspector", "inspector-json"};

const char *etp_cli_format_name(etp_cli_format format)
{
    return k_format_names[format];
}

size_t etp_shared_options(const etp_command *cmd, etp_opt out[ETP_SHARED_OPTIONS],
                          const char *names[ETP_CLI_FORMATS + 1])
{
    size_t n = 0, n_names = 0;
    for (int f = 0; f < ETP_CLI_FORMATS; f++) {
        if (cmd->formats & ETP_CLI_FORMAT_BIT(f)) {
            names[n_names++] = k_format_names[f];
        }
    }
    names[n_names] = NULL;
    if (cmd->formats) {
        out[n++] = (etp_opt){"format", 'f', ETP_OPT_CHOICE, 0, "FORMAT", "", names};
        out[n++] = (etp_opt){"output", 'o',    ETP_OPT_STRING,
                             0,        "FILE", "write there instead of to standard output",
                             NULL};
    }
    out[n++] = (etp_opt){"quiet", 'q', ETP_OPT_FLAG, 0, NULL, "no progress, no hints", NULL};
    return n;
}

typedef struct parse_state {
    etp_cli *cli;
    const etp_command *cmd;
    void *opts;
    int argc, at;
    char **argv;
    bool help, brief, format_given;
} parse_state;

static etp_status unknown_option(parse_state *s, const char *name, etp_error *err)
{
    const char *names[64];
    size_t n = 0;
    for (const etp_opt *o = s->cmd->opts; o && o->name && n < 58; o++) {
        names[n++] = o->name;
    }
    // The options that all verbs have are in no table.
    names[n++] = "format";
    names[n++] = "output";
    names[n++] = "quiet";
    names[n++] = "help";
    names[n] = NULL;
    const char *near = etp_suggest(name, names);
    if (near) {
        return etp_fail(err, ETP_USAGE, "no option --%s; did you mean --%s?", name, near);
    }
    return etp_fail(err, ETP_USAGE, "no option %s%s; see 'etprof help %s'",
                    strlen(name) == 1 ? "-" : "--", name, s->cmd->name);
}

// The message lists all words, since most lists are short; what has no room is left out of it.
static etp_status choice(const char *option, const char *value, const char *const *values, int *out,
                         etp_error *err)
{
    char all[200] = "";
    size_t used = 0;
    for (int i = 0; values[i]; i++) {
        if (strcmp(values[i], value) == 0) {
            *out = i;
            return ETP_OK;
        }
        int n = snprintf(all + used, sizeof all - used, "%s%s", etp_if(i, ", "), values[i]);
        used += n > 0 && (size_t)n < sizeof all - used ? (size_t)n : 0;
    }
    return etp_fail(err, ETP_USAGE, "--%s takes one of %s, not '%s'", option, all, value);
}

// --levels a,b and --levels a --levels b are the same.
static etp_status append_list(etp_cli *cli, etp_opt_list *list, const char *option,
                              const char *value, etp_error *err)
{
    for (const char *p = value;;) {
        size_t n = strcspn(p, ",");
        if (n == 0) {
            return etp_fail(err, ETP_USAGE, "--%s has an empty item in '%s'", option, value);
        }
        ETP_ADD(&cli->arena, list, etp_arena_strdup(&cli->arena, (etp_str){p, n}));
        if (p[n] == '\0') {
            return etp_arena_check(&cli->arena, err, "options"); // a shorter list is another wish
        }
        p += n + 1;
    }
}

// "90", "90s", "2m", "1.5h" in seconds; 0 when it is no time.
static double seconds(etp_str text)
{
    static const struct {
        char letter;
        double factor;
    } k_units[] = {
        {'s', 1   },
        {'m', 60  },
        {'h', 3600}
    };
    double v = 0, factor = 1;
    for (size_t i = 0; text.len > 1 && i < sizeof k_units / sizeof *k_units; i++) {
        if (text.ptr[text.len - 1] == k_units[i].letter) {
            factor = k_units[i].factor;
            text.len--;
            break;
        }
    }
    return etp_parse_double(text, &v) && v > 0 && v * factor <= 1e9 ? v * factor : 0;
}

static etp_status parse_cool(const char *name, const char *text, etp_cool *out, etp_error *err)
{
    etp_str time = etp_str_from(text), celsius;
    bool timed = etp_str_cut(&time, ",", &celsius);
    // The time may be left out, but there always is one: a device that never gets cool must not
    // hold a session for ever.
    *out = (etp_cool){.wait_s = COOL_WAIT_S};
    bool ok = etp_parse_double(celsius, &out->celsius) && out->celsius > 0 && out->celsius < 150;
    if (ok && timed) {
        out->wait_s = seconds(time);
    }
    return ok && out->wait_s > 0
               ? ETP_OK
               : etp_fail(err, ETP_USAGE,
                          "--%s '%s' is not a temperature in degrees Celsius, or C,TIME like 38,5m",
                          name, text);
}

static etp_status store_text(parse_state *s, const etp_opt *o, const char *value, char *field,
                             etp_error *err)
{
    const char *before;
    memcpy(&before, field, sizeof before);
    if (value[0] == '\0') { // most often a variable of the shell that is not set
        return etp_fail(err, ETP_USAGE, "--%s needs a value", o->name);
    }
    if (o->type == ETP_OPT_FILES && before) {
        value = etp_arena_printf(&s->cli->arena, "%s,%s", before, value);
    }
    memcpy(field, &value, sizeof value);
    return etp_arena_check(&s->cli->arena, err, "options");
}

// The field is only known by its offset in the verb's struct, which has any type: values go in by
// memcpy.
static etp_status store(parse_state *s, const etp_opt *o, const char *value, etp_error *err)
{
    char *field = (char *)s->opts + o->offset;
    switch (o->type) {
    case ETP_OPT_FLAG: {
        bool on = true;
        memcpy(field, &on, sizeof on);
        return ETP_OK;
    }
    case ETP_OPT_STRING:
    case ETP_OPT_FILES:
        return store_text(s, o, value, field, err);
    case ETP_OPT_LIST: {
        etp_opt_list list;
        memcpy(&list, field, sizeof list);
        ETP_TRY(append_list(s->cli, &list, o->name, value, err));
        memcpy(field, &list, sizeof list);
        return ETP_OK;
    }
    case ETP_OPT_COUNT: {
        uint64_t v = 0;
        if (!etp_parse_u64(etp_str_from(value), &v) || v == 0) {
            return etp_fail(err, ETP_USAGE, "--%s takes a whole number from 1, not '%s'", o->name,
                            value);
        }
        memcpy(field, &v, sizeof v);
        return ETP_OK;
    }
    case ETP_OPT_NUMBER: {
        double v = 0;
        if (!etp_parse_double(etp_str_from(value), &v) || v < 0) {
            return etp_fail(err, ETP_USAGE, "--%s takes a number from 0, not '%s'", o->name, value);
        }
        memcpy(field, &v, sizeof v);
        return ETP_OK;
    }
    case ETP_OPT_PERCENT: {
        double v = 0;
        etp_str text = etp_str_from(value);
        text.len -= etp_str_ends(text, ETP_STR("%"));
        if (!etp_parse_double(text, &v) || v < 0) {
            return etp_fail(err, ETP_USAGE, "--%s takes a percentage such as 1%% or 0.5, not '%s'",
                            o->name, value);
        }
        // Typed in percent, kept as a ratio, as everywhere else in the program.
        v /= 100;
        memcpy(field, &v, sizeof v);
        return ETP_OK;
    }
    case ETP_OPT_COOL: {
        etp_cool v;
        ETP_TRY(parse_cool(o->name, value, &v, err));
        memcpy(field, &v, sizeof v);
        return ETP_OK;
    }
    case ETP_OPT_TIME: {
        double v = seconds(etp_str_from(value));
        if (!(v > 0)) {
            return etp_fail(err, ETP_USAGE,
                            "--%s takes a time such as 90, 90s, 2m or 1.5h, not '%s'", o->name,
                            value);
        }
        memcpy(field, &v, sizeof v);
        return ETP_OK;
    }
    case ETP_OPT_CHOICE: {
        int v = 0;
        ETP_TRY(choice(o->name, value, o->values, &v, err));
        memcpy(field, &v, sizeof v);
        return ETP_OK;
    }
    }
    return etp_fail(err, ETP_INTERNAL, "option --%s has an unknown type", o->name);
}

static etp_status format_option(parse_state *s, const char *value, etp_error *err)
{
    if (s->cmd->formats == 0) {
        return etp_fail(err, ETP_USAGE, "%s has no --format", s->cmd->name);
    }
    etp_opt shared[ETP_SHARED_OPTIONS];
    const char *names[ETP_CLI_FORMATS + 1];
    etp_shared_options(s->cmd, shared, names);
    int index = 0, format = 0;
    ETP_TRY(choice("format", value, names, &index, err));
    while (names[index] != k_format_names[format]) {
        format++;
    }
    s->cli->format = (etp_cli_format)format;
    s->format_given = true;
    return ETP_OK;
}

// The value of an option: after '=', or the next word.
static etp_status take_value(parse_state *s, const char *name, const char *inline_value,
                             const char **out, etp_error *err)
{
    if (inline_value) {
        *out = inline_value;
        return ETP_OK;
    }
    if (s->at + 1 >= s->argc) {
        return etp_fail(err, ETP_USAGE, "--%s needs a value", name);
    }
    *out = s->argv[++s->at];
    return ETP_OK;
}

// Options that every verb has.
// Asked after the verb's own table, which may have a letter of these for something else.
static etp_status shared_option(parse_state *s, const char *name, const char *inline_value,
                                bool *known, etp_error *err)
{
    const char *value = NULL;
    *known = true;
    if (strcmp(name, "help") == 0 || strcmp(name, "h") == 0) {
        s->help = true;
        s->brief = strcmp(name, "h") == 0;
    } else if (strcmp(name, "quiet") == 0 || strcmp(name, "q") == 0) {
        s->cli->quiet = true;
    } else if (strcmp(name, "format") == 0 || strcmp(name, "f") == 0) {
        ETP_TRY(take_value(s, "format", inline_value, &value, err));
        return format_option(s, value, err);
    } else if ((strcmp(name, "output") == 0 || strcmp(name, "o") == 0) && s->cmd->formats) {
        ETP_TRY(take_value(s, "output", inline_value, &value, err));
        s->cli->output = value;
    } else {
        *known = false;
    }
    return ETP_OK;
}

static etp_status one_option(parse_state *s, etp_error *err)
{
    const char *word = s->argv[s->at];
    bool is_long = word[1] == '-';
    const char *name_start = word + (is_long ? 2 : 1);
    const char *equals = strchr(name_start, '=');
    // Only long options take "=": in "-x=3" the value would begin with "=".
    const char *inline_value = is_long && equals ? equals + 1 : NULL;
    size_t len = inline_value ? (size_t)(equals - name_start) : strlen(name_start);
    const char *name = etp_arena_strdup(&s->cli->arena, (etp_str){name_start, len});
    ETP_NEED(name, err, "options");
    if (!is_long && len != 1) {
        return etp_fail(err, ETP_USAGE, "options are written --name or -x, not '%s'", word);
    }
    for (const etp_opt *o = s->cmd->opts; o && o->name; o++) {
        if (is_long ? strcmp(o->name, name) != 0 : o->short_name != name[0]) {
            continue;
        }
        const char *value = NULL;
        if (o->type == ETP_OPT_FLAG) {
            if (inline_value) {
                return etp_fail(err, ETP_USAGE, "--%s takes no value", o->name);
            }
        } else {
            ETP_TRY(take_value(s, o->name, inline_value, &value, err));
        }
        return store(s, o, value, err);
    }
    bool known = false;
    ETP_TRY(shared_option(s, name, inline_value, &known, err));
    return known ? ETP_OK : unknown_option(s, name, err);
}

etp_status etp_options_parse(etp_cli *cli, const etp_command *cmd, int argc, char **argv,
                             void *opts, int *n_operands, etp_cli_help *help, etp_error *err)
{
    parse_state s = {.cli = cli, .cmd = cmd, .opts = opts, .argc = argc, .argv = argv};
    int operands = 0;
    bool only_operands = false;
    // Options and operands may be mixed: the operands move to the front of argv as they are met.
    for (s.at = 1; s.at < argc; s.at++) {
        char *word = argv[s.at];
        // "-" alone is an operand: standard input.
        if (only_operands || word[0] != '-' || word[1] == '\0') {
            argv[operands++] = word; // never overtakes s.at
        } else if (strcmp(word, "--") == 0) {
            only_operands = true;
        } else {
            ETP_TRY(one_option(&s, err));
        }
    }
    if (cli->output && !s.format_given) {
        // Without --format the ending of --output says it: report.html is a page.
        const char *ending = strrchr(s.cli->output, '.');
        for (int f = 0; ending && f < ETP_CLI_FORMATS; f++) {
            if ((s.cmd->formats & ETP_CLI_FORMAT_BIT(f)) &&
                strcmp(ending + 1, etp_cli_format_name((etp_cli_format)f)) == 0) {
                s.cli->format = (etp_cli_format)f;
            }
        }
        // Text in a file that a browser opens would be taken for a page that went wrong.
        if (!s.help && ending && strcmp(ending, ".html") == 0 && cli->format != ETP_CLI_HTML &&
            format_option(&s, "html", err) != ETP_OK) {
            return etp_fail_ctx(err, "--output %s", cli->output);
        }
    }
    *help = ETP_HELP_NONE;
    *n_operands = operands;
    // With --help nothing else has to be right: who asks for help may have half a command.
    if (s.help) {
        *help = s.brief ? ETP_HELP_BRIEF : ETP_HELP_WHOLE;
        return ETP_OK;
    }
    if (operands < cmd->min_args) {
        const char *example = cmd->examples ? cmd->examples + strspn(cmd->examples, " ") : NULL;
        return etp_fail(err, ETP_USAGE, "an operand is missing; usage: etprof %s %s%s%.*s",
                        cmd->name, cmd->usage, etp_if(example, "; e.g. "),
                        example ? (int)strcspn(example, "\n") : 0, ETP_OR(example, ""));
    }
    if (cmd->max_args >= 0 && operands > cmd->max_args) {
        return etp_fail(err, ETP_USAGE, "unexpected operand '%s'; usage: etprof %s %s",
                        argv[cmd->max_args], cmd->name, cmd->usage);
    }
    return ETP_OK;
}
