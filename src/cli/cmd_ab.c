// SPDX-License-Identifier: Apache-2.0
// etprof ab MODEL…: measure two or more arms in paired launches and explain the difference.
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/number.h"
#include "base/sink.h"
#include "cli/show_ab.h"
#include "measure/session.h"
#include "os/os.h"

typedef struct ab_options {
    etp_opt_list levels, threads, fail_on;
    const char *baseline, *device, *runner, *out, *method, *inputs, *data, *cpus;
    uint64_t blocks, iterations, warmup, seed;
    double budget, timeout, margin_percent;
    bool full, no_trace, kernels;
} ab_options;

#define OPT(name, short, type, field, arg, help)                                                   \
    {name, short, type, offsetof(ab_options, field), arg, help, NULL}

static const etp_opt k_options[] = {
    OPT("levels", 'l', ETP_OPT_LIST, levels, "A,B,...", "levels to compare (see 'etprof levels')"),
    OPT("threads", 't', ETP_OPT_LIST, threads, "N,...", "threads of the runner (default 1)"),
    OPT("baseline", 'b', ETP_OPT_STRING, baseline, "ARM", "level or arm the others are compared with"),
    OPT("blocks", 'k', ETP_OPT_COUNT, blocks, "K", "exactly K blocks (default 10)"),
    OPT("budget", 0, ETP_OPT_NUMBER, budget, "SECONDS", "stop after the last whole block that fits"),
    OPT("device", 'd', ETP_OPT_STRING, device, "SPEC", "local (default) or qemu[:CPU]"),
    OPT("out", 0, ETP_OPT_STRING, out, "DIR", "run folder; must be empty or new"),
    OPT("method", 0, ETP_OPT_STRING, method, "NAME", "method of the program (default: its first)"),
    OPT("inputs", 0, ETP_OPT_STRING, inputs, "SPEC", "random:SEED, ones, or FILE,... one per input"),
    OPT("data", 0, ETP_OPT_STRING, data, "FILE.ptd", "external weights"),
    OPT("cpus", 0, ETP_OPT_STRING, cpus, "LIST", "pin the runner, e.g. 0 or 2-3"),
    OPT("runner", 0, ETP_OPT_STRING, runner, "PATH", "runner program or bundle folder"),
    OPT("iterations", 0, ETP_OPT_COUNT, iterations, "N", "timed iterations per launch (default: 0.5 s worth)"),
    OPT("warmup", 0, ETP_OPT_COUNT, warmup, "N", "warm-up iterations per launch (default: 0.2 s worth)"),
    OPT("seed", 0, ETP_OPT_COUNT, seed, "N", "of order and inputs (default: drawn)"),
    OPT("timeout", 0, ETP_OPT_NUMBER, timeout, "SECONDS", "longest silence of a runner (default 60)"),
    OPT("margin", 0, ETP_OPT_NUMBER, margin_percent, "PERCENT", "smaller differences are 'same' (default 1)"),
    OPT("no-trace", 0, ETP_OPT_FLAG, no_trace, NULL, "latency alone, no operator breakdown"),
    OPT("kernels", 0, ETP_OPT_FLAG, kernels, NULL, "also sample which kernels ran, in launches of their own"),
    OPT("full", 0, ETP_OPT_FLAG, full, NULL, "every section, also in text"),
    OPT("fail-on", 0, ETP_OPT_LIST, fail_on, "WORDS", ETP_FAIL_ON_HELP),
    {0},
};

typedef struct progress_line {
    bool shown;
    size_t width;
} progress_line;

static void clear_progress(progress_line *line)
{
    if (line->shown) {
        fprintf(stderr, "\r%*s\r", (int)line->width, "");
        line->shown = false;
    }
}

static void on_progress(void *ctx, const etp_session_progress *p)
{
    progress_line *line = ctx;
    char text[160], left[64] = "";
    if (isfinite(p->remaining_s)) {
        snprintf(left, sizeof left, ", %.0f s left", ceil(p->remaining_s));
    }
    int n = 0;
    if (p->blocks) {
        n = snprintf(text, sizeof text, "block %u/%u  %s %s%s", p->block, p->blocks,
                     p->arm ? p->arm : "", etp_launch_kind_name(p->kind), left);
    } else {
        n = snprintf(text, sizeof text, "%s  %s%s", p->stage, p->arm ? p->arm : "", left);
    }
    size_t width = n < 0 ? 0 : (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;
    fprintf(stderr, "\r%s%*s", text, (int)(line->width > width ? line->width - width : 0), "");
    line->width = width;
    line->shown = true;
    fflush(stderr);
}

static void on_message(void *ctx, const char *text)
{
    progress_line *line = ctx;
    if (line) {
        clear_progress(line);
    }
    fprintf(stderr, "%s\n", text);
}

static etp_status parse_threads(etp_cli *cli, const etp_opt_list *list, const uint32_t **out,
                                etp_error *err)
{
    uint32_t *threads = ETP_NEW_ARRAY(&cli->arena, uint32_t, list->n);
    if (!threads) {
        return etp_fail_nomem(err, "options");
    }
    for (size_t i = 0; i < list->n; i++) {
        uint64_t v = 0;
        if (!etp_parse_u64(etp_str_from(list->items[i]), &v) || v == 0 || v > 1024) {
            return etp_fail(err, ETP_USAGE, "--threads takes numbers from 1 to 1024, not '%s'",
                            list->items[i]);
        }
        threads[i] = (uint32_t)v;
    }
    *out = threads;
    return ETP_OK;
}

// Folder with the inputs of one method: that of --method, or the only one there is.
static const char *method_folder(etp_cli *cli, const char *dir, const char *method)
{
    etp_dir_list list = {0};
    const char *found = NULL;
    if (!etp_os_is_dir(dir) || etp_os_list(dir, &cli->arena, &list, NULL) != ETP_OK) {
        return NULL;
    }
    for (size_t i = 0; i < list.n; i++) {
        bool wanted = list.items[i].is_dir && (!method || strcmp(method, list.items[i].name) == 0);
        if (wanted && found) {
            return NULL; // several methods: the runner's choice is not ours to guess
        }
        found = wanted ? list.items[i].name : found;
    }
    return found ? etp_arena_printf(&cli->arena, "%s/%s", dir, found) : NULL;
}

// Example inputs that an export left beside the model (<model>.pte.inputs/<method>/<n>.bin); used,
// and said so, unless --inputs is given.
static const char *inputs_beside(etp_cli *cli, const char *model, const char *method)
{
    const char *beside = etp_arena_printf(&cli->arena, "%s.inputs", model);
    const char *dir = beside ? method_folder(cli, beside, method) : NULL;
    if (!dir) {
        return NULL;
    }
    etp_strbuf buf;
    etp_strbuf_init(&buf, &cli->arena);
    size_t n = 0;
    for (;; n++) {
        const char *file = etp_arena_printf(&cli->arena, "%s/%zu.bin", dir, n);
        const char *full = file ? etp_os_absolute(file, &cli->arena) : NULL;
        if (!full || !etp_os_is_file(full)) {
            break;
        }
        etp_strbuf_printf(&buf, "%s%s", n ? "," : "", full);
    }
    if (n == 0 || buf.failed) {
        return NULL;
    }
    if (!cli->quiet) {
        fprintf(stderr, "inputs     %s (%zu files beside the model)\n", dir, n);
    }
    return buf.ptr;
}

static etp_status session_options(etp_cli *cli, const ab_options *o, int argc, char **argv,
                                  etp_session_options *out, etp_error *err)
{
    const uint32_t *threads = NULL;
    ETP_TRY(parse_threads(cli, &o->threads, &threads, err));
    if (o->blocks > ETP_MAX_BLOCKS) {
        return etp_fail(err, ETP_USAGE, "--blocks is at most %d", ETP_MAX_BLOCKS);
    }
    *out = (etp_session_options){
        .models = (const char *const *)argv,
        .n_models = (size_t)argc,
        .levels = o->levels.items,
        .n_levels = o->levels.n,
        .threads = threads,
        .n_threads = o->threads.n,
        .baseline = o->baseline,
        .data = o->data,
        .method = o->method,
        .inputs = o->inputs ? o->inputs : inputs_beside(cli, argv[0], o->method),
        .cpus = o->cpus,
        .blocks = (uint32_t)o->blocks,
        .budget_s = o->budget,
        .warmup = o->warmup,
        .iterations = o->iterations,
        .no_trace = o->no_trace,
        .kernels = o->kernels,
        .has_seed = o->seed != 0,
        .seed = o->seed,
        .timeout_s = o->timeout,
    };
    return ETP_OK;
}

static void say_what_happened(etp_cli *cli, const char *dir, const etp_session_result *r)
{
    if (r->signal) {
        fprintf(stderr, "interrupted after %u whole blocks; everything measured is in %s\n",
                r->blocks, dir);
        etp_cli_outcome(cli, 128 + r->signal);
    } else if (!cli->quiet) {
        fprintf(stderr, "measured   %u blocks, %u launches in %.1f s (%.0f %% of it inside launches)\n",
                r->blocks, r->launches, (double)r->wall_ns / 1e9,
                100 * (double)r->launch_wall_ns / (double)r->wall_ns);
    }
    if (r->blocks_lost) {
        etp_cli_outcome(cli, 6);
    }
}

// Probes, plans, claims the folder, measures. *out_dir is the run folder.
static etp_status measure(etp_cli *cli, etp_device *device, const etp_session_options *options,
                          const char *wanted_dir, const char **out_dir, etp_error *err)
{
    etp_device_cpu cpu;
    etp_session_plan plan;
    ETP_TRY(etp_session_probe(device, &cli->arena, &cpu, err));
    ETP_TRY(etp_session_plan_make(options, device, &cpu, &cli->arena, &plan, err));
    const char *wanted = wanted_dir ? wanted_dir
                                    : etp_run_default_dir(&cli->arena, options->models[0],
                                                          device->info.platform);
    if (!wanted) {
        return etp_fail_nomem(err, "run folder");
    }
    ETP_TRY(etp_run_claim(wanted, wanted_dir != NULL, &cli->arena, out_dir, err));
    if (!cli->quiet) {
        fprintf(stderr, "run folder %s\n", *out_dir);
    }
    progress_line line = {0};
    etp_session_config config = {
        .dir = *out_dir, .command = cli->command_line, .cache_dir = ".etprof/cache"};
    etp_session_hooks hooks = {
        .ctx = &line,
        .progress = cli->progress ? on_progress : NULL,
        .message = cli->quiet ? NULL : on_message,
    };
    etp_session_result result = {0};
    etp_status st = etp_session_run(device, &plan, &config, &hooks, &result, err);
    clear_progress(&line);
    if (st != ETP_OK) {
        return st;
    }
    say_what_happened(cli, *out_dir, &result);
    return ETP_OK;
}

static etp_status run(etp_cli *cli, const void *opts, int argc, char **argv, etp_error *err)
{
    const ab_options *o = opts;
    etp_session_options options;
    ETP_TRY(session_options(cli, o, argc, argv, &options, err));
    ETP_TRY(etp_os_catch_signals(err));
    etp_device_options how = {
        .spec = o->device,
        .runner = o->runner ? o->runner : cli->env_runner,
        .qemu = cli->env_qemu,
        .search_path = cli->env_path,
        .program = cli->program,
        .work_root = ".etprof/work",
    };
    etp_device *device = NULL;
    ETP_TRY(etp_device_open(&how, &device, err));
    const char *dir = NULL;
    etp_status st = measure(cli, device, &options, o->out, &dir, err);
    etp_device_close(device);
    if (st != ETP_OK) {
        return st;
    }
    etp_ab_options answer = {.margin = o->margin_percent / 100};
    etp_show_options show = {
        .full = o->full,
        .write_files = true,
        .fail_on = o->fail_on.items,
        .n_fail_on = o->fail_on.n,
    };
    return etp_show_ab(cli, &dir, 1, &answer, &show, err);
}

const etp_command etp_cmd_ab = {
    .name = "ab",
    .summary = "how much faster is a model at another level, why, and what proves it",
    .usage = "MODEL.pte [MODEL2.pte ...] [--levels A,B,...]",
    .description =
        "Launches the arms in paired blocks, in an order that cancels drift, with one runner whose CPU\n"
        "features are masked at start. Latency comes from untraced launches, the breakdown from traced\n"
        "ones. Writes a run folder (out_<model>/runs/<platform>) with raw samples, traces and reports.",
    .examples = "  etprof ab model.pte\n"
                "  etprof ab model.pte --levels vnni,avx512,avx2 --blocks 12\n"
                "  etprof ab fp16.pte int8.pte --levels sme2 --budget 60\n"
                "  etprof ab model.pte --device qemu --levels sme2,sme1,neon",
    .opts = k_options,
    .opts_size = sizeof(ab_options),
    .formats = ETP_CLI_STANDARD_FORMATS | ETP_CLI_FORMAT_BIT(ETP_CLI_HTML),
    .min_args = 1,
    .max_args = 8,
    .run = run,
};
