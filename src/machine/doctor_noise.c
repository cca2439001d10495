// SPDX-License-Identifier: Apache-2.0
// How restless this machine is now: the same work against itself, in pairs, judged as a session
// judges its A/A control. No model and no launch is in it: a session can only be noisier.
#include <math.h>

#include <etprof/stats.h>

#include "machine/doctor.h"

#include "base/number.h"

#define PAIRS 10u
#define PIECE_NS 30e6 // aimed at: longer than a turn on a CPU, so that who shares it is noticed
#define WARM_NS ((uint64_t)150000000)
#define MOST_NOISE 0.01  // the default margin of a verdict
#define MOST_OTHERS 0.1  // CPUs that other programs keep busy
#define MOST_STOLEN 0.01 // of the time, taken by the host of a virtual machine

// A chain of dependent additions: nothing to predict, to cache or to vectorise. Its value is used
// so that it is computed.
static double work(uint64_t rounds, double start)
{
    double x = start;
    for (uint64_t i = 0; i < rounds; i++) {
        x = x * 0.999999 + 1e-6;
    }
    return x;
}

// The sum goes through SINK, so that no piece can be left out and none can be computed ahead of its
// time.
static double piece_ns(uint64_t rounds, double *sink)
{
    uint64_t start = etp_os_now_ns();
    *sink += work(rounds, *sink);
    uint64_t ns = etp_os_now_ns() - start;
    return ns > 0 ? (double)ns : 1;
}

typedef struct noise {
    double floor;  // relative half-width of the 95 % interval
    double others; // CPUs busy with something else meanwhile, NAN unreadable
    double stolen; // share of the time, NAN unreadable
    double waited; // share of the time that the loop did not run, NAN unreadable
} noise;

// What the other checks found that makes a machine restless, with what to do about it.
static const char *remedies(const etp_doctor *d, etp_arena *arena)
{
    // Only what disturbs times: a missing emulator or a full disk explains no noise.
    static const etp_doctor_check k_restless[] = {
        ETP_DOCTOR_LOAD,     ETP_DOCTOR_OTHER_WORK, ETP_DOCTOR_WAITING, ETP_DOCTOR_STOLEN,
        ETP_DOCTOR_GOVERNOR, ETP_DOCTOR_BOOST,      ETP_DOCTOR_POWER,   ETP_DOCTOR_TEMPERATURE};
    const char *text = NULL;
    for (size_t i = 0; i < d->checks.n; i++) {
        const etp_check *c = &d->checks.items[i];
        bool counts = false;
        for (size_t k = 0; k < sizeof k_restless / sizeof *k_restless; k++) {
            counts = counts || etp_doctor_check_is(c, k_restless[k]);
        }
        if (counts && c->ok == 0 && c->fix) {
            text = etp_arena_printf(arena, "%s%s%s (%s: %s)", ETP_OR(text, ""), etp_if(text, "; "),
                                    c->fix, c->id, c->found);
        }
    }
    return text ? text
                : "nothing readable explains it: pin the runner with --cpus, and let 'etprof ab "
                  "--precision' measure for longer";
}

void etp_doctor_noise(etp_doctor *d, etp_arena *arena)
{
    double sink = 0.5, ratios[PAIRS];
    // Rounds of a piece, by the time on the CPU, found while the clock of the CPU comes up.
    uint64_t rounds = 100000, begin = etp_os_now_ns();
    while (etp_os_now_ns() - begin < WARM_NS) {
        uint64_t before = etp_os_cpu_ns();
        (void)piece_ns(rounds, &sink);
        double ns = (double)(etp_os_cpu_ns() - before);
        rounds = (uint64_t)fmax(1000, fmin((double)rounds * PIECE_NS / fmax(ns, 1), 1e9));
    }
    etp_os_state before, after;
    etp_os_state_read(&before);
    uint64_t start_ns = etp_os_now_ns(), start_cpu_ns = etp_os_cpu_ns();
    for (size_t i = 0; i < PAIRS; i++) { // odd pairs run the other way round, as blocks do
        double first = log(piece_ns(rounds, &sink)), second = log(piece_ns(rounds, &sink));
        ratios[i] = i % 2 ? second - first : first - second;
    }
    uint64_t ns = etp_os_now_ns() - start_ns, cpu_ns = etp_os_cpu_ns() - start_cpu_ns;
    etp_os_state_read(&after);
    etp_interval ln = etp_mean_interval(ratios, PAIRS, ETP_CONFIDENCE);
    double wall_ms = (double)(after.time_ns - before.time_ns) / 1e6;
    bool busy = before.cpu_busy_ms != UINT64_MAX && after.cpu_busy_ms != UINT64_MAX;
    bool steal = before.cpu_steal_ms != UINT64_MAX && after.cpu_steal_ms != UINT64_MAX;
    noise n = {.floor = etp_value_if(sink > 0, expm1((ln.hi - ln.lo) / 2))};
    // The system counts the time of all CPUs together. One of them was busy with this loop, and
    // what is above one is somebody else's; below it, the reading was coarse.
    const double busy_ms = (double)after.cpu_busy_ms - (double)before.cpu_busy_ms;
    n.others = etp_value_if(busy, fmax(0, busy_ms / wall_ms - 1));
    n.waited = etp_value_if(start_cpu_ns > 0, fmax(0, 1 - (double)cpu_ns / (double)ns));
    const double stolen_ms = (double)after.cpu_steal_ms - (double)before.cpu_steal_ms;
    n.stolen = etp_value_if(steal, stolen_ms / wall_ms);
    bool others = isfinite(n.others), stolen = isfinite(n.stolen);
    etp_doctor_add(d, arena, ETP_DOCTOR_OTHER_WORK, n.others <= MOST_OTHERS,
                   others ? etp_arena_printf(arena, "%.2f CPUs busy with other work", n.others)
                          : NULL,
                   "at most 0.10 CPUs", "end other programs");
    etp_doctor_add(d, arena, ETP_DOCTOR_STOLEN, n.stolen <= MOST_STOLEN,
                   stolen ? etp_arena_printf(arena, "%.1f %% of the time", 100 * n.stolen) : NULL,
                   "at most 1 %, taken by the host of a virtual machine",
                   "use a machine of its own");
    etp_doctor_add(
        d, arena, ETP_DOCTOR_WAITING, n.waited <= ETP_WAIT_MUCH,
        isfinite(n.waited)
            ? etp_arena_printf(arena, "%.1f %% of the time without a CPU", 100 * n.waited)
            : NULL,
        etp_arena_printf(arena, "at most %.0f %%: 'etprof ab' gives no ratio above %.0f %%",
                         100 * ETP_WAIT_MUCH, 100 * ETP_WAIT_MOST),
        "end other programs, or measure when they are through");
    // A NAN is not quiet either: the machine could not be judged.
    bool quiet = n.floor <= MOST_NOISE;
    etp_doctor_add(d, arena, ETP_DOCTOR_NOISE_FLOOR, quiet,
                   etp_arena_printf(arena, "±%s %% (95 %%, %u pairs of the same work, no launches)",
                                    ETP_DIGITS(100 * n.floor, 4), PAIRS),
                   "at most ±1 %: differences below it are lost",
                   quiet ? NULL : remedies(d, arena));
}
