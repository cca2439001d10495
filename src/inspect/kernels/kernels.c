// SPDX-License-Identifier: Apache-2.0
// Sampled kernels of a run folder: the document.
#include "inspect/kernels/kernels.h"

#include <math.h>

#include "document/rows.h"

// Classes that nothing ran in are left out of the object (ETP_SKIP), not written as 0.
static const void *made_share(uint64_t part, uint64_t whole, etp_made *made)
{
    return part ? MAKE(real, etp_share_of(part, whole)) : NULL;
}

// The symbol; without one the place, which is the same in every arm.
static const void *kernel_name(const etp_kernel *k, etp_made *made)
{
    return k->symbol.len ? (const void *)&k->symbol
                         : etp_made_text(made, "%.*s+0x%llx", ETP_STR_ARG(k->module),
                                         (unsigned long long)k->start);
}

static const char *category_of(int category)
{
    return etp_category_name((etp_category)category);
}

WORDS(k_code, etp_code_name, etp_code, ETP_CODES)
WORDS(k_machine, etp_machine_name, etp_machine, ETP_MACHINE_AARCH64 + 1)
WORDS(k_category, category_of, int, ETP_CATEGORY_COUNT)
AXIS(k_codes, etp_kernels_answer, ETP_CODES, etp_code_name((etp_code)i))
#define OF_ARM ((const etp_kernels *)at->outer->object) // of a kernel, of an operator
#define OPS_KERNEL (it->kernel < OF_ARM->n_kernels ? &OF_ARM->kernels[it->kernel] : NULL)
FIND(kernel_named, etp_kernel, etp_kernels_answer, kernel_name(it, made))
FIND(kernel_bytes, etp_kernel, etp_kernels_answer, MAKE(number, it->end - it->start))
FIND(kernel_share, etp_kernel, etp_kernels_answer,
     MAKE(real, etp_share_of(it->samples, OF_ARM->samples)))
FIND(kernel_operator, etp_kernel, etp_kernels_answer,
     it->op < OF_ARM->n_ops ? &OF_ARM->ops[it->op].name : NULL)
FIND(op_category, etp_kernel_op, etp_kernels_answer, MAKE(maybe, (int)etp_op_category(it->name)))
FIND(op_share, etp_kernel_op, etp_kernels_answer,
     MAKE(real, etp_share_of(it->samples, OF_ARM->samples)))
FIND(op_isa, etp_kernel_op, etp_kernels_answer, made_share(it->of[at->index], it->samples, made))
FIND(op_kernel, etp_kernel_op, etp_kernels_answer,
     OPS_KERNEL ? kernel_name(OPS_KERNEL, made) : NULL)
FIND(op_kernel_isa, etp_kernel_op, etp_kernels_answer, OPS_KERNEL ? &OPS_KERNEL->code : NULL)
FIND(op_kernel_share, etp_kernel_op, etp_kernels_answer,
     OPS_KERNEL ? MAKE(real, etp_share_of(it->kernel_samples, it->sure)) : NULL)
FIND(streaming, etp_kernels, etp_kernels_answer,
     MAKE(real, etp_share_of(it->streaming, it->streaming_known)))
FIND(isa, etp_kernels, etp_kernels_answer, made_share(it->of[at->index], it->samples, made))
FIND(evidence_isa, etp_kernels, etp_kernels_answer,
     made_share(it->evidence_of[at->index], it->evidence, made))
FIND(ahead_isa, etp_kernels, etp_kernels_answer,
     made_share(it->ahead_of[at->index], it->evidence, made))
FIND(proof_ok, etp_proof, etp_kernels_answer,
     MAKE(maybe, it->truth == ETP_UNPROVEN ? -1 : it->truth == ETP_CONFIRMED))
FIND(proof_text, etp_proof, etp_kernels_answer, it->lines.n ? &it->lines.items[0].text : NULL)
KNOWN(was_sampled, etp_kernels_of_arm, it->sampled)

#define BY_ISA(key, find, of)                                                      \
    COMPUTED_PER(key, RATIO, find, &k_codes, "share of " of " by instruction set", \
                 .flags = ETP_SKIP | ETP_ONE_LINE, .range = ETP_0_TO_1)
#define OF etp_kernel
static const etp_field k_kernel_rows[] = {
    COMPUTED("name", STR, kernel_named, "the symbol; without one module and address",
             .flags = ETP_SET),
    FIELD("title", TEXT, title, "the same, or what it was seen as", .flags = ETP_LATER),
    FIELD("symbol", STR, symbol, "where the file names it", .flags = ETP_EMPTY),
    FIELD("module", STR, module, "file that holds it"),
    FIELD("build_id", STR, build_id, "of that file; empty: none"),
    FIELD("offset", UINT, start, "address in the module"),
    COMPUTED("bytes", UINT, kernel_bytes, "of its code", .flags = ETP_SET),
    FIELD("bounds_known", BOOL, has_bounds, "false: a window around a sampled address"),
    FIELD("isa", WORD, code, "its most demanding instruction's", .words = &k_code),
    FIELD("decoded", BOOL, whole, "all of its code could be read"),
    FIELD("steered", BOOL, evidence, "of a library that levels steer"),
    FIELD("samples", UINT, samples, "in it"),
    COMPUTED("share", RATIO, kernel_share, "of the arm's samples", .range = ETP_0_TO_1),
    COMPUTED("operator", STR, kernel_operator, "it was seen in most"),
};
static SHAPE_ON_ONE_LINE(k_kernel, k_kernel_rows);
#undef OF
#define OF etp_kernel_op
static const etp_field k_op_rows[] = {
    FIELD("name", STR, name, "as recorded in the sampled process", .flags = ETP_SET),
    FIELD("chain", INT, chain, "of the instruction", .range = ETP_SIGNED),
    FIELD("instruction", INT, instruction, "in the method's chain", .range = ETP_SIGNED),
    COMPUTED("category", WORD, op_category, "by its name", .words = &k_category, .flags = ETP_SET),
    FIELD("samples", UINT, samples, "while it ran"),
    FIELD("sure", UINT, sure, "of these, far enough from its neighbours"),
    COMPUTED("share", RATIO, op_share, "of the arm's samples", .range = ETP_0_TO_1),
    BY_ISA("isa", op_isa, "its samples"),
    COMPUTED("kernel", STR, op_kernel, "seen most in it"),
    COMPUTED("kernel_isa", WORD, op_kernel_isa, "of that kernel", .words = &k_code),
    COMPUTED("kernel_share", RATIO, op_kernel_share, "of the sure samples", .range = ETP_0_TO_1),
};
static SHAPE_ON_ONE_LINE(k_op, k_op_rows);
#undef OF
#define OF etp_kernels
static const etp_field k_count_rows[] = {
    FIELD("machine", WORD, machine, "of the code", .words = &k_machine),
    FIELD("samples", UINT, samples, "of all launches"),
    FIELD("in_iterations", UINT, in_iterations, "of these, while an inference ran"),
    FIELD("joined", UINT, joined, "of these, while a recorded operator ran"),
    FIELD("joined_surely", UINT, sure, "of these, far enough from its neighbours"),
    FIELD("evidence_samples", UINT, evidence, "in libraries that levels steer"),
    COMPUTED("streaming_share", RATIO, streaming, "in streaming mode (SME); null: unknown",
             .range = ETP_0_TO_1),
    BY_ISA("isa", isa, "all samples"),
    BY_ISA("evidence_isa", evidence_isa, "those in steered libraries"),
    BY_ISA("ahead_isa", ahead_isa, "these, of what was about to run,"),
};
static SHAPE(k_counts, k_count_rows);
static const etp_field k_list_rows[] = {
    LIST("kernels", OBJECT, kernels, n_kernels, "most samples first", .shape = &k_kernel),
    LIST("operators", OBJECT, ops, n_ops, "likewise", .shape = &k_op),
};
static SHAPE(k_lists, k_list_rows);
#undef OF
#define OF etp_proof
static const etp_field k_proof_rows[] = {
    COMPUTED("ok", TRISTATE, proof_ok, "whether the level was in force; null: not proven"),
    COMPUTED("text", TEXT, proof_text, "one line for people"),
};
static SHAPE_ON_ONE_LINE(k_proof, k_proof_rows);
#undef OF
#define OF etp_kernels_of_arm
// Counts and lists are of one struct but stand apart, so that the proof is read before long lists.
static const etp_field k_sampled_rows[] = {
    FIELD(NULL, OBJECT, kernels, "", .shape = &k_counts),
    FIELD("proof", OBJECT, proof, "of the samples alone", .shape = &k_proof),
    FIELD(NULL, OBJECT, kernels, "", .shape = &k_lists),
};
static SHAPE(k_sampled, k_sampled_rows);
static const etp_field k_arm_rows[] = {
    FIELD("name", TEXT, name, "of the experiment", .flags = ETP_SET),
    FIELD("level", TEXT, level_name, "null: unknown"),
    FIELD("threads", UINT, threads, "of the runner", .range = ETP_FROM_1),
    FIELD("sampled", BOOL, sampled, "has a sampled launch that could be read"),
    FIELD("problem", TEXT, problem, "why not, when it should"),
    GROUP(NULL, &k_sampled, "", .when = was_sampled, .flags = ETP_ABSENT),
};
static SHAPE(k_arm, k_arm_rows);
#undef OF
#define OF etp_kernels_answer
static const etp_field k_answer_rows[] = {
    FIELD("model", TEXT, title, "or what the folder is about", .flags = ETP_SET),
    FIELD("altered", TEXT, altered, "which raw file is not what was recorded; null: none",
          .flags = ETP_LATER),
    LIST("arms", OBJECT, arms, n_arms, "as in the run", .shape = &k_arm),
};
static SHAPE(k_answer, k_answer_rows);
#undef OF

const etp_document k_etp_kernels_document = {"etprof.kernels/1",
                                             "what kernels prints of a run folder", &k_answer};

// What the kit calls category.
// The operator's kind is asked only for functions of steered libraries: a memcpy that ran inside a
// convolution is no convolution kernel.
etp_str etp_kernel_kind(const etp_kernels *k, const etp_kernel *f)
{
    etp_kernel_name name;
    etp_op_name op;
    etp_kernel_name_parse(f->symbol, &name);
    if (name.op.len) {
        return name.op;
    }
    if (f->op >= k->n_ops || !f->evidence) {
        return (etp_str){0};
    }
    etp_op_parse(k->ops[f->op].name, &op); // its parts borrow from the name
    return op.ukernel.len ? op.ukernel : op.family;
}
