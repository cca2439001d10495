// SPDX-License-Identifier: Apache-2.0
// Compares what two arms computed.
#include "measure/outputs.h"

#include <math.h>

#include "base/guard.h"
#include "base/json_read.h"
#include "base/number.h"
#include "formats/element.h"
#include "os/os.h"

#define LIST_FILE "outputs.json"
#define LIST_LIMIT ((size_t)1 << 20)
#define DATA_LIMIT ((uint64_t)1 << 32)
#define MAX_OUTPUTS 1000
#define MAX_DIMS 64
#define MIN_COSINE 0.99

typedef struct output { // one entry of outputs.json
    const char *file;   // NULL: listed without data
    etp_dtype type;     // UNKNOWN: listed without a file, and not compared
    size_t n_dims;
    uint64_t dims[MAX_DIMS], order[MAX_DIMS];
    uint64_t elements;
} output;

typedef struct folder {
    const char *dir;
    output *items;
    size_t n;
    double scale, zero; // what its integers stand for; scale 0: themselves
} folder;

typedef struct numbers { // of one output
    const uint8_t *data;
    etp_dtype type;
    double scale, zero;
} numbers;

static double number_at(const numbers *x, uint64_t i)
{
    double raw = etp_dtype_element(x->type, x->data, i);
    return x->scale != 0 ? (raw - x->zero) * x->scale : raw;
}

// ---- reading a folder ----

static etp_dtype find_dtype(const char *name)
{
    for (int i = 1; name && i < ETP_DTYPE_COUNT; i++) {
        if (strcmp(etp_dtype_name((etp_dtype)i), name) == 0) {
            return etp_dtype_has_elements((etp_dtype)i) ? (etp_dtype)i : ETP_DTYPE_UNKNOWN;
        }
    }
    return ETP_DTYPE_UNKNOWN;
}

static uint64_t bytes_of(const output *o)
{
    return o->elements * (etp_dtype_bits(o->type) / 8);
}

// "output-<digits>.bin": nothing else is opened.
// Outputs of another machine may be compared here: a name must not lead out of its folder.
static bool is_file_name(const char *name)
{
    size_t n = strlen(name), digits = strspn(name + (n > 7 ? 7 : 0), "0123456789");
    return n > 11 && n < 32 && strncmp(name, "output-", 7) == 0 && digits > 0 &&
           strcmp(name + 7 + digits, ".bin") == 0;
}

static bool read_numbers(const json_t *list, uint64_t *out, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const json_t *v = json_array_get(list, i);
        if (!json_is_integer(v) || json_integer_value(v) < 0) {
            return false;
        }
        out[i] = (uint64_t)json_integer_value(v);
    }
    return true;
}

// Nothing of a folder is believed: sizes are multiplied under a bound before anything is read by
// them.
static bool read_output(const json_t *entry, etp_arena *arena, output *out)
{
    const json_t *shape = json_object_get(entry, "shape");
    const json_t *order = json_object_get(entry, "dim_order");
    const char *file = json_string_value(json_object_get(entry, "file"));
    out->type = find_dtype(json_string_value(json_object_get(entry, "dtype")));
    out->n_dims = json_array_size(shape);
    if (!json_is_object(entry) || out->n_dims > MAX_DIMS ||
        !read_numbers(shape, out->dims, out->n_dims) ||
        // Without an order the dimensions lie as they are listed; `order` is zero then, on both
        // sides alike.
        (json_array_size(order) == out->n_dims && !read_numbers(order, out->order, out->n_dims))) {
        return false;
    }
    out->elements = 1;
    for (size_t i = 0; i < out->n_dims; i++) {
        if (out->dims[i] != 0 && out->elements > DATA_LIMIT / out->dims[i]) {
            return false;
        }
        out->elements *= out->dims[i];
    }
    if (file && (!is_file_name(file) || out->type == ETP_DTYPE_UNKNOWN)) {
        return false;
    }
    out->file = file ? etp_arena_strdup(arena, etp_str_from(file)) : NULL;
    return !file || out->file;
}

static etp_status read_folder(const etp_outputs_side *side, etp_arena *arena, folder *out,
                              etp_error *err)
{
    *out = (folder){.dir = side->dir, .scale = side->scale, .zero = side->zero};
    const char *path = etp_arena_printf(arena, "%s/" LIST_FILE, side->dir);
    etp_str text;
    ETP_TRY(etp_os_read_text(path, LIST_LIMIT, arena, &text, err));
    json_t *root = NULL;
    bool sound = etp_json_read(text, &root, NULL) == ETP_OK;
    const json_t *list = sound ? json_object_get(root, "outputs") : NULL;
    etp_status status = ETP_OK;
    if (!json_is_array(list) || json_array_size(list) > MAX_OUTPUTS) {
        status = etp_fail(err, ETP_CORRUPT, "%s is not a list of outputs", path);
    } else {
        out->n = json_array_size(list);
        out->items = ETP_NEW_ARRAY(arena, output, out->n);
        status = etp_arena_check(arena, err, LIST_FILE);
    }
    for (size_t i = 0; status == ETP_OK && i < out->n; i++) {
        if (!read_output(json_array_get(list, i), arena, &out->items[i])) {
            status =
                etp_fail(err, ETP_CORRUPT, "%s: output %zu is not described as expected", path, i);
        }
    }
    json_decref(root);
    return status;
}

// ---- elements ----

typedef struct tolerance {
    double absolute, relative; // absolute: part of the largest magnitude, or steps of an integer
    bool steps;
} tolerance;

static tolerance tolerance_for(etp_dtype t, etp_output_precision precision)
{
    static const double k_parts[] = {1e-3, 2e-2, 1e-1};
    bool half = t == ETP_DTYPE_FLOAT16 || t == ETP_DTYPE_BFLOAT16;
    if (!half && t != ETP_DTYPE_FLOAT32 && t != ETP_DTYPE_FLOAT64) {
        bool quantised =
            precision == ETP_OUTPUTS_INT8 && (t == ETP_DTYPE_INT8 || t == ETP_DTYPE_UINT8);
        return (tolerance){.absolute = quantised ? 2 : 0, .steps = true};
    }
    // Results that are stored in 16 bits cannot agree more closely than those bits allow, however
    // the program computes.
    if (precision == ETP_OUTPUTS_FLOAT32 && half) {
        precision = ETP_OUTPUTS_FLOAT16;
    }
    return (tolerance){k_parts[precision], k_parts[precision], false};
}

// What is lost of X where it is stored as B is.
static double rounded_off(const numbers *b, double x)
{
    const bool is_unsigned = b->type == ETP_DTYPE_UINT8;
    const double low = is_unsigned ? 0 : -128, high = is_unsigned ? 255 : 127;
    const double stored = fmin(fmax(nearbyint(x / b->scale + b->zero), low), high);
    return b->scale != 0 ? (stored - b->zero) * b->scale - x : 0;
}

// Two passes: the absolute tolerance depends on the largest magnitude, which is known after the
// first.
static void compare_elements(const numbers *a, const numbers *b, const output *o, tolerance tol,
                             etp_output_difference *d)
{
    double dot = 0, aa = 0, bb = 0, noise = 0, rounding = 0;
    uint64_t finite = 0;
    // A single number was computed unless it is 0.0; a class may be 0.
    double alone = tol.steps ? (double)NAN : 0;
    double first = o->elements > 1 ? number_at(a, 0) : alone;
    for (uint64_t i = 0; i < o->elements; i++) {
        double x = number_at(a, i);
        d->varies = d->varies || x != first;
        if (isfinite(x)) {
            d->max_magnitude = fmax(d->max_magnitude, fabs(x));
        }
    }
    // The absolute part is of the largest magnitude in the output: elements near zero are sums that
    // cancelled, and their relative error says nothing.
    double floor_abs = tol.steps ? tol.absolute : tol.absolute * d->max_magnitude;
    for (uint64_t i = 0; i < o->elements; i++) {
        double x = number_at(a, i), y = number_at(b, i);
        d->nan_a += isnan(x) != 0;
        d->nan_b += isnan(y) != 0;
        d->nan_both += isnan(x) && isnan(y);
        d->not_finite += !isfinite(x) && !isfinite(y);
        finite += isfinite(x) && isfinite(y);
        rounding += isfinite(x) ? rounded_off(b, x) * rounded_off(b, x) : 0;
        // The same NaN in both is no difference; equal infinities are equal.
        if ((isnan(x) && isnan(y)) || x == y) {
            if (isfinite(x)) {
                dot += x * y;
                aa += x * x;
                bb += y * y;
            }
            continue;
        }
        if (!isfinite(x) || !isfinite(y)) {
            d->max_abs = (double)INFINITY;
            d->mismatched++;
            continue;
        }
        dot += x * y;
        aa += x * x;
        bb += y * y;
        noise += (x - y) * (x - y);
        double diff = fabs(x - y), larger = fmax(fabs(x), fabs(y));
        d->max_abs = fmax(d->max_abs, diff);
        if (larger > floor_abs) {
            d->max_rel = fmax(d->max_rel, diff / larger);
        }
        d->mismatched += diff > floor_abs + tol.relative * larger;
    }
    const bool zeros = aa == 0 || bb == 0; // all of one side, or of both, which are then alike
    d->cosine = zeros ? (double)(aa == bb) : dot / sqrt(aa * bb);
    d->cosine = etp_value_if(finite > 0 || o->elements == 0, d->cosine);
    d->power = aa;
    d->rounding = rounding > 0 ? rounding / aa : 0;
    d->snr_db = 10 * log10(aa / noise);
    // Under one large element everything else could be noise and still lie within a part of it.
    d->within = d->mismatched == 0 && (tol.steps || !(d->cosine < MIN_COSINE));
}

static uint64_t largest_of(const numbers *x, uint64_t from, uint64_t n)
{
    uint64_t best = 0;
    double top = number_at(x, from);
    for (uint64_t i = 1; i < n; i++) {
        double v = number_at(x, from + i);
        // The first of equal ones; a NaN is never the largest.
        if (v > top || (isnan(top) && !isnan(v))) {
            top = v;
            best = i;
        }
    }
    return best;
}

static etp_status open_data(const folder *f, const output *o, etp_arena *arena, etp_file *out,
                            etp_error *err)
{
    const char *path = etp_arena_printf(arena, "%s/%s", f->dir, o->file);
    ETP_TRY(etp_file_open(path, DATA_LIMIT, out, err));
    if (out->bytes.len != bytes_of(o)) {
        etp_status status = etp_fail(err, ETP_CORRUPT, "%s has %zu bytes, its shape needs %llu",
                                     path, out->bytes.len, (unsigned long long)bytes_of(o));
        etp_file_close(out);
        return status;
    }
    return ETP_OK;
}

// Elements are compared byte position by byte position: that is right only where both lie in the
// same order.
static bool same_shape(const output *a, const output *b)
{
    return a->n_dims == b->n_dims && !a->file == !b->file &&
           memcmp(a->dims, b->dims, a->n_dims * sizeof *a->dims) == 0 &&
           memcmp(a->order, b->order, a->n_dims * sizeof *a->order) == 0;
}

static bool same_layout(const output *a, const output *b)
{
    return a->type == b->type && same_shape(a, b);
}

// float32 2×3
static const char *layout_text(const output *o, etp_arena *arena)
{
    const char *text = etp_dtype_name(o->type);
    for (size_t i = 0; i < o->n_dims; i++) {
        text = etp_arena_printf(arena, "%s%s%llu", text, i ? "×" : " ",
                                (unsigned long long)o->dims[i]);
    }
    return text;
}

static void set_reason(etp_outputs_comparison *out, const char *why)
{
    out->ok = false;
    out->why = ETP_OR(out->why, why);
}

// ANY_TYPE: of whatever types, as the numbers that they stand for.
static etp_status compare_output(const folder *fa, const folder *fb, size_t i,
                                 etp_output_precision precision, bool any_type, etp_arena *arena,
                                 etp_outputs_comparison *out, etp_error *err)
{
    const output *a = &fa->items[i], *b = &fb->items[i];
    if (any_type ? !same_shape(a, b) : !same_layout(a, b)) {
        set_reason(out,
                   etp_arena_printf(arena, "output %zu differs in type or shape: %s against %s", i,
                                    layout_text(b, arena), layout_text(a, arena)));
        return ETP_OK;
    }
    // Neither of them has the data (same_layout): an output that no runner could write is no
    // difference.
    if (!a->file) {
        return ETP_OK;
    }
    etp_file x, y;
    ETP_TRY(open_data(fa, a, arena, &x, err));
    etp_status status = open_data(fb, b, arena, &y, err);
    if (status == ETP_OK) {
        etp_output_difference *d = &out->outputs[out->n++];
        *d = (etp_output_difference){
            .index = i, .dtype = etp_dtype_name(a->type), .elements = a->elements};
        const numbers na = {x.bytes.ptr, a->type, fa->scale, fa->zero};
        const numbers nb = {y.bytes.ptr, b->type, fb->scale, fb->zero};
        const etp_dtype type = any_type ? ETP_DTYPE_FLOAT32 : a->type;
        compare_elements(&na, &nb, a, tolerance_for(type, precision), d);
        // What a classifier would answer. Only where the last dimension lies together in memory.
        uint64_t n = a->n_dims > 0 ? a->dims[a->n_dims - 1] : 0;
        if (n >= 2 && a->elements > 0 && a->order[a->n_dims - 1] == a->n_dims - 1) {
            for (uint64_t at = 0; at < a->elements; at += n) {
                d->rows++;
                d->same_argmax += largest_of(&na, at, n) == largest_of(&nb, at, n);
            }
        }
        if (d->rows > 0) {
            out->argmax = fmin(out->argmax, (double)d->same_argmax / (double)d->rows);
        }
        out->max_abs = fmax(out->max_abs, d->max_abs); // fmax passes over a NAN
        out->max_rel = fmax(out->max_rel, d->max_rel);
        out->cosine = fmin(out->cosine, d->cosine);
        out->elements += d->elements;
        out->varied += d->varies;
        out->nan_both += d->nan_both;
        out->not_finite += d->elements > 0 && d->not_finite == d->elements;
        if (!d->within) {
            const char *by = isfinite(d->max_abs)
                                 ? etp_arena_printf(arena, "by up to %s", ETP_DIGITS(d->max_abs, 6))
                                 : "infinities or NaN of one side alone among them";
            set_reason(out,
                       etp_arena_printf(arena, "output %zu (%s): %llu of %llu elements differ, %s",
                                        i, d->dtype, (unsigned long long)d->mismatched,
                                        (unsigned long long)d->elements, by));
        }
        etp_file_close(&y);
    }
    etp_file_close(&x);
    return status;
}

static etp_status compare(const etp_outputs_side *side_a, const etp_outputs_side *side_b,
                          etp_output_precision precision, bool any_type, etp_arena *arena,
                          etp_outputs_comparison *out, etp_error *err)
{
    *out = (etp_outputs_comparison){.ok = true,
                                    .max_abs = (double)NAN,
                                    .max_rel = (double)NAN,
                                    .cosine = (double)NAN,
                                    .argmax = (double)NAN};
    folder a, b;
    ETP_TRY(read_folder(side_a, arena, &a, err));
    ETP_TRY(read_folder(side_b, arena, &b, err));
    out->outputs = ETP_NEW_ARRAY(arena, etp_output_difference, a.n);
    ETP_NEED(out->outputs, err, "outputs");
    // Those that both have are compared all the same: the figures say more than the count.
    if (a.n != b.n) {
        set_reason(out, etp_arena_printf(arena, "%zu outputs against %zu", a.n, b.n));
    }
    for (size_t i = 0; i < a.n && i < b.n; i++) {
        ETP_TRY(compare_output(&a, &b, i, precision, any_type, arena, out, err));
    }
    return ETP_OK;
}

// Files and their JSON are held on the way, so whoever asks for memory below looks at it.
etp_status etp_outputs_compare(const char *dir_a, const char *dir_b, etp_output_precision precision,
                               etp_arena *arena, etp_outputs_comparison *out, etp_error *err)
{
    const etp_outputs_side a = {.dir = dir_a}, b = {.dir = dir_b};
    ETP_UNGUARDED(arena, compare(&a, &b, precision, false, arena, out, err));
}

etp_status etp_outputs_numbers(const etp_outputs_side *a, const etp_outputs_side *b,
                               etp_arena *arena, etp_outputs_comparison *out, etp_error *err)
{
    ETP_UNGUARDED(arena, compare(a, b, ETP_OUTPUTS_INT8, true, arena, out, err));
}

static etp_status same_bytes(const folder *fa, const folder *fb, size_t i, etp_arena *arena,
                             bool *out, etp_error *err)
{
    const output *a = &fa->items[i], *b = &fb->items[i];
    *out = same_layout(a, b);
    if (!*out || !a->file) {
        return ETP_OK;
    }
    etp_file x = {0}, y = {0};
    etp_status st = open_data(fa, a, arena, &x, err);
    if (st == ETP_OK) {
        st = open_data(fb, b, arena, &y, err);
        *out = st == ETP_OK && memcmp(x.bytes.ptr, y.bytes.ptr, x.bytes.len) == 0;
        etp_file_close(&y);
    }
    etp_file_close(&x);
    return st;
}

static etp_status equal(const char *dir_a, const char *dir_b, etp_arena *arena, bool *out,
                        etp_error *err)
{
    const etp_outputs_side a = {.dir = dir_a}, b = {.dir = dir_b};
    folder fa, fb;
    ETP_TRY(read_folder(&a, arena, &fa, err));
    ETP_TRY(read_folder(&b, arena, &fb, err));
    *out = fa.n == fb.n;
    for (size_t i = 0; *out && i < fa.n; i++) {
        ETP_TRY(same_bytes(&fa, &fb, i, arena, out, err));
    }
    return ETP_OK;
}

etp_status etp_outputs_equal(const char *dir_a, const char *dir_b, etp_arena *arena, bool *out,
                             etp_error *err)
{
    ETP_UNGUARDED(arena, equal(dir_a, dir_b, arena, out, err));
}
