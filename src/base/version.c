// SPDX-License-Identifier: Apache-2.0
// The library's version, as a program asks for it while it runs.
#include <etprof/version.h>

const char *etp_version(void)
{
    return ETP_VERSION;
}
