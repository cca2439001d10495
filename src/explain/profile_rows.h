// SPDX-License-Identifier: Apache-2.0
// Which events of executions are one row of a profile, without their times: rows, their places and
// their order, so that an operator has one number in every answer.
#ifndef ETP_EXPLAIN_PROFILE_ROWS_H
#define ETP_EXPLAIN_PROFILE_ROWS_H

#include "base/index.h"
#include "explain/profile.h"

typedef struct etp_row_key {
    etp_event_kind event;
    etp_row_kind kind;
    int32_t chain, instruction;
    etp_str name;
} etp_row_key;

// One key and the chain of rows that share it (an event repeated inside an execution).
typedef struct etp_row_key_entry {
    etp_row_key key;
    uint32_t first_row;
    uint32_t cursor;       // row of the latest occurrence in the block being read
    uint64_t cursor_block; // serial number of that block
} etp_row_key_entry;

typedef struct etp_row_maker { // arenas stand under a guard; the rest begins zeroed
    etp_arena *arena, *scratch;
    size_t n_dumps;
    struct {
        etp_profile_row *items;
        size_t n, cap;
    } rows;
    struct {
        uint32_t *items; // next row of the same key, parallel to rows
        size_t n, cap;
    } next;
    struct {
        etp_row_key_entry *items;
        size_t n, cap;
    } keys;
    etp_index index;
    uint64_t block_serial;
} etp_row_maker;

// Adds the events of BLOCK, the one at INDEX of dump DUMP, that are inside Method::execute: what is
// beside it (load, the caller's own events) is not its time. The row of each event, ETP_NO_INDEX:
// none.
uint32_t *etp_rows_of_block(etp_row_maker *maker, const etp_trace_block *block, uint32_t dump,
                            uint32_t index);

#endif
