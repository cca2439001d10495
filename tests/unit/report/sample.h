// SPDX-License-Identifier: Apache-2.0
// Report trees that several tests look at.
#ifndef ETP_TEST_REPORT_SAMPLE_H
#define ETP_TEST_REPORT_SAMPLE_H

#include "report/report.h"

// Everything a real report has, with invented numbers that add up: for judging the layout.
etp_report *sample_full(etp_arena *arena);
// Every string is an attack on some writer.
etp_report *sample_hostile(etp_arena *arena);
extern const etp_str k_hostile; // the attack

#endif
