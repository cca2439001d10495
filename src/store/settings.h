// SPDX-License-Identifier: Apache-2.0
// What a session was asked to do, as it is planned, kept in the manifest and taken up again: the
// rows of options.def that are part of the plan.
#ifndef ETP_STORE_SETTINGS_H
#define ETP_STORE_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ETP_MAX_BLOCKS 1000
#define ETP_MAX_SEED (((uint64_t)1 << 53) - 1) // JSON readers everywhere keep that many bits

typedef struct etp_cool { // start temperature of blocks, and how long to wait for it; 0: none
    double celsius, wait_s;
} etp_cool;

typedef enum etp_setting_type {
    ETP_SETTING_TEXT,
    ETP_SETTING_COUNT,
    ETP_SETTING_RATIO,
    ETP_SETTING_TIME,
    ETP_SETTING_FLAG,
    ETP_SETTING_OFF,
    ETP_SETTING_COOL,
    ETP_SETTING_KNEE
} etp_setting_type;

// Zero is "not given" of every field: the planner decides and writes down what it decided, but for
// counts that each launch's pilot finds.
#define ETP_C_TEXT const char *
#define ETP_C_COUNT uint64_t
#define ETP_C_RATIO double
#define ETP_C_TIME double
#define ETP_C_FLAG bool
#define ETP_C_OFF bool
#define ETP_C_COOL etp_cool
#define ETP_C_KNEE double // above 0: a sweep
#define ETP_FIELD_PLAN(type, field) ETP_C_##type field;
#define ETP_FIELD_REQUESTED(type, field) ETP_C_##type field;
#define ETP_FIELD_CALL(type, field)
typedef struct etp_settings {
#define OPTION(where, field, type, ...) ETP_FIELD_##where(type, field)
#include "store/options.def"
} etp_settings;

typedef struct etp_setting { // one row of the table as the manifest needs it
    const char *key;
    etp_setting_type type;
    bool requested; // in plan.asked, else in plan
    size_t offset;
    uint64_t limit;
} etp_setting;
extern const etp_setting k_etp_settings[]; // ends with a NULL key

#endif
