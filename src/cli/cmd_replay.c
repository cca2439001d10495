// SPDX-License-Identifier: Apache-2.0
// etprof replay MODEL OP: one operator as a program of its own, measured beside the model.
#include <string.h>

#include "base/path.h"
#include "base/shell.h"
#include "cli/emit.h"
#include "cli/measure.h"
#include "cli/say.h"
#include "judge/open.h"
#include "measure/decoder.h"
#include "program/data_file.h"
#include "publish/files.h"
#include "study/replay.h"
#include "study/replay_sweep.h"

typedef struct replay_options {
    etp_session_options session; // of which the rows below may be typed
    bool weights, issue, no_measure;
    etp_opt_list sweep;
} replay_options;

#define OF replay_options
static const etp_opt k_options[] = {
    OPT("levels", 'l', LIST, session.levels, "LEVEL,...",
        "levels to measure at (default: all; --sweep: plain SIMD and those above)"),
    OPT("threads", 't', LIST, session.threads, "N,...", "thread counts of the runner (default 1)"),
    OPT("blocks", 'k', COUNT, session.plan.settings.blocks, "K",
        "exactly K blocks (default 10; --sweep: 6)"),
    OPT("budget", 0, TIME, session.plan.settings.budget_s, "TIME",
        "stop after the last whole block that fits, e.g. 2m"),
    OPT("iterations", 0, COUNT, session.plan.settings.iterations, "N",
        "timed iterations per launch (default: 50; --sweep: 0.5 s worth)"),
    OPT("method", 0, STRING, session.plan.settings.method, "NAME",
        "method of the program (default: forward, or the only one)"),
    OPT("data", 0, FILES, session.plan.settings.data, "FILE.ptd",
        "external weights; again, or separated by commas, for several files"),
    OPT("device", 'd', STRING, session.device, "SPEC",
        "local (default), adb[:SERIAL], ssh:HOST or qemu[:CPU]"),
    OPT("runner", 0, STRING, session.runner, "PATH", "runner program or bundle folder"),
    OPT("out", 0, STRING, session.out, "DIR", "run folder; must be empty or new"),
    OPT("sweep", 0, LIST, sweep, "M=1,2,...",
        "with these numbers of rows instead: from which on a level pays"),
    OPT("real-weights", 0, FLAG, weights, NULL,
        "keep the model's weights (default: their elements in another order)"),
    OPT("no-measure", 0, FLAG, no_measure, NULL, "write the capsule and measure nothing"),
    OPT("issue", 0, FLAG, issue, NULL, "print Markdown for the author of a kernel"),
    {0},
};

// The operator ID of a run folder's answer. The folder says which model is read and measured.
static etp_status of_folder(etp_cli *cli, const char *dir, const char *id, const char **out_model,
                            const char **out_word, etp_error *err)
{
    etp_ab_session *session = NULL;
    ETP_TRY(etp_ab_open(&dir, 1, NULL, &session, err));
    const char *model = NULL;
    etp_status st =
        etp_run_trusted(etp_cli_state(cli, ""), etp_ab_run(session))
            ? etp_replay_operator(etp_ab_answer(session), id, &cli->arena, &model, out_word, err)
            : etp_fail(err, ETP_USAGE,
                       "%s was not measured by you on this machine: name the model and the node "
                       "(DELEGATE:NODE), as 'etprof inspect MODEL --tree' numbers them",
                       dir);
    if (st == ETP_OK) {
        *out_model = etp_arena_printf(&cli->arena, "%s", model);
        st = etp_arena_check(&cli->arena, err, "the model");
    }
    etp_ab_close(session);
    return st;
}

// What a session would refuse is refused before the capsule is written.
static etp_status check_options(etp_cli *cli, const replay_options *o, etp_error *err)
{
    const char *out = o->session.out, *made;
    etp_str file, rest = etp_str_from(ETP_OR(o->session.plan.settings.data, ""));
    while (etp_settings_next_file(&rest, &file)) {
        const char *path = etp_arena_strdup(&cli->arena, file);
        ETP_NEED(path, err, "a path");
        if (!etp_os_is_file(path)) {
            return etp_fail(err, ETP_USAGE, "--data: %s does not exist", path);
        }
    }
    return out && !o->no_measure && etp_os_is_dir(out)
               ? etp_run_create_folder(out, true, &cli->arena, &made, err)
               : ETP_OK;
}

typedef struct opened {
    etp_file file;
    const etp_program *program;
    etp_cut_place at;
} opened;

static etp_status open_model(etp_arena *arena, const char *path, const char *method, const char *op,
                             opened *out, etp_error *err)
{
    ETP_TRY(etp_file_open(path, UINT64_MAX, &out->file, err));
    ETP_TRY(etp_program_open(out->file.bytes, NULL, &out->program, err));
    const etp_method *m = etp_decoder_method(out->program, method);
    return m ? etp_replay_place(m, op, &out->at, err)
             : etp_decoder_no_method(path, out->program, method, arena, err);
}

// The tensors that a capsule needs of the model's .ptd files, which stay as they are.
static etp_status count_outside(etp_bytes capsule, etp_arena *arena, size_t *n, etp_error *err)
{
    const etp_program *program;
    etp_outside outside;
    ETP_TRY(etp_program_open(capsule, NULL, &program, err));
    etp_program_outside(program, arena, &outside);
    *n = outside.n;
    etp_program_close(program);
    return ETP_OK;
}

// A file of that name that is something else stays.
static etp_status write_new(const char *path, etp_bytes bytes, etp_error *err)
{
    if (etp_os_is_file(path)) {
        etp_file there;
        ETP_TRY(etp_file_open(path, UINT64_MAX, &there, err));
        bool same =
            there.bytes.len == bytes.len && memcmp(there.bytes.ptr, bytes.ptr, bytes.len) == 0;
        etp_file_close(&there);
        return same
                   ? ETP_OK
                   : etp_fail(err, ETP_USAGE,
                              "%s is there and is not this operator's program; move it away", path);
    }
    return etp_os_write_atomic(path, (etp_str){(const char *)bytes.ptr, bytes.len}, err);
}

static void describe(etp_cli *cli, const opened *in, const char *model, bool weights,
                     etp_replay *out)
{
    const etp_instruction *i = &in->at.method->instructions[in->at.instruction];
    const etp_partition *p = &in->at.method->partitions[i->partition];
    out->real_weights = weights;
    out->model = model;
    out->name = etp_cut_place_text(&in->at, &cli->arena);
    out->type = etp_arena_strdup(&cli->arena, p->nodes[in->at.node].type_name);
    out->shapes = etp_replay_shapes(&in->at, &cli->arena);
}

// "mobilenet.0-3.pte" in the working directory, with KIND "mobilenet.0-3.M8.pte" and with the
// model's weights "mobilenet.0-3.real.pte".
static etp_status write_capsule(etp_cli *cli, const opened *in, const etp_replay *of,
                                const char *kind, etp_bytes *bytes, const char **out_path,
                                etp_error *err)
{
    etp_arena *arena = &cli->arena;
    if (!of->real_weights) {
        ETP_TRY(etp_cut_reorder(*bytes, arena, bytes, err));
    }
    const etp_instruction *i = &in->at.method->instructions[in->at.instruction];
    *out_path =
        etp_arena_printf(arena, "%.*s.%lu-%lu%s%s.pte", ETP_STR_ARG(etp_path_stem(of->model)),
                         (unsigned long)in->at.method->partitions[i->partition].index,
                         (unsigned long)in->at.node, kind, etp_if(of->real_weights, ".real"));
    ETP_TRY(etp_arena_check(arena, err, "the capsule"));
    return write_new(*out_path, *bytes, err);
}

static etp_status write_size(etp_cli *cli, const opened *in, const etp_replay *of,
                             etp_sweep_size *size, etp_bytes *bytes, etp_error *err)
{
    const char *kind = etp_arena_printf(&cli->arena, ".M%llu", (unsigned long long)size->m);
    ETP_NEED(kind, err, "the capsule");
    ETP_TRY(etp_cut_capsule_rows(in->file.bytes, in->program, &in->at, size->m, &cli->arena, bytes,
                                 err));
    return write_capsule(cli, in, of, kind, bytes, &size->capsule, err);
}

#define EVICTED_MOST ((uint64_t)64 << 20) // more than caches hold

// The capsule, and what stands between it and the model. MODELS gets as many as *N says.
static etp_status write_ways(etp_cli *cli, const opened *in, etp_replay *out, unsigned ways,
                             const char **models, size_t *n, etp_error *err)
{
    static const char *const k_kinds[ETP_REPLAY_WAYS] = {"", ".cold", ".among"};
    const uint64_t besides = etp_replay_besides(&in->at);
    const uint64_t evicted = ETP_MIN(besides, EVICTED_MOST);
    for (unsigned way = 0; way < ways; way++) {
        etp_replay_program *p = &out->programs[way];
        etp_bytes bytes;
        etp_error why = {0};
        etp_status st = etp_cut_capsule_cold(
            in->file.bytes, in->program, &in->at, way == ETP_REPLAY_ALONE ? 0 : evicted,
            way == ETP_REPLAY_AMONG, &cli->arena, &bytes, &p->node, &why);
        if (st == ETP_UNSUPPORTED && way == ETP_REPLAY_AMONG) { // none that can be cut out
            continue;
        }
        if (st != ETP_OK) {
            *err = why;
            return st;
        }
        ETP_TRY(write_capsule(cli, in, out, k_kinds[way], &bytes, &p->path, err));
        models[(*n)++] = p->path;
        out->bytes = way == ETP_REPLAY_ALONE ? bytes.len : out->bytes;
        if (way == ETP_REPLAY_ALONE) {
            ETP_TRY(count_outside(bytes, &cli->arena, &out->outside, err));
        }
    }
    out->capsule = out->programs[ETP_REPLAY_ALONE].path;
    return ETP_OK;
}

typedef struct settling {
    etp_arena *arena;
    bool sweep;
} settling;

// All levels of the device, where none is asked for. Below plain SIMD no level is worth a question
// of what pays.
static etp_status all_levels(void *ctx, const etp_device *device, const etp_device_cpu *cpu,
                             etp_session_plan_options *plan, etp_error *err)
{
    const settling *s = ctx;
    (void)device;
    etp_level levels[ETP_LEVEL_COUNT], plain;
    const etp_isa_cpu *usable = plan->usable ? plan->usable : &cpu->cpu; // what its runner has
    plain = etp_isa_plain(usable);
    size_t n = plan->n_levels ? 0 : etp_level_list(cpu->cpu.family, levels);
    const char **names = ETP_NEW_ARRAY(s->arena, const char *, ETP_LEVEL_COUNT);
    ETP_NEED(names, err, "levels");
    for (size_t i = 0; i < n; i++) { // best first
        etp_level_state state = etp_level_state_of(usable, levels[i]);
        bool below = s->sweep && plain != ETP_LEVEL_NONE && levels[i] > plain;
        if (state.available && state.switchable && !below) {
            names[plan->n_levels++] = etp_level_get(levels[i])->name;
            plan->levels = names;
        }
    }
    return ETP_OK;
}

#define RECORDED 50 // executions, the most of a launch

// *OUT is closed by the caller.
static etp_status measure(etp_cli *cli, const replay_options *o, const char **models,
                          size_t n_models, const char **out_dir, etp_ab_session **out,
                          etp_error *err)
{
    etp_session_options options;
    settling s = {&cli->arena, o->sweep.n > 0};
    ETP_TRY(etp_session_options_of(&o->session, &cli->arena, &options, err));
    options.plan.models = models;
    options.plan.n_models = n_models;
    options.inputs_beside = false; // they are the model's
    options.settle = all_levels;
    options.settle_ctx = &s;
    etp_settings *settings = &options.plan.settings;
    if (s.sweep) { // many arms: the fewest blocks that give verdicts, and nothing beside them
        settings->blocks = ETP_OR(settings->blocks, ETP_MIN_BLOCKS);
        settings->no_kernels = true;
    } else { // recordings are all that is asked of a launch, and their time is short
        settings->iterations = ETP_OR(settings->iterations, RECORDED);
        settings->warmup = RECORDED;
    }
    ETP_TRY(etp_cli_measure(cli, &options, out_dir, err));
    ETP_TRY(etp_ab_open(out_dir, 1, &(etp_ab_options){0}, out, err));
    return etp_ab_write_files(*out, *out_dir, err);
}

static etp_status show(etp_cli *cli, const replay_options *o, const etp_replay *replay,
                       etp_error *err)
{
    if (o->issue) {
        return etp_cli_emit_bytes(cli, etp_replay_issue(replay, &cli->arena), err);
    }
    return etp_cli_show(cli, &k_etp_replay_document, replay, etp_replay_report(replay, &cli->arena),
                        "levels", err);
}

// The operator alone beside its model.
static etp_status one(etp_cli *cli, const replay_options *o, const opened *in, etp_replay *out,
                      etp_error *err)
{
    const char *models[1 + ETP_REPLAY_WAYS] = {out->model}, *dir = NULL;
    const unsigned ways = o->no_measure ? 1 : ETP_REPLAY_WAYS;
    size_t n = 1;
    ETP_TRY(write_ways(cli, in, out, ways, models, &n, err));
    etp_ab_session *session = NULL;
    etp_status st = o->no_measure ? ETP_OK : measure(cli, o, models, n, &dir, &session, err);
    if (st == ETP_OK && session) {
        st = etp_replay_take(etp_ab_answer(session), &in->at, &cli->arena, out, err);
    }
    etp_ab_close(session);
    return st == ETP_OK ? show(cli, o, out, err) : st;
}

// The operator of a capsule is its last node.
static etp_status shapes_of(etp_bytes capsule, etp_arena *arena, const char **out, etp_error *err)
{
    const etp_program *program;
    ETP_TRY(etp_program_open(capsule, NULL, &program, err));
    const etp_method *m = &program->methods[0];
    const etp_cut_place at = {m, 0, m->partitions[0].n_nodes - 1};
    *out = etp_replay_shapes(&at, arena);
    etp_program_close(program);
    return etp_arena_check(arena, err, "the shapes");
}

// A size that cannot be made says why; MODELS are the others.
static etp_status write_sizes(etp_cli *cli, const opened *in, etp_sweep *sweep, const char **models,
                              size_t *n_models, etp_error *err)
{
    for (size_t i = 0; i < sweep->n_sizes; i++) {
        etp_sweep_size *size = &sweep->sizes[i];
        etp_bytes bytes;
        etp_error why = {0};
        etp_status st = write_size(cli, in, sweep->of, size, &bytes, &why);
        if (st == ETP_UNSUPPORTED) {
            size->why = etp_arena_printf(&cli->arena, "%s", why.msg);
            size->capsule = NULL;
            continue;
        }
        if (st != ETP_OK) {
            *err = why;
            return st;
        }
        size->bytes = bytes.len;
        models[(*n_models)++] = size->capsule;
        ETP_TRY(shapes_of(bytes, &cli->arena, &size->shapes, err));
    }
    return *n_models ? ETP_OK
                     : etp_fail(err, ETP_UNSUPPORTED, "no size of it can be made: %s",
                                sweep->sizes[0].why);
}

static etp_status sweep(etp_cli *cli, const replay_options *o, const opened *in,
                        const etp_replay *of, etp_error *err)
{
    etp_sweep s = {.of = of};
    ETP_TRY(etp_sweep_read(o->sweep.items, o->sweep.n, &cli->arena, &s, err));
    if (etp_cut_rows(&in->at, &s.m, err) != ETP_OK) {
        return etp_fail_ctx(err, "%s", of->name);
    }
    const char **models = ETP_NEW_ARRAY(&cli->arena, const char *, s.n_sizes);
    ETP_NEED(models, err, "the sweep");
    size_t n_models = 0;
    ETP_TRY(write_sizes(cli, in, &s, models, &n_models, err));
    etp_ab_session *session = NULL;
    etp_status st =
        o->no_measure ? ETP_OK : measure(cli, o, models, n_models, &s.dir, &session, err);
    if (st == ETP_OK && session) {
        st = etp_sweep_take(etp_ab_answer(session), &cli->arena, &s, err);
    }
    etp_ab_close(session);
    ETP_TRY(st);
    return etp_cli_show(cli, &k_etp_replay_sweep_document, &s, etp_sweep_report(&s, &cli->arena),
                        "sweep", err);
}

static etp_status run(etp_cli *cli, const void *opts, int argc, char **argv, etp_error *err)
{
    const replay_options *o = opts;
    (void)argc;
    opened in = {0};
    etp_replay replay = {.command = cli->command_line};
    const char *model = argv[0], *word = argv[1];
    if (o->issue && o->sweep.n) {
        return etp_fail(err, ETP_USAGE,
                        "--issue is of the operator as it is: leave it out, or --sweep");
    }
    if (etp_run_is(model)) {
        ETP_TRY(of_folder(cli, argv[0], argv[1], &model, &word, err));
    }
    ETP_TRY(check_options(cli, o, err));
    etp_status st = open_model(&cli->arena, model, o->session.plan.settings.method, word, &in, err);
    if (st == ETP_OK) {
        describe(cli, &in, model, o->weights, &replay);
        st = etp_arena_check(&cli->arena, err, "the operator");
    }
    if (st == ETP_OK) {
        st = o->sweep.n ? sweep(cli, o, &in, &replay, err) : one(cli, o, &in, &replay, err);
    }
    etp_program_close(in.program);
    etp_file_close(&in.file);
    return st;
}

const etp_command etp_cmd_replay = {
    .name = "replay",
    .summary = "one operator by itself: a program of its own, its time beside the model's",
    .usage = "MODEL.pte DELEGATE:NODE | FOLDER OPERATOR",
    .description =
        "Cuts a node out of an XNNPACK delegate and writes it as a program: same shapes, types, "
        "quantisation\n"
        "and delegate, the converts that belong to it, and the model's weights with their elements "
        "in another\n"
        "order. Measures it beside the model in one session, at all levels, and prints both times. "
        "'etprof\n"
        "inspect MODEL --tree' numbers delegates and nodes; of a run folder the operator is named "
        "as its\n"
        "answer names it (op12). --sweep measures it with other numbers of rows M: of a linear "
        "layer "
        "the\n"
        "product of its leading dimensions, of a convolution the pixels of its result.",
    .examples = "  etprof replay model.pte 0:3\n"
                "  etprof replay out_model op12\n"
                "  etprof replay model.pte 0:3 --levels avx512,avx2 --threads 1,2\n"
                "  etprof replay model.pte 0:3 --issue > issue.md\n"
                "  etprof replay model.pte 0:3 --sweep M=1,2,4,8,16,32,64,128,256,512\n"
                "  etprof replay model.pte 0:3 --no-measure --real-weights",
    .opts = k_options,
    .opts_size = sizeof(replay_options),
    .formats = ETP_CLI_STANDARD_FORMATS | ETP_CLI_FORMAT_BIT(ETP_CLI_HTML),
    .page = etp_write_html,
    .takes_runs = true,
    .min_args = 2,
    .max_args = 2,
    .run = run,
};
