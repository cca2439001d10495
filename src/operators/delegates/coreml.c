// SPDX-License-Identifier: Apache-2.0
// Core ML: the debug symbol of an operation, or "OUTPUT:OPERATION"
// ("linear_0_cast_fp16:ios17.linear"), with times that Core ML estimated out of the prediction's,
// by the runtime's clock. Symbols can be anything and are taken as they are.
#include "operators/delegates.h"

// Where "ios17." begins: the dialect of Core ML's operations, whatever the system. LEN without.
static size_t dialect(etp_str event)
{
    size_t at = etp_str_find(event, ETP_STR(":ios"));
    size_t end = at + 4;
    while (end < event.len && event.ptr[end] >= '0' && event.ptr[end] <= '9') {
        end++;
    }
    bool is = at < event.len && end > at + 4 && end < event.len && event.ptr[end] == '.';
    return is ? end + 1 : event.len;
}

static bool wrote(etp_str event)
{
    return dialect(event) < event.len;
}

static etp_span span(etp_str event)
{
    (void)event;
    return (etp_span){.clock = ETP_SPAN_RUNTIME, .flat = true};
}

static etp_str family(etp_str event)
{
    size_t at = dialect(event);
    return etp_delegate_known_part((etp_str){event.ptr + at, event.len - at});
}

const etp_delegate k_etp_delegate_coreml = {"CoreMLBackend", wrote, span, family, false, NULL};
