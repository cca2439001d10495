// SPDX-License-Identifier: Apache-2.0
// Derived files of sampled kernels: a CSV file for each arm, and the view of the kernels side by
// side.
#include "inspect/kernels/kernels.h"

#include <math.h>

#include "base/csv.h"
#include "base/guard.h"
#include "document/layouts.h"
#include "os/os.h"

// Arm's kit has categories in lower case. This column is not quoted as the other texts are, so a
// comma becomes a blank.
static void csv_lower(etp_sink *sink, etp_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i] == ',' ? ' ' : s.ptr[i];
        etp_sink_char(sink, c >= 'A' && c <= 'Z' ? (char)(c + 32) : c);
    }
}

static void write_kernel_row(etp_sink *sink, const etp_kernels_of_arm *a, const etp_kernel *f)
{
    const etp_kernels *k = &a->kernels;
    etp_kernel_name name;
    etp_kernel_name_parse(f->symbol, &name);
    // Either the name or the code may say it: stripped libraries have no names, and some code
    // cannot be decoded. SME2 includes SME.
    bool sme2 = name.sme2 || f->code == ETP_CODE_SME2;
    bool sme = name.sme || sme2 || f->code == ETP_CODE_SME;
    etp_csv_text(sink, etp_str_from(a->model));
    etp_sink_char(sink, ',');
    etp_csv_text(sink, etp_str_from(f->title));
    etp_sink_char(sink, ',');
    csv_lower(sink, etp_kernel_kind(k, f));
    etp_sink_printf(sink, ",%llu", (unsigned long long)f->samples);
    const etp_str parts[] = {name.dtype, name.op, name.variant, name.shape, name.arch};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        etp_sink_char(sink, ',');
        etp_csv_text(sink, parts[i]);
        // Code without a name is known by the operator that it ran in.
        if (i == 1 && !f->symbol.len && etp_kernel_is_of_xnnpack(f) && f->op < k->n_ops) {
            csv_lower(sink, etp_kernel_kind(k, f));
        }
    }
    char ratio[40];
    snprintf(ratio, sizeof ratio, "%.6g", etp_share_of(f->samples, k->samples));
    etp_sink_printf(sink, ",%d,%d,%s,%s,", sme, sme2, etp_code_name(f->code), ratio);
    etp_csv_text(sink, f->module);
    etp_sink_printf(sink, ",%llu,%llu,", (unsigned long long)f->start,
                    (unsigned long long)(f->end - f->start));
    etp_csv_text(sink, f->op < k->n_ops ? k->ops[f->op].name : (etp_str){0});
    etp_sink_char(sink, '\n');
}

// The header comes from the table that docs/from-the-kit.md describes and `validate` checks
// (document/layouts.h); a cell more or less here shows there.
static etp_status write_arm(const etp_kernels_of_arm *a, etp_run_deriving *to, etp_arena *arena,
                            etp_error *err)
{
    etp_strbuf buf;
    etp_strbuf_init(&buf, arena);
    etp_sink sink = etp_sink_strbuf(&buf);
    etp_layout_header(&sink, ETP_LAYOUT_KERNELS);
    for (size_t i = 0; i < a->kernels.n_kernels; i++) {
        if (!a->kernels.kernels[i].system) {
            write_kernel_row(&sink, a, &a->kernels.kernels[i]);
        }
    }
    const char *name = etp_arena_printf(arena, "%s_kernels.csv", a->prefix);
    return etp_run_derive(to, name, etp_strbuf_str(&buf), err);
}

static etp_status write_files(const etp_kernels_answer *answer, etp_run_deriving *to,
                              etp_arena *arena, etp_error *err)
{
    for (size_t i = 0; i < answer->n_arms; i++) {
        // A file without samples would read as a launch in which nothing ran.
        if (answer->arms[i].sampled) {
            ETP_TRY(write_arm(&answer->arms[i], to, arena, err));
        }
    }
    if (answer->n_sampled == 0) {
        return ETP_OK;
    }
    // kernel_view_gemm.md is a file of Arm's kit too; the whole view stands beside it.
    for (int gemm = 0; gemm < 2; gemm++) {
        etp_strbuf buf;
        etp_strbuf_init(&buf, arena);
        etp_sink sink = etp_sink_strbuf(&buf);
        etp_report_style style = {.unicode = true};
        ETP_TRY(etp_report_write(etp_kernels_view(answer, gemm, arena), etp_write_md, &style, &sink,
                                 err));
        ETP_TRY(etp_run_derive(to, gemm ? "kernel_view_gemm.md" : "kernel_view.md",
                               etp_strbuf_str(&buf), err));
    }
    return ETP_OK;
}

etp_status etp_kernels_write_files(const etp_kernels_answer *answer, etp_run_deriving *to,
                                   etp_arena *arena, etp_error *err)
{
    ETP_GUARDED(arena, err, "kernels", write_files(answer, to, arena, err));
}
