// SPDX-License-Identifier: Apache-2.0
// A verified FlatBuffer as a tree that may be changed, and the tree as a FlatBuffer again: how a
// program is made of another one. What the schema does not list cannot be carried over, so a buffer
// that has such a field, or a union of an unknown type, is refused.
//
// Trees live in the arena given; what was not changed borrows from the verified bytes.
#ifndef ETP_FLATBUF_TREE_H
#define ETP_FLATBUF_TREE_H

#include "flatbuf/flatbuf.h"

typedef struct etp_fb_node etp_fb_node;

typedef struct etp_fb_slot { // one field; zeroed: absent
    bool present;
    uint64_t scalar;      // SCALAR, its bits
    const uint8_t *items; // VECTOR of scalars, STRING: N elements, little-endian
    uint32_t n;           // of items or tables
    etp_fb_node **tables; // VECTOR_TABLE, and the only one of a TABLE or UNION
} etp_fb_slot;

struct etp_fb_node {
    const etp_fb_schema *schema;
    etp_fb_slot *slots; // one for each field of the schema
};

// ROOT is what etp_fb_verify accepted with SCHEMA; fields marked IGNORE are left out.
// ETP_UNSUPPORTED names what cannot be carried over. ARENA is guarded.
ETP_NODISCARD etp_status etp_fb_tree(etp_fb_table root, const etp_fb_schema *schema,
                                     etp_arena *arena, etp_fb_node **out, etp_error *err);
// RESERVED bytes behind the identifier stay zero. ETP_UNSUPPORTED for more than 2 GiB.
ETP_NODISCARD etp_status etp_fb_write(const etp_fb_node *root, const char identifier[4],
                                      size_t reserved, etp_arena *arena, etp_bytes *out,
                                      etp_error *err);

// ---- changes ----

etp_fb_node *etp_fb_node_new(const etp_fb_schema *schema, etp_arena *arena);
void etp_fb_put(etp_fb_node *node, unsigned id, uint64_t scalar);
void etp_fb_put_u32s(etp_fb_node *node, unsigned id, const uint32_t *numbers, uint32_t n,
                     etp_arena *arena);
void etp_fb_put_bytes(etp_fb_node *node, unsigned id, const void *items, uint32_t n);
// Behind those that are there. TABLE may be one of another place in the tree.
void etp_fb_add(etp_fb_node *node, unsigned id, etp_fb_node *table, etp_arena *arena);

#endif
