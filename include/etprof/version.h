// SPDX-License-Identifier: Apache-2.0
// Version of the library and the tool; the one place it is written. Thread rule: constants.
#ifndef ETPROF_VERSION_H
#define ETPROF_VERSION_H

#include <etprof/error.h>

ETP_C_BEGIN

#define ETP_VERSION "0.1.0"
#define ETP_VERSION_MAJOR 0
#define ETP_VERSION_MINOR 1
#define ETP_VERSION_PATCH 0
#define ETP_VERSION_NUMBER (ETP_VERSION_MAJOR * 10000 + ETP_VERSION_MINOR * 100 + ETP_VERSION_PATCH)

// That of the library a program runs with; the macro is that of the headers it was compiled with.
ETP_API const char *etp_version(void); // static

ETP_C_END

#endif
