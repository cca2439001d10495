// SPDX-License-Identifier: Apache-2.0
// Run folders by name.
#include "cli/baseline.h"

#include <string.h>

#include "cli/measure.h"
#include "cli/newest.h"
#include "cli/say.h"
#include "os/os.h"
#include "store/store.h"

etp_status etp_cli_save(etp_cli *cli, const char *name, const char *dir, etp_error *err)
{
    const char *state = etp_cli_state(cli, "");
    // A name is taken over without a question, as a bookmark is; the line says what it meant
    // before.
    etp_baseline before;
    ETP_TRY(etp_baseline_find(state, name, &cli->arena, &before, err));
    ETP_TRY(etp_baseline_save(state, name, dir, &cli->arena, err));
    if (!cli->quiet) {
        etp_say("baseline   %s is %s%s%s%s\n", name, dir, etp_if(before.dir, " (it was "),
                ETP_OR(before.dir, ""), etp_if(before.dir, ")"));
    }
    return ETP_OK;
}

static etp_status by_name(etp_cli *cli, const char **path, etp_error *err)
{
    const char *name = *path;
    etp_baseline b;
    ETP_TRY(etp_baseline_find(etp_cli_state(cli, ""), name, &cli->arena, &b, err));
    *path = b.dir;
    switch (b.state) {
    case ETP_BASELINE_SAME:
        if (!cli->quiet) {
            etp_say("baseline   %s is %s\n", name, b.dir);
        }
        return ETP_OK;
    case ETP_BASELINE_MOVED:
        return etp_fail(err, ETP_IO,
                        "the baseline '%s' is not at %s any more: it was moved or removed; 'etprof "
                        "gate FOLDER --save %s' names the folder where it is now",
                        name, b.dir, name);
    case ETP_BASELINE_CHANGED:
        return etp_fail(err, ETP_CORRUPT,
                        "the baseline '%s' is another run now: the manifest in %s is not the one "
                        "that was saved (SHA-256 %.12s...); 'etprof gate FOLDER --save %s' takes "
                        "it as it is",
                        name, b.dir, b.sha256, name);
    case ETP_BASELINE_UNREADABLE:
        return etp_fail(err, ETP_CORRUPT,
                        "the note of the baseline '%s' cannot be read: 'etprof gate --forget %s', "
                        "then save it again",
                        name, name);
    case ETP_BASELINE_NONE:
        break;
    }
    return etp_fail(err, ETP_USAGE,
                    "no folder and no baseline is called '%s'; 'etprof gate --list' lists those "
                    "there are",
                    name);
}

etp_status etp_cli_resolve_baseline(etp_cli *cli, const char **path, etp_error *err)
{
    // What has a slash or cannot be a name is a path, and so is what exists, unless a run of
    // another folder has that name: which of the two is meant would be a guess.
    bool is_path = strchr(*path, '/') || !etp_baseline_name_ok(*path);
    if (!is_path && (etp_os_is_dir(*path) || etp_os_is_file(*path))) {
        etp_baseline b;
        ETP_TRY(etp_baseline_find(etp_cli_state(cli, ""), *path, &cli->arena, &b, err));
        const char *here = etp_os_absolute(*path, &cli->arena);
        if (b.state != ETP_BASELINE_NONE && !(b.dir && here && strcmp(b.dir, here) == 0)) {
            return etp_fail(err, ETP_USAGE,
                            "--against %s: there is a folder %s here, and a baseline of that name "
                            "(%s): ./%s is the folder, the baseline's own folder is the baseline",
                            *path, *path, ETP_OR(b.dir, "unreadable"), *path);
        }
        is_path = true;
    }
    return is_path ? etp_cli_newest(cli, path, err) : by_name(cli, path, err);
}
