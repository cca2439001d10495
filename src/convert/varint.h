// SPDX-License-Identifier: Apache-2.0
// Numbers as Thrift and Parquet write them.
#ifndef ETP_CONVERT_VARINT_H
#define ETP_CONVERT_VARINT_H

#include "base/sink.h"

// Seven bits a byte, the lowest first.
void etp_varint(etp_strbuf *out, uint64_t v);
// The lowest BYTES bytes, at most 8, the lowest first.
void etp_little_endian(etp_strbuf *out, uint64_t v, unsigned bytes);

#endif
