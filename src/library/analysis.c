// SPDX-License-Identifier: Apache-2.0
// Opening: the caller's words become those of an ab session, which keeps copies of them.
#include <math.h>

#include "base/number.h"
#include "library/handle.h"
#include "library/sized.h"
#include "store/store.h"

// The answer goes on to use paths and names that it was opened with: each text is copied first.
static etp_status open_paths(etp_analysis *a, const char *const *paths, size_t n,
                             const etp_analysis_options *given, bool two_sides, etp_error *err)
{
    etp_analysis_options o;
    ETP_TRY(etp_options_take(&o, sizeof o, ETP_SIZE_TO(etp_analysis_options, names), given,
                             "etp_analysis_options", err));
    if (!isfinite(o.margin) || o.margin < 0) {
        return etp_fail(err, ETP_USAGE, "the margin is %s, not a ratio from 0 on",
                        ETP_DIGITS(o.margin, 6));
    }
    // The position says it already, and a name that says something else could not be followed.
    if (two_sides && o.baseline) {
        return etp_fail(err, ETP_USAGE, "of two sides the first is the baseline: leave it out");
    }
    const etp_ab_options options = {
        .baseline = etp_keep(&a->arena, o.baseline),
        .margin = o.margin,
        .program = etp_keep(&a->arena, o.program),
        .record = etp_keep(&a->arena, o.record),
        .roofs = etp_keep(&a->arena, o.roofs),
        .two_sides = two_sides,
        .names = {etp_keep(&a->arena, o.names[0]), etp_keep(&a->arena, o.names[1])},
    };
    const char *const *own;
    ETP_TRY(etp_keep_list(&a->arena, paths, n, "path", &own, err));
    ETP_TRY(etp_arena_check(&a->arena, err, "analysis")); // an option left out means another thing
    return etp_ab_open(own, n, &options, &a->session, err);
}

static etp_status analysis_open(const char *const *paths, size_t n,
                                const etp_analysis_options *options, bool two_sides,
                                etp_analysis **out, etp_error *err)
{
    if (!out) {
        return etp_fail(err, ETP_USAGE, "no place for the analysis");
    }
    *out = NULL;
    if (!paths || n == 0) {
        return etp_fail(err, ETP_USAGE, "no paths to analyse");
    }
    etp_arena arena = {0};
    etp_analysis *a = ETP_NEW(&arena, etp_analysis);
    ETP_NEED(a, err, "analysis");
    // The struct lies in memory of the arena. From here on the copy inside it is the one that
    // grows, and `arena` is not used again.
    a->arena = arena;
    etp_status st = open_paths(a, paths, n, options, two_sides, err);
    if (st != ETP_OK) {
        etp_analysis_close(a);
        return st;
    }
    *out = a;
    return ETP_OK;
}

etp_status etp_analysis_open_run(const char *dir, const etp_analysis_options *options,
                                 etp_analysis **out, etp_error *err)
{
    // The error below comes before analysis_open, which otherwise clears the handle.
    if (out) {
        *out = NULL;
    }
    if (!dir) {
        return etp_fail(err, ETP_USAGE, "no run folder to analyse");
    }
    ETP_TRY(etp_run_expect(dir, err));
    return analysis_open(&dir, 1, options, false, out, err);
}

etp_status etp_analysis_open_dumps(const char *const *paths, size_t n_paths,
                                   const etp_analysis_options *options, etp_analysis **out,
                                   etp_error *err)
{
    return analysis_open(paths, n_paths, options, false, out, err);
}

etp_status etp_analysis_compare(const char *a, const char *b, const etp_analysis_options *options,
                                etp_analysis **out, etp_error *err)
{
    const char *sides[2] = {a, b};
    return analysis_open(sides, 2, options, true, out, err);
}

void etp_analysis_close(etp_analysis *analysis)
{
    if (analysis) {
        // The session first: it borrows the copied paths and options from the arena.
        etp_ab_close(analysis->session);
        etp_arena arena = analysis->arena;
        etp_arena_dispose(&arena);
    }
}
