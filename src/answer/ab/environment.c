// SPDX-License-Identifier: Apache-2.0
// What surrounded the blocks of a session, and what of it could not be read.
#include <math.h>

#include "answer/ab/json.h"
#include "answer/ab/report.h"
#include "answer/ab/session.h"

static double known(uint64_t v)
{
    return v == UINT64_MAX ? (double)NAN : (double)v;
}

static double lower(double a, double b)
{
    return fmin(a, b); // passes over a NAN
}

static void take_launches(const etp_run *run, struct etp_ab_surroundings *b)
{
    etp_run_wait waited = {0};
    b->migrations = b->interrupted = b->minor_faults = b->major_faults = 0;
    for (size_t i = 0; i < run->launches.n; i++) {
        const etp_run_launch *l = &run->launches.items[i];
        if (l->block != b->block) {
            continue;
        }
        etp_run_wait_add(&waited, l);
        b->migrations += known(l->migrations);
        b->interrupted += (double)l->involuntary_switches;
        b->minor_faults += (double)l->minor_faults;
        b->major_faults += (double)l->major_faults;
    }
    b->waited_share = etp_run_wait_share(&waited);
}

etp_status etp_ab_take_environment(etp_ab_session *s, const etp_run *run, etp_error *err)
{
    etp_ab *ab = &s->ab;
    ab->surroundings = ETP_NEW_ARRAY(&s->arena, struct etp_ab_surroundings, run->blocks.n + 1);
    ab->unreadable = ETP_NEW_ARRAY(&s->arena, etp_str, run->unreadable.n + 1);
    if (!ab->surroundings || !ab->unreadable) {
        return etp_fail_nomem(err, "environment");
    }
    for (size_t i = 0; i < run->unreadable.n; i++) {
        ab->unreadable[ab->n_unreadable++] = run->unreadable.items[i];
    }
    for (size_t i = 0; i < run->launches.n; i++) {
        uint64_t pad = run->launches.items[i].env_pad_bytes;
        ab->env_pad[0] = i == 0 || pad < ab->env_pad[0] ? pad : ab->env_pad[0];
        ab->env_pad[1] = pad > ab->env_pad[1] ? pad : ab->env_pad[1];
    }
    for (size_t i = 0; i < run->blocks.n; i++) {
        const etp_run_block *in = &run->blocks.items[i];
        const etp_run_moment *a = &in->start, *z = &in->end;
        double wall_ms = (known(z->time_ns) - known(a->time_ns)) / 1e6;
        struct etp_ab_surroundings b = {
            .block = in->block,
            .load1 = etp_run_between(a->load1, z->load1),
            .cpus_busy = wall_ms > 0 ? (known(z->cpu_busy_ms) - known(a->cpu_busy_ms)) / wall_ms
                                     : (double)NAN,
            .cpus_stolen = wall_ms > 0 ? (known(z->cpu_steal_ms) - known(a->cpu_steal_ms)) / wall_ms
                                       : (double)NAN,
            .temperature_c = fmax(a->temperature_c, z->temperature_c),
            .clock_khz = lower(known(a->freq_max_khz), known(z->freq_max_khz)),
            .memory_free_bytes = lower(known(a->memory_free_bytes), known(z->memory_free_bytes)),
            .slept_ns = (double)in->slept_ns,
            .governor = a->governor,
            .power = a->power,
            .boost = a->boost,
        };
        take_launches(run, &b);
        ab->surroundings[ab->n_surroundings++] = b;
    }
    return ETP_OK;
}

// ---- showing ----

typedef double (*figure)(const struct etp_ab_surroundings *b);

static double load1(const struct etp_ab_surroundings *b)
{
    return b->load1;
}
static double cpus_busy(const struct etp_ab_surroundings *b)
{
    return b->cpus_busy;
}
static double cpus_stolen(const struct etp_ab_surroundings *b)
{
    return b->cpus_stolen;
}
static double waited(const struct etp_ab_surroundings *b)
{
    return b->waited_share;
}
static double temperature(const struct etp_ab_surroundings *b)
{
    return b->temperature_c;
}
static double clock_khz(const struct etp_ab_surroundings *b)
{
    return b->clock_khz;
}
static double memory(const struct etp_ab_surroundings *b)
{
    return b->memory_free_bytes;
}
static double migrations(const struct etp_ab_surroundings *b)
{
    return b->migrations;
}
static double interrupted(const struct etp_ab_surroundings *b)
{
    return b->interrupted;
}
static double minor(const struct etp_ab_surroundings *b)
{
    return b->minor_faults;
}
static double major(const struct etp_ab_surroundings *b)
{
    return b->major_faults;
}
static double slept(const struct etp_ab_surroundings *b)
{
    return b->slept_ns;
}

static const struct {
    const char *key, *title, *help;
    etp_kind kind;
    int decimals;
    figure of;
} k_figures[] = {
    {"load1",             "load",         "mean of the readings before and after the block", ETP_KIND_DOUBLE,  2, load1      },
    {"cpus_busy",         "CPUs busy",    "with whatever, this session included",            ETP_KIND_DOUBLE,  2,
     cpus_busy                                                                                                               },
    {"cpus_stolen",       "stolen",       "CPUs that a host gave to others",                 ETP_KIND_DOUBLE,  2, cpus_stolen},
    {"waited",            "waited",
     "share of their time that all its launches lost at most because a thread was ready and no CPU "
     "was free",                                                                             ETP_KIND_PERCENT, 1, waited     },
    {"temperature_c",     "hottest °C",  "of the readings before and after the block",      ETP_KIND_DOUBLE,
     1,                                                                                                           temperature},
    {"clock_khz",         "clock kHz",
     "of the fastest CPU, the lower of the readings before and after the block",             ETP_KIND_INT,     0,
     clock_khz                                                                                                               },
    {"memory_free_bytes", "free memory",  "the lower of the readings",                       ETP_KIND_BYTES,   0, memory     },
    {"migrations",        "moved",        "between CPUs, all launches",                      ETP_KIND_INT,     0, migrations },
    {"interrupted",       "interrupted",  "involuntary context switches, all launches",      ETP_KIND_INT,     0,
     interrupted                                                                                                             },
    {"minor_faults",      "page faults",  "without reading, all launches",                   ETP_KIND_INT,     0, minor      },
    {"major_faults",      "from storage", "page faults that read",                           ETP_KIND_INT,     0, major      },
    {"slept_ns",          "asleep",       "the machine was suspended",                       ETP_KIND_NS,      0, slept      },
};
enum { FIGURES = sizeof k_figures / sizeof *k_figures };

static etp_cell cell_of(etp_kind kind, double v)
{
    if (!isfinite(v)) {
        return etp_cell_missing();
    }
    return kind == ETP_KIND_DOUBLE || kind == ETP_KIND_PERCENT ? etp_cell_double(v)
           : kind == ETP_KIND_NS                               ? etp_cell_ns(llround(v))
                                                               : etp_cell_u64((uint64_t)llround(v));
}

// Settings that all blocks had, or that they changed.
static void setting(const etp_ab *ab, const char *name,
                    etp_str (*of)(const struct etp_ab_surroundings *), etp_keys *keys)
{
    etp_str first = of(&ab->surroundings[0]);
    for (size_t i = 1; i < ab->n_surroundings; i++) {
        if (!etp_str_eq(of(&ab->surroundings[i]), first)) {
            etp_keys_add(keys, ETP_WARN, name, "changed during the session");
            return;
        }
    }
    if (first.len > 0) {
        etp_keys_add(keys, ETP_PLAIN, name, "%.*s", ETP_STR_ARG(first));
    }
}

static etp_str governor(const struct etp_ab_surroundings *b)
{
    return b->governor;
}
static etp_str power(const struct etp_ab_surroundings *b)
{
    return b->power;
}
static etp_str boost(const struct etp_ab_surroundings *b)
{
    return b->boost < 0 ? ETP_STR("") : b->boost > 0 ? ETP_STR("on") : ETP_STR("off");
}

static void settings(const etp_ab *ab, etp_report *r, etp_arena *arena)
{
    etp_keys *keys = etp_report_keys(r, NULL);
    etp_strbuf text;
    etp_strbuf_init(&text, arena);
    setting(ab, "governor", governor, keys);
    setting(ab, "boost", boost, keys);
    setting(ab, "power", power, keys);
    for (size_t i = 0; i < ab->n_device; i++) {
        if (strcmp(ab->device[i].key, "address_randomisation") == 0) {
            const char *value = ab->device[i].value;
            etp_keys_add(keys, ETP_PLAIN, "ASLR", "%s (%s)", value,
                         strcmp(value, "0") == 0 ? "off: every launch has the same addresses"
                                                 : "on");
        }
    }
    if (ab->env_pad[1] > 0) {
        etp_keys_add(keys, ETP_PLAIN, "environment size",
                     "drawn anew for each launch, %llu to %llu bytes more",
                     (unsigned long long)ab->env_pad[0], (unsigned long long)ab->env_pad[1]);
    }
    for (size_t i = 0; i < ab->n_unreadable; i++) {
        etp_strbuf_printf(&text, "%s%.*s", i > 0 ? ", " : "", ETP_STR_ARG(ab->unreadable[i]));
    }
    etp_keys_add(keys, ETP_PLAIN, "not readable here", "%s",
                 ab->n_unreadable ? etp_strbuf_str(&text).ptr : "nothing: all of it was read");
}

void etp_ab_environment_section(const etp_ab *ab, etp_report *r, etp_arena *arena)
{
    etp_column columns[FIGURES + 1] = {
        {.key = "block", .title = "block", .kind = ETP_KIND_INT}
    };
    size_t chosen[FIGURES], n = 0;
    if (ab->n_surroundings == 0) {
        return;
    }
    for (size_t k = 0; k < FIGURES;
         k++) { // what no block has is said above, not a column of dashes
        bool any = false;
        for (size_t b = 0; b < ab->n_surroundings; b++) {
            double v = k_figures[k].of(&ab->surroundings[b]);
            any = any || (isfinite(v) && (v > 0 || k_figures[k].of != slept));
        }
        if (any) {
            chosen[n++] = k;
            columns[n] = (etp_column){.key = k_figures[k].key,
                                      .title = k_figures[k].title,
                                      .help = k_figures[k].help,
                                      .kind = k_figures[k].kind,
                                      .decimals = k_figures[k].decimals};
        }
    }
    etp_report_section(r, 1, "environment", "Environment");
    etp_report_section_is_detail(r);
    settings(ab, r, arena);
    etp_table *t = etp_report_table(r, "environment", NULL, columns, n + 1);
    for (size_t b = 0; b < ab->n_surroundings; b++) {
        etp_cell cells[FIGURES + 1] = {etp_cell_u64(ab->surroundings[b].block)};
        for (size_t k = 0; k < n; k++) {
            cells[k + 1] =
                cell_of(k_figures[chosen[k]].kind, k_figures[chosen[k]].of(&ab->surroundings[b]));
        }
        etp_table_add_row(t, cells, n + 1);
    }
}

void etp_ab_environment_json(etp_json *j, const etp_ab *ab)
{
    etp_json_key(j, "environment");
    etp_json_begin_object(j);
    etp_json_key(j, "unreadable");
    etp_json_begin_array_inline(j);
    for (size_t i = 0; i < ab->n_unreadable; i++) {
        etp_json_str(j, ab->unreadable[i]);
    }
    etp_json_end(j);
    etp_json_key(j, "blocks");
    etp_json_begin_array(j);
    for (size_t b = 0; b < ab->n_surroundings; b++) {
        const struct etp_ab_surroundings *at = &ab->surroundings[b];
        etp_json_begin_object_inline(j);
        etp_json_kv_u64(j, "block", at->block);
        for (size_t k = 0; k < FIGURES; k++) {
            double v = k_figures[k].of(at);
            if (k_figures[k].kind == ETP_KIND_DOUBLE || k_figures[k].kind == ETP_KIND_PERCENT) {
                etp_json_kv_ratio(j, k_figures[k].key, v);
            } else {
                etp_json_kv_rounded(j, k_figures[k].key, v);
            }
        }
        etp_json_kv_str_if(j, "governor", at->governor, at->governor.len > 0);
        etp_json_kv_bool_if(j, "boost", at->boost > 0, at->boost >= 0);
        etp_json_kv_str_if(j, "power", at->power, at->power.len > 0);
        etp_json_end(j);
    }
    etp_json_end(j);
    etp_json_end(j);
}
