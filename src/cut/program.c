// SPDX-License-Identifier: Apache-2.0
// A program that is made of another one: its tables, its segments, its file.
#include "base/choice.h"
#include "cut/internal.h"
#include "formats/pte_schema.h"

#define HEADER_LENGTH 32u
#define ALIGNMENT 128u // of segments, as exporters have it
#define IN_SEGMENT 1

static size_t aligned(size_t n)
{
    return (n + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

etp_status etp_cut_program_begin(etp_bytes file, const etp_program *program,
                                 const etp_method *method, etp_arena *arena, etp_cut_program *out,
                                 etp_error *err)
{
    const etp_pte *pte = program->pte;
    *out = (etp_cut_program){.file = file, .program = program, .method = method, .arena = arena};
    out->err = err;
    out->used = ETP_NEW_ARRAY(arena, bool, pte->n_segments);
    // It was verified when the program was opened: here for the root.
    etp_bytes bytes = {file.ptr, (size_t)pte->program_size, file.base};
    etp_fb_options options = {.max_tables = pte->program_size / 8 + 64};
    etp_fb_table root;
    ETP_TRY(etp_fb_verify(bytes, &etp_pte_schema, &options, &root, err));
    ETP_TRY(etp_fb_tree(root, &etp_pte_schema, arena, &out->root, err));
    etp_fb_slot *plans = &out->root->slots[PROGRAM_PLANS];
    out->plan = plans->tables[0] = plans->tables[method->index];
    plans->n = 1;
    return ETP_OK;
}

static const etp_fb_schema *table_of(const etp_fb_schema *schema, unsigned id)
{
    return schema->fields[id].table;
}

static uint32_t add_memory(etp_cut_program *c, uint64_t bytes)
{
    etp_fb_slot *s = &c->plan->slots[PLAN_BUFFER_SIZES];
    uint32_t n = ETP_MAX(s->n, 1); // entry 0 is reserved
    uint8_t *items = etp_arena_alloc_array(c->arena, (size_t)n + 1, 8);
    if (s->n) {
        memcpy(items, s->items, (size_t)8 * s->n);
    }
    bytes = (bytes + 15) / 16 * 16;
    for (size_t i = 0; i < 8; i++) {
        items[(size_t)8 * n + i] = (uint8_t)(bytes >> 8 * i);
    }
    etp_fb_put_bytes(c->plan, PLAN_BUFFER_SIZES, items, n + 1);
    return n;
}

etp_status etp_cut_program_add_value(etp_cut_program *c, const etp_value *v, uint32_t *out)
{
    const etp_fb_schema *evalue = table_of(c->plan->schema, PLAN_VALUES);
    const etp_fb_schema *schema = evalue->fields[UNION_VALUE].members->tables[ETP_EVALUE_TENSOR];
    etp_fb_node *value = etp_fb_node_new(evalue, c->arena);
    etp_fb_node *tensor = etp_fb_node_new(schema, c->arena);
    etp_fb_node *memory = etp_fb_node_new(table_of(schema, TENSOR_ALLOCATION), c->arena);
    uint32_t *sizes = ETP_NEW_ARRAY(c->arena, uint32_t, v->rank);
    uint8_t *order = ETP_NEW_ARRAY(c->arena, uint8_t, v->rank);
    bool fits = v->bytes != ETP_BYTES_UNKNOWN && v->bytes <= INT32_MAX;
    for (uint32_t i = 0; i < v->rank; i++) {
        fits = fits && v->dims[i] <= INT32_MAX; // beside a dimension of 0 any is of no bytes
        sizes[i] = (uint32_t)v->dims[i];
        order[i] = (uint8_t)i;
    }
    if (!fits) {
        return etp_fail(c->err, ETP_UNSUPPORTED, "value %lu has no size that can be planned",
                        (unsigned long)v->id);
    }
    etp_fb_put(memory, ALLOCATION_ID, add_memory(c, v->bytes));
    etp_fb_put(tensor, TENSOR_SCALAR_TYPE, (uint64_t)etp_cut_scalar_type(v->dtype));
    etp_fb_put_u32s(tensor, TENSOR_SIZES, sizes, v->rank, c->arena);
    etp_fb_put_bytes(tensor, TENSOR_DIM_ORDER, order, v->rank);
    etp_fb_put(tensor, TENSOR_DYNAMISM, v->dynamic ? ETP_SHAPE_DYNAMIC_BOUND : ETP_SHAPE_STATIC);
    etp_fb_add(tensor, TENSOR_ALLOCATION, memory, c->arena);
    etp_fb_put(value, UNION_TYPE, ETP_EVALUE_TENSOR);
    etp_fb_add(value, UNION_VALUE, tensor, c->arena);
    etp_fb_add(c->plan, PLAN_VALUES, value, c->arena);
    *out = c->plan->slots[PLAN_VALUES].n - 1;
    return ETP_OK;
}

uint32_t etp_cut_program_add_delegate(etp_cut_program *c, const etp_partition *p, etp_bytes blob)
{
    const etp_fb_schema *schema = table_of(c->plan->schema, PLAN_DELEGATES);
    const etp_pte_delegate *d = p->delegate;
    etp_fb_node *delegate = etp_fb_node_new(schema, c->arena);
    etp_fb_node *data = etp_fb_node_new(table_of(schema, DELEGATE_PROCESSED), c->arena);
    etp_fb_put_bytes(delegate, DELEGATE_ID, d->id.ptr, (uint32_t)d->id.len);
    etp_fb_put(data, REFERENCE_LOCATION, IN_SEGMENT);
    etp_fb_put(data, REFERENCE_INDEX, c->program->pte->n_segments);
    etp_fb_add(delegate, DELEGATE_PROCESSED, data, c->arena);
    delegate->slots[DELEGATE_SPECS].present = true;
    for (uint32_t i = 0; i < d->n_specs; i++) {
        etp_fb_node *spec = etp_fb_node_new(table_of(schema, DELEGATE_SPECS), c->arena);
        etp_fb_put_bytes(spec, SPEC_KEY, d->specs[i].key.ptr, (uint32_t)d->specs[i].key.len);
        etp_fb_put_bytes(spec, SPEC_VALUE, d->specs[i].value.ptr, (uint32_t)d->specs[i].value.len);
        etp_fb_add(delegate, DELEGATE_SPECS, spec, c->arena);
    }
    etp_fb_add(c->plan, PLAN_DELEGATES, delegate, c->arena);
    c->added = blob;
    return c->plan->slots[PLAN_DELEGATES].n - 1;
}

void etp_cut_program_keep_named(etp_cut_program *c, const etp_partition *p, const bool *constants)
{
    const etp_xnn_graph *g = p->graph;
    for (uint32_t i = 0; i < g->n_constants; i++) {
        uint32_t segment = constants[i] ? etp_pte_find_named(c->program->pte, g->constants[i].key)
                                        : ETP_PTE_NO_SEGMENT;
        if (segment != ETP_PTE_NO_SEGMENT) {
            c->used[segment] = true;
        }
    }
}

etp_status etp_cut_program_end(etp_cut_program *c, etp_bytes *out)
{
    size_t n = (size_t)c->program->pte->n_segments + (c->added.len > 0);
    etp_bytes *data = ETP_NEW_ARRAY(c->arena, etp_bytes, n), program;
    // Names of data that is gone would be promises.
    etp_fb_slot *s = &c->root->slots[PROGRAM_NAMED_DATA];
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        if (c->used[s->tables[i]->slots[NAMED_SEGMENT].scalar]) {
            s->tables[kept++] = s->tables[i];
        }
    }
    s->n = kept;
    // Where segments lie is told from where they begin; numbers of old ones stay.
    size_t size = 0;
    for (size_t i = 0; i < n; i++) {
        bool old = i < c->program->pte->n_segments;
        if (!old) {
            data[i] = c->added;
            etp_fb_add(c->root, PROGRAM_SEGMENTS,
                       etp_fb_node_new(&etp_data_segment_schema, c->arena), c->arena);
        } else if (c->used[i]) {
            data[i] = c->program->pte->segments[i].data;
        }
        etp_fb_node *segment = c->root->slots[PROGRAM_SEGMENTS].tables[i];
        etp_fb_put(segment, SEGMENT_OFFSET, data[i].len ? size : 0);
        etp_fb_put(segment, SEGMENT_SIZE, data[i].len);
        size += aligned(data[i].len);
    }
    ETP_TRY(etp_fb_write(c->root, "ET12", HEADER_LENGTH, c->arena, &program, c->err));
    size_t at = aligned(program.len);
    uint8_t *file = etp_arena_alloc(c->arena, at + size);
    memcpy(file, program.ptr, program.len);
    // Length of the header, the program's size, where segments begin, how long they are.
    const uint64_t header[] = {(uint64_t)HEADER_LENGTH << 32, program.len, size ? at : 0, size};
    for (size_t i = 0; i < 8 * ETP_FB_COUNT(header); i++) {
        file[8 + i] = (uint8_t)(header[i / 8] >> 8 * (i % 8));
    }
    memcpy(file + 8, "eh00", 4);
    for (size_t i = 0; i < n; i++) {
        if (data[i].len) {
            memcpy(file + at, data[i].ptr, data[i].len);
        }
        at += aligned(data[i].len);
    }
    *out = (etp_bytes){file, aligned(program.len) + size, 0};
    return ETP_OK;
}
