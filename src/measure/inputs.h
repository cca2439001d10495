// SPDX-License-Identifier: Apache-2.0
// What a method is fed with: from --inputs to one raw file per input, as the runner reads them.
#ifndef ETP_MEASURE_INPUTS_H
#define ETP_MEASURE_INPUTS_H

#include <etprof/arena.h>
#include <etprof/error.h>

typedef struct etp_inputs {
    const char *spec;         // what the manifest says: paths absolute
    const char *const *files; // local, one per input; NULL: SPEC is what the runner takes
    size_t n;
    const char *shapes;   // "0=8x64": of tensors smaller than the program's bound; NULL: none is
    const char *expected; // folder as the runner's `outputs` writes them, NULL: nothing is expected
} etp_inputs;

// SPEC is "random:SEED", "ones", FILE,… (raw or .npy), one FILE.npz, or one FILE.bpte[#CASE] (the
// first case when not given, with its expected outputs). Arrays are checked against the inputs of
// METHOD (NULL: the runner's choice) of the program at MODEL: type and shape must be the same,
// where the shape is dynamic within it; the layout becomes the program's. Files that are made lie
// in WORK_DIR (made when it is needed) and live as long as it. ETP_USAGE, ETP_IO, ETP_CORRUPT,
// ETP_UNSUPPORTED.
ETP_NODISCARD etp_status etp_inputs_prepare(const char *spec, const char *model, const char *method,
                                            const char *work_dir, etp_arena *arena, etp_inputs *out,
                                            etp_error *err);

#endif
