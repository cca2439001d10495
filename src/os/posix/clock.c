// SPDX-License-Identifier: Apache-2.0
// Clock, random seed and terminal.
#include "os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

static uint64_t nanoseconds(struct timespec t)
{
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t etp_os_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t); // cannot fail for this clock
    return nanoseconds(t);
}

uint64_t etp_os_cpu_ns(void)
{
    struct timespec t;
    return clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) == 0 ? nanoseconds(t) : 0;
}

int64_t etp_os_wall_seconds(void)
{
    return (int64_t)time(NULL);
}

const char *etp_os_utc_now(char buf[static 24])
{
    time_t now = time(NULL);
    struct tm t;
    if (!gmtime_r(&now, &t) || strftime(buf, 24, "%Y-%m-%dT%H:%M:%SZ", &t) == 0) {
        buf[0] = '\0';
    }
    return buf;
}

void etp_os_sleep_ns(uint64_t ns)
{
    struct timespec t = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
    // Other signals than those that are to stop us do not shorten the sleep.
    while (nanosleep(&t, &t) != 0 && errno == EINTR && etp_os_interrupted() == 0) {
    }
}

uint64_t etp_os_random_u64(void)
{
    uint64_t v = 0;
    int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, &v, sizeof v);
    if (fd >= 0) {
        close(fd);
    }
    if (got != (ssize_t)sizeof v) {
        // Only to tell two sessions apart; nothing secret hangs on it. (2⁶⁴ ÷ the golden ratio
        // spreads close times over all bits.)
        v = etp_os_now_ns() * 0x9e3779b97f4a7c15u ^ (uint64_t)getpid();
    }
    return v;
}
