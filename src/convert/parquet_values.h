// SPDX-License-Identifier: Apache-2.0
// Numbers in Parquet's encodings.
#ifndef ETP_CONVERT_PARQUET_VALUES_H
#define ETP_CONVERT_PARQUET_VALUES_H

#include "base/sink.h"

// Values < 2^WIDTH in Parquet's hybrid of repeated and bit-packed runs, whichever is shorter here.
// WIDTH 1 to 32.
void etp_parquet_runs(etp_strbuf *out, const uint32_t *values, size_t n, unsigned width);
// One value N times.
void etp_parquet_run(etp_strbuf *out, uint32_t value, size_t n, unsigned width);
// DELTA_BINARY_PACKED: differences of neighbours in as many bits as 32 of them need. N > 0.
void etp_parquet_deltas(etp_strbuf *out, const int64_t *values, size_t n);

#endif
