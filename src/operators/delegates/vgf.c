// SPDX-License-Identifier: Apache-2.0
// VGF: VGF_INIT_… while it is loaded, VGF_EXECUTE with its parts in an inference, events of no
// length that only carry metadata. All by the runtime's clock.
#include "operators/delegates.h"

static bool wrote(etp_str event)
{
    return etp_str_starts(event, ETP_STR("VGF_"));
}

static etp_span span(etp_str event)
{
    (void)event;
    return (etp_span){.clock = ETP_SPAN_RUNTIME};
}

static etp_str family(etp_str event)
{
    return etp_str_starts(event, ETP_STR("VGF_COPY_")) ? ETP_STR("copy") : (etp_str){0};
}

const etp_delegate k_etp_delegate_vgf = {"VgfBackend", wrote, span, family, false, NULL};
