// SPDX-License-Identifier: Apache-2.0
// Roofs of this machine: measuring or remembering them, the document, the report.
#include "answer/roofs.h"

#include <etprof/version.h>
#include <stdlib.h>

#include "base/csv.h"
#include "base/number.h"
#include "base/sha256.h"
#include "os/os.h"

#define CACHE_LIMIT ((size_t)1 << 20)

static const char k_head[] = "isa,what,unit,bytes,best,median\n";

// ---- cache ----

// One file per CPU, its visible features, governor and version of the tool.
static const char *cache_path(const etp_roofs_answer *a, const etp_isa_cpu *cpu, const char *dir, etp_arena *arena)
{
    char features[ETP_ISA_TEXT_MAX], hex[ETP_SHA256_HEX_CHARS];
    etp_isa_cpu_format(cpu, features, sizeof features);
    const char *key = etp_arena_printf(arena, "%s|%s|%s|%s", ETP_VERSION, a->cpu, a->governor, features);
    if (!key) {
        return NULL;
    }
    etp_sha256 h;
    etp_sha256_init(&h);
    etp_sha256_update(&h, key, strlen(key));
    etp_sha256_hex(&h, hex);
    return etp_arena_printf(arena, "%s/%.16s.csv", dir, hex);
}

static etp_status write_cache(const etp_roofs *roofs, const char *path, etp_arena *arena, etp_error *err)
{
    etp_strbuf b;
    etp_strbuf_init(&b, arena);
    etp_strbuf_appendz(&b, k_head);
    for (size_t i = 0; i < roofs->n; i++) {
        const etp_roof *r = &roofs->items[i];
        char best[ETP_NUMBER_CHARS], median[ETP_NUMBER_CHARS];
        etp_strbuf_printf(&b, "%s,%s,%s,%llu,%s,%s\n", r->isa, r->what, r->unit, (unsigned long long)r->bytes,
                          etp_format_double(r->best, best), etp_format_double(r->median, median));
    }
    return b.failed ? etp_fail_nomem(err, "roofs") : etp_os_write_atomic(path, etp_strbuf_str(&b), err);
}

static bool read_cache(const char *path, etp_arena *arena, etp_roofs *out)
{
    etp_str text;
    etp_csv_reader reader;
    etp_csv_row row = {0};
    bool more = false;
    *out = (etp_roofs){0};
    if (!etp_os_is_file(path) || etp_os_read_text(path, CACHE_LIMIT, arena, &text, NULL) != ETP_OK ||
        !etp_str_starts(text, etp_str_from(k_head))) {
        return false;
    }
    etp_csv_open(&reader, text, ',', arena);
    for (bool head = true;; head = false) {
        if (etp_csv_next(&reader, &row, &more, NULL) != ETP_OK) {
            return false;
        }
        if (!more) {
            return out->n > 0;
        }
        if (head) {
            continue;
        }
        etp_roof r = {0};
        if (row.n != 6 || !etp_parse_u64(row.cells[3], &r.bytes) || !etp_parse_double(row.cells[4], &r.best) ||
            !etp_parse_double(row.cells[5], &r.median)) {
            return false;
        }
        r.isa = etp_arena_strdup(arena, row.cells[0]);
        r.what = etp_arena_strdup(arena, row.cells[1]);
        r.unit = etp_arena_strdup(arena, row.cells[2]);
        if (!r.isa || !r.what || !r.unit || !ETP_PUSH(arena, out, r)) {
            return false;
        }
    }
}

etp_status etp_roofs_here(const char *cache_dir, double seconds, bool fresh, etp_arena *arena,
                          etp_roofs_answer *out, etp_error *err)
{
    *out = (etp_roofs_answer){0};
    etp_os_facts facts;
    etp_os_state state;
    etp_isa_cpu cpu;
    etp_os_facts_read(&facts);
    etp_os_state_read(&state);
    etp_isa_cpu_detect(&cpu);
    out->cpu = etp_arena_strdup(arena, etp_str_from(facts.cpu));
    out->governor = etp_arena_strdup(arena, etp_str_from(state.governor));
    if (!out->cpu || !out->governor) {
        return etp_fail_nomem(err, "roofs");
    }
    const char *path = cache_path(out, &cpu, cache_dir, arena);
    if (!path) {
        return etp_fail_nomem(err, "roofs");
    }
    if (!fresh && read_cache(path, arena, &out->roofs)) {
        out->cached = true;
        return ETP_OK;
    }
    ETP_TRY(etp_roofs_measure(&cpu, seconds, etp_os_now_ns, arena, &out->roofs, err));
    ETP_TRY(etp_os_mkdirs(cache_dir, err));
    return write_cache(&out->roofs, path, arena, err);
}

// ---- showing ----

void etp_roofs_json(const void *data, etp_json *j)
{
    const etp_roofs_answer *a = data;
    etp_json_begin_object(j);
    etp_json_kv_z(j, "schema", "etprof.roofs/1");
    etp_json_kv_z(j, "cpu", a->cpu[0] ? a->cpu : NULL);
    etp_json_kv_z(j, "governor", a->governor[0] ? a->governor : NULL);
    etp_json_kv_u64(j, "threads", 1);
    etp_json_key(j, "roofs");
    etp_json_begin_array(j);
    for (size_t i = 0; i < a->roofs.n; i++) {
        const etp_roof *r = &a->roofs.items[i];
        etp_json_begin_object_inline(j);
        etp_json_kv_z(j, "isa", r->isa[0] ? r->isa : NULL);
        etp_json_kv_z(j, "what", r->what);
        etp_json_kv_z(j, "unit", r->unit);
        if (r->bytes) {
            etp_json_kv_u64(j, "working_set_bytes", r->bytes);
        } else {
            etp_json_kv_null(j, "working_set_bytes");
        }
        etp_json_kv_ratio(j, "best", r->best);
        etp_json_kv_ratio(j, "median", r->median);
        etp_json_end(j);
    }
    etp_json_end(j);
    etp_json_end(j);
    etp_json_end_document(j);
}

const etp_report *etp_roofs_report(const etp_roofs_answer *a, etp_arena *arena)
{
    static const etp_column k_columns[] = {
        {.key = "what", .title = "what"},
        {.key = "isa", .title = "instruction set"},
        {.key = "bytes", .title = "working set", .kind = ETP_KIND_BYTES},
        {.key = "best", .title = "best", .kind = ETP_KIND_DOUBLE, .decimals = 1},
        {.key = "median", .title = "median", .kind = ETP_KIND_DOUBLE, .decimals = 1},
        {.key = "unit", .title = "unit"},
    };
    etp_report *r = etp_report_create(arena, "roofs of this machine");
    etp_report_subtitle(r, "%s, one thread%s", a->cpu[0] ? a->cpu : "unknown CPU",
                        a->cached ? " (measured earlier; --fresh measures again)" : "");
    etp_report_section(r, 1, "roofs-section", "What it can do at most");
    etp_table *t = etp_report_table(r, "roofs", NULL, k_columns, 6);
    for (size_t i = 0; i < a->roofs.n; i++) {
        const etp_roof *x = &a->roofs.items[i];
        bool rate = strcmp(x->unit, "ns") != 0;
        double scale = rate ? 1e-9 : 1;
        ETP_ROW(t, etp_cell_z(x->what), etp_cell_z(x->isa[0] ? x->isa : NULL),
                x->bytes ? etp_cell_u64(x->bytes) : etp_cell_missing(), etp_cell_double(x->best * scale),
                etp_cell_double(x->median * scale),
                etp_cell_z(!rate ? "ns" : strcmp(x->unit, "op/s") == 0 ? "Gop/s" : "GB/s"));
    }
    return r;
}
