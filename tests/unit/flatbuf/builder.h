// SPDX-License-Identifier: Apache-2.0
// Writes FlatBuffers, back to front: what tests, fuzz corpora and benchmarks are made of.
//
//   etp_fbb b;
//   etp_fbb_init(&b, arena);
//   etp_fbb_ref name = etp_fbb_str(&b, ETP_STR("conv"));   // children first
//   etp_fbb_begin(&b);
//   etp_fbb_add_ref(&b, 1, name);
//   etp_fbb_add(&b, 0, 4, 17);
//   etp_bytes file = etp_fbb_finish(&b, etp_fbb_end(&b), "PT01", false);
//
// Running out of memory is remembered and gives an empty file. Tables do not nest while open.
#ifndef ETP_TESTS_FLATBUF_BUILDER_H
#define ETP_TESTS_FLATBUF_BUILDER_H

#include <etprof/arena.h>
#include <etprof/bytes.h>

typedef uint32_t etp_fbb_ref; // distance of an object's start from the end of the buffer; 0: none

#define ETP_FBB_MAX_FIELDS 64

typedef struct etp_fbb { // fields are private; needs no cleanup
    etp_arena *arena;
    uint8_t *buf;
    size_t cap, used; // the last USED bytes of BUF are written
    size_t align;     // strictest alignment so far
    bool failed;
    size_t table_start;
    size_t field_at[ETP_FBB_MAX_FIELDS]; // `used` after the field was written; 0: absent
    struct {
        etp_fbb_ref *items;
        size_t n, cap;
    } vtables; // distinct ones, newest last
} etp_fbb;

void etp_fbb_init(etp_fbb *b, etp_arena *arena);

etp_fbb_ref etp_fbb_str(etp_fbb *b, etp_str s);
// N scalars of WIDTH bytes in the machine's own byte order; the first is aligned to ALIGN (0:
// WIDTH).
etp_fbb_ref etp_fbb_vec(etp_fbb *b, const void *items, size_t n, size_t width, size_t align);
etp_fbb_ref etp_fbb_vec_refs(etp_fbb *b, const etp_fbb_ref *refs, size_t n);

void etp_fbb_begin(etp_fbb *b);
void etp_fbb_add(etp_fbb *b, unsigned id, size_t width, uint64_t value);
void etp_fbb_add_ref(etp_fbb *b, unsigned id, etp_fbb_ref ref); // ref 0: field left out
etp_fbb_ref etp_fbb_end(etp_fbb *b);

// The finished file, in the arena. Alignment counts from its first byte, the size prefix included,
// as ExecuTorch's runtime has it.
etp_bytes etp_fbb_finish(etp_fbb *b, etp_fbb_ref root, const char identifier[4], bool size_prefix);

#endif
