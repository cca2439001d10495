// SPDX-License-Identifier: Apache-2.0
// Proof by operator names.
#include "explain/proof.h"
#include "base/choice.h"

const char *etp_truth_name(etp_truth truth)
{
    static const char *const k_names[] = {"unproven", "confirmed", "contradicted"};
    return k_names[truth];
}

const char *etp_proof_kind_name(etp_proof_kind kind)
{
    static const char *const k_names[ETP_PROOF_KINDS] = {"mask", "selftest", "names", "symbols",
                                                         "samples"};
    return k_names[kind];
}

bool etp_op_has_dtype(const etp_op_name *op, const char *token)
{
    for (size_t i = 0; i < op->n_dtypes; i++) {
        if (etp_str_eqz(op->dtypes[i], token)) {
            return true;
        }
    }
    return false;
}

bool etp_op_must_use_sme(const etp_op_name *op)
{
    if (op->kind != ETP_OP_XNNPACK || etp_op_is_depthwise(op)) {
        return false;
    }
    bool conv = etp_str_eqz(op->family, "Convolution");
    bool fc = etp_str_eqz(op->family, "Fully Connected");
    bool bmm = etp_str_eqz(op->family, "Batch Matrix Multiply");
    bool gemm = etp_str_eqz(op->ukernel, "GEMM") || etp_str_eqz(op->ukernel, "IGEMM");
    if (!gemm || !(conv || fc || bmm)) {
        return false;
    }
    if (op->n_dtypes == 1 && etp_op_has_dtype(op, "F32")) {
        return true;
    }
    // A fully connected F16 may have float32 weights, as 1×1 convolutions of fp16 models do; the
    // name does not show it, and such a one never switches.
    if (op->n_dtypes == 1 && etp_op_has_dtype(op, "F16") && !fc) {
        return true;
    }
    // Static int8 with per-channel weights.
    if (conv && op->n_dtypes == 1 && etp_op_has_dtype(op, "QC8")) {
        return true;
    }
    return (conv || fc) && etp_op_has_dtype(op, "QS8") && etp_op_has_dtype(op, "QC8W");
}

void etp_proof_add(etp_proof *proof, etp_arena *arena, etp_proof_line line)
{
    if (line.contradicts) {
        proof->truth = ETP_CONTRADICTED;
    } else if (line.supports && proof->truth == ETP_UNPROVEN) {
        proof->truth = ETP_CONFIRMED;
    }
    ETP_ADD(arena, &proof->lines, line);
}

typedef struct name_counts {
    uint32_t sme, vnni, not_vnni; // operators whose names prove it
    uint32_t must_sme;            // that would have to change at an SME level
    etp_str sme_example, vnni_example, not_vnni_example, must_example;
    const char *unnamed; // the feature that the level hides and no name shows; NULL: none
} name_counts;

// A level that hides one feature alone is confirmed by names where these show that very feature.
static void say(const name_counts *c, etp_proof *proof, etp_arena *arena, bool supports,
                bool contradicts, const char *text)
{
    if (supports && c->unnamed) {
        supports = false;
        text = etp_arena_printf(arena, "%s; names do not show %s", text, c->unnamed);
    }
    etp_proof_add(proof, arena, (etp_proof_line){ETP_PROOF_NAMES, text, supports, contradicts});
}

static void judge_sme_level(const name_counts *c, etp_arena *arena, etp_proof *proof)
{
    if (c->sme) {
        say(c, proof, arena, true, false,
            etp_arena_printf(arena, "%u operators carry SME names, e.g. '%.*s'", c->sme,
                             ETP_STR_ARG(c->sme_example)));
        return;
    }
    if (c->must_sme) {
        say(c, proof, arena, false, true,
            etp_arena_printf(arena,
                             "%u operators would have to run on SME and do not, e.g. "
                             "'%.*s'",
                             c->must_sme, ETP_STR_ARG(c->must_example)));
        return;
    }
    say(c, proof, arena, false, false, "no operator of this model shows SME in its name");
}

// AMX: kernels of AMX may stand where those of VNNI would, and keep the names of neither.
static void judge_x86(const name_counts *c, bool vnni_level, bool amx, etp_arena *arena,
                      etp_proof *proof)
{
    if (c->vnni) {
        say(c, proof, arena, vnni_level, !vnni_level,
            etp_arena_printf(arena, "%u operators carry VNNI names%s, e.g. '%.*s'", c->vnni,
                             etp_if(!vnni_level, " although VNNI is hidden"),
                             ETP_STR_ARG(c->vnni_example)));
        return;
    }
    if (c->not_vnni && vnni_level && amx) {
        say(c, proof, arena, false, false,
            etp_arena_printf(arena,
                             "%u dynamically quantised operators carry no VNNI names, e.g. '%.*s'; "
                             "with AMX in the CPU that does not show what they ran on",
                             c->not_vnni, ETP_STR_ARG(c->not_vnni_example)));
        return;
    }
    if (c->not_vnni) {
        say(c, proof, arena, !vnni_level, vnni_level,
            etp_arena_printf(arena, "%u dynamically quantised operators %s, e.g. '%.*s'",
                             c->not_vnni,
                             vnni_level ? "would have to run on VNNI and do not"
                                        : "that VNNI would have renamed kept their names",
                             ETP_STR_ARG(c->not_vnni_example)));
        return;
    }
    say(c, proof, arena, false, false,
        "this model's operators have no names that tell levels apart");
}

bool etp_names_may_be_amx(etp_level level, const etp_name_book *book, const etp_isa_cpu *cpu)
{
    bool hidden = etp_level_hides(level, ETP_HAS_AMX);
    bool learned = book && book->on && book->off;
    if (!cpu || cpu->family != ETP_ISA_X86_64) {
        return !hidden;
    }
    return etp_isa_has(cpu, ETP_HAS_AMX) && !(hidden && learned);
}

void etp_proof_from_names(const etp_profile *profile, etp_level level, const etp_name_book *book,
                          const etp_isa_cpu *cpu, etp_arena *arena, etp_proof *proof)
{
    const etp_level_info *info = etp_level_get(level);
    if (!info) {
        etp_proof_add(proof, arena,
                      (etp_proof_line){ETP_PROOF_NAMES, "no level is claimed", false, false});
        return;
    }
    proof->by_table =
        !book || !book->off; // a name proves what the build has with the feature alone
    name_counts c = {0};
    for (size_t i = 0; i < profile->n_rows; i++) {
        const etp_profile_row *row = &profile->rows[i];
        if (row->kind != ETP_ROW_OPERATOR) {
            continue;
        }
        etp_str name = row->parsed.base;
        switch (etp_isa_name_proof_in(book, name.ptr, name.len)) {
        case ETP_PROVES_SME:
            c.sme_example = c.sme++ ? c.sme_example : name;
            break;
        case ETP_PROVES_VNNI:
            c.vnni_example = c.vnni++ ? c.vnni_example : name;
            break;
        case ETP_PROVES_NOT_VNNI:
            c.not_vnni_example = c.not_vnni++ ? c.not_vnni_example : name;
            break;
        case ETP_PROVES_NOTHING:
            if (etp_op_must_use_sme(&row->parsed)) {
                c.must_example = c.must_sme++ ? c.must_example : name;
            }
            break;
        }
    }
    etp_isa_feature alone = etp_level_without(level);
    bool shown = alone == ETP_HAS_COUNT || alone == ETP_HAS_SME || alone == ETP_HAS_AVX512_VNNI;
    c.unnamed = shown ? NULL : etp_isa_feature_title(alone);
    if (info->family == ETP_ISA_X86_64) {
        // VNNI that the CPU has not cannot have been asked for.
        bool vnni = !etp_level_hides(level, ETP_HAS_AVX512_VNNI) &&
                    (!cpu || etp_isa_has(cpu, ETP_HAS_AVX512_VNNI));
        judge_x86(&c, vnni, etp_names_may_be_amx(level, book, cpu), arena, proof);
        return;
    }
    bool sme = !etp_level_hides(level, ETP_HAS_SME) && (!cpu || etp_isa_has(cpu, ETP_HAS_SME));
    if (sme) {
        judge_sme_level(&c, arena, proof);
        return;
    }
    if (c.sme) {
        say(&c, proof, arena, false, true,
            etp_arena_printf(arena,
                             "%u operators carry SME names although SME is hidden, "
                             "e.g. '%.*s'",
                             c.sme, ETP_STR_ARG(c.sme_example)));
        return;
    }
    if (c.must_sme) {
        say(&c, proof, arena, true, false,
            etp_arena_printf(arena,
                             "%u operators that SME would have renamed kept their "
                             "names, e.g. '%.*s'",
                             c.must_sme, ETP_STR_ARG(c.must_example)));
        return;
    }
    say(&c, proof, arena, false, false, "no operator of this model shows SME in its name");
}

const char *etp_proof_names_note(const etp_proof *proof)
{
    return etp_z_if(proof->by_table,
                    "no names learned from this runner: judged by the table of today's XNNPACK");
}
