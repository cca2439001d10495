// SPDX-License-Identifier: Apache-2.0
// The user's store of finished sessions.
#include "cli/archived.h"

#include <string.h>

#include "cli/measure.h"
#include "cli/say.h"
#include "os/os.h"
#include "study/history/stored.h"

static bool is_off(const char *word)
{
    return word && strcmp(word, "off") == 0;
}

// The order of all settings: what was typed, then the environment, then the default. What lasts and
// belongs to the user lies in the data folder.
static const char *chosen(etp_cli *cli, const char *file)
{
    return file ? file
           : cli->env_store
               ? cli->env_store
               : etp_cli_of_user(cli, cli->env_data, "/.local/share", "/sessions.sqlite");
}

etp_status etp_cli_archive(etp_cli *cli, const char *file, etp_archive_use use, etp_archive **out,
                           etp_error *err)
{
    *out = NULL;
    const char *path = chosen(cli, file);
    if (is_off(path)) {
        return etp_fail(err, ETP_USAGE, "the store of sessions is off (%s)",
                        file ? "--store off" : "ETPROF_STORE=off");
    }
    if (!path) {
        return etp_fail(err, ETP_USAGE,
                        "there is no folder for the store of sessions: set HOME, XDG_DATA_HOME or "
                        "ETPROF_STORE=FILE (ETPROF_STORE=off: no store)");
    }
    return etp_archive_open(path, use, out, err);
}

// Reads only: who asks in passing must not make a file in the user's home.
etp_archive *etp_cli_archive_if_any(etp_cli *cli, const char *file)
{
    etp_archive *a = NULL;
    return etp_cli_archive(cli, file, ETP_ARCHIVE_READ, &a, NULL) == ETP_OK ? a : NULL;
}

static etp_status enter_open(etp_archive *a, const etp_ab_session *session, etp_arena *arena,
                             etp_error *err)
{
    etp_archive_session entry;
    etp_archive_added added;
    bool finished;
    ETP_TRY(etp_archive_entry(session, arena, &entry, &finished, err));
    return finished ? etp_archive_put(a, &entry, false, &added, err) : ETP_OK;
}

void etp_cli_enter(etp_cli *cli, const etp_ab_session *session, const char *dir)
{
    const char *path = chosen(cli, cli->store);
    // A build without SQLite has no store, and nothing of that needs to be said after each session.
    if (is_off(path) || !etp_archive_built()) {
        return;
    }
    etp_error err = {.offset = ETP_NO_OFFSET};
    etp_archive *a = NULL;
    etp_archive_added added;
    // Asked before the file is made: that something is kept outside the run folder is said once,
    // when it begins.
    bool first = path && !etp_os_is_file(path);
    etp_status st = etp_cli_archive(cli, cli->store, ETP_ARCHIVE_WRITE, &a, &err);
    if (st == ETP_OK) {
        st = session ? enter_open(a, session, &cli->arena, &err)
                     : etp_history_enter_folder(a, dir, false, &added, &err);
    }
    etp_archive_close(a);
    if (st != ETP_OK) {
        etp_say("store      not entered: %s\n", err.msg);
    } else if (first && !cli->quiet) {
        etp_say("store      finished sessions are also entered in %s, which 'etprof history' reads "
                "(ETPROF_STORE=off: never)\n",
                path);
    }
}
