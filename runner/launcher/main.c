// SPDX-License-Identifier: Apache-2.0
// etprof-launch: starts a program that was not built for it, as it is or at a CPU-feature level.
#include "launch.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char k_usage[] =
    "usage: etprof-launch [OPTIONS] -- PROGRAM [ARGUMENTS...]\n"
    "Starts PROGRAM; with a level, so that the libraries that ask the system for CPU features see "
    "those of the level.\n"
    "That reaches dynamic programs on arm64. Other programs are built twice and compared.\n"
    "  --level NAME      level of 'etprof doctor levels': sme2, sme1, neon ... or vnni, avx512, "
    "avx2, "
    "sse\n"
    "  --mask TEXT       the same as ETPROF_MASK has it, e.g. "
    "aarch64:hwcap=0x0,hwcap2=0x2000000000\n"
    "  --method METHOD   preload (default with a level), or none: start it as it is\n"
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
        bool known = strcmp(word, "--force") == 0 || strcmp(word, "--probe") == 0 ||
                     strcmp(word, "--executable") == 0;
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

static void report(const options *o, const launch *l, const char *method)
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
    (void)fprintf(f, "method %s\nmask %s\n", method, mask);
    if (l->why[0] != '\0') {
        (void)fprintf(f, "why %s\n", l->why);
    }
    (void)fclose(f);
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
    bool level = o.level || o.mask;
    const char *usual = level ? "preload" : "none", *method = o.method ? o.method : usual;
    if (strcmp(method, "preload") != 0 && strcmp(method, "none") != 0) {
        return complain("--method is preload or none");
    }
    if (level && strcmp(method, "none") == 0) {
        return complain("--method none hides nothing: leave out --level and --mask");
    }
    l.argv = argv + first;
    l.preload_library = library_beside(library, sizeof library, argv[0]);
    if (!choose_mask(&o, &cpu, &l) || !prepare(&o, &l)) {
        report(&o, &l, method);
        return complain(l.why);
    }
    report(&o, &l, method); // afterwards this process is the program
    if (strcmp(method, "none") == 0) {
        launch_as_it_is(&l);
    } else {
        launch_preloaded(&l);
    }
    int error = errno;
    report(&o, &l, method);
    (void)complain(l.why);
    if (error == ENOENT) {
        return LAUNCH_NOT_FOUND;
    }
    return error == EPERM ? LAUNCH_FAILED : LAUNCH_NOT_EXECUTABLE;
}
