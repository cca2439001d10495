// SPDX-License-Identifier: Apache-2.0
// The derived files that Arm's kit writes too: timelines, operator statistics, robust statistics,
// category and operator tables, metrics.json, analysis_summary.json, the pipeline summary.
// docs/artifacts.md describes every key and column.
#ifndef ETP_ANSWER_KIT_FILES_H
#define ETP_ANSWER_KIT_FILES_H

#include "answer/ab_build.h"

// Writes them into DIR: the run folder SESSION was opened on (their hashes then go to derived.json)
// or any other folder, which is made when it is not there. Same raw files, same bytes.
ETP_NODISCARD etp_status etp_kit_write_files(const etp_ab_session *session, const char *dir,
                                             etp_error *err);

#endif
