// SPDX-License-Identifier: Apache-2.0
// Everything etprof asks of the operating system: files, the clock, child processes, signals, the
// terminal, facts about the CPU. The only room that knows which system it runs on.
//
// Paths are NUL-terminated and used as they are; no function goes through a shell. Error messages
// name the path, so that callers need not. A path of NULL is one that memory was lacking for, and
// so are arguments of a process: ETP_NOMEM (nothing is there, where the question is for yes or no),
// so that who puts a path together need not ask.
#ifndef ETP_OS_OS_H
#define ETP_OS_OS_H

#include <math.h>

#include "base/sink.h"

#include <etprof/arena.h>

// ---- files ----

// A whole file for reading. Files of ETP_OS_MAP_BYTES and more are mapped, smaller ones are read.
// A mapped file that somebody shortens while it is open ends the process (the system's rule,
// SIGBUS; said so after etp_os_begin); everything etprof itself rewrites is replaced by rename, so
// the mapping stays intact.
#define ETP_OS_MAP_BYTES ((uint64_t)1 << 20)
typedef struct etp_file {
    etp_bytes bytes; // borrows from this struct until etp_file_close
    etp_arena arena; // private
    void *mapping;   // private
} etp_file;

// ETP_IO when it cannot be read, ETP_UNSUPPORTED when it is not a regular file or larger than
// LIMIT.
ETP_NODISCARD etp_status etp_file_open(const char *path, uint64_t limit, etp_file *out,
                                       etp_error *err);
// The same of a file that may be kept compressed (zstd, told by its first bytes): *out has what was
// packed, at most LIMIT bytes. ETP_CORRUPT when it cannot be unpacked.
ETP_NODISCARD etp_status etp_file_open_unpacked(const char *path, uint64_t limit, etp_file *out,
                                                etp_error *err);
#define ETP_OS_PACKED ".zst" // ends the names of such files
// CONTENT compressed: same bytes from the same library. For the whole content, in ARENA.
ETP_NODISCARD etp_status etp_os_pack(etp_str content, etp_arena *arena, etp_str *out,
                                     etp_error *err);
void etp_file_close(etp_file *file); // safe on a zeroed or closed file

// SHA-256 of all of PATH, in hexadecimal; OUT_BYTES may be NULL.
ETP_NODISCARD etp_status etp_os_hash_file(const char *path, char out_hex[static 65],
                                          uint64_t *out_bytes, etp_error *err);

// Small files into an arena. Pseudo files (/proc, /sys) work: their size is not trusted.
ETP_NODISCARD etp_status etp_os_read_text(const char *path, size_t limit, etp_arena *arena,
                                          etp_str *out, etp_error *err);

// Writes PATH through a temporary neighbour, fsync and rename: readers see the old or the new file.
// The neighbour is made anew: a link that waits under its name is removed, never written through.
ETP_NODISCARD etp_status etp_os_write_atomic(const char *path, etp_str content, etp_error *err);
// For what can be made again: through a temporary neighbour and rename too, but without waiting for
// the disk, and in pieces. FILL writes them to SINK and need not check it.
typedef etp_status etp_os_fill(void *ctx, etp_sink *sink, etp_error *err);
ETP_NODISCARD etp_status etp_os_replace_by(const char *path, etp_os_fill *fill, void *ctx,
                                           etp_error *err);
// Removes the temporary neighbours that processes left in DIR when they were killed. Goes on after
// failures.
void etp_os_remove_temporary(const char *dir);
ETP_NODISCARD etp_status etp_os_unlink(const char *path, etp_error *err); // absent = ok
ETP_NODISCARD etp_status etp_os_rmdir(const char *path, etp_error *err);  // must be empty
// Moves a file or folder, also to another file system; what was at TO is replaced.
ETP_NODISCARD etp_status etp_os_move(const char *from, const char *to, etp_error *err);
// Removes a folder and what is in it; does not follow links. Absent = ok.
ETP_NODISCARD etp_status etp_os_remove_tree(const char *path, etp_error *err);

// The members of a folder others may write to: ROOT/RELATIVE, RELATIVE being names and slashes.
// From ROOT on each folder is opened within the one before, and none may be a link
// (ETP_UNSUPPORTED), so that one that is swapped for a link meanwhile leads nowhere. Folders that
// are missing are made, except by truncate, unstage and remove. As etp_os_write_atomic; what is no
// file under that name is replaced, never written to.
ETP_NODISCARD etp_status etp_os_write_below(const char *root, const char *relative, etp_str content,
                                            etp_error *err);
ETP_NODISCARD etp_status etp_os_replace_below(const char *root, const char *relative,
                                              etp_os_fill *fill, void *ctx, etp_error *err);
// The same in two steps, for files that shall change together: the content goes beside its place,
// and later gets its name (KEEP) or is removed.
ETP_NODISCARD etp_status etp_os_stage_below(const char *root, const char *relative,
                                            etp_os_fill *fill, void *ctx, etp_error *err);
ETP_NODISCARD etp_status etp_os_unstage_below(const char *root, const char *relative, bool keep,
                                              etp_error *err);
// Appends and fsyncs. When not everything could be written the file is cut back to what it was.
ETP_NODISCARD etp_status etp_os_append_below(const char *root, const char *relative,
                                             etp_str content, etp_error *err);
ETP_NODISCARD etp_status etp_os_truncate_below(const char *root, const char *relative,
                                               uint64_t size, etp_error *err);
ETP_NODISCARD etp_status etp_os_mkdirs_below(const char *root, const char *relative,
                                             etp_error *err);
// Moves a file or folder there, also to another file system; what was there is replaced.
ETP_NODISCARD etp_status etp_os_move_below(const char *from, const char *root, const char *relative,
                                           etp_error *err);
// Removes a file, or a folder and what is in it. Absent = ok.
ETP_NODISCARD etp_status etp_os_remove_below(const char *root, const char *relative,
                                             etp_error *err);

ETP_NODISCARD etp_status etp_os_mkdirs(const char *path, etp_error *err); // existing = ok
// One level, exclusive. *taken tells whether something of that name was there already.
ETP_NODISCARD etp_status etp_os_mkdir_new(const char *path, bool *taken, etp_error *err);
// A new folder ROOT/prefix-XXXXXX; ROOT is made when it is not there.
ETP_NODISCARD etp_status etp_os_temp_dir(const char *root, const char *prefix, etp_arena *arena,
                                         const char **out, etp_error *err);

typedef struct etp_dir_entry {
    const char *name;
    bool is_dir;   // links are followed
    bool is_other; // itself neither file nor folder: a link, a FIFO, a device
    uint64_t size;
} etp_dir_entry;
typedef struct etp_dir_list {
    etp_dir_entry *items; // sorted by name, without "." and ".."
    size_t n, cap;
} etp_dir_list;
ETP_NODISCARD etp_status etp_os_list(const char *path, etp_arena *arena, etp_dir_list *out,
                                     etp_error *err);

bool etp_os_is_file(const char *path);
// STATUS: "<what> PATH does not exist", with the system's number for that.
etp_status etp_os_fail_absent(const char *what, const char *path, etp_status status,
                              etp_error *err);
// What tells a file from one that was put in its place, and from itself after it was written to.
// All zero: there is none.
typedef struct etp_os_mark {
    uint64_t device, inode, size, links;
    uint32_t rights;
    int64_t modified_ns, changed_ns; // its content, and anything of it
} etp_os_mark;
etp_os_mark etp_os_mark_of(const char *path);
bool etp_os_is_dir(const char *path);
bool etp_os_is_other(const char *path); // as is_other above
bool etp_os_is_executable(const char *path);
bool etp_os_is_writable(const char *path); // by this process
// Absolute and without "." and ".." where the file exists; NULL on out of memory or no such file.
const char *etp_os_absolute(const char *path, etp_arena *arena);
const char *etp_os_self_exe(etp_arena *arena); // path of this program, NULL when unknown
// What of the system a runner needs and does not have here, with what to do; static, NULL: nothing.
const char *etp_os_missing(void);
// Path of the shared library that this code is part of, else of the program; NULL when unknown.
const char *etp_os_library_path(etp_arena *arena);
uint64_t etp_os_free_bytes(const char *path); // of its file system, UINT64_MAX unknown

// A file that says which process is at work here. It holds for as long as the process lives,
// however that ends: what a killed one left behind is taken over.
typedef struct etp_os_lock { // fields are private
    bool held;
    int fd;
    const char *path;
} etp_os_lock;
// *HOLDER: 0 it is ours now; else the process that has it (-1: it did not say), and *out holds
// nothing. PATH must outlive the lock.
ETP_NODISCARD etp_status etp_os_lock_take(const char *path, etp_os_lock *out, int64_t *holder,
                                          etp_error *err);
void etp_os_lock_release(etp_os_lock *lock); // and removes the file; safe when zeroed

// Tells of files and folders that are moved or removed and of files that are written to, however
// soon all is as it was; what is added to a folder or taken out is nothing. Where the system cannot
// tell (not Linux), nothing ever moves.
typedef struct etp_os_moves { // fields are private
    bool open;
    int fd;
} etp_os_moves;
// The number by which etp_os_moves_next names PATH; -1: the system does not watch it.
int etp_os_moves_add(etp_os_moves *moves, const char *path);
int etp_os_moves_next(etp_os_moves *moves);   // the number of one that moved; -1: none has
void etp_os_moves_close(etp_os_moves *moves); // safe when zeroed

// ---- clock and terminal ----

uint64_t etp_os_now_ns(void);                    // monotonic, the clock the runner reports
uint64_t etp_os_cpu_ns(void);                    // that this process has run; 0 unknown
int64_t etp_os_wall_seconds(void);               // since 1970
const char *etp_os_utc_now(char buf[static 24]); // "2026-11-21T09:00:00Z"
void etp_os_sleep_ns(uint64_t ns);
uint64_t etp_os_random_u64(void);

// ---- child processes ----

// What becomes of the processes that a child started and left running at its own end.
typedef enum etp_process_leaves {
    ETP_PROCESS_LEAVES_NOTHING, // they end with it
    ETP_PROCESS_LEAVES_WORK, // they are what it was started for: they end with etp_process_dispose,
                             // or with us
    ETP_PROCESS_LEAVES_OTHERS // those of its own group end; others belong to the user (the server
                              // of adb)
} etp_process_leaves;

typedef struct etp_process_spec {
    const char *const *argv;      // NULL-terminated; argv[0] is the file, searched nowhere
    const char *cwd;              // NULL: ours
    const char *const *env_set;   // NULL-terminated "NAME=VALUE", may be NULL; on top of our own
    const char *const *env_unset; // NULL-terminated names, may be NULL
    etp_process_leaves leaves;
} etp_process_spec;

// A child in a process group of its own, stdin, stdout and stderr being pipes to us. Its parent is
// a supervisor (a process that sleeps meanwhile), which ends it and what it started when we die,
// however that happens. Linux: also what left the group or the session. macOS: the group, and what
// still descends from the child.
typedef struct etp_process {
    int64_t pid;               // 0: none
    int64_t supervisor;        // private
    int supervisor_fd;         // private
    int in_fd, out_fd, err_fd; // -1: closed
    bool ended;
    int exit_code; // valid when ended and signal == 0
    int signal;    // that ended it, 0 when it exited
    uint64_t start_ns, end_ns;
    struct { // valid when ended; 0 where the system does not tell. The peak is 0 where it is not
             // above what the process had before it became the program (Linux).
        uint64_t user_ns, system_ns, peak_rss_bytes;
        uint64_t minor_faults, major_faults, voluntary_switches, involuntary_switches;
    } usage;
} etp_process;

// ETP_ENVIRONMENT when the program cannot be started (missing, not executable, wrong machine).
ETP_NODISCARD etp_status etp_process_start(const etp_process_spec *spec, etp_process *out,
                                           etp_error *err);
// All of it, within the time; ETP_CHILD when the child does not take it.
ETP_NODISCARD etp_status etp_process_write(etp_process *p, etp_str s, uint64_t timeout_ns,
                                           etp_error *err);
typedef enum etp_process_event {
    ETP_PROCESS_OUT,     // *got bytes of stdout
    ETP_PROCESS_ERR,     // *got bytes of stderr
    ETP_PROCESS_EOF,     // both are closed
    ETP_PROCESS_TIMEOUT, // nothing within the time
    ETP_PROCESS_WAKE     // a signal was caught (etp_os_interrupted)
} etp_process_event;
// Waits for the next piece of output, at most CAP bytes of it.
etp_process_event etp_process_read(etp_process *p, uint64_t timeout_ns, char *buf, size_t cap,
                                   size_t *got);
void etp_process_close_input(etp_process *p); // the child sees the end of its input
// Waits for the end, also of what it left behind; false when it still runs after the time.
bool etp_process_wait(etp_process *p, uint64_t timeout_ns);
void etp_process_kill(etp_process *p);    // it and what it started, SIGKILL, and waits
void etp_process_dispose(etp_process *p); // kills what still runs, closes; safe when zeroed

// A program's whole answer: runs it with empty input. ETP_CHILD when it takes longer than
// TIMEOUT_NS in all, or writes more than LIMIT bytes to either stream. *out_process needs no
// dispose, unless the program leaves its work running and this was ETP_OK.
ETP_NODISCARD etp_status etp_process_capture(const etp_process_spec *spec, uint64_t timeout_ns,
                                             size_t limit, etp_arena *arena,
                                             etp_process *out_process, etp_str *out,
                                             etp_str *out_err, etp_error *err);

// Replaces this process by ARGV (searched in PATH), with ENV_SET ("NAME=VALUE", may be NULL) on top
// of our environment. Returns only when that fails (ETP_ENVIRONMENT).
ETP_NODISCARD etp_status etp_os_exec(const char *const *argv, const char *const *env_set,
                                     etp_error *err);

// ---- signals ----

// What every program of ours does first. Of the three standard streams those that are closed are
// taken by /dev/null, in the direction that fails, so that no file of ours gets their numbers and
// writing to them is an error. A mapped file that somebody shortens ends the process with a message
// and exit code 5 instead of a bare SIGBUS. SIGXFSZ is ignored: a limit on file sizes shows as a
// write that fails.
void etp_os_begin(void);
// Raises the limit of the stack where it is lower; ETP_ENVIRONMENT: it cannot be raised.
ETP_NODISCARD etp_status etp_os_need_stack(uint64_t bytes, etp_error *err);
// SIGINT, SIGTERM and SIGHUP set a flag and wake etp_process_read; a second SIGINT or SIGTERM
// within the session ends the process at once. SIGPIPE is ignored. For the command line only.
ETP_NODISCARD etp_status etp_os_catch_signals(etp_error *err);
int etp_os_interrupted(void); // the signal's number, 0 when none came

// ---- facts ----

typedef enum etp_platform {
    ETP_PLATFORM_UNKNOWN,
    ETP_PLATFORM_ANDROID,
    ETP_PLATFORM_LINUX,
    ETP_PLATFORM_MAC,
    ETP_PLATFORMS
} etp_platform;
// As run folders and experiments are called; NULL: unknown.
static inline const char *etp_platform_name(etp_platform platform)
{
    static const char *const k_names[ETP_PLATFORMS] = {NULL, "android", "linux", "mac"};
    return k_names[platform];
}

typedef struct etp_os_facts {
    char system[64];  // "Linux 6.18.4"
    char machine[32]; // "x86_64", "aarch64"
    char triple[48];  // of the runner bundle: "x86_64-linux-gnu", "arm64-macos"
    char cpu[128];    // "Intel(R) Xeon(R) …", "" unknown
    etp_platform platform;
    uint32_t cpus; // logical, usable by this process
    uint64_t memory_bytes;
} etp_os_facts;
void etp_os_facts_read(etp_os_facts *out);
// CPUs' worth of time that control groups allow this process (0.2: a fifth of one); 0: no limit is
// known.
double etp_os_cpu_quota(void);

typedef struct etp_detail {
    const char *key, *value; // "kernel" → "6.1.0"
} etp_detail;
typedef struct etp_details {
    etp_detail *items;
    size_t n, cap;
} etp_details;
// More about the machine than the struct above has names for: only what could be read; keys are
// static.
ETP_NODISCARD etp_status etp_os_details_read(etp_arena *arena, etp_details *out, etp_error *err);

// How the threads of a living process were scheduled so far; UINT64_MAX unreadable.
typedef struct etp_process_sched {
    uint64_t wait_ns;    // ready to run, but no CPU free
    uint64_t migrations; // from one CPU to another
} etp_process_sched;
void etp_process_sched_read(int64_t pid, etp_process_sched *out);
// What the processor counted for a living process so far; 0 unknown (macOS alone tells).
typedef struct etp_process_counters {
    uint64_t cycles, instructions;
    uint64_t fast_cycles; // of them on performance cores
    uint64_t energy_nj;
} etp_process_counters;
void etp_process_counters_read(int64_t pid, etp_process_counters *out);
// What it has mapped, by the numbers of files and not by names; empty unreadable.
etp_str etp_process_maps_read(int64_t pid, etp_arena *arena);
bool etp_process_maps_have(etp_str maps, const etp_os_mark *file);
// Has the file at PATH the same numbers there? Some file systems give it others.
bool etp_process_maps_tell(const char *path);
// CPUs on which its threads may run, "0-3" or "0-3 2"; empty unreadable.
etp_str etp_process_affinity_read(int64_t pid, etp_arena *arena);
bool etp_process_alive(int64_t pid);
int64_t etp_os_self_pid(void);

// What may disturb a measurement, now. A field that cannot be read is NAN or UINT64_MAX and its
// name is in `unreadable`.
#define ETP_OS_CORES 128u // whose clocks are told one by one
typedef struct etp_os_state {
    uint64_t time_ns;   // monotonic
    uint64_t asleep_ns; // suspended since boot: the monotonic clock stands still meanwhile
    double load1;       // load average over a minute
    uint64_t memory_free_bytes;
    double temperature_c; // hottest zone
    char temperature_zone[32];
    uint64_t freq_min_khz, freq_max_khz; // over the CPUs, now
    uint32_t core_khz[ETP_OS_CORES];     // by number, 0 unreadable
    uint32_t n_cores;                    // the last one that could be read, and 1
    char governor[32];                   // of the first CPU, "" unreadable
    uint64_t cpu_busy_ms,
        cpu_steal_ms;      // over all CPUs since boot: what others do shows in the difference
    uint64_t freq_cap_khz; // Σ over frequency domains of what the system allows now; falls when it
                           // throttles
    uint64_t thermal_status;  // of Android, 0 none … 6 shutdown; UINT64_MAX unknown
    uint64_t battery_percent; // likewise
    int boost;                // 1 on, 0 off, -1 unreadable
    char power[16];           // "mains", "battery", "" unreadable
    const char *unreadable[16];
    size_t n_unreadable;
} etp_os_state;
void etp_os_state_read(etp_os_state *out);
// Nothing is known but the time: what every reading starts from.
static inline etp_os_state etp_os_state_unknown(void)
{
    return (etp_os_state){
        .time_ns = etp_os_now_ns(),
        .asleep_ns = UINT64_MAX,
        .load1 = (double)NAN,
        .memory_free_bytes = UINT64_MAX,
        .temperature_c = (double)NAN,
        .freq_min_khz = UINT64_MAX,
        .freq_max_khz = UINT64_MAX,
        .cpu_busy_ms = UINT64_MAX,
        .cpu_steal_ms = UINT64_MAX,
        .freq_cap_khz = UINT64_MAX,
        .thermal_status = UINT64_MAX,
        .battery_percent = UINT64_MAX,
        .boost = -1,
    };
}
// Takes the clock of one CPU in.
static inline void etp_os_state_core(etp_os_state *s, uint64_t cpu, uint64_t khz)
{
    s->freq_min_khz = ETP_MIN(khz, s->freq_min_khz); // unknown is the largest number
    s->freq_max_khz =
        s->freq_max_khz == UINT64_MAX || khz > s->freq_max_khz ? khz : s->freq_max_khz;
    if (cpu < ETP_OS_CORES && khz <= UINT32_MAX) {
        s->core_khz[cpu] = (uint32_t)khz;
        s->n_cores = cpu >= s->n_cores ? (uint32_t)cpu + 1 : s->n_cores;
    }
}

#endif
