// SPDX-License-Identifier: Apache-2.0
// From a path that stands for a run to that run.
#include "cli/newest.h"
#include "cli/say.h"

#include <string.h>

#include "base/path.h"
#include "base/sink.h"
#include "os/os.h"
#include "store/store.h"

#define MOST_LISTED 5

static void append_run(etp_strbuf *buf, const etp_run_found_item *r)
{
    const char *state = "";
    if (!r->readable) {
        state = "unreadable";
    } else if (r->state == ETP_RUN_INTERRUPTED) {
        state = ", interrupted";
    } else if (r->state == ETP_RUN_RUNNING) {
        state = ", not finished";
    }
    etp_strbuf_printf(buf, "%s (%.*s%s)", r->dir, ETP_STR_ARG(r->generated_at), state);
}

// Said unless --quiet: a path that was typed has become another one.
static void say_taken(const etp_cli *cli, const char *operand, const etp_run_found *f)
{
    if (cli->quiet) {
        return;
    }
    etp_arena arena = {0};
    etp_strbuf buf;
    etp_strbuf_init(&buf, &arena);
    append_run(&buf, &f->items[0]);
    if (f->n > 1) {
        etp_strbuf_printf(&buf, ", the newest of %zu for %s; others: ", f->n, operand);
    }
    for (size_t i = 1; i < f->n && i <= MOST_LISTED; i++) {
        etp_strbuf_appendz(&buf, etp_if(i > 1, ", "));
        append_run(&buf, &f->items[i]);
    }
    if (f->n > MOST_LISTED + 1) {
        etp_strbuf_printf(&buf, " and %zu more", f->n - MOST_LISTED - 1);
    }
    etp_say("run folder %s\n", buf.failed ? f->items[0].dir : buf.ptr);
    etp_arena_dispose(&arena);
}

// The run folder that a file lies in, one or two levels up: NAME/x or NAME/<experiment>/x.
static const char *run_around(const char *path, etp_arena *arena)
{
    etp_str s = etp_str_from(path);
    for (int level = 0; level < 2; level++) {
        s.len -= etp_path_last(s).len;
        s = etp_path_trimmed(s);
        const char *dir = s.len > 0 ? etp_arena_strdup(arena, s) : NULL;
        if (!dir || etp_run_is(dir)) {
            return dir;
        }
    }
    return NULL;
}

// A fixed path: the name's newest run, or the same file of it.
static etp_status newest_of_name(etp_cli *cli, const char *run, const char **path, etp_error *err)
{
    etp_run_found found;
    ETP_TRY(etp_run_find_named(run, &cli->arena, &found, err));
    // Newest first: when that is the one that was named, there is nothing to do.
    if (found.n < 2 || etp_str_eqz(etp_str_from(found.items[0].dir), run)) {
        return ETP_OK;
    }
    const char *rest = *path + strlen(run);
    const char *taken = etp_arena_printf(&cli->arena, "%s%s", found.items[0].dir, rest);
    ETP_TRY(etp_arena_check(&cli->arena, err, "paths")); // NULL is not there
    // The older file is there, but somebody who asks for the newest must not get it under that
    // name.
    if (etp_os_is_file(*path) && !etp_os_is_file(taken)) {
        return etp_fail(
            err, ETP_USAGE,
            "%s is of an older run: the newest of that name is %s and has no such file; "
            "name the file you mean there",
            *path, found.items[0].dir);
    }
    say_taken(cli, run, &found);
    *path = taken;
    return ETP_OK;
}

etp_status etp_cli_newest(etp_cli *cli, const char **path, etp_error *err)
{
    // Names of runs are compared, so a slash at the end must not make two of one.
    const etp_str p = etp_path_trimmed(etp_str_from(*path));
    if (etp_os_is_dir(*path)) {
        const char *dir = etp_arena_strdup(&cli->arena, p);
        if (!etp_run_is(dir)) {
            etp_run_found found;
            ETP_TRY(etp_run_find_below(*path, &cli->arena, &found, err));
            if (found.n > 0) {
                say_taken(cli, *path, &found);
                *path = found.items[0].dir;
            }
            return ETP_OK;
        }
        *path = cli->newest ? dir : *path;
        return cli->newest ? newest_of_name(cli, dir, path, err) : ETP_OK;
    }
    if (etp_os_is_file(*path)) {
        const char *run = cli->newest ? run_around(*path, &cli->arena) : NULL;
        return run ? newest_of_name(cli, run, path, err) : ETP_OK;
    }
    // DIR:ARM names one arm of a run.
    const char *colon = strrchr(*path, ':');
    const char *dir = colon && colon > *path
                          ? etp_arena_strdup(&cli->arena, (etp_str){*path, (size_t)(colon - *path)})
                          : NULL;
    if (!dir || !etp_os_is_dir(dir)) {
        return ETP_OK; // who opens it says that it is not there
    }
    // The folder stands for the newest run below it here too, with the arm behind it.
    ETP_TRY(etp_cli_newest(cli, &dir, err));
    *path = etp_arena_printf(&cli->arena, "%s%s", dir, colon);
    return etp_arena_check(&cli->arena, err, "paths");
}
