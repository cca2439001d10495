// SPDX-License-Identifier: Apache-2.0
// Completion of bash, zsh and fish, from the same records as --help.
#include <string.h>

#include "cli/command.h"
#include "isa/isa.h"

static const char k_levels[] = "levels"; // its values are a list with commas

// The levels of all families: what measures may be another device. Devices as words of their
// kinds: which are attached only adb knows, and it takes seconds to start.
static const char *const *words_of(const etp_opt *o, const char *levels[ETP_LEVEL_COUNT])
{
    static const char *const k_devices[] = {"local", "adb", "ssh:", "qemu", NULL};
    if (strcmp(o->name, k_levels) == 0) {
        etp_level steps[ETP_LEVEL_COUNT];
        size_t n = etp_level_list(ETP_ISA_AARCH64, steps);
        n += etp_level_list(ETP_ISA_X86_64, steps + n);
        for (size_t i = 0; i < n; i++) {
            levels[i] = etp_level_get(steps[i])->name;
        }
        levels[n++] = etp_level_get(ETP_LEVEL_BEST_X86_64)->name;
        levels[n] = NULL;
        return levels;
    }
    return strcmp(o->name, "device") == 0 ? k_devices : o->values;
}

// WORDS are the values that can be given, NULL where they are no short list.
typedef void print_option(FILE *out, const etp_command *cmd, const etp_opt *o,
                          const char *const *words);

// Calls PRINT for every option that CMD takes. A raw verb's options are another program's.
static void each_option(FILE *out, const etp_command *cmd, print_option *print)
{
    static const etp_opt k_help = {
        "help", 'h', ETP_OPT_FLAG, 0, NULL, "what the verb does and its options", NULL};
    if (cmd->raw_args) {
        return;
    }
    for (const etp_opt *o = cmd->opts; o && o->name; o++) {
        const char *levels[ETP_LEVEL_COUNT];
        print(out, cmd, o, words_of(o, levels));
    }
    etp_opt shared[ETP_SHARED_OPTIONS];
    const char *names[ETP_CLI_FORMATS + 1];
    size_t n = etp_shared_options(cmd, shared, names);
    for (size_t i = 0; i < n; i++) {
        if (shared[i].values) {
            shared[i].help = "how the answer is written"; // elsewhere its values say it
        }
        print(out, cmd, &shared[i], shared[i].values);
    }
    print(out, cmd, &k_help, NULL);
}

static void join(FILE *out, const char *const *words)
{
    for (int i = 0; words[i]; i++) {
        fprintf(out, "%s%s", etp_if(i, " "), words[i]);
    }
}

// Whether an operand named so is a file: shells then complete paths.
// The placeholder in the help text tells: a shell cannot know more of an operand than its name.
static bool is_path(const char *arg)
{
    static const char *const k_words[] = {"FILE", "DIR", "PATH", "SPEC", "MODEL"};
    for (size_t i = 0; i < sizeof k_words / sizeof *k_words; i++) {
        if (strstr(arg, k_words[i])) {
            return true;
        }
    }
    return false;
}

// TEXT inside single quotes; what is in SPECIAL gets a backslash, a single quote is written as
// QUOTE. Between single quotes a shell takes all else as it is.
static void quoted(FILE *out, const char *text, const char *special, const char *quote)
{
    for (const char *p = text; *p; p++) {
        if (*p == '\'') {
            fputs(quote, out);
            continue;
        }
        // What the completion system reads again after the shell has taken the quotes off.
        if (strchr(special, *p)) {
            fputc('\\', out);
        }
        fputc(*p, out);
    }
}

static void bash_name(FILE *out, const etp_command *cmd, const etp_opt *o, const char *const *words)
{
    (void)cmd;
    (void)words;
    fprintf(out, "--%s ", o->name);
}

// A case per verb and option, by the word before the cursor.
static void bash_values(FILE *out, const etp_command *cmd, const etp_opt *o,
                        const char *const *words)
{
    if (words) {
        fprintf(out, "        '%s --%s'", cmd->name, o->name);
        if (o->short_name) {
            fprintf(out, "|'%s -%c'", cmd->name, o->short_name);
        }
        fputs(strcmp(o->name, k_levels) == 0 ? ") list=1 words='" : ") words='", out);
        join(out, words);
        fputs("' files='' ;;\n", out);
    }
}

// The script sets `words` to what can stand at the cursor, and clears `files` where no path can.
// `list` marks values with commas: only what follows the last comma is completed, and `head` is put
// back before it.
static void complete_bash(FILE *out)
{
    fputs("# bash completion of etprof: eval \"$(etprof help --completion bash)\"\n"
          "_etprof() {\n"
          "    local cur=${COMP_WORDS[COMP_CWORD]} verb=${COMP_WORDS[1]} words='' files=1\n"
          "    local list='' head=''\n"
          "    if [ \"$COMP_CWORD\" = 1 ]; then\n"
          "        verb='' files='' words='help",
          out);
    for (const etp_command *const *c = k_etp_commands; *c; c++) {
        fprintf(out, " %s", (*c)->name);
    }
    fputs("'\n    fi\n    case $verb in\n        help) words='exit-codes --all --man --completion",
          out);
    for (const etp_command *const *c = k_etp_commands; *c; c++) {
        fprintf(out, " %s", (*c)->name);
    }
    fputs("' files='' ;;\n", out);
    for (const etp_command *const *c = k_etp_commands; *c; c++) {
        fprintf(out, "        %s) words='", (*c)->name);
        each_option(out, *c, bash_name);
        fputs("' ;;\n", out);
    }
    fputs("    esac\n    case \"$verb ${COMP_WORDS[COMP_CWORD - 1]}\" in\n"
          "        'help --completion') words='bash zsh fish' ;;\n",
          out);
    for (const etp_command *const *c = k_etp_commands; *c; c++) {
        each_option(out, *c, bash_values);
    }
    fputs("    esac\n"
          "    case $list$cur in 1*,*) head=${cur%,*}, ;; esac\n"
          "    COMPREPLY=($(compgen -P \"$head\" -W \"$words\" -- \"${cur#\"$head\"}\"))\n"
          "    [ -z \"$files\" ] || {\n"
          "        local IFS=$'\\n'\n"
          "        COMPREPLY+=($(compgen -f -- \"$cur\"))\n"
          "    }\n"
          "}\n"
          "complete -o filenames -F _etprof etprof\n",
          out);
}

// '--name[help]:ARG:(words)' of zsh's _arguments; -x and --name exclude each other.
static void zsh_option(FILE *out, const etp_command *cmd, const etp_opt *o,
                       const char *const *words)
{
    static const char k_special[] = "[]:\\";
    // Lists may be given again; of every other option zsh then offers neither form once more.
    bool again = o->type == ETP_OPT_LIST || o->type == ETP_OPT_FILES;
    (void)cmd;
    fputs(" \\\n            ", out);
    if (o->short_name) {
        if (!again) {
            fprintf(out, "'(-%c --%s)'", o->short_name, o->name);
        }
        fprintf(out, "{%s-%c,%s--%s}'", etp_if(again, "\\*"), o->short_name, etp_if(again, "\\*"),
                o->name);
    } else {
        fprintf(out, "'%s--%s", etp_if(again, "*"), o->name);
    }
    fputc('[', out);
    quoted(out, o->help, k_special, "'\\''");
    fputc(']', out);
    if (o->arg) {
        fputc(':', out);
        quoted(out, o->arg, k_special, "'\\''");
        fputc(':', out);
        if (words && strcmp(o->name, k_levels) == 0) {
            fputs("_values -s , level ", out);
            join(out, words);
        } else if (words) {
            fputc('(', out);
            for (int i = 0; words[i]; i++) {
                fputs(etp_if(i, " "), out);
                quoted(out, words[i], ":", "'\\''");
            }
            fputc(')', out);
        } else if (is_path(o->arg)) {
            fputs("_files", out);
        } else {
            fputc(' ', out); // nothing to offer, only its name
        }
    }
    fputc('\'', out);
}

// _arguments of zsh does the parsing: each option is one specification, which has its help text and
// its values.
static void complete_zsh(FILE *out)
{
    fputs("#compdef etprof\n"
          "# zsh completion of etprof: this text as _etprof in a folder of $fpath\n"
          "_etprof() {\n"
          "    local -a verbs\n"
          "    verbs=(\n"
          "        'help:list of verbs; help VERB explains one'\n",
          out);
    for (const etp_command *const *c = k_etp_commands; *c; c++) {
        fprintf(out, "        '%s:", (*c)->name);
        quoted(out, (*c)->summary, ":\\", "'\\''");
        fputs("'\n", out);
    }
    fputs("    )\n"
          "    if (( CURRENT == 2 )); then\n"
          "        _describe -t verbs 'verb' verbs\n"
          "        return\n"
          "    fi\n"
          "    shift words\n"
          "    (( CURRENT-- ))\n"
          "    case $words[1] in\n"
          "    help)\n"
          "        _arguments '--all[every verb]' '--man[the page of man]' \\\n"
          "            '--completion[a shell completes by it]:SHELL:(bash zsh fish)' \\\n"
          "            '*:verb:{ _describe -t verbs verb verbs }' ;;\n",
          out);
    for (const etp_command *const *c = k_etp_commands; *c; c++) {
        fprintf(out, "    %s)\n        _arguments", (*c)->name);
        each_option(out, *c, zsh_option);
        fputs(" \\\n            '*:file:_files' ;;\n", out);
    }
    fputs("    esac\n"
          "}\n"
          "if [ \"$funcstack[1]\" = _etprof ]; then\n"
          "    _etprof \"$@\"\n"
          "elif (( $+functions[compdef] )); then\n"
          "    compdef _etprof etprof\n"
          "fi\n",
          out);
}

// fish has a line per verb and option, with the condition under which it is offered.
static void fish_option(FILE *out, const etp_command *cmd, const etp_opt *o,
                        const char *const *words)
{
    fprintf(out, "complete -c etprof -n '__fish_seen_subcommand_from %s' -l %s", cmd->name,
            o->name);
    if (o->short_name) {
        fprintf(out, " -s %c", o->short_name);
    }
    if (words) {
        fputs(" -x -a '", out);
        join(out, words);
        fputc('\'', out);
    } else if (o->arg) {
        fputs(is_path(o->arg) ? " -r" : " -x", out);
    }
    fputs(" -d '", out);
    quoted(out, o->help, "\\", "\\'");
    fputs("'\n", out);
}

static void complete_fish(FILE *out)
{
    fputs("# fish completion of etprof: etprof help --completion fish | source\n"
          "complete -c etprof -n __fish_use_subcommand -f -a help -d 'what there is; help VERB "
          "explains one'\n",
          out);
    for (const etp_command *const *c = k_etp_commands; *c; c++) {
        fprintf(out, "complete -c etprof -n __fish_use_subcommand -f -a %s -d '", (*c)->name);
        quoted(out, (*c)->summary, "\\", "\\'");
        fputs("'\n", out);
    }
    fputs("complete -c etprof -n '__fish_seen_subcommand_from help' -f -a 'exit-codes", out);
    for (const etp_command *const *c = k_etp_commands; *c; c++) {
        fprintf(out, " %s", (*c)->name);
    }
    fputs("' -d 'what to explain'\n"
          "complete -c etprof -n '__fish_seen_subcommand_from help' -l all -d 'every verb'\n"
          "complete -c etprof -n '__fish_seen_subcommand_from help' -l man -d 'the page of man'\n"
          "complete -c etprof -n '__fish_seen_subcommand_from help' -l completion -x -a 'bash zsh "
          "fish' -d 'a shell completes by it'\n",
          out);
    for (const etp_command *const *c = k_etp_commands; *c; c++) {
        each_option(out, *c, fish_option);
    }
}

bool etp_completion(FILE *out, const char *shell)
{
    static const struct {
        const char *name;
        void (*print)(FILE *out);
    } k_shells[] = {
        {"bash", complete_bash},
        {"zsh",  complete_zsh },
        {"fish", complete_fish}
    };
    for (size_t i = 0; i < sizeof k_shells / sizeof *k_shells; i++) {
        if (strcmp(k_shells[i].name, shell) == 0) {
            k_shells[i].print(out);
            return true;
        }
    }
    return false;
}
