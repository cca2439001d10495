// SPDX-License-Identifier: Apache-2.0
// What a session was asked to do, as it is planned, kept in the manifest and taken up again: the
// rows of options.def that are part of the plan.
#ifndef ETP_STORE_SETTINGS_H
#define ETP_STORE_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "document/fields.h"

// The largest that an option, a config or a manifest may say.
#define ETP_MAX_BLOCKS 1000
#define ETP_MAX_ITERATIONS 1000000 // of a launch
#define ETP_MAX_RATIO 100
#define ETP_MAX_SECONDS 1000000000 // 31 years
#define ETP_MAX_CELSIUS 150
#define ETP_MAX_SEED (((uint64_t)1 << 53) - 1) // JSON readers everywhere keep that many bits

typedef struct etp_cool { // start temperature of blocks, and how long to wait for it; 0: none
    double celsius, wait_s;
} etp_cool;

typedef struct etp_opt_list { // words of an option
    const char **items;
    size_t n, cap;
} etp_opt_list;

// Zero is "not given" of every field: the planner decides and writes down what it decided, but for
// counts that each launch's pilot finds.
#define ETP_C_TEXT const char *
#define ETP_C_FILES const char * // separated by commas
#define ETP_C_LIST etp_opt_list
#define ETP_C_COUNT uint64_t
#define ETP_C_RATIO double
#define ETP_C_TIME double
#define ETP_C_FLAG bool
#define ETP_C_OFF bool
#define ETP_C_COOL etp_cool
#define ETP_FIELD_PLAN(type, field) ETP_C_##type field;
#define ETP_FIELD_REQUESTED(type, field) ETP_C_##type field;
#define ETP_FIELD_CALL(type, field)
typedef struct etp_settings {
#define OPTION(where, field, type, ...) ETP_FIELD_##where(type, field)
#include "store/options.def"
} etp_settings;

// What `inputs` asks for. NULL and "" are random ones, the default.
typedef enum etp_input_kind { ETP_INPUTS_RANDOM, ETP_INPUTS_ONES, ETP_INPUTS_FILES } etp_input_kind;
etp_input_kind etp_input_kind_of(const char *inputs);
// The next file of REST, what `data` or `inputs` names, without the "#CASE" of a bundled program.
bool etp_settings_next_file(etp_str *rest, etp_str *out);

// ETP_USAGE when a count is above the limit of its row.
ETP_NODISCARD etp_status etp_settings_check(const etp_settings *s, etp_error *err);

// Whether results were known when it was decided to go on.
static inline bool etp_run_was_looked_at(const etp_settings *s)
{
    return s->precision > 0 || s->extended > 0;
}

// As members of the manifest's "plan", and of "asked" in it.
extern const etp_shape k_etp_plan_settings, k_etp_requested_settings;

#endif
