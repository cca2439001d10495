// SPDX-License-Identifier: Apache-2.0
// Opening a file for `etprof inspect`, and what is derived from it: operators, weights, parts.
#include "inspect/inspect.h"

#include <stdlib.h>

#include "base/guard.h"
#include "base/index.h"

const char *etp_file_kind_name(etp_file_kind kind)
{
    static const char *const k_names[] = {"pte", "etdump", "etrecord", "bpte", "ptd", "unknown"};
    return k_names[kind];
}

etp_file_kind etp_inspect_probe(etp_bytes b)
{
    // A .pte, a .bpte and a .ptd are FlatBuffers with their identifier at byte 4. An ETDump may
    // also have a length prefix, which moves it to byte 8. An ETRecord is a plain zip archive, so
    // it comes last: its mark says least.
    if (etp_pte_probe(b)) {
        return ETP_FILE_PTE;
    }
    if (etp_bundled_probe(b)) {
        return ETP_FILE_BPTE;
    }
    if (etp_flat_tensor_probe(b)) {
        return ETP_FILE_PTD;
    }
    if ((b.len >= 8 && memcmp(b.ptr + 4, "ED00", 4) == 0) ||
        (b.len >= 12 && memcmp(b.ptr + 8, "ED00", 4) == 0)) {
        return ETP_FILE_ETDUMP;
    }
    return b.len >= 4 && memcmp(b.ptr, "PK\x03\x04", 4) == 0 ? ETP_FILE_ETRECORD : ETP_FILE_UNKNOWN;
}

// ---- operators ----

typedef struct operators {
    etp_inspect_operator *items;
    size_t n, cap;
    etp_index index;
} operators;

typedef struct operator_key {
    const operators *list;
    etp_str name;
    bool delegated;
} operator_key;

static bool same_operator(const void *ctx, uint32_t i)
{
    const operator_key *key = ctx;
    // The index stores hashes and places; equal hashes are told apart here.
    return key->list->items[i].delegated == key->delegated &&
           etp_str_eq(key->list->items[i].name, key->name);
}

// The same name inside and outside delegates is two operators: what runs outside is what people
// look for.
static void add_operator(operators *list, etp_arena *arena, etp_str name, bool delegated,
                         const etp_work *work)
{
    uint64_t hash = etp_hash_bytes(ETP_HASH_START + delegated, name.ptr, name.len);
    operator_key key = {list, name, delegated};
    uint32_t i = etp_index_find(&list->index, hash, same_operator, &key);
    if (i == ETP_NO_INDEX) {
        etp_inspect_operator fresh = {.name = name, .delegated = delegated};
        i = (uint32_t)list->n;
        ETP_ADD(arena, list, fresh);
        etp_index_insert(&list->index, arena, hash, i);
    }
    etp_inspect_operator *op = &list->items[i];
    // A call whose work is unknown still counts as one; sums that would not fit 64 bits count as
    // unknown too, because shapes in a hostile file can claim anything.
    op->calls++;
    if (work && work->known && work->macs <= UINT64_MAX - op->macs &&
        work->bytes <= UINT64_MAX - op->bytes) {
        op->macs += work->macs;
        op->bytes += work->bytes;
        op->bound = op->bound || work->bound;
    } else {
        op->unknown++;
    }
}

// Moves, jumps and frees do no work that anybody could speed up, so they are no operators.
static void add_call(operators *list, etp_arena *arena, const etp_method *m,
                     const etp_instruction *in)
{
    if (in->kind == ETP_INSTR_KERNEL) {
        add_operator(list, arena, in->op, false, &in->work);
    }
    if (in->kind != ETP_INSTR_DELEGATE) {
        return;
    }
    const etp_partition *p = &m->partitions[in->partition];
    if (!p->graph) {
        // Only XNNPACK's payload can be read: of other backends, and of a payload that is broken, a
        // call is one operator of unknown work.
        add_operator(list, arena, p->backend, true, NULL);
        return;
    }
    for (uint32_t n = 0; n < p->n_nodes; n++) {
        add_operator(list, arena, p->nodes[n].type_name, true, &p->nodes[n].work);
    }
}

static int by_calls(const void *pa, const void *pb)
{
    const etp_inspect_operator *a = pa, *b = pb;
    return etp_order_then(
        a->delegated - b->delegated,
        etp_order_then(ETP_ORDER(b->calls, a->calls), etp_str_cmp(a->name, b->name)));
}

// ---- weights ----

// An index over the list, because a model of thousands of layers would else compare each weight
// with every other.
typedef struct weights {
    etp_inspect_weight *items;
    size_t n, cap;
    etp_index index;
} weights;

// What makes two constants one: their key or name, else their place in the file.
typedef struct weight_key {
    const weights *list;
    const etp_inspect_weight *weight;
} weight_key;

static bool same_weight(const void *ctx, uint32_t i)
{
    const weight_key *key = ctx;
    const etp_inspect_weight *a = &key->list->items[i], *b = key->weight;
    return a->name.len || b->name.len ? etp_str_eq(a->name, b->name) : a->place == b->place;
}

// Weights that two partitions or methods share are stored once in the file, so they count once.
static void add_weight(weights *list, etp_arena *arena, etp_inspect_weight w)
{
    weight_key key = {list, &w};
    uint64_t hash = w.name.len ? etp_hash_bytes(ETP_HASH_START, w.name.ptr, w.name.len)
                               : etp_hash_bytes(ETP_HASH_START, &w.place, sizeof w.place);
    uint32_t i = etp_index_find(&list->index, hash, same_weight, &key);
    if (i != ETP_NO_INDEX) {
        list->items[i].uses++;
        return;
    }
    w.uses = 1;
    ETP_ADD(arena, list, w);
    etp_index_insert(&list->index, arena, hash, (uint32_t)(list->n - 1));
}

static uint64_t add_up(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b; // sizes in the file are only claims
}

// A constant with scales gives two weights: scales are blobs of their own, and several constants
// may point to the same ones.
static void value_weights(weights *list, etp_arena *arena, const etp_partition *p, uint32_t value,
                          etp_inspect_weight w)
{
    const etp_xnn_graph *g = p->graph;
    const etp_xnn_constant *constant = &g->constants[g->values[value].constant];
    const etp_quant *q = &g->values[value].quant;
    w.value = &p->values[value];
    w.name = constant->key;
    w.place = constant->data.ptr;
    w.bytes = w.value->bytes;
    add_weight(list, arena, w);
    if (w.value->scale_bytes == 0) {
        return;
    }
    w.is_scale = true;
    w.bytes = w.value->scale_bytes;
    w.name = q->scale_constant ? g->constants[q->scale_constant].key : (etp_str){0};
    w.place = q->scale_constant ? g->constants[q->scale_constant].data.ptr : q->inline_scales.le;
    add_weight(list, arena, w);
}

static void partition_weights(weights *list, etp_arena *arena, const etp_method *m,
                              const etp_partition *p)
{
    for (uint32_t n = 0; n < p->n_nodes; n++) {
        const etp_node *node = &p->nodes[n];
        etp_inspect_weight w = {.node = node, .method = m->index, .partition = p->index};
        for (uint32_t i = 0; i < node->n_inputs; i++) {
            // Constants are found through the nodes that use them, so that each knows its first
            // user.
            if (p->values[node->inputs[i]].constant) {
                value_weights(list, arena, p, node->inputs[i], w);
            }
        }
    }
}

// A total order: equal sizes are common (the layers of a transformer), and qsort keeps no order of
// its own. Kernels' weights have no node and end at their value's number.
static int by_size(const void *pa, const void *pb)
{
    const etp_inspect_weight *a = pa, *b = pb;
    if (a->bytes != b->bytes) {
        return ETP_ORDER(b->bytes, a->bytes);
    }
    if (a->method != b->method) {
        return ETP_ORDER(a->method, b->method);
    }
    if (a->partition != b->partition) {
        return ETP_ORDER(a->partition, b->partition);
    }
    if (a->node && b->node && a->node->index != b->node->index) {
        return ETP_ORDER(a->node->index, b->node->index);
    }
    return etp_order_then(a->is_scale - b->is_scale, ETP_ORDER(a->value->id, b->value->id));
}

// A delegate names its weights by keys; a key that the file's named data does not have is in a .ptd
// beside it. Kernels' tensors say themselves where their data are.
static bool is_external(const etp_inspect *in, const etp_inspect_weight *w)
{
    if (w->node) {
        return w->name.len > 0 &&
               etp_pte_find_named(in->program->pte, w->name) == ETP_PTE_NO_SEGMENT;
    }
    const etp_pte_method *m = &in->program->pte->methods[w->method];
    return m->values[w->value->id].u.tensor->location == ETP_PTE_DATA_EXTERNAL;
}

static void find_weights(etp_inspect *out, etp_arena *arena)
{
    weights list = {0};
    for (uint32_t i = 0; i < out->program->n_methods; i++) {
        const etp_method *m = &out->program->methods[i];
        // Constants of kernels are values of the method; those of a delegate belong to its payload.
        for (uint32_t k = 0; k < m->n_values; k++) {
            const etp_value *v = &m->values[k];
            if (!v->constant || v->bytes == ETP_BYTES_UNKNOWN) {
                continue;
            }
            etp_inspect_weight w = {.name = v->name,
                                    .value = v,
                                    .bytes = v->bytes,
                                    .place = m->pte->values[k].u.tensor->data.ptr,
                                    .method = m->index,
                                    .partition = ETP_NO_INDEX};
            add_weight(&list, arena, w);
        }
        for (uint32_t p = 0; p < m->n_partitions; p++) {
            partition_weights(&list, arena, m, &m->partitions[p]);
        }
    }
    if (list.n > 1) {
        qsort(list.items, list.n, sizeof *list.items, by_size);
    }
    // Sums after the list is whole: only then is each constant there once.
    for (size_t i = 0; i < list.n; i++) {
        const etp_inspect_weight *w = &list.items[i];
        uint64_t *sum = w->is_scale ? &out->scale_bytes : &out->by_dtype[w->value->dtype];
        *sum = add_up(*sum, w->bytes);
        out->weight_bytes = add_up(out->weight_bytes, w->bytes);
        out->external_bytes = add_up(out->external_bytes, is_external(out, w) ? w->bytes : 0);
    }
    out->weights = list.items;
    out->n_weights = list.n;
}

// ---- parts ----

// Takes the file apart from the front: every part is counted against what is left, so the parts add
// up to the file's size whatever the segment table claims.
static void find_parts(etp_inspect *out, etp_arena *arena)
{
    // In the order of etp_pte_segment_kind.
    static const char *const k_what[] = {"unreferenced segments", "constants", "mutable data",
                                         "delegate blobs", "named data (weights)"};
    const etp_pte *pte = out->program->pte;
    etp_inspect_part *parts = ETP_NEW_ARRAY(arena, etp_inspect_part, 8);
    uint64_t left = pte->file_size;
    size_t n = 0;
    // Blobs that are listed twice are there once, and the list says only how often they are used.
    uint64_t blobs = ETP_MIN(pte->inline_bytes, pte->program_size);
    parts[n++] = (etp_inspect_part){"program (flatbuffer)", pte->program_size - blobs, 1};
    if (pte->n_inline_data > 0) {
        parts[n++] = (etp_inspect_part){"delegate blobs (inline)", blobs, pte->n_inline_data};
    }
    left -= pte->program_size;
    if (pte->segment_base_offset == 0) {
        left = 0; // without segments the flatbuffer is the file
    }
    for (int kind = 0; kind <= ETP_PTE_SEGMENT_NAMED; kind++) {
        etp_inspect_part part = {.what = k_what[kind]};
        for (uint32_t i = 0; i < pte->n_segments; i++) {
            const etp_pte_segment *s = &pte->segments[i];
            if ((int)s->kind == kind && s->data.len > 0) {
                part.bytes += s->data.len;
                part.count++;
                if (s->users > 1 && kind != ETP_PTE_SEGMENT_CONSTANT) {
                    out->shared_bytes += (uint64_t)(s->users - 1) * s->data.len;
                }
            }
        }
        if (part.count > 0) {
            part.bytes = ETP_MIN(part.bytes, left); // overlapping segments
            left -= part.bytes;
            parts[n++] = part;
        }
    }
    if (left > 0) {
        parts[n++] = (etp_inspect_part){"padding", left, 0};
    }
    out->parts = parts;
    out->n_parts = n;
}

// ---- opening ----

static etp_status open_program(etp_bytes bytes, etp_arena *arena, etp_inspect *out, etp_error *err)
{
    ETP_TRY(etp_program_open(bytes, arena->alloc, &out->program, err));
    operators list = {0};
    etp_inspect_planned *planned =
        ETP_NEW_ARRAY(arena, etp_inspect_planned, out->program->n_methods);
    for (uint32_t i = 0; i < out->program->n_methods; i++) {
        const etp_method *m = &out->program->methods[i];
        for (uint32_t k = 0; k < m->n_instructions; k++) {
            add_call(&list, arena, m, &m->instructions[k]);
        }
        etp_inspect_plan(m, arena, &planned[i]);
    }
    if (list.n > 1) {
        qsort(list.items, list.n, sizeof *list.items, by_calls);
    }
    out->operators = list.items;
    out->n_operators = list.n;
    out->planned = planned;
    find_weights(out, arena);
    find_parts(out, arena);
    return ETP_OK;
}

static etp_status open_bundled(etp_bytes bytes, etp_arena *arena, etp_inspect *out, etp_error *err)
{
    etp_bundled *b = ETP_NEW(arena, etp_bundled);
    ETP_TRY(etp_bundled_read(bytes, arena, b, err));
    out->bundled = b;
    out->test_problem = etp_inspect_bundle_problem(b, arena);
    etp_status status = open_program(b->program, arena, out, err);
    return status == ETP_OK ? ETP_OK : etp_fail_ctx(err, "the program inside");
}

static etp_status open_record(etp_bytes bytes, etp_arena *arena, etp_inspect *out, etp_error *err)
{
    etp_etrecord *record = ETP_NEW(arena, etp_etrecord);
    out->record = record;
    return etp_etrecord_read(bytes, arena, record, err);
}

// What is opened goes into OUT at once, also when reading it fails later: etp_inspect_close then
// ends it.
static etp_status open_kind(etp_bytes bytes, etp_arena *arena, etp_inspect *out, etp_error *err)
{
    etp_flat_tensor *ptd = NULL;
    etp_trace *trace = NULL;
    switch (out->kind) {
    case ETP_FILE_PTE:
        return open_program(bytes, arena, out, err);
    case ETP_FILE_BPTE:
        return open_bundled(bytes, arena, out, err);
    case ETP_FILE_ETRECORD:
        return open_record(bytes, arena, out, err);
    case ETP_FILE_ETDUMP:
        ETP_TRY(etp_trace_open(bytes, NULL, &trace, err));
        out->trace = trace;
        return ETP_OK;
    case ETP_FILE_PTD:
        ptd = ETP_NEW(arena, etp_flat_tensor);
        out->ptd = ptd;
        return etp_flat_tensor_read(bytes, arena, ptd, err);
    case ETP_FILE_UNKNOWN:
        break;
    }
    return etp_fail_at(err, bytes.len == 0 ? ETP_CORRUPT : ETP_UNSUPPORTED, 0,
                       bytes.len == 0 ? "the file is empty"
                                      : "not a .pte, .bpte, .ptd, .etdump or .etrecord file");
}

static etp_status open_all(etp_bytes bytes, etp_bytes record_bytes, etp_arena *arena,
                           etp_inspect *out, etp_error *err)
{
    ETP_TRY(open_kind(bytes, arena, out, err));
    if (record_bytes.len == 0) {
        return ETP_OK;
    }
    ETP_TRY(open_record(record_bytes, arena, out, err));
    if (out->program) {
        etp_record_belongs(out->program, out->record, arena, &out->belonging);
    }
    return etp_belonging_need(&out->belonging, err);
}

// The kind is told by the bytes alone: names are changed by downloads and by build systems.
etp_status etp_inspect_open(const char *path, etp_bytes bytes, etp_bytes record_bytes,
                            etp_arena *arena, etp_inspect *out, etp_error *err)
{
    *out = (etp_inspect){.kind = etp_inspect_probe(bytes), .path = path, .size = bytes.len};
    ETP_GUARDED(arena, err, "the file", open_all(bytes, record_bytes, arena, out, err));
}

void etp_inspect_close(etp_inspect *inspect)
{
    etp_program_close(inspect->program);
    etp_trace *trace = NULL;
    memcpy(&trace, &inspect->trace, sizeof trace); // opened here, so it may be closed here
    etp_trace_close(trace);
    *inspect = (etp_inspect){0};
}

// ---- sources ----

static const etp_record_method *record_of(const etp_inspect *in, const etp_method *method)
{
    return in->record ? etp_etrecord_method(in->record, method->name) : NULL;
}

const etp_source *etp_inspect_node_source(const etp_inspect *in, const etp_method *method,
                                          const etp_node *node)
{
    return etp_etrecord_source(record_of(in, method), node->debug_handle);
}

const etp_source *etp_inspect_call_source(const etp_inspect *in, const etp_method *method,
                                          const etp_instruction *call)
{
    const etp_record_method *record = record_of(in, method);
    const etp_record_instruction *i =
        // The record's map (`debug_handle_map`) has no chains: its keys are taken for instructions
        // of the first one. A delegate call has the handles of all its nodes there, which name no
        // single source.
        call->chain == 0 ? etp_etrecord_instruction(record, call->index) : NULL;
    return i && i->n_handles == 1 ? etp_etrecord_source(record, i->handles[0]) : NULL;
}
