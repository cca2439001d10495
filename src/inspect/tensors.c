// SPDX-License-Identifier: Apache-2.0
// Logged values of a recording: reading, figures, document, report.
#include "inspect/tensors.h"

#include <math.h>

#include "base/guard.h"
#include "base/path.h"
#include "document/rows.h"
#include "formats/element.h"
#include "inspect/inspect.h"

typedef struct values {
    etp_logged_value *items;
    size_t n, cap;
} values;

// One reader for a whole file: the budget is of all its tensors together.
typedef struct reader {
    etp_bytes buffer;
    etp_arena *arena;
    values list;
    uint64_t left; // elements that may still be looked at: overlapping tensors cost time otherwise
    etp_error *err;
} reader;

// One NAN or infinity would hide every other figure, so those are counted apart and the rest
// describes the finite elements.
static void take_figures(etp_logged_value *v, etp_bytes data)
{
    size_t width = etp_dtype_bits(v->dtype) / 8;
    uint64_t finite = 0;
    v->elements = data.len / width;
    v->min = (double)INFINITY;
    v->max = -(double)INFINITY;
    for (uint64_t i = 0; i < v->elements; i++) {
        double x = etp_dtype_element(v->dtype, data.ptr, i);
        if (v->n_head < ETP_LOGGED_HEAD) {
            v->head[v->n_head++] = x;
        }
        if (!isfinite(x)) {
            v->n_nan += isnan(x) != 0;
            v->n_inf += isnan(x) == 0;
            continue;
        }
        v->sum += x;
        v->min = ETP_MIN(x, v->min);
        v->max = ETP_MAX(x, v->max);
        finite++;
    }
    v->mean = v->sum / (double)finite; // NAN without a finite element, shown as missing
    v->min = etp_value_if(finite, v->min);
    v->max = etp_value_if(finite, v->max);
    v->has_data = true;
}

// ---- reading ----

static etp_status add_tensor(reader *r, etp_logged_value v, const etp_etdump_tensor *t)
{
    int64_t *sizes = ETP_NEW_ARRAY(r->arena, int64_t, t->n_dims);
    for (size_t i = 0; i < t->n_dims; i++) {
        sizes[i] = etp_etdump_tensor_size(t, i);
    }
    v.type = ETP_ETDUMP_TENSOR;
    v.dtype = etp_dtype_from_scalar_type(t->scalar_type);
    v.sizes = sizes;
    v.rank = t->n_dims;
    v.offset = t->buffer_offset;
    // The runtime gives the offset −1 to a tensor without elements: there is nothing to read.
    if (r->buffer.ptr && v.offset >= 0 && etp_dtype_has_elements(v.dtype)) {
        etp_bytes data;
        ETP_TRY(etp_etdump_tensor_data(t, r->buffer, &data, r->err));
        if (data.len > r->left) {
            return etp_fail(r->err, ETP_CORRUPT,
                            "the tensors overlap: together they are many times the debug buffer");
        }
        r->left -= data.len;
        take_figures(&v, data);
    }
    ETP_ADD(r->arena, &r->list, v);
    return ETP_OK;
}

// A list of tensors becomes one value for each, told apart by their positions.
static etp_status add_value(reader *r, size_t run, const etp_etdump_debug *d)
{
    etp_logged_value v = {.run = run,
                          .instruction = d->instruction_id,
                          .delegate = d->delegate_id_str,
                          .is_output = d->value.is_output,
                          .type = d->value.type};
    // ExecuTorch logs the outputs of a program with chain 2^64 − 1; the mask keeps a hostile number
    // from turning negative.
    v.chain = d->chain_index == UINT64_MAX ? -1 : (int64_t)(d->chain_index & INT64_MAX);
    switch (d->value.type) {
    case ETP_ETDUMP_TENSOR:
        return add_tensor(r, v, &d->value.tensor);
    case ETP_ETDUMP_TENSOR_LIST:
        for (size_t i = 0; i < d->value.n_tensors; i++) {
            etp_etdump_tensor t = etp_etdump_value_tensor(&d->value, i);
            v.position = (uint32_t)i;
            ETP_TRY(add_tensor(r, v, &t));
        }
        return ETP_OK;
    case ETP_ETDUMP_INT:
        v.scalar = (double)d->value.i;
        break;
    case ETP_ETDUMP_BOOL:
        v.scalar = d->value.b;
        break;
    case ETP_ETDUMP_FLOAT:
    case ETP_ETDUMP_DOUBLE:
        v.scalar = d->value.d;
        break;
    case ETP_ETDUMP_NULL:
    case ETP_ETDUMP_STRING:
        break;
    }
    ETP_ADD(r->arena, &r->list, v);
    return ETP_OK;
}

static etp_status read_all(const char *path, etp_bytes dump, etp_bytes buffer, etp_arena *arena,
                           etp_inspect_tensors *out, etp_error *err)
{
    etp_etdump file;
    reader r = {.buffer = buffer, .arena = arena, .err = err};
    // Every event may point to the whole buffer, so a small file could ask for events × buffer
    // elements. In a sound recording tensors do not overlap; 16 times the buffer is more than any
    // such needs, and still bounded by what was given.
    r.left = 16 * (uint64_t)buffer.len + (1u << 20);
    *out = (etp_inspect_tensors){.path = path, .has_buffer = buffer.ptr != NULL};
    ETP_TRY(etp_etdump_open(dump, &file, err));
    for (size_t i = 0; i < file.n_runs; i++) {
        etp_etdump_run run = etp_etdump_run_at(&file, i);
        for (size_t e = 0; e < run.n_events; e++) {
            etp_etdump_debug debug;
            if (etp_etdump_debug_of(&file, etp_etdump_event_at(&run, e), &debug) &&
                debug.has_value) {
                ETP_TRY(add_value(&r, i, &debug));
            }
        }
    }
    out->values = r.list.items;
    out->n_values = r.list.n;
    return ETP_OK;
}

etp_status etp_inspect_tensors_read(const char *path, etp_bytes dump, etp_bytes buffer,
                                    etp_arena *arena, etp_inspect_tensors *out, etp_error *err)
{
    ETP_GUARDED(arena, err, "logged values", read_all(path, dump, buffer, arena, out, err));
}

// ---- document ----

// In the order of etp_etdump_value_type.
static const char *type_name(etp_etdump_value_type type)
{
    static const char *const k_names[] = {"null",   "int",    "bool",        "float",
                                          "double", "tensor", "tensor_list", "string"};
    return k_names[type];
}

WORDS(k_value_type, type_name, etp_etdump_value_type, ETP_ETDUMP_STRING + 1)
WORDS(k_dtype, etp_dtype_name, etp_dtype, 0)
KNOWN(is_tensor, etp_logged_value, it->type == ETP_ETDUMP_TENSOR)
KNOWN(has_figures, etp_logged_value, it->has_data)
KNOWN(is_number, etp_logged_value,
      it->type != ETP_ETDUMP_TENSOR && it->type != ETP_ETDUMP_NULL && it->type != ETP_ETDUMP_STRING)
KNOWN(is_named, etp_str, it->len > 0)

#define OF etp_logged_value
static const etp_field k_figure_rows[] = {
    FIELD("elements", UINT, elements, "all of them"),
    FIELD("min", NUMBER, min, "of the finite ones, as are the next three", .range = ETP_SIGNED),
    FIELD("max", NUMBER, max, "", .range = ETP_SIGNED),
    FIELD("mean", NUMBER, mean, "", .range = ETP_SIGNED),
    FIELD("sum", NUMBER, sum, "", .range = ETP_SIGNED),
    FIELD("nan", UINT, n_nan, "elements that are not numbers"),
    FIELD("inf", UINT, n_inf, "infinite elements"),
    ARRAY("head", NUMBER, head, n_head, "the first ones", .flags = ETP_ONE_LINE,
          .range = ETP_SIGNED),
};
static SHAPE(k_figures, k_figure_rows);
static const etp_field k_tensor_rows[] = {
    FIELD("position", UINT, position, "of a tensor: in its list"),
    FIELD("dtype", WORD, dtype, "of its elements", .words = &k_dtype),
    LIST("shape", INT, sizes, rank, "of it", .flags = ETP_ONE_LINE, .range = ETP_SIGNED),
    FIELD("offset", INT, offset, "in the debug buffer; −1: nothing was logged",
          .range = ETP_SIGNED),
    GROUP(NULL, &k_figures, "", .when = has_figures, .flags = ETP_ABSENT),
};
static SHAPE(k_tensor, k_tensor_rows);
static const etp_field k_number_rows[] = {
    FIELD("value", NUMBER, scalar, "of a number", .range = ETP_SIGNED),
};
static SHAPE(k_number, k_number_rows);
static const etp_field k_value_rows[] = {
    FIELD("run", UINT, run, "of the recording"),
    FIELD("chain", INT, chain, "−1: an output of the program", .range = ETP_SIGNED),
    FIELD("instruction", INT, instruction, "that wrote it", .range = ETP_SIGNED),
    FIELD("delegate_operator", STR, delegate, "inside a delegate", .when = is_named,
          .flags = ETP_ABSENT | ETP_SET),
    FIELD("output", BOOL, is_output, "of the method"),
    FIELD("type", WORD, type, "", .words = &k_value_type, .flags = ETP_SET),
    GROUP(NULL, &k_tensor, "", .when = is_tensor, .flags = ETP_ABSENT),
    GROUP(NULL, &k_number, "", .when = is_number, .flags = ETP_ABSENT),
};
static SHAPE_ON_ONE_LINE(k_value, k_value_rows);
#undef OF

#define OF etp_inspect_tensors
static const etp_field k_document_rows[] = {
    FIELD("file", TEXT, path, "the recording", .flags = ETP_SET),
    FIELD("has_buffer", BOOL, has_buffer, "the debug buffer was given"),
    LIST("values", OBJECT, values, n_values, "in the order of the file", .shape = &k_value),
};
static SHAPE(k_document, k_document_rows);
#undef OF

const etp_document k_etp_inspect_tensors_document = {
    "etprof.inspect_tensors/1", "what inspect prints of tensors that a trace logged", &k_document};

// ---- report ----

static const char *shape_text(const etp_logged_value *v, char buf[static ETP_SHAPE_CHARS])
{
    const etp_value tensor = {.dims = v->sizes, .rank = (uint32_t)v->rank, .dtype = v->dtype};
    return v->type == ETP_ETDUMP_TENSOR ? etp_shape_text(&tensor, buf) : type_name(v->type);
}

static etp_cell figure(const etp_logged_value *v, double x)
{
    return etp_cell_if(v->has_data, etp_cell_double(x));
}

// Numbers have no distribution: their value stands where tensors have their mean.
static etp_cell middle(const etp_logged_value *v)
{
    return is_number(v, NULL) ? etp_cell_double(v->scalar) : figure(v, v->mean);
}

const etp_report *etp_inspect_tensors_report(const etp_inspect_tensors *t, etp_arena *arena)
{
    static const etp_column k_columns[] = {
        {.key = "run", .title = "run", .kind = ETP_KIND_INT},
        {.key = "instruction", .title = "instr", .kind = ETP_KIND_INT},
        {.key = "shape", .title = "value"},
        {.key = "min", .title = "min", .kind = ETP_KIND_DOUBLE, .decimals = 5},
        {.key = "mean", .title = "mean or value", .kind = ETP_KIND_DOUBLE, .decimals = 5},
        {.key = "max", .title = "max", .kind = ETP_KIND_DOUBLE, .decimals = 5},
        {.key = "odd", .title = "nan/inf", .kind = ETP_KIND_INT},
        {.key = "output", .title = "output"},
        {.key = "offset", .title = "offset", .kind = ETP_KIND_INT, .flags = ETP_COL_MINOR},
        {.key = "delegate", .title = "delegate operator", .flags = ETP_COL_CODE | ETP_COL_MINOR},
    };
    etp_report *r = etp_report_create(arena, etp_path_name(t->path));
    etp_report_subtitle(r, "%zu logged values", t->n_values);
    if (t->n_values == 0) {
        etp_report_note(r, ETP_INFO,
                        "the recording was made without intermediate or output values");
        return r;
    }
    if (!t->has_buffer) {
        etp_report_note(r, ETP_INFO,
                        "contents are in the debug buffer: give it with --debug-buffer");
    }
    etp_table *table = etp_report_table(r, "tensors", NULL, k_columns, 10);
    etp_table_limit(table, 60);
    for (size_t i = 0; i < t->n_values; i++) {
        const etp_logged_value *v = &t->values[i];
        char shape[ETP_SHAPE_CHARS];
        uint64_t odd = v->n_nan + v->n_inf;
        const etp_severity severity = odd ? ETP_WARN : ETP_PLAIN;
        ETP_ROW(
            table, etp_cell_u64(v->run), etp_cell_i64(v->instruction),
            etp_cell_z(shape_text(v, shape)), figure(v, v->min), middle(v), figure(v, v->max),
            etp_cell_if(v->has_data, etp_cell_judged(etp_cell_u64(odd), severity)),
            etp_cell_if(v->is_output, etp_cell_z("yes")),
            etp_cell_if(v->offset >= 0 && v->type == ETP_ETDUMP_TENSOR, etp_cell_i64(v->offset)),
            etp_cell_if(v->delegate.len, etp_cell_str(v->delegate)));
    }
    return r;
}
