// SPDX-License-Identifier: Apache-2.0
// Who holds memory, as every document has it.
#include "document/memory.h"

#include "base/memory_rows.h"
#include "document/rows.h"

#define OF etp_memory_rows
#define ROW(member, title, what) FIELD(#member, UINT, member, what),
#define SOME(member, title, what) \
    FIELD(#member, UINT, member, what, .flags = ETP_ABSENT | ETP_ZERO | ETP_LATER),
static const etp_field k_rows[] = {ETP_MEMORY_ROWS(ROW, SOME)};
#undef ROW
#undef SOME
SHAPE(k_etp_memory_rows_shape, k_rows);
#undef OF
#define OF etp_memory_stage
#define ROW(member, title, what) FIELD(#member, UINT, rows.member, what),
#define SOME(member, title, what) \
    FIELD(#member, UINT, rows.member, what, .flags = ETP_ABSENT | ETP_ZERO),
static const etp_field k_stage[] = {
    FIELD("peak_bytes", UINT, peak_bytes, "most that was resident until then"),
    ETP_MEMORY_ROWS(ROW, SOME)};
#undef ROW
#undef SOME
SHAPE(k_etp_memory_stage_shape, k_stage);
