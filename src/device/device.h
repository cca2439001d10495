// SPDX-License-Identifier: Apache-2.0
// Where measured programs run. A device can make a file readable there, start the runner bundle,
// bring a file back and tell its state; sessions know nothing else about it.
//
// Thread rule: one thread at a time per device.
#ifndef ETP_DEVICE_DEVICE_H
#define ETP_DEVICE_DEVICE_H

#include "os/os.h"

typedef struct etp_device etp_device;

// What to start there: bundle.json of a folder, or a bare program of that name.
typedef struct etp_bundle {
    const char *dir;          // absolute; the working directory of the start
    const char *runner;       // absolute path of the runner program
    const char *const *start; // NULL-terminated: loader and its options, then the runner
    bool own_libraries;       // starts with its own loader and C library
    bool python;    // the Python runtime of a release: no levels, no sampling, this machine alone
    bool no_tracer; // which was built without event tracer and writes no recordings
    char runner_sha256[65];
    bool altered;                      // bundle.json has another hash of the runner
    const char *sdk_version, *sdk_sha; // "" unknown
    const char *sdk_digest;            // sha256 over all files' hashes, "" for a bare program
    const char *wheel_sha256;          // of the published wheel whose ExecuTorch it is, "" unknown
} etp_bundle;

typedef struct etp_device_info {
    const char *spec; // as normalised: "local", "qemu:max,sve=off"
    etp_platform platform;
    const char *triple; // of the bundle
    bool emulated;
    bool local_pid; // the runner's pid is our child's pid, its clock is our clock
} etp_device_info;

const char *etp_device_fact_of(const etp_details *facts, const char *key); // NULL: not told

typedef struct etp_device_vtable {
    // Facts that do not change during a session; texts live in ARENA.
    etp_status (*probe)(etp_device *d, etp_arena *arena, etp_details *out, etp_error *err);
    // Makes a local file readable by launches. *out_remote lives in ARENA.
    etp_status (*push)(etp_device *d, const char *local, etp_arena *arena, const char **out_remote,
                       etp_error *err);
    // Starts the bundle with ARGS appended and ENV ("NAME=VALUE") set, both NULL-terminated.
    etp_status (*start)(etp_device *d, const char *const *args, const char *const *env,
                        etp_process *out, etp_error *err);
    // Another bundle is started from now on. NULL: it is enough to name it.
    etp_status (*use)(etp_device *d, const etp_bundle *b, etp_error *err);
    // Ends a launch for good, also what of it lives elsewhere. PID is what the runner said, 0
    // unknown.
    void (*kill)(etp_device *d, etp_process *p, uint64_t pid);
    // Judges the end of a launch, whose client's exit status proves nothing: LOG is what it wrote
    // to standard error, or the end of it; what the device itself added there is cut off. Corrects
    // exit_code and signal of P. False: the connection was lost, nobody knows how the launch ended.
    // May be NULL.
    bool (*ended)(etp_device *d, etp_process *p, etp_str *log);
    // CPUs on which the threads of a running launch may run, as its /proc says: "0-3", several
    // lists when they differ; empty when it cannot be read. Text lives in ARENA. May be NULL.
    etp_str (*affinity)(etp_device *d, const etp_process *p, etp_arena *arena);
    // A place of that name where launches may write; what was there before is gone.
    etp_status (*scratch)(etp_device *d, const char *name, etp_arena *arena,
                          const char **out_remote, etp_error *err);
    // Moves a file or folder that a launch wrote into scratch to LOCAL (replacing it).
    etp_status (*pull)(etp_device *d, const char *remote, const char *local, etp_error *err);
    void (*state)(etp_device *d, etp_os_state *out);
    void (*close)(etp_device *d);
} etp_device_vtable;

struct etp_device {
    const etp_device_vtable *ops;
    etp_device_info info;
    etp_bundle bundle;
    etp_arena arena;
    const char *work_dir; // local folder that is ours until close
    void *data;           // of the implementation
    etp_details extra;    // told by probe, too; texts live in `arena`
    const char *journal;  // of prepare.h, NULL: nothing is prepared
    bool changed; // somebody else answers there (host key): nothing is started there any more
};

typedef struct etp_device_options {
    const char *spec;       // NULL: "local"
    const char *runner;     // --runner or ETPROF_RUNNER: program or bundle folder; NULL: look up
    const char *qemu;       // ETPROF_QEMU; NULL: look up
    const char *ssh_config; // ETPROF_SSH_CONFIG; NULL: the user's own
    const char *android_serial; // ANDROID_SERIAL: the device meant by "adb" alone; may be NULL
    const char *search_path;    // PATH; may be NULL
    bool no_runner;             // nothing will be started: do not look for a runner
    const char *program;   // etprof's own path, where the look-up of bundles begins; may be NULL
    double timeout_s;      // longest silence of one call to a device; 0: 20, never more
    const char *work_root; // temporary folders are made in here; same file system as the results
} etp_device_options;

typedef enum etp_device_kind {
    ETP_DEVICE_UNKNOWN, // the text is no specification
    ETP_DEVICE_LOCAL,
    ETP_DEVICE_QEMU,
    ETP_DEVICE_SSH,
    ETP_DEVICE_ADB
} etp_device_kind;
// Of a specification, whether there is such a device or not. NULL is "local".
etp_device_kind etp_device_kind_of(const char *spec);
// ETP_USAGE for an unknown spec, ETP_ENVIRONMENT when runner or emulator is missing.
ETP_NODISCARD etp_status etp_device_open(const etp_device_options *options, etp_device **out,
                                         etp_error *err);
void etp_device_close(etp_device *d); // NULL is fine
// Launches start BUNDLE from now on, whose texts must outlive D.
ETP_NODISCARD etp_status etp_device_use(etp_device *d, const etp_bundle *bundle, etp_error *err);

// The folder of the bundle of TRIPLE that PROGRAM is installed or built with; NULL: there is none.
const char *etp_bundle_beside(const char *program, const char *triple, etp_arena *arena);
// What to do then.
const char *etp_bundle_advice(const char *triple, etp_arena *arena);
// That of RUNNER, a program or a folder; NULL: the one beside PROGRAM.
ETP_NODISCARD etp_status etp_bundle_find(const char *runner, const char *program,
                                         const char *triple, etp_arena *arena, etp_bundle *out,
                                         etp_error *err);
typedef struct etp_bundle_file {
    const char *path, *name; // absolute; in its folder
    bool is_dir;             // what is in it follows
} etp_bundle_file;
typedef struct etp_bundle_files {
    etp_bundle_file *items;
    size_t n, cap;
} etp_bundle_files;
// What lies in the bundle's folder, in a total order, without hidden files and run folders. None of
// a bare program, whose folder is somebody else's.
ETP_NODISCARD etp_status etp_bundle_list(const etp_bundle *b, etp_arena *arena,
                                         etp_bundle_files *out, etp_error *err);
// One hash over the bytes of all files of the bundle, which need not be what its bundle.json says;
// that of a bare program is its own.
ETP_NODISCARD etp_status etp_bundle_hash(const etp_bundle *b, etp_arena *arena, const char **out,
                                         etp_error *err);
// Path of a qemu-aarch64 that knows SME2 (10.1 or newer). ETP_ENVIRONMENT when there is none.
ETP_NODISCARD etp_status etp_qemu_find(const char *wanted, const char *search_path,
                                       const char *program, etp_arena *arena, const char **out,
                                       etp_error *err);

#endif
