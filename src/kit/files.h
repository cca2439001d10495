// SPDX-License-Identifier: Apache-2.0
// The derived files that Arm's kit writes too: timelines, operator statistics, robust statistics,
// category and operator tables, metrics.json, analysis_summary.json, the pipeline summary.
// docs/from-the-kit.md describes every key and column.
#ifndef ETP_KIT_FILES_H
#define ETP_KIT_FILES_H

#include "judge/open.h"

typedef struct etp_kit_kept { // files that a run folder had already and that were left as they are
    etp_arena *arena;
    const char **items;
    size_t n, cap;
} etp_kit_kept;

// Is PATH a file of a run folder's record, to be left as it is? Then its name goes to KEPT (may be
// NULL).
ETP_NODISCARD etp_status etp_kit_keep_recorded(etp_kit_kept *kept, const char *path,
                                               bool *out_is_kept, etp_error *err);

typedef struct etp_kit_options { // beyond the usual files; zeroed: nothing
    const char *model_id;        // of the tables of the only experiment, instead of the dump's name
    uint32_t run_index;          // the timeline of one run is of this one
    bool json;                   // timelines and operator statistics also as lists of JSON objects
    etp_kit_kept *kept;          // takes the names of what was not written; NULL: not wanted
} etp_kit_options;

// Writes the usual ones into the run folder SESSION was opened on, with what else TO writes.
ETP_NODISCARD etp_status etp_kit_derive_files(const etp_ab_session *session, etp_run_deriving *to,
                                              etp_error *err);

// Writes them into DIR: the run folder SESSION was opened on (their hashes then go to derived.json)
// or any other folder, which is made when it is not there. In a run folder of something else, and
// for what goes beyond the usual files, nothing is recorded and no file of the folder's own record
// is replaced. Same raw files, same bytes. Of timeline tables only what the kit derives from those
// is written: the tables over all experiments.
ETP_NODISCARD etp_status etp_kit_write_files(const etp_ab_session *session, const char *dir,
                                             const etp_kit_options *options, etp_error *err);

#endif
