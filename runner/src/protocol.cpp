// SPDX-License-Identifier: Apache-2.0
// The runner's side of the protocol: lines out, commands in, errors.
#include "protocol.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <unistd.h>

namespace etprof
{

Lines::Lines() : fd_(dup(STDOUT_FILENO))
{
    if (fd_ < 0) {
        std::fprintf(stderr, "etprof-runner: stdout is closed: %s\n", std::strerror(errno));
        std::exit(1);
    }
    (void)dup2(STDERR_FILENO, STDOUT_FILENO);
}

void Lines::send(const etp_wire_msg &msg)
{
    char line[ETP_WIRE_LINE_MAX];
    size_t len = etp_wire_format(&msg, line, sizeof line);
    if (len == 0) { // every text has a bound, so this cannot be input's doing
        std::fprintf(stderr, "etprof-runner: a line does not fit\n");
        std::abort();
    }
    pending_.append(line, len);
}

void Lines::raw(const std::string &line)
{
    pending_ += line;
    pending_ += '\n';
}

void Lines::flush()
{
    size_t at = 0;
    while (at < pending_.size()) {
        ssize_t n = write(fd_, pending_.data() + at, pending_.size() - at);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) { // nobody listens any more
            std::_Exit(1);
        }
        at += static_cast<size_t>(n);
    }
    pending_.clear();
}

void Lines::error(const Failure &failure)
{
    etp_wire_msg msg{};
    msg.type = ETP_WIRE_ERROR;
    std::snprintf(msg.u.error.code, sizeof msg.u.error.code, "%s", failure.code.c_str());
    std::snprintf(msg.u.error.message, sizeof msg.u.error.message, "%s", failure.message.c_str());
    send(msg);
    flush();
    failed_ = true;
}

bool read_line(std::string &line)
{
    static char buffer[4096];
    static size_t have, at;
    line.clear();
    for (;;) {
        if (at == have) {
            ssize_t n;
            do {
                n = read(STDIN_FILENO, buffer, sizeof buffer);
            } while (n < 0 && errno == EINTR);
            if (n <= 0) {
                return !line.empty();
            }
            have = static_cast<size_t>(n);
            at = 0;
        }
        char c = buffer[at++];
        if (c == '\n') {
            return true;
        }
        if (line.size() <= ETP_WIRE_LINE_MAX) {
            line += c;
        }
    }
}

} // namespace etprof
