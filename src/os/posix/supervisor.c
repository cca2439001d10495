// SPDX-License-Identifier: Apache-2.0
// One supervisor per child. It sleeps until the child ends or its socket does, so that it takes no
// time from what is measured; everything a child leaves behind becomes the supervisor's own child
// (on Linux) and is ended.
#include "os/posix/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "os/system.h"

#define END_NS ((uint64_t)5 * 1000000000u) // what cannot be ended by then is left to the system
#define PAUSE_NS 5000000
#define MOST_CHILDREN 256

typedef struct supervisor {
    int socket;
    etp_process_leaves leaves;
    pid_t pid;  // of the child; 0 once it is collected
    bool alone; // nobody is left to be waited for
    bool ended;
    etp_supervisor_ended end_report;
    sigset_t waiting; // signals during pselect
} supervisor;

static void on_child(int number)
{
    (void)number; // to wake pselect
}

// Whatever of ours stays open here stays locked, or keeps a reader waiting, for as long as the
// supervisor lives. Returns KEEP, which is none of the first three, under a number that pselect's
// sets can hold.
static int let_go_of_files(int keep)
{
    int null = open("/dev/null", O_RDWR);
    for (int fd = 0; fd <= STDERR_FILENO; fd++) {
        if (null < 0 || (null != fd && dup2(null, fd) < 0)) {
            close(fd);
        }
    }
    etp_os_close_from(STDERR_FILENO + 1, keep);
    const int low = STDERR_FILENO + 1;
    if (keep == low || dup2(keep, low) < 0) {
        return keep;
    }
    close(keep);
    return low;
}

static void tell(const supervisor *s, const void *bytes, size_t len)
{
    ssize_t ignored = write(s->socket, bytes, len);
    (void)ignored; // nobody listens any more
}

// Collects who has ended. The child's group goes first: while its leader is not collected, the
// group's number cannot belong to others.
static void collect(supervisor *s)
{
    for (;;) {
        siginfo_t info = {0};
        if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0) {
            s->alone = errno == ECHILD;
            return;
        }
        if (info.si_pid == 0) {
            return;
        }
        bool main = info.si_pid == s->pid;
        if (main) {
            s->end_report.end_ns = etp_os_now_ns();
            kill(-s->pid, SIGKILL);
        }
        int status = 0;
        struct rusage usage;
        if (wait4(info.si_pid, &status, 0, &usage) == info.si_pid && main) {
            struct rusage ours;
            if (getrusage(RUSAGE_SELF, &ours) == 0 && etp_os_peak_is_inherited(&usage, &ours)) {
                usage.ru_maxrss = 0;
            }
            s->end_report.status = status;
            s->end_report.usage = usage;
            s->ended = true;
            s->pid = 0;
        }
    }
}

// Until a child ends, the socket does (true), or PAUSE (NULL: for ever) is over.
static bool sleep_until(const supervisor *s, bool watch_socket, const struct timespec *pause)
{
    fd_set set;
    FD_ZERO(&set);
    if (watch_socket) {
        FD_SET(s->socket, &set);
    }
    return pselect(watch_socket ? s->socket + 1 : 0, &set, NULL, NULL, pause, &s->waiting) > 0;
}

static void watch(supervisor *s)
{
    // TOLD: the end of the child was reported while what it started lives on (LEAVES_WORK).
    // ORDERED: our maker wants the end of everything, or is gone.
    bool told = false, ordered = false;
    while (!ordered) {
        collect(s);
        if (s->ended && !told && s->leaves == ETP_PROCESS_LEAVES_WORK) {
            tell(s, &s->end_report, sizeof s->end_report);
            told = true;
        }
        // Only the end of work that may outlive its starter is told at once. All others are told
        // when all has ended, so that who waits for a child finds nothing of it running.
        if (s->alone || (s->ended && !told)) {
            break;
        }
        ordered = sleep_until(s, true, NULL);
    }
    static const struct timespec pause = {.tv_nsec = PAUSE_NS};
    uint64_t deadline = etp_os_now_ns() + END_NS;
    for (collect(s); !s->alone && etp_os_now_ns() < deadline; collect(s)) {
        if (s->pid > 0) {
            kill(-s->pid, SIGKILL);
            kill(s->pid, SIGKILL); // in case it left its group
        }
        pid_t children[MOST_CHILDREN];
        size_t n = etp_os_descendants(children, MOST_CHILDREN);
        for (size_t i = 0; i < n; i++) {
            kill(children[i], SIGKILL);
        }
        sleep_until(s, false, &pause); // what the ended ones leave behind comes to us
    }
    if (s->ended && !told) {
        tell(s, &s->end_report, sizeof s->end_report);
    }
}

_Noreturn void etp_supervisor_run(int socket, etp_process_leaves leaves,
                                  void (*start)(const void *), const void *ctx)
{
    supervisor s = {.socket = socket, .leaves = leaves};
    setpgid(0, 0); // what is typed at the terminal is not for us
    etp_os_become_supervisor(leaves != ETP_PROCESS_LEAVES_OTHERS);
    struct sigaction action = {.sa_handler = on_child, .sa_flags = SA_NOCLDSTOP};
    sigemptyset(&action.sa_mask);
    sigaction(SIGCHLD, &action, NULL); // also when it was ignored: then there would be no status
    // Everything but SIGCHLD stays blocked: only SIGKILL ends a supervisor before its work is done.
    sigfillset(&s.waiting);
    sigdelset(&s.waiting, SIGCHLD);
    pid_t self = getpid();
    etp_supervisor_started started = {.start_ns = etp_os_now_ns()};
    started.pid = ETP_OS_FORK_TO_EXEC();
    if (started.pid == 0) {
        etp_os_child_follow_parent(self);
        start(ctx);
        _exit(127);
    }
    if (started.pid < 0) {
        started = (etp_supervisor_started){.failed = errno};
    } else {
        setpgid(started.pid, started.pid); // the child does it too: whoever comes first
    }
    tell(&s, &started, sizeof started);
    s.pid = started.pid;
    s.socket = let_go_of_files(socket);
    if (s.pid > 0) {
        watch(&s);
    }
    _exit(0);
}
