// SPDX-License-Identifier: Apache-2.0
// The experiments of a config that are carried out, as one session: models × levels × threads in
// paired blocks, however the kit's config spreads them over runners and modes.
#ifndef ETP_SESSION_EXPERIMENTS_H
#define ETP_SESSION_EXPERIMENTS_H

#include "session/config.h"

typedef struct etp_experiments etp_experiments; // lives in the arena; borrows from the config

// The experiments called ONLY, none: all. ETP_UNSUPPORTED when one session cannot run them.
// HOOKS: its message tells what is decided; may be called until the session has begun.
ETP_NODISCARD etp_status etp_experiments_choose(const etp_config *config, const etp_opt_list *only,
                                                const etp_session_view *view, etp_arena *arena,
                                                etp_experiments **out, etp_error *err);

// The session that the config asks for; what is TYPED takes the place of what it says. *OUT borrows
// P.
ETP_NODISCARD etp_status etp_experiments_options(etp_experiments *p,
                                                 const etp_session_options *typed,
                                                 etp_session_options *out, etp_error *err);

// The first pair that was run gives the baseline; pairs with another one are one command away.
// NULL: there is none.
const char *etp_experiments_baseline(const etp_experiments *p);

// The newest run folder that was measured with the config.
ETP_NODISCARD etp_status etp_experiments_folder(const etp_experiments *p, const char **out,
                                                etp_error *err);

#endif
