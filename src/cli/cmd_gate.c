// SPDX-License-Identifier: Apache-2.0
// etprof gate FOLDER [RULE...]: yes, no or unknown, for CI and for git bisect. The names of earlier
// runs, which --against takes, are listed, given and taken away here too.
#include <string.h>

#include "cli/baseline.h"
#include "cli/emit.h"
#include "cli/measure.h"
#include "cli/say.h"
#include "cli/units.h"
#include "judge/open.h"
#include "os/os.h"
#include "study/gate/baselines.h"
#include "study/gate/gate.h"

#define BISECT_SKIP 125 // git bisect run: this revision cannot be judged

typedef struct gate_options {
    etp_trace_units units;
    const char *against, *baseline, *junit, *save, *forget;
    double margin;
    int min_grade; // index into k_grades
    bool bisect, list;
} gate_options;

// "any" is 0 and therefore the default.
static const char *const k_grades[] = {"any", "A", "B", "C", "D", NULL};

#define OF gate_options
static const etp_opt k_options[] = {
    OPT("against", 'a', STRING, against, "RUN",
        "an earlier run, its folder or its name (--save): no arm may have become slower"),
    OPT("margin", 0, PERCENT, margin, "PERCENT",
        "how much slower than the earlier one is not a regression (default 5%)"),
    CHOICE("min-grade", min_grade, "GRADE", "refuse comparisons whose arms have less in common",
           k_grades),
    OPT("baseline", 'b', STRING, baseline, "ARM", "compare the others with this arm"),
    OPT("junit", 0, STRING, junit, "FILE", "write the checks as JUnit XML too"),
    OPT("bisect", 0, FLAG, bisect, NULL,
        "unknown and errors exit with 125: git bisect run skips them"),
    OPT("list", 0, FLAG, list, NULL, "list the runs that have a name, with their folders"),
    OPT("save", 0, STRING, save, "NAME",
        "give the finished run FOLDER this name; it is not judged"),
    OPT("forget", 0, STRING, forget, "NAME", "take this name away; the folder stays"),
    ETP_CLI_UNITS,
    {0},
};

static etp_status show(etp_cli *cli, const gate_options *o, const etp_gate *gate, etp_error *err)
{
    static const int k_codes[] = {[ETP_GATE_UNKNOWN] = 3, [ETP_GATE_YES] = 0, [ETP_GATE_NO] = 1};
    // Before anything is printed: a check that is asked for the file must not pass without it.
    if (o->junit) {
        etp_str xml;
        ETP_NEED(etp_gate_junit(gate, &cli->arena, &xml), err, "JUnit XML");
        ETP_TRY(etp_os_write_atomic(o->junit, xml, err));
    }
    ETP_TRY(etp_cli_show(cli, &k_etp_gate_document, gate, etp_gate_report(gate, &cli->arena),
                         "checks", err));
    etp_cli_outcome(cli, k_codes[gate->state]);
    return ETP_OK;
}

// What is judged are raw files: one that was changed afterwards says what somebody wants.
static etp_status check_recorded(const etp_ab_session *session, etp_arena *arena,
                                 const char **out_altered, etp_error *err)
{
    const etp_run *run = session ? etp_ab_run(session) : NULL;
    if (!run || *out_altered) {
        return ETP_OK;
    }
    return etp_run_altered(run, arena, out_altered, err);
}

static etp_status run(etp_cli *cli, const void *opts, int argc, char **argv, etp_error *err)
{
    const gate_options *o = opts;
    int names = o->list + (o->save != NULL) + (o->forget != NULL);
    if (names > 1 || (names == 1 && argc != (o->save != NULL))) {
        return etp_fail(err, ETP_USAGE,
                        "--list and --forget NAME stand alone, --save NAME takes one FOLDER");
    }
    if (names &&
        (o->against || o->junit || o->baseline || o->bisect || o->min_grade || o->margin > 0)) {
        return etp_fail(err, ETP_USAGE,
                        "--list, --save and --forget judge nothing: options of a judgement do not "
                        "go with them");
    }
    if (o->list) {
        etp_baselines found;
        ETP_TRY(etp_baseline_list(etp_cli_state(cli, ""), &cli->arena, &found, err));
        return etp_cli_show(cli, &k_etp_baselines_document, &found,
                            etp_baselines_report(&found, &cli->arena), "baselines", err);
    }
    if (o->save) {
        return etp_cli_save(cli, o->save, argv[0], err);
    }
    if (o->forget) {
        return etp_baseline_remove(etp_cli_state(cli, ""), o->forget, &cli->arena, err);
    }
    if (argc == 0) {
        return etp_fail(
            err, ETP_USAGE,
            "FOLDER is missing, a run folder; e.g. etprof gate out_model 'speedup >= 1.3'");
    }
    etp_ab_options how = {.units = o->units, .baseline = o->baseline, .as_is = true};
    etp_ab_session *session = NULL, *earlier = NULL;
    etp_gate gate;
    const char *dir = argv[0];
    etp_status st = etp_ab_open(&dir, 1, &how, &session, err);
    const char *against = o->against;
    // Resolved after the run itself was opened: a run that cannot be read is the first thing to
    // know.
    if (st == ETP_OK && against) {
        st = etp_cli_resolve_baseline(cli, &against, err);
    }
    if (st == ETP_OK && against) {
        st = etp_ab_open(&against, 1, &how, &earlier, err);
    }
    const char *altered = NULL;
    if (st == ETP_OK) {
        st = check_recorded(session, &cli->arena, &altered, err);
    }
    if (st == ETP_OK) {
        st = check_recorded(earlier, &cli->arena, &altered, err);
    }
    if (st == ETP_OK) {
        etp_gate_options options = {.min_grade = o->min_grade ? k_grades[o->min_grade] : NULL,
                                    .against = earlier ? etp_ab_answer(earlier) : NULL,
                                    .margin = o->margin,
                                    .altered = altered};
        st = etp_gate_build(etp_ab_answer(session), (const char *const *)argv + 1, (size_t)argc - 1,
                            &options, &cli->arena, &gate, err);
    }
    if (st == ETP_OK) {
        st = show(cli, o, &gate, err);
    }
    etp_ab_close(earlier);
    etp_ab_close(session);
    // A mistyped command must stop a bisection; a revision that cannot be measured must not.
    if (o->bisect && ((st != ETP_OK && st != ETP_USAGE) || cli->exit_code == 3)) {
        // Said here, since for the caller nothing went wrong: git asks for one of three codes.
        if (st != ETP_OK) {
            etp_say("etprof gate: %s\n", err->msg);
        }
        cli->exit_code = BISECT_SKIP;
        return ETP_OK;
    }
    return st;
}

const etp_command etp_cmd_gate = {
    .name = "gate",
    .summary = "yes, no or unknown: is this measurement good enough",
    .usage = "FOLDER [RULE...] | FOLDER --save NAME | --list | --forget NAME",
    .description =
        "Judges a run folder by rules and exits with 0 (yes), 1 (no) or 3 (unknown: the "
        "interval reaches\n"
        "across a limit). Rules: 'speedup [ARM] >= 1.3', 'latency [ARM] <= 5 ms', "
        "'load', 'cold_load', 'first' likewise,\n"
        "'peak_memory [ARM] <= 60 MB', 'dirty_memory', 'clean_memory', 'disk' likewise,\n"
        "'share CATEGORY [of ARM] <= 30 %', 'noise <= 1 %', "
        "'engaged macs >= 90 %', 'rate [ARM] >= 2000 tok/s'. Of phases: "
        "'decode.speedup >= 1.5',\n"
        "'decode@256.rate >= 500'; without one a rule holds for each.\n"
        "Without a rule no arm may be slower than the baseline. Contradicted proofs, "
        "different outputs and\n"
        "lost blocks always fail. A name stands for a run folder and the hash of its "
        "manifest; --list says\n"
        "whether the folder is still the run that was saved "
        "(~/.local/state/etprof/baselines).",
    .examples = "  etprof gate out_model 'speedup >= 1.3' 'share Data movement <= 35 %'\n"
                "  etprof gate out_model --against main/out_model --junit gate.xml\n"
                "  etprof gate out_llama 'decode.speedup >= 1.5' 'prefill.speedup >= 2'\n"
                "  etprof gate out_model --against main\n"
                "  git bisect run sh -c './build.sh || exit 125; etprof ab m.pte --out new && "
                "etprof gate new --against old --bisect'",
    .opts = k_options,
    .opts_size = sizeof(gate_options),
    .formats = ETP_CLI_STANDARD_FORMATS,
    .takes_runs = true,
    .max_args = -1,
    .run = run,
};
