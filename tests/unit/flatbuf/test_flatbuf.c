// SPDX-License-Identifier: Apache-2.0
// The FlatBuffers verifier, its getters and the builder.
#include <stdlib.h>

#include "builder.h"
#include "flatbuf/flatbuf.h"
#include "flatbuf/repeat.h"
#include "unit.h"

// ---- a schema with every kind of field ----

static const etp_fb_field k_leaf_fields[] = {
    {"value", ETP_FB_SCALAR, .width = 8}
};
static const etp_fb_schema k_leaf = ETP_FB_SCHEMA("Leaf", k_leaf_fields);
static const etp_fb_schema *const k_member_tables[] = {NULL, &k_leaf, NULL};
static const etp_fb_members k_members = ETP_FB_MEMBERS(k_member_tables);

enum {
    F_U8,
    F_I16,
    F_I32,
    F_F32,
    F_I64,
    F_F64,
    F_NAME,
    F_LEAF,
    F_TYPE,
    F_ANY,
    F_INTS,
    F_BLOB,
    F_NAMES,
    F_LEAVES,
    F_SELF,
    F_OLD
};
static const etp_fb_schema k_root;
static const etp_fb_field k_root_fields[F_OLD + 1] = {
    [F_U8] = {"u8", ETP_FB_SCALAR, .width = 1},
    [F_I16] = {"i16", ETP_FB_SCALAR, .width = 2},
    [F_I32] = {"i32", ETP_FB_SCALAR, .width = 4},
    [F_F32] = {"f32", ETP_FB_SCALAR, .width = 4},
    [F_I64] = {"i64", ETP_FB_SCALAR, .width = 8},
    [F_F64] = {"f64", ETP_FB_SCALAR, .width = 8},
    [F_NAME] = {.name = "name", .kind = ETP_FB_STRING},
    [F_LEAF] = {"leaf", ETP_FB_TABLE, .table = &k_leaf},
    [F_TYPE] = {"any_type", ETP_FB_SCALAR, .width = 1},
    [F_ANY] = {"any", ETP_FB_UNION, .members = &k_members},
    [F_INTS] = {"ints", ETP_FB_VECTOR, .width = 8},
    [F_BLOB] = {"blob", ETP_FB_VECTOR, .width = 1, .align = 16},
    [F_NAMES] = {.name = "names", .kind = ETP_FB_VECTOR_STRING},
    [F_LEAVES] = {"leaves", ETP_FB_VECTOR_TABLE, .table = &k_leaf},
    [F_SELF] = {"self", ETP_FB_VECTOR_TABLE, .table = &k_root},
    [F_OLD] = {.name = "old", .kind = ETP_FB_IGNORE},
};
static const etp_fb_schema k_root = ETP_FB_SCHEMA("Root", k_root_fields);

static const etp_fb_options k_options = {.identifier = "TEST"};

static uint64_t bits64(double v)
{
    uint64_t b;
    memcpy(&b, &v, sizeof b);
    return b;
}

static uint32_t bits32(float v)
{
    uint32_t b;
    memcpy(&b, &v, sizeof b);
    return b;
}

static etp_fbb_ref leaf(etp_fbb *b, uint64_t value)
{
    etp_fbb_begin(b);
    etp_fbb_add(b, 0, 8, value);
    return etp_fbb_end(b);
}

static etp_bytes full_buffer(etp_arena *arena, bool prefix)
{
    etp_fbb b;
    etp_fbb_init(&b, arena);
    const uint64_t ints[] = {1, UINT64_MAX, 3};
    const etp_fbb_ref names[] = {etp_fbb_str(&b, ETP_STR("one")), etp_fbb_str(&b, ETP_STR(""))};
    const etp_fbb_ref leaves[] = {leaf(&b, 11), leaf(&b, 12)};
    etp_fbb_ref name = etp_fbb_str(&b, ETP_STR("root")), any = leaf(&b, 99), one = leaf(&b, 5);
    etp_fbb_ref v_ints = etp_fbb_vec(&b, ints, 3, 8, 0), v_blob = etp_fbb_vec(&b, "abc", 3, 1, 16);
    etp_fbb_ref v_names = etp_fbb_vec_refs(&b, names, 2),
                v_leaves = etp_fbb_vec_refs(&b, leaves, 2);
    etp_fbb_begin(&b);
    etp_fbb_add(&b, F_U8, 1, 200);
    etp_fbb_add(&b, F_I16, 2, (uint16_t)-5);
    etp_fbb_add(&b, F_I32, 4, (uint32_t)-70000);
    etp_fbb_add(&b, F_F32, 4, bits32(1.5F));
    etp_fbb_add(&b, F_I64, 8, (uint64_t)INT64_MIN);
    etp_fbb_add(&b, F_F64, 8, bits64(-2.25));
    etp_fbb_add_ref(&b, F_NAME, name);
    etp_fbb_add_ref(&b, F_LEAF, one);
    etp_fbb_add(&b, F_TYPE, 1, 1);
    etp_fbb_add_ref(&b, F_ANY, any);
    etp_fbb_add_ref(&b, F_INTS, v_ints);
    etp_fbb_add_ref(&b, F_BLOB, v_blob);
    etp_fbb_add_ref(&b, F_NAMES, v_names);
    etp_fbb_add_ref(&b, F_LEAVES, v_leaves);
    etp_bytes file = etp_fbb_finish(&b, etp_fbb_end(&b), "TEST", prefix);
    assert_non_null(file.ptr);
    return file;
}

static void check_full(etp_fb_table t)
{
    assert_int_equal(etp_fb_u8(t, F_U8, 0), 200);
    assert_int_equal(etp_fb_i16(t, F_I16, 0), -5);
    assert_int_equal(etp_fb_i32(t, F_I32, 0), -70000);
    assert_true(etp_fb_f32(t, F_F32, 0) == 1.5F);
    assert_true(etp_fb_i64(t, F_I64, 0) == INT64_MIN);
    assert_true(etp_fb_f64(t, F_F64, 0) == -2.25);
    assert_true(etp_str_eqz(etp_fb_str(t, F_NAME), "root"));
    assert_int_equal(etp_fb_u64(etp_fb_table_field(t, F_LEAF), 0, 0), 5);
    assert_int_equal(etp_fb_u64(etp_fb_table_field(t, F_ANY), 0, 0), 99);
    etp_fb_vector ints = etp_fb_vec(t, F_INTS), names = etp_fb_vec(t, F_NAMES);
    assert_int_equal(ints.n, 3);
    assert_true(etp_fb_vec_u64(ints, 1) == UINT64_MAX);
    assert_int_equal(names.n, 2);
    assert_true(etp_str_eqz(etp_fb_vec_str(names, 0), "one"));
    assert_int_equal(etp_fb_vec_str(names, 1).len, 0);
    etp_fb_vector leaves = etp_fb_vec(t, F_LEAVES);
    assert_int_equal(etp_fb_u64(etp_fb_vec_table(leaves, 1), 0, 0), 12);
    assert_memory_equal(etp_fb_vec(t, F_BLOB).items, "abc", 3);
    assert_false(etp_fb_has(t, F_SELF));
    assert_int_equal(etp_fb_vec(t, F_SELF).n, 0);
}

// ---- good buffers ----

static void reads_what_the_builder_wrote(void **state)
{
    etp_arena *arena = *state;
    etp_fb_table root;
    etp_error err = {0};
    etp_bytes plain = full_buffer(arena, false), prefixed = full_buffer(arena, true);
    assert_int_equal(etp_fb_verify(plain, &k_root, &k_options, &root, &err), ETP_OK);
    check_full(root);
    assert_int_equal(etp_load_u32(prefixed.ptr), prefixed.len - 4);
    etp_fb_options o = {.identifier = "TEST", .root_at = 4};
    assert_int_equal(etp_fb_verify(prefixed, &k_root, &o, &root, &err), ETP_OK);
    check_full(root);
    // Without its prefix the 8-byte fields are at 4 mod 8: only readable when told so.
    etp_bytes cut = {prefixed.ptr + 4, prefixed.len - 4, 4};
    assert_int_equal(etp_fb_verify(cut, &k_root, &k_options, &root, &err), ETP_CORRUPT);
    o = (etp_fb_options){.identifier = "TEST", .max_align = 4};
    assert_int_equal(etp_fb_verify(cut, &k_root, &o, &root, &err), ETP_OK);
    check_full(root);
}

// Spelled out after the format's description, not by our builder: vtable behind the table, an
// absent field, a field that the schema does not know.
static const uint8_t k_by_hand[] = {
    12,   0,    0,    0,    'T', 'E', 'S', 'T',       // root at 12
    0,    0,    0,    0,                              // padding
    0xf4, 0xff, 0xff, 0xff,                           // 12: vtable at 12 + 12
    0x2a, 0,    0,    0,    7,   0,   0,   0,         // 16: i32; 20: unknown
    10,   0,    12,   0,    0,   0,   0,   0,   4, 0, // 24: vtable, 3 fields
};

static void reads_a_buffer_made_by_hand(void **state)
{
    etp_fb_table root;
    etp_bytes bytes = {k_by_hand, sizeof k_by_hand, 0};
    assert_int_equal(etp_fb_verify(bytes, &k_root, &k_options, &root, NULL), ETP_OK);
    assert_int_equal(etp_fb_i32(root, F_I32, -1), 42);
    assert_int_equal(etp_fb_u8(root, F_U8, 9), 9);
    assert_false(etp_fb_has(root, F_NAME));
    assert_null(etp_fb_str(root, F_NAME).ptr);
    assert_int_equal(etp_fb_position(bytes, root), 12);
}

static void unknown_union_types_are_skipped(void **state)
{
    for (unsigned type = 2; type < 40; type += 37) { // known to the schema as NULL, and beyond it
        etp_fbb b;
        etp_fbb_init(&b, *state);
        etp_fbb_ref any = leaf(&b, 1);
        etp_fbb_begin(&b);
        etp_fbb_add(&b, F_TYPE, 1, type);
        etp_fbb_add_ref(&b, F_ANY, any);
        etp_bytes file = etp_fbb_finish(&b, etp_fbb_end(&b), "TEST", false);
        etp_fb_table root;
        assert_int_equal(etp_fb_verify(file, &k_root, &k_options, &root, NULL), ETP_OK);
        assert_int_equal(etp_fb_u8(root, F_TYPE, 0), type);
    }
}

// ---- bad buffers ----

static uint8_t *copy_of(etp_arena *arena, etp_bytes b)
{
    uint8_t *p = etp_arena_alloc_raw(arena, b.len, 1);
    assert_non_null(p);
    memcpy(p, b.ptr, b.len);
    return p;
}

static void put_u32(uint8_t *p, uint32_t v)
{
    for (int i = 0; i < 4; i++) {
        p[i] = (uint8_t)(v >> (8 * i));
    }
}

// Verifies the full buffer with the 4 bytes at PTR (inside GOOD) replaced, and expects MESSAGE at
// the position of PTR, base 1000 included.
static void expect_broken(etp_arena *arena, etp_bytes good, const uint8_t *ptr, uint32_t value,
                          const char *message)
{
    uint8_t *p = copy_of(arena, good);
    size_t at = (size_t)(ptr - good.ptr);
    put_u32(p + at, value);
    etp_fb_table root;
    etp_error err = {0};
    etp_bytes bad = {p, good.len, 1000};
    assert_int_equal(etp_fb_verify(bad, &k_root, &k_options, &root, &err), ETP_CORRUPT);
    if (strstr(err.msg, message) == NULL) {
        fail_msg("expected \"%s\", got \"%s\"", message, err.msg);
    }
    assert_int_equal(err.offset, 1000 + at);
}

static void errors_say_where_and_what(void **state)
{
    etp_arena *arena = *state;
    etp_fb_table t;
    etp_bytes good = full_buffer(arena, false);
    assert_int_equal(etp_fb_verify(good, &k_root, &k_options, &t, NULL), ETP_OK);
    const uint8_t *ints = etp_fb_vec(t, F_INTS).items;
    expect_broken(arena, good, ints - 4, 0x20000000,
                  "Root.ints: 536870912 elements of 8 bytes, but only");
    expect_broken(arena, good, ints - 4, 0xffffffff, "Root.ints: 4294967295 elements");
    const uint8_t *name = etp_fb_field_ptr(t, F_NAME);
    expect_broken(arena, good, name, 0, "Root.name: offset 0 does not lead");
    expect_broken(arena, good, name, 0xfffffffc, "Root.name: offset 4294967292 does not lead");
    expect_broken(arena, good, name, (uint32_t)good.len, "Root.name: offset");
    expect_broken(arena, good, name, etp_load_u32(name) + 1, "Root.name: offset");
    expect_broken(arena, good, etp_fb_follow(name), 3, "Root.name: string does not end in NUL");
    expect_broken(arena, good, t.ptr, 0x7fffffff, "Root: vtable offset 2147483647 leads outside");
    expect_broken(arena, good, t.ptr, 0x80000000, "leads outside the buffer");
    expect_broken(arena, good, good.ptr, 0xffffff00, "Root: root offset 4294967040");
}

static void unions_need_type_and_value(void **state)
{
    for (int with_type = 0; with_type < 2; with_type++) {
        etp_fbb b;
        etp_fbb_init(&b, *state);
        etp_fbb_ref any = leaf(&b, 1);
        etp_fbb_begin(&b);
        if (with_type) {
            etp_fbb_add(&b, F_TYPE, 1, 1);
        } else {
            etp_fbb_add_ref(&b, F_ANY, any);
        }
        etp_bytes file = etp_fbb_finish(&b, etp_fbb_end(&b), "TEST", false);
        etp_fb_table root;
        etp_error err = {0};
        assert_int_equal(etp_fb_verify(file, &k_root, &k_options, &root, &err), ETP_CORRUPT);
        assert_string_equal(err.msg, with_type ? "Root.any: union has a type but no value"
                                               : "Root.any: union has a value but no type");
    }
}

static void required_fields_are_demanded(void **state)
{
    static const etp_fb_field k_fields[] = {
        {.name = "a", .kind = ETP_FB_STRING},
        {.name = "b", .kind = ETP_FB_STRING, .required = true},
    };
    static const etp_fb_schema k_schema = ETP_FB_SCHEMA("Strict", k_fields);
    etp_fbb b;
    etp_fbb_init(&b, *state);
    etp_fbb_ref a = etp_fbb_str(&b, ETP_STR("x"));
    etp_fbb_begin(&b);
    etp_fbb_add_ref(&b, 0, a);
    etp_bytes file = etp_fbb_finish(&b, etp_fbb_end(&b), NULL, false);
    etp_fb_table root;
    etp_error err = {0};
    assert_int_equal(etp_fb_verify(file, &k_schema, NULL, &root, &err), ETP_CORRUPT);
    assert_string_equal(err.msg, "Strict.b: required field is missing");
}

static void other_identifiers_are_unsupported(void **state)
{
    etp_fb_table root;
    etp_error err = {0};
    etp_bytes good = full_buffer(*state, false);
    etp_fb_options o = {.identifier = "ELSE"};
    assert_int_equal(etp_fb_verify(good, &k_root, &o, &root, &err), ETP_UNSUPPORTED);
    assert_int_equal(err.offset, 4);
    etp_bytes none = {NULL, 0, 0};
    assert_int_equal(etp_fb_verify(none, &k_root, &o, &root, &err), ETP_CORRUPT);
}

// LEVELS tables, each a vector of FAN references to the next one: fan^levels visits of few bytes.
static etp_bytes nested(etp_arena *arena, unsigned levels, unsigned fan)
{
    etp_fbb b;
    etp_fbb_init(&b, arena);
    etp_fbb_ref t = 0;
    for (unsigned i = 0; i < levels; i++) {
        etp_fbb_ref refs[16];
        for (unsigned k = 0; k < fan; k++) {
            refs[k] = t;
        }
        etp_fbb_ref v = t ? etp_fbb_vec_refs(&b, refs, fan) : 0;
        etp_fbb_begin(&b);
        etp_fbb_add_ref(&b, F_SELF, v);
        t = etp_fbb_end(&b);
    }
    return etp_fbb_finish(&b, t, "TEST", false);
}

static void depth_and_work_are_bounded(void **state)
{
    etp_arena *arena = *state;
    etp_fb_table root;
    etp_error err = {0};
    assert_int_equal(etp_fb_verify(nested(arena, 64, 1), &k_root, &k_options, &root, &err), ETP_OK);
    etp_bytes deep = nested(arena, 65, 1);
    assert_int_equal(etp_fb_verify(deep, &k_root, &k_options, &root, &err), ETP_CORRUPT);
    assert_string_equal(err.msg, "Root: nested deeper than 64 tables");
    // 2^40 visits if nobody counted.
    etp_bytes bomb = nested(arena, 41, 2);
    assert_in_range(bomb.len, 1, 4096);
    assert_int_equal(etp_fb_verify(bomb, &k_root, &k_options, &root, &err), ETP_CORRUPT);
    assert_non_null(strstr(err.msg, "more tables than a buffer of"));
}

static void shared_strings_are_bounded(void **state)
{
    etp_arena *arena = *state;
    etp_fbb b;
    etp_fbb_init(&b, arena);
    enum { TEXT = 1 << 16, REFS = 1 << 12 };
    char *text = etp_arena_alloc(arena, TEXT);
    etp_fbb_ref *refs = ETP_NEW_ARRAY(arena, etp_fbb_ref, REFS);
    assert_true(text && refs);
    etp_fbb_ref s = etp_fbb_str(&b, (etp_str){text, TEXT});
    for (int i = 0; i < REFS; i++) {
        refs[i] = s;
    }
    etp_fbb_ref v = etp_fbb_vec_refs(&b, refs, REFS);
    etp_fbb_begin(&b);
    etp_fbb_add_ref(&b, F_NAMES, v);
    etp_bytes file = etp_fbb_finish(&b, etp_fbb_end(&b), "TEST", false);
    etp_fb_table root;
    etp_error err = {0};
    assert_int_equal(etp_fb_verify(file, &k_root, &k_options, &root, &err), ETP_CORRUPT);
    assert_non_null(strstr(err.msg, "overlap beyond the size budget"));
    etp_fb_options generous = {.identifier = "TEST", .max_bytes = UINT64_MAX};
    assert_int_equal(etp_fb_verify(file, &k_root, &generous, &root, &err), ETP_OK);
}

static void misaligned_vectors_are_refused(void **state)
{
    int refused = 0;
    for (size_t shift = 0; shift < 4; shift++) {
        etp_fbb b;
        etp_fbb_init(&b, *state);
        etp_fbb_ref blob = etp_fbb_vec(&b, "abcdefgh", 8, 1, 4); // the schema wants 16
        etp_fbb_begin(&b);
        for (unsigned i = 0; i < shift; i++) { // moves the blob, which lies behind its table
            etp_fbb_add(&b, F_I32 + i, i < 2 ? 4 : 8, 1);
        }
        etp_fbb_add_ref(&b, F_BLOB, blob);
        etp_bytes file = etp_fbb_finish(&b, etp_fbb_end(&b), "TEST", false);
        etp_fb_table root;
        etp_error err = {0};
        etp_fb_options lax = {.identifier = "TEST", .max_align = 4};
        assert_int_equal(etp_fb_verify(file, &k_root, &lax, &root, &err), ETP_OK);
        size_t at = (size_t)(etp_fb_vec(root, F_BLOB).items - file.ptr);
        etp_status status = etp_fb_verify(file, &k_root, &k_options, &root, &err);
        assert_int_equal(status, at % 16 == 0 ? ETP_OK : ETP_CORRUPT);
        if (status != ETP_OK) {
            assert_string_equal(err.msg, "Root.blob: vector is misaligned");
            assert_int_equal(err.offset, at);
            refused++;
        }
    }
    assert_in_range(refused, 1, 4);
}

static void fields_have_to_lie_behind_the_vtable_offset(void **state)
{
    uint8_t bytes[sizeof k_by_hand];
    memcpy(bytes, k_by_hand, sizeof bytes);
    bytes[24 + 4] = 1; // u8 at byte 1 of its table
    etp_fb_table root;
    etp_error err = {0};
    etp_bytes file = {bytes, sizeof bytes, 0};
    assert_int_equal(etp_fb_verify(file, &k_root, &k_options, &root, &err), ETP_CORRUPT);
    assert_string_equal(err.msg, "Root.u8: field lies outside its table");
    assert_int_equal(err.offset, 28);
}

// ---- repetitions ----

static const etp_fb_field k_item_fields[] = {
    {.name = "name", .kind = ETP_FB_STRING},
    {"value", ETP_FB_SCALAR, .width = 4},
    {"time", ETP_FB_SCALAR, .width = 8, .varies = true},
    {"even", ETP_FB_SCALAR, .width = 4}, // makes the size a multiple of 8, so layouts are equal
};
static const etp_fb_schema k_item = ETP_FB_SCHEMA("Item", k_item_fields);
static const etp_fb_field k_list_fields[] = {
    {"items", ETP_FB_VECTOR_TABLE, .repeats = true, .table = &k_item},
};
static const etp_fb_schema k_list = ETP_FB_SCHEMA("List", k_list_fields);

static etp_bytes item_list(etp_arena *arena, const char *const *names, const uint32_t *values,
                           size_t n)
{
    etp_fbb b;
    etp_fbb_ref refs[16];
    etp_fbb_init(&b, arena);
    for (size_t i = 0; i < n; i++) {
        etp_fbb_ref name = etp_fbb_str(&b, etp_str_from(names[i]));
        etp_fbb_begin(&b);
        etp_fbb_add(&b, 2, 8, 1000 + i);
        etp_fbb_add(&b, 1, 4, values[i]);
        etp_fbb_add(&b, 3, 4, 7);
        etp_fbb_add_ref(&b, 0, name);
        refs[i] = etp_fbb_end(&b);
    }
    etp_fbb_ref v = etp_fbb_vec_refs(&b, refs, n);
    etp_fbb_begin(&b);
    etp_fbb_add_ref(&b, 0, v);
    return etp_fbb_finish(&b, etp_fbb_end(&b), NULL, false);
}

// An element said to equal an earlier one does, in contents and layout; and enough of them are.
static void repetitions_are_recognised(void **state)
{
    enum { N = 12 };
    static const char *const k_names[N] = {"one", "one", "one", "one", "two", "one",
                                           "one", "one", "one", "one", "two", "one"};
    static const uint32_t k_values[N] = {1, 1, 1, 1, 1, 1, 1, 2, 1, 1, 1, 1};
    etp_arena *arena = *state;
    etp_fb_repeats repeats = {.arena = arena};
    etp_fb_options o = {.repeats = &repeats};
    etp_fb_table root;
    etp_bytes file = item_list(arena, k_names, k_values, N);
    assert_int_equal(etp_fb_verify(file, &k_list, &o, &root, NULL), ETP_OK);
    assert_int_equal(repeats.n, N);
    etp_fb_vector items = etp_fb_vec(root, 0);
    size_t repeated = 0;
    for (size_t i = 0; i < N; i++) {
        size_t k = repeats.same_as[i];
        assert_true(k <= i && repeats.same_as[k] == k);
        etp_fb_table t = etp_fb_vec_table(items, i), u = etp_fb_vec_table(items, k);
        assert_ptr_equal(t.vtable, u.vtable);
        assert_true(etp_str_eqz(etp_fb_str(u, 0), k_names[i]));
        assert_int_equal(etp_fb_u32(u, 1, 0), k_values[i]);
        assert_int_equal(etp_fb_u64(t, 2, 0), 1000 + i); // times are each element's own
        assert_true(etp_fb_str(t, 0).ptr - (const char *)t.ptr ==
                    etp_fb_str(u, 0).ptr - (const char *)u.ptr);
        repeated += k != i;
    }
    assert_in_range(repeated, 5, N - 1);
}

// Distances to vtables that no longer fit in 32 bits: only files beyond 2 GiB have them, so the
// shape is made to look like one of those.
static void distant_vtables_end_a_repetition(void **state)
{
    static const char *const k_names[] = {"one", "one", "one"};
    static const uint32_t k_values[] = {1, 1, 1};
    etp_arena *arena = *state;
    etp_fb_table root;
    etp_bytes file = item_list(arena, k_names, k_values, 3);
    assert_int_equal(etp_fb_verify(file, &k_list, NULL, &root, NULL), ETP_OK);
    etp_fb_vector items = etp_fb_vec(root, 0);
    // Elements are written back to front: a later one lies before an earlier one.
    const uint8_t *first = etp_fb_vec_table(items, 1).ptr, *second = etp_fb_vec_table(items, 2).ptr;
    etp_fb_shape down = {0}, up = {0};
    assert_true(etp_fb_shape_take(&down, &k_item, file, first, arena));
    assert_true(etp_fb_shape_take(&up, &k_item, file, second, arena));
    assert_true(etp_fb_shape_repeats(&down, file, second));
    assert_true(etp_fb_shape_repeats(&up, file, first));
    down.nearest = INT32_MIN;
    up.farthest = INT32_MAX;
    assert_false(etp_fb_shape_repeats(&down, file, second));
    assert_false(etp_fb_shape_repeats(&up, file, first));
}

// ---- every length, every byte ----

static uint64_t visit(etp_fb_table t) // reads everything the schema promises
{
    uint64_t sum = etp_fb_u8(t, F_U8, 0) + (uint64_t)etp_fb_i64(t, F_I64, 0);
    sum += etp_fb_str(t, F_NAME).len + etp_fb_u64(etp_fb_table_field(t, F_LEAF), 0, 0);
    sum += (uint64_t)etp_fb_i16(t, F_I16, 0) + etp_fb_u32(t, F_I32, 0);
    etp_str name = etp_fb_str(t, F_NAME);
    for (size_t i = 0; i <= name.len && name.ptr; i++) { // the NUL too
        sum += (uint8_t)name.ptr[i];
    }
    if (etp_fb_u8(t, F_TYPE, 0) == 1) {
        sum += etp_fb_u64(etp_fb_table_field(t, F_ANY), 0, 0);
    }
    etp_fb_vector v = etp_fb_vec(t, F_INTS);
    for (size_t i = 0; i < v.n; i++) {
        sum += etp_fb_vec_u64(v, i);
    }
    v = etp_fb_vec(t, F_BLOB);
    for (size_t i = 0; i < v.n; i++) {
        sum += v.items[i];
    }
    v = etp_fb_vec(t, F_NAMES);
    for (size_t i = 0; i < v.n; i++) {
        sum += etp_fb_vec_str(v, i).len;
    }
    v = etp_fb_vec(t, F_LEAVES);
    for (size_t i = 0; i < v.n; i++) {
        sum += etp_fb_u64(etp_fb_vec_table(v, i), 0, 0);
    }
    return sum;
}

static void truncation_and_flips_are_safe(void **state)
{
    etp_bytes good = full_buffer(*state, false);
    size_t accepted = 0, refused = 0;
    for (size_t len = 0; len < good.len; len++) {
        // A block of its own, so that the address sanitizer sees any read behind its end.
        uint8_t *p = malloc(len ? len : 1);
        assert_non_null(p);
        memcpy(p, good.ptr, len);
        etp_fb_table root;
        etp_error err = {0};
        if (etp_fb_verify((etp_bytes){p, len, 0}, &k_root, &k_options, &root, &err) == ETP_OK) {
            fail_msg("%zu of %zu bytes were accepted", len, good.len);
        }
        assert_true(err.msg[0] != '\0');
        free(p);
    }
    uint8_t *p = malloc(good.len);
    assert_non_null(p);
    for (size_t at = 0; at < good.len; at++) {
        for (unsigned mask = 1; mask < 257; mask *= 2) {
            memcpy(p, good.ptr, good.len);
            p[at] ^= (uint8_t)(mask == 256 ? 255 : mask);
            etp_fb_table root;
            etp_error err = {0};
            if (etp_fb_verify((etp_bytes){p, good.len, 0}, &k_root, &k_options, &root, &err) ==
                ETP_OK) {
                accepted += visit(root) != UINT64_MAX - 7;
            } else {
                refused++;
            }
        }
    }
    free(p);
    assert_true(accepted > 0 && refused > 0);
}
