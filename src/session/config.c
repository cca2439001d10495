// SPDX-License-Identifier: Apache-2.0
// Reading the JSON of `etprof run`: every mistake is told with its place, nothing is ignored.
#include "session/config.h"

#include <string.h>

#include "base/json_read.h"
#include "base/number.h"
#include "base/suggest.h"
#include "device/clusters.h"
#include "isa/isa.h"
#include "os/os.h"

#define MAX_BYTES (1u << 20)

#define NAME_1(name) name,
#define NAME_0(name)
static const char *const k_top_keys[] = {"$schema",  "model",    "output_root", "experiments",
                                         "analysis", "fallback", "description",
#define OPTION(where, field, type, key, limit, ab, run, resume, config, name, ...) \
    NAME_##config(name)
#include "store/options.def"
                                         NULL};
static const char *const k_experiment_keys[] = {
    "name",        "level",      "runner_path",  "quiet_runner", "mode",
    "runs",        "num_runs",   "iterations",   "warmup",       "threads",
    "num_threads", "extra_args", "cpu_affinity", "description",  NULL};
static const char *const k_analysis_keys[] = {"compare_pairs", NULL};
static const char *const k_pair_keys[] = {"baseline", "candidate", "label", NULL};
static const char *const k_side_keys[] = {"experiment", "threads", NULL};
static const char *const k_fallback_keys[] = {"model", "output_root", NULL};

typedef struct reader {
    etp_str text;
    etp_arena *arena;
    etp_error *err;
} reader;

// A value with its place and the path to it, so that whoever finds something wrong can say where.
typedef struct node {
    json_t *value;     // NULL: not there
    size_t at;         // its byte position
    const char *where; // "experiments[0].runs"
} node;

// ---- positions; the text has passed a JSON parser by then ----

// jansson does not tell where a value stood, and an error without its place sends people through a
// whole file. So the text is walked once more. It is sound JSON by then, and commas and colons can
// be passed over like blanks.
static size_t skip_blank(etp_str t, size_t i)
{
    while (i < t.len && strchr(" \t\r\n,:", t.ptr[i])) {
        i++;
    }
    return i;
}

static size_t skip_string(etp_str t, size_t i)
{
    // A character behind a backslash ends no text.
    for (i++; i < t.len && t.ptr[i] != '"'; i++) {
        i += t.ptr[i] == '\\';
    }
    return i + 1;
}

// The end of the value that begins at I: a text, a nest of braces and brackets, or a word up to
// what ends it.
static size_t skip_value(etp_str t, size_t i)
{
    if (i < t.len && t.ptr[i] == '"') {
        return skip_string(t, i);
    }
    int depth = 0;
    while (i < t.len) {
        char c = t.ptr[i];
        if (c == '"') {
            i = skip_string(t, i);
            continue;
        }
        if (c == '{' || c == '[') {
            depth++;
        } else if (c == '}' || c == ']') {
            if (depth == 0) {
                return i;
            }
            if (--depth == 0) {
                return i + 1;
            }
        } else if (depth == 0 && strchr(" \t\r\n,", c)) {
            return i;
        }
        i++;
    }
    return i;
}

// Position of KEY itself in the object that begins at AT, else AT.
static size_t key_at(etp_str t, size_t at, const char *key)
{
    size_t len = strlen(key);
    for (size_t i = skip_blank(t, at + 1); i < t.len && t.ptr[i] == '"';) {
        size_t end = skip_string(t, i);
        if (end - i == len + 2 && memcmp(t.ptr + i + 1, key, len) == 0) {
            return i;
        }
        i = skip_blank(t, skip_value(t, skip_blank(t, end)));
    }
    return at;
}

// Where item INDEX of the list at AT begins.
static size_t item_at(etp_str t, size_t at, size_t index)
{
    size_t i = skip_blank(t, at + 1);
    while (index-- > 0) {
        i = skip_blank(t, skip_value(t, i));
    }
    return i;
}

// ---- members ----

static node member(reader *r, node object, const char *key)
{
    node n = {json_object_get(object.value, key), object.at, key};
    if (n.value) {
        size_t k = key_at(r->text, object.at, key);
        // From the key to its value: behind the key, its colon and the blanks.
        n.at = k == object.at ? k : skip_blank(r->text, skip_string(r->text, k));
        const char *where =
            object.where[0] ? etp_arena_printf(r->arena, "%s.%s", object.where, key) : key;
        n.where = where ? where : key;
    }
    return n;
}

static node element(reader *r, node array, size_t i)
{
    const char *where = etp_arena_printf(r->arena, "%s[%zu]", array.where, i);
    return (node){json_array_get(array.value, i), item_at(r->text, array.at, i),
                  where ? where : array.where};
}

static etp_status wrong(reader *r, node n, const char *expected)
{
    const char *where = n.where[0] ? n.where : "the config";
    return etp_fail_at(r->err, ETP_CORRUPT, n.at, "%s is not %s", where, expected);
}

static bool listed(const char *const *keys, const char *key)
{
    for (; *keys; keys++) {
        if (strcmp(*keys, key) == 0) {
            return true;
        }
    }
    return false;
}

// Where a key that is known elsewhere belongs, or NULL.
static const char *home_of(const char *key)
{
    static const struct {
        const char *const *keys;
        const char *place;
    } k_homes[] = {
        {k_top_keys,        "at the top level"                     },
        {k_experiment_keys, "in an entry of experiments"           },
        {k_analysis_keys,   "in analysis"                          },
        {k_pair_keys,       "in an entry of analysis.compare_pairs"}
    };
    for (size_t i = 0; i < sizeof k_homes / sizeof *k_homes; i++) {
        if (listed(k_homes[i].keys, key)) {
            return k_homes[i].place;
        }
    }
    return NULL;
}

static etp_status check_object(reader *r, node object, const char *const *keys)
{
    if (!json_is_object(object.value)) {
        return wrong(r, object, "an object");
    }
    // A key that nobody knows is an error: one that is mistyped would otherwise silently leave its
    // default in force.
    void *it = json_object_iter(object.value);
    for (; it; it = json_object_iter_next(object.value, it)) {
        const char *key = json_object_iter_key(it);
        if (listed(keys, key)) {
            continue;
        }
        size_t at = key_at(r->text, object.at, key);
        const char *in = object.where[0] ? object.where : "the config";
        // A slip of the finger first; then a key that exists, in another place; then the page that
        // lists them all.
        const char *near = etp_suggest(key, keys);
        const char *home = home_of(key);
        if (near) {
            return etp_fail_at(r->err, ETP_CORRUPT, at,
                               "%s has no key \"%.60s\"; did you mean \"%s\"?", in, key, near);
        }
        if (home) {
            return etp_fail_at(r->err, ETP_CORRUPT, at, "\"%s\" does not belong in %s but %s", key,
                               in, home);
        }
        return etp_fail_at(r->err, ETP_CORRUPT, at, "%s has no key \"%.60s\" (see docs/measure.md)",
                           in, key);
    }
    return ETP_OK;
}

// What templates leave to be filled in.
static bool is_placeholder(const char *s)
{
    const char *open = strchr(s, '<');
    return strstr(s, "REPLACE_") || (open && strchr(open, '>'));
}

static etp_status get_text(reader *r, node object, const char *key, const char **out)
{
    node n = member(r, object, key);
    if (!n.value) {
        return ETP_OK;
    }
    const char *s = json_string_value(n.value);
    // A text with a zero byte in it would be cut short by everybody who uses it.
    if (!s || !s[0] || strlen(s) != json_string_length(n.value)) {
        return wrong(r, n, "a text");
    }
    if (is_placeholder(s)) {
        return etp_fail_at(r->err, ETP_CORRUPT, n.at,
                           "%s still holds the placeholder \"%.80s\": put the real one in, or let "
                           "'etprof run --init MODEL.pte' write the config",
                           n.where, s);
    }
    *out = etp_arena_strdup(r->arena, etp_str_from(s));
    return etp_arena_check(r->arena, r->err, "the config"); // NULL: it is not given
}

static etp_status get_count(reader *r, node n, uint64_t least, uint64_t most, uint64_t *out)
{
    json_int_t v = json_is_integer(n.value) ? json_integer_value(n.value) : -1;
    if (v < 0 || (uint64_t)v < least || (uint64_t)v > most) {
        return etp_fail_at(r->err, ETP_CORRUPT, n.at, "%s is not a whole number from %llu to %llu",
                           n.where, (unsigned long long)least, (unsigned long long)most);
    }
    *out = (uint64_t)v;
    return ETP_OK;
}

// The kit's documents and its scripts have different words for one key. Both may stand there when
// they agree.
static etp_status both_given(reader *r, node a, node b)
{
    if (a.value && b.value && !json_equal(a.value, b.value)) {
        return etp_fail_at(r->err, ETP_CORRUPT, b.at, "%s and %s contradict each other; keep one",
                           a.where, b.where);
    }
    return ETP_OK;
}

// The value under either of its two names; a node without a value when neither is there.
static etp_status get_alias(reader *r, node object, const char *key, const char *alias, node *out)
{
    node a = member(r, object, key), b = member(r, object, alias);
    ETP_TRY(both_given(r, a, b));
    *out = a.value ? a : b;
    return ETP_OK;
}

static etp_status get_threads(reader *r, node n, etp_config_experiment *out)
{
    // One number is a list of one, and an absent key is one thread.
    size_t count = json_is_array(n.value) ? json_array_size(n.value) : 1;
    if (count == 0 || count > ETP_CONFIG_THREADS) {
        return wrong(r, n, "a list of 1 to 16 thread counts");
    }
    uint32_t *threads = ETP_NEW_ARRAY(r->arena, uint32_t, count);
    ETP_NEED(threads, r->err, "the config");
    for (size_t i = 0; i < count; i++) {
        uint64_t v = 1;
        node item = json_is_array(n.value) ? element(r, n, i) : n;
        if (n.value) {
            ETP_TRY(get_count(r, item, 1, 1024, &v));
        }
        for (size_t k = 0; k < i; k++) {
            if (threads[k] == v) {
                return etp_fail_at(r->err, ETP_CORRUPT, item.at, "%s repeats %llu", item.where,
                                   (unsigned long long)v);
            }
        }
        threads[i] = (uint32_t)v;
    }
    out->threads = threads;
    out->n_threads = count;
    return ETP_OK;
}

// ---- experiments ----

static bool has_token(const char *name, const char *token)
{
    size_t len = strlen(token);
    for (const char *at = strstr(name, token); at; at = strstr(at + 1, token)) {
        // A whole part of the name, between its underscores or hyphens: "on" is in "sme2_on" and
        // not in "convolution".
        bool begins = at == name || at[-1] == '_' || at[-1] == '-';
        bool ends = at[len] == 0 || at[len] == '_' || at[len] == '-';
        if (begins && ends) {
            return true;
        }
    }
    return false;
}

static etp_status level_of(reader *r, node object, etp_config_experiment *e)
{
    bool on = has_token(e->name, "on"), off = has_token(e->name, "off");
    if (e->level) {
        node n = member(r, object, "level");
        etp_level level = etp_level_find(ETP_ISA_NONE, e->level);
        if (level == ETP_LEVEL_NONE) {
            return etp_fail_at(r->err, ETP_CORRUPT, n.at,
                               "unknown level \"%.40s\"; 'etprof doctor levels' lists them",
                               e->level);
        }
        // A name that says the opposite of its level would stand in every table of the report.
        bool sme = level == ETP_LEVEL_SME2 || level == ETP_LEVEL_SME1;
        if (strstr(e->name, "sme2") && ((off && sme) || (on && !off && level == ETP_LEVEL_NEON))) {
            return etp_fail_at(r->err, ETP_CORRUPT, n.at,
                               "experiment \"%s\" contradicts its level \"%s\"; rename it or leave "
                               "the level out",
                               e->name, e->level);
        }
        return ETP_OK;
    }
    if (on && off) {
        return etp_fail_at(r->err, ETP_CORRUPT, object.at,
                           "\"%s\" is both on and off: add \"level\"", e->name);
    }
    e->role = off ? ETP_ROLE_OFF : ETP_ROLE_NONE;
    e->role = on ? ETP_ROLE_ON : e->role;
    for (int i = 1; i < ETP_LEVEL_COUNT && e->role == ETP_ROLE_NONE && !e->level; i++) {
        const char *name = etp_level_get((etp_level)i)->name;
        e->level = has_token(e->name, name) ? name : NULL;
    }
    if (e->role == ETP_ROLE_NONE && !e->level) {
        return etp_fail_at(
            r->err, ETP_CORRUPT, object.at,
            "experiment \"%s\" says no level: add \"level\" (see 'etprof doctor levels'), or end "
            "its name in _on (best level) or _off (plain SIMD)",
            e->name);
    }
    return ETP_OK;
}

static etp_status get_mode(reader *r, node object, etp_config_experiment *e)
{
    const char *mode = NULL;
    node n = member(r, object, "mode");
    ETP_TRY(get_text(r, object, "mode", &mode));
    if (mode && strcmp(mode, "timing") != 0 && strcmp(mode, "xnntrace") != 0) {
        return etp_fail_at(r->err, ETP_CORRUPT, n.at, "%s is \"%.40s\", not timing or xnntrace",
                           n.where, mode);
    }
    e->xnntrace = mode && strcmp(mode, "xnntrace") == 0;
    n = member(r, object, "extra_args");
    if (n.value && !json_is_array(n.value)) {
        return wrong(r, n, "a list");
    }
    if (n.value && json_array_size(n.value) > 0) {
        return etp_fail_at(r->err, ETP_CORRUPT, n.at,
                           "%s: arguments of another runner cannot be passed on; the keys method, "
                           "inputs and data at the top level do what they are for",
                           n.where);
    }
    return ETP_OK;
}

// The kit's taskset mask ("f0", "0xf0") or a list ("4-7", "2,3") to the runner's list; words are
// the device's to explain.
static etp_status get_cpus(reader *r, node object, etp_config_experiment *e)
{
    const char *text = NULL;
    node n = member(r, object, "cpu_affinity");
    ETP_TRY(get_text(r, object, "cpu_affinity", &text));
    bool word = text && etp_cpus_is_kind(text);
    if (!text || word || strpbrk(text, ",-")) {
        e->cpus = text;
        return ETP_OK;
    }
    uint64_t mask = 0;
    // taskset takes its mask in hexadecimal with and without 0x.
    bool has_0x = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    const char *hex = has_0x ? text : etp_arena_printf(r->arena, "0x%s", text);
    if (!hex || !etp_parse_u64(etp_str_from(hex), &mask) || mask == 0) {
        return wrong(r, n, "a hexadecimal mask (\"f0\") or a list of CPUs (\"4-7\")");
    }
    etp_strbuf buf;
    etp_strbuf_init(&buf, r->arena);
    for (unsigned i = 0; i < 64; i++) {
        if (mask >> i & 1) {
            etp_strbuf_printf(&buf, "%s%u", buf.len ? "," : "", i);
        }
    }
    e->cpus = buf.ptr;
    return etp_arena_check(r->arena, r->err, "the config");
}

static etp_status read_experiment(reader *r, node object, etp_config *out)
{
    etp_config_experiment e = {.at = object.at};
    ETP_TRY(check_object(r, object, k_experiment_keys));
    ETP_TRY(get_text(r, object, "name", &e.name));
    if (!e.name) {
        return etp_fail_at(r->err, ETP_CORRUPT, object.at, "%s has no name", object.where);
    }
    ETP_TRY(get_text(r, object, "level", &e.level));
    ETP_TRY(level_of(r, object, &e));
    ETP_TRY(get_mode(r, object, &e));
    ETP_TRY(get_cpus(r, object, &e));
    node n;
    ETP_TRY(get_alias(r, object, "runner_path", "quiet_runner", &n));
    // One of the two is there, or both with the same text: the second call then changes nothing.
    ETP_TRY(get_text(r, object, "quiet_runner", &e.runner_path));
    ETP_TRY(get_text(r, object, "runner_path", &e.runner_path));
    ETP_TRY(get_alias(r, object, "runs", "num_runs", &n));
    node typed = member(r, object, "iterations"); // the word of the command line
    ETP_TRY(both_given(r, n, typed));
    n = typed.value ? typed : n;
    e.runs = ETP_CONFIG_RUNS;
    if (n.value) {
        ETP_TRY(get_count(r, n, 1, 1000000, &e.runs));
    }
    // Zero is allowed here, and means what an absent key means: found out by the pilot.
    n = member(r, object, "warmup");
    if (n.value) {
        ETP_TRY(get_count(r, n, 0, 1000000, &e.warmup));
    }
    ETP_TRY(get_alias(r, object, "threads", "num_threads", &n));
    ETP_TRY(get_threads(r, n, &e));
    for (size_t i = 0; i < out->experiments.n; i++) {
        const etp_config_experiment *other = &out->experiments.items[i];
        // One name may stand twice, for timing and for the trace: both are of one arm (cmd_run.c).
        if (strcmp(other->name, e.name) == 0 && other->xnntrace == e.xnntrace) {
            return etp_fail_at(r->err, ETP_CORRUPT, object.at, "two experiments are called \"%s\"",
                               e.name);
        }
    }
    ETP_ADD(r->arena, &out->experiments, e);
    return etp_arena_check(r->arena, r->err, "the config");
}

// ---- comparisons ----

static etp_status read_side(reader *r, node pair, const char *key, const etp_config *config,
                            etp_config_side *out)
{
    node side = member(r, pair, key);
    if (!side.value) {
        return etp_fail_at(r->err, ETP_CORRUPT, pair.at, "%s has no %s", pair.where, key);
    }
    ETP_TRY(check_object(r, side, k_side_keys));
    ETP_TRY(get_text(r, side, "experiment", &out->experiment));
    const char *names[ETP_CONFIG_EXPERIMENTS + 1] = {0};
    const etp_config_experiment *found = NULL;
    for (size_t i = 0; i < config->experiments.n; i++) {
        const etp_config_experiment *e = &config->experiments.items[i];
        names[i] = e->name;
        found = out->experiment && strcmp(e->name, out->experiment) == 0 ? e : found;
    }
    if (!found) {
        const char *near = out->experiment ? etp_suggest(out->experiment, names) : NULL;
        return etp_fail_at(r->err, ETP_CORRUPT, side.at, "%s names no experiment%s%s%s", side.where,
                           near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
    }
    uint64_t threads = found->threads[0];
    node n = member(r, side, "threads");
    if (n.value) {
        ETP_TRY(get_count(r, n, 1, 1024, &threads));
    }
    for (size_t i = 0; i < found->n_threads; i++) {
        if (found->threads[i] == threads) {
            out->threads = (uint32_t)threads;
            return ETP_OK;
        }
    }
    return etp_fail_at(r->err, ETP_CORRUPT, n.at, "experiment \"%s\" is not run with %llu threads",
                       found->name, (unsigned long long)threads);
}

static etp_status read_pairs(reader *r, node root, etp_config *out)
{
    node analysis = member(r, root, "analysis");
    if (!analysis.value) {
        return ETP_OK;
    }
    ETP_TRY(check_object(r, analysis, k_analysis_keys));
    node pairs = member(r, analysis, "compare_pairs");
    if (pairs.value && !json_is_array(pairs.value)) {
        return wrong(r, pairs, "a list");
    }
    for (size_t i = 0; i < json_array_size(pairs.value); i++) {
        node pair = element(r, pairs, i);
        etp_config_pair p = {0};
        const char *label = NULL;
        ETP_TRY(check_object(r, pair, k_pair_keys));
        // A label is for people and not used; that it is a text without placeholders is still
        // checked.
        if (json_string_length(json_object_get(pair.value, "label")) > 0) {
            ETP_TRY(get_text(r, pair, "label", &label));
        }
        ETP_TRY(read_side(r, pair, "baseline", out, &p.baseline));
        ETP_TRY(read_side(r, pair, "candidate", out, &p.candidate));
        if (strcmp(p.baseline.experiment, p.candidate.experiment) == 0 &&
            p.baseline.threads == p.candidate.threads) {
            return etp_fail_at(r->err, ETP_CORRUPT, pair.at, "%s compares \"%s\" with itself",
                               pair.where, p.baseline.experiment);
        }
        ETP_ADD(r->arena, &out->pairs, p);
    }
    return etp_arena_check(r->arena, r->err, "the config");
}

// ---- the whole ----

// The keys that are options of a session.
typedef struct config_key {
    const char *name;
    etp_status (*read)(reader *r, node root, const struct config_key *key, void *field);
    size_t offset; // in etp_session_options
    uint64_t limit;
} config_key;

static etp_status read_text(reader *r, node root, const config_key *key, void *field)
{
    return get_text(r, root, key->name, field);
}

static etp_status read_count(reader *r, node root, const config_key *key, void *field)
{
    node n = member(r, root, key->name);
    return n.value ? get_count(r, n, 1, key->limit, field) : ETP_OK;
}

static etp_status read_flag(reader *r, node root, const config_key *key, void *field)
{
    node n = member(r, root, key->name);
    *(bool *)field = json_is_true(n.value);
    return !n.value || json_is_boolean(n.value) ? ETP_OK : wrong(r, n, "true or false");
}

static etp_status read_time(reader *r, node root, const config_key *key, void *field)
{
    node n = member(r, root, key->name);
    *(double *)field = json_number_value(n.value);
    return !n.value || *(double *)field > 0 ? ETP_OK : wrong(r, n, "a number of seconds");
}

// A key of another type needs a function here.
#define READ_TEXT read_text
#define READ_FILES read_text
#define READ_COUNT read_count
#define READ_FLAG read_flag
#define READ_TIME read_time
// The rows of options.def that are keys of a config too become names here, and below the fields
// they are read into.
#define KEY_0(...)
#define KEY_1(where, field, type, limit, name) {name, READ_##type, ETP_AT_##where(field), limit},
static const config_key k_session_keys[] = {
#define OPTION(where, field, type, key, limit, ab, run, resume, config, name, ...) \
    KEY_##config(where, field, type, limit, name)
#include "store/options.def"
};

static etp_status read_top(reader *r, node root, etp_config *out)
{
    ETP_TRY(check_object(r, root, k_top_keys));
    ETP_TRY(get_text(r, root, "model", &out->model));
    if (!out->model) {
        return etp_fail_at(r->err, ETP_CORRUPT, root.at, "the config names no \"model\"");
    }
    ETP_TRY(get_text(r, root, "output_root", &out->output_root));
    for (size_t i = 0; i < sizeof k_session_keys / sizeof *k_session_keys; i++) {
        const config_key *key = &k_session_keys[i];
        ETP_TRY(key->read(r, root, key, (char *)&out->arguments + key->offset));
    }
    node n = member(r, root, "fallback");
    if (n.value) {
        ETP_TRY(check_object(r, n, k_fallback_keys));
        ETP_TRY(get_text(r, n, "model", &out->fallback_model));
        ETP_TRY(get_text(r, n, "output_root", &out->fallback_output_root));
    }
    return ETP_OK;
}

// Experiments before pairs, which name them.
static etp_status read_document(reader *r, json_t *json, etp_config *out)
{
    node root = {json, skip_blank(r->text, 0), ""};
    ETP_TRY(read_top(r, root, out));
    node list = member(r, root, "experiments");
    if (!json_is_array(list.value) || json_array_size(list.value) == 0) {
        return etp_fail_at(r->err, ETP_CORRUPT, list.at,
                           "\"experiments\" is not a list of at least one");
    }
    if (json_array_size(list.value) > ETP_CONFIG_EXPERIMENTS) {
        return etp_fail_at(r->err, ETP_CORRUPT, list.at, "more than %d experiments",
                           ETP_CONFIG_EXPERIMENTS);
    }
    for (size_t i = 0; i < json_array_size(list.value); i++) {
        ETP_TRY(read_experiment(r, element(r, list, i), out));
    }
    return read_pairs(r, root, out);
}

etp_status etp_config_read(const char *path, etp_arena *arena, etp_config *out, etp_error *err)
{
    *out = (etp_config){.path = path};
    reader r = {.arena = arena, .err = err};
    ETP_TRY(etp_os_read_text(path, MAX_BYTES, arena, &r.text, err));
    json_t *root = NULL;
    if (etp_json_parse(r.text, &root, NULL, err) != ETP_OK) {
        (void)etp_fail_ctx(err, "no JSON");
        return etp_fail_ctx(err, "%s", path);
    }
    etp_status st = read_document(&r, root, out);
    json_decref(root);
    return st == ETP_OK ? ETP_OK : etp_fail_ctx(err, "%s", path);
}
