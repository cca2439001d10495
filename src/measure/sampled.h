// SPDX-License-Identifier: Apache-2.0
// What a sampled launch leaves in the run folder: program counters joined to iterations and
// operators (<experiment>/P.samples), and the code they point into (P.code). With both, kernels can
// be judged anywhere later, without the libraries that ran.
#ifndef ETP_MEASURE_SAMPLED_H
#define ETP_MEASURE_SAMPLED_H

#include "binary/image.h"
#include "measure/launch.h"

#define ETP_SAMPLED_NS 3000000000u       // time in the model that a sampled launch aims at
#define ETP_SAMPLED_LEAST_NS 1000000000u // unasked: shorter ones tell too little
#define ETP_SAMPLED_MAX 20000u           // iterations: bounds the recording of tiny models
#define ETP_SAMPLED_MIN 10u

// Iterations of a sampled launch of FOR_NS in the model, whose iterations take EACH_NS (0 unknown).
uint64_t etp_sampled_iterations(uint64_t each_ns, uint64_t for_ns);

typedef struct etp_sampled_files {
    const char *raw;            // local path: what the runner wrote on "samples"
    const char *dump;           // local path: its recording of the same iterations
    const char *dir;            // the run folder, and in it
    const char *samples, *code; // what is to be written
    const etp_settings *settings;
} etp_sampled_files;

#define ETP_SAMPLED_MODULES 64

// Libraries that samples point into. To read one takes a second or two, so they stay open from the
// first sampled launch of a session to its end. Zeroed it is empty.
typedef struct etp_sampled_libraries {
    etp_arena arena;
    struct {
        etp_str name;
        etp_file file;
        etp_image *image; // NULL: not found or not readable
    } items[ETP_SAMPLED_MODULES];
    uint32_t n;
} etp_sampled_libraries;

void etp_sampled_close(etp_sampled_libraries *libraries);

// Joins RAW with DUMP and the iterations of O, writes both files. EPOCH_NS is the runner's clock at
// tick 0 of its recording. The libraries are looked for in LIBRARIES, then in the bundle of
// DEVICE. What the runner wrote is not trusted: ETP_CORRUPT says what is wrong with it.
ETP_NODISCARD etp_status etp_sampled_keep(const etp_device *device,
                                          etp_sampled_libraries *libraries,
                                          const etp_launch_outcome *o,
                                          const etp_sampled_files *files, etp_arena *arena,
                                          etp_error *err);

#endif
