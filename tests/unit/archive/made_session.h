// SPDX-License-Identifier: Apache-2.0
// Sessions that nobody measured, for tests and benchmarks of the store.
#ifndef ETP_TESTS_MADE_SESSION_H
#define ETP_TESTS_MADE_SESSION_H

#include "archive/archive.h"

#define MADE_ARMS 2
#define MADE_OPERATORS 30 // of each arm

// Session NUMBER: its run_id, folder, day and figures follow from the number. MODELS and DEVICES:
// it is of model NUMBER % MODELS on device NUMBER / MODELS % DEVICES, and the night is what is
// left. From night 60 on the figures of every tenth model are 10 % larger.
etp_archive_session made_session(unsigned number, unsigned models, unsigned devices,
                                 etp_arena *arena);
#endif
