// SPDX-License-Identifier: Apache-2.0
// Programs and payloads that no exporter at hand writes: every kind of instruction, value, location
// and node, old layouts, unknown backends, and files made to exhaust memory.
#include <math.h>
#include <stdlib.h>

#include "../flatbuf/builder.h"
#include "formats/pte_schema.h"
#include "unit.h"

#include <etprof/program.h>

typedef struct bench {
    etp_arena *arena;
    etp_fbb b;
} bench;

static bench start(etp_arena *arena)
{
    bench t = {.arena = arena};
    etp_fbb_init(&t.b, arena);
    return t;
}

// ---- small tables ----

static etp_fbb_ref i32_vec(bench *t, const int32_t *items, size_t n)
{
    return etp_fbb_vec(&t->b, items, n, 4, 0);
}

static etp_fbb_ref pair(bench *t, int32_t first, int32_t second)
{
    etp_fbb_begin(&t->b);
    etp_fbb_add(&t->b, 0, 4, (uint32_t)first);
    etp_fbb_add(&t->b, 1, 4, (uint32_t)second);
    return etp_fbb_end(&t->b);
}

static etp_fbb_ref one_ref(bench *t, etp_fbb_ref ref)
{
    etp_fbb_begin(&t->b);
    etp_fbb_add_ref(&t->b, 0, ref);
    return etp_fbb_end(&t->b);
}

static etp_fbb_ref scalar(bench *t, size_t width, uint64_t value)
{
    etp_fbb_begin(&t->b);
    etp_fbb_add(&t->b, 0, width, value);
    return etp_fbb_end(&t->b);
}

static etp_fbb_ref any(bench *t, uint8_t type, etp_fbb_ref value) // a table that is one union
{
    etp_fbb_begin(&t->b);
    etp_fbb_add(&t->b, UNION_TYPE, 1, type);
    etp_fbb_add_ref(&t->b, UNION_VALUE, value);
    return etp_fbb_end(&t->b);
}

static etp_fbb_ref call(bench *t, int32_t index, const int32_t *args, size_t n)
{
    etp_fbb_ref list = i32_vec(t, args, n);
    etp_fbb_begin(&t->b);
    etp_fbb_add(&t->b, CALL_INDEX, 4, (uint32_t)index);
    etp_fbb_add_ref(&t->b, CALL_ARGS, list);
    return etp_fbb_end(&t->b);
}

typedef struct tensor_spec {
    int scalar_type;
    int32_t sizes[4];
    size_t rank;
    uint32_t buffer; // data_buffer_idx
    bool planned;    // allocation_info
    bool external;   // extra_tensor_info.location
    uint64_t mutable_segment;
    uint8_t dynamism;
    const char *name; // fully qualified
} tensor_spec;

static etp_fbb_ref tensor(bench *t, tensor_spec s)
{
    etp_fbb_ref sizes = i32_vec(t, s.sizes, s.rank);
    etp_fbb_ref allocation = 0, extra = 0;
    if (s.planned) {
        etp_fbb_begin(&t->b);
        etp_fbb_add(&t->b, ALLOCATION_ID, 4, 1);
        etp_fbb_add(&t->b, ALLOCATION_LOW, 4, 64);
        etp_fbb_add(&t->b, ALLOCATION_HIGH, 4, 2);
        allocation = etp_fbb_end(&t->b);
    }
    if (s.name || s.external || s.mutable_segment) {
        etp_fbb_ref name = s.name ? etp_fbb_str(&t->b, etp_str_from(s.name)) : 0;
        etp_fbb_begin(&t->b);
        etp_fbb_add(&t->b, EXTRA_MUTABLE_SEGMENT, 8, s.mutable_segment);
        etp_fbb_add_ref(&t->b, EXTRA_NAME, name);
        etp_fbb_add(&t->b, EXTRA_LOCATION, 1, s.external);
        extra = etp_fbb_end(&t->b);
    }
    etp_fbb_begin(&t->b);
    etp_fbb_add(&t->b, TENSOR_SCALAR_TYPE, 1, (uint8_t)s.scalar_type);
    etp_fbb_add_ref(&t->b, TENSOR_SIZES, sizes);
    etp_fbb_add(&t->b, TENSOR_DATA_BUFFER, 4, s.buffer);
    etp_fbb_add_ref(&t->b, TENSOR_ALLOCATION, allocation);
    etp_fbb_add(&t->b, TENSOR_DYNAMISM, 1, s.dynamism);
    etp_fbb_add_ref(&t->b, TENSOR_EXTRA, extra);
    return any(t, ETP_EVALUE_TENSOR, etp_fbb_end(&t->b));
}

// What a plan is made of; 0 leaves a field out.
typedef struct plan_spec {
    etp_fbb_ref values[24];
    size_t n_values;
    etp_fbb_ref instructions[16];
    size_t n_instructions;
    etp_fbb_ref operators[4];
    size_t n_operators;
    etp_fbb_ref delegates[4];
    size_t n_delegates;
} plan_spec;

static etp_fbb_ref plan(bench *t, const plan_spec *s)
{
    etp_fbb_ref name = etp_fbb_str(&t->b, ETP_STR("forward"));
    etp_fbb_ref values = etp_fbb_vec_refs(&t->b, s->values, s->n_values);
    etp_fbb_ref instructions = etp_fbb_vec_refs(&t->b, s->instructions, s->n_instructions);
    etp_fbb_begin(&t->b);
    etp_fbb_add_ref(&t->b, CHAIN_INSTRUCTIONS, instructions);
    etp_fbb_ref chain = etp_fbb_end(&t->b);
    etp_fbb_ref chains = etp_fbb_vec_refs(&t->b, &chain, 1);
    etp_fbb_ref operators = etp_fbb_vec_refs(&t->b, s->operators, s->n_operators);
    etp_fbb_ref delegates = etp_fbb_vec_refs(&t->b, s->delegates, s->n_delegates);
    etp_fbb_begin(&t->b);
    etp_fbb_add_ref(&t->b, PLAN_NAME, name);
    etp_fbb_add_ref(&t->b, PLAN_VALUES, values);
    etp_fbb_add_ref(&t->b, PLAN_CHAINS, chains);
    etp_fbb_add_ref(&t->b, PLAN_OPERATORS, operators);
    etp_fbb_add_ref(&t->b, PLAN_DELEGATES, delegates);
    return etp_fbb_end(&t->b);
}

typedef struct program_spec {
    etp_fbb_ref plan, constants, inline_data, segments, constant_segment, mutable_segments, named;
    uint32_t version;
} program_spec;

static etp_bytes program(bench *t, program_spec s)
{
    etp_fbb_ref plans = etp_fbb_vec_refs(&t->b, &s.plan, s.plan ? 1 : 0);
    etp_fbb_begin(&t->b);
    etp_fbb_add(&t->b, PROGRAM_VERSION, 4, s.version);
    etp_fbb_add_ref(&t->b, PROGRAM_PLANS, plans);
    etp_fbb_add_ref(&t->b, PROGRAM_CONSTANT_BUFFER, s.constants);
    etp_fbb_add_ref(&t->b, PROGRAM_INLINE_DATA, s.inline_data);
    etp_fbb_add_ref(&t->b, PROGRAM_SEGMENTS, s.segments);
    etp_fbb_add_ref(&t->b, PROGRAM_CONSTANT_SEGMENT, s.constant_segment);
    etp_fbb_add_ref(&t->b, PROGRAM_MUTABLE_SEGMENTS, s.mutable_segments);
    etp_fbb_add_ref(&t->b, PROGRAM_NAMED_DATA, s.named);
    return etp_fbb_finish(&t->b, etp_fbb_end(&t->b), "ET12", false);
}

// Puts the extended header of LENGTH bytes behind the identifier, and SEGMENTS behind the program.
static etp_bytes with_header(bench *t, etp_bytes f, uint32_t length, size_t segment_bytes)
{
    enum { HEADER = 32 };
    size_t program_size = f.len + HEADER;
    uint8_t *out = etp_arena_alloc(t->arena, program_size + segment_bytes);
    assert_non_null(out);
    memcpy(out, f.ptr, 8);
    memcpy(out + 8 + HEADER, f.ptr + 8, f.len - 8);
    uint32_t root = etp_load_u32(f.ptr) + HEADER;
    memcpy(out, &root, 4);
    memcpy(out + 8, "eh00", 4);
    memcpy(out + 12, &length, 4);
    memcpy(out + 16, &(uint64_t){program_size}, 8);
    memcpy(out + 24, &(uint64_t){program_size}, 8);
    if (length >= 32) {
        memcpy(out + 32, &(uint64_t){segment_bytes}, 8);
    }
    for (size_t i = 0; i < segment_bytes; i++) {
        out[program_size + i] = (uint8_t)i;
    }
    return (etp_bytes){out, program_size + segment_bytes, 0};
}

static etp_status read(bench *t, etp_bytes f, etp_pte *out, etp_error *err)
{
    assert_true(f.len > 0); // the builder did not run out of memory
    return etp_pte_read(f, t->arena, out, err);
}

static void expect(bench *t, etp_bytes f, etp_status status, const char *message)
{
    etp_pte pte;
    etp_error err = {0};
    assert_int_equal(read(t, f, &pte, &err), status);
    if (message && !strstr(err.msg, message)) {
        fail_msg("\"%s\" does not say \"%s\"", err.msg, message);
    }
}

// ---- instructions and values ----

static void every_instruction(void **state)
{
    bench t = start(*state);
    plan_spec s = {.n_values = 3, .n_instructions = 7, .n_operators = 1};
    for (int i = 0; i < 3; i++) {
        s.values[i] = tensor(&t, (tensor_spec){
                                     .scalar_type = 6, .sizes = {2, 3},
                                          .rank = 2
        });
    }
    etp_fbb_ref name = etp_fbb_str(&t.b, ETP_STR("aten::add"));
    s.operators[0] = one_ref(&t, name); // without overload
    s.instructions[0] = any(&t, 1, call(&t, 0, (const int32_t[]){0, 1, 2, 2}, 4));
    s.instructions[1] = any(&t, 3, pair(&t, 2, 0));   // move 2 to 0
    s.instructions[2] = any(&t, 4, pair(&t, 1, 7));   // jump behind the end unless 1
    s.instructions[3] = any(&t, 5, scalar(&t, 4, 2)); // free 2
    s.instructions[4] = any(&t, 9, scalar(&t, 4, 2)); // of a newer schema
    s.instructions[5] = any(&t, 0, 0);
    s.instructions[6] = any(&t, 1, call(&t, 0, NULL, 0));
    etp_bytes f = program(&t, (program_spec){.plan = plan(&t, &s)});
    const etp_program *p = NULL;
    etp_error err = {0};
    ASSERT_OK(etp_program_open(f, NULL, &p, &err), err);
    const etp_method *m = &p->methods[0];
    const etp_instruction_kind kinds[] = {ETP_INSTR_KERNEL, ETP_INSTR_MOVE,  ETP_INSTR_JUMP_FALSE,
                                          ETP_INSTR_FREE,   ETP_INSTR_OTHER, ETP_INSTR_NONE,
                                          ETP_INSTR_KERNEL};
    for (uint32_t i = 0; i < 7; i++) {
        assert_int_equal(m->instructions[i].kind, kinds[i]);
    }
    const etp_pte_instruction *raw = m->pte->chains[0].instructions;
    assert_int_equal(raw[1].index, 2);
    assert_int_equal(raw[1].target, 0);
    assert_int_equal(raw[2].index, 1);
    assert_int_equal(m->instructions[2].target, 7);
    assert_int_equal(raw[3].index, 2);
    assert_true(etp_str_eqz(m->instructions[0].op, "aten::add"));
    assert_int_equal(m->instructions[0].n_inputs, 2);
    assert_int_equal(m->instructions[0].outputs[0], 2);
    assert_int_equal(m->n_of_kind[ETP_INSTR_MOVE], 1);
    etp_program_close(p);
}

static void every_value(void **state)
{
    bench t = start(*state);
    const int64_t ints[] = {1, 0};
    const double doubles[] = {1.5, (double)-INFINITY};
    const uint8_t bools[] = {1, 0, 1};
    double pi = 3.25;
    uint64_t pi_bits;
    memcpy(&pi_bits, &pi, 8);
    plan_spec s = {.n_values = 13};
    s.values[0] = any(&t, ETP_EVALUE_NULL, scalar(&t, 4, 0));
    s.values[1] = any(&t, ETP_EVALUE_INT, scalar(&t, 8, (uint64_t)-5));
    s.values[2] = any(&t, ETP_EVALUE_BOOL, scalar(&t, 1, 1));
    s.values[3] = any(&t, ETP_EVALUE_DOUBLE, scalar(&t, 8, pi_bits));
    s.values[4] = tensor(&t, (tensor_spec){.scalar_type = 1, .sizes = {3}, .rank = 1});
    s.values[5] = any(&t, ETP_EVALUE_STRING, one_ref(&t, etp_fbb_str(&t.b, ETP_STR("hi"))));
    s.values[6] = any(&t, ETP_EVALUE_INT_LIST, one_ref(&t, etp_fbb_vec(&t.b, ints, 2, 8, 0)));
    s.values[7] = any(&t, ETP_EVALUE_DOUBLE_LIST, one_ref(&t, etp_fbb_vec(&t.b, doubles, 2, 8, 0)));
    s.values[8] = any(&t, ETP_EVALUE_BOOL_LIST, one_ref(&t, etp_fbb_vec(&t.b, bools, 3, 1, 0)));
    s.values[9] =
        any(&t, ETP_EVALUE_TENSOR_LIST, one_ref(&t, i32_vec(&t, (const int32_t[]){4, 4}, 2)));
    s.values[10] = any(&t, ETP_EVALUE_OPTIONAL_TENSOR_LIST,
                       one_ref(&t, i32_vec(&t, (const int32_t[]){-1, 4}, 2)));
    s.values[11] = any(&t, 77, scalar(&t, 4, 1)); // of a newer schema
    s.values[12] = any(&t, 0, 0);
    etp_pte pte;
    etp_error err = {0};
    ASSERT_OK(read(&t, program(&t, (program_spec){.plan = plan(&t, &s)}), &pte, &err), err);
    const etp_evalue *v = pte.methods[0].values;
    for (int i = 0; i <= 10; i++) {
        assert_int_equal(v[i].kind, i + 1);
    }
    assert_int_equal(v[11].kind, ETP_EVALUE_OTHER);
    assert_int_equal(v[11].code, 77);
    assert_int_equal(v[12].kind, ETP_EVALUE_NONE);
    assert_int_equal(v[1].u.i, -5);
    assert_true(v[2].u.b);
    assert_true(v[3].u.d == 3.25);
    assert_int_equal(v[4].u.tensor->dtype, ETP_DTYPE_INT8);
    assert_int_equal(v[4].u.tensor->nbytes, 3);
    assert_true(etp_str_eqz(v[5].u.s, "hi"));
    assert_int_equal(etp_u64_at(v[6].u.list, 0), 1);
    assert_true(etp_f64_at(v[7].u.list, 1) == (double)-INFINITY);
    assert_int_equal(v[8].u.s.len, 3);
    assert_int_equal(v[8].u.s.ptr[2], 1);
    assert_int_equal(etp_i32_at(v[10].u.tensors, 0), -1);
}

static void indices_are_checked(void **state)
{
    for (int i = 0; i < 8; i++) {
        bench t = start(*state);
        plan_spec s = {.n_values = 1, .n_instructions = 1, .n_operators = 1};
        s.values[0] = tensor(&t, (tensor_spec){.scalar_type = 6, .sizes = {2}, .rank = 1});
        s.operators[0] = one_ref(&t, etp_fbb_str(&t.b, ETP_STR("aten::relu")));
        const etp_fbb_ref bad[] = {
            any(&t, 1, call(&t, 1, (const int32_t[]){0}, 1)),  // no such operator
            any(&t, 1, call(&t, -1, (const int32_t[]){0}, 1)), // negative
            any(&t, 1, call(&t, 0, (const int32_t[]){1}, 1)),  // no such value
            any(&t, 2, call(&t, 0, (const int32_t[]){0}, 1)),  // no such delegate
            any(&t, 3, pair(&t, 0, 1)),                        // move to nowhere
            any(&t, 4, pair(&t, 0, 2)),                        // jump too far
            any(&t, 4, pair(&t, 0, -1)),                       //
            any(&t, 5, scalar(&t, 4, 1)),                      // free nothing
        };
        s.instructions[0] = bad[i];
        expect(&t, program(&t, (program_spec){.plan = plan(&t, &s)}), ETP_CORRUPT, "instruction 0");
    }
}

static void broken_tensors(void **state)
{
    const struct {
        tensor_spec spec;
        const char *message;
    } k_bad[] = {
        {{.scalar_type = 6, .sizes = {2, -3}, .rank = 2},          "-3 elements"              },
        {{.scalar_type = 6, .sizes = {2}, .rank = 1, .buffer = 9}, "constant 9 does not exist"},
        {{.scalar_type = 6,
          .sizes = {2},
          .rank = 1,
          .buffer = 1,
          .planned = true,
          .mutable_segment = 3},
         "mutable segment 3 does not exist"                                                   },
    };
    for (size_t i = 0; i < sizeof k_bad / sizeof *k_bad; i++) {
        bench t = start(*state);
        plan_spec s = {.n_values = 1};
        s.values[0] = tensor(&t, k_bad[i].spec);
        expect(&t, program(&t, (program_spec){.plan = plan(&t, &s)}), ETP_CORRUPT,
               k_bad[i].message);
    }
    bench t = start(*state);
    int32_t many[17] = {0};
    etp_fbb_ref sizes = i32_vec(&t, many, 17);
    etp_fbb_begin(&t.b);
    etp_fbb_add_ref(&t.b, TENSOR_SIZES, sizes);
    plan_spec s = {.n_values = 1};
    s.values[0] = any(&t, ETP_EVALUE_TENSOR, etp_fbb_end(&t.b));
    expect(&t, program(&t, (program_spec){.plan = plan(&t, &s)}), ETP_CORRUPT, "17 dimensions");
}

// ---- where data is ----

static etp_fbb_ref segment(bench *t, uint64_t offset, uint64_t size)
{
    etp_fbb_begin(&t->b);
    etp_fbb_add(&t->b, SEGMENT_OFFSET, 8, offset);
    etp_fbb_add(&t->b, SEGMENT_SIZE, 8, size);
    return etp_fbb_end(&t->b);
}

static etp_fbb_ref subsegments(bench *t, uint32_t index, const uint64_t *offsets, size_t n)
{
    etp_fbb_ref list = etp_fbb_vec(&t->b, offsets, n, 8, 0);
    etp_fbb_begin(&t->b);
    etp_fbb_add(&t->b, SUBSEGMENT_INDEX, 4, index);
    etp_fbb_add_ref(&t->b, SUBSEGMENT_OFFSETS, list);
    return etp_fbb_end(&t->b);
}

// Two segments of 64 bytes: constants (a tensor at 16) and initial state (a tensor at 32).
static etp_bytes program_with_data(bench *t, uint32_t header_length, uint64_t second_size)
{
    plan_spec s = {.n_values = 5};
    const tensor_spec base = {.scalar_type = 6, .sizes = {4}, .rank = 1};
    tensor_spec constant = base, state = base, planned = base, external = base;
    constant.buffer = 1;
    state.buffer = 1;
    state.planned = true;
    planned.planned = true;
    external.external = true;
    external.name = "fc.weight";
    s.values[0] = tensor(t, base);
    s.values[1] = tensor(t, constant);
    s.values[2] = tensor(t, state);
    s.values[3] = tensor(t, planned);
    s.values[4] = tensor(t, external);
    const etp_fbb_ref segments[] = {segment(t, 0, 64), segment(t, 64, second_size)};
    program_spec p = {.plan = plan(t, &s)};
    p.segments = etp_fbb_vec_refs(&t->b, segments, 2);
    p.constant_segment = subsegments(t, 0, (const uint64_t[]){0, 16}, 2);
    etp_fbb_ref mutables = subsegments(t, 1, (const uint64_t[]){0, 32}, 2);
    p.mutable_segments = etp_fbb_vec_refs(&t->b, &mutables, 1);
    return with_header(t, program(t, p), header_length, 128);
}

static void every_location(void **state)
{
    const uint32_t k_lengths[] = {24, 32}; // header of old and of current exporters
    for (size_t i = 0; i < 2; i++) {
        bench t = start(*state);
        etp_pte pte;
        etp_error err = {0};
        etp_bytes f = program_with_data(&t, k_lengths[i], 64);
        ASSERT_OK(read(&t, f, &pte, &err), err);
        assert_true(pte.has_extended_header);
        assert_int_equal(pte.segment_data_size, k_lengths[i] == 32 ? 128 : 0);
        const etp_evalue *v = pte.methods[0].values;
        assert_int_equal(v[0].u.tensor->location, ETP_PTE_DATA_NONE);
        assert_int_equal(v[1].u.tensor->location, ETP_PTE_DATA_CONSTANT);
        assert_int_equal(v[1].u.tensor->data.len, 16);
        assert_int_equal(v[1].u.tensor->data.ptr[0], 16); // segments count up from 0
        assert_int_equal(v[2].u.tensor->location, ETP_PTE_DATA_MUTABLE);
        assert_int_equal(v[2].u.tensor->data.ptr[0], 64 + 32);
        assert_int_equal(v[3].u.tensor->location, ETP_PTE_DATA_PLANNED);
        assert_int_equal(v[3].u.tensor->memory_id, 1);
        assert_int_equal(v[3].u.tensor->memory_offset, (2ull << 32) + 64);
        assert_int_equal(v[4].u.tensor->location, ETP_PTE_DATA_EXTERNAL);
        assert_true(etp_str_eqz(v[4].u.tensor->fqn, "fc.weight"));
        assert_int_equal(pte.segments[0].kind, ETP_PTE_SEGMENT_CONSTANT);
        assert_int_equal(pte.segments[1].kind, ETP_PTE_SEGMENT_MUTABLE);
    }
}

static void data_outside_is_refused(void **state)
{
    const uint64_t k_sizes[] = {65, UINT64_MAX, 40}; // 40: the tensor at 32 sticks out
    for (size_t i = 0; i < 3; i++) {
        bench t = start(*state);
        expect(&t, program_with_data(&t, 32, k_sizes[i]), ETP_CORRUPT,
               i < 2 ? "segment 1" : "constant");
    }
    bench t = start(*state);
    etp_bytes f = program_with_data(&t, 32, 64);
    for (size_t cut = 1; cut < f.len; cut++) {
        expect(&t, (etp_bytes){f.ptr, f.len - cut, 0}, ETP_CORRUPT, NULL);
    }
    expect(&t, program_with_data(&t, 23, 64), ETP_CORRUPT, "extended header");
}

static void constants_of_old_exporters(void **state)
{
    bench t = start(*state);
    const uint8_t bytes[] = {1, 2, 3, 4, 5, 6, 7, 8};
    const etp_fbb_ref buffers[] = {one_ref(&t, 0), one_ref(&t, etp_fbb_vec(&t.b, bytes, 8, 1, 16))};
    plan_spec s = {.n_values = 1};
    s.values[0] = tensor(&t, (tensor_spec){.scalar_type = 6, .sizes = {2}, .rank = 1, .buffer = 1});
    program_spec p = {.plan = plan(&t, &s)};
    p.constants = etp_fbb_vec_refs(&t.b, buffers, 2);
    etp_pte pte;
    assert_int_equal(read(&t, program(&t, p), &pte, NULL), ETP_OK);
    assert_int_equal(pte.n_constant_buffers, 2);
    assert_int_equal(pte.methods[0].values[0].u.tensor->data.len, 8);
    assert_int_equal(pte.methods[0].values[0].u.tensor->data.ptr[7], 8);
}

static void newer_versions_are_named(void **state)
{
    bench t = start(*state);
    expect(&t, program(&t, (program_spec){.version = 1}), ETP_UNSUPPORTED, "schema version 1");
    expect(&t, program(&t, (program_spec){0}), ETP_OK, NULL); // a program without methods
}

// ---- delegates ----

static etp_fbb_ref delegate(bench *t, const char *id, uint32_t index)
{
    const uint8_t value[] = {1, 2, 3};
    etp_fbb_ref key = etp_fbb_str(&t->b, ETP_STR("compute_units"));
    etp_fbb_ref bytes = etp_fbb_vec(&t->b, value, 3, 1, 0);
    etp_fbb_begin(&t->b);
    etp_fbb_add_ref(&t->b, SPEC_KEY, key);
    etp_fbb_add_ref(&t->b, SPEC_VALUE, bytes);
    etp_fbb_ref spec = etp_fbb_end(&t->b);
    etp_fbb_ref specs = etp_fbb_vec_refs(&t->b, &spec, 1);
    etp_fbb_ref name = etp_fbb_str(&t->b, etp_str_from(id));
    etp_fbb_begin(&t->b);
    etp_fbb_add(&t->b, REFERENCE_LOCATION, 1, 0);
    etp_fbb_add(&t->b, REFERENCE_INDEX, 4, index);
    etp_fbb_ref reference = etp_fbb_end(&t->b);
    etp_fbb_begin(&t->b);
    etp_fbb_add_ref(&t->b, DELEGATE_ID, name);
    etp_fbb_add_ref(&t->b, DELEGATE_PROCESSED, reference);
    etp_fbb_add_ref(&t->b, DELEGATE_SPECS, specs);
    return etp_fbb_end(&t->b);
}

static void unknown_backends_are_listed(void **state)
{
    bench t = start(*state);
    const uint8_t blob[40] = {0};
    plan_spec s = {.n_values = 2, .n_instructions = 2, .n_delegates = 3};
    for (int i = 0; i < 2; i++) {
        s.values[i] = tensor(&t, (tensor_spec){.scalar_type = 6, .sizes = {2}, .rank = 1});
    }
    s.delegates[0] = delegate(&t, "CoreMLBackend", 0);
    s.delegates[1] = delegate(&t, "XnnpackBackend", 0); // the same bytes, no XNNPACK graph
    s.delegates[2] = delegate(&t, "CoreMLBackend", 0);
    s.instructions[0] = any(&t, 2, call(&t, 0, (const int32_t[]){0, 1}, 2));
    s.instructions[1] = any(&t, 2, call(&t, 1, (const int32_t[]){0, 1}, 2));
    etp_fbb_ref data = one_ref(&t, etp_fbb_vec(&t.b, blob, sizeof blob, 1, 16));
    program_spec p = {.plan = plan(&t, &s)};
    p.inline_data = etp_fbb_vec_refs(&t.b, &data, 1);
    const etp_program *prog = NULL;
    etp_error err = {0};
    ASSERT_OK(etp_program_open(program(&t, p), NULL, &prog, &err), err);
    const etp_partition *parts = prog->methods[0].partitions;
    assert_true(etp_str_eqz(parts[0].backend, "CoreMLBackend"));
    assert_int_equal(parts[0].blob.len, 40);
    assert_null(parts[0].graph);
    assert_null(parts[0].problem);
    assert_int_equal(parts[0].delegate->n_specs, 1);
    assert_true(etp_str_eqz(parts[0].delegate->specs[0].key, "compute_units"));
    assert_int_equal(parts[0].delegate->specs[0].value.ptr[2], 3);
    assert_null(parts[1].graph);
    assert_non_null(parts[1].problem); // said, not fatal
    assert_int_equal(parts[1].same_blob_as, 1);
    assert_int_equal(parts[2].same_blob_as, 0);
    assert_int_equal(prog->methods[0].n_unknown_work, 2);
    etp_program_close(prog);
}

// ---- memory ----

// One operator table, referred to N times: four bytes of file would become a record each.
static void shared_tables_do_not_multiply(void **state)
{
    enum { N = 4 << 20 };
    bench t = start(*state);
    etp_fbb_ref *refs = calloc(N, sizeof *refs);
    assert_non_null(refs);
    etp_fbb_ref one = any(&t, ETP_EVALUE_NULL, scalar(&t, 4, 0));
    for (size_t i = 0; i < N; i++) {
        refs[i] = one;
    }
    etp_fbb_ref values = etp_fbb_vec_refs(&t.b, refs, N);
    etp_fbb_begin(&t.b);
    etp_fbb_add_ref(&t.b, PLAN_VALUES, values);
    etp_bytes f = program(&t, (program_spec){.plan = etp_fbb_end(&t.b)});
    assert_true(f.len > N * 4);
    free(refs);
    etp_arena *arena = *state;
    etp_pte pte;
    etp_error err = {0};
    assert_int_equal(etp_pte_read(f, arena, &pte, &err), ETP_CORRUPT);
    assert_true(arena->total <= 2 * f.len + (32u << 20));
}
