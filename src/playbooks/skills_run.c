// SPDX-License-Identifier: Apache-2.0
// Executing playbooks, and what came of it as a document and as a report.
#include "playbooks/skills.h"

#include <inttypes.h>
#include <string.h>

#include "device/remote.h"
#include "document/rows.h"
#include "os/os.h"
#include "store/store.h"

// What a command prints is kept until it has ended; only the end of a failed one is shown.
#define MOST_OUTPUT ((size_t)64 << 20)
#define TAIL_BYTES 1500

// Whole lines: the first one that is left is cut away with its beginning.
// The last lines of what a command printed, errors after data.
static const char *tail_of(etp_str out, etp_str log, etp_arena *arena)
{
    etp_str parts[] = {out, log};
    for (int i = 0; i < 2; i++) {
        if (parts[i].len > TAIL_BYTES) {
            parts[i].ptr += parts[i].len - TAIL_BYTES;
            parts[i].len = TAIL_BYTES;
            size_t cut = etp_str_find(parts[i], ETP_STR("\n"));
            cut = cut < parts[i].len ? cut + 1 : 0;
            parts[i] = (etp_str){parts[i].ptr + cut, parts[i].len - cut};
        }
    }
    return etp_arena_printf(arena, "%.*s%.*s", ETP_STR_ARG(parts[0]), ETP_STR_ARG(parts[1]));
}

// "etprof" in a playbook is this very program, whatever PATH has: the steps must be those of the
// version that printed them.
static const char *program_of(const char *word, const etp_skill_environment *env, etp_arena *arena)
{
    if (strcmp(word, "etprof") == 0) {
        return env->program;
    }
    return strchr(word, '/') ? word : etp_remote_find(word, env->search_path, arena);
}

// The folder that {run} stands for: the newest of the runs of PTE's default name on PLATFORM that
// is of this very file. ETP_USAGE when there is none, with what there is.
static etp_status skill_newest_run(const char *pte, const char *platform, etp_arena *arena,
                                   const char **out, etp_error *err)
{
    char sha256[65];
    uint64_t bytes;
    etp_run_found found;
    const char *name = etp_run_default_dir(arena, pte, platform);
    *out = name;
    ETP_NEED(name, err, "run folders");
    if (!etp_os_is_file(pte)) {
        return etp_fail(err, ETP_USAGE, "%s is not there: export it first", pte);
    }
    ETP_TRY(etp_run_hash_file(pte, sha256, &bytes, err));
    ETP_TRY(etp_run_find_named(name, arena, &found, err));
    // Newest first. The hash decides and not the name: another model may have been exported to the
    // same path meanwhile.
    for (size_t i = 0; i < found.n; i++) {
        for (size_t m = 0; m < found.items[i].n_models; m++) {
            if (etp_str_eqz(found.items[i].models[m].sha256, sha256)) {
                *out = found.items[i].dir;
                return ETP_OK;
            }
        }
    }
    if (found.n == 0) {
        return etp_fail(err, ETP_USAGE, "no run of %s is there (%s): measure it first", pte, name);
    }
    return etp_fail(err, ETP_USAGE,
                    "no run of %s is there: %s is of %.*s (another SHA-256): measure it first", pte,
                    found.items[0].dir,
                    ETP_STR_ARG(found.items[0].n_models ? found.items[0].models[0].path
                                                        : ETP_STR("another model")));
}

static void show_run(etp_skill_command *c, const char *dir, etp_arena *arena)
{
    const char *at = strstr(c->shown, "{run}");
    c->shown = at ? etp_arena_printf(arena, "%.*s%s%s", (int)(at - c->shown), c->shown, dir, at + 5)
                  : c->shown;
}

// Puts the folder into the words that wait for it.
static etp_status place_run(etp_skill_command *c, const etp_skill_environment *env,
                            const char **argv, etp_arena *arena, etp_error *err)
{
    const char *dir = NULL;
    ETP_TRY(skill_newest_run(c->run_of, env->platform, arena, &dir, err));
    for (size_t i = 0; argv[i]; i++) {
        const char *at = strstr(argv[i], "{run}");
        argv[i] =
            at ? etp_arena_printf(arena, "%.*s%s%s", (int)(at - argv[i]), argv[i], dir, at + 5)
               : argv[i];
    }
    show_run(c, dir, arena);
    return etp_arena_check(arena, err, "a command"); // which a missing word would make another one
}

bool etp_skill_show_run(etp_skill_command *c, const char *platform, etp_arena *arena)
{
    const char *dir = NULL; // the name that a run would get where there is none yet
    if (c->run_of && skill_newest_run(c->run_of, platform, arena, &dir, NULL) == ETP_NOMEM) {
        return false;
    }
    if (dir) {
        show_run(c, dir, arena);
    }
    return !arena->failed;
}

static etp_status run_command(etp_skill_command *c, const etp_skill_environment *env,
                              etp_arena *arena, etp_error *err)
{
    size_t n = 0;
    while (c->argv[n]) {
        n++;
    }
    // A copy: the playbook's own words stay as they were read.
    const char **argv = ETP_NEW_ARRAY(arena, const char *, n + 1);
    const char *self = etp_arena_printf(arena, "ETPROF=%s", env->program);
    ETP_NEED(argv && self, err, "a command");
    memcpy(argv, c->argv, (n + 1) * sizeof *argv);
    argv[0] = program_of(c->argv[0], env, arena);
    // Until it has succeeded: each way out below leaves a failed command with its reason.
    c->state = ETP_SKILL_FAILED;
    c->exit_code = -1;
    etp_error missing = {.offset = ETP_NO_OFFSET};
    if (c->run_of && place_run(c, env, argv, arena, &missing) != ETP_OK) {
        c->tail = etp_arena_printf(arena, "%s\n", missing.msg);
        return etp_arena_check(arena, err, "a command");
    }
    if (!argv[0]) {
        c->tail = etp_arena_printf(arena, "%s is not in PATH\n", c->argv[0]);
        return etp_arena_check(arena, err, "a command");
    }
    // Entries of model_profiling/ look for etprof in their environment: the same one runs there.
    const char *set[] = {self, NULL};
    etp_process_spec spec = {.argv = argv, .env_set = set};
    etp_process p = {0};
    etp_str out = {0}, log = {0};
    etp_error why = {.offset = ETP_NO_OFFSET};
    uint64_t start = etp_os_now_ns();
    etp_status st =
        etp_process_capture(&spec, env->timeout_ns, MOST_OUTPUT, arena, &p, &out, &log, &why);
    c->wall_ns = etp_os_now_ns() - start;
    if (st == ETP_NOMEM) {
        return etp_fail_nomem(err, "a command's output");
    }
    if (st == ETP_OK) {
        c->exit_code = p.signal ? 128 + p.signal : p.exit_code;
        c->state = c->exit_code == 0 ? ETP_SKILL_OK : ETP_SKILL_FAILED;
    }
    if (c->state == ETP_SKILL_FAILED) {
        c->tail =
            st == ETP_OK ? tail_of(out, log, arena) : etp_arena_printf(arena, "%s\n", why.msg);
    }
    return etp_arena_check(arena, err, "a command's output");
}

etp_status etp_skill_run(etp_skill_list *list, const etp_skill_environment *env, etp_arena *arena,
                         etp_error *err)
{
    list->executed = true;
    for (size_t i = 0; i < list->n && !list->stopped_at; i++) {
        etp_skill *s = &list->items[i];
        s->state = ETP_SKILL_OK;
        for (size_t k = 0; k < s->commands.n && s->state == ETP_SKILL_OK; k++) {
            etp_skill_command *c = &s->commands.items[k];
            if (env->progress) {
                env->progress(env->ctx, s, c);
            }
            ETP_TRY(run_command(c, env, arena, err));
            if (env->progress) {
                env->progress(env->ctx, s, c);
            }
            s->state = c->state;
        }
        // Later playbooks rest on what this one should have made: none of them is begun.
        list->stopped_at = s->state == ETP_SKILL_FAILED ? s->id : NULL;
    }
    return ETP_OK;
}

// ---- document ----

static int maybe(etp_skill_state state)
{
    return state == ETP_SKILL_NOT_RUN ? -1 : state == ETP_SKILL_OK;
}
FIND(list_ok, etp_skill_list, etp_skill_list, MAKE(maybe, it->executed ? !it->stopped_at : -1))
FIND(skill_ok, etp_skill, etp_skill_list, MAKE(maybe, maybe(it->state)))
FIND(command_ok, etp_skill_command, etp_skill_list, MAKE(maybe, maybe(it->state)))
FIND(command_kind, etp_skill_command, etp_skill_list, MAKE(number, it->gate))
KNOWN(was_run, etp_skill_command, it->state != ETP_SKILL_NOT_RUN)
static const char *kind_name(unsigned gate)
{
    return gate ? "gate" : "step";
}
WORDS(k_kinds, kind_name, unsigned, 2)

#define OF etp_skill_command
static const etp_field k_ran_rows[] = {
    FIELD("exit_code", INT, exit_code, "128 + N after signal N, −1: it did not start",
          .range = ETP_SIGNED),
    FIELD("wall_ns", UINT, wall_ns, "it took"),
};
static SHAPE(k_ran, k_ran_rows);
static const etp_field k_command_rows[] = {
    MADE("kind", WORD, command_kind, "a gate refuses to go on", .words = &k_kinds,
         .flags = ETP_SET),
    FIELD("line", UINT, line, "in the playbook", .range = ETP_FROM_1),
    FIELD("command", TEXT, shown, "", .flags = ETP_SET),
    MADE("ok", MAYBE, command_ok, "null: it was not run"),
    GROUP(NULL, &k_ran, "", .when = was_run, .flags = ETP_ABSENT),
    FIELD("output", TEXT, tail, "end of what a failed one printed", .flags = ETP_ABSENT),
};
static SHAPE_ON_ONE_LINE(k_command, k_command_rows);
#undef OF

#define OF etp_skill
static const etp_field k_skill_rows[] = {
    FIELD("id", TEXT, id, "name of its file", .flags = ETP_SET),
    FIELD("folder", TEXT, folder, "that it is in", .flags = ETP_SET),
    FIELD("name", TEXT, name, "", .flags = ETP_SET),
    FIELD("description", TEXT, description, "what it does, and when to use it", .flags = ETP_SET),
    FIELD("next", TEXT, next, "the skill that follows"),
    MADE("ok", MAYBE, skill_ok, "null: it was not run"),
    LIST("commands", OBJECT, commands.items, commands.n, "in order", .shape = &k_command),
};
static SHAPE(k_skill, k_skill_rows);
#undef OF

#define OF etp_skill_list
static const etp_field k_document_rows[] = {
    MADE("ok", MAYBE, list_ok, "null: nothing was run"),
    FIELD("stopped_at", TEXT, stopped_at, "id of the skill that failed"),
    LIST("skills", OBJECT, items, n, "in the order of the chain", .shape = &k_skill),
};
static SHAPE(k_document, k_document_rows);
#undef OF

const etp_document k_etp_skills_document = {"etprof.skills/1", "what skills prints", &k_document};

void etp_skills_json(const void *data, etp_json *j)
{
    etp_document_write(j, &k_etp_skills_document, data, data);
}

// ---- report ----

static const char *word_of(etp_skill_state state)
{
    static const char *const k_words[] = {"–", "ok", "failed"};
    return k_words[state];
}

static etp_severity tone_of(etp_skill_state state)
{
    static const etp_severity k_tones[] = {ETP_PLAIN, ETP_GOOD, ETP_BAD};
    return k_tones[state];
}

static void catalogue(const etp_skill_list *list, etp_report *r)
{
    static const etp_column k_columns[] = {
        {.key = "id", .title = "skill", .flags = ETP_COL_CODE},
        {.key = "purpose", .title = "what it does"},
        {.key = "when", .title = "when to use it", .flags = ETP_COL_MINOR},
        {.key = "minutes", .title = "minutes", .kind = ETP_KIND_INT},
    };
    etp_table *t = etp_report_table(r, "skills", NULL, k_columns, 4);
    for (size_t i = 0; i < list->n; i++) {
        const etp_skill *s = &list->items[i];
        etp_str all = etp_str_from(s->description);
        // A description says in its first sentence what the playbook does, and after it when to use
        // it.
        size_t first = etp_str_find(all, ETP_STR(". "));
        size_t rest = first < all.len ? first + 2 : all.len;
        ETP_ROW(t, etp_cell_z(s->id), etp_cell_str((etp_str){all.ptr, first}),
                rest < all.len ? etp_cell_z(all.ptr + rest) : etp_cell_missing(),
                s->minutes ? etp_cell_u64(s->minutes) : etp_cell_missing());
    }
    etp_report_text(r, "`etprof skills NAME` prints one, `etprof skills run 01-07` executes them.");
}

static void executed(const etp_skill_list *list, etp_report *r)
{
    static const etp_column k_columns[] = {
        {.key = "skill", .title = "skill", .flags = ETP_COL_CODE},
        {.key = "kind", .title = "kind"},
        {.key = "state", .title = "result"},
        {.key = "wall_ns", .title = "took", .kind = ETP_KIND_NS},
        {.key = "command", .title = "command", .flags = ETP_COL_CODE},
    };
    etp_table *t = etp_report_table(r, "commands", NULL, k_columns, 5);
    for (size_t i = 0; i < list->n; i++) {
        const etp_skill *s = &list->items[i];
        for (size_t k = 0; k < s->commands.n; k++) {
            const etp_skill_command *c = &s->commands.items[k];
            ETP_ROW(t, etp_cell_z(s->id), etp_cell_z(c->gate ? "gate" : "step"),
                    etp_cell_judged(etp_cell_z(word_of(c->state)), tone_of(c->state)),
                    c->state == ETP_SKILL_NOT_RUN ? etp_cell_missing() : etp_cell_u64(c->wall_ns),
                    etp_cell_z(c->shown));
        }
    }
    for (size_t i = 0; i < list->n; i++) {
        for (size_t k = 0; k < list->items[i].commands.n; k++) {
            const etp_skill_command *c = &list->items[i].commands.items[k];
            if (c->state == ETP_SKILL_FAILED) {
                etp_report_note(r, ETP_BAD, "%s stopped at line %" PRIu32 ", exit code %d: %s",
                                list->items[i].id, c->line, c->exit_code, c->shown);
                etp_report_text(r, "%s", c->tail);
            }
        }
    }
}

const etp_report *etp_skills_report(const etp_skill_list *list, etp_arena *arena)
{
    bool run = list->executed;
    etp_report *r = etp_report_create(arena, run ? "Skills, executed" : "Skills");
    if (run) {
        etp_report_subtitle(r, "%s",
                            list->stopped_at ? "stopped at the first that failed"
                                             : "every command and gate succeeded");
        executed(list, r);
    } else {
        catalogue(list, r);
    }
    return r;
}
