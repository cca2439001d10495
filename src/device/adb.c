// SPDX-License-Identifier: Apache-2.0
// An Android device behind adb. The serial is named in every call; adb's exit status is never
// believed.
#include "device/adb.h"
#include "base/number.h"

#define CLIENT_NS ((uint64_t)20 * 1000000000u)

// adb starts a server that serves every client of this user, so what a call leaves running is not
// ours to end.
static etp_status call_adb(const char *adb, const char *const *words, size_t n, etp_arena *arena,
                           etp_str *out, etp_error *err)
{
    const char *argv[8] = {adb};
    for (size_t i = 0; i < n && i < 6; i++) {
        argv[i + 1] = words[i];
    }
    int status;
    etp_str log;
    return etp_remote_client(argv, ETP_PROCESS_LEAVES_OTHERS, CLIENT_NS, arena, &status, out, &log,
                             err);
}

etp_status etp_adb_list(const char *adb, etp_arena *arena, etp_adb_devices *out, etp_error *err)
{
    *out = (etp_adb_devices){0};
    static const char *const k_words[] = {"devices"};
    etp_str text;
    ETP_TRY(call_adb(adb, k_words, 1, arena, &text, err));
    for (etp_str state, serial; etp_str_part(&text, '\n', &state);) {
        bool told =
            etp_str_cut(&state, "\t", &serial); // else the heading, or talk about the server
        state = etp_str_trim(state, " \t\r");
        if (told && serial.len > 0 && state.len > 0) {
            etp_adb_device item = {etp_arena_strdup(arena, serial), etp_arena_strdup(arena, state)};
            ETP_ADD(arena, out, item);
        }
    }
    return etp_arena_check(arena, err, "adb devices"); // their serials are compared
}

static const etp_adb_device *find(const etp_adb_devices *list, const char *serial)
{
    for (size_t i = 0; i < list->n; i++) {
        if (strcmp(list->items[i].serial, serial) == 0) {
            return &list->items[i];
        }
    }
    return NULL;
}

static const char *names(const etp_adb_devices *list, etp_arena *arena)
{
    etp_strbuf buf;
    etp_strbuf_init(&buf, arena);
    for (size_t i = 0; i < list->n; i++) {
        etp_strbuf_printf(&buf, "%s%s (%s)", etp_if(i, ", "), list->items[i].serial,
                          list->items[i].state);
    }
    return list->n == 0 || buf.failed ? "none" : buf.ptr;
}

static etp_status refuse_state(const etp_adb_device *item, etp_error *err)
{
    if (strcmp(item->state, "unauthorized") == 0) {
        return etp_fail(
            err, ETP_ENVIRONMENT,
            "adb %s is unauthorized: unlock the device and allow debugging from this machine",
            item->serial);
    }
    if (strcmp(item->state, "offline") == 0) {
        return etp_fail(err, ETP_ENVIRONMENT,
                        "adb %s is offline: reconnect the cable or run 'adb reconnect'",
                        item->serial);
    }
    return etp_fail(err, ETP_ENVIRONMENT, "adb %s is in state \"%s\", not \"device\"", item->serial,
                    item->state);
}

// ---- connection ----

static bool by_network(const char *serial)
{
    return strchr(serial, ':') != NULL;
}

static etp_status connect_network(const char *adb, const char *serial, bool fresh, etp_arena *arena,
                                  etp_error *err)
{
    etp_str out;
    if (fresh) { // a daemon that went away can leave a connection that is neither up nor down
        const char *const words[] = {"disconnect", serial};
        ETP_TRY(call_adb(adb, words, 2, arena, &out, err));
    }
    const char *const words[] = {"connect", serial};
    return call_adb(adb, words, 2, arena, &out, err); // says 0 whatever happened: the list tells
}

// A cable that was pulled is back within seconds; to ask again costs less than the session.
static etp_status reconnect(etp_device *d, etp_error *err)
{
    const etp_remote *r = d->data;
    const char *adb = r->prefix[0], *serial = r->prefix[2];
    uint64_t deadline = etp_os_now_ns() + r->silence_limit_ns;
    const etp_adb_device *item = NULL;
    while (etp_os_now_ns() < deadline && etp_os_interrupted() == 0) {
        etp_adb_devices list;
        if (by_network(serial)) {
            ETP_TRY(connect_network(adb, serial, true, &d->arena, err));
        }
        ETP_TRY(etp_adb_list(adb, &d->arena, &list, err));
        item = find(&list, serial);
        if (item && strcmp(item->state, "device") == 0) {
            return ETP_OK;
        }
        etp_os_sleep_ns(500000000);
    }
    if (item) {
        return refuse_state(item, err);
    }
    return etp_fail(err, ETP_ENVIRONMENT,
                    "adb %s: the device is gone and did not come back within %s s", serial,
                    ETP_DIGITS((double)r->silence_limit_ns / 1e9, 3));
}

// The one that is meant, never another one.
// Without a serial the only device is meant, and of several none.
static etp_status choose(const char *adb, const char *serial, etp_arena *arena,
                         const char **out_serial, etp_error *err)
{
    etp_adb_devices list;
    ETP_TRY(etp_adb_list(adb, arena, &list, err));
    if (!serial) {
        if (list.n == 0) {
            return etp_fail(err, ETP_ENVIRONMENT,
                            "no adb device: connect one and allow USB debugging");
        }
        if (list.n > 1) {
            return etp_fail(err, ETP_USAGE, "%zu adb devices, name one with adb:SERIAL: %s", list.n,
                            names(&list, arena));
        }
        serial = list.items[0].serial;
    }
    const etp_adb_device *item = find(&list, serial);
    if (by_network(serial) && (!item || strcmp(item->state, "device") != 0)) {
        ETP_TRY(connect_network(adb, serial, item != NULL, arena, err));
        ETP_TRY(etp_adb_list(adb, arena, &list, err));
        item = find(&list, serial);
    }
    if (!item) {
        return etp_fail(err, ETP_ENVIRONMENT, "no adb device %s; there are: %s", serial,
                        names(&list, arena));
    }
    if (strcmp(item->state, "device") != 0) {
        return refuse_state(item, err);
    }
    *out_serial = etp_arena_printf(arena, "%s", serial);
    return ETP_OK;
}

etp_status etp_adb_open(etp_device *d, const etp_device_options *o, const char *serial,
                        etp_error *err)
{
    etp_remote *r = ETP_NEW(&d->arena, etp_remote);
    const char *adb = etp_remote_find("adb", o->search_path, &d->arena);
    ETP_NEED(r, err, "the device");
    if (!adb) {
        return etp_fail(err, ETP_ENVIRONMENT, "no adb in PATH: install Android's platform tools");
    }
    if (serial && (serial[0] == '\0' || serial[0] == '-')) {
        return etp_fail(err, ETP_USAGE, "'%s' is not a serial of adb", serial);
    }
    ETP_TRY(choose(adb, ETP_OR(serial, o->android_serial), &d->arena, &serial, err));
    // -T: a terminal on the other side would change line ends in what a script writes.
    const char *const words[] = {adb, "-s", serial, "shell", "-T"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        r->prefix[r->n_prefix++] = words[i];
    }
    r->leaves = ETP_PROCESS_LEAVES_OTHERS;
    r->reconnect = reconnect;
    r->name = etp_arena_printf(&d->arena, "adb %s", serial);
    const char *spec = etp_arena_printf(&d->arena, "adb:%s", serial);
    // Where Android lets shell users run programs; a daemon elsewhere has its working directory.
    r->home_script = "base=/data/local/tmp; [ -w $base ] || base=$PWD\n";
    return etp_remote_open(d, o, r, spec, ETP_PLATFORM_ANDROID, err);
}
