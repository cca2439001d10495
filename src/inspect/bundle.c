// SPDX-License-Identifier: Apache-2.0
// Are the tensors of a bundled program's test cases what their shapes say?
#include <inttypes.h>

#include "base/sink.h"
#include "inspect/inspect.h"

// More than ExecuTorch's loader of bundled programs takes.
#define MOST_DIMENSIONS 16

// "2×4 float32"
static const char *shape_text(const etp_bundled_value *v, etp_arena *arena)
{
    etp_strbuf text;
    etp_strbuf_init(&text, arena);
    for (uint32_t i = 0; i < v->u.tensor.sizes.n; i++) {
        etp_strbuf_printf(&text, "%s%" PRId32, etp_if(i, "×"), etp_i32_at(v->u.tensor.sizes, i));
    }
    etp_strbuf_printf(&text, "%s%s", etp_if(v->u.tensor.sizes.n, " "),
                      etp_dtype_name(v->u.tensor.dtype));
    return text.ptr;
}

// NULL: the data fit, or nobody can tell, as with types of less than a byte.
// ExecuTorch takes the shape's word for how many bytes there are and reads beyond them.
static const char *problem_of(const etp_bundled_value *v, etp_arena *arena)
{
    etp_i32s sizes = v->u.tensor.sizes;
    unsigned bits = etp_dtype_bits(v->u.tensor.dtype);
    uint64_t n = 1, bytes = 0;
    bool fits = true;
    if (sizes.n > MOST_DIMENSIONS) {
        return etp_arena_printf(arena, "%" PRIu32 " dimensions", sizes.n);
    }
    for (uint32_t i = 0; i < sizes.n; i++) {
        int32_t d = etp_i32_at(sizes, i);
        if (d < 0) {
            return etp_arena_printf(arena, "a dimension of %" PRId32 " elements", d);
        }
        fits = fits && (d == 0 || n <= UINT64_MAX / (uint64_t)d);
        n *= (uint64_t)d;
    }
    if (bits == 0 || bits % 8 != 0) {
        return NULL;
    }
    if (!fits || !etp_dtype_bytes(v->u.tensor.dtype, n, &bytes)) {
        return etp_arena_printf(arena, "no memory holds %s", shape_text(v, arena));
    }
    return bytes == v->u.tensor.data.len
               ? NULL
               : etp_arena_printf(arena, "%zu bytes of data, %s has %" PRIu64, v->u.tensor.data.len,
                                  shape_text(v, arena), bytes);
}

typedef struct search {
    etp_arena *arena;
    const char *first; // NULL: none so far
} search;

static void look(search *s, const etp_bundled_suite *suite, uint32_t test, const char *what,
                 const etp_bundled_value *values, uint32_t n)
{
    for (uint32_t i = 0; i < n && !s->first; i++) {
        const char *problem =
            values[i].kind == ETP_EVALUE_TENSOR ? problem_of(&values[i], s->arena) : NULL;
        if (problem) {
            s->first =
                etp_arena_printf(s->arena, "method %.*s, case %" PRIu32 ", %s %" PRIu32 ": %s",
                                 ETP_STR_ARG(suite->method), test, what, i, problem);
        }
    }
}

const char *etp_inspect_bundle_problem(const etp_bundled *bundled, etp_arena *arena)
{
    search s = {.arena = arena};
    for (uint32_t i = 0; i < bundled->n_suites; i++) {
        const etp_bundled_suite *suite = &bundled->suites[i];
        for (uint32_t k = 0; k < suite->n_cases; k++) {
            const etp_bundled_case *test = &suite->cases[k];
            look(&s, suite, k, "input", test->inputs, test->n_inputs);
            look(&s, suite, k, "expected output", test->expected, test->n_expected);
        }
    }
    return s.first;
}
