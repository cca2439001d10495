// SPDX-License-Identifier: Apache-2.0
// What an etp_trace is made of; private to the files of this room that make one.
#ifndef ETP_TRACE_INTERNAL_H
#define ETP_TRACE_INTERNAL_H

#include <etprof/etdump.h>
#include <etprof/trace.h>

// 13 days. A longer event is a counter that jumped or was never set.
#define ETP_LONGEST_NS ((uint64_t)1 << 50)
// The duration of an event that ends before it starts, until its block is settled.
#define ETP_BACKWARDS_NS (ETP_LONGEST_NS + 1)

typedef struct etp_ticks { // of an event, as recorded
    uint64_t start, end;
} etp_ticks;

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
    // How long a tick is where that is more than a nanosecond: of the runtime, of delegates.
    uint64_t tick_ns, delegate_tick_ns;
    // See guess_places in timeline.c.
    bool places_guessed;
};

#endif
