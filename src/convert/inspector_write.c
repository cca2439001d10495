// SPDX-License-Identifier: Apache-2.0
// Inspector's table as pandas writes it to TSV, as rows of JSON, and as columns.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/csv.h"
#include "base/json.h"
#include "base/number.h"
#include "convert/inspector.h"
#include "formats/element.h"
#include "trace/ops.h"

#define MAX_DATA 64 // tensor elements shown

// ---- text as Python writes it ----

// Python's repr of a finite double: shortest digits, exponent below 1e-4 and from 1e16 on.
static void put_float(etp_sink *sink, double v)
{
    char text[ETP_NUMBER_CHARS];
    // Fifteen digits always survive, seventeen tell every double from its neighbours; the first
    // that reads back as the same is the shortest.
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*e", digits - 1, v);
        if (strtod(text, NULL) == v) {
            break;
        }
    }
    // d.ddd…e±xx: collect the digits without trailing zeros.
    char digits[ETP_NUMBER_CHARS];
    int n = 0;
    const char *p = text;
    if (*p == '-') {
        etp_sink_char(sink, *p++);
    }
    for (; *p != 'e'; p++) {
        if (*p != '.') {
            digits[n++] = *p;
        }
    }
    while (n > 1 && digits[n - 1] == '0') {
        n--;
    }
    int exponent = (int)strtol(p + 1, NULL, 10);
    if (exponent < -4 || exponent >= 16) {
        etp_sink_char(sink, digits[0]);
        if (n > 1) {
            etp_sink_char(sink, '.');
            etp_sink_write(sink, (etp_str){digits + 1, (size_t)n - 1});
        }
        etp_sink_printf(sink, "e%c%02d", exponent < 0 ? '-' : '+', abs(exponent));
        return;
    }
    if (exponent < 0) {
        etp_sink_z(sink, "0.");
        etp_sink_repeat(sink, '0', (size_t)(-exponent - 1));
        etp_sink_write(sink, (etp_str){digits, (size_t)n});
        return;
    }
    for (int i = 0; i <= exponent || i < n; i++) {
        if (i == exponent + 1) {
            etp_sink_char(sink, '.');
        }
        etp_sink_char(sink, i < n ? digits[i] : '0');
    }
    if (n <= exponent + 1) {
        etp_sink_z(sink, ".0");
    }
}

// Python's repr of a string without characters that need escapes beyond quotes.
// Python prefers single quotes, unless the text has some and no double ones.
static void put_repr(etp_sink *sink, etp_str s)
{
    bool single = etp_str_find(s, ETP_STR("'")) == s.len;
    char quote = single || etp_str_find(s, ETP_STR("\"")) != s.len ? '\'' : '"';
    etp_sink_char(sink, quote);
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] == quote || s.ptr[i] == '\\') {
            etp_sink_char(sink, '\\');
        }
        etp_sink_char(sink, s.ptr[i]);
    }
    etp_sink_char(sink, quote);
}

static void put_op_types(etp_sink *sink, const etp_inspector_row *row)
{
    if (row->op_types_text.ptr) {
        etp_sink_write(sink, row->op_types_text);
        return;
    }
    etp_sink_char(sink, '[');
    for (size_t i = 0; i < row->n_op_types; i++) {
        etp_sink_z(sink, i ? ", " : "");
        put_repr(sink, row->op_types[i]);
    }
    etp_sink_char(sink, ']');
}

// ---- TSV ----

// A name as the official table has it, unless it could begin a line that a CI runner obeys, or
// hides something: then as it is shown everywhere.
static void put_name(etp_sink *sink, etp_str name)
{
    if (etp_is_harmless(name)) {
        etp_csv_cell(sink, name, '\t');
        return;
    }
    etp_arena arena;
    etp_strbuf shown;
    etp_arena_init(&arena, NULL);
    etp_strbuf_init(&shown, &arena);
    etp_sink to = etp_sink_strbuf(&shown);
    etp_sink_shown(&to, name, true);
    etp_csv_cell(sink, etp_strbuf_str(&shown), '\t');
    etp_arena_dispose(&arena);
}

static void put_tsv_row(const etp_inspector_row *row, size_t index, etp_sink *sink)
{
    const double numbers[] = {row->p10, row->p50, row->p90, row->avg, row->min, row->max};
    etp_sink_printf(sink, "%zu\t", index);
    put_name(sink, row->block_name);
    etp_sink_char(sink, '\t');
    put_name(sink, row->event_name);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        etp_sink_char(sink, '\t');
        if (row->n > 0) {
            put_float(sink, numbers[i]);
        }
    }
    etp_sink_char(sink, '\t');
    put_op_types(sink, row);
    etp_sink_z(sink, row->delegated ? "\tTrue\t" : "\tFalse\t");
    put_name(sink, row->backend_name);
    etp_sink_char(sink, '\t');
    for (size_t i = 0; i < row->n; i++) {
        etp_sink_printf(sink, "%s%" PRIu64, i ? ", " : "[", row->start[i]);
    }
    etp_sink_z(sink, row->n ? "]\n" : "\n");
}

void etp_inspector_tsv(const etp_inspector_table *table, etp_sink *sink)
{
    etp_sink_z(sink, "\tevent_block_name\tevent_name\tp10 (ms)\tp50 (ms)\tp90 (ms)\tavg (ms)"
                     "\tmin (ms)\tmax (ms)\top_types\tis_delegated_op\tdelegate_backend_name"
                     "\tstart_time\n");
    size_t index = 0; // what is left is numbered
    for (size_t i = 0; i < table->n_rows; i++) {
        if (!etp_ops_left_out(table->rows[i].event_name)) {
            put_tsv_row(&table->rows[i], index++, sink);
        }
    }
}

// ---- JSON ----

// PyTorch has no type of 16 plain bits, for which Inspector takes uint16.
static etp_dtype torch_dtype(int scalar_type) // UNKNOWN: a type Inspector cannot show
{
    etp_dtype dtype = etp_dtype_from_scalar_type(scalar_type);
    switch (dtype) {
    case ETP_DTYPE_BITS16:
        return ETP_DTYPE_UINT16;
    case ETP_DTYPE_BFLOAT16:
    case ETP_DTYPE_UINT32:
    case ETP_DTYPE_UINT64:
        return ETP_DTYPE_UNKNOWN;
    default:
        return etp_dtype_has_elements(dtype) ? dtype : ETP_DTYPE_UNKNOWN;
    }
}

static void put_number(etp_json *j, double v) // JSON has no inf and nan
{
    if (isfinite(v)) {
        etp_json_double(j, v);
    } else {
        const char *infinity = v < 0 ? "-inf" : "inf";
        etp_json_z(j, isnan(v) ? "nan" : infinity);
    }
}

// Compensated, so that the sum does not depend on the order of addition.
// What each addition rounds off is kept beside the sum and added at the end (Neumaier).
static double sum_of(const uint8_t *p, etp_dtype dtype, size_t n)
{
    double sum = 0, lost = 0;
    for (size_t i = 0; i < n; i++) {
        double v = etp_dtype_element(dtype, p, i);
        double next = sum + v;
        double part = fabs(sum) >= fabs(v) ? (sum - next) + v : (v - next) + sum;
        lost += isfinite(part) ? part : 0;
        sum = next;
    }
    return sum + lost;
}

// Elements of T; false when they are more than memory could hold.
static bool count_elements(const etp_etdump_tensor *t, uint64_t *out)
{
    uint64_t n = 1;
    bool fits = true;
    for (size_t i = 0; i < t->n_dims; i++) {
        int64_t size = etp_etdump_tensor_size(t, i);
        if (size == 0) {
            *out = 0;
            return true;
        }
        fits = fits && size > 0 && (uint64_t)size <= UINT32_MAX && n <= UINT32_MAX;
        n *= fits ? (uint64_t)size : 1;
    }
    *out = n;
    return fits;
}

// How logged tensors are shown.
typedef struct tensors {
    const etp_bytes *buffer; // NULL: there is none
    bool whole; // for columns: where in the buffer their elements are, not which; all op types
} tensors;

static void put_elements(etp_json *j, etp_dtype dtype, const uint8_t *data, size_t n)
{
    etp_json_key(j, "sum");
    put_number(j, data ? sum_of(data, dtype, n) : 0);
    etp_json_key(j, n > MAX_DATA ? "head" : "data");
    etp_json_begin_array(j);
    for (size_t i = 0; i < n && i < MAX_DATA; i++) {
        put_number(j, data ? etp_dtype_element(dtype, data, i) : 0);
    }
    etp_json_end(j);
}

static etp_status put_tensor(etp_json *j, const etp_etdump_tensor *t, const tensors *how,
                             etp_error *err)
{
    const etp_dtype dtype = torch_dtype(t->scalar_type);
    uint64_t n = 0;
    if (dtype == ETP_DTYPE_UNKNOWN) {
        return etp_fail(err, ETP_UNSUPPORTED, "Inspector has no tensors of scalar type %d",
                        t->scalar_type);
    }
    if (!count_elements(t, &n)) {
        return etp_fail(err, ETP_CORRUPT, "tensor with an impossible shape");
    }
    etp_bytes data = {NULL, 0, 0};
    if (how->buffer) {
        ETP_TRY(etp_etdump_tensor_data(t, *how->buffer, &data, err));
    }
    etp_json_begin_object(j);
    etp_json_key(j, "tensor");
    etp_json_begin_object(j);
    char name[32];
    snprintf(name, sizeof name, "torch.%s", etp_dtype_name(dtype));
    etp_json_kv_z(j, "dtype", name);
    etp_json_key(j, "shape");
    etp_json_begin_array(j);
    for (size_t i = 0; i < t->n_dims; i++) {
        etp_json_i64(j, etp_etdump_tensor_size(t, i));
    }
    etp_json_end(j);
    if (how->whole) {
        etp_json_kv_u64_if(j, "at", data.ptr ? (uint64_t)(data.ptr - how->buffer->ptr) : 0,
                           data.ptr);
    } else {
        put_elements(j, dtype, data.ptr, (size_t)n);
    }
    etp_json_end(j);
    etp_json_end(j);
    return ETP_OK;
}

static etp_status put_value(etp_json *j, const etp_etdump_value *v, const tensors *how,
                            etp_error *err)
{
    switch (v->type) {
    case ETP_ETDUMP_INT:
        etp_json_i64(j, v->i);
        return ETP_OK;
    case ETP_ETDUMP_BOOL:
        etp_json_bool(j, v->b);
        return ETP_OK;
    case ETP_ETDUMP_FLOAT:
    case ETP_ETDUMP_DOUBLE:
        put_number(j, v->d);
        return ETP_OK;
    case ETP_ETDUMP_TENSOR:
        return put_tensor(j, &v->tensor, how, err);
    case ETP_ETDUMP_TENSOR_LIST:
        etp_json_begin_array(j);
        for (size_t i = 0; i < v->n_tensors; i++) {
            etp_etdump_tensor t = etp_etdump_value_tensor(v, i);
            ETP_TRY(put_tensor(j, &t, how, err));
        }
        etp_json_end(j);
        return ETP_OK;
    default:
        etp_json_null(j);
        return ETP_OK;
    }
}

// A module stack is recorded as "key,path,type" joined by ';'.
static void put_module_stack(etp_json *j, etp_str stack)
{
    if (!stack.ptr) {
        etp_json_null(j);
        return;
    }
    etp_json_begin_object(j);
    while (stack.len > 0) {
        size_t end = etp_str_find(stack, ETP_STR(";"));
        etp_str entry = {stack.ptr, end};
        stack = end < stack.len ? (etp_str){stack.ptr + end + 1, stack.len - end - 1}
                                : (etp_str){NULL, 0};
        size_t key = etp_str_find(entry, ETP_STR(","));
        etp_str rest = key < entry.len ? (etp_str){entry.ptr + key + 1, entry.len - key - 1}
                                       : (etp_str){"", 0};
        size_t path = etp_str_find(rest, ETP_STR(","));
        etp_json_key_str(j, (etp_str){entry.ptr, key});
        etp_json_begin_array(j);
        etp_json_str(j, (etp_str){rest.ptr, path});
        if (path < rest.len) {
            etp_json_str(j, (etp_str){rest.ptr + path + 1, rest.len - path - 1});
        }
        etp_json_end(j);
    }
    etp_json_end(j);
}

static void put_statistics(etp_json *j, const etp_inspector_row *row)
{
    const struct {
        const char *key;
        double value;
    } columns[] = {
        {"p10 (ms)", row->p10},
        {"p50 (ms)", row->p50},
        {"p90 (ms)", row->p90},
        {"avg (ms)", row->avg},
        {"min (ms)", row->min},
        {"max (ms)", row->max}
    };
    etp_json_key(j, "raw");
    if (row->n == 0) {
        etp_json_null(j);
    } else {
        etp_json_begin_array(j);
        for (size_t i = 0; i < row->n; i++) {
            etp_json_double(j, row->raw_ms[i]);
        }
        etp_json_end(j);
    }
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        etp_json_kv_double_if(j, columns[i].key, columns[i].value, row->n != 0);
    }
}

// ---- cells of the columns that are no times ----

static etp_status put_block_name(etp_json *j, const etp_inspector_row *row, const tensors *how,
                                 etp_error *err)
{
    (void)how, (void)err;
    etp_json_str(j, row->block_name);
    return ETP_OK;
}

static etp_status put_event_name(etp_json *j, const etp_inspector_row *row, const tensors *how,
                                 etp_error *err)
{
    (void)how, (void)err;
    etp_json_str(j, row->event_name);
    return ETP_OK;
}

static bool has_op_types(const etp_inspector_row *row)
{
    return row->op_types_text.ptr || row->n_op_types > 0;
}

static etp_status put_types(etp_json *j, const etp_inspector_row *row, const tensors *how,
                            etp_error *err)
{
    (void)err;
    if (row->op_types_text.ptr && !how->whole) {
        etp_json_str(j, row->op_types_text);
        return ETP_OK;
    }
    etp_json_begin_array(j);
    for (size_t i = 0; i < row->n_op_types; i++) {
        etp_json_str(j, row->op_types[i]);
    }
    etp_json_end(j);
    return ETP_OK;
}

static bool is_delegated(const etp_inspector_row *row)
{
    return row->delegated;
}

static etp_status put_id(etp_json *j, const etp_inspector_row *row, const tensors *how,
                         etp_error *err)
{
    (void)how, (void)err;
    if (!row->delegated) {
        etp_json_null(j);
    } else if (row->id_is_int) {
        etp_json_i64(j, row->delegate_id);
    } else {
        etp_json_str(j, row->delegate_id_str);
    }
    return ETP_OK;
}

static bool has_nodes(const etp_inspector_row *row)
{
    return row->n_nodes > 0;
}

static etp_status put_traces(etp_json *j, const etp_inspector_row *row, const tensors *how,
                             etp_error *err)
{
    (void)how, (void)err;
    etp_json_begin_object(j);
    for (size_t i = 0; i < row->n_nodes; i++) {
        const etp_str trace = row->nodes[i].stack_trace;
        etp_json_key_str(j, row->nodes[i].name);
        if (trace.ptr) {
            etp_json_str(j, trace);
        } else {
            etp_json_null(j);
        }
    }
    etp_json_end(j);
    return ETP_OK;
}

static etp_status put_modules(etp_json *j, const etp_inspector_row *row, const tensors *how,
                              etp_error *err)
{
    (void)how, (void)err;
    etp_json_begin_object(j);
    for (size_t i = 0; i < row->n_nodes; i++) {
        etp_json_key_str(j, row->nodes[i].name);
        put_module_stack(j, row->nodes[i].module_stack);
    }
    etp_json_end(j);
    return ETP_OK;
}

static etp_status put_delegated(etp_json *j, const etp_inspector_row *row, const tensors *how,
                                etp_error *err)
{
    (void)how, (void)err;
    etp_json_bool(j, row->delegated);
    return ETP_OK;
}

static bool has_backend(const etp_inspector_row *row)
{
    return row->backend_name.ptr;
}

static etp_status put_backend(etp_json *j, const etp_inspector_row *row, const tensors *how,
                              etp_error *err)
{
    (void)how, (void)err;
    if (row->backend_name.ptr) {
        etp_json_str(j, row->backend_name);
    } else {
        etp_json_null(j);
    }
    return ETP_OK;
}

static bool has_debug(const etp_inspector_row *row)
{
    return row->n_debug > 0;
}

static etp_status put_debug(etp_json *j, const etp_inspector_row *row, const tensors *how,
                            etp_error *err)
{
    etp_json_begin_array(j);
    for (size_t i = 0; i < row->n_debug; i++) {
        ETP_TRY(put_value(j, &row->debug[i], how, err));
    }
    etp_json_end(j);
    return ETP_OK;
}

typedef struct column {
    const char *name;
    etp_status (*put)(etp_json *j, const etp_inspector_row *row, const tensors *how,
                      etp_error *err);
    // NULL: always.
    bool (*says)(const etp_inspector_row *row); // is the cell more than [], {} or null?
} column;

#define N_NAMES 2 // columns before those of times

static const column k_columns[] = {
    {"event_block_name",          put_block_name, NULL        },
    {"event_name",                put_event_name, NULL        },
    {"op_types",                  put_types,      has_op_types},
    {"delegate_debug_identifier", put_id,         is_delegated},
    {"stack_traces",              put_traces,     has_nodes   },
    {"module_hierarchy",          put_modules,    has_nodes   },
    {"is_delegated_op",           put_delegated,  is_delegated},
    {"delegate_backend_name",     put_backend,    has_backend },
    {"debug_data",                put_debug,      has_debug   },
};
#define N_COLUMNS (sizeof k_columns / sizeof *k_columns)

// ---- rows ----

static etp_status put_json_row(etp_json *j, const etp_inspector_row *row, const tensors *how,
                               etp_error *err)
{
    etp_json_begin_object_inline(j);
    for (size_t i = 0; i < N_COLUMNS; i++) {
        if (i == N_NAMES) {
            put_statistics(j, row);
        }
        etp_json_key(j, k_columns[i].name);
        ETP_TRY(k_columns[i].put(j, row, how, err));
    }
    etp_json_key(j, "start_time");
    if (row->n == 0) {
        etp_json_null(j);
    } else {
        etp_json_begin_array(j);
        for (size_t i = 0; i < row->n; i++) {
            etp_json_u64(j, row->start[i]);
        }
        etp_json_end(j);
    }
    etp_json_end(j);
    return ETP_OK;
}

etp_status etp_inspector_json(const etp_inspector_table *table, const etp_bytes *buffer,
                              etp_sink *sink, etp_error *err)
{
    const tensors how = {.buffer = buffer};
    etp_json j;
    etp_json_init(&j, sink, true);
    etp_json_begin_array(&j);
    for (size_t i = 0; i < table->n_rows; i++) {
        ETP_TRY(put_json_row(&j, &table->rows[i], &how, err));
    }
    etp_json_end(&j);
    etp_json_end_document(&j);
    return ETP_OK;
}

// ---- columns ----

static bool column_says(const etp_inspector_table *table, const column *c)
{
    for (size_t i = 0; c->says && i < table->n_rows; i++) {
        if (c->says(&table->rows[i])) {
            return true;
        }
    }
    return !c->says;
}

static void put_bytes(etp_sink *sink, const void *ptr, size_t size)
{
    etp_sink_write(sink, (etp_str){ptr, size});
}

// In the machine's own order of bytes: whoever reads this runs in the same process.
static void put_numbers(const etp_inspector_table *table, etp_sink *sink)
{
    const size_t columns[] = {offsetof(etp_inspector_row, p10), offsetof(etp_inspector_row, p50),
                              offsetof(etp_inspector_row, p90), offsetof(etp_inspector_row, avg),
                              offsetof(etp_inspector_row, min), offsetof(etp_inspector_row, max)};
    const double none = NAN;
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++) {
        for (size_t i = 0; i < table->n_rows; i++) {
            const etp_inspector_row *row = &table->rows[i];
            put_bytes(sink, row->n ? (const char *)row + columns[c] : (const char *)&none,
                      sizeof none);
        }
    }
    uint64_t first = 0;
    put_bytes(sink, &first, sizeof first);
    for (size_t i = 0; i < table->n_rows; i++) {
        first += table->rows[i].n;
        put_bytes(sink, &first, sizeof first);
    }
    for (size_t i = 0; i < table->n_rows; i++) {
        put_bytes(sink, table->rows[i].raw_ms, table->rows[i].n * sizeof(double));
    }
    for (size_t i = 0; i < table->n_rows; i++) {
        put_bytes(sink, table->rows[i].start, table->rows[i].n * sizeof(uint64_t));
    }
}

etp_status etp_inspector_columns_write(const etp_inspector_table *table, const etp_bytes *buffer,
                                       etp_sink *sink, etp_error *err)
{
    const tensors how = {.buffer = buffer, .whole = true};
    put_numbers(table, sink);
    etp_json j;
    etp_json_init(&j, sink, false);
    etp_json_begin_object(&j);
    etp_json_key(&j, "event_block");
    etp_json_begin_array(&j);
    for (size_t i = 0; i < table->n_rows; i++) {
        etp_json_u64(&j, table->rows[i].block);
    }
    etp_json_end(&j);
    for (size_t c = 0; c < N_COLUMNS; c++) {
        if (!column_says(table, &k_columns[c])) {
            continue;
        }
        etp_json_key(&j, k_columns[c].name);
        etp_json_begin_array(&j);
        for (size_t i = 0; i < table->n_rows; i++) {
            ETP_TRY(k_columns[c].put(&j, &table->rows[i], &how, err));
        }
        etp_json_end(&j);
    }
    etp_json_end(&j);
    etp_json_end_document(&j);
    return ETP_OK;
}
