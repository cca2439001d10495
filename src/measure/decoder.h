// SPDX-License-Identifier: Apache-2.0
// The usual contract of a text decoder: forward(tokens int64 [1, n], start int64 [1]) or
// forward(tokens int64 [1, n], positions int64 [n]), with constant methods that tell its limits.
#ifndef ETP_MEASURE_DECODER_H
#define ETP_MEASURE_DECODER_H

#include "program/planned.h"

#define ETP_DECODER_UNKNOWN UINT64_MAX

typedef struct etp_decoder {
    const etp_method *method;
    const char *name; // of the method
    bool cached;      // it keeps what it has seen: one token can follow
    bool dynamic;     // calls may have fewer tokens than `most`
    bool positions;   // the second input has a position for each token
    uint64_t most;    // tokens of a call
    uint64_t context; // tokens in the cache, ETP_DECODER_UNKNOWN
    uint64_t vocabulary;
    bool told; // the vocabulary, by the program; else it is as large as the output's last axis
} etp_decoder;

// NAME NULL: "forward", or the only one with inputs. NULL: it is not there.
const etp_method *etp_decoder_method(const etp_program *program, const char *name);

// "those that take inputs are encode, step", for messages. NULL: no memory.
const char *etp_decoder_methods(const etp_program *program, etp_arena *arena);
// Fails: PROGRAM, of the file PATH, has no method METHOD, or several and none was named.
ETP_NODISCARD etp_status etp_decoder_no_method(const char *path, const etp_program *program,
                                               const char *method, etp_arena *arena,
                                               etp_error *err);

// METHOD NULL: "forward", or the only one with inputs. ETP_UNSUPPORTED when it is not a text
// decoder, ETP_USAGE when it is not there.
ETP_NODISCARD etp_status etp_decoder_read(const etp_program *program, const char *method,
                                          etp_arena *arena, etp_decoder *out, etp_error *err);

// The mutable buffers of METHOD that can be put back, by arena and offset. The number; 0 also when
// out of memory (etp_arena_check).
size_t etp_method_state(const etp_method *method, etp_arena *arena, etp_planned **out);
// The same of METHOD (NULL: see above) of the program at PATH, as the runner is told them:
// "2:0:4096,…"; empty: none, or not known.
ETP_NODISCARD etp_status etp_method_kept(const char *path, const char *method, etp_arena *arena,
                                         const char **out, etp_error *err);

#endif
