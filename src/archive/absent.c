// SPDX-License-Identifier: Apache-2.0
// The store of sessions in a build without SQLite: there is none, and it says so.
#include "archive/archive.h"

bool etp_archive_built(void)
{
    return false;
}

// entry.c asks nothing of SQLite and is there in either build.
static etp_status absent(etp_error *err)
{
    return etp_fail(err, ETP_UNSUPPORTED,
                    "this etprof was built without SQLite: there is no store of sessions (Debian's "
                    "libsqlite3-dev brings it, then build again)");
}

etp_status etp_archive_open(const char *path, etp_archive_use use, etp_archive **out,
                            etp_error *err)
{
    (void)path, (void)use;
    *out = NULL;
    return absent(err);
}

void etp_archive_close(etp_archive *a)
{
    (void)a;
}

etp_status etp_archive_put(etp_archive *a, const etp_archive_session *s, bool again,
                           etp_archive_added *out, etp_error *err)
{
    (void)a, (void)s, (void)again, (void)out;
    return absent(err);
}

etp_status etp_archive_knows(etp_archive *a, const char *run_id, const char *folder, bool *out,
                             etp_error *err)
{
    (void)a, (void)run_id, (void)folder, (void)out;
    return absent(err);
}

etp_status etp_archive_sessions(etp_archive *a, const etp_archive_filter *filter, etp_arena *arena,
                                etp_archive_list *out, etp_error *err)
{
    (void)a, (void)filter, (void)arena, (void)out;
    return absent(err);
}

etp_status etp_archive_points(etp_archive *a, const etp_archive_filter *filter, etp_arena *arena,
                              etp_archive_trend *out, etp_error *err)
{
    (void)a, (void)filter, (void)arena, (void)out;
    return absent(err);
}

etp_status etp_archive_get(etp_archive *a, const char *run_id, etp_arena *arena,
                           etp_archive_session *out, bool *out_found, etp_error *err)
{
    (void)a, (void)run_id, (void)arena, (void)out, (void)out_found;
    return absent(err);
}
