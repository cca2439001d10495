// SPDX-License-Identifier: Apache-2.0
// The stacks of a dump, and the two text formats for stacks.
#include "convert/stacks.h"

#include <etprof/version.h>

#include "base/guard.h"
#include "base/json.h"
#include "base/utf8.h"

typedef struct call_key {
    const etp_delegates *delegates;
    uint32_t block;
    int32_t chain, instruction;
} call_key;

static bool is_call(const void *ctx, uint32_t position)
{
    const call_key *key = ctx;
    const struct etp_delegate_call *c = &key->delegates->items[position];
    return c->block == key->block && c->chain == key->chain && c->instruction == key->instruction;
}

etp_str etp_delegates_name(etp_delegates *delegates, etp_arena *arena, uint32_t block,
                           int32_t chain, int32_t instruction)
{
    call_key key = {delegates, block, chain, instruction};
    uint64_t hash = etp_hash_bytes(ETP_HASH_START, &block, sizeof block);
    hash = etp_hash_bytes(hash, &chain, sizeof chain);
    hash = etp_hash_bytes(hash, &instruction, sizeof instruction);
    uint32_t at = etp_index_find(&delegates->index, hash, is_call, &key);
    if (at == ETP_NO_INDEX) {
        at = (uint32_t)delegates->n;
        const char *name = etp_arena_printf(arena, "delegate #%u", at);
        struct etp_delegate_call call = {block, chain, instruction, etp_str_from(name)};
        ETP_ADD(arena, delegates, call);
        etp_index_insert(&delegates->index, arena, hash, at);
    }
    return delegates->items[at].name;
}

// Viewers know no negative widths, so what is below zero is added up beside the stacks, for the
// caller to tell.
static void push_sum(etp_stacks *out, etp_arena *arena, etp_str title, const char *label,
                     int64_t ns)
{
    if (ns < 0) {
        out->below_zero_ns[0] += ns;
        return;
    }
    etp_stack stack = {
        .frames = {title, etp_str_from(label)},
          .n_frames = 2, .ns = {(uint64_t)ns}
    };
    ETP_ADD(arena, out, stack);
}

static etp_status stack_up(const etp_trace *trace, const etp_op_table *table,
                           const char *const *categories, etp_str title, etp_arena *arena,
                           etp_stacks *out)
{
    *out = (etp_stacks){
        .title = title, .names = {title}, .n_sides = 1, .executions = table->executions};
    etp_delegates delegates = {0};
    bool several = etp_trace_block_count(trace) > 1;
    for (size_t i = 0; i < table->n_rows; i++) {
        const etp_op_row *row = &table->rows[i];
        const etp_trace_block *b = etp_trace_block_at(trace, row->block);
        const etp_trace_event *e = &b->events[row->event];
        etp_stack stack = {.frames = {title}, .n_frames = 1, .ns = {row->total_ns}};
        if (several) {
            const char *name =
                etp_arena_printf(arena, "block %u %.*s", row->block, ETP_STR_ARG(b->name));
            stack.frames[stack.n_frames++] = etp_str_from(name);
        }
        etp_str under = ETP_STR("outside delegates");
        if (etp_ops_is_delegated(e)) {
            under = etp_delegates_name(&delegates, arena, row->block, e->chain, e->instruction);
        }
        stack.frames[stack.n_frames++] = under;
        stack.frames[stack.n_frames++] = etp_str_from(categories[i]);
        stack.frames[stack.n_frames++] =
            e->kind == ETP_EVENT_DELEGATE_CALL ? etp_ops_unlogged((etp_str){0}, arena) : e->name;
        ETP_ADD(arena, out, stack);
    }
    push_sum(out, arena, title, "delegate boundary", table->boundary_ns);
    // The remainder is all of Method::execute that no operator took, the boundary the part of it
    // that lies in calls of delegates.
    push_sum(out, arena, title, "framework", table->remainder_ns - table->boundary_ns);
    return ETP_OK;
}

etp_status etp_stacks_of_trace(const etp_trace *trace, const etp_op_table *table,
                               const char *const *categories, etp_str title, etp_arena *arena,
                               etp_stacks *out, etp_error *err)
{
    ETP_GUARDED(arena, err, "stacks", stack_up(trace, table, categories, title, arena, out));
}

// ---- collapsed stacks ----

// Also U+2028 and U+2029, which some languages take for the end of a line, and U+FFFE and U+FFFF,
// which are not characters.
static bool is_control(etp_str c)
{
    unsigned char first = (unsigned char)c.ptr[0];
    return first < 0x20 || first == 0x7F ||
           // U+0080 … U+009F, line and paragraph separator, and the two at the end of the first
           // plane
           (first == 0xC2 && (unsigned char)c.ptr[1] < 0xA0) ||
           (c.len == 3 && memcmp(c.ptr, "\xE2\x80", 2) == 0 &&
            ((unsigned char)c.ptr[2] & 0xFE) == 0xA8) ||
           (c.len == 3 && memcmp(c.ptr, "\xEF\xBF", 2) == 0 && (unsigned char)c.ptr[2] >= 0xBE) ||
           etp_is_deceptive(etp_utf8_code_point((const unsigned char *)c.ptr, c.len));
}

// NAME with nothing that ends a line, parts frames (';' becomes ',') or is read as a command.
static void append_frame(etp_strbuf *line, etp_str name)
{
    for (;;) {
        // How many bytes NAME begins with that are kept as they are.
        size_t kept = 0;
        while (kept < name.len && name.ptr[kept] >= 0x20 && name.ptr[kept] < 0x7F &&
               name.ptr[kept] != ';' && name.ptr[kept] != ':' && name.ptr[kept] != '#') {
            kept++;
        }
        etp_strbuf_append(line, (etp_str){name.ptr, kept});
        if (kept == name.len) {
            return;
        }
        name = (etp_str){name.ptr + kept, name.len - kept};
        bool valid = false;
        etp_str c = {name.ptr, etp_utf8_next(name, &valid)};
        if (!valid || is_control(c)) {
            etp_strbuf_appendz(line, "\xEF\xBF\xBD");
        } else if (*c.ptr == ';') {
            etp_strbuf_appendz(line, ",");
        } else {
            etp_strbuf_append(line, c);
            etp_strbuf_appendz(line, etp_if(etp_runner_command(name, 0), "'"));
        }
        name = (etp_str){name.ptr + c.len, name.len - c.len};
    }
}

etp_status etp_stacks_folded(const etp_stacks *s, bool swap, etp_arena *arena, etp_sink *sink,
                             etp_error *err)
{
    etp_strbuf line;
    etp_strbuf_init(&line, arena);
    for (size_t i = 0; i < s->n; i++) {
        const etp_stack *stack = &s->items[i];
        line.len = 0;
        for (size_t f = 0; f < stack->n_frames; f++) {
            etp_strbuf_appendz(&line, etp_if(f, ";"));
            append_frame(&line, stack->frames[f].len ? stack->frames[f] : ETP_STR("(no name)"));
        }
        for (size_t side = 0; side < s->n_sides; side++) {
            etp_strbuf_printf(
                &line, " %llu",
                (unsigned long long)stack->ns[swap && s->n_sides == 2 ? 1 - side : side]);
        }
        etp_strbuf_appendz(&line, "\n");
        etp_sink_write(sink, etp_strbuf_str(&line));
    }
    return etp_arena_check(arena, err, "stacks");
}

// ---- speedscope ----

typedef struct frames { // every name once
    etp_index index;
    etp_str *items;
    size_t n, cap;
} frames;

typedef struct frame_key {
    const frames *all;
    etp_str name;
} frame_key;

static bool is_frame(const void *ctx, uint32_t position)
{
    const frame_key *key = ctx;
    return etp_str_eq(key->all->items[position], key->name);
}

static uint32_t frame_number(frames *all, etp_arena *arena, etp_str name)
{
    frame_key key = {all, name};
    uint64_t hash = etp_hash_bytes(ETP_HASH_START, ETP_OR(name.ptr, ""), name.len);
    uint32_t at = etp_index_find(&all->index, hash, is_frame, &key);
    if (at == ETP_NO_INDEX) {
        at = (uint32_t)all->n;
        ETP_ADD(arena, all, name);
        etp_index_insert(&all->index, arena, hash, at);
    }
    return at;
}

// What a stack weighs in each of the four profiles: a side, or where one has more than the other.
static uint64_t weight(const etp_stack *s, int profile)
{
    uint64_t a = s->ns[0], b = s->ns[1];
    switch (profile) {
    case 0:
        return a;
    case 1:
        return b;
    case 2:
        return ETP_LESS(a, b);
    default:
        return ETP_LESS(b, a);
    }
}

static void profile_json(etp_json *j, const etp_stacks *s, const uint32_t *numbers, int profile,
                         const char *name)
{
    uint64_t total = 0;
    for (size_t i = 0; i < s->n; i++) {
        total += weight(&s->items[i], profile);
    }
    if (total == 0) {
        return; // a profile has to end after it begins
    }
    etp_json_begin_object(j);
    etp_json_kv_z(j, "type", "sampled");
    etp_json_kv_z(j, "name", name);
    etp_json_kv_z(j, "unit", "nanoseconds");
    etp_json_kv_u64(j, "startValue", 0);
    etp_json_kv_u64(j, "endValue", total);
    etp_json_key(j, "samples");
    etp_json_begin_array(j);
    for (size_t i = 0; i < s->n; i++) {
        if (weight(&s->items[i], profile)) {
            etp_json_begin_array_inline(j);
            for (size_t f = 0; f < s->items[i].n_frames; f++) {
                etp_json_u64(j, numbers[i * ETP_STACK_FRAMES + f]);
            }
            etp_json_end(j);
        }
    }
    etp_json_end(j);
    etp_json_key(j, "weights");
    etp_json_begin_array_inline(j);
    for (size_t i = 0; i < s->n; i++) {
        if (weight(&s->items[i], profile)) {
            etp_json_u64(j, weight(&s->items[i], profile));
        }
    }
    etp_json_end(j);
    etp_json_end(j);
}

static const char *profile_name(const etp_stacks *s, int profile, etp_arena *arena)
{
    if (s->n_sides == 1) {
        return etp_arena_printf(arena, "%.*s: %zu executions together", ETP_STR_ARG(s->names[0]),
                                s->executions);
    }
    if (profile < 2) {
        return etp_arena_printf(arena, "%c: %.*s", 'A' + profile, ETP_STR_ARG(s->names[profile]));
    }
    return etp_arena_printf(arena,
                            profile == 2 ? "B − A gains: what %.*s saves against %.*s"
                                         : "B − A losses: what %.*s costs more than %.*s",
                            ETP_STR_ARG(s->names[1]), ETP_STR_ARG(s->names[0]));
}

static etp_status write_speedscope(const etp_stacks *s, etp_arena *arena, etp_sink *sink)
{
    frames all = {0};
    uint32_t *numbers = ETP_NEW_ARRAY(arena, uint32_t, s->n * ETP_STACK_FRAMES);
    for (size_t i = 0; i < s->n; i++) {
        for (size_t f = 0; f < s->items[i].n_frames; f++) {
            numbers[i * ETP_STACK_FRAMES + f] = frame_number(&all, arena, s->items[i].frames[f]);
        }
    }
    etp_json j;
    etp_json_init(&j, sink, true);
    etp_json_begin_object(&j);
    etp_json_kv_z(&j, "$schema", "https://www.speedscope.app/file-format-schema.json");
    etp_json_kv_z(&j, "exporter", "etprof@" ETP_VERSION);
    etp_json_kv_str(&j, "name", s->title);
    etp_json_kv_u64(&j, "activeProfileIndex", 0);
    etp_json_key(&j, "shared");
    etp_json_begin_object(&j);
    etp_json_key(&j, "frames");
    etp_json_begin_array(&j);
    for (size_t i = 0; i < all.n; i++) {
        etp_json_begin_object_inline(&j);
        etp_json_kv_str(&j, "name", all.items[i]);
        etp_json_end(&j);
    }
    etp_json_end(&j);
    etp_json_end(&j);
    etp_json_key(&j, "profiles");
    etp_json_begin_array(&j);
    for (int p = 0; p < (s->n_sides == 2 ? 4 : 1); p++) {
        const char *name = profile_name(s, p, arena);
        profile_json(&j, s, numbers, p, name);
    }
    etp_json_end(&j);
    etp_json_end(&j);
    etp_json_end_document(&j);
    return ETP_OK;
}

etp_status etp_stacks_speedscope(const etp_stacks *s, etp_arena *arena, etp_sink *sink,
                                 etp_error *err)
{
    ETP_GUARDED(arena, err, "stacks", write_speedscope(s, arena, sink));
}
