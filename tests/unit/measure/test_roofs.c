// SPDX-License-Identifier: Apache-2.0
// Roofs that a runner elsewhere measured: what it says is taken, and what it may not say is refused
// with the reason. The runner is a shell that prints a file.
#include "measure/roofs.h"
#include "unit.h"

#define ROOT "roofs-test"
#define SAID ROOT "/said"
#define ROOF(what, unit, threads)                                               \
    "{\"type\":\"roof\",\"isa\":\"sve\",\"what\":\"" what "\",\"unit\":\"" unit \
    "\",\"threads\":" threads ",\"bytes\":0,\"best\":12,\"median\":11}\n"
#define DONE "{\"type\":\"done\",\"cmd\":\"roofs\",\"n\":1}\n"

static etp_status print_file(etp_device *d, const char *const *args, const char *const *env,
                             etp_process *out, etp_error *err)
{
    static const char *const k_argv[] = {"/bin/cat", SAID, NULL};
    const etp_process_spec spec = {.argv = k_argv};
    (void)d;
    (void)args;
    (void)env;
    return etp_process_start(&spec, out, err);
}

static void kill_it(etp_device *d, etp_process *p, uint64_t pid)
{
    (void)d;
    (void)pid;
    etp_process_kill(p);
}

static etp_status gather(const char *said, etp_arena *arena, etp_roof_table *out, etp_error *err)
{
    static const etp_device_vtable k_ops = {.start = print_file, .kill = kill_it};
    etp_device device = {.ops = &k_ops, .info.spec = "ssh:fake"};
    const etp_roofs_options options = {.threads = {1}, .n_threads = 1, .seconds = 0.1};
    *out = (etp_roof_table){0};
    assert_int_equal(etp_os_mkdirs(ROOT, NULL), ETP_OK);
    assert_int_equal(etp_os_write_atomic(SAID, etp_str_from(said), NULL), ETP_OK);
    etp_status st = etp_roofs_gather(&device, &options, arena, out, err);
    assert_int_equal(etp_os_remove_tree(ROOT, NULL), ETP_OK);
    return st;
}

static void what_a_runner_says_is_taken(void **state)
{
    etp_roof_table table;
    const char *said = "{\"type\":\"news\"}\n" ROOF("fma_f32", "op/s", "4")
        ROOF("of_later", "byte/s", "1") ROOF("region", "ns", "2") DONE;
    assert_int_equal(gather(said, *state, &table, NULL), ETP_OK);
    assert_int_equal(table.n, 3);
    const etp_roof *roofs = table.items;
    assert_string_equal(roofs[0].isa, "sve");
    assert_true(roofs[0].what == ETP_ROOF_FMA_F32 && roofs[0].unit == ETP_ROOF_OP_S);
    assert_true(roofs[0].threads == 4 && roofs[0].best == 12 && roofs[0].median == 11);
    assert_true(roofs[1].what == ETP_ROOF_OTHER && roofs[1].unit == ETP_ROOF_BYTE_S);
    assert_true(roofs[2].what == ETP_ROOF_REGION && roofs[2].unit == ETP_ROOF_NS);
}

static void what_it_may_not_say_is_refused(void **state)
{
    static const char *const k_cases[][2] = {
        {ROOF("fma_f32", "op/s", "0") DONE, "a roof of 0 threads"},
        {ROOF("fma_f32", "op/s", "257") DONE, "a roof of 257 threads"},
        {ROOF("fma_f32", "parsec", "1") DONE, "a roof in 'parsec'"},
        {"{\"type\":\"error\",\"code\":\"usage\",\"message\":\"no --roofs\"}\n",
         "no --roofs; a runner "},
        {ROOF("fma_f32", "op/s", "1"), "stopped before"},
        {"fma_f32 12\n", "does not speak"},
    };
    for (size_t i = 0; i < sizeof k_cases / sizeof *k_cases; i++) {
        etp_error err = {0};
        etp_roof_table table;
        assert_int_equal(gather(k_cases[i][0], *state, &table, &err), ETP_CHILD);
        if (!strstr(err.msg, k_cases[i][1])) {
            fail_msg("\"%s\" lacks \"%s\"", err.msg, k_cases[i][1]);
        }
    }
}

static void too_many_roofs_are_no_want_of_memory(void **state)
{
    etp_arena *arena = *state;
    etp_error err = {0};
    etp_roof_table table;
    etp_strbuf said;
    etp_strbuf_init(&said, arena);
    for (int i = 0; i < 4096; i++) {
        etp_strbuf_appendz(&said, ROOF("fma_f32", "op/s", "1"));
    }
    size_t most = said.len;
    etp_strbuf_appendz(&said, DONE);
    assert_int_equal(gather(said.ptr, arena, &table, &err), ETP_OK);
    assert_int_equal(table.n, 4096);
    said.len = most;
    etp_strbuf_appendz(&said, ROOF("fma_f32", "op/s", "1") DONE);
    assert_int_equal(gather(said.ptr, arena, &table, &err), ETP_CHILD);
    assert_non_null(strstr(err.msg, "more than 4096 roofs"));
}
