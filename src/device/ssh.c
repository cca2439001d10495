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

static etp_status connect_master(etp_device *d, etp_error *err)
{
    const etp_remote *r = d->data;
    ssh_client *c = r->client;
    static const char *const k_extra[] = {"-f", "-N", "-M"};
    etp_arena arena = {0};
    const char *const *argv = client_argv(r, k_extra, 3, &arena);
    const etp_process_spec spec = {.argv = argv, .leaves = ETP_PROCESS_LEAVES_WORK};
    etp_str out, log;
    etp_process_dispose(&c->master);
    etp_status st = argv ? etp_process_capture(&spec, CONNECT_NS, MOST_WORDS, &arena, &c->master,
                                               &out, &log, err)
                         : etp_fail_nomem(err, "ssh");
    if (st == ETP_OK && (c->master.signal != 0 || c->master.exit_code != 0)) {
        etp_process_dispose(&c->master);
        etp_str words = etp_remote_words(log);
        st = etp_fail(err, ETP_ENVIRONMENT, "%s: no connection: %.*s", r->name, ETP_STR_ARG(words));
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
    uint64_t deadline = etp_os_now_ns() + r->patience_ns;
    for (;;) {
        if (socket) {
            ETP_TRY(etp_os_unlink(socket, err));
        }
        etp_status st = connect_master(d, err);
        if (st != ETP_ENVIRONMENT || etp_os_now_ns() >= deadline || etp_os_interrupted() != 0) {
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

static bool plain_host(const char *host)
{
    for (const char *p = host; *p; p++) {
        if ((unsigned char)*p <= ' ' || *p == 127) {
            return false;
        }
    }
    return host[0] != '\0' && host[0] != '-';
}

etp_status etp_ssh_open(etp_device *d, const etp_device_options *o, const char *host,
                        etp_error *err)
{
    if (!plain_host(host)) {
        return etp_fail(err, ETP_USAGE, "'%s' is no host for ssh", host);
    }
    etp_remote *r = ETP_NEW(&d->arena, etp_remote);
    ssh_client *c = ETP_NEW(&d->arena, ssh_client);
    const char *ssh = etp_remote_find("ssh", o->search_path, &d->arena);
    if (!r || !c) {
        return etp_fail_nomem(err, "the device");
    }
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
    if (!r->name || !spec || !control || !copy) {
        return etp_fail_nomem(err, "the device");
    }
    add(r, ssh);
    if (o->ssh_config) {
        add(r, "-F");
        add(r, o->ssh_config);
    }
    // Only connect_master makes a master: a call that became one would end with its keeper, and
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
    etp_status status = connect_master(d, err);
    if (status != ETP_OK) {
        etp_status ignored = etp_os_remove_tree(c->dir, NULL);
        (void)ignored;
        return status;
    }
    return etp_remote_open(d, o, r, spec, NULL, err);
}
