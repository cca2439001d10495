// SPDX-License-Identifier: Apache-2.0
// Ids of sources that are in a lake already, 32 bytes each. Any number of threads may ask and add.
#ifndef ETP_LIBRARY_FLEET_KNOWN_H
#define ETP_LIBRARY_FLEET_KNOWN_H

#include <etprof/fleet.h>

// ID is the hex text that etp_fleet_id gives; anything else is in no lake.
// False for KNOWN NULL.
bool etp_fleet_known_has(etp_fleet_known *known, const char *id);

#endif
