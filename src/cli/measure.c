// SPDX-License-Identifier: Apache-2.0
// A measuring session as the verbs run it.
#include "cli/measure.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "base/shell.h"
#include "cli/newest.h"
#include "cli/say.h"
#include "os/os.h"

typedef struct terminal { // of the session's callbacks
    bool shown;           // a line of progress
    bool live;            // it is a terminal: the line is written over itself
    size_t width, columns;
    uint32_t block; // the last one that a plain line told
} terminal;

// Before anything else is printed: a message must not stand behind half a line of progress.
static void clear_progress(terminal *t)
{
    if (t->shown) {
        etp_say_again("", t->width, t->columns);
        t->shown = false;
    }
}

// "vnni 1.72× [1.70, 1.75]": what the blocks so far say; nothing of one block's chance as if it
// were known.
static void ratio_words(const etp_session_view *p, bool named, char *out, size_t size)
{
    const char *name = etp_if(named, p->candidate), *gap = etp_if(*name, " ");
    out[0] = '\0';
    if (p->disturbed) {
        snprintf(out, size, "  no ratio yet: an arm waits for a CPU");
    } else if (*p->candidate && etp_interval_tells(p->lo, p->hi)) {
        snprintf(out, size, "  %.60s%s%s", name, gap, ETP_ESTIMATE(p->ratio, p->lo, p->hi, 2));
    } else if (*p->candidate && isfinite(p->ratio)) {
        snprintf(out, size, "  %.60s%s%.2f×, no interval yet", name, gap, p->ratio);
    }
}

static void left_words(const etp_session_view *p, char *out, size_t size)
{
    double s = ceil(p->remaining_s);
    out[0] = '\0';
    if (isfinite(s) && s < 1) { // the budget is spent, the launch at hand is not over
        snprintf(out, size, "  nearly done");
    } else if (isfinite(s) && s < 120) {
        snprintf(out, size, "  %.0f s left", s);
    } else if (isfinite(s)) {
        snprintf(out, size, "  %.0f min left", ceil(s / 60));
    }
}

// A line for each block where nothing can be written over itself; about twenty in a long session.
static void plain_line(terminal *t, const etp_session_view *p)
{
    // The block at hand is not done yet.
    uint32_t done = p->block ? p->block - 1 : 0, step = p->planned_blocks / 20 + 1;
    if (p->planned_blocks == 0 || done == 0 || done <= t->block || done % step != 0) {
        return;
    }
    char ratio[160], left[48];
    t->block = done;
    ratio_words(p, true, ratio, sizeof ratio);
    left_words(p, left, sizeof left);
    etp_say("block      %u/%u%s%s\n", done, p->planned_blocks, ratio, left);
}

static void on_progress(void *ctx, const etp_session_view *p)
{
    terminal *t = ctx;
    char text[400], ratio[160], left[48], bar[64];
    if (!t->live) {
        plain_line(t, p);
        return;
    }
    // What has no room is cut at the end, where the time left stands: then rather without the name.
    size_t others = 44 + strlen(p->candidate);
    ratio_words(p, others + 20 < t->columns, ratio, sizeof ratio);
    left_words(p, left, sizeof left);
    // By launches and not by blocks: of a session with few blocks the bar would stand still for
    // minutes.
    const size_t size = sizeof bar;
    enum { CELLS = 12 };
    uint32_t done =
        p->expected_launches ? (uint32_t)((uint64_t)CELLS * p->launches / p->expected_launches) : 0;
    bool utf8 = etp_terminal_is_utf8();
    const char *full = utf8 ? "█" : "#", *empty = utf8 ? "·" : ".";
    size_t n = 0;
    // A cell takes up to three bytes and the end one.
    for (uint32_t i = 0; i < CELLS && n + 4 < size; i++) {
        n += (size_t)snprintf(bar + n, size - n, "%s", i < done ? full : empty);
    }
    if (p->planned_blocks && p->block) {
        snprintf(text, sizeof text, "%s %u/%u%s%s", bar, p->block, p->planned_blocks, ratio, left);
    } else {
        snprintf(text, sizeof text, "%s  %s%s", p->stage, ETP_OR(p->arm, ""), left);
    }
    size_t width = etp_say_again(text, t->width, t->columns);
    // Kept, so that a shorter line is padded over what is left of a longer one.
    t->width = width;
    t->shown = true;
}

// "progress LAUNCHES-DONE LAUNCHES TEXT", a line each.
// For programs that start etprof, the server of `mcp` among them: numbers at fixed places, then
// words for people.
static void on_progress_line(void *ctx, const etp_session_view *p)
{
    (void)ctx;
    etp_say("progress %u %u ", p->launches, p->expected_launches);
    if (p->planned_blocks) {
        etp_say("block %u/%u %s\n", p->block, p->planned_blocks, ETP_OR(p->arm, ""));
    } else {
        etp_say("%s %s\n", p->stage, ETP_OR(p->arm, ""));
    }
    // Whoever asked for these lines is gone: as after Ctrl-C. A second signal would end it at once.
    if (ferror(stderr) && !etp_os_interrupted()) {
        raise(SIGINT);
    }
}

static void on_message(void *ctx, const char *text)
{
    clear_progress(ctx);
    etp_say("%s\n", text);
}

etp_place etp_cli_place(etp_cli *cli)
{
    return (etp_place){.program = cli->program,
                       .runner = cli->env_runner,
                       .qemu = cli->env_qemu,
                       .ssh_config = cli->env_ssh_config,
                       .android_serial = cli->env_android_serial,
                       .search_path = cli->env_path,
                       .no_wait = cli->no_wait,
                       .work_dir = etp_cli_work(cli),
                       .state_dir = etp_cli_state(cli, "")};
}

typedef enum measuring { NEW, RESUMED, REPEATED } measuring;

static etp_status measure(etp_cli *cli, etp_session_options *options, measuring how,
                          const char **out_dir, etp_error *err)
{
    ETP_TRY(etp_os_catch_signals(err));
    options->command = ETP_OR(cli->env_command, cli->command_line);
    options->place = etp_cli_place(cli);
    terminal t = {.live = cli->progress, .columns = cli->width};
    etp_session_view view = {.ctx = &t};
    if (!cli->quiet) {
        view.progress = on_progress;
        view.message = on_message;
    }
    if (cli->progress_lines) {
        view.progress = on_progress_line;
    }
    etp_status st;
    if (how == NEW) {
        st = etp_session_run(options, &view, &cli->arena, err);
    } else {
        st = etp_session_run_again(options, how == RESUMED, &view, &cli->arena, err);
    }
    *out_dir = view.dir;
    // What a session left, in words for people and as outcomes for the exit code; gives ST back.
    // Quoted for a shell: a folder's name may have blanks.
    const char *go_on =
        view.dir ? etp_shell_command(&cli->arena, "etprof ab --resume %s", view.dir) : NULL;
    clear_progress(&t);
    if (st == ETP_OK && view.signal) {
        etp_say("interrupted after %u whole block%s; everything measured is in %s\n"
                "'%s' goes on\n",
                view.blocks, etp_if(view.blocks != 1, "s"), view.dir,
                ETP_OR(go_on, "etprof ab --resume"));
        // As a shell reports a program that a signal ended, although this one ended by itself and
        // kept everything.
        etp_cli_outcome(cli, 128 + view.signal);
    } else if (st == ETP_OK && view.dir && !cli->quiet) {
        etp_say("measured   %u block%s, %u launches in %.1f s (%.0f %% of it inside launches)\n",
                view.blocks, etp_if(view.blocks != 1, "s"), view.launches,
                (double)view.wall_ns / 1e9,
                100 * (double)view.launch_wall_ns / (double)view.wall_ns);
    }
    if (st == ETP_IO && view.dir && view.blocks > 0 && !cli->quiet) { // as on a full disk
        etp_say("whole blocks in %s: %u; when there is room, '%s' goes on\n", view.dir, view.blocks,
                ETP_OR(go_on, "etprof ab --resume"));
    }
    if (st == ETP_OK && (view.blocks_lost || view.launches_lost)) { // those of the pilot, too
        etp_cli_outcome(cli, 6);
    }
    // Last, so that it is the line that stays on the screen: a phone with fixed clocks is still set
    // up.
    if (view.not_restored) {
        etp_say("%s\n", view.not_restored);
        etp_cli_outcome(cli, 5);
    }
    return st;
}

etp_status etp_cli_measure(etp_cli *cli, etp_session_options *options, const char **out_dir,
                           etp_error *err)
{
    return measure(cli, options, NEW, out_dir, err);
}

etp_status etp_cli_repeat(etp_cli *cli, etp_session_options *again, const char **out_dir,
                          etp_error *err)
{
    return measure(cli, again, REPEATED, out_dir, err);
}

etp_status etp_cli_resume(etp_cli *cli, const etp_session_options *given, const char *operands,
                          const char **out_dir, etp_error *err)
{
    etp_session_options again;
    ETP_TRY(etp_session_again_of(given, operands, &again, err));
    ETP_TRY(etp_cli_newest(cli, &again.dir, err));
    *out_dir = again.dir;
    return measure(cli, &again, RESUMED, out_dir, err);
}

const char *etp_cli_work(etp_cli *cli)
{
    static const char k_here[] = ".etprof/work";
    if (etp_os_is_writable(".")) {
        return k_here;
    }
    const char *own = etp_cli_state(cli, "/work");
    if (own && etp_os_mkdirs(own, NULL) == ETP_OK) {
        return own;
    }
    const char *shared = ETP_OR(cli->env_tmpdir, "/tmp"), *made = NULL;
    return etp_os_temp_dir(shared, "etprof", &cli->arena, &made, NULL) == ETP_OK ? made : k_here;
}

const char *etp_cli_state(etp_cli *cli, const char *below)
{
    const char *xdg = cli->env_state;
    bool own = xdg && xdg[0] == '/'; // the rule of XDG: relative ones do not count
    if (!own && !(cli->env_home && cli->env_home[0] == '/')) {
        return NULL;
    }
    return etp_arena_printf(&cli->arena, "%s%s/etprof%s", own ? xdg : cli->env_home,
                            etp_if(!own, "/.local/state"), below);
}
