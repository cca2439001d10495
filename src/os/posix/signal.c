// SPDX-License-Identifier: Apache-2.0
// Signals as a flag and a pipe. The state here is the one mutable global of the library: a signal
// handler has no other way to tell anything.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "os/system.h"

static volatile sig_atomic_t s_caught;
static int s_pipe[2] = {-1, -1};

static void on_signal(int number)
{
    int saved = errno;
    if (s_caught && number != SIGHUP) { // asked twice: do not make them ask three times
        signal(number, SIG_DFL);
        raise(number);
    }
    s_caught = number;
    ssize_t ignored = write(s_pipe[1], "!", 1); // full pipe: the reader is awake already
    (void)ignored;
    errno = saved;
}

static void on_bus_error(int number)
{
    static const char k_words[] =
        "etprof: a file became shorter while it was read, or its disk failed: copy it to a quiet "
        "place and try again\n";
    (void)number;
    ssize_t ignored = write(STDERR_FILENO, k_words, sizeof k_words - 1);
    (void)ignored;
    _exit(5);
}

void etp_os_begin(void)
{
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) != fd) {
            break; // not even that: then writing fails as well
        }
    }
    // A limit on file sizes shows as an error of the write, like a full disk.
    signal(SIGXFSZ, SIG_IGN);
    struct sigaction action = {.sa_handler = on_bus_error};
    sigemptyset(&action.sa_mask);
    (void)sigaction(SIGBUS, &action, NULL); // without it the system's own end
}

etp_status etp_os_need_stack(uint64_t bytes, etp_error *err)
{
    struct rlimit now;
    if (getrlimit(RLIMIT_STACK, &now) != 0 || now.rlim_cur >= bytes) {
        return ETP_OK;
    }
    const struct rlimit more = {(rlim_t)bytes, now.rlim_max > bytes ? now.rlim_max : (rlim_t)bytes};
    return setrlimit(RLIMIT_STACK, &more) == 0
               ? ETP_OK
               : etp_fail(err, ETP_ENVIRONMENT,
                          "the stack is limited to %llu KiB here and %llu KiB are needed: "
                          "ulimit -s %llu",
                          (unsigned long long)(now.rlim_cur / 1024),
                          (unsigned long long)(bytes / 1024), (unsigned long long)(bytes / 1024));
}

etp_status etp_os_catch_signals(etp_error *err)
{
    if (s_pipe[0] >= 0) {
        return ETP_OK;
    }
    if (pipe(s_pipe) != 0) {
        return etp_fail_errno(err, ETP_IO, "cannot make a pipe for signals");
    }
    for (int i = 0; i < 2; i++) {
        fcntl(s_pipe[i], F_SETFD, FD_CLOEXEC);
        fcntl(s_pipe[i], F_SETFL, O_NONBLOCK);
    }
    struct sigaction action = {.sa_handler = on_signal};
    sigemptyset(&action.sa_mask);
    const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction old;
        // nohup and `cmd &` in a script start us with these ignored, and mean it.
        if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler == SIG_IGN) {
            continue;
        }
        if (sigaction(numbers[i], &action, NULL) != 0) {
            return etp_fail_errno(err, ETP_IO, "cannot catch signal %d", numbers[i]);
        }
    }
    signal(SIGPIPE, SIG_IGN);
    return ETP_OK;
}

int etp_os_interrupted(void)
{
    return s_caught;
}

int etp_os_wake_fd(void)
{
    return s_pipe[0];
}

void etp_os_wake_drain(void)
{
    char sink[16];
    while (read(s_pipe[0], sink, sizeof sink) > 0) {
    }
}
