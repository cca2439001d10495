// SPDX-License-Identifier: Apache-2.0
// `etprof inspect --tree`: a program as an indented list of instructions and nodes.
#include "base/path.h"
#include "inspect/inspect.h"

#include <inttypes.h>

static void values_text(const etp_value *values, const uint32_t *ids, uint32_t n, etp_sink *out)
{
    for (uint32_t i = 0; i < n; i++) {
        etp_sink_z(out, etp_if(i, ", "));
        const etp_value *v = &values[ids[i]];
        // Scalars and lists are a dash; "≤" marks shapes that are upper bounds.
        if (v->kind != ETP_EVALUE_TENSOR) {
            etp_sink_z(out, "–");
            continue;
        }
        etp_sink_z(out, etp_dtype_name(v->dtype));
        etp_sink_char(out, '[');
        for (uint32_t d = 0; d < v->rank; d++) {
            etp_sink_printf(out, "%s%" PRId64, etp_if(d, ","), v->dims[d]);
        }
        etp_sink_z(out, v->dynamic ? "]≤" : "]");
    }
}

// File and module are asked for apart: a node's metadata may have either without the other.
static void source_text(const etp_source *s, etp_sink *out)
{
    if (s && s->file.len) {
        etp_sink_printf(out, "  @%.*s:%" PRIu32, ETP_STR_ARG(s->file), s->line);
    }
    if (s && s->module.len) {
        etp_sink_printf(out, " %.*s", ETP_STR_ARG(s->module));
    }
}

static void work_text(const etp_work *w, etp_sink *out)
{
    if (w->known && w->macs > 0) {
        etp_sink_printf(out, "  %s%" PRIu64 " MACs", etp_if(w->bound, "≤"), w->macs);
    } else if (w->problem) {
        etp_sink_printf(out, "  (%s)", w->problem);
    }
}

static void instruction_text(const etp_inspect *in, const etp_method *m, const etp_instruction *i,
                             etp_sink *out)
{
    static const char *const k_kinds[] = {"none",        "kernel", "delegate", "move",
                                          "jump unless", "free",   "unknown"};
    etp_sink_printf(out, "  %4" PRIu32 " %s ", i->index, k_kinds[i->kind]);
    if (i->kind == ETP_INSTR_KERNEL || i->kind == ETP_INSTR_DELEGATE) {
        etp_sink_printf(out, "%.*s(", ETP_STR_ARG(i->op));
        values_text(m->values, i->inputs, i->n_inputs, out);
        etp_sink_z(out, ") → ");
        values_text(m->values, i->outputs, i->n_outputs, out);
    } else if (i->kind == ETP_INSTR_JUMP_FALSE) {
        etp_sink_printf(out, "to %" PRIu32, i->target);
    }
    work_text(&i->work, out);
    source_text(etp_inspect_call_source(in, m, i), out);
    // The place above comes from the ETRecord, this one from a program that was exported with stack
    // traces: either may be there, or both. Frames are outermost first, so the last is the line
    // that made the instruction.
    if (i->frames && i->frames->n > 0) {
        const etp_pte_frame *f = &i->frames->items[i->frames->n - 1];
        etp_sink_printf(out, "  @%.*s:%" PRId32, ETP_STR_ARG(f->file), f->line);
    }
    etp_sink_char(out, '\n');
    // The nodes of a partition follow its call, indented: a partition that is called twice is
    // listed twice, as it runs.
    if (i->kind != ETP_INSTR_DELEGATE) {
        return;
    }
    const etp_partition *p = &m->partitions[i->partition];
    if (p->problem) {
        etp_sink_printf(out, "       (%s)\n", p->problem);
    }
    for (uint32_t k = 0; k < p->n_nodes; k++) {
        const etp_node *n = &p->nodes[k];
        etp_sink_printf(out, "      %4" PRIu32 " %.*s(", n->index, ETP_STR_ARG(n->type_name));
        values_text(p->values, n->inputs, n->n_inputs, out);
        etp_sink_z(out, ") → ");
        values_text(p->values, n->outputs, n->n_outputs, out);
        work_text(&n->work, out);
        if (n->debug_handle >= 0) {
            etp_sink_printf(out, "  #%" PRId64, n->debug_handle);
        }
        source_text(etp_inspect_node_source(in, m, n), out);
        etp_sink_char(out, '\n');
    }
}

static void tree_text(const etp_inspect *in, etp_sink *out)
{
    for (uint32_t i = 0; i < in->program->n_methods; i++) {
        const etp_method *m = &in->program->methods[i];
        etp_sink_printf(out, "%.*s(", ETP_STR_ARG(m->name));
        values_text(m->values, m->inputs, m->n_inputs, out);
        etp_sink_z(out, ") → ");
        values_text(m->values, m->outputs, m->n_outputs, out);
        etp_sink_printf(out, "  %s%" PRIu64 " MACs\n", etp_if(m->bound, "≤"), m->macs);
        // Nearly every program has chain 0 alone, so only the further ones get a heading.
        uint32_t chain = 0;
        for (uint32_t k = 0; k < m->n_instructions; k++) {
            if (m->instructions[k].chain != chain) {
                chain = m->instructions[k].chain;
                etp_sink_printf(out, "  chain %" PRIu32 "\n", chain);
            }
            instruction_text(in, m, &m->instructions[k], out);
        }
    }
}

const etp_report *etp_inspect_tree(const etp_inspect *in, etp_arena *arena)
{
    etp_report *r = etp_report_create(arena, etp_path_name(in->path));
    etp_strbuf text;
    etp_strbuf_init(&text, arena);
    etp_sink sink = etp_sink_strbuf(&text);
    if (in->program) {
        tree_text(in, &sink);
    }
    // The report makes names of the file harmless for terminals.
    etp_report_listing(r, etp_strbuf_str(&text));
    return text.failed ? NULL : r;
}
