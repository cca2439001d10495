// SPDX-License-Identifier: Apache-2.0
// QNN: "aten_convolution_default:OpId_19 (cycles)", each from 0 to a number of cycles or, without
// the word, of microseconds: QNN's profile says which, the recording keeps only the number.
#include "operators/delegates.h"

static bool wrote(etp_str event)
{
    return etp_str_find(event, ETP_STR(":OpId_")) < event.len ||
           etp_str_find(event, ETP_STR(" OpId_")) < event.len;
}

static etp_span span(etp_str event)
{
    (void)event;
    return (etp_span){.clock = ETP_SPAN_OWN, .flat = true};
}

static etp_str family(etp_str event)
{
    etp_str name = {event.ptr, etp_str_find(event, ETP_STR(":OpId_"))};
    if (etp_str_starts(name, ETP_STR("aten_"))) {
        name = (etp_str){name.ptr + 5, name.len - 5};
    }
    return etp_delegate_known_part(name);
}

const etp_delegate k_etp_delegate_qnn = {"QnnBackend", wrote, span, family, false, NULL};
