// SPDX-License-Identifier: Apache-2.0
// What people read for a series that a session made: "net, VNNI, 1 thread: time" for
// net_linux_vnni_t1_ns. Documents, tables and commands keep the name.
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "isa/isa.h"
#include "study/history/internal.h"

// Cuts S before its last MARK; FALSE: it has none.
static bool cut_last(etp_str *s, etp_str mark, etp_str *out_after)
{
    for (size_t at = s->len; at-- > 0;) {
        etp_str rest = {s->ptr + at, s->len - at};
        if (etp_str_starts(rest, mark)) {
            *out_after = (etp_str){rest.ptr + mark.len, rest.len - mark.len};
            s->len = at;
            return true;
        }
    }
    return false;
}

// Of "vnni", "sme2_off", "vnni_decode0"; *REST is what stands behind the level.
// "sme2_on" and "sme2_off" are the experiments that Arm's kit knows, for sme2 and neon.
static const etp_level_info *level_of(etp_str word, etp_str *rest)
{
    static const etp_str off = {"sme2_off", 8}, on = {"sme2_on", 7};
    etp_level level = ETP_LEVEL_NONE;
    size_t len = etp_str_find(word, ETP_STR("_"));
    char name[16] = "";
    if (etp_str_starts(word, off) || etp_str_starts(word, on)) {
        level = etp_str_starts(word, on) ? ETP_LEVEL_SME2 : ETP_LEVEL_NEON;
        len = level == ETP_LEVEL_SME2 ? on.len : off.len;
    } else if (len < sizeof name) {
        memcpy(name, word.ptr, len);
        level = etp_level_find(ETP_ISA_NONE, name);
    }
    *rest = len < word.len ? (etp_str){word.ptr + len + 1, word.len - len - 1} : (etp_str){"", 0};
    return level == ETP_LEVEL_NONE ? NULL : etp_level_get(level);
}

// A series is <model>_<platform>_<experiment>_t<threads>_<figure>. It is taken apart from the end,
// since a model's name may hold any of these words; what does not fit is somebody's own name and
// stays as it is.
etp_str etp_history_called(etp_str name, etp_arena *arena)
{
    static const etp_str k_platforms[] = {
        {"_linux_",   7},
        {"_android_", 9},
        {"_mac_",     5}
    };
    etp_str model, threads, word = {"", 0}, rest;
    uint64_t n = 0;
    const char *figure = etp_series_unit_word(etp_series_unit_of(name, &model));
    bool ours = figure && cut_last(&model, ETP_STR("_t"), &threads) && etp_parse_u64(threads, &n);
    bool found = false;
    for (size_t i = 0; i < sizeof k_platforms / sizeof *k_platforms && ours && !found; i++) {
        found = cut_last(&model, k_platforms[i], &word);
    }
    const etp_level_info *level = found ? level_of(word, &rest) : NULL;
    if (!level) {
        return name;
    }
    size_t half = model.len / 2; // of several models or thread counts the experiment names its own
    if (model.len > 2 && model.ptr[half] == '_' &&
        etp_str_eq((etp_str){model.ptr, half},
                   (etp_str){model.ptr + half + 1, model.len - half - 1})) {
        model.len = half;
    }
    // "vnni_t2" with 2 threads: the number would be said twice.
    if (rest.len == threads.len + 1 && etp_str_ends(rest, threads)) {
        rest.len = 0;
    }
    const char *called = etp_arena_printf(
        arena, "%.*s, %s%s%.*s, %llu thread%s: %s", ETP_STR_ARG(model), level->word,
        rest.len ? " " : "", ETP_STR_ARG(rest), (unsigned long long)n, n == 1 ? "" : "s", figure);
    return called ? etp_str_from(called) : name;
}

double etp_history_ratio(double v)
{
    char text[ETP_NUMBER_CHARS];
    double six;
    return isfinite(v) && etp_parse_double(etp_str_from(etp_format_ratio(v, text)), &six) ? six : v;
}
