// SPDX-License-Identifier: Apache-2.0
// The playbooks of agent_skill_ml_profiling/ and agentic-kits/: read, filled in, executed. Their
// Markdown is compiled in, so an installed tool has them, and what is printed is what is run.
//
// A playbook begins with front matter between "---": YAML, of which lines "key: value" and the
// mapping "settings:" with indented lines are understood, values plain or in double quotes. Its
// fenced blocks "```sh step" and "```sh gate" hold one command per line. Words are split at blanks,
// "…" keeps them together, {name} is replaced by a setting. No shell is involved. {run} is the
// newest run folder of the model that the setting pte names, looked up when the command is started:
// a step gets what the step before it measured, and never the run of another model.
#ifndef ETP_PLAYBOOKS_SKILLS_H
#define ETP_PLAYBOOKS_SKILLS_H

#include <etprof/arena.h>

#include "base/embedded.h"
#include "base/json.h"
#include "document/fields.h"
#include "report/report.h"

extern const etp_embedded k_etp_skill_texts[]; // in the order of the chain

typedef struct etp_skill_setting {
    const char *name, *value;
} etp_skill_setting;

typedef struct etp_skill_settings {
    etp_skill_setting *items;
    size_t n, cap;
} etp_skill_settings;

typedef enum etp_skill_state { ETP_SKILL_NOT_RUN, ETP_SKILL_OK, ETP_SKILL_FAILED } etp_skill_state;

typedef struct etp_skill_command {
    bool gate;
    uint32_t line;           // in the playbook
    const char *const *argv; // filled in, NULL-terminated
    const char *shown;       // the same as one line
    const char *run_of;      // words hold {run}: of this .pte; else NULL
    etp_skill_state state;
    int exit_code; // 128 + N after signal N; −1 when it could not be started
    uint64_t wall_ns;
    const char *tail; // end of what a failed one printed, else NULL
} etp_skill_command;

typedef struct etp_skill {
    const char *id; // the file's name: "04_run_profiling"
    const char *folder;
    etp_str text;
    const char *name, *description, *next; // front matter; next may be NULL
    uint64_t minutes;                      // 0 not said
    etp_skill_settings settings;           // its defaults, raw
    etp_skill_state state;
    struct {
        etp_skill_command *items;
        size_t n, cap;
    } commands;
} etp_skill;

typedef struct etp_skill_list {
    etp_skill *items;
    size_t n, cap;
    bool executed;
    const char *stopped_at; // id of the first failed one, NULL when none
} etp_skill_list;

// All of them, or those that SELECTION names: "04", "01-07", "03,05", "run_profiling",
// "setup-agent"; NULL: all. ETP_USAGE with a hint for an unknown one, and for a setting that none
// of them has.
ETP_NODISCARD etp_status etp_skill_select(const char *selection, const etp_skill_settings *settings,
                                          const char *platform, etp_arena *arena,
                                          etp_skill_list *out, etp_error *err);

// Writes DIR/etprof-NAME/SKILL.md for each of LIST, in the form in which agents look for skills.
ETP_NODISCARD etp_status etp_skill_install(const etp_skill_list *list, const char *dir,
                                           etp_arena *arena, etp_error *err);

// Puts the folder, as it would be now, into what is shown of a command that is not run; false on
// out of memory.
bool etp_skill_show_run(etp_skill_command *command, const char *platform, etp_arena *arena);

typedef struct etp_skill_environment {
    const char *platform;    // as given to etp_skill_select
    const char *program;     // takes the place of "etprof"
    const char *search_path; // PATH
    uint64_t timeout_ns;     // per command
    // Called before (state NOT_RUN) and after each command; may be NULL.
    void (*progress)(void *ctx, const etp_skill *skill, const etp_skill_command *command);
    void *ctx;
} etp_skill_environment;

// Runs the commands of LIST in the working directory, up to and including the first that fails.
// ETP_OK also when one fails: see stopped_at.
ETP_NODISCARD etp_status etp_skill_run(etp_skill_list *list, const etp_skill_environment *env,
                                       etp_arena *arena, etp_error *err);

extern const etp_document k_etp_skills_document; // of etp_skill_list
void etp_skills_json(const void *list, etp_json *j);
const etp_report *etp_skills_report(const etp_skill_list *list, etp_arena *arena);

#endif
