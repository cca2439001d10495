// SPDX-License-Identifier: Apache-2.0
// Talking to one started runner: lines out of its pipe, its free text kept, silence bounded.
#ifndef ETP_MEASURE_CONVERSATION_H
#define ETP_MEASURE_CONVERSATION_H

#include "base/sink.h"
#include "device/device.h"
#include "wire/wire.h"

// Most of a launch's stderr that is kept: its beginning and nothing after.
#define ETP_LOG_LIMIT ((size_t)256 << 10)

typedef struct etp_talk {
    etp_device *device;
    etp_process process;
    etp_strbuf log;       // stderr
    uint64_t log_dropped; // bytes beyond the limit
    char tail[256];       // the last bytes of stderr, also of what was dropped
    size_t tail_len;
    bool lost;           // by etp_talk_finish: the connection went, nobody knows how it ended
    bool judged;         // the device has said its word about the end
    uint64_t pid;        // as the runner said
    uint64_t timeout_ns; // longest silence
    int (*interrupted)(void *ctx);
    void *ctx;
    size_t start, end; // unread bytes of buf
    bool out_closed;
    char buf[ETP_WIRE_LINE_MAX];
} etp_talk;

typedef enum etp_talk_result {
    ETP_TALK_OK,
    ETP_TALK_END,     // it closed its output
    ETP_TALK_SILENCE, // nothing within the time
    ETP_TALK_GARBAGE, // not the protocol: `why`
    ETP_TALK_SIGNAL   // the session was told to end
} etp_talk_result;

// Starts the runner with ARGS and ENV; the log lives in ARENA. Dispose of it also after a failure.
ETP_NODISCARD etp_status etp_talk_start(etp_device *device, const char *const *args,
                                        const char *const *env, etp_arena *arena, etp_talk *out,
                                        etp_error *err);
// Sends one line (newline included). False when the runner does not take it; the cause shows in
// what it says last or in how it ends.
bool etp_talk_send(etp_talk *t, etp_str line);
// Next message of the runner. EXTRA_NS on top of the usual silence.
etp_talk_result etp_talk_next(etp_talk *t, uint64_t extra_ns, etp_wire_msg *out, char *why,
                              size_t why_cap);
// Next line as text (without newline), for answers that are no protocol messages.
etp_talk_result etp_talk_line(etp_talk *t, uint64_t extra_ns, etp_str *out, char *why,
                              size_t why_cap);
// Closes its input, takes what it still says, waits for its end. False: it had to be killed.
bool etp_talk_finish(etp_talk *t);
// The last line of its stderr that says something, at most 300 bytes; borrows from T.
etp_str etp_talk_words(const etp_talk *t);
void etp_talk_kill(etp_talk *t);
void etp_talk_dispose(etp_talk *t); // leaves no process

#endif
