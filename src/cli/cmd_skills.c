// SPDX-License-Identifier: Apache-2.0
// etprof skills [NAME], etprof skills run LIST: the playbooks, and executing them.
#include <stddef.h>
#include <string.h>

#include "cli/emit.h"
#include "cli/say.h"
#include "os/os.h"
#include "playbooks/skills.h"

typedef struct skills_options {
    etp_opt_list set;
    bool dry_run;
    double timeout_s;
} skills_options;

static const skills_options k_defaults = {.timeout_s = 3600};

static const etp_opt k_options[] = {
    {"set", 's', ETP_OPT_LIST, offsetof(skills_options, set), "NAME=VALUE",
     "a setting of the skills, e.g. model=my_net (repeatable)", NULL},
    {"dry-run", 'n', ETP_OPT_FLAG, offsetof(skills_options, dry_run), NULL,
     "with run: print the commands, filled in, and stop", NULL},
    {"timeout", 0, ETP_OPT_TIME, offsetof(skills_options, timeout_s), "TIME",
     "with run: longest time for one command (default 1h)", NULL},
    {0},
};

static etp_status settings_of(etp_cli *cli, const etp_opt_list *set, etp_skill_settings *out,
                              etp_error *err)
{
    for (size_t i = 0; i < set->n; i++) {
        const char *equals = strchr(set->items[i], '=');
        if (!equals || equals == set->items[i]) {
            return etp_fail(err, ETP_USAGE, "--set takes NAME=VALUE, not '%s'", set->items[i]);
        }
        etp_str name = {set->items[i], (size_t)(equals - set->items[i])};
        etp_skill_setting s = {etp_arena_strdup(&cli->arena, name), equals + 1};
        ETP_ADD(&cli->arena, out, s);
    }
    return etp_arena_check(&cli->arena, err, "settings"); // their names are compared
}

// --set platform=… also decides in which folder a run is looked for.
static const char *platform_of(const etp_skill_settings *given, const char *here)
{
    for (size_t i = 0; i < given->n; i++) {
        here = strcmp(given->items[i].name, "platform") == 0 ? given->items[i].value : here;
    }
    return here;
}

static void progress(void *ctx, const etp_skill *skill, const etp_skill_command *c)
{
    const etp_cli *cli = ctx;
    if (cli->quiet) {
        return;
    }
    if (c->state == ETP_SKILL_NOT_RUN) {
        etp_say("%s  %s  %s\n", skill->id, c->gate ? "gate" : "step", c->shown);
    } else if (c->state == ETP_SKILL_FAILED) {
        etp_say("%s  failed with exit code %d\n", skill->id, c->exit_code);
    }
}

static etp_status print_commands(etp_cli *cli, const etp_skill_list *list, const char *platform,
                                 etp_error *err)
{
    etp_strbuf buf;
    etp_strbuf_init(&buf, &cli->arena);
    for (size_t i = 0; i < list->n; i++) {
        for (size_t k = 0; k < list->items[i].commands.n; k++) {
            ETP_NEED(etp_skill_show_run(&list->items[i].commands.items[k], platform, &cli->arena),
                     err, "output");
            etp_strbuf_printf(&buf, "%s\n", list->items[i].commands.items[k].shown);
        }
    }
    return etp_cli_emit_bytes(cli, etp_strbuf_str(&buf), err);
}

static etp_status execute(etp_cli *cli, const skills_options *o, const char *platform,
                          etp_skill_list *list, etp_error *err)
{
    if (o->dry_run && cli->format == ETP_CLI_TEXT) {
        return print_commands(cli, list, platform, err);
    }
    etp_skill_environment env = {.platform = platform,
                                 .program = cli->program,
                                 .search_path = cli->env_path,
                                 .timeout_ns = (uint64_t)(o->timeout_s * 1e9),
                                 .progress = progress,
                                 .ctx = cli};
    // A playbook runs this very program; without its path another etprof of PATH would take its
    // place.
    if (!env.program) {
        return etp_fail(err, ETP_ENVIRONMENT, "cannot find out the path of this program");
    }
    // With --dry-run and JSON the list is shown as it would be run, with nothing executed.
    if (!o->dry_run) {
        ETP_TRY(etp_skill_run(list, &env, &cli->arena, err));
    }
    // The answer is no, and not an error: the gate did what it is there for.
    if (list->stopped_at) {
        etp_cli_outcome(cli, 1);
    }
    return ETP_OK;
}

// All of them, with their defaults: which are of use is for the agent to find out.
static etp_status install(etp_cli *cli, const char *dir, const char *platform, etp_error *err)
{
    static const etp_skill_settings k_none;
    etp_skill_list list;
    ETP_TRY(etp_skill_select(NULL, &k_none, platform, &cli->arena, &list, err));
    ETP_TRY(etp_skill_install(&list, dir, &cli->arena, err));
    if (!cli->quiet) {
        etp_say("%zu skills in %s\n", list.n, dir);
    }
    return ETP_OK;
}

static etp_status run(etp_cli *cli, const void *opts, int argc, char **argv, etp_error *err)
{
    const skills_options *o = opts;
    bool runs = argc > 0 && strcmp(argv[0], "run") == 0;
    bool installs = argc > 0 && strcmp(argv[0], "install") == 0;
    // "run LIST" and "install DIR" are two words, NAME is one.
    if ((runs || installs) != (argc == 2)) {
        return etp_fail(err, ETP_USAGE,
                        runs ? "skills run needs a list: 01-07, 04, setup-agent"
                        : installs
                            ? "skills install needs the folder where an agent looks for skills"
                            : "skills takes one name, or 'run' and a list");
    }
    if (!runs && (o->dry_run || o->set.n > 0)) {
        return etp_fail(err, ETP_USAGE, "--set and --dry-run belong to 'etprof skills run LIST'");
    }
    etp_os_facts facts;
    etp_os_facts_read(&facts);
    const char *platform = etp_platform_name(facts.platform);
    if (installs) {
        return install(cli, argv[1], platform, err);
    }
    etp_skill_settings settings = {0};
    etp_skill_list list;
    ETP_TRY(settings_of(cli, &o->set, &settings, err));
    ETP_TRY(etp_skill_select(argc > 0 ? argv[argc - 1] : NULL, &settings, platform, &cli->arena,
                             &list, err));
    if (runs) {
        ETP_TRY(execute(cli, o, platform_of(&settings, platform), &list, err));
        if (o->dry_run && cli->format == ETP_CLI_TEXT) {
            return ETP_OK;
        }
    } else if (argc == 1 && cli->format == ETP_CLI_TEXT) {
        // The Markdown as it is: people and agents read it, and may redirect it into a file.
        return etp_cli_emit_bytes(cli, list.items[0].text, err);
    }
    etp_answer answer = {
        .json = etp_skills_json,
        .data = &list,
        .report = cli->format == ETP_CLI_JSON ? NULL : etp_skills_report(&list, &cli->arena),
    };
    return etp_cli_emit(cli, &answer, err);
}

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
    .opts = k_options,
    .opts_size = sizeof(skills_options),
    .defaults = &k_defaults,
    .formats = ETP_CLI_STANDARD_FORMATS,
    .max_args = 2,
    .run = run,
};
