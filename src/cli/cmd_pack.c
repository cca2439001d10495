// SPDX-License-Identifier: Apache-2.0
// etprof pack FOLDER and etprof unpack FILE: a run folder as one file.
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "base/path.h"
#include "cli/command.h"
#include "cli/say.h"
#include "os/os.h"
#include "store/pack.h"

#define SUFFIX ".tar.zst"

typedef struct pack_options {
    const char *out;
} pack_options;

static const etp_opt k_pack_options[] = {
    {"output", 'o', ETP_OPT_STRING, offsetof(pack_options, out), "FILE",
     "file to write (default: FOLDER" SUFFIX ")", NULL},
    {"out", 0, ETP_OPT_STRING, offsetof(pack_options, out), "FILE", NULL, NULL},
    {0},
};

static const etp_opt k_unpack_options[] = {
    {"out", 0, ETP_OPT_STRING, offsetof(pack_options, out), "DIR",
     "folder to make; must be empty or new (default: the name without " SUFFIX ")", NULL},
    {0},
};

// On standard error, as talk: the file itself is what was asked for.
static void say(const etp_cli *cli, const char *made, const etp_pack_count *count)
{
    if (!cli->quiet) {
        etp_say("%s: %u files, together %s\n", made, count->files, ETP_BYTES(count->bytes));
    }
}

// What a session still writes is another folder in the next moment. A folder that cannot be written
// has none.
static etp_status refuse_running(const char *dir, etp_arena *arena, etp_error *err)
{
    const char *path = etp_run_path(arena, dir, ETP_STR(ETP_RUN_LOCK));
    if (!path || !etp_os_is_file(path)) {
        return etp_arena_check(arena, err, "pack");
    }
    etp_os_lock lock;
    etp_error why = {.offset = ETP_NO_OFFSET};
    etp_status st = etp_run_lock(dir, arena, &lock, &why);
    etp_os_lock_release(&lock); // that of a killed session goes with it
    if (st == ETP_USAGE || st == ETP_NOMEM) {
        *err = why;
        return st;
    }
    return ETP_OK;
}

static etp_status run_pack(etp_cli *cli, const void *opts, int argc, char **argv, etp_error *err)
{
    (void)argc;
    const pack_options *o = opts;
    // "out/" would be packed as "out/.tar.zst", inside itself.
    const etp_str dir = etp_path_trimmed(etp_str_from(argv[0]));
    if (!etp_run_is(argv[0])) {
        return etp_fail(err, ETP_USAGE, "%s is no run folder (no manifest.json of etprof in it)",
                        argv[0]);
    }
    ETP_TRY(refuse_running(argv[0], &cli->arena, err));
    const char *file =
        o->out ? o->out : etp_arena_printf(&cli->arena, "%.*s" SUFFIX, ETP_STR_ARG(dir));
    etp_pack_count count;
    ETP_TRY(etp_run_pack(argv[0], file, &count, err));
    say(cli, file, &count);
    return ETP_OK;
}

static etp_status run_unpack(etp_cli *cli, const void *opts, int argc, char **argv, etp_error *err)
{
    (void)argc;
    const pack_options *o = opts;
    // The folder appears in the working directory, wherever the file lies.
    etp_str name = etp_str_from(etp_path_name(argv[0]));
    const char *dir = o->out;
    if (!dir) {
        if (!etp_str_ends(name, ETP_STR(SUFFIX)) || name.len <= strlen(SUFFIX)) {
            return etp_fail(err, ETP_USAGE,
                            "%s does not end in " SUFFIX ": name the folder with --out", argv[0]);
        }
        dir = etp_arena_strdup(&cli->arena, (etp_str){name.ptr, name.len - strlen(SUFFIX)});
    }
    etp_pack_count count;
    ETP_TRY(etp_arena_check(&cli->arena, err, "unpack"));
    ETP_TRY(etp_run_unpack(argv[0], dir, &count, err));
    say(cli, dir, &count);
    return ETP_OK;
}

const etp_command etp_cmd_pack = {
    .name = "pack",
    .summary = "a run folder as one file",
    .usage = "FOLDER",
    .description = "Writes FOLDER.tar.zst, or the file of --output. Same folder, same bytes; 'tar "
                   "--zstd' reads it.",
    .examples = "  etprof pack out_model\n  etprof pack out_model --output result.tar.zst",
    .opts = k_pack_options,
    .opts_size = sizeof(pack_options),
    .takes_runs = true,
    .min_args = 1,
    .max_args = 1,
    .run = run_pack,
};

const etp_command etp_cmd_unpack = {
    .name = "unpack",
    .summary = "the run folder in a file of 'etprof pack'",
    .usage = "FILE.tar.zst",
    .description = "Makes the folder in the working directory. An archive that names places "
                   "outside its folder, holds\n"
                   "links, the same name twice or too much is refused (exit code 4) and nothing is "
                   "left of it.",
    .examples = "  etprof unpack linux.tar.zst && etprof verify linux",
    .opts = k_unpack_options,
    .opts_size = sizeof(pack_options),
    .min_args = 1,
    .max_args = 1,
    .run = run_unpack,
};
