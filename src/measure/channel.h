// SPDX-License-Identifier: Apache-2.0
// Talking to one started runner: lines out of its pipe, its free text kept, silence bounded.
#ifndef ETP_MEASURE_CHANNEL_H
#define ETP_MEASURE_CHANNEL_H

#include "base/sink.h"
#include "device/device.h"
#include "wire/wire.h"

// Most of a launch's stdout, and of its stderr, that is kept: the beginning and nothing after.
#define ETP_LOG_LIMIT ((size_t)256 << 10)

typedef struct etp_channel {
    etp_device *device;
    etp_process process;
    etp_strbuf said;      // its lines, as far as ETP_LOG_LIMIT goes
    etp_strbuf log;       // stderr
    uint64_t log_dropped; // bytes beyond the limit
    char tail[256];       // the last bytes of stderr, also of what was dropped
    size_t tail_len;
    bool lost;           // by etp_channel_finish: the connection went, nobody knows how it ended
    bool end_known;      // the device has told how it ended
    uint64_t pid;        // as the runner said
    uint64_t timeout_ns; // longest silence
    int (*interrupted)(void *ctx);
    void *ctx;
    size_t start, end; // unread bytes of buf
    bool out_closed;
    char buf[ETP_WIRE_LINE_MAX];
} etp_channel;

typedef enum etp_channel_result {
    ETP_CHANNEL_OK,
    ETP_CHANNEL_END,     // it closed its output
    ETP_CHANNEL_SILENCE, // nothing within the time
    ETP_CHANNEL_GARBAGE, // not the protocol: `why`
    ETP_CHANNEL_SIGNAL   // the session was told to end
} etp_channel_result;

// Starts the runner with ARGS and ENV; the log lives in ARENA. Dispose of it also after a failure.
ETP_NODISCARD etp_status etp_channel_start(etp_device *device, const char *const *args,
                                           const char *const *env, etp_arena *arena,
                                           etp_channel *out, etp_error *err);
// Sends one line (newline included). False when the runner does not take it; the cause shows in
// what it says last or in how it ends.
bool etp_channel_send(etp_channel *t, etp_str line);
// Next message of the runner. EXTRA_NS on top of the usual silence.
etp_channel_result etp_channel_next(etp_channel *t, uint64_t extra_ns, etp_wire_msg *out, char *why,
                                    size_t why_cap);
// Next line as text (without newline), for answers that are no protocol messages.
etp_channel_result etp_channel_line(etp_channel *t, etp_str *out, char *why, size_t why_cap);
// Closes its input, takes what it still says, waits for its end. False: it had to be killed.
bool etp_channel_finish(etp_channel *t);
// The last line of its stderr that says something, at most 300 bytes; borrows from T.
etp_str etp_channel_last_line(const etp_channel *t);
void etp_channel_kill(etp_channel *t);
void etp_channel_dispose(etp_channel *t); // leaves no process

#endif
