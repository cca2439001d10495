// SPDX-License-Identifier: Apache-2.0
// The settings of options.def as members of the manifest.
#include <stddef.h>
#include <string.h>

#include "document/rows.h"
#include "store/internal.h"

etp_input_kind etp_input_kind_of(const char *inputs)
{
    if (!inputs || !inputs[0] || strncmp(inputs, "random:", 7) == 0) {
        return ETP_INPUTS_RANDOM;
    }
    return strcmp(inputs, "ones") == 0 ? ETP_INPUTS_ONES : ETP_INPUTS_FILES;
}

bool etp_settings_next_file(etp_str *rest, etp_str *out)
{
    bool found = etp_str_part(rest, ',', out);
    size_t bundled = etp_str_find(*out, ETP_STR(".bpte#"));
    out->len = bundled < out->len ? bundled + strlen(".bpte") : out->len;
    return found;
}

KNOWN(has_cool, etp_cool, it->celsius > 0)

#define OF etp_cool
static const etp_field k_cool_rows[] = {
    FIELD("celsius", NUMBER, celsius, "at most at the start of a block", .most = ETP_MAX_CELSIUS,
          .flags = ETP_ZERO),
    FIELD("wait_s", NUMBER, wait_s, "at most", .most = ETP_MAX_SECONDS, .flags = ETP_ZERO),
};
static SHAPE_ON_ONE_LINE(k_cool, k_cool_rows);
#undef OF

#define OF etp_settings
#define ROW_TEXT(key, field, limit, help) \
    FIELD(key, TEXT, field, help, .flags = ETP_BLANK | ETP_LATER),
#define ROW_FILES(...) ROW_TEXT(__VA_ARGS__)
#define ROW_COUNT(key, field, limit, help) \
    FIELD(key, UINT, field, help, .most = limit, .flags = ETP_LATER),
#define ROW_RATIO(key, field, limit, help) \
    FIELD(key, NUMBER, field, help, .most = ETP_MAX_RATIO, .flags = ETP_ZERO | ETP_LATER),
#define ROW_TIME(key, field, limit, help) \
    FIELD(key, NUMBER, field, help, .most = ETP_MAX_SECONDS, .flags = ETP_ZERO | ETP_LATER),
#define ROW_FLAG(key, field, limit, help) FIELD(key, BOOL, field, help, .flags = ETP_LATER),
#define ROW_OFF(key, field, limit, help) FIELD(key, NOT, field, help, .flags = ETP_LATER),
#define ROW_COOL(key, field, limit, help) \
    FIELD(key, OBJECT, field, help, .shape = &k_cool, .when = has_cool, .flags = ETP_ABSENT),
#define NONE(...)
#define OPTION(where, field, type, key, limit, verbs, resume, name, letter, arg, help) \
    IN_##where(ROW_##type)(key, field, limit, help)

static const etp_field k_plan_rows[] = {
#define IN_PLAN(row) row
#define IN_REQUESTED(row) NONE
#define IN_CALL(row) NONE
#include "store/options.def"
};
SHAPE(k_etp_plan_settings, k_plan_rows);
#undef IN_PLAN
#undef IN_REQUESTED
#define OPTION(where, field, type, key, limit, verbs, resume, name, letter, arg, help) \
    IN_##where(ROW_##type)(key, field, limit, help)
static const etp_field k_requested_rows[] = {
#define IN_PLAN(row) NONE
#define IN_REQUESTED(row) row
#include "store/options.def"
};
SHAPE(k_etp_requested_settings, k_requested_rows);

// What no option, config or manifest may exceed, by type. Texts have no such limit.
#define LIMIT_COUNT(limit) limit, false
#define LIMIT_RATIO(limit) ETP_MAX_RATIO, true
#define LIMIT_TIME(limit) ETP_MAX_SECONDS, true
#define LIMIT_COOL(limit) ETP_MAX_CELSIUS, true // its first member
#define LIMIT_TEXT(limit) 0, false
#define LIMIT_FILES(limit) 0, false
#define LIMIT_FLAG(limit) 0, false
#define LIMIT_OFF(limit) 0, false
#define MOST_PLAN(type, field, limit, name) \
    {name, offsetof(etp_settings, field), LIMIT_##type(limit)},
#define MOST_REQUESTED MOST_PLAN
#define MOST_CALL(...)
static const struct {
    const char *name;
    size_t offset;
    uint64_t most; // 0: no number
    bool real;
} k_limits[] = {
#define OPTION(where, field, type, key, limit, verbs, resume, name, ...) \
    MOST_##where(type, field, limit, name)
#include "store/options.def"
};

etp_status etp_settings_check(const etp_settings *s, etp_error *err)
{
    for (size_t i = 0; i < sizeof k_limits / sizeof *k_limits; i++) {
        uint64_t count = 0, most = k_limits[i].most;
        double real = 0;
        if (most > 0 && k_limits[i].real) {
            memcpy(&real, (const char *)s + k_limits[i].offset, sizeof real);
        } else if (most > 0) {
            memcpy(&count, (const char *)s + k_limits[i].offset, sizeof count);
        }
        if (count > most || real > (double)most) {
            return k_limits[i].real ? etp_fail(err, ETP_USAGE, "--%s is at most %llu, not %.1f",
                                               k_limits[i].name, (unsigned long long)most, real)
                                    : etp_fail(err, ETP_USAGE, "--%s is at most %llu, not %llu",
                                               k_limits[i].name, (unsigned long long)most,
                                               (unsigned long long)count);
        }
    }
    return s->cool.wait_s > ETP_MAX_SECONDS
               ? etp_fail(err, ETP_USAGE, "--cool waits at most %d s, not %.1f", ETP_MAX_SECONDS,
                          s->cool.wait_s)
               : ETP_OK;
}
