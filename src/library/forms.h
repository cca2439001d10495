// SPDX-License-Identifier: Apache-2.0
// The forms of <etprof/output.h> as writers of reports.
#ifndef ETP_LIBRARY_FORMS_H
#define ETP_LIBRARY_FORMS_H

#include <etprof/analysis.h>

#include "report/report.h"

// GIVEN (NULL: the defaults), checked.
ETP_NODISCARD etp_status etp_output_take(const etp_analysis_output *given, etp_analysis_output *how,
                                         etp_report_style *style, etp_error *err);
// NULL: the JSON document.
etp_report_writer *etp_output_writer(etp_output_format format);

#endif
