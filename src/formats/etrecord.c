// SPDX-License-Identifier: Apache-2.0
// The ETRecord reader: a zip of JSON graphs and torch archives, of which only the JSON is read.
#include <etprof/etrecord.h>

#include <stdlib.h>
#include <zip.h>

#include "base/guard.h"
#include "base/json_read.h"
#include "base/number.h"
#include "formats/zip_entry.h"

// The edge graph's entry, or the folder that has one for each method. Of all graphs in a record it
// is the one whose nodes carry the debug handles that the program and its payloads keep.
#define GRAPHS "edge_dialect_exported_program"
// Beside twice the archive's size. The exporter stores entries uncompressed, so one that unpacks to
// more than the file is not of its making; but the trees of a small model need several times their
// text.
#define MEMORY_SLACK (24u << 20)
#define BYTES_PER_JSON_VALUE 160u // what jansson needs for a small value, measured generously
#define MAX_GRAPH_DEPTH 16        // graphs inside the arguments of control flow
#define MAX_JSON_DEPTH 128 // a graph's node is 7 levels below that which it is an argument of
#define MAX_METHODS 4096

typedef struct sources {
    etp_source *items;
    size_t n, cap;
} sources;

typedef struct methods {
    etp_record_method *items;
    size_t n, cap;
} methods;

// The budget is for each entry by itself: a tree is given back before the next graph is read, and
// only the two maps stand side by side.
typedef struct reader {
    zip_t *zip;
    etp_arena *arena;
    uint64_t budget; // bytes of JSON trees
    // Those that are read, for who closes the archive: below, memory may end anywhere.
    json_t *graph, *handles, *delegates;
    etp_error *err;
} reader;

const etp_record_method *etp_etrecord_method(const etp_etrecord *record, etp_str name)
{
    for (uint32_t i = 0; i < record->n_methods; i++) {
        if (etp_str_eq(record->methods[i].name, name)) {
            return &record->methods[i];
        }
    }
    return NULL;
}

static int by_wanted(const void *key, const void *item)
{
    const int64_t *handle = key;
    const etp_source *s = item;
    return ETP_ORDER(*handle, s->handle);
}

// merge_handles has put them in ascending order.
const etp_source *etp_etrecord_source(const etp_record_method *method, int64_t handle)
{
    return method && method->n_sources > 0 ? bsearch(&handle, method->sources, method->n_sources,
                                                     sizeof *method->sources, by_wanted)
                                           : NULL;
}

const etp_record_instruction *etp_etrecord_instruction(const etp_record_method *method,
                                                       uint32_t index)
{
    for (uint32_t i = 0; method && i < method->n_instructions; i++) {
        if (method->instructions[i].index == index) {
            return &method->instructions[i];
        }
    }
    return NULL;
}

// ---- text of the record ----

// Texts are copied out of the JSON tree, which goes away when its entry was read.
static etp_str copy(reader *r, const char *z)
{
    return etp_str_from(etp_arena_strdup(r->arena, etp_str_from(z)));
}

// Paths may have been made relative to where packages lie ("torch/nn/…"), and code that was made at
// run time has "<…>" in place of one.
bool etp_source_is_package(etp_str file)
{
    return etp_str_find(file, ETP_STR("site-packages/")) < file.len ||
           etp_str_find(file, ETP_STR("dist-packages/")) < file.len ||
           etp_str_starts(file, ETP_STR("torch/")) || etp_str_starts(file, ETP_STR("<"));
}

// `File "PATH", line N, in NAME`
static bool parse_frame(etp_str line, etp_str *file, uint32_t *number, etp_str *function)
{
    line = etp_str_trim(line, " ");
    // The path ends where its quote is followed by the line's number: one inside it does no harm.
    if (!etp_str_skip(&line, "File \"") || !etp_str_cut(&line, "\", line ", file)) {
        return false;
    }
    uint64_t n = 0;
    etp_str digits, before, rest = line;
    etp_str_cut(&rest, ",", &digits);
    if (!etp_parse_u64(digits, &n) || n > UINT32_MAX) {
        return false;
    }
    *number = (uint32_t)n;
    *function = etp_str_cut(&line, ", in ", &before) ? line : (etp_str){NULL, 0};
    return true;
}

// The maps have handles as numbers, a node's metadata, whose values are all texts, in decimal.
static bool parse_handle(const json_t *v, uint32_t *out)
{
    uint64_t handle = 0;
    if (json_is_integer(v) && json_integer_value(v) >= 0) {
        handle = (uint64_t)json_integer_value(v);
    } else if (!json_is_string(v) || !etp_parse_u64(etp_str_from(json_string_value(v)), &handle)) {
        return false;
    }
    *out = (uint32_t)handle;
    return handle <= UINT32_MAX;
}

// ---- graphs ----

static const char *member(const json_t *object, const char *key)
{
    const char *s = json_string_value(json_object_get(object, key));
    return ETP_OR(s, "");
}

// Of torch.export's ScalarType.
static etp_dtype float_of(const json_t *type)
{
    switch (json_integer_value(type)) {
    case 6:
        return ETP_DTYPE_FLOAT16;
    case 7:
        return ETP_DTYPE_FLOAT32;
    case 13:
        return ETP_DTYPE_BFLOAT16;
    default:
        return ETP_DTYPE_UNKNOWN;
    }
}

// A node without a handle is passed over: nothing in a program could refer to it.
static void add_source(reader *r, const json_t *tensors, const json_t *node, bool nested,
                       sources *list)
{
    const json_t *metadata = json_object_get(node, "metadata");
    etp_source s = {.nested = nested};
    if (!parse_handle(json_object_get(metadata, "debug_handle"), &s.handle)) {
        return;
    }
    // Where the operator lives in Python says nothing about it: "aten.addmm.default" is kept.
    static const char k_edge[] = "executorch.exir.dialects.edge.ops.";
    const char *target = member(node, "target");
    if (strncmp(target, k_edge, sizeof k_edge - 1) == 0) {
        target += sizeof k_edge - 1;
    }
    // NODE's first result, where it is a tensor; of 0 elements when its size is only known at run
    // time.
    const json_t *first = json_array_get(json_object_get(node, "outputs"), 0);
    const json_t *result =
        json_object_get(tensors, member(json_object_get(first, "as_tensor"), "name"));
    const json_t *sizes = json_object_get(result, "sizes"), *size = NULL;
    s.elements = json_is_array(sizes);
    size_t i = 0;
    json_array_foreach(sizes, i, size)
    {
        json_int_t d = json_integer_value(json_object_get(size, "as_int"));
        s.elements = d > 0 && s.elements <= INT64_MAX / d ? s.elements * d : 0;
    }
    s.dtype = float_of(json_object_get(result, "dtype"));
    s.node = copy(r, member(node, "name"));
    s.op = copy(r, target);
    s.stack = copy(r, member(metadata, "stack_trace"));
    s.module_stack = copy(r, member(metadata, "nn_module_stack"));
    // A stack trace is written as Python prints it, the innermost call last. What a reader looks
    // for is the line of his model, not that of the layer in PyTorch which it calls.
    etp_str rest = s.stack, text;
    bool own = false;
    while (etp_str_part(&rest, '\n', &text)) {
        etp_str file, function;
        uint32_t line = 0;
        if (!parse_frame(text, &file, &line, &function)) {
            continue;
        }
        bool package = etp_source_is_package(file);
        if (!package || !own) { // the last own frame, or the last of all
            s.file = file;
            s.line = line;
            s.function = function;
            own = own || !package;
        }
    }
    // "key,path,Type;key,path,Type": the last one is the innermost module.
    etp_str module = s.module_stack, key;
    while (etp_str_cut(&module, ";", &key)) {
    }
    if (etp_str_cut(&module, ",", &key) && etp_str_cut(&module, ",", &s.module)) {
        s.module_type = module;
    }
    ETP_ADD(r->arena, list, s);
}

// The branches of torch.cond and the like are graphs among the arguments of the node that calls
// them. Their nodes come directly after it.
static etp_status add_graph(reader *r, const json_t *graph, int depth, sources *list)
{
    size_t i = 0, k = 0;
    const json_t *node = NULL, *input = NULL;
    if (depth > MAX_GRAPH_DEPTH) {
        return etp_fail(r->err, ETP_CORRUPT, "graphs nested deeper than %d", MAX_GRAPH_DEPTH);
    }
    json_array_foreach(json_object_get(graph, "nodes"), i, node)
    {
        add_source(r, json_object_get(graph, "tensor_values"), node, depth > 0, list);
        json_array_foreach(json_object_get(node, "inputs"), k, input)
        {
            const json_t *inner = json_object_get(json_object_get(input, "arg"), "as_graph");
            if (inner) {
                ETP_TRY(add_graph(r, json_object_get(inner, "graph"), depth + 1, list));
            }
        }
    }
    return ETP_OK;
}

static int by_handle(const void *a, const void *b)
{
    const etp_source *const *x = a, *const *y = b;
    return etp_order_then(ETP_ORDER((*x)->handle, (*y)->handle),
                          ETP_ORDER(*x, *y)); // both point into one array: graph order
}

// ---- the zip ----

// Python writes NaN, Infinity and -Infinity, which JSON does not know. No value we read can be one
// of them, so a placeholder of the same length takes their place.
static void blank_constant(char *text, size_t len)
{
    static const char *const k_words[] = {"NaN", "Infinity", "-Infinity"};
    for (size_t i = 0; i < sizeof k_words / sizeof *k_words; i++) {
        size_t n = strlen(k_words[i]);
        if (len >= n && memcmp(text, k_words[i], n) == 0) {
            memset(text, ' ', n);
            text[0] = '0';
            return;
        }
    }
}

// Makes TEXT strict JSON and gives what its tree costs at most: values are separated by structure
// characters outside strings.
static uint64_t prepare_json(char *text, size_t len)
{
    uint64_t values = 1;
    bool in_string = false;
    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        if (in_string) {
            if (c == '\\') {
                i++;
            } else if (c == '"') {
                in_string = false;
            }
        } else if (c == '"') {
            in_string = true;
        } else if (c == ',' || c == ':' || c == '[' || c == '{') {
            values++;
        } else if (c == 'N' || c == 'I' || c == '-') {
            blank_constant(text + i, len - i);
        }
    }
    return values * BYTES_PER_JSON_VALUE + len;
}

// *out, one of the reader's, stays NULL when there is no such entry.
// What a tree costs is estimated before it is made, because jansson has no limit of its own: a
// value of two characters ("[]") costs it more than a hundred bytes.
static etp_status read_json(reader *r, const char *name, json_t **out)
{
    zip_stat_t stat;
    etp_arena scratch;
    if (zip_stat(r->zip, name, 0, &stat) != 0) {
        return ETP_OK;
    }
    if ((stat.valid & ZIP_STAT_SIZE) == 0 || stat.size > r->budget) {
        return etp_fail(r->err, ETP_CORRUPT, "entry %s unpacks to %llu bytes, more than allowed",
                        name, (unsigned long long)stat.size);
    }
    etp_arena_scratch(&scratch, r->arena);
    char *text = etp_arena_alloc_raw(&scratch, (size_t)stat.size + 1, 1);
    etp_str json = {text, (size_t)stat.size};
    etp_status status = etp_zip_unpack(r->zip, &stat, text, r->err);
    if (status == ETP_OK && prepare_json(text, json.len) > r->budget) {
        status =
            etp_fail(r->err, ETP_CORRUPT, "entry %s holds more values than its size allows", name);
    } else if (status == ETP_OK) {
        status = etp_json_parse(json, MAX_JSON_DEPTH, out, r->err);
        if (status != ETP_OK) {
            r->err->offset = ETP_NO_OFFSET; // it was one of the entry, not of the file
            (void)etp_fail_ctx(r->err, "entry %s", name);
        }
    }
    etp_arena_dispose(&scratch);
    return status;
}

static etp_status read_graph(reader *r, const char *entry, etp_record_method *out)
{
    sources list = {0};
    ETP_TRY(read_json(r, entry, &r->graph));
    const json_t *graph = json_object_get(json_object_get(r->graph, "graph_module"), "graph");
    etp_status status = add_graph(r, graph, 0, &list);
    json_decref(r->graph);
    r->graph = NULL;
    if (status != ETP_OK) {
        return etp_fail_ctx(r->err, "entry %s", entry);
    }
    // One source for each handle: of several nodes the first one with a stack trace.
    // Nodes that torch.export made of one operation share its handle.
    const etp_source **order = ETP_NEW_ARRAY(r->arena, const etp_source *, list.n);
    etp_source *merged = ETP_NEW_ARRAY(r->arena, etp_source, list.n);
    for (size_t i = 0; i < list.n; i++) {
        order[i] = &list.items[i];
    }
    if (list.n > 1) {
        qsort(order, list.n, sizeof *order, by_handle);
    }
    uint32_t n = 0;
    for (size_t i = 0; i < list.n; i++) {
        if (n == 0 || merged[n - 1].handle != order[i]->handle) {
            merged[n++] = *order[i];
        } else if (merged[n - 1].stack.len == 0) {
            merged[n - 1] = *order[i];
        }
    }
    out->sources = merged;
    out->n_sources = n;
    out->nodes = list.items;
    out->n_nodes = (uint32_t)list.n;
    return ETP_OK;
}

// ---- maps ----

// A kernel's entry is one handle, that of a delegate call a list of all handles in its partition.
static void handles_of(reader *r, const json_t *v, const uint32_t **out, uint32_t *out_n)
{
    size_t n = json_is_array(v) ? json_array_size(v) : 1;
    uint32_t *handles = ETP_NEW_ARRAY(r->arena, uint32_t, n);
    for (size_t i = 0; i < n; i++) {
        // One that cannot be read is left out: any number in its place would name another node.
        if (parse_handle(json_is_array(v) ? json_array_get(v, i) : v, &handles[*out_n])) {
            ++*out_n;
        }
    }
    *out = handles;
}

// XNNPACK leaves this map empty, since the nodes of its payload carry handles themselves; other
// backends tell the handles of their operators here.
static void read_delegate(reader *r, const json_t *delegate, etp_record_instruction *out)
{
    json_t *map = json_object_get(delegate, "delegate_map"), *value = NULL;
    const char *key = NULL;
    etp_record_delegate_op *ops =
        ETP_NEW_ARRAY(r->arena, etp_record_delegate_op, json_object_size(map));
    out->delegate = copy(r, member(delegate, "name"));
    json_object_foreach(map, key, value)
    {
        etp_record_delegate_op *op = &ops[out->n_delegate_ops++];
        op->id = copy(r, key);
        handles_of(r, value, &op->handles, &op->n_handles);
    }
    out->delegate_ops = ops;
}

static int by_index(const void *a, const void *b)
{
    const etp_record_instruction *x = a, *y = b;
    return ETP_ORDER(x->index, y->index);
}

// "debug_handle_map" of one method, with the delegates' names from "delegate_map".
static etp_status read_instructions(reader *r, json_t *map, const json_t *delegates,
                                    etp_record_method *out)
{
    size_t n = json_object_size(map);
    etp_record_instruction *items = ETP_NEW_ARRAY(r->arena, etp_record_instruction, n);
    const char *key = NULL;
    json_t *value = NULL;
    uint32_t made = 0;
    json_object_foreach(map, key, value)
    {
        // JSON has only texts for keys, so the number of an instruction comes as one.
        uint64_t index = 0;
        if (!etp_parse_u64(etp_str_from(key), &index) || index > UINT32_MAX) {
            return etp_fail(r->err, ETP_CORRUPT,
                            "debug_handle_map: \"%.32s\" is not an instruction", key);
        }
        items[made].index = (uint32_t)index;
        handles_of(r, value, &items[made].handles, &items[made].n_handles);
        read_delegate(r, json_object_get(delegates, key), &items[made]);
        made++;
    }
    if (made > 0) {
        qsort(items, made, sizeof *items, by_index);
    }
    out->instructions = items;
    out->n_instructions = made;
    return ETP_OK;
}

// ---- the record ----

static etp_status add_method(reader *r, const char *entry, const char *name, methods *list)
{
    etp_record_method m = {0};
    if (list->n >= MAX_METHODS) {
        return etp_fail(r->err, ETP_CORRUPT, "more than %d methods", MAX_METHODS);
    }
    m.name = copy(r, name);
    ETP_TRY(read_graph(r, entry, &m));
    ETP_ADD(r->arena, list, m);
    return ETP_OK;
}

static int by_name(const void *a, const void *b)
{
    const etp_record_method *x = a, *y = b;
    return etp_str_cmp(x->name, y->name);
}

// The marker decides and may stand anywhere, so all names are looked at before any entry is opened.
// Maps come last, since they are looked up by the methods that the graphs gave.
static etp_status read_entries(reader *r, etp_etrecord *out)
{
    zip_int64_t n = zip_get_num_entries(r->zip, 0);
    etp_record_entry *entries = ETP_NEW_ARRAY(r->arena, etp_record_entry, (size_t)ETP_MAX(n, 0));
    methods list = {0};
    bool has_marker = false;
    for (zip_int64_t i = 0; i < n; i++) {
        zip_stat_t stat;
        if (zip_stat_index(r->zip, (zip_uint64_t)i, 0, &stat) != 0 ||
            (stat.valid & ZIP_STAT_NAME) == 0) {
            return etp_fail(r->err, ETP_CORRUPT, "entry %lld of the archive is damaged",
                            (long long)i);
        }
        entries[i].name = copy(r, stat.name);
        entries[i].size = (stat.valid & ZIP_STAT_SIZE) != 0 ? stat.size : 0;
        has_marker = has_marker || strcmp(stat.name, "ETRECORD_V0") == 0;
    }
    if (!has_marker) {
        return etp_fail(r->err, ETP_UNSUPPORTED,
                        "a zip archive, but not an ETRecord: the entry ETRECORD_V0 is missing");
    }
    out->entries = entries;
    out->n_entries = (uint32_t)n;
    static const char k_prefix[] = GRAPHS "/";
    for (zip_int64_t i = 0; i < n; i++) {
        const char *name = entries[i].name.ptr;
        // Beside each graph stand its weights and inputs, named after it with an ending. They are
        // archives of PyTorch, not JSON.
        if (etp_str_ends(entries[i].name, ETP_STR("_state_dict")) ||
            etp_str_ends(entries[i].name, ETP_STR("_constants")) ||
            etp_str_ends(entries[i].name, ETP_STR("_example_inputs"))) {
            continue;
        }
        if (strcmp(name, GRAPHS) == 0) { // the spelling of single-method exporters
            ETP_TRY(add_method(r, name, "forward", &list));
        } else if (strncmp(name, k_prefix, sizeof k_prefix - 1) == 0) {
            ETP_TRY(add_method(r, name, name + sizeof k_prefix - 1, &list));
        }
    }
    // A map that is missing, or has nothing of a method, is no error: the method's nodes can be
    // found by their handles without it.
    ETP_TRY(read_json(r, "debug_handle_map", &r->handles));
    ETP_TRY(read_json(r, "delegate_map", &r->delegates));
    for (size_t i = 0; i < list.n; i++) {
        const char *name = list.items[i].name.ptr; // made by copy, so NUL-terminated
        ETP_TRY(read_instructions(r, json_object_get(r->handles, name),
                                  json_object_get(r->delegates, name), &list.items[i]));
    }
    if (list.n > 0) {
        qsort(list.items, list.n, sizeof *list.items, by_name);
    }
    out->methods = list.items;
    out->n_methods = (uint32_t)list.n;
    return ETP_OK;
}

static etp_status read_record(reader *r, etp_etrecord *out)
{
    ETP_GUARDED(r->arena, r->err, "the ETRecord", read_entries(r, out));
}

etp_status etp_etrecord_read(etp_bytes bytes, etp_arena *arena, etp_etrecord *out, etp_error *err)
{
    *out = (etp_etrecord){.file_size = bytes.len};
    etp_error local = {0};
    zip_error_t why;
    zip_error_init(&why);
    if (bytes.len < 4 || memcmp(bytes.ptr, "PK", 2) != 0) {
        return etp_fail_at(err, ETP_UNSUPPORTED, bytes.base, "not an ETRecord: not a zip archive");
    }
    zip_source_t *source = zip_source_buffer_create(bytes.ptr, bytes.len, 0, &why);
    zip_t *zip = source ? zip_open_from_source(source, ZIP_RDONLY | ZIP_CHECKCONS, &why) : NULL;
    if (!zip) {
        etp_status status =
            etp_fail(err, ETP_CORRUPT, "broken zip archive: %s", zip_error_strerror(&why));
        // An archive that was opened owns its source and frees it with itself.
        zip_source_free(source);
        zip_error_fini(&why);
        return status;
    }
    reader r = {.zip = zip, .arena = arena, .err = ETP_OR(err, &local)};
    r.budget = 2 * (uint64_t)bytes.len + MEMORY_SLACK;
    etp_status status = read_record(&r, out);
    json_decref(r.graph);
    json_decref(r.handles);
    json_decref(r.delegates);
    // Closing would look for changes to write back.
    zip_discard(zip);
    zip_error_fini(&why);
    return status;
}
