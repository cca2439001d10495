// SPDX-License-Identifier: Apache-2.0
// Opening a program: methods, instructions and partitions from the typed views of the .pte.
#include "base/guard.h"
#include "base/index.h"
#include "program/internal.h"
#include "program/sizing.h"

// Beside a multiple of the file's size: graphs of small programs are larger than their files.
#define MEMORY_SLACK (32u << 20)

typedef struct document { // what an etp_program lives in
    etp_program program;  // first: the public handle points here
    etp_arena arena;
    etp_pte pte;
} document;

typedef struct builder {
    document *doc;
    etp_arena *arena;
    uint64_t limit;  // of the arena's bytes
    etp_index blobs; // by position in the file → number of the partition that was read first
    const etp_partition **by_number;
    size_t by_number_cap;
    const etp_call *call; // NULL: any
    etp_sizing_maker *follow;
    etp_sizing *sizing; // of the method that is made; NULL: its sizes are upper bounds
    etp_error *err;
} builder;

static etp_status check_memory(builder *b)
{
    if (b->arena->total > b->limit) {
        return etp_fail(b->err, ETP_CORRUPT,
                        "the program describes more than a file of %llu bytes can hold",
                        (unsigned long long)b->doc->pte.file_size);
    }
    return ETP_OK;
}

// ---- values ----

// Without a name the runner's own choice: the only method, or "forward".
static bool is_called(const builder *b, const etp_pte_method *m)
{
    return b->call->method.len > 0 ? etp_str_eq(m->name, b->call->method)
                                   : b->doc->pte.n_methods == 1 || etp_str_eqz(m->name, "forward");
}

static etp_status make_values(builder *b, const etp_pte_method *m, etp_method *out)
{
    b->sizing = NULL;
    etp_value *values = ETP_NEW_ARRAY(b->arena, etp_value, m->n_values);
    for (uint32_t i = 0; i < m->n_values; i++) {
        etp_value *v = &values[i];
        v->kind = m->values[i].kind;
        v->id = i;
        v->external = ETP_NO_INDEX;
        v->bytes = ETP_BYTES_UNKNOWN;
        if (v->kind != ETP_EVALUE_TENSOR) {
            continue;
        }
        const etp_pte_tensor *t = m->values[i].u.tensor;
        v->dtype = t->dtype;
        v->dynamic = t->dynamism != ETP_SHAPE_STATIC;
        v->constant = t->location == ETP_PTE_DATA_CONSTANT || t->location == ETP_PTE_DATA_EXTERNAL;
        v->bytes = t->nbytes;
        v->name = t->fqn;
        etp_value_set_dims(v, t->sizes, false, b->arena);
    }
    out->values = values;
    out->n_values = m->n_values;
    if (b->call && is_called(b, m)) {
        b->sizing = b->follow(m, values, b->call, b->arena);
    }
    return check_memory(b);
}

static void copy_ids(builder *b, etp_i32s from, const uint32_t **out, uint32_t *out_n)
{
    uint32_t *ids = ETP_NEW_ARRAY(b->arena, uint32_t, from.n);
    for (uint32_t i = 0; i < from.n; i++) {
        ids[i] = (uint32_t)etp_i32_at(from, i);
    }
    *out = ids;
    *out_n = from.n;
}

// ---- partitions ----

// Sizes of a delegate's operands are upper bounds when any argument of its calls is dynamic.
// The first call in the file tells.
static bool is_dynamic(const etp_pte_method *m, uint32_t delegate)
{
    for (uint32_t c = 0; c < m->n_chains; c++) {
        for (uint32_t i = 0; i < m->chains[c].n_instructions; i++) {
            const etp_pte_instruction *in = &m->chains[c].instructions[i];
            if (in->kind != ETP_INSTR_DELEGATE || in->index != delegate) {
                continue;
            }
            for (uint32_t k = 0; k < in->args.n; k++) {
                const etp_evalue *v = &m->values[etp_i32_at(in->args, k)];
                if (v->kind == ETP_EVALUE_TENSOR && v->u.tensor->dynamism != ETP_SHAPE_STATIC) {
                    return true;
                }
            }
            return false;
        }
    }
    return false;
}

typedef struct blob_key {
    const builder *b;
    const etp_pte_delegate *delegate;
} blob_key;

// By place in the file, not by content, which would have to be read.
static bool same_blob(const void *ctx, uint32_t number)
{
    const blob_key *key = ctx;
    const etp_partition *p = key->b->by_number[number];
    return p->blob.ptr == key->delegate->data.ptr && p->blob.len == key->delegate->data.len &&
           etp_str_eq(p->backend, key->delegate->id);
}

// The exporter stores payloads that are equal once, and methods share them. Each is read once, and
// the struct is copied, because indices and numbers of partitions differ.
static etp_status make_partition(builder *b, const etp_pte_method *m, uint32_t index,
                                 etp_partition *out)
{
    const etp_pte_delegate *d = &m->delegates[index];
    uint32_t number = b->doc->program.n_partitions;
    uint64_t place[2] = {d->data.base, d->data.len};
    uint64_t hash = etp_hash_bytes(ETP_HASH_START, place, sizeof place);
    uint32_t first = etp_index_find(&b->blobs, hash, same_blob, &(blob_key){b, d});
    if (first != ETP_NO_INDEX) {
        *out = *b->by_number[first];
    } else {
        ETP_TRY(etp_partition_read(d, is_dynamic(m, index), b->arena, out, b->err));
        etp_index_insert(&b->blobs, b->arena, hash, number);
        first = number;
    }
    out->index = index;
    out->backend = d->id;
    out->blob = d->data;
    out->delegate = d;
    out->number = number;
    out->same_blob_as = first;
    if (number >= b->by_number_cap) {
        etp_arena_grow(b->arena, &b->by_number, &b->by_number_cap, (size_t)number + 1,
                       sizeof *b->by_number);
    }
    b->by_number[number] = out;
    b->doc->program.n_partitions++;
    return check_memory(b);
}

// ---- instructions ----

static etp_str operator_name(builder *b, const etp_pte_operator *op)
{
    if (op->name.len == 0 || op->overload.len == 0) {
        return op->name; // operators of hand-written kernels may lack an overload: then no dot
    }
    char *name = etp_arena_alloc_raw(b->arena, op->name.len + op->overload.len + 1, 1);
    memcpy(name, op->name.ptr, op->name.len);
    name[op->name.len] = '.';
    memcpy(name + op->name.len + 1, op->overload.ptr, op->overload.len);
    return (etp_str){name, op->name.len + op->overload.len + 1};
}

static bool is_tensor_list(const etp_evalue *v)
{
    return v->kind == ETP_EVALUE_TENSOR_LIST || v->kind == ETP_EVALUE_OPTIONAL_TENSOR_LIST;
}

typedef struct ids {
    uint32_t *items;
    size_t n, cap;
} ids;

// Tensors of argument VALUE (a tensor, or a list of them) to LIST.
static etp_status push_tensors(builder *b, const etp_pte_method *m, int32_t value, ids *list)
{
    const etp_evalue *v = &m->values[value];
    if (v->kind == ETP_EVALUE_TENSOR) {
        ETP_ADD(b->arena, list, (uint32_t)value);
    } else if (is_tensor_list(v)) {
        for (uint32_t i = 0; i < v->u.tensors.n; i++) {
            int32_t item = etp_i32_at(v->u.tensors, i);
            if (item >= 0 && m->values[item].kind == ETP_EVALUE_TENSOR) {
                ETP_ADD(b->arena, list, (uint32_t)item);
            }
        }
    }
    return check_memory(b);
}

static etp_status make_call(builder *b, const etp_pte_method *m, const etp_pte_instruction *pte,
                            const etp_str *names, const bool *written, const etp_method *method,
                            etp_partition *partitions, etp_instruction *out)
{
    if (pte->kind == ETP_INSTR_DELEGATE) {
        etp_partition *p = &partitions[pte->index];
        out->partition = pte->index;
        out->op = p->backend;
        out->weight_bytes = p->weight_bytes;
        // XNNPACK's payload says how many inputs come first. For other backends an argument that
        // something earlier has written (WRITTEN) or that is a constant is an input. In file order,
        // which is that of execution but for loops.
        ids in = {0}, outs = {0};
        for (uint32_t i = 0; i < pte->args.n; i++) {
            int32_t v = etp_i32_at(pte->args, i);
            bool is_input = p->graph ? i < p->graph->input_ids.n : written[v];
            ETP_TRY(push_tensors(b, m, v, is_input ? &in : &outs));
        }
        out->inputs = in.items;
        out->n_inputs = (uint32_t)in.n;
        out->outputs = outs.items;
        out->n_outputs = (uint32_t)outs.n;
        if (b->sizing) {
            b->sizing->partition(b->sizing, pte, out, p);
        }
        return ETP_OK;
    }
    out->op = names[pte->index];
    // Kernel args are the schema's arguments in order (out tensors last), then the returned value:
    // the same out tensor again, or a list of several.
    ids in = {0}, outs = {0};
    etp_i32s args = pte->args;
    if (args.n > 0) {
        int32_t last = etp_i32_at(args, args.n - 1);
        const etp_evalue *ret = &m->values[last];
        ETP_TRY(push_tensors(b, m, last, &outs));
        uint32_t n_returned = is_tensor_list(ret) ? ret->u.tensors.n : 1;
        uint32_t n_in = args.n - 1;
        // Out arguments repeat what is returned; an in-place kernel returns an input instead.
        for (uint32_t k = 0; k < n_returned && n_in > 0; k++) {
            int32_t want =
                is_tensor_list(ret) ? etp_i32_at(ret->u.tensors, n_returned - 1 - k) : last;
            if (etp_i32_at(args, n_in - 1) != want) {
                break;
            }
            n_in--;
        }
        for (uint32_t i = 0; i < n_in; i++) {
            ETP_TRY(push_tensors(b, m, etp_i32_at(args, i), &in));
        }
    }
    out->inputs = in.items;
    out->n_inputs = (uint32_t)in.n;
    out->outputs = outs.items;
    out->n_outputs = (uint32_t)outs.n;
    // Sizes of the call first: work is counted by them.
    if (b->sizing) {
        b->sizing->kernel(b->sizing, pte, out);
    }
    for (uint32_t i = 0; i < out->n_inputs; i++) {
        const etp_value *v = &method->values[out->inputs[i]];
        if (v->constant && v->bytes != ETP_BYTES_UNKNOWN) {
            out->weight_bytes += v->bytes;
        }
    }
    out->work = etp_work_of_kernel(out, pte, m->values, method->values, b->sizing);
    return ETP_OK;
}

// A total that does not fit is one more unknown, so that it can never look like a small one.
static void add_work(etp_method *method, const etp_instruction *in)
{
    uint64_t macs = 0;
    if (in->kind == ETP_INSTR_DELEGATE) {
        const etp_partition *p = &method->partitions[in->partition];
        macs = p->macs;
        method->n_unknown_work += p->graph ? p->n_unknown_work : 1;
        for (uint32_t i = 0; i < p->n_nodes; i++) {
            method->bound |= p->nodes[i].work.bound && p->nodes[i].work.macs > 0;
        }
    } else if (in->kind == ETP_INSTR_KERNEL && in->work.known) {
        macs = in->work.macs;
        method->bound |= in->work.bound && macs > 0;
    } else if (in->kind == ETP_INSTR_KERNEL) {
        method->n_unknown_work++;
    }
    if (macs > UINT64_MAX - method->macs) {
        method->n_unknown_work++;
        return;
    }
    method->macs += macs;
}

static etp_status make_chain(builder *b, const etp_pte_method *m, uint32_t chain,
                             const etp_str *names, bool *written, etp_method *method,
                             etp_partition *partitions, etp_instruction *out)
{
    const etp_pte_chain *c = &m->chains[chain];
    for (uint32_t i = 0; i < c->n_instructions; i++) {
        const etp_pte_instruction *pte = &c->instructions[i];
        etp_instruction *in = &out[i];
        in->kind = pte->kind;
        in->chain = chain;
        in->index = i;
        in->partition = ETP_NO_INDEX;
        in->frames = c->stacktraces ? &c->stacktraces[i] : NULL;
        in->target = pte->target;
        method->n_of_kind[pte->kind]++;
        if (pte->kind == ETP_INSTR_KERNEL || pte->kind == ETP_INSTR_DELEGATE) {
            ETP_TRY(make_call(b, m, pte, names, written, method, partitions, in));
            for (uint32_t k = 0; k < in->n_outputs; k++) {
                written[in->outputs[k]] = true;
            }
        } else if (pte->kind == ETP_INSTR_MOVE) {
            written[pte->target] = true;
        }
        add_work(method, in);
    }
    return ETP_OK;
}

static etp_status make_instructions(builder *b, const etp_pte_method *m, etp_method *method,
                                    etp_partition *partitions)
{
    size_t n = 0;
    for (uint32_t c = 0; c < m->n_chains; c++) {
        n += m->chains[c].n_instructions;
    }
    etp_instruction *instructions = ETP_NEW_ARRAY(b->arena, etp_instruction, n);
    etp_str *names = ETP_NEW_ARRAY(b->arena, etp_str, m->n_operators);
    bool *written = ETP_NEW_ARRAY(b->arena, bool, m->n_values);
    if (n >= ETP_NO_INDEX) {
        return etp_fail_nomem(b->err, "instructions");
    }
    for (uint32_t i = 0; i < m->n_operators; i++) {
        names[i] = operator_name(b, &m->operators[i]);
    }
    for (uint32_t i = 0; i < m->n_values; i++) {
        written[i] = method->values[i].constant;
    }
    for (uint32_t i = 0; i < m->inputs.n; i++) {
        written[etp_i32_at(m->inputs, i)] = true;
    }
    size_t at = 0;
    for (uint32_t c = 0; c < m->n_chains; c++) {
        ETP_TRY(make_chain(b, m, c, names, written, method, partitions, instructions + at));
        at += m->chains[c].n_instructions;
    }
    method->instructions = instructions;
    method->n_instructions = (uint32_t)n;
    return check_memory(b);
}

// ---- methods and the program ----

static etp_status build(builder *b, etp_bytes bytes)
{
    document *doc = ETP_NEW(b->arena, document);
    b->doc = doc;
    ETP_TRY(etp_pte_read(bytes, b->arena, &doc->pte, b->err));
    etp_method *methods = ETP_NEW_ARRAY(b->arena, etp_method, doc->pte.n_methods);
    doc->program.pte = &doc->pte;
    doc->program.methods = methods;
    doc->program.n_methods = doc->pte.n_methods;
    for (uint32_t i = 0; i < doc->pte.n_methods; i++) {
        etp_method *out = &methods[i];
        const etp_pte_method *m = &b->doc->pte.methods[i];
        out->index = i;
        out->name = m->name;
        out->pte = m;
        ETP_TRY(make_values(b, m, out));
        copy_ids(b, m->inputs, &out->inputs, &out->n_inputs);
        copy_ids(b, m->outputs, &out->outputs, &out->n_outputs);
        etp_partition *partitions = ETP_NEW_ARRAY(b->arena, etp_partition, m->n_delegates);
        out->partitions = partitions;
        out->n_partitions = m->n_delegates;
        for (uint32_t j = 0; j < m->n_delegates; j++) {
            ETP_TRY(make_partition(b, m, j, &partitions[j]));
        }
        ETP_TRY(make_instructions(b, m, out, partitions));
    }
    return ETP_OK;
}

static etp_status build_guarded(builder *b, etp_bytes bytes)
{
    ETP_GUARDED(b->arena, b->err, "the program", build(b, bytes));
}

etp_status etp_program_make(etp_bytes bytes, const etp_allocator *alloc, const etp_call *call,
                            etp_sizing_maker *follow, const etp_program **out, etp_error *err)
{
    *out = NULL;
    etp_arena arena;
    etp_arena_init(&arena, alloc);
    builder b = {.arena = &arena, .call = call, .follow = follow, .err = err};
    b.limit = (call ? 4 : 2) * (uint64_t)bytes.len + MEMORY_SLACK; // with a call, sizes twice
    etp_status status = build_guarded(&b, bytes);
    if (status != ETP_OK) {
        etp_arena_dispose(&arena);
        return status;
    }
    b.doc->arena = arena; // from here on the document owns the memory that it lives in
    *out = &b.doc->program;
    return ETP_OK;
}

etp_status etp_program_open(etp_bytes bytes, const etp_allocator *alloc, const etp_program **out,
                            etp_error *err)
{
    return etp_program_make(bytes, alloc, NULL, NULL, out, err);
}

void etp_program_close(const etp_program *program)
{
    if (!program) {
        return;
    }
    document doc;
    memcpy(&doc, program, sizeof doc); // the document itself goes with its arena
    etp_arena_dispose(&doc.arena);
}

const etp_method *etp_program_find_method(const etp_program *program, etp_str name)
{
    for (uint32_t i = 0; i < program->n_methods; i++) {
        if (etp_str_eq(program->methods[i].name, name)) {
            return &program->methods[i];
        }
    }
    return NULL;
}

uint32_t etp_method_find_instruction(const etp_method *method, uint32_t chain, uint32_t index)
{
    uint32_t at = 0;
    for (uint32_t c = 0; c < method->pte->n_chains; c++) {
        uint32_t n = method->pte->chains[c].n_instructions;
        if (c == chain) {
            return index < n ? at + index : ETP_NO_INDEX;
        }
        at += n;
    }
    return ETP_NO_INDEX;
}
