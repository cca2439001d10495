// SPDX-License-Identifier: Apache-2.0
// When the SDK crashes: what was measured and what it was doing still reach the tool. These lines
// are written by hand and not by base/json.h: in a signal handler nothing of the C library may be
// called but what POSIX allows there, and all their texts are constants that need no escapes.
#include "crash.h"

#include <csignal>
#include <initializer_list>

#include <unistd.h>

namespace etprof
{

namespace
{

// Read in a signal handler: plain stores before, plain loads there.
int out_fd = -1;
const char *volatile now_doing = "starting";
const Progress *volatile current = nullptr;

// Text without the C library, which may be what has just crashed.
struct Text {
    char bytes[512];
    size_t len = 0;

    Text &add(const char *s)
    {
        while (*s != '\0' && len < sizeof bytes) {
            bytes[len++] = *s++;
        }
        return *this;
    }
    Text &add(uint64_t v)
    {
        char digits[20];
        size_t n = 0;
        do {
            digits[n++] = static_cast<char>('0' + v % 10);
            v /= 10;
        } while (v != 0);
        while (n > 0 && len < sizeof bytes) {
            bytes[len++] = digits[--n];
        }
        return *this;
    }
    void write()
    {
        for (size_t at = 0; at < len;) {
            ssize_t n = ::write(out_fd, bytes + at, len - at);
            if (n <= 0) {
                return;
            }
            at += static_cast<size_t>(n);
        }
    }
};

const char *name_of(int signal)
{
    switch (signal) {
    case SIGSEGV:
        return "SIGSEGV";
    case SIGABRT:
        return "SIGABRT";
    case SIGBUS:
        return "SIGBUS";
    case SIGILL:
        return "SIGILL";
    case SIGFPE:
        return "SIGFPE";
    default:
        return "?";
    }
}

void on_crash(int signal)
{
    if (const Progress *p = current) {
        for (uint64_t i = p->sent; i < p->done; i++) {
            Text line;
            line.add("{\"type\":\"iter\",\"i\":").add(p->base + i);
            line.add(",\"start_ns\":").add(p->samples[i].start_ns);
            line.add(",\"ns\":").add(p->samples[i].ns).add("}\n");
            line.write();
        }
    }
    Text line;
    line.add("{\"type\":\"error\",\"code\":\"crash\",\"message\":\"the SDK crashed (signal ");
    line.add(static_cast<uint64_t>(signal)).add(", ").add(name_of(signal)).add(") while ");
    line.add(now_doing).add("\"}\n");
    line.write();
    // The handler was for once: this time the signal does what it does by default.
    (void)raise(signal);
}

} // namespace

void crash_install(int fd)
{
    out_fd = fd;
    // A stack of its own, for the case that the other one has overflowed.
    alignas(16) static char stack[64 * 1024];
    stack_t alternate{};
    alternate.ss_sp = stack;
    alternate.ss_size = sizeof stack;
    (void)sigaltstack(&alternate, nullptr);
    struct sigaction action {
    };
    action.sa_handler = on_crash;
    action.sa_flags = static_cast<int>(SA_ONSTACK | SA_RESETHAND);
    sigemptyset(&action.sa_mask);
    for (int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGILL, SIGFPE}) {
        (void)sigaction(signal, &action, nullptr);
    }
}

void crash_doing(const char *doing)
{
    now_doing = doing;
}

void crash_progress(const Progress *progress)
{
    current = progress;
}

} // namespace etprof
