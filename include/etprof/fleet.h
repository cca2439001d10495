// SPDX-License-Identifier: Apache-2.0
// Run folders and bare dumps of many devices and nights as the tables of a fleet,
// which an engine of others writes and asks (docs/fleet.md). Each source is read once, for all
// tables.
//
// What is said about a source by its path is taken where the source itself does not say it:
// "…/day=2026-11-21/device=pixel9/model=mv2/level=sme2/x.etdump". A folder name of that form sets
// day, device, model, build, experiment, level or threads.
//
// Ownership: the streams and all that comes out of them are the consumer's (tables.h) and outlive
// the rows they were taken from. Thread rule: rows are for one thread at a time; any number of
// threads may read sources of their own at once, and share what is known.
#ifndef ETPROF_FLEET_H
#define ETPROF_FLEET_H

#include <etprof/tables.h>

ETP_C_BEGIN

typedef struct etp_fleet etp_fleet;

// SHA-256 in hex, with its NUL, by which a source is known under any name: of the manifest of a run
// folder, or of a dump. Errors: ETP_IO, ETP_NOMEM.
ETP_API ETP_NODISCARD etp_status etp_fleet_id(const char *path, char out_hex[65], etp_error *err);
// The rows of all SOURCES in their order. One that cannot be read gives one row of errors and no
// other; ETP_NOMEM alone fails. No sources: no rows.
ETP_API ETP_NODISCARD etp_status etp_fleet_read(const char *const *sources, size_t n_sources,
                                                etp_fleet **out, etp_error *err);
// Ids that a lake has already.
typedef struct etp_fleet_known etp_fleet_known;
// An empty set, for the caller to close. Errors: ETP_NOMEM.
ETP_API ETP_NODISCARD etp_status etp_fleet_known_new(etp_fleet_known **out, etp_error *err);
// *OUT_NEW: it was not there. Errors: ETP_USAGE (no id), ETP_NOMEM.
ETP_API ETP_NODISCARD etp_status etp_fleet_known_add(etp_fleet_known *known, const char *id,
                                                     bool *out_new, etp_error *err);
ETP_API void etp_fleet_known_close(etp_fleet_known *known); // NULL is fine
// As etp_fleet_read, but for sources that are KNOWN, or were read soundly before in SOURCES: they
// leave nothing. Each source is opened once, for its id and for its rows. KNOWN is not changed.
ETP_API ETP_NODISCARD etp_status etp_fleet_read_new(const char *const *sources, size_t n_sources,
                                                    etp_fleet_known *known, etp_fleet **out,
                                                    etp_error *err);
// Of a source that was read: its id; "" of one with an error; NULL of one that was left out.
ETP_API const char *etp_fleet_source_id(const etp_fleet *fleet, size_t index);

ETP_API uint64_t etp_fleet_rows(const etp_fleet *fleet, etp_fleet_table table);
// Takes the rows of TABLE out of FLEET; a second stream of it has none. Errors: ETP_USAGE (no such
// TABLE), ETP_NOMEM.
ETP_API ETP_NODISCARD etp_status etp_fleet_stream(etp_fleet *fleet, etp_fleet_table table,
                                                  struct ArrowArrayStream *out, etp_error *err);
ETP_API void etp_fleet_close(etp_fleet *fleet); // NULL is fine

ETP_C_END

#endif
