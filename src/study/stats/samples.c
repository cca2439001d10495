// SPDX-License-Identifier: Apache-2.0
// Reading of samples for stats and plan, and what stats makes of them.
#include "study/stats/samples.h"

#include <math.h>

#include "base/guard.h"
#include "base/path.h"
#include "compare/phases.h"
#include "isa/isa.h"
#include "judge/open.h"
#include "os/os.h"
#include "store/store.h"

// The level in an experiment's name: the one word of it that is a level ("fp16_neon"), else -1.
static int level_rank(etp_str name)
{
    int rank = -1;
    // Of several words that are levels the last one counts: models' names come first.
    for (size_t at = 0; at < name.len;) {
        size_t len = 0;
        while (at + len < name.len && !strchr("_-. ", name.ptr[at + len])) {
            len++;
        }
        char word[16] = "";
        if (len < sizeof word) {
            memcpy(word, name.ptr + at, len);
            etp_level level = etp_level_of_word(word);
            if (level != ETP_LEVEL_NONE) {
                rank = (int)level;
            }
        }
        at += len + 1;
    }
    return rank;
}

static etp_status find_baseline(etp_arena *arena, const char *wanted, etp_str recorded,
                                etp_sample_file *out, etp_error *err)
{
    etp_arm_name *arms = ETP_NEW_ARRAY(arena, etp_arm_name, out->table.n_arms);
    for (uint32_t i = 0; i < out->table.n_arms; i++) {
        arms[i] = (etp_arm_name){out->table.arms[i], level_rank(out->table.arms[i])};
    }
    return etp_choose_baseline(arms, out->table.n_arms, etp_str_from(wanted), recorded,
                               &out->baseline, err);
}

// RUN keeps one phase of a session of several: what one call takes says nothing of another's.
static etp_status take_phase(etp_run *run, const char *asked, etp_arena *arena,
                             etp_sample_file *out, etp_error *err)
{
    uint32_t phase;
    if (run->phases.n == 0 && !asked) {
        return ETP_OK;
    }
    ETP_TRY(etp_ab_find_run_phase(run, asked, arena, &phase, err));
    etp_strbuf all;
    etp_strbuf_init(&all, arena);
    for (size_t i = 0; i < run->phases.n; i++) {
        const char *name = etp_arena_strdup(arena, run->phases.items[i].name),
                   *word = etp_ab_phase_word(name, arena);
        etp_strbuf_printf(&all, "%s%s", etp_if(i, ", "), word);
        out->phase = i == phase ? word : out->phase;
    }
    out->others = etp_z_if(run->phases.n > 1, all.ptr);
    if (run->baseline >= run->arms.n) {
        return etp_fail(err, ETP_CORRUPT, "the plan names no baseline");
    }
    return etp_ab_run_take_phase(run, phase, &run->arms.items[run->baseline], arena, err);
}

const char *etp_sample_phase_words(const char *phase, const char *others, etp_arena *arena)
{
    if (!phase) {
        return "";
    }
    return others ? etp_arena_printf(arena, " · %s of %s", phase, others)
                  : etp_arena_printf(arena, " · %s", phase);
}

// Answers are opened by their first phase, whose experiments are the ones that can be named as its
// baseline.
// The experiment of the first phase with the level, threads and model of the baseline of RUN.
static const char *twin_of(const etp_run *whole, const etp_run_arm *baseline, etp_arena *arena)
{
    for (size_t i = 0; i < whole->arms.n; i++) {
        const etp_run_arm *a = &whole->arms.items[i];
        if (a->phase == 0 && a->model == baseline->model && a->threads == baseline->threads &&
            etp_str_eq(a->level, baseline->level)) {
            return etp_arena_strdup(arena, a->name);
        }
    }
    return NULL;
}

static etp_status take_folder(const char *path, const etp_run *whole, const char *wanted,
                              const char *phase, etp_arena *arena, etp_sample_file *out,
                              etp_error *err)
{
    etp_run *run = ETP_NEW(arena, etp_run);
    etp_str recorded = {0};
    // A shallow copy: take_phase gives RUN lists of its own and leaves those of WHOLE alone.
    *run = *whole;
    ETP_TRY(take_phase(run, phase, arena, out, err));
    out->run = run;
    if (run->baseline < run->arms.n) {
        recorded = run->arms.items[run->baseline].name;
    }
    if (etp_run_is(out->name)) { // else the samples themselves were named
        out->name = etp_run_path(arena, path, ETP_STR(ETP_RUN_SAMPLES));
    }
    // Not by the text of samples.csv: rows of a block that was never committed do not count.
    etp_str *names = ETP_NEW_ARRAY(arena, etp_str, run->arms.n);
    etp_str *levels = ETP_NEW_ARRAY(arena, etp_str, run->arms.n);
    for (size_t i = 0; i < run->arms.n; i++) {
        names[i] = run->arms.items[i].name;
        levels[i] = run->arms.items[i].level;
    }
    out->table = (etp_sample_table){.arms = names,
                                    .levels = levels,
                                    .n_arms = (uint32_t)run->arms.n,
                                    .n_samples = run->samples.n};
    etp_ab_samples_of(run, arena, &out->table.samples);
    ETP_TRY(find_baseline(arena, wanted, recorded, out, err));
    const char *twin = out->phase ? twin_of(whole, &run->arms.items[out->baseline], arena) : NULL;
    out->asked = ETP_OR(twin, etp_arena_strdup(arena, out->table.arms[out->baseline]));
    return ETP_OK;
}

static etp_status read_run(const char *path, const char *wanted, const char *phase,
                           etp_arena *arena, etp_sample_file *out, etp_error *err)
{
    etp_run whole;
    ETP_TRY(etp_run_open(path, arena, &whole, err));
    ETP_GUARDED(arena, err, path, take_folder(path, &whole, wanted, phase, arena, out, err));
}

static etp_status read_table(etp_str text, const char *wanted, etp_arena *arena,
                             etp_sample_file *out, etp_error *err)
{
    if (etp_samples_read_csv(text, arena, &out->table, err) != ETP_OK) {
        return etp_fail_ctx(err, "%s", out->name);
    }
    return find_baseline(arena, wanted, (etp_str){0}, out, err);
}

// The run folder that PATH is, or whose samples it is: what its session withholds is not told of
// its table either. NULL: it is neither.
static const char *folder_of(const char *path, etp_arena *arena)
{
    if (etp_run_is(path) || strcmp(etp_path_name(path), ETP_RUN_SAMPLES) != 0) {
        return etp_z_if(etp_run_is(path), path);
    }
    etp_str above = etp_path_folder(path);
    const char *dir = ".";
    if (above.ptr) {
        dir = above.len > 0 ? etp_arena_strdup(arena, above) : "/";
    }
    return etp_z_if(dir && etp_run_is(dir), dir);
}

etp_status etp_sample_file_read(const char *path, const etp_str *given, const char *wanted,
                                const char *phase, etp_arena *arena, etp_sample_file *out,
                                etp_error *err)
{
    *out = (etp_sample_file){.name = path, .dir = given ? NULL : folder_of(path, arena)};
    etp_str text = {0};
    // A folder is read as what its session was, phases and lost blocks included. Anything else is a
    // table, whatever its name.
    if (out->dir) {
        return read_run(out->dir, wanted, phase, arena, out, err);
    }
    if (phase) {
        return etp_fail(err, ETP_USAGE,
                        "--phase %s: a table of samples says no phases; give its run folder",
                        phase);
    }
    if (given) {
        text = *given;
    } else {
        ETP_TRY(etp_os_read_text(path, ETP_SAMPLES_LIMIT, arena, &text, err));
    }
    ETP_GUARDED(arena, err, path, read_table(text, wanted, arena, out, err));
}

// What the folder's answer calls the arms ("VNNI" for linux_vnni), and what it withholds, unless
// STATS is NULL.
static etp_status take_answer(const etp_ab *ab, uint32_t n, etp_stats_answer *stats,
                              etp_arena *arena, const etp_str **out_called, etp_error *err)
{
    if (stats) {
        ETP_TRY(etp_stats_take_withheld(stats, ab, arena, err));
    }
    etp_str *called = ETP_NEW_ARRAY(arena, etp_str, n + 1);
    for (uint32_t i = 0; i < n && ab->n_arms == n; i++) {
        called[i] = etp_str_from(etp_arena_strdup(arena, etp_str_from(ab->arms[i].measured)));
    }
    // A folder that was written between the two readings: indices do not meet, and names stay.
    *out_called = ab->n_arms == n ? called : *out_called;
    return ETP_OK;
}

// With a guard of its own, since its caller holds the session that AB is of.
static etp_status guarded_answer(const etp_ab *ab, uint32_t n, etp_stats_answer *stats,
                                 etp_arena *arena, const etp_str **out_called, etp_error *err)
{
    ETP_GUARDED(arena, err, "the session's answer",
                take_answer(ab, n, stats, arena, out_called, err));
}

etp_status etp_stats_answer_build(const char *path, const etp_str *given, const char *baseline,
                                  const char *phase, double margin, etp_arena *arena,
                                  etp_stats_answer *out, etp_error *err)
{
    etp_sample_file file;
    ETP_TRY(etp_sample_file_read(path, given, baseline, phase, arena, &file, err));
    *out = (etp_stats_answer){
        .source = file.name,
        .names = file.table.arms,
        .levels = file.table.levels,
        .phase = file.phase,
        .phases = file.others,
    };
    // "linux_sme2_on (avx2)": the names in a table are anybody's labels.
    const etp_sample_table *t = &file.table;
    etp_str *called = ETP_NEW_ARRAY(arena, etp_str, t->n_arms);
    ETP_NEED(called, err, "names");
    for (uint32_t i = 0; i < t->n_arms; i++) {
        const char *both = etp_arena_printf(arena, "%.*s (%.*s)", ETP_STR_ARG(t->arms[i]),
                                            ETP_STR_ARG(t->levels[i]));
        called[i] = t->levels[i].len > 0 ? etp_str_from(both) : t->arms[i];
    }
    out->called = called;
    ETP_TRY(etp_arena_check(arena, err, "names"));
    etp_stats_options how = {.baseline = file.baseline, .margin = margin};
    if (file.run) {
        // A run folder brings its seed, and says whether its intervals are to be widened.
        how = etp_ab_stats_options(file.run, file.baseline, margin);
    }
    if (etp_stats_analyze(file.table.samples, file.table.n_samples, file.table.n_arms, &how, arena,
                          &out->stats, err) != ETP_OK) {
        return etp_fail_ctx(err, "%s", file.name);
    }
    if (file.run) {
        ETP_TRY(etp_run_altered(file.run, arena, &out->altered, err));
        ETP_TRY(etp_stats_take_records(out, file.run, arena, err));
        // What 'analyze' withholds of this folder, asked for the same baseline, is not to be had
        // here either.
        etp_ab_session *session;
        const etp_ab *ab;
        ETP_TRY(
            etp_ab_open(&file.dir, 1, &(etp_ab_options){.baseline = file.asked}, &session, err));
        etp_status st = etp_ab_of_phase(etp_ab_answer(session), file.phase, &ab, err);
        if (st == ETP_OK) {
            st = guarded_answer(ab, file.table.n_arms, out, arena, &out->called, err);
        }
        etp_ab_close(session);
        ETP_TRY(st);
    }
    return ETP_OK;
}
