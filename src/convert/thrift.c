// SPDX-License-Identifier: Apache-2.0
// Thrift's compact protocol.
#include "convert/thrift.h"

#include <assert.h>

#include "convert/varint.h"

enum { TRUE_ = 1, FALSE_ = 2, I8 = 3, I32 = 5, I64 = 6, BINARY = 8, LIST = 9, STRUCT = 12 };

// Small numbers of either sign become small unsigned ones.
static void zigzag(etp_strbuf *out, int64_t v)
{
    etp_varint(out, ((uint64_t)v << 1) ^ (v < 0 ? UINT64_MAX : 0));
}

// Fields come in rising order, at most 15 apart.
// The compact protocol writes how far an id lies from the one before, in the upper four bits beside
// the type; farther ones would need another form, which no struct of Parquet needs.
static void field(etp_thrift *t, int id, unsigned type)
{
    assert(t->depth > 0);
    int *last = &t->last[t->depth - 1];
    assert(id > *last && id - *last <= 15);
    etp_little_endian(t->out, (unsigned)(id - *last) << 4 | type, 1);
    *last = id;
}

void etp_thrift_begin(etp_thrift *t, int id)
{
    if (id > 0) {
        field(t, id, STRUCT);
    }
    assert(t->depth < ETP_THRIFT_DEPTH);
    t->last[t->depth++] = 0;
}

// A zero where a field would begin.
void etp_thrift_end(etp_thrift *t)
{
    assert(t->depth > 0);
    t->depth--;
    etp_little_endian(t->out, 0, 1);
}

void etp_thrift_i32(etp_thrift *t, int id, int32_t v)
{
    field(t, id, I32);
    zigzag(t->out, v);
}

void etp_thrift_i64(etp_thrift *t, int id, int64_t v)
{
    field(t, id, I64);
    zigzag(t->out, v);
}

// The type is the value.
void etp_thrift_bool(etp_thrift *t, int id, bool v)
{
    field(t, id, v ? TRUE_ : FALSE_);
}

void etp_thrift_binary(etp_thrift *t, int id, etp_str v)
{
    field(t, id, BINARY);
    etp_thrift_item_binary(t, v);
}

void etp_thrift_list(etp_thrift *t, int id, etp_thrift_type type, size_t n)
{
    field(t, id, LIST);
    if (n < 15) {
        etp_little_endian(t->out, (unsigned)n << 4 | (unsigned)type, 1);
    } else {
        etp_little_endian(t->out, 0xf0 | (unsigned)type, 1);
        etp_varint(t->out, n);
    }
}

void etp_thrift_item_i32(etp_thrift *t, int32_t v)
{
    zigzag(t->out, v);
}

void etp_thrift_item_binary(etp_thrift *t, etp_str v)
{
    etp_varint(t->out, v.len);
    etp_strbuf_append(t->out, v);
}
