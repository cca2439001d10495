// SPDX-License-Identifier: Apache-2.0
// etprof.script/1: the table that a script is read by, and what a table cannot say of one.
#include "measure/script.h"

#include "base/json_read.h"
#include "base/path.h"
#include "document/rows.h"
#include "os/os.h"

#define SCRIPT_SCHEMA "etprof.script/1"
#define SCRIPT_LIMIT ((size_t)64 << 20)

static const char *fill_name(etp_script_fill fill)
{
    static const char *const k_names[] = {"values", "tokens", "position", "ones",
                                          "random", "file",   "output"};
    return k_names[fill];
}

// Those that a script can say.
static const char *kind_name(etp_phase_kind kind)
{
    bool decoder = kind == ETP_PHASE_OF_PREFILL || kind == ETP_PHASE_OF_DECODE;
    return decoder ? etp_phase_kind_name(kind) : NULL;
}
WORDS(k_fills, fill_name, etp_script_fill, ETP_SCRIPT_FILLS)
WORDS(k_kinds, kind_name, etp_phase_kind, ETP_PHASE_KINDS)

// The tables say what type and range each member has. These functions say what depends on a second
// member, or on what stands elsewhere in the script.
static void check_input(const etp_json_object *o, const void *object, const void *root)
{
    const etp_script_input *in = object;
    (void)root;
    if (in->fill == ETP_FILL_FILE && in->file.len == 0) {
        etp_json_reject(o, "file", "the name of a file");
    }
    if (in->fill == ETP_FILL_VALUES && in->values.n == 0) {
        etp_json_reject(o, "values", "a list of numbers");
    }
    if (in->below == 0) {
        etp_json_reject(o, "below", "a number from 1");
    }
}

static void check_step(const etp_json_object *o, const void *object, const void *root)
{
    const etp_script_step *step = object;
    (void)root;
    if (step->method.len == 0) {
        etp_json_reject(o, "method", "the name of a method");
    }
    if (step->repeat == 0) {
        etp_json_reject(o, "repeat", "a number from 1");
    }
}

// Names of files and --phase leave out what is no part of a word: "step 1 @2" and "step 12" would
// be one there.
static bool same_word(etp_str a, etp_str b)
{
    static const char k_left_out[] = " @_";
    size_t i = 0, k = 0;
    for (;;) {
        while (i < a.len && strchr(k_left_out, a.ptr[i])) {
            i++;
        }
        while (k < b.len && strchr(k_left_out, b.ptr[k])) {
            k++;
        }
        if (i == a.len || k == b.len || a.ptr[i] != b.ptr[k]) {
            return i == a.len && k == b.len;
        }
        i++;
        k++;
    }
}

static void check_phase(const etp_json_object *o, const void *object, const void *root)
{
    const etp_script_phase *phase = object;
    const etp_script *script = root;
    if (phase->name.len == 0 || phase->name.len > 100) {
        etp_json_reject(o, "name", "a name of 1 to 100 bytes");
    }
    // The phases before this one are read already, so a name is held against those alone: no chain
    // of "after" can be a circle.
    size_t own = (size_t)(phase - script->phases.items);
    for (size_t i = 0; i < own; i++) {
        if (same_word(script->phases.items[i].name, phase->name)) {
            etp_json_reject(o, "name", "a name of its own, whatever its blanks, '@' and '_'");
        }
    }
    if (phase->after.len > 0 && etp_script_find(script, phase->after, own) == own) {
        etp_json_reject(o, "after", "the name of a phase before this one");
    }
    if (phase->steps.n == 0) {
        etp_json_reject(o, "steps", "a list of at least one step");
    }
    for (size_t i = 1; i < phase->steps.n; i++) {
        if (!etp_str_eq(phase->steps.items[i].method, phase->steps.items[0].method)) {
            etp_json_reject(o, "steps",
                            "a list of calls of one method (their times are one sample; give each "
                            "method a phase, with \"after\")");
        }
    }
}

static void check_script(const etp_json_object *o, const void *object, const void *root)
{
    const etp_script *script = object;
    bool any = false;
    (void)root;
    for (size_t i = 0; i < script->phases.n; i++) {
        any = any || script->phases.items[i].measured != 0;
    }
    if (!any) {
        etp_json_reject(o, "phases", "a list with a phase that is measured");
    }
}

// ETP_MOST: what is absent is the largest value, ETP_SCRIPT_OWN, because 0 can be meant.
#define OPTIONAL ETP_ABSENT | ETP_MOST
#define OF etp_script_input
static const etp_field k_input_rows[] = {
    FIELD("index", UINT, index, "of the method's inputs, from 0", .most = 1000),
    FIELD("fill", WORD, fill, "", .words = &k_fills),
    FIELD("shape", STR, shape, "1x64; absent: as the program has it (its largest)",
          .flags = ETP_ABSENT | ETP_EMPTY),
    FIELD("dtype", STR, dtype, "int64; absent: as the program has it; another is refused",
          .flags = ETP_ABSENT | ETP_EMPTY),
    VECTOR("values", NUMBER, values, "fill values: all elements, or one for all of them",
           .most = ETP_SCRIPT_WRITTEN, .range = ETP_SIGNED, .flags = ETP_ABSENT | ETP_SET),
    FIELD("seed", UINT, seed, "tokens, random; absent: the session's", .flags = OPTIONAL),
    FIELD("below", UINT, below,
          "tokens, random: whole numbers are below it; absent: the vocabulary", .flags = OPTIONAL,
          .range = ETP_FROM_1),
    FIELD("start", UINT, start, "tokens, position: place of the first one", .flags = ETP_ABSENT,
          .most = INT32_MAX),
    FIELD("advance", UINT, advance,
          "tokens, position: by so much later in each repeat; absent: the number of elements",
          .flags = OPTIONAL, .most = INT32_MAX),
    FIELD("file", STR, file, "fill file: raw little-endian values, relative to the script",
          .flags = ETP_ABSENT | ETP_EMPTY),
    FIELD("from", STR, from,
          "fill output: phase whose last call left it; absent: the call before. The first call of "
          "all takes what --inputs says",
          .flags = ETP_ABSENT | ETP_EMPTY),
    FIELD("output", UINT, output, "fill output: which one, from 0", .flags = ETP_ABSENT,
          .most = 1000),
};
static const etp_shape k_input = {.fields = k_input_rows,
                                  .n = sizeof k_input_rows / sizeof *k_input_rows,
                                  .size = sizeof(OF),
                                  .check = check_input,
                                  .strict = true};
#undef OF
#define OF etp_script_step
static const etp_field k_step_rows[] = {
    FIELD("method", STR, method, "that is called", .flags = ETP_SET),
    FIELD("repeat", UINT, repeat, "calls; absent: 1", .flags = OPTIONAL, .range = ETP_FROM_1),
    VECTOR("inputs", OBJECT, inputs, "those that are not listed are filled as --inputs says",
           .shape = &k_input, .most = 1000, .flags = ETP_ABSENT),
};
static const etp_shape k_step = {.fields = k_step_rows,
                                 .n = sizeof k_step_rows / sizeof *k_step_rows,
                                 .size = sizeof(OF),
                                 .check = check_step,
                                 .strict = true};
#undef OF
#define OF etp_script_phase
static const etp_field k_phase_rows[] = {
    FIELD("name", STR, name, "prefill 64", .flags = ETP_SET),
    FIELD(
        "after", STR, after,
        "an earlier phase: its calls, and those before them, come once before repetitions of this",
        .flags = ETP_ABSENT | ETP_EMPTY),
    FIELD("measured", MAYBE, measured, "false: it only prepares other phases; absent: true",
          .flags = ETP_ABSENT),
    FIELD("kind", WORD, kind, "of a text decoder; absent: neither", .words = &k_kinds,
          .flags = ETP_ABSENT),
    FIELD("tokens", UINT, tokens, "of a call, for tokens a second", .flags = ETP_ABSENT,
          .most = INT32_MAX),
    FIELD("depth", UINT, depth, "tokens in the cache before", .flags = ETP_ABSENT,
          .most = INT32_MAX),
    FIELD("prompt", UINT, prompt, "tokens of the prompt that it is a chunk of", .flags = ETP_ABSENT,
          .most = INT32_MAX),
    VECTOR("steps", OBJECT, steps, "calls of one method, each of which is timed", .shape = &k_step,
           .most = 100),
};
static const etp_shape k_phase = {.fields = k_phase_rows,
                                  .n = sizeof k_phase_rows / sizeof *k_phase_rows,
                                  .size = sizeof(OF),
                                  .check = check_phase,
                                  .strict = true};
#undef OF
#define OF etp_script
static const etp_field k_script_rows[] = {
    FIELD("share", BOOL, share, "methods share mutable buffers (exported so); absent: false",
          .flags = ETP_ABSENT),
    VECTOR("phases", OBJECT, phases, "each is measured by itself", .shape = &k_phase,
           .most = ETP_SCRIPT_PHASES),
};
static const etp_shape k_script = {.fields = k_script_rows,
                                   .n = sizeof k_script_rows / sizeof *k_script_rows,
                                   .size = sizeof(OF),
                                   .check = check_script,
                                   .strict = true};
#undef OF
const etp_document k_etp_script_document = {SCRIPT_SCHEMA, "--script FILE, which people write",
                                            &k_script};

size_t etp_script_find(const etp_script *script, etp_str name, size_t until)
{
    for (size_t i = 0; i < until && i < script->phases.n; i++) {
        if (etp_str_eq(script->phases.items[i].name, name)) {
            return i;
        }
    }
    return until;
}

etp_status etp_script_read_text(etp_str text, etp_arena *arena, etp_script *out, etp_error *err)
{
    *out = (etp_script){0};
    json_t *json = NULL;
    ETP_TRY(etp_json_read(text, &json, err));
    etp_status status = ETP_OK;
    // The schema is looked at first: a document of another kind would otherwise be refused key by
    // key.
    const etp_json_object o = {json, "", arena, err, &status};
    if (!etp_str_eqz(etp_json_get_str(&o, "schema"), SCRIPT_SCHEMA)) {
        etp_json_reject(&o, "schema", "\"" SCRIPT_SCHEMA "\"");
    }
    etp_object_read(&o, &k_script, out, out);
    json_decref(json);
    return status;
}

etp_status etp_script_read(const char *path, etp_arena *arena, etp_script *out, etp_error *err)
{
    etp_file file;
    *out = (etp_script){0};
    ETP_TRY(etp_file_open(path, SCRIPT_LIMIT, &file, err));
    etp_str text = {(const char *)file.bytes.ptr, file.bytes.len};
    etp_status st = etp_script_read_text(text, arena, out, err);
    etp_file_close(&file);
    if (st == ETP_CORRUPT) { // people write it: a mistake of theirs, not a damaged file
        const char *why = etp_arena_strdup(arena, etp_str_from(err->msg));
        st = etp_fail(err, ETP_USAGE, "%s: %s", path, why ? why : "unreadable");
    }
    out->folder = etp_arena_strdup(arena, etp_path_folder(path)); // the path is absolute
    return st;
}
