// SPDX-License-Identifier: Apache-2.0
// Next fixes for data that is moved or converted without need: batch norms beside their
// convolution, permutes that undo each other, layouts at the border, copies for a broadcast,
// islands of another data type; and what is left of copies and converts.
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "judge/fixes/fixes.h"

static bool family_is(const etp_fixer *f, uint32_t op, const char *family)
{
    const etp_profile_row *row = etp_fix_row(f, op);
    return row && etp_str_eqz(row->parsed.family, family);
}

static bool family_has(const etp_profile_row *row, const char *part)
{
    return row && etp_str_find(row->parsed.family, etp_str_from(part)) < row->parsed.family.len;
}

static bool is_portable(const etp_profile_row *row)
{
    return row && row->kind == ETP_ROW_PORTABLE;
}

static etp_category category_of(const etp_fixer *f, uint32_t op)
{
    return f->ab->operators[op].category;
}

// What ran just before OP in the same instruction, for recordings without a program.
static uint32_t previous(const etp_fixer *f, uint32_t op)
{
    const etp_profile_row *row = etp_fix_row(f, op);
    for (uint32_t i = op; i-- > 0;) {
        const etp_profile_row *before = etp_fix_row(f, i);
        if (before) {
            bool same = before->chain == row->chain && before->delegated == row->delegated &&
                        (!row->delegated || before->instruction == row->instruction);
            return same ? i : ETP_NO_INDEX;
        }
    }
    return ETP_NO_INDEX;
}

static uint32_t source_of(const etp_fixer *f, uint32_t op)
{
    return etp_fix_facts(f, op) ? etp_fix_producer(f, op) : previous(f, op);
}

// ---- batch norm ----

// The instruction of OP and the method it belongs to; NULL without a program.
static const etp_instruction *instruction_of(const etp_fixer *f, uint32_t op,
                                             const etp_method **out)
{
    const etp_profile *profile = f->ab->arms[f->arm].profile;
    const etp_profile_row *row = etp_fix_row(f, op);
    if (!etp_fix_facts(f, op)) {
        return NULL;
    }
    const etp_row_facts *rf = &profile->facts->rows[row - profile->rows];
    if (rf->method >= profile->facts->program->n_methods) {
        return NULL;
    }
    *out = &profile->facts->program->methods[rf->method];
    uint32_t at =
        etp_method_find_instruction(*out, (uint32_t)row->chain, (uint32_t)row->instruction);
    return at == ETP_NO_INDEX ? NULL : &(*out)->instructions[at];
}

static const etp_node *maker_of(const etp_partition *p, uint32_t value)
{
    for (uint32_t i = 0; i < p->n_nodes; i++) {
        for (uint32_t k = 0; k < p->nodes[i].n_outputs; k++) {
            if (p->nodes[i].outputs[k] == value) {
                return &p->nodes[i];
            }
        }
    }
    return NULL;
}

static uint64_t elements(const etp_value *v)
{
    uint64_t n = 1;
    for (uint32_t i = 0; i < v->rank; i++) {
        n *= v->dims[i] > 0 && v->dims[i] < INT32_MAX ? (uint64_t)v->dims[i] : 1;
    }
    return n;
}

// VALUE of the partition that CALL runs is computed from weights alone; adds the operators that do
// it.
static bool from_weights(etp_fixer *f, const etp_partition *p, const etp_method *m,
                         const etp_instruction *call, uint32_t value, etp_fix_found *with,
                         int depth)
{
    uint32_t arg = p->values[value].external;
    if (p->values[value].constant ||
        (arg < call->n_inputs && m->values[call->inputs[arg]].constant)) {
        return true;
    }
    const etp_node *maker = maker_of(p, value);
    uint32_t owner = maker ? etp_fix_owner(f, p, maker->index) : ETP_NO_INDEX;
    bool ok = maker && maker->n_inputs > 0 && depth > 0;
    for (uint32_t i = 0; ok && i < maker->n_inputs; i++) {
        ok = from_weights(f, p, m, call, maker->inputs[i], with, depth - 1);
    }
    if (ok && owner != ETP_NO_INDEX) {
        etp_fix_add_op(f, with, owner);
    }
    return ok;
}

// OP's smaller operand is a weight with one value per channel, or one for all, perhaps reshaped or
// computed from weights on its way; adds the operators that do that. Without a program the names
// have to do.
static bool by_weight(etp_fixer *f, uint32_t op, etp_fix_found *with)
{
    enum { DEPTH = 8 };
    const etp_partition *p;
    const etp_method *m = NULL;
    const etp_node *node = etp_fix_node(f, op, &p);
    const etp_instruction *call = instruction_of(f, op, &m);
    if (!node || !call || node->n_inputs != 2) {
        return !etp_fix_facts(f, op);
    }
    uint32_t data = etp_fix_data_input(p->values, node->inputs, 2);
    uint32_t other = node->inputs[node->inputs[0] == data];
    const etp_value *out = &p->values[node->outputs[0]];
    uint64_t channels = out->rank ? (uint64_t)out->dims[out->rank - 1] : 0;
    return (elements(&p->values[other]) == channels || elements(&p->values[other]) == 1) &&
           from_weights(f, p, m, call, other, with, DEPTH);
}

// OP adds a weight to a convolution's result times a weight: everything that goes with it is added.
static void add_affine(etp_fixer *f, uint32_t op, etp_fix_found *at)
{
    etp_fix_found own = {0};
    uint32_t scale = source_of(f, op);
    if (scale == ETP_NO_INDEX || !family_is(f, scale, "Multiply") || !by_weight(f, scale, &own) ||
        !by_weight(f, op, &own)) {
        return;
    }
    uint32_t conv = source_of(f, scale);
    if (conv == ETP_NO_INDEX ||
        (category_of(f, conv) != ETP_CATEGORY_CONVOLUTION &&
         !family_is(f, conv, "Fully Connected"))) { // XNNPACK's 1×1 convolution
        return;
    }
    etp_fix_add_op(f, &own, scale);
    etp_fix_add_op(f, &own, op);
    // A clamp right behind OP, which XNNPACK made of OP's own limits or of a node: it is merged
    // into the convolution once nothing is between them.
    uint32_t next = op + 1;
    while (next < f->ab->n_operators && !etp_fix_row(f, next)) {
        next++;
    }
    if (next < f->ab->n_operators && family_is(f, next, "Clamp") && previous(f, next) == op) {
        etp_fix_add_op(f, &own, next);
    }
    for (size_t i = 0; i < own.ops.n; i++) {
        etp_fix_add_op(f, at, own.ops.items[i]);
    }
}

static void batch_norm(etp_fixer *f)
{
    etp_fix_found at = {0};
    size_t kernels = 0;
    for (uint32_t i = 0; i < f->ab->n_operators; i++) {
        const etp_profile_row *row = etp_fix_row(f, i);
        bool kernel = is_portable(row) && family_has(row, "batch_norm") && etp_fix_op_ns(f, i) > 0;
        uint32_t from = kernel ? etp_fix_producer(f, i) : ETP_NO_INDEX;
        if (kernel && (from == ETP_NO_INDEX || category_of(f, from) == ETP_CATEGORY_CONVOLUTION)) {
            kernels++;
            etp_fix_add_op(f, &at, i);
        }
        if (family_is(f, i, "Add")) {
            add_affine(f, i, &at);
        }
    }
    etp_fix_goes_away(f, &at);
    etp_fix_show(f, &at,
                 &(etp_fix_words){
                     .kind = ETP_FIX_BATCH_NORM,
                     .one = kernels ? "batch norm not folded into its convolution"
                                    : "operator of a batch norm not folded into its convolution",
                     .many = kernels
                                 ? "batch norms not folded into their convolutions"
                                 : "operators of batch norms not folded into their convolutions",
                     .formula = etp_fix_k_goes_away,
                     .change = ETP_CHANGE_FOLD_CONV_BN});
}

// ---- permutes ----

enum { MAX_RANK = 8, MAX_CHAIN = 64 };

static bool is_permute(const etp_fixer *f, uint32_t op)
{
    const etp_profile_row *row = etp_fix_row(f, op);
    return row && etp_fix_op_ns(f, op) > 0 &&
           (etp_str_eqz(row->parsed.family, "Transpose") ||
            etp_str_eqz(row->parsed.family, "permute_copy") ||
            etp_str_eqz(row->parsed.family, "transpose_copy"));
}

// One tensor in and out, element by element: a permute can be moved across it.
static bool passes_through(const etp_fixer *f, uint32_t op)
{
    etp_category c = category_of(f, op);
    const etp_op_facts *facts = etp_fix_facts(f, op);
    uint32_t tensors = 0;
    for (uint32_t i = 0; facts && i < facts->n_inputs; i++) {
        const etp_value *v = &facts->values[facts->inputs[i]];
        tensors += v->kind == ETP_EVALUE_TENSOR && !v->constant;
    }
    return facts && tensors == 1 && (c == ETP_CATEGORY_ACTIVATION || c == ETP_CATEGORY_ELEMENTWISE);
}

// Written by the exporter beside a convolution, not by the model's author: then no recipe sees it.
static bool is_inserted(const etp_fixer *f, uint32_t op)
{
    const etp_partition *p;
    const etp_node *node = etp_fix_node(f, op, &p);
    return node && node->debug_handle < 0;
}

typedef struct permute_chain {
    uint32_t permutes[MAX_CHAIN]; // the last one first
    uint32_t between[MAX_CHAIN];  // elementwise operators that it crosses
    size_t n, n_between;
} permute_chain;

// The permute whose result OP permutes again, ETP_NO_INDEX. What lies between goes into CHAIN.
static uint32_t permute_before(const etp_fixer *f, uint32_t op, permute_chain *chain)
{
    size_t crossed = chain->n_between;
    uint32_t from = source_of(f, op);
    while (from != ETP_NO_INDEX && crossed < MAX_CHAIN && passes_through(f, from)) {
        chain->between[crossed++] = from;
        from = source_of(f, from);
    }
    if (from == ETP_NO_INDEX || !is_permute(f, from)) {
        return ETP_NO_INDEX;
    }
    chain->n_between = crossed;
    return from;
}

// Folds the axes of OP's permute into ORDER; false when they are not known.
static bool then_by(const etp_fixer *f, uint32_t op, uint32_t order[MAX_RANK], uint32_t *rank)
{
    const etp_partition *p;
    const etp_node *node = etp_fix_node(f, op, &p);
    if (!node || node->type != ETP_XNN_STATIC_TRANSPOSE || !node->xnn || node->xnn->list.n == 0 ||
        node->xnn->list.n > MAX_RANK || (*rank && *rank != node->xnn->list.n)) {
        return false;
    }
    uint32_t next[MAX_RANK];
    *rank = (uint32_t)node->xnn->list.n;
    for (uint32_t i = 0; i < *rank; i++) {
        uint32_t axis = (uint32_t)etp_i32_at(node->xnn->list, i);
        if (axis >= *rank) {
            return false;
        }
        next[i] = order[axis];
    }
    memcpy(order, next, sizeof next);
    return true;
}

// Adds a chain: all of it when the permutes undo each other, else all but one. XNNPACK can merge
// what lies between into its producer then, so it belongs to the ceiling.
static void add_chain(etp_fixer *f, const permute_chain *chain, etp_fix_found *at)
{
    uint32_t order[MAX_RANK], rank = 0;
    for (uint32_t i = 0; i < MAX_RANK; i++) {
        order[i] = i;
    }
    bool undone = true;
    etp_fix_found own = {0}, between = {0};
    double least = HUGE_VAL, most = 0;
    for (size_t i = chain->n; i-- > 0;) { // from the first on
        double ns = (double)etp_fix_op_ns(f, chain->permutes[i]);
        undone = undone && then_by(f, chain->permutes[i], order, &rank);
        least = fmin(least, ns);
        most = fmax(most, ns);
        etp_fix_add_op(f, &own, chain->permutes[i]);
        etp_fix_add_op(f, at, chain->permutes[i]);
    }
    for (size_t i = 0; i < chain->n_between; i++) {
        etp_fix_add_op(f, &between, chain->between[i]);
    }
    for (uint32_t i = 0; i < rank; i++) {
        undone = undone && order[i] == i;
    }
    etp_fix_time t = etp_fix_time_of(f, &own), b = etp_fix_time_of(f, &between);
    at->lo += undone ? t.lo : fmax(0, t.lo - most);
    at->expected += t.likely_more + (undone ? t.mean : t.mean - t.mean / (double)chain->n);
    at->hi += t.hi + t.most_more - (undone ? 0 : least) + b.hi + b.most_more;
}

static const char k_chain[] =
    "per chain: all its time when the permutes undo each other, else all but one "
    "(floor: without the longest, ceiling: without the shortest); ceiling also the elementwise "
    "operators "
    "between, which XNNPACK may merge into their producer then; + " ETP_FIX_BOOKED_ELSEWHERE;

static void permutes(etp_fixer *f)
{
    etp_fix_found at = {0}, mixed = {0};
    bool *inside = ETP_NEW_ARRAY(f->ab->arena, bool, f->ab->n_operators + 1);
    for (uint32_t i = (uint32_t)f->ab->n_operators; i-- > 0;) { // from the end: whole chains first
        permute_chain chain = {.n = 0};
        for (uint32_t op = i;
             op != ETP_NO_INDEX && chain.n < MAX_CHAIN && is_permute(f, op) && !inside[op];
             op = permute_before(f, op, &chain)) {
            chain.permutes[chain.n++] = op;
        }
        bool inserted = false;
        for (size_t k = 0; chain.n >= 2 && k < chain.n; k++) {
            inside[chain.permutes[k]] = true;
            inserted = inserted || is_inserted(f, chain.permutes[k]);
        }
        if (chain.n >= 2) {
            add_chain(f, &chain, inserted ? &mixed : &at);
        }
    }
    etp_fix_show(
        f, &mixed,
        &(etp_fix_words){
            .kind = ETP_FIX_RESHAPE_CHAIN,
            .one = "permute beside a convolution's own change of layout",
            .many = "permutes beside convolutions' own changes of layout",
            .advice = "the exporter reorders what a convolution takes or makes, the model permutes "
                      "it again: leave the model's permute out and work on channels last there",
            .formula = k_chain});
    if (etp_fix_has_safe_softmax(f)) {
        return;
    }
    etp_fix_show(f, &at,
                 &(etp_fix_words){.kind = ETP_FIX_RESHAPE_CHAIN,
                                  .one = "permute of data permuted just before",
                                  .many = "permutes of data permuted just before",
                                  .formula = k_chain,
                                  .change = ETP_CHANGE_FOLD_TRANSPOSES});
}

// Neighbours that only move data: several copies of the same elements where one may do.
static void copies_in_a_row(etp_fixer *f)
{
    etp_fix_found at = {0};
    double first = 0;
    for (uint32_t i = 0; i < f->ab->n_operators; i++) {
        bool moves = category_of(f, i) == ETP_CATEGORY_DATA_MOVEMENT && etp_fix_op_ns(f, i) > 0 &&
                     !f->covered[i];
        uint32_t from = moves ? source_of(f, i) : ETP_NO_INDEX;
        if (from == ETP_NO_INDEX || f->covered[from] || etp_fix_op_ns(f, from) <= 0 ||
            category_of(f, from) != ETP_CATEGORY_DATA_MOVEMENT) {
            continue;
        }
        size_t before = at.ops.n;
        etp_fix_add_op(f, &at, from);
        first += at.ops.n > before ? (double)etp_fix_op_ns(f, from) : 0;
        etp_fix_add_op(f, &at, i);
    }
    etp_fix_time t = etp_fix_time_of(f, &at);
    at.expected = t.mean - first;
    at.hi = t.hi + t.most_more;
    etp_fix_show(
        f, &at,
        &(etp_fix_words){
            .kind = ETP_FIX_RESHAPE_CHAIN,
            .one = "operator that moves data moved just before",
            .many = "operators that move the same data several times in a row",
            .advice = "merge neighbouring view, permute and reshape calls of the model into one",
            .formula = "expected: Σ time of all but the first of each chain; ceiling: all of it; "
                       "floor: 0"});
}

// ---- the model's border ----

// OP only reorders an image that the method was given.
static bool reorders_input(const etp_fixer *f, uint32_t op)
{
    const etp_profile_row *row = etp_fix_row(f, op);
    const etp_op_facts *facts = etp_fix_facts(f, op);
    const etp_method *m = NULL;
    const etp_instruction *call = instruction_of(f, op, &m);
    if (!(is_permute(f, op) || family_has(row, "to_dim_order_copy")) || !facts || !call) {
        return false;
    }
    const etp_partition *p;
    const etp_node *node = etp_fix_node(f, op, &p);
    if (node && !is_inserted(f, op)) {
        return false; // the model's own
    }
    uint32_t value = node ? etp_fix_data_input(p->values, node->inputs, node->n_inputs)
                          : etp_fix_data_input(facts->values, facts->inputs, facts->n_inputs);
    if (node && value != ETP_NO_INDEX) {
        uint32_t arg = p->values[value].external;
        value = arg < call->n_inputs ? call->inputs[arg] : ETP_NO_INDEX;
    }
    for (uint32_t i = 0; value != ETP_NO_INDEX && i < m->n_inputs; i++) {
        if (m->inputs[i] == value) {
            return m->values[value].rank == 4;
        }
    }
    return false;
}

static bool is_image(const etp_value *v)
{
    return v->kind == ETP_EVALUE_TENSOR && v->rank == 4 && !(v->dims[2] == 1 && v->dims[3] == 1);
}

// OP only reorders an image that the method answers with: channels last, it is answered as it is.
static bool reorders_output(const etp_fixer *f, uint32_t op)
{
    const etp_method *m = NULL;
    const etp_instruction *call = instruction_of(f, op, &m);
    const etp_partition *p;
    const etp_node *node = etp_fix_node(f, op, &p);
    if (!call || !node || !is_permute(f, op) || !is_inserted(f, op) || node->n_outputs != 1) {
        return false;
    }
    uint32_t arg = p->values[node->outputs[0]].external;
    uint32_t at = arg >= call->n_inputs && arg - call->n_inputs < call->n_outputs
                      ? call->outputs[arg - call->n_inputs]
                      : ETP_NO_INDEX;
    for (uint32_t i = 0; at != ETP_NO_INDEX && i < m->n_outputs; i++) {
        if (m->outputs[i] == at) {
            return is_image(&m->values[at]);
        }
    }
    return false;
}

// An image that leaves the instruction of OP: channels last there, somebody may have to copy it
// back.
static bool images_leave(const etp_fixer *f, uint32_t op)
{
    const etp_method *m = NULL;
    const etp_instruction *call = instruction_of(f, op, &m);
    for (uint32_t i = 0; call && i < call->n_outputs; i++) {
        if (is_image(&m->values[call->outputs[i]])) {
            return true;
        }
    }
    return false;
}

// What channels last adds: an image that another partition takes is copied back and forth there,
// unless it is channels last on both sides; nobody knows before the export, so it is counted as two
// copies.
static double copies_added(const etp_fixer *f, uint32_t op)
{
    const etp_method *m = NULL;
    const etp_instruction *call = instruction_of(f, op, &m);
    double bytes = 0;
    for (uint32_t i = 0; call && i < call->n_outputs; i++) {
        const etp_value *v = &m->values[call->outputs[i]];
        bool answer = false;
        for (uint32_t k = 0; k < m->n_outputs; k++) {
            answer = answer || m->outputs[k] == call->outputs[i];
        }
        bytes += is_image(v) && !answer && etp_fix_knows_bytes(v) ? 4 * (double)v->bytes : 0;
    }
    return bytes > 0 ? bytes / f->best_rate : 0;
}

static void border(etp_fixer *f)
{
    etp_fix_found at = {0};
    bool images = false, inputs = false;
    double added = 0;
    // Kernels outside delegates that take an image: some refuse channels last, some compute
    // something else, so that the export's own check fails.
    for (uint32_t i = 0; i < f->ab->n_operators; i++) {
        const etp_op_facts *facts = etp_fix_facts(f, i);
        const etp_profile_row *row = etp_fix_row(f, i);
        bool mine = is_portable(row) && !family_has(row, "to_dim_order_copy");
        for (uint32_t k = 0; mine && facts && k < facts->n_inputs; k++) {
            const etp_value *v = &facts->values[facts->inputs[k]];
            if (!v->constant && is_image(v)) {
                return;
            }
        }
    }
    for (uint32_t i = 0; i < f->ab->n_operators; i++) {
        bool in = !f->covered[i] && reorders_input(f, i);
        bool mine = in || (!f->covered[i] && reorders_output(f, i));
        added += in ? copies_added(f, i) : 0;
        images = images || (mine && images_leave(f, i));
        inputs = inputs || in;
        if (mine) {
            etp_fix_add_op(f, &at, i);
        }
    }
    if (!inputs) {
        return;
    }
    etp_fix_goes_away(f, &at);
    at.expected = etp_value_if(isfinite(added), at.expected - added);
    at.lo = images ? 0 : at.lo;
    etp_fix_show(
        f, &at,
        &(etp_fix_words){
            .kind = ETP_FIX_BORDER_LAYOUT,
            .one = "transpose of an image at the model's border",
            .many = "transposes of images at the model's border",
            .advice = "pass images channels last, and take them back so",
            .formula = images ? "expected: Σ time − two copies of each image that goes from one "
                                "partition to another; ceiling: the 95 % interval over the blocks "
                                "+ truncation; floor 0: images leave the delegate, and who takes "
                                "them channels last may copy them back, which can cost more"
                              : etp_fix_k_goes_away,
            .change = ETP_CHANGE_CHANNELS_LAST});
}

static void broadcast(etp_fixer *f)
{
    etp_fix_found at = {0};
    if (etp_fix_has_safe_softmax(f)) {
        return; // torch's own attention wrote them
    }
    for (uint32_t i = 0; i < f->ab->n_operators; i++) {
        const etp_profile_row *row = etp_fix_row(f, i);
        if (is_portable(row) && etp_str_eqz(row->parsed.family, "expand_copy") &&
            etp_fix_op_ns(f, i) > 0) {
            etp_fix_add_op(f, &at, i);
        }
    }
    etp_fix_goes_away(f, &at);
    etp_fix_show(
        f, &at,
        &(etp_fix_words){.kind = ETP_FIX_BROADCAST,
                         .one = "unneeded expand_copy operator before a batched matrix product",
                         .many = "unneeded expand_copy operators before batched matrix products",
                         .formula = etp_fix_k_goes_away,
                         .change = ETP_CHANGE_FOLD_EXPAND});
}

// ---- islands of another type ----

static bool is_quantised(etp_dtype t)
{
    return t == ETP_DTYPE_QINT8 || t == ETP_DTYPE_QUINT8;
}

static bool is_number(etp_dtype t)
{
    return t == ETP_DTYPE_FLOAT32 || t == ETP_DTYPE_FLOAT16;
}

// OP turns int8 into floats, or floats into int8. The program says it, else the name.
static bool converts(const etp_fixer *f, uint32_t op, bool to_float)
{
    const etp_profile_row *row = etp_fix_row(f, op);
    const etp_partition *p;
    const etp_node *node = etp_fix_node(f, op, &p);
    if (!row || row->parsed.category != ETP_CATEGORY_QUANTIZE) {
        return false;
    }
    if (node && node->n_inputs && node->n_outputs) {
        etp_dtype from = p->values[node->inputs[0]].dtype, to = p->values[node->outputs[0]].dtype;
        return to_float ? is_quantised(from) && is_number(to) : is_number(from) && is_quantised(to);
    }
    etp_str from = row->parsed.n_dtypes > 1 ? row->parsed.dtypes[0] : ETP_STR("");
    etp_str to = row->parsed.n_dtypes > 1 ? row->parsed.dtypes[1] : ETP_STR("");
    etp_str number = to_float ? to : from, quantised = to_float ? from : to;
    return (etp_str_eqz(number, "F32") || etp_str_eqz(number, "F16")) &&
           (etp_str_eqz(quantised, "QS8") || etp_str_eqz(quantised, "QU8"));
}

// The convolution that takes what OP makes, ETP_NO_INDEX.
static uint32_t convolution_behind(const etp_fixer *f, uint32_t op)
{
    for (uint32_t i = op + 1; i < f->ab->n_operators; i++) {
        if (etp_fix_row(f, i) && category_of(f, i) == ETP_CATEGORY_CONVOLUTION &&
            source_of(f, i) == op) {
            return i;
        }
    }
    return ETP_NO_INDEX;
}

// OP pads more behind an image than before it, or the other way round.
static bool is_uneven(const etp_fixer *f, uint32_t op)
{
    const etp_partition *p;
    const etp_node *node = etp_fix_node(f, op, &p);
    bool uneven = false;
    for (size_t i = 0; node && node->xnn && i < node->xnn->list.n && i < node->xnn->list2.n; i++) {
        uneven = uneven || etp_i32_at(node->xnn->list, i) != etp_i32_at(node->xnn->list2, i);
    }
    return uneven;
}

// Further time of CONV when it takes an uneven pad over: its kernel gets a row and a column more.
static double longer_kernel(const etp_fixer *f, uint32_t pad, uint32_t conv)
{
    const etp_op_facts *facts = conv == ETP_NO_INDEX ? NULL : etp_fix_facts(f, conv);
    const etp_value *w = facts && facts->n_inputs > 1 ? &facts->values[facts->inputs[1]] : NULL;
    if (!w || w->rank != 4 || w->dims[1] <= 0 || w->dims[2] <= 0 || !is_uneven(f, pad)) {
        return 0;
    }
    double high = (double)w->dims[1], wide = (double)w->dims[2];
    return (double)etp_fix_op_ns(f, conv) * ((high + 1) * (wide + 1) / (high * wide) - 1);
}

// Dequantised, one operator, quantised again. Pads are folded into the convolution behind them,
// also the model's first operator; other operators stay, at best in a quarter of their time.
static void islands(etp_fixer *f, bool pads)
{
    etp_fix_found all = {0}, edges = {0};
    double inner = 0, longer = 0;
    for (uint32_t i = 0; i < f->ab->n_operators; i++) {
        uint32_t mid = converts(f, i, false) ? source_of(f, i) : ETP_NO_INDEX;
        if (mid == ETP_NO_INDEX || converts(f, mid, true) ||
            family_has(etp_fix_row(f, mid), "Pad") != pads) {
            continue;
        }
        uint32_t conv = pads ? convolution_behind(f, i) : ETP_NO_INDEX;
        // The recipe leaves an uneven pad before a depthwise convolution alone: its kernel would
        // have to grow, and there are no larger ones.
        const etp_profile_row *row = conv == ETP_NO_INDEX ? NULL : etp_fix_row(f, conv);
        if (row && etp_op_is_depthwise(&row->parsed) && is_uneven(f, mid)) {
            continue;
        }
        uint32_t in = source_of(f, mid);
        bool closed = in != ETP_NO_INDEX && converts(f, in, true);
        if (!closed && !pads) {
            continue;
        }
        inner += (double)etp_fix_op_ns(f, mid);
        longer += pads ? longer_kernel(f, mid, conv) : 0;
        etp_fix_add_op(f, &all, mid);
        if (closed) {
            etp_fix_add_op(f, &all, in);
            etp_fix_add_op(f, &all, i);
            etp_fix_add_op(f, &edges, in);
            etp_fix_add_op(f, &edges, i);
        }
    }
    etp_fix_goes_away(f, &all);
    all.expected -= longer;
    all.lo = fmax(0, all.lo - 2 * longer);
    if (!pads) {
        etp_fix_time t = etp_fix_time_of(f, &edges);
        all.lo = 0;
        all.expected = t.mean + t.likely_more;
        all.hi = t.hi + t.most_more + inner * 3 / 4;
    }
    static const etp_fix_words k_pads = {
        .kind = ETP_FIX_ISLANDS,
        .one = "pad in float before an int8 convolution",
        .many = "pads in float between int8 convolutions and their converts",
        .formula = "estimate: Σ time + the likely part of what the boundary hides of it, − what "
                   "longer kernels take where a pad is uneven; ceiling: upper end of the 95 % "
                   "interval of Σ time over the blocks + up to 1 µs per operator",
        .change = ETP_CHANGE_ALIGN_PADDING};
    static const etp_fix_words k_others = {
        .kind = ETP_FIX_ISLANDS,
        .one = "operator in float between converts",
        .many = "operators in float and the converts around them",
        .advice = "quantise the operators between as well: give the quantizer their pattern, or "
                  "move them out of the int8 part",
        .formula = "expected: Σ time of the converts; ceiling: and three quarters of what lies "
                   "between, which moves a quarter of the bytes; floor: 0"};
    etp_fix_show(f, &all, pads ? &k_pads : &k_others);
}

// ---- what is left ----

// Layout work and converts without a fix of their own: at most all of it, likely what is above the
// time that a copy of the same bytes takes.
static void moved(etp_fixer *f, bool convert)
{
    etp_fix_found at = {.expected = NAN};
    etp_category category = convert ? ETP_CATEGORY_QUANTIZE : ETP_CATEGORY_DATA_MOVEMENT;
    double expected = 0;
    size_t known = 0;
    for (uint32_t i = 0; i < f->ab->n_operators; i++) {
        double ns = (double)etp_fix_op_ns(f, i);
        if (category_of(f, i) != category || ns <= 0 || f->covered[i]) {
            continue;
        }
        double copied = etp_fix_copy_ns(f, i);
        if (isfinite(copied)) {
            known++;
            expected += fmax(0, ns - copied);
        }
        etp_fix_add_op(f, &at, i);
    }
    etp_fix_time t = etp_fix_time_of(f, &at);
    at.hi = t.hi + t.most_more;
    at.expected = etp_value_if(known, expected);
    etp_fix_show(
        f, &at,
        &(etp_fix_words){
            .kind = convert ? ETP_FIX_CONVERTS : ETP_FIX_COPIES,
            .one = convert ? "convert between data types" : "operator that only moves data",
            .many = convert ? "converts between data types" : "operators that only move data",
            .advice = convert
                          ? "keep one data type from end to end: quantise the neighbours too, or "
                            "leave both unquantised"
                          : "fold permutes, slices and concatenations into the operators around "
                            "them",
            .formula =
                "ceiling: Σ time; expected: Σ (time − what a copy of the bytes takes: by the "
                "measured roof, else at the best rate of this arm), unknown without byte "
                "counts; floor: 0"});
}

void etp_fixes_of_layout(etp_fixer *f)
{
    batch_norm(f);
    permutes(f);
    border(f);
    broadcast(f);
    islands(f, true);
    islands(f, false);
}

void etp_fixes_of_moves(etp_fixer *f)
{
    copies_in_a_row(f);
    moved(f, false);
    moved(f, true);
}
