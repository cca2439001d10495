// SPDX-License-Identifier: Apache-2.0
// Bundles and devices of this machine: what is found, how it is started, what is refused.
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device/device.h"
#include "unit.h"

#define ROOT "device-test"

static etp_arena s_arena;

static int set_up(void **state)
{
    return etp_os_mkdirs(ROOT, NULL) == ETP_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    etp_status st = etp_os_remove_tree(ROOT, NULL);
    etp_arena_dispose(&s_arena);
    return st == ETP_OK ? 0 : -1;
}

static void write_script(const char *path, const char *text)
{
    assert_int_equal(etp_os_write_atomic(path, etp_str_from(text), NULL), ETP_OK);
    assert_int_equal(chmod(path, 0755), 0);
}

static void write_bundle(const char *dir, const char *json)
{
    assert_int_equal(etp_os_mkdirs(dir, NULL), ETP_OK);
    const char *path = etp_arena_printf(&s_arena, "%s/bundle.json", dir);
    assert_int_equal(etp_os_write_atomic(path, etp_str_from(json), NULL), ETP_OK);
    write_script(etp_arena_printf(&s_arena, "%s/etprof-runner", dir), "#!/bin/sh\n");
}

#define BUNDLE(triple)                                                                    \
    "{\"schema\":\"etprof.bundle/1\",\"triple\":\"" triple                                \
    "\",\"executorch\":{\"version\":\"1.5.1\",\"sha\":\"3b60\"},\"start\":[\"./loader\"," \
    "\"--library-path\",\".\",\"./etprof-runner\"],\"files\":[{\"sha256\":\"aa\"}]}"

static void bundles_are_found_beside_the_program(void **state)
{
    etp_bundle b;
    etp_error err;
    assert_int_equal(etp_os_mkdirs(ROOT "/usr/bin", NULL), ETP_OK);
    assert_int_equal(etp_os_mkdirs(ROOT "/tree/build/dev/bin", NULL), ETP_OK);
    write_script(ROOT "/usr/bin/etprof", "#!/bin/sh\n");
    write_script(ROOT "/tree/build/dev/bin/etprof", "#!/bin/sh\n");
    write_bundle(ROOT "/usr/libexec/etprof/t1", BUNDLE("t1"));
    write_bundle(ROOT "/tree/build/bundle/t1", BUNDLE("t1"));
    assert_int_equal(etp_bundle_find(NULL, ROOT "/usr/bin/etprof", "t1", &s_arena, &b, &err),
                     ETP_OK);
    assert_non_null(strstr(b.dir, "/usr/libexec/etprof/t1"));
    assert_string_equal(b.start[0], "./loader");
    assert_string_equal(b.start[3], "./etprof-runner");
    assert_null(b.start[4]);
    assert_true(b.own_libraries);
    assert_string_equal(b.sdk_version, "1.5.1");
    // printf '#!/bin/sh\n' | sha256sum
    assert_string_equal(b.runner_sha256,
                        "a8076d3d28d21e02012b20eaf7dbf75409a6277134439025f282e368e3305abf");
    assert_int_equal(
        etp_bundle_find(NULL, ROOT "/tree/build/dev/bin/etprof", "t1", &s_arena, &b, &err), ETP_OK);
    assert_non_null(strstr(b.dir, "/tree/build/bundle/t1"));
    assert_int_equal(etp_bundle_find(NULL, ROOT "/usr/bin/etprof", "t2", &s_arena, &b, &err),
                     ETP_ENVIRONMENT);
    assert_non_null(strstr(err.msg, "scripts/build-runner t2"));
    // A named one: a folder, the program in it, a program alone.
    assert_int_equal(etp_bundle_find(ROOT "/tree/build/bundle/t1", NULL, "t1", &s_arena, &b, &err),
                     ETP_OK);
    assert_int_equal(
        etp_bundle_find(ROOT "/tree/build/bundle/t1/etprof-runner", NULL, "t1", &s_arena, &b, &err),
        ETP_OK);
    assert_true(b.own_libraries);
    assert_int_equal(etp_bundle_find(ROOT "/usr/bin/etprof", NULL, "t1", &s_arena, &b, &err),
                     ETP_OK);
    assert_false(b.own_libraries);
    assert_null(b.start[1]);
}

static void broken_bundles_are_refused(void **state)
{
    static const char *const k_bad[] = {
        "",
        "{",
        "{\"schema\":\"etprof.bundle/2\"}",
        BUNDLE("other"),
        "{\"schema\":\"etprof.bundle/1\",\"triple\":\"t1\"}",
        "{\"schema\":\"etprof.bundle/1\",\"triple\":\"t1\",\"start\":[]}",
        "{\"schema\":\"etprof.bundle/1\",\"triple\":\"t1\",\"start\":[1]}",
        ("{\"schema\":\"etprof.bundle/"
         "1\",\"triple\":\"t1\",\"start\":[\"a\",\"a\",\"a\",\"a\",\"a\",\"a\","
         "\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\"]}")};
    for (size_t i = 0; i < sizeof k_bad / sizeof *k_bad; i++) {
        etp_bundle b;
        etp_error err;
        write_bundle(ROOT "/b", k_bad[i]);
        assert_int_equal(etp_bundle_find(ROOT "/b", NULL, "t1", &s_arena, &b, &err),
                         ETP_ENVIRONMENT);
        assert_non_null(strstr(err.msg, "bundle.json"));
    }
}

static void a_bundle_starts_in_its_folder_with_a_clean_environment(void **state)
{
    write_bundle(ROOT "/b", "{\"schema\":\"etprof.bundle/1\",\"triple\":\"t\",\"start\":[\"./"
                            "etprof-runner\",\"--fixed\"]}");
    write_script(
        ROOT "/b/etprof-runner",
        "#!/bin/sh\npwd\necho \"$*\"\necho \"[$ETPROF_MASK][$LD_LIBRARY_PATH][$ETPROF_NONCE]\"\n");
    assert_int_equal(setenv("LD_LIBRARY_PATH", "/elsewhere", 1), 0);
    assert_int_equal(setenv("ETPROF_NONCE", "stale", 1), 0);
    etp_device *d;
    etp_error err = {0};
    etp_os_facts facts;
    etp_os_facts_read(&facts);
    const char *json =
        etp_arena_printf(&s_arena,
                         "{\"schema\":\"etprof.bundle/1\",\"triple\":\"%s\","
                         "\"start\":[\"./etprof-runner\",\"--fixed\",\"./etprof-runner\"]}",
                         facts.triple);
    assert_int_equal(etp_os_write_atomic(ROOT "/b/bundle.json", etp_str_from(json), NULL), ETP_OK);
    const etp_device_options o = {.runner = ROOT "/b", .work_root = ROOT "/work"};
    // What a killed session left goes, what a living one has stays.
    assert_int_equal(etp_os_mkdirs(ROOT "/work/launches-2147483647-abcdef/x", NULL), ETP_OK);
    assert_int_equal(etp_os_mkdirs(ROOT "/work/launches-1-abcdef", NULL), ETP_OK);
    ASSERT_OK(etp_device_open(&o, &d, &err), err);
    const char *const args[] = {"--model", "a b.pte", NULL};
    const char *const env[] = {"ETPROF_MASK=x86_64:none", NULL};
    etp_process p;
    assert_int_equal(d->ops->start(d, args, env, &p, &err), ETP_OK);
    char text[2048] = "";
    for (size_t n = 0;;) {
        size_t got;
        etp_process_event e =
            etp_process_read(&p, 10000000000u, text + n, sizeof text - 1 - n, &got);
        if (e != ETP_PROCESS_OUT) {
            break;
        }
        n += got;
        text[n] = '\0';
    }
    etp_process_dispose(&p);
    assert_string_equal(
        text, etp_arena_printf(&s_arena,
                               "%s\n--fixed ./etprof-runner --model a b.pte\n[x86_64:none][][]\n",
                               d->bundle.dir));
    assert_false(etp_os_is_dir(ROOT "/work/launches-2147483647-abcdef"));
    assert_true(etp_os_is_dir(ROOT "/work/launches-1-abcdef"));
    const char *work = etp_arena_printf(&s_arena, "%s", d->work_dir);
    assert_true(etp_os_is_dir(work));
    etp_device_close(d);
    assert_false(etp_os_is_dir(work));
}

static void an_old_or_missing_qemu_is_refused(void **state)
{
    const char *path;
    etp_error err;
    write_script(ROOT "/old", "#!/bin/sh\necho 'qemu-aarch64 version 7.2.11 (Debian 1:7.2)'\n");
    write_script(ROOT "/new", "#!/bin/sh\necho 'qemu-aarch64 version 10.1.0'\n");
    write_script(ROOT "/odd", "#!/bin/sh\necho 'something else'\n");
    assert_int_equal(etp_qemu_find(ROOT "/new", NULL, NULL, &s_arena, &path, &err), ETP_OK);
    assert_int_equal(etp_qemu_find(ROOT "/old", NULL, NULL, &s_arena, &path, &err),
                     ETP_ENVIRONMENT);
    assert_non_null(strstr(err.msg, "10.1 or newer, but 7.2.11"));
    assert_int_equal(etp_qemu_find(ROOT "/odd", NULL, NULL, &s_arena, &path, &err),
                     ETP_ENVIRONMENT);
    assert_int_equal(etp_qemu_find(ROOT "/none", NULL, NULL, &s_arena, &path, &err),
                     ETP_ENVIRONMENT);
    // In PATH an old one is passed over for a newer one further on.
    assert_int_equal(etp_os_mkdirs(ROOT "/p1", NULL), ETP_OK);
    assert_int_equal(etp_os_mkdirs(ROOT "/p2", NULL), ETP_OK);
    write_script(ROOT "/p1/qemu-aarch64", "#!/bin/sh\necho 'qemu-aarch64 version 8.0.0'\n");
    write_script(ROOT "/p2/qemu-aarch64-static", "#!/bin/sh\necho 'qemu-aarch64 version 11.0.1'\n");
    const char *root = etp_os_absolute(ROOT, &s_arena);
    const char *both = etp_arena_printf(&s_arena, "%s/p1:%s/p2", root, root);
    assert_int_equal(etp_qemu_find(NULL, both, NULL, &s_arena, &path, &err), ETP_OK);
    assert_string_equal(path, etp_arena_printf(&s_arena, "%s/p2/qemu-aarch64-static", root));
    both = etp_arena_printf(&s_arena, "%s/p1", root);
    assert_int_equal(etp_qemu_find(NULL, both, NULL, &s_arena, &path, &err), ETP_ENVIRONMENT);
    assert_non_null(strstr(err.msg, "only 8.0.0"));
}

static void a_qemu_of_the_working_directory_is_not_started(void **state)
{
    const char *path;
    etp_error err;
    static const char k_answer[] = "#!/bin/sh\n: >started\necho 'qemu-aarch64 version 10.1.0'\n";
    assert_int_equal(etp_os_mkdirs(ROOT "/here/.cache/qemu/root/usr/bin", NULL), ETP_OK);
    write_script(ROOT "/here/.cache/qemu/root/usr/bin/qemu-aarch64", k_answer);
    write_script(ROOT "/here/qemu-aarch64", k_answer);
    assert_int_equal(chdir(ROOT "/here"), 0);
    etp_status unasked =
        etp_qemu_find(NULL, ".::bin:.cache/qemu/root/usr/bin", NULL, &s_arena, &path, &err);
    bool started = etp_os_is_file("started");
    etp_status named = etp_qemu_find("./qemu-aarch64", NULL, NULL, &s_arena, &path, &err);
    assert_int_equal(chdir("../.."), 0);
    assert_int_equal(unasked, ETP_ENVIRONMENT);
    assert_false(started);
    assert_int_equal(named, ETP_OK);
}

static void a_specification_has_one_kind(void **state)
{
    static const struct {
        const char *spec;
        etp_device_kind kind;
    } k_specs[] = {
        {NULL,         ETP_DEVICE_LOCAL  },
        {"local",      ETP_DEVICE_LOCAL  },
        {"qemu",       ETP_DEVICE_QEMU   },
        {"qemu:max",   ETP_DEVICE_QEMU   },
        {"ssh:host",   ETP_DEVICE_SSH    },
        {"adb",        ETP_DEVICE_ADB    },
        {"adb:1:5555", ETP_DEVICE_ADB    },
        {"",           ETP_DEVICE_UNKNOWN},
        {"qemu:",      ETP_DEVICE_UNKNOWN},
        {"ssh",        ETP_DEVICE_UNKNOWN},
        {"local:",     ETP_DEVICE_UNKNOWN},
        {"adbx",       ETP_DEVICE_UNKNOWN},
    };
    for (size_t i = 0; i < sizeof k_specs / sizeof *k_specs; i++) {
        assert_int_equal(etp_device_kind_of(k_specs[i].spec), k_specs[i].kind);
    }
}

#define SET_UP set_up
#define TEAR_DOWN tear_down
