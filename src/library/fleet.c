// SPDX-License-Identifier: Apache-2.0
// Sources of a fleet: which kind each is, what it is known by, and its rows.
#include <etprof/fleet.h>

#include "base/sha256.h"
#include "convert/fleet_rows.h"
#include "library/fleet_known.h"
#include "library/run_tables.h"

// A bound on what one hostile file makes a reader of a lake map.
#define DUMP_LIMIT ((uint64_t)8 << 30)

// What a source is known by. It is empty where the source could not be read, so that nobody enters
// a damaged file as one that a lake has.
typedef struct source_id {
    char hex[ETP_SHA256_HEX_CHARS];
    bool left_out;
} source_id;

struct etp_fleet {
    etp_arena arena; // owns this struct
    etp_kept_rows rows[ETP_FLEET_TABLES];
    etp_dump_memory memory;
    bool new_only;
    etp_fleet_known *known;  // the caller's; NULL: nothing is
    etp_fleet_known *itself; // what was read here, when NEW_ONLY
    source_id *ids;
    size_t n_ids;
};

// The names are the values of the column `kind`. What cannot be opened at all counts as a dump:
// nothing told otherwise.
enum { DUMP, RUN };
static const char *const k_kinds[] = {"dump", "run"};

// Each source is opened once; a question to the system before it would be a second way there.
// Without asking the system: a folder of that name cannot be opened as a file.
static bool is_dump_name(const char *path)
{
    etp_str name = etp_str_from(path);
    return etp_str_ends(name, ETP_STR(".etdump")) || etp_str_ends(name, ETP_STR(".etdp"));
}

// ---- what a source is known by ----

// The manifest stands for the folder: that of a finished session has the hash of every raw file, so
// that two folders with the same manifest hold the same session under any name.
static etp_status id_of_folder(const char *dir, char out_hex[static 65], etp_error *err)
{
    etp_arena arena = {0};
    const char *manifest = etp_run_path(&arena, dir, ETP_STR(ETP_RUN_MANIFEST));
    etp_status status = etp_os_hash_file(manifest, out_hex, NULL, err);
    etp_arena_dispose(&arena);
    return status;
}

etp_status etp_fleet_id(const char *path, char out_hex[65], etp_error *err)
{
    out_hex[0] = '\0';
    return etp_os_is_dir(path) ? id_of_folder(path, out_hex, err)
                               : etp_os_hash_file(path, out_hex, NULL, err);
}

// ---- rows ----

static etp_status put_analysis(etp_fleet *fleet, const etp_fleet_source *source,
                               const etp_ab_session *session, etp_error *err)
{
    etp_arena arena = {0};
    const etp_run *run = etp_ab_run(session);
    etp_run whole; // a session of several phases has the first one's
    json_t *report = NULL;
    etp_status status = etp_session_document(session, &report, err);
    if (status == ETP_OK && run->phases.n > 0) {
        status = etp_run_open(source->path, &arena, &whole, err);
        run = &whole;
    }
    if (status == ETP_OK) {
        status = etp_fleet_put_run(fleet->rows, source, run, report, err);
    }
    etp_arena_dispose(&arena);
    json_decref(report);
    return status;
}

// Whether ID needs no reading: its rows are somewhere already.
static bool is_left_out(const etp_fleet *fleet, source_id *id)
{
    id->left_out = fleet->new_only && (etp_fleet_known_has(fleet->known, id->hex) ||
                                       etp_fleet_known_has(fleet->itself, id->hex));
    return id->left_out;
}

static etp_status put_trace(etp_fleet *fleet, const etp_fleet_source *source, etp_bytes bytes,
                            etp_error *err)
{
    etp_trace *trace = NULL;
    etp_status status = etp_trace_open(bytes, NULL, &trace, err);
    if (status == ETP_OK) {
        status = etp_trace_need_sound(trace, err);
    }
    if (status == ETP_OK) {
        status = etp_trace_need_time(trace, err);
    }
    if (status == ETP_OK) {
        status = etp_fleet_put_dump(fleet->rows, &fleet->memory, source, trace, err);
    }
    etp_trace_close(trace);
    return status;
}

// The bytes are hashed and read from one mapping, so that the id is that of the rows even when the
// file is replaced meanwhile.
static etp_status put_dump(etp_fleet *fleet, const etp_fleet_source *source, source_id *id,
                           etp_error *err)
{
    etp_file file;
    ETP_TRY(etp_file_open(source->path, DUMP_LIMIT, &file, err));
    etp_sha256_of(file.bytes.ptr, file.bytes.len, id->hex);
    etp_status status = is_left_out(fleet, id) ? ETP_OK : put_trace(fleet, source, file.bytes, err);
    etp_file_close(&file);
    return status;
}

static etp_status put_source(etp_fleet *fleet, etp_fleet_source *source, source_id *id,
                             etp_error *err)
{
    if (is_dump_name(source->path)) {
        etp_status status = put_dump(fleet, source, id, err);
        // A folder may be called like a dump. Only where it is one does the failure above say
        // nothing about the source, and it is read by what it is.
        if (status == ETP_OK || !etp_os_is_dir(source->path)) {
            return status;
        }
    }
    if (!etp_os_is_dir(source->path)) {
        return put_dump(fleet, source, id, err);
    }
    source->kind = k_kinds[RUN];
    if (!etp_run_is(source->path)) {
        return etp_fail(err, ETP_USAGE, "no run folder (no manifest.json of etprof in it)");
    }
    const char *dir = source->path;
    etp_ab_session *session = NULL;
    ETP_TRY(id_of_folder(dir, id->hex, err));
    if (is_left_out(fleet, id)) {
        return ETP_OK;
    }
    // Folders of a lake come from anywhere: no link in one may lead out of it.
    ETP_TRY(etp_run_check_members(dir, err));
    ETP_TRY(etp_ab_open(&dir, 1, &(etp_ab_options){0}, &session, err));
    // a later state of it has another manifest, and comes as a source of its own
    etp_status status;
    if (etp_ab_run(session)->state == ETP_RUN_RUNNING) {
        status = etp_fail(
            err, ETP_UNKNOWN,
            "the session has not ended, or was killed: 'etprof ab --resume' goes on with it");
    } else {
        status = put_analysis(fleet, source, session, err);
    }
    etp_ab_close(session);
    return status;
}

// A damaged source leaves nothing in the tables but its error.
static etp_status put_or_tell(etp_fleet *fleet, const char *path, source_id *id, etp_error *err)
{
    // Rows go into the tables while a source is being read. When it turns out to be damaged, each
    // table is cut back to where it was before.
    etp_kept_mark marks[ETP_FLEET_TABLES];
    etp_fleet_source source = {.path = path, .id = id->hex, .kind = k_kinds[DUMP]};
    etp_error problem = {.offset = ETP_NO_OFFSET};
    etp_source_read_path(path, &source.labels);
    for (size_t t = 0; t < ETP_FLEET_TABLES; t++) {
        etp_kept_take_mark(&fleet->rows[t], &marks[t]);
    }
    etp_status status = put_source(fleet, &source, id, &problem);
    if (status == ETP_OK) {
        bool added;
        if (fleet->new_only && !id->left_out) {
            ETP_TRY(etp_fleet_known_add(fleet->itself, id->hex, &added, err));
        }
        return ETP_OK;
    }
    for (size_t t = 0; t < ETP_FLEET_TABLES; t++) {
        etp_kept_roll_back(&fleet->rows[t], &marks[t]);
    }
    // Out of memory is no property of the source: it ends the call. Everything else becomes a row.
    status = status == ETP_NOMEM ? etp_fail_nomem(err, path)
                                 : etp_fleet_put_error(fleet->rows, &source, &problem, err);
    id->hex[0] = '\0'; // a sound copy may have the same
    return status;
}

static etp_status read_all(etp_fleet *fleet, const char *const *sources, size_t n_sources,
                           etp_error *err)
{
    fleet->ids = ETP_NEW_ARRAY(&fleet->arena, source_id, n_sources);
    ETP_NEED(fleet->ids, err, "ids");
    fleet->n_ids = n_sources;
    if (fleet->new_only) {
        ETP_TRY(etp_fleet_known_new(&fleet->itself, err));
    }
    for (size_t i = 0; i < n_sources; i++) {
        ETP_TRY(put_or_tell(fleet, sources[i], &fleet->ids[i], err));
    }
    return ETP_OK;
}

// SETTINGS is an empty fleet with those of this call.
static etp_status read_sources(const char *const *sources, size_t n_sources,
                               const etp_fleet *settings, etp_fleet **out, etp_error *err)
{
    etp_arena arena = {0};
    *out = NULL;
    etp_fleet *fleet = ETP_NEW(&arena, etp_fleet);
    ETP_NEED(fleet, err, "a fleet");
    *fleet = *settings;
    fleet->arena = arena;
    for (size_t t = 0; t < ETP_FLEET_TABLES; t++) {
        fleet->rows[t].defs = etp_fleet_columns((etp_fleet_table)t, &fleet->rows[t].n_defs);
    }
    etp_status status = read_all(fleet, sources, n_sources, err);
    if (status != ETP_OK) {
        etp_fleet_close(fleet);
        return status;
    }
    *out = fleet;
    return ETP_OK;
}

etp_status etp_fleet_read(const char *const *sources, size_t n_sources, etp_fleet **out,
                          etp_error *err)
{
    return read_sources(sources, n_sources, &(etp_fleet){0}, out, err);
}

etp_status etp_fleet_read_new(const char *const *sources, size_t n_sources, etp_fleet_known *known,
                              etp_fleet **out, etp_error *err)
{
    return read_sources(sources, n_sources, &(etp_fleet){.new_only = true, .known = known}, out,
                        err);
}

const char *etp_fleet_source_id(const etp_fleet *fleet, size_t index)
{
    return index < fleet->n_ids && !fleet->ids[index].left_out ? fleet->ids[index].hex : NULL;
}

uint64_t etp_fleet_rows(const etp_fleet *fleet, etp_fleet_table table)
{
    return table < ETP_FLEET_TABLES ? etp_kept_count(&fleet->rows[table]) : 0;
}

etp_status etp_fleet_stream(etp_fleet *fleet, etp_fleet_table table, struct ArrowArrayStream *out,
                            etp_error *err)
{
    if (table >= ETP_FLEET_TABLES) {
        return etp_fail(err, ETP_USAGE, "no table %u of a fleet: there are %d", (unsigned)table,
                        ETP_FLEET_TABLES);
    }
    return etp_kept_stream(&fleet->rows[table], out, err);
}

void etp_fleet_close(etp_fleet *fleet)
{
    if (fleet) {
        for (size_t t = 0; t < ETP_FLEET_TABLES; t++) {
            etp_kept_dispose(&fleet->rows[t]);
        }
        etp_dump_memory_dispose(&fleet->memory);
        etp_fleet_known_close(fleet->itself);
        etp_arena arena = fleet->arena; // it goes with its owner
        etp_arena_dispose(&arena);
    }
}
