// SPDX-License-Identifier: Apache-2.0
// Next fixes for work that could be done faster: kernels outside delegates, many small delegates,
// channel counts that leave a tile idle, one thread, float32, distance to the roof, and operators
// that lost.
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "base/shell.h"
#include "compare/phases.h"
#include "judge/fixes/fixes.h"

#define OPERATOR_NS 1000.0 // what a delegated operator takes for itself, however little it does

static bool is_kind(const etp_fixer *f, uint32_t op, etp_row_kind kind)
{
    const etp_profile_row *row = etp_fix_row(f, op);
    return row && row->kind == kind && etp_fix_op_ns(f, op) > 0;
}

static bool multiplies(const etp_fixer *f, uint32_t op)
{
    return etp_category_multiplies(f->ab->operators[op].category);
}

// ---- delegate ----

// Kernels that a recipe brings into the delegate: what they become there moves PASSES times the
// kernel's own bytes.
typedef struct way_in {
    const char *family;
    etp_fix_change recipe;
    const char *one, *many; // what they are, to the reader
    double passes;
    const char *overload; // NULL any
} way_in;

#define SAFE_SOFTMAX(family, overload)                           \
    {family,                                                     \
     ETP_CHANGE_DECOMPOSE_ATTENTION,                             \
     "kernel of attention's safe softmax outside the delegate",  \
     "kernels of attention's safe softmax outside the delegate", \
     0,                                                          \
     overload} // it goes away

static const way_in k_ways_in[] = {
    {"native_layer_norm", ETP_CHANGE_LAYER_NORM,   "layer norm outside the delegate",
     "layer norms outside the delegate",                                                                                  7,   NULL}, // two means, a difference, three products, a sum
    {"gelu",              ETP_CHANGE_GELU_TANH,    "GELU outside the delegate",             "GELUs outside the delegate", 9,
     NULL                                                                                                                          },
    {"squeeze_copy",      ETP_CHANGE_UNBIND_VIEWS, "squeeze outside the delegate",
     "squeezes outside the delegate",                                                                                     1,   NULL},
    {"mean",              ETP_CHANGE_KEEP_DIMS,    "mean over images outside the delegate",
     "means over images outside the delegate",                                                                            0.5, NULL},
    SAFE_SOFTMAX("any", NULL),
    SAFE_SOFTMAX("logical_not", NULL),
    SAFE_SOFTMAX("where", NULL),
    SAFE_SOFTMAX("eq", NULL),
    SAFE_SOFTMAX("full_like", NULL),
    // the causal mask, made anew in every inference
    SAFE_SOFTMAX("full", NULL),
    SAFE_SOFTMAX("arange", NULL),
    SAFE_SOFTMAX("scalar_tensor", NULL),
    SAFE_SOFTMAX("sub", NULL),
    SAFE_SOFTMAX("le", NULL),
    SAFE_SOFTMAX("logical_and", NULL),
    // queries and keys times the square root of the scale: once, inside
    SAFE_SOFTMAX("mul", "Scalar_out"),
};

// Only the safe softmax asks whether any score is left; the rest of its kernels may be of something
// else.
bool etp_fix_has_safe_softmax(const etp_fixer *f)
{
    bool any = false;
    for (uint32_t i = 0; i < f->ab->n_operators; i++) {
        const etp_profile_row *row = etp_fix_row(f, i);
        any =
            any || (row && row->kind == ETP_ROW_PORTABLE && etp_str_eqz(row->parsed.family, "any"));
    }
    return any;
}

// A mean over both spatial axes that drops them: [N, C, H, W] to [N, C].
static bool is_spatial_mean(const etp_fixer *f, uint32_t op)
{
    const etp_op_facts *facts = etp_fix_facts(f, op);
    if (!facts || facts->n_inputs == 0 || facts->n_outputs == 0) {
        return false;
    }
    const etp_value *in = &facts->values[facts->inputs[0]],
                    *out = &facts->values[facts->outputs[0]];
    return in->rank == 4 && out->rank == 2 && in->dims[0] == out->dims[0] &&
           in->dims[1] == out->dims[1] && !in->dynamic;
}

// Recipes write sizes down, so they leave alone what has none at export.
static bool has_fixed_shape(const etp_fixer *f, uint32_t op)
{
    const etp_op_facts *facts = etp_fix_facts(f, op);
    return !facts || facts->n_inputs == 0 || !facts->values[facts->inputs[0]].dynamic;
}

// Is it a product of a recurrent layer? One node of the model became several products with weights.
// Quantizer and recipes see the layer before it is unrolled, and leave it as it is.
static bool is_unrolled(const etp_fixer *f, uint32_t op)
{
    const etp_op_facts *own = multiplies(f, op) ? etp_fix_facts(f, op) : NULL;
    bool known = own && own->debug_handle >= 0 && own->weight_bytes > 0;
    for (uint32_t i = 0; known && i < f->ab->n_operators; i++) {
        const etp_op_facts *other = i != op && multiplies(f, i) ? etp_fix_facts(f, i) : NULL;
        if (other && other->debug_handle == own->debug_handle && other->weight_bytes > 0) {
            return true;
        }
    }
    return false;
}

// RECURRENT: squeezes are of an unrolled layer's steps, where the recipe finds none.
static const way_in *way_in_of(const etp_fixer *f, uint32_t op, bool safe_softmax, bool recurrent)
{
    const etp_profile_row *row = etp_fix_row(f, op);
    for (size_t i = 0; i < sizeof k_ways_in / sizeof *k_ways_in; i++) {
        const way_in *w = &k_ways_in[i];
        if (etp_str_eqz(row->parsed.family, w->family) &&
            (!w->overload || etp_str_eqz(row->parsed.overload, w->overload))) {
            bool applies = w->recipe == ETP_CHANGE_KEEP_DIMS ? is_spatial_mean(f, op)
                                                             : w->passes > 0 || safe_softmax;
            applies = applies && !(recurrent && w->recipe == ETP_CHANGE_UNBIND_VIEWS);
            return applies && has_fixed_shape(f, op) ? w : NULL;
        }
    }
    return NULL;
}

// Adds what OP would take in the delegate; NAN when nothing says.
static double likely_inside(const etp_fixer *f, uint32_t op, const way_in *way)
{
    if (!way) {
        return 2 * etp_fix_roof_ns(f, op); // half of the roof is what XNNPACK usually reaches
    }
    return way->passes == 0 ? 0 : way->passes * (etp_fix_copy_ns(f, op) + OPERATOR_NS);
}

// Time of the transposes that make the images of a mean outside the delegate contiguous. Inside,
// the mean takes them as they are.
static double turned_for(const etp_fixer *f, uint32_t mean)
{
    const etp_op_facts *facts = etp_fix_facts(f, mean);
    const etp_value *image = &facts->values[facts->inputs[0]];
    double ns = 0;
    for (uint32_t i = 0; i < mean; i++) {
        const etp_profile_row *row = etp_fix_row(f, i);
        const etp_op_facts *from = etp_fix_facts(f, i);
        bool turns = is_kind(f, i, ETP_ROW_OPERATOR) &&
                     etp_str_eqz(row->parsed.family, "Transpose") && from && from->n_outputs == 1;
        const etp_value *out = turns ? &from->values[from->outputs[0]] : NULL;
        bool same = out && out->rank == 4;
        for (uint32_t k = 0; same && k < 4; k++) {
            same = out->dims[k] == image->dims[k];
        }
        ns = same ? (double)etp_fix_op_ns(f, i) : ns; // the last one before it
    }
    return ns;
}

// WORDS without what all groups have in common.
static void show_group(etp_fixer *f, etp_fix_found *at, double inside, etp_fix_words words)
{
    etp_fix_time t = etp_fix_time_of(f, at);
    at->expected = t.mean + t.likely_more - inside; // NAN stays
    at->hi += t.hi + t.most_more;
    at->concerns = t.most_more; // the set-up that goes with them
    words.kind = ETP_FIX_DELEGATE;
    words.splits = f->calls > 1; // else the gain may be larger than their own time, and nobody
                                 // sees why
    words.formula = "ceiling: Σ time + one delegate call's set-up per kernel that joins two "
                    "partitions + the transpose in front of a mean; expected: Σ (time − passes of "
                    "the replacement × (what a copy of the bytes takes + 1 µs)), without a recipe "
                    "Σ (time − 2 × roof), unknown without bytes or roofs; floor: 0";
    etp_fix_show(f, at, &words);
}

static void nothing_delegated(etp_fixer *f)
{
    etp_fix_found at = {0};
    double inside = 0;
    for (uint32_t i = 0; i < f->ab->n_operators; i++) {
        if (is_kind(f, i, ETP_ROW_PORTABLE) && !f->covered[i]) {
            inside += likely_inside(f, i, NULL);
            etp_fix_add_op(f, &at, i);
        }
    }
    show_group(f, &at, inside,
               (etp_fix_words){.one = "kernel of a program without any delegate",
                               .many = "kernels of a program without any delegate",
                               .change = ETP_CHANGE_XNNPACK});
}

static void undelegated(etp_fixer *f)
{
    if (!f->delegates) {
        nothing_delegated(f);
        return;
    }
    bool safe = etp_fix_has_safe_softmax(f), recurrent = false;
    for (uint32_t i = 0; i < f->ab->n_operators && !recurrent; i++) {
        recurrent = is_unrolled(f, i);
    }
    for (size_t w = 0; w <= sizeof k_ways_in / sizeof *k_ways_in; w++) {
        const way_in *way = w < sizeof k_ways_in / sizeof *k_ways_in ? &k_ways_in[w] : NULL;
        etp_fix_found at = {0};
        double inside = 0;
        for (uint32_t i = 0; i < f->ab->n_operators; i++) {
            const way_in *own = is_kind(f, i, ETP_ROW_PORTABLE) && !f->covered[i]
                                    ? way_in_of(f, i, safe, recurrent)
                                    : NULL;
            bool moves =
                etp_kit_category_of(f->ab->operators[i].category) == ETP_KIT_CATEGORY_DATA_MOVEMENT;
            bool mine = way ? own && own->recipe == way->recipe
                            : is_kind(f, i, ETP_ROW_PORTABLE) && !f->covered[i] && !moves;
            if (mine) {
                etp_fix_add_op(f, &at, i);
            }
            inside += mine ? likely_inside(f, i, own) : 0;
            at.hi += mine && own && own->recipe == ETP_CHANGE_KEEP_DIMS ? turned_for(f, i) : 0;
        }
        etp_fix_words words = {.one = "kernel outside the delegate",
                               .many = "kernels outside the delegate",
                               .advice = "the partitioner left them out: etprof export MODEL says "
                                         "why; replace what it cannot take"};
        if (way) {
            words = (etp_fix_words){.one = way->one, .many = way->many, .change = way->recipe};
        }
        show_group(f, &at, inside, words);
    }
}

static void partitions(etp_fixer *f)
{
    if (f->calls < 2 || f->boundary <= 0) {
        return;
    }
    double fewer = (double)(f->calls - 1);
    etp_fix_found at = {.expected = fewer * f->join_likely,
                        .hi = etp_fix_join_most(f, fewer),
                        .concerns = f->boundary};
    etp_fix_show_sum(
        f, &at, "boundary", f->calls,
        &(etp_fix_words){
            .kind = ETP_FIX_PARTITIONS,
            .many = "delegate calls without their operators",
            .advice =
                "fewer, larger partitions: bring the operators between them into the delegate",
            .formula =
                "ceiling: Σ over the calls but the longest of what each takes besides its "
                "operators; expected: (calls − 1) × what the cheapest takes, less 0.5 µs for "
                "each of its operators, which truncation put there; floor: 0"});
}

// ---- compute ----

// Output channels that a kernel computes at a time: 32 with SME and with AVX-512 in float32, as its
// times over channel counts show, 16 with what is older. Unknown levels count as the older ones.
static int64_t tile_of(const etp_fixer *f)
{
    etp_level level = f->ab->arms[f->arm].level;
    const etp_level_info *info = etp_level_get(level);
    bool wide = f->ab->engagement.feature == ETP_FEATURE_SME;
    if (info) {
        wide = info->family == ETP_ISA_X86_64
                   ? !etp_level_hides(level, ETP_HAS_AVX512)
                   : wide || level == ETP_LEVEL_SME2 || level == ETP_LEVEL_SME1;
    }
    return wide ? 32 : 16;
}

// Output channels of a delegated convolution or linear layer, 0 for anything else.
static int64_t channels_of(const etp_fixer *f, uint32_t op)
{
    const etp_op_facts *facts = etp_fix_facts(f, op);
    const etp_profile_row *row = etp_fix_row(f, op);
    bool mine = is_kind(f, op, ETP_ROW_OPERATOR) && multiplies(f, op) && facts &&
                facts->n_outputs > 0 && facts->weight_bytes != ETP_BYTES_UNKNOWN &&
                facts->weight_bytes > 0 && !etp_op_is_depthwise(&row->parsed);
    const etp_value *v = mine ? &facts->values[facts->outputs[0]] : NULL;
    return v && v->kind == ETP_EVALUE_TENSOR && v->rank ? v->dims[v->rank - 1] : 0;
}

// Kernels work on whole tiles of channels: one channel above a tile costs as much as a tile.
static void odd_sizes(etp_fixer *f)
{
    const int64_t tile = tile_of(f), wide = 32;
    double left_out = 0;
    etp_fix_found at = {0};
    for (uint32_t i = 0; i < f->ab->n_operators; i++) {
        int64_t n = channels_of(f, i), kept = n / tile * tile;
        if (kept == 0 || n % tile == 0) {
            continue; // below one tile there is nothing to choose
        }
        double ns = (double)etp_fix_op_ns(f, i);
        at.expected += ns * (1 - (double)kept / (double)((n + tile - 1) / tile * tile));
        at.hi += ns * (1 - (double)kept / (double)((n + wide - 1) / wide * wide));
        left_out = fmax(left_out, 1 - (double)kept / (double)n);
        etp_fix_add_op(f, &at, i);
    }
    at.hi += left_out * (double)f->total; // what else works on these channels
    etp_fix_show(
        f, &at,
        &(etp_fix_words){
            .kind = ETP_FIX_ODD_SIZES,
            .one = etp_arena_printf(f->ab->arena,
                                    "convolution or linear layer with channels that are not a "
                                    "multiple of %lld (an idle part of a tile)",
                                    (long long)tile),
            .many = etp_arena_printf(f->ab->arena,
                                     "convolutions and linear layers with channels that are not a "
                                     "multiple of %lld (an idle part of a tile)",
                                     (long long)tile),
            .advice = "train with channel counts that are multiples of 32 (16 below AVX-512 and "
                      "SME); padding with zeros saves nothing",
            .formula = "expected: Σ time × (1 − channels in whole tiles ÷ channels rounded up to "
                       "the tile); ceiling: the same with tiles of 32, + the share of the channels "
                       "above the last whole tile of everything; floor: 0"});
}

static bool is_float32(const etp_profile_row *row)
{
    etp_str t = row->parsed.n_dtypes ? row->parsed.dtypes[0] : (etp_str){0};
    return row->parsed.n_dtypes == 1 && (etp_str_eqz(t, "F32") || etp_str_eqz(t, "PF32"));
}

static void show_precision(etp_fixer *f, const etp_fix_found *at, bool done)
{
    static const etp_fix_words k_left = {
        .kind = ETP_FIX_PRECISION,
        .one = "convolution or matrix product left in float32 by quantisation",
        .many = "convolutions and matrix products left in float32 by quantisation",
        .advice = "quantisation leaves products of two activations in float32: fewer or smaller "
                  "ones (windows, fewer heads or keys), or a quantizer that has a pattern for them",
        .formula = "ceiling: Σ time × (1 − 1 ÷ 2r), r = int8 ÷ float32 roof of the level (8 in "
                   "place of 2r without roofs), and three quarters of the other delegated "
                   "operators; expected: Σ time × (1 − 1 ÷ r), unknown without roofs; floor: 0"};
    bool half = at->ops.n > 0 && etp_fix_reads_half(f, at->ops.items[0]);
    const etp_fix_words quantise = {
        .kind = ETP_FIX_PRECISION,
        .one = half ? "float16 convolution or matrix product computed as float32 at this level"
                    : "convolution or matrix product in float32",
        .many = half ? "float16 convolutions and matrix products computed as float32 at this level"
                     : "convolutions and matrix products in float32",
        .advice = "its check reports the effect on the outputs; --calibrate FILE.npz gives your "
                  "own samples",
        .formula =
            "estimate: Σ time of convolutions and products with a weight × (1 − c ÷ r − 6.5 ÷ k), "
            "r = int8 ÷ float32 roof of the level, c = input channels in whole eights ÷ input "
            "channels, k = products of an output (at avx2 × (1 − 1.05 − 16 ÷ k), and − 0.75 × "
            "depthwise convolutions; steps of recurrent layers stay in float32), − the time of "
            "depthwise convolutions of more than 9 taps on x86 again, − 0.7 × elementwise "
            "operators that repeat an input (multiplications: what is above 15 products of float32 "
            "an element), − 2 × images of few channels that go channels last, + 0.75 × GELU, − 1.5 "
            "× other activations and pads that stay in float between converts; unknown without "
            "roofs; ceiling: twice that r (8 without roofs), and three quarters of the other "
            "delegated operators, which move a quarter of the bytes",
        .change = ETP_CHANGE_INT8};
    etp_fix_show(f, at, done ? &k_left : &quantise);
}

// Kernel positions of a depthwise convolution, 0 unknown: its weight is [1, height, width,
// channels].
static int64_t taps_of(const etp_fixer *f, uint32_t op)
{
    const etp_op_facts *facts = etp_fix_facts(f, op);
    const etp_value *w = facts && facts->n_inputs > 1 ? &facts->values[facts->inputs[1]] : NULL;
    return w && w->kind == ETP_EVALUE_TENSOR && w->rank == 4 ? (int64_t)w->dims[1] * w->dims[2] : 0;
}

#define CHANNELS_AT_ONCE 8 // of an int8 convolution or product

// An operator that takes a whole tensor and one that is repeated over it, as a batch norm of its
// own or a gate does: int8 has no faster kernel for it.
static bool repeats_an_input(const etp_op_facts *facts)
{
    return facts && facts->n_inputs == 2 &&
           facts->values[facts->inputs[0]].bytes != facts->values[facts->inputs[1]].bytes;
}

// An image of few channels goes channels last: byte by byte that takes three times as long as with
// floats.
static bool turns_few_channels(const etp_profile_row *row, const etp_op_facts *facts)
{
    if (!etp_str_eqz(row->parsed.family, "Transpose") || !facts || facts->n_inputs != 1 ||
        facts->n_outputs != 1) {
        return false;
    }
    const etp_value *in = &facts->values[facts->inputs[0]];
    const etp_value *out = &facts->values[facts->outputs[0]];
    return in->kind == ETP_EVALUE_TENSOR && in->rank == 4 && out->rank == 4 && in->dims[1] > 1 &&
           in->dims[1] < CHANNELS_AT_ONCE && out->dims[3] == in->dims[1] &&
           out->dims[1] == in->dims[2];
}

// Share of its float32 time that a convolution or product keeps in int8. Two things keep it from 1
// / RATIO: channels are taken in eights, and each output is scaled and rounded again, which takes
// as long as REQUANTISED of its products in float32.
#define REQUANTISED 6.5

// XNNPACK's int8 kernels for AVX2 widen to 16 bits: a product takes as long as one of float32, and
// rounding again as long as 16 of them. Measured, whatever the roofs promise.
#define WIDENED 1.05
#define WIDENED_REQUANTISED 16

static bool widens_int8(const etp_fixer *f)
{
    etp_level level = f->ab->arms[f->arm].level;
    const etp_level_info *info = etp_level_get(level);
    return info && info->family == ETP_ISA_X86_64 && etp_level_hides(level, ETP_HAS_AVX512) &&
           etp_level_hides(level, ETP_HAS_AVX_VNNI) && !etp_level_hides(level, ETP_HAS_AVX2);
}

static double share_left(const etp_fixer *f, const etp_op_facts *facts, double ratio)
{
    const etp_value *w = facts && facts->n_inputs > 1 ? &facts->values[facts->inputs[1]] : NULL;
    bool known = w && w->kind == ETP_EVALUE_TENSOR && (w->rank == 4 || w->rank == 2) && !w->dynamic;
    // The weight of a depthwise convolution is [1, height, width, channels]: one channel a group,
    // also where a kernel for whole groups takes it.
    bool lanes = known && etp_str_eqz(facts->node_type, "DepthwiseConv2d");
    int64_t channels = known ? w->dims[w->rank - 1] : 0;
    channels = lanes ? 1 : channels;
    double taps = known && w->rank == 4 ? (double)w->dims[1] * (double)w->dims[2] : 1;
    if (widens_int8(f)) {
        return WIDENED + (channels >= 1 ? WIDENED_REQUANTISED / (taps * (double)channels) : 0);
    }
    if (channels < 1 || taps < 1) {
        return 1 / ratio;
    }
    double eights = ceil((double)channels / CHANNELS_AT_ONCE);
    double padded = eights * CHANNELS_AT_ONCE / (double)channels;
    return padded / ratio + REQUANTISED / (taps * (double)channels);
}

// Two int8 tensors multiplied element by element: each element takes as long as 15 products of
// float32, however long the multiplication takes in float32.
static double multiplied_in_int8(const etp_fixer *f, uint32_t op)
{
    const etp_op_facts *facts = etp_fix_facts(f, op);
    bool one = facts && facts->n_outputs == 1;
    const etp_value *out = one ? &facts->values[facts->outputs[0]] : NULL;
    bool known = out && out->kind == ETP_EVALUE_TENSOR && etp_fix_knows_bytes(out);
    return known ? 15 * ((double)out->bytes / 4) * etp_fix_product_ns(f) : (double)NAN;
}

// What quantising OP itself brings; negative when it costs. What is quantised: convolutions,
// products with a weight.
static double gain_of_int8(const etp_fixer *f, uint32_t op, double ratio)
{
    const etp_profile_row *row = etp_fix_row(f, op);
    const etp_level_info *level = etp_level_get(f->ab->arms[f->arm].level);
    double ns = (double)etp_fix_op_ns(f, op);
    etp_category category = f->ab->operators[op].category;
    bool x86 = level && level->family == ETP_ISA_X86_64;
    // Lane by lane: the 25-tap kernel of int8 takes twice the time on x86, that of AVX2 for 9 taps
    // 1.75 times.
    if (etp_op_is_depthwise(&row->parsed)) {
        if (x86 && taps_of(f, op) > 9) {
            return -ns;
        }
        return widens_int8(f) ? -0.75 * ns : 0;
    }
    if (multiplies(f, op) && is_float32(row) &&
        !etp_str_eqz(row->parsed.family, "Batch Matrix Multiply")) {
        return is_unrolled(f, op) ? 0 : ns * (1 - share_left(f, etp_fix_facts(f, op), ratio));
    }
    if (category == ETP_CATEGORY_ELEMENTWISE && repeats_an_input(etp_fix_facts(f, op))) {
        double in_int8 = multiplied_in_int8(f, op);
        bool known =
            etp_str_eqz(row->parsed.family, "Multiply") && (isfinite(in_int8) || !widens_int8(f));
        return known ? ns - in_int8 : -0.7 * ns;
    }
    if (turns_few_channels(row, etp_fix_facts(f, op))) {
        return -2 * ns;
    }
    // XNNPACK looks eight bits up in a table. That is little beside a GELU; others take longer that
    // way, or stay in float where several operators read them: a convert before and one behind, 10
    // bytes an element where they move 8.
    if (etp_str_eqz(row->parsed.family, "GELU")) {
        return 0.75 * ns;
    }
    bool converted =
        category == ETP_CATEGORY_ACTIVATION && !etp_str_eqz(row->parsed.family, "Clamp");
    return converted ? -1.5 * ns : 0;
}

// Pads that XNNPACK merges into convolutions in float32 stay on their own, in float, between two
// converts.
static double pads_left_by_int8(const etp_fixer *f)
{
    const etp_profile_facts *facts = f->ab->arms[f->arm].profile->facts;
    const etp_method *m =
        facts && !facts->problem && facts->program->n_methods ? &facts->program->methods[0] : NULL;
    // Bytes per nanosecond at which pads and converts move data: what the best copy of the arm
    // reaches, else less than half of what the level's memory roof says.
    double bytes = 0, rate = f->best_rate;
    for (uint32_t i = 0; i < f->ab->n_operators && !isfinite(rate); i++) {
        const etp_op_facts *op = etp_fix_facts(f, i);
        double roof = etp_fix_memory_ns(f, i);
        if (etp_fix_knows_work(op) && isfinite(roof)) {
            rate = 0.43 * (double)op->work.bytes / roof;
        }
    }
    for (uint32_t i = 0; m && i < m->n_partitions; i++) {
        const etp_partition *p = &m->partitions[i];
        for (uint32_t k = 0; k < p->n_nodes; k++) {
            bool pad =
                p->nodes[k].type == ETP_XNN_STATIC_CONSTANT_PAD && p->nodes[k].n_outputs == 1;
            const etp_value *out = pad ? &p->values[p->nodes[k].outputs[0]] : NULL;
            // 2 of the pad, 1.25 of each convert
            bytes += out && etp_fix_knows_bytes(out) ? 4.5 * (double)out->bytes : 0;
        }
    }
    return bytes > 0 && isfinite(rate) ? bytes / rate : 0;
}

static void precision(etp_fixer *f)
{
    double ratio = etp_fix_int8_ratio(f), multiplied = 0, rest = 0;
    // Some of what multiplies has eight bits: the program was quantised, and what did not follow
    // cannot be.
    bool done = false;
    etp_fix_found at = {0};
    at.expected = -pads_left_by_int8(f);
    for (uint32_t i = 0; i < f->ab->n_operators; i++) {
        const etp_profile_row *row = etp_fix_row(f, i);
        if (!is_kind(f, i, ETP_ROW_OPERATOR)) {
            continue;
        }
        bool mine = multiplies(f, i) && is_float32(row);
        done = done || (multiplies(f, i) && etp_ab_computes_int8(&row->parsed));
        multiplied += mine ? (double)etp_fix_op_ns(f, i) : 0;
        rest += mine ? 0 : (double)etp_fix_op_ns(f, i);
        at.expected += gain_of_int8(f, i, ratio); // NAN stays
        if (mine) {
            etp_fix_add_op(f, &at, i);
        }
    }
    if (multiplied < 0.2 * (double)f->total || (!done && at.expected <= 0)) {
        return; // what multiplies is not what takes the time, or quantised it would take
                // more
    }
    double most =
        isfinite(ratio) ? 2 * ratio : 8; // int8 kernels may also come closer to their roof
    at.expected = done ? multiplied * (1 - 1 / ratio) : at.expected;
    at.hi = multiplied * (1 - 1 / most) + rest * 3 / 4;
    // the general view of the arm: other fixes of these operators stay as they are
    show_precision(f, &at, done);
}

// With what was asked of the model: without it another thing would be measured. NULL: no option
// says it.
static const char *threads_command(etp_fixer *f, uint32_t cpus)
{
    const etp_run_phase *p = f->ab->phased;
    const char *asked = "";
    if (p && p->kind == ETP_PHASE_OF_PREFILL) {
        unsigned long long tokens = ETP_OR(p->prompt, p->tokens);
        asked = etp_arena_printf(f->ab->arena, " --prefill %llu", tokens);
    } else if (p && p->kind == ETP_PHASE_OF_DECODE) {
        asked = etp_arena_printf(f->ab->arena, " --decode %llu@%llu", (unsigned long long)p->calls,
                                 (unsigned long long)p->depth);
    } else if (p) {
        return NULL;
    }
    return etp_arena_printf(f->ab->arena, "etprof ab %s%s --threads 1,%u", etp_fix_model(f), asked,
                            cpus);
}

static void threads(etp_fixer *f)
{
    const etp_ab *ab = f->ab;
    const etp_ab_arm *own = &ab->arms[f->arm];
    uint32_t cpus = etp_ab_whole_cpus(ab);
    bool measured = false;
    for (size_t a = 0; a < ab->n_arms; a++) {
        measured = measured || (ab->arms[a].threads > 1 && ab->arms[a].model == own->model);
    }
    if (own->threads != 1 || cpus < 2 || measured) {
        return;
    }
    double region = etp_fix_region_ns(f, cpus), share = 1 - 1 / (double)cpus;
    etp_fix_found at = {0};
    for (uint32_t i = 0; i < ab->n_operators; i++) {
        if (!is_kind(f, i, ETP_ROW_OPERATOR)) {
            continue;
        }
        double gain = (double)etp_fix_op_ns(f, i) * share;
        at.hi += gain;
        at.expected += multiplies(f, i) ? fmax(0, gain - region) : 0;
        etp_fix_add_op(f, &at, i);
    }
    at.lo = isfinite(region) ? -region * (double)at.ops.n : 0; // a busy machine loses with threads
    at.expected = etp_value_if(isfinite(region), at.expected);
    const char *command = threads_command(f, cpus);
    etp_fix_show(
        f, &at,
        &(etp_fix_words){
            .kind = ETP_FIX_THREADS,
            .one = etp_arena_printf(ab->arena, "delegated operator on one of %u CPUs", cpus),
            .many = etp_arena_printf(ab->arena, "delegated operators on one of %u CPUs", cpus),
            .command = command,
            .advice = command ? NULL
                              : etp_arena_printf(
                                    ab->arena, "this session's command with --threads 1,%u", cpus),
            .formula =
                "ceiling: Σ time × (1 − 1 ÷ CPUs); expected: that of convolutions and matrix "
                "products, less one parallel region each (measured roof), unknown without "
                "roofs; floor: a loss of one parallel region for each operator, 0 without "
                "roofs"});
}

// ---- roofs and losses ----

// What keeps convolutions and matrix products below their roof, as far as the best of them shows
// that it can be reached here.
static void roof_gap(etp_fixer *f)
{
    etp_fix_found at = {0};
    double best = 0, gap = 0;
    const char *widest = ""; // operator with most to gain
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < f->ab->n_operators; i++) {
            double ns = (double)etp_fix_op_ns(f, i), roof = etp_fix_roof_ns(f, i);
            if (!is_kind(f, i, ETP_ROW_OPERATOR) || !multiplies(f, i) || !(roof > 0) ||
                ns < 10000 || roof >= ns) {
                continue;
            }
            best = fmax(best, roof / ns);
            if (pass == 0) {
                continue;
            }
            at.expected += fmax(0, ns - roof / best);
            at.hi += ns - roof;
            widest = ns - roof > gap ? f->ab->operators[i].id : widest;
            gap = fmax(gap, ns - roof);
            etp_fix_add_op(f, &at, i);
        }
    }
    etp_fix_show(
        f, &at,
        &(etp_fix_words){
            .kind = ETP_FIX_ROOF_GAP,
            .one = "convolution or matrix product below its roof",
            .many = "convolutions and matrix products below their roofs",
            .command = etp_arena_printf(f->ab->arena, "etprof explain %s", widest),
            .behind_dir = "",
            .advice =
                "give it more rows or channels at a time, or report the kernel with this shape",
            .formula =
                "ceiling: Σ (time − roof); expected: Σ (time − roof ÷ best share of the roof "
                "that an operator of this kind reaches here); floor: 0"});
}

enum { MOST_BACK = 8 }; // operators that a command sends back one by one

// " 'back op7' 'back op9'": those that lost most.
static const char *send_back(const etp_fixer *f, const etp_ledger *l)
{
    const etp_ledger_row *rows[MOST_BACK];
    (void)etp_ledger_worst(l, etp_ledger_row_slower, rows, MOST_BACK);
    etp_strbuf text;
    etp_strbuf_init(&text, f->ab->arena);
    for (size_t i = 0; i < MOST_BACK && rows[i]; i++) {
        etp_strbuf_printf(&text, " 'back %s'", rows[i]->id);
    }
    return etp_strbuf_str(&text).ptr;
}

// Operators that lost with the feature on, beyond their noise: sending only them back.
static void slower(etp_fixer *f)
{
    const etp_ab_arm *on = &f->ab->arms[f->arm], *off = &f->ab->arms[f->ab->baseline];
    if (on == off || (on->level != ETP_LEVEL_NONE && on->level == off->level)) {
        return; // nothing was switched on: two programs at one level
    }
    etp_fix_found at = {0};
    bool rows = true;
    const etp_ledger *l = &f->ab->ledgers[0];
    for (size_t i = 0; i < l->n; i++) {
        const etp_ledger_row *row = &l->items[i];
        if (!etp_ledger_row_slower(row)) {
            continue;
        }
        at.lo += (double)row->lo_ns;
        at.expected += (double)row->delta_ns;
        at.hi += (double)row->hi_ns;
        rows = rows && f->ab->operators[row->op].engaged.reason == ETP_REASON_ROW_KERNEL;
        etp_fix_add_op(f, &at, row->op);
    }
    const char *back = etp_arena_printf(f->ab->arena, "%s%s", send_back(f, l),
                                        etp_ab_phase_option(f->ab, f->ab->arena));
    etp_fix_words words = {
        .kind = ETP_FIX_SLOWER,
        .one = "operator that got slower with the change",
        .many = "operators that got slower with the change",
        .command = etp_z_if(!f->ab->both_of, "etprof whatif"), // whose rows are other ones there
        .behind_dir = etp_z_if(!f->ab->both_of, back),
        .formula =
            "Σ (candidate − baseline) of rows whose 95 % interval over the blocks lies above "
            "0, with q ≤ 0.05; floor and ceiling: Σ of its ends"};
    const char * or = "";
    if (rows) {
        words.command = etp_fix_export(f, ETP_CHANGE_KEEP_GEMV);
        words.behind_dir = NULL;
        or = f->ab->both_of ? ""
                            : etp_arena_printf(f->ab->arena, "or: etprof whatif DIR%s; ", back);
    }
    words.advice = etp_arena_printf(f->ab->arena,
                                    "%s%sa level is chosen per process: report them, or run that "
                                    "part of the model at the other level",
                                    or, etp_if(at.ops.n > MOST_BACK, "these lost most; "));
    etp_fix_show(f, &at, &words);
}

void etp_fixes_of_work(etp_fixer *f)
{
    undelegated(f);
    partitions(f);
    odd_sizes(f);
    precision(f);
    threads(f);
    roof_gap(f);
    slower(f);
}
