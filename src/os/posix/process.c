// SPDX-License-Identifier: Apache-2.0
// Child processes: fork and exec from an argument vector under a supervisor, pipes read with poll.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/guard.h"
#include "base/number.h"
#include "base/sink.h"
#include "os/posix/supervisor.h"
#include "os/system.h"

static void close_fd(int *fd)
{
    if (*fd >= 0) {
        close(*fd);
        *fd = -1;
    }
}

// All ends are above 2 and close at exec, so the child's dup2 calls overwrite none that is still
// needed and no other child inherits one. BOTH_WAYS: the supervisor is told by the same descriptor
// whose end is its order.
static bool make_pair(int fds[2], bool both_ways)
{
    if ((both_ways ? socketpair(AF_UNIX, SOCK_STREAM, 0, fds) : pipe(fds)) != 0) {
        fds[0] = fds[1] = -1;
        return false;
    }
    for (int i = 0; i < 2; i++) {
        // A user who closed stdin, stdout or stderr must not get our pipe in their place.
        if (fds[i] <= STDERR_FILENO) {
            int moved = fcntl(fds[i], F_DUPFD, STDERR_FILENO + 1);
            close(fds[i]);
            fds[i] = moved;
        }
        if (fds[i] < 0 || fcntl(fds[i], F_SETFD, FD_CLOEXEC) != 0) {
            close_fd(&fds[0]);
            close_fd(&fds[1]);
            return false;
        }
    }
    return true;
}

static size_t list_length(const char *const *list)
{
    size_t n = 0;
    while (list && list[n]) {
        n++;
    }
    return n;
}

// Does ENTRY ("NAME=VALUE") set NAME, which itself may be followed by "=VALUE"?
static bool same_name(const char *entry, const char *name)
{
    size_t len = strcspn(name, "=");
    return strncmp(entry, name, len) == 0 && entry[len] == '=';
}

// Made before the fork: between fork and exec nothing may be allocated. Texts that could not be had
// are NULL, which etp_arena_check notices before the list is used.
static char **child_environment(const etp_process_spec *spec, etp_arena *arena)
{
    char **ours = etp_os_environ();
    size_t n_ours = list_length((const char *const *)ours);
    size_t n_set = list_length(spec->env_set);
    char **env = ETP_NEW_ARRAY(arena, char *, n_ours + n_set + 1);
    if (!env) {
        return NULL;
    }
    size_t n = 0;
    for (size_t i = 0; i < n_ours; i++) {
        bool dropped = false;
        for (size_t j = 0; j < n_set && !dropped; j++) {
            dropped = same_name(ours[i], spec->env_set[j]);
        }
        for (size_t j = 0; j < list_length(spec->env_unset) && !dropped; j++) {
            dropped = same_name(ours[i], spec->env_unset[j]);
        }
        if (!dropped) {
            env[n++] = ours[i];
        }
    }
    for (size_t j = 0; j < n_set; j++) {
        env[n++] = etp_arena_strdup(arena, etp_str_from(spec->env_set[j]));
    }
    env[n] = NULL;
    return env;
}

static char **child_arguments(const etp_process_spec *spec, etp_arena *arena)
{
    size_t n = list_length(spec->argv);
    char **argv = ETP_NEW_ARRAY(arena, char *, n + 1);
    for (size_t i = 0; argv && i < n; i++) {
        argv[i] = etp_arena_strdup(arena, etp_str_from(spec->argv[i]));
    }
    return argv;
}

typedef struct child_setup {
    char **argv, **env;
    const char *cwd;
    int in_fd, out_fd, err_fd; // the child's ends
    int report_fd;             // errno goes here when exec fails
    sigset_t mask;
} child_setup;

// Runs in the child: async-signal-safe calls only.
static void child_exec(const void *ctx)
{
    const child_setup *s = ctx;
    setpgid(0, 0);
    const int defaults[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGCHLD, SIGXFSZ};
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++) {
        // exec resets handlers but keeps what is ignored: the program must not inherit our SIGPIPE
        // and SIGXFSZ.
        signal(defaults[i], SIG_DFL);
    }
    sigprocmask(SIG_SETMASK, &s->mask, NULL);
    int failed = 0;
    if (dup2(s->in_fd, STDIN_FILENO) < 0 || dup2(s->out_fd, STDOUT_FILENO) < 0 ||
        dup2(s->err_fd, STDERR_FILENO) < 0 || (s->cwd && chdir(s->cwd) != 0)) {
        failed = errno;
    } else {
        execve(s->argv[0], s->argv, s->env);
        failed = errno;
    }
    ssize_t ignored = write(s->report_fd, &failed, sizeof failed);
    (void)ignored;
    _exit(127);
}

// Waits for the exec to happen or fail; the report pipe closes by itself when it succeeds.
static int exec_result(int fd)
{
    int failed = 0;
    ssize_t got;
    do {
        got = read(fd, &failed, sizeof failed);
    } while (got < 0 && errno == EINTR);
    return got == (ssize_t)sizeof failed ? failed : 0;
}

// All LEN bytes of what the supervisor says; false when it is gone.
static bool read_supervisor(int fd, void *to, size_t len)
{
    for (size_t done = 0; done < len;) {
        ssize_t n = read(fd, (char *)to + done, len - done);
        if (n == 0 || (n < 0 && errno != EINTR)) {
            return false;
        }
        done += (size_t)ETP_MAX(n, 0);
    }
    return true;
}

// The end of its input makes it end everything. It ends by itself then, within seconds at most.
static void reap_supervisor(etp_process *p)
{
    close_fd(&p->supervisor_fd);
    kill((pid_t)p->supervisor, SIGCONT); // in case somebody stopped it
    while (waitpid((pid_t)p->supervisor, NULL, 0) < 0 && errno == EINTR) {
    }
    p->supervisor = 0;
}

static etp_status spawn(const etp_process_spec *spec, child_setup *setup, int report[2],
                        int supervisor[2], etp_process *out, etp_error *err)
{
    // A signal that arrives between fork and exec must not run our handler in the child.
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &setup->mask);
    pid_t pid = fork();
    if (pid == 0) {
        etp_supervisor_run(supervisor[1], spec->leaves, child_exec, setup);
    }
    int failed = errno;
    sigprocmask(SIG_SETMASK, &setup->mask, NULL);
    close_fd(&supervisor[1]);
    close_fd(&report[1]);
    if (pid < 0) {
        errno = failed;
        return etp_fail_errno(err, ETP_ENVIRONMENT, "cannot start a process");
    }
    out->supervisor = pid;
    out->supervisor_fd = supervisor[0];
    supervisor[0] = -1;
    // Stays when the supervisor was killed before it could say anything.
    etp_supervisor_started started = {.failed = ESRCH};
    bool heard = read_supervisor(out->supervisor_fd, &started, sizeof started);
    failed = heard && started.pid > 0 ? exec_result(report[0]) : started.failed;
    if (failed != 0) {
        reap_supervisor(out);
        errno = failed;
        return etp_fail_errno(err, ETP_ENVIRONMENT, "cannot start %s", spec->argv[0]);
    }
    out->pid = started.pid;
    out->start_ns = started.start_ns;
    return ETP_OK;
}

etp_status etp_process_start(const etp_process_spec *spec, etp_process *out, etp_error *err)
{
    *out = (etp_process){.supervisor_fd = -1, .in_fd = -1, .out_fd = -1, .err_fd = -1};
    ETP_NEED(spec->argv && spec->argv[0], err, "arguments of a process");
    // Arguments and environment are needed until the child has become the program; spawn returns
    // after that.
    etp_arena arena = {0};
    int in[2] = {-1, -1}, sout[2] = {-1, -1}, serr[2] = {-1, -1}, report[2] = {-1, -1};
    int supervisor[2] = {-1, -1};
    etp_status status = ETP_OK;
    child_setup setup = {.argv = child_arguments(spec, &arena),
                         .env = child_environment(spec, &arena),
                         .cwd = spec->cwd};
    status = etp_arena_check(&arena, err, "arguments of a process");
    if (status != ETP_OK) {
        goto done;
    }
    if (!make_pair(in, false) || !make_pair(sout, false) || !make_pair(serr, false) ||
        !make_pair(report, false) || !make_pair(supervisor, true)) {
        status = etp_fail_errno(err, ETP_ENVIRONMENT, "cannot make pipes");
        goto done;
    }
    setup.in_fd = in[0];
    setup.out_fd = sout[1];
    setup.err_fd = serr[1];
    setup.report_fd = report[1];
    status = spawn(spec, &setup, report, supervisor, out, err);
    if (status == ETP_OK) {
        out->in_fd = in[1];
        out->out_fd = sout[0];
        out->err_fd = serr[0];
        in[1] = sout[0] = serr[0] = -1;
        // Our ends only: the child's own reads and writes go on waiting as its program expects.
        fcntl(out->in_fd, F_SETFL, O_NONBLOCK);
        fcntl(out->out_fd, F_SETFL, O_NONBLOCK);
        fcntl(out->err_fd, F_SETFL, O_NONBLOCK);
    }
done:
    for (int i = 0; i < 2; i++) {
        close_fd(&in[i]);
        close_fd(&sout[i]);
        close_fd(&serr[i]);
        close_fd(&report[i]);
        close_fd(&supervisor[i]);
    }
    etp_arena_dispose(&arena);
    return status;
}

// A write into a pipe without reader must give EPIPE, whatever the program around this library does
// with SIGPIPE: it is blocked for the call, and one that the call caused is taken back.
static ssize_t write_quietly(int fd, const char *ptr, size_t len)
{
    sigset_t pipe_set, old, pending;
    sigemptyset(&pipe_set);
    sigaddset(&pipe_set, SIGPIPE);
    sigpending(&pending);
    bool was_pending = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_set, &old);
    ssize_t n = write(fd, ptr, len);
    int saved = errno;
    if (n < 0 && saved == EPIPE && !was_pending) {
        sigpending(&pending);
        if (sigismember(&pending, SIGPIPE) == 1) {
            int number;
            sigwait(&pipe_set, &number);
        }
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    errno = saved;
    return n;
}

// Milliseconds for poll until DEADLINE, rounded up so that it never spins.
static int poll_ms(uint64_t deadline)
{
    uint64_t now = etp_os_now_ns();
    if (now >= deadline) {
        return 0;
    }
    uint64_t ms = (deadline - now + 999999) / 1000000;
    // An hour at most, so that it fits an int: callers look at the deadline again.
    return ms > 3600000 ? 3600000 : (int)ms;
}

static uint64_t deadline_after(uint64_t timeout_ns)
{
    uint64_t now = etp_os_now_ns();
    return timeout_ns > UINT64_MAX - now ? UINT64_MAX : now + timeout_ns;
}

etp_status etp_process_write(etp_process *p, etp_str s, uint64_t timeout_ns, etp_error *err)
{
    uint64_t deadline = deadline_after(timeout_ns);
    for (size_t done = 0; done < s.len;) {
        ssize_t n = p->in_fd < 0 ? (errno = EPIPE, -1)
                                 : write_quietly(p->in_fd, s.ptr + done, s.len - done);
        if (n >= 0) {
            done += (size_t)n;
        } else if (errno == EAGAIN || errno == EINTR) {
            struct pollfd fd = {.fd = p->in_fd, .events = POLLOUT};
            if (poll(&fd, 1, poll_ms(deadline)) == 0 && etp_os_now_ns() >= deadline) {
                return etp_fail(err, ETP_CHILD, "the process does not read its input");
            }
        } else {
            return etp_fail_errno(err, ETP_CHILD, "the process closed its input");
        }
    }
    return ETP_OK;
}

// An error is the end of that pipe: nothing further can be had from it.
static bool read_some(int *fd, char *buf, size_t cap, size_t *got)
{
    ssize_t n = read(*fd, buf, cap);
    if (n > 0) {
        *got = (size_t)n;
        return true;
    }
    if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
        close_fd(fd);
    }
    return false;
}

etp_process_event etp_process_read(etp_process *p, uint64_t timeout_ns, char *buf, size_t cap,
                                   size_t *got)
{
    uint64_t deadline = deadline_after(timeout_ns);
    *got = 0;
    for (;;) {
        if (p->out_fd < 0 && p->err_fd < 0) {
            return ETP_PROCESS_EOF;
        }
        struct pollfd fds[3] = {
            {.fd = p->out_fd,        .events = POLLIN},
            {.fd = p->err_fd,        .events = POLLIN},
            {.fd = etp_os_wake_fd(), .events = POLLIN}
        };
        int n = poll(fds, 3, poll_ms(deadline));
        // Before the output: a child that never stops talking must not keep Ctrl-C from being
        // noticed. poll passes over descriptors that are −1, ours before etp_os_catch_signals.
        if (n > 0 && fds[2].revents) {
            etp_os_wake_drain();
            return ETP_PROCESS_WAKE;
        }
        if (n > 0 && fds[0].revents && read_some(&p->out_fd, buf, cap, got)) {
            return ETP_PROCESS_OUT;
        }
        if (n > 0 && fds[1].revents && read_some(&p->err_fd, buf, cap, got)) {
            return ETP_PROCESS_ERR;
        }
        if (n <= 0 && etp_os_now_ns() >= deadline) {
            return ETP_PROCESS_TIMEOUT;
        }
    }
}

void etp_process_close_input(etp_process *p)
{
    close_fd(&p->in_fd);
}

static uint64_t timeval_ns(struct timeval t)
{
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_usec * 1000u;
}

// Waits until DEADLINE; true once the child is gone, and with it what it left behind.
static bool reap(etp_process *p, uint64_t deadline)
{
    if (p->ended || p->pid <= 0) {
        return true;
    }
    // Readable once the supervisor has reported, or is gone.
    struct pollfd fd = {.fd = p->supervisor_fd, .events = POLLIN};
    while (poll(&fd, 1, poll_ms(deadline)) <= 0) {
        if (etp_os_now_ns() >= deadline) {
            return false;
        }
    }
    etp_supervisor_ended ended = {0};
    if (!read_supervisor(p->supervisor_fd, &ended, sizeof ended)) {
        // Somebody killed the supervisor. The system has ended the child with it (Linux); its group
        // is still named.
        kill((pid_t)-p->pid, SIGKILL);
        ended = (etp_supervisor_ended){.status = SIGKILL, .end_ns = etp_os_now_ns()};
    }
    p->ended = true;
    p->end_ns = ended.end_ns;
    p->exit_code = WIFEXITED(ended.status) ? WEXITSTATUS(ended.status) : 0;
    p->signal = WIFSIGNALED(ended.status) ? WTERMSIG(ended.status) : 0;
    const struct rusage *u = &ended.usage;
    p->usage.user_ns = timeval_ns(u->ru_utime);
    p->usage.system_ns = timeval_ns(u->ru_stime);
    p->usage.peak_rss_bytes = etp_os_rss_bytes(u->ru_maxrss);
    p->usage.minor_faults = (uint64_t)u->ru_minflt;
    p->usage.major_faults = (uint64_t)u->ru_majflt;
    p->usage.voluntary_switches = (uint64_t)u->ru_nvcsw;
    p->usage.involuntary_switches = (uint64_t)u->ru_nivcsw;
    return true;
}

bool etp_process_wait(etp_process *p, uint64_t timeout_ns)
{
    return reap(p, deadline_after(timeout_ns));
}

int64_t etp_os_self_pid(void)
{
    return getpid();
}

void etp_process_kill(etp_process *p)
{
    if (p->pid <= 0 || reap(p, 0)) {
        return;
    }
    shutdown(p->supervisor_fd,
             SHUT_WR); // the order to end everything; the supervisor still answers
    kill((pid_t)p->supervisor, SIGCONT); // in case somebody stopped it
    // A process that hangs in the kernel cannot be killed; the supervisor leaves it to the system
    // after a while.
    // A second more than the supervisor takes (END_NS).
    (void)reap(p, deadline_after(6000000000u));
}

void etp_process_dispose(etp_process *p)
{
    if (p->pid <= 0) {
        return;
    }
    etp_process_kill(p);
    reap_supervisor(p);
    close_fd(&p->in_fd);
    close_fd(&p->out_fd);
    close_fd(&p->err_fd);
    p->pid = 0;
}

static uint64_t time_left(uint64_t deadline)
{
    uint64_t now = etp_os_now_ns();
    return ETP_LESS(deadline, now);
}

static etp_status fail_late(const etp_process_spec *spec, uint64_t timeout_ns, etp_error *err)
{
    return etp_fail(err, ETP_CHILD, "%s did not end within %s s", spec->argv[0],
                    ETP_DIGITS((double)timeout_ns / 1e9, 3));
}

static etp_status capture(const etp_process_spec *spec, uint64_t timeout_ns, size_t limit,
                          etp_arena *arena, etp_process *out_process, etp_str *out,
                          etp_str *out_err, etp_error *err)
{
    uint64_t deadline = deadline_after(timeout_ns);
    etp_strbuf text, text_err;
    etp_strbuf_init(&text, arena);
    etp_strbuf_init(&text_err, arena);
    ETP_TRY(etp_process_start(spec, out_process, err));
    etp_process_close_input(out_process);
    etp_status status = ETP_OK;
    for (bool open = true; open && status == ETP_OK;) {
        char buf[8192];
        size_t got;
        etp_process_event event =
            etp_process_read(out_process, time_left(deadline), buf, sizeof buf, &got);
        open = event != ETP_PROCESS_EOF;
        if (event == ETP_PROCESS_OUT || event == ETP_PROCESS_ERR) {
            etp_strbuf *to = event == ETP_PROCESS_OUT ? &text : &text_err;
            if (got > limit - to->len) {
                status = etp_fail(err, ETP_CHILD, "%s wrote more than %s", spec->argv[0],
                                  ETP_BYTES(limit));
            } else {
                etp_strbuf_append(to, (etp_str){buf, got});
            }
        } else if (event == ETP_PROCESS_WAKE && etp_os_interrupted() != 0) {
            status = etp_fail(err, ETP_INTERRUPTED, "interrupted");
        }
        if (open && status == ETP_OK && time_left(deadline) == 0) {
            status = fail_late(spec, timeout_ns, err);
        }
    }
    if (status == ETP_OK && !etp_process_wait(out_process, time_left(deadline))) {
        status = fail_late(spec, timeout_ns, err);
    }
    // Work that goes on (a server, the shell of a device) is the caller's to end.
    if (status != ETP_OK || spec->leaves != ETP_PROCESS_LEAVES_WORK) {
        etp_process_dispose(out_process);
    }
    if (status == ETP_OK) {
        status = etp_arena_check(arena, err, "output of a process");
    }
    *out = etp_strbuf_str(&text);
    *out_err = etp_strbuf_str(&text_err);
    return status;
}

etp_status etp_process_capture(const etp_process_spec *spec, uint64_t timeout_ns, size_t limit,
                               etp_arena *arena, etp_process *out_process, etp_str *out,
                               etp_str *out_err, etp_error *err)
{
    ETP_UNGUARDED(arena, capture(spec, timeout_ns, limit, arena, out_process, out, out_err, err));
}
