// SPDX-License-Identifier: Apache-2.0
// Settings of an Android device for measuring, and back. What they were is in a journal on this
// machine before anything is changed, so that also a killed session can be undone.
#ifndef ETP_DEVICE_PREPARE_H
#define ETP_DEVICE_PREPARE_H

#include "device/device.h"

typedef enum etp_prepare_mode {
    ETP_PREPARE_NONE,
    ETP_PREPARE_BOOST,
    ETP_PREPARE_APP,
    ETP_PREPARE_FIXED,
    ETP_PREPARE_MODES
} etp_prepare_mode;
const char *etp_prepare_mode_name(etp_prepare_mode mode);
// From the name back to the mode; NULL is none. ETP_USAGE: there is no such mode.
ETP_NODISCARD etp_status etp_prepare_mode_read(const char *name, etp_prepare_mode *out,
                                               etp_error *err);

// What MODE sets, for people: "low_power=0 stay_on_while_plugged_in=15 …".
const char *etp_prepare_sets(etp_prepare_mode mode, etp_arena *arena);
// Writes the journal below DIR, applies MODE, reads it back, and adds the facts "prepare" and
// "prepare_…" to d->extra. A journal of a session that is gone is undone first (*out_undone);
// ETP_ENVIRONMENT when that session still lives, or when the device does not take the settings:
// then they are back already.
ETP_NODISCARD etp_status etp_device_prepare(etp_device *d, etp_prepare_mode mode, const char *dir,
                                            bool *out_undone, etp_error *err);
// Undoes it, also while the user wants to end. Nothing was prepared: ok. After a failure the
// journal stays.
ETP_NODISCARD etp_status etp_device_restore(etp_device *d, etp_error *err);

typedef struct etp_prepare_journal {
    const char *path, *spec;
    etp_prepare_mode mode;
    bool live; // the session that wrote it still runs
} etp_prepare_journal;
typedef struct etp_prepare_journals {
    etp_prepare_journal *items; // by name of their files
    size_t n, cap;
} etp_prepare_journals;
// No folder: none. A journal that cannot be read is an error.
ETP_NODISCARD etp_status etp_prepare_list(const char *dir, etp_arena *arena,
                                          etp_prepare_journals *out, etp_error *err);
// Undoes what the journal at PATH says of the device that it names.
ETP_NODISCARD etp_status etp_prepare_undo(etp_device *d, const char *path, etp_error *err);

#endif
