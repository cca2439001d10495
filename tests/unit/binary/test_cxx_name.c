// SPDX-License-Identifier: Apache-2.0
// Names of C++ functions against what GNU's c++filt makes of them (its names, without parameters
// and template arguments), and names that are none.
#include <string.h>

#include "binary/cxx_name.h"
#include "unit.h"

static const struct {
    const char *symbol, *name;
} k_cases[] = {
    {"_ZN5torch8executor22check_expand_copy_argsERKN10executorch7runtime7etensor6TensorENS2_"
     "8ArrayRefIlEEbRS4_",                                          "torch::executor::check_expand_copy_args"                             },
    {"_ZN5torch8executor6native10atanh_outERN10executorch7runtime20KernelRuntimeContextERKNS3_"
     "7etensor6TensorERS7_",                                        NULL                                                                  }, // the length of one name is wrong
    {"_ZN5torch8executor6native9atanh_outERN10executorch7runtime20KernelRuntimeContextERKNS3_"
     "7etensor6TensorERS7_",                                        "torch::executor::native::atanh_out"                                  },
    {"_ZZN5torch8executor6native18RowwiseMomentsImplIfLl8EEESt4pairIN10executorch5utils"
     "18ComputeDTypeTraitsIT_E4typeES9_EPKS7_llE6c_vecs",           "torch::executor::native::RowwiseMomentsImpl::c_vecs"                 },
    {"_ZZN10executorch9extension3llm18sample_from_logitsERKNS_7runtime7etensor6TensorERNS1_"
     "7SamplerEENKUlvE_clEv",                                       "executorch::extension::llm::sample_from_logits::{lambda}::operator()"},
    {"_ZNK6google8protobuf13RepeatedFieldIlE22SpaceUsedExcludingSelfEv",
     "google::protobuf::RepeatedField::SpaceUsedExcludingSelf"                                                                                 },
    {"_ZN4absl4FlagIlED0Ev",                                             "absl::Flag::~Flag"                                                   },
    {"_ZN6google8protobuf4util6StatusC1Ev",                              "google::protobuf::util::Status::Status"                              },
    {"_ZNKR3c106IValue8toSymIntEv",                                      "c10::IValue::toSymInt"                                               },
    {"_ZN12_GLOBAL__N_13addEii",                                         "(anonymous)::add"                                                    },
    {"_ZL3addii.constprop.0",                                            "add"                                                                 },
    {"_Z3addIfEvPKT_",                                                   "add"                                                                 },
    {"_ZNSt6vectorIiSaIiEE9push_backEOi",                                "std::vector::push_back"                                              },
    {"xnn_f32_gemm_minmax_ukernel_4x16__avx512f_broadcast",              NULL                                                                  },
    {"_Z",                                                               NULL                                                                  },
    {"_ZN",                                                              NULL                                                                  },
    {"_ZN5torch",                                                        NULL                                                                  },
    {"_ZN99999999999999999999torchE",                                    NULL                                                                  },
    {"_Z3addIXsr3fooE5valueEEvv",                                        NULL                                                                  }, // an expression: not understood
    {"",                                                                 NULL                                                                  },
};

static void names(void **state)
{
    for (size_t i = 0; i < sizeof k_cases / sizeof *k_cases; i++) {
        etp_str name = etp_cxx_name(etp_str_from(k_cases[i].symbol), *state);
        const char *wanted = k_cases[i].name ? k_cases[i].name : "";
        if (!etp_str_eqz(name, wanted)) {
            fail_msg("%s: \"%.*s\", wanted \"%s\"", k_cases[i].symbol, (int)name.len,
                     name.len ? name.ptr : "", wanted);
        }
    }
}

// Every beginning of a name and every changed character ends without reading beyond it.
static void damaged(void **state)
{
    for (size_t i = 0; i < sizeof k_cases / sizeof *k_cases; i++) {
        const size_t n = strlen(k_cases[i].symbol);
        for (size_t at = 0; at < n; at++) {
            static const char k_changes[] = {'\0', 'E', 'N', 'I', 'Z', 'S', '9', 'L', 'T', '_'};
            for (size_t c = 0; c < sizeof k_changes; c++) {
                char copy[256];
                etp_arena arena = {0};
                assert_true(n < sizeof copy);
                memcpy(copy, k_cases[i].symbol, n);
                copy[at] = k_changes[c];
                (void)etp_cxx_name((etp_str){copy, k_changes[c] ? n : at}, &arena);
                etp_arena_dispose(&arena);
            }
        }
    }
    char deep[2 + 3000];
    memcpy(deep, "_Z", 2);
    memset(deep + 2, 'Z', 3000);
    etp_arena arena = {0};
    assert_int_equal(etp_cxx_name((etp_str){deep, sizeof deep}, &arena).len, 0);
    etp_arena_dispose(&arena);
}
