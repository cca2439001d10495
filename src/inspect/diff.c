// SPDX-License-Identifier: Apache-2.0
// `etprof inspect --diff`: two programs side by side, in structure and size.
#include "inspect/inspect.h"

#include <inttypes.h>

#include "base/guard.h"
#include "base/number.h"
#include "document/rows.h"

typedef struct rows {
    etp_diff_row *items;
    size_t n, cap;
    etp_arena *arena;
} rows;

static void add(rows *list, etp_diff_row row)
{
    ETP_ADD(list->arena, list, row);
}

static void add_named(rows *list, const char *kind, const char *name, uint64_t a, uint64_t b,
                      bool is_bytes)
{
    add(list, (etp_diff_row){kind, etp_str_from(name), a, b, is_bytes});
}

// ---- parts and weights ----

static const etp_inspect_part *find_part(const etp_inspect *in, const char *what)
{
    for (size_t i = 0; i < in->n_parts; i++) {
        if (strcmp(in->parts[i].what, what) == 0) {
            return &in->parts[i];
        }
    }
    return NULL;
}

static void compare_parts(rows *list, const etp_inspect *a, const etp_inspect *b)
{
    for (size_t i = 0; i < a->n_parts; i++) {
        const etp_inspect_part *other = find_part(b, a->parts[i].what);
        add_named(list, "part", a->parts[i].what, a->parts[i].bytes, other ? other->bytes : 0,
                  true);
    }
    for (size_t i = 0; i < b->n_parts; i++) {
        if (!find_part(a, b->parts[i].what)) {
            add_named(list, "part", b->parts[i].what, 0, b->parts[i].bytes, true);
        }
    }
}

static void compare_weights(rows *list, const etp_inspect *a, const etp_inspect *b)
{
    add_named(list, "weights", "all", a->weight_bytes, b->weight_bytes, true);
    for (int d = 0; d < ETP_DTYPE_COUNT; d++) {
        if (a->by_dtype[d] > 0 || b->by_dtype[d] > 0) {
            add_named(list, "weights", etp_dtype_name((etp_dtype)d), a->by_dtype[d], b->by_dtype[d],
                      true);
        }
    }
    if (a->scale_bytes > 0 || b->scale_bytes > 0) {
        add_named(list, "weights", "scales", a->scale_bytes, b->scale_bytes, true);
    }
}

// ---- operators ----

static const etp_inspect_operator *find_operator(const etp_inspect *in,
                                                 const etp_inspect_operator *like)
{
    for (size_t i = 0; i < in->n_operators; i++) {
        if (in->operators[i].delegated == like->delegated &&
            etp_str_eq(in->operators[i].name, like->name)) {
            return &in->operators[i];
        }
    }
    return NULL;
}

// First those of A in its order, then what only B has; so every operator gets one row, and the
// order does not depend on hashes.
static void compare_operators(rows *list, const etp_inspect *a, const etp_inspect *b)
{
    for (size_t i = 0; i < a->n_operators; i++) {
        const etp_inspect_operator *other = find_operator(b, &a->operators[i]);
        add(list, (etp_diff_row){a->operators[i].delegated ? "delegated operator" : "kernel",
                                 a->operators[i].name, a->operators[i].calls,
                                 other ? other->calls : 0, false});
    }
    for (size_t i = 0; i < b->n_operators; i++) {
        if (!find_operator(a, &b->operators[i])) {
            add(list, (etp_diff_row){b->operators[i].delegated ? "delegated operator" : "kernel",
                                     b->operators[i].name, 0, b->operators[i].calls, false});
        }
    }
}

// ---- methods ----

static uint64_t nodes_of(const etp_method *m)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < m->n_partitions; i++) {
        n += m->partitions[i].n_nodes;
    }
    return n;
}

static uint64_t planned_of(const etp_method *m)
{
    uint64_t sum = 0;
    // Entry 0 of the memory plan is reserved by the format.
    for (uint32_t i = 1; m->pte && i < m->pte->planned_bytes.n; i++) {
        uint64_t v = etp_u64_at(m->pte->planned_bytes, i);
        sum = v > UINT64_MAX - sum ? UINT64_MAX : sum + v;
    }
    return sum;
}

// A or B may be NULL: the method is missing there and everything counts as 0.
// Facts that stand for the shape of a method: what a change of the export moves between delegates
// and kernels shows here even when the file's size stays.
static void compare_method(rows *list, etp_str name, const etp_method *a, const etp_method *b)
{
    static const etp_method k_none = {0};
    a = ETP_OR(a, &k_none);
    b = ETP_OR(b, &k_none);
    const struct {
        const char *what;
        uint64_t a, b;
        bool is_bytes;
    } facts[] = {
        {"kernel calls",       a->n_of_kind[ETP_INSTR_KERNEL],   b->n_of_kind[ETP_INSTR_KERNEL],   false},
        {"delegate calls",     a->n_of_kind[ETP_INSTR_DELEGATE], b->n_of_kind[ETP_INSTR_DELEGATE],
         false                                                                                          },
        {"nodes in delegates", nodes_of(a),                      nodes_of(b),                      false},
        {"MACs",               a->macs,                          b->macs,                          false},
        {"planned memory",     planned_of(a),                    planned_of(b),                    true },
    };
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        add_named(list, "method",
                  etp_arena_printf(list->arena, "%.*s: %s", ETP_STR_ARG(name), facts[i].what),
                  facts[i].a, facts[i].b, facts[i].is_bytes);
    }
}

static void compare_methods(rows *list, const etp_program *a, const etp_program *b)
{
    for (uint32_t i = 0; i < a->n_methods; i++) {
        compare_method(list, a->methods[i].name, &a->methods[i],
                       etp_program_find_method(b, a->methods[i].name));
    }
    for (uint32_t i = 0; i < b->n_methods; i++) {
        if (!etp_program_find_method(a, b->methods[i].name)) {
            compare_method(list, b->methods[i].name, NULL, &b->methods[i]);
        }
    }
}

static etp_status compare(const etp_inspect *a, const etp_inspect *b, etp_arena *arena,
                          etp_inspect_diff *out, etp_error *err)
{
    rows list = {.arena = arena};
    *out = (etp_inspect_diff){.a_path = a->path, .b_path = b->path};
    if (!a->program || !b->program) {
        return etp_fail(err, ETP_USAGE, "--diff compares programs (.pte, .bpte); %s is not one",
                        a->program ? b->path : a->path);
    }
    add_named(&list, "file", "size", a->size, b->size, true);
    compare_parts(&list, a, b);
    compare_weights(&list, a, b);
    compare_operators(&list, a, b);
    compare_methods(&list, a->program, b->program);
    for (size_t i = 0; i < list.n; i++) {
        out->n_different += list.items[i].a != list.items[i].b;
    }
    out->rows = list.items;
    out->n_rows = list.n;
    return ETP_OK;
}

etp_status etp_inspect_compare(const etp_inspect *a, const etp_inspect *b, etp_arena *arena,
                               etp_inspect_diff *out, etp_error *err)
{
    ETP_GUARDED(arena, err, "the difference", compare(a, b, arena, out, err));
}

// ---- showing it ----

FIND(unit_of, etp_diff_row, etp_inspect_diff, MAKE(number, it->is_bytes))
// The struct's bool as a word, for readers of the document who have no headings.
static const char *unit_name(unsigned is_bytes)
{
    return is_bytes ? "bytes" : "count";
}
WORDS(k_units, unit_name, unsigned, 2)

#define OF etp_diff_row
static const etp_field k_row_rows[] = {
    FIELD("kind", TEXT, kind, "file, part, weights, kernel, delegated operator, method",
          .flags = ETP_SET),
    FIELD("name", STR, name, "what is counted"),
    COMPUTED("unit", WORD, unit_of, "", .words = &k_units, .flags = ETP_SET),
    FIELD("a", UINT, a, "0: it is not there"),
    FIELD("b", UINT, b, "likewise"),
};
static SHAPE_ON_ONE_LINE(k_row, k_row_rows);
#undef OF

#define OF etp_inspect_diff
static const etp_field k_document_rows[] = {
    FIELD("a", TEXT, a_path, "the first file", .flags = ETP_SET),
    FIELD("b", TEXT, b_path, "the second", .flags = ETP_SET),
    FIELD("different", UINT, n_different, "rows"),
    LIST("rows", OBJECT, rows, n_rows, "", .shape = &k_row),
};
static SHAPE(k_document, k_document_rows);
#undef OF

const etp_document k_etp_inspect_diff_document = {"etprof.inspect_diff/1",
                                                  "what inspect of two files prints", &k_document};

static etp_cell change(const etp_diff_row *row)
{
    uint64_t size = row->b > row->a ? row->b - row->a : row->a - row->b;
    // Sizes are unsigned 64-bit claims of the files; a cell is signed.
    if (size > INT64_MAX) {
        return etp_cell_missing();
    }
    return etp_cell_i64(row->b > row->a ? (int64_t)size : -(int64_t)size);
}

// The rows that differ, sizes and counts apart: a column has one unit.
static void table(const etp_inspect_diff *d, etp_report *r, const char *id, const char *caption,
                  bool is_bytes)
{
    const etp_kind kind = is_bytes ? ETP_KIND_BYTES : ETP_KIND_INT;
    const etp_column columns[] = {
        {.key = "kind", .title = "of"},
        {.key = "name", .title = "what", .flags = ETP_COL_CODE},
        {.key = "a", .title = "first", .kind = kind},
        {.key = "b", .title = "second", .kind = kind},
        {.key = "change", .title = "change", .kind = kind, .flags = ETP_COL_SIGNED},
    };
    size_t n = 0;
    for (size_t i = 0; i < d->n_rows; i++) {
        n += d->rows[i].is_bytes == is_bytes && d->rows[i].a != d->rows[i].b;
    }
    if (n == 0) {
        return;
    }
    etp_table *t = etp_report_table(r, id, caption, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < d->n_rows; i++) {
        const etp_diff_row *row = &d->rows[i];
        if (row->is_bytes == is_bytes && row->a != row->b) {
            ETP_ROW(t, etp_cell_z(row->kind), etp_cell_str(row->name), etp_cell_u64(row->a),
                    etp_cell_u64(row->b), change(row));
        }
    }
}

const etp_report *etp_inspect_diff_report(const etp_inspect_diff *d, etp_arena *arena)
{
    etp_report *r = etp_report_create(arena, "Difference of two programs");
    etp_keys *keys = etp_report_keys(r, NULL);
    etp_keys_add(keys, ETP_PLAIN, "first", "%s", d->a_path);
    etp_keys_add(keys, ETP_PLAIN, "second", "%s", d->b_path);
    if (d->n_different == 0) {
        etp_report_note(r, ETP_GOOD,
                        "no difference in size, parts, weights, operators and methods");
        return r;
    }
    table(d, r, "sizes", "Sizes", true);
    table(d, r, "counts", "Structure", false);
    return r;
}
