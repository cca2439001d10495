// SPDX-License-Identifier: Apache-2.0
// Devices that are reached through a client program which runs one sh script at a time there (ssh,
// adb). The exit status of such a client proves nothing: every script ends with a marker of its
// own.
#ifndef ETP_DEVICE_REMOTE_H
#define ETP_DEVICE_REMOTE_H

#include "device/internal.h"

#define ETP_REMOTE_NS ((uint64_t)20 * 1000000000u) // longest silence of a call
#define ETP_REMOTE_MAX_PREFIX 32

// A launch that has not been judged yet. Several may run side by side.
typedef struct etp_remote_launch {
    int64_t client; // pid of our client program, 0: free
    uint32_t
        number; // of its file "pid.N" in the work folder, where the device keeps the runner's pid
    char marker[48]; // of its end
} etp_remote_launch;

typedef struct etp_remote etp_remote;
struct etp_remote {
    const char *name;                              // "ssh board", "adb 1234", for messages
    const char *prefix[ETP_REMOTE_MAX_PREFIX + 1]; // client and its options; the script comes last
    size_t n_prefix;
    etp_process_leaves leaves; // of the client: adb may start the server of everybody
    bool wrap; // the other side's login shell may not be sh: the script is an argument of sh there
    etp_status (*reconnect)(etp_device *d, etp_error *err); // after a lost connection
    void (*disconnect)(etp_device *d);                      // may be NULL
    void *client;                                           // of ssh.c, adb.c

    char nonce[17];     // of this session
    const char *root;   // folder of this tool version there
    const char *bundle; // folder of the runner there
    const char *work;   // folder of this session there
    bool connected;     // the scripts of close are worth a try
    bool bundle_checked;
    const char *other_bundle;  // one that is whole there too; NULL: none
    uint64_t silence_limit_ns; // longest silence of a call that does not know better
    bool suspect; // a launch ended badly: look after the connection before the next one
    uint32_t n_started;
    struct {
        etp_remote_launch *items;
        size_t n, cap;
    } launches;
    uint64_t pulled; // bytes of files that came from there
    struct {
        const char **items; // hashes of files that are known to be there
        size_t n, cap;
    } sent;
    const char *home_script; // sh that sets $base, where the tool's folder goes
};

// ---- scripts (remote_call.c) ----

#define ETP_REMOTE_LEAST_RATE 65536u // bytes a second, of a device that goes on talking

typedef struct etp_remote_call {
    const char *script;      // NULL: one that memory was lacking for (ETP_NOMEM)
    etp_bytes input;         // written to its standard input
    const char *output_path; // local file that takes its output; NULL: `out` below
    uint64_t most_bytes;     // that the file may get; more is an error
    uint64_t timeout_ns;     // longest silence; 0: ETP_REMOTE_NS. All of it: twice that, and a
                             // second for each 64 KiB
    bool cleanup;            // also when the user wants to end, and without a second try
    // results
    etp_str out; // at most 1 MiB, in the arena; more is an error
    etp_str log; // standard error without the marker
    int status;  // of the script
} etp_remote_call;

// ETP_OK when the script ran to its end, whatever its status; a lost connection is taken up again
// once. ETP_ENVIRONMENT: no connection. ETP_CHILD: no answer within the time.
ETP_NODISCARD etp_status etp_remote_do(etp_device *d, etp_remote_call *call, etp_arena *arena,
                                       etp_error *err);
// The client's command line for SCRIPT, NULL-terminated; NULL on out of memory.
const char *const *etp_remote_argv(const etp_remote *r, const char *script, etp_arena *arena);
// Runs a client program here (not a script there): its output, whatever its status.
ETP_NODISCARD etp_status etp_remote_client(const char *const *argv, etp_process_leaves leaves,
                                           uint64_t timeout_ns, etp_arena *arena, int *status,
                                           etp_str *out, etp_str *log, etp_error *err);
// First line that says something, at most 300 bytes.
etp_str etp_remote_reason(etp_str log);
// Takes "MARKER<status>" and all that follows off LOG; −1 when it is not there.
int etp_remote_marker(const char *marker, etp_str *log);
// Path of PROGRAM in SEARCH_PATH, NULL when it is not there. Relative entries are passed over: what
// lies in the working directory runs only when it is named.
const char *etp_remote_find(const char *program, const char *search_path, etp_arena *arena);

// ---- files (remote_files.c) ----

ETP_NODISCARD etp_status etp_remote_push(etp_device *d, const char *local, etp_arena *arena,
                                         const char **out_remote, etp_error *err);
// Sends what differs of the bundle, once a session and after a launch that ended badly.
ETP_NODISCARD etp_status etp_remote_push_bundle(etp_device *d, etp_error *err);
// All that comes in a session is bounded, too.
#define ETP_REMOTE_SESSION_BYTES ((uint64_t)16 << 30)
ETP_NODISCARD etp_status etp_remote_pull(etp_device *d, const char *remote, const char *local,
                                         etp_error *err);

// ---- facts and state (remote_state.c) ----

// A copy fit to be shown: no control characters, of a bearable length; NULL on out of memory.
const char *etp_remote_shown(etp_str text, etp_arena *arena);

ETP_NODISCARD etp_status etp_remote_probe(etp_device *d, etp_arena *arena, etp_details *out,
                                          etp_error *err);
void etp_remote_state(etp_device *d, etp_os_state *out);

// ---- opening (remote.c) ----

// Longest silence that O allows a device, ns; at most ETP_REMOTE_NS.
uint64_t etp_remote_silence(const etp_device_options *o);
// Once r's client part is filled: finds out what the device is, makes its folders, finds the
// bundle.
ETP_NODISCARD etp_status etp_remote_open(etp_device *d, const etp_device_options *o, etp_remote *r,
                                         const char *spec, etp_platform platform, etp_error *err);
ETP_NODISCARD etp_status etp_ssh_open(etp_device *d, const etp_device_options *o, const char *host,
                                      etp_error *err);
ETP_NODISCARD etp_status etp_adb_open(etp_device *d, const etp_device_options *o,
                                      const char *serial, etp_error *err);

#endif
