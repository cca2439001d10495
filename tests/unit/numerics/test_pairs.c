// SPDX-License-Identifier: Apache-2.0
// Which operator of a program is which of another: places as flatc lists the nodes.
#include "precision_fixture.h"

#define NONE ETP_NO_INDEX

static void hold(const char *other, const uint32_t *expected)
{
    etp_arena arena = {0};
    opened a = open_program("precision/layers_fp32.pte", &arena);
    opened b = open_program(other, &arena);
    uint32_t *pairs;
    assert_int_equal(etp_ops_pair(&a.ops, &b.ops, &arena, &pairs, NULL), ETP_OK);
    for (uint32_t i = 0; i < OPERATORS; i++) {
        if (pairs[i] != expected[i]) {
            fail_msg("%s: operator %u is %d there, not %d", other, i, (int)pairs[i],
                     (int)expected[i]);
        }
    }
    close_program(&a);
    close_program(&b);
    etp_arena_dispose(&arena);
}

static void converts_are_passed_over(void **state)
{
    hold("precision/layers_int8.pte", (const uint32_t[]){1, 2, 3, 4, 5, 6, 7, 8});
    hold("precision/layers_dynamic.pte", (const uint32_t[]){0, 1, 2, 3, 4, 5, 6, 8});
    hold("precision/layers_fp16.pte", (const uint32_t[]){0, 1, 2, 3, 4, 5, 6, 7});
    hold("precision/layers_fp32.pte", (const uint32_t[]){0, 1, 2, 3, 4, 5, 6, 7});
}

static void other_programs_have_none(void **state)
{
    static const uint32_t k_none[] = {NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE};
    hold("fixes/recurrent.pte", k_none);
    hold("llm/decoder_cache.pte", k_none);
}

// Partners take what partners make: SUM adds the first two convolutions' results, of equal sizes,
// and one that adds others is another one.
static void who_takes_what_decides(void **state)
{
    etp_arena *arena = *state;
    opened a = open_program("precision/layers_fp32.pte", arena);
    opened b = open_program("precision/layers_int8.pte", arena);
    etp_op *sum = &b.ops.items[4], *third = &b.ops.items[5];
    assert_int_equal(sum->n_operands, 2);
    sum->operands[0].maker = sum->operands[1].maker;
    assert_int_equal(third->n_operands, 1);
    third->operands[0].maker = 3;
    uint32_t *pairs;
    assert_int_equal(etp_ops_pair(&a.ops, &b.ops, arena, &pairs, NULL), ETP_OK);
    assert_int_equal(pairs[SECOND], 3);
    assert_int_equal(pairs[SUM], NONE);
    // What it takes is the sum there, of which nothing is known here.
    assert_int_equal(pairs[LAST], 8);
    close_program(&a);
    close_program(&b);
}

static void operators_that_multiply_and_convert(void **state)
{
    etp_arena *arena = *state;
    opened b = open_program("precision/layers_int8.pte", arena);
    static const char k_kinds[] = "c mm+m  mc"; // as the nodes are listed
    assert_int_equal(b.ops.n, sizeof k_kinds - 1);
    for (size_t i = 0; i < b.ops.n; i++) {
        const etp_op *op = &b.ops.items[i];
        assert_int_equal(etp_op_converts(op), k_kinds[i] == 'c');
        assert_int_equal(etp_op_multiplies(op), k_kinds[i] == 'm');
        assert_int_equal(etp_op_adds(op), k_kinds[i] == '+');
    }
    static const char k_read[] =
        "yyyyyyyy..";                        // the last two: a convert takes one, nobody the other
    for (uint32_t i = 1; i < b.ops.n; i++) { // the first is a convert itself
        assert_int_equal(etp_op_is_read(&b.ops, i), k_read[i] == 'y');
    }
    uint32_t *sources;
    assert_int_equal(etp_op_sources(&b.ops, &b.ops.items[2], arena, &sources), 0);
    assert_int_equal(etp_op_sources(&b.ops, &b.ops.items[8], arena, &sources), 1);
    assert_int_equal(sources[0], 5); // through a reshape and a transpose
    close_program(&b);
}
