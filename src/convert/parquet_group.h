// SPDX-License-Identifier: Apache-2.0
// One row group of a Parquet file as bytes, wherever in the file it will lie.
#ifndef ETP_CONVERT_PARQUET_GROUP_H
#define ETP_CONVERT_PARQUET_GROUP_H

#include <zstd.h>

#include "base/sink.h"
#include "convert/table.h"

enum { // Encoding
    ETP_PARQUET_PLAIN = 0,
    ETP_PARQUET_RLE = 3,
    ETP_PARQUET_DELTA = 5,
    ETP_PARQUET_DICTIONARY = 8
};

typedef struct etp_parquet_chunk {    // of a column
    uint64_t start, data;             // from the group's first byte
    uint64_t raw_bytes, stored_bytes; // page headers included
    int encoding;
    bool dictionary; // has one, at start
    bool compressed;
    bool ranged; // lo and hi are known
    int64_t lo, hi;
    uint64_t nulls;
} etp_parquet_chunk;

typedef struct etp_parquet_group {
    etp_arena arena; // owns the rest; a zeroed group is an empty one
    etp_strbuf bytes;
    etp_parquet_chunk *chunks; // one per column
    size_t rows;
} etp_parquet_group;

// What encoding needs besides; for one thread, for any number of groups.
typedef struct etp_parquet_encoder {
    etp_arena arena;
    ZSTD_CCtx *zstd; // NULL: pages are not compressed
    uint32_t *numbers;
    int64_t *values;
    etp_strbuf page, dictionary, runs, packed;
} etp_parquet_encoder;

ETP_NODISCARD etp_status etp_parquet_encoder_init(etp_parquet_encoder *e, bool plain,
                                                  etp_error *err);
void etp_parquet_encoder_dispose(etp_parquet_encoder *e); // zeroed is fine

// B as the group OUT, whose memory is used again. Stores rows of B that were not.
ETP_NODISCARD etp_status etp_parquet_encode(etp_parquet_encoder *e, etp_batch *b,
                                            etp_parquet_group *out, etp_error *err);
void etp_parquet_group_dispose(etp_parquet_group *g);

#endif
