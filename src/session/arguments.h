// SPDX-License-Identifier: Apache-2.0
// What is said of a session on a command line: the rows of store/options.def as
// fields of the options, zero where they are not given, and the session that they ask for.
#ifndef ETP_SESSION_ARGUMENTS_H
#define ETP_SESSION_ARGUMENTS_H

#include <stddef.h>

#include "session/session.h"

// Where a row's field lies, by where it belongs.
#define ETP_AT_PLAN(field) offsetof(etp_session_options, plan.settings.field)
#define ETP_AT_REQUESTED(field) offsetof(etp_session_options, plan.settings.field)
#define ETP_AT_CALL(field) offsetof(etp_session_options, field)

// The session that TYPED asks for; its models are still to be named, and builds and runners of
// others to be taken (etp_session_runners). Texts are borrowed.
ETP_NODISCARD etp_status etp_session_options_of(const etp_session_options *typed, etp_arena *arena,
                                                etp_session_options *out, etp_error *err);

// The session that is gone on with. Its plan is in its folder, and what could contradict it is
// refused; how far it is to go may be said of a finished one. OPERANDS: what the operands are
// called when there are any, else NULL.
ETP_NODISCARD etp_status etp_session_again_of(const etp_session_options *typed,
                                              const char *operands, etp_session_options *out,
                                              etp_error *err);

#endif
