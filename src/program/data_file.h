// SPDX-License-Identifier: Apache-2.0
// Does a program need a data file (.ptd) beside it?
#ifndef ETP_PROGRAM_DATA_FILE_H
#define ETP_PROGRAM_DATA_FILE_H

#include <etprof/program.h>

// Name of a tensor whose data PROGRAM does not hold; empty: it holds all. Delegates whose payload
// cannot be read are taken to be whole. Borrowed from the program.
etp_str etp_program_outside(const etp_program *program);

#endif
