// SPDX-License-Identifier: Apache-2.0
// Making the text that a public function hands over (etprof/buffer.h).
#ifndef ETP_BASE_BUFFER_H
#define ETP_BASE_BUFFER_H

#include <etprof/buffer.h>

#include "base/sink.h"

// FILL writes to SINK and need not check it; what it wrote becomes *out, which stays empty when it
// fails.
typedef etp_status etp_buffer_fill(void *ctx, etp_sink *sink, etp_error *err);
ETP_NODISCARD etp_status etp_buffer_make(etp_buffer_fill *fill, void *ctx, etp_buffer *out,
                                         etp_error *err);

#endif
