// SPDX-License-Identifier: Apache-2.0
// Entering a run folder in the store of sessions.
#include "study/history/stored.h"

#include "base/sha256.h"
#include "judge/open.h"
#include "os/os.h"

static etp_status read_entry(const char *dir, etp_ab_session **session, etp_arena *arena,
                             etp_archive_session *out, bool *out_finished, etp_error *err)
{
    ETP_TRY(etp_ab_open(&dir, 1, &(etp_ab_options){0}, session, err));
    return etp_archive_entry(*session, arena, out, out_finished, err);
}

static etp_status add_open(etp_archive *a, const char *dir, bool again, etp_arena *arena,
                           etp_archive_added *out, etp_error *err)
{
    etp_ab_session *session = NULL;
    etp_archive_session entry;
    bool finished = false;
    etp_status st = read_entry(dir, &session, arena, &entry, &finished, err);
    // Whose the failure is: the folder's up to here, the store's from etp_archive_put on.
    *out = st == ETP_OK ? ETP_ARCHIVE_NOT : ETP_ARCHIVE_UNREAD;
    if (st == ETP_OK && finished) {
        st = etp_archive_put(a, &entry, again, out, err);
    }
    etp_ab_close(session);
    return st;
}

// What is known already by its manifest: opening a folder takes a hundred times as long as that.
static etp_status is_known(etp_archive *a, const char *dir, etp_arena *arena,
                           etp_archive_added *out, etp_error *err)
{
    char hex[ETP_SHA256_HEX_CHARS];
    uint64_t bytes;
    bool known;
    const char *manifest = etp_arena_printf(arena, "%s/" ETP_RUN_MANIFEST, dir);
    // As long as the manifest is read, a failure is the folder's.
    *out = ETP_ARCHIVE_UNREAD;
    ETP_TRY(etp_run_hash_file(manifest, hex, &bytes, err));
    *out = ETP_ARCHIVE_NOT;
    const char *folder = etp_os_absolute(dir, arena);
    ETP_TRY(etp_archive_knows(a, hex, folder ? folder : dir, &known, err));
    *out = known ? ETP_ARCHIVE_KNOWN : ETP_ARCHIVE_NOT;
    return ETP_OK;
}

etp_status etp_history_enter_folder(etp_archive *a, const char *dir, bool again,
                                    etp_archive_added *out, etp_error *err)
{
    etp_arena arena = {0};
    *out = ETP_ARCHIVE_NOT;
    etp_status st = again ? ETP_OK : is_known(a, dir, &arena, out, err);
    if (st == ETP_OK && *out != ETP_ARCHIVE_KNOWN) {
        st = add_open(a, dir, again, &arena, out, err);
    }
    etp_arena_dispose(&arena);
    return st;
}
