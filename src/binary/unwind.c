// SPDX-License-Identifier: Apache-2.0
// Function bounds out of an .eh_frame section: the frame description entries say where each
// function that can be unwound begins and how long it is, and strip leaves them alone. Without
// memory of its own.
#include "binary/unwind.h"

typedef struct cursor {
    const uint8_t *ptr;
    size_t len, pos;
    bool bad;
} cursor;

static size_t left(const cursor *c)
{
    return c->bad ? 0 : c->len - c->pos;
}

static uint64_t take(cursor *c, size_t n)
{
    if (n > left(c)) {
        c->bad = true;
        return 0;
    }
    uint64_t v = 0;
    for (size_t i = n; i > 0; i--) {
        v = v << 8 | c->ptr[c->pos + i - 1];
    }
    c->pos += n;
    return v;
}

// The value is never needed, only where it ends.
static void skip_leb(cursor *c)
{
    while (take(c, 1) & 0x80) {
    }
}

static uint64_t take_uleb(cursor *c)
{
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint64_t byte = take(c, 1);
        v |= (byte & 0x7f) << shift;
        if (!(byte & 0x80)) {
            return v;
        }
    }
    c->bad = true;
    return 0;
}

// Bytes of a pointer by the low half of its encoding, 0 when the length varies.
static size_t pointer_size(uint8_t encoding)
{
    switch (encoding & 0x0f) {
    case 0x02:
    case 0x0a:
        return 2;
    case 0x03:
    case 0x0b:
        return 4;
    case 0x00:
    case 0x04:
    case 0x0c:
        return 8;
    default:
        return 0;
    }
}

static uint64_t take_pointer(cursor *c, uint8_t encoding, uint64_t address)
{
    size_t n = pointer_size(encoding);
    uint64_t here = address + c->pos;
    if (n == 0) {
        c->bad = true;
        return 0;
    }
    uint64_t v = take(c, n);
    if ((encoding & 0x08) != 0 && n < 8) { // signed
        uint64_t sign = (uint64_t)1 << (8 * n - 1);
        v = (v ^ sign) - sign;
    }
    switch (encoding & 0xf0) {
    case 0x00:
        return v;
    case 0x10:
        return here + v;
    default: // relative to something a file does not say, or indirect
        c->bad = true;
        return 0;
    }
}

// How the CIE at OFFSET encodes pointers; false when it cannot be told.
static bool pointer_encoding(etp_bytes section, size_t offset, uint8_t *out)
{
    cursor c = {section.ptr, section.len, offset, false};
    uint64_t length = take(&c, 4);
    if (length == 0xffffffff) {
        length = take(&c, 8);
    }
    if (c.bad || length > left(&c)) {
        return false;
    }
    c.len = c.pos + (size_t)length;
    if (take(&c, 4) != 0) { // not a CIE
        return false;
    }
    uint64_t version = take(&c, 1);
    size_t letters = c.pos;
    while (take(&c, 1) != 0) {
    }
    if (version == 4) {
        (void)take(&c, 2); // sizes of address and segment
    }
    skip_leb(&c); // code alignment
    skip_leb(&c); // data alignment
    if (version == 1) {
        (void)take(&c, 1);
    } else {
        skip_leb(&c); // return address register
    }
    *out = 0;
    if (c.bad || section.ptr[letters] != 'z') {
        return !c.bad && section.ptr[letters] == '\0';
    }
    (void)take_uleb(&c); // length of what follows
    for (size_t i = letters + 1; section.ptr[i] != '\0' && !c.bad; i++) {
        uint8_t encoding;
        switch (section.ptr[i]) {
        case 'R':
            *out = (uint8_t)take(&c, 1);
            return !c.bad;
        case 'P':
            encoding = (uint8_t)take(&c, 1);
            c.bad = c.bad || pointer_size(encoding) == 0;
            (void)take(&c, pointer_size(encoding));
            break;
        case 'L':
            (void)take(&c, 1);
            break;
        case 'S':
        case 'B':
            break;
        default:
            return false;
        }
    }
    return !c.bad;
}

etp_unwind etp_unwind_begin(etp_bytes section, uint64_t address)
{
    return (etp_unwind){.section = section, .address = address, .cie = SIZE_MAX};
}

// The record that begins at AT: false where records end or make no sense. *out is empty when it
// describes no function that can be read.
static bool read_record(etp_unwind *u, size_t at, size_t *next, etp_range *out)
{
    cursor c = {u->section.ptr, u->section.len, at, false};
    *out = (etp_range){0};
    uint64_t length = take(&c, 4);
    if (length == 0xffffffff) {
        length = take(&c, 8);
    }
    if (c.bad || length == 0 || length > left(&c)) {
        return false;
    }
    size_t end = c.pos + (size_t)length, id_at = c.pos;
    uint64_t back = take(&c, 4);
    if (back != 0) { // a function: BACK leads to its CIE
        if (c.bad || back > id_at) {
            return false;
        }
        if (id_at - (size_t)back != u->cie) {
            u->cie = id_at - (size_t)back;
            u->usable = pointer_encoding(u->section, u->cie, &u->encoding);
        }
        cursor body = {u->section.ptr, end, c.pos, false};
        uint64_t start = take_pointer(&body, u->encoding, u->address);
        uint64_t size = take_pointer(&body, u->encoding & 0x0f, 0);
        if (u->usable && !body.bad && size > 0 && size <= UINT64_MAX - start && start != 0) {
            *out = (etp_range){start, start + size};
        }
    }
    *next = end;
    return true;
}

bool etp_unwind_next(etp_unwind *u, etp_range *out)
{
    while (read_record(u, u->at, &u->at, out)) {
        if (out->end > 0) {
            return true;
        }
    }
    return false;
}
