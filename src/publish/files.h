// SPDX-License-Identifier: Apache-2.0
// The derived files of a run folder that come from its ab answer.
#ifndef ETP_PUBLISH_FILES_H
#define ETP_PUBLISH_FILES_H

#include "judge/open.h"

// Writes report.json, report.html, report.md, metrics.json, the two pictures and the per-experiment
// tables into the folder the session was opened on. Same raw files, same bytes.
ETP_NODISCARD etp_status etp_ab_write_files(const etp_ab_session *session, const char *dir,
                                            etp_error *err);

#endif
