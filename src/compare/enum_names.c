// SPDX-License-Identifier: Apache-2.0
// The words of closed sets, as documents have them, and of reasons as people read them.
#include "compare/ab.h"

const char *etp_withheld_name(etp_withheld w)
{
    static const char *const k_names[ETP_WITHHELD_COUNT] = {
        [ETP_WITHHELD_OUTPUTS_DIFFER] = "outputs_differ",
        [ETP_WITHHELD_PROOF_FAILED] = "proof_failed",
        [ETP_WITHHELD_EMULATED] = "emulated",
        [ETP_WITHHELD_TENSORS] = "tensors_logged",
        [ETP_WITHHELD_LENGTHS] = "several_lengths",
        [ETP_WITHHELD_CROWDED] = "crowded",
        [ETP_WITHHELD_CONTENDED] = "contended",
        [ETP_WITHHELD_NOISE_FLOOR] = "noise_floor",
    };
    return w < ETP_WITHHELD_COUNT ? k_names[w] : NULL;
}

const char *etp_ab_withheld_text(etp_withheld why)
{
    static const char *const k_texts[ETP_WITHHELD_COUNT] = {
        [ETP_WITHHELD_NOT] = "",
        [ETP_WITHHELD_OUTPUTS_DIFFER] = "the arms' outputs differ beyond tolerance",
        [ETP_WITHHELD_PROOF_FAILED] = "the evidence contradicts an arm's level",
        [ETP_WITHHELD_EMULATED] = "an emulator's times say nothing about speed",
        [ETP_WITHHELD_TENSORS] = "a recording also logged tensors, which takes time",
        [ETP_WITHHELD_LENGTHS] =
            ("executions of a recording have several durations, or lie more than a factor of two "
             "apart"),
        [ETP_WITHHELD_CROWDED] = "more threads than CPUs are allowed: they waited for CPU time",
        [ETP_WITHHELD_CONTENDED] = "other programs had the CPU while the arms were measured",
        [ETP_WITHHELD_NOISE_FLOOR] =
            "equal launches of the baseline differ too much: the machine is too noisy",
    };
    return k_texts[why];
}

const char *etp_ab_method_name(etp_ab_method m)
{
    static const char *const k_names[] = {"paired-blocks", "unpaired-launches", "traced-means"};
    return k_names[m];
}

const char *etp_severity_name(etp_finding_severity s)
{
    static const char *const k_names[] = {"info", "good", "warn", "bad"};
    return k_names[s];
}

static const char *const k_causes[ETP_CAUSE_COUNT] = {
#define CAUSE_ROW(name, id) [ETP_CAUSE_##name] = id,
    ETP_CAUSE_MAP(CAUSE_ROW)
#undef CAUSE_ROW
};

const char *etp_cause_id(etp_cause cause)
{
    return k_causes[cause];
}

const char *etp_cause_state_name(etp_cause_state state)
{
    static const char *const k_names[ETP_CAUSE_STATES] = {"unknown", "ruled_out", "suspect"};
    return k_names[state];
}

static const char *const k_fixes[ETP_FIX_COUNT] = {
#define FIX_ROW(name, id) [ETP_FIX_##name] = id,
    ETP_FIX_MAP(FIX_ROW)
#undef FIX_ROW
};

const char *etp_fix_id(etp_fix_kind kind)
{
    return k_fixes[kind];
}
