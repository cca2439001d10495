// SPDX-License-Identifier: Apache-2.0
// One keeper per child. It sleeps until the child ends or its socket does, so that it takes no time
// from what is measured; everything a child leaves behind becomes the keeper's own child (on Linux)
// and is ended.
#include "os/posix/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "os/system.h"

#define END_NS ((uint64_t)5 * 1000000000u) // what cannot be ended by then is left to the system
#define PAUSE_NS 5000000
#define MOST_CHILDREN 256

typedef struct keeper {
    int socket;
    etp_process_leaves leaves;
    pid_t pid;  // of the child; 0 once it is collected
    bool alone; // nobody is left to be waited for
    bool ended;
    etp_keeper_news news;
    sigset_t waiting; // signals during pselect
} keeper;

static void on_child(int number)
{
    (void)number; // to wake pselect
}

// Whatever of ours stays open here stays locked, or keeps a reader waiting, for as long as the
// keeper lives. Returns KEEP, which is none of the first three, under a number that pselect's sets
// can hold.
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

static void tell(const keeper *k, const void *bytes, size_t len)
{
    ssize_t ignored = write(k->socket, bytes, len);
    (void)ignored; // nobody listens any more
}

// Collects who has ended. The child's group goes first: while its leader is not collected, the
// group's number cannot belong to others.
static void collect(keeper *k)
{
    for (;;) {
        siginfo_t info = {0};
        if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0) {
            k->alone = errno == ECHILD;
            return;
        }
        if (info.si_pid == 0) {
            return;
        }
        bool main = info.si_pid == k->pid;
        if (main) {
            k->news.end_ns = etp_os_now_ns();
            kill(-k->pid, SIGKILL);
        }
        int status = 0;
        struct rusage usage;
        if (wait4(info.si_pid, &status, 0, &usage) == info.si_pid && main) {
            k->news.status = status;
            k->news.usage = usage;
            k->ended = true;
            k->pid = 0;
        }
    }
}

// Until a child ends, the socket does (true), or PAUSE (NULL: for ever) is over.
static bool sleep_until(const keeper *k, bool watch_socket, const struct timespec *pause)
{
    fd_set set;
    FD_ZERO(&set);
    if (watch_socket) {
        FD_SET(k->socket, &set);
    }
    return pselect(watch_socket ? k->socket + 1 : 0, &set, NULL, NULL, pause, &k->waiting) > 0;
}

static void end_all(keeper *k)
{
    static const struct timespec pause = {.tv_nsec = PAUSE_NS};
    uint64_t deadline = etp_os_now_ns() + END_NS;
    for (collect(k); !k->alone && etp_os_now_ns() < deadline; collect(k)) {
        if (k->pid > 0) {
            kill(-k->pid, SIGKILL);
            kill(k->pid, SIGKILL); // in case it left its group
        }
        pid_t children[MOST_CHILDREN];
        size_t n = etp_os_offspring(children, MOST_CHILDREN);
        for (size_t i = 0; i < n; i++) {
            kill(children[i], SIGKILL);
        }
        sleep_until(k, false, &pause); // what the ended ones leave behind comes to us
    }
}

static void watch(keeper *k)
{
    bool told = false, ordered = false;
    while (!ordered) {
        collect(k);
        if (k->ended && !told && k->leaves == ETP_PROCESS_LEAVES_WORK) {
            tell(k, &k->news, sizeof k->news);
            told = true;
        }
        if (k->alone || (k->ended && !told)) {
            break;
        }
        ordered = sleep_until(k, true, NULL);
    }
    end_all(k);
    if (k->ended && !told) {
        tell(k, &k->news, sizeof k->news);
    }
}

_Noreturn void etp_keeper_run(int socket, etp_process_leaves leaves, void (*start)(const void *),
                              const void *ctx)
{
    keeper k = {.socket = socket, .leaves = leaves};
    setpgid(0, 0); // what is typed at the terminal is not for us
    etp_os_be_keeper(leaves != ETP_PROCESS_LEAVES_OTHERS);
    struct sigaction action = {.sa_handler = on_child, .sa_flags = SA_NOCLDSTOP};
    sigemptyset(&action.sa_mask);
    sigaction(SIGCHLD, &action, NULL); // also when it was ignored: then there would be no status
    sigfillset(&k.waiting);
    sigdelset(&k.waiting, SIGCHLD);
    pid_t self = getpid();
    etp_keeper_hello hello = {.start_ns = etp_os_now_ns()};
    hello.pid = ETP_OS_FORK_TO_EXEC();
    if (hello.pid == 0) {
        etp_os_child_follow_parent(self);
        start(ctx);
        _exit(127);
    }
    if (hello.pid < 0) {
        hello = (etp_keeper_hello){.failed = errno};
    } else {
        setpgid(hello.pid, hello.pid); // the child does it too: whoever comes first
    }
    tell(&k, &hello, sizeof hello);
    k.pid = hello.pid;
    k.socket = let_go_of_files(socket);
    if (k.pid > 0) {
        watch(&k);
    }
    _exit(0);
}
