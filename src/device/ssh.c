// SPDX-License-Identifier: Apache-2.0
// A Linux board or a Mac behind OpenSSH: one master connection in a private folder, every call over
// it.
#include "device/remote.h"

#include <stdio.h>

#define CONNECT_NS ((uint64_t)30 * 1000000000u)
#define EXIT_NS ((uint64_t)5 * 1000000000u)
#define MOST_WORDS ((size_t)1 << 16)

typedef struct ssh_client {
    const char *dir;    // of the control socket
    etp_process master; // what it left in the background; ends with us, however we end
} ssh_client;

static void add(etp_remote *r, const char *word)
{
    if (r->n_prefix < ETP_REMOTE_MAX_PREFIX) {
        r->prefix[r->n_prefix++] = word;
    }
}

// The client with EXTRA words before the host, as a command line.
// Options behind the host would be taken for the remote command.
static const char *const *client_argv(const etp_remote *r, const char *const *extra, size_t n_extra,
                                      etp_arena *arena)
{
    const char **argv = ETP_NEW_ARRAY(arena, const char *, r->n_prefix + n_extra + 1);
    if (!argv) {
        return NULL;
    }
    size_t head = r->n_prefix - 2; // before "-- HOST"
    memcpy(argv, r->prefix, head * sizeof *argv);
    memcpy(argv + head, extra, n_extra * sizeof *argv);
    memcpy(argv + head + n_extra, r->prefix + head, 2 * sizeof *argv);
    return argv;
}

// The part of TEXT from START on, to the end of its line; empty when it is not there.
static etp_str line_from(etp_str text, etp_str start)
{
    size_t at = etp_str_find(text, start);
    etp_str line = {text.ptr + at, text.len - at};
    (void)etp_str_cut(&line, "\n", &line);
    return etp_str_trim(line, " \t\r");
}

// ssh says it in fifteen lines, the first of them all '@'.
static etp_status fail_other_key(const etp_remote *r, etp_str log, etp_error *err)
{
    etp_str remedy = line_from(log, ETP_STR("ssh-keygen -f "));
    etp_str key = line_from(log, ETP_STR("SHA256:"));
    const char *host = r->prefix[r->n_prefix - 1];
    char own[280];
    if (remedy.len == 0 || remedy.len > 220) {
        snprintf(own, sizeof own, "ssh-keygen -R %.200s", host);
        remedy = etp_str_from(own);
    }
    key.len = ETP_MIN(key.len, 60);
    return etp_fail(err, ETP_ENVIRONMENT,
                    "%s: the host key has changed (now %.*s): another machine may answer; if it "
                    "was set up anew, remove the old key (%.*s) and accept the new one (ssh %.80s)",
                    r->name, ETP_STR_ARG(key), ETP_STR_ARG(remedy), host);
}

// A client that hangs, or writes more than it may, has made no connection.
static etp_status no_connection(const etp_remote *r, etp_status st, etp_error *err)
{
    if (st != ETP_CHILD || !err) {
        return st;
    }
    const etp_error why = *err;
    return etp_fail(err, ETP_ENVIRONMENT, "%s: no connection: %s", r->name, why.msg);
}

// Where a device is allowed less silence than usual, so is the host that is connected to.
static uint64_t connect_ns(const etp_remote *r)
{
    return r->silence_limit_ns < ETP_REMOTE_NS ? r->silence_limit_ns : CONNECT_NS;
}

// ssh goes into the background when it is connected (-f), so its exit status says whether that
// worked.
static etp_status connect_master(etp_device *d, etp_error *err)
{
    const etp_remote *r = d->data;
    ssh_client *c = r->client;
    // Errors are wanted whatever the user's configuration says, greetings are not.
    static const char *const k_extra[] = {"-f", "-N", "-M", "-o", "LogLevel=ERROR"};
    etp_arena arena = {0};
    const char *const *argv = client_argv(r, k_extra, sizeof k_extra / sizeof *k_extra, &arena);
    const etp_process_spec spec = {.argv = argv, .leaves = ETP_PROCESS_LEAVES_WORK};
    etp_str out, log;
    etp_process_dispose(&c->master);
    etp_status st =
        etp_process_capture(&spec, connect_ns(r), MOST_WORDS, &arena, &c->master, &out, &log, err);
    st = no_connection(r, st, err);
    if (st == ETP_OK && (c->master.signal != 0 || c->master.exit_code != 0)) {
        etp_process_dispose(&c->master);
        etp_str reason = etp_remote_reason(log);
        static const char k_changed[] = "REMOTE HOST IDENTIFICATION HAS CHANGED";
        d->changed = etp_str_find(log, ETP_STR(k_changed)) < log.len;
        st = d->changed ? fail_other_key(r, log, err)
                        : etp_fail(err, ETP_ENVIRONMENT, "%s: no connection: %.*s", r->name,
                                   ETP_STR_ARG(reason));
    }
    etp_arena_dispose(&arena);
    return st;
}

// A client that finds no master makes a connection of its own; here the old socket goes first. A
// board that is away may come back.
static etp_status reconnect(etp_device *d, etp_error *err)
{
    const etp_remote *r = d->data;
    const ssh_client *c = r->client;
    const char *socket = etp_arena_printf(&d->arena, "%s/m", c->dir);
    uint64_t deadline = etp_os_now_ns() + r->silence_limit_ns;
    for (;;) {
        if (socket) {
            ETP_TRY(etp_os_unlink(socket, err));
        }
        etp_status st = connect_master(d, err);
        if (st != ETP_ENVIRONMENT || d->changed || etp_os_now_ns() >= deadline ||
            etp_os_interrupted() != 0) {
            return st;
        }
        etp_os_sleep_ns(500000000);
    }
}

static void disconnect(etp_device *d)
{
    const etp_remote *r = d->data;
    ssh_client *c = r->client;
    static const char *const k_extra[] = {"-O", "exit"};
    etp_arena arena = {0};
    const char *const *argv = client_argv(r, k_extra, 2, &arena);
    int status;
    etp_str out, log;
    etp_status ignored = argv ? etp_remote_client(argv, ETP_PROCESS_LEAVES_NOTHING, EXIT_NS, &arena,
                                                  &status, &out, &log, NULL)
                              : ETP_NOMEM;
    etp_process_dispose(&c->master);
    ignored = etp_os_remove_tree(c->dir, NULL);
    (void)ignored;
    etp_arena_dispose(&arena);
}

// With "StrictHostKeyChecking no" in the user's configuration ssh warns of a changed key and goes
// on. Hosts nobody has met may be accepted for that user, a changed one never. Asked for first,
// because saying it always would accept new hosts for those who want to be asked.
static etp_status refuse_changed_keys(etp_remote *r, etp_arena *arena, etp_error *err)
{
    static const char *const k_extra[] = {"-G"};
    const char *const *argv = client_argv(r, k_extra, 1, arena);
    int status;
    etp_str out, log;
    etp_status st = etp_remote_client(argv, ETP_PROCESS_LEAVES_NOTHING, connect_ns(r), arena,
                                      &status, &out, &log, err);
    ETP_TRY(no_connection(r, st, err));
    etp_str line = line_from(out, ETP_STR("stricthostkeychecking "));
    if (etp_str_eqz(line, "stricthostkeychecking false") ||
        etp_str_eqz(line, "stricthostkeychecking no") ||
        etp_str_eqz(line, "stricthostkeychecking off")) {
        const char *host = r->prefix[r->n_prefix - 1];
        r->n_prefix -= 2; // "-- HOST"
        add(r, "-o");
        add(r, "StrictHostKeyChecking=accept-new");
        add(r, "--");
        add(r, host);
    }
    return ETP_OK;
}

etp_status etp_ssh_open(etp_device *d, const etp_device_options *o, const char *host,
                        etp_error *err)
{
    // A name that begins with '-' would be an option of ssh, which has some that run programs here.
    bool plain = host[0] != '\0' && host[0] != '-';
    for (const char *p = host; *p; p++) {
        plain = plain && (unsigned char)*p > ' ' && *p != 127;
    }
    if (!plain) {
        return etp_fail(err, ETP_USAGE, "'%s' is not a host for ssh", host);
    }
    etp_remote *r = ETP_NEW(&d->arena, etp_remote);
    ssh_client *c = ETP_NEW(&d->arena, ssh_client);
    const char *ssh = etp_remote_find("ssh", o->search_path, &d->arena);
    ETP_NEED(r && c, err, "the device");
    if (!ssh) {
        return etp_fail(err, ETP_ENVIRONMENT, "no ssh in PATH: install the OpenSSH client");
    }
    // A socket's path has about 100 bytes, work folders may be longer.
    ETP_TRY(etp_os_temp_dir("/tmp", "etp", &d->arena, &c->dir, err));
    r->client = c;
    r->wrap = true;
    r->reconnect = reconnect;
    r->disconnect = disconnect;
    r->home_script = "base=${XDG_CACHE_HOME:-$HOME/.cache}\n";
    r->name = etp_arena_printf(&d->arena, "ssh %s", host);
    const char *spec = etp_arena_printf(&d->arena, "ssh:%s", host);
    const char *control = etp_arena_printf(&d->arena, "ControlPath=%s/m", c->dir);
    const char *copy = etp_arena_printf(&d->arena, "%s", host);
    add(r, ssh);
    if (o->ssh_config) {
        add(r, "-F");
        add(r, o->ssh_config);
    }
    // Only connect_master makes a master: a call that became one would end with its owner, and
    // take the calls beside it along.
    const char *const options[] = {"-T",
                                   "-o",
                                   "BatchMode=yes",
                                   "-o",
                                   "ConnectTimeout=10",
                                   "-o",
                                   "ServerAliveInterval=5",
                                   "-o",
                                   "ServerAliveCountMax=3",
                                   "-o",
                                   "ControlMaster=no",
                                   "-o",
                                   "ControlPersist=60",
                                   "-o",
                                   control,
                                   "--",
                                   copy};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        add(r, options[i]);
    }
    d->data = r;
    r->silence_limit_ns = etp_remote_silence(o);
    etp_status status = refuse_changed_keys(r, &d->arena, err);
    if (status == ETP_OK) {
        status = connect_master(d, err);
    }
    if (status != ETP_OK) {
        etp_status ignored = etp_os_remove_tree(c->dir, NULL);
        (void)ignored;
        return status;
    }
    return etp_remote_open(d, o, r, spec, ETP_PLATFORM_UNKNOWN, err);
}
