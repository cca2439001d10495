// SPDX-License-Identifier: Apache-2.0
// The document etprof.roofs/1, of a cache, of a run folder, or what a user names: its tables, and
// reading it.
#include <string.h>

#include "document/rows.h"
#include "store/internal.h"
#include "store/roofs_file.h"

#define MAX_ROOFS 4096
#define MAX_RATE UINT64_C(1000000000000000000)

WORDS(k_whats, etp_roof_what_name, etp_roof_what, ETP_ROOF_WHATS)
WORDS(k_units, etp_roof_unit_name, etp_roof_unit, ETP_ROOF_UNITS)

static void check_roof(const etp_json_object *o, const void *object, const void *root)
{
    const etp_roof *r = object;
    (void)root;
    if (r->threads == 0) {
        etp_json_reject(o, "threads", "a number from 1 to 256");
    }
    if (etp_json_get_str(o, "what").len == 0) {
        etp_json_reject(o, "what", "the name of a roof");
    }
    bool rate = r->unit != ETP_ROOF_NS;
    if ((r->best == 0) != (r->median == 0) || (rate ? r->best < r->median : r->best > r->median)) {
        etp_json_reject(o, "best", rate ? "at least the median" : "at most the median");
    }
    if (r->again != 0 && (rate ? r->again > r->best : r->again < r->best)) {
        etp_json_reject(o, "again", rate ? "at most the best" : "at least the best");
    }
}

static void check_table(const etp_json_object *root, const void *object, const void *unused)
{
    (void)unused;
    if (!etp_str_eqz(etp_json_get_str(root, "schema"), ETP_ROOFS_SCHEMA)) {
        etp_json_reject(root, "schema", ETP_ROOFS_SCHEMA);
    }
    if (((const etp_roof_table *)object)->n == 0) {
        etp_json_reject(root, "roofs", "a list of roofs");
    }
}

#define OF etp_roof
static const etp_field k_roof_rows[] = {
    FIELD("isa", TEXT, isa, "null: what the C library does", .flags = ETP_EMPTY),
    FIELD("what", WORD, what, "is measured", .words = &k_whats, .flags = ETP_OPEN),
    FIELD("unit", WORD, unit, "of the figures", .words = &k_units),
    FIELD("threads", UINT, threads, "", .most = ETP_ROOF_THREADS_MAX, .range = ETP_FROM_1),
    FIELD("working_set_bytes", UINT, bytes, "of all threads together", .flags = ETP_ZERO),
    FIELD("best", UINT, best, "null: checked, not timed", .most = MAX_RATE, .flags = ETP_ZERO),
    FIELD("median", UINT, median, "likewise", .most = MAX_RATE, .flags = ETP_ZERO),
    FIELD("again", UINT, again, "the best of another pass", .most = MAX_RATE, .flags = ETP_ZERO),
};
static const etp_shape k_roof = {k_roof_rows, 8, sizeof(OF), true, check_roof};
#undef OF
#define OF etp_roof_table
static const etp_field k_table_rows[] = {
    FIELD("device", TEXT, device, "local, an address", .flags = ETP_SET),
    FIELD("cpu", TEXT, cpu, "its name", .flags = ETP_EMPTY),
    FIELD("features", TEXT, features, "what the CPU has", .flags = ETP_SET),
    FIELD("cpus", UINT, cpus, "of the device", .flags = ETP_ZERO),
    FIELD("governor", TEXT, governor, "of the clocks", .flags = ETP_EMPTY),
    FIELD("max_khz", UINT, max_khz, "highest clock of the first processor", .flags = ETP_ZERO),
    FIELD("boost", TRISTATE, boost, "clocks above the nominal one are allowed"),
    FIELD("emulated", BOOL, emulated, "then nothing was timed"),
    FIELD("measured", INT, measured_s, "when, seconds since 1970", .flags = ETP_ZERO),
    FIELD("waited_share", RATIO, waited, "of the time of its threads without a CPU"),
    LIST("roofs", OBJECT, items, n, "what the device can do at most", .shape = &k_roof,
         .most = MAX_ROOFS, .cap_offset = (uint32_t)offsetof(OF, cap)),
};
static SHAPE_CHECKED(k_table, k_table_rows, check_table);
#undef OF
const etp_document k_etp_roofs_document = {ETP_ROOFS_SCHEMA, "roofs.json and what roofs prints",
                                           &k_table};

const char *etp_roofs_doubt(const etp_roof_table *t, double waited_most)
{
    size_t rates = 0, apart = 0;
    for (size_t i = 0; i < t->n; i++) {
        bool rate = t->items[i].unit != ETP_ROOF_NS && t->items[i].again > 0;
        rates += rate;
        apart += rate && etp_roof_noise(&t->items[i]) > ETP_ROOF_AGREE;
    }
    if (t->waited > waited_most) {
        return "other programs took the CPUs while they were measured";
    }
    return etp_z_if(apart > rates / 4, "one pass of the measurement differs from the next");
}

etp_status etp_roofs_read(etp_str text, etp_arena *arena, etp_roof_table *out, etp_error *err)
{
    *out = (etp_roof_table){0};
    return etp_object_of_text(text, &k_table, out, arena, err);
}
