// SPDX-License-Identifier: Apache-2.0
// The user's store of finished sessions, as the verbs reach it: --store, ETPROF_STORE, the user's
// own data folder.
#ifndef ETP_CLI_ARCHIVED_H
#define ETP_CLI_ARCHIVED_H

#include "archive/archive.h"
#include "cli/command.h"

#define ETP_STORE_ARG "FILE"
#define ETP_STORE_HELP "store of finished sessions; 'off': none (default: ETPROF_STORE)"

// FILE: --store, or NULL. ETP_USAGE when there is none: off, or no home to keep one in. *OUT is
// NULL when there is no file to read.
ETP_NODISCARD etp_status etp_cli_archive(etp_cli *cli, const char *file, etp_archive_use use,
                                         etp_archive **out, etp_error *err);
// The same for who can do without: NULL in any case of trouble.
etp_archive *etp_cli_archive_if_any(etp_cli *cli, const char *file);

// A session was measured: enters it, from SESSION where it is open as it would be opened anew, else
// (NULL) from DIR. Whatever is wrong is one line, and not the session's failure.
void etp_cli_enter(etp_cli *cli, const etp_ab_session *session, const char *dir);

#endif
