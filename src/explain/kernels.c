// SPDX-License-Identifier: Apache-2.0
// Counting sampled program counters by function, instruction set and operator.
#include "explain/kernels.h"

#include <stdlib.h>

#include "base/csv.h"
#include "base/index.h"
#include "base/number.h"

#define MAX_CODE_BYTES ((size_t)1 << 20)
#define MAX_COLUMNS 12

typedef struct pair {
    uint32_t op, kernel;
} pair;

typedef struct reading {
    etp_arena *arena;
    etp_kernels *out;
    struct {
        etp_kernel *items; // by module, then start
        size_t n, cap;
    } kernels;
    struct {
        etp_kernel_op *items;
        size_t n, cap;
    } ops;
    etp_index op_index;
    struct {
        pair *items;
        size_t n, cap;
    } pairs;
    bool only_xnnpack; // evidence comes from libraries called so
} reading;

// ---- tables ----

typedef struct table {
    etp_csv_reader reader;
    etp_csv_row row;
    int at[MAX_COLUMNS];
    size_t n;
} table;

static etp_status open_table(table *t, etp_str text, const char *const *names, size_t n,
                             const char *what, etp_arena *arena, etp_error *err)
{
    *t = (table){.n = n};
    bool more = false;
    if (text.len && text.ptr[text.len - 1] != '\n') {
        return etp_fail_at(err, ETP_CORRUPT, text.len,
                           "%s: the last line has no end (the file is cut off)", what);
    }
    etp_csv_open(&t->reader, text, arena);
    ETP_TRY(etp_csv_next(&t->reader, &t->row, &more, err));
    for (size_t i = 0; i < n; i++) {
        t->at[i] = more ? etp_csv_column(&t->row, names[i]) : -1;
        if (t->at[i] < 0) {
            return etp_fail_at(err, ETP_CORRUPT, 0, "%s: no column \"%s\"", what, names[i]);
        }
    }
    return ETP_OK;
}

static etp_str cell(const table *t, size_t i)
{
    size_t at = (size_t)t->at[i];
    return at < t->row.n ? t->row.cells[at] : (etp_str){0};
}

static etp_status read_code(reading *r, etp_str text, etp_error *err)
{
    static const char *const k_names[] = {"module", "machine", "build_id", "start",
                                          "end",    "bounds",  "symbol",   "code"};
    table t;
    bool more = false;
    uint8_t *bytes = etp_arena_alloc_raw(r->arena, MAX_CODE_BYTES, 1);
    ETP_TRY(open_table(&t, text, k_names, 8, "code", r->arena, err));
    for (;;) {
        ETP_TRY(etp_csv_next(&t.reader, &t.row, &more, err));
        if (!more) {
            return ETP_OK;
        }
        etp_kernel k = {.module = cell(&t, 0),
                        .build_id = cell(&t, 2),
                        .symbol = cell(&t, 6),
                        .op = ETP_NO_INDEX};
        etp_str code = cell(&t, 7);
        k.machine = etp_machine_find(cell(&t, 1));
        k.has_bounds = !etp_str_eqz(cell(&t, 5), etp_bounds_name(ETP_BOUNDS_NONE));
        if (!etp_parse_u64(cell(&t, 3), &k.start) || !etp_parse_u64(cell(&t, 4), &k.end) ||
            k.end <= k.start || code.len / 2 > MAX_CODE_BYTES || !etp_parse_hex(code, bytes)) {
            return etp_fail_at(err, ETP_CORRUPT, t.row.offset, "line %llu is not a line of code",
                               (unsigned long long)t.row.line);
        }
        etp_code_count count;
        ETP_TRY(etp_code_of(k.machine, (etp_bytes){bytes, code.len / 2, 0}, &count, &k.code, err));
        k.whole = count.whole && count.instructions > 0;
        k.n_ahead = code.len / 2;
        uint8_t *ahead = etp_arena_alloc_raw(r->arena, k.n_ahead + 1, 1);
        ETP_TRY(etp_code_ahead(k.machine, (etp_bytes){bytes, code.len / 2, 0}, ahead, err));
        k.ahead = ahead;
        ETP_ADD(r->arena, &r->kernels, k);
    }
}

static int by_place(const void *pa, const void *pb)
{
    const etp_kernel *a = pa, *b = pb;
    int c = etp_str_cmp(a->module, b->module);
    return etp_order_then(c, ETP_ORDER(a->start, b->start));
}

static uint32_t kernel_at(const reading *r, etp_str module, uint64_t address)
{
    size_t lo = 0, hi = r->kernels.n;
    while (lo < hi) { // first one behind the address
        size_t mid = lo + (hi - lo) / 2;
        int c = etp_str_cmp(r->kernels.items[mid].module, module);
        if (c < 0 || (c == 0 && r->kernels.items[mid].start <= address)) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    // Windows may overlap what follows them, so look back a little.
    for (size_t i = lo, tries = 0; i > 0 && tries < 8; i--, tries++) {
        const etp_kernel *k = &r->kernels.items[i - 1];
        if (!etp_str_eq(k->module, module)) {
            break;
        }
        if (address >= k->start && address < k->end) {
            return (uint32_t)(i - 1);
        }
    }
    return ETP_NO_INDEX;
}

// ---- operators ----

typedef struct op_key {
    const reading *r;
    etp_str name;
    int64_t chain, instruction;
} op_key;

static bool same_op(const void *ctx, uint32_t position)
{
    const op_key *key = ctx;
    const etp_kernel_op *op = &key->r->ops.items[position];
    return op->chain == key->chain && op->instruction == key->instruction &&
           etp_str_eq(op->name, key->name);
}

static etp_status op_of(reading *r, const table *t, uint32_t *out, etp_error *err)
{
    op_key key = {.r = r, .name = cell(t, 7)};
    if (!etp_parse_i64(cell(t, 5), &key.chain) || !etp_parse_i64(cell(t, 6), &key.instruction) ||
        key.chain != (int32_t)key.chain || key.instruction != (int32_t)key.instruction) {
        return etp_fail_at(err, ETP_CORRUPT, t->row.offset, "line %llu: operator without a place",
                           (unsigned long long)t->row.line);
    }
    uint64_t hash = etp_hash_bytes(ETP_HASH_START, key.name.ptr, key.name.len);
    hash = etp_hash_bytes(hash, &key.chain, sizeof key.chain);
    hash = etp_hash_bytes(hash, &key.instruction, sizeof key.instruction);
    *out = etp_index_find(&r->op_index, hash, same_op, &key);
    if (*out != ETP_NO_INDEX) {
        return ETP_OK;
    }
    *out = (uint32_t)r->ops.n;
    etp_kernel_op op = {.name = key.name,
                        .chain = (int32_t)key.chain,
                        .instruction = (int32_t)key.instruction,
                        .kernel = ETP_NO_INDEX};
    ETP_ADD(r->arena, &r->ops, op);
    etp_index_insert(&r->op_index, r->arena, hash, *out);
    return ETP_OK;
}

// ---- samples ----

static etp_status count_sample(reading *r, const table *t, etp_error *err)
{
    etp_kernels *o = r->out;
    uint64_t address = 0, place;
    etp_str module = cell(t, 0), streaming = cell(t, 3);
    if (module.len && !etp_parse_u64(cell(t, 1), &address)) {
        return etp_fail_at(err, ETP_CORRUPT, t->row.offset, "line %llu: no address",
                           (unsigned long long)t->row.line);
    }
    uint32_t k = module.len ? kernel_at(r, module, address) : ETP_NO_INDEX;
    etp_code code = k != ETP_NO_INDEX ? r->kernels.items[k].code : ETP_CODE_UNKNOWN;
    o->samples++;
    o->of[code]++;
    if (k != ETP_NO_INDEX) {
        r->kernels.items[k].samples++;
        if (r->kernels.items[k].evidence) {
            o->evidence++;
            o->evidence_of[code]++;
            place = address - r->kernels.items[k].start;
            o->ahead_of[place < r->kernels.items[k].n_ahead ? r->kernels.items[k].ahead[place]
                                                            : ETP_CODE_UNKNOWN]++;
        }
    }
    o->streaming_known += streaming.len > 0;
    o->streaming += etp_str_eqz(streaming, "1");
    o->in_iterations += cell(t, 4).len > 0;
    if (cell(t, 7).len > 0) {
        uint32_t op = 0;
        bool sure = etp_str_eqz(cell(t, 8), "1");
        ETP_TRY(op_of(r, t, &op, err));
        r->ops.items[op].samples++;
        r->ops.items[op].sure += sure;
        r->ops.items[op].of[code]++;
        r->ops.items[op].sure_of[code] += sure;
        o->joined++;
        o->sure += sure;
        pair p = {op, k};
        if (sure && k != ETP_NO_INDEX) {
            ETP_ADD(r->arena, &r->pairs, p);
        }
    }
    return ETP_OK;
}

static int by_pair(const void *pa, const void *pb)
{
    const pair *a = pa, *b = pb;
    return etp_order_then(ETP_ORDER(a->op, b->op), ETP_ORDER(a->kernel, b->kernel));
}

// The kernel seen most in each operator and the operator seen most with each kernel, by the sure
// samples; on a tie the first in the order of places and of appearance.
static void match(reading *r)
{
    uint64_t *best = ETP_NEW_ARRAY(r->arena, uint64_t, r->kernels.n + 1);
    if (r->pairs.n > 1) {
        qsort(r->pairs.items, r->pairs.n, sizeof *r->pairs.items, by_pair);
    }
    for (size_t i = 0; i < r->pairs.n;) {
        pair p = r->pairs.items[i];
        uint64_t n = 0;
        while (i < r->pairs.n && by_pair(&p, &r->pairs.items[i]) == 0) {
            n++, i++;
        }
        etp_kernel_op *op = &r->ops.items[p.op];
        if (n > op->kernel_samples) {
            op->kernel_samples = n;
            op->kernel = p.kernel;
        }
        if (n > best[p.kernel]) {
            best[p.kernel] = n;
            r->kernels.items[p.kernel].op = p.op;
        }
    }
}

// ---- order ----

static int ops_by_samples(const void *pa, const void *pb)
{
    const etp_kernel_op *const *a = pa, *const *b = pb;
    return etp_order_then(
        ETP_ORDER((*b)->samples, (*a)->samples),
        etp_order_then(ETP_ORDER((*a)->chain, (*b)->chain),
                       etp_order_then(ETP_ORDER((*a)->instruction, (*b)->instruction),
                                      etp_str_cmp((*a)->name, (*b)->name))));
}

static int kernels_by_samples(const void *pa, const void *pb)
{
    const etp_kernel *const *a = pa, *const *b = pb;
    return etp_order_then(ETP_ORDER((*b)->samples, (*a)->samples), by_place(*a, *b));
}

// Libraries of the system: their kernels do not follow the levels.
static bool is_system(etp_str module)
{
    static const char *const k_heads[] = {
        "libc.so", "libc-",     "libm.so",  "libm-",  "ld-linux",   "libpthread", "libdl",
        "librt",   "libstdc++", "libgcc_s", "libc++", "linux-vdso", "libm_"};
    for (size_t i = 0; i < sizeof k_heads / sizeof *k_heads; i++) {
        if (etp_str_starts(module, etp_str_from(k_heads[i]))) {
            return true;
        }
    }
    return false;
}

bool etp_kernel_in_xnnpack(etp_str module)
{
    return etp_str_find(module, ETP_STR("xnnpack")) < module.len ||
           etp_str_find(module, ETP_STR("XNNPACK")) < module.len;
}

bool etp_kernel_is_of_xnnpack(const etp_kernel *k)
{
    return etp_kernel_in_xnnpack(k->module);
}

static etp_status read_samples(reading *r, etp_str text, etp_error *err)
{
    static const char *const k_names[] = {"module",      "address",   "symbol",
                                          "streaming",   "iteration", "chain",
                                          "instruction", "operator",  "sure"};
    table t;
    bool more = false;
    ETP_TRY(open_table(&t, text, k_names, 9, "samples", r->arena, err));
    for (;;) {
        ETP_TRY(etp_csv_next(&t.reader, &t.row, &more, err));
        if (!more) {
            return ETP_OK;
        }
        ETP_TRY(count_sample(r, &t, err));
    }
}

etp_status etp_kernels_read(const etp_kernels_text *texts, size_t n, etp_arena *arena,
                            etp_kernels *out, etp_error *err)
{
    *out = (etp_kernels){0};
    reading r = {.arena = arena, .out = out};
    for (size_t i = 0; i < n; i++) {
        ETP_TRY(read_code(&r, texts[i].code, err));
    }
    // The same function may have been seen in several launches.
    size_t kept = 0;
    bool separate = false;
    if (r.kernels.n > 1) {
        qsort(r.kernels.items, r.kernels.n, sizeof *r.kernels.items, by_place);
    }
    for (size_t i = 0; i < r.kernels.n; i++) {
        if (kept == 0 || by_place(&r.kernels.items[kept - 1], &r.kernels.items[i]) != 0) {
            separate = separate || etp_kernel_is_of_xnnpack(&r.kernels.items[i]);
            r.kernels.items[kept++] = r.kernels.items[i];
        }
    }
    r.kernels.n = kept;
    // Where XNNPACK is a library of its own, it alone is what the levels steer for certain; in a
    // program that has everything inside, the program is.
    for (size_t i = 0; i < kept; i++) {
        etp_kernel *k = &r.kernels.items[i];
        k->system = is_system(k->module);
        k->evidence = separate ? etp_kernel_is_of_xnnpack(k) : !k->system;
        if (k->machine != ETP_MACHINE_UNKNOWN) {
            out->machine = k->machine;
        }
    }
    for (size_t i = 0; i < n; i++) {
        ETP_TRY(read_samples(&r, texts[i].samples, err));
    }
    match(&r);
    // Both lists are sorted into the answer; the references between them are carried along.
    size_t no = r.ops.n;
    etp_kernel **ks = ETP_NEW_ARRAY(arena, etp_kernel *, kept);
    etp_kernel_op **os = ETP_NEW_ARRAY(arena, etp_kernel_op *, no);
    uint32_t *new_k = ETP_NEW_ARRAY(arena, uint32_t, kept),
             *new_o = ETP_NEW_ARRAY(arena, uint32_t, no);
    out->kernels = ETP_NEW_ARRAY(arena, etp_kernel, kept);
    out->ops = ETP_NEW_ARRAY(arena, etp_kernel_op, no);
    for (size_t i = 0; i < kept; i++) {
        ks[i] = &r.kernels.items[i];
    }
    for (size_t i = 0; i < no; i++) {
        os[i] = &r.ops.items[i];
    }
    qsort(ks, kept, sizeof *ks, kernels_by_samples);
    qsort(os, no, sizeof *os, ops_by_samples);
    for (size_t i = 0; i < kept && ks[i]->samples > 0; i++) {
        new_k[ks[i] - r.kernels.items] = (uint32_t)i;
        out->kernels[out->n_kernels++] = *ks[i];
    }
    for (size_t i = 0; i < no; i++) {
        new_o[os[i] - r.ops.items] = (uint32_t)i;
        out->ops[out->n_ops++] = *os[i];
    }
    for (size_t i = 0; i < out->n_kernels; i++) {
        uint32_t *op = &out->kernels[i].op;
        if (*op != ETP_NO_INDEX) {
            *op = new_o[*op];
        }
    }
    for (size_t i = 0; i < out->n_ops; i++) {
        uint32_t *k = &out->ops[i].kernel;
        if (*k != ETP_NO_INDEX) {
            *k = new_k[*k];
        }
    }
    for (size_t i = 0; i < out->n_kernels; i++) {
        etp_kernel_name_make(out, &out->kernels[i], arena);
    }
    return ETP_OK;
}

const etp_kernel_op *etp_kernels_find_op(const etp_kernels *kernels, etp_str name, int32_t chain,
                                         int32_t instruction)
{
    for (size_t i = 0; i < kernels->n_ops; i++) {
        const etp_kernel_op *op = &kernels->ops[i];
        if (op->chain == chain && op->instruction == instruction && etp_str_eq(op->name, name)) {
            return op;
        }
    }
    return NULL;
}
