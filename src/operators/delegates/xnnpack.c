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

// Newer versions log the micro-kernel's symbol:
// "xnn_f32_gemm_minmax_ukernel_7x16__avx512f_broadcast".
static etp_str kernel(etp_str metadata)
{
    const char *end = memchr(metadata.ptr, '\0', metadata.len);
    metadata.len = end ? (size_t)(end - metadata.ptr) : metadata.len;
    bool symbol =
        etp_str_starts(metadata, ETP_STR("xnn_")) || etp_str_starts(metadata, ETP_STR("kai_"));
    for (size_t i = 0; symbol && i < metadata.len; i++) {
        char c = metadata.ptr[i];
        symbol =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    }
    return symbol ? metadata : (etp_str){0};
}

const etp_delegate k_etp_delegate_xnnpack = {"XnnpackBackend", wrote, span, NULL, false, kernel};
