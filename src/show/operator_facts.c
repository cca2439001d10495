// SPDX-License-Identifier: Apache-2.0
// What is known of an operator beside its times: kernels, shapes, work, neighbours, source.
#include <inttypes.h>

#include "base/number.h"
#include "inspect/inspect.h"
#include "show/graph.h"

enum { SHAPES = 8 };

// "1×64 float32, 64×10 int8 (weight)"
static const char *shapes_text(const etp_op_facts *f, const uint32_t *values, uint32_t n,
                               etp_arena *arena)
{
    etp_strbuf text;
    etp_strbuf_init(&text, arena);
    for (uint32_t i = 0; i < n && i < SHAPES; i++) {
        const etp_value *v = &f->values[values[i]];
        char buf[ETP_SHAPE_CHARS];
        etp_strbuf_printf(&text, "%s%s%s", etp_if(i, ", "), etp_shape_text(v, buf),
                          etp_if(v->constant, " (weight)"));
    }
    if (n > SHAPES) {
        etp_strbuf_printf(&text, " and %" PRIu32 " more", n - SHAPES);
    }
    return text.len ? etp_strbuf_str(&text).ptr : "–";
}

// "37.75 million MACs, "
static void count_text(uint64_t n, const char *of, char buf[static 48])
{
    if (n >= 1000000) {
        snprintf(buf, 48, "%s million %s, ", ETP_DIGITS((double)n / 1e6, 4), of);
    } else if (n) {
        snprintf(buf, 48, "%" PRIu64 " %s, ", n, of);
    }
}

// "AVX2 kernel": without its operator, where that is the one of the drawer, and its place, which
// the table of kernels has; "" where none was seen.
static const char *kernel_title(const etp_kernels *k, const etp_kernel_op *seen,
                                const etp_ab_operator *op, etp_arena *arena)
{
    const etp_kernel *kernel = seen->kernel != ETP_NO_INDEX ? &k->kernels[seen->kernel] : NULL;
    if (!kernel || !kernel->kind) {
        return kernel ? kernel->title : "";
    }
    bool own = etp_str_starts(etp_str_from(op->label), kernel->of);
    return own ? kernel->kind
               : etp_arena_printf(arena, "%s of %.*s", kernel->kind, ETP_STR_ARG(kernel->of));
}

static void neighbour_keys(const etp_ab *ab, const etp_ab_operator *op, etp_keys *keys,
                           etp_arena *arena)
{
    etp_strbuf from, to;
    etp_strbuf_init(&from, arena);
    etp_strbuf_init(&to, arena);
    for (size_t i = 0; i < op->makers.n; i++) {
        const etp_ab_operator *maker = &ab->operators[op->makers.items[i]];
        etp_strbuf_printf(&from, "%s%s", etp_if(i, ", "), maker->id);
    }
    for (size_t i = 0; i < ab->n_operators; i++) {
        const etp_ab_operator *taker = &ab->operators[i];
        for (size_t k = 0; k < taker->makers.n; k++) {
            if (&ab->operators[taker->makers.items[k]] == op) {
                etp_strbuf_printf(&to, "%s%s", etp_if(to.len, ", "), taker->id);
            }
        }
    }
    if (from.len || to.len) {
        etp_keys_add(keys, ETP_PLAIN, "graph", "%s → this → %s", from.len ? from.ptr : "input",
                     to.len ? to.ptr : "output");
    }
}

void etp_ab_operator_facts(const etp_ab *ab, const etp_ab_operator *op, etp_report *r,
                           etp_keys *keys, etp_arena *arena)
{
    for (size_t i = 0; i < ab->n_arms; i++) {
        uint32_t a = ab->shown[i];
        const etp_kernels *k = ab->arms[a].kernels;
        const etp_kernel_op *seen =
            k && op->rows[a]
                ? etp_kernels_find_op(k, op->names[a], op->rows[a]->chain, op->rows[a]->instruction)
                : NULL;
        if (!seen || seen->samples == 0) {
            continue;
        }
        etp_strbuf text;
        etp_strbuf_init(&text, arena);
        for (int c = 0; c < ETP_CODES; c++) {
            // All in one class: the number is said already.
            if (seen->of[c] == seen->samples) {
                etp_strbuf_printf(&text, ", %s", etp_code_name((etp_code)c));
            } else if (seen->of[c]) {
                etp_strbuf_printf(&text, "%s %" PRIu64 " %s", text.len ? "," : ":", seen->of[c],
                                  etp_code_name((etp_code)c));
            }
        }
        const char *title = kernel_title(k, seen, op, arena);
        etp_keys_add(keys, ETP_PLAIN, "kernels", "%s: %" PRIu64 " sample%s%s%s%s",
                     ab->arms[a].measured, seen->samples, etp_if(seen->samples != 1, "s"),
                     etp_strbuf_str(&text).ptr, etp_if(title[0], "; most in "), title);
    }
    const etp_op_facts *f = op->facts ? &op->facts->op : NULL;
    if (f) {
        if (f->n_inputs || f->n_outputs) {
            etp_keys_add(keys, ETP_PLAIN, "shapes", "%s → %s",
                         shapes_text(f, f->inputs, f->n_inputs, arena),
                         shapes_text(f, f->outputs, f->n_outputs, arena));
        }
        if (f->work.known) {
            bool weights = f->weight_bytes != ETP_BYTES_UNKNOWN && f->weight_bytes > 0;
            char macs[48] = "", ops[48] = "";
            count_text(f->work.macs, "MACs", macs);
            count_text(f->work.ops, "operations", ops);
            etp_keys_add(keys, ETP_PLAIN, "work", "%s%s%s moved%s%s%s", macs, ops,
                         ETP_BYTES(f->work.bytes), etp_if(weights, ", of them weights "),
                         etp_if(weights, ETP_BYTES(f->weight_bytes)),
                         etp_if(f->work.bound, " (at most)"));
        }
    }
    neighbour_keys(ab, op, keys, arena);
    // The frames of a stack that are the model's own, with their lines of code, innermost first.
    if (!op->source_file) {
        return;
    }
    etp_keys_add(keys, ETP_PLAIN, "source", "%s:%u %s", op->source_file, op->source_line,
                 ETP_OR(op->module, ""));
    if (op->facts && op->facts->has_source && op->facts->source.stack.len) {
        // The innermost frames are at the end: a stack that is too long loses its beginning, up to
        // a whole line.
        enum { MOST = 1200 };
        etp_str s = op->facts->source.stack;
        size_t from = ETP_LESS(s.len, MOST);
        while (from > 0 && from < s.len && s.ptr[from - 1] != '\n') {
            from++;
        }
        etp_report_code(r, "Where the model says it", (etp_str){s.ptr + from, s.len - from});
    }
}
