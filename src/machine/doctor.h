// SPDX-License-Identifier: Apache-2.0
// The answer of `etprof doctor`: is this machine fit to measure on, and what would make it better?
#ifndef ETP_MACHINE_DOCTOR_H
#define ETP_MACHINE_DOCTOR_H

#include "document/document.h"
#include "measure/session.h"
#include "report/report.h"

typedef enum etp_doctor_check {
    ETP_DOCTOR_RUNNER,
    ETP_DOCTOR_RUNNER_ANSWERS,
    ETP_DOCTOR_LEVELS,
    ETP_DOCTOR_COUNTERS,
    ETP_DOCTOR_MASK,
    ETP_DOCTOR_CLOCK,
    ETP_DOCTOR_CPUS,
    ETP_DOCTOR_CPU_QUOTA,
    ETP_DOCTOR_LOAD,
    ETP_DOCTOR_GOVERNOR,
    ETP_DOCTOR_BOOST,
    ETP_DOCTOR_POWER,
    ETP_DOCTOR_TEMPERATURE,
    ETP_DOCTOR_DISK,
    ETP_DOCTOR_QEMU,
    ETP_DOCTOR_OTHER_WORK,
    ETP_DOCTOR_WAITING,
    ETP_DOCTOR_STOLEN,
    ETP_DOCTOR_NOISE_FLOOR,
    ETP_DOCTOR_CHECKS
} etp_doctor_check;
const char *etp_doctor_check_name(etp_doctor_check check); // its id
bool etp_doctor_check_is(const etp_check *c, etp_doctor_check check);

// Its texts live in the arena given to the checks. Without what a check calls required nothing can
// be measured.
typedef struct etp_doctor {
    etp_checks checks;
} etp_doctor;

// FOUND NULL: it cannot be read, which is neither good nor bad, and nothing is advised.
void etp_doctor_add(etp_doctor *d, etp_arena *arena, etp_doctor_check check, int ok,
                    const char *found, const char *expected, const char *fix);
// The runner's answer and its levels. Without DEVICE it could not be had: WHY, and ADVICE what to
// do.
ETP_NODISCARD etp_status etp_doctor_runner(etp_doctor *d, etp_device *device, const char *why,
                                           const char *advice, etp_arena *arena, etp_error *err);
// Clock, load, frequency, temperature, free space in FOLDER; QEMU NULL: none found.
void etp_doctor_machine(etp_doctor *d, const char *folder, const char *qemu, etp_arena *arena);
// Measures for about a second how restless the machine is now, after the checks above, whose
// findings it names as what would lower it.
void etp_doctor_noise(etp_doctor *d, etp_arena *arena);
// 1 fit, 0 something required is missing.
bool etp_doctor_fit(const etp_doctor *d);

extern const etp_document k_etp_doctor_document; // of etp_doctor
const etp_report *etp_doctor_report(const etp_doctor *d, etp_arena *arena);

#endif
