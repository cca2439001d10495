// SPDX-License-Identifier: Apache-2.0
// One launch: a process of one kind from its start to its end, checked line by line.
#ifndef ETP_MEASURE_LAUNCH_H
#define ETP_MEASURE_LAUNCH_H

#include "measure/session.h"
#include "wire/wire.h"

// Texts are borrowed until the launch has ended; paths are those of the device.
typedef struct etp_launch_request {
    const etp_planned_arm *arm;
    const char *model, *data;           // on the device; data may be NULL
    const char *kernels_lib;            // likewise
    const char *packed_cache;           // "warm:FILE" on the device; NULL: not said
    const char *inputs, *method, *cpus; // NULL: left out
    const char *kept;                   // etp_method_kept; NULL: not said
    const char *steps;                  // script on the device, which names methods; NULL: none
    const etp_planned_phase *phase;     // what a runner of language models is asked; NULL: none
    const char *tokenizer;              // of it, on the device; NULL: none
    etp_launch_kind kind;
    uint64_t warmup, iterations; // both counts; warm-up may be 0
    // The pilot: warm-up until this long and this many, then `iterations`. 0: not a pilot.
    uint64_t pilot_warmup_ns;
    uint64_t expected_iteration_ns; // 0 unknown; lengthens the timeout with long runs
    const char *dump;    // where to write the trace (device path); kinds TRACED and SAMPLED
    const char *samples; // where to write program counters (device path); kind SAMPLED
    const char *outputs; // where to write the outputs (device path), NULL: not wanted
    bool ledger;         // ask for the parts of loading; kind TRACED
    uint64_t timeout_ns;
    const etp_isa_cpu *cpu; // of the device, nothing hidden
    int (*interrupted)(void *ctx);
    // While the process of a launch that went well still lives, on this machine; NULL: nothing is
    // asked of it.
    void (*before_end)(void *ctx, const etp_planned_arm *arm, int64_t pid);
    void *interrupted_ctx; // of both
} etp_launch_request;

typedef struct etp_launch_iteration {
    uint64_t start_ns, ns;
} etp_launch_iteration;

typedef struct etp_launch_outcome {
    etp_arena *arena; // of the launch
    bool ok;
    bool interrupted;                 // by a signal: neither ok nor lost
    etp_lost_reason reason;           // when !ok
    etp_wire_code code;               // of the runner's error line
    const char *detail;               // one line, in the arena; when !ok
    etp_run_launch record;            // numbers as far as they came; arm, block, launch left 0
    etp_launch_iteration *iterations; // warm-up first; in the arena
    uint64_t n_warmup, n_iterations;  // n_iterations without the warm-up
    bool tells_stages;                // it can be launched with kind MEMORY
    bool mean_only;                   // the runner told their sum alone
    uint64_t epoch_ns;                // the iterations' clock at tick 0 of the trace
    etp_str said, log;                // stdout, stderr; a foreign runner's both are in the log
    etp_str kernels_ours;             // operators whose kernels are our runner's own, ", " between
    etp_str kernels_theirs;           // likewise of kernels_lib
} etp_launch_outcome;

// Notes the first reason for which the launch of OUT is lost: what comes later is mostly a
// consequence of it. Always false.
bool etp_lose(etp_launch_outcome *out, etp_lost_reason reason, const char *fmt, ...)
    ETP_PRINTF(3, 4);

// Everything in *out lives in ARENA. Fails only for reasons of our own (ETP_NOMEM); what the runner
// does wrong is in *out.
ETP_NODISCARD etp_status etp_launch_run(etp_device *device, const etp_launch_request *request,
                                        etp_arena *arena, etp_launch_outcome *out, etp_error *err);

#endif
