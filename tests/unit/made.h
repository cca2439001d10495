// SPDX-License-Identifier: Apache-2.0
// Makes a whole run folder out of a few numbers, so that a test can change one of them and see
// which sentences change. Include after folder.h.
#ifndef ETP_TESTS_ANSWER_MADE_H
#define ETP_TESTS_ANSWER_MADE_H

#include <math.h>
#include <string.h>

#include "etdump_writer.h"
#include "judge/open.h"

enum { MADE_BLOCKS = 8, MADE_SAMPLES = 10, MADE_RUNS = 4, MADE_OPS = 12 };

typedef struct made_op {
    const char
        *name[2]; // as recorded in each arm, NULL: not there; kernels begin with "native_call_"
    int32_t instruction;
    int us[2]; // per inference
} made_op;

typedef struct made {
    const char *level[2], *runner[2];
    const char *named[2];   // the level that the arm's name says; NULL: its own
    const char *release[2]; // of ExecuTorch, that two builds are of; NULL: builds are not compared
    uint32_t threads[2];
    made_op ops[MADE_OPS];
    uint64_t untraced_us[2]; // 0: as traced
    int runs;                // traced executions of a launch, 0: MADE_RUNS
    uint64_t interrupt_us;   // what every third of them waits for a CPU inside its first delegate
                             // call, outside operators
    uint64_t execute_us;     // Method::execute of both, 0: the sum of what is in it
    double control;          // A/A control launch ÷ its twin
    double control_wide;     // by which that goes up and down from block to block
    double outlier;          // factor of the candidate's launch of block 5
    double celsius[2];       // first and last moment, NAN: not readable
    uint64_t khz[2];         // likewise, UINT64_MAX
    uint64_t wait_ns;        // of each launch of a second, UINT64_MAX: not readable
    float output[2];         // NAN: none recorded
    bool nan_output;         // of both
    bool broken_output, broken_trace, no_execute, foreign_program, broken_samples;
    const char *note, *note_id, *cpus; // note_id NULL: "clock_jump"
    const char *cpu;                   // what the runner said of the processor, NULL nothing
    const char *program;               // the folder's program, NULL none
    const char *stem;                  // of the program's file
    bool lost;
    uint32_t lost_more, lost_other; // further launches of the candidate, launches of the baseline
    uint64_t slept_ns;              // in block 5; UINT64_MAX: not told
    double drift;                   // of both arms, per block
    double warm;                    // factor of the candidate's first 3 iterations, 0 none
    double ghz[2], busy[2];         // clock and CPUs at work of each arm; clock 0: not counted
    uint64_t hook_calls,
        hook_ps; // questions of an inference, picoseconds added to each; 0: not measured
} made;

// 1.57 ms at neon, 1 ms at sme2: the convolution gains 600 µs, the linear loses 30.
static inline made made_base(void)
{
    return (made){
        .level = {"neon", "sme2"},
        .runner = {"11", "11"},
        .threads = {1, 1},
        .ops = {{{"Convolution (NHWC, F32) IGEMM #1", "Convolution (NHWC, PF32) IGEMM #1"},
                 0,
                 {800, 200}},
                  {{"Convolution (NHWC, F32) DWConv #1", "Convolution (NHWC, F32) DWConv #1"},
                 0,
                 {100, 100}},
                  {{"Fully Connected (NC, F32) GEMM #1", "Fully Connected (NC, PF32) GEMM #1"},
                 0,
                 {50, 80}},
                  {{"Transpose (ND, X32) #1", "Transpose (ND, X32) #1"}, 0, {340, 340}},
                  {{"native_call_native_layer_norm.out", "native_call_native_layer_norm.out"},
                 1,
                 {270, 270}}},
        .control = 1,
        .outlier = 1,
        .celsius = {45, 47},
        .khz = {3000000, 3000000},
        .wait_ns = 1000000,
        .output = {1, 1},
        .busy = {1, 1},
        .cpus = "8",
        .stem = "toy_xnnpack_fp32",
    };
}

static inline uint64_t made_traced_us(const made *m, int arm)
{
    uint64_t sum = 10; // of the delegate's boundary
    for (int i = 0; i < MADE_OPS; i++) {
        sum += m->ops[i].name[arm] ? (uint64_t)m->ops[i].us[arm] : 0;
    }
    return sum;
}

// Blocks differ by up to half a per cent, the same in both arms but for a little.
static inline double made_wobble(uint32_t block, int arm)
{
    return 1 + 0.0025 * ((double)(block * 5 % 3) - 1) +
           0.0005 * ((double)((block * 3 + 2 * (uint32_t)arm) % 5) - 2);
}

static inline void made_event(dump_writer *w, const char *name, bool delegate, int32_t instruction,
                              uint64_t ns)
{
    dump_event(w, &(dump_profile){.name = delegate ? NULL : name,
                                  .delegate_str = delegate ? name : NULL,
                                  .instruction = instruction,
                                  .delegate_id = -1,
                                  .end = ns,
                                  .metadata = delegate ? "" : NULL});
}

static inline etp_bytes made_dump(const made *m, int arm, uint32_t block, etp_arena *arena)
{
    dump_writer w = dump_begin(arena);
    for (int run = 0; run < (m->runs ? m->runs : MADE_RUNS); run++) {
        uint64_t inside = 10000 + (run % 3 == 0 ? 1000 * m->interrupt_us : 0), all = 0;
        for (int i = 0; i < MADE_OPS; i++) {
            const made_op *op = &m->ops[i];
            bool kernel = op->name[arm] && strncmp(op->name[arm], "native_call_", 12) == 0;
            uint64_t ns = 1000 * (uint64_t)((double)op->us[arm] * made_wobble(block, arm) + 0.5);
            if (!op->name[arm]) {
                continue;
            }
            if (kernel) {
                made_event(&w, op->name[arm], false, op->instruction, ns);
                made_event(&w, "OPERATOR_CALL", false, op->instruction, ns);
                all += ns;
            } else {
                made_event(&w, op->name[arm], true, op->instruction, ns);
                inside += ns;
            }
            bool last = !kernel && (i + 1 == MADE_OPS || !m->ops[i + 1].name[arm] ||
                                    m->ops[i + 1].instruction != op->instruction);
            if (last) {
                made_event(&w, "DELEGATE_CALL", false, op->instruction, inside);
                all += inside;
                inside = 10000;
            }
        }
        if (!(m->no_execute && arm == 1)) {
            made_event(&w, "Method::execute", false, -1,
                       m->execute_us ? 1000 * m->execute_us : all);
        }
        dump_run(&w, "Execute", -1);
    }
    return dump_finish(&w, true);
}

static inline void made_file(folder *f, const char *name, const void *data, size_t len)
{
    const char *path = folder_path(f, name);
    char *dir = etp_arena_strdup(&f->arena, etp_str_from(path));
    *strrchr(dir, '/') = 0;
    assert_int_equal(etp_os_mkdirs(dir, NULL), ETP_OK);
    assert_int_equal(etp_os_write_atomic(path, (etp_str){data, len}, NULL), ETP_OK);
}

static inline const char *made_number(etp_arena *arena, bool known, double v)
{
    return known ? etp_arena_printf(arena, "%.0f", v) : "null";
}

static inline etp_str made_environment(const made *m, uint32_t block, etp_arena *arena)
{
    const char *moments[2];
    for (int k = 0; k < 2; k++) {
        double at = ((double)block - 1 + k) / (double)MADE_BLOCKS, cold = m->celsius[0],
               slow = (double)m->khz[0];
        moments[k] = etp_arena_printf(
            arena, "{\"temperature_c\":%s,\"freq_max_khz\":%s}",
            made_number(arena, !isnan(cold), cold + at * (m->celsius[1] - cold)),
            made_number(arena, m->khz[0] != UINT64_MAX, slow + at * ((double)m->khz[1] - slow)));
    }
    return etp_str_from(etp_arena_printf(
        arena, "{\"type\":\"block\",\"block\":%u,\"slept_ns\":%s,\"start\":%s,\"end\":%s}", block,
        made_number(arena, block != 5 || m->slept_ns != UINT64_MAX,
                    block == 5 ? (double)m->slept_ns : 0),
        moments[0], moments[1]));
}

static inline void made_launch(const made *m, int arm, uint32_t block, uint32_t launch,
                               bool control, etp_run_sample *samples, size_t *n)
{
    double us = m->untraced_us[arm] ? (double)m->untraced_us[arm] : (double)made_traced_us(m, arm);
    double side = block % 2 ? 1 + m->control_wide : 1 - m->control_wide;
    us *= made_wobble(block, arm) * (control ? m->control * side : 1) *
          (arm == 1 && block == 5 ? m->outlier : 1);
    us *= 1 + m->drift * block;
    for (uint32_t i = 0; i < MADE_SAMPLES; i++) {
        samples[(*n)++] =
            (etp_run_sample){(uint32_t)arm,
                             block,
                             launch,
                             i,
                             control ? ETP_PHASE_CONTROL : ETP_PHASE_TIMED,
                             i + 1,
                             (uint64_t)(us * 1000 * (1 + 0.0001 * (double)(i % 3)) *
                                        (m->warm > 0 && arm == 1 && i < 3 ? m->warm : 1))};
    }
}

// What the processor counted in the launch whose samples begin at S.
static inline void made_counted(const made *m, int arm, const etp_run_sample *s, etp_run_launch *l,
                                etp_arena *arena)
{
    etp_run_counts *items = ETP_NEW_ARRAY(arena, etp_run_counts, MADE_SAMPLES);
    assert_non_null(items);
    for (uint32_t i = 0; i < MADE_SAMPLES && m->ghz[arm] > 0; i++) {
        items[i].cpu_ns = (uint64_t)((double)s[i].duration_ns * m->busy[arm]);
        items[i].cycles = (uint64_t)((double)items[i].cpu_ns * m->ghz[arm]);
        items[i].instructions = 2 * items[i].cycles;
        l->counted.n = MADE_SAMPLES;
    }
    l->counted.items = items;
    l->counted.events = ETP_EVENTS_HARDWARE;
}

static inline void made_block(const made *m, folder *f, etp_run *run, etp_run_writer *w,
                              uint32_t block)
{
    etp_run_sample samples[5 * MADE_SAMPLES];
    etp_run_launch launches[3] = {0};
    size_t n = 0;
    for (int arm = 0; arm < 2; arm++) {
        uint32_t launch = 3 * block - 2 + (uint32_t)arm;
        made_launch(m, arm, block, launch, false, samples, &n);
        launches[arm] = (etp_run_launch){
            .arm = (uint32_t)arm,
            .block = block,
            .launch = launch,
            .kind = ETP_LAUNCH_TIMED,
            .pid = 1,
            .start_ns = 1,
            .wall_ns = 1000000000,
            .load_ns = 1000,
            .wait_ns = m->wait_ns,
            .migrations = UINT64_MAX,
            .mask_requested = ETP_STR(""),
            .hook_calls = 1,
            .hook_cost = {m->hook_calls, m->hook_ps}
        };
        made_counted(m, arm, &samples[n - MADE_SAMPLES], &launches[arm], &f->arena);
        etp_bytes dump = made_dump(m, arm, block, &f->arena);
        const char *name = etp_run_dump_name(&f->arena, &run->arms.items[arm], block, ".etdump");
        bool broken = m->broken_trace && arm == 1 && block == 3;
        made_file(f, etp_arena_printf(&f->arena, "run/%s", name), dump.ptr,
                  broken ? dump.len / 2 : dump.len);
    }
    made_launch(m, 0, block, 3 * block, true, samples, &n);
    launches[2] = launches[1];
    launches[2].kind = ETP_LAUNCH_SAMPLED; // whose samples are missing
    etp_str line = made_environment(m, block, &f->arena);
    assert_int_equal(
        etp_run_commit(w, samples, n, launches, m->broken_samples ? 3 : 2, &line, 1, NULL), ETP_OK);
}

static inline void made_outputs(const made *m, folder *f, const etp_run *run)
{
    static const char k_list[] = "{\"outputs\":[{\"index\":0,\"file\":\"output-0.bin\",\"dtype\":"
                                 "\"float32\",\"shape\":[1]}]}";
    for (int arm = 0; arm < 2; arm++) {
        const char *dir = etp_run_outputs_name(&f->arena, &run->arms.items[arm]);
        bool broken = m->broken_output && arm == 1;
        if (!isnan(m->output[arm])) {
            made_file(f, etp_arena_printf(&f->arena, "run/%s/outputs.json", dir),
                      broken ? "{" : k_list, broken ? 1 : sizeof k_list - 1);
            float value = m->nan_output ? (float)NAN : m->output[arm];
            made_file(f, etp_arena_printf(&f->arena, "run/%s/output-0.bin", dir), &value,
                      sizeof value);
        }
    }
}

static inline void made_arms(const made *m, folder *f, etp_run *run)
{
    for (int arm = 0; arm < 2; arm++) {
        etp_run_arm a = {
            .name = etp_str_from(etp_arena_printf(
                &f->arena, "linux_%s_%d", m->named[arm] ? m->named[arm] : m->level[arm], arm)),
            .level = etp_str_from(m->level[arm]),
            .threads = m->threads[arm],
            .runner_sha256 = etp_str_from(m->runner[arm]),
            .prefix = etp_str_from(etp_arena_printf(&f->arena, "%s_arm%d_t1", m->stem, arm)),
            .iterations = MADE_SAMPLES,
            .traced = MADE_RUNS};
        if (m->release[arm]) {
            etp_run_build build = {.path = ETP_STR("build"),
                                   .sha256 = etp_str_from(m->runner[arm]),
                                   .executorch = etp_str_from(m->release[arm]),
                                   .text = ETP_STR("a build"),
                                   .own = true};
            a.side = (uint32_t)arm;
            assert_true(ETP_PUSH(&f->arena, &run->builds, build));
        }
        assert_true(ETP_PUSH(&f->arena, &run->arms, a));
        const char *dir = etp_arena_printf(&f->arena, "run/%.*s", ETP_STR_ARG(a.name));
        assert_int_equal(etp_os_mkdirs(folder_path(f, dir), NULL), ETP_OK);
    }
}

// Writes the folder "run" of F.
static inline const char *made_write(const made *m, folder *f)
{
    etp_run run = {.platform = ETP_STR("linux"),
                   .generated_at = ETP_STR("2026-01-02T03:04:05Z"),
                   .tool_version = ETP_STR("0.1.0"),
                   .settings.blocks = MADE_BLOCKS,
                   .control_blocks = MADE_BLOCKS,
                   .settings.seed = 1,
                   .device_cpu = m->cpu ? etp_str_from(m->cpu) : ETP_STR("")};
    etp_run_model model = {
        .path = etp_str_from(etp_arena_printf(&f->arena, "/somewhere/%s.pte", m->stem)),
        .stem = etp_str_from(m->stem)};
    etp_run_fact cpus = {ETP_STR("cpus"), etp_str_from(m->cpus)};
    const char *dir = folder_path(f, "run");
    etp_run_writer w;
    assert_int_equal(etp_os_mkdirs(dir, NULL), ETP_OK);
    assert_true(ETP_PUSH(&f->arena, &run.models, model) && ETP_PUSH(&f->arena, &run.facts, cpus));
    made_arms(m, f, &run);
    for (uint32_t i = 0; i < 2 * MADE_BLOCKS; i++) {
        assert_true(ETP_PUSH(&f->arena, &run.order, i % 2));
    }
    if (m->note) {
        run.notes[run.n_notes].id = etp_str_from(m->note_id ? m->note_id : "clock_jump");
        run.notes[run.n_notes++].text = etp_str_from(m->note);
    }
    if (m->lost) {
        etp_run_lost lost = {.arm = 1,
                             .block = 2,
                             .launch = 5,
                             .kind = ETP_LAUNCH_TIMED,
                             .reason = ETP_LOST_CRASH,
                             .attempt = 1,
                             .detail = ETP_STR("signal 11")};
        assert_true(ETP_PUSH(&f->arena, &run.lost, lost));
    }
    for (uint32_t i = 0; i < m->lost_more + m->lost_other; i++) {
        etp_run_lost lost = {.arm = i < m->lost_more,
                             .block = 3 + i,
                             .launch = 50 + i,
                             .reason = ETP_LOST_HANG,
                             .attempt = 1,
                             .detail = ETP_STR("no answer")};
        assert_true(ETP_PUSH(&f->arena, &run.lost, lost));
    }
    assert_int_equal(etp_run_begin(dir, &f->arena, &run, &w, NULL), ETP_OK);
    for (uint32_t block = 1; block <= MADE_BLOCKS; block++) {
        made_block(m, f, &run, &w, block);
    }
    made_outputs(m, f, &run);
    // of which the recordings are not
    const char *program = m->foreign_program ? ETP_TEST_SOURCE_DIR
                              "/tests/data/linear_portable_fp32.pte"
                                             : m->program;
    if (program) {
        assert_int_equal(etp_os_mkdirs(folder_path(f, "run/program"), NULL), ETP_OK);
        folder_copy(f, program, "run/program/toy_xnnpack_fp32.pte");
    }
    assert_int_equal(etp_run_finish(&w, ETP_RUN_FINISHED, NULL), ETP_OK);
    return dir;
}

// Opens the folder that M makes. Another one that F held is closed, and gone.
static inline etp_ab_session *made_open(const made *m, folder *f)
{
    etp_error err = ERROR_NONE;
    if (f->session) {
        folder_remove(f);
        folder_make(f);
    }
    const char *dir = made_write(m, f);
    ASSERT_OK(etp_ab_open(&dir, 1, NULL, &f->session, &err), err);
    return f->session;
}

#endif
