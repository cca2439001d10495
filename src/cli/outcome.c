// SPDX-License-Identifier: Apache-2.0
// Which of several outcomes decides the exit code.
#include "cli/command.h"

// Order of `etprof help exit-codes`: the first that occurred wins.
static int severity(int exit_code)
{
    static const int k_order[] = {2, 70, 128, 4, 5, 6, 1, 3, 0};
    int wanted = ETP_MIN(exit_code, 128);
    for (int i = 0; i < (int)(sizeof k_order / sizeof *k_order); i++) {
        if (k_order[i] == wanted) {
            return i;
        }
    }
    return 1; // an unknown code is our bug
}

// A verb may tell several: each keeps the worst so far, in whatever order they come.
void etp_cli_outcome(etp_cli *cli, int exit_code)
{
    if (severity(exit_code) < severity(cli->exit_code)) {
        cli->exit_code = exit_code;
    }
}
