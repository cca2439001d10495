// SPDX-License-Identifier: Apache-2.0
// Shared by the two halves of the .pte reader: file level (pte_program.c) and methods
// (pte_method.c).
#ifndef ETP_FORMATS_PTE_INTERNAL_H
#define ETP_FORMATS_PTE_INTERNAL_H

#include <etprof/pte.h>

#include "formats/pte_schema.h"

typedef struct etp_pte_reader {
    etp_bytes file;    // everything
    etp_bytes program; // the flatbuffer part
    etp_fb_table root;
    etp_arena *arena;
    uint64_t budget; // bytes of records that may still be made
    etp_pte *out;
    etp_pte_segment *segments;
    etp_fb_vector inline_data;
    etp_error *err;
} etp_pte_reader;

// N zeroed records of SIZE bytes within the budget. Hostile files can make many small tables out of
// few bytes by sharing them; what is built from them stays in proportion to the file.
etp_status etp_pte_take(etp_pte_reader *r, etp_fb_table at, const char *what, size_t n, size_t size,
                        void *out_records);
// Refuses an INDEX that is not below N; AT is the table that holds it, for the error's position.
etp_status etp_pte_check_index(etp_pte_reader *r, etp_fb_table at, const char *what, int64_t index,
                               uint64_t n);
etp_status etp_pte_read_method(etp_pte_reader *r, etp_fb_table plan, etp_pte_method *out);

static inline etp_i32s etp_pte_i32s(etp_fb_vector v)
{
    return (etp_i32s){v.items, v.n};
}

#endif
