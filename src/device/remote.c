// SPDX-License-Identifier: Apache-2.0
// What ssh and adb devices share: their folders, how a runner is started and ended there.
#include "device/remote.h"

#include <math.h>
#include <stdio.h>

#include <etprof/version.h>

#include "base/path.h"
#include "base/shell.h"

static etp_remote *remote_of(const etp_device *d)
{
    return d->data;
}

// ---- starting ----

#define MARK \
    "ETPROF_LAUNCH=%s-" // in the environment of what a session's launches start: nonce, number

// Ends what carries a mark. A helper of the runner may have left its group and session; its
// environment names it still. Where /proc is no folder of processes (macOS) this does nothing.
static const char k_kill_marked[] =
    "kill_marked() {\n"
    "  for e in $(grep -ls \"$1\" /proc/[0-9]*/environ 2>/dev/null); do\n"
    "    e=${e#/proc/}; kill -9 ${e%/environ} 2>/dev/null\n"
    "  done\n"
    "}\n";

// The runner ends when its input does. While it computes it does not look at its input: then what
// follows ends it as soon as the connection is gone, and takes the session's folder along, unless
// another launch is at work there: then only the connection was lost, and the session goes on over
// a new one. There are two ways in which the shell is told: it loses its parent, the daemon's half
// of the connection (sshd), which a watch beside it looks for, as it does for a shell that was
// killed; or it gets SIGHUP (adbd, whose own process lives on), at any moment from before the
// runner's start to after its end.
// Whether the parent is gone is asked of the shell's own line in /proc, not of the parent's: that
// of another user's process may be hidden, and its number may be somebody else's by then. No watch
// where /proc is not there (macOS) or is not that of our processes.
static const char k_before_start[] =
    "connected() {\n"
    "  read -r x <\"/proc/$$/stat\" && set -- ${x##*) } && [ \"$2\" = \"$PPID\" ]\n"
    "}\n"
    "gone() {\n"
    "  exec >/dev/null 2>&1\n"
    "  kill -9 ${r:-$!}; kill_marked \"$k\"\n"
    "  rm -f \"$f\"\n"
    "  for x in \"$w\"/pid.*; do [ ! -f \"$x\" ] || exit 129; done\n"
    "  mv \"$w\" \"$w.$$\" && rm -rf \"$w.$$\"\n"
    "  exit 129\n"
    "}\n"
    "trap gone HUP\n";

// The shell stays the runner's parent, so that it also dies with the shell. The watch goes last,
// when the connection took the runner's end: until then the runner may have ended because nobody
// listens to it any more.
static const char k_after_start[] =
    "r=$!\n"
    "exec 3<&- </dev/null\n"
    "mkdir -p \"$w\"; echo $r >\"$f\"\n"
    "t=\n"
    "if { read -r x </proc/self/stat; } 2>/dev/null && [ \"${x%% *}\" = \"$$\" ]; then\n"
    "  ( while connected; do sleep 5; done; gone ) >/dev/null 2>&1 &\n"
    "  t=$!\n"
    "fi\n"
    "wait $r; s=$?\n"
    "kill_marked \"$k\"\n"
    "rm -f \"$f\"\n"
    "echo \"$m$s\" >&2 && [ -n \"$t\" ] && connected && kill $t 2>/dev/null\n"
    "exit $s\n";

// The newest launch of P's client; NULL: judged already.
static etp_remote_launch *launch_of(etp_remote *r, const etp_process *p)
{
    etp_remote_launch *found = NULL;
    for (size_t i = 0; i < r->launches.n; i++) {
        etp_remote_launch *l = &r->launches.items[i];
        found = l->client == p->pid && l->client > 0 && (!found || l->number > found->number)
                    ? l
                    : found;
    }
    return found;
}

// A place in the list is used again once its launch was judged.
static etp_remote_launch *free_launch(etp_device *d)
{
    etp_remote *r = remote_of(d);
    for (size_t i = 0; i < r->launches.n; i++) {
        if (r->launches.items[i].client == 0) {
            return &r->launches.items[i];
        }
    }
    return ETP_PUSH(&d->arena, &r->launches, (etp_remote_launch){0})
               ? &r->launches.items[r->launches.n - 1]
               : NULL;
}

static etp_status remote_start(etp_device *d, const char *const *args, const char *const *env,
                               etp_process *out, etp_error *err)
{
    etp_remote *r = remote_of(d);
    ETP_TRY(etp_remote_push_bundle(d, err)); // and, by the way, the connection is there
    etp_remote_launch *l = free_launch(d);
    ETP_NEED(l, err, "a launch");
    etp_arena arena = {0};
    etp_strbuf script;
    etp_strbuf_init(&script, &arena);
    l->number = r->n_started++;
    snprintf(l->marker, sizeof l->marker, "etprof-end %016llx ",
             (unsigned long long)etp_os_random_u64());
    etp_strbuf_appendz(&script, k_kill_marked);
    etp_strbuf_printf(&script, "k=" MARK "%u-\nw=", r->nonce, (unsigned)l->number);
    etp_shell_quote(&script, r->work);
    etp_strbuf_printf(&script, "\nf=\"$w/pid.%u\"\nm='%s'\n{ mkdir -p \"$w\" && cd ",
                      (unsigned)l->number, l->marker);
    etp_shell_quote(&script, r->bundle);
    etp_strbuf_appendz(&script, "; } || { echo \"${m}126\" >&2; exit 126; }\n");
    etp_strbuf_appendz(&script, k_before_start);
    // In a shell of its own, which becomes the runner: what is exported marks the launch, not this
    // script.
    // A shell gives /dev/null as input to what it starts in the background, so the connection's
    // input goes round as descriptor 3.
    etp_strbuf_printf(&script, "exec 3<&0\n(\nexport " MARK "%u-\n", remote_of(d)->nonce,
                      (unsigned)l->number);
    // A bundle with its own C library must not get libraries that were meant for the system's.
    etp_strbuf_appendz(&script,
                       etp_if(d->bundle.own_libraries, "unset LD_PRELOAD LD_LIBRARY_PATH\n"));
    for (size_t i = 0; env && env[i]; i++) { // "NAME=VALUE", names are ours
        size_t name = strcspn(env[i], "=");
        etp_strbuf_appendz(&script, "export ");
        etp_strbuf_append(&script, (etp_str){env[i], name + 1});
        etp_shell_quote(&script, env[i] + name + 1);
        etp_strbuf_appendz(&script, "\n");
    }
    etp_strbuf_appendz(&script, "exec ");
    for (size_t i = 0; d->bundle.start[i]; i++) {
        const char *word = d->bundle.start[i];
        bool bare = strcmp(word, d->bundle.runner) == 0 && word[0] == '/'; // our path, not theirs
        etp_strbuf_appendz(&script, etp_if(bare, "./"));
        etp_shell_quote(&script, bare ? etp_path_name(word) : word);
        etp_strbuf_appendz(&script, " ");
    }
    for (size_t i = 0; args[i]; i++) {
        etp_shell_quote(&script, args[i]);
        etp_strbuf_appendz(&script, " ");
    }
    etp_strbuf_appendz(&script, "<&3 3<&-\n) &\n");
    etp_strbuf_appendz(&script, k_after_start);
    const char *const *argv = script.failed ? NULL : etp_remote_argv(r, script.ptr, &arena);
    const etp_process_spec spec = {.argv = argv, .leaves = r->leaves};
    etp_status status = etp_process_start(&spec, out, err);
    l->client = status == ETP_OK ? out->pid : 0;
    etp_arena_dispose(&arena);
    return status;
}

// Script of closing and killing: the recorded processes, those that are still ours (their working
// directory is our bundle), whoever has their numbers now.
static const char k_kill[] = "  read p <\"$f\" && [ \"$(readlink /proc/$p/cwd 2>/dev/null || echo "
                             "\"$b\")\" = \"$b\" ] && kill -9 $p\n"
                             "  rm -f \"$f\"\n";

// Ends one launch, or all with the session's folder.
static void end_there(etp_device *d, const etp_remote_launch *one)
{
    etp_remote *r = remote_of(d);
    if (!r->connected || !r->work) {
        return;
    }
    etp_arena arena = {0};
    etp_strbuf script;
    etp_strbuf_init(&script, &arena);
    etp_strbuf_appendz(&script, "w=");
    etp_shell_quote(&script, r->work);
    etp_strbuf_appendz(&script, "\nb=");
    etp_shell_quote(&script, ETP_OR(r->bundle, ""));
    const char *which = one ? etp_arena_printf(&arena, "%u", (unsigned)one->number) : "*";
    etp_strbuf_printf(&script,
                      "\nfor f in \"$w\"/pid.%s; do\n  [ -f \"$f\" ] || continue\n%sdone\n",
                      ETP_OR(which, "*"), k_kill);
    etp_strbuf_printf(&script, "%skill_marked " MARK "%s%s\n", k_kill_marked, r->nonce,
                      etp_if(one, which), etp_if(one, "-"));
    etp_strbuf_appendz(&script, etp_if(!one, "rm -rf \"$w\"\n"));
    const uint64_t most = (uint64_t)10 * 1000000000u;
    etp_remote_call call = {
        .script = script.ptr, .cleanup = true, .timeout_ns = ETP_MIN(r->silence_limit_ns, most)};
    if (!script.failed) {
        etp_status ignored = etp_remote_do(d, &call, &arena, NULL);
        (void)ignored; // the watch over there does it a little later
    }
    etp_arena_dispose(&arena);
}

static bool remote_ended(etp_device *d, etp_process *p, etp_str *log)
{
    etp_remote *r = remote_of(d);
    etp_remote_launch *l = launch_of(r, p);
    int status = l ? etp_remote_marker(l->marker, log) : -1;
    if (l) {
        l->client = 0;
    }
    r->suspect = r->suspect || status != 0;
    if (status < 0) {
        return false;
    }
    // As a shell tells of a signal.
    p->signal = ETP_LESS(status, 128);
    p->exit_code = status > 128 ? 0 : status;
    return true;
}

static void remote_kill(etp_device *d, etp_process *p, uint64_t pid)
{
    (void)pid; // the runner's word; what the device recorded is better
    etp_remote *r = remote_of(d);
    etp_remote_launch *l = launch_of(r, p);
    r->suspect = true;
    etp_process_kill(p);
    if (l) {
        end_there(d, l);
        l->client = 0;
    }
}

static etp_str remote_affinity(etp_device *d, const etp_process *p, etp_arena *arena)
{
    etp_remote *r = remote_of(d);
    const etp_remote_launch *l = launch_of(r, p);
    const char *w = etp_shell_quoted(arena, r->work);
    etp_remote_call call = {
        .script =
            w && l ? etp_arena_printf(
                         arena,
                         "w=%s\nread p <\"$w/pid.%u\" && cat /proc/$p/task/*/status 2>/dev/null | "
                         "sed -n 's/^Cpus_allowed_list:[^0-9]*//p' | sort -u",
                         w, (unsigned)l->number)
                   : NULL};
    if (!call.script || etp_remote_do(d, &call, arena, NULL) != ETP_OK) {
        return ETP_STR("");
    }
    while (call.out.len > 0 && (unsigned char)call.out.ptr[call.out.len - 1] <= ' ') {
        call.out.len--;
    }
    char *text = etp_arena_strdup(arena, call.out);
    for (char *c = text; c && *c; c++) {
        *c = strchr("0123456789-,", *c) ? *c : ' ';
    }
    return etp_str_from(ETP_OR(text, ""));
}

static etp_status remote_scratch(etp_device *d, const char *name, etp_arena *arena,
                                 const char **out_remote, etp_error *err)
{
    const etp_remote *r = remote_of(d);
    const char *path = etp_arena_printf(arena, "%s/%s", r->work, name);
    const char *q = etp_shell_quoted(arena, path);
    const char *w = etp_shell_quoted(arena, r->work);
    etp_remote_call call = {.script = etp_arena_printf(arena, "mkdir -p %s && rm -rf %s", w, q)};
    ETP_TRY(etp_remote_do(d, &call, arena, err));
    *out_remote = path;
    etp_str reason = etp_remote_reason(call.log);
    return call.status == 0 ? ETP_OK
                            : etp_fail(err, ETP_ENVIRONMENT, "%s: cannot clear %s: %.*s", r->name,
                                       path, ETP_STR_ARG(reason));
}

static void remote_close(etp_device *d)
{
    etp_remote *r = remote_of(d);
    end_there(d, NULL);
    if (r->disconnect) {
        r->disconnect(d);
    }
    if (d->work_dir) {
        etp_status ignored = etp_os_remove_tree(d->work_dir, NULL);
        (void)ignored;
    }
}

// By content: what another session has sent of the same bundle is there already, and a new build
// never writes over one that runs.
static const char *place_of(etp_device *d, const etp_bundle *b)
{
    return etp_arena_printf(&d->arena, "%s/bundles/%.32s", remote_of(d)->root,
                            b->sdk_digest[0] ? b->sdk_digest : b->runner_sha256);
}

// Two builds take turns: each is looked at once.
static etp_status remote_use(etp_device *d, const etp_bundle *b, etp_error *err)
{
    etp_remote *r = d->data;
    const char *place = place_of(d, b);
    ETP_NEED(place, err, "the bundle");
    if (strcmp(place, r->bundle) != 0) {
        const char *left = r->bundle_checked ? r->bundle : NULL;
        r->bundle_checked = r->other_bundle && strcmp(r->other_bundle, place) == 0;
        r->other_bundle = left;
        r->bundle = place;
    }
    return ETP_OK;
}

static const etp_device_vtable k_remote = {
    .use = remote_use,
    .probe = etp_remote_probe,
    .push = etp_remote_push,
    .start = remote_start,
    .kill = remote_kill,
    .ended = remote_ended,
    .affinity = remote_affinity,
    .scratch = remote_scratch,
    .pull = etp_remote_pull,
    .state = etp_remote_state,
    .close = remote_close,
};

// ---- opening ----

// "Linux aarch64" → the bundle's target.
static const char *triple_of(etp_str system, etp_str machine, etp_arena *arena)
{
    if (etp_str_eqz(system, "Darwin")) {
        return "arm64-macos";
    }
    etp_str m = etp_str_eqz(machine, "arm64") ? ETP_STR("aarch64") : machine;
    return etp_arena_printf(arena, "%.*s-linux-gnu", ETP_STR_ARG(m));
}

// Makes the folders and asks what the device is. Part files and work folders that killed sessions
// left behind go: those that nobody touched for an hour (each launch touches its session's), unless
// a process that is noted there still runs.
// Only this user may read what lies there (umask 077): models are other people's.
static etp_status make_home(etp_device *d, etp_str *system, etp_str *machine, etp_error *err)
{
    etp_remote *r = remote_of(d);
    etp_remote_call call = {
        .script = etp_arena_printf(
            &d->arena,
            "%sr=$base/etprof-%s\n"
            "umask 077; mkdir -p \"$r/files\" \"$r/bundles\" \"$r/work/%s\" || exit 1\n"
            "cd \"$r\" || exit 1\n"
            "find files bundles -name '*.part' -mmin +60 -exec rm -f {} + 2>/dev/null\n"
            "find work -mindepth 1 -maxdepth 1 -mmin +60 2>/dev/null | while read -r w; do\n"
            "  for f in \"$w\"/pid.*; do\n"
            "    [ -f \"$f\" ] && read p <\"$f\" && kill -0 \"$p\" 2>/dev/null && continue 2\n"
            "  done\n"
            "  rm -rf \"$w\"\n"
            "done\n"
            "pwd -P; uname -s; uname -m",
            r->home_script, ETP_VERSION, r->nonce)};
    ETP_TRY(etp_remote_do(d, &call, &d->arena, err));
    etp_str rest = call.out, root;
    bool told = etp_str_part(&rest, '\n', &root) && etp_str_part(&rest, '\n', system) &&
                etp_str_part(&rest, '\n', machine);
    if (call.status != 0 || !told || root.ptr[0] != '/') {
        etp_str reason = etp_remote_reason(call.log);
        return etp_fail(err, ETP_ENVIRONMENT, "%s: cannot make a folder there: %.*s", r->name,
                        ETP_STR_ARG(reason));
    }
    r->root = etp_arena_strdup(&d->arena, root);
    r->work = etp_arena_printf(&d->arena, "%s/work/%s", r->root, r->nonce);
    return ETP_OK;
}

// A program of another machine would be sent in vain, and its shell's words about it are odd.
static etp_status check_machine(const char *runner, const char *triple, etp_error *err)
{
    static const struct {
        unsigned machine;
        const char *name;
    } k_machines[] = {
        {3,   "i386"   },
        {40,  "arm"    },
        {62,  "x86_64" },
        {183, "aarch64"},
        {243, "riscv64"}
    };
    etp_file file;
    ETP_TRY(etp_file_open(runner, UINT64_MAX, &file, err));
    const uint8_t *b = file.bytes.ptr;
    const char *found = NULL;
    // ELF has its byte order in byte 5 and the machine in bytes 18 and 19.
    bool mach_o = false;
    if (file.bytes.len >= 20 && memcmp(b, "\177ELF", 4) == 0) {
        unsigned machine = b[5] == 2 ? (unsigned)b[18] << 8 | b[19] : (unsigned)b[19] << 8 | b[18];
        found = "another machine";
        for (size_t i = 0; i < sizeof k_machines / sizeof *k_machines; i++) {
            found = k_machines[i].machine == machine ? k_machines[i].name : found;
        }
    } else if (file.bytes.len >= 4 && memcmp(b, "\xcf\xfa\xed\xfe", 4) == 0) {
        found = "macOS";
        mach_o = true;
    }
    etp_file_close(&file);
    bool wants_mac = strstr(triple, "macos") != NULL;
    if (!found || (mach_o && wants_mac) ||
        (!mach_o && strncmp(triple, found, strlen(found)) == 0)) {
        return ETP_OK; // a script, perhaps: what it starts is its own business
    }
    return etp_fail(err, ETP_ENVIRONMENT, "%s is a program for %s, the device needs %s", runner,
                    found, triple);
}

uint64_t etp_remote_silence(const etp_device_options *o)
{
    // A second at least: below that a slow answer would look like none.
    return o->timeout_s > 0 && o->timeout_s * 1e9 < (double)ETP_REMOTE_NS
               ? (uint64_t)(fmax(o->timeout_s, 1) * 1e9)
               : ETP_REMOTE_NS;
}

etp_status etp_remote_open(etp_device *d, const etp_device_options *o, etp_remote *r,
                           const char *spec, etp_platform platform, etp_error *err)
{
    d->ops = &k_remote;
    d->data = r;
    snprintf(r->nonce, sizeof r->nonce, "%016llx", (unsigned long long)etp_os_random_u64());
    r->connected = true;
    r->silence_limit_ns = etp_remote_silence(o);
    etp_str system = {0}, machine = {0};
    ETP_TRY(make_home(d, &system, &machine, err));
    etp_platform told = etp_str_eqz(system, "Darwin") ? ETP_PLATFORM_MAC : ETP_PLATFORM_LINUX;
    d->info = (etp_device_info){.spec = spec,
                                .platform = ETP_OR(platform, told),
                                .triple = triple_of(system, machine, &d->arena)};
    ETP_TRY(etp_arena_check(&d->arena, err, "the device"));
    if (o->no_runner) {
        return ETP_OK;
    }
    ETP_TRY(etp_bundle_find(o->runner, o->program, d->info.triple, &d->arena, &d->bundle, err));
    ETP_TRY(check_machine(d->bundle.runner, d->info.triple, err));
    r->bundle = place_of(d, &d->bundle);
    return ETP_OK;
}
