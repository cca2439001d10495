// SPDX-License-Identifier: Apache-2.0
// What a user may say about a session, the same way for every verb that measures: the rows of
// store/options.def as options that are typed.
#ifndef ETP_CLI_SESSION_OPTIONS_H
#define ETP_CLI_SESSION_OPTIONS_H

#include "cli/command.h"
#include "cli/show_ab.h"
#include "session/arguments.h"

// The rows of a verb: define OPTION as the ETP_OPTION of what the row's VERBS say of it. The verb's
// own struct begins with the etp_session_options.
#define ETP_OF_AB(ab, run, fix) ab
#define ETP_OF_RUN(ab, run, fix) run
#define ETP_OF_FIX(ab, run, fix) fix
#define ETP_OPTION(has, ...) ETP_OPTION_IF(has, __VA_ARGS__)
#define ETP_OPTION_IF(has, ...) ETP_OPTION_##has(__VA_ARGS__)
#define ETP_OPTION_0(...)
#define ETP_OPTION_1(where, field, type, name, letter, arg, help) \
    {name, letter, ETP_TYPED_##type, ETP_AT_##where(field), arg, help, NULL},
// How a row's type is typed on the command line.
#define ETP_TYPED_TEXT ETP_OPT_STRING
#define ETP_TYPED_FILES ETP_OPT_FILES
#define ETP_TYPED_LIST ETP_OPT_LIST
#define ETP_TYPED_FLAG ETP_OPT_FLAG
#define ETP_TYPED_OFF ETP_OPT_FLAG
#define ETP_TYPED_COUNT ETP_OPT_COUNT
#define ETP_TYPED_RATIO ETP_OPT_PERCENT
#define ETP_TYPED_TIME ETP_OPT_TIME
#define ETP_TYPED_COOL ETP_OPT_COOL

#endif
