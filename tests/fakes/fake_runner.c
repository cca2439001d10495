// SPDX-License-Identifier: Apache-2.0
// A FAKE etprof-runner for tests: speaks the protocol, runs no model, and misbehaves as its "model"
// file says.
//
// The file begins with 8 bytes "....ET12", then text, one directive a line:
//   base LEVEL NS [THREADS]    duration that is reported for every iteration at that level
//   warm LEVEL N PERCENT       the first N iterations of a launch take PERCENT of it
//   drift NS                   added per launch that went before (of any level)
//   load LEVEL NS [NTH]        loading takes that long; in the NTH launch of a level and kind
//   cold LEVEL NS BYTES        in launches of kind cold, and so much of its files stays cached
//   memory LEVEL PEAK DIRTY CLEAN   bytes; without it 5 MB of peak, and it is not asked;
//                              code is what is clean, packed and planned half of what is dirty
//   part LEVEL WHAT DELEGATE OPERATION BYTES NS FAULTS   one of its loading; without any it is not
//                              asked
//   kernels LEVEL NAMES        said of the load, to the end of the line: its kernels are ours
//   turns                      every `run 1` is noted in <file>.turns by its level
//   noise PERMILLE             a launch takes up to that much more or less, by its number
//   counts LEVEL CYCLES CPU_NS INSTRUCTIONS MISSES
//   waits LEVEL PERCENT: of each timed iteration's time it had no CPU (default 0)
//                              of an iteration of the base duration in timed launches; longer
//                              ones count as much more
//   side NAME DIRECTIVE        only where FAKE_SIDE in the environment is NAME
//   helper                     every launch leaves one behind, in a session of its own
//   unmapped                   it has not mapped this file, as one that was given another has not
//   wall KIND NTH MS           launches of that kind really take that long, whatever they say
//   on LEVEL KIND NTH WHAT [THREADS]
//                              the NTH launch (from 1; *: all; 3+: from the 3rd on) of that level
//                              and kind does WHAT
// LEVEL and KIND may be *. WHAT: see behave() and main(). Launches are counted in <file>.count.
//
// In the environment: FAKE_COUNTERS=denied (nothing is counted, and why), FAKE_NAMES_<level> (what
// the self-test says its operators are called there), FAKE_ETDUMP_<level> (the file that every dump
// there is).
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "isa/isa.h"
#include "wire/wire.h"

typedef struct fake {
    char script[8192];
    const char *model, *data, *kind, *level, *mask;
    unsigned threads, nth, total;
    int turns, helper, unmapped;
    unsigned long long load_ns, cached_bytes, base_ns, drift_ns, warm_n, warm_percent, noise,
        wall_ms;
    struct {
        unsigned long long cycles, cpu_ns, instructions, misses;
    } counts;
    unsigned long long waits;
    unsigned long long peak_bytes, dirty_bytes, clean_bytes;
    etp_memory_stages stages;
    etp_wire_part parts[16];
    size_t n_parts;
    char what[64], kernels[512];
    unsigned long long done;
    unsigned long long clock_ns;
} fake;

static void send(const etp_wire_msg *msg)
{
    static char line[ETP_WIRE_LINE_MAX];
    size_t n = etp_wire_format(msg, line, sizeof line);
    fwrite(line, 1, n, stdout);
    fflush(stdout);
}

static void fail(const char *code, const char *message)
{
    etp_wire_msg m = {.type = ETP_WIRE_ERROR};
    snprintf(m.u.error.code, sizeof m.u.error.code, "%s", code);
    snprintf(m.u.error.message, sizeof m.u.error.message, "%s", message);
    send(&m);
}

static void hang(void)
{
    for (;;) {
        pause();
    }
}

static void all_features(etp_isa_cpu *cpu)
{
    *cpu = (etp_isa_cpu){.family = ETP_ISA_AARCH64,
                         .hwcap = UINT64_MAX,
                         .hwcap2 = UINT64_MAX,
                         .kernel_major = 6,
                         .kernel_minor = 18};
}

static int matches(const char *pattern, const char *text)
{
    return strcmp(pattern, "*") == 0 || strcmp(pattern, text) == 0;
}

// Counts this launch in <model>.count: one line per launch, "LEVEL KIND". The pilot counts too.
static void count_launch(fake *f)
{
    char path[4096], level[64], kind[64];
    snprintf(path, sizeof path, "%s.count", f->model);
    FILE *file = fopen(path, "a+");
    rewind(file);
    f->nth = 1;
    f->total = 0;
    while (fscanf(file, "%63s %63s", level, kind) == 2) {
        f->total++;
        f->nth += strcmp(level, f->level) == 0 && strcmp(kind, f->kind) == 0;
    }
    fprintf(file, "%s %s\n", f->level, f->kind);
    fclose(file);
}

static int is_nth(const fake *f, const char *nth)
{
    return strcmp(nth, "*") == 0 || (unsigned)atol(nth) == f->nth ||
           (strchr(nth, '+') && (unsigned)atol(nth) < f->nth);
}

static int read_part(fake *f, const char *line)
{
    char level[64], what[64];
    unsigned long long d, o, bytes, ns, faults, workspace = 0;
    if (sscanf(line, "part %63s %63s %llu %llu %llu %llu %llu %llu", level, what, &d, &o, &bytes,
               &ns, &faults, &workspace) < 7) {
        return 0;
    }
    if (matches(level, f->level) && f->n_parts < sizeof f->parts / sizeof *f->parts) {
        etp_wire_part *p = &f->parts[f->n_parts++];
        *p = (etp_wire_part){.delegate = d,
                             .operation = o,
                             .bytes = bytes,
                             .ns = ns,
                             .faults = faults,
                             .workspace = workspace};
        snprintf(p->what, sizeof p->what, "%s", what);
    }
    return 1;
}

static void read_directive(fake *f, const char *line)
{
    char level[64], kind[64], nth[16], what[64];
    unsigned long long a, b, c, d;
    unsigned threads = f->threads; // every count, unless the line names one
    int at = 0;
    if (sscanf(line, "side %63s %n", what, &at) == 1 && at > 0) {
        const char *side = getenv("FAKE_SIDE");
        if (side && strcmp(side, what) == 0) {
            read_directive(f, line + at);
        }
        return;
    }
    if (read_part(f, line)) {
        return;
    }
    if (sscanf(line, "base %63s %llu %u", level, &a, &threads) >= 2 && matches(level, f->level) &&
        threads == f->threads) {
        f->base_ns = a;
    } else if (sscanf(line, "warm %63s %llu %llu", level, &a, &b) == 3 &&
               matches(level, f->level)) {
        f->warm_n = a;
        f->warm_percent = b;
    } else if (sscanf(line, "drift %llu", &a) == 1) {
        f->drift_ns = a;
    } else if ((at = sscanf(line, "load %63s %llu %15s", level, &a, nth)) >= 2 &&
               matches(level, f->level)) {
        f->load_ns = at == 2 || is_nth(f, nth) ? a : f->load_ns;
    } else if (sscanf(line, "cold %63s %llu %llu", level, &a, &b) == 3 &&
               matches(level, f->level) && strcmp(f->kind, "cold") == 0) {
        f->load_ns = a, f->cached_bytes = b;
    } else if (sscanf(line, "memory %63s %llu %llu %llu", level, &a, &b, &c) == 4 &&
               matches(level, f->level)) {
        f->peak_bytes = a, f->dirty_bytes = b, f->clean_bytes = c;
    } else if (sscanf(line, "stages %63s %llu %llu %llu", level, &a, &b, &c) == 4 &&
               matches(level, f->level)) { // constants, packed weights, what no reading saw
        f->stages.load = (etp_memory_stage){
            {.code = 1000, .packed = b},
            1000 + a + b + c
        };
        f->stages.first = (etp_memory_stage){
            {.code = 2000, .packed = b, .kept = 64},
            1000 + a + b + c
        };
        f->stages.peak = (etp_memory_stage){
            {.code = 1000, .packed = b, .program = a},
            1000 + a + b + c
        };
    } else if (sscanf(line, "kernels %63s %n", level, &at) == 1 && at > 0) {
        if (matches(level, f->level)) {
            snprintf(f->kernels, sizeof f->kernels, "%s", line + at);
        }
    } else if (sscanf(line, "waits %63s %llu", level, &a) == 2 && matches(level, f->level)) {
        f->waits = a;
    } else if (sscanf(line, "counts %63s %llu %llu %llu %llu", level, &a, &b, &c, &d) == 5 &&
               matches(level, f->level)) {
        f->counts.cycles = a;
        f->counts.cpu_ns = b;
        f->counts.instructions = c;
        f->counts.misses = d;
    } else if (sscanf(line, "wall %63s %15s %llu", kind, nth, &a) == 3 && matches(kind, f->kind) &&
               is_nth(f, nth)) {
        f->wall_ms = a;
    } else if (strcmp(line, "turns") == 0) {
        f->turns = 1;
    } else if (strcmp(line, "unmapped") == 0) {
        f->unmapped = 1;
    } else if (strcmp(line, "helper") == 0) {
        f->helper = 1;
    } else if (sscanf(line, "noise %llu", &a) == 1) {
        f->noise = a;
    } else if (sscanf(line, "on %63s %63s %15s %63s %u", level, kind, nth, what, &threads) >= 4 &&
               matches(level, f->level) && matches(kind, f->kind) && threads == f->threads &&
               is_nth(f, nth)) {
        snprintf(f->what, sizeof f->what, "%s", what);
    }
}

// As a runner has its model and its weights, until it ends.
static void map(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file) {
        (void)mmap(NULL, 1, PROT_READ, MAP_PRIVATE, fileno(file), 0);
        fclose(file);
    }
}

static void read_script(fake *f)
{
    FILE *file = fopen(f->model, "rb");
    if (!file) {
        fail("file", "the fake's script is missing");
        exit(1);
    }
    size_t n = fread(f->script, 1, sizeof f->script - 1, file);
    fclose(file);
    f->base_ns = 1000000;
    f->load_ns = 7000000;
    f->peak_bytes = 5000000;
    f->warm_percent = 100;
    char *rest = f->script + (n > 8 ? 8 : n);
    while (*rest) {
        char *line = rest, *end = strchr(rest, '\n');
        rest = end ? end + 1 : strchr(rest, '\0');
        if (end) {
            *end = '\0';
        }
        read_directive(f, line);
    }
    if (!f->unmapped) {
        map(f->model);
    }
    if (f->data) {
        map(f->data);
    }
}

static int is(const fake *f, const char *what)
{
    return strcmp(f->what, what) == 0;
}

static void say_hello(fake *f, int probe)
{
    etp_isa_cpu cpu, seen;
    etp_isa_mask mask;
    etp_wire_msg m = {.type = ETP_WIRE_HELLO};
    etp_wire_hello *h = &m.u.hello;
    char why[256];
    all_features(&cpu);
    h->protocol = is(f, "protocol") ? 2 : ETP_WIRE_PROTOCOL;
    h->pid = (uint64_t)getpid() + (is(f, "wrong_pid") ? 1 : 0);
    const char *nonce = is(f, "wrong_nonce") ? "other" : getenv("ETPROF_NONCE");
    snprintf(h->nonce, sizeof h->nonce, "%s", nonce ? nonce : "");
    snprintf(h->executorch, sizeof h->executorch, "fake");
    snprintf(h->kind, sizeof h->kind, "%s", f->kind);
    h->threads = f->threads;
    h->memory = f->dirty_bytes > 0;
    h->ledger = f->n_parts > 0;
    h->stages = f->stages.load.peak_bytes > 0;
    const char *counters = getenv("FAKE_COUNTERS");
    if (counters && strcmp(counters, "denied") == 0) {
        snprintf(h->counters.events, sizeof h->counters.events, "none");
        snprintf(h->counters.why, sizeof h->counters.why, "the fake was told to refuse");
        snprintf(h->counters.fix, sizeof h->counters.fix, "tell it otherwise");
    } else if (counters || f->counts.cycles > 0) {
        snprintf(h->counters.events, sizeof h->counters.events, "hardware");
        snprintf(h->counters.cache, sizeof h->counters.cache, "fake-misses");
    }
    seen = cpu;
    if (f->mask && !is(f, "ignore_mask") && etp_isa_mask_parse(f->mask, &mask, why, sizeof why)) {
        snprintf(h->mask.requested, sizeof h->mask.requested, "%s", f->mask);
        snprintf(h->mask.hook, sizeof h->mask.hook, "getauxval");
        snprintf(h->mask.caller, sizeof h->mask.caller, "libfake.so");
        etp_isa_mask_format(&mask, h->mask.cleared, sizeof h->mask.cleared);
        if (!is(f, "pretend_mask")) {
            seen = etp_isa_cpu_masked(&cpu, &mask);
        }
    }
    etp_isa_cpu_format(&cpu, h->cpu, sizeof h->cpu);
    if (!probe) {
        etp_isa_cpu_format(&seen, h->flags, sizeof h->flags);
    }
    send(&m);
}

static void note_turn(const fake *f)
{
    char path[4096];
    snprintf(path, sizeof path, "%s.turns", f->model);
    FILE *file = fopen(path, "a");
    if (file) {
        fprintf(file, "%s\n", f->level);
        fclose(file);
    }
}

static void add_counts(const fake *f, etp_wire_iter *it)
{
    double more = (double)it->ns / (double)f->base_ns;
    if (strcmp(f->kind, "timed") != 0 || (is(f, "uncounted") && f->done > 0)) {
        return;
    }
    it->counts.cpu_ns = it->ns - it->ns * f->waits / 100;
    if (f->counts.cycles == 0) {
        return;
    }
    it->counts = (etp_wire_counts){.cpu_ns = (uint64_t)((double)f->counts.cpu_ns * more),
                                   .cycles = (uint64_t)((double)f->counts.cycles * more),
                                   .instructions = f->counts.instructions,
                                   .cache_misses = f->counts.misses,
                                   .scaled = is(f, "shared") ? 1 : 0};
}

static void run(fake *f, unsigned long long n)
{
    if (f->turns && n == 1) {
        note_turn(f);
    }
    if (n == 1 && is(f, "no_turns")) {
        fail("memory", "the fake has no room for two");
        exit(1);
    }
    for (unsigned long long i = 0; i < n; i++) {
        etp_wire_msg m = {.type = ETP_WIRE_ITER};
        unsigned long long ns = f->base_ns + f->drift_ns * f->total;
        ns += is(f, "slower") || (n == 1 && is(f, "turns_slower")) ? ns * 2 / 5 : 0;
        ns += ns / 1000 * (f->total * 7919 % 1009 * f->noise / 1009);
        ns = f->done < f->warm_n ? ns * f->warm_percent / 100 : ns;
        m.u.iter = (etp_wire_iter){
            .i = f->done + (is(f, "skip") && f->done > 2), .start_ns = f->clock_ns, .ns = ns};
        add_counts(f, &m.u.iter);
        f->clock_ns += is(f, "backwards") && f->done == 3 ? 0 : ns + 10;
        f->done++;
        send(&m);
        if (is(f, "crash") && f->done == 2) {
            fprintf(stderr, "the fake is about to crash\n");
            fflush(stderr);
            signal(SIGSEGV, SIG_DFL); // sanitizers turn it into an exit
            raise(SIGSEGV);
        }
        if (is(f, "drip") && f->done > 2) {
            usleep(400000);
        }
        if (is(f, "hang") && f->done == 2) {
            hang();
        }
        if (is(f, "stubborn") && f->done == 2) {
            signal(SIGTERM, SIG_IGN);
            signal(SIGINT, SIG_IGN);
            signal(SIGHUP, SIG_IGN);
            hang();
        }
        if (is(f, "garbage") && f->done == 2) {
            printf("Segmentation nonsense {]\n");
            fflush(stdout);
        }
        if (is(f, "short") && i + 2 == n) {
            break;
        }
    }
    etp_wire_msg m = {.type = ETP_WIRE_DONE};
    snprintf(m.u.done.cmd, sizeof m.u.done.cmd, "run");
    m.u.done.n = n;
    m.u.done.peak_rss_bytes = f->peak_bytes;
    m.u.done.hook_calls = 27, m.u.done.hook_call_ps = 400;
    send(&m);
}

static void write_file(const char *path, const char *text, size_t len)
{
    FILE *file = fopen(path, "wb");
    if (file) {
        fwrite(text, 1, len, file);
        fclose(file);
    }
}

static void finish(const char *cmd)
{
    etp_wire_msg m = {.type = ETP_WIRE_DONE};
    snprintf(m.u.done.cmd, sizeof m.u.done.cmd, "%s", cmd);
    m.u.done.n = 1;
    send(&m);
}

static void tell_memory(const fake *f)
{
    etp_wire_msg m = {.type = ETP_WIRE_DONE};
    snprintf(m.u.done.cmd, sizeof m.u.done.cmd, "memory");
    m.u.done.n = 1;
    m.u.done.dirty_bytes = f->dirty_bytes;
    m.u.done.clean_bytes = f->clean_bytes;
    m.u.done.memory = (etp_memory_rows){
        .code = f->clean_bytes, .packed = f->dirty_bytes / 2, .planned = f->dirty_bytes / 2};
    if (strcmp(f->kind, "memory") == 0) {
        m.u.done.stages = f->stages;
    }
    send(&m);
}

static void tell_parts(const fake *f)
{
    for (size_t i = 0; i < f->n_parts; i++) {
        etp_wire_msg m = {.type = ETP_WIRE_PART};
        m.u.part = f->parts[i];
        send(&m);
    }
    finish("ledger");
}

// VARIABLE_<level> of the environment.
static const char *of_level(const fake *f, const char *variable)
{
    char name[128];
    snprintf(name, sizeof name, "%s_%s", variable, f->level);
    return getenv(name);
}

static void copy_file(const char *from, const char *to)
{
    static char bytes[1 << 16];
    FILE *file = fopen(from, "rb");
    if (!file) {
        fail("file", "the fake's dump is missing");
        exit(1);
    }
    size_t n = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    write_file(to, bytes, n);
}

static void dump(fake *f, const char *path)
{
    const char *given = of_level(f, "FAKE_ETDUMP");
    if (given && strcmp(path, "-") != 0) {
        copy_file(given, path);
    } else if (strcmp(path, "-") != 0 && !is(f, "no_dump")) {
        int bad = is(f, "bad_dump");
        if (strcmp(f->kind, "sampled") == 0) { // is read: a whole ETDump, without a run
            static const char k_empty[] = "\x10\0\0\0ED00\x08\0\x0c\0\x04\0\x08\0"
                                          "\x08\0\0\0\0\0\0\0\x04\0\0\0\0\0\0\0";
            write_file(path, k_empty, 32);
        } else {
            write_file(path, bad ? "not a trace at all" : "\x08\0\0\0ED00FAKE", bad ? 18 : 12);
        }
    }
    finish("dump");
}

static void samples(const char *path)
{
    static const char k_head[] = "time_ns,thread,module,address,symbol,streaming\n";
    write_file(path, k_head, sizeof k_head - 1);
    finish("samples");
}

static void outputs(fake *f, const char *dir)
{
    char path[ETP_WIRE_LINE_MAX + 32];
    mkdir(dir, 0777);
    snprintf(path, sizeof path, "%s/outputs.json", dir);
    const char list[] =
        "{\"outputs\":[{\"index\":0,\"file\":\"output-0.bin\",\"dtype\":\"float32\","
        "\"shape\":[2],\"dim_order\":[0],\"bytes\":8}]}\n";
    write_file(path, list, sizeof list - 1);
    snprintf(path, sizeof path, "%s/output-0.bin", dir);
    float values[2] = {1.0f, is(f, "other_output") ? 5.0f : 2.0f};
    if (is(f, "random_output")) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        values[1] += (float)(now.tv_nsec % 100003);
    }
    char bytes[sizeof values];
    memcpy(bytes, values, sizeof values);
    write_file(path, bytes, sizeof bytes);
    finish("outputs");
}

static void serve(fake *f)
{
    static char line[ETP_WIRE_LINE_MAX];
    static etp_wire_cmd cmd;
    char why[256];
    while (fgets(line, sizeof line, stdin)) {
        if (!etp_wire_cmd_parse(line, strlen(line), &cmd, why, sizeof why)) {
            fail("usage", why);
        } else if (cmd.verb == ETP_WIRE_RUN) {
            run(f, cmd.n);
        } else if (cmd.verb == ETP_WIRE_DUMP) {
            dump(f, cmd.path);
        } else if (cmd.verb == ETP_WIRE_OUTPUTS) {
            outputs(f, cmd.path);
        } else if (cmd.verb == ETP_WIRE_SAMPLES) {
            samples(cmd.path);
        } else if (cmd.verb == ETP_WIRE_MEMORY && f->dirty_bytes > 0) {
            tell_memory(f);
        } else if (cmd.verb == ETP_WIRE_LEDGER && f->n_parts > 0) {
            tell_parts(f);
        } else if (cmd.verb == ETP_WIRE_QUIT) {
            break;
        }
    }
}

// A process that neither our group nor our end reaches.
static void leave_helper(void)
{
    if (fork() == 0) {
        setsid();
        if (fork() == 0) {
            close(STDOUT_FILENO);
            close(STDERR_FILENO);
            hang();
        }
        _exit(0);
    }
}

// What goes wrong before or between the commands. Does not return when the launch ends there.
static void behave(fake *f)
{
    if (is(f, "silent")) {
        hang();
    } else if (is(f, "exit3")) {
        fprintf(stderr, "the fake gives up\n");
        exit(3);
    } else if (is(f, "longline")) {
        for (int i = 0; i < 3 * ETP_WIRE_LINE_MAX; i++) {
            putchar('x');
        }
        fflush(stdout);
        hang();
    } else if (is(f, "spam")) {
        for (int i = 0; i < 100000; i++) {
            fprintf(stderr, "line %d of a talkative runner\n", i);
        }
    } else if (is(f, "orphan")) { // a helper that would outlive it
        long helper = (long)fork();
        if (helper == 0) {
            hang();
        }
        char path[4096];
        snprintf(path, sizeof path, "%s.orphan", f->model);
        FILE *file = fopen(path, "w");
        fprintf(file, "%ld", helper);
        fclose(file);
    }
}

static int selftest(const fake *f)
{
    const char *names = of_level(f, "FAKE_NAMES");
    printf("{\"type\":\"selftest\",\"levels\":[{\"level\":\"%s\",\"ok\":true,\"why\":\"fake\"%s%s%"
           "s}]}\n",
           f->level, names ? ",\"types\":\"" : "", names ? names : "", names ? "\"" : "");
    return 0;
}

int main(int argc, char **argv)
{
    fake f = {.kind = "timed", .level = "none", .threads = 1, .mask = getenv("ETPROF_MASK")};
    etp_isa_mask mask;
    char why[256];
    int probe = 0, self = 0;
    for (int i = 1; i < argc; i++) {
        f.model = strcmp(argv[i], "--model") == 0 && i + 1 < argc ? argv[i + 1] : f.model;
        f.data = strcmp(argv[i], "--data") == 0 && i + 1 < argc ? argv[i + 1] : f.data;
        f.kind = strcmp(argv[i], "--kind") == 0 && i + 1 < argc ? argv[i + 1] : f.kind;
        f.threads = strcmp(argv[i], "--threads") == 0 && i + 1 < argc ? (unsigned)atol(argv[i + 1])
                                                                      : f.threads;
        probe |= strcmp(argv[i], "--probe") == 0;
        self |= strcmp(argv[i], "--selftest") == 0;
    }
    if (f.mask && etp_isa_mask_parse(f.mask, &mask, why, sizeof why) &&
        etp_isa_mask_level(&mask) != ETP_LEVEL_NONE) {
        f.level = etp_level_get(etp_isa_mask_level(&mask))->name;
    }
    if (probe) {
        say_hello(&f, 1);
        return 0;
    }
    if (self) {
        return selftest(&f);
    }
    count_launch(&f);
    read_script(&f);
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    f.clock_ns = (unsigned long long)t.tv_sec * 1000000000u + (unsigned long long)t.tv_nsec;
    t = (struct timespec){(time_t)(f.wall_ms / 1000), (long)(f.wall_ms % 1000) * 1000000};
    nanosleep(&t, NULL);
    behave(&f);
    if (f.helper) {
        leave_helper();
    }
    say_hello(&f, 0);
    if (strncmp(f.what, "error:", 6) == 0) {
        fail(f.what + 6, "the fake was told to refuse");
        return 1;
    }
    etp_wire_msg m = {.type = ETP_WIRE_LOAD};
    m.u.load = (etp_wire_load){.ns = f.load_ns, .rss_bytes = 4000000, .inputs = 1, .outputs = 1};
    m.u.load.cached_bytes = f.cached_bytes;
    m.u.load.hook_calls = is(&f, "no_calls") ? 0 : 3;
    snprintf(m.u.load.kernels_ours, sizeof m.u.load.kernels_ours, "%s", f.kernels);
    send(&m);
    serve(&f);
    return is(&f, "late_exit") ? 9 : 0;
}
