// SPDX-License-Identifier: Apache-2.0
// Showing an ab answer.
#include "cli/show_ab.h"

#include <string.h>

#include "answer/ab_files.h"
#include "answer/ab_json.h"
#include "answer/ab_report.h"
#include "answer/kit_files.h"
#include "answer/sweep.h"
#include "cli/emit.h"
#include "os/os.h"

static void ab_json(const void *data, etp_json *j)
{
    etp_ab_json(data, j);
}

static bool contains(const etp_show_options *show, const char *word)
{
    for (size_t i = 0; i < show->n_fail_on; i++) {
        if (strcmp(show->fail_on[i], word) == 0) {
            return true;
        }
    }
    return false;
}

static void record_outcome(etp_cli *cli, const etp_ab *ab, const etp_show_options *show)
{
    for (size_t i = 0; i < ab->n_arms; i++) {
        if (ab->arms[i].proof.truth == ETP_CONTRADICTED) {
            etp_cli_outcome(cli, 6);
        }
    }
    if (ab->block_lost) {
        etp_cli_outcome(cli, 6);
    }
    if (ab->correctness.ok == 0) {
        etp_cli_outcome(cli, 1);
    }
    for (size_t i = 0; i < ab->n_comparisons; i++) {
        const etp_ab_comparison *c = &ab->comparisons[i];
        if ((c->withheld && contains(show, "withheld")) ||
            (!c->withheld && contains(show, c->verdict))) {
            etp_cli_outcome(cli, 1);
        }
    }
}

static void record_sweep(etp_cli *cli, const etp_sweep *s, const etp_show_options *show)
{
    for (size_t i = 0; i < s->ab->n_arms; i++) {
        if (s->ab->arms[i].proof.truth == ETP_CONTRADICTED) {
            etp_cli_outcome(cli, 6);
        }
    }
    if (s->ab->block_lost) {
        etp_cli_outcome(cli, 6);
    }
    for (uint32_t m = 0; m < s->grid.n[ETP_FACTOR_MODEL]; m++) {
        if (s->models[m].correctness.ok == 0) {
            etp_cli_outcome(cli, 1);
        }
    }
    for (size_t i = 0; i < s->result.n_speedups; i++) {
        const etp_cell_speedup *x = &s->result.speedups[i];
        const char *withheld = etp_sweep_withheld(s, x->at);
        if (contains(show, withheld ? "withheld" : etp_verdict_name(x->effect.verdict))) {
            etp_cli_outcome(cli, 1);
        }
    }
}

static etp_status show_sweep(etp_cli *cli, const etp_ab_session *session,
                             const etp_show_options *show, etp_error *err)
{
    etp_sweep sweep;
    ETP_TRY(etp_sweep_build(session, &cli->arena, &sweep, err));
    etp_cli_answer answer = {
        .json = etp_sweep_json,
        .data = &sweep,
        .csv_table = ETP_SWEEP_TABLE_CELLS,
        .brief = !show->full,
        .report = cli->format == ETP_CLI_JSON ? NULL : etp_sweep_report(&sweep, &cli->arena),
    };
    ETP_TRY(etp_cli_emit(cli, &answer, err));
    if (cli->format == ETP_CLI_TEXT && !cli->output && !cli->quiet) {
        const char *dir = sweep.ab->dir;
        fflush(stdout); // the hint comes after the answer
        fprintf(stderr, "\nmore       %s/report.html · %s/sweep.svg · etprof report %s\n", dir, dir, dir);
    }
    record_sweep(cli, &sweep, show);
    return ETP_OK;
}

static etp_status check_fail_on(const etp_show_options *show, etp_error *err)
{
    static const char *const k_words[] = {"slower", "unknown", "withheld", NULL};
    for (size_t i = 0; i < show->n_fail_on; i++) {
        bool known = false;
        for (size_t k = 0; k_words[k]; k++) {
            known = known || strcmp(show->fail_on[i], k_words[k]) == 0;
        }
        if (!known) {
            return etp_fail(err, ETP_USAGE, "--fail-on takes slower, unknown, withheld, not '%s'",
                            show->fail_on[i]);
        }
    }
    return ETP_OK;
}

static etp_status show_session(etp_cli *cli, const etp_ab_session *session,
                               const etp_show_options *show, etp_error *err)
{
    const etp_ab *ab = etp_ab_answer(session);
    if (show->write_files && etp_ab_run(session)) {
        ETP_TRY(etp_ab_write_files(session, ab->dir, err));
    }
    if (show->tables_dir) {
        ETP_TRY(etp_os_mkdirs(show->tables_dir, err));
        ETP_TRY(etp_kit_write_files(session, show->tables_dir, err));
    }
    if (show->sweep && etp_ab_run(session) && etp_ab_run(session)->sweep) {
        return show_sweep(cli, session, show, err);
    }
    etp_cli_answer answer = {
        .json = ab_json,
        .data = ab,
        .csv_table = ETP_AB_TABLE_OPERATORS,
        .brief = !show->full,
    };
    if (cli->format != ETP_CLI_JSON) {
        answer.report = show->proof ? etp_ab_proof_report(ab, &cli->arena)
                                    : etp_ab_report(ab, &cli->arena);
    }
    ETP_TRY(etp_cli_emit(cli, &answer, err));
    if (ab->dir && cli->format == ETP_CLI_TEXT && !cli->output && !cli->quiet && !show->proof) {
        fflush(stdout); // the hint comes after the answer
        fprintf(stderr, "\nmore       %s/report.html · etprof report %s · etprof analyze %s --full\n",
                ab->dir, ab->dir, ab->dir);
    }
    record_outcome(cli, ab, show);
    return ETP_OK;
}

etp_status etp_show_ab(etp_cli *cli, const char *const *paths, size_t n_paths,
                       const etp_ab_options *how, const etp_show_options *show, etp_error *err)
{
    ETP_TRY(check_fail_on(show, err));
    etp_ab_session *session = NULL;
    ETP_TRY(etp_ab_open(paths, n_paths, how, &session, err));
    etp_status st = show_session(cli, session, show, err);
    etp_ab_close(session);
    return st;
}

etp_status etp_show_measured(etp_cli *cli, const char *dir, const etp_ab_options *how, bool full,
                             const etp_opt_list *fail_on, etp_error *err)
{
    const etp_show_options show = {
        .full = full,
        .sweep = true,
        .write_files = true,
        .fail_on = fail_on->items,
        .n_fail_on = fail_on->n,
    };
    return etp_show_ab(cli, &dir, 1, how, &show, err);
}
