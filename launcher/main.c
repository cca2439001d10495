// SPDX-License-Identifier: Apache-2.0
// etprof-launch: starts a program that was not built for it at a CPU-feature level.
#include "launch.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tracer.h"

static const char k_usage[] =
    "usage: etprof-launch [OPTIONS] -- PROGRAM [ARGUMENTS...]\n"
    "Starts PROGRAM so that the libraries that ask for CPU features see those of a level.\n"
    "  --level NAME      level of 'etprof doctor levels': sme2, sme1, neon ... or vnni, avx512, "
    "avx2, "
    "sse\n"
    "  --mask TEXT       the same as ETPROF_MASK has it, e.g. "
    "aarch64:hwcap=0x0,hwcap2=0x2000000000\n"
    "  --method METHOD   trace (default), preload, auto (preload where tracing is not permitted),\n"
    "                    or none: start it as it is\n"
    "  --once            let go of the program after its start: children are not followed (arm64)\n"
    "  --report FILE     write what was done, one 'key value' a line\n"
    "  --force           also when the level cannot be had on this CPU\n"
    "  --cpus LIST       keep the program on these CPUs, e.g. 0 or 2-3\n"
    "  --executable      set the program's permission to be run (it was copied without)\n"
    "  --make DIR        make this folder first\n"
    "  --probe           print the CPU in the form that ETPROF_MASK's texts have, and end\n"
    "Exit status: the program's; 125 the level could not be set, 126 and 127 PROGRAM cannot be "
    "run.\n";

typedef struct options {
    const char *level, *mask, *method, *report, *make;
    bool force, probe, executable;
} options;

static int complain(const char *text)
{
    (void)fprintf(stderr, "etprof-launch: %s\n", text);
    return LAUNCH_FAILED;
}

// Index of the first word that is not ours; 0 after a complaint.
static int read_options(int argc, char **argv, launch *l, options *o)
{
    int i = 1;
    for (; i < argc && argv[i][0] == '-'; i++) {
        const char *word = argv[i];
        const struct {
            const char *name;
            const char **to;
        } k_texts[] = {
            {"--level",  &o->level },
            {"--mask",   &o->mask  },
            {"--method", &o->method},
            {"--report", &o->report},
            {"--make",   &o->make  },
            {"--cpus",   &l->cpus  }
        };
        if (strcmp(word, "--") == 0) {
            return i + 1;
        }
        bool known = strcmp(word, "--once") == 0 || strcmp(word, "--force") == 0 ||
                     strcmp(word, "--probe") == 0 || strcmp(word, "--executable") == 0;
        l->once = l->once || strcmp(word, "--once") == 0;
        o->force = o->force || strcmp(word, "--force") == 0;
        o->executable = o->executable || strcmp(word, "--executable") == 0;
        o->probe = o->probe || strcmp(word, "--probe") == 0;
        for (size_t k = 0; k < sizeof k_texts / sizeof k_texts[0]; k++) {
            if (strcmp(word, k_texts[k].name) == 0 && i + 1 < argc) {
                *k_texts[k].to = argv[++i];
                known = true;
            }
        }
        if (!known) {
            (void)fprintf(stderr, "etprof-launch: unknown option or missing value: %s\n%s", word,
                          k_usage);
            return 0;
        }
    }
    return i;
}

// What is to be hidden, checked against this CPU.
static bool choose_mask(const options *o, const etp_isa_cpu *cpu, launch *l)
{
    char why[ETP_ISA_WHY_MAX];
    l->mask.family = cpu->family;
    if (o->mask) {
        if (!etp_isa_mask_parse(o->mask, &l->mask, why, sizeof why)) {
            launch_why(l, "--mask: %s", why);
        } else if (l->mask.family != cpu->family && !o->force) {
            launch_why(l, "--mask is for %s, this CPU is %s", etp_isa_family_name(l->mask.family),
                       etp_isa_family_name(cpu->family));
        }
        return l->why[0] == '\0';
    }
    if (!o->level) {
        return true; // nothing is hidden, the rest is the same
    }
    etp_level level = etp_level_find(cpu->family, o->level);
    etp_level_state state = etp_level_state_of(cpu, level);
    if (level == ETP_LEVEL_NONE) {
        bool elsewhere = etp_level_find(ETP_ISA_NONE, o->level) != ETP_LEVEL_NONE;
        launch_why(l, "%s level %s on %s", elsewhere ? "there is no" : "unknown", o->level,
                   etp_isa_family_name(cpu->family));
        return false;
    }
    if (!o->force && !state.available) {
        launch_why(l, "level %s cannot be had: %s", o->level, state.how);
        return false;
    }
    etp_level_state plain = state;
    if (!o->force && !state.switchable && strncmp(state.how, "the same as", 11) != 0) {
        launch_why(l, "level %s cannot be set: %s", o->level, plain.how);
        return false;
    }
    l->mask = etp_level_mask(level);
    return true;
}

static void report(const options *o, const launch *l)
{
    char mask[ETP_ISA_TEXT_MAX];
    if (!o->report) {
        return;
    }
    FILE *f = fopen(o->report, "we");
    if (!f) {
        (void)fprintf(stderr, "etprof-launch: cannot write %s: %s\n", o->report, strerror(errno));
        return;
    }
    (void)etp_isa_mask_format(&l->mask, mask, sizeof mask);
    (void)fprintf(f, "method %s\nmask %s\nprograms %u\n", l->method ? l->method : "none", mask,
                  l->programs);
    if (l->method && strcmp(l->method, "cpuid") == 0) {
        (void)fprintf(f,
                      "sites %u\nleft %u\nmissed %u\nanswers %lu\nchanged %lu\nlooks %lu\ntrap "
                      "%s\ncpuid_faulting %s\n",
                      l->sites, l->left, l->missed, l->answers, l->changed, l->looks,
                      l->trap == TRAP_INT80 ? "int80" : "spin",
                      l->cpuid_faulting ? "offered" : "not offered");
    }
    if (l->hwcap_before != 0) {
        (void)fprintf(f, "hwcap 0x%llx 0x%llx\nhwcap2 0x%llx 0x%llx\n",
                      (unsigned long long)l->hwcap_before, (unsigned long long)l->hwcap_after,
                      (unsigned long long)l->hwcap2_before, (unsigned long long)l->hwcap2_after);
    }
    if (l->why[0] != '\0') {
        (void)fprintf(f, "why %s\n", l->why);
    }
    (void)fclose(f);
}

// Ends as the program ended, so that whoever waits for us learns the same.
static int end_like(int status)
{
    if (!WIFSIGNALED(status)) {
        return WEXITSTATUS(status);
    }
    struct rlimit none = {0, 0}; // the program's core is enough
    (void)setrlimit(RLIMIT_CORE, &none);
    (void)signal(WTERMSIG(status), SIG_DFL);
    sigset_t set;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, WTERMSIG(status));
    (void)sigprocmask(SIG_UNBLOCK, &set, NULL);
    (void)raise(WTERMSIG(status));
    return 128 + WTERMSIG(status);
}

// The library beside this program.
static const char *library_beside(char *buf, size_t cap, const char *self)
{
#if defined(__APPLE__)
    static const char k_name[] = "libetprof-mask.dylib";
#else
    static const char k_name[] = "libetprof-level.so";
#endif
    char exe[4096];
    ssize_t len = -1;
#if defined(__linux__)
    len = readlink("/proc/self/exe", exe, sizeof exe - 1);
#endif
    exe[len > 0 ? len : 0] = '\0';
    const char *path = len > 0 ? exe : self;
    const char *slash = strrchr(path, '/');
    (void)snprintf(buf, cap, "%.*s/%s", slash ? (int)(slash - path) : 1, slash ? path : ".",
                   k_name);
    return buf;
}

// What is asked for before the start.
static bool prepare(const options *o, launch *l)
{
    if (o->make && mkdir(o->make, 0777) != 0 && errno != EEXIST) {
        launch_why(l, "cannot make %s: %s", o->make, strerror(errno));
        return false;
    }
    if (o->executable && chmod(l->argv[0], 0755) != 0) {
        launch_why(l, "cannot make %s executable: %s", l->argv[0], strerror(errno));
        return false;
    }
    return launch_pin(l);
}

static int start_as_it_is(const options *o, launch *l)
{
    l->programs = 1;
    report(o, l);
    (void)execvp(l->argv[0], l->argv);
    int status = errno == ENOENT ? LAUNCH_NOT_FOUND : LAUNCH_NOT_EXECUTABLE;
    launch_why(l, "cannot start %s: %s", l->argv[0], strerror(errno));
    (void)complain(l->why);
    return status;
}

static int start(const options *o, launch *l)
{
    bool automatic = o->method && strcmp(o->method, "auto") == 0;
    bool preload = (o->method && strcmp(o->method, "preload") == 0) || !launch_can_trace();
    int status = LAUNCH_FAILED << 8;
    if (!preload) {
        l->cpuid_faulting = cpu_faulting();
        bool ok = launch_traced(l, &status);
        bool refused = !ok && l->programs == 0 && WEXITSTATUS(status) == LAUNCH_FAILED;
        if (!refused || !automatic || !launch_can_preload()) {
            report(o, l);
            if (l->why[0] != '\0') {
                (void)complain(l->why);
            }
            return ok ? end_like(status) : WEXITSTATUS(status);
        }
        (void)fprintf(stderr, "etprof-launch: %s; using %s instead\n", l->why, l->preload_library);
        l->why[0] = '\0';
    }
    l->method = "preload";
    l->programs = 1;
    report(o, l); // afterwards this process is the program
    launch_preloaded(l);
    l->programs = 0;
    report(o, l);
    (void)complain(l->why);
    return errno == ENOENT ? LAUNCH_NOT_FOUND : LAUNCH_FAILED;
}

int main(int argc, char **argv)
{
    launch l = {0};
    options o = {0};
    char library[4200], text[ETP_ISA_TEXT_MAX];
    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        (void)fputs(k_usage, stdout);
        return 0;
    }
    int first = read_options(argc, argv, &l, &o);
    if (first == 0) {
        return LAUNCH_FAILED;
    }
    etp_isa_cpu cpu;
    etp_isa_cpu_detect(&cpu);
    if (o.probe) {
        (void)etp_isa_cpu_format(&cpu, text, sizeof text);
        return puts(text) == EOF ? LAUNCH_FAILED : 0;
    }
    if (first >= argc) {
        (void)fprintf(stderr, "etprof-launch: a program is missing\n%s", k_usage);
        return LAUNCH_FAILED;
    }
    if (o.method && strcmp(o.method, "trace") != 0 && strcmp(o.method, "preload") != 0 &&
        strcmp(o.method, "auto") != 0 && strcmp(o.method, "none") != 0) {
        return complain("--method is trace, preload, auto or none");
    }
    l.argv = argv + first;
    l.preload_library = library_beside(library, sizeof library, argv[0]);
    bool as_it_is = o.method && strcmp(o.method, "none") == 0;
    if (as_it_is && (o.level || o.mask)) {
        return complain("--method none hides nothing: leave out --level and --mask");
    }
    if ((!as_it_is && !choose_mask(&o, &cpu, &l)) || !prepare(&o, &l)) {
        report(&o, &l);
        return complain(l.why);
    }
    if (as_it_is) {
        return start_as_it_is(&o, &l);
    }
#if defined(__x86_64__)
    l.once = false; // the program's cpuid instructions need answers as long as it lives
#endif
    return start(&o, &l);
}
