// SPDX-License-Identifier: Apache-2.0
// What a user may say about a session, the same way for every verb that measures: the rows of
// store/options.def as fields and as options.
#ifndef ETP_CLI_SESSION_OPTIONS_H
#define ETP_CLI_SESSION_OPTIONS_H

#include <stddef.h>

#include "cli/command.h"
#include "cli/show_ab.h"
#include "measure/session.h"

// The type of each field by the third word of its row; the others are defined in store/settings.h.
// Rows of the plan are fields of `settings` already, and make none here.
#define ETP_C_LIST etp_opt_list
#define ETP_ARGUMENT_PLAN(type, field)
#define ETP_ARGUMENT_REQUESTED(type, field)
#define ETP_ARGUMENT_CALL(type, field) ETP_C_##type field;
typedef struct etp_session_arguments { // as typed, or as a config says; zero: not given
    etp_settings settings;
#define OPTION(where, field, type, ...) ETP_ARGUMENT_##where(type, field)
#include "store/options.def"
} etp_session_arguments;

// The rows of a verb: define OPTION with the verb's column after ETP_ROW_. The verb's own struct
// begins with the etp_session_arguments.
#define ETP_ROW_0(...)
#define ETP_ROW_1(where, field, type, name, letter, arg, help) \
    {name, letter, ETP_TYPED_##type, ETP_AT_##where(field), arg, help, NULL},
// Where a row's field lies, by where it belongs.
#define ETP_AT_PLAN(field) offsetof(etp_session_arguments, settings.field)
#define ETP_AT_REQUESTED(field) offsetof(etp_session_arguments, settings.field)
#define ETP_AT_CALL(field) offsetof(etp_session_arguments, field)
// How a row's type is typed on the command line.
#define ETP_TYPED_TEXT ETP_OPT_STRING
#define ETP_TYPED_LIST ETP_OPT_LIST
#define ETP_TYPED_FLAG ETP_OPT_FLAG
#define ETP_TYPED_OFF ETP_OPT_FLAG
#define ETP_TYPED_COUNT ETP_OPT_COUNT
#define ETP_TYPED_RATIO ETP_OPT_PERCENT
#define ETP_TYPED_KNEE ETP_OPT_PERCENT
#define ETP_TYPED_TIME ETP_OPT_TIME
#define ETP_TYPED_COOL ETP_OPT_COOL

// What of GIVEN is typed takes the place of what CONFIG says. TABLE has the rows of GIVEN.
void etp_session_arguments_override(const etp_opt *table, const etp_session_arguments *arguments,
                                    etp_session_arguments *config);

// Everything in GIVEN but models, threads and inputs, which each verb chooses in its own way.
ETP_NODISCARD etp_status etp_session_plan_options_from_arguments(
    const etp_session_arguments *arguments, etp_session_plan_options *out, etp_error *err);

// The plan of a resumed session is in its folder: an option of TABLE that could contradict it is
// refused; --extend takes how far it is to go. OPERANDS: what the operands are called when there
// are any, else NULL.
ETP_NODISCARD etp_status etp_resume_check(const etp_opt *table, const etp_session_arguments *opts,
                                          const char *operands, etp_error *err);

// --threads as numbers of 1 to 1024.
ETP_NODISCARD etp_status etp_threads_parse(etp_cli *cli, const etp_opt_list *list,
                                           const uint32_t **out, etp_error *err);

#endif
