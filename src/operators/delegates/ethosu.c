// SPDX-License-Identifier: Apache-2.0
// Ethos-U: spans by name, "+EthosUBackend::execute()NPU" inside "EthosUBackend::execute()". It runs
// beside a microcontroller, whose runtime counts cycles, or beside Linux, whose counts nanoseconds:
// the names are the same.
#include "operators/delegates.h"

static bool wrote(etp_str event)
{
    return etp_str_starts(event, ETP_STR("EthosUBackend::")) ||
           etp_str_starts(event, ETP_STR("+EthosUBackend::"));
}

static etp_span span(etp_str event)
{
    (void)event;
    return (etp_span){.clock = ETP_SPAN_RUNTIME};
}

static etp_str family(etp_str event)
{
    bool copies = etp_str_find(event, ETP_STR("memcpy")) < event.len;
    return copies ? ETP_STR("copy") : (etp_str){0};
}

const etp_delegate k_etp_delegate_ethosu = {"EthosUBackend", wrote, span, family, true, NULL};
