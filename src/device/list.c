// SPDX-License-Identifier: Apache-2.0
// The devices that can be named from here.
#include "device/list.h"

#include <stdlib.h>

#include "device/adb.h"

#define CONFIG_LIMIT ((size_t)1 << 20)

static void add(etp_device_list *list, etp_arena *arena, const char *spec, const char *kind,
                const char *state, bool usable)
{
    etp_device_entry e = {spec, kind, state, usable};
    ETP_ADD(arena, list, e);
}

static int by_serial(const void *a, const void *b)
{
    return strcmp(((const etp_adb_device *)a)->serial, ((const etp_adb_device *)b)->serial);
}

static void add_adb(const etp_device_options *o, etp_arena *arena, etp_device_list *out)
{
    const char *adb = etp_remote_find("adb", o->search_path, arena);
    if (!adb) {
        out->adb = "no adb in PATH";
        return;
    }
    etp_adb_devices found;
    etp_error why;
    if (etp_adb_list(adb, arena, &found, &why) != ETP_OK) {
        out->adb = etp_arena_printf(arena, "%s", why.msg);
        return;
    }
    if (found.n > 0) {
        qsort(found.items, found.n, sizeof *found.items, by_serial);
    }
    for (size_t i = 0; i < found.n; i++) {
        const etp_adb_device *d = &found.items[i];
        add(out, arena, etp_arena_printf(arena, "adb:%s", d->serial), "adb", d->state,
            strcmp(d->state, "device") == 0);
    }
}

// ssh_config(5) allows "Host name", "Host=name" and quotes around either.
static etp_str next_word(etp_str *line)
{
    while (line->len > 0 && strchr(" \t=\"\r", line->ptr[0])) {
        line->ptr++;
        line->len--;
    }
    etp_str word = {line->ptr, 0};
    while (word.len < line->len && !strchr(" \t=\"\r", line->ptr[word.len])) {
        word.len++;
    }
    line->ptr += word.len;
    line->len -= word.len;
    return word;
}

static bool is_host_keyword(etp_str w)
{
    static const char k_host[] = "host";
    for (size_t i = 0; i < 4 && w.len == 4; i++) {
        if ((w.ptr[i] | 0x20) != k_host[i]) {
            return false;
        }
    }
    return w.len == 4;
}

// Names on "Host" lines. Patterns name no host; files that are included are not followed.
static etp_status add_hosts(const char *path, etp_arena *arena, etp_device_list *out,
                            etp_error *err)
{
    etp_str text;
    ETP_TRY(etp_os_read_text(path, CONFIG_LIMIT, arena, &text, err));
    for (etp_str line; etp_str_part(&text, '\n', &line);) {
        if (!is_host_keyword(next_word(&line))) {
            continue;
        }
        for (etp_str w = next_word(&line); w.len > 0 && w.ptr[0] != '#'; w = next_word(&line)) {
            bool pattern =
                memchr(w.ptr, '*', w.len) || memchr(w.ptr, '?', w.len) || w.ptr[0] == '!';
            if (!pattern) {
                add(out, arena, etp_arena_printf(arena, "ssh:%.*s", ETP_STR_ARG(w)), "ssh",
                    "not contacted", true);
            }
        }
    }
    return ETP_OK;
}

etp_status etp_device_list_make(const etp_device_options *o, etp_arena *arena, etp_device_list *out,
                                etp_error *err)
{
    *out = (etp_device_list){0};
    const char *qemu;
    add(out, arena, "local", "local", "ready", true);
    etp_error why;
    etp_status st = etp_qemu_find(o->qemu, o->search_path, o->program, arena, &qemu, &why);
    if (st == ETP_NOMEM) {
        return etp_fail_nomem(err, "devices");
    }
    if (st == ETP_OK) {
        add(out, arena, "qemu", "qemu", "ready", true);
    }
    add_adb(o, arena, out);
    if (o->ssh_config) {
        ETP_TRY(add_hosts(o->ssh_config, arena, out, err));
    }
    return etp_arena_check(arena, err, "devices");
}
