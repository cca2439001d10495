// SPDX-License-Identifier: Apache-2.0
// Who holds memory: etp_memory_rows and etp_memory_stage (base/memory_rows.h).
#ifndef ETP_DOCUMENT_MEMORY_H
#define ETP_DOCUMENT_MEMORY_H

#include "document/fields.h"

extern const etp_shape k_etp_memory_rows_shape, k_etp_memory_stage_shape;

#endif
