// SPDX-License-Identifier: Apache-2.0
// From --inputs to raw files: numpy arrays and the cases of bundled programs, checked against the
// program and brought into its memory layout.
#include "measure/inputs.h"

#include <stdio.h>

#include <etprof/bundled.h>
#include <etprof/npz.h>
#include <etprof/pte.h>

#include "base/json.h"
#include "base/number.h"
#include "os/os.h"
#include "program/call.h"
#include "store/settings.h"

#define UNPACKED_LIMIT ((uint64_t)4 << 30)
#define MAX_DIMS 16

typedef struct preparation {
    const char *work_dir;
    etp_arena *arena;
    const etp_pte_method *method; // of the program
    const char **files;
    size_t n;
    const char *shapes; // as of etp_inputs
    etp_error *err;
} preparation;

// The same struct for what is given and for what the program wants: they differ in `order` alone
// once types and sizes agree.
typedef struct tensor { // elements somewhere in memory
    etp_dtype dtype;
    uint32_t n_dims;
    uint64_t sizes[MAX_DIMS];
    uint8_t order[MAX_DIMS]; // dimensions from slowest to fastest
    etp_bytes data;
} tensor;

// ---- layouts ----

// ExecuTorch's dim_order: dimensions by falling stride. Empty is the usual order; anything that is
// no permutation is refused.
static bool set_order(tensor *t, etp_str dim_order)
{
    unsigned seen = 0;
    for (uint32_t d = 0; d < t->n_dims; d++) {
        uint8_t at = dim_order.len ? (uint8_t)dim_order.ptr[d] : (uint8_t)d;
        if ((dim_order.len && dim_order.len != t->n_dims) || at >= t->n_dims || (seen & 1u << at)) {
            return false;
        }
        seen |= 1u << at;
        t->order[d] = at;
    }
    return true;
}

static bool set_sizes(tensor *t, etp_i32s sizes)
{
    if (sizes.n > MAX_DIMS) {
        return false;
    }
    t->n_dims = sizes.n;
    for (uint32_t d = 0; d < sizes.n; d++) {
        int32_t v = etp_i32_at(sizes, d);
        if (v < 0) {
            return false;
        }
        t->sizes[d] = (uint64_t)v;
    }
    return true;
}

static uint64_t elements_of(const tensor *t)
{
    uint64_t n = 1;
    for (uint32_t d = 0; d < t->n_dims; d++) {
        n *= t->sizes[d]; // the program's reader has bounded the product
    }
    return n;
}

// FROM's elements in the order of TO (same type and sizes). Walks TO in memory order and steps
// through FROM by its strides.
static void arrange(const tensor *from, const tensor *to, size_t item, uint8_t *out)
{
    uint64_t stride[MAX_DIMS], at[MAX_DIMS] = {0}, step = 1, n = elements_of(to), source = 0;
    for (uint32_t d = from->n_dims; d-- > 0;) {
        stride[from->order[d]] = step;
        step *= from->sizes[from->order[d]];
    }
    for (uint64_t i = 0; i < n; i++) {
        memcpy(out + i * item, from->data.ptr + source * item, item);
        for (uint32_t k = to->n_dims; k-- > 0;) {
            uint32_t d = to->order[k];
            source += stride[d];
            if (++at[d] < to->sizes[d]) {
                break;
            }
            source -= stride[d] * to->sizes[d];
            at[d] = 0;
        }
    }
}

// "float32[1,3,224,224]", as messages set what was found against what was expected.
static const char *shape_text(const tensor *t, etp_arena *arena)
{
    const char *text = etp_arena_printf(arena, "%s[", etp_dtype_name(t->dtype));
    for (uint32_t d = 0; text && d < t->n_dims; d++) {
        text = etp_arena_printf(arena, "%s%s%llu", text, etp_if(d, ","),
                                (unsigned long long)t->sizes[d]);
    }
    return text ? etp_arena_printf(arena, "%s]", text) : NULL;
}

// ---- one input ----

static const etp_evalue *input_of(const preparation *p, size_t i)
{
    int32_t at = etp_i32_at(p->method->inputs, i);
    return at >= 0 && (uint32_t)at < p->method->n_values ? &p->method->values[at] : NULL;
}

// The bytes alone, little-endian and in the program's layout: the runner copies them into the input
// tensor as they are.
static etp_status write_input(preparation *p, size_t i, const void *data, size_t len)
{
    const char *path = etp_arena_printf(p->arena, "%s/input-%zu.bin", p->work_dir, i);
    p->files[i] = path;
    return etp_os_write_atomic(path, (etp_str){data, len}, p->err);
}

static etp_status refuse(preparation *p, size_t i, const char *found, const char *wanted)
{
    return etp_fail(p->err, ETP_USAGE, "input %zu is %s, method %.*s takes %s", i,
                    ETP_OR(found, "?"), ETP_STR_ARG(p->method->name), ETP_OR(wanted, "?"));
}

// A scalar input of a program comes as an array without dimensions, which is how numpy saves one.
static etp_status put_scalar(preparation *p, size_t i, const etp_evalue *wanted,
                             const tensor *given)
{
    static const struct {
        etp_evalue_kind kind;
        etp_dtype dtype;
        const char *text;
    } k_kinds[] = {
        {ETP_EVALUE_INT,    ETP_DTYPE_INT64,   "a number: int64[]"    },
        {ETP_EVALUE_DOUBLE, ETP_DTYPE_FLOAT64, "a number: float64[]"  },
        {ETP_EVALUE_BOOL,   ETP_DTYPE_BOOL,    "a truth value: bool[]"}
    };
    // An optional input that the program was exported without: the runner still wants a file in its
    // place.
    if (wanted && (wanted->kind == ETP_EVALUE_NULL || wanted->kind == ETP_EVALUE_NONE)) {
        return write_input(p, i, "", 0);
    }
    for (size_t k = 0; wanted && k < sizeof k_kinds / sizeof *k_kinds; k++) {
        if (wanted->kind == k_kinds[k].kind) {
            return given->dtype == k_kinds[k].dtype && given->n_dims == 0
                       ? write_input(p, i, given->data.ptr, given->data.len)
                       : refuse(p, i, shape_text(given, p->arena), k_kinds[k].text);
        }
    }
    return refuse(p, i, shape_text(given, p->arena), "neither a tensor nor a number");
}

// Sizes of a program are upper bounds where a tensor is dynamic.
static bool is_within(const tensor *given, const tensor *bound)
{
    bool within = given->n_dims == bound->n_dims;
    for (uint32_t d = 0; within && d < given->n_dims; d++) {
        within = given->sizes[d] > 0 && given->sizes[d] <= bound->sizes[d];
    }
    return within;
}

static etp_status put_tensor(preparation *p, size_t i, const tensor *given)
{
    const etp_evalue *value = input_of(p, i);
    if (!value || value->kind != ETP_EVALUE_TENSOR) {
        return put_scalar(p, i, value, given);
    }
    const etp_pte_tensor *meta = value->u.tensor;
    tensor wanted = {.dtype = meta->dtype};
    if (!set_sizes(&wanted, meta->sizes) || !set_order(&wanted, meta->dim_order)) {
        return etp_fail(p->err, ETP_CORRUPT, "the program's input %zu has no sound layout", i);
    }
    bool same = wanted.dtype == given->dtype && wanted.n_dims == given->n_dims &&
                memcmp(wanted.sizes, given->sizes, wanted.n_dims * sizeof *wanted.sizes) == 0;
    bool smaller = !same && meta->dynamism != ETP_SHAPE_STATIC && wanted.dtype == given->dtype &&
                   is_within(given, &wanted);
    if (smaller) {
        memcpy(wanted.sizes, given->sizes, sizeof wanted.sizes);
        // "0=8x64,1=8" with the sizes of input I.
        int64_t dims[MAX_DIMS];
        for (uint32_t d = 0; d < given->n_dims; d++) {
            dims[d] = (int64_t)given->sizes[d]; // within the program's
        }
        const char *shape = etp_dims_text(dims, given->n_dims, p->arena);
        const char *before = ETP_OR(p->shapes, ""), *comma = etp_if(p->shapes, ",");
        p->shapes =
            shape ? etp_arena_printf(p->arena, "%s%s%zu=%s", before, comma, i, shape) : NULL;
    } else if (!same) {
        const char *most = etp_if(meta->dynamism != ETP_SHAPE_STATIC, "at most ");
        return refuse(p, i, shape_text(given, p->arena),
                      etp_arena_printf(p->arena, "%s%s", most, shape_text(&wanted, p->arena)));
    }
    size_t item = etp_dtype_bits(wanted.dtype) / 8;
    uint64_t bytes;
    // Types of less than a byte cannot be rearranged element by element.
    if (item == 0 || etp_dtype_bits(wanted.dtype) % 8 != 0 ||
        !etp_dtype_bytes(wanted.dtype, elements_of(&wanted), &bytes) || bytes != given->data.len) {
        return etp_fail(p->err, ETP_CORRUPT, "input %zu has %zu bytes, not those of %s", i,
                        given->data.len, shape_text(&wanted, p->arena));
    }
    uint8_t *data = etp_arena_alloc_raw(p->arena, given->data.len + 1, 1);
    ETP_NEED(data, p->err, "inputs");
    arrange(given, &wanted, item, data);
    return write_input(p, i, data, given->data.len);
}

static etp_status put_array(preparation *p, size_t i, const etp_npy *a)
{
    tensor t = {.dtype = a->dtype, .n_dims = a->n_dims, .data = a->data};
    memcpy(t.sizes, a->sizes, sizeof t.sizes);
    for (uint32_t d = 0; d < a->n_dims; d++) {
        // Fortran order is the same array with its dimensions from fastest to slowest.
        t.order[d] = (uint8_t)(a->fortran ? a->n_dims - 1 - d : d);
    }
    return put_tensor(p, i, &t);
}

// ---- .npz and .npy ----

// Checked before the first file is written: an array more or less usually means that another method
// was meant.
static etp_status count_matches(const preparation *p, size_t n, const char *file)
{
    return n == p->method->inputs.n
               ? ETP_OK
               : etp_fail(p->err, ETP_USAGE, "%s holds %zu inputs, method %.*s takes %u", file, n,
                          ETP_STR_ARG(p->method->name), p->method->inputs.n);
}

// What the method takes, with room for arrays that are of another type or padded: those get a
// message of their own. Beyond it an archive is a bomb.
static uint64_t unpacked_limit(const preparation *p)
{
    uint64_t sum = (uint64_t)1 << 24;
    for (size_t i = 0; i < p->method->inputs.n; i++) {
        const etp_evalue *value = input_of(p, i);
        tensor t;
        uint64_t bytes = 0;
        if (value && value->kind == ETP_EVALUE_TENSOR && set_sizes(&t, value->u.tensor->sizes) &&
            etp_dtype_bytes(value->u.tensor->dtype, elements_of(&t), &bytes)) {
            // Eight times: the same number of elements in the widest type there is.
            sum += bytes < UNPACKED_LIMIT / 8 ? 8 * bytes : UNPACKED_LIMIT;
        }
        if (sum >= UNPACKED_LIMIT) {
            return UNPACKED_LIMIT;
        }
    }
    return sum;
}

static etp_status from_npz(preparation *p, const char *path)
{
    etp_file file;
    etp_arena scratch = {0};
    const etp_npy *arrays;
    size_t n;
    ETP_TRY(etp_file_open(path, UNPACKED_LIMIT, &file, p->err));
    etp_status status = etp_npz_read(file.bytes, unpacked_limit(p), &scratch, &arrays, &n, p->err);
    if (status != ETP_OK) {
        status = etp_fail_ctx(p->err, "%s", path);
    } else {
        status = count_matches(p, n, path);
    }
    for (size_t i = 0; status == ETP_OK && i < n; i++) {
        if (put_array(p, i, &arrays[i]) != ETP_OK) {
            status = etp_fail_ctx(p->err, "%s, %.*s", path, ETP_STR_ARG(arrays[i].name));
        }
    }
    etp_arena_dispose(&scratch);
    etp_file_close(&file);
    return status;
}

static etp_status from_npy(preparation *p, size_t i, const char *path)
{
    etp_file file;
    etp_npy array;
    ETP_TRY(etp_file_open(path, UNPACKED_LIMIT, &file, p->err));
    etp_status status = etp_npy_read(file.bytes, &array, p->err);
    if (status == ETP_OK) {
        status = put_array(p, i, &array);
    }
    etp_file_close(&file);
    return status == ETP_OK ? ETP_OK : etp_fail_ctx(p->err, "%s", path);
}

// ---- .bpte ----

// Numbers become tensors without dimensions, so that one path checks and writes all inputs.
static bool tensor_of(const etp_bundled_value *v, tensor *out)
{
    *out = (tensor){0};
    switch (v->kind) {
    case ETP_EVALUE_TENSOR:
        out->dtype = v->u.tensor.dtype;
        out->data = v->u.tensor.data;
        return set_sizes(out, v->u.tensor.sizes) && set_order(out, v->u.tensor.dim_order);
    case ETP_EVALUE_INT:
        *out = (tensor){
            .dtype = ETP_DTYPE_INT64, .data = {(const uint8_t *)&v->u.i, sizeof v->u.i, 0}
        };
        return true;
    case ETP_EVALUE_DOUBLE:
        *out = (tensor){
            .dtype = ETP_DTYPE_FLOAT64, .data = {(const uint8_t *)&v->u.d, sizeof v->u.d, 0}
        };
        return true;
    case ETP_EVALUE_BOOL:
        *out = (tensor){
            .dtype = ETP_DTYPE_BOOL, .data = {(const uint8_t *)&v->u.b, sizeof v->u.b, 0}
        };
        return true;
    default:
        return false;
    }
}

static etp_status write_output(preparation *p, size_t i, const etp_bundled_value *v, etp_json *j)
{
    tensor given, laid;
    uint64_t bytes;
    char name[32];
    snprintf(name, sizeof name, "output-%zu.bin", i);
    bool known = tensor_of(v, &given) && etp_dtype_bits(given.dtype) >= 8 &&
                 etp_dtype_bytes(given.dtype, elements_of(&given), &bytes) &&
                 bytes == given.data.len;
    etp_json_begin_object_inline(j);
    etp_json_kv_u64(j, "index", i);
    etp_json_kv_z(j, "file", etp_z_if(known, name));
    etp_json_kv_z(j, "dtype", known ? etp_dtype_name(given.dtype) : NULL);
    etp_status status = ETP_OK;
    if (known) {
        // In the program's layout, where it says one of the same shape, as the runner writes its
        // outputs: else equal ones would be compared in different orders.
        laid = given;
        int32_t at = i < p->method->outputs.n ? etp_i32_at(p->method->outputs, i) : -1;
        const etp_evalue *value =
            at >= 0 && (uint32_t)at < p->method->n_values ? &p->method->values[at] : NULL;
        tensor t = {0};
        if (value && value->kind == ETP_EVALUE_TENSOR && set_sizes(&t, value->u.tensor->sizes) &&
            t.n_dims == given.n_dims && set_order(&t, value->u.tensor->dim_order)) {
            memcpy(laid.order, t.order, sizeof laid.order);
        }
        uint8_t *data = etp_arena_alloc_raw(p->arena, given.data.len + 1, 1);
        const char *path = etp_arena_printf(p->arena, "%s/expected/%s", p->work_dir, name);
        ETP_NEED(data, p->err, "expected outputs");
        arrange(&given, &laid, etp_dtype_bits(given.dtype) / 8, data);
        status = etp_os_write_atomic(path, (etp_str){(const char *)data, given.data.len}, p->err);
    }
    etp_json_key(j, "shape");
    etp_json_begin_array_inline(j);
    for (uint32_t d = 0; known && d < laid.n_dims; d++) {
        etp_json_u64(j, laid.sizes[d]);
    }
    etp_json_end(j);
    etp_json_key(j, "dim_order");
    etp_json_begin_array_inline(j);
    for (uint32_t d = 0; known && v->kind == ETP_EVALUE_TENSOR && d < laid.n_dims; d++) {
        etp_json_u64(j, laid.order[d]);
    }
    etp_json_end(j);
    etp_json_kv_u64(j, "bytes", known ? given.data.len : 0);
    etp_json_end(j);
    return status;
}

static etp_status write_expected(preparation *p, const etp_bundled_case *c, const char **out_dir)
{
    etp_strbuf text;
    etp_strbuf_init(&text, p->arena);
    etp_sink sink = etp_sink_strbuf(&text);
    etp_json j;
    const char *dir = etp_arena_printf(p->arena, "%s/expected", p->work_dir);
    const char *list = etp_arena_printf(p->arena, "%s/expected/outputs.json", p->work_dir);
    // An earlier folder could hold outputs that this case does not have.
    ETP_TRY(etp_os_remove_tree(dir, p->err));
    ETP_TRY(etp_os_mkdirs(dir, p->err));
    etp_json_init(&j, &sink, false);
    etp_json_begin_object(&j);
    etp_json_key(&j, "outputs");
    etp_json_begin_array(&j);
    for (size_t i = 0; i < c->n_expected; i++) {
        ETP_TRY(write_output(p, i, &c->expected[i], &j));
    }
    etp_json_end(&j);
    etp_json_end(&j);
    etp_json_end_document(&j);
    ETP_TRY(etp_arena_check(p->arena, p->err, "expected outputs"));
    *out_dir = dir;
    return etp_os_write_atomic(list, etp_strbuf_str(&text), p->err);
}

// A bundled program has a suite of cases for each method.
static etp_status take_case(preparation *p, const etp_bundled *b, const char *path, uint64_t number,
                            const char **out_expected)
{
    const etp_bundled_suite *suite = NULL;
    for (uint32_t i = 0; i < b->n_suites; i++) {
        suite = etp_str_eq(b->suites[i].method, p->method->name) ? &b->suites[i] : suite;
    }
    if (!suite || number >= suite->n_cases) {
        return etp_fail(p->err, ETP_USAGE,
                        "%s has %u cases for method %.*s, numbered from 0: no case %llu", path,
                        suite ? suite->n_cases : 0, ETP_STR_ARG(p->method->name),
                        (unsigned long long)number);
    }
    const etp_bundled_case *c = &suite->cases[number];
    ETP_TRY(count_matches(p, c->n_inputs, path));
    for (size_t i = 0; i < c->n_inputs; i++) {
        tensor t;
        if (!tensor_of(&c->inputs[i], &t)) {
            return etp_fail(p->err, ETP_UNSUPPORTED,
                            "%s: input %zu is neither a tensor nor a number", path, i);
        }
        ETP_TRY(put_tensor(p, i, &t));
    }
    return c->n_expected > 0 ? write_expected(p, c, out_expected) : ETP_OK;
}

// ---- the whole option ----

// The method that the runner would run.
static etp_status choose_method(const etp_pte *pte, const char *name, const etp_pte_method **out,
                                etp_error *err)
{
    *out = NULL;
    for (uint32_t i = 0; i < pte->n_methods; i++) {
        if (etp_str_eqz(pte->methods[i].name, name ? name : "forward")) {
            *out = &pte->methods[i];
        }
    }
    if (!*out && !name && pte->n_methods == 1) {
        *out = &pte->methods[0];
    }
    if (*out) {
        return ETP_OK;
    }
    return name ? etp_fail(err, ETP_USAGE, "the program has no method %s", name)
                : etp_fail(err, ETP_USAGE, "the program has several methods: choose with --method");
}

static etp_status absolute(const char *path, etp_arena *arena, const char **out, etp_error *err)
{
    if (path && !etp_os_is_file(path)) {
        return etp_os_fail_absent("input", path, ETP_IO, err);
    }
    *out = etp_os_absolute(path, arena);
    ETP_NEED(*out, err, path);
    // The runner takes the files as one argument with commas between.
    return strchr(*out, ',')
               ? etp_fail(err, ETP_USAGE, "input %s: a ',' in a path separates files; rename it",
                          *out)
               : ETP_OK;
}

// "x.bpte#3" → "x.bpte", 3; without '#' case 0.
static bool split_case(etp_str spec, etp_str *path, uint64_t *number)
{
    *number = 0;
    if (etp_str_cut(&spec, ".bpte#", path)) {
        path->len += strlen(".bpte");
        if (!etp_parse_u64(spec, number)) {
            *number = UINT64_MAX; // no suite has that many
        }
        return true;
    }
    return etp_str_ends(spec, ETP_STR(".bpte"));
}

// Raw files need no program: the runner checks their sizes. .npy files do.
static etp_status from_files(preparation *p, const char *spec, etp_inputs *out)
{
    const char *joined = "";
    size_t i = 0;
    p->n = 1;
    for (const char *c = spec; *c; c++) {
        p->n += *c == ',';
    }
    p->files = ETP_NEW_ARRAY(p->arena, const char *, p->n);
    ETP_NEED(p->files, p->err, "inputs");
    if (p->method) {
        ETP_TRY(count_matches(p, p->n, "--inputs"));
    }
    bool more = true;
    for (etp_str part, rest = etp_str_from(spec); more; i++) {
        more = etp_str_cut(&rest, ",", &part);
        const char *file = etp_arena_strdup(p->arena, part);
        ETP_TRY(absolute(file, p->arena, &file, p->err));
        p->files[i] = file;
        if (p->method && etp_str_ends(part, ETP_STR(".npy"))) {
            ETP_TRY(from_npy(p, i, file));
        }
        joined = etp_arena_printf(p->arena, "%s%s%s", joined, etp_if(joined[0], ","), file);
    }
    out->spec = joined;
    out->files = p->files;
    out->n = p->n;
    return ETP_OK;
}

static etp_status prepare(preparation *p, const char *spec, etp_inputs *out)
{
    etp_str path, text = etp_str_from(spec);
    uint64_t number;
    bool npz = etp_str_ends(text, ETP_STR(".npz")), bundled = split_case(text, &path, &number);
    // An archive or a case gives all inputs at once; a list names one file for each, which may be
    // of either kind.
    if (!npz && !bundled) {
        return from_files(p, spec, out);
    }
    p->n = p->method->inputs.n;
    p->files = ETP_NEW_ARRAY(p->arena, const char *, p->n + 1);
    ETP_NEED(p->files, p->err, "inputs");
    out->files = p->files;
    out->n = p->n;
    if (npz) {
        ETP_TRY(absolute(spec, p->arena, &out->spec, p->err));
        return from_npz(p, out->spec);
    }
    const char *file = etp_arena_strdup(p->arena, path);
    ETP_TRY(absolute(file, p->arena, &file, p->err));
    out->spec = etp_arena_printf(p->arena, "%s#%llu", file, (unsigned long long)number);
    etp_file bytes;
    etp_bundled bundle;
    ETP_TRY(etp_file_open(file, UINT64_MAX, &bytes, p->err));
    etp_status status = etp_bundled_read(bytes.bytes, p->arena, &bundle, p->err);
    if (status != ETP_OK) {
        status = etp_fail_ctx(p->err, "%s", file);
    } else {
        status = take_case(p, &bundle, file, number, &out->expected);
    }
    etp_file_close(&bytes);
    return status;
}

// Does SPEC name anything that has to be checked against the program?
static bool needs_program(const char *spec)
{
    etp_str text = etp_str_from(spec);
    static const char *const k_parts[] = {".npy,", ".bpte#"};
    for (size_t i = 0; i < sizeof k_parts / sizeof *k_parts; i++) {
        if (etp_str_find(text, etp_str_from(k_parts[i])) < text.len) {
            return true;
        }
    }
    return etp_str_ends(text, ETP_STR(".npz")) || etp_str_ends(text, ETP_STR(".npy")) ||
           etp_str_ends(text, ETP_STR(".bpte"));
}

etp_status etp_inputs_prepare(const char *spec, const char *model, const char *method,
                              const char *work_dir, etp_arena *arena, etp_inputs *out,
                              etp_error *err)
{
    *out = (etp_inputs){.spec = spec};
    // The runner fills random inputs and ones itself, of any shape.
    if (etp_input_kind_of(spec) != ETP_INPUTS_FILES) {
        return ETP_OK;
    }
    etp_file file;
    etp_pte pte;
    preparation p = {.work_dir = work_dir, .arena = arena, .err = err};
    if (!needs_program(spec)) {
        return from_files(&p, spec, out);
    }
    ETP_TRY(etp_os_mkdirs(work_dir, err));
    ETP_TRY(etp_file_open(model, UINT64_MAX, &file, err));
    etp_status status = etp_pte_read(file.bytes, arena, &pte, err);
    if (status != ETP_OK) {
        status = etp_fail_ctx(err, "%s", model);
    } else {
        status = choose_method(&pte, method, &p.method, err);
    }
    if (status == ETP_OK) {
        status = prepare(&p, spec, out);
        out->shapes = p.shapes;
    }
    etp_file_close(&file);
    return status;
}
