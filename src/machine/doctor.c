// SPDX-License-Identifier: Apache-2.0
// Checks of the machine before anything is measured on it.
#include "machine/doctor.h"
#include "base/number.h"
#include "document/rows.h"

#include <math.h>
#include <string.h>

#include "explain/kernels.h"
#include "measure/selftest.h"

// One level's self-test runs two tiny models; a runner that needs longer hangs.
#define SELFTEST_NS ((uint64_t)60 * 1000000000u)
// The load average counts threads that run or wait to: near 0 on an idle machine.
#define MOST_LOAD_PER_CPU 0.1
#define LEAST_FREE_BYTES ((uint64_t)1 << 30)
// Operators of small models take some microseconds: a clock that steps by more than one cannot tell
// them apart.
#define WORST_CLOCK_NS 1000u
#define HOT_C 85.0

void etp_doctor_add(etp_doctor *d, etp_arena *arena, etp_doctor_check check, int ok,
                    const char *found, const char *expected, const char *fix)
{
    bool known = found != NULL, required = check == ETP_DOCTOR_RUNNER ||
                                           check == ETP_DOCTOR_RUNNER_ANSWERS ||
                                           check == ETP_DOCTOR_MASK;
    etp_checks_add(&d->checks, arena,
                   (etp_check){.id = etp_doctor_check_name(check),
                               .ok = known ? ok : -1,
                               .required = required,
                               .found = ETP_OR(found, "unreadable"),
                               .expected = expected,
                               .fix = etp_z_if(known, fix)});
}

// The runner's own proof that hiding features works, at each level that can be had.
static etp_status mask_check(etp_doctor *d, etp_device *device, const etp_device_cpu *cpu,
                             etp_arena *arena, etp_error *err)
{
    etp_level list[ETP_LEVEL_COUNT];
    etp_planned_arm arms[ETP_LEVEL_COUNT] = {{0}};
    size_t n = etp_level_list(cpu->cpu.family, list);
    // The self-test asks for the arms of a session, so one is made that has an arm for each level
    // and nothing to measure.
    etp_session_plan plan = {.arms = arms, .timeout_ns = SELFTEST_NS, .cpu = *cpu};
    for (size_t i = 0; i < n; i++) {
        etp_isa_mask mask = etp_level_mask(list[i]);
        etp_planned_arm *a = &arms[plan.n_arms];
        if (etp_level_state_of(&cpu->cpu, list[i]).available &&
            etp_isa_mask_format(&mask, a->mask, sizeof a->mask) > 0) {
            a->level = list[i];
            a->level_name = etp_level_get(list[i])->name;
            plan.n_arms++;
        }
    }
    etp_selftest_result t = {.ran = false};
    if (plan.n_arms > 0) {
        ETP_TRY(etp_selftest_run(device, &plan, NULL, arena, &t, err));
    }
    const bool failed = t.ran && !t.ok;
    const int open = t.told ? 1 : -1;
    etp_doctor_add(d, arena, ETP_DOCTOR_MASK, failed ? 0 : open,
                   plan.n_arms > 0 ? t.text : "no level can be had",
                   "two tiny models take the kernels of their level",
                   etp_z_if(failed, "levels cannot be compared with this runner: build it again "
                                    "with scripts/build-runner"));
    return ETP_OK;
}

etp_status etp_doctor_runner(etp_doctor *d, etp_device *device, const char *why, const char *advice,
                             etp_arena *arena, etp_error *err)
{
    etp_device_cpu cpu;
    etp_error probe = {.offset = ETP_NO_OFFSET};
    etp_status answered = device ? etp_session_probe(device, 0, NULL, arena, &cpu, &probe) : ETP_OK;
    bool works = device && answered == ETP_OK;
    if (answered == ETP_NOMEM) { // no fault of its
        return etp_fail_nomem(err, "the runner");
    }
    etp_doctor_add(d, arena, ETP_DOCTOR_RUNNER, device != NULL,
                   device ? device->bundle.runner : why, "a runner bundle", advice);
    if (!device) {
        return ETP_OK;
    }
    etp_doctor_add(d, arena, ETP_DOCTOR_RUNNER_ANSWERS, works,
                   works ? etp_arena_printf(arena, "ExecuTorch %s", cpu.executorch)
                         : etp_arena_strdup(arena, etp_str_from(probe.msg)),
                   "the runner starts and says what the CPU has",
                   "start the runner by hand with --probe and read what it says");
    if (!works) {
        return ETP_OK;
    }
    ETP_TRY(etp_kernels_usable_in(device->bundle.dir, &cpu.cpu, &cpu.cpu, err));
    // Levels that the runner can be switched to, as a list.
    etp_level list[ETP_LEVEL_COUNT];
    size_t n = etp_level_list(cpu.cpu.family, list), available = 0;
    const char *levels = "";
    for (size_t i = 0; i < n && levels; i++) {
        if (etp_level_state_of(&cpu.cpu, list[i]).available) {
            levels = etp_arena_printf(arena, "%s%s%s", levels, etp_if(available > 0, ", "),
                                      etp_level_get(list[i])->name);
            available++;
        }
    }
    etp_doctor_add(d, arena, ETP_DOCTOR_LEVELS, available >= 2, levels, "two levels or more",
                   "compare models or threads instead, or use --device qemu");
    // Not a fault of the machine: times are as good without, but nothing takes them apart.
    bool told = cpu.counters[0] != '\0',
         counts = told && !etp_str_starts(etp_str_from(cpu.counters), ETP_STR("none"));
    etp_doctor_add(d, arena, ETP_DOCTOR_COUNTERS, counts ? 1 : -1,
                   told ? cpu.counters : "this runner does not report it",
                   "cycles and instructions, which tell work from clock",
                   etp_z_if(cpu.counters_fix[0], cpu.counters_fix));
    return mask_check(d, device, &cpu, arena, err);
}

// An empty FOUND means that the system does not tell, which is neither good nor bad.
static void text_check(etp_doctor *d, etp_arena *arena, etp_doctor_check check, const char *found,
                       const char *wanted, const char *fix)
{
    const char *kept = found[0] ? etp_arena_strdup(arena, etp_str_from(found)) : NULL;
    etp_doctor_add(d, arena, check, strcmp(found, wanted) == 0, kept, wanted, fix);
}

void etp_doctor_machine(etp_doctor *d, const char *folder, const char *qemu, etp_arena *arena)
{
    etp_os_state s;
    etp_os_facts facts;
    etp_os_state_read(&s);
    etp_os_facts_read(&facts);
    uint64_t smallest = UINT64_MAX;
    // The smallest step of many: an interruption makes a step longer and never shorter.
    for (int i = 0; i < 1000; i++) {
        uint64_t a = etp_os_now_ns(), b = etp_os_now_ns();
        smallest = b > a && b - a < smallest ? b - a : smallest;
    }
    etp_doctor_add(d, arena, ETP_DOCTOR_CLOCK, smallest <= WORST_CLOCK_NS,
                   etp_arena_printf(arena, "%llu ns", (unsigned long long)smallest),
                   "steps of 1000 ns or less", "use a machine or clock source with a finer clock");
    // More threads than these take turns, whatever else runs.
    const uint32_t cpus = facts.cpus;
    double quota = etp_os_cpu_quota();
    etp_doctor_add(d, arena, ETP_DOCTOR_CPUS, 1,
                   cpus > 0 ? etp_arena_printf(arena, "%u allowed", cpus) : NULL,
                   "as many as a run has threads", NULL);
    etp_doctor_add(
        d, arena, ETP_DOCTOR_CPU_QUOTA, quota == 0,
        quota > 0 ? etp_arena_printf(arena, "%s CPUs", ETP_DIGITS(quota, 3)) : "none",
        "none: a control group with a quota stops its threads when it is used up",
        "raise the quota of the container (docker run --cpus; cpu.max or cpu.cfs_quota_us)");
    double most = MOST_LOAD_PER_CPU * ETP_MAX(facts.cpus, 1);
    etp_doctor_add(d, arena, ETP_DOCTOR_LOAD, s.load1 <= most,
                   isfinite(s.load1) ? etp_arena_printf(arena, "%.2f", s.load1) : NULL,
                   etp_arena_printf(arena, "at most %.2f", most),
                   "end other work, or measure on a machine that is idle");
    text_check(d, arena, ETP_DOCTOR_GOVERNOR, s.governor, "performance",
               "cpupower frequency-set -g performance");
    const char *boost = s.boost ? "on" : "off";
    text_check(d, arena, ETP_DOCTOR_BOOST, etp_if(!(s.boost < 0), boost), "off",
               "switch boost off: clocks then depend less on heat");
    text_check(d, arena, ETP_DOCTOR_POWER, s.power, "mains", "plug in");
    etp_doctor_add(d, arena, ETP_DOCTOR_TEMPERATURE, s.temperature_c < HOT_C,
                   isfinite(s.temperature_c) ? etp_arena_printf(arena, "%.0f C", s.temperature_c)
                                             : NULL,
                   "below 85 C", "let it cool down");
    uint64_t free_bytes = etp_os_free_bytes(folder);
    const char *room = etp_arena_strdup(arena, etp_str_from(ETP_BYTES(free_bytes)));
    etp_doctor_add(d, arena, ETP_DOCTOR_DISK, free_bytes >= LEAST_FREE_BYTES,
                   etp_z_if(free_bytes != UINT64_MAX, room), "1.07 GB for run folders",
                   "make room");
    etp_doctor_add(d, arena, ETP_DOCTOR_QEMU, qemu ? 1 : -1, ETP_OR(qemu, "none"),
                   "qemu-aarch64 10.1 or newer, for --device qemu only", "scripts/qemu builds one");
}

const char *etp_doctor_check_name(etp_doctor_check check)
{
    static const char *const k_names[ETP_DOCTOR_CHECKS] = {
        "runner",    "runner_answers", "levels",   "counters", "mask",       "clock",       "cpus",
        "cpu_quota", "load",           "governor", "boost",    "power",      "temperature", "disk",
        "qemu",      "other_work",     "waiting",  "stolen",   "noise_floor"};
    return k_names[check];
}

bool etp_doctor_check_is(const etp_check *c, etp_doctor_check check)
{
    return strcmp(c->id, etp_doctor_check_name(check)) == 0;
}

bool etp_doctor_fit(const etp_doctor *d)
{
    for (size_t i = 0; i < d->checks.n; i++) {
        const etp_check *c = &d->checks.items[i];
        bool proof =
            etp_doctor_check_is(c, ETP_DOCTOR_MASK); // a runner that cannot tell is no obstacle
        if (c->required && (proof ? c->ok == 0 : c->ok != 1)) {
            return false;
        }
    }
    return true;
}

FIND(is_fit, etp_doctor, etp_doctor, MAKE(yes, etp_doctor_fit(it)))

#define OF etp_check
static const etp_field k_check_rows[] = {ETP_CHECK_ID, ETP_CHECK_ROWS};
static SHAPE(k_check, k_check_rows);
#undef OF
#define OF etp_doctor
static const etp_field k_rows[] = {
    COMPUTED("ok", BOOL, is_fit, "nothing required is missing", .flags = ETP_SET),
    VECTOR("checks", OBJECT, checks, "of this machine", .shape = &k_check),
};
static SHAPE(k_doctor, k_rows);
#undef OF
const etp_document k_etp_doctor_document = {"etprof.doctor/1", "What doctor prints", &k_doctor};

// NULL: it was not asked.
static const etp_check *check_of(const etp_doctor *d, etp_doctor_check check)
{
    for (size_t i = 0; i < d->checks.n; i++) {
        if (etp_doctor_check_is(&d->checks.items[i], check)) {
            return &d->checks.items[i];
        }
    }
    return NULL;
}

const etp_report *etp_doctor_report(const etp_doctor *d, etp_arena *arena)
{
    static const etp_column k_columns[] = {
        {.key = "id", .title = "check", .flags = ETP_COL_CODE},
        {.key = "ok", .title = "ok"},
        {.key = "found", .title = "found"},
        {.key = "expected", .title = "expected"},
        {.key = "fix", .title = "fix", .flags = ETP_COL_MINOR}, // in full above the table
    };
    etp_report *r = etp_report_create(arena, "doctor");
    etp_report_section(r, 1, "checks", "Is this machine fit to measure on?");
    const etp_check *waiting = check_of(d, ETP_DOCTOR_WAITING);
    const etp_check *noise = check_of(d, ETP_DOCTOR_NOISE_FLOOR);
    if (!etp_doctor_fit(d)) {
        etp_report_note(r, ETP_BAD, "no: something required is missing");
    } else if (waiting && waiting->ok == 0) {
        etp_report_note(r, ETP_WARN, "not now: other programs take its CPUs");
    } else {
        etp_report_note(r, ETP_GOOD, "usable; checks below that say no add noise");
    }
    // The noise is the one figure that says how fine a difference can be found today: it stands
    // above the list, with all that would lower it.
    if (noise) {
        etp_report_note(r, noise->ok == 1 ? ETP_GOOD : ETP_WARN, "noise now: %s%s%s", noise->found,
                        etp_if(noise->fix, "; what would lower it: "), ETP_OR(noise->fix, ""));
    }
    etp_keys *todo = etp_report_keys(r, "What would help");
    etp_table *t = etp_report_table(r, "checks", NULL, k_columns, 5);
    for (size_t i = 0; i < d->checks.n; i++) {
        const etp_check *c = &d->checks.items[i];
        const etp_severity bad = c->required ? ETP_BAD : ETP_WARN;
        if (c->fix && c->ok != 1 && c != noise) {
            etp_keys_add(todo, c->ok == 0 ? bad : ETP_PLAIN, c->id, "%s: %s", c->found, c->fix);
        }
        ETP_ROW(t, etp_cell_z(c->id), etp_cell_answer(c->ok, bad), etp_cell_z(c->found),
                etp_cell_z(c->expected), etp_cell_z(c->fix));
    }
    return r;
}
