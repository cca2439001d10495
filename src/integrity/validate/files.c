// SPDX-License-Identifier: Apache-2.0
// One file of a folder by itself: what it should be by its name, and whether it is.
#include <math.h>

#include "base/guard.h"
#include "base/path.h"
#include "inspect/inspect.h"
#include "integrity/validate/parts.h"
#include <etprof/trace.h>

#define TEXT_LIMIT ((uint64_t)1 << 30)
#define FILE_LIMIT ((uint64_t)64 << 30)

static bool ends(const char *name, const char *suffix)
{
    return etp_str_ends(etp_str_from(name), etp_str_from(suffix));
}

// The name of its schema.
static const char *document_name(etp_valid_document document)
{
    static const char *const k_names[ETP_VALID_DOCUMENTS] = {NULL,
                                                             "run",
                                                             "kit_manifest",
                                                             "metrics",
                                                             "analysis_summary",
                                                             "derived",
                                                             "ab",
                                                             "export",
                                                             "outputs",
                                                             "pipeline_summary",
                                                             "robust_stats",
                                                             "robust_comparison",
                                                             "config"};
    return k_names[document];
}

// By the schema and not by the file's name, since a document may say itself what it is. One that is
// not in the list only has to fit.
static etp_valid_document document_called(const char *schema)
{
    for (etp_valid_document d = ETP_VALID_ANY + 1; d < ETP_VALID_DOCUMENTS; d++) {
        if (strcmp(schema, document_name(d)) == 0) {
            return d;
        }
    }
    return ETP_VALID_ANY;
}

// The first row that fits counts, so exact names and longer ends stand before ".json".
void etp_valid_classify(etp_valid_file *f)
{
    static const struct {
        const char *suffix;
        bool whole; // the whole name, not just its end
        etp_valid_kind kind;
        etp_valid_document document;
    } k_kinds[] = {
        {"manifest.json",           true,  ETP_VALID_JSON,       ETP_VALID_RUN              },
        {"metrics.json",            true,  ETP_VALID_JSON,       ETP_VALID_METRICS          },
        {"analysis_summary.json",   true,  ETP_VALID_JSON,       ETP_VALID_ANALYSIS_SUMMARY },
        {"derived.json",            true,  ETP_VALID_JSON,       ETP_VALID_DERIVED          },
        {"report.json",             true,  ETP_VALID_JSON,       ETP_VALID_AB               },
        {"export.json",             true,  ETP_VALID_JSON,       ETP_VALID_EXPORT           },
        {"outputs.json",            true,  ETP_VALID_JSON,       ETP_VALID_OUTPUTS          },
        {"_pipeline_summary.json",  false, ETP_VALID_JSON,       ETP_VALID_PIPELINE_SUMMARY },
        {"_robust_stats.json",      false, ETP_VALID_JSON,       ETP_VALID_ROBUST_STATS     },
        {"_robust_comparison.json", false, ETP_VALID_JSON,       ETP_VALID_ROBUST_COMPARISON},
        {".json",                   false, ETP_VALID_JSON,       ETP_VALID_ANY              },
        {"environment.jsonl",       true,  ETP_VALID_JSON_LINES, ETP_VALID_ANY              },
        {".csv",                    false, ETP_VALID_CSV,        ETP_VALID_ANY              },
        {".etdump",                 false, ETP_VALID_DUMP,       ETP_VALID_ANY              },
        {".etdump" ETP_OS_PACKED,   false, ETP_VALID_DUMP,       ETP_VALID_ANY              },
        {".etdp",                   false, ETP_VALID_DUMP,       ETP_VALID_ANY              },
        {".pte",                    false, ETP_VALID_MODEL,      ETP_VALID_ANY              },
        {".bpte",                   false, ETP_VALID_MODEL,      ETP_VALID_ANY              },
        {".ptd",                    false, ETP_VALID_MODEL,      ETP_VALID_ANY              },
        {".etrecord",               false, ETP_VALID_MODEL,      ETP_VALID_ANY              },
    };
    const char *base = etp_path_name(f->name);
    for (size_t i = 0; i < sizeof k_kinds / sizeof *k_kinds; i++) {
        if (k_kinds[i].whole ? strcmp(base, k_kinds[i].suffix) == 0
                             : ends(base, k_kinds[i].suffix)) {
            f->kind = k_kinds[i].kind;
            f->document = k_kinds[i].document;
            f->schema = document_name(f->document);
            return;
        }
    }
}

// ---- JSON ----

// Each fault of the reader with what people can do about it: the reader only knows what is wrong.
static void note_fault(etp_validator *v, const char *file, etp_json_fault fault, const char *why)
{
    static const struct {
        const char *id, *expected, *fix;
    } k_faults[] = {
        [ETP_JSON_EMPTY] = {"json.empty",         "a document",
                            "writing stopped before it began: make the file again"                                     },
        [ETP_JSON_DEEP] = {"json.deep",          "a document of this kind",
                            "it is not a file of this tool: remove it"                                                 },
        [ETP_JSON_TWICE] =
            {"json.duplicate_key", "every key once",
                            "readers disagree about which one counts: delete one, or make the file again"              },
        [ETP_JSON_UTF8] = {"json.utf8",          "UTF-8",                   "save it as UTF-8, or make the file again"},
        [ETP_JSON_CUT] =
            {"json.truncated",     "a whole document",
                            "the end is missing (disk full, interrupted copy): copy or make it again"                  },
        [ETP_JSON_NAN] =
            {"json.nan",           "numbers, or null",
                            "NaN is no JSON (Arm's kit writes it for a single run): replace it by null, or "
             "make the file again"                                                                                     },
        [ETP_JSON_SYNTAX] = {"json.syntax",        "JSON",
                            "undo the edit at that line, or make the file again"                                       },
        [ETP_JSON_NO_OBJECT] = {"json.object",        "an object",
                            "this is another kind of file: make it again"                                              },
    };
    etp_valid_note(v, file, k_faults[fault].id, false, k_faults[fault].expected,
                   k_faults[fault].fix, "%s", why);
}

// The schema for DOC: by its own word where it has one, else by the file's name; NULL unknown.
// Arm's kit has a manifest.json too, in another form and without a "schema". A document of a later
// version ("etprof.ab/2") is refused: checking it against an older schema would tell nonsense.
static const char *schema_of(etp_validator *v, const etp_valid_file *f, const json_t *doc)
{
    const char *own = etp_valid_text(doc, "schema");
    if (f->document == ETP_VALID_RUN && !own) {
        return document_name(ETP_VALID_KIT_MANIFEST); // no manifest of ours
    }
    if (f->schema) {
        return f->schema;
    }
    if (!own) {
        bool config = json_object_get(doc, "experiments") || json_object_get(doc, "model");
        return config ? document_name(ETP_VALID_CONFIG) : NULL;
    }
    size_t prefix = strlen("etprof."), n = strlen(own);
    bool named =
        strncmp(own, "etprof.", prefix) == 0 && n > prefix + 2 && strcmp(own + n - 2, "/1") == 0;
    if (named) {
        const char *name = etp_arena_strdup(v->arena, (etp_str){own + prefix, n - prefix - 2});
        if (etp_schema_text(name).len) {
            return name;
        }
    }
    etp_valid_note(v, f->name, "schema.unknown", false, "a document that this version knows",
                   "read it with the version of etprof that wrote it", "%s", own);
    return NULL;
}

// False: F's document is not kept.
static etp_status check_schema(etp_validator *v, etp_valid_file *f, bool *out_fits, etp_error *err)
{
    // schema_of may have written down why there is none; then nothing is added.
    size_t known = v->out->checks.n;
    const char *name = schema_of(v, f, f->json);
    if (!name) {
        if (v->out->checks.n == known) {
            etp_valid_note(v, f->name, "json", true, "JSON", NULL, "sound, of no known kind");
        }
        return ETP_OK;
    }
    json_t *schema = NULL;
    etp_error why = {.offset = ETP_NO_OFFSET};
    etp_schema_problem problem = {0};
    if (etp_json_parse(etp_schema_text(name), &schema, NULL, &why) != ETP_OK) {
        etp_valid_note(v, f->name, "schema.keyword", false, "a schema",
                       "report this: it is our bug", "%s", why.msg);
        return ETP_OK;
    }
    etp_status st = etp_schema_fits(schema, f->json, v->arena, out_fits, &problem, err);
    json_decref(schema);
    ETP_TRY(st);
    // Also for a document that does not fit. Only one that fits is kept in f->json, so checks
    // across files never meet a missing key of a broken document.
    f->schema = name;
    f->document = document_called(name);
    if (*out_fits) {
        etp_valid_note(v, f->name, "schema", true,
                       etp_arena_printf(v->arena, "as in %s.schema.json", name), NULL, "fits");
    } else {
        etp_valid_note(v, f->name, problem.id, false, problem.expected,
                       etp_arena_printf(v->arena,
                                        "see schemas/%s.schema.json; undo the edit, or "
                                        "make the file again",
                                        name),
                       "%s: %s", problem.where, problem.found);
    }
    return ETP_OK;
}

// The document is the file's from the start, so that it is freed wherever memory ends.
static etp_status check_json(etp_validator *v, etp_valid_file *f, etp_str text, etp_error *err)
{
    etp_json_fault fault;
    etp_error why = {.offset = ETP_NO_OFFSET};
    bool fits = false;
    if (etp_json_parse(text, &f->json, &fault, &why) != ETP_OK) {
        note_fault(v, f->name, fault, why.msg);
        return ETP_OK;
    }
    if (json_is_array(f->json) && !f->schema) { // tables as lists
        etp_valid_note(v, f->name, "json", true, "JSON", NULL, "%zu entries",
                       json_array_size(f->json));
    } else if (!json_is_object(f->json)) {
        note_fault(v, f->name, ETP_JSON_NO_OBJECT, "no object");
    } else {
        ETP_TRY(check_schema(v, f, &fits, err));
    }
    if (!fits) {
        json_decref(f->json);
        f->json = NULL;
    }
    return ETP_OK;
}

static void check_lines(etp_validator *v, const etp_valid_file *f, etp_str text)
{
    size_t line = 0;
    for (size_t at = 0; at < text.len;) {
        etp_str rest = {text.ptr + at, text.len - at};
        size_t n = etp_str_find(rest, ETP_STR("\n"));
        json_t *doc = NULL;
        etp_json_fault fault = ETP_JSON_FINE;
        etp_error why = {.offset = ETP_NO_OFFSET};
        line++;
        bool ok = etp_json_parse((etp_str){rest.ptr, n}, &doc, &fault, &why) == ETP_OK;
        bool typed = ok && json_is_object(doc) && etp_valid_text(doc, "type");
        json_decref(doc);
        if (!ok) {
            note_fault(v, f->name, fault,
                       etp_arena_printf(v->arena, "line %zu of the file: %s", line, why.msg));
            return;
        }
        if (!typed) {
            etp_valid_note(v, f->name, "environment.type", false, "objects with a \"type\"",
                           "environment.jsonl is raw: restore it from a copy, or measure again",
                           "line %zu", line);
            return;
        }
        at += n < rest.len ? n + 1 : n;
    }
    etp_valid_note(v, f->name, "json", true, "one object a line", NULL, "%zu lines", line);
}

// ---- dumps and models ----

// Of the kinds that the bytes themselves tell, in the order of etp_file_kind.
static const char *const k_what[] = {"an ExecuTorch program", "an ETDump",          "an ETRecord",
                                     "a bundled program",     "a flat tensor file", "unknown"};

// What a file should be by the end of its name; *OUT_END: that end.
static etp_file_kind named(const char *name, const char **out_end)
{
    static const struct {
        const char *end;
        etp_file_kind kind;
    } k_ends[] = {
        {".pte",                  ETP_FILE_PTE     },
        {".bpte",                 ETP_FILE_BPTE    },
        {".ptd",                  ETP_FILE_PTD     },
        {".etrecord",             ETP_FILE_ETRECORD},
        {".etdp",                 ETP_FILE_ETDUMP  },
        {".etdump",               ETP_FILE_ETDUMP  },
        {".etdump" ETP_OS_PACKED, ETP_FILE_ETDUMP  },
    };
    size_t i = 0, last = sizeof k_ends / sizeof *k_ends - 1;
    while (i < last && !ends(name, k_ends[i].end)) {
        i++;
    }
    *out_end = k_ends[i].end;
    return k_ends[i].kind;
}

// False, and said: the file is something else that can be read, which its name does not promise.
// Readers of ours go by the bytes, so they would find it sound; those of ExecuTorch refuse it.
static bool is_as_named(etp_validator *v, const etp_valid_file *f, etp_bytes bytes)
{
    const char *end;
    etp_file_kind should = named(f->name, &end), is = etp_inspect_probe(bytes);
    if (is == should || is == ETP_FILE_UNKNOWN) {
        return true;
    }
    // Any zip archive could be a record, until it lacks the record's marker.
    bool archive = is == ETP_FILE_ETRECORD && !etp_etrecord_probe(bytes);
    etp_valid_note(v, f->name, "file.name", false, k_what[should],
                   "give it the name of what it is, or bring the file that is meant",
                   "%s, named %s", archive ? "a zip archive" : k_what[is], end);
    return false;
}

// Copied into the validator's arena, because the trace is closed at once: a folder may hold
// hundreds of dumps.
static etp_status take_executions(etp_validator *v, etp_valid_file *f, const etp_trace *trace)
{
    size_t n = 0;
    for (size_t b = 0; b < etp_trace_block_count(trace); b++) {
        const etp_trace_block *block = etp_trace_block_at(trace, b);
        n += block->has_execute ? block->n_runs : 0;
    }
    f->execute_ns = ETP_NEW_ARRAY(v->arena, uint64_t, n);
    for (size_t b = 0; b < etp_trace_block_count(trace); b++) {
        const etp_trace_block *block = etp_trace_block_at(trace, b);
        for (size_t r = 0; block->has_execute && r < block->n_runs; r++) {
            f->execute_ns[f->n_execute++] = etp_trace_durations(block, block->execute)[r];
        }
    }
    return ETP_OK;
}

// The trace is open meanwhile, hence a guard of its own.
static etp_status guarded_executions(etp_validator *v, etp_valid_file *f, const etp_trace *trace,
                                     etp_error *err)
{
    ETP_GUARDED(v->arena, err, f->name, take_executions(v, f, trace));
}

static etp_status check_dump(etp_validator *v, etp_valid_file *f, etp_bytes bytes, etp_error *err)
{
    etp_trace *trace = NULL;
    etp_error why = {.offset = ETP_NO_OFFSET};
    if (bytes.len == 0) {
        etp_valid_note(
            v, f->name, "dump.empty", false, "an ETDump",
            "the runner wrote nothing: it ended before its first inference, or was built without "
            "the event tracer; measure again",
            "0 bytes");
        return ETP_OK;
    }
    if (!is_as_named(v, f, bytes)) {
        return ETP_OK;
    }
    // Verified as a whole by the same reader that analysis uses: what passes here opens there.
    etp_status st = etp_trace_open(bytes, NULL, &trace, &why);
    if (st == ETP_NOMEM) {
        return etp_fail_nomem(err, f->name);
    }
    if (st != ETP_OK) {
        etp_valid_note(v, f->name, "dump.readable", false, "an ETDump that parses",
                       "the file is cut off, damaged or no ETDump: copy it again from where it was "
                       "written, or "
                       "measure again",
                       "%s", why.msg);
        return ETP_OK;
    }
    st = guarded_executions(v, f, trace, err);
    if (st == ETP_OK && etp_trace_damage_count(trace) > 0) {
        const etp_trace_damage *d = etp_trace_damage_at(trace, 0);
        etp_valid_note(
            v, f->name, "dump.clock", false, "events that fit into what they are part of",
            "the clock jumped while it was recorded: measure again; 'etprof ops' leaves "
            "these executions out",
            "%zu executions with a damaged clock; in run %u %.*s claims %s",
            etp_trace_damage_count(trace), d->run, ETP_STR_ARG(d->name), ETP_NS((double)d->ns));
    }
    etp_trace_close(trace);
    ETP_TRY(st);
    f->readable = f->n_execute > 0;
    etp_valid_note(
        v, f->name, f->readable ? "dump" : "dump.execute", f->readable,
        "executions with a Method::execute",
        "no inference finished while it was recorded: read the .log beside it, measure again",
        "%zu executions", f->n_execute);
    return ETP_OK;
}

static etp_status check_model(etp_validator *v, const etp_valid_file *f, etp_bytes bytes,
                              etp_error *err)
{
    etp_inspect view = {0};
    etp_error why = {.offset = ETP_NO_OFFSET};
    if (!is_as_named(v, f, bytes)) {
        return ETP_OK;
    }
    // By the reader that `inspect` uses, so that what passes here can be looked at there.
    etp_status st = etp_inspect_open(f->path, bytes, (etp_bytes){0}, v->arena, &view, &why);
    bool ok = st == ETP_OK;
    const char *problem = view.test_problem; // in the validator's arena
    etp_inspect_close(&view);
    if (st == ETP_NOMEM) {
        return etp_fail_nomem(err, f->name);
    }
    etp_valid_note(v, f->name, ok ? "model" : "model.readable", ok, "a model file that parses",
                   "the file is cut off, damaged or of another kind: export or copy it again", "%s",
                   ok ? "parses" : why.msg);
    if (ok && problem) {
        etp_valid_note(v, f->name, "model.tests", false, "as much data as its shape has",
                       "ExecuTorch goes by the shape and would read other memory: bundle the test "
                       "cases again",
                       "%s", problem);
    }
    return ETP_OK;
}

static etp_status check_content(etp_validator *v, etp_valid_file *f, etp_bytes bytes,
                                etp_error *err)
{
    etp_str s = {(const char *)bytes.ptr, bytes.len};
    switch (f->kind) {
    case ETP_VALID_JSON:
        return check_json(v, f, s, err);
    case ETP_VALID_JSON_LINES:
        check_lines(v, f, s);
        break;
    case ETP_VALID_CSV:
        etp_valid_csv(v, f, s);
        break;
    case ETP_VALID_DUMP:
        return check_dump(v, f, bytes, err);
    case ETP_VALID_MODEL:
        return check_model(v, f, bytes, err);
    case ETP_VALID_OTHER:
        break;
    }
    return ETP_OK;
}

// The file is open meanwhile, hence a guard of its own.
static etp_status guarded_content(etp_validator *v, etp_valid_file *f, etp_bytes bytes,
                                  etp_error *err)
{
    ETP_GUARDED(v->arena, err, f->name, check_content(v, f, bytes, err));
}

etp_status etp_valid_file_alone(etp_validator *v, etp_valid_file *f, etp_error *err)
{
    if (f->kind == ETP_VALID_OTHER) {
        return ETP_OK;
    }
    bool text =
        f->kind == ETP_VALID_JSON || f->kind == ETP_VALID_JSON_LINES || f->kind == ETP_VALID_CSV;
    etp_file file;
    etp_error why = {.offset = ETP_NO_OFFSET};
    // Recordings may be packed (ETP_OS_PACKED); models can be larger than any text.
    etp_status st = text ? etp_file_open(f->path, TEXT_LIMIT, &file, &why)
                         : etp_file_open_unpacked(f->path, FILE_LIMIT, &file, &why);
    if (st == ETP_NOMEM) {
        return etp_fail_nomem(err, f->name);
    }
    if (st != ETP_OK) {
        etp_valid_note(v, f->name, "file.readable", false, "a file that can be read",
                       "give yourself the right to read it, or remove it", "%s", why.msg);
        return ETP_OK;
    }
    st = guarded_content(v, f, file.bytes, err);
    etp_file_close(&file);
    return st;
}
