// SPDX-License-Identifier: Apache-2.0
// What the verbs do with a run folder, in this process.
#include "verbs.h"

#include <etprof/tables.h>

#include "inspect/kernels/kernels.h"
#include "integrity/verify.h"
#include "judge/fixes/whatif.h"
#include "os/os.h"
#include "publish/files.h"
#include "show/explanation.h"
#include "show/json.h"
#include "show/report.h"

typedef struct fuzz_folder {
    etp_arena arena;
    const char *root; // of this process, removed when it ends
    const char *dir, *work;
} fuzz_folder;

static fuzz_folder g_folder;

static void remove_folder(void)
{
    etp_status ignored = g_folder.root ? etp_os_remove_tree(g_folder.root, NULL) : ETP_OK;
    (void)ignored;
}

// An empty folder; the same one each time.
const char *fuzz_empty_folder(void)
{
    if (!g_folder.root) {
        const char *base = etp_os_is_writable("/dev/shm") ? "/dev/shm" : "/tmp";
        FUZZ_CHECK(etp_os_temp_dir(base, "fuzz", &g_folder.arena, &g_folder.root, NULL) == ETP_OK);
        g_folder.dir = etp_arena_printf(&g_folder.arena, "%s/run", g_folder.root);
        g_folder.work = etp_arena_printf(&g_folder.arena, "%s/work", g_folder.root);
        atexit(remove_folder);
    }
    FUZZ_CHECK(etp_os_remove_tree(g_folder.dir, NULL) == ETP_OK);
    FUZZ_CHECK(etp_os_mkdirs(g_folder.dir, NULL) == ETP_OK);
    return g_folder.dir;
}

etp_status fuzz_fill_member(void *ctx, etp_sink *sink, etp_error *err)
{
    (void)err;
    etp_sink_write(sink, *(etp_str *)ctx);
    return ETP_OK;
}

// What a report or document becomes is thrown away, byte by byte.
static bool count_bytes(etp_sink *sink, const char *ptr, size_t len)
{
    *(size_t *)sink->target += len + (ptr == NULL && len > 0);
    return true;
}

void fuzz_render(const etp_report *report, const char *table)
{
    etp_report_writer *const k_writers[] = {etp_write_text, etp_write_md, etp_write_csv};
    for (size_t i = 0; report && i < sizeof k_writers / sizeof *k_writers; i++) {
        size_t bytes = 0;
        etp_sink sink = {.write = count_bytes, .target = &bytes};
        const etp_report_style style = {
            .unicode = true, .select = k_writers[i] == etp_write_csv ? table : NULL, .width = 100};
        etp_status ignored = etp_report_write(report, k_writers[i], &style, &sink, NULL);
        (void)ignored;
    }
}

void fuzz_as_json(const etp_document *document, const void *data)
{
    size_t bytes = 0;
    etp_sink sink = {.write = count_bytes, .target = &bytes};
    etp_json j;
    etp_json_init(&j, &sink, true);
    etp_document_write(&j, document, data, data);
}

static void as_tables(const char *dir, etp_run_table table)
{
    struct ArrowArrayStream stream;
    if (etp_tables_stream(table, &dir, 1, &stream, NULL) != ETP_OK) {
        return;
    }
    struct ArrowArray batch;
    for (size_t n = 0; n < 64 && stream.get_next(&stream, &batch) == 0 && batch.release; n++) {
        batch.release(&batch);
    }
    stream.release(&stream);
}

// What analyze, report, explain, whatif and kernels make of an open session.
static void of_session(const etp_ab_session *session, const char *dir, unsigned verb)
{
    etp_arena arena = {0};
    const etp_ab *ab = etp_ab_answer(session);
    static const char *const k_changes[] = {"drop X", "scale op1 2"};
    static const char *const k_claims[] = {"F1", "N1", "op1", "tracer"};
    etp_explanation claim;
    etp_whatif w;
    if (verb == 0) {
        fuzz_render(etp_ab_report(ab, &arena), ETP_AB_TABLE_OPERATORS);
        fuzz_as_json(&k_etp_ab_document, ab);
    } else if (verb == 1 && etp_ab_run(session)) { // bare dumps have no folder to write into
        etp_status ignored = etp_ab_write_files(session, dir, NULL);
        (void)ignored;
    } else if (verb == 3) {
        for (size_t i = 0; i < 4; i++) {
            if (etp_explanation_find(ab, k_claims[i], &claim, NULL) == ETP_OK) {
                fuzz_render(etp_explanation_report(&claim, &arena), NULL);
                fuzz_as_json(&k_etp_explain_document, &claim);
            }
        }
        if (etp_whatif_build(ab, k_changes, 2, &w, NULL) == ETP_OK) {
            fuzz_render(etp_whatif_report(&w, &arena), NULL);
            fuzz_as_json(&k_etp_whatif_document, &w);
        }
    }
    etp_arena_dispose(&arena);
}

void fuzz_run_verb(const char *dir, unsigned verb)
{
    etp_arena arena = {0};
    etp_ab_session *session = NULL;
    const etp_ab_options how = {0};
    etp_verify verify;
    if (verb < 4) {
        if (etp_ab_open(&dir, 1, &how, &session, NULL) == ETP_OK) {
            of_session(session, dir, verb);
        }
        etp_ab_close(session);
    } else if (verb == 4) {
        etp_status ignored = etp_verify_folder(dir, g_folder.work, &arena, &verify, NULL);
        (void)ignored;
    } else {
        as_tables(dir, ETP_RUN_TABLE_OPERATORS);
        as_tables(dir, ETP_RUN_TABLE_SAMPLES);
    }
    etp_arena_dispose(&arena);
}
