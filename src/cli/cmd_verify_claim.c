// SPDX-License-Identifier: Apache-2.0
// etprof verify-claim SENTENCE FOLDER: is this sentence of a report borne out by its data?
#include <stddef.h>

#include "cli/emit.h"
#include "compare/phases.h"
#include "judge/claim.h"
#include "judge/open.h"
#include "os/os.h"

typedef struct claim_options {
    const char *baseline, *program, *phase;
} claim_options;

static const etp_opt k_options[] = {
    {"baseline", 'b', ETP_OPT_STRING, offsetof(claim_options, baseline), "ARM",
     "compare the others with this arm", NULL},
    {"pte", 0, ETP_OPT_STRING, offsetof(claim_options, program), "FILE",
     "the program of bare dumps", NULL},
    {"phase", 0, ETP_OPT_STRING, offsetof(claim_options, phase), "NAME",
     "of a session of several phases that of this name, 'decode@256' (default: the first)", NULL},
    {0},
};

static etp_status show(etp_cli *cli, const etp_ab *ab, const char *sentence, etp_error *err)
{
    static const int k_codes[] = {
        [ETP_CLAIM_CONFIRMED] = 0, [ETP_CLAIM_CONTRADICTED] = 1, [ETP_CLAIM_NOT_IN_DATA] = 3};
    etp_claim claim;
    ETP_TRY(etp_claim_check(ab, sentence, &cli->arena, &claim, err));
    etp_answer answer = {.json = etp_claim_json, .data = &claim};
    if (cli->format != ETP_CLI_JSON) {
        answer.report = etp_claim_report(&claim, &cli->arena);
    }
    ETP_TRY(etp_cli_emit(cli, &answer, err));
    etp_cli_outcome(cli, k_codes[claim.state]);
    return ETP_OK;
}

static etp_status run(etp_cli *cli, const void *opts, int argc, char **argv, etp_error *err)
{
    const claim_options *o = opts;
    const etp_ab_options how = {.baseline = o->baseline, .program = o->program};
    etp_ab_session *session = NULL;
    if (etp_os_is_dir(argv[0]) && !etp_os_is_dir(argv[1])) {
        return etp_fail(err, ETP_USAGE, "%s is a folder: the sentence comes before it", argv[0]);
    }
    ETP_TRY(etp_ab_open((const char *const *)argv + 1, (size_t)argc - 1, &how, &session, err));
    const etp_ab *ab;
    etp_status st = etp_ab_of_phase(etp_ab_answer(session), o->phase, &ab, err);
    st = st == ETP_OK ? show(cli, ab, argv[0], err) : st;
    etp_ab_close(session);
    return st;
}

const etp_command etp_cmd_verify_claim = {
    .name = "verify-claim",
    .summary = "is a sentence borne out by the data of a run?",
    .usage = "SENTENCE FOLDER | DUMP...",
    .description =
        "Says confirmed (exit code 0), contradicted (1) or not in the data (3). A figure is "
        "confirmed only\n"
        "when the data's own, rounded as the sentence rounds, is the same; one digit is too "
        "little. Forms:\n"
        "'N1 saves 0.70 ms' (or 'at least', 'up to'), 'op3 takes 1.2 ms in ARM', 'ARM takes 3.4 "
        "ms',\n"
        "'Convolution takes 40 % in ARM', 'ARM is 1.42x faster than ARM', 'ARM is as fast as "
        "ARM',\n"
        "'the outputs agree'. ARM is an experiment's name or its level.",
    .examples = "  etprof verify-claim 'N1 saves 0.70 ms' out_model\n"
                "  etprof verify-claim 'sme2 is 2.1x faster than neon' out_model",
    .opts = k_options,
    .opts_size = sizeof(claim_options),
    .formats = ETP_CLI_FORMAT_BIT(ETP_CLI_TEXT) | ETP_CLI_FORMAT_BIT(ETP_CLI_JSON) |
               ETP_CLI_FORMAT_BIT(ETP_CLI_MD),
    .takes_runs = true,
    .min_args = 2,
    .max_args = -1,
    .run = run,
};
