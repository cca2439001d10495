// SPDX-License-Identifier: Apache-2.0
// Version of the library and the tool; the one place it is written.
#ifndef ETPROF_VERSION_H
#define ETPROF_VERSION_H

#define ETP_VERSION "0.1.0"

#endif
