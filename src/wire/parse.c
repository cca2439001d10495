// SPDX-License-Identifier: Apache-2.0
// Reads protocol lines and commands. The other side may be broken, foreign or
// hostile: nothing is trusted, nothing is allocated, every text has a bound.
#include "wire/wire.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

// Deeper than any message of ours. Members that a later version added are skipped by recursion, and
// how deep that goes must not be the other side's to say.
#define MAX_DEPTH 8

typedef struct in {
    const char *text;
    size_t len, at;
    char *why;
    size_t why_cap;
} in;

etp_wire_code etp_wire_code_find(const char *word)
{
    static const char *const k_words[ETP_WIRE_CODES] = {
        NULL,    "usage",  "mask", "level",   "file", "not_pte", "data",  "method",
        "input", "memory", "load", "execute", "io",   "kind",    "crash", "roof"};
    for (int i = ETP_WIRE_CODE_OTHER + 1; i < ETP_WIRE_CODES; i++) {
        if (strcmp(word, k_words[i]) == 0) {
            return (etp_wire_code)i;
        }
    }
    return ETP_WIRE_CODE_OTHER;
}

static const char *const k_parts[ETP_LOAD_WHATS] = {
#define WORD(name, word, title, what) word,
    ETP_LOAD_PARTS(WORD)
#undef WORD
};

const char *etp_wire_part_word(etp_load_what what)
{
    return k_parts[what];
}

etp_load_what etp_wire_part_find(const char *word)
{
    etp_load_what what = 0;
    while (what < ETP_LOAD_WHATS && strcmp(word, k_parts[what]) != 0) {
        what++;
    }
    return what;
}

// Always false, so that callers return it.
static bool bad(in *s, const char *what)
{
    if (s->why_cap > 0) {
        (void)snprintf(s->why, s->why_cap, "byte %zu: %s", s->at, what);
    }
    return false;
}

static int peek(const in *s)
{
    return s->at < s->len ? (unsigned char)s->text[s->at] : -1;
}

static void blanks(in *s)
{
    while (peek(s) == ' ' || peek(s) == '\t') {
        s->at++;
    }
}

static bool eat(in *s, char c, const char *what)
{
    blanks(s);
    if (peek(s) != c) {
        return bad(s, what);
    }
    s->at++;
    return true;
}

// ---- strings ----

typedef struct text {
    char *buf; // NULL: the string is only skipped
    size_t cap, len;
} text;

static bool add(in *s, text *t, const char *bytes, size_t n)
{
    if (t->buf == NULL) {
        return true;
    }
    if (n >= t->cap - t->len) {
        return bad(s, "string too long");
    }
    memcpy(t->buf + t->len, bytes, n);
    t->len += n;
    t->buf[t->len] = '\0';
    return true;
}

static bool hex4(in *s, uint32_t *value)
{
    *value = 0;
    for (int i = 0; i < 4; i++, s->at++) {
        int c = peek(s);
        uint32_t digit;
        if (c >= '0' && c <= '9') {
            digit = (uint32_t)(c - '0');
        } else if (c >= 'a' && c <= 'f') {
            digit = (uint32_t)(c - 'a' + 10);
        } else if (c >= 'A' && c <= 'F') {
            digit = (uint32_t)(c - 'A' + 10);
        } else {
            return bad(s, "bad \\u escape");
        }
        *value = *value << 4 | digit;
    }
    return true;
}

// A runner in another language may escape what it likes. Half of a surrogate pair has no character
// and would make text that is no UTF-8; NUL would end a text of C in its middle, where a longer one
// may be compared or shown as if it were the shorter.
static bool unicode_escape(in *s, text *t)
{
    uint32_t v, low;
    if (!hex4(s, &v)) {
        return false;
    }
    if (v >= 0xd800 && v <= 0xdbff) {
        if (s->len - s->at < 6 || s->text[s->at] != '\\' || s->text[s->at + 1] != 'u') {
            return bad(s, "half a surrogate pair");
        }
        s->at += 2;
        if (!hex4(s, &low)) {
            return false;
        }
        if (low < 0xdc00 || low > 0xdfff) {
            return bad(s, "half a surrogate pair");
        }
        v = 0x10000 + ((v - 0xd800) << 10) + (low - 0xdc00);
    } else if (v >= 0xdc00 && v <= 0xdfff) {
        return bad(s, "half a surrogate pair");
    }
    if (v == 0) {
        return bad(s, "NUL in a string");
    }
    char b[4];
    size_t n;
    if (v < 0x80) {
        b[0] = (char)v;
        n = 1;
    } else if (v < 0x800) {
        b[0] = (char)(0xc0 | v >> 6);
        b[1] = (char)(0x80 | (v & 0x3f));
        n = 2;
    } else if (v < 0x10000) {
        b[0] = (char)(0xe0 | v >> 12);
        b[1] = (char)(0x80 | (v >> 6 & 0x3f));
        b[2] = (char)(0x80 | (v & 0x3f));
        n = 3;
    } else {
        b[0] = (char)(0xf0 | v >> 18);
        b[1] = (char)(0x80 | (v >> 12 & 0x3f));
        b[2] = (char)(0x80 | (v >> 6 & 0x3f));
        b[3] = (char)(0x80 | (v & 0x3f));
        n = 4;
    }
    return add(s, t, b, n);
}

static bool escape(in *s, text *t)
{
    static const char k_from[] = "\"\\/bfnrt", k_to[] = "\"\\/\b\f\n\r\t";
    int c = peek(s);
    s->at++;
    if (c == 'u') {
        return unicode_escape(s, t);
    }
    const char *hit = c > 0 ? strchr(k_from, c) : NULL;
    if (hit == NULL) {
        s->at--;
        return bad(s, "bad escape");
    }
    return add(s, t, &k_to[hit - k_from], 1);
}

// At the opening quote. A NULL buffer skips the string.
static bool string(in *s, char *buf, size_t cap)
{
    text t = {.buf = buf, .cap = cap};
    if (buf != NULL) {
        buf[0] = '\0';
    }
    if (!eat(s, '"', "expected a string")) {
        return false;
    }
    for (;;) {
        int c = peek(s);
        if (c < 0) {
            return bad(s, "string without end");
        }
        if (c == '"') {
            s->at++;
            return true;
        }
        if (c < 0x20) {
            return bad(s, "control character in a string");
        }
        if (c == '\\') {
            s->at++;
            if (!escape(s, &t)) {
                return false;
            }
            continue;
        }
        bool valid;
        size_t n = etp_utf8_next((etp_str){s->text + s->at, s->len - s->at}, &valid);
        if (!valid) {
            return bad(s, "not UTF-8");
        }
        if (!add(s, &t, s->text + s->at, n)) {
            return false;
        }
        s->at += n;
    }
}

// ---- numbers and values of keys we do not know ----

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static bool u64(in *s, uint64_t *value)
{
    blanks(s);
    if (!is_digit(peek(s))) {
        return bad(s, "expected a non-negative integer");
    }
    size_t start = s->at;
    uint64_t v = 0;
    for (; is_digit(peek(s)); s->at++) {
        uint64_t digit = (uint64_t)(peek(s) - '0');
        if (v > (UINT64_MAX - digit) / 10) {
            return bad(s, "integer too large");
        }
        v = v * 10 + digit;
    }
    if (s->at - start > 1 && s->text[start] == '0') {
        return bad(s, "integer with a leading zero");
    }
    if (peek(s) == '.' || peek(s) == 'e' || peek(s) == 'E') {
        return bad(s, "expected a non-negative integer");
    }
    *value = v;
    return true;
}

static bool digits(in *s)
{
    if (!is_digit(peek(s))) {
        return bad(s, "bad number");
    }
    while (is_digit(peek(s))) {
        s->at++;
    }
    return true;
}

static bool skip_number(in *s)
{
    if (peek(s) == '-') {
        s->at++;
    }
    if (peek(s) == '0') {
        s->at++;
    } else if (!digits(s)) {
        return false;
    }
    if (peek(s) == '.') {
        s->at++;
        if (!digits(s)) {
            return false;
        }
    }
    if (peek(s) == 'e' || peek(s) == 'E') {
        s->at++;
        if (peek(s) == '+' || peek(s) == '-') {
            s->at++;
        }
        return digits(s);
    }
    return true;
}

static bool skip_word(in *s)
{
    static const char *const k_words[] = {"true", "false", "null"};
    for (size_t i = 0; i < 3; i++) {
        size_t n = strlen(k_words[i]);
        if (s->len - s->at >= n && memcmp(s->text + s->at, k_words[i], n) == 0) {
            s->at += n;
            return true;
        }
    }
    return bad(s, "expected a value");
}

static bool skip_value(in *s, unsigned depth);

static bool skip_list(in *s, unsigned depth, char close, bool keys)
{
    s->at++;
    blanks(s);
    if (peek(s) == close) {
        s->at++;
        return true;
    }
    for (;;) {
        if (keys && !(string(s, NULL, 0) && eat(s, ':', "expected ':'"))) {
            return false;
        }
        if (!skip_value(s, depth)) {
            return false;
        }
        blanks(s);
        if (peek(s) == close) {
            s->at++;
            return true;
        }
        if (!eat(s, ',', "expected ',' or the end of a list")) {
            return false;
        }
    }
}

static bool skip_value(in *s, unsigned depth)
{
    blanks(s);
    int c = peek(s);
    if (c == '{' || c == '[') {
        if (depth >= MAX_DEPTH) {
            return bad(s, "nested too deeply");
        }
        return skip_list(s, depth + 1, c == '{' ? '}' : ']', c == '{');
    }
    if (c == '"') {
        return string(s, NULL, 0);
    }
    if (c == '-' || is_digit(c)) {
        return skip_number(s);
    }
    return skip_word(s);
}

// ---- objects with known keys ----

typedef struct field {
    const char *name;
    char *text; // a string of at most cap - 1 bytes ...
    size_t cap;
    uint64_t *number;           // ... or an integer ...
    etp_wire_truth *truth;      // ... or true, false, null ...
    etp_wire_selftest *levels;  // ... or the self-test's list ...
    const struct field *object; // ... or an object with these keys
    size_t object_count;
    bool required;
} field;

#define MAX_FIELDS 16

static bool value_of(in *s, const field *f, unsigned depth);

static bool object(in *s, const field *fields, size_t count, unsigned depth)
{
    bool seen[MAX_FIELDS] = {false};
    if (!eat(s, '{', "expected an object")) {
        return false;
    }
    blanks(s);
    bool more = peek(s) != '}';
    while (more) {
        char name[ETP_WIRE_WORD_MAX + 1];
        size_t start = s->at;
        size_t k = count;
        if (!string(s, name, sizeof name)) {
            // A key too long for the buffer is no key of ours.
            s->at = start;
            name[0] = '\0';
            if (!string(s, NULL, 0)) {
                return false;
            }
        }
        for (k = 0; k < count && strcmp(fields[k].name, name) != 0; k++) {
        }
        if (!eat(s, ':', "expected ':'")) {
            return false;
        }
        if (k < count && seen[k]) {
            return bad(s, "key given twice");
        }
        if (k < count ? !value_of(s, &fields[k], depth) : !skip_value(s, depth)) {
            return false;
        }
        if (k < count) {
            seen[k] = true;
        }
        blanks(s);
        more = peek(s) == ',';
        if (more) {
            s->at++;
            blanks(s);
        }
    }
    if (!eat(s, '}', "expected ',' or '}'")) {
        return false;
    }
    for (size_t k = 0; k < count; k++) {
        if (fields[k].required && !seen[k]) {
            char what[ETP_WIRE_WORD_MAX + 32];
            (void)snprintf(what, sizeof what, "no key \"%s\"", fields[k].name);
            return bad(s, what);
        }
    }
    return true;
}

#define TEXT(NAME, FIELD, REQUIRED) \
    {.name = NAME, .text = (FIELD), .cap = sizeof(FIELD), .required = (REQUIRED)}
#define NUMBER(NAME, FIELD, REQUIRED) {.name = NAME, .number = &(FIELD), .required = (REQUIRED)}
#define COUNT(ARRAY) (sizeof(ARRAY) / sizeof(ARRAY)[0])
#define OBJECT(NAME, FIELDS) {.name = NAME, .object = (FIELDS), .object_count = COUNT(FIELDS)}

static bool truth(in *s, etp_wire_truth *value)
{
    blanks(s);
    *value = peek(s) == 'f' ? ETP_WIRE_FALSE : ETP_WIRE_NULL;
    *value = peek(s) == 't' ? ETP_WIRE_TRUE : *value;
    return skip_word(s);
}

static bool level_list(in *s, etp_wire_selftest *t, unsigned depth)
{
    if (!eat(s, '[', "expected a list")) {
        return false;
    }
    blanks(s);
    if (peek(s) == ']') {
        s->at++;
        return true;
    }
    do {
        if (t->count == ETP_WIRE_LEVELS_MAX) {
            return bad(s, "too many levels");
        }
        etp_wire_level *l = &t->levels[t->count++];
        const field f[] = {
            TEXT("level", l->level, true),    {.name = "ok", .truth = &l->ok, .required = true},
            TEXT("linear", l->linear, false), TEXT("conv", l->conv, false),
            TEXT("types", l->types, false),   TEXT("why", l->why, false)
        };
        if (!object(s, f, COUNT(f), depth + 1)) {
            return false;
        }
        blanks(s);
    } while (peek(s) == ',' && s->at++ < s->len);
    return eat(s, ']', "expected ',' or ']'");
}

static bool value_of(in *s, const field *f, unsigned depth)
{
    if (f->text != NULL) {
        return string(s, f->text, f->cap);
    }
    if (f->number != NULL) {
        return u64(s, f->number);
    }
    if (f->truth != NULL) {
        return truth(s, f->truth);
    }
    if (f->levels != NULL) {
        return level_list(s, f->levels, depth + 1);
    }
    return object(s, f->object, f->object_count, depth + 1);
}

static bool hello_fields(in *s, etp_wire_hello *h)
{
    const field mask[] = {
        TEXT("requested", h->mask.requested, false), TEXT("hook", h->mask.hook, false),
        TEXT("cleared", h->mask.cleared, false), NUMBER("calls", h->mask.calls, false),
        TEXT("caller", h->mask.caller, false)};
    const field counters[] = {
        TEXT("events", h->counters.events, false), TEXT("cache", h->counters.cache, false),
        TEXT("why", h->counters.why, false), TEXT("fix", h->counters.fix, false)};
    const field f[] = {
        NUMBER("protocol", h->protocol, true),
        NUMBER("pid", h->pid, false),
        TEXT("nonce", h->nonce, false),
        TEXT("executorch", h->executorch, false),
        TEXT("kind", h->kind, false),
        NUMBER("threads", h->threads, false),
        OBJECT("mask", mask),
        TEXT("cpu", h->cpu, false),
        TEXT("flags", h->flags, false),
        NUMBER("memory", h->memory, false),
        NUMBER("ledger", h->ledger, false),
        NUMBER("stages", h->stages, false),
        OBJECT("counters", counters),
    };
    return object(s, f, COUNT(f), 0);
}

static bool done_fields(in *s, etp_wire_done *d)
{
#define ROW(member, title, what) NUMBER(#member, rows->member, false),
#define NUMBERED(member, when) AT_##member,
#define STAGE(member, when) [AT_##member] = &d->stages.member,
#define FIELD(member, when) OBJECT("memory_" #member, memory[AT_##member]),
    enum { ROWS = sizeof(etp_memory_rows) / sizeof(uint64_t) };
    enum { AT_steady, ETP_MEMORY_STAGES(NUMBERED) STAGES };
    etp_memory_stage steady = {.peak_bytes = 0};
    etp_memory_stage *const stages[STAGES] = {&steady, ETP_MEMORY_STAGES(STAGE)};
    field memory[STAGES][ROWS + 1];
    for (size_t i = 0; i < STAGES; i++) {
        etp_memory_rows *rows = &stages[i]->rows;
        const field of[] = {ETP_MEMORY_ROWS(ROW, ROW)
                                NUMBER("peak_bytes", stages[i]->peak_bytes, false)};
        memcpy(memory[i], of, sizeof of);
    }
    const field f[] = {TEXT("cmd", d->cmd, false),
                       NUMBER("n", d->n, true),
                       NUMBER("bytes", d->bytes, false),
                       NUMBER("peak_rss_bytes", d->peak_rss_bytes, false),
                       NUMBER("hook_calls", d->hook_calls, false),
                       NUMBER("hook_call_ps", d->hook_call_ps, false),
                       NUMBER("span_ns", d->span_ns, false),
                       NUMBER("wait_ns", d->wait_ns, false),
                       NUMBER("dirty_bytes", d->dirty_bytes, false),
                       NUMBER("clean_bytes", d->clean_bytes, false),
                       OBJECT("memory", memory[AT_steady]),
                       ETP_MEMORY_STAGES(FIELD)};
#undef ROW
#undef NUMBERED
#undef STAGE
#undef FIELD
    const bool good = object(s, f, COUNT(f), 0);
    d->memory = steady.rows;
    return good;
}

static bool part_fields(in *s, etp_wire_part *t)
{
    const field f[] = {TEXT("what", t->what, true),
                       NUMBER("delegate", t->delegate, false),
                       NUMBER("operation", t->operation, false),
                       NUMBER("bytes", t->bytes, false),
                       NUMBER("ns", t->ns, true),
                       NUMBER("faults", t->faults, false),
                       NUMBER("workspace", t->workspace, false)};
    return object(s, f, COUNT(f), 0);
}

static bool fields_of(in *s, etp_wire_msg *m)
{
    switch (m->type) {
    case ETP_WIRE_HELLO:
        return hello_fields(s, &m->u.hello);
    case ETP_WIRE_LOAD: {
        etp_wire_load *l = &m->u.load;
        const field f[] = {NUMBER("ns", l->ns, true),
                           NUMBER("rss_bytes", l->rss_bytes, false),
                           NUMBER("hook_calls", l->hook_calls, false),
                           NUMBER("epoch_ns", l->epoch_ns, false),
                           NUMBER("cached_bytes", l->cached_bytes, false),
                           TEXT("method", l->method, false),
                           NUMBER("inputs", l->inputs, false),
                           NUMBER("outputs", l->outputs, false),
                           TEXT("kernels_ours", l->kernels_ours, false),
                           TEXT("kernels_theirs", l->kernels_theirs, false)};
        return object(s, f, COUNT(f), 0);
    }
    case ETP_WIRE_ITER: {
        etp_wire_iter *i = &m->u.iter;
        etp_wire_counts *c = &i->counts;
        const field f[] = {NUMBER("i", i->i, true),
                           NUMBER("start_ns", i->start_ns, true),
                           NUMBER("ns", i->ns, true),
                           NUMBER("cpu_ns", c->cpu_ns, false),
                           NUMBER("cycles", c->cycles, false),
                           NUMBER("instructions", c->instructions, false),
                           NUMBER("cache_misses", c->cache_misses, false),
                           NUMBER("task_clock_ns", c->task_clock_ns, false),
                           NUMBER("faults", c->faults, false),
                           NUMBER("scaled", c->scaled, false)};
        return object(s, f, COUNT(f), 0);
    }
    case ETP_WIRE_DONE:
        return done_fields(s, &m->u.done);
    case ETP_WIRE_ERROR: {
        etp_wire_error *e = &m->u.error;
        const field f[] = {TEXT("code", e->code, true), TEXT("message", e->message, true)};
        return object(s, f, COUNT(f), 0);
    }
    case ETP_WIRE_SELFTEST: {
        const field f[] = {
            {.name = "levels", .levels = &m->u.selftest, .required = true}
        };
        return object(s, f, COUNT(f), 0);
    }
    case ETP_WIRE_ROOF: {
        etp_wire_roof *r = &m->u.roof;
        const field f[] = {TEXT("isa", r->isa, false),        TEXT("what", r->what, true),
                           TEXT("unit", r->unit, true),       NUMBER("threads", r->threads, true),
                           NUMBER("bytes", r->bytes, false),  NUMBER("best", r->best, true),
                           NUMBER("median", r->median, true), NUMBER("again", r->again, false)};
        return object(s, f, COUNT(f), 0);
    }
    case ETP_WIRE_PART:
        return part_fields(s, &m->u.part);
    case ETP_WIRE_UNKNOWN:
        break;
    }
    return true; // the first pass has already walked the whole line
}

static etp_wire_type type_of(const char *word)
{
    static const struct {
        const char *word;
        etp_wire_type type;
    } k_types[] = {
        {"hello",    ETP_WIRE_HELLO   },
        {"load",     ETP_WIRE_LOAD    },
        {"iter",     ETP_WIRE_ITER    },
        {"done",     ETP_WIRE_DONE    },
        {"error",    ETP_WIRE_ERROR   },
        {"selftest", ETP_WIRE_SELFTEST},
        {"roof",     ETP_WIRE_ROOF    },
        {"part",     ETP_WIRE_PART    }
    };
    for (size_t i = 0; i < COUNT(k_types); i++) {
        if (strcmp(k_types[i].word, word) == 0) {
            return k_types[i].type;
        }
    }
    return ETP_WIRE_UNKNOWN;
}

static bool line_length(in *s)
{
    if (s->len > ETP_WIRE_LINE_MAX) {
        return bad(s, "line too long");
    }
    if (s->len > 0 && s->text[s->len - 1] == '\n') {
        s->len--;
    }
    if (s->len > 0 && s->text[s->len - 1] == '\r') {
        s->len--;
    }
    return true;
}

bool etp_wire_parse(const char *line, size_t len, etp_wire_msg *out, char *why, size_t why_cap)
{
    in s = {.text = line, .len = len, .why = why, .why_cap = why_cap};
    memset(out, 0, sizeof *out);
    // Two passes, because "type" may stand anywhere: the first finds it and
    // checks that the line is one object and nothing else.
    char type[ETP_WIRE_WORD_MAX + 1] = "";
    const field first[] = {TEXT("type", type, true)};
    bool ok = line_length(&s) && object(&s, first, 1, 0);
    if (ok) {
        blanks(&s);
        ok = s.at == s.len || bad(&s, "something after the object");
    }
    if (ok) {
        memcpy(out->word, type, sizeof type);
        out->type = type_of(type);
        s.at = 0;
        ok = fields_of(&s, out);
    }
    if (!ok) {
        memset(out, 0, sizeof *out);
    }
    return ok;
}

// ---- commands ----

static bool verb(in *s, const char *word)
{
    size_t n = strlen(word);
    if (s->len < n || memcmp(s->text, word, n) != 0 || (s->len > n && s->text[n] != ' ')) {
        return false;
    }
    s->at = n;
    blanks(s);
    return true;
}

bool etp_wire_cmd_parse(const char *line, size_t len, etp_wire_cmd *out, char *why, size_t why_cap)
{
    in s = {.text = line, .len = len, .why = why, .why_cap = why_cap};
    out->verb = ETP_WIRE_VERB_NONE;
    out->n = 0;
    out->path[0] = '\0';
    if (!line_length(&s)) {
        return false;
    }
    if (s.len == 0) {
        return true;
    }
    if (memchr(line, '\0', s.len) != NULL) {
        return bad(&s, "NUL in a command");
    }
    if (verb(&s, "quit")) {
        out->verb = ETP_WIRE_QUIT;
        return s.at == s.len || bad(&s, "quit takes nothing");
    }
    if (verb(&s, "memory")) {
        out->verb = ETP_WIRE_MEMORY;
        return s.at == s.len || bad(&s, "memory takes nothing");
    }
    if (verb(&s, "ledger")) {
        out->verb = ETP_WIRE_LEDGER;
        return s.at == s.len || bad(&s, "ledger takes nothing");
    }
    if (verb(&s, "run")) {
        out->verb = ETP_WIRE_RUN;
        return u64(&s, &out->n) && (s.at == s.len || bad(&s, "run takes one number")) &&
               ((out->n >= 1 && out->n <= ETP_WIRE_RUN_MAX) || bad(&s, "run takes 1 to 1000000"));
    }
    static const struct {
        const char *word;
        etp_wire_verb verb;
    } k_paths[] = {
        {"dump",    ETP_WIRE_DUMP   },
        {"outputs", ETP_WIRE_OUTPUTS},
        {"samples", ETP_WIRE_SAMPLES}
    };
    for (size_t i = 0; i < COUNT(k_paths); i++) {
        if (!verb(&s, k_paths[i].word)) {
            continue;
        }
        if (s.at == s.len) {
            return bad(&s, "expected a path");
        }
        out->verb = k_paths[i].verb;
        memcpy(out->path, line + s.at, s.len - s.at); // shorter than a line, hence than path
        out->path[s.len - s.at] = '\0';
        return true;
    }
    return bad(&s, "unknown command; there are run N, dump FILE, outputs DIR, samples FILE, "
                   "memory, ledger, quit");
}
