// SPDX-License-Identifier: Apache-2.0
// The programs of tests/data/precision and the places of their operators, as flatc lists them.
#ifndef PRECISION_FIXTURE_H
#define PRECISION_FIXTURE_H

#include <stdio.h>

#include "numerics/pairs.h"
#include "os/os.h"
#include "unit.h"

// layers_fp32: transpose, convolution, convolution, sum of both, convolution, transpose, reshape,
// linear layer.
enum { TRANSPOSE, FIRST, SECOND, SUM, THIRD, BACK, RESHAPE, LAST, OPERATORS };

typedef struct opened {
    etp_file file;
    const etp_program *program;
    etp_ops ops;
} opened;

static inline opened open_program(const char *name, etp_arena *arena)
{
    opened o = {0};
    etp_error err = {0};
    char path[512];
    snprintf(path, sizeof path, "%s/tests/data/%s", ETP_TEST_SOURCE_DIR, name);
    if (etp_file_open(path, UINT64_MAX, &o.file, &err) != ETP_OK ||
        etp_program_open(o.file.bytes, NULL, &o.program, &err) != ETP_OK) {
        fail_msg("%s: %s", path, err.msg);
    }
    etp_ops_of(&o.program->methods[0], arena, &o.ops);
    return o;
}

static inline void close_program(opened *o)
{
    etp_program_close(o->program);
    etp_file_close(&o->file);
}

#endif
