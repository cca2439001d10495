// SPDX-License-Identifier: Apache-2.0
// Showing an ab answer.
#include "cli/show_ab.h"

#include "base/shell.h"
#include "cli/emit.h"
#include "cli/say.h"
#include "compare/phases.h"
#include "kit/combined.h"
#include "kit/files.h"
#include "kit/folder.h"
#include "os/os.h"
#include "publish/files.h"
#include "publish/shown.h"

// A contradicted level and a lost block are failures of the measurement; different outputs are a
// "no". A verdict is one for `gate` alone.
static void record_phase(etp_cli *cli, const etp_ab *ab)
{
    bool wrong = ab->correctness.ok == 0;
    for (size_t i = 0; i < ab->n_arms; i++) {
        if (ab->arms[i].proof.truth == ETP_CONTRADICTED) {
            etp_cli_outcome(cli, 6);
        }
        wrong = wrong || ab->arms[i].expected.ok == 0;
    }
    if (ab->block_lost) {
        etp_cli_outcome(cli, 6);
    }
    if (wrong) {
        etp_cli_outcome(cli, 1);
    }
}

// The first phase's answer is the one at hand; the later ones hang on it.
static void record_outcome(etp_cli *cli, const etp_ab *ab)
{
    record_phase(cli, ab);
    for (size_t i = 1; i < ab->n_phases; i++) {
        record_phase(cli, ab->phases[i]);
    }
}

void etp_cli_say_kept(const etp_cli *cli, const etp_kit_kept *kept)
{
    if (kept->n > 0 && !cli->quiet) {
        etp_say(
            "kept       %zu file%s of the run folder, not replaced by tables of this name: %s%s\n",
            kept->n, etp_if(kept->n != 1, "s"), kept->items[0], etp_if(kept->n > 1, " ..."));
    }
}

// Where the rest is; NULL: nothing is said. Made before the answer is written: afterwards there is
// nothing left that could fail.
static const char *words_on_more(etp_cli *cli, const char *dir)
{
    if (cli->format != ETP_CLI_TEXT || cli->output || cli->quiet) {
        return NULL;
    }
    // The commands are quoted for a shell, so that they can be taken as they stand.
    const char *full = etp_shell_command(&cli->arena, "etprof analyze %s --full", dir);
    return etp_arena_printf(&cli->arena, "\nmore       %s/report.html · %s\n", dir, full);
}

static etp_status show_session(etp_cli *cli, const etp_ab_session *session,
                               const etp_show_options *show, etp_error *err)
{
    const etp_ab *ab = etp_ab_answer(session);
    // Before it is printed: who sees the answer finds its files.
    if (show->write_files && etp_ab_run(session)) {
        ETP_TRY(etp_ab_write_files(session, ab->dir, err));
        etp_run_remove_dead_lock(
            ab->dir,
            &cli->arena); // a session killed after its last block is not resumed
    }
    if (show->tables_dir) {
        ETP_TRY(etp_os_mkdirs(show->tables_dir, err));
        etp_kit_options options = show->tables;
        // Tables may go into a run folder itself, whose own files of the same name are not
        // replaced.
        etp_kit_kept kept = {.arena = &cli->arena};
        options.kept = &kept;
        ETP_TRY(etp_kit_write_files(session, show->tables_dir, &options, err));
        etp_cli_say_kept(cli, &kept);
    }
    const etp_ab_showing how = {
        .brief = !show->full,
        .proof = show->proof,
        .price = show->price,
        .document = cli->format == ETP_CLI_JSON,
        .phase = show->phase,
        .title = show->title,
    };
    etp_answer answer;
    ETP_TRY(etp_ab_show(session, &how, &cli->arena, &answer, err));
    answer.csv_table = ETP_OR(show->table, answer.csv_table);
    // The short form of an answer names its files itself.
    const char *more = ab->dir && !show->proof && show->full ? words_on_more(cli, ab->dir) : NULL;
    ETP_TRY(etp_cli_emit(cli, &answer, err));
    // A table of operators is of one phase.
    const char *all = ab->n_phases > 1 ? etp_ab_phase_words(ab, ab->arena) : NULL;
    if (all && cli->format == ETP_CLI_CSV && !show->phase && !cli->quiet) {
        etp_say("etprof: the table is of %s; --phase chooses among %s\n", ab->phase, all);
    }
    if (more) {
        // The answer is on standard output and this on standard error: on a terminal the two must
        // not be mixed.
        fflush(stdout);
        etp_say("%s", more);
    }
    record_outcome(cli, ab);
    return ETP_OK;
}

etp_status etp_show_ab(etp_cli *cli, const char *const *paths, size_t n_paths,
                       const etp_ab_options *how, const etp_show_options *show, etp_error *err)
{
    etp_ab_session *session = NULL;
    ETP_TRY(etp_ab_open(paths, n_paths, how, &session, err));
    etp_status st = show_session(cli, session, show, err);
    etp_ab_close(session);
    return st;
}

static etp_status show_combined(etp_cli *cli, etp_ab_session *const *sessions, size_t n,
                                const char *title, etp_error *err)
{
    etp_combined_shown shown;
    etp_status st = etp_combined_show(sessions, n, title, cli->format == ETP_CLI_JSON, &cli->arena,
                                      &shown, err);
    if (st == ETP_OK) {
        st = etp_cli_emit(cli, &shown.answer, err);
    }
    for (size_t i = 0; st == ETP_OK && i < n; i++) {
        record_outcome(cli, etp_ab_answer(sessions[i]));
    }
    return st;
}

etp_status etp_show_combined(etp_cli *cli, const char *const *paths, size_t n_paths,
                             const etp_ab_options *how, const char *title, etp_error *err)
{
    // All stay open until the report is written: it sets their arms side by side.
    etp_ab_session **sessions = ETP_NEW_ARRAY(&cli->arena, etp_ab_session *, n_paths);
    ETP_NEED(sessions, err, "report");
    etp_status st = ETP_OK;
    for (size_t i = 0; st == ETP_OK && i < n_paths; i++) {
        st = etp_ab_open(&paths[i], 1, how, &sessions[i], err);
        bool kit = false;
        if (st == ETP_USAGE && etp_kit_folder_is(paths[i], &kit, NULL) == ETP_OK && kit) {
            st = etp_fail(
                err, ETP_USAGE,
                "%s is a folder of Arm's kit without its dumps; 'etprof analyze' reads it alone",
                paths[i]);
        }
    }
    if (st == ETP_OK) {
        st = show_combined(cli, sessions, n_paths, title, err);
    }
    for (size_t i = 0; i < n_paths; i++) {
        etp_ab_close(sessions[i]);
    }
    return st;
}

etp_status etp_show_kit_folder(etp_cli *cli, const char *path, bool full, etp_error *err)
{
    etp_kit_folder folder;
    etp_status st = etp_kit_folder_open(path, &cli->arena, &folder, err);
    if (st == ETP_OK) {
        etp_answer answer = {
            .document = &k_etp_kit_document,
            .data = &folder,
            .report = etp_kit_folder_report(&folder, &cli->arena),
            .csv_table = "experiments",
            .brief = !full,
        };
        st = etp_cli_emit(cli, &answer, err);
    }
    etp_kit_folder_close(&folder);
    return st == ETP_OK ? ETP_OK : etp_fail_ctx(err, "%s", path);
}

etp_status etp_show_measured(etp_cli *cli, const char *dir, const etp_session_options *call,
                             etp_error *err)
{
    const etp_show_options show = {
        .full = call->full,
        .price = call->price,
        .write_files = true,
    };
    const etp_ab_options how = {.as_is = true}; // its files have just been hashed
    return etp_show_ab(cli, &dir, 1, &how, &show, err);
}
