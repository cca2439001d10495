// SPDX-License-Identifier: Apache-2.0
// Sampled kernels as report trees.
#include "inspect/kernels/kernels.h"

#include <math.h>

enum { MAX_ARMS = 6, TOP = 12 }; // with more arms than MAX_ARMS each gets a row instead of a column

typedef struct sampled_arms {
    const etp_kernels_of_arm **items;
    size_t n, cap;
} sampled_arms;

// Arms without samples have no column: an empty one would look like a result.
static sampled_arms choose(const etp_kernels_answer *answer, etp_arena *arena)
{
    sampled_arms out = {0};
    for (size_t i = 0; i < answer->n_arms; i++) {
        const etp_kernels_of_arm *arm = &answer->arms[i];
        if (arm->sampled && !ETP_PUSH(arena, &out, arm)) {
            break; // the report's own arena is the same: it fails, too
        }
    }
    return out;
}

// One row for each pair of class and arm, where a column for each arm would not fit on a screen.
static void long_isa_table(etp_report *r, const etp_kernels_of_arm *const *arms, size_t n)
{
    static const etp_column k_columns[] = {
        {.key = "isa", .title = "instruction set"},
        {.key = "arm", .title = "arm", .flags = ETP_COL_CODE},
        {.key = "share", .title = "share", .kind = ETP_KIND_PERCENT},
    };
    etp_table *t = etp_report_table(r, "isa", NULL, k_columns, 3);
    // The most demanding class first: what a level adds stands on top.
    for (int c = ETP_CODES; c-- > 0;) {
        for (size_t a = 0; a < n; a++) {
            const etp_kernels *k = &arms[a]->kernels;
            if (k->of[c]) {
                ETP_ROW(t, etp_cell_z(etp_code_title((etp_code)c)),
                        etp_cell_called(arms[a]->name, arms[a]->called),
                        etp_cell_double(etp_share_of(k->of[c], k->samples)));
            }
        }
    }
}

static void isa_table(etp_report *r, const etp_kernels_of_arm *const *arms, size_t n)
{
    if (n > MAX_ARMS) {
        long_isa_table(r, arms, n);
        return;
    }
    etp_column columns[MAX_ARMS + 1] = {
        {.key = "isa", .title = "instruction set"}
    };
    for (size_t a = 0; a < n; a++) {
        columns[1 + a] =
            (etp_column){.key = arms[a]->name, .title = arms[a]->called, .kind = ETP_KIND_PERCENT};
    }
    etp_table *t = etp_report_table(r, "isa", NULL, columns, n + 1);
    for (int c = ETP_CODES; c-- > 0;) {
        etp_cell cells[MAX_ARMS + 1] = {etp_cell_z(etp_code_title((etp_code)c))};
        uint64_t any = 0;
        for (size_t a = 0; a < n; a++) {
            const etp_kernels *k = &arms[a]->kernels;
            any += k->of[c];
            cells[1 + a] =
                etp_cell_if(k->of[c], etp_cell_double(etp_share_of(k->of[c], k->samples)));
        }
        if (any) {
            etp_table_add_row(t, cells, n + 1);
        }
    }
}

// Several functions of one name (instances of a template, copies of a compiler) are one row.
static bool is_first_of_name(const etp_kernels *k, size_t i)
{
    for (size_t b = 0; b < i; b++) {
        if (strcmp(k->kernels[b].title, k->kernels[i].title) == 0) {
            return false;
        }
    }
    return true;
}

// Counted from the first of the name on: there is none before it.
static uint64_t samples_of_name(const etp_kernels *k, size_t i)
{
    uint64_t sum = 0;
    for (size_t b = i; b < k->n_kernels; b++) {
        sum += strcmp(k->kernels[b].title, k->kernels[i].title) == 0 ? k->kernels[b].samples : 0;
    }
    return sum;
}

static void operator_tables(etp_report *r, const etp_kernels_of_arm *const *arms, size_t n)
{
    static const etp_column k_columns[] = {
        {.key = "arm", .title = "arm"},
        {.key = "operator", .title = "operator", .flags = ETP_COL_CODE},
        {.key = "instruction",
         .title = "instruction",
         .kind = ETP_KIND_INT,
         .flags = ETP_COL_MINOR},
        {.key = "share", .title = "time", .kind = ETP_KIND_PERCENT},
        {.key = "isa", .title = "instruction set"},
        {.key = "kernel", .title = "function", .flags = ETP_COL_CODE},
        {.key = "kernel_share", .title = "of it", .kind = ETP_KIND_PERCENT, .flags = ETP_COL_MINOR},
    };
    etp_table *t = etp_report_table(r, "operators", NULL, k_columns, 7);
    for (size_t a = 0; a < n; a++) {
        const etp_kernels *k = &arms[a]->kernels;
        for (size_t i = 0; i < k->n_ops && i < TOP; i++) {
            const etp_kernel_op *op = &k->ops[i];
            const etp_kernel *f = op->kernel < k->n_kernels ? &k->kernels[op->kernel] : NULL;
            // The kernel's share is of the sure samples: a sample near the operator's begin or end
            // may be of its neighbour.
            ETP_ROW(t, etp_cell_called(arms[a]->name, arms[a]->called), etp_cell_str(op->name),
                    etp_cell_i64(op->instruction),
                    etp_cell_double(etp_share_of(op->samples, k->samples)),
                    etp_cell_z(f ? etp_code_title(f->code) : NULL), etp_cell_z(f ? f->title : NULL),
                    etp_cell_double(etp_value_if(f, etp_share_of(op->kernel_samples, op->sure))));
        }
    }
}

const etp_report *etp_kernels_report(const etp_kernels_answer *answer, etp_arena *arena)
{
    const sampled_arms chosen = choose(answer, arena);
    const etp_kernels_of_arm *const *arms = chosen.items;
    const size_t n = chosen.n;
    etp_report *r = etp_report_create(arena, answer->title);
    etp_report_subtitle(r, "kernels that ran, by sampled program counters");
    etp_report_section(r, 1, "isa-section", "Share of time per instruction set");
    if (answer->altered) {
        etp_report_note(r, ETP_BAD, "%s", answer->altered);
    }
    isa_table(r, arms, n);
    etp_report_section(r, 1, "proof", "Does it fit the levels?");
    // In the order of etp_proof's `truth`.
    static const char *const k_words[] = {"cannot tell", "confirmed", "contradicted"};
    static const etp_severity k_severities[] = {ETP_PLAIN, ETP_GOOD, ETP_BAD};
    etp_keys *keys = etp_report_keys(r, NULL);
    for (size_t i = 0; i < answer->n_arms; i++) {
        const etp_kernels_of_arm *a = &answer->arms[i];
        if (a->problem) {
            etp_keys_add(keys, ETP_WARN, a->called, "%s", a->problem);
        } else if (!a->sampled) {
            etp_keys_add(keys, ETP_PLAIN, a->called, "not sampled");
        } else {
            etp_keys_add(keys, k_severities[a->proof.truth], a->called, "%s: %s",
                         k_words[a->proof.truth],
                         a->proof.lines.n ? a->proof.lines.items[0].text : "no level is claimed");
        }
    }
    etp_report_section(r, 1, "kernels-section", "Functions");
    static const etp_column k_columns[] = {
        {.key = "arm", .title = "arm"},
        {.key = "kernel", .title = "function"},
        {.key = "isa", .title = "instruction set", .flags = ETP_COL_MINOR},
        {.key = "samples", .title = "samples", .kind = ETP_KIND_INT, .flags = ETP_COL_MINOR},
        {.key = "share", .title = "time", .kind = ETP_KIND_PERCENT},
        {.key = "operator", .title = "mostly in", .flags = ETP_COL_CODE},
    };
    etp_table *t = etp_report_table(r, ETP_KERNELS_TABLE, NULL, k_columns, 6);
    for (size_t a = 0; a < n; a++) {
        const etp_kernels *k = &arms[a]->kernels;
        for (size_t i = 0, shown = 0; i < k->n_kernels && shown < TOP; i++) {
            const etp_kernel *f = &k->kernels[i];
            if (is_first_of_name(k, i)) {
                const uint64_t samples = samples_of_name(k, i);
                ETP_ROW(t, etp_cell_called(arms[a]->name, arms[a]->called), etp_cell_z(f->title),
                        etp_cell_z(etp_code_title(f->code)), etp_cell_u64(samples),
                        etp_cell_double(etp_share_of(samples, k->samples)),
                        f->op < k->n_ops ? etp_cell_str(k->ops[f->op].name) : etp_cell_missing());
                shown++;
            }
        }
    }
    etp_report_section(r, 1, "operators-section", "Operators and their functions");
    operator_tables(r, arms, n);
    for (size_t a = 0; a < n; a++) {
        const etp_kernels *k = &arms[a]->kernels;
        etp_report_text(
            r,
            "%s: %llu samples, %llu of them inside an operator, %llu of these far enough "
            "from its neighbours to be sure.",
            arms[a]->called, (unsigned long long)k->samples, (unsigned long long)k->joined,
            (unsigned long long)k->sure);
        if (k->streaming_known) {
            etp_report_text(r, "%s: %.1f %% of its samples in streaming mode.", arms[a]->called,
                            100 * etp_share_of(k->streaming, k->streaming_known));
        }
    }
    return r;
}

// ---- present and absent ----

static const etp_kernel *find(const etp_kernels *k, const etp_kernel *like)
{
    for (size_t i = 0; i < k->n_kernels; i++) {
        const etp_kernel *f = &k->kernels[i];
        if (f->start == like->start && etp_str_eq(f->module, like->module) &&
            etp_str_eq(f->build_id, like->build_id)) {
            return f;
        }
    }
    return NULL;
}

// gemm, igemm, matmul and their kin, in either spelling.
// The kit filters by the text "gemm" in the name; kernels without a name are judged by the operator
// they ran in.
static bool is_gemm(const etp_kernels *k, const etp_kernel *f)
{
    static const char *const k_words[] = {"gemm", "GEMM", "matmul"};
    etp_str kind = etp_kernel_kind(k, f);
    for (size_t i = 0; i < sizeof k_words / sizeof *k_words; i++) {
        if (etp_str_find(kind, etp_str_from(k_words[i])) < kind.len) {
            return true;
        }
    }
    return false;
}

// A function of the arm A that no earlier arm has shown, and that the view is about.
// Functions are known by file, build and address, not by name: names repeat, and stripped code has
// none.
static bool is_new(const etp_kernels_of_arm *const *arms, size_t a, const etp_kernel *f, bool gemm)
{
    bool said = f->system || (gemm && !is_gemm(&arms[a]->kernels, f));
    for (size_t b = 0; b < a && !said; b++) {
        said = find(&arms[b]->kernels, f) != NULL;
    }
    return !said;
}

// With the share, because a single stray sample makes a kernel present, too.
static etp_cell presence(const etp_kernels *k, const etp_kernel *in, etp_arena *arena)
{
    return etp_cell_z(in ? etp_arena_printf(arena, "✅ Present (%.1f %%)",
                                            100 * etp_share_of(in->samples, k->samples))
                         : "❌ Absent");
}

static const char *delegation(const etp_kernel *f)
{
    return f->evidence ? "XNNPACK Delegated" : "outside XNNPACK";
}

static void long_view_table(etp_report *r, const etp_kernels_of_arm *const *arms, size_t n,
                            bool gemm, etp_arena *arena)
{
    static const etp_column k_columns[] = {
        {.key = "kernel", .title = "Kernel Name", .flags = ETP_COL_CODE},
        {.key = "arm", .title = "arm", .flags = ETP_COL_CODE},
        {.key = "presence", .title = "Presence"},
        {.key = "architecture", .title = "Architecture"},
        {.key = "delegation", .title = "Delegation"},
    };
    etp_table *t = etp_report_table(r, "view", NULL, k_columns, 5);
    for (size_t a = 0; a < n; a++) {
        const etp_kernels *k = &arms[a]->kernels;
        for (size_t i = 0; i < k->n_kernels; i++) {
            const etp_kernel *f = &k->kernels[i];
            for (size_t b = 0; b < n && is_new(arms, a, f, gemm); b++) {
                ETP_ROW(t, etp_cell_z(f->title), etp_cell_z(arms[b]->name),
                        presence(&arms[b]->kernels, find(&arms[b]->kernels, f), arena),
                        etp_cell_z(etp_code_title(f->code)), etp_cell_z(delegation(f)));
            }
        }
    }
}

// Kernels in the order of the first arm that ran them: one that several arms ran is one row.
static void view_table(etp_report *r, const etp_kernels_of_arm *const *arms, size_t n, bool gemm,
                       etp_arena *arena)
{
    if (n > MAX_ARMS) {
        long_view_table(r, arms, n, gemm, arena);
        return;
    }
    etp_column columns[MAX_ARMS + 3] = {
        {.key = "kernel", .title = "Kernel Name", .flags = ETP_COL_CODE}
    };
    for (size_t a = 0; a < n; a++) {
        // Beside the experiment's name, which is a wish, what ran.
        bool same = strcmp(arms[a]->name, arms[a]->called) == 0;
        const char *title = etp_arena_printf(arena, "%s (%s)", arms[a]->name, arms[a]->called);
        columns[1 + a] = (etp_column){.key = arms[a]->name, .title = same ? arms[a]->name : title};
    }
    columns[1 + n] = (etp_column){.key = "architecture", .title = "Architecture"};
    columns[2 + n] = (etp_column){.key = "delegation", .title = "Delegation"};
    etp_table *t = etp_report_table(r, "view", NULL, columns, n + 3);
    for (size_t a = 0; a < n; a++) {
        const etp_kernels *k = &arms[a]->kernels;
        for (size_t i = 0; i < k->n_kernels; i++) {
            const etp_kernel *f = &k->kernels[i];
            if (!is_new(arms, a, f, gemm)) {
                continue;
            }
            etp_cell cells[MAX_ARMS + 3] = {etp_cell_z(f->title)};
            for (size_t b = 0; b < n; b++) {
                cells[1 + b] = presence(&arms[b]->kernels, find(&arms[b]->kernels, f), arena);
            }
            cells[1 + n] = etp_cell_z(etp_code_title(f->code));
            cells[2 + n] = etp_cell_z(delegation(f));
            etp_table_add_row(t, cells, n + 3);
        }
    }
}

const etp_report *etp_kernels_view(const etp_kernels_answer *answer, bool gemm, etp_arena *arena)
{
    const sampled_arms chosen = choose(answer, arena);
    etp_report *r = etp_report_create(arena, answer->title);
    etp_report_subtitle(r, gemm ? "GEMM/IGEMM kernel view" : "kernel view");
    etp_report_section(r, 1, "view", "Kernels seen running");
    etp_report_text(
        r, "Present means that program counters were sampled there, with the share of the arm's "
           "samples; absent that none was in the whole sampled launch.");
    view_table(r, chosen.items, chosen.n, gemm, arena);
    return r;
}
