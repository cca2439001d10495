// SPDX-License-Identifier: Apache-2.0
// What surrounded the blocks of a session, as a section and as JSON.
#include <math.h>
#include <string.h>

#include "show/json.h"
#include "show/report.h"

typedef double (*figure)(const struct etp_ab_conditions *b);

static double load1(const struct etp_ab_conditions *b)
{
    return b->load1;
}
static double cpus_busy(const struct etp_ab_conditions *b)
{
    return b->cpus_busy;
}
static double cpus_stolen(const struct etp_ab_conditions *b)
{
    return b->cpus_stolen;
}
static double waited(const struct etp_ab_conditions *b)
{
    return b->waited_share;
}
static double temperature(const struct etp_ab_conditions *b)
{
    return b->temperature_c;
}
static double clock_khz(const struct etp_ab_conditions *b)
{
    return b->clock_khz;
}
static double memory(const struct etp_ab_conditions *b)
{
    return b->memory_free_bytes;
}
static double migrations(const struct etp_ab_conditions *b)
{
    return b->migrations;
}
static double interrupted(const struct etp_ab_conditions *b)
{
    return b->interrupted;
}
static double minor(const struct etp_ab_conditions *b)
{
    return b->minor_faults;
}
static double major(const struct etp_ab_conditions *b)
{
    return b->major_faults;
}
static double slept(const struct etp_ab_conditions *b)
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
                    etp_str (*of)(const struct etp_ab_conditions *), etp_keys *keys)
{
    etp_str first = of(&ab->conditions[0]);
    for (size_t i = 1; i < ab->n_conditions; i++) {
        if (!etp_str_eq(of(&ab->conditions[i]), first)) {
            etp_keys_add(keys, ETP_WARN, name, "changed during the session");
            return;
        }
    }
    if (first.len > 0) {
        etp_keys_add(keys, ETP_PLAIN, name, "%.*s", ETP_STR_ARG(first));
    }
}

static etp_str governor(const struct etp_ab_conditions *b)
{
    return b->governor;
}
static etp_str power(const struct etp_ab_conditions *b)
{
    return b->power;
}
static etp_str boost(const struct etp_ab_conditions *b)
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
    if (ab->n_conditions == 0) {
        return;
    }
    for (size_t k = 0; k < FIGURES;
         k++) { // what no block has is said above, not a column of dashes
        bool any = false;
        for (size_t b = 0; b < ab->n_conditions; b++) {
            double v = k_figures[k].of(&ab->conditions[b]);
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
    for (size_t b = 0; b < ab->n_conditions; b++) {
        etp_cell cells[FIGURES + 1] = {etp_cell_u64(ab->conditions[b].block)};
        for (size_t k = 0; k < n; k++) {
            cells[k + 1] =
                cell_of(k_figures[chosen[k]].kind, k_figures[chosen[k]].of(&ab->conditions[b]));
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
    for (size_t b = 0; b < ab->n_conditions; b++) {
        const struct etp_ab_conditions *at = &ab->conditions[b];
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
