// SPDX-License-Identifier: Apache-2.0
// Names of micro-kernels. XNNPACK:
// xnn_<types…>_<op>_<variant…>_ukernel[_<shape>]__[<shape>_]<arch…>; KleidiAI:
// kai_<role>_<op…>_<types…>_<arch>_<instruction>. And what functions without a name are called.
#include "base/choice.h"
#include "explain/kernels.h"

#include "binary/cxx_name.h"

static bool digit(char c)
{
    return c >= '0' && c <= '9';
}

// "f32", "qc8w", "pqs8", "bf16", "f32acc", "x32", "xx", "qai8dxp1x8": a letter or three, then bits.
static bool is_type(etp_str t)
{
    static const char *const k_heads[] = {"qdu", "qai", "qsi", "qsu", "pqs", "pf", "qs", "qu", "qd",
                                          "qp",  "qc",  "qb",  "bf",  "f",   "x",  "s",  "u",  "i"};
    if (etp_str_eqz(t, "xx")) {
        return true;
    }
    for (size_t i = 0; i < sizeof k_heads / sizeof *k_heads; i++) {
        size_t n = strlen(k_heads[i]);
        if (t.len > n && memcmp(t.ptr, k_heads[i], n) == 0 && digit(t.ptr[n])) {
            return true;
        }
    }
    return false;
}

static etp_str next_word(etp_str *rest)
{
    size_t n = etp_str_find(*rest, ETP_STR("_"));
    etp_str word = {rest->ptr, n};
    size_t skip = n < rest->len ? n + 1 : n;
    rest->ptr += skip;
    rest->len -= skip;
    return word;
}

// Takes words while IS holds; what was taken, underscores between included.
static etp_str take_while(etp_str *rest, bool (*is)(etp_str))
{
    const char *start = rest->ptr;
    size_t len = 0;
    while (rest->len > 0) {
        etp_str before = *rest, word = next_word(rest);
        if (!is(word)) {
            *rest = before;
            break;
        }
        len = (size_t)(word.ptr + word.len - start);
    }
    return (etp_str){start, len};
}

static bool not_arch_of_kai(etp_str t)
{
    return !etp_str_starts(t, ETP_STR("sme")) && !etp_str_starts(t, ETP_STR("neon")) &&
           !etp_str_starts(t, ETP_STR("sve"));
}

static bool not_type(etp_str t)
{
    return !is_type(t) && not_arch_of_kai(t);
}

static void parse_xnn(etp_str rest, etp_kernel_name *out)
{
    size_t at = etp_str_find(rest, ETP_STR("_ukernel"));
    if (at == rest.len) {
        return;
    }
    etp_str tail = {rest.ptr + at + 8, rest.len - at - 8};
    rest.len = at;
    out->dtype = take_while(&rest, is_type);
    out->op = next_word(&rest);
    out->variant = rest;
    size_t two = etp_str_find(tail, ETP_STR("__"));
    if (two > 0 && two < tail.len && tail.ptr[0] == '_') {
        out->shape = (etp_str){tail.ptr + 1, two - 1};
    }
    if (two < tail.len) {
        etp_str arch = {tail.ptr + two + 2, tail.len - two - 2};
        etp_str before = arch, word = next_word(&arch);
        if (out->shape.len == 0 && word.len > 0 && digit(word.ptr[0])) {
            out->shape = word;
        } else {
            arch = before;
        }
        out->arch = arch;
    }
}

void etp_kernel_name_parse(etp_str name, etp_kernel_name *out)
{
    *out = (etp_kernel_name){0};
    if (etp_str_starts(name, ETP_STR("xnn_"))) {
        parse_xnn((etp_str){name.ptr + 4, name.len - 4}, out);
    } else if (etp_str_starts(name, ETP_STR("kai_"))) {
        etp_str rest = {name.ptr + 4, name.len - 4};
        (void)next_word(&rest); // run, kernel, get…: not what it computes
        out->op = take_while(&rest, not_type);
        out->dtype = take_while(&rest, not_arch_of_kai);
        out->arch = rest;
        size_t at = etp_str_find(out->op, ETP_STR("matmul_"));
        if (at == 0 && out->op.len > 7) {
            out->variant = (etp_str){out->op.ptr + 7, out->op.len - 7};
            out->op.len = 6;
        }
    }
    out->sme2 = etp_str_find(out->arch, ETP_STR("sme2")) < out->arch.len;
    out->sme = etp_str_find(out->arch, ETP_STR("sme")) < out->arch.len;
}

// How a word of the instruction set begins, in XNNPACK's and KleidiAI's names. Of several that fit
// the longest counts.
static const struct {
    const char *begin;
    etp_code code;
} k_archs[] = {
    {"scalar",        ETP_CODE_SCALAR       },
    {"sse",           ETP_CODE_SSE          },
    {"ssse",          ETP_CODE_SSE          },
    {"avx",           ETP_CODE_AVX          },
    {"xop",           ETP_CODE_AVX          },
    {"f16c",          ETP_CODE_F16C         },
    {"fma3",          ETP_CODE_FMA          },
    {"avx2",          ETP_CODE_AVX2         },
    {"avxvnni",       ETP_CODE_AVX_VNNI     },
    {"avxvnniint8",   ETP_CODE_AVX_VNNI_INT8},
    {"avx256",        ETP_CODE_AVX512       },
    {"avx256vnni",    ETP_CODE_AVX512_VNNI  },
    {"avx512",        ETP_CODE_AVX512       },
    {"avx512vnni",    ETP_CODE_AVX512_VNNI  },
    {"avx512bf16",    ETP_CODE_AVX512_BF16  },
    {"avx512fp16",    ETP_CODE_AVX512_FP16  },
    {"avx512amx",     ETP_CODE_AMX          },
    {"neon",          ETP_CODE_NEON         },
    {"neonfp16arith", ETP_CODE_FP16         },
    {"neondot",       ETP_CODE_DOTPROD      },
    {"dotprod",       ETP_CODE_DOTPROD      },
    {"neoni8mm",      ETP_CODE_I8MM         },
    {"i8mm",          ETP_CODE_I8MM         },
    {"neonbf16",      ETP_CODE_BF16         },
    {"sve",           ETP_CODE_SVE          },
    {"sve2",          ETP_CODE_SVE2         },
    {"sme",           ETP_CODE_SME          },
    {"sme2",          ETP_CODE_SME2         },
    {"neonsme",       ETP_CODE_SME          },
    {"neonsme2",      ETP_CODE_SME2         },
};

etp_code etp_kernel_name_code(etp_str name)
{
    etp_kernel_name parsed;
    etp_kernel_name_parse(name, &parsed);
    etp_code most = ETP_CODE_UNKNOWN;
    for (etp_str rest = parsed.arch;
         rest.len > 0;) { // "neon_dotprod", "asm_aarch64_neonfma_cortex_a53"
        const etp_str word = next_word(&rest);
        etp_code code = ETP_CODE_UNKNOWN;
        size_t longest = 0;
        for (size_t i = 0; i < sizeof k_archs / sizeof *k_archs; i++) {
            etp_str begin = etp_str_from(k_archs[i].begin);
            if (begin.len > longest && etp_str_starts(word, begin)) {
                longest = begin.len;
                code = k_archs[i].code;
            }
        }
        most = ETP_MAX(code, most);
    }
    return most;
}

void etp_kernel_name_make(const etp_kernels *kernels, etp_kernel *k, etp_arena *arena)
{
    if (k->symbol.len) {
        etp_str cxx = etp_cxx_name(k->symbol, arena);
        k->title = etp_arena_strdup(arena, cxx.len ? cxx : k->symbol);
        return;
    }
    const char *what = k->code == ETP_CODE_UNKNOWN ? "code" : etp_code_title(k->code);
    const char *noun = "";
    if (k->code != ETP_CODE_UNKNOWN && k->code != ETP_CODE_SCALAR) {
        noun = k->evidence ? " kernel" : " code";
    }
    if (k->op < kernels->n_ops && k->evidence) {
        etp_op_name op;
        etp_op_parse(kernels->ops[k->op].name, &op);
        k->of = op.base;
    }
    k->kind = etp_arena_printf(arena, "%s%s", what, noun);
    k->title =
        etp_arena_printf(arena, "%s%s%.*s [%.*s+0x%llx]", k->kind, etp_if(k->of.len, " of "),
                         ETP_STR_ARG(k->of), ETP_STR_ARG(k->module), (unsigned long long)k->start);
}
