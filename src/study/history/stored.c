// SPDX-License-Identifier: Apache-2.0
// Questions over time to the store of sessions, and filling it.
#include "study/history/stored.h"

#include <math.h>
#include <string.h>

#include "base/guard.h"
#include "os/os.h"
#include "store/store.h"
#include "study/history/internal.h"

// ---- series ----

// Times of several devices are no series: which ones there are.
static etp_status one_device(const etp_archive_trend *t, etp_arena *arena, etp_error *err)
{
    // For the message: nobody reads more, and two are enough to refuse.
    enum { MOST = 8 };
    const etp_archive_point *seen[MOST];
    size_t n = 0;
    for (size_t i = 0; i < t->n && n < MOST; i++) {
        const etp_archive_point *x = &t->items[i];
        bool known = false;
        for (size_t k = 0; k < n; k++) {
            known = known ||
                    (etp_str_eq(seen[k]->device, x->device) && etp_str_eq(seen[k]->cpu, x->cpu));
        }
        if (!known) {
            seen[n++] = x;
        }
    }
    if (n < 2) {
        return ETP_OK;
    }
    etp_strbuf names;
    etp_strbuf_init(&names, arena);
    for (size_t i = 0; i < n; i++) {
        etp_strbuf_printf(&names, "%s'%.*s' (%.*s)", i ? ", " : "", ETP_STR_ARG(seen[i]->device),
                          ETP_STR_ARG(seen[i]->cpu));
    }
    return etp_fail(err, ETP_USAGE,
                    "sessions of several devices fit, whose times are no series: choose one with "
                    "--on; there are %s%s",
                    names.ptr, n == MOST ? " and perhaps more" : "");
}

static void put_run(etp_history *h, const etp_archive_point *x)
{
    etp_str *to = ETP_NEW_ARRAY(h->arena, etp_str, ETP_HISTORY_ATTRIBUTES);
    to[ETP_HISTORY_PROGRAM] = etp_history_short_hashes(x->programs, h->arena);
    to[ETP_HISTORY_RUNNER] = etp_history_short_hashes(x->runner_sha256, h->arena);
    to[ETP_HISTORY_EXECUTORCH] = x->executorch;
    to[ETP_HISTORY_ETPROF] = x->etprof;
    to[ETP_HISTORY_CPU] = x->cpu;
    etp_history_run run = {x->generated_at, to};
    ETP_ADD(h->arena, &h->runs, run);
}

// By the name that the files of the arm have in its folder.
static etp_status put_figure(etp_history *h, const etp_archive_point *x, etp_series_unit unit,
                             size_t run, size_t n_runs, double value, etp_error *err)
{
    if (!isfinite(value)) {
        return ETP_OK;
    }
    const char *name = etp_arena_printf(h->arena, "%.*s_%.*s_t%llu%s", ETP_STR_ARG(x->model),
                                        ETP_STR_ARG(x->experiment), (unsigned long long)x->threads,
                                        etp_series_unit_end(unit));
    return etp_history_put(h, etp_str_from(name), x->phase, run, n_runs, value, err);
}

// etp_archive_points sorts by time, folder and arm: the points of one session are neighbours, and
// those of one phase within it.
static bool same_run(const etp_archive_point *a, const etp_archive_point *b)
{
    return etp_str_eq(a->run_id, b->run_id);
}

// The arms of one phase of one session, from FIRST up to END.
static etp_status put_part(etp_history *h, const etp_archive_trend *t, size_t first, size_t end,
                           size_t run, size_t n_runs, etp_error *err)
{
    for (size_t i = first; i < end; i++) {
        const etp_archive_point *x = &t->items[i];
        ETP_TRY(put_figure(h, x, ETP_SERIES_TIME, run, n_runs, x->median_ns, err));
        ETP_TRY(put_figure(h, x, ETP_SERIES_RATE, run, n_runs, etp_history_ratio(x->tokens_per_s),
                           err));
    }
    // Times of all arms first, then the ratios: the order in which history.c takes them from
    // folders, so that both sources give the same document.
    for (size_t i = first; i < end; i++) {
        const etp_archive_point *x = &t->items[i];
        ETP_TRY(put_figure(h, x, ETP_SERIES_SPEEDUP, run, n_runs,
                           x->compared ? etp_history_ratio(x->estimate) : (double)NAN, err));
    }
    return ETP_OK;
}

static etp_status put_all(etp_history *h, const etp_archive_trend *t, size_t n_runs, etp_error *err)
{
    size_t run = 0;
    for (size_t i = 0; i < t->n;) {
        size_t end = i + 1;
        while (end < t->n && same_run(&t->items[i], &t->items[end]) &&
               etp_str_eq(t->items[i].phase, t->items[end].phase)) {
            end++;
        }
        ETP_TRY(put_part(h, t, i, end, run, n_runs, err));
        run += end < t->n && !same_run(&t->items[i], &t->items[end]);
        i = end;
    }
    return ETP_OK;
}

static etp_status fill(etp_history *out, const etp_archive_trend *t, etp_error *err)
{
    if (t->n == 0) {
        return etp_fail(err, ETP_USAGE,
                        "no session in the store that fits and was measured on a real device: "
                        "'etprof history list' shows what there is, 'etprof history add FOLDER...' "
                        "enters run folders");
    }
    ETP_TRY(one_device(t, out->arena, err));
    etp_history_put_attributes(out);
    for (size_t i = 0; i < t->n; i++) {
        if (i > 0 && same_run(&t->items[i - 1], &t->items[i])) {
            continue;
        }
        if (out->runs.n == ETP_HISTORY_MAX_RUNS) {
            return etp_fail(err, ETP_UNSUPPORTED,
                            "more than %d sessions: choose with --of, --since",
                            ETP_HISTORY_MAX_RUNS);
        }
        put_run(out, &t->items[i]);
    }
    return put_all(out, t, out->runs.n, err);
}

etp_status etp_history_of_archive(etp_archive *a, const etp_archive_filter *filter,
                                  etp_history *out, etp_error *err)
{
    etp_archive_trend t;
    ETP_TRY(etp_archive_points(a, filter, out->arena, &t, err));
    ETP_GUARDED(out->arena, err, "the history", fill(out, &t, err));
}

// ---- filling ----

typedef struct filler {
    etp_archive *archive;
    bool again;
    etp_history_tell *tell;
    void *ctx;
    etp_history_entered *entered;
} filler;

// A folder that cannot be read is told and passed over; a store that cannot be written ends it.
static etp_status enter(void *ctx, const char *path, etp_error *err)
{
    filler *f = ctx;
    etp_archive_added added;
    etp_error why = {.offset = ETP_NO_OFFSET};
    etp_status st = etp_history_enter_folder(f->archive, path, f->again, &added, &why);
    if (st != ETP_OK && added == ETP_ARCHIVE_UNREAD && st != ETP_NOMEM) {
        f->entered->bad++;
        f->tell(f->ctx, path, why.msg);
        return ETP_OK;
    }
    if (st != ETP_OK) {
        return etp_fail(err, st, "%s", why.msg);
    }
    f->entered->added += added == ETP_ARCHIVE_NEW;
    f->entered->known += added == ETP_ARCHIVE_KNOWN;
    f->entered->renewed += added == ETP_ARCHIVE_RENEWED;
    f->entered->unfinished += added == ETP_ARCHIVE_NOT;
    return ETP_OK;
}

static etp_status enter_all(filler *f, const char *const *paths, size_t n, etp_error *err)
{
    for (size_t i = 0; i < n; i++) {
        etp_arena arena = {0};
        etp_status st = etp_os_is_dir(paths[i])
                            ? etp_history_each_folder(paths[i], &arena, enter, f, err)
                            : etp_fail(err, ETP_IO, "%s is no folder", paths[i]);
        etp_arena_dispose(&arena);
        if (st != ETP_OK) {
            return st;
        }
    }
    return ETP_OK;
}

etp_status etp_history_enter(etp_archive *a, const char *const *paths, size_t n,
                             etp_history_tell *tell, void *ctx, etp_history_entered *out,
                             etp_error *err)
{
    *out = (etp_history_entered){0};
    filler f = {a, false, tell, ctx, out};
    return enter_all(&f, paths, n, err);
}

// Is the folder of an entry there, with the manifest that was entered?
// The entry is known by the manifest's hash. Another session in the same folder would be entered
// under another id, and this entry would be lost.
static bool is_there(const etp_archive_line *x)
{
    etp_arena arena = {0};
    char hex[65];
    uint64_t bytes;
    const char *manifest = etp_arena_printf(&arena, "%s/" ETP_RUN_MANIFEST, x->folder.ptr);
    bool there = manifest && etp_run_is(x->folder.ptr) &&
                 etp_run_hash_file(manifest, hex, &bytes, NULL) == ETP_OK &&
                 etp_str_eqz(x->run_id, hex);
    etp_arena_dispose(&arena);
    return there;
}

// Entries whose folder is gone are kept: the store may be the only place that still has them.
etp_status etp_history_rebuild(etp_archive *a, const char *const *paths, size_t n,
                               etp_history_tell *tell, void *ctx, etp_history_entered *out,
                               etp_error *err)
{
    *out = (etp_history_entered){0};
    filler f = {a, true, tell, ctx, out};
    etp_arena arena = {0};
    etp_archive_list list;
    etp_status st = etp_archive_sessions(a, &(etp_archive_filter){0}, &arena, &list, err);
    for (size_t i = 0; st == ETP_OK && i < list.n; i++) {
        if (is_there(&list.items[i])) {
            st = enter(&f, list.items[i].folder.ptr, err);
        } else {
            out->kept++;
        }
    }
    etp_arena_dispose(&arena);
    return st == ETP_OK ? enter_all(&f, paths, n, err) : st;
}

// ---- gates ----

// No more than the arms' names and the value of each block, which is all that etp_gate_build asks
// of an earlier measurement. *out is no whole answer: no report can be made of it.
static etp_status take_entry(const etp_archive_session *entry, etp_arena *arena, etp_ab *out)
{
    size_t blocks = 0, n = entry->arms.n;
    for (size_t i = 0; i < n; i++) {
        blocks = entry->arms.items[i].n_blocks > blocks ? entry->arms.items[i].n_blocks : blocks;
    }
    *out = (etp_ab){.arena = arena, .n_arms = n, .n_blocks = (uint32_t)blocks};
    etp_ab_arm *arms = ETP_NEW_ARRAY(arena, etp_ab_arm, n);
    double *values = ETP_NEW_ARRAY(arena, double, blocks *n);
    out->block_values = values;
    out->arms = arms;
    for (size_t i = 0; i < n; i++) {
        const etp_archive_arm *x = &entry->arms.items[i];
        arms[i] = (etp_ab_arm){.name = etp_arena_strdup(arena, x->experiment),
                               .emulated = entry->emulated};
        for (size_t b = 0; b < blocks; b++) {
            // Arms may have lost blocks at their end.
            values[b * n + i] = b < x->n_blocks ? x->block_ns[b] : (double)NAN;
        }
    }
    return ETP_OK;
}

etp_status etp_gate_of_entry(const etp_archive_session *entry, etp_arena *arena, etp_ab *out,
                             etp_error *err)
{
    ETP_GUARDED(arena, err, "the earlier measurement", take_entry(entry, arena, out));
}
