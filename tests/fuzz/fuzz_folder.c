// SPDX-License-Identifier: Apache-2.0
// Whole run folders through the verbs that read them. The first byte chooses the verb; then
// members: length of the name, name, four bytes of length, content. libFuzzer changes them by their
// structure: values of JSON, cells and rows of tables, bytes of recordings, members that go or come
// twice.
#include "verbs.h"

#include <jansson.h>

#define MAX_MEMBERS 64u

typedef struct member {
    etp_str name, content;
} member;

// At most MAX_MEMBERS, of what is whole.
static size_t split(const uint8_t *data, size_t size, member *out)
{
    size_t n = 0;
    for (size_t at = 1; n < MAX_MEMBERS && at < size; n++) {
        size_t name = data[at];
        if (size - at < 5 + name || etp_load_u32(data + at + 1 + name) > size - at - 5 - name) {
            break;
        }
        size_t len = etp_load_u32(data + at + 1 + name);
        out[n].name = (etp_str){(const char *)data + at + 1, name};
        out[n].content = (etp_str){(const char *)data + at + 5 + name, len};
        at += 5 + name + len;
    }
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    member members[MAX_MEMBERS];
    if (size == 0) {
        return 0;
    }
    etp_arena arena = {0};
    size_t n = split(data, size, members);
    const char *dir = fuzz_empty_folder();
    for (size_t i = 0; i < n; i++) {
        const char *name = etp_arena_strdup(&arena, members[i].name);
        bool plain = name && strlen(name) == members[i].name.len;
        etp_status ignored =
            plain ? etp_os_replace_below(dir, name, fuzz_fill_member, &members[i].content, NULL)
                  : ETP_OK;
        (void)ignored; // a name that cannot be: the folder lacks it
    }
    fuzz_run_verb(dir, data[0] % FUZZ_VERBS);
    etp_arena_dispose(&arena);
    return 0;
}

#ifdef ETP_LIBFUZZER
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);

static uint64_t g_random;

static size_t below(size_t n)
{
    g_random = g_random * 6364136223846793005u + 1442695040888963407u;
    return n ? (size_t)(g_random >> 33) % n : 0;
}

static json_t *odd_value(void)
{
    switch (below(16)) {
    case 0:
        return json_null();
    case 1:
        return json_true();
    case 2:
        return json_integer(-1);
    case 3:
        return json_integer(0);
    case 4:
        return json_integer(1);
    case 5:
        return json_integer((json_int_t)1 << 31);
    case 6:
        return json_integer(INT64_MAX);
    case 7:
        return json_real(1e308);
    case 8:
        return json_string("");
    case 9:
        return json_string("..");
    case 10:
        return json_string("/");
    case 11:
        return json_string("=1\x1b[2J");
    case 12:
        return json_array();
    case 13:
        return json_object();
    case 14:
        return json_real(0.5);
    default:
        return json_integer((json_int_t)below(2000));
    }
}

static void change_array(json_t *v)
{
    size_t n = json_array_size(v), at = below(n);
    if (n == 0 || below(4) == 0) {
        json_array_append_new(v, odd_value());
    } else if (below(3) == 0) {
        json_array_remove(v, at);
    } else if (below(2) == 0) {
        for (size_t times = below(2) ? 1 : below(40); times > 0; times--) {
            json_array_append_new(v, json_deep_copy(json_array_get(v, at)));
        }
    } else {
        json_array_set_new(v, at, odd_value());
    }
}

static void change_value(json_t *v)
{
    for (int depth = 0; depth < 8; depth++) {
        size_t n = json_is_array(v) ? json_array_size(v) : json_object_size(v);
        size_t at = below(n);
        json_t *child = json_array_get(v, at);
        const char *key = NULL;
        for (void *i = json_object_iter(v); i; i = json_object_iter_next(v, i)) {
            key = json_object_iter_key(i);
            child = json_object_iter_value(i);
            if (at-- == 0) {
                break;
            }
        }
        if (child && (json_is_array(child) || json_is_object(child)) && below(4) > 0) {
            v = child;
            continue;
        }
        if (json_is_array(v)) {
            change_array(v);
        } else if (key && below(4) == 0) {
            json_object_del(v, key);
        } else if (key) {
            json_object_set_new(v, key, odd_value());
        }
        return;
    }
}

// One JSON document changed; empty when it is none.
static etp_str change_json(etp_str text, etp_arena *arena)
{
    json_t *v = json_loadb(text.ptr, text.len, 0, NULL);
    if (!v) {
        return (etp_str){0};
    }
    for (size_t times = 1 + below(3); times > 0; times--) {
        change_value(v);
    }
    char *dumped = json_dumps(v, JSON_COMPACT);
    const char *copy = dumped ? etp_arena_strdup(arena, etp_str_from(dumped)) : NULL;
    free(dumped);
    json_decref(v);
    return etp_str_from(copy);
}

static etp_str change_cell(etp_str line, etp_arena *arena)
{
    static const char *const k_cells[] = {
        "",     "-1",    "0",      "1",      "18446744073709551615", "nan", "1e9", "\"", "arm0",
        "arm1", "timed", "traced", "control"};
    size_t n = 1, from = 0;
    for (size_t i = 0; i < line.len; i++) {
        n += line.ptr[i] == ',';
    }
    for (size_t skip = below(n); skip > 0; skip--) {
        from += etp_str_find((etp_str){line.ptr + from, line.len - from}, ETP_STR(",")) + 1;
    }
    size_t to = from + etp_str_find((etp_str){line.ptr + from, line.len - from}, ETP_STR(","));
    return etp_str_from(etp_arena_printf(arena, "%.*s%s%.*s", (int)from, line.ptr,
                                         k_cells[below(sizeof k_cells / sizeof *k_cells)],
                                         (int)(line.len - to), line.ptr + to));
}

// One line changed, left out or said twice.
static etp_str change_lines(etp_str text, bool json, etp_arena *arena)
{
    size_t n = 0, from = 0;
    for (size_t i = 0; i < text.len; i++) {
        n += text.ptr[i] == '\n';
    }
    for (size_t skip = below(n); skip > 0; skip--) {
        from += etp_str_find((etp_str){text.ptr + from, text.len - from}, ETP_STR("\n")) + 1;
    }
    etp_str line = {text.ptr + from, 0};
    line.len = etp_str_find((etp_str){line.ptr, text.len - from}, ETP_STR("\n"));
    size_t to = from + line.len, what = below(8);
    etp_str other = {0};
    if (what == 1) {
        other = etp_str_from(
            etp_arena_printf(arena, "%.*s\n%.*s", ETP_STR_ARG(line), ETP_STR_ARG(line)));
    } else if (what > 1) {
        other = json ? change_json(line, arena) : change_cell(line, arena);
    }
    return etp_str_from(etp_arena_printf(arena, "%.*s%.*s%.*s", (int)from, text.ptr,
                                         ETP_STR_ARG(other), (int)(text.len - to), text.ptr + to));
}

static etp_str change_bytes(etp_str s, etp_arena *arena)
{
    size_t max = s.len + 64;
    uint8_t *copy = etp_arena_alloc_raw(arena, max, 1);
    if (!copy) {
        return s;
    }
    if (s.len) {
        memcpy(copy, s.ptr, s.len);
    }
    return (etp_str){(const char *)copy, LLVMFuzzerMutate(copy, s.len, max)};
}

static void change_member(member *m, etp_arena *arena)
{
    bool rows = etp_str_ends(m->name, ETP_STR(".csv"));
    bool lines = etp_str_ends(m->name, ETP_STR(".jsonl"));
    etp_str new = {0};
    if (below(8) > 0 && (rows || lines)) {
        new = change_lines(m->content, lines, arena);
    } else if (below(8) > 0 && etp_str_ends(m->name, ETP_STR(".json"))) {
        new = change_json(m->content, arena);
    }
    m->content = new.len ? new : change_bytes(m->content, arena);
}

static size_t join(const member *members, size_t n, uint8_t *data, size_t max)
{
    size_t at = 1;
    for (size_t i = 0; i < n; i++) {
        const member *m = &members[i];
        if (m->name.len > 255 || m->content.len > UINT32_MAX ||
            max - at < 5 + m->name.len + m->content.len) {
            continue;
        }
        uint32_t len = (uint32_t)m->content.len;
        data[at] = (uint8_t)m->name.len;
        memcpy(data + at + 1, m->name.ptr, m->name.len);
        for (size_t k = 0; k < 4; k++) {
            data[at + 1 + m->name.len + k] = (uint8_t)(len >> (8 * k));
        }
        if (len) {
            memcpy(data + at + 5 + m->name.len, m->content.ptr, len);
        }
        at += 5 + m->name.len + len;
    }
    return at;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
    member members[MAX_MEMBERS];
    etp_arena arena = {0};
    g_random = seed;
    uint8_t *copy = etp_arena_alloc_raw(&arena, size + 1, 1);
    if (!copy || size == 0 || max < 2) {
        etp_arena_dispose(&arena);
        return LLVMFuzzerMutate(data, size, max);
    }
    memcpy(copy, data, size);
    size_t n = split(copy, size, members);
    for (size_t times = 1 + below(3); n > 0 && times > 0; times--) {
        size_t front = n < 3 ? n : 3; // where the documents lie
        size_t at = below(below(2) ? front : n);
        size_t what = below(24);
        if (what == 0 && n > 1) {
            members[at] = members[--n];
        } else if (what == 1 && n < MAX_MEMBERS) {
            members[n] = (member){members[below(n)].name, members[at].content};
            n++;
        } else {
            change_member(&members[at], &arena);
        }
    }
    data[0] = below(3) ? (uint8_t)below(FUZZ_VERBS) : data[0];
    size = n > 0 ? join(members, n, data, max) : LLVMFuzzerMutate(data, size, max);
    etp_arena_dispose(&arena);
    return size;
}
#endif
