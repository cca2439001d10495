// SPDX-License-Identifier: Apache-2.0
// Facts and state of a device, read there from /proc, /sys and, on Android, the system's own
// services.
#include "device/remote.h"

#include <math.h>
#include <stdio.h>

#include "base/number.h"

#define MAX_VALUE 200

// "key=value" lines; what cannot be read is left out. Nothing here comes from the user.
static const char k_facts[] =
    "say() { [ -z \"$2\" ] || echo \"$1=$2\"; }\n"
    "one() { [ -r \"$2\" ] && say \"$1\" \"$(head -n 1 \"$2\" 2>/dev/null)\"; }\n"
    "say system \"$(uname -sr)\"\n"
    "say machine \"$(uname -m)\"\n"
    "if [ \"$(uname -s)\" = Darwin ]; then\n"
    "  say model \"$(sysctl -n hw.model)\"; say cpu \"$(sysctl -n machdep.cpu.brand_string)\"\n"
    "  say cpus \"$(sysctl -n hw.ncpu)\"; say memory_bytes \"$(sysctl -n hw.memsize)\"\n"
    "  say os_version \"$(sw_vers -productVersion)\"\n"
    "  i=0; while n=$(sysctl -n hw.perflevel$i.physicalcpu 2>/dev/null); do\n"
    "    say \"perflevel$i\" \"$(sysctl -n hw.perflevel$i.name 2>/dev/null): $n CPUs, $(sysctl -n "
    "hw.perflevel$i.cpusperl2"
    " 2>/dev/null) per cluster\"; i=$((i + 1)); done; exit 0\n"
    "fi\n"
    "c=$(sed -n 's/^model name[^:]*: *//p; s/^Hardware[^:]*: *//p' /proc/cpuinfo | head -n 1)\n"
    "[ -n \"$c\" ] || c=$(awk -F': *' '/^CPU implementer/ {i=$2} /^CPU part/ {if (!s[i $2]++) "
    "printf \"%simplementer %s part %s\", n++ ? \", \" : \"\", i, $2}' /proc/cpuinfo)\n"
    "say cpu \"$c\"\n"
    "say cpus \"$(grep -c '^processor' /proc/cpuinfo)\"\n"
    "say memory_bytes \"$(awk '/^MemTotal:/ {printf \"%.0f\", $2 * 1024}' /proc/meminfo)\"\n"
    "if command -v getprop >/dev/null 2>&1; then\n"
    "  say model \"$(getprop ro.product.model)\"\n"
    "  say manufacturer \"$(getprop ro.product.manufacturer)\"\n"
    "  s=$(getprop ro.soc.model); say soc \"${s:-$(getprop ro.board.platform)}\"\n"
    "  say os_version \"$(getprop ro.build.version.release)\"\n"
    "  say security_patch \"$(getprop ro.build.version.security_patch)\"\n"
    "  say build \"$(getprop ro.build.fingerprint)\"\n"
    "elif [ -r /proc/device-tree/model ]; then\n"
    "  say model \"$(tr -d '\\0' </proc/device-tree/model)\"\n"
    "else one model /sys/devices/virtual/dmi/id/product_name; fi\n"
    "if command -v settings >/dev/null 2>&1; then\n"
    "  say settings \"low_power=$(settings get global low_power) stay_on=$(settings get global "
    "stay_on_while_plugged_in)"
    " animations=$(settings get global window_animation_scale),$(settings get global "
    "transition_animation_scale),"
    "$(settings get global animator_duration_scale)\"\n"
    "fi\n"
    "if command -v dumpsys >/dev/null 2>&1; then\n"
    "  say battery_percent \"$(dumpsys battery 2>/dev/null | sed -n 's/^ *level: *//p' | head -n "
    "1)\"\n"
    "  say thermal_status \"$(dumpsys thermalservice 2>/dev/null | sed -n 's/^Thermal Status: "
    "*//p' | head -n 1)\"\n"
    "fi\n"
    "s=/sys/devices/system/cpu\n"
    "t=; for p in $s/cpufreq/policy*; do [ -r $p/cpuinfo_max_freq ] && "
    "t=\"$t${t:+; }cpus $(cat $p/related_cpus) up to $(cat $p/cpuinfo_max_freq) kHz\"; done\n"
    "[ -n \"$t\" ] || t=$(for c in $s/cpu[0-9]*; do [ -r $c/cpu_capacity ] && echo \"$(cat "
    "$c/cpu_capacity) ${c##*cpu}\"; done |"
    " sort -n | { o=; while read -r k n; do [ \"$k\" = \"$o\" ] && printf ' %s' $n ||"
    " printf '%scpus %s' \"${o:+ capacity $o; }\" $n; o=$k; done; [ -z \"$o\" ] || echo \" "
    "capacity $o\"; })\n"
    "say clusters \"$t\"\n"
    "i=0; o=; t=; while [ -d $s/cpu$i ]; do v=; { read -r v "
    "<$s/cpu$i/regs/identification/smidr_el1; } 2>/dev/null;"
    " [ \"$v\" = \"$o\" ] || t=\"$t${t:+ }$i:${v:-0}\"; o=$v; i=$((i + 1)); done\n"
    "say smidr \"$t\"\n"
    "one governor $s/cpu0/cpufreq/scaling_governor\n"
    "one frequency_driver $s/cpu0/cpufreq/scaling_driver\n"
    "one frequency_max_khz $s/cpu0/cpufreq/cpuinfo_max_freq\n"
    "one smt_active $s/smt/active\n"
    "one isolated_cpus $s/isolated\n"
    "one cgroup_cpu_max /sys/fs/cgroup/cpu.max\n"
    "one address_randomisation /proc/sys/kernel/randomize_va_space\n"
    "one transparent_hugepages /sys/kernel/mm/transparent_hugepage/enabled\n"
    "one perf_event_paranoid /proc/sys/kernel/perf_event_paranoid\n"
    "one clock_source $s/../clocksource/clocksource0/current_clocksource\n"
    "exit 0\n";

// Builtins alone where they can do it: every program that is started here disturbs what is measured
// next, and a phone has a hundred thermal zones.
static const char k_state[] =
    "s=/sys/devices/system/cpu\n"
    "rd() { v=; { read -r v <\"$1\"; } 2>/dev/null; [ -n \"$v\" ]; }\n"
    "read -r l x </proc/loadavg && echo load=$l\n"
    "while read -r k v x; do [ \"$k\" != MemAvailable: ] || { echo free_kb=$v; break; }; done "
    "</proc/meminfo\n"
    "{ read -r k a b c d e f g h x </proc/stat && echo \"busy=$((a + b + c + f + g))\" && echo "
    "\"steal=$h\"; } 2>/dev/null\n"
    "for z in /sys/class/thermal/thermal_zone*; do rd $z/temp && t=$v && { rd $z/type; echo "
    "\"zone=$t $v\"; }; done\n"
    "for f in $s/cpu[0-9]*/cpufreq/scaling_cur_freq; do rd $f && c=${f#$s/cpu} && echo \"khz=$v "
    "${c%%/*}\"; done\n"
    "for f in $s/cpufreq/policy*/scaling_max_freq; do rd $f && echo cap=$v; done\n"
    "rd $s/cpu0/cpufreq/scaling_governor && echo governor=$v\n"
    "rd $s/cpufreq/boost && echo boost=$v\n"
    "rd $s/intel_pstate/no_turbo && echo no_turbo=$v\n"
    "for p in /sys/class/power_supply/*; do rd $p/type && t=$v && { rd $p/online; echo \"power=$t "
    "$v\"; }; done\n"
    "v=$(getconf CLK_TCK 2>/dev/null) && echo hz=$v\n"
    "if command -v dumpsys >/dev/null 2>&1; then\n"
    "  dumpsys battery 2>/dev/null | sed -n 's/^ *level: */battery=/p; s/^ *temperature: "
    "*/battery_temp=/p'\n"
    "  dumpsys thermalservice 2>/dev/null | sed -n 's/^Thermal Status: */thermal=/p' | head -n 1\n"
    "fi\n"
    "exit 0\n";

static bool next_pair(etp_str *rest, etp_str *key, etp_str *value)
{
    while (etp_str_part(rest, '\n', value)) {
        if (etp_str_cut(value, "=", key) && key->len > 0) {
            *value = etp_str_trim(*value, " ");
            return true;
        }
    }
    return false;
}

const char *etp_remote_shown(etp_str v, etp_arena *arena)
{
    char *copy = etp_arena_strdup(arena, (etp_str){v.ptr, ETP_MIN(v.len, MAX_VALUE)});
    for (char *p = copy; p && *p; p++) {
        *p = (unsigned char)*p < ' ' || *p == 127 ? ' ' : *p;
    }
    return copy;
}

etp_status etp_remote_probe(etp_device *d, etp_arena *arena, etp_details *out, etp_error *err)
{
    const etp_remote *r = d->data;
    etp_remote_call call = {.script = k_facts};
    ETP_TRY(etp_remote_do(d, &call, arena, err));
    etp_device_fact_add(out, arena, "reached_by", r->name);
    etp_str rest = call.out, key, value;
    // The script asks for fewer; a device that answers otherwise could send any number.
    while (out->n < 64 && next_pair(&rest, &key, &value)) {
        const char *k = etp_remote_shown(key, arena);
        etp_device_fact_add(out, arena, k, etp_remote_shown(value, arena));
    }
    for (size_t i = 0; i < d->extra.n; i++) {
        ETP_ADD(arena, out, d->extra.items[i]);
    }
    return etp_arena_check(arena, err, "facts of the device");
}

// ---- state ----

// What a field of the state is computed from, and whether it came at all.
typedef struct readings {
    bool load, free, busy, temperature, frequency, governor, boost, power;
    uint64_t hz, busy_ticks, steal_ticks;
    double battery_c; // NAN: not told
} readings;

static void take_temperature(etp_str v, etp_os_state *out)
{
    etp_str number;
    bool named = etp_str_cut(&v, " ", &number);
    int64_t milli;
    if (!etp_parse_i64(number, &milli) || milli <= 0 || milli > 200000) {
        return; // vendors leave nonsense in zones without a sensor
    }
    double celsius = (double)milli / 1000.0;
    if (isnan(out->temperature_c) || celsius > out->temperature_c) {
        out->temperature_c = celsius;
        snprintf(out->temperature_zone, sizeof out->temperature_zone, "%.*s",
                 named ? (int)v.len : 0, v.ptr);
    }
}

// "1800000 3": kHz and the number of the CPU.
static void take_clock(etp_str v, etp_os_state *out)
{
    uint64_t khz, cpu = ETP_OS_CORES;
    etp_str number;
    bool of_cpu = etp_str_cut(&v, " ", &number);
    if (!etp_parse_u64(number, &khz) || khz == 0) {
        return;
    }
    if (of_cpu && !etp_parse_u64(v, &cpu)) {
        cpu = ETP_OS_CORES;
    }
    etp_os_state_core(out, cpu, khz);
}

static void take_pair(etp_str key, etp_str v, etp_os_state *out, readings *s)
{
    uint64_t n = 0;
    bool number = etp_parse_u64(v, &n);
    if (etp_str_eqz(key, "load")) {
        s->load = etp_parse_double(v, &out->load1);
    } else if (etp_str_eqz(key, "free_kb") && number && n < UINT64_MAX / 1024) {
        out->memory_free_bytes = n * 1024;
    } else if (etp_str_eqz(key, "busy") && number) {
        s->busy = true;
        s->busy_ticks = n;
    } else if (etp_str_eqz(key, "steal") && number) {
        s->steal_ticks = n;
    } else if (etp_str_eqz(key, "hz") && number && n > 0) {
        s->hz = n;
    } else if (etp_str_eqz(key, "zone")) {
        take_temperature(v, out);
    } else if (etp_str_eqz(key, "khz")) {
        take_clock(v, out);
    } else if (etp_str_eqz(key, "cap") && number && n < UINT64_MAX / 1024) {
        out->freq_cap_khz = (out->freq_cap_khz == UINT64_MAX ? 0 : out->freq_cap_khz) + n;
    } else if (etp_str_eqz(key, "thermal") && number && n <= 6) {
        out->thermal_status = n;
    } else if (etp_str_eqz(key, "battery") && number && n <= 100) {
        out->battery_percent = n;
    } else if (etp_str_eqz(key, "battery_temp") && number && n > 0 && n < 2000) {
        // dumpsys gives tenths of a degree.
        s->battery_c = (double)n / 10;
    } else if (etp_str_eqz(key, "governor")) {
        snprintf(out->governor, sizeof out->governor, "%.*s", ETP_STR_ARG(v));
    } else if (etp_str_eqz(key, "boost") && number) {
        out->boost = n != 0;
    } else if (etp_str_eqz(key, "no_turbo") && number && out->boost < 0) {
        out->boost = n == 0;
    } else if (etp_str_eqz(key, "power")) {
        // A device lists its battery and each charger. One charger that delivers is mains, whatever
        // the order.
        if (etp_str_starts(v, ETP_STR("Battery"))) {
            if (out->power[0] == '\0') {
                snprintf(out->power, sizeof out->power, "battery");
            }
        } else if (v.len > 2 && etp_str_eqz((etp_str){v.ptr + v.len - 2, 2}, " 1")) {
            snprintf(out->power, sizeof out->power, "mains");
        }
    }
}

void etp_remote_state(etp_device *d, etp_os_state *out)
{
    *out = etp_os_state_unknown(); // our own sleep would say nothing about the device
    etp_arena arena = {0};
    etp_remote_call call = {.script = k_state};
    readings s = {.hz = 100, .battery_c = (double)NAN};
    if (etp_remote_do(d, &call, &arena, NULL) == ETP_OK) {
        etp_str rest = call.out, key, value;
        while (next_pair(&rest, &key, &value)) {
            take_pair(key, value, out, &s);
        }
    }
    etp_arena_dispose(&arena);
    if (isnan(out->temperature_c) &&
        !isnan(s.battery_c)) { // no zone may be read: the best there is
        out->temperature_c = s.battery_c;
        snprintf(out->temperature_zone, sizeof out->temperature_zone, "battery");
    }
    out->load1 = etp_value_if(s.load, out->load1);
    if (s.busy && s.busy_ticks < UINT64_MAX / 1000 && s.steal_ticks < UINT64_MAX / 1000) {
        out->cpu_busy_ms = s.busy_ticks * 1000 / s.hz;
        out->cpu_steal_ms = s.steal_ticks * 1000 / s.hz;
    }
    const struct {
        bool missing;
        const char *name;
    } k_fields[] = {
        {!s.load,                              "load"         },
        {out->memory_free_bytes == UINT64_MAX, "free memory"  },
        {isnan(out->temperature_c),            "temperature"  },
        {out->freq_min_khz == UINT64_MAX,      "cpu frequency"},
        {out->governor[0] == '\0',             "governor"     },
        {out->boost < 0,                       "boost"        },
        {out->power[0] == '\0',                "power source" },
        {out->cpu_busy_ms == UINT64_MAX,       "cpu time"     },
        {true,                                 "sleep"        }
    };
    for (size_t i = 0; i < sizeof k_fields / sizeof *k_fields; i++) {
        if (k_fields[i].missing) {
            out->unreadable[out->n_unreadable++] = k_fields[i].name;
        }
    }
}
