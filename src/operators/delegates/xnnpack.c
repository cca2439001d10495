// SPDX-License-Identifier: Apache-2.0
// XNNPACK: one span for each operator, one after the other, in whole microseconds of the runtime's
// clock. Names end in " #k"; operators.h takes them apart.
#include "operators/delegates.h"

static bool wrote(etp_str event)
{
    size_t at = event.len;
    while (at > 0 && event.ptr[at - 1] >= '0' && event.ptr[at - 1] <= '9') {
        at--;
    }
    return at < event.len && at >= 3 && event.ptr[at - 1] == '#' && event.ptr[at - 2] == ' ';
}

static etp_span span(etp_str event)
{
    (void)event;
    return (etp_span){.clock = ETP_SPAN_RUNTIME, .flat = true};
}

const etp_delegate k_etp_delegate_xnnpack = {"XnnpackBackend", wrote, span, NULL, false};
