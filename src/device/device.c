// SPDX-License-Identifier: Apache-2.0
// Opens a device by its specification.
#include "base/number.h"
#include "device/remote.h"

etp_device_kind etp_device_kind_of(const char *spec)
{
    const char *s = ETP_OR(spec, "local");
    if (strcmp(s, "local") == 0) {
        return ETP_DEVICE_LOCAL;
    }
    if (strcmp(s, "qemu") == 0 || (strncmp(s, "qemu:", 5) == 0 && s[5] != '\0')) {
        return ETP_DEVICE_QEMU;
    }
    if (strncmp(s, "ssh:", 4) == 0) {
        return ETP_DEVICE_SSH;
    }
    bool adb = strcmp(s, "adb") == 0 || strncmp(s, "adb:", 4) == 0;
    return adb ? ETP_DEVICE_ADB : ETP_DEVICE_UNKNOWN;
}

const char *etp_device_fact_of(const etp_details *facts, const char *key)
{
    for (size_t i = 0; i < facts->n; i++) {
        if (strcmp(facts->items[i].key, key) == 0) {
            return facts->items[i].value;
        }
    }
    return NULL;
}

static etp_status open_kind(etp_device *d, const etp_device_options *o, etp_error *err)
{
    const char *colon = o->spec ? strchr(o->spec, ':') : NULL, *more = colon ? colon + 1 : NULL;
    switch (etp_device_kind_of(o->spec)) {
    case ETP_DEVICE_LOCAL:
        return etp_local_open(d, o, err);
    case ETP_DEVICE_QEMU:
        return etp_qemu_open(d, o, more, err);
    case ETP_DEVICE_SSH:
        return etp_ssh_open(d, o, more, err);
    case ETP_DEVICE_ADB:
        return etp_adb_open(d, o, more, err);
    case ETP_DEVICE_UNKNOWN:
        break;
    }
    return etp_fail(
        err, ETP_USAGE,
        "unknown device %s: there are local, adb, adb:SERIAL, ssh:HOST, qemu and qemu:CPU",
        o->spec);
}

// The name carries our process, so that a later session can tell a folder in use from one that was
// left behind.
static etp_status make_work_dir(etp_device *d, const char *root, etp_error *err)
{
    // Folders of sessions that were killed: "launches-<pid>-XXXXXX" of a process that is gone.
    etp_dir_list list;
    if (etp_os_is_dir(root) && etp_os_list(root, &d->arena, &list, NULL) == ETP_OK) {
        for (size_t i = 0; i < list.n; i++) {
            etp_str name = etp_str_from(list.items[i].name);
            uint64_t pid;
            if (!etp_str_skip(&name, "launches-")) {
                continue;
            }
            (void)etp_str_cut(&name, "-", &name);
            const char *path = etp_arena_printf(&d->arena, "%s/%s", root, list.items[i].name);
            if (path && etp_parse_u64(name, &pid) && pid <= INT32_MAX &&
                !etp_process_alive((int64_t)pid)) {
                etp_status ignored = etp_os_remove_tree(path, NULL);
                (void)ignored;
            }
        }
    }
    const char *prefix = etp_arena_printf(&d->arena, "launches-%lld", (long long)etp_os_self_pid());
    ETP_TRY(etp_os_temp_dir(root, prefix, &d->arena, &d->work_dir, err));
    d->work_dir =
        etp_os_absolute(d->work_dir, &d->arena); // children run in another working directory
    return d->work_dir ? ETP_OK : etp_fail_nomem(err, "the device");
}

etp_status etp_device_open(const etp_device_options *options, etp_device **out, etp_error *err)
{
    *out = NULL;
    etp_arena arena = {0};
    etp_device *d = ETP_NEW(&arena, etp_device);
    ETP_NEED(d, err, "the device");
    d->arena = arena; // moved: the record lives in the arena that it owns
    etp_status status = open_kind(d, options, err);
    if (status == ETP_OK) {
        status = make_work_dir(d, options->work_root, err);
    }
    if (d->arena.failed) { // whatever was made of what was missing
        status = etp_fail_nomem(err, "the device");
    }
    if (status != ETP_OK) {
        etp_device_close(d);
        return status;
    }
    *out = d;
    return ETP_OK;
}

void etp_device_close(etp_device *d)
{
    if (!d) {
        return;
    }
    if (d->ops) {
        d->ops->close(d);
    }
    etp_arena arena = d->arena;
    etp_arena_dispose(&arena);
}

etp_status etp_device_use(etp_device *d, const etp_bundle *bundle, etp_error *err)
{
    // Folder and digest: a bundle may be built anew in the same place.
    if (strcmp(d->bundle.dir, bundle->dir) == 0 &&
        strcmp(d->bundle.sdk_digest, bundle->sdk_digest) == 0) {
        return ETP_OK;
    }
    if (d->ops->use) {
        ETP_TRY(d->ops->use(d, bundle, err));
    }
    d->bundle = *bundle;
    return ETP_OK;
}
