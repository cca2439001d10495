// SPDX-License-Identifier: Apache-2.0
// Which kernels an arm ran: sampled program counters (P.samples) and the code they point into
// (P.code) of a run folder, counted by function, instruction set and operator.
//
// Samples are taken every few milliseconds of CPU time, so counts are shares of time with the
// uncertainty of counting. The instruction set of a function is that of its most demanding
// instruction. Evidence about a level comes from the libraries that the mask steers: XNNPACK's; the
// C library chooses its kernels by itself.
#ifndef ETP_EXPLAIN_KERNELS_H
#define ETP_EXPLAIN_KERNELS_H

#include "binary/code.h"
#include "explain/proof.h"

typedef struct etp_kernel {
    etp_str module, build_id;
    etp_str symbol; // "" where the file has no name for it
    // What to call it: the symbol; where there is none what it was seen as, with its place: "AVX2
    // kernel of Convolution (NHWC, QC8) IGEMM [libxnnpack.so+0x12340]".
    const char *title;
    const char *kind;    // of a title without a symbol: "AVX2 kernel", else NULL
    etp_str of;          // and the operator it names, empty: none
    uint64_t start, end; // addresses of the module
    bool has_bounds;     // false: a window around a sampled address
    etp_machine machine;
    etp_code code;
    bool whole;           // all of its code could be decoded
    const uint8_t *ahead; // etp_code_ahead of its code
    size_t n_ahead;
    bool evidence; // of a library that levels steer
    bool system;   // of the C library, the loader, the kernel: no kernel of a model
    uint64_t samples;
    uint32_t op; // index of the operator it was seen in most, ETP_NO_INDEX none
} etp_kernel;

typedef struct etp_kernel_op { // an operator as recorded in the sampled process
    etp_str name;
    int32_t chain, instruction;
    uint64_t samples;
    uint64_t sure; // of them far enough from the neighbours
    uint64_t of[ETP_CODES];
    uint64_t sure_of[ETP_CODES]; // of the sure ones
    uint32_t kernel;             // seen most in it, ETP_NO_INDEX none
    uint64_t kernel_samples;
} etp_kernel_op;

typedef struct etp_kernels {
    uint64_t samples;
    uint64_t of[ETP_CODES]; // all samples; outside known code: ETP_CODE_UNKNOWN
    uint64_t evidence;      // samples in steered libraries
    uint64_t evidence_of[ETP_CODES];
    uint64_t
        ahead_of[ETP_CODES]; // of these by the instructions that were about to run (etp_code_ahead)
    uint64_t in_iterations, joined, sure;
    uint64_t streaming_known, streaming; // aarch64: in streaming mode
    etp_machine machine;
    etp_kernel *kernels; // sampled ones, most samples first
    size_t n_kernels;
    etp_kernel_op *ops; // likewise
    size_t n_ops;
} etp_kernels;

typedef struct etp_kernels_text { // of one sampled launch
    etp_str samples, code;
} etp_kernels_text;

// Reads the files of N launches of one arm. Texts borrow from them, everything else lives in ARENA,
// which stands under a guard. ETP_CORRUPT with a position.
ETP_NODISCARD etp_status etp_kernels_read(const etp_kernels_text *texts, size_t n, etp_arena *arena,
                                          etp_kernels *out, etp_error *err);

typedef struct etp_kernels_arm {
    const etp_kernels *kernels; // NULL: not sampled
    etp_level level;
    uint32_t model;
} etp_kernels_arm;

// Samples of N that a sampler may misplace: so many or more are misplaced in less than one of
// 10,000 arms.
uint64_t etp_kernels_strays(uint64_t n);

// Has K too few samples to judge a level by, and TIMES as many would do?
bool etp_kernels_too_few(const etp_kernels *k, double times);

// Judges arm INDEX by its samples. Instructions that need more than the level allows contradict it.
// So does the want of what another arm of the same model, which the level allows too, shows plenty
// of. What is the level's own supports it.
void etp_kernels_judge(const etp_kernels_arm *arms, size_t n_arms, size_t index, etp_arena *arena,
                       etp_proof *proof);

// Judges an arm that claims LEVEL by the symbols of micro-kernels in its recordings; appends a line
// where there are any.
void etp_kernels_judge_symbols(const etp_profile *profile, etp_level level, etp_arena *arena,
                               etp_proof *proof);

// Classes of code that a level adds to OTHER, a lower one: a set. SME levels count SME
// and SME2 alike against a level without either: packing is SME code at both. 0: unknown.
etp_codes etp_kernels_classes(etp_level level, etp_level other);
// Visible classes whose code may hold what a level that hides one feature hides: an instruction
// counts as what the most demanding one beside it needs. 0 for other levels.
etp_codes etp_kernels_covering(etp_level level);
// The class that most of the evidence of K lies in, of those in CLASSES; ETP_CODE_UNKNOWN where
// they are a twentieth of it together at most, or there is too little.
etp_code etp_kernels_most(const etp_kernels *k, etp_codes classes);
// Classes of code in XNNPACK's library of the runner bundle in DIR: a set; 0 where the
// bundle has no such library. Takes about a second.
ETP_NODISCARD etp_status etp_kernels_built_in(const char *dir, etp_codes *classes, etp_error *err);
// CPU without the features for which there is no code among CLASSES; CPU itself where these are 0.
etp_isa_cpu etp_kernels_usable(const etp_isa_cpu *cpu, etp_codes classes);
// The same with what is built into the runner bundle in DIR; NULL: unknown.
ETP_NODISCARD etp_status etp_kernels_usable_in(const char *dir, const etp_isa_cpu *cpu,
                                               etp_isa_cpu *out, etp_error *err);
// The sampled operator of that name and place; NULL none.
const etp_kernel_op *etp_kernels_find_op(const etp_kernels *kernels, etp_str name, int32_t chain,
                                         int32_t instruction);

// A micro-kernel's name taken apart:
//   xnn_qd8_f32_qc8w_gemm_minmax_ukernel_4x16c8__avx512vnni_prfm
//       dtype        op   variant        shape    arch
typedef struct etp_kernel_name { // parts borrow from the name; "" where it has none
    etp_str dtype, op, variant, shape, arch;
    bool sme, sme2;
} etp_kernel_name;
// Its library is called after it. In a program that has everything inside nobody knows.
bool etp_kernel_is_of_xnnpack(const etp_kernel *k);
bool etp_kernel_in_xnnpack(etp_str module); // by its name
// Says what to call K, of kernels that are wholly read.
void etp_kernel_name_make(const etp_kernels *kernels, etp_kernel *k, etp_arena *arena);
void etp_kernel_name_parse(etp_str name, etp_kernel_name *out);
// The class of code that a micro-kernel's name says it is written for; ETP_CODE_UNKNOWN: none.
etp_code etp_kernel_name_code(etp_str name);

#endif
