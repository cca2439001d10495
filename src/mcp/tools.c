// SPDX-License-Identifier: Apache-2.0
// Arguments of tools into words of verbs.
#include "mcp/tools.h"

#include <math.h>
#include <string.h>

#include "os/os.h"

// Parameters that mean the same have the same words in every tool: a model learns them once.
#define RUN "run folder (out_MODEL/runs/PLATFORM), or a recording (.etdump)"
#define ARM RUN "; RUN:ARM for one arm of a run that has several"
#define FORMAT {"format", ETP_MCP_TEXT, "--format", false, "text (default: short), json, md or csv"}
#define BASELINE                                    \
    {"baseline", ETP_MCP_TEXT, "--baseline", false, \
     "arm or level that the others are compared with"}
#define PHASE                                 \
    {"phase", ETP_MCP_TEXT, "--phase", false, \
     "of a session of several phases: 'decode@256'; default: the first"}

// The order of the parameters is that of the verb's operands.
const etp_mcp_tool k_etp_mcp_tools[] = {
    {"measure",
     "ab", "Measures a .pte at CPU-feature levels, block by block, and says whether one is faster, with "
     "its interval. Takes minutes; reports progress and can be cancelled: whole blocks stay.", true,
     {{"models", ETP_MCP_PATHS, NULL, true, "programs (.pte)"},
      {"levels", ETP_MCP_TEXTS, "--levels", false, "see tool devices; default: best against plain"},
      {"threads", ETP_MCP_COUNTS, "--threads", false, "thread counts, default 1"},
      BASELINE,
      {"device", ETP_MCP_TEXT, "--device", false, "local, adb[:SERIAL], ssh:HOST or qemu[:CPU]"},
      {"blocks", ETP_MCP_NUMBER, "--blocks", false, "exactly so many; with precision at most"},
      {"precision", ETP_MCP_NUMBER, "--precision", false,
       "percent: stop when intervals are so narrow"},
      {"budget", ETP_MCP_NUMBER, "--budget", false, "seconds: stop after the last block that fits"},
      {"iterations", ETP_MCP_NUMBER, "--iterations", false, "timed ones per launch"},
      {"warmup", ETP_MCP_NUMBER, "--warmup", false, "per launch"},
      {"data", ETP_MCP_PATH, "--data", false, "external weights (.ptd)"},
      {"prefill", ETP_MCP_COUNTS, "--prefill", false, "language models: tokens of a prompt"},
      {"decode", ETP_MCP_NUMBER, "--decode", false, "language models: tokens one at a time"},
      {"depth", ETP_MCP_COUNTS, "--depth", false, "tokens in the cache before decode, default 0"},
      {"out", ETP_MCP_PATH, "--out", false, "run folder, new or empty"},
      {"runner", ETP_MCP_PATH, "--runner", false, "another runner or its bundle"},
      {"kernels", ETP_MCP_TRUTH, "--kernels", false, "also sample which kernels ran"},
      FORMAT}},
    {"compare",
     "compare", "Two sides, the first being the baseline: what became faster or slower.",
     false, {{"a", ETP_MCP_PATH, NULL, true, ARM},
      {"b", ETP_MCP_PATH, NULL, true, ARM},
      {"pte", ETP_MCP_PATH, "--pte", false, "the program of bare recordings"},
      FORMAT}},
    {"explain",
     "explain", "The rows and the formula behind one sentence of a report: a finding (F1), a fix (N1), an "
     "operator (op7), something ruled out (tracer).", false,
     {{"id", ETP_MCP_NAME, NULL, true, "F1, N1, op7"},
      {"run", ETP_MCP_PATH, NULL, true, RUN},
      BASELINE,
      PHASE,
      FORMAT}},
    {"report",
     "analyze", "What a run folder says: ratio, operators, findings, what to do next.",
     false, {{"run", ETP_MCP_PATH, NULL, true, RUN}, BASELINE, FORMAT}},
    {"whatif",
     "whatif", "Recomputes an inference with operators dropped, sent back or sped up.",
     false, {{"run", ETP_MCP_PATH, NULL, true, RUN},
      {"changes", ETP_MCP_TEXTS, NULL, true,
       "'drop transpose*', 'back GLOB', 'scale conv* 2', 'GLOB at-roof', 'threads N'"},
      BASELINE,
      PHASE,
      FORMAT}},
    {"gate",
     "gate", "Yes, no or unknown: is the run as fast as rules or an earlier run want?",
     false, {{"run", ETP_MCP_PATH, NULL, true, RUN},
      {"rules", ETP_MCP_TEXTS, NULL, false, "'speedup >= 1.3', 'latency ARM <= 5 ms'"},
      {"against", ETP_MCP_PATH, "--against", false, "an earlier run folder"},
      {"margin", ETP_MCP_NUMBER, "--margin", false, "percent that is no regression"},
      FORMAT}},
    {"inspect",
     "inspect", "What is in a model or recording, and what makes it big.",
     false, {{"file", ETP_MCP_PATH, NULL, true, ".pte, .bpte, .ptd, .etrecord or .etdump"},
      {"etrecord", ETP_MCP_PATH, "--etrecord", false, "adds source lines"},
      {"etdump", ETP_MCP_PATH, "--etdump", false, "adds what operators cost"},
      {"diff", ETP_MCP_PATH, "--diff", false, "another program to compare with"},
      {"tree", ETP_MCP_TRUTH, "--tree", false, "every instruction and node"},
      FORMAT}},
    {"export",
     "export", "From a PyTorch model to a checked .pte. Needs Python with PyTorch.",
     true, {{"model", ETP_MCP_NAME, NULL, true, "a name that 'etprof models' lists"},
      {"dtype", ETP_MCP_TEXT, "--dtype", false,
       "fp32, fp16, int8, int8-dynamic, int4, 8da4w, 8da8w"},
      {"apply", ETP_MCP_TEXTS, "--apply", false, "recipes of fixes, as reports name them"},
      {"group_size", ETP_MCP_TEXT, "--group-size", false, "8da4w: a number, or channel"},
      {"outdir", ETP_MCP_PATH, "--outdir", false, "folder of the program"}}},
    {"devices", "devices", "Devices and what they can do.", false, {FORMAT}},
    {"verify_claim",
     "verify-claim", "Is a sentence of a report borne out by its data? confirmed, contradicted or not in the data. "
     "Check every figure you tell people. Forms: 'N1 saves 0.70 ms', 'ARM is 1.42x faster than "
     "ARM', 'op3 takes 1.2 ms in ARM'.", false,
     {{"claim", ETP_MCP_TEXT, NULL, true, "one sentence"},
      {"run", ETP_MCP_PATH, NULL, true, RUN},
      PHASE,
      FORMAT}},
    {0},
};

const etp_mcp_tool *etp_mcp_tool_find(const char *name)
{
    for (const etp_mcp_tool *t = k_etp_mcp_tools; t->name; t++) {
        if (strcmp(t->name, name) == 0) {
            return t;
        }
    }
    return NULL;
}

// ---- as a client sees them ----

static bool is_list(etp_mcp_type type)
{
    return type == ETP_MCP_TEXTS || type == ETP_MCP_PATHS || type == ETP_MCP_COUNTS;
}

// JSON Schema's word for one value; in messages it tells what was expected.
static const char *item_type(etp_mcp_type type)
{
    return type == ETP_MCP_NUMBER   ? "number"
           : type == ETP_MCP_TRUTH  ? "boolean"
           : type == ETP_MCP_COUNTS ? "integer"
                                    : "string";
}

static void param_json(etp_json *j, const etp_mcp_param *p)
{
    etp_json_key(j, p->name);
    etp_json_begin_object(j);
    etp_json_kv_z(j, "type", is_list(p->type) ? "array" : item_type(p->type));
    if (is_list(p->type)) {
        etp_json_key(j, "items");
        etp_json_begin_object(j);
        etp_json_kv_z(j, "type", item_type(p->type));
        etp_json_end(j);
    }
    etp_json_kv_z(j, "description", p->help);
    etp_json_end(j);
}

static void schema_json(etp_json *j, const etp_mcp_tool *tool)
{
    etp_json_begin_object(j);
    etp_json_kv_z(j, "type", "object");
    etp_json_key(j, "properties");
    etp_json_begin_object(j);
    for (size_t i = 0; i < ETP_MCP_PARAMS && tool->params[i].name; i++) {
        param_json(j, &tool->params[i]);
    }
    etp_json_end(j);
    etp_json_key(j, "required");
    etp_json_begin_array(j);
    for (size_t i = 0; i < ETP_MCP_PARAMS && tool->params[i].name; i++) {
        if (tool->params[i].required) {
            etp_json_z(j, tool->params[i].name);
        }
    }
    etp_json_end(j);
    // A model that invents a parameter is told so, instead of measuring something else than it
    // meant.
    etp_json_kv_bool(j, "additionalProperties", false);
    etp_json_end(j);
}

void etp_mcp_tool_json(etp_json *j, const etp_mcp_tool *tool)
{
    etp_json_begin_object(j);
    etp_json_kv_z(j, "name", tool->name);
    etp_json_kv_z(j, "description", tool->help);
    etp_json_key(j, "inputSchema");
    schema_json(j, tool);
    etp_json_key(j, "annotations");
    etp_json_begin_object(j);
    etp_json_kv_bool(j, "readOnlyHint", !tool->changes);
    etp_json_kv_bool(j, "destructiveHint", false);
    etp_json_end(j);
    etp_json_end(j);
}

// ---- words ----

// The command line as it grows; PLACE judges each path before it becomes a part of it.
typedef struct words {
    etp_arena *arena;
    etp_mcp_place *place;
    void *ctx;
    const char **items;
    size_t n, cap;
} words;

static etp_status wrong(const etp_mcp_param *p, etp_error *err)
{
    return etp_fail(err, ETP_USAGE, "%s is not a%s %s", p->name,
                    is_list(p->type)               ? " list of"
                    : item_type(p->type)[0] == 'i' ? "n"
                                                   : "",
                    item_type(p->type));
}

// Roots hold for paths alone, and `export` runs the code of a FILE.py:Class and of a folder.
static bool names_a_file(const char *name)
{
    const char *end = strrchr(name, '.');
    return strpbrk(name, "/\\") || strstr(name, ".py:") ||
           (end && (strcmp(end, ".json") == 0 || strcmp(end, ".py") == 0));
}

// One value as a word: no control characters, nothing that could be read as an option.
static etp_status word_of(words *w, const etp_mcp_param *p, const json_t *value, const char **out,
                          etp_error *err)
{
    if (p->type == ETP_MCP_NUMBER || p->type == ETP_MCP_COUNTS) {
        double number = json_number_value(value);
        if (!json_is_number(value) || !isfinite(number) || number < 0 || number > 1e12 ||
            (p->type == ETP_MCP_COUNTS && !json_is_integer(value))) {
            return wrong(p, err);
        }
        // Whole numbers without a point, as options take them.
        *out = etp_arena_printf(w->arena, "%.15g", number);
        return ETP_OK;
    }
    if (!json_is_string(value)) {
        return wrong(p, err);
    }
    etp_str text = {json_string_value(value), json_string_length(value)};
    for (size_t i = 0; i < text.len; i++) {
        if ((unsigned char)text.ptr[i] < ' ') {
            return etp_fail(err, ETP_USAGE, "%s holds a control character", p->name);
        }
    }
    // No value may begin with '-': the verb would read it as an option, and an option may name a
    // file that no root was asked about.
    if (text.len == 0 || text.len > 4096 || text.ptr[0] == '-') {
        return etp_fail(err, ETP_USAGE, "%s is empty, too long, or begins with '-'", p->name);
    }
    if (p->type == ETP_MCP_NAME && names_a_file(text.ptr)) {
        return etp_fail(err, ETP_USAGE, "%s is a path; it takes %s", p->name, p->help);
    }
    // Verbs tell operands apart by what is there: one that no root was asked about is none.
    bool path = p->type == ETP_MCP_PATH || p->type == ETP_MCP_PATHS;
    if (!path && !p->option && (etp_os_is_file(text.ptr) || etp_os_is_dir(text.ptr))) {
        return etp_fail(err, ETP_USAGE, "%s is a path; it takes %s", p->name, p->help);
    }
    // The path that was judged is the one that the verb gets: absolute, links followed.
    if (path) {
        return w->place(w->ctx, text.ptr, out, err);
    }
    *out = etp_arena_strdup(w->arena, text);
    return ETP_OK;
}

static etp_status add_value(words *w, const etp_mcp_param *p, const json_t *value, etp_error *err)
{
    const char *word;
    if (p->type == ETP_MCP_TRUTH) {
        if (json_is_true(value)) {
            ETP_ADD(w->arena, w, p->option);
        }
        return json_is_boolean(value) ? ETP_OK : wrong(p, err);
    }
    ETP_TRY(word_of(w, p, value, &word, err));
    if (p->option) {
        ETP_ADD(w->arena, w, p->option);
    }
    ETP_ADD(w->arena, w, word);
    return ETP_OK;
}

static etp_status add_param(words *w, const etp_mcp_param *p, const json_t *value, etp_error *err)
{
    if (!is_list(p->type)) {
        return add_value(w, p, value, err);
    }
    if (!json_is_array(value) || json_array_size(value) > 64) {
        return wrong(p, err);
    }
    for (size_t i = 0; i < json_array_size(value); i++) {
        const json_t *item = json_array_get(value, i);
        // Options that are lists split their value at commas: one item must not become two.
        bool comma = p->option && json_is_string(item) && strchr(json_string_value(item), ',');
        ETP_TRY(comma ? wrong(p, err) : add_value(w, p, item, err));
    }
    return ETP_OK;
}

static etp_status refuse_unknown(const etp_mcp_tool *tool, const json_t *arguments, etp_error *err)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)arguments, key, value)
    {
        bool known = false;
        for (size_t i = 0; i < ETP_MCP_PARAMS && tool->params[i].name; i++) {
            known = known || strcmp(key, tool->params[i].name) == 0;
        }
        if (!known) {
            return etp_fail(err, ETP_USAGE, "%s takes no '%.60s'", tool->name, key);
        }
    }
    return ETP_OK;
}

etp_status etp_mcp_command_line(const etp_mcp_tool *tool, const json_t *arguments,
                                const char *program, etp_mcp_place *place, void *ctx,
                                etp_arena *arena, const char *const **out, etp_error *err)
{
    words w = {.arena = arena, .place = place, .ctx = ctx};
    if (arguments && !json_is_object(arguments)) {
        return etp_fail(err, ETP_USAGE, "arguments of %s are no object", tool->name);
    }
    ETP_TRY(refuse_unknown(tool, arguments, err));
    ETP_ADD(arena, &w, program);
    ETP_ADD(arena, &w, tool->verb);
    for (size_t i = 0; i < ETP_MCP_PARAMS && tool->params[i].name; i++) {
        const etp_mcp_param *p = &tool->params[i];
        const json_t *value = json_object_get(arguments, p->name);
        // null is a parameter that was left out.
        if (value && !json_is_null(value)) {
            ETP_TRY(add_param(&w, p, value, err));
        } else if (p->required) {
            return etp_fail(err, ETP_USAGE, "%s needs %s: %s", tool->name, p->name, p->help);
        }
    }
    ETP_ADD(arena, &w, NULL);
    *out = w.items;
    return etp_arena_check(arena, err, "arguments"); // one that is missing asks for something else
}
