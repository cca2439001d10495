// SPDX-License-Identifier: Apache-2.0
// The JSON Schemas of model_profiling/schemas, compiled in.
#ifndef ETP_ANSWER_VALIDATE_SCHEMAS_H
#define ETP_ANSWER_VALIDATE_SCHEMAS_H

#include <stddef.h>

typedef struct etp_schema_source {
    const char *name; // NULL ends the table
    const unsigned char *bytes;
    size_t len;
} etp_schema_source;
extern const etp_schema_source k_etp_schemas[];

#endif
