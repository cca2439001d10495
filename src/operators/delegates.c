// SPDX-License-Identifier: Apache-2.0
// The backends whose recordings are understood. All others are read by their events' times alone.
#include "operators/delegates.h"

static const etp_delegate *const k_delegates[] = {
    &k_etp_delegate_xnnpack, &k_etp_delegate_vulkan, &k_etp_delegate_vgf,
    &k_etp_delegate_ethosu,  &k_etp_delegate_qnn,    &k_etp_delegate_coreml,
};

const etp_delegate *etp_delegate_of_event(etp_str event)
{
    for (size_t i = 0; i < sizeof k_delegates / sizeof *k_delegates; i++) {
        if (k_delegates[i]->wrote(event)) {
            return k_delegates[i];
        }
    }
    return NULL;
}

bool etp_delegate_says_cycles(etp_str event)
{
    return etp_str_ends(event, ETP_STR("(cycles)"));
}

etp_span etp_delegate_span(etp_str event)
{
    const etp_delegate *d = etp_delegate_of_event(event);
    if (etp_delegate_says_cycles(event)) {
        return (etp_span){.clock = ETP_SPAN_OWN};
    }
    return d ? d->span(event) : (etp_span){.clock = ETP_SPAN_BY_TIMES};
}

etp_str etp_delegate_family(etp_str event)
{
    const etp_delegate *d = etp_delegate_of_event(event);
    return d && d->family ? d->family(event) : (etp_str){0};
}

etp_str etp_delegate_kernel(etp_str event, etp_str metadata)
{
    const etp_delegate *d = metadata.len > 0 ? etp_delegate_of_event(event) : NULL;
    return d && d->kernel ? d->kernel(metadata) : (etp_str){0};
}
