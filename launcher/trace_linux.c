// SPDX-License-Identifier: Apache-2.0
// Starts a program under ptrace and follows it, its threads and its children: signals and job
// control pass through, at every exec the architecture's part (cpu_*.c) hides what is to be hidden.
#include "tracer.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t forward_to; // pid that signals sent to us are for

// The terminal sends its signals to the whole group, the program included; what others send is ours
// to hand on.
static void on_signal(int signal, siginfo_t *info, void *context)
{
    (void)context;
    int saved = errno;
    if (forward_to > 0 && info->si_code != SI_KERNEL) {
        (void)kill((pid_t)forward_to, signal);
    }
    errno = saved;
}

static void forward_signals(pid_t pid)
{
    // The timer of spin_linux.c sends SIGALRM as the kernel, so that one only interrupts waitpid:
    // there is no SA_RESTART.
    static const int k_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM};
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO;
    forward_to = pid;
    for (size_t i = 0; i < sizeof k_signals / sizeof k_signals[0]; i++) {
        (void)sigaction(k_signals[i], &action, NULL);
    }
}

// ---- who is traced ----

// A number out of /proc/<tid>/status, FALLBACK when it is not there.
static int status_number(pid_t tid, const char *key, int fallback)
{
    char path[64], line[256];
    (void)snprintf(path, sizeof path, "/proc/%d/status", (int)tid);
    FILE *f = fopen(path, "re");
    int found = fallback, n;
    while (f && fgets(line, sizeof line, f)) {
        const char *colon = strchr(line, ':');
        if (colon && strncmp(line, key, (size_t)(colon - line)) == 0 &&
            sscanf(colon + 1, "%d", &n) == 1) {
            found = n;
            break;
        }
    }
    if (f) {
        (void)fclose(f);
    }
    return found;
}

static tracee *find(tracer *t, pid_t tid)
{
    for (size_t i = 0; i < t->n; i++) {
        if (t->items[i].tid == tid) {
            return &t->items[i];
        }
    }
    if (t->n == t->cap) {
        size_t cap = t->cap ? 2 * t->cap : 16;
        tracee *more = realloc(t->items, cap * sizeof *more);
        if (!more) {
            return NULL;
        }
        t->items = more;
        t->cap = cap;
    }
    pid_t tgid = (pid_t)status_number(tid, "Tgid", (int)tid);
    // A child may be seen before its parent's fork is.
    if (tgid == tid && t->n > 0 && !cpu_after_fork(t, (pid_t)status_number(tid, "PPid", 0), tid)) {
        return NULL;
    }
    t->items[t->n] = (tracee){.tid = tid, .tgid = tgid};
    return &t->items[t->n++];
}

static void forget(tracer *t, pid_t tid)
{
    for (size_t i = 0; i < t->n; i++) {
        if (t->items[i].tid == tid) {
            free(t->items[i].mapped);
            if (tid == t->items[i].tgid) {
                cpu_process_gone(t, tid);
            }
            t->items[i] = t->items[--t->n];
            return;
        }
    }
}

// ---- starting ----

typedef struct start {
    int go[2], failed[2]; // the child waits on go; errno of a failed exec comes through failed
    pid_t pid;
} start;

static void child(const start *s, const launch *l)
{
    char byte;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)close(s->go[1]);
    (void)close(s->failed[0]);
    if (read(s->go[0], &byte, 1) != 1) {
        _exit(LAUNCH_FAILED);
    }
    int reason[2] = {0, 0};
    if (cpu_prepare_child(l)) {
        (void)execvp(l->argv[0], l->argv);
        reason[0] = 1;
    }
    reason[1] = errno;
    ssize_t ignored = write(s->failed[1], reason, sizeof reason);
    (void)ignored;
    _exit(LAUNCH_FAILED);
}

static const char *number_in_file(const char *path, char *buf, size_t cap)
{
    FILE *f = fopen(path, "re");
    buf[0] = '\0';
    if (f) {
        if (fgets(buf, (int)cap, f)) {
            buf[strcspn(buf, "\n")] = '\0';
        }
        (void)fclose(f);
    }
    return buf;
}

// Why may we not trace our own child?
static void explain_refusal(launch *l, int error)
{
    char scope[16];
    int tracer_pid = status_number(getpid(), "TracerPid", 0);
    if (tracer_pid > 0) {
        launch_why(l,
                   "process %d already traces this one and its children (a debugger or strace): a "
                   "program has one tracer at most; start etprof-launch outside of it",
                   tracer_pid);
    } else if (number_in_file("/proc/sys/kernel/yama/ptrace_scope", scope, sizeof scope)[0] ==
               '3') {
        launch_why(
            l, "ptrace is switched off on this machine (kernel.yama.ptrace_scope is 3, which only "
               "a restart changes)");
    } else {
        launch_why(
            l,
            "ptrace of our own child is refused: %s; a container's seccomp profile or SELinux "
            "forbids it",
            strerror(error));
    }
}

static bool seize(launch *l, start *s)
{
    unsigned long options = PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL | cpu_trace_options(l);
    if (!l->once) {
        options |= PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE;
    }
    if (ptrace(PTRACE_SEIZE, s->pid, NULL, (void *)options) != 0) {
        explain_refusal(l, errno);
        (void)kill(s->pid, SIGKILL);
        (void)waitpid(s->pid, NULL, 0);
        return false;
    }
    return true;
}

static bool begin(launch *l, start *s)
{
    if (pipe2(s->go, O_CLOEXEC) != 0 || pipe2(s->failed, O_CLOEXEC) != 0) {
        launch_why(l, "no pipe: %s", strerror(errno));
        return false;
    }
    s->pid = fork();
    if (s->pid == 0) {
        child(s, l);
    }
    if (s->pid < 0) {
        launch_why(l, "cannot start a process: %s", strerror(errno));
        return false;
    }
    (void)close(s->go[0]);
    (void)close(s->failed[1]);
    if (!seize(l, s)) {
        return false;
    }
    forward_signals(s->pid);
    bool told = write(s->go[1], "", 1) == 1;
    (void)close(s->go[1]);
    return told;
}

// ---- following ----

static bool resume(tracee *thread, int request, int signal)
{
    // A thread that was killed in the meantime is reported by waitpid.
    return ptrace(request, thread->tid, NULL, (void *)(long)signal) == 0 || errno == ESRCH;
}

static bool is_stop_signal(int signal)
{
    return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

static bool on_event(tracer *t, tracee *thread, int signal, int event)
{
    unsigned long message = 0;
    switch (event) {
    case PTRACE_EVENT_EXEC:
        thread->tgid = thread->tid; // exec leaves the process one thread, called like the process
        if (!cpu_after_exec(t, thread)) {
            return false;
        }
        t->launch->programs++;
        if (t->launch->once) {
            return ptrace(PTRACE_DETACH, thread->tid, NULL, NULL) == 0;
        }
        return resume(thread, PTRACE_CONT, 0);
    case PTRACE_EVENT_FORK:
    case PTRACE_EVENT_VFORK:
    case PTRACE_EVENT_CLONE:
        if (ptrace(PTRACE_GETEVENTMSG, thread->tid, NULL, &message) == 0) {
            pid_t parent = thread->tgid;
            tracee *new_thread = find(t, (pid_t)message); // may move the array
            if (!new_thread ||
                (new_thread->tgid != parent && !cpu_after_fork(t, parent, new_thread->tgid))) {
                return false;
            }
        }
        return true; // resumed by the caller, who knows its number
    case PTRACE_EVENT_SECCOMP:
        if (!cpu_syscall_begins(t, thread)) {
            return false;
        }
        // Where the mmap lies is known at its end only.
        return resume(thread, thread->mapping ? PTRACE_SYSCALL : PTRACE_CONT, 0);
    case PTRACE_EVENT_STOP:
        if (is_stop_signal(signal)) {
            // A stopped program stays stopped, and a later SIGCONT is reported (job control under
            // PTRACE_SEIZE).
            return resume(thread, PTRACE_LISTEN, 0);
        }
        return cpu_stopped(t, thread) != CPU_FAILED && resume(thread, PTRACE_CONT, 0);
    default:
        return resume(thread, PTRACE_CONT, 0);
    }
}

static bool on_stop(tracer *t, tracee *thread, int status)
{
    int signal = WSTOPSIG(status), event = status >> 16;
    pid_t tid = thread->tid;
    thread->asked = false; // any stop takes the place of the one that was asked for
    if (event != 0) {
        bool forked = event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK ||
                      event == PTRACE_EVENT_CLONE;
        if (!on_event(t, thread, signal, event)) {
            return false;
        }
        return !forked || ptrace(PTRACE_CONT, tid, NULL, NULL) == 0 || errno == ESRCH;
    }
    if (signal == (SIGTRAP | 0x80)) { // end of a system call
        bool again = false;
        if (thread->mapping && !cpu_mapping_ended(t, thread, &again)) {
            return false;
        }
        return resume(thread, again ? PTRACE_SYSCALL : PTRACE_CONT, 0);
    }
    return resume(thread, PTRACE_CONT, signal);
}

// Until the last of them has ended. False: something could not be hidden; nothing runs any more.
static bool follow(tracer *t, pid_t program, int *out_status)
{
    bool ended = false;
    for (;;) {
        int status;
        pid_t tid = waitpid(-1, &status, __WALL);
        if (tid < 0 && errno == EINTR) {
            spin_look(t);
            continue;
        }
        if (tid < 0) {
            return ended;
        }
        if (WIFEXITED(status) || WIFSIGNALED(status)) {
            forget(t, tid);
            if (tid == program) {
                *out_status = status;
                ended = true;
                forward_to = 0;
            }
            continue;
        }
        tracee *thread = WIFSTOPPED(status) ? find(t, tid) : NULL;
        if (WIFSTOPPED(status) && (!thread || !on_stop(t, thread, status))) {
            launch_why(t->launch, "cannot go on with process %d: %s", (int)tid, strerror(errno));
            return false;
        }
    }
}

bool launch_can_trace(void)
{
    return true;
}

bool launch_traced(launch *l, int *out_status)
{
    start s;
    tracer t = {.launch = l};
    l->trap = cpu_choose_trap();
    if (!begin(l, &s)) {
        return false;
    }
    bool ok = follow(&t, s.pid, out_status);
    if (!ok) {
        for (size_t i = 0; i < t.n; i++) {
            (void)kill(t.items[i].tgid, SIGKILL);
        }
    }
    int reason[2];
    if (ok && read(s.failed[0], reason, sizeof reason) == (ssize_t)sizeof reason) {
        launch_why(l, reason[0] ? "cannot start %s: %s" : "cannot prepare the start of %s: %s",
                   l->argv[0], strerror(reason[1]));
        *out_status = (reason[1] == ENOENT ? LAUNCH_NOT_FOUND : LAUNCH_NOT_EXECUTABLE) << 8;
        ok = false;
    }
    (void)close(s.failed[0]);
    for (size_t i = 0; i < t.n; i++) {
        free(t.items[i].mapped);
    }
    free(t.items);
    cpu_free(&t);
    return ok;
}
