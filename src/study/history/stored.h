// SPDX-License-Identifier: Apache-2.0
// History and gates from the store of sessions, and filling it.
#ifndef ETP_STUDY_HISTORY_STORED_H
#define ETP_STUDY_HISTORY_STORED_H

#include "archive/archive.h"
#include "study/history/history.h"

// As etp_history_of_folders, from the store. ETP_USAGE when nothing fits FILTER, or sessions of
// several devices do: their times are no series.
ETP_NODISCARD etp_status etp_history_of_archive(etp_archive *a, const etp_archive_filter *filter,
                                                etp_history *out, etp_error *err);

// Enters the run folder DIR. One that is known by its manifest is not opened unless AGAIN. After an
// error *OUT says whose: ETP_ARCHIVE_UNREAD, else the store's.
ETP_NODISCARD etp_status etp_history_enter_folder(etp_archive *a, const char *dir, bool again,
                                                  etp_archive_added *out, etp_error *err);

typedef struct etp_history_entered { // sessions, by what became of them
    size_t added, known, renewed;
    size_t unfinished; // no entry: unfinished, or without timed launches
    size_t kept;       // the entry as it was: its folder is gone, or another session's
    size_t bad;        // cannot be read
} etp_history_entered;
// TELL: of each that cannot be read.
typedef void etp_history_tell(void *ctx, const char *path, const char *why);
// Enters the run folders in PATHS.
ETP_NODISCARD etp_status etp_history_enter(etp_archive *a, const char *const *paths, size_t n,
                                           etp_history_tell *tell, void *ctx,
                                           etp_history_entered *out, etp_error *err);
// Makes every entry again whose folder is still there, then enters those in PATHS, also again.
ETP_NODISCARD etp_status etp_history_rebuild(etp_archive *a, const char *const *paths, size_t n,
                                             etp_history_tell *tell, void *ctx,
                                             etp_history_entered *out, etp_error *err);

void etp_sessions_json(const void *list, etp_json *j); // etprof.sessions/1, of an etp_archive_list
extern const etp_document k_etp_sessions_document;
const etp_report *etp_sessions_report(const etp_archive_list *list, etp_arena *arena);

// What of an entry etp_gate_build needs of an earlier measurement.
ETP_NODISCARD etp_status etp_gate_of_entry(const etp_archive_session *entry, etp_arena *arena,
                                           etp_ab *out, etp_error *err);
#endif
