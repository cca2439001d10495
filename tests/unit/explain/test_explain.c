// SPDX-License-Identifier: Apache-2.0
// The arithmetic of the explanation: profiles close on every dump, ledgers close on every pair,
// alignment survives renaming, inserted and vanished operators, proof is three-valued.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../corpus.h"
#include "explain/ledger.h"
#include "explain/nodes.h"
#include "explain/proof.h"
#include "unit.h"

static const char *fixture(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/tests/data/%s", ETP_TEST_SOURCE_DIR, name);
    return path;
}

static const etp_ledger_end k_bare[2] = {
    {ETP_NS_UNKNOWN, ETP_NS_UNKNOWN, ETP_NS_UNKNOWN},
    {ETP_NS_UNKNOWN, ETP_NS_UNKNOWN, ETP_NS_UNKNOWN}
};

// Σ rows = Σ Method::execute, for the whole and for each dump.
static void check_closes(const etp_profile *p)
{
    int64_t sum = 0;
    for (size_t i = 0; i < p->n_rows; i++) {
        sum += p->rows[i].total_ns;
    }
    assert_true(sum == p->execute_total_ns);
    for (size_t d = 0; d < p->n_dumps; d++) {
        int64_t part = 0;
        for (size_t i = 0; i < p->n_rows; i++) {
            part += p->rows[i].per_dump_ns[d];
        }
        assert_true(part == p->per_dump_execute_ns[d]);
    }
}

static void check_ledger(const etp_ledger *l, int64_t baseline, int64_t candidate)
{
    int64_t b = 0, c = 0, d = 0;
    for (size_t i = 0; i < l->n; i++) {
        b += l->items[i].baseline_ns;
        c += l->items[i].candidate_ns;
        d += l->items[i].delta_ns;
        assert_true(l->items[i].delta_ns == l->items[i].candidate_ns - l->items[i].baseline_ns);
    }
    assert_true(b == baseline && l->baseline_ns == baseline);
    assert_true(c == candidate && l->candidate_ns == candidate);
    assert_true(d == candidate - baseline && l->delta_ns == d);
}

// Every operator row of both profiles occurs in exactly one pair.
static void check_alignment(const etp_alignment *a, const etp_profile *b, const etp_profile *c)
{
    size_t operators = 0, seen = 0;
    for (int side = 0; side < 2; side++) {
        const etp_profile *p = side ? c : b;
        for (size_t i = 0; i < p->n_rows; i++) {
            size_t hits = 0;
            for (size_t k = 0; k < a->n; k++) {
                uint32_t row = side ? a->items[k].candidate : a->items[k].baseline;
                hits += row == i;
            }
            bool is_op = p->rows[i].kind == ETP_ROW_OPERATOR || p->rows[i].kind == ETP_ROW_PORTABLE;
            assert_int_equal(hits, is_op);
            operators += is_op;
            seen += hits;
        }
    }
    assert_int_equal(operators, seen);
}

static void fixture_closes_by_hand(void **state)
{
    // mixed_xnnpack_fp32: linear in a delegate, a portable kernel, another delegate; the
    // Inspector's table beside it has Method::execute and every part.
    etp_file file;
    etp_trace *trace;
    etp_profile p;
    open_dump(fixture("mixed_xnnpack_fp32.etdump"), &file, &trace);
    assert_int_equal(etp_profile_build((const etp_trace *const[]){trace}, 1, *state, &p, NULL),
                     ETP_OK);
    check_closes(&p);
    assert_int_equal(p.executions, 3);
    size_t kinds[ETP_ROW_UNEXPLAINED + 1] = {0};
    for (size_t i = 0; i < p.n_rows; i++) {
        kinds[p.rows[i].kind]++;
        assert_int_equal(p.rows[i].calls, 3);
    }
    assert_true(kinds[ETP_ROW_OPERATOR] >= 2);
    assert_int_equal(kinds[ETP_ROW_PORTABLE], 1);
    assert_int_equal(kinds[ETP_ROW_BOUNDARY], 2);
    assert_int_equal(kinds[ETP_ROW_UNEXPLAINED], 0);
    etp_trace_close(trace);
    etp_file_close(&file);
}

static void load_blocks_do_not_count(void **state)
{
    etp_file file;
    etp_trace *trace;
    etp_profile p;
    open_dump(fixture("mixed_xnnpack_fp32_load.etdump"), &file, &trace);
    assert_int_equal(etp_profile_build((const etp_trace *const[]){trace}, 1, *state, &p, NULL),
                     ETP_OK);
    check_closes(&p);
    for (size_t i = 0; i < p.n_rows; i++) {
        assert_int_not_equal(p.rows[i].event, ETP_EVENT_LOAD);
    }
    etp_trace_close(trace);
    etp_file_close(&file);
}

// ---- synthetic profiles ----

typedef struct planted {
    const char *name;
    int32_t instruction;
    int64_t total_ns;
    etp_row_kind kind;
} planted;

// A profile of 2 executions in 2 dumps; the second dump took what the first did plus 2 ns per row.
static void plant(const planted *rows, size_t n, etp_arena *arena, etp_profile *out)
{
    *out = (etp_profile){
        .rows = ETP_NEW_ARRAY(arena, etp_profile_row, n),
        .n_rows = n,
        .executions = 2,
        .all_executions = 2,
        .per_dump_executions = ETP_NEW_ARRAY(arena, uint64_t, 2),
        .per_dump_execute_ns = ETP_NEW_ARRAY(arena, int64_t, 2),
        .n_dumps = 2,
    };
    for (size_t i = 0; i < n; i++) {
        etp_profile_row *r = &out->rows[i];
        *r = (etp_profile_row){
            .name = etp_str_from(rows[i].name),
            .event =
                rows[i].kind == ETP_ROW_OPERATOR ? ETP_EVENT_DELEGATE_OP : ETP_EVENT_DELEGATE_CALL,
            .kind = rows[i].kind,
            .instruction = rows[i].instruction,
            .total_ns = rows[i].total_ns,
            .calls = 2,
            .per_dump_ns = ETP_NEW_ARRAY(arena, int64_t, 2),
        };
        etp_op_parse(r->name, &r->parsed);
        r->per_dump_ns[0] = rows[i].total_ns / 2 - 1;
        r->per_dump_ns[1] = rows[i].total_ns - r->per_dump_ns[0];
        out->execute_total_ns += rows[i].total_ns;
        for (int d = 0; d < 2; d++) {
            out->per_dump_execute_ns[d] += r->per_dump_ns[d];
            out->per_dump_executions[d] = 1;
        }
    }
}

static void renamed_inserted_and_vanished_operators_align(void **state)
{
    static const planted k_neon[] = {
        {"Convert (NC, F32, QD8) #1",         0, 100,  ETP_ROW_OPERATOR},
        {"Convolution (NHWC, F32) IGEMM #1",  0, 1001, ETP_ROW_OPERATOR},
        {"Convolution (NHWC, F32) DWConv #2", 0, 400,  ETP_ROW_OPERATOR},
        {"Add (ND) #1",                       0, 50,   ETP_ROW_OPERATOR},
        {"DELEGATE_CALL",                     0, 31,   ETP_ROW_BOUNDARY},
        {"Fully Connected (NC, F32) GEMM #1", 2, 700,  ETP_ROW_OPERATOR},
    };
    static const planted k_sme2[] = {
        {"Convolution (NHWC, PF32) IGEMM #1",  0, 300, ETP_ROW_OPERATOR},
        {"Convolution (NHWC, F32) DWConv #2",  0, 402, ETP_ROW_OPERATOR},
        {"Copy (NC, X32) #1",                  0, 21,  ETP_ROW_OPERATOR},
        {"Add (ND) #1",                        0, 50,  ETP_ROW_OPERATOR},
        {"DELEGATE_CALL",                      0, 33,  ETP_ROW_BOUNDARY},
        {"Fully Connected (NC, PF32) GEMM #1", 2, 90,  ETP_ROW_OPERATOR},
    };
    etp_arena *arena = *state;
    etp_profile neon, sme2;
    etp_alignment a;
    etp_ledger l;
    plant(k_neon, 6, arena, &neon);
    plant(k_sme2, 6, arena, &sme2);
    etp_align(&neon, &sme2, arena, &a);
    check_alignment(&a, &neon, &sme2);
    assert_true(a.same_skeleton);
    static const struct {
        uint32_t baseline, candidate;
    } k_expected[] = {
        {0,            ETP_NO_INDEX},
        {1,            0           },
        {2,            1           },
        {ETP_NO_INDEX, 2           },
        {3,            3           },
        {5,            5           }
    };
    assert_int_equal(a.n, 6);
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(a.items[i].baseline, k_expected[i].baseline);
        assert_int_equal(a.items[i].candidate, k_expected[i].candidate);
    }
    // Ends given from outside: Σ = 2282/2 = 1141 and 896/2 = 448 traced; medians 1100 and 450.
    etp_ledger_build(
        &neon, &sme2, &a,
        (const etp_ledger_end[2]){
            {1100, ETP_NS_UNKNOWN, ETP_NS_UNKNOWN},
            {450,  ETP_NS_UNKNOWN, ETP_NS_UNKNOWN}
    },
        arena, &l);
    check_ledger(&l, 1100, 450);
    assert_int_equal(l.items[0].kind, ETP_ROW_VANISHED);
    assert_int_equal(l.items[0].baseline_ns, 50);
    assert_int_equal(l.items[3].kind, ETP_ROW_INSERTED);
    // 1001/2, 31/2 and 21/2, 33/2 are halves: by largest remainder the earlier row is rounded up.
    assert_int_equal(l.items[1].baseline_ns, 501);
    assert_int_equal(l.items[6].kind, ETP_ROW_BOUNDARY);
    assert_int_equal(l.items[6].baseline_ns, 15);
    assert_int_equal(l.items[3].candidate_ns, 11);
    assert_int_equal(l.items[6].candidate_ns, 16);
    assert_int_equal(l.items[6].bound_ns, 5000); // five operators of the baseline, 1 µs each
    assert_int_equal(l.items[7].kind, ETP_ROW_TRACER);
    assert_int_equal(l.items[7].baseline_ns, 1100 - 1141);
    assert_int_equal(l.items[7].candidate_ns, 450 - 448);
    // Differences of the two blocks for the convolution: 149−499 = −350 and 151−502 = −351; mean
    // −350.5, t(0.975, 1) = 12.706, half-width 12.706 · 0.5 = 6.353.
    assert_int_equal(l.items[1].lo_ns, -357);
    assert_int_equal(l.items[1].hi_ns, -344);
    // scipy: ttest_1samp of −49 −51, −350 −351, 9 12; the others differ by nothing or by no spread
    // (p = 1, 0): false_discovery_control of the six.
    static const double k_q[] = {0.01909605, 0.00181632, 0, 0.10840136, 1, 0};
    for (size_t i = 0; i < 6; i++) {
        assert_true(fabs(l.items[i].q - k_q[i]) <= 1e-6);
    }
    assert_true(isnan(l.items[6].q) && isnan(l.items[7].q));
}

// One operator that is 9.5 ns slower, 10 and 9 in the two blocks: p = 0.0335. Alone that is a
// claim; with three others that did not change it is q = 0.134, and none.
static void many_operators_make_claims_dearer(void **state)
{
    etp_arena *arena = *state;
    static const planted k_base[] = {
        {"Convolution (NHWC, F32) IGEMM #1", 0, 201, ETP_ROW_OPERATOR},
        {"Add (ND) #1",                      0, 50,  ETP_ROW_OPERATOR},
        {"Multiply (ND) #1",                 0, 70,  ETP_ROW_OPERATOR},
        {"Softmax (NC, F32) #1",             0, 90,  ETP_ROW_OPERATOR}
    };
    planted cand[4];
    memcpy(cand, k_base, sizeof cand);
    cand[0].total_ns = 220;
    for (size_t n = 1; n <= 4; n += 3) {
        etp_profile b, c;
        etp_alignment a;
        etp_ledger l;
        plant(k_base, n, arena, &b);
        plant(cand, n, arena, &c);
        etp_align(&b, &c, arena, &a);
        etp_ledger_build(&b, &c, &a, k_bare, arena, &l);
        assert_true(l.items[0].lo_ns > 0); // its interval alone would say so in both cases
        assert_true(fabs(l.items[0].q - (n == 1 ? 0.03347542 : 0.13390167)) < 1e-6);
        assert_int_equal(etp_ledger_row_slower(&l.items[0]), n == 1);
    }
}

// Of two programs the operators pair up by name and order: what another one takes is no loss. With
// the same work under the same name it is one operator, whatever its counter.
static void slower_in_another_program_is_another_operator(void **state)
{
    const planted base = {"Convolution (NHWC, F32) IGEMM #1", 0, 201, ETP_ROW_OPERATOR};
    const planted cand = {"Convolution (NHWC, F32) IGEMM #7", 0, 220, ETP_ROW_OPERATOR};
    etp_arena *arena = *state;
    etp_profile b, c;
    etp_alignment a;
    etp_ledger l;
    plant(&base, 1, arena, &b);
    plant(&cand, 1, arena, &c);
    etp_align(&b, &c, arena, &a);
    assert_false(a.two_programs);
    etp_ledger_build(&b, &c, &a, k_bare, arena, &l);
    assert_true(etp_ledger_row_slower(&l.items[0]));
    a.two_programs = true; // of which nothing more is known
    etp_ledger_build(&b, &c, &a, k_bare, arena, &l);
    assert_false(etp_ledger_row_slower(&l.items[0]));
    etp_row_facts rows[2] = {{.op.work = {.known = true, .macs = 9, .bytes = 5}},
                             {.op.work = {.known = true, .macs = 9, .bytes = 5}}};
    const etp_profile_facts facts[2] = {{.rows = &rows[0]}, {.rows = &rows[1]}};
    b.facts = &facts[0];
    c.facts = &facts[1];
    etp_ledger_build(&b, &c, &a, k_bare, arena, &l);
    assert_true(etp_ledger_row_slower(&l.items[0]));
    rows[1].op.work.macs = 10;
    etp_ledger_build(&b, &c, &a, k_bare, arena, &l);
    assert_false(etp_ledger_row_slower(&l.items[0]));
}

static void several_instances_of_one_key_keep_their_order(void **state)
{
    static const planted k_base[] = {
        {"Add (ND) #1",      0, 10, ETP_ROW_OPERATOR},
        {"Add (ND) #2",      0, 20, ETP_ROW_OPERATOR},
        {"Add (ND) #3",      0, 30, ETP_ROW_OPERATOR},
        {"Multiply (ND) #1", 0, 5,  ETP_ROW_OPERATOR}
    };
    static const planted k_cand[] = {
        {"Add (ND) #1",      0, 10, ETP_ROW_OPERATOR},
        {"Multiply (ND) #1", 0, 5,  ETP_ROW_OPERATOR},
        {"Add (ND) #2",      0, 30, ETP_ROW_OPERATOR}
    };
    etp_arena *arena = *state;
    etp_profile base, cand;
    etp_alignment a;
    plant(k_base, 4, arena, &base);
    plant(k_cand, 3, arena, &cand);
    etp_align(&base, &cand, arena, &a);
    check_alignment(&a, &base, &cand);
    uint32_t last = 0;
    for (size_t i = 0; i < a.n; i++) { // pairs never cross
        if (a.items[i].candidate != ETP_NO_INDEX) {
            assert_true(a.items[i].candidate >= last);
            last = a.items[i].candidate;
        }
        if (a.items[i].baseline != ETP_NO_INDEX && a.items[i].candidate != ETP_NO_INDEX &&
            etp_str_starts(base.rows[a.items[i].baseline].name, ETP_STR("Add"))) {
            assert_true(a.items[i].confidence < 1); // three Adds became two
        }
    }
}

static etp_truth prove(const char *name, const char *level)
{
    etp_arena arena = {0};
    etp_profile p;
    etp_proof proof = {0};
    planted row = {name, 0, 10, ETP_ROW_OPERATOR};
    plant(&row, 1, &arena, &p);
    etp_proof_from_names(&p, etp_level_find(ETP_ISA_NONE, level), NULL, NULL, &arena, &proof);
    assert_int_equal(proof.lines.n, 1);
    etp_arena_dispose(&arena);
    return proof.truth;
}

static void proof_is_three_valued(void **state)
{
    static const struct {
        const char *name, *level;
        etp_truth truth;
    } k_cases[] = {
        {"Convolution (NHWC, PF32) IGEMM #1",             "sme2",        ETP_CONFIRMED   },
        {"Convolution (NHWC, PQS8, QS8, QC8W) IGEMM #1",  "sme1",        ETP_CONFIRMED   },
        {"Fully Connected (NC, PF16) GEMM #1",            "neon",        ETP_CONTRADICTED},
        {"Convolution (NHWC, F32) IGEMM #1",              "sme2",        ETP_CONTRADICTED},
        {"Convolution (NHWC, F32) IGEMM #1",              "neon",        ETP_CONFIRMED   },
        {"Convolution (NHWC, F32) DWConv #1",             "sme2",        ETP_UNPROVEN    },
        {"Convolution (NHWC, QC8) IGEMM #1",              "sme2",        ETP_CONTRADICTED},
        {"Fully Connected (NC, QP8, F32, QC8W) GEMM #1",  "sme2",        ETP_UNPROVEN    },
        {"Fully Connected (NC, QP8, F32, QC8W) GEMM #1",  "neon",        ETP_UNPROVEN    },
        {"Softmax (NC, F32) #1",                          "sme2",        ETP_UNPROVEN    },
        {"Fully Connected (NC, QDU8, F32, QC8W) GEMM #1", "vnni",        ETP_CONFIRMED   },
        {"Fully Connected (NC, QDU8, F32, QC8W) GEMM #1", "avx2",        ETP_CONTRADICTED},
        {"Fully Connected (NC, QD8, F32, QC8W) GEMM #1",  "vnni",        ETP_CONTRADICTED},
        {"Fully Connected (NC, QD8, F32, QC8W) GEMM #1",  "avx512",      ETP_CONFIRMED   },
        {"Convolution (NHWC, QC8) IGEMM #1",              "vnni",        ETP_UNPROVEN    },
        {"Convolution (NHWC, F32) IGEMM #1",              "avx2",        ETP_UNPROVEN    },
        // Names show VNNI and SME: of other features that are hidden alone they say nothing.
        {"Fully Connected (NC, QDU8, F32, QC8W) GEMM #1", "-gfni",       ETP_UNPROVEN    },
        {"Fully Connected (NC, QDU8, F32, QC8W) GEMM #1", "-avx512bf16", ETP_UNPROVEN    },
        {"Fully Connected (NC, QD8, F32, QC8W) GEMM #1",  "-fma",        ETP_UNPROVEN    },
        {"Fully Connected (NC, QDU8, F32, QC8W) GEMM #1", "-fma",        ETP_CONTRADICTED},
        {"Fully Connected (NC, QD8, F32, QC8W) GEMM #1",  "-avx512vnni", ETP_CONFIRMED   },
        {"Fully Connected (NC, QDU8, F32, QC8W) GEMM #1", "-avx512vnni", ETP_CONTRADICTED},
        {"Convolution (NHWC, PF32) IGEMM #1",             "-i8mm",       ETP_UNPROVEN    },
        {"Convolution (NHWC, PF32) IGEMM #1",             "-sme2",       ETP_UNPROVEN    },
        {"Convolution (NHWC, F32) IGEMM #1",              "-sme",        ETP_CONFIRMED   },
    };
    for (size_t i = 0; i < sizeof k_cases / sizeof *k_cases; i++) {
        if (prove(k_cases[i].name, k_cases[i].level) != k_cases[i].truth) {
            fail_msg("'%s' at %s", k_cases[i].name, k_cases[i].level);
        }
    }
}

// Kernels of AMX take dynamically quantised products and keep the name QD8: without names learned
// from the runner it does not show that VNNI was missing.
static void amx_is_no_missing_vnni(void **state)
{
    etp_arena *arena = *state;
    static const char k_qd8[] = "Fully Connected (NC, QD8, F32, QC8W) GEMM #1";
    static const char k_vnni[] = "x86_64:kernel=6.1,avx512f,avx512vnni",
                      k_amx[] = "x86_64:kernel=6.1,avx512f,avx512vnni,amx_tile,amx_int8";
    static const etp_name_book k_book = {.family = ETP_ISA_X86_64,
                                         .on = "Fully Connected (NC, QDU8, F32, QC8W) GEMM",
                                         .off = "Fully Connected (NC, QD8, F32, QC8W) GEMM"};
    static const struct {
        const char *cpu, *level;
        const etp_name_book *book;
        etp_truth truth;
    } k_cases[] = {
        {k_amx,  "amx",    NULL,    ETP_UNPROVEN    },
        {k_amx,  "amx",    &k_book, ETP_UNPROVEN    },
        {k_amx,  "best",   &k_book, ETP_UNPROVEN    },
        {k_amx,  "vnni",   NULL,    ETP_UNPROVEN    }, // an older etprof hid no AMX here
        {k_amx,  "vnni",   &k_book, ETP_CONTRADICTED},
        {k_amx,  "avx512", NULL,    ETP_CONFIRMED   },
        {k_vnni, "vnni",   NULL,    ETP_CONTRADICTED},
        {k_vnni, "best",   NULL,    ETP_CONTRADICTED},
        {NULL,   "best",   NULL,    ETP_UNPROVEN    },
    };
    for (size_t i = 0; i < sizeof k_cases / sizeof *k_cases; i++) {
        etp_profile p;
        etp_proof proof = {0};
        etp_isa_cpu cpu;
        char why[ETP_ISA_WHY_MAX];
        planted row = {k_qd8, 0, 10, ETP_ROW_OPERATOR};
        plant(&row, 1, arena, &p);
        assert_true(!k_cases[i].cpu || etp_isa_cpu_parse(k_cases[i].cpu, &cpu, why, sizeof why));
        etp_proof_from_names(&p, etp_level_find(ETP_ISA_X86_64, k_cases[i].level), k_cases[i].book,
                             k_cases[i].cpu ? &cpu : NULL, arena, &proof);
        if (proof.truth != k_cases[i].truth) {
            fail_msg("case %zu: %s", i, proof.lines.items[0].text);
        }
    }
}

// Whether names were judged by the table alone is said of the proof.
static void unasked_names_are_said(void **state)
{
    etp_arena *arena = *state;
    static const char k_note[] =
        "no names learned from this runner: judged by the table of today's XNNPACK";
    static const etp_name_book k_asked = {.family = ETP_ISA_AARCH64,
                                          .on = "Fully Connected (NC, PF16) GEMM",
                                          .off = "Fully Connected (NC, F16) GEMM"},
                               k_half = {.family = ETP_ISA_AARCH64, // with the feature alone
                                         .on = "Fully Connected (NC, PF16) GEMM"};
    static const struct {
        const etp_name_book *book;
        const char *level;
        bool by_table;
    } k_cases[] = {
        {NULL,     "sme2", true },
        {NULL,     "neon", true },
        {&k_half,  "sme2", true },
        {&k_asked, "sme2", false},
        {&k_asked, "neon", false},
        {NULL,     "none", false}, // nothing is judged
    };
    for (size_t i = 0; i < sizeof k_cases / sizeof *k_cases; i++) {
        etp_profile p;
        etp_proof proof = {0};
        planted row = {"Fully Connected (NC, PF16) GEMM #1", 0, 10, ETP_ROW_OPERATOR};
        plant(&row, 1, arena, &p);
        etp_proof_from_names(&p, etp_level_find(ETP_ISA_NONE, k_cases[i].level), k_cases[i].book,
                             NULL, arena, &proof);
        const char *note = etp_proof_names_note(&proof);
        assert_int_equal(proof.by_table, k_cases[i].by_table);
        assert_true(k_cases[i].by_table ? note && strcmp(note, k_note) == 0 : note == NULL);
    }
}

// ---- every dump of the reference corpus: of one model, and of any two ----

static void check_pair(const etp_profile *b, const etp_profile *c, etp_arena *arena)
{
    etp_alignment a;
    etp_ledger l;
    etp_align(b, c, arena, &a);
    check_alignment(&a, b, c);
    etp_ledger_build(b, c, &a, k_bare, arena, &l);
    check_ledger(&l, etp_profile_traced_ns(b), etp_profile_traced_ns(c));
    etp_ledger_build(b, c, &a,
                     (const etp_ledger_end[2]){
                         {123456789, ETP_NS_UNKNOWN, ETP_NS_UNKNOWN},
                         {987654321, ETP_NS_UNKNOWN, ETP_NS_UNKNOWN}
    },
                     arena, &l);
    check_ledger(&l, 123456789, 987654321);
}

static void corpus_closes(void **state)
{
    const char *dir = need_corpus();
    etp_arena *arena = *state;
    etp_dir_list list = {0};
    etp_error err;
    char dumps[512];
    snprintf(dumps, sizeof dumps, "%s/dumps", dir);
    assert_int_equal(etp_os_list(dumps, arena, &list, &err), ETP_OK);
    etp_profile *profiles = ETP_NEW_ARRAY(arena, etp_profile, list.n);
    const char **models = ETP_NEW_ARRAY(arena, const char *, list.n);
    etp_file *files = ETP_NEW_ARRAY(arena, etp_file, list.n);
    etp_trace **traces = ETP_NEW_ARRAY(arena, etp_trace *, list.n);
    size_t n = 0, closed = 0, pairs = 0;
    for (size_t i = 0; i < list.n; i++) {
        if (!etp_str_ends(etp_str_from(list.items[i].name), ETP_STR(".etdump"))) {
            continue;
        }
        const char *path = etp_arena_printf(arena, "%s/%s", dumps, list.items[i].name);
        open_dump(path, &files[n], &traces[n]);
        etp_status st =
            etp_profile_build((const etp_trace *const[]){traces[n]}, 1, arena, &profiles[n], &err);
        if (st == ETP_OK) {
            check_closes(&profiles[n]);
            closed++;
        } else { // the hand-made dumps without a Method::execute
            assert_int_equal(st, ETP_UNKNOWN);
            assert_non_null(strstr(path, "handmade"));
        }
        models[n] = etp_arena_strdup(
            arena, (etp_str){list.items[i].name, strcspn(list.items[i].name, ".")});
        n++;
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < n; k++) {
            bool chosen = strcmp(models[i], models[k]) == 0 || (i * 7 + k) % 13 == 0;
            if (chosen && profiles[i].executions && profiles[k].executions) {
                check_pair(&profiles[i], &profiles[k], arena);
                pairs++;
            }
        }
    }
    print_message("%zu dumps closed, %zu pairs closed\n", closed, pairs);
    assert_true(closed > 80 && pairs > 800);
    for (size_t i = 0; i < n; i++) {
        etp_trace_close(traces[i]);
        etp_file_close(&files[i]);
    }
}
