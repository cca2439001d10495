// SPDX-License-Identifier: Apache-2.0
// Becoming another program: for verbs that another program carries out whole.
#include <stdlib.h>
#include <unistd.h>

#include "os/os.h"

etp_status etp_os_exec(const char *const *argv, const char *const *env_set, etp_error *err)
{
    // setenv, not an array of our own: execvp looks in the PATH of this environment.
    for (; env_set && *env_set; env_set++) {
        const char *equals = strchr(*env_set, '=');
        etp_arena arena = {0};
        char *name =
            equals ? etp_arena_strdup(&arena, (etp_str){*env_set, (size_t)(equals - *env_set)})
                   : NULL;
        int failed = name ? setenv(name, equals + 1, 1) : -1;
        etp_arena_dispose(&arena);
        if (failed) {
            return etp_fail_nomem(err, "environment");
        }
    }
    // execvp does not change what argv points to; its type is older than const.
    union {
        const char *const *in;
        char *const *out;
    } words = {.in = argv};
    execvp(argv[0], words.out);
    return etp_fail_errno(err, ETP_ENVIRONMENT, "cannot start %s", argv[0]);
}
