// SPDX-License-Identifier: Apache-2.0
// What real operator names prove, and that nothing is read into the others.
#include <string.h>

#include "isa/isa.h"
#include "unit.h"

static void names(void **state)
{
    static const struct {
        const char *name;
        etp_name_proof proof;
    } k_cases[] = {
        {"Convolution (NHWC, PF32) IGEMM #1",             ETP_PROVES_SME     },
        {"Fully Connected (NC, PF16) GEMM",               ETP_PROVES_SME     },
        {"Batch Matrix Multiply (NC, PF32) GEMM #2",      ETP_PROVES_SME     },
        {"Convolution (NHWC, PQS8, QS8, QC8W) IGEMM #3",  ETP_PROVES_SME     },
        {"Fully Connected (NC, QDU8, F32, QC8W) GEMM #1", ETP_PROVES_VNNI    },
        // seen with AVX-512 without VNNI (tests/kernels/asked_names.tsv); QB4W by analogy, not
        // asked
        {"Fully Connected (NC, QDU8, F32, QC4W) GEMM #1", ETP_PROVES_NOTHING },
        {"Fully Connected (NC, QDU8, F32, QB4W) GEMM #1", ETP_PROVES_NOTHING },
        {"Fully Connected (NC, QD8, F32, QC8W) GEMM #1",  ETP_PROVES_NOT_VNNI},
        {"Fully Connected (NC, QP8, F32, QC8W) GEMM #1",  ETP_PROVES_NOTHING },
        {"Fully Connected (NC, QP8, F16, QC8W) GEMM #1",  ETP_PROVES_SME     },
        {"Fully Connected (NC, QP8, F16, QC4W) GEMM #1",  ETP_PROVES_NOTHING },
        {"Convolution (NHWC, F32) DWConv #1",             ETP_PROVES_NOTHING },
        {"Convolution (NHWC, QD8, F32, QC8W) IGEMM",      ETP_PROVES_NOTHING },
        {"Convert (NC, F32, QD8) #1",                     ETP_PROVES_NOTHING },
        {"Add (ND) #1",                                   ETP_PROVES_NOTHING },
        {"native_call_my_PF32x.out",                      ETP_PROVES_NOTHING },
        {"XPF32",                                         ETP_PROVES_NOTHING },
        {"PF320",                                         ETP_PROVES_NOTHING },
        {"pf32",                                          ETP_PROVES_NOTHING },
        {"",                                              ETP_PROVES_NOTHING },
    };
    for (size_t i = 0; i < sizeof k_cases / sizeof k_cases[0]; i++) {
        etp_name_proof got = etp_isa_name_proof(k_cases[i].name, strlen(k_cases[i].name));
        if (got != k_cases[i].proof) {
            fail_msg("'%s': %d", k_cases[i].name, (int)got);
        }
    }
    // The length counts, not a NUL.
    assert_int_equal(etp_isa_name_proof("PF32", 3), ETP_PROVES_NOTHING);
    assert_int_equal(etp_isa_name_proof("PF32 junk", 4), ETP_PROVES_SME);
}

// What names mean is the build's: lists of what it called its operators with the feature and
// without.
static void names_mean_what_the_build_shows(void **state)
{
    static const etp_name_book k_today = {
        ETP_ISA_AARCH64, "Convolution (NHWC, PF32) IGEMM; Fully Connected (NC, PF16) GEMM",
        "Convolution (NHWC, F32) IGEMM; Fully Connected (NC, F16) GEMM"};
    // An XNNPACK with NEON kernels for PF16 and SME2 ones for depthwise convolutions.
    static const etp_name_book k_next = {ETP_ISA_AARCH64,
                                         "Convolution (NHWC, PF32) IGEMM; Fully Connected (NC, "
                                         "PF16) GEMM; Convolution (NHWC, XF32) DWConv",
                                         "Convolution (NHWC, F32) IGEMM; Fully Connected (NC, "
                                         "PF16) GEMM; Convolution (NHWC, F32) DWConv"};
    static const etp_name_book k_neon_only = {ETP_ISA_AARCH64, NULL,
                                              "Fully Connected (NC, PF16) GEMM"};
    static const etp_name_book k_x86 = {
        ETP_ISA_X86_64,
        "Fully Connected (NC, QDU8, F32, QC8W) GEMM; Fully Connected (NC, QD8, F32, QB4W) GEMM",
        "Fully Connected (NC, QD8, F32, QC8W) GEMM; Fully Connected (NC, QD8, F32, QB4W) GEMM"};
    static const struct {
        const etp_name_book *book;
        const char *name;
        etp_name_proof proof;
    } k_cases[] = {
        {NULL,         "Fully Connected (NC, PF16) GEMM",            ETP_PROVES_SME     },
        {&k_today,     "Fully Connected (NC, PF16) GEMM",            ETP_PROVES_SME     },
        {&k_today,     "Batch Matrix Multiply (NC, PF32) GEMM",
         ETP_PROVES_SME                                                                 }, // not asked, but the table knows it
        {&k_today,     "Convolution (NHWC, F32) IGEMM",              ETP_PROVES_NOTHING },
        {&k_next,      "Fully Connected (NC, PF16) GEMM",            ETP_PROVES_NOTHING },
        {&k_next,      "Convolution (NHWC, PF16) IGEMM",
         ETP_PROVES_NOTHING                                                             }, // its token is there without SME
        {&k_next,      "Convolution (NHWC, PF32) IGEMM",             ETP_PROVES_SME     },
        {&k_next,      "Convolution (NHWC, XF32) DWConv",            ETP_PROVES_SME     }, // new to the table
        {&k_neon_only, "Fully Connected (NC, PF16) GEMM",            ETP_PROVES_NOTHING },
        {&k_x86,       "Fully Connected (NC, QDU8, F32, QC8W) GEMM", ETP_PROVES_VNNI    },
        {&k_x86,       "Fully Connected (NC, QD8, F32, QC8W) GEMM",  ETP_PROVES_NOT_VNNI},
        {&k_x86,       "Fully Connected (NC, QD8, F32, QB4W) GEMM",  ETP_PROVES_NOTHING }, // at both
    };
    for (size_t i = 0; i < sizeof k_cases / sizeof k_cases[0]; i++) {
        etp_name_proof got =
            etp_isa_name_proof_in(k_cases[i].book, k_cases[i].name, strlen(k_cases[i].name));
        if (got != k_cases[i].proof) {
            fail_msg("%zu '%s': %d", i, k_cases[i].name, (int)got);
        }
    }
}
