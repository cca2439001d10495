// SPDX-License-Identifier: Apache-2.0
// One source while its rows are put. Shared by fleet_*.c.
#ifndef ETP_CONVERT_FLEET_SOURCE_H
#define ETP_CONVERT_FLEET_SOURCE_H

#include "convert/fleet_rows.h"
#include "convert/table_rows.h"

typedef struct etp_fleet_rows_of {
    const etp_fleet_source *source;
    etp_table_fleet fleet;
    etp_table_folder folder;
    const char *baseline; // of the phase at work; NULL: nothing is compared
} etp_fleet_rows_of;

// RUN: what is known of the source; of a dump one that was made for it. OUT stays where it is until
// etp_fleet_end, which has to follow a failure too.
ETP_NODISCARD etp_status etp_fleet_begin(const etp_fleet_source *source, const etp_run *run,
                                         etp_fleet_rows_of *out, etp_error *err);
void etp_fleet_end(etp_fleet_rows_of *rows);

#endif
