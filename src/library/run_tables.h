// SPDX-License-Identifier: Apache-2.0
// A session's answer as rows are made of it.
#ifndef ETP_LIBRARY_RUN_TABLES_H
#define ETP_LIBRARY_RUN_TABLES_H

#include <jansson.h>

#include "judge/open.h"

// The etprof.ab/1 document that a report is made of, so that no table can say anything else than
// the report does. The caller frees it.
ETP_NODISCARD etp_status etp_session_document(const etp_ab_session *session, json_t **out,
                                              etp_error *err);

#endif
