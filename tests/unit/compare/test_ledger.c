// SPDX-License-Identifier: Apache-2.0
// One centre per quantity, what interruptions leave of it, and what the clocks do not resolve: made
// sessions whose figures are known by hand.
#include <math.h>
#include <string.h>

#include "../folder.h"
#include "../made.h"
#include "show/report.h"
#include "unit.h"

static bool says(etp_ab_session *s, folder *f, const char *words)
{
    etp_strbuf buffer;
    etp_strbuf_init(&buffer, &f->arena);
    etp_sink sink = etp_sink_strbuf(&buffer);
    assert_int_equal(etp_report_write(etp_ab_report(etp_ab_answer(s), &f->arena), etp_write_md,
                                      NULL, &sink, NULL),
                     ETP_OK);
    etp_str text = etp_strbuf_str(&buffer);
    return etp_str_find(text, etp_str_from(words)) < text.len;
}

static const etp_ledger_row *row_of(const etp_ab *ab, const char *id)
{
    const etp_ledger *l = &ab->ledgers[0];
    for (size_t i = 0; i < l->n; i++) {
        if (strcmp(l->items[i].id, id) == 0) {
            return &l->items[i];
        }
    }
    fail_msg("no row %s", id);
    return NULL;
}

static const etp_ab_category *category_of(const etp_ab *ab, etp_category category)
{
    for (size_t i = 0; i < ab->n_categories; i++) {
        if (ab->categories[i].category == category) {
            return &ab->categories[i];
        }
    }
    fail_msg("no category %s", etp_category_name(category));
    return NULL;
}

static void closes(const etp_ab *ab)
{
    const etp_ledger *l = &ab->ledgers[0];
    int64_t sum[2] = {0}, traced[2] = {0};
    for (size_t i = 0; i < l->n; i++) {
        bool ends = l->items[i].ties || strcmp(l->items[i].id, "around") == 0;
        sum[0] += l->items[i].baseline_ns;
        sum[1] += l->items[i].candidate_ns;
        traced[0] += ends ? 0 : l->items[i].baseline_ns;
        traced[1] += ends ? 0 : l->items[i].candidate_ns;
    }
    for (int side = 0; side < 2; side++) {
        const etp_ab_arm *arm =
            &ab->arms[side ? ab->comparisons[0].candidate : ab->comparisons[0].baseline];
        assert_true(sum[side] == arm->median_ns && traced[side] == arm->traced_ns);
    }
    assert_true(l->delta_ns == sum[1] - sum[0]);
}

// Every third execution waits 3 ms inside its delegate call: the mean of 24 has 1 ms of it, the
// median none.
static void interruptions_are_no_boundary(void **state)
{
    made m = made_base();
    m.runs = 24;
    m.interrupt_us = 3000;
    const etp_ab *ab = etp_ab_answer(made_open(&m, *state));
    closes(ab);
    assert_true(row_of(ab, "boundary")->baseline_ns == 10000 &&
                row_of(ab, "boundary")->candidate_ns == 10000);
    assert_true(ab->arms[ab->baseline].traced_kept == MADE_BLOCKS * 8 &&
                ab->arms[ab->baseline].traced_runs == MADE_BLOCKS * 24);
    for (size_t a = 0; a < 2; a++) { // 1570 and 1000 µs, up to half a per cent of wobble
        const etp_ab_arm *arm = &ab->arms[a];
        double us = a == ab->baseline ? 1570 : 1000;
        assert_true(fabs((double)arm->traced_ns / 1e3 - us) < 0.005 * us);
        assert_true(fabs((double)arm->traced_mean_ns / 1e3 - us - 1000) < 0.005 * us);
        assert_true(fabs(arm->tracing_overhead.estimate - 1) < 0.001); // medians of 1570 and 1570
        assert_true(fabs((double)arm->time_breakdown.boundary_ns - 10000) < 1);
    }
    // Of the four operators in the call up to a microsecond each was cut off, on either side.
    assert_true(row_of(ab, "boundary")->delta_ns == 0 && row_of(ab, "boundary")->lo_ns == -4000 &&
                row_of(ab, "boundary")->hi_ns == 4000);
    assert_true(llabs(row_of(ab, "tracer")->baseline_ns) < 1600); // not 1 ms
    assert_true(llabs(row_of(ab, "iterations")->baseline_ns) < 8000);
    for (size_t i = 0; i < ab->judged.n_causes; i++) {
        if (ab->judged.causes[i].cause == ETP_CAUSE_TRACER) {
            assert_int_equal(ab->judged.causes[i].state, ETP_CAUSE_RULED_OUT);
        }
    }
    for (size_t i = 0; i < ab->fixes.n; i++) {
        assert_true(ab->fixes.items[i].hi_ns <= ab->arms[ab->bottleneck_arm].median_ns);
    }
}

// A tracer that costs half: the row is the ratio of medians, and no gain is above the untraced
// inference.
static void tracer_is_a_ratio_of_medians(void **state)
{
    made m = made_base();
    m.untraced_us[0] = 785;
    m.untraced_us[1] = 500;
    const etp_ab *ab = etp_ab_answer(made_open(&m, *state));
    closes(ab);
    for (size_t a = 0; a < 2; a++) {
        const etp_ab_arm *arm = &ab->arms[a];
        int64_t tracer = a == ab->baseline ? row_of(ab, "tracer")->baseline_ns
                                           : row_of(ab, "tracer")->candidate_ns;
        assert_true(tracer == arm->median_ns -
                                  llround((double)arm->median_ns * arm->tracing_overhead.estimate));
        assert_true(fabs(arm->tracing_overhead.estimate - 2) < 0.002);
    }
    for (size_t i = 0; i < ab->fixes.n; i++) {
        assert_true(ab->fixes.items[i].hi_ns <= ab->arms[ab->bottleneck_arm].median_ns);
    }
}

// 205 µs against 1 µs that may be anything below 2: no ratio, in either direction, in any table.
static void ratios_below_the_clock(void **state)
{
    folder *f = *state;
    static const int k_us[][2] = {
        {205, 1  },
        {1,   205},
        {205, 0  },
        {4,   2  }
    };
    for (size_t k = 0; k < sizeof k_us / sizeof *k_us; k++) {
        made m = made_base();
        m.ops[3].us[0] = k_us[k][0];
        m.ops[3].us[1] = k_us[k][1];
        etp_ab_session *s = made_open(&m, f);
        const etp_ab *ab = etp_ab_answer(s);
        const etp_ab_category *c = category_of(ab, ETP_CATEGORY_DATA_MOVEMENT);
        double before = (double)c->ns[ab->baseline],
               after = (double)c->ns[ab->comparisons[0].candidate];
        assert_true(isnan(c->speedup[0]) && isnan(ab->operators[3].speedup[0]));
        assert_int_equal(c->truncation_ns[0], 1000);
        if (k_us[k][1] > 0) { // blocks hardly wobble: the interval is what truncation leaves open
            assert_true(fabs(c->lo[0] / (before / (after + 1000)) - 1) < 0.02);
            assert_true(fabs(c->hi[0] / ((before + 1000) / after) - 1) < 0.02);
        }
        assert_false(says(s, f, "205.00×") || says(s, f, "205×"));
        assert_true(says(s, f, "no speedup for 1 operator below what the clock resolves"));
    }
}

// What is withheld of one comparison does not hide that another's change is below the clock; and a
// change that is known within a factor of two is told although its ratio is not.
static void changes_below_the_clock(void **state)
{
    const etp_ab_arm arms[4] = {{.name = "a"}, {.name = "b"}, {.name = "c"}, {.name = "d"}};
    const etp_ab_comparison pairs[3] = {
        {.candidate = 1, .withheld = ETP_WITHHELD_CONTENDED},
        {.candidate = 2},
        {.candidate = 3}
    };
    int64_t ns[4] = {9000, 4000, 8000, 2000}, truncation_ns[4] = {2000, 2000, 2000, 2000};
    double speedup[3] = {NAN, NAN, NAN};
    const etp_ab_category c = {.ns = ns, .truncation_ns = truncation_ns, .speedup = speedup};
    const bool alike[3] = {false};
    const etp_ab ab = {.arms = arms,
                       .n_arms = 4,
                       .comparisons = pairs,
                       .n_comparisons = 3,
                       .logged_unlike = alike};
    assert_false(etp_ab_category_below_clock(&ab, &c, 0, true));
    assert_true(etp_ab_category_below_clock(&ab, &c, 1, true));  // 1 µs, of −1 to 3
    assert_false(etp_ab_category_below_clock(&ab, &c, 2, true)); // 7 µs, of 5 to 9
    assert_true(etp_ab_category_below_clock(&ab, &c, 2, false));
}

// From 1 to 2 µs whole microseconds alone can make every execution longer: nothing got slower
// beyond doubt.
static void slower_is_more_than_truncation(void **state)
{
    folder *f = *state;
    made m = made_base();
    m.ops[3].us[0] = 6;
    m.ops[3].us[1] = 7;
    m.ops[2].us[1] = 50;
    etp_ab_session *s = made_open(&m, f);
    for (size_t i = 0; i < etp_ab_answer(s)->judged.findings.n; i++) {
        assert_int_not_equal(etp_ab_answer(s)->judged.findings.items[i].kind, ETP_FINDING_SLOWER);
    }
    m.ops[3].us[1] = 9;
    s = made_open(&m, f);
    bool found = false;
    for (size_t i = 0; i < etp_ab_answer(s)->judged.findings.n; i++) {
        found = found || etp_ab_answer(s)->judged.findings.items[i].kind == ETP_FINDING_SLOWER;
    }
    assert_true(found);
}

// Many short operators in one call: what whole microseconds hid of them together is at most what
// the call took besides.
static void calls_bound_what_is_hidden(void **state)
{
    made m = made_base();
    for (int i = 0; i < MADE_OPS; i++) { // twelve in one call, with 10 µs around them
        m.ops[i] = (made_op){
            {"Add (ND) #1", "Add (ND) #1"},
            0, {20,            10           }
        };
    }
    etp_ab_session *s = made_open(&m, *state);
    const etp_ab_category *c = category_of(etp_ab_answer(s), ETP_CATEGORY_ELEMENTWISE);
    assert_true(c->truncation_ns[0] == 10000 && c->truncation_ns[1] == 10000);
    assert_true(fabs(c->speedup[0] - 2) < 0.01);
    assert_true(fabs(c->lo[0] - 240.0 / 130) < 0.02 && fabs(c->hi[0] - 250.0 / 120) < 0.02);
}

// Three calls of 10 µs besides their operators, the first interrupted now and then: two calls less
// save at most two of them, likely what truncation of one operator each (half a microsecond)
// leaves.
static void fewer_calls_save_what_calls_took(void **state)
{
    made m = made_base();
    m.runs = 24;
    m.interrupt_us = 3000;
    m.untraced_us[0] = m.untraced_us[1] = 150; // no tracer: gains are what was traced
    for (int i = 0; i < MADE_OPS; i++) {
        m.ops[i] = i < 3 ? (made_op){{"Add (ND) #1", "Add (ND) #1"}, 2 * i, {40, 40}} : (made_op){{NULL, NULL}, 0, {0, 0}};
    }
    const etp_ab *ab = etp_ab_answer(made_open(&m, *state));
    const etp_ab_fix *found = NULL;
    for (size_t i = 0; i < ab->fixes.n; i++) {
        found = ab->fixes.items[i].kind == ETP_FIX_PARTITIONS ? &ab->fixes.items[i] : found;
    }
    assert_non_null(found);
    assert_true(found->lo_ns == 0 && llabs(found->hi_ns - 20000) < 200 &&
                llabs(found->expected_ns - 19000) < 200);
}

static void bottlenecks_name_their_own_shares(void **state)
{
    folder *f = *state;
    made m = made_base(); // Convolution 900 of 1570; 300 of 1000 beside 340 of Data movement
    etp_ab_session *s = made_open(&m, f);
    assert_true(
        says(s, f, "moved from Convolution (57 % of the time) to Data movement (34 %, was 22 %)"));
    m.ops[3].us[1] = 310; // 31 of 97 against 30 of 97: as good as equal
    s = made_open(&m, f);
    assert_true(says(s, f,
                     "Convolution: 57 % of the time before, 31 % after; Data movement: 22 % "
                     "before, 32 % after"));
    m.ops[3].us[1] = 200;
    s = made_open(&m, f);
    assert_true(says(s, f, "stays Convolution: 57 % of the time before, 35 % after"));
    m.execute_us = 40000; // operators are 4 % of it at most
    s = made_open(&m, f);
    assert_true(says(s, f, "stays Outside operators: 96 % of the time before, 98 % after"));
}
