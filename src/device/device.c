// SPDX-License-Identifier: Apache-2.0
// Opens a device by its specification.
#include "device/internal.h"

bool etp_device_fact_add(etp_device_facts *facts, etp_arena *arena, const char *key,
                         const char *value)
{
    etp_device_fact f = {key, value};
    return value != NULL && ETP_PUSH(arena, facts, f);
}

static etp_status open_kind(etp_device *d, const etp_device_options *o, etp_error *err)
{
    const char *spec = o->spec ? o->spec : "local";
    if (strcmp(spec, "local") == 0) {
        return etp_local_open(d, o, err);
    }
    if (strcmp(spec, "qemu") == 0) {
        return etp_qemu_open(d, o, NULL, err);
    }
    if (strncmp(spec, "qemu:", 5) == 0 && spec[5] != '\0') {
        return etp_qemu_open(d, o, spec + 5, err);
    }
    return etp_fail(err, ETP_USAGE, "unknown device %s: this build knows local, qemu and qemu:CPU",
                    spec);
}

etp_status etp_device_open(const etp_device_options *options, etp_device **out, etp_error *err)
{
    *out = NULL;
    etp_arena arena = {0};
    etp_device *d = ETP_NEW(&arena, etp_device);
    if (!d) {
        return etp_fail_nomem(err, "the device");
    }
    d->arena = arena; // moved: the record lives in the arena that it owns
    etp_status status = open_kind(d, options, err);
    if (status == ETP_OK) {
        status = etp_os_temp_dir(options->work_root, "launches", &d->arena, &d->work_dir, err);
    }
    if (status == ETP_OK) { // children run in another working directory
        d->work_dir = etp_os_absolute(d->work_dir, &d->arena);
        status = d->work_dir ? ETP_OK : etp_fail_nomem(err, "the device");
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
