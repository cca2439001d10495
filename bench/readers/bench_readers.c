// SPDX-License-Identifier: Apache-2.0
// How fast ETDumps are opened, verified and grouped, beside cksum reading the same file.
//   bench_readers ROUNDS FILE…
// Each measurement is a process of its own, so that peak memory is its own too; cksum and etprof
// take turns. Prints one line per file: medians, bytes per second, their ratio, peak memory beyond
// the file.
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <etprof/trace.h>

#include "os/os.h"
#include "trace/ops.h"

#define MAX_ROUNDS 101

typedef struct sample {
    uint64_t open_ns; // file opened, verified, grouped
    uint64_t ops_ns;  // statistics of the operators
    uint64_t events, rss_bytes, size;
} sample;

static int measure(const char *path, int out)
{
    sample s = {0};
    etp_error err = {0};
    etp_file file = {0};
    etp_trace *trace = NULL;
    etp_arena arena = {0};
    etp_op_table ops;
    uint64_t t0 = etp_os_now_ns();
    if (etp_file_open(path, (uint64_t)1 << 33, &file, &err) != ETP_OK ||
        etp_trace_open(file.bytes, NULL, &trace, &err) != ETP_OK) {
        fprintf(stderr, "%s: %s\n", path, err.msg);
        return 1;
    }
    uint64_t t1 = etp_os_now_ns();
    if (etp_ops_compute(trace, &arena, &ops, &err) != ETP_OK) {
        return 1;
    }
    uint64_t t2 = etp_os_now_ns();
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    s = (sample){t1 - t0, t2 - t1, 0, (uint64_t)usage.ru_maxrss * 1024, file.bytes.len};
    for (size_t b = 0; b < etp_trace_block_count(trace); b++) {
        const etp_trace_block *block = etp_trace_block_at(trace, b);
        s.events += block->n_events * block->n_runs;
    }
    bool ok = write(out, &s, sizeof s) == (ssize_t)sizeof s;
    etp_arena_dispose(&arena);
    etp_trace_close(trace);
    etp_file_close(&file);
    return ok ? 0 : 1;
}

static bool run_etprof(const char *path, sample *out)
{
    int fds[2], status = 0;
    if (pipe(fds) != 0) {
        return false;
    }
    pid_t pid = fork();
    if (pid == 0) {
        _exit(measure(path, fds[1]));
    }
    close(fds[1]);
    bool ok = pid > 0 && read(fds[0], out, sizeof *out) == (ssize_t)sizeof *out;
    close(fds[0]);
    return waitpid(pid, &status, 0) == pid && status == 0 && ok;
}

static bool run_cksum(const char *path, uint64_t *out_ns)
{
    uint64_t t0 = etp_os_now_ns();
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        if (!freopen("/dev/null", "w", stdout)) {
            _exit(1);
        }
        execlp("cksum", "cksum", path, (char *)NULL);
        _exit(127);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0) {
        return false;
    }
    *out_ns = etp_os_now_ns() - t0;
    return true;
}

static int by_value(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static uint64_t median(uint64_t *v, int n)
{
    qsort(v, (size_t)n, sizeof *v, by_value);
    return v[n / 2];
}

int main(int argc, char **argv)
{
    int rounds = argc > 2 ? atoi(argv[1]) : 0;
    if (rounds < 1 || rounds > MAX_ROUNDS) {
        fprintf(stderr, "usage: bench_readers ROUNDS(1..%d) FILE…\n", MAX_ROUNDS);
        return 2;
    }
    for (int f = 2; f < argc; f++) {
        fflush(stdout); // children must not inherit what is not written yet
        uint64_t open_ns[MAX_ROUNDS], ops_ns[MAX_ROUNDS], cksum_ns[MAX_ROUNDS], rss = 0;
        sample s = {0};
        for (int r = 0; r < rounds; r++) {
            if (!run_cksum(argv[f], &cksum_ns[r]) || !run_etprof(argv[f], &s)) {
                fprintf(stderr, "%s: could not be measured\n", argv[f]);
                return 1;
            }
            open_ns[r] = s.open_ns;
            ops_ns[r] = s.ops_ns;
            rss = s.rss_bytes > rss ? s.rss_bytes : rss;
        }
        double size = (double)s.size, open = (double)median(open_ns, rounds),
               ops = (double)median(ops_ns, rounds), cksum = (double)median(cksum_ns, rounds);
        printf("%s: %.1f MB, %llu events: open+verify+group %.2f ms = %.2f GB/s, cksum process "
               "%.2f ms = %.2f GB/s, ratio %.2f; statistics %.2f ms; peak memory file + %.1f MiB "
               "(medians of %d)\n",
               argv[f], size / 1e6, (unsigned long long)s.events, open / 1e6, size / open,
               cksum / 1e6, size / cksum, cksum / open, ops / 1e6, ((double)rss - size) / 1048576.0,
               rounds);
    }
    return 0;
}
