// SPDX-License-Identifier: Apache-2.0
// What surrounded the blocks of a session, as a section and as JSON.
#include <math.h>
#include <string.h>

#include "document/rows.h"
#include "show/json.h"
#include "show/report.h"

// ---- JSON ----

#define OF etp_ab_conditions
static const etp_field k_block_rows[] = {
    FIELD("block", UINT, block, "from 1", .range = ETP_FROM_1),
    FIELD("load1", RATIO, load1, "mean of the readings before and after the block"),
    FIELD("cpus_busy", RATIO, cpus_busy, "running anything, this session included"),
    FIELD("cpus_stolen", RATIO, cpus_stolen, "CPUs that a host gave to others"),
    FIELD("waited", RATIO, waited_share,
          "share of their time that all its launches lost at most because a thread was ready and "
          "no CPU was free"),
    FIELD("temperature_c", RATIO, temperature_c, "of the readings before and after the block",
          .range = ETP_SIGNED),
    FIELD("clock_khz", ROUNDED, clock_khz,
          "of the fastest CPU, the lower of the readings before and after the block"),
    FIELD("memory_free_bytes", ROUNDED, memory_free_bytes, "the lower of the readings"),
    FIELD("migrations", ROUNDED, migrations, "between CPUs, all launches"),
    FIELD("interrupted", ROUNDED, interrupted, "involuntary context switches, all launches"),
    FIELD("minor_faults", ROUNDED, minor_faults, "without reading, all launches"),
    FIELD("major_faults", ROUNDED, major_faults, "page faults that read"),
    FIELD("slept_ns", ROUNDED, slept_ns, "the machine was suspended"),
    FIELD("governor", STR, governor, "of the clocks", .flags = ETP_EMPTY),
    FIELD("boost", TRISTATE, boost, "clocks above the nominal one are allowed"),
    FIELD("power", STR, power, "battery or mains", .flags = ETP_EMPTY),
};
static SHAPE_ON_ONE_LINE(k_block, k_block_rows);
#undef OF
#define OF etp_ab
static const etp_field k_environment_rows[] = {
    LIST("unreadable", STR, environment.unreadable, environment.n_unreadable,
         "what this device does not tell", .flags = ETP_ONE_LINE),
    LIST("blocks", OBJECT, environment.blocks, environment.n_blocks, "in order", .shape = &k_block),
};
SHAPE(k_etp_ab_environment, k_environment_rows);
#undef OF

// ---- section ----

// Its columns show the members of a block from "load1" on.
static const struct {
    const char *title;
    etp_kind kind;
    int decimals;
    unsigned flags;
} k_columns[] = {
    {"load",         ETP_KIND_DOUBLE,  2, 0            },
    {"CPUs busy",    ETP_KIND_DOUBLE,  2, 0            },
    {"stolen",       ETP_KIND_DOUBLE,  2, 0            },
    {"waited",       ETP_KIND_PERCENT, 1, 0            },
    {"hottest °C",  ETP_KIND_DOUBLE,  1, 0            },
    {"clock MHz",    ETP_KIND_INT,     0, 0            }, // recorded in kHz
    {"free memory",  ETP_KIND_BYTES,   0, 0            },
    {"moved",        ETP_KIND_INT,     0, 0            },
    {"interrupted",  ETP_KIND_INT,     0, 0            },
    {"page faults",  ETP_KIND_INT,     0, ETP_COL_MINOR},
    {"from storage", ETP_KIND_INT,     0, ETP_COL_MINOR},
    {"asleep",       ETP_KIND_NS,      0, 0            },
};
// Column k is row k + 1 of the document: the block's number stands first there.
enum {
    FIGURES = sizeof k_columns / sizeof *k_columns,
    TEMPERATURE = 4,
    CLOCK,
    ASLEEP = FIGURES - 1
};

// The document's table already says where each figure lies in the struct (rows.h checks the type);
// a second list of members could drift from it.
static double figure(const etp_ab_conditions *block, size_t column)
{
    double v =
        *(const double *)(const void *)((const char *)block + k_block_rows[column + 1].offset);
    return column == CLOCK ? v / 1000 : v;
}

// Counts are doubles in the struct, because NAN is how an unread one looks.
static etp_cell cell_of(etp_kind kind, double v)
{
    if (!isfinite(v)) {
        return etp_cell_missing();
    }
    if (kind == ETP_KIND_DOUBLE || kind == ETP_KIND_PERCENT) {
        return etp_cell_double(v);
    }
    return kind == ETP_KIND_NS ? etp_cell_ns(llround(v)) : etp_cell_u64((uint64_t)llround(v));
}

// Settings that all blocks had, or that they changed.
// A setting that changed is worth a warning, whichever values it had.
static void setting(const etp_ab *ab, const char *name, etp_str (*of)(const etp_ab_conditions *),
                    etp_keys *keys)
{
    etp_str first = of(&ab->environment.blocks[0]);
    for (size_t i = 1; i < ab->environment.n_blocks; i++) {
        if (!etp_str_eq(of(&ab->environment.blocks[i]), first)) {
            etp_keys_add(keys, ETP_WARN, name, "changed during the session");
            return;
        }
    }
    if (first.len > 0) {
        etp_keys_add(keys, ETP_PLAIN, name, "%.*s", ETP_STR_ARG(first));
    }
}

static etp_str governor(const etp_ab_conditions *b)
{
    return b->governor;
}
static etp_str power(const etp_ab_conditions *b)
{
    return b->power;
}
static etp_str boost(const etp_ab_conditions *b)
{
    etp_str known = b->boost ? ETP_STR("on") : ETP_STR("off");
    return b->boost < 0 ? ETP_STR("") : known;
}

// One figure over the blocks, where it was read more than once.
static void course(const etp_ab *ab, size_t column, const char *id, const char *title,
                   const char *unit, etp_report *r)
{
    size_t n = 0;
    for (size_t b = 0; b < ab->environment.n_blocks; b++) {
        n += (isfinite(figure(&ab->environment.blocks[b], column)) != 0);
    }
    if (n < 2) {
        return;
    }
    etp_chart *c = etp_report_chart(r, ETP_CHART_LINES, id, title, ETP_KIND_DOUBLE);
    etp_chart_x_title(c, "block");
    etp_chart_series(c, unit);
    for (size_t b = 0; b < ab->environment.n_blocks; b++) {
        double v = figure(&ab->environment.blocks[b], column);
        etp_chart_point(c, ab->environment.blocks[b].block, &v, 1);
    }
}

void etp_ab_environment_section(const etp_ab *ab, etp_report *r, etp_arena *arena)
{
    etp_column columns[FIGURES + 1] = {
        {.key = "block", .title = "block", .kind = ETP_KIND_INT}
    };
    if (ab->environment.n_blocks == 0) {
        return;
    }
    for (size_t k = 0; k < FIGURES; k++) {
        bool any = false; // what no block has is said above, not a column of dashes
        for (size_t b = 0; b < ab->environment.n_blocks; b++) {
            double v = figure(&ab->environment.blocks[b], k);
            // Sleep is read everywhere and almost always 0: a column of zeros would say nothing.
            any = any || (isfinite(v) && (v > 0 || k != ASLEEP));
        }
        columns[k + 1] = (etp_column){.key = k_block_rows[k + 1].key,
                                      .title = k_columns[k].title,
                                      .help = k_block_rows[k + 1].doc,
                                      .kind = k_columns[k].kind,
                                      .flags = any ? k_columns[k].flags : ETP_COL_ABSENT,
                                      .decimals = k_columns[k].decimals};
    }
    etp_report_section(r, 1, "environment", "Environment");
    etp_report_section_is_folded(r);
    etp_report_section_is_detail(r);
    etp_keys *keys = etp_report_keys(r, NULL);
    etp_strbuf text;
    etp_strbuf_init(&text, arena);
    setting(ab, "governor", governor, keys);
    setting(ab, "boost", boost, keys);
    setting(ab, "power", power, keys);
    const char *aslr = etp_ab_fact_of(ab, "address_randomisation");
    if (aslr) {
        etp_keys_add(keys, ETP_PLAIN, "ASLR", "%s (%s)", aslr,
                     strcmp(aslr, "0") == 0 ? "off: every launch has the same addresses" : "on");
    }
    if (ab->environment.pad[1] > 0) {
        etp_keys_add(keys, ETP_PLAIN, "environment size",
                     "drawn anew for each launch, %llu to %llu bytes more",
                     (unsigned long long)ab->environment.pad[0],
                     (unsigned long long)ab->environment.pad[1]);
    }
    for (size_t i = 0; i < ab->environment.n_unreadable; i++) {
        etp_strbuf_printf(&text, "%s%.*s", etp_if(i > 0, ", "),
                          ETP_STR_ARG(ab->environment.unreadable[i]));
    }
    etp_keys_add(keys, ETP_PLAIN, "not readable here", "%s",
                 ab->environment.n_unreadable ? etp_strbuf_str(&text).ptr
                                              : "nothing: all of it was read");
    etp_medium medium = etp_report_medium(r, ETP_ON_PAGE);
    course(ab, TEMPERATURE, "temperature", "Temperature over the session", "°C", r);
    course(ab, CLOCK, "clock", "Clock over the session", "MHz", r);
    etp_report_medium(r, medium);
    etp_table *t = etp_report_table(r, "environment", NULL, columns, FIGURES + 1);
    for (size_t b = 0; b < ab->environment.n_blocks; b++) {
        etp_cell cells[FIGURES + 1] = {etp_cell_u64(ab->environment.blocks[b].block)};
        for (size_t k = 0; k < FIGURES; k++) {
            cells[k + 1] = cell_of(k_columns[k].kind, figure(&ab->environment.blocks[b], k));
        }
        etp_table_add_row(t, cells, FIGURES + 1);
    }
}
