// SPDX-License-Identifier: Apache-2.0
// Reading of samples for stats and plan, and what stats makes of them.
#include "study/stats/samples.h"

#include <math.h>

#include "isa/isa.h"
#include "judge/open.h"
#include "os/os.h"
#include "store/store.h"

// The level in an experiment's name: the one word of it that is a level ("fp16_neon"), else -1.
static int level_rank(etp_str name)
{
    int rank = -1;
    for (size_t at = 0; at < name.len;) {
        size_t len = 0;
        while (at + len < name.len && !strchr("_-. ", name.ptr[at + len])) {
            len++;
        }
        char word[16] = "";
        if (len < sizeof word) {
            memcpy(word, name.ptr + at, len);
            etp_level level = etp_level_find(ETP_ISA_NONE, word);
            if (level != ETP_LEVEL_NONE) {
                rank = (int)level;
            }
        }
        at += len + 1;
    }
    return rank;
}

// What a session spent on a timed launch besides the timed iterations: starting, loading, warming
// up, and its share of the traced and control launches of the blocks.
static double launch_cost(const etp_run *run)
{
    double wall = 0, timed = 0;
    size_t launches = 0;
    for (size_t i = 0; i < run->launches.n; i++) {
        wall += (double)run->launches.items[i].wall_ns;
        launches += run->launches.items[i].kind == ETP_LAUNCH_TIMED;
    }
    for (size_t i = 0; i < run->samples.n; i++) {
        if (run->samples.items[i].phase == ETP_PHASE_TIMED) {
            timed += (double)run->samples.items[i].duration_ns;
        }
    }
    return launches > 0 && wall > timed ? (wall - timed) / (double)launches : (double)NAN;
}

// Not by the text of samples.csv: rows of a block that was never committed do not count.
static etp_status take_run(etp_arena *arena, const etp_run *run, etp_sample_table *out,
                           etp_error *err)
{
    etp_str *names = ETP_NEW_ARRAY(arena, etp_str, run->arms.n);
    ETP_NEED(names, err, "experiments");
    for (size_t i = 0; i < run->arms.n; i++) {
        names[i] = run->arms.items[i].name;
    }
    *out = (etp_sample_table){.arms = names,
                              .n_arms = (uint32_t)run->arms.n,
                              .n_samples = run->samples.n,
                              .has_phase = true,
                              .has_launch = true};
    return etp_ab_samples_of(run, arena, &out->samples, err);
}

static etp_status find_baseline(etp_arena *arena, const char *wanted, etp_str recorded,
                                etp_sample_file *out, etp_error *err)
{
    etp_arm_name *arms = ETP_NEW_ARRAY(arena, etp_arm_name, out->table.n_arms);
    ETP_NEED(arms, err, "experiments");
    for (uint32_t i = 0; i < out->table.n_arms; i++) {
        arms[i] = (etp_arm_name){out->table.arms[i], level_rank(out->table.arms[i])};
    }
    return etp_choose_baseline(arms, out->table.n_arms, etp_str_from(wanted), recorded,
                               &out->baseline, err);
}

etp_status etp_sample_file_read(const char *path, const etp_str *given, const char *wanted,
                                etp_arena *arena, etp_sample_file *out, etp_error *err)
{
    *out = (etp_sample_file){.name = path, .launch_ns = (double)NAN};
    etp_str text = {0}, recorded = {0};
    if (given) {
        text = *given;
    } else if (etp_run_is(path)) {
        etp_run *run = ETP_NEW(arena, etp_run);
        ETP_NEED(run, err, "run folder");
        ETP_TRY(etp_run_open(path, arena, run, err));
        out->run = run;
        out->launch_ns = launch_cost(run);
        if (run->baseline < run->arms.n) {
            recorded = run->arms.items[run->baseline].name;
        }
        out->name = etp_run_path(arena, path, ETP_STR(ETP_RUN_SAMPLES));
        ETP_NEED(out->name, err, "path");
        ETP_TRY(take_run(arena, run, &out->table, err));
        return find_baseline(arena, wanted, recorded, out, err);
    } else {
        ETP_TRY(etp_os_read_text(path, ETP_SAMPLES_LIMIT, arena, &text, err));
    }
    if (etp_samples_read_csv(text, arena, &out->table, err) != ETP_OK) {
        return etp_fail_ctx(err, "%s", out->name);
    }
    return find_baseline(arena, wanted, recorded, out, err);
}

// What 'analyze' withholds of this folder is not to be had here either.
static etp_status take_withheld(const char *dir, etp_stats_answer *stats, etp_arena *arena,
                                etp_error *err)
{
    const char *baseline = etp_arena_strdup(arena, stats->names[stats->stats.baseline]);
    etp_ab_session *session;
    ETP_NEED(baseline, err, "baseline");
    ETP_TRY(etp_ab_open(&dir, 1, &(etp_ab_options){.baseline = baseline}, &session, err));
    etp_status st = etp_stats_take_withheld(stats, etp_ab_answer(session), arena, err);
    etp_ab_close(session);
    return st;
}

etp_status etp_stats_answer_build(const char *path, const etp_str *given, const char *baseline,
                                  double margin, etp_arena *arena, etp_stats_answer *out,
                                  etp_error *err)
{
    etp_sample_file file;
    ETP_TRY(etp_sample_file_read(path, given, baseline, arena, &file, err));
    *out = (etp_stats_answer){.source = file.name, .names = file.table.arms};
    etp_stats_options how = {.baseline = file.baseline, .margin = margin};
    if (file.run) {
        how = etp_ab_stats_options(file.run, file.baseline, margin);
    }
    if (etp_stats_analyze(file.table.samples, file.table.n_samples, file.table.n_arms, &how, arena,
                          &out->stats, err) != ETP_OK) {
        return etp_fail_ctx(err, "%s", file.name);
    }
    if (file.run) {
        ETP_TRY(etp_stats_take_records(out, file.run, arena, err));
        ETP_TRY(take_withheld(path, out, arena, err));
    }
    return ETP_OK;
}
