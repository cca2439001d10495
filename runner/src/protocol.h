// SPDX-License-Identifier: Apache-2.0
// The runner's side of the protocol: lines out, commands in, errors.
#ifndef ETP_RUNNER_PROTOCOL_H
#define ETP_RUNNER_PROTOCOL_H

#include <string>

#include "wire/wire.h"

namespace etprof
{

// An error the tool is told about: a code of wire.h and one clear sentence.
struct Failure {
    std::string code;
    std::string message;
};

// Owns the real stdout. Constructing it moves descriptor 1 onto stderr, so that
// nothing a library prints can land between our lines.
class Lines
{
  public:
    Lines();
    void send(const etp_wire_msg &msg); // buffered
    void raw(const std::string &line);  // one finished line
    void flush();
    void error(const Failure &failure);
    int fd() const
    {
        return fd_;
    }
    bool failed() const
    {
        return failed_;
    }

  private:
    std::string pending_;
    int fd_;
    bool failed_ = false;
};

// One line of stdin without its newline. False at the end of the input. A line
// longer than the protocol allows is read to its end and returned cut, one byte too long.
bool read_line(std::string &line);

} // namespace etprof

#endif
