// SPDX-License-Identifier: Apache-2.0
// Keeps what a sampled launch gave. A sample belongs to the operator whose interval in the
// recording of the same process contains its time; the recording's clock and the sampler's are tied
// together by the epoch that the runner reports.
//
// XNNPACK stamps the end of each operator of a partition but the recording holds whole
// microseconds, rounded down and laid end to end: the k-th operator is shown up to k µs early.
// Intervals are moved by the expected half, and a sample nearer to an edge than what is left is
// marked unsure.
#include "measure/sampled.h"

#include <etprof/etdump.h>
#include <stdlib.h>

#include "base/csv.h"
#include "base/number.h"
#include "document/layouts.h"

#define RAW_LIMIT ((uint64_t)256 << 20)
#define DUMP_LIMIT ((uint64_t)1 << 30)
#define LIBRARY_LIMIT ((uint64_t)2 << 30)
// Some seconds at the kernel's 250 samples a second give a thousand: a million is nobody's
// measurement.
#define MAX_SAMPLES ((size_t)1 << 20)
#define MAX_FUNCTION ((uint64_t)64 << 10) // bytes of code kept of one function
#define MAX_CODE ((size_t)8 << 20)        // of all together
#define WINDOW 256                        // bytes kept around an address without function

uint64_t etp_sampled_iterations(uint64_t each_ns, uint64_t for_ns)
{
    uint64_t n = each_ns ? for_ns / each_ns : 100;
    if (n < ETP_SAMPLED_MIN) {
        return ETP_SAMPLED_MIN;
    }
    return ETP_MIN(n, ETP_SAMPLED_MAX);
}

typedef struct sample {
    uint64_t time_ns, thread, address;
    uint32_t module; // ETP_NO_INDEX: outside any
    etp_str symbol, streaming;
    int64_t iteration; // −1 outside
    etp_str operator_name;
    int32_t chain, instruction;
    bool in_operator, sure;
} sample;

typedef struct module {
    etp_str name;
    const etp_image *image; // NULL: not found or not readable
} module;

typedef struct part { // code that samples point into
    uint32_t module;
    etp_function function;
} part;

typedef struct sampled_launch {
    etp_arena *arena;
    struct {
        sample *items;
        size_t n, cap;
    } samples;
    module modules[ETP_SAMPLED_MODULES];
    uint32_t n_modules;
    struct {
        part *items;
        size_t n, cap;
    } parts;
} sampled_launch;

// ---- what the runner wrote ----

// A handful of libraries are sampled, so a list does. What comes when it is full counts as outside
// any.
static uint32_t module_of(sampled_launch *k, etp_str name)
{
    if (name.len == 0) {
        return ETP_NO_INDEX;
    }
    for (uint32_t i = 0; i < k->n_modules; i++) {
        if (etp_str_eq(k->modules[i].name, name)) {
            return i;
        }
    }
    if (k->n_modules == ETP_SAMPLED_MODULES) {
        return ETP_NO_INDEX;
    }
    k->modules[k->n_modules].name = name;
    return k->n_modules++;
}

static etp_status read_raw(sampled_launch *k, etp_str text, etp_error *err)
{
    static const char *const k_names[] = {"time_ns", "thread", "module",
                                          "address", "symbol", "streaming"};
    int at[6];
    etp_csv_reader reader;
    etp_csv_row row = {0};
    bool more = false;
    etp_csv_open(&reader, text, k->arena);
    ETP_TRY(etp_csv_next(&reader, &row, &more, err));
    for (int i = 0; i < 6; i++) {
        at[i] = more ? etp_csv_column(&row, k_names[i]) : -1;
        if (at[i] < 0) {
            return etp_fail_at(err, ETP_CORRUPT, 0, "samples without a column %s", k_names[i]);
        }
    }
    for (;;) {
        ETP_TRY(etp_csv_next(&reader, &row, &more, err));
        if (!more) {
            return ETP_OK;
        }
        sample s = {.iteration = -1};
        etp_str cells[6];
        for (int i = 0; i < 6; i++) {
            cells[i] = (size_t)at[i] < row.n ? row.cells[at[i]] : (etp_str){0};
        }
        bool has_module = cells[2].len > 0;
        if (!etp_parse_u64(cells[0], &s.time_ns) || !etp_parse_u64(cells[1], &s.thread) ||
            (has_module && !etp_parse_u64(cells[3], &s.address))) {
            return etp_fail_at(err, ETP_CORRUPT, row.offset,
                               "line %llu of the samples is not a sample",
                               (unsigned long long)row.line);
        }
        s.module = module_of(k, cells[2]);
        s.symbol = cells[4];
        s.streaming = cells[5];
        if (k->samples.n >= MAX_SAMPLES) {
            return etp_fail_at(err, ETP_CORRUPT, row.offset, "more than %zu samples", MAX_SAMPLES);
        }
        ETP_ADD(k->arena, &k->samples, s);
    }
}

// ---- time ----

static int by_time(const void *pa, const void *pb)
{
    const sample *a = pa, *b = pb;
    return etp_order_then(ETP_ORDER(a->time_ns, b->time_ns), ETP_ORDER(a->thread, b->thread));
}

typedef struct placing { // of operators within one partition, as they follow each other
    int32_t chain, instruction;
    uint64_t count;
} placing;

// Gives the samples [first, last) that lie in an event of RUN its name; the shortest event wins.
static void place_in_run(sampled_launch *k, const etp_etdump_run *run, uint64_t epoch, size_t first,
                         size_t last)
{
    placing p = {-2, -2, 0};
    uint64_t *shortest = etp_arena_alloc_array(k->arena, last - first + 1, sizeof *shortest);
    for (size_t e = 0; shortest && e < run->n_events; e++) {
        etp_etdump_profile ev;
        if (!etp_etdump_profile_of(etp_etdump_event_at(run, e), &ev) || ev.end <= ev.start ||
            ev.end > UINT64_MAX - epoch) {
            continue;
        }
        bool inside = ev.delegate_id_str.ptr != NULL;
        etp_str name = inside ? ev.delegate_id_str : ev.name;
        // It contains everything; only what lies in it has kernels.
        if (etp_str_eqz(name, "Method::execute")) {
            continue;
        }
        uint64_t blur = 0;
        if (inside) {
            bool same = p.chain == ev.chain_index && p.instruction == ev.instruction_id;
            // COUNT is how many operators of the partition came before: only the first is not
            // early.
            p = (placing){ev.chain_index, ev.instruction_id, same ? p.count + 1 : 0};
            blur = 500 * p.count;
        }
        uint64_t start = epoch + ev.start + blur, end = epoch + ev.end + blur,
                 length = ev.end - ev.start;
        for (size_t i = first; i < last; i++) {
            sample *s = &k->samples.items[i];
            if (s->time_ns < start || s->time_ns >= end ||
                (s->in_operator && shortest[i - first] <= length)) {
                continue;
            }
            shortest[i - first] = length;
            s->in_operator = true;
            s->operator_name = name;
            s->chain = ev.chain_index;
            s->instruction = ev.instruction_id;
            uint64_t edge = ETP_MIN(s->time_ns - start, end - s->time_ns);
            // An operator of a delegate may have begun up to BLUR earlier or later than shown, and
            // its microsecond is rounded; others are stamped to the nanosecond.
            s->sure = edge >= blur + (inside ? 1000 : 0);
        }
    }
}

// It ends last, so it is looked for from the end.
static bool execute_of(const etp_etdump_run *run, uint64_t *start, uint64_t *end)
{
    for (size_t e = run->n_events; e > 0; e--) {
        etp_etdump_profile ev;
        if (etp_etdump_profile_of(etp_etdump_event_at(run, e - 1), &ev) &&
            etp_str_eqz(ev.name, "Method::execute")) {
            *start = ev.start;
            *end = ev.end;
            return true;
        }
    }
    return false;
}

static void place_in_operators(sampled_launch *k, const etp_etdump *dump, uint64_t epoch)
{
    size_t first = 0;
    for (size_t r = 0; r < dump->n_runs && first < k->samples.n; r++) {
        etp_etdump_run run = etp_etdump_run_at(dump, r);
        uint64_t start, end;
        if (!execute_of(&run, &start, &end) || end > UINT64_MAX - epoch) {
            continue;
        }
        while (first < k->samples.n && k->samples.items[first].time_ns < epoch + start) {
            first++;
        }
        size_t last = first;
        while (last < k->samples.n && k->samples.items[last].time_ns < epoch + end) {
            last++;
        }
        place_in_run(k, &run, epoch, first, last);
        first = last;
    }
}

// ---- code ----

// Looked for in the bundle alone, and by bare names: what the runner wrote must not choose a file
// of this machine. A name that led to nothing is kept too, and is not looked for again.
static const etp_image *open_library(const etp_device *device, etp_sampled_libraries *l,
                                     etp_str name)
{
    static const char *const k_folders[] = {"", "sdk/", "lib/"};
    for (uint32_t i = 0; i < l->n; i++) {
        if (etp_str_eq(l->items[i].name, name)) {
            return l->items[i].image;
        }
    }
    bool plain =
        name.len < 256 && etp_str_find(name, ETP_STR("/")) == name.len && name.ptr[0] != '.';
    const char *kept = etp_arena_strdup(&l->arena, name);
    if (l->n == ETP_SAMPLED_MODULES || !plain || !kept) {
        return NULL;
    }
    uint32_t at = l->n++;
    l->items[at].name = etp_str_from(kept);
    for (size_t f = 0; f < sizeof k_folders / sizeof *k_folders && !l->items[at].image; f++) {
        const char *path =
            etp_arena_printf(&l->arena, "%s/%s%s", device->bundle.dir, k_folders[f], kept);
        etp_file *file = &l->items[at].file;
        if (!path || !etp_os_is_file(path) ||
            etp_file_open(path, LIBRARY_LIMIT, file, NULL) != ETP_OK) {
            continue;
        }
        if (etp_image_open(file->bytes, &l->arena, &l->items[at].image, NULL) != ETP_OK) {
            l->items[at].image = NULL;
            etp_file_close(file);
        }
    }
    return l->items[at].image;
}

void etp_sampled_close(etp_sampled_libraries *libraries)
{
    for (uint32_t i = 0; i < libraries->n; i++) {
        etp_file_close(&libraries->items[i].file);
    }
    etp_arena_dispose(&libraries->arena);
    libraries->n = 0;
}

static int by_place(const void *pa, const void *pb)
{
    const part *a = pa, *b = pb;
    return etp_order_then(ETP_ORDER(a->module, b->module),
                          ETP_ORDER(a->function.start, b->function.start));
}

// The function around an address; without bounds a window, which on x86-64 begins at the sampled
// instruction because nothing before it can be decoded.
static part part_of(const module *mod, uint32_t index, uint64_t address)
{
    part p = {.module = index};
    if (etp_image_function(mod->image, address, &p.function)) {
        if (p.function.end - p.function.start > MAX_FUNCTION) {
            p.function.end = p.function.start + MAX_FUNCTION;
        }
        if (address < p.function.end) {
            return p;
        }
    }
    bool a64 = etp_image_machine(mod->image) == ETP_MACHINE_AARCH64;
    p.function =
        (etp_function){a64 ? address & ~(uint64_t)(WINDOW - 1) : address, 0, {0}, ETP_BOUNDS_NONE};
    p.function.end = p.function.start + WINDOW;
    return p;
}

static void collect_parts(sampled_launch *k)
{
    for (size_t i = 0; i < k->samples.n; i++) {
        const sample *s = &k->samples.items[i];
        if (s->module == ETP_NO_INDEX || !k->modules[s->module].image ||
            s->address > UINT64_MAX - WINDOW) {
            continue;
        }
        part p = part_of(&k->modules[s->module], s->module, s->address);
        ETP_ADD(k->arena, &k->parts, p);
    }
    if (k->parts.n > 1) {
        qsort(k->parts.items, k->parts.n, sizeof *k->parts.items, by_place);
    }
    // Thousands of samples lie in some dozens of functions: each is kept once.
    size_t kept = 0;
    for (size_t i = 0; i < k->parts.n; i++) {
        if (kept == 0 || by_place(&k->parts.items[kept - 1], &k->parts.items[i]) != 0) {
            k->parts.items[kept++] = k->parts.items[i];
        }
    }
    k->parts.n = kept;
}

static etp_status write_files(const sampled_launch *k, const etp_sampled_files *files,
                              etp_error *err)
{
    etp_strbuf text;
    etp_strbuf_init(&text, k->arena);
    etp_sink sink = etp_sink_strbuf(&text);
    etp_layout_header(&sink, ETP_LAYOUT_CODE_SAMPLES);
    for (size_t i = 0; i < k->samples.n; i++) {
        const sample *s = &k->samples.items[i];
        etp_sink_printf(&sink, "%llu,%llu,", (unsigned long long)s->time_ns,
                        (unsigned long long)s->thread);
        if (s->module != ETP_NO_INDEX) {
            etp_csv_cell(&sink, k->modules[s->module].name, ',');
            etp_sink_printf(&sink, ",0x%llx,", (unsigned long long)s->address);
        } else {
            etp_sink_z(&sink, ",,");
        }
        etp_csv_cell(&sink, s->symbol, ',');
        etp_sink_char(&sink, ',');
        etp_csv_cell(&sink, s->streaming, ',');
        etp_sink_char(&sink, ',');
        if (s->iteration >= 0) {
            etp_sink_printf(&sink, "%lld", (long long)s->iteration);
        }
        if (s->in_operator) {
            etp_sink_printf(&sink, ",%d,%d,", s->chain, s->instruction);
            etp_csv_cell(&sink, s->operator_name, ',');
            etp_sink_z(&sink, s->sure ? ",1\n" : ",0\n");
        } else {
            etp_sink_z(&sink, ",,,,\n");
        }
    }
    ETP_TRY(etp_arena_check(k->arena, err, "samples"));
    ETP_TRY(
        etp_run_keep_file(files->settings, files->dir, files->samples, etp_strbuf_str(&text), err));
    // The same buffer once more: the first file is written.
    text.len = 0;
    size_t total = 0;
    etp_layout_header(&sink, ETP_LAYOUT_CODE);
    for (size_t i = 0; i < k->parts.n; i++) {
        const etp_function *f = &k->parts.items[i].function;
        const module *mod = &k->modules[k->parts.items[i].module];
        etp_bytes code = {0};
        if (!etp_image_code(mod->image, f->start, f->end, &code) || code.len > MAX_CODE - total) {
            code.len = 0; // at the end of a segment: listed without code
        }
        total += code.len;
        etp_csv_cell(&sink, mod->name, ',');
        etp_sink_printf(&sink, ",%s,%.*s,0x%llx,0x%llx,%s,",
                        etp_machine_name(etp_image_machine(mod->image)),
                        ETP_STR_ARG(etp_image_build_id(mod->image)), (unsigned long long)f->start,
                        (unsigned long long)f->end, etp_bounds_name(f->bounds));
        etp_csv_cell(&sink, f->symbol, ',');
        etp_sink_char(&sink, ',');
        for (size_t b = 0; b < code.len; b++) {
            etp_sink_char(&sink, "0123456789abcdef"[code.ptr[b] >> 4]);
            etp_sink_char(&sink, "0123456789abcdef"[code.ptr[b] & 15]);
        }
        etp_sink_char(&sink, '\n');
    }
    ETP_TRY(etp_arena_check(k->arena, err, "code"));
    return etp_run_keep_file(files->settings, files->dir, files->code, etp_strbuf_str(&text), err);
}

// ---- all together ----

static etp_status join(sampled_launch *k, const etp_launch_outcome *o,
                       const etp_sampled_files *files, etp_file *raw, etp_file *recording,
                       etp_error *err)
{
    etp_etdump dump;
    ETP_TRY(etp_file_open(files->raw, RAW_LIMIT, raw, err));
    ETP_TRY(etp_file_open(files->dump, DUMP_LIMIT, recording, err));
    ETP_TRY(read_raw(k, (etp_str){(const char *)raw->bytes.ptr, raw->bytes.len}, err));
    ETP_TRY(etp_etdump_open(recording->bytes, &dump, err));
    if (k->samples.n > 1) {
        qsort(k->samples.items, k->samples.n, sizeof *k->samples.items, by_time);
    }
    // What came before the warm-up ended is of no use.
    uint64_t begin = o->n_iterations ? o->iterations[o->n_warmup].start_ns : 0;
    size_t early = 0;
    while (early < k->samples.n && k->samples.items[early].time_ns < begin) {
        early++;
    }
    if (early > 0) {
        k->samples.n -= early;
        memmove(k->samples.items, k->samples.items + early,
                k->samples.n * sizeof *k->samples.items);
    }
    // Both lists rise in time, so one pass over the two is enough.
    uint64_t i = o->n_warmup, end = o->n_warmup + o->n_iterations;
    for (size_t n = 0; n < k->samples.n; n++) {
        sample *s = &k->samples.items[n];
        while (i < end && o->iterations[i].start_ns + o->iterations[i].ns <= s->time_ns) {
            i++;
        }
        if (i < end && o->iterations[i].start_ns <= s->time_ns) {
            s->iteration = (int64_t)i;
        }
    }
    place_in_operators(k, &dump, o->epoch_ns);
    return ETP_OK;
}

etp_status etp_sampled_keep(const etp_device *device, etp_sampled_libraries *libraries,
                            const etp_launch_outcome *o, const etp_sampled_files *files,
                            etp_arena *arena, etp_error *err)
{
    sampled_launch *k = ETP_NEW(arena, sampled_launch);
    ETP_NEED(k, err, "samples");
    k->arena = arena;
    // Names of samples and operators point into both files until the two new ones are written.
    etp_file raw = {0}, recording = {0};
    etp_status st = join(k, o, files, &raw, &recording, err);
    if (st == ETP_OK) {
        for (uint32_t m = 0; m < k->n_modules; m++) {
            k->modules[m].image = open_library(device, libraries, k->modules[m].name);
        }
        collect_parts(k);
        st = write_files(k, files, err);
    }
    etp_file_close(&recording);
    etp_file_close(&raw);
    return st;
}
