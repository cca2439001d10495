// SPDX-License-Identifier: Apache-2.0
// What a run folder keeps of the model: the program without its weights, and the source lines of
// its exporter's record. Both make the explanation independent of the model file.
#include <stdlib.h>
#include <string.h>

#include <etprof/pte.h>

#include "base/csv.h"
#include "base/number.h"
#include "document/layouts.h"
#include "store/internal.h"

#define MODEL_LIMIT ((uint64_t)64 << 30)
#define KEPT_LIMIT ((uint64_t)64 << 20) // program and payloads; weights do not count
#define MAX_SOURCES 1000000u

typedef struct range {
    uint64_t from, to;
} range;

const char *etp_run_program_name(etp_arena *arena, const etp_run *run, size_t model,
                                 const char *suffix)
{
    etp_str stem = run->models.items[model].stem;
    bool taken = false;
    for (size_t i = 0; i < model; i++) {
        taken = taken || etp_str_eq(run->models.items[i].stem, stem);
    }
    return taken ? etp_arena_printf(arena, ETP_RUN_PROGRAMS "/%.*s.%zu%s", ETP_STR_ARG(stem),
                                    model + 1, suffix)
                 : etp_arena_printf(arena, ETP_RUN_PROGRAMS "/%.*s%s", ETP_STR_ARG(stem), suffix);
}

static int by_place(const void *pa, const void *pb)
{
    const range *a = pa, *b = pb;
    return ETP_ORDER(a->from, b->from);
}

// The parts of the file that a reader of the graph needs, ascending. Weights live in the other
// segments, except in the payloads of old exporters, which cannot be taken apart.
static range *needed_ranges(const etp_pte *pte, etp_arena *arena, size_t *out_n,
                            uint64_t *out_bytes)
{
    size_t n = 0;
    range *ranges = ETP_NEW_ARRAY(arena, range, (size_t)pte->n_segments + 1);
    bool *wanted = ETP_NEW_ARRAY(arena, bool, (size_t)pte->n_segments + 1);
    if (!ranges || !wanted) {
        return NULL;
    }
    ranges[n++] = (range){0, pte->program_size};
    for (uint32_t m = 0; m < pte->n_methods; m++) {
        for (uint32_t d = 0; d < pte->methods[m].n_delegates; d++) {
            const etp_pte_delegate *delegate = &pte->methods[m].delegates[d];
            if (delegate->in_segment && etp_str_eqz(delegate->id, "XnnpackBackend")) {
                wanted[delegate->data_index] = true;
            }
        }
    }
    for (uint32_t i = 0; i < pte->n_segments; i++) {
        const etp_pte_segment *s = &pte->segments[i];
        if (wanted[i] && s->data.len > 0) {
            ranges[n++] = (range){s->offset, s->offset + s->data.len};
        }
    }
    qsort(ranges, n, sizeof *ranges, by_place);
    *out_n = n;
    *out_bytes = 0;
    for (size_t i = 0; i < n; i++) {
        *out_bytes += ranges[i].to - ranges[i].from;
    }
    return ranges;
}

// Offsets stay as they are: what is left out becomes a hole that reads as zeros.
static etp_status write_ranges(const char *dir, const char *name, etp_bytes file,
                               const range *ranges, size_t n, etp_error *err)
{
    ETP_TRY(etp_os_write_below(dir, name, (etp_str){0}, err));
    uint64_t at = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t from = ETP_MAX(ranges[i].from, at); // segments may overlap
        if (ranges[i].to <= from) {
            continue;
        }
        if (from > at) {
            ETP_TRY(etp_os_truncate_below(dir, name, from, err));
        }
        etp_str part = {(const char *)file.ptr + from, (size_t)(ranges[i].to - from)};
        ETP_TRY(etp_os_append_below(dir, name, part, err));
        at = ranges[i].to;
    }
    return at < file.len ? etp_os_truncate_below(dir, name, file.len, err) : ETP_OK;
}

// ---- sources ----

static etp_status write_sources(const char *dir, const char *name, const etp_etrecord *record,
                                etp_arena *arena, etp_error *err)
{
    etp_strbuf text;
    etp_strbuf_init(&text, arena);
    etp_sink sink = etp_sink_strbuf(&text);
    etp_layout_header(&sink, ETP_LAYOUT_SOURCES);
    for (uint32_t m = 0; m < record->n_methods; m++) {
        const etp_record_method *method = &record->methods[m];
        for (uint32_t i = 0; i < method->n_sources; i++) {
            const etp_source *s = &method->sources[i];
            etp_csv_cell(&sink, method->name, ',');
            etp_sink_printf(&sink, ",,%u,%u,", s->handle, s->line);
            const etp_str cells[] = {s->file, s->function, s->module, s->op};
            for (size_t k = 0; k < 4; k++) {
                etp_csv_cell(&sink, cells[k], ',');
                etp_sink_char(&sink, k < 3 ? ',' : '\n');
            }
        }
        for (uint32_t i = 0; i < method->n_instructions; i++) {
            const etp_record_instruction *in = &method->instructions[i];
            if (in->n_handles > 0 && in->delegate.len == 0) {
                etp_csv_cell(&sink, method->name, ',');
                etp_sink_printf(&sink, ",%u,%u,,,,,\n", in->index, in->handles[0]);
            }
        }
    }
    ETP_TRY(etp_arena_check(arena, err, "sources"));
    return etp_os_write_below(dir, name, etp_strbuf_str(&text), err);
}

const char *etp_run_record_beside(const char *model, etp_arena *arena)
{
    size_t len = strlen(model);
    const char *names[2] = {etp_arena_printf(arena, "%s.etrecord", model), NULL};
    if (len > 4 && strcmp(model + len - 4, ".pte") == 0) {
        names[1] = etp_arena_printf(arena, "%.*s.etrecord", (int)(len - 4), model);
    }
    for (size_t i = 0; i < 2; i++) {
        if (names[i] && etp_os_is_file(names[i])) {
            return names[i];
        }
    }
    return NULL;
}

etp_status etp_run_keep_program(etp_run_writer *w, size_t model, const char *path,
                                const etp_etrecord *record, const char **out_note, etp_error *err)
{
    *out_note = NULL;
    const char *graph = etp_run_program_name(w->arena, w->run, model, ".pte");
    const char *sources = etp_run_program_name(w->arena, w->run, model, ".sources.csv");
    ETP_TRY(etp_os_mkdirs_below(w->dir, ETP_RUN_PROGRAMS, err));
    etp_file file;
    etp_pte pte;
    etp_error why = {.offset = ETP_NO_OFFSET};
    ETP_TRY(etp_file_open(path, MODEL_LIMIT, &file, err));
    etp_status st = etp_pte_read(file.bytes, w->arena, &pte, &why);
    if (st == ETP_OK) {
        size_t n = 0;
        uint64_t bytes = 0;
        range *ranges = needed_ranges(&pte, w->arena, &n, &bytes);
        if (!ranges) {
            st = ETP_NOMEM;
        } else if (bytes > KEPT_LIMIT) {
            *out_note = "the program is too large to be kept beside the measurement";
        } else {
            st = write_ranges(w->dir, graph, file.bytes, ranges, n, err);
        }
    } else if (st != ETP_NOMEM) { // not ours to say: the runner will load it, or tell why not
        st = ETP_OK;
    }
    etp_file_close(&file);
    if (st == ETP_NOMEM) {
        return etp_fail_nomem(err, "the program");
    }
    ETP_TRY(st);
    return record ? write_sources(w->dir, sources, record, w->arena, err) : ETP_OK;
}

// ---- reading ----

typedef struct source_list {
    struct {
        etp_source *items;
        size_t n, cap;
    } sources;
    struct {
        etp_record_instruction *items;
        size_t n, cap;
    } instructions;
} source_list;

static etp_str copy_of(etp_str s, etp_arena *arena)
{
    return etp_str_from(etp_arena_strdup(arena, s));
}

static etp_status read_row(const etp_csv_row *row, source_list *list, etp_arena *arena,
                           etp_error *err)
{
    uint64_t handle = 0, instruction = 0, line = 0;
    bool is_instruction = row->n == 8 && row->cells[1].len > 0;
    bool ok = row->n == 8 && etp_parse_u64(row->cells[2], &handle) && handle <= UINT32_MAX;
    if (ok && is_instruction) {
        ok = etp_parse_u64(row->cells[1], &instruction) && instruction <= UINT32_MAX;
    } else if (ok) {
        ok = etp_parse_u64(row->cells[3], &line) && line <= UINT32_MAX;
    }
    if (!ok) {
        return etp_fail_at(err, ETP_CORRUPT, row->offset, "line %llu is not a source",
                           (unsigned long long)row->line);
    }
    if (is_instruction) {
        uint32_t *handles = ETP_NEW_ARRAY(arena, uint32_t, 1);
        etp_record_instruction in = {
            .index = (uint32_t)instruction, .handles = handles, .n_handles = 1};
        ETP_NEED(handles, err, "sources");
        handles[0] = (uint32_t)handle;
        ETP_ADD(arena, &list->instructions, in);
        return ETP_OK;
    }
    const etp_source s = {.handle = (uint32_t)handle,
                          .line = (uint32_t)line,
                          .file = copy_of(row->cells[4], arena),
                          .function = copy_of(row->cells[5], arena),
                          .module = copy_of(row->cells[6], arena),
                          .op = copy_of(row->cells[7], arena)};
    ETP_ADD(arena, &list->sources, s);
    return ETP_OK;
}

static int by_handle(const void *pa, const void *pb)
{
    const etp_source *a = pa, *b = pb;
    return ETP_ORDER(a->handle, b->handle);
}

static int by_index(const void *pa, const void *pb)
{
    const etp_record_instruction *a = pa, *b = pb;
    return ETP_ORDER(a->index, b->index);
}

// Look-ups search by bisection, and the file may have been edited.
static void finish_method(etp_record_method *m, source_list *list)
{
    if (list->sources.n) {
        qsort(list->sources.items, list->sources.n, sizeof *list->sources.items, by_handle);
    }
    if (list->instructions.n) {
        qsort(list->instructions.items, list->instructions.n, sizeof *list->instructions.items,
              by_index);
    }
    m->sources = list->sources.items;
    m->n_sources = (uint32_t)list->sources.n;
    m->instructions = list->instructions.items;
    m->n_instructions = (uint32_t)list->instructions.n;
    *list = (source_list){0};
}

static int by_name(const void *pa, const void *pb)
{
    const etp_record_method *a = pa, *b = pb;
    return etp_str_cmp(a->name, b->name);
}

etp_status etp_run_read_sources(etp_str text, etp_arena *arena, etp_etrecord *out, etp_error *err)
{
    *out = (etp_etrecord){.file_size = text.len};
    struct {
        etp_record_method *items;
        size_t n, cap;
    } methods = {0};
    etp_csv_reader reader;
    etp_csv_row row = {0};
    source_list list = {0};
    bool more = false;
    size_t n = 0;
    etp_csv_open(&reader, text, arena);
    ETP_TRY(etp_csv_next(&reader, &row, &more, err));
    if (!more || row.n != 8 || etp_csv_column(&row, "handle") != 2) {
        return etp_layout_fail(ETP_LAYOUT_SOURCES, err);
    }
    for (;;) {
        ETP_TRY(etp_csv_next(&reader, &row, &more, err));
        if (!more) {
            break;
        }
        if (++n > MAX_SOURCES) {
            return etp_fail(err, ETP_CORRUPT, "more than %u sources", MAX_SOURCES);
        }
        if (methods.n == 0 || !etp_str_eq(methods.items[methods.n - 1].name, row.cells[0])) {
            if (methods.n > 0) {
                finish_method(&methods.items[methods.n - 1], &list);
            }
            etp_record_method method = {.name = copy_of(row.cells[0], arena)};
            ETP_ADD(arena, &methods, method);
        }
        ETP_TRY(read_row(&row, &list, arena, err));
    }
    if (methods.n > 0) {
        finish_method(&methods.items[methods.n - 1], &list);
        qsort(methods.items, methods.n, sizeof *methods.items, by_name);
    }
    out->methods = methods.items;
    out->n_methods = (uint32_t)methods.n;
    return ETP_OK;
}
