// SPDX-License-Identifier: Apache-2.0
// The platform that a config speaks of (session/platform.h).
#ifndef ETP_CLI_RUN_PLATFORM_H
#define ETP_CLI_RUN_PLATFORM_H

#include "cli/run_config.h"
#include "session/platform.h"

// What a config speaks of, with the experiments ARMS that are run and the device SPEC (NULL: none
// named). ETP_CORRUPT when they contradict each other.
ETP_NODISCARD etp_status etp_platform_of_config(const etp_config *config, const char *spec,
                                                const etp_config_experiment *const *arms,
                                                size_t n_arms, etp_expected_platform *out,
                                                etp_error *err);
// The device that the expected platform needs where none was named: NULL is this machine.
const char *etp_platform_device(const etp_expected_platform *expected);

#endif
