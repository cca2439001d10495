// SPDX-License-Identifier: Apache-2.0
// The platform that names speak of. An experiment (android_sme2_on) or a run folder (runs/android)
// that names one is measured there or not at all: nothing else would keep a laptop's times out of a
// phone's folder.
#ifndef ETP_SESSION_PLATFORM_H
#define ETP_SESSION_PLATFORM_H

#include "os/os.h"

// That whose name NAME has as a word ("android_sme2_on"); unknown: none, or several.
etp_platform etp_platform_of_name(const char *name);
// The same of a run folder's path: …/runs/android, …/runs/mac_trace, android.2.
etp_platform etp_platform_of_folder(const char *dir);

typedef struct etp_expected_platform { // who names it, for messages
    etp_platform platform;             // unknown: nobody does
    const char *what, *name;           // "experiment" "android_sme2_on"
} etp_expected_platform;

// ETP_ENVIRONMENT when PLATFORM, that of the device SPEC (NULL: this machine), is not the one that
// was expected.
ETP_NODISCARD etp_status etp_platform_check(const etp_expected_platform *expected, const char *spec,
                                            etp_platform platform, etp_error *err);

#endif
