// SPDX-License-Identifier: Apache-2.0
// What an etp_trace is made of; private to the files of this room that make one.
#ifndef ETP_TRACE_INTERNAL_H
#define ETP_TRACE_INTERNAL_H

#include <etprof/etdump.h>
#include <etprof/trace.h>

struct etp_trace {
    etp_arena arena; // holds the trace itself too
    etp_etdump dump; // zeroed when the trace was read from a table
    etp_trace_block *blocks;
    size_t n_blocks;
    struct {
        etp_trace_damage *items;
        size_t n, cap;
    } damage;
    bool partly_logged;
    bool unit_told; // of its ticks, by who opened it; a table's are nanoseconds
    // See guess_places in timeline.c.
    bool places_guessed;
};

#endif
