// SPDX-License-Identifier: Apache-2.0
// The words of closed sets, as documents have them.
#include "compare/ab.h"

const char *etp_withheld_name(etp_withheld w)
{
    static const char *const k_names[ETP_WITHHELD_COUNT] = {
        [ETP_WITHHELD_OUTPUTS_DIFFER] = "outputs_differ",
        [ETP_WITHHELD_PROOF_FAILED] = "proof_failed",
        [ETP_WITHHELD_EMULATED] = "emulated",
        [ETP_WITHHELD_NOISE_FLOOR] = "noise_floor",
    };
    return w < ETP_WITHHELD_COUNT ? k_names[w] : NULL;
}

const char *etp_ab_method_name(etp_ab_method m)
{
    static const char *const k_names[] = {"paired-blocks", "unpaired-launches", "traced-medians"};
    return k_names[m];
}

const char *etp_severity_name(etp_finding_severity s)
{
    static const char *const k_names[] = {"info", "good", "warn", "bad"};
    return k_names[s];
}
