// SPDX-License-Identifier: Apache-2.0
// This machine as a device, and what an emulator on this machine shares with it.

#include "base/number.h"
#include "device/internal.h"

#define MAX_ARGS 64

etp_status etp_host_probe(etp_device *d, etp_arena *arena, etp_details *out, etp_error *err)
{
    (void)d;
    etp_os_facts f;
    etp_os_facts_read(&f);
    etp_device_fact_add(out, arena, "system", etp_arena_printf(arena, "%s", f.system));
    etp_device_fact_add(out, arena, "machine", etp_arena_printf(arena, "%s", f.machine));
    etp_device_fact_add(out, arena, "cpu", etp_arena_printf(arena, "%s", f.cpu));
    etp_device_fact_add(out, arena, "cpus", etp_arena_printf(arena, "%u", f.cpus));
    double quota = etp_os_cpu_quota();
    if (quota > 0) {
        etp_device_fact_add(out, arena, "cpu_quota",
                            etp_arena_printf(arena, "%s", ETP_DIGITS(quota, 3)));
    }
    etp_device_fact_add(out, arena, "memory_bytes",
                        etp_arena_printf(arena, "%llu", (unsigned long long)f.memory_bytes));
    etp_details details;
    ETP_TRY(etp_os_details_read(arena, &details, err));
    for (size_t i = 0; i < details.n; i++) {
        etp_device_fact_add(out, arena, details.items[i].key, details.items[i].value);
    }
    return etp_arena_check(arena, err, "facts of the device");
}

// Nothing is copied: launches read the file where it lies. The path is made absolute, because they
// start in the bundle's folder.
etp_status etp_host_push(etp_device *d, const char *local, etp_arena *arena,
                         const char **out_remote, etp_error *err)
{
    (void)d;
    *out_remote = etp_os_absolute(local, arena);
    if (!*out_remote) {
        return etp_os_is_file(local) ? etp_fail_nomem(err, local)
                                     : etp_fail(err, ETP_IO, "%s does not exist", local);
    }
    return ETP_OK;
}

etp_status etp_host_start(etp_device *d, const char *const *first, const char *const *args,
                          const char *const *env, etp_process *out, etp_error *err)
{
    // Masks come from the session alone. A bundle with its own C library must not get libraries
    // that were meant for the system's; a bare program may need them.
    static const char *const k_unset[] = {"ETPROF_MASK", "ETPROF_NONCE", "LD_PRELOAD",
                                          "LD_LIBRARY_PATH", NULL};
    static const char *const k_unset_bare[] = {"ETPROF_MASK", "ETPROF_NONCE", NULL};
    const char *argv[MAX_ARGS + 1], *missing = etp_os_missing();
    size_t n = 0;
    if (missing) {
        return etp_fail(err, ETP_ENVIRONMENT, "%s", missing);
    }
    const char *const *const parts[] = {first, d->bundle.start, args};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        for (size_t k = 0; parts[i] && parts[i][k]; k++) {
            if (n == MAX_ARGS) {
                return etp_fail(err, ETP_INTERNAL, "more than %d arguments", MAX_ARGS);
            }
            argv[n++] = parts[i][k];
        }
    }
    argv[n] = NULL;
    const etp_process_spec spec = {.argv = argv,
                                   .cwd = d->bundle.dir,
                                   .env_set = env,
                                   .env_unset = d->bundle.own_libraries ? k_unset : k_unset_bare};
    return etp_process_start(&spec, out, err);
}

void etp_host_kill(etp_device *d, etp_process *p, uint64_t pid)
{
    (void)d;
    (void)pid;
    etp_process_kill(p);
}

etp_str etp_host_affinity(etp_device *d, const etp_process *p, etp_arena *arena)
{
    (void)d;
    return etp_process_affinity_read(p->pid, arena);
}

etp_status etp_host_scratch(etp_device *d, const char *name, etp_arena *arena,
                            const char **out_remote, etp_error *err)
{
    const char *path = etp_arena_printf(arena, "%s/%s", d->work_dir, name);
    *out_remote = path;
    return etp_os_remove_tree(path, err);
}

etp_status etp_host_pull(etp_device *d, const char *remote, const char *local, etp_error *err)
{
    (void)d;
    return etp_os_move(remote, local, err);
}

void etp_host_state(etp_device *d, etp_os_state *out)
{
    (void)d;
    etp_os_state_read(out);
}

void etp_host_close(etp_device *d)
{
    if (d->work_dir) {
        etp_status ignored = etp_os_remove_tree(d->work_dir, NULL);
        (void)ignored; // temporary files that stay harm nobody
    }
}

static etp_status local_start(etp_device *d, const char *const *args, const char *const *env,
                              etp_process *out, etp_error *err)
{
    return etp_host_start(d, NULL, args, env, out, err);
}

// No `ended`: the runner is our own child here, so its exit status is the launch's.
static const etp_device_vtable k_local = {
    .probe = etp_host_probe,
    .push = etp_host_push,
    .start = local_start,
    .kill = etp_host_kill,
    .affinity = etp_host_affinity,
    .scratch = etp_host_scratch,
    .pull = etp_host_pull,
    .state = etp_host_state,
    .close = etp_host_close,
};

etp_status etp_local_open(etp_device *d, const etp_device_options *o, etp_error *err)
{
    etp_os_facts f;
    etp_os_facts_read(&f);
    d->ops = &k_local;
    d->info = (etp_device_info){.spec = "local",
                                .platform = f.platform,
                                .triple = etp_arena_printf(&d->arena, "%s", f.triple),
                                .local_pid = true};
    return etp_bundle_find(o->runner, o->program, d->info.triple, &d->arena, &d->bundle, err);
}
