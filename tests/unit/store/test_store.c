// SPDX-License-Identifier: Apache-2.0
// The run folder: what is written is read back, what was not committed is not, what is hostile is
// refused.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/sha256.h"
#include "os/os.h"
#include "store/store.h"
#include "unit.h"

#define ROOT "store-test"
#define RUN ROOT "/run"

static etp_run_model s_model;
static etp_run_arm s_arms[2];

// Wherever the test is started from, what it leaves when it is killed is not there.
static char s_scratch[] = "/tmp/etprof-store-XXXXXX";

static int enter_scratch(void **state)
{
    return mkdtemp(s_scratch) && chdir(s_scratch) == 0 ? 0 : -1;
}

static int leave_scratch(void **state)
{
    return chdir("/") == 0 && rmdir(s_scratch) == 0 ? 0 : -1;
}

static int set_up(void **state)
{
    static etp_arena arena;
    arena = (etp_arena){0};
    *state = &arena;
    s_model = (etp_run_model){ETP_STR("/m/\"y\""), ETP_STR("toy"), ETP_STR("ab12"), 99, {0}, {0}};
    s_arms[0] = (etp_run_arm){.name = ETP_STR("linux_sme2_on"),
                              .level = ETP_STR("sme2"),
                              .threads = 2,
                              .runner_sha256 = ETP_STR("cd34"),
                              .prefix = ETP_STR("toy_linux_sme2_on_t2"),
                              .warmup = 3,
                              .iterations = 10,
                              .traced = 5};
    s_arms[1] = s_arms[0];
    s_arms[1].name = ETP_STR("linux_sme2_off");
    s_arms[1].level = ETP_STR("neon");
    s_arms[1].prefix = ETP_STR("toy_linux_sme2_off_t2");
    return etp_os_mkdirs(RUN, NULL) == ETP_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    etp_arena_dispose(*state);
    return etp_os_remove_tree(ROOT, NULL) == ETP_OK ? 0 : -1;
}

static etp_run new_run(void)
{
    etp_run r = {
        .tool_version = ETP_STR("0.1.0"),
        .generated_at = ETP_STR("2026-01-02T03:04:05Z"),
        .platform = ETP_STR("linux"),
        .device_spec = ETP_STR("local"),
        .settings.seed = 9007199254740991u,
        .settings.blocks = 10,
        .control_blocks = 6,
        .baseline = 1,
        .settings.inputs = "random:0",
        .settings.cpus = "0-3",
        .settings.precision = 0.01,
        .settings.budget_s = 90,
        .settings.cool = {38, 300},
        .settings.iterations = 7,
        .settings.no_trace = true,
        .command = ETP_STR("etprof ab x.pte")
    };
    r.executorch.present = true;
    r.executorch.version = ETP_STR("1.5.1");
    r.executorch.sha = ETP_STR("3b60");
    r.models.items = &s_model;
    r.models.n = r.models.cap = 1;
    r.arms.items = s_arms;
    r.arms.n = r.arms.cap = 2;
    return r;
}

static etp_status commit_block(etp_run_writer *w, uint32_t block)
{
    const etp_run_sample samples[] = {
        {0, block, 10 * block,     0, ETP_PHASE_WARMUP,  1000,                  3000000        },
        {0, block, 10 * block,     1, ETP_PHASE_TIMED,   2000,                  1000000 + block},
        {1, block, 10 * block + 1, 0, ETP_PHASE_TIMED,   18446744073709551615u, 2000000        },
        {1, block, 10 * block + 2, 0, ETP_PHASE_CONTROL, 4000,                  2100000        }
    };
    etp_run_launch launch = {.arm = 0,
                             .block = block,
                             .launch = 10 * block,
                             .kind = ETP_LAUNCH_TIMED,
                             .pid = 77,
                             .wall_ns = 5,
                             .load_ns = 6,
                             .first_ns = 3000000,
                             .peak_rss_bytes = 8,
                             .env_pad_bytes = 219,
                             .mask_requested = ETP_STR("aarch64:\"quoted\""),
                             .hook_calls = 4};
    if (block == 1) { // as macOS tells; everywhere else nothing is counted
        launch.cycles = 9000000000, launch.instructions = 8, launch.fast_cycles = 7;
        launch.hook_cost.calls = 27, launch.hook_cost.call_ps = 400;
    }
    static const etp_run_counts k_counts[] = {
        {5, 9007199254740993, 11, 0},
        {6, 0,                12, 4}
    }; // no cycles in the second
    if (block == 2) {
        launch.counted.items = k_counts, launch.counted.n = 2, launch.counted.scaled = 1;
        launch.counted.events = ETP_EVENTS_HARDWARE,
        launch.counted.cache = ETP_STR("ll_cache_miss_rd");
    }
    const etp_str line = ETP_STR("{\"type\":\"block\",\"note\":\"free\"}");
    return etp_run_commit(w, samples, 4, &launch, 1, &line, 1, NULL);
}

static void begin(etp_arena *arena, etp_run *run, etp_run_writer *w)
{
    *run = new_run();
    assert_int_equal(etp_run_begin(RUN, arena, run, w, NULL), ETP_OK);
}

static void write_file(const char *path, const char *text)
{
    assert_int_equal(etp_os_write_atomic(path, etp_str_from(text), NULL), ETP_OK);
}

static void assert_settings(const etp_settings *s)
{
    assert_int_equal(s->seed, 9007199254740991u);
    assert_int_equal(s->blocks, 10);
    assert_string_equal(s->inputs, "random:0");
    assert_string_equal(s->cpus, "0-3");
    assert_null(s->method);
    assert_true(s->precision == 0.01 && s->budget_s == 90);
    assert_true(s->cool.celsius == 38 && s->cool.wait_s == 300);
    assert_int_equal(s->iterations, 7);
    assert_int_equal(s->warmup, 0);
    assert_true(s->no_trace && !s->kernels);
}

static void a_session_comes_back_as_it_was_written(void **state)
{
    etp_arena *arena = *state;
    etp_run run, back;
    etp_run_writer w;
    begin(arena, &run, &w);
    const etp_run_lost lost = {
        1, 2, 33, ETP_LAUNCH_TRACED, ETP_LOST_HANG, 1, true, ETP_STR("line\none \xff")};
    const uint32_t order[] = {0, 1, 1, 0};
    for (size_t i = 0; i < 4; i++) {
        assert_true(ETP_PUSH(arena, &run.order, order[i]));
    }
    assert_true(ETP_PUSH(arena, &run.lost, lost));
    const etp_run_fact fact = {ETP_STR("cpu"), ETP_STR("Test CPU")};
    assert_true(ETP_PUSH(arena, &run.facts, fact));
    assert_true(ETP_PUSH(arena, &run.unreadable, ETP_STR("temperature")));
    run.notes[0].id = ETP_STR("clock_jump");
    run.notes[0].text = ETP_STR("it jumped");
    run.n_notes = 1;
    assert_int_equal(etp_os_mkdirs(RUN "/linux_sme2_on", NULL), ETP_OK);
    write_file(RUN "/linux_sme2_on/toy_linux_sme2_on_t2.etdump", "dump 1");
    write_file(RUN "/linux_sme2_on/toy_linux_sme2_on_t2_b2.etdump", "dump 2");
    write_file(RUN "/linux_sme2_on/toy_linux_sme2_on_t2_b3.etdump", "never committed");
    assert_int_equal(commit_block(&w, 1), ETP_OK);
    assert_int_equal(commit_block(&w, 2), ETP_OK);
    assert_int_equal(etp_run_finish(&w, ETP_RUN_FINISHED, NULL), ETP_OK);

    assert_true(etp_run_is(RUN));
    assert_int_equal(etp_run_open(RUN, arena, &back, NULL), ETP_OK);
    assert_int_equal(back.state, ETP_RUN_FINISHED);
    assert_settings(&back.settings);
    assert_int_equal(back.blocks_done, 2);
    assert_int_equal(back.baseline, 1);
    assert_true(etp_str_eqz(back.models.items[0].path, "/m/\"y\""));
    assert_int_equal(back.arms.n, 2);
    assert_true(etp_str_eqz(back.arms.items[1].level, "neon"));
    assert_int_equal(back.arms.items[0].warmup, 3);
    assert_int_equal(back.order.n, 4);
    assert_int_equal(back.order.items[2], 1);
    assert_int_equal(back.lost.n, 1);
    assert_int_equal(back.lost.items[0].reason, ETP_LOST_HANG);
    assert_true(back.lost.items[0].recovered);
    assert_true(etp_str_eqz(back.lost.items[0].detail, "line\none \xef\xbf\xbd"));
    assert_true(etp_str_eqz(back.facts.items[0].value, "Test CPU"));
    assert_true(etp_str_eqz(back.unreadable.items[0], "temperature"));
    assert_true(etp_str_eqz(back.notes[0].id, "clock_jump"));
    assert_true(etp_str_eqz(back.executorch.sha, "3b60"));
    assert_int_equal(back.samples.n, 8);
    assert_int_equal(back.samples.items[5].duration_ns, 1000002);
    assert_true(back.samples.items[2].start_ns == 18446744073709551615u);
    assert_int_equal(back.samples.items[3].phase, ETP_PHASE_CONTROL);
    assert_int_equal(back.launches.n, 2);
    assert_int_equal(back.launches.items[0].first_ns, 3000000);
    assert_int_equal(back.launches.items[0].env_pad_bytes, 219);
    assert_true(etp_str_eqz(back.launches.items[1].mask_requested, "aarch64:\"quoted\""));
    assert_true(back.launches.items[0].cycles == 9000000000 &&
                back.launches.items[0].fast_cycles == 7);
    assert_true(back.launches.items[0].hook_cost.calls == 27 &&
                back.launches.items[0].hook_cost.call_ps == 400);
    assert_true(back.launches.items[1].hook_cost.calls == 0 &&
                back.launches.items[1].hook_cost.call_ps == 0);
    assert_true(back.launches.items[0].energy_nj == 0 && back.launches.items[1].cycles == 0);
    const etp_run_launch *counted = &back.launches.items[1];
    assert_true(back.launches.items[0].counted.n == 0 && counted->counted.n == 2 &&
                counted->counted.scaled == 1);
    const etp_run_counts *first = &counted->counted.items[0], *second = &counted->counted.items[1];
    assert_true(first->cycles == 9007199254740993 && first->cpu_ns == 5 &&
                first->cache_misses == 0);
    assert_true(second->cycles == 0 && second->instructions == 12 && second->cache_misses == 4);
    assert_true(counted->counted.events == ETP_EVENTS_HARDWARE &&
                etp_str_eqz(counted->counted.cache, "ll_cache_miss_rd"));
    assert_int_equal(back.dumps.n, 2);
    assert_true(
        etp_str_eqz(back.dumps.items[1].path, "linux_sme2_on/toy_linux_sme2_on_t2_b2.etdump"));
    assert_int_equal(etp_run_check_files(&back, arena, NULL, NULL), ETP_OK);
}

static void the_kit_finds_its_results(void **state)
{
    etp_arena *arena = *state;
    etp_run run;
    etp_run_writer w;
    begin(arena, &run, &w);
    for (uint32_t b = 1; b <= 3; b++) {
        assert_int_equal(commit_block(&w, b), ETP_OK);
    }
    assert_int_equal(etp_run_finish(&w, ETP_RUN_FINISHED, NULL), ETP_OK);
    etp_str text;
    assert_int_equal(etp_os_read_text(RUN "/manifest.json", 1 << 20, arena, &text, NULL), ETP_OK);
    const char *z = etp_arena_strdup(arena, text);
    // timed iterations only: 1.000001, 1.000002, 1.000003 ms
    assert_non_null(strstr(z, "\"latency_ms\": [1.000001, 1.000002, 1.000003]"));
    assert_non_null(strstr(z, "\"median_ms\": 1.000002"));
    assert_non_null(strstr(z, "\"min_ms\": 1.000001"));
    assert_non_null(strstr(z, "\"max_ms\": 1.000003"));
    assert_non_null(strstr(z, "\"runs\": 3"));
}

static void a_torn_session_is_read_up_to_its_last_block(void **state)
{
    etp_arena *arena = *state;
    etp_run run, back;
    etp_run_writer w;
    begin(arena, &run, &w);
    assert_int_equal(etp_run_open(RUN, arena, &back, NULL), ETP_OK); // nothing yet
    assert_int_equal(back.blocks_done, 0);
    assert_int_equal(commit_block(&w, 1), ETP_OK);
    // Block 2 got as far as its rows, the last one torn.
    assert_int_equal(etp_os_append_below(
                         RUN, "samples.csv",
                         ETP_STR("linux_sme2_on,2,30,0,timed,1,2\nlinux_sme2_on,2,30,1,ti"), NULL),
                     ETP_OK);
    assert_int_equal(
        etp_os_append_below(RUN, "environment.jsonl",
                            ETP_STR("{\"type\":\"launch\",\"block\":2,\"launch\":30,\"experiment\":"
                                    "\"linux_sme2_on\",\"kind\":\"timed\"}\n{\"type\":\"lau"),
                            NULL),
        ETP_OK);
    assert_int_equal(etp_run_open(RUN, arena, &back, NULL), ETP_OK);
    assert_int_equal(back.state, ETP_RUN_RUNNING);
    assert_int_equal(back.blocks_done, 1);
    assert_int_equal(back.samples.n, 4);
    assert_int_equal(back.samples_ignored, 2);
    assert_int_equal(back.launches.n, 1);

    // Going on cuts off what was not committed and adds to the rest.
    assert_int_equal(etp_os_mkdirs(RUN "/linux_sme2_on", NULL), ETP_OK);
    write_file(RUN "/linux_sme2_on/toy_linux_sme2_on_t2_b2.etdump", "of the torn block");
    assert_int_equal(etp_run_resume(RUN, arena, &back, &w, NULL), ETP_OK);
    assert_false(etp_os_is_file(RUN "/linux_sme2_on/toy_linux_sme2_on_t2_b2.etdump"));
    assert_int_equal(commit_block(&w, 2), ETP_OK);
    assert_int_equal(etp_run_finish(&w, ETP_RUN_FINISHED, NULL), ETP_OK);
    assert_int_equal(etp_run_open(RUN, arena, &back, NULL), ETP_OK);
    assert_int_equal(back.blocks_done, 2);
    assert_int_equal(back.samples.n, 8);
    assert_int_equal(back.samples_ignored, 0);
    assert_int_equal(back.launches.n, 2);
    assert_int_equal(etp_run_resume(RUN, arena, &back, &w, NULL), ETP_USAGE); // it is finished
}

static void the_lock_of_a_killed_session_is_tidied_away(void **state)
{
    etp_arena *arena = *state;
    etp_os_lock lock;
    assert_int_equal(etp_os_mkdirs(RUN, NULL), ETP_OK);
    etp_run_remove_dead_lock(RUN, arena);
    assert_false(etp_os_is_file(RUN "/session.lock"));
    assert_int_equal(etp_run_lock(RUN, arena, &lock, NULL), ETP_OK);
    etp_run_remove_dead_lock(RUN, arena); // a session runs here
    assert_true(etp_os_is_file(RUN "/session.lock"));
    etp_os_lock_release(&lock);
    write_file(RUN "/session.lock", "2147483646\n");
    etp_run_remove_dead_lock(RUN, arena);
    assert_false(etp_os_is_file(RUN "/session.lock"));
}

static void altered_files_are_noticed(void **state)
{
    etp_arena *arena = *state;
    etp_run run, back;
    etp_run_writer w;
    begin(arena, &run, &w);
    assert_int_equal(etp_os_mkdirs(RUN "/linux_sme2_on/outputs", NULL), ETP_OK);
    write_file(RUN "/linux_sme2_on/toy_linux_sme2_on_t2.etdump", "dump 1");
    write_file(RUN "/linux_sme2_on/outputs/output-0.bin", "12");
    write_file(RUN "/linux_sme2_on/derived.csv", "derived files are not raw");
    assert_int_equal(commit_block(&w, 1), ETP_OK);
    assert_int_equal(etp_run_finish(&w, ETP_RUN_FINISHED, NULL), ETP_OK);
    assert_int_equal(etp_run_open(RUN, arena, &back, NULL), ETP_OK);
    assert_int_equal(back.files.n, 4);
    // echo -n "dump 1" | sha256sum
    for (size_t i = 0; i < back.files.n; i++) {
        if (etp_str_ends(back.files.items[i].path, ETP_STR(".etdump"))) {
            assert_true(
                etp_str_eqz(back.files.items[i].sha256,
                            "d82d9410cba342804df4b0b6269164858bc753381f82c9744520fbe1cb8b8018"));
        }
    }
    const char *bad;
    etp_error err;
    write_file(RUN "/linux_sme2_on/outputs/output-0.bin", "13");
    assert_int_equal(etp_run_check_files(&back, arena, &bad, &err), ETP_NO);
    assert_non_null(strstr(bad, "outputs/output-0.bin"));
    write_file(RUN "/linux_sme2_on/outputs/output-0.bin", "12");
    assert_int_equal(etp_os_unlink(RUN "/linux_sme2_on/toy_linux_sme2_on_t2.etdump", NULL), ETP_OK);
    assert_int_equal(etp_run_check_files(&back, arena, &bad, &err), ETP_NO);
    assert_non_null(strstr(bad, ".etdump"));
}

#define ARM "{\"name\":\"a\",\"prefix\":\"p\",\"model\":0,\"threads\":1}"
#define MANIFEST(arms, more)                                                                       \
    "{\"schema\":\"etprof.run/1\",\"state\":\"finished\",\"models\":[{\"path\":\"m\"}],\"plan\":{" \
    "\"baseline\":0,\"arms\":[" arms "]}" more "}"

static void hostile_manifests_are_refused(void **state)
{
    etp_arena *arena = *state;
    static const struct {
        const char *text;
        etp_status status;
        const char *says;
    } k_cases[] = {
        {"", ETP_CORRUPT, "the file is empty"},
        {"{", ETP_CORRUPT, "line 1"},
        {"[]", ETP_CORRUPT, "not an object"},
        {"\xff\xfe", ETP_CORRUPT, "line 1"},
        {"{\"schema\":\"etprof.run/1\",\"schema\":\"etprof.run/1\"}", ETP_CORRUPT, "duplicate"},
        {"{\"schema\":\"etprof.run/2\"}", ETP_UNSUPPORTED, "use a newer etprof"},
        {"{\"schema\":7}", ETP_UNSUPPORTED, "no etprof manifest"},
        {"{\"generated_at\":\"x\",\"results\":[]}", ETP_UNSUPPORTED, "no etprof manifest"},
        {"{\"a\":[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]}", ETP_CORRUPT, "deeper than 16"},
        {"{\"schema\":\"etprof.run/1\",\"state\":\"done\"}", ETP_CORRUPT, "state is not"},
        {"{\"schema\":\"etprof.run/1\",\"state\":\"finished\"}", ETP_CORRUPT, "plan is not there"},
        {MANIFEST("", ""), ETP_CORRUPT, "plan.baseline is not an index into arms"},
        {MANIFEST("{\"name\":\"../x\",\"prefix\":\"p\"}", ""), ETP_CORRUPT, "plan.arms[0].name"},
        {MANIFEST("{\"name\":\"x/y\",\"prefix\":\"p\"}", ""), ETP_CORRUPT, "plan.arms[0].name"},
        {MANIFEST("{\"name\":\"..\",\"prefix\":\"p\"}", ""), ETP_CORRUPT, "plan.arms[0].name"},
        {MANIFEST("{\"name\":\"x\",\"prefix\":\"/etc/passwd\"}", ""), ETP_CORRUPT,
         "plan.arms[0].prefix"},
        {MANIFEST("{\"name\":\"x\",\"prefix\":\"p\",\"model\":1}", ""), ETP_CORRUPT,
         "index into models"},
        {MANIFEST(ARM "," ARM, ""), ETP_CORRUPT, "plan.arms[1].name is not unique"},
        {MANIFEST("3", ""), ETP_CORRUPT, "is not an object"},
        {MANIFEST(ARM, ",\"blocks_done\":-1"), ETP_CORRUPT, "blocks_done"},
        {MANIFEST(ARM, ",\"blocks_done\":99999999"), ETP_CORRUPT, "blocks_done"},
        {MANIFEST(ARM, ",\"blocks_done\":1.5"), ETP_CORRUPT, "blocks_done"},
        {MANIFEST(ARM, ",\"lost\":[{\"arm\":4,\"kind\":\"timed\",\"reason\":\"hang\"}]"),
         ETP_CORRUPT, "lost[0].arm"},
        {MANIFEST(ARM, ",\"lost\":[{\"arm\":0,\"kind\":\"odd\",\"reason\":\"hang\"}]"), ETP_CORRUPT,
         "lost[0].kind"},
        {MANIFEST(ARM, ",\"files\":[{\"path\":\"../../etc/passwd\"}]"), ETP_CORRUPT,
         "files[0].path"},
        {MANIFEST(ARM, ",\"files\":[{\"path\":\"a//b\"}]"), ETP_CORRUPT, "files[0].path"},
        {MANIFEST(ARM, ",\"unreadable\":[3]"), ETP_CORRUPT, "unreadable"},
        {MANIFEST(ARM, ",\"unreadable\":7"), ETP_CORRUPT, "unreadable is not an array"},
        {MANIFEST(ARM, ",\"tool\":[]"), ETP_CORRUPT, "tool is not an object"},
        {MANIFEST(ARM, ",\"executorch\":{\"sha\":5}"), ETP_CORRUPT, "executorch.sha"},
        {MANIFEST(ARM, ",\"executorch\":{\"sha\":\"a\\u0000b\"}"), ETP_CORRUPT, "line 1"},
    };
    for (size_t i = 0; i < sizeof k_cases / sizeof *k_cases; i++) {
        etp_run run;
        etp_error err = {0};
        write_file(RUN "/manifest.json", k_cases[i].text);
        etp_status st = etp_run_open(RUN, arena, &run, &err);
        if (st != k_cases[i].status || !strstr(err.msg, k_cases[i].says)) {
            fail_msg("case %zu gave %d \"%s\"", i, (int)st, err.msg);
        }
    }
    etp_run run;
    write_file(RUN "/manifest.json", MANIFEST(ARM, ",\"new_key\":{\"x\":1}"));
    assert_int_equal(etp_run_open(RUN, arena, &run, NULL), ETP_OK); // unknown keys are fine
    etp_error err;
    assert_int_equal(etp_run_open(ROOT "/none", arena, &run, &err), ETP_IO);
    assert_int_equal(etp_os_unlink(RUN "/manifest.json", NULL), ETP_OK);
    assert_int_equal(etp_run_open(RUN, arena, &run, &err), ETP_IO);
    assert_false(etp_run_is(RUN));
}

static void hostile_rows_are_refused_with_their_place(void **state)
{
    etp_arena *arena = *state;
    static const struct {
        const char *text;
        uint64_t offset;
        const char *says;
    } k_cases[] = {
        {"",                                                                                   0,  "no rows"          },
        {"a,b,c\n",                                                                            0,  "the header is not"},
        {"experiment,block,launch,iteration,phase,start_ns,duration_ns\nb,1,1,0,timed,1,2\n",  61,
         "line 2: experiment is not in the plan"                                                                      },
        {"experiment,block,launch,iteration,phase,start_ns,duration_ns\na,0,1,0,timed,1,2\n",  61,
         "block"                                                                                                      },
        {"experiment,block,launch,iteration,phase,start_ns,duration_ns\na,x,1,0,timed,1,2\n",  61,
         "block"                                                                                                      },
        {"experiment,block,launch,iteration,phase,start_ns,duration_ns\na,1,1,0,odd,1,2\n",    61,
         "phase"                                                                                                      },
        {"experiment,block,launch,iteration,phase,start_ns,duration_ns\na,1,1,0,timed,1,-2\n", 61,
         "duration_ns"                                                                                                },
        {"experiment,block,launch,iteration,phase,start_ns,duration_ns\na,1,1,0,timed,1,"
         "18446744073709551616\n",                                                    61, "duration_ns"      },
        {"experiment,block,launch,iteration,phase,start_ns,duration_ns\na,1\n",                61, "launch"           },
    };
    for (size_t i = 0; i < sizeof k_cases / sizeof *k_cases; i++) {
        etp_run run;
        etp_error err = {0};
        write_file(RUN "/manifest.json", MANIFEST(ARM, ",\"blocks_done\":1"));
        write_file(RUN "/environment.jsonl", "");
        write_file(RUN "/samples.csv", k_cases[i].text);
        etp_status st = etp_run_open(RUN, arena, &run, &err);
        if (st != ETP_CORRUPT || !strstr(err.msg, k_cases[i].says) ||
            err.offset != k_cases[i].offset) {
            fail_msg("case %zu gave %d \"%s\" at %llu", i, (int)st, err.msg,
                     (unsigned long long)err.offset);
        }
    }
    etp_run run;
    etp_error err = {0};
    write_file(RUN "/samples.csv",
               "experiment,block,launch,iteration,phase,start_ns,duration_ns\na,1,1,0,timed,1,2\n");
    write_file(RUN "/environment.jsonl",
               "{\"type\":\"block\"}\n{\"type\":\"launch\",\"kind\":3}\n");
    assert_int_equal(etp_run_open(RUN, arena, &run, &err), ETP_CORRUPT);
    assert_int_equal(err.offset, 17);
    static const char *const k_counted[] = {
        // a column of another length, counts that are none, no list
        "{\"cycles\":[1,2],\"cpu_ns\":[1]}",
        "{\"cycles\":[1,-2]}",
        "{\"cycles\":[1,\"2\"]}",
        "{\"cycles\":[1,2],\"cache_misses\":[]}",
        "{\"cycles\":7}",
        "{\"cycles\":[1.5]}",
        "{\"cycles\":[18446744073709551616]}",
        "{\"cycles\":[1],\"events\":3}",
        "[1]"};
    for (size_t i = 0; i < sizeof k_counted / sizeof *k_counted; i++) {
        char line[200];
        snprintf(line, sizeof line,
                 "{\"type\":\"launch\",\"experiment\":\"a\",\"kind\":\"timed\",\"counted\":%s}\n",
                 k_counted[i]);
        write_file(RUN "/environment.jsonl", line);
        bool empty = strstr(k_counted[i], "[]") != NULL; // as good as not there
        if (etp_run_open(RUN, arena, &run, &err) != (empty ? ETP_OK : ETP_CORRUPT)) {
            fail_msg("%s", k_counted[i]);
        }
    }
    // A word of a later version is no reason to refuse a folder: what was counted is not known.
    write_file(RUN "/environment.jsonl",
               "{\"type\":\"launch\",\"experiment\":\"a\",\"kind\":\"timed\",\"counted\":"
               "{\"cycles\":[1],\"events\":\"tomorrow\"}}\n");
    assert_int_equal(etp_run_open(RUN, arena, &run, &err), ETP_OK);
    assert_true(run.launches.items[0].counted.events == ETP_EVENTS_NONE);
    write_file(RUN "/environment.jsonl", "not json\n");
    assert_int_equal(etp_run_open(RUN, arena, &run, &err), ETP_CORRUPT);
}

// Every prefix of a good folder's files: read or refused, never worse.
static bool same_sample(const etp_run_sample *a, const etp_run_sample *b)
{
    return a->arm == b->arm && a->block == b->block && a->launch == b->launch &&
           a->iteration == b->iteration && a->phase == b->phase && a->start_ns == b->start_ns &&
           a->duration_ns == b->duration_ns;
}

// Rows that look like the one before are read by a quicker way than others: both say the same.
static void rows_are_read_alike_however_they_are_written(void **state)
{
    etp_arena *arena = *state;
    static const struct {
        const char *row; // behind two plain ones
        etp_run_sample says;
    } k_cases[] = {
        {"a,1,2,3,timed,4,5\n",                                      {0, 1, 2, 3, ETP_PHASE_TIMED, 4, 5}            },
        {"a,1,2,3,timed,4,5\r\n",                                    {0, 1, 2, 3, ETP_PHASE_TIMED, 4, 5}            },
        {"\n\na,1,2,3,timed,4,5\n",                                  {0, 1, 2, 3, ETP_PHASE_TIMED, 4, 5}            },
        {"\"a\",1,\"2\",3,timed,4,5\n",                              {0, 1, 2, 3, ETP_PHASE_TIMED, 4, 5}            },
        {"a,1,2,3,warmup,4,5\n",                                     {0, 1, 2, 3, ETP_PHASE_WARMUP, 4, 5}           },
        {"b,1,2,3,timed,4,5\n",                                      {1, 1, 2, 3, ETP_PHASE_TIMED, 4, 5}            },
        {"a,1,2,3,timed,4,5,more\n",                                 {0, 1, 2, 3, ETP_PHASE_TIMED, 4, 5}            },
        {"a,01,0x1f,4294967295,timed,0x10,0005\n",                   {0, 1, 31, 4294967295u, ETP_PHASE_TIMED, 16, 5}},
        {"a,1,2,3,timed,999999999999999999,1000000000000000000\n",
         {0, 1, 2, 3, ETP_PHASE_TIMED, 999999999999999999u, 1000000000000000000u}                                   },
        {"a,1,2,3,timed,18446744073709551615,9223372036854775807\n",
         {0, 1, 2, 3, ETP_PHASE_TIMED, 18446744073709551615u, 9223372036854775807u}                                 },
    };
    static const char *const k_wrong[][2] = {
        {"a,1,2,4294967296,timed,4,5\n",          "line 4: iteration"  },
        {"a,1,4294967296,3,timed,4,5\n",          "line 4: launch"     },
        {"a,0,2,3,timed,4,5\n",                   "line 4: block"      },
        {"a,1,2,3,time,4,5\n",                    "line 4: phase"      },
        {"a,1,2,3,timed,,5\n",                    "line 4: start_ns"   },
        {"a,1,2,3,timed,4,\n",                    "line 4: duration_ns"},
        {"a,1,2,3,timed,4 ,5\n",                  "line 4: start_ns"   },
        {"a,1,2,3,timed,4,9223372036854775808\n", "line 4: duration_ns"},
        {"c,1,2,3,timed,4,5\n",                   "line 4: experiment" },
    };
#define TWO "{\"name\":\"b\",\"prefix\":\"p\",\"model\":0,\"threads\":1}"
    const char *const header = "experiment,block,launch,iteration,phase,start_ns,duration_ns\n"
                               "a,1,1,0,timed,1,2\na,1,1,1,timed,4,5\n";
    write_file(RUN "/manifest.json", MANIFEST(ARM "," TWO, ",\"blocks_done\":1"));
    write_file(RUN "/environment.jsonl", "");
    for (size_t i = 0; i < sizeof k_cases / sizeof *k_cases; i++) {
        etp_run run;
        etp_error err = {0};
        char text[512];
        snprintf(text, sizeof text, "%s%sa,1,9,8,timed,7,6\n", header, k_cases[i].row);
        write_file(RUN "/samples.csv", text);
        if (etp_run_open(RUN, arena, &run, &err) != ETP_OK || run.samples.n != 4 ||
            !same_sample(&run.samples.items[2], &k_cases[i].says) ||
            run.samples.items[3].launch != 9 || run.samples.items[3].duration_ns != 6) {
            fail_msg("case %zu: \"%s\"", i, err.msg);
        }
    }
    for (size_t i = 0; i < sizeof k_wrong / sizeof *k_wrong; i++) {
        etp_run run;
        etp_error err = {0};
        char text[512];
        snprintf(text, sizeof text, "%s%s", header, k_wrong[i][0]);
        write_file(RUN "/samples.csv", text);
        etp_status status = etp_run_open(RUN, arena, &run, &err);
        if (status != ETP_CORRUPT || !strstr(err.msg, k_wrong[i][1]) ||
            err.offset != strlen(header)) {
            fail_msg("wrong %zu: %d \"%s\"", i, (int)status, err.msg);
        }
    }
    etp_run run; // columns in another order
    write_file(RUN "/samples.csv", "experiment,launch,block,iteration,phase,start_ns,duration_ns\n"
                                   "a,5,1,0,timed,1,2\na,6,1,1,timed,4,5\n");
    assert_int_equal(etp_run_open(RUN, arena, &run, NULL), ETP_OK);
    assert_int_equal(run.samples.n, 2);
    assert_int_equal(run.samples.items[1].launch, 6);
}

static void cut_files_do_no_harm(void **state)
{
    etp_arena *arena = *state;
    etp_run run;
    etp_run_writer w;
    begin(arena, &run, &w);
    assert_int_equal(commit_block(&w, 1), ETP_OK);
    assert_int_equal(etp_run_finish(&w, ETP_RUN_INTERRUPTED, NULL), ETP_OK);
    static const char *const k_files[] = {RUN "/manifest.json", RUN "/samples.csv",
                                          RUN "/environment.jsonl"};
    for (size_t f = 0; f < 3; f++) {
        etp_str whole;
        assert_int_equal(etp_os_read_text(k_files[f], 1 << 20, arena, &whole, NULL), ETP_OK);
        size_t refused = 0, cuts = 0;
        for (size_t n = 0; n + 1 < whole.len; n += 7, cuts++) { // the last newline may be missing
            etp_arena scratch = {0};
            etp_run back;
            FILE *file = fopen(k_files[f], "wb"); // no fsync: this is done often
            assert_non_null(file);
            assert_int_equal(fwrite(whole.ptr, 1, n, file), n);
            assert_int_equal(fclose(file), 0);
            etp_status st = etp_run_open(RUN, &scratch, &back, NULL);
            assert_true(st == ETP_OK || st == ETP_CORRUPT || st == ETP_UNSUPPORTED);
            refused += st != ETP_OK;
            etp_arena_dispose(&scratch);
        }
        assert_true(f != 0 || refused == cuts); // a cut manifest is no manifest
        assert_int_equal(etp_os_write_atomic(k_files[f], whole, NULL), ETP_OK);
    }
}

static void derived_files_are_listed_with_their_hash(void **state)
{
    etp_arena *arena = *state;
    etp_run_deriving d;
    assert_int_equal(etp_os_mkdirs(RUN, NULL), ETP_OK);
    etp_run_derive_begin(RUN, arena, &d);
    assert_int_equal(etp_run_derive(&d, "old.md", ETP_STR("1"), NULL), ETP_OK);
    assert_int_equal(etp_run_derive(&d, "report.json", ETP_STR("first"), NULL), ETP_OK);
    assert_int_equal(etp_run_derive_end(&d, ETP_OK, NULL), ETP_OK);
    assert_int_equal(etp_run_derive(&d, "report.json", ETP_STR("second"), NULL), ETP_OK);
    assert_int_equal(etp_run_derive(&d, "a/b.csv", ETP_STR("x"), NULL), ETP_OK);
    assert_int_equal(etp_run_derive(&d, "report.json", ETP_STR("abc"), NULL), ETP_OK);
    assert_false(etp_os_is_file(RUN "/a/b.csv")); // all at once, and not before the end
    assert_int_equal(etp_run_derive_end(&d, ETP_OK, NULL), ETP_OK);
    etp_str text;
    assert_int_equal(etp_os_read_text(RUN "/derived.json", 1 << 20, arena, &text, NULL), ETP_OK);
    const char *z = etp_arena_strdup(arena, text);
    // FIPS 180-4's own example: SHA-256 of "abc"
    assert_string_equal(
        z, "{\n  \"schema\": \"etprof.derived/1\",\n  \"files\": [\n"
           "    {\"path\": \"a/b.csv\", \"sha256\": "
           "\"2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881\", \"bytes\": 1},\n"
           "    {\"path\": \"old.md\", \"sha256\": "
           "\"6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b\", \"bytes\": 1},\n"
           "    {\"path\": \"report.json\", \"sha256\": "
           "\"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\", \"bytes\": 3}\n"
           "  ]\n}\n");
    static const char *const k_raw[] = {"manifest.json",
                                        "samples.csv",
                                        "e/P.etdump",
                                        "../x",
                                        "/x",
                                        "e/outputs/x.bin",
                                        "derived.json",
                                        ""};
    for (size_t i = 0; i < sizeof k_raw / sizeof *k_raw; i++) {
        assert_int_equal(etp_run_derive(&d, k_raw[i], ETP_STR("x"), NULL), ETP_INTERNAL);
    }
}

// Who is stopped on the way leaves the folder as it was.
static void what_is_not_whole_changes_nothing(void **state)
{
    etp_arena *arena = *state;
    etp_run_deriving d;
    etp_str text;
    etp_dir_list list;
    assert_int_equal(etp_os_mkdirs(RUN, NULL), ETP_OK);
    etp_run_derive_begin(RUN, arena, &d);
    assert_int_equal(etp_run_derive(&d, "report.json", ETP_STR("old"), NULL), ETP_OK);
    assert_int_equal(etp_run_derive_end(&d, ETP_OK, NULL), ETP_OK);
    assert_int_equal(etp_run_derive(&d, "report.json", ETP_STR("new"), NULL), ETP_OK);
    assert_int_equal(etp_run_derive(&d, "more.md", ETP_STR("new"), NULL), ETP_OK);
    assert_int_equal(etp_run_derive_end(&d, ETP_IO, NULL), ETP_IO);
    assert_int_equal(etp_os_read_text(RUN "/report.json", 100, arena, &text, NULL), ETP_OK);
    assert_true(etp_str_eqz(text, "old"));
    assert_int_equal(etp_os_list(RUN, arena, &list, NULL), ETP_OK);
    for (size_t i = 0; i < list.n; i++) {
        assert_null(strstr(list.items[i].name, "more.md"));
        assert_null(strstr(list.items[i].name, ".tmp-"));
    }
}

static void folders_get_their_names(void **state)
{
    etp_arena *arena = *state;
    static const struct {
        const char *model, *dir;
    } k_cases[] = {
        {"toy_cnn_xnnpack_fp32.pte",                                       "out_toy_cnn/runs/linux"},
        {"a/b/net.pte",                                                    "out_net/runs/linux"    },
        {"model_profiling/out_edgetam/artifacts/edgetam_xnnpack_fp16.pte",
         "model_profiling/out_edgetam/runs/linux"                                                  },
        {"/x/out_m/m.pte",                                                 "/x/out_m/runs/linux"   },
        {"out_.pte",                                                       "out_out_/runs/linux"   },
        {"noext",                                                          "out_noext/runs/linux"  },
    };
    for (size_t i = 0; i < sizeof k_cases / sizeof *k_cases; i++) {
        assert_string_equal(etp_run_default_dir(arena, k_cases[i].model, "linux"), k_cases[i].dir);
    }
    const char *dir;
    assert_int_equal(etp_run_create_folder(ROOT "/out_x/runs/linux", false, arena, &dir, NULL),
                     ETP_OK);
    assert_string_equal(dir, ROOT "/out_x/runs/linux");
    assert_int_equal(etp_run_create_folder(ROOT "/out_x/runs/linux", false, arena, &dir, NULL),
                     ETP_OK);
    assert_string_equal(dir, ROOT "/out_x/runs/linux.2");
    assert_int_equal(etp_run_create_folder(ROOT "/out_x/runs/linux", false, arena, &dir, NULL),
                     ETP_OK);
    assert_string_equal(dir, ROOT "/out_x/runs/linux.3");
    etp_error err;
    assert_int_equal(etp_run_create_folder(ROOT "/exact/one", true, arena, &dir, &err), ETP_OK);
    assert_int_equal(etp_run_create_folder(ROOT "/exact/one", true, arena, &dir, &err),
                     ETP_OK); // empty
    assert_int_equal(etp_run_create_folder(ROOT "/exact", true, arena, &dir, &err), ETP_USAGE);
    assert_non_null(strstr(err.msg, "is not empty"));
}

static void a_block_is_one_line(void **state)
{
    etp_arena *arena = *state;
    static const uint32_t k_order[] = {1, 0}, k_khz[] = {2000000, 0};
    etp_run_block block = {
        .block = 1,
        .order = k_order,
        .n_order = 2,
        .control_position = ETP_NO_INDEX,
        .cooled_ns = 2000000000,
        .wall_start_s = 1795254764,
        .wall_end_s = -3,
        .slept_ns = 9999000000,
        .clock_jump_s = -9.5,
        .start = {.time_ns = 5,
                  .load1 = 1.87,
                  .memory_free_bytes = 24800489472,
                  .temperature_c = 45.5,
                  .temperature_zone = ETP_STR("soc"),
                  .freq_min_khz = 400000,
                  .freq_max_khz = 2000000,
                  .core_khz = k_khz,
                  .n_cores = 2,
                  .freq_cap_khz = 4400000,
                  .thermal_status = 2,
                  .battery_percent = 80,
                  .cpu_busy_ms = 7,
                  .governor = ETP_STR("performance"),
                  .boost = 1,
                  .power = ETP_STR("battery")},
        .end = {.time_ns = 6,
                  .load1 = NAN,
                  .memory_free_bytes = UINT64_MAX,
                  .temperature_c = NAN,
                  .freq_min_khz = UINT64_MAX,
                  .freq_max_khz = UINT64_MAX,
                  .freq_cap_khz = UINT64_MAX,
                  .thermal_status = UINT64_MAX,
                  .battery_percent = UINT64_MAX,
                  .cpu_busy_ms = UINT64_MAX,
                  .cpu_steal_ms = UINT64_MAX,
                  .boost = -1}
    };
    etp_run run, back;
    etp_run_writer w;
    begin(arena, &run, &w);
    const etp_str line = etp_run_block_line(&run, &block, arena);
    assert_string_equal(
        etp_arena_strdup(arena, line),
        "{\"type\":\"block\",\"block\":1,\"order\":[\"linux_sme2_off\",\"linux_sme2_on\"],"
        "\"control_position\":null,\"cooled_ns\":2000000000,\"wall_start_s\":1795254764,"
        "\"wall_end_s\":-3,\"slept_ns\":9999000000,\"clock_jump_s\":-9.5,\"start\":{\"time_ns\":5,"
        "\"load1\":1.87,\"memory_free_bytes\":24800489472,\"temperature_c\":45.5,"
        "\"temperature_zone\":\"soc\",\"freq_min_khz\":400000,\"freq_max_khz\":2000000,"
        "\"core_khz\":[2000000,null],\"freq_cap_khz\":4400000,\"thermal_status\":2,"
        "\"battery_percent\":80,\"cpu_busy_ms\":7,\"cpu_steal_ms\":0,\"governor\":\"performance\","
        "\"boost\":true,\"power\":\"battery\"},\"end\":{\"time_ns\":6,\"load1\":null,"
        "\"memory_free_bytes\":null,\"temperature_c\":null,\"temperature_zone\":null,"
        "\"freq_min_khz\":null,\"freq_max_khz\":null,\"core_khz\":null,\"freq_cap_khz\":null,"
        "\"thermal_status\":null,\"battery_percent\":null,\"cpu_busy_ms\":null,"
        "\"cpu_steal_ms\":null,\"governor\":null,\"boost\":null,\"power\":null}}");
    assert_int_equal(etp_run_commit(&w, NULL, 0, NULL, 0, &line, 1, NULL), ETP_OK);
    block.block = 2, block.slept_ns = UINT64_MAX, block.clock_jump_s = 0;
    const etp_str second = etp_run_block_line(&run, &block, arena);
    const char *unknown = etp_arena_strdup(arena, second);
    assert_non_null(strstr(unknown, "\"slept_ns\":null,\"clock_jump_s\":0,"));
    assert_int_equal(etp_run_commit(&w, NULL, 0, NULL, 0, &second, 1, NULL), ETP_OK);
    assert_int_equal(etp_run_open(RUN, arena, &back, NULL), ETP_OK);
    const etp_run_block *read = back.blocks.items;
    assert_true(back.blocks.n == 2 && read->slept_ns == 9999000000 && read->clock_jump_s == -9.5);
    assert_true(read->start.thermal_status == 2 && read->end.thermal_status == UINT64_MAX);
    assert_true(read[1].slept_ns == UINT64_MAX && read[1].clock_jump_s == 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_session_comes_back_as_it_was_written),
        TEST(a_block_is_one_line),
        TEST(the_kit_finds_its_results),
        TEST(a_torn_session_is_read_up_to_its_last_block),
        TEST(the_lock_of_a_killed_session_is_tidied_away),
        TEST(altered_files_are_noticed),
        TEST(hostile_manifests_are_refused),
        TEST(hostile_rows_are_refused_with_their_place),
        TEST(rows_are_read_alike_however_they_are_written),
        TEST(cut_files_do_no_harm),
        TEST(derived_files_are_listed_with_their_hash),
        TEST(what_is_not_whole_changes_nothing),
        TEST(folders_get_their_names),
    };
    return cmocka_run_group_tests(tests, enter_scratch, leave_scratch);
}
