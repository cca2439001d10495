// SPDX-License-Identifier: Apache-2.0
// Text that a function hands over: the caller owns it until etp_buffer_dispose.
//
// Thread rule: an etp_buffer belongs to one thread at a time; it holds on to nothing it was made
// of.
#ifndef ETPROF_BUFFER_H
#define ETPROF_BUFFER_H

#include <stddef.h>

#include <etprof/error.h>

ETP_C_BEGIN

typedef struct etp_buffer { // zeroed: empty
    const char *ptr;        // UTF-8, with a NUL behind it that LEN does not count
    size_t len;
    void *owner; // private
} etp_buffer;

ETP_API void etp_buffer_dispose(etp_buffer *buffer); // NULL and zeroed are fine; leaves it empty

ETP_C_END

#endif
