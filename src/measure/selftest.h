// SPDX-License-Identifier: Apache-2.0
// The runner's proof, on two tiny models, that its masks work with this SDK on this CPU.
#ifndef ETP_MEASURE_SELFTEST_H
#define ETP_MEASURE_SELFTEST_H

#include "measure/session.h"

typedef struct etp_selftest_result {
    bool ran;
    bool ok;          // no level was contradicted
    bool told;        // ... and one was seen to work: elsewhere nothing was learned
    const char *text; // one line for people and the manifest
    struct {          // what the build calls one operator per data type at a level, "; " between
        const char *level, *names;
    } names[ETP_RUN_NAMED_LEVELS];
    size_t n_names;
} etp_selftest_result;

// Asks once per level of the plan, and for names also one level with the feature that they can show
// (SME, VNNI) and one without. A device without the option says so in text; only a shortage of
// memory is an error. CACHE_DIR (may be NULL) remembers the answers for emulated devices.
ETP_NODISCARD etp_status etp_selftest_run(etp_device *device, const etp_session_plan *plan,
                                          const char *cache_dir, etp_arena *arena,
                                          etp_selftest_result *out, etp_error *err);

// Is NAME one of LIST, which SEPARATOR takes apart? As a whole: one name may be the beginning or
// the end of another.
bool etp_names_have(etp_str list, char separator, etp_str name);

// The same question to runners of others: no names when one of them cannot be asked (no recording,
// a crash, nothing of XNNPACK in it), or when the names show that it heeds no level.
void etp_foreign_names(etp_device *device, const etp_session_plan *plan,
                       int (*interrupted)(void *ctx), void *ctx, etp_arena *arena,
                       etp_selftest_result *out);

// The same of two builds; *out says what they say together.
ETP_NODISCARD etp_status etp_selftest_builds(etp_device *device, const etp_session_plan *plan,
                                             const char *cache_dir, etp_arena *arena,
                                             etp_selftest_result *out, etp_error *err);

#endif
