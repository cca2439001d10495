// SPDX-License-Identifier: Apache-2.0
// Why a launch is lost, of whatever runner.
#include <stdio.h>

#include "measure/launch.h"

bool etp_lose(etp_launch_outcome *out, etp_lost_reason reason, const char *fmt, ...)
{
    if (!out->detail) {
        char text[1400];
        va_list ap;
        va_start(ap, fmt);
        vsnprintf(text, sizeof text, fmt, ap);
        va_end(ap);
        out->reason = reason;
        const char *copy = etp_arena_strdup(out->arena, etp_str_from(text));
        out->detail = ETP_OR(copy, "out of memory");
    }
    return false;
}
