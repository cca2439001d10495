// SPDX-License-Identifier: Apache-2.0
// Both arms of a plan, their programs cut and launched.
#ifndef ETP_NUMERICS_ARMS_H
#define ETP_NUMERICS_ARMS_H

#include "measure/launch.h"
#include "numerics/operators.h"
#include "numerics/precision.h"
#include "os/os.h"
#include "store/store.h"
#include <etprof/trace.h>

#define ETP_BASELINE 0
#define ETP_CANDIDATE 1

typedef struct etp_arm_recording {
    etp_file file;
    etp_trace *trace;
} etp_arm_recording;

typedef struct etp_arm_side {
    const etp_planned_arm *arm;
    const char *model;
    etp_file file;
    const etp_program *program;
    const etp_method *method;
    etp_ops ops;
    const char *inputs; // as the runner takes them
    struct {
        etp_arm_recording *items;
        size_t n, cap;
    } recordings;
} etp_arm_side;

struct etp_arms {
    etp_device *device;
    const etp_session_plan *plan;
    const etp_session_view *view;
    etp_arm_side sides[2];
    uint32_t launches;     // so far
    etp_numerics_ask *ask; // the baseline is what PyTorch makes of the candidate; NULL: an arm
    void *ask_ctx;
    etp_arena *arena;
    etp_error *err;
};

// Opens the programs of PLAN's two arms; the rest of OUT is the caller's. Close it in any case.
ETP_NODISCARD etp_status etp_arms_open(etp_arms *arms);
void etp_arms_close(etp_arms *arms);

// The method in the exporter's record beside the program of a side; NULL: there is none that can be
// read and is of this program.
ETP_NODISCARD etp_status etp_arms_exported(const etp_arms *arms, const etp_arm_side *x,
                                           const etp_record_method **out);

void etp_arms_tell(const etp_arms *arms, const char *text);
// Where what the cut at PLACE of arm WHICH hands out lies.
const char *etp_arms_dir(const etp_arms *arms, int which, uint32_t place, bool alone);
// Writes the program that ends at PLACE, or has that operator alone. VALUES and N as of
// etp_cut_capsule.
ETP_NODISCARD etp_status etp_arms_cut(const etp_arms *arms, int which, uint32_t place, bool alone,
                                      const uint32_t **values, uint32_t *n, const char **out);
// Runs MODEL once as the arm of WHICH; what it hands out lies in DIR, which is local. FILES are its
// inputs, NULL: the arm's.
ETP_NODISCARD etp_status etp_arms_run(etp_arms *arms, int which, const char *model,
                                      const char *files, const char *dir);
// Runs the whole program of WHICH with its tracer, a few executions and then ITERATIONS, and opens
// the recording as one more of its side. Adds to WAITED.
ETP_NODISCARD etp_status etp_arms_record(etp_arms *arms, int which, uint64_t iterations,
                                         etp_run_wait *waited);

#endif
