// SPDX-License-Identifier: Apache-2.0
// Inspector's table as pandas writes it to TSV, and as rows of JSON.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/csv.h"
#include "base/number.h"
#include "convert/inspector_cells.h"
#include "formats/element.h"
#include "trace/ops.h"

#define MAX_DATA 64 // tensor elements shown

static const char *const k_statistics[ETP_INSPECTOR_STATISTICS] = {
    "p10 (ms)", "p50 (ms)", "p90 (ms)", "avg (ms)", "min (ms)", "max (ms)",
};

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

static void put_op_types(etp_sink *sink, const etp_inspector_row *row)
{
    if (row->op_types_text.ptr) {
        etp_sink_write(sink, row->op_types_text);
        return;
    }
    etp_sink_char(sink, '[');
    for (size_t i = 0; i < row->n_op_types; i++) {
        etp_sink_z(sink, etp_if(i, ", "));
        // Python's repr of a string without characters that need escapes beyond quotes.
        // Python prefers single quotes, unless the text has some and no double ones.
        const etp_str s = row->op_types[i];
        bool single = etp_str_find(s, ETP_STR("'")) == s.len;
        char quote = single || etp_str_find(s, ETP_STR("\"")) != s.len ? '\'' : '"';
        etp_sink_char(sink, quote);
        for (size_t j = 0; j < s.len; j++) {
            if (s.ptr[j] == quote || s.ptr[j] == '\\') {
                etp_sink_char(sink, '\\');
            }
            etp_sink_char(sink, s.ptr[j]);
        }
        etp_sink_char(sink, quote);
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
    etp_sink_printf(sink, "%zu\t", index);
    put_name(sink, row->block_name);
    etp_sink_char(sink, '\t');
    put_name(sink, row->event_name);
    for (size_t i = 0; i < ETP_INSPECTOR_STATISTICS; i++) {
        etp_sink_char(sink, '\t');
        if (row->n > 0) {
            put_float(sink, row->statistics[i]);
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
    etp_sink_z(sink, "\tevent_block_name\tevent_name");
    for (size_t i = 0; i < ETP_INSPECTOR_STATISTICS; i++) {
        etp_sink_printf(sink, "\t%s", k_statistics[i]);
    }
    etp_sink_z(sink, "\top_types\tis_delegated_op\tdelegate_backend_name\tstart_time\n");
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
        lost += etp_known_or_0(part);
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

static etp_status put_tensor(etp_json *j, const etp_etdump_tensor *t,
                             const etp_inspector_tensors *how, etp_error *err)
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
    etp_json_key(j, "dtype");
    etp_json_z(j, name);
    etp_json_key(j, "shape");
    etp_json_begin_array(j);
    for (size_t i = 0; i < t->n_dims; i++) {
        etp_json_i64(j, etp_etdump_tensor_size(t, i));
    }
    etp_json_end(j);
    if (how->whole && data.ptr) {
        etp_json_key(j, "at");
        etp_json_u64(j, (uint64_t)(data.ptr - how->buffer->ptr));
    } else if (how->whole) {
        etp_json_key(j, "at");
        etp_json_null(j);
    } else {
        put_elements(j, dtype, data.ptr, (size_t)n);
    }
    etp_json_end(j);
    etp_json_end(j);
    return ETP_OK;
}

static etp_status put_value(etp_json *j, const etp_etdump_value *v,
                            const etp_inspector_tensors *how, etp_error *err)
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
    etp_str entry;
    if (!stack.ptr) {
        etp_json_null(j);
        return;
    }
    etp_json_begin_object(j);
    while (etp_str_part(&stack, ';', &entry)) {
        etp_str key, path = {"", 0};
        bool typed = etp_str_cut(&entry, ",", &key) && etp_str_cut(&entry, ",", &path);
        etp_json_key_str(j, key);
        etp_json_begin_array(j);
        etp_json_str(j, path);
        if (typed) {
            etp_json_str(j, entry);
        }
        etp_json_end(j);
    }
    etp_json_end(j);
}

static void put_statistics(etp_json *j, const etp_inspector_row *row)
{
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
    for (size_t i = 0; i < ETP_INSPECTOR_STATISTICS; i++) {
        etp_json_key(j, k_statistics[i]);
        etp_json_double(j, etp_value_if(row->n != 0, row->statistics[i]));
    }
}

// ---- cells of the columns that are no times ----

const char *etp_inspector_column_name(etp_inspector_column column)
{
    static const char *const k_names[] = {
        "event_block_name", "event_name",       "op_types",        "delegate_debug_identifier",
        "stack_traces",     "module_hierarchy", "is_delegated_op", "delegate_backend_name",
        "debug_data",
    };
    return k_names[column];
}

static void put_text(etp_json *j, etp_str s) // ptr NULL: none
{
    if (s.ptr) {
        etp_json_str(j, s);
    } else {
        etp_json_null(j);
    }
}

static void put_types(etp_json *j, const etp_inspector_row *row, bool whole)
{
    if (row->op_types_text.ptr && !whole) {
        etp_json_str(j, row->op_types_text);
        return;
    }
    etp_json_begin_array(j);
    for (size_t i = 0; i < row->n_op_types; i++) {
        etp_json_str(j, row->op_types[i]);
    }
    etp_json_end(j);
}

static void put_nodes(etp_json *j, const etp_inspector_row *row, bool modules)
{
    etp_json_begin_object(j);
    for (size_t i = 0; i < row->n_nodes; i++) {
        etp_json_key_str(j, row->nodes[i].name);
        if (modules) {
            put_module_stack(j, row->nodes[i].module_stack);
        } else {
            put_text(j, row->nodes[i].stack_trace);
        }
    }
    etp_json_end(j);
}

etp_status etp_inspector_cell(etp_json *j, const etp_inspector_row *row,
                              etp_inspector_column column, const etp_inspector_tensors *how,
                              etp_error *err)
{
    switch (column) {
    case ETP_INSPECTOR_BLOCK:
        etp_json_str(j, row->block_name);
        break;
    case ETP_INSPECTOR_EVENT:
        etp_json_str(j, row->event_name);
        break;
    case ETP_INSPECTOR_TYPES:
        put_types(j, row, how->whole);
        break;
    case ETP_INSPECTOR_ID:
        if (row->delegated && row->id_is_int) {
            etp_json_i64(j, row->delegate_id);
        } else {
            put_text(j, row->delegated ? row->delegate_id_str : (etp_str){NULL, 0});
        }
        break;
    case ETP_INSPECTOR_TRACES:
    case ETP_INSPECTOR_MODULES:
        put_nodes(j, row, column == ETP_INSPECTOR_MODULES);
        break;
    case ETP_INSPECTOR_DELEGATED:
        etp_json_bool(j, row->delegated);
        break;
    case ETP_INSPECTOR_BACKEND:
        put_text(j, row->backend_name);
        break;
    case ETP_INSPECTOR_DEBUG:
    case ETP_INSPECTOR_COLUMNS:
        etp_json_begin_array(j);
        for (size_t i = 0; i < row->n_debug; i++) {
            ETP_TRY(put_value(j, &row->debug[i], how, err));
        }
        etp_json_end(j);
        break;
    }
    return ETP_OK;
}

// ---- rows ----

static etp_status put_json_row(etp_json *j, const etp_inspector_row *row,
                               const etp_inspector_tensors *how, etp_error *err)
{
    etp_json_begin_object_inline(j);
    for (int c = 0; c < ETP_INSPECTOR_COLUMNS; c++) {
        if (c == ETP_INSPECTOR_TYPES) {
            put_statistics(j, row);
        }
        etp_json_key(j, etp_inspector_column_name((etp_inspector_column)c));
        ETP_TRY(etp_inspector_cell(j, row, (etp_inspector_column)c, how, err));
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
    const etp_inspector_tensors how = {.buffer = buffer};
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
