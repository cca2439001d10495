// SPDX-License-Identifier: Apache-2.0
// The one table from operator families to categories. Keys are the letters and digits of a name in
// lower case, so that "Leaky ReLU", "LeakyReLU" and "leaky_relu" are one family; sorted by strcmp.
#include "operators/table.h"

#include "base/utf8.h"

static const char k_note_pack[] =
    "packs the left-hand side for the SME2 matrix kernels: a cost of the GEMM that follows";
static const char k_note_lut[] =
    "XNNPACK prints this name for int8 unary operators that it runs as look-up tables, activations "
    "as a rule";
static const char k_note_order[] = "changes the memory order, and may change the data type as well";

// Where a family may do two things, one is chosen: `copy` is data movement even where it converts,
// `to` is a conversion even where it only copies. Rows are in the order of strcmp because find_key
// halves the table; the test of the table holds it.
#define CATEGORY(key, category, note) {key, ETP_CATEGORY_##category, note}
#define F(key, category) CATEGORY(key, category, NULL)

// clang-format off
static const etp_op_family k_families[] = {
    F("abs", ELEMENTWISE), F("acos", ELEMENTWISE), F("acosh", ELEMENTWISE),
    F("adaptiveavgpool1d", POOLING), F("adaptiveavgpool2d", POOLING),
    F("adaptiveavgpool3d", POOLING), F("adaptivemaxpool1d", POOLING),
    F("adaptivemaxpool2d", POOLING), F("add", ELEMENTWISE), F("add2", ELEMENTWISE),
    F("addbmm", GEMM), F("addcdiv", ELEMENTWISE), F("addcmul", ELEMENTWISE), F("addmm", GEMM),
    F("addmv", GEMM), F("addr", GEMM), F("affinegridgenerator", OTHER), F("alias", DATA_MOVEMENT),
    F("all", REDUCTION), F("amax", REDUCTION), F("amin", REDUCTION), F("aminmax", REDUCTION),
    F("any", REDUCTION), F("applyrotaryemb", ELEMENTWISE), F("approxgelu", ACTIVATION),
    F("arange", FILL), F("argmax", REDUCTION), F("argmaxpooling", POOLING),
    F("argmaxpooling2d", POOLING), F("argmin", REDUCTION), F("argsort", SEARCH),
    F("asin", ELEMENTWISE), F("asinh", ELEMENTWISE), F("asstrided", DATA_MOVEMENT),
    F("atan", ELEMENTWISE), F("atan2", ELEMENTWISE), F("atanh", ELEMENTWISE),
    F("attention", ATTENTION), F("averagepooling", POOLING), F("avgpool1d", POOLING),
    F("avgpool2d", POOLING), F("avgpool3d", POOLING), F("avgpooling2d", POOLING),
    F("baddbmm", GEMM), F("bankdersrounding", ELEMENTWISE), F("bankersrounding", ELEMENTWISE),
    F("batchmatmul", GEMM), F("batchmatrixmultiply", GEMM), F("batchnorm", NORMALIZATION),
    F("bernoulli", FILL), F("binaryelementwise", ELEMENTWISE), F("bincount", SEARCH),
    F("bitwiseand", ELEMENTWISE), F("bitwiseleftshift", ELEMENTWISE), F("bitwisenot", ELEMENTWISE),
    F("bitwiseor", ELEMENTWISE), F("bitwiserightshift", ELEMENTWISE), F("bitwisexor", ELEMENTWISE),
    F("bmm", GEMM), F("broadcast", DATA_MOVEMENT), F("bucketize", SEARCH), F("cat", DATA_MOVEMENT),
    F("cdist", OTHER), F("cdistforward", OTHER), F("ceil", ELEMENTWISE), F("ceiling", ELEMENTWISE),
    F("celu", ACTIVATION), F("channelshuffle", DATA_MOVEMENT),
    F("channelwisegateddeltarule", ATTENTION), F("chooseqparams", QUANTIZE),
    F("chooseqparamsaffine", QUANTIZE), F("chooseqparamspertokenasymmetric", QUANTIZE),
    F("chunk", DATA_MOVEMENT), F("circularpad1d", DATA_MOVEMENT), F("clamp", ELEMENTWISE),
    F("clampmax", ELEMENTWISE), F("clampmin", ELEMENTWISE), F("clip", ELEMENTWISE),
    F("clone", DATA_MOVEMENT), CATEGORY("clonedimorder", DATA_MOVEMENT, k_note_order),
    F("col2im", DATA_MOVEMENT), F("concat", DATA_MOVEMENT), F("concatenate", DATA_MOVEMENT),
    F("concatenate2", DATA_MOVEMENT), F("concatenate3", DATA_MOVEMENT),
    F("concatenate4", DATA_MOVEMENT), F("concatenate5", DATA_MOVEMENT),
    F("conjphysical", ELEMENTWISE), F("constantpad", DATA_MOVEMENT),
    F("constantpadnd", DATA_MOVEMENT), F("contiguous", DATA_MOVEMENT), F("conv", CONVOLUTION),
    F("conv1d", CONVOLUTION), F("conv2d", CONVOLUTION), F("conv2dnchw", CONVOLUTION),
    F("conv2dnhwc", CONVOLUTION), F("conv3d", CONVOLUTION), F("convert", QUANTIZE),
    F("convertelementtype", QUANTIZE), F("convnchw", CONVOLUTION), F("convnhwc", CONVOLUTION),
    F("convolution", CONVOLUTION), F("convolutionbackward", CONVOLUTION),
    F("convolutionoverrideable", CONVOLUTION), F("convtranspose1d", CONVOLUTION),
    F("convtranspose2d", CONVOLUTION), F("convtranspose3d", CONVOLUTION), F("copy", DATA_MOVEMENT),
    F("copysign", ELEMENTWISE), F("cos", ELEMENTWISE), F("cosh", ELEMENTWISE),
    F("cosine", ELEMENTWISE), F("countleadingzeros", ELEMENTWISE), F("countnonzero", REDUCTION),
    F("cross", OTHER), F("cuberoot", ELEMENTWISE), F("cudnnbatchnorm", NORMALIZATION),
    F("cummax", REDUCTION), F("cummin", REDUCTION), F("cumprod", REDUCTION), F("cumsum", REDUCTION),
    F("customquantizedsdpa", ATTENTION), F("customsdpa", ATTENTION),
    F("deconvolution", CONVOLUTION), F("deg2rad", ELEMENTWISE), F("depthtospace", DATA_MOVEMENT),
    F("depthwiseconv", CONVOLUTION), F("depthwiseconv2d", CONVOLUTION), F("dequantize", QUANTIZE),
    F("dequantizeaffine", QUANTIZE), F("dequantizeperchannel", QUANTIZE),
    F("dequantizeperchannelgroup", QUANTIZE), F("dequantizepertensor", QUANTIZE),
    F("dequantizepertoken", QUANTIZE), F("det", OTHER), F("detach", DATA_MOVEMENT),
    F("diagonal", DATA_MOVEMENT), F("div", ELEMENTWISE), F("divide", ELEMENTWISE), F("dot", GEMM),
    F("dropout", ELEMENTWISE), F("dynamicfullyconnected", GEMM), F("einsum", GEMM),
    F("elu", ACTIVATION), F("embedding", EMBEDDING), F("embedding1bit", EMBEDDING),
    F("embedding2bit", EMBEDDING), F("embedding3bit", EMBEDDING), F("embedding4bit", EMBEDDING),
    F("embedding5bit", EMBEDDING), F("embedding6bit", EMBEDDING), F("embedding7bit", EMBEDDING),
    F("embedding8bit", EMBEDDING), F("embeddingbag", EMBEDDING), F("embeddingbyte", EMBEDDING),
    F("embeddingxbit", EMBEDDING), F("empty", FILL),
    CATEGORY("emptydimorder", DATA_MOVEMENT, k_note_order), F("emptylike", FILL),
    F("eq", ELEMENTWISE), F("erf", ELEMENTWISE), F("erfc", ELEMENTWISE), F("erfinv", ELEMENTWISE),
    F("etcopyindex", DATA_MOVEMENT), F("etview", DATA_MOVEMENT), F("evensplit", DATA_MOVEMENT),
    F("evensplit2", DATA_MOVEMENT), F("evensplit3", DATA_MOVEMENT), F("evensplit4", DATA_MOVEMENT),
    F("exp", ELEMENTWISE), F("exp2", ELEMENTWISE), F("expand", DATA_MOVEMENT),
    F("expandas", DATA_MOVEMENT), F("expm1", ELEMENTWISE), F("eye", FILL),
    F("fakequantizeperchannelaffine", QUANTIZE), F("fakequantizepertensoraffine", QUANTIZE),
    F("fallback", OTHER), F("fasthadamardtransform", OTHER), F("fftc2c", OTHER), F("fftc2r", OTHER),
    F("fftr2c", OTHER), F("fill", FILL), F("flashattention", ATTENTION),
    F("flashattentionforward", ATTENTION), F("flatten", DATA_MOVEMENT), F("flip", DATA_MOVEMENT),
    F("float", QUANTIZE), F("floor", ELEMENTWISE), F("floordiv", ELEMENTWISE),
    F("floordivide", ELEMENTWISE), F("fmax", ELEMENTWISE), F("fmin", ELEMENTWISE),
    F("fmod", ELEMENTWISE), F("frac", ELEMENTWISE), F("full", FILL), F("fulllike", FILL),
    F("fullyconnected", GEMM), F("fusedims", DATA_MOVEMENT), F("fusedrmsnorm", NORMALIZATION),
    F("gateddeltarule", ATTENTION), F("gather", DATA_MOVEMENT), F("ge", ELEMENTWISE),
    F("geglu", ACTIVATION), F("gelu", ACTIVATION), F("globalaveragepooling", POOLING),
    F("globalavgpooling2d", POOLING), F("globalsumpooling", POOLING),
    F("globalsumpooling2d", POOLING), F("glu", ACTIVATION), F("greater", ELEMENTWISE),
    F("greaterequal", ELEMENTWISE), F("gridsampler", RESIZE), F("gridsampler2d", RESIZE),
    F("gridsampler3d", RESIZE), F("groupedmm", GEMM), F("groupnorm", NORMALIZATION),
    F("gru", OTHER), F("gt", ELEMENTWISE), F("half", QUANTIZE), F("hardshrink", ACTIVATION),
    F("hardsigmoid", ACTIVATION), F("hardswish", ACTIVATION), F("hardtanh", ACTIVATION),
    F("histc", SEARCH), F("hstack", DATA_MOVEMENT), F("hypot", ELEMENTWISE),
    F("im2col", DATA_MOVEMENT), F("index", DATA_MOVEMENT), F("indexcopy", DATA_MOVEMENT),
    F("indexfill", DATA_MOVEMENT), F("indexput", DATA_MOVEMENT), F("indexselect", DATA_MOVEMENT),
    F("inner", GEMM), F("instancenorm", NORMALIZATION), F("interpolate", RESIZE), F("intmm", GEMM),
    F("invalid", OTHER), F("invalidbinaryop", ELEMENTWISE),
    CATEGORY("invalidunaryop", ACTIVATION, k_note_lut), F("inverse", OTHER),
    F("isclose", ELEMENTWISE), F("isfinite", ELEMENTWISE), F("isinf", ELEMENTWISE),
    F("isnan", ELEMENTWISE), F("item", CONTROL), F("kthvalue", SEARCH),
    F("layernorm", NORMALIZATION), F("le", ELEMENTWISE), F("leakyrelu", ACTIVATION),
    F("lerp", ELEMENTWISE), F("less", ELEMENTWISE), F("lessequal", ELEMENTWISE),
    F("lgamma", ELEMENTWISE), F("liftfresh", DATA_MOVEMENT), F("linalgvectornorm", REDUCTION),
    F("linear", GEMM), F("linear8bitact1bitweight", GEMM), F("linear8bitact2bitweight", GEMM),
    F("linear8bitact3bitweight", GEMM), F("linear8bitact4bitweight", GEMM),
    F("linear8bitact5bitweight", GEMM), F("linear8bitact6bitweight", GEMM),
    F("linear8bitact7bitweight", GEMM), F("linear8bitact8bitweight", GEMM),
    F("linear8bitactxbitweight", GEMM), F("linearforward", GEMM), F("linspace", FILL),
    F("localresponsenorm", NORMALIZATION), F("localscalardense", CONTROL), F("log", ELEMENTWISE),
    F("log10", ELEMENTWISE), F("log1p", ELEMENTWISE), F("log2", ELEMENTWISE),
    F("logaddexp", ELEMENTWISE), F("logcumsumexp", REDUCTION), F("logicaland", ELEMENTWISE),
    F("logicalnot", ELEMENTWISE), F("logicalor", ELEMENTWISE), F("logicalxor", ELEMENTWISE),
    F("logit", ELEMENTWISE), F("logsigmoid", ACTIVATION), F("logsigmoidforward", ACTIVATION),
    F("logsoftmax", NORMALIZATION), F("logsumexp", REDUCTION), F("lppool2d", POOLING),
    F("lstm", OTHER), F("lt", ELEMENTWISE), F("maskedfill", ELEMENTWISE),
    F("maskedscatter", DATA_MOVEMENT), F("maskedselect", DATA_MOVEMENT), F("matmul", GEMM),
    F("max", REDUCTION), F("maximum", ELEMENTWISE), F("maximum2", ELEMENTWISE),
    F("maxpool1d", POOLING), F("maxpool2d", POOLING), F("maxpool2dnchw", POOLING),
    F("maxpool2dnhwc", POOLING), F("maxpool2dwithindices", POOLING),
    F("maxpool2dwithindicesbackward", POOLING), F("maxpool3d", POOLING),
    F("maxpool3dwithindices", POOLING), F("maxpooling", POOLING), F("maxpooling2d", POOLING),
    F("maxunpool2d", POOLING), F("mean", REDUCTION), F("meansquared", REDUCTION),
    F("median", REDUCTION), F("mha", ATTENTION), F("min", REDUCTION), F("minimum", ELEMENTWISE),
    F("minimum2", ELEMENTWISE), F("mish", ACTIVATION), F("mixedlinear", GEMM), F("mixedmm", GEMM),
    F("mkldnnconvolution", CONVOLUTION), F("mm", GEMM), F("mod", ELEMENTWISE), F("mode", REDUCTION),
    F("modulus", ELEMENTWISE), F("moveaxis", DATA_MOVEMENT), F("movedim", DATA_MOVEMENT),
    F("mul", ELEMENTWISE), F("multiheadattention", ATTENTION),
    F("multiheadattentionforward", ATTENTION), F("multinomial", OTHER), F("multiply", ELEMENTWISE),
    F("multiply2", ELEMENTWISE), F("mv", GEMM), F("nanmean", REDUCTION), F("nansum", REDUCTION),
    F("nantonum", ELEMENTWISE), F("narrow", DATA_MOVEMENT), F("nativebatchnorm", NORMALIZATION),
    F("nativebatchnormlegit", NORMALIZATION), F("nativebatchnormlegitfunctional", NORMALIZATION),
    F("nativebatchnormlegitnostats", NORMALIZATION),
    F("nativebatchnormlegitnotraining", NORMALIZATION), F("nativedropout", ELEMENTWISE),
    F("nativegroupnorm", NORMALIZATION), F("nativelayernorm", NORMALIZATION),
    F("nativemultiheadattention", ATTENTION), F("ne", ELEMENTWISE), F("neg", ELEMENTWISE),
    F("negate", ELEMENTWISE), F("nms", SEARCH), F("nonzero", SEARCH), F("nonzerostatic", SEARCH),
    F("norm", REDUCTION), F("normal", FILL), F("normalize", NORMALIZATION),
    F("notequal", ELEMENTWISE), F("onehot", FILL), F("ones", FILL), F("oneslike", FILL),
    F("outer", GEMM), CATEGORY("packlh", DATA_MOVEMENT, k_note_pack), F("pad", DATA_MOVEMENT),
    F("pdistforward", OTHER), F("permute", DATA_MOVEMENT), F("pixelshuffle", DATA_MOVEMENT),
    F("pixelunshuffle", DATA_MOVEMENT), F("populationcount", ELEMENTWISE),
    F("positive", ELEMENTWISE), F("pow", ELEMENTWISE), F("power", ELEMENTWISE),
    F("prelu", ACTIVATION), F("prod", REDUCTION), F("quantile", REDUCTION), F("quantize", QUANTIZE),
    F("quantizeaffine", QUANTIZE), F("quantizedmoeffn", GEMM), F("quantizeperchannel", QUANTIZE),
    F("quantizeperchannelgroup", QUANTIZE), F("quantizepertensor", QUANTIZE),
    F("quantizepertensordynamic", QUANTIZE), F("quantizepertoken", QUANTIZE),
    F("rad2deg", ELEMENTWISE), F("rand", FILL), F("randint", FILL), F("randlike", FILL),
    F("randn", FILL), F("randnlike", FILL), F("ravel", DATA_MOVEMENT), F("reciprocal", ELEMENTWISE),
    F("reciprocalsquareroot", ELEMENTWISE), F("reduce", REDUCTION), F("reducemax", REDUCTION),
    F("reducemin", REDUCTION), F("reflectionpad1d", DATA_MOVEMENT),
    F("reflectionpad2d", DATA_MOVEMENT), F("reflectionpad3d", DATA_MOVEMENT),
    F("reinterpret", DATA_MOVEMENT), F("relu", ACTIVATION), F("relu6", ACTIVATION),
    F("remainder", ELEMENTWISE), F("repeat", DATA_MOVEMENT), F("repeatinterleave", DATA_MOVEMENT),
    F("replicationpad1d", DATA_MOVEMENT), F("replicationpad2d", DATA_MOVEMENT),
    F("replicationpad3d", DATA_MOVEMENT), F("requantize", QUANTIZE), F("reshape", DATA_MOVEMENT),
    F("reshapeas", DATA_MOVEMENT), F("resize", RESIZE), F("resizebilinear", RESIZE),
    F("rmsnorm", NORMALIZATION), F("rnnrelu", OTHER), F("rnntanh", OTHER), F("roialign", OTHER),
    F("roll", DATA_MOVEMENT), F("rope", ELEMENTWISE), F("rot90", DATA_MOVEMENT),
    F("rotaryembedding", ELEMENTWISE), F("round", ELEMENTWISE), F("rrelu", ACTIVATION),
    F("rsqrt", ELEMENTWISE), F("rsub", ELEMENTWISE), F("safesoftmax", NORMALIZATION),
    F("scalartensor", FILL), F("scaleddotproductattention", ATTENTION),
    F("scaleddotproductefficientattention", ATTENTION),
    F("scaleddotproductflashattention", ATTENTION),
    F("scaleddotproductflashattentionforcpu", ATTENTION), F("scaledmm", GEMM),
    F("scatter", DATA_MOVEMENT), F("scatteradd", DATA_MOVEMENT), F("scatterreduce", DATA_MOVEMENT),
    F("sdpa", ATTENTION), F("sdpawithkvcache", ATTENTION), F("searchsorted", SEARCH),
    F("select", DATA_MOVEMENT), F("selectscatter", DATA_MOVEMENT), F("selu", ACTIVATION),
    F("sgn", ELEMENTWISE), F("shiftleft", ELEMENTWISE), F("shiftrightarithmetic", ELEMENTWISE),
    F("shiftrightlogical", ELEMENTWISE), F("sigmoid", ACTIVATION), F("sign", ELEMENTWISE),
    F("signbit", ELEMENTWISE), F("silu", ACTIVATION), F("sin", ELEMENTWISE), F("sine", ELEMENTWISE),
    F("sinh", ELEMENTWISE), F("slice", DATA_MOVEMENT), F("slicescatter", DATA_MOVEMENT),
    F("slowconv2dforward", CONVOLUTION), F("softmax", NORMALIZATION), F("softmin", NORMALIZATION),
    F("softplus", ACTIVATION), F("softshrink", ACTIVATION), F("softsign", ACTIVATION),
    F("sort", SEARCH), F("spacetodepth", DATA_MOVEMENT), F("split", DATA_MOVEMENT),
    F("splitdims", DATA_MOVEMENT), F("splitwithsizes", DATA_MOVEMENT), F("sqrt", ELEMENTWISE),
    F("square", ELEMENTWISE), F("squareddifference", ELEMENTWISE), F("squareroot", ELEMENTWISE),
    F("squeeze", DATA_MOVEMENT), F("stack", DATA_MOVEMENT), F("staticbroadcast", DATA_MOVEMENT),
    F("staticconstantpad", DATA_MOVEMENT), F("staticexpanddims", DATA_MOVEMENT),
    F("staticmean", REDUCTION), F("staticreshape", DATA_MOVEMENT),
    F("staticresizebilinear2d", RESIZE), F("staticslice", DATA_MOVEMENT), F("staticsum", REDUCTION),
    F("statictranspose", DATA_MOVEMENT), F("std", REDUCTION), F("stdmean", REDUCTION),
    F("stft", OTHER), F("sub", ELEMENTWISE), F("subtract", ELEMENTWISE), F("sum", REDUCTION),
    F("swapaxes", DATA_MOVEMENT), F("swiglu", ACTIVATION), F("swish", ACTIVATION),
    F("symfloat", CONTROL), F("symint", CONTROL), F("symite", CONTROL), F("symmax", CONTROL),
    F("symmin", CONTROL), F("symnot", CONTROL), F("symnumel", CONTROL), F("symsize", CONTROL),
    F("symstorageoffset", CONTROL), F("symstride", CONTROL), F("t", DATA_MOVEMENT),
    F("take", DATA_MOVEMENT), F("takealongdim", DATA_MOVEMENT), F("tan", ELEMENTWISE),
    F("tanh", ACTIVATION), F("tanhshrink", ACTIVATION), F("thnnconv2d", CONVOLUTION),
    F("threshold", ELEMENTWISE), F("tile", DATA_MOVEMENT), F("to", QUANTIZE), F("tocopy", QUANTIZE),
    CATEGORY("todimordercopy", DATA_MOVEMENT, k_note_order), F("topk", SEARCH),
    F("transpose", DATA_MOVEMENT), F("transposeconv2d", CONVOLUTION),
    F("transposecopy", DATA_MOVEMENT), F("tril", ELEMENTWISE), F("triu", ELEMENTWISE),
    F("truediv", ELEMENTWISE), F("truedivide", ELEMENTWISE), F("trunc", ELEMENTWISE),
    F("truncation", ELEMENTWISE), F("typeas", QUANTIZE), F("unaryelementwise", ELEMENTWISE),
    F("unbind", DATA_MOVEMENT), F("unflatten", DATA_MOVEMENT), F("unfold", DATA_MOVEMENT),
    F("uniform", FILL), F("unique", SEARCH), F("unique2", SEARCH), F("unpooling", POOLING),
    F("unsafesplit", DATA_MOVEMENT), F("unsafeview", DATA_MOVEMENT), F("unsqueeze", DATA_MOVEMENT),
    F("updatecache", DATA_MOVEMENT), F("updatecachewithindices", DATA_MOVEMENT),
    F("upsamplebicubic2d", RESIZE), F("upsamplebicubic2daa", RESIZE),
    F("upsamplebilinear2d", RESIZE), F("upsamplebilinear2daa", RESIZE),
    F("upsamplelinear1d", RESIZE), F("upsamplenearest1d", RESIZE), F("upsamplenearest2d", RESIZE),
    F("upsamplenearest3d", RESIZE), F("upsamplenearestexact2d", RESIZE),
    F("upsampletrilinear3d", RESIZE), F("var", REDUCTION), F("varmean", REDUCTION), F("vdot", GEMM),
    F("view", DATA_MOVEMENT), F("viewas", DATA_MOVEMENT), F("viewascomplex", DATA_MOVEMENT),
    F("viewasreal", DATA_MOVEMENT), F("vmulcaddc", CONVOLUTION), F("vstack", DATA_MOVEMENT),
    F("weightint4packmm", GEMM), F("weightint8packmm", GEMM), F("weightnorm", NORMALIZATION),
    F("where", ELEMENTWISE), F("xlogy", ELEMENTWISE), F("zeros", FILL), F("zeroslike", FILL),
};
// clang-format on
#undef F
#undef CATEGORY

#define KEY_MAX 64

// Letters and digits in lower case; false when the result would not fit (no family is that long).
static bool squeeze(etp_str s, char key[static KEY_MAX])
{
    size_t n = 0;
    for (size_t i = 0; i < s.len; i++) {
        char c = etp_lower(s.ptr[i]);
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z'))) {
            continue;
        }
        if (n + 1 == KEY_MAX) {
            return false;
        }
        key[n++] = c;
    }
    key[n] = '\0';
    return n > 0;
}

static const etp_op_family *find_key(const char *key)
{
    size_t low = 0, high = sizeof k_families / sizeof *k_families;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        int order = strcmp(k_families[mid].key, key);
        if (order == 0) {
            return &k_families[mid];
        }
        if (order < 0) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return NULL;
}

const etp_op_family *etp_op_family_find(etp_str family, bool is_kernel)
{
    // Kernels of one family differ by who wrote them and by whether a view is made real.
    static const char *const k_prefixes[] = {"native", "quantized", "custom"};
    char key[KEY_MAX];
    if (!squeeze(family, key)) {
        return NULL;
    }
    const etp_op_family *found = find_key(key);
    // The payload's schema spells its nodes with this prefix, which no event carries. Its three
    // letters are still in front of the key.
    if (!found && etp_str_starts(family, ETP_STR("XNN"))) {
        found = find_key(key + 3);
    }
    if (found || !is_kernel) {
        return found;
    }
    // ExecuTorch runs PyTorch's views as copies and names them so ("view_copy"). The suffix stays
    // off while prefixes are tried, so that a name with both is found too.
    size_t len = strlen(key);
    if (len > 4 && strcmp(key + len - 4, "copy") == 0) {
        key[len - 4] = '\0';
        found = find_key(key);
    }
    for (size_t i = 0; !found && i < sizeof k_prefixes / sizeof *k_prefixes; i++) {
        const char *prefix = k_prefixes[i];
        size_t n = strlen(prefix);
        const char *rest = strncmp(key, prefix, n) == 0 && key[n] != '\0' ? key + n : NULL;
        found = rest ? find_key(rest) : NULL;
    }
    return found;
}

const etp_op_family *etp_op_family_table(size_t *out_n)
{
    *out_n = sizeof k_families / sizeof *k_families;
    return k_families;
}
