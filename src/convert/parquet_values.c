// SPDX-License-Identifier: Apache-2.0
// Runs, bits and differences. Format:
// https://parquet.apache.org/docs/file-format/data-pages/encodings/
#include "convert/parquet_values.h"

#include "convert/varint.h"

#define BLOCK 128 // of differences
#define MINI 32   // that share a width
#define MINIS (BLOCK / MINI)

typedef struct bits { // the lowest first
    char *to;
    uint64_t held;
    unsigned have; // < 64
} bits;

static void store(char *to, uint64_t v, unsigned n)
{
    for (unsigned i = 0; i < n; i++) { // one store, where the machine has this order
        to[i] = (char)(v >> (8 * i) & 0xff);
    }
}

// What does not fit the word that is being filled begins the next one. A shift by 64 is undefined
// in C: into a word that was empty all of V has gone.
static inline void put(bits *b, uint64_t v, unsigned width)
{
    b->held |= v << b->have;
    if (b->have + width < 64) {
        b->have += width;
        return;
    }
    store(b->to, b->held, 8);
    b->to += 8;
    b->held = b->have > 0 ? v >> (64 - b->have) : 0;
    b->have = b->have + width - 64;
}

static void flush(bits *b)
{
    unsigned n = (b->have + 7) / 8;
    for (unsigned i = 0; i < n; i++) {
        b->to[i] = (char)(b->held >> (8 * i) & 0xff);
    }
    b->to += n;
}

// The lowest bit of a run's header tells the two kinds apart: 1 for packed groups of eight values,
// 0 for a repeated value.
static void packed(etp_strbuf *out, const uint32_t *values, size_t n, unsigned width)
{
    size_t eights = (n + 7) / 8, bytes = eights * width;
    etp_varint(out, (uint64_t)eights << 1 | 1);
    etp_strbuf_reserve(out, bytes + 8);
    char *to = out->ptr + out->len;
    bits b = {.to = to};
    for (size_t i = 0; i < n; i++) {
        put(&b, values[i], width);
    }
    flush(&b);
    while (b.to < to + bytes) { // whole groups of eight
        *b.to++ = 0;
    }
    out->len += bytes;
    out->ptr[out->len] = '\0';
}

void etp_parquet_run(etp_strbuf *out, uint32_t value, size_t n, unsigned width)
{
    etp_varint(out, (uint64_t)n << 1);
    etp_little_endian(out, value, (width + 7) / 8);
}

void etp_parquet_runs(etp_strbuf *out, const uint32_t *values, size_t n, unsigned width)
{
    unsigned bytes = (width + 7) / 8;
    size_t runs = n > 0;
    for (size_t i = 1; i < n; i++) {
        runs += values[i] != values[i - 1];
    }
    if (runs * (bytes + 2) > n * width / 8) { // two bytes for the length of a usual run
        packed(out, values, n, width);
        return;
    }
    for (size_t i = 0; i < n;) {
        size_t start = i;
        while (i < n && values[i] == values[start]) {
            i++;
        }
        etp_parquet_run(out, values[start], i - start, width);
    }
}

static uint64_t zigzag(int64_t v)
{
    return (uint64_t)v << 1 ^ (v < 0 ? UINT64_MAX : 0);
}

static unsigned width_of(uint64_t v)
{
    unsigned width = 0;
    while (width < 64 && v >> width != 0) {
        width++;
    }
    return width;
}

// N differences, 1 to BLOCK.
// The lowest difference is written once and taken off all others, so that none is negative and each
// needs as few bits as the spread has.
static void put_block(etp_strbuf *out, const uint64_t *differences, size_t n)
{
    int64_t lowest = INT64_MAX;
    for (size_t i = 0; i < n; i++) {
        int64_t d = (int64_t)differences[i];
        lowest = d < lowest ? d : lowest;
    }
    // The last block is filled up with zeros: readers know the number of values and take no more.
    uint64_t above[BLOCK] = {0};
    for (size_t i = 0; i < n; i++) {
        above[i] = differences[i] - (uint64_t)lowest;
    }
    etp_varint(out, zigzag(lowest));
    etp_strbuf_reserve(out, MINIS + BLOCK * 8 + 8);
    char *to = out->ptr + out->len;
    bits b = {.to = to + MINIS};
    for (size_t m = 0; m < MINIS; m++) {
        uint64_t any = 0;
        for (size_t i = 0; i < MINI; i++) {
            any |= above[m * MINI + i];
        }
        unsigned width = width_of(any);
        to[m] = (char)width;
        for (size_t i = 0; width > 0 && i < MINI; i++) {
            put(&b, above[m * MINI + i], width);
        }
        flush(&b); // 32 of them fill whole bytes
        b.held = 0;
        b.have = 0;
    }
    out->len += (size_t)(b.to - to);
    out->ptr[out->len] = '\0';
}

// The header says how blocks are cut, how many values there are, and the first of them.
void etp_parquet_deltas(etp_strbuf *out, const int64_t *values, size_t n)
{
    etp_varint(out, BLOCK);
    etp_varint(out, MINIS);
    etp_varint(out, n);
    etp_varint(out, zigzag(values[0]));
    uint64_t differences[BLOCK];
    for (size_t at = 1; at < n;) {
        size_t some = n - at < BLOCK ? n - at : BLOCK;
        for (size_t i = 0; i < some; i++, at++) { // they wrap, and so does the reader's sum
            differences[i] = (uint64_t)values[at] - (uint64_t)values[at - 1];
        }
        put_block(out, differences, some);
    }
}
