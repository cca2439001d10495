// SPDX-License-Identifier: Apache-2.0
// macOS has no tracing that could rewrite what a program is told about the CPU.
#include "tracer.h"

bool launch_can_trace(void)
{
    return false;
}

bool launch_traced(launch *l, int *out_status)
{
    (void)out_status;
    launch_why(l, "macOS has no tracing that could do it");
    return false;
}

bool cpu_faulting(void)
{
    return false;
}
