// SPDX-License-Identifier: Apache-2.0
// An aarch64 Linux processor with SME2 emulated by QEMU's user mode: kernels and names are real,
// times are not.

#include "base/number.h"
#include "base/path.h"
#include "device/internal.h"

// Like Apple's M4: streaming vectors of 512 bits, no SVE beside them. QEMU's own default is 256
// bits.
#define DEFAULT_CPU "max,sve=off,sme512=on"
#define TRIPLE "aarch64-linux-gnu"

typedef struct qemu_data {
    const char *first[4]; // qemu -cpu CPU
    const char *version;
} qemu_data;

// "qemu-aarch64 version 10.1.2 (…)": 10.1 or newer, the first that has SME2; else ETP_NO.
// Asked of the program itself, since distributions ship older ones under the same name. What does
// not answer is passed over.
static etp_status new_enough(const char *path, etp_arena *arena, const char **out_version,
                             etp_error *err)
{
    const char *const argv[] = {path, "--version", NULL};
    const etp_process_spec spec = {.argv = argv};
    etp_process p;
    etp_str out, err_text;
    *out_version = "";
    if (!etp_os_is_executable(path)) {
        return ETP_NO;
    }
    etp_error why;
    if (etp_process_capture(&spec, 10000000000u, 4096, arena, &p, &out, &err_text, &why) !=
        ETP_OK) {
        return why.status == ETP_NOMEM ? etp_fail_nomem(err, path) : ETP_NO;
    }
    etp_str v = out, major, minor;
    if (!etp_str_skip(&v, "qemu-aarch64 version ")) {
        return ETP_NO;
    }
    for (size_t i = 0; i < v.len; i++) {
        if (v.ptr[i] == ' ' || v.ptr[i] == '\n' || v.ptr[i] == '(') {
            v.len = i;
        }
    }
    const char *version = etp_arena_strdup(arena, v);
    ETP_NEED(version, err, path);
    *out_version = version;
    bool dotted = etp_str_cut(&v, ".", &major);
    (void)etp_str_cut(&v, ".", &minor);
    uint64_t a, b;
    bool numbers = dotted && etp_parse_u64(major, &a) && etp_parse_u64(minor, &b);
    return numbers && (a > 10 || (a == 10 && b >= 1)) ? ETP_OK : ETP_NO;
}

typedef struct path_list {
    const char **items;
    size_t n, cap;
} path_list;

etp_status etp_qemu_find(const char *wanted, const char *search_path, const char *program,
                         etp_arena *arena, const char **out, etp_error *err)
{
    const char *version, *old = "";
    if (wanted) {
        *out = wanted;
        etp_status st = new_enough(wanted, arena, &version, err);
        if (st != ETP_NO) {
            return st;
        }
        return etp_fail(err, ETP_ENVIRONMENT, "%s is not qemu-aarch64 10.1 or newer%s%s", wanted,
                        etp_if(version[0], ", but "), version);
    }
    path_list places = {0};
    // The places after a named one: PATH, then the cache of the work tree we were built in. Nothing
    // below the working directory, which may be anybody's: not its cache, nor what a relative entry
    // of PATH leads to.
    static const char k_cached[] = ".cache/qemu/root/usr/bin/qemu-aarch64";
    for (etp_str dir, rest = etp_str_from(search_path); etp_str_part(&rest, ':', &dir);) {
        if (dir.ptr[0] == '/') {
            ETP_ADD(arena, &places, etp_arena_printf(arena, "%.*s/qemu-aarch64", ETP_STR_ARG(dir)));
            ETP_ADD(arena, &places,
                    etp_arena_printf(arena, "%.*s/qemu-aarch64-static", ETP_STR_ARG(dir)));
        }
    }
    const char *exe = etp_os_absolute(program, arena);
    // <tree>/build/<name>/bin/etprof
    const etp_str tree = etp_path_above(etp_str_from(ETP_OR(exe, "")), 4);
    if (exe) {
        ETP_ADD(arena, &places, etp_arena_printf(arena, "%.*s/%s", ETP_STR_ARG(tree), k_cached));
    }
    for (size_t i = 0; i < places.n; i++) {
        *out = places.items[i];
        etp_status st = new_enough(*out, arena, &version, err);
        if (st != ETP_NO) {
            return st;
        }
        old = version[0] ? version : old;
    }
    return etp_fail(
        err, ETP_ENVIRONMENT,
        "no qemu-aarch64 10.1 or newer%s%s: run scripts/qemu, or name one with ETPROF_QEMU",
        etp_if(old[0], ", only "), old);
}

static etp_status qemu_probe(etp_device *d, etp_arena *arena, etp_details *out, etp_error *err)
{
    const qemu_data *q = d->data;
    etp_device_fact_add(out, arena, "emulator",
                        etp_arena_printf(arena, "qemu-aarch64 %s", q->version));
    etp_device_fact_add(out, arena, "emulated_cpu", etp_arena_printf(arena, "%s", q->first[2]));
    return etp_host_probe(d, arena, out, err);
}

static etp_status qemu_start(etp_device *d, const char *const *args, const char *const *env,
                             etp_process *out, etp_error *err)
{
    const qemu_data *q = d->data;
    return etp_host_start(d, q->first, args, env, out, err);
}

static const etp_device_vtable k_qemu = {
    .probe = qemu_probe,
    .push = etp_host_push,
    .start = qemu_start,
    .kill = etp_host_kill,
    .affinity = etp_host_affinity,
    .scratch = etp_host_scratch,
    .pull = etp_host_pull,
    .state = etp_host_state,
    .close = etp_host_close,
};

etp_status etp_qemu_open(etp_device *d, const etp_device_options *o, const char *cpu,
                         etp_error *err)
{
    qemu_data *q = ETP_NEW(&d->arena, qemu_data);
    const char *spec = cpu ? etp_arena_printf(&d->arena, "qemu:%s", cpu) : "qemu";
    const char *copy = etp_arena_printf(&d->arena, "%s", ETP_OR(cpu, DEFAULT_CPU));
    ETP_NEED(q, err, "the device");
    const char *qemu;
    ETP_TRY(etp_qemu_find(o->qemu, o->search_path, o->program, &d->arena, &qemu, err));
    qemu = etp_os_absolute(qemu, &d->arena);
    etp_status st = new_enough(qemu, &d->arena, &q->version, err);
    if (st != ETP_OK) {
        return st == ETP_NO ? etp_fail(err, ETP_ENVIRONMENT, "qemu-aarch64 is gone") : st;
    }
    q->first[0] = qemu;
    q->first[1] = "-cpu";
    q->first[2] = copy;
    d->ops = &k_qemu;
    d->data = q;
    d->info = (etp_device_info){.spec = spec,
                                .platform = ETP_PLATFORM_LINUX,
                                .triple = TRIPLE,
                                .emulated = true,
                                .local_pid = true};
    return etp_bundle_find(o->runner, o->program, TRIPLE, &d->arena, &d->bundle, err);
}
