// SPDX-License-Identifier: Apache-2.0
// Field ids of the ETDump schema and the loads that the grouping does for every event of a file.
#ifndef ETP_FORMATS_ETDUMP_VIEW_H
#define ETP_FORMATS_ETDUMP_VIEW_H

#include <etprof/etdump.h>

#include "flatbuf/flatbuf.h"

// etdump_schema_flatcc.fbs gives no explicit ids, so a field's id is its place in its table.
enum { ETP_ED_VERSION, ETP_ED_RUN_DATA };
enum { ETP_ED_RUN_NAME, ETP_ED_RUN_BUNDLED_INPUT, ETP_ED_RUN_ALLOCATORS, ETP_ED_RUN_EVENTS };
enum { ETP_ED_EVENT_PROFILE, ETP_ED_EVENT_ALLOCATION, ETP_ED_EVENT_DEBUG };
enum {
    ETP_ED_PROFILE_NAME,
    ETP_ED_PROFILE_CHAIN,
    ETP_ED_PROFILE_INSTRUCTION,
    ETP_ED_PROFILE_DELEGATE_INT,
    ETP_ED_PROFILE_DELEGATE_STR,
    ETP_ED_PROFILE_METADATA,
    ETP_ED_PROFILE_START,
    ETP_ED_PROFILE_END
};
enum {
    ETP_ED_DEBUG_CHAIN,
    ETP_ED_DEBUG_INSTRUCTION,
    ETP_ED_DEBUG_ENTRY,
    ETP_ED_DEBUG_DELEGATE_INT,
    ETP_ED_DEBUG_DELEGATE_STR,
    ETP_ED_DEBUG_NAME
};
enum {
    ETP_ED_VALUE_TYPE,
    ETP_ED_VALUE_TENSOR,
    ETP_ED_VALUE_TENSOR_LIST,
    ETP_ED_VALUE_INT,
    ETP_ED_VALUE_FLOAT,
    ETP_ED_VALUE_DOUBLE,
    ETP_ED_VALUE_BOOL,
    ETP_ED_VALUE_OUTPUT
};
enum {
    ETP_ED_TENSOR_SCALAR_TYPE,
    ETP_ED_TENSOR_SIZES,
    ETP_ED_TENSOR_STRIDES,
    ETP_ED_TENSOR_OFFSET
};

// As etp_etdump_open; REPEATS (may be NULL) receives which runs equal an earlier one but for times.
ETP_NODISCARD etp_status etp_ed_open(etp_bytes bytes, etp_fb_repeats *repeats, etp_etdump *out,
                                     etp_error *err);

// The profile part of event INDEX of RUN; ptr NULL when it has none.
// Who groups all events of a file reads the fields that it needs from here; etp_etdump_profile_of
// looks up all of them.
static inline etp_fb_table etp_ed_profile_table(const etp_etdump_run *run, size_t index)
{
    etp_fb_vector events = {run->at_events, (uint32_t)run->n_events};
    return etp_fb_table_field(etp_fb_vec_table(events, index), ETP_ED_EVENT_PROFILE);
}

#endif
