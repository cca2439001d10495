// SPDX-License-Identifier: Apache-2.0
// XNNPACK's own log of micro-kernels, as Arm's kit reads it: "Using gemm microkernel 'xnn_…'". A
// line is written when a table of kernels is set up, once for each tile: what is in it was chosen
// for this CPU, not necessarily run, and counts are not calls. (What ran:
// inspect/kernels/kernels.h.)
#ifndef ETP_INSPECT_KERNELS_LOG_H
#define ETP_INSPECT_KERNELS_LOG_H

#include "base/index.h"
#include "binary/code.h"
#include "document/fields.h"
#include "explain/kernels.h"
#include "report/report.h"

typedef struct etp_logged_kernel {
    etp_str name, category; // category in lower case; transposec is transpose
    uint64_t count;
    etp_kernel_name parts; // of the name
    etp_code code;         // of what ran: that its code was seen to be
    etp_str share;         // likewise: of all samples, as the table has it
} etp_logged_kernel;

typedef struct etp_kernel_log {
    const char *title;    // column of a view
    const char *model_id; // of tables
    bool sampled;         // a table of what ran: counts are samples
    struct {
        etp_logged_kernel *items; // most lines first, then by name
        size_t n, cap;
    } kernels;
    uint64_t lines;    // that named a kernel
    etp_index by_name; // private
} etp_kernel_log;

// Reads TEXT: a log of XNNPACK (stderr or logcat), or a table of kernels (model_id,kernel_name,…).
// Texts live in ARENA. ETP_UNSUPPORTED when no kernel is named in it, ETP_CORRUPT for a broken
// table.
ETP_NODISCARD etp_status etp_kernel_log_read(etp_str text, etp_arena *arena, etp_kernel_log *out,
                                             etp_error *err);

typedef struct etp_kernel_logs { // what is shown
    const etp_kernel_log *logs;
    size_t n;           // 1, or 2: which is in which
    const char *filter; // only kernels with this in their name, NULL all
    const char *title;  // NULL: a default
} etp_kernel_logs;
// The table of two logs, into a report that has begun its section.
void etp_kernel_logs_view(const etp_kernel_logs *logs, etp_report *r, etp_arena *arena);
extern const etp_document k_etp_kernel_log_document; // of etp_kernel_logs
// Tables "kernels" (the columns of Arm's kit) and, of two logs, "view".
const etp_report *etp_kernel_logs_report(const etp_kernel_logs *logs, etp_arena *arena);

#endif
