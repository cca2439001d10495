// SPDX-License-Identifier: Apache-2.0
// What the files in the kit's form share: how they write a value, which comparison an arm has.
#include "kit/parts.h"

#include <math.h>

#include "base/csv.h"
#include "base/number.h"
#include "operators/delegates.h"
#include "trace/timeline.h"

// A comma and V ÷ 10^DECIMALS, exactly. By hand: a timeline has millions of them, and printf is
// half its time.
static void put_decimal(etp_sink *sink, bool negative, uint64_t v, unsigned decimals)
{
    char buf[32]; // comma, sign, 20 digits, point
    size_t at = sizeof buf;
    for (unsigned done = 0; v > 0 || done <= decimals; done++) {
        if (decimals && done == decimals) {
            buf[--at] = '.';
        }
        buf[--at] = (char)('0' + v % 10);
        v /= 10;
    }
    if (negative) {
        buf[--at] = '-';
    }
    buf[--at] = ',';
    etp_sink_write(sink, (etp_str){buf + at, sizeof buf - at});
}

// The magnitude of the smallest int64_t does not fit an int64_t, hence the unsigned difference.
void etp_kit_put_ms(etp_sink *sink, int64_t ns)
{
    put_decimal(sink, ns < 0, ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns, 6);
}

void etp_kit_put_us(etp_sink *sink, uint64_t ns)
{
    put_decimal(sink, false, ns, 3);
}

void etp_kit_put_i64(etp_sink *sink, int64_t v)
{
    put_decimal(sink, v < 0, v < 0 ? 0 - (uint64_t)v : (uint64_t)v, 0);
}

void etp_kit_put_ratio(etp_sink *sink, double v)
{
    char buf[ETP_NUMBER_CHARS];
    etp_sink_char(sink, ',');
    if (isfinite(v)) {
        etp_sink_z(sink, etp_format_ratio(v, buf));
    }
}

void etp_kit_put_ns(etp_sink *sink, int64_t ns)
{
    if (ns != ETP_NS_UNKNOWN) {
        etp_kit_put_i64(sink, ns);
    } else {
        etp_sink_char(sink, ',');
    }
}

void etp_kit_put_text(etp_sink *sink, etp_str text)
{
    etp_sink_char(sink, ',');
    etp_csv_text(sink, text);
}

static etp_str backend_of(const etp_profile *p, size_t row)
{
    if (p->facts && !p->facts->problem) {
        return p->facts->rows[row].op.backend;
    }
    const etp_delegate *wrote = etp_delegate_of_event(p->rows[row].name);
    return wrote ? etp_str_from(wrote->id) : ETP_STR("delegated");
}

etp_str etp_kit_delegate_of(const etp_profile *p)
{
    etp_str backend = {0};
    for (size_t i = 0; p && i < p->n_rows; i++) {
        bool delegated = p->rows[i].delegated && etp_row_is_operator(p->rows[i].kind);
        etp_str own = delegated ? backend_of(p, i) : (etp_str){0};
        if (own.len > 0 && backend.len > 0 && !etp_str_eq(own, backend)) {
            return ETP_STR("delegated");
        }
        backend = own.len > 0 ? own : backend;
    }
    return backend.len > 0 ? backend : ETP_STR("delegated");
}

void etp_kit_put_backend(etp_sink *sink, const etp_kit_arm *arm, bool delegated)
{
    etp_kit_put_text(sink, delegated ? arm->delegate : ETP_STR("portable"));
}

void etp_kit_put_level(etp_sink *sink, const etp_kit_arm *arm)
{
    const char *level = arm->arm->level_name;
    etp_kit_put_text(sink, etp_str_from(ETP_OR(level, ETP_CSV_UNKNOWN)));
}

const char *etp_kit_arm_file(const etp_kit *kit, const etp_kit_arm *arm, const char *suffix)
{
    return etp_arena_printf(kit->arena, "%s%s%s", arm->folder, arm->stem, suffix);
}

const char *etp_kit_timeline_file(const etp_kit *kit, const etp_kit_arm *arm)
{
    return kit->timelines ? etp_kit_arm_file(kit, arm, ETP_KIT_TIMELINE_ALL) : NULL;
}
