// SPDX-License-Identifier: Apache-2.0
// The forms of <etprof/output.h> as writers of reports.
#ifndef ETP_LIBRARY_FORMS_H
#define ETP_LIBRARY_FORMS_H

#include <etprof/output.h>

#include "report/report.h"

// NULL: the JSON document.
etp_report_writer *etp_output_writer(etp_output_format format);

#endif
