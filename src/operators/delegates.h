// SPDX-License-Identifier: Apache-2.0
// What each backend writes into a recording: whose name is it, by which clock, inside what, and
// what does the operator do? One file of delegates/ for each backend and a line in delegates.c.
#ifndef ETP_OPERATORS_DELEGATES_H
#define ETP_OPERATORS_DELEGATES_H

#include <etprof/operators.h>

typedef enum etp_span_clock {
    ETP_SPAN_BY_TIMES, // the backend may use any clock: the event's times must tell
    ETP_SPAN_RUNTIME,  // that of the call it is logged in
    ETP_SPAN_OWN_NS,   // nanoseconds, counted from another origin
    ETP_SPAN_OWN,      // unit not recorded
} etp_span_clock;

typedef struct etp_span {
    etp_span_clock clock;
    bool flat;          // contains no other span and lies in none
    const char *within; // name of the span that it is a part of though it is logged after it; NULL
} etp_span;

typedef struct etp_delegate {
    const char *id;               // as programs name the backend
    bool (*wrote)(etp_str event); // no other backend writes such a name
    etp_span (*span)(etp_str event);
    etp_str (*family)(etp_str event); // the part that names the operation; empty: none. May be NULL
    // Runs on microcontrollers, whose runtime counts cycles instead of nanoseconds.
    bool counts_cycles;
    // The symbol of the kernel that ran, of what was logged beside the name; empty: none. May be
    // NULL.
    etp_str (*kernel)(etp_str metadata);
} etp_delegate;

// NULL when the name is none that only one backend writes.
const etp_delegate *etp_delegate_of_event(etp_str event);
// Of an event that any backend can have written: its name may say that it counts cycles.
bool etp_delegate_says_cycles(etp_str event);
etp_span etp_delegate_span(etp_str event);
etp_str etp_delegate_family(etp_str event);
etp_str etp_delegate_kernel(etp_str event, etp_str metadata);

// For the files of the folder: the longest beginning of NAME, in whole words, that the table of
// families knows; else empty.
etp_str etp_delegate_known_part(etp_str name);

extern const etp_delegate k_etp_delegate_xnnpack, k_etp_delegate_vulkan, k_etp_delegate_vgf,
    k_etp_delegate_ethosu, k_etp_delegate_qnn, k_etp_delegate_coreml;

#endif
