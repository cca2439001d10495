// SPDX-License-Identifier: Apache-2.0
// Writes the files that Arm's kit writes too: the session by experiment, names, one file after the
// other.
#include "kit/files.h"

#include <math.h>
#include <stdlib.h>

#include "base/guard.h"
#include "base/number.h"
#include "base/path.h"
#include "compare/phases.h"
#include "kit/parts.h"
#include <etprof/etdump.h>

// ---- names ----

// Room for the longest ending within what a name in a run folder may have.
#define STEM_BYTES 150

// One path component from any text: no separators or control characters, not too long.
// Names come from files and users, and become names of files in turn. A dot at the front would hide
// the file.
static char *safe_name(etp_str s, etp_arena *arena)
{
    if (s.len > STEM_BYTES) {
        s.len = STEM_BYTES;
        while (s.len > 0 && ((unsigned char)s.ptr[s.len] & 0xC0) == 0x80) {
            s.len--; // not in the middle of a character
        }
    }
    char *name = etp_arena_strdup(arena, s.len ? s : ETP_STR("dump"));
    for (char *p = name; *p; p++) {
        unsigned char c = (unsigned char)*p;
        *p = c < 0x20 || c == 0x7f || c == '/' || c == '\\' ? '_' : *p;
    }
    if (name[0] == '.') {
        name[0] = '_';
    }
    return name;
}

static bool stem_taken(const etp_kit *kit, const char *folder, const char *stem)
{
    for (size_t i = 0; i < kit->n_arms; i++) {
        if (strcmp(kit->arms[i].folder, folder) == 0 && strcmp(kit->arms[i].stem, stem) == 0) {
            return true;
        }
    }
    return false;
}

// What the full names of bare dumps have in common, without a separator at its end.
// Cut back to a whole word: of "model_on" and "model_off" that is "model", not "model_o".
static etp_str common_stem(const etp_ab *ab)
{
    etp_str s = etp_str_from(ab->n_arms ? ab->arms[0].full_name : NULL);
    for (size_t i = 1; i < ab->n_arms; i++) {
        size_t k = 0;
        const char *other = ETP_OR(ab->arms[i].full_name, "");
        while (k < s.len && other[k] && other[k] == s.ptr[k]) {
            k++;
        }
        s.len = k;
    }
    for (size_t i = 0; ab->n_arms > 1 && s.len > 0 && i < ab->n_arms; i++) {
        const char *name = ab->arms[i].full_name;
        if (name[s.len] && !strchr("._-/", name[s.len])) { // not in the middle of a word: on, off
            while (s.len > 0 && !strchr("._-/", s.ptr[s.len - 1])) {
                s.len--;
            }
        }
    }
    while (s.len > 0 && ab->n_arms > 1 && strchr("._-/", s.ptr[s.len - 1])) {
        s.len--;
    }
    return s.len ? s : ETP_STR("dumps");
}

// ---- the session by experiment ----

static int by_block(const void *pa, const void *pb)
{
    const etp_ab_dump *const *a = pa, *const *b = pb;
    return ETP_ORDER((*a)->block, (*b)->block);
}

// Without a file behind the trace there is no order over its blocks.
static void take_block_latencies(const etp_trace *trace, etp_kit_arm *arm)
{
    for (size_t b = 0; b < etp_trace_block_count(trace); b++) {
        const etp_trace_block *block = etp_trace_block_at(trace, b);
        for (size_t r = 0; block->has_execute && r < block->n_runs; r++) {
            arm->latency_ns[arm->n_runs++] = etp_trace_durations(block, block->execute)[r];
        }
    }
}

// In the order of the file, which is what run_index counts, not block by block.
static void take_latencies(etp_kit *kit, etp_kit_arm *arm)
{
    size_t most = 0;
    for (size_t d = 0; d < arm->n_dumps; d++) {
        const etp_trace *trace = arm->dumps[d]->trace;
        for (size_t b = 0; b < etp_trace_block_count(trace); b++) {
            most += etp_trace_block_at(trace, b)->n_runs;
        }
    }
    arm->latency_ns = ETP_NEW_ARRAY(kit->arena, uint64_t, most);
    for (size_t d = 0; d < arm->n_dumps; d++) {
        const etp_trace *trace = arm->dumps[d]->trace;
        size_t n = etp_trace_dump(trace)->n_runs;
        if (n == 0) { // a table counts its runs in each block
            take_block_latencies(trace, arm);
            continue;
        }
        const etp_kit_place *places = etp_kit_places(trace, kit->arena);
        for (size_t r = 0; r < n; r++) {
            const etp_trace_block *block =
                places[r].block == ETP_NO_INDEX ? NULL : etp_trace_block_at(trace, places[r].block);
            if (block && block->has_execute) {
                arm->latency_ns[arm->n_runs++] =
                    etp_trace_durations(block, block->execute)[places[r].run];
            }
        }
    }
}

static void take_samples(etp_kit *kit, etp_kit_arm *arm)
{
    if (!kit->run) {
        return;
    }
    size_t n = 0;
    for (size_t i = 0; i < kit->run->samples.n; i++) {
        const etp_run_sample *s = &kit->run->samples.items[i];
        n += s->arm == arm->index && s->phase == ETP_PHASE_TIMED;
    }
    arm->untraced_ns = ETP_NEW_ARRAY(kit->arena, uint64_t, n);
    for (size_t i = 0; i < kit->run->samples.n; i++) {
        const etp_run_sample *s = &kit->run->samples.items[i];
        if (s->arm == arm->index && s->phase == ETP_PHASE_TIMED) {
            arm->untraced_ns[arm->n_untraced++] = s->duration_ns;
        }
    }
}

static etp_status take_arms(etp_kit *kit, etp_error *err)
{
    const etp_ab *ab = kit->ab;
    kit->arms = ETP_NEW_ARRAY(kit->arena, etp_kit_arm, ab->n_arms);
    for (size_t i = 0; i < ab->n_arms; i++) {
        etp_kit_arm *arm = &kit->arms[i];
        arm->index = ab->shown[i];
        arm->arm = &ab->arms[arm->index];
        arm->delegate = etp_kit_delegate_of(arm->arm->profile);
        // In a run folder names are those of the recordings, for which the manifest has a prefix.
        // Bare dumps may have one name in different folders; the second then gets "~2".
        etp_str wanted = etp_str_from(ETP_OR(arm->arm->full_name, arm->arm->name));
        arm->folder = "";
        if (kit->run) {
            wanted = kit->run->arms.items[arm->index].prefix;
            arm->folder = etp_arena_printf(kit->arena, "%s/", arm->arm->name);
        }
        const char *plain = safe_name(wanted, kit->arena), *stem = plain;
        for (unsigned k = 2; stem_taken(kit, arm->folder, stem); k++) {
            stem = etp_arena_printf(kit->arena, "%s~%u", plain, k);
        }
        arm->stem = stem;
        arm->model_id = ETP_OR(kit->options->model_id, stem);
        arm->dumps = ETP_NEW_ARRAY(kit->arena, const etp_ab_dump *, kit->session->in.dumps.n);
        arm->dump_names = ETP_NEW_ARRAY(kit->arena, const char *, kit->session->in.dumps.n);
        for (size_t d = 0; d < kit->session->in.dumps.n; d++) {
            if (kit->session->in.dumps.items[d].arm == arm->index &&
                kit->session->in.dumps.items[d].trace) {
                arm->dumps[arm->n_dumps++] = &kit->session->in.dumps.items[d];
            }
        }
        // The profile has its dumps in this order, too: its figures of one are asked for by this
        // place.
        qsort(arm->dumps, arm->n_dumps, sizeof *arm->dumps, by_block);
        for (size_t d = 0; d < arm->n_dumps; d++) {
            const char *name = etp_path_name(arm->dumps[d]->path);
            arm->dump_names[d] =
                kit->run ? etp_arena_printf(kit->arena, "%s%s", arm->folder, name) : name;
        }
        take_latencies(kit, arm);
        take_samples(kit, arm);
        ETP_TRY(etp_means_of(arm->arm->profile, ETP_MEANS_ALL_DUMPS, kit->arena, &arm->mean, err));
        kit->n_arms++;
    }
    return ETP_OK;
}

// ---- writing ----

// A file that is being written; its content goes to the disk in pieces.
typedef struct file_job {
    const etp_kit *kit;
    const etp_kit_arm *arm;
    etp_kit_render *render;
} file_job;

static etp_status fill_with(const file_job *job, etp_sink *sink, etp_error *err)
{
    etp_arena scratch;
    etp_arena_scratch(&scratch, job->kit->arena);
    etp_status st = job->kit->as_json
                        ? etp_kit_as_json(job->render, job->kit, job->arm, sink, &scratch, err)
                        : job->render(job->kit, job->arm, sink, &scratch, err);
    etp_arena_dispose(&scratch);
    return st;
}

// The file is open meanwhile, hence a guard of its own.
static etp_status fill(void *ctx, etp_sink *sink, etp_error *err)
{
    const file_job *job = ctx;
    ETP_GUARDED(job->kit->arena, err, "a file of tables", fill_with(job, sink, err));
}

static etp_status name_kept(etp_kit_kept *kept, const char *path)
{
    ETP_ADD(kept->arena, kept, etp_arena_strdup(kept->arena, etp_str_from(path)));
    return ETP_OK;
}

// KEPT is of another arena than what is being written, so its guard is here.
static etp_status guarded_name(etp_kit_kept *kept, const char *path, etp_error *err)
{
    ETP_GUARDED(kept->arena, err, "names of files that were kept", name_kept(kept, path));
}

// Writes beside the files of a run folder, never over one of them.
etp_status etp_kit_keep_recorded(etp_kit_kept *kept, const char *path, bool *out_is_kept,
                                 etp_error *err)
{
    etp_arena arena = {0};
    *out_is_kept = etp_run_records(path, &arena);
    etp_status st = etp_arena_check(&arena, err, path); // not known is not "no"
    etp_arena_dispose(&arena);
    return st == ETP_OK && *out_is_kept && kept ? guarded_name(kept, path, err) : st;
}

// The usual files of a session's own folder are recorded with their hashes; whatever else is
// written must not take the place of a file that the folder's record is made of.
static etp_status save(const etp_kit *kit, const char *name, file_job *job, etp_error *err)
{
    if (kit->deriving && !kit->extra) {
        return etp_run_derive_by(kit->deriving, name, fill, job, err);
    }
    const char *path = etp_run_path(kit->arena, kit->dir, etp_str_from(name));
    bool kept = false;
    ETP_TRY(etp_kit_keep_recorded(kit->options->kept, path, &kept, err));
    return kept ? ETP_OK : etp_os_replace_by(path, fill, job, err);
}

static etp_status render(etp_kit *kit, const char *name, etp_kit_render *content,
                         const etp_kit_arm *arm, etp_error *err)
{
    file_job job = {.kit = kit, .arm = arm, .render = content};
    ETP_TRY(save(kit, name, &job, err));
    // analysis_summary.json lists them.
    if (!kit->extra && etp_str_ends(etp_str_from(name), ETP_STR(".csv"))) {
        ETP_ADD(kit->arena, &kit->csv_files, name);
    }
    return ETP_OK;
}

// The third of the files is the timeline of one run, whose number an option names and which stands
// for "%s".
static etp_status write_arm(etp_kit *kit, const etp_kit_arm *arm, etp_error *err)
{
    static const struct {
        const char *suffix;
        etp_kit_render *render;
    } k_files[] = {
        {"_exec_all_runs_timeline", etp_kit_timeline_all},
        {"_exec_run0_timeline",     etp_kit_timeline_run},
        {"_exec_run%s_timeline",    etp_kit_timeline_run},
        {"_exec_ops_stats",         etp_kit_ops_stats   },
    };
    if (kit->options->run_index > 0 && kit->options->run_index >= arm->n_runs) {
        return etp_fail(err, ETP_USAGE,
                        "%s has %zu finished executions, counted from 0; there is no run %lu",
                        arm->stem, arm->n_runs, (unsigned long)kit->options->run_index);
    }
    for (size_t i = 0; i < sizeof k_files / sizeof *k_files && arm->n_dumps > 0; i++) {
        const char *suffix = k_files[i].suffix;
        bool wanted = strchr(suffix, '%') != NULL;
        if ((wanted && kit->options->run_index == 0) ||
            (k_files[i].render == etp_kit_timeline_all && !kit->timelines)) {
            continue;
        }
        kit->run_index = wanted ? kit->options->run_index : 0;
        if (wanted) {
            suffix = etp_arena_printf(kit->arena, "_exec_run%lu_timeline",
                                      (unsigned long)kit->run_index);
        }
        for (int json = 0; json <= kit->options->json; json++) {
            const char *name =
                etp_arena_printf(kit->arena, "%s%s", suffix, json ? ".json" : ".csv");
            name = etp_kit_arm_file(kit, arm, name);
            // The timeline of a chosen run and all JSON twins are asked for by options, so nobody
            // makes them again.
            kit->extra = wanted || json;
            kit->as_json = json;
            ETP_TRY(render(kit, name, k_files[i].render, arm, err));
            kit->extra = kit->as_json = false;
        }
    }
    if (arm->n_runs > 0) {
        ETP_TRY(render(kit, etp_kit_arm_file(kit, arm, ETP_KIT_ROBUST_STATS), etp_kit_robust_stats,
                       arm, err));
    }
    return ETP_OK;
}

static const char *table_name(const etp_kit *kit, const char *stem, const char *suffix)
{
    return kit->phase ? etp_arena_printf(kit->arena, "%s_%s_%s", stem, kit->phase, suffix)
                      : etp_arena_printf(kit->arena, "%s_%s", stem, suffix);
}

static etp_status write_tables(etp_kit *kit, etp_error *err)
{
    static const struct {
        const char *suffix;
        etp_kit_render *render;
    } k_files[] = {
        {"category_summary.csv", etp_kit_category_summary},
        {"operator_details.csv", etp_kit_operator_details},
        {"other_top_ops.csv",    etp_kit_other_top_ops   },
        {"e2e_latency.csv",      etp_kit_e2e_latency     },
        {"comparison.csv",       etp_kit_comparison      },
    };
    for (size_t i = 0; i < sizeof k_files / sizeof *k_files; i++) {
        if (k_files[i].render == etp_kit_comparison && kit->n_arms < 2) {
            continue;
        }
        const char *name = table_name(kit, kit->model, k_files[i].suffix);
        ETP_TRY(render(kit, name, k_files[i].render, NULL, err));
    }
    return ETP_OK;
}

// Timeline tables have neither starts nor what was outside the executions.
static bool of_tables(const etp_ab_session *s)
{
    for (size_t i = 0; i < s->in.dumps.n; i++) {
        if (s->in.dumps.items[i].trace && etp_trace_dump(s->in.dumps.items[i].trace)->n_runs == 0 &&
            etp_trace_block_count(s->in.dumps.items[i].trace) > 0) {
            return true;
        }
    }
    return false;
}

// Their names say no model and no phase: they hold all of them.
static etp_status write_documents(etp_kit *kit, etp_error *err)
{
    ETP_TRY(render(kit, "metrics.json", etp_kit_metrics, NULL, err));
    return render(kit, "analysis_summary.json", etp_kit_analysis_summary, NULL, err);
}

// The phase of SESSION, called NAME when it is not the first.
static etp_status write_phase(const etp_ab_session *session, const char *name, etp_kit *kit,
                              etp_error *err)
{
    kit->session = session;
    kit->ab = etp_ab_answer(session);
    kit->run = etp_ab_run(session);
    kit->phase = name ? etp_ab_phase_file_word(name, kit->arena) : NULL;
    ETP_TRY(take_arms(kit, err));
    etp_str stem = kit->run ? etp_str_from(kit->ab->title) : common_stem(kit->ab);
    kit->stem = safe_name(stem, kit->arena);
    kit->model = kit->run ? safe_name(etp_run_model_name(stem), kit->arena) : kit->stem;
    if (kit->options->model_id && kit->n_arms != 1) {
        return etp_fail(err, ETP_USAGE, "one model id for %zu experiments; give one dump",
                        kit->n_arms);
    }
    // Flat, and in a folder per experiment when there is a run folder to take after.
    // In the session's own folder they are there, and whoever records a file makes what is missing.
    if (!kit->deriving) {
        ETP_TRY(etp_os_mkdirs(kit->dir, err));
    }
    for (size_t i = 0; i < kit->n_arms && !kit->deriving; i++) {
        if (kit->arms[i].folder[0]) {
            etp_str folder = etp_str_from(kit->arms[i].folder);
            const char *path = etp_run_path(kit->arena, kit->dir, folder);
            ETP_TRY(etp_os_mkdirs(path, err));
        }
    }
    // What is left out here would need starts, or be a copy of the table it came from.
    if (of_tables(kit->session)) {
        return write_tables(kit, err);
    }
    for (size_t i = 0; i < kit->n_arms; i++) {
        ETP_TRY(write_arm(kit, &kit->arms[i], err));
    }
    ETP_TRY(write_tables(kit, err));
    // With several phases they are written when all phases are known.
    if (!kit->phase && kit->session->n_later == 0) {
        ETP_TRY(write_documents(kit, err));
    }
    const char *json = table_name(kit, kit->stem, "pipeline_summary.json");
    const char *md = table_name(kit, kit->stem, "pipeline_summary.md");
    ETP_TRY(render(kit, json, etp_kit_pipeline_json, NULL, err));
    return render(kit, md, etp_kit_pipeline_md, NULL, err);
}

// What each phase has lasts to the end: the documents over all of them read it.
static etp_status write_phases(const etp_ab_session *session, const etp_kit *common, bool always,
                               etp_error *err)
{
    etp_kit *kits = ETP_NEW_ARRAY(common->arena, etp_kit, session->n_later + 1);
    bool timelines = always || etp_ab_run(session)->settings.plain;
    if (!timelines) {
        // A line per event and execution is ten times what the recordings take, so a run folder has
        // those tables when its session was asked for plain files, or when it has them already. An
        // unreadable record is as none; running out of memory is not.
        const char *dir = etp_arena_strdup(common->arena, etp_ab_run(session)->dir);
        etp_run_derived derived = {0};
        etp_status st = etp_run_derived_read(dir, common->arena, &derived, NULL);
        if (st == ETP_NOMEM) {
            return etp_fail_nomem(err, ETP_RUN_DERIVED);
        }
        for (size_t i = 0; st == ETP_OK && i < derived.n && !timelines; i++) {
            timelines = etp_str_ends(derived.items[i].path, ETP_STR(ETP_KIT_TIMELINE_ALL));
        }
    }
    for (size_t i = 0; i <= session->n_later; i++) {
        kits[i] = *common;
        kits[i].timelines = timelines;
    }
    ETP_TRY(write_phase(session, NULL, &kits[0], err));
    for (size_t i = 0; i < session->n_later; i++) {
        const etp_ab_session *later = session->later[i];
        ETP_TRY(write_phase(later, etp_ab_answer(later)->phase, &kits[i + 1], err));
    }
    kits[0].later = &kits[1];
    kits[0].n_later = session->n_later;
    bool tables = session->n_later == 0 || of_tables(session);
    return tables ? ETP_OK : write_documents(&kits[0], err);
}

static etp_status guarded_phases(const etp_ab_session *session, const etp_kit *common, bool always,
                                 etp_error *err)
{
    ETP_GUARDED(common->arena, err, "the files", write_phases(session, common, always, err));
}

// The first phase's files are those of a session without any, each later one's stand beside them.
// ALWAYS: with timelines also where the folder has none.
static etp_status write_kit(const etp_ab_session *session, const char *dir,
                            const etp_kit_options *options, etp_run_deriving *deriving, bool always,
                            etp_error *err)
{
    etp_arena arena = {0};
    const etp_kit common = {.dir = dir, .deriving = deriving, .options = options, .arena = &arena};
    etp_status st = guarded_phases(session, &common, always, err);
    etp_arena_dispose(&arena);
    return st;
}

etp_status etp_kit_derive_files(const etp_ab_session *session, etp_run_deriving *to, etp_error *err)
{
    static const etp_kit_options k_usual = {0};
    return write_kit(session, to->dir, &k_usual, to, false, err);
}

// Asked for with --out: is DIR the folder that SESSION was opened on?
// A model id of the user's makes other content than the folder's own, so it is not recorded as
// such.
static bool is_own(const etp_ab_session *session, const char *dir, const etp_kit_options *options,
                   etp_arena *arena)
{
    if (!etp_run_is(dir) || !etp_ab_run(session) || options->model_id) {
        return false;
    }
    const char *own = etp_os_absolute(etp_arena_strdup(arena, etp_ab_run(session)->dir), arena);
    const char *to = etp_os_absolute(dir, arena);
    return own && to && strcmp(own, to) == 0;
}

etp_status etp_kit_write_files(const etp_ab_session *session, const char *dir,
                               const etp_kit_options *options, etp_error *err)
{
    static const etp_kit_options k_usual = {0};
    etp_arena arena = {0};
    etp_run_deriving deriving;
    options = ETP_OR(options, &k_usual);
    bool own = is_own(session, dir, options, &arena);
    etp_status st = etp_arena_check(&arena, err, dir); // not known is not "no"
    if (st == ETP_OK && own) {
        etp_run_derive_begin(dir, &arena, &deriving);
        st = write_kit(session, dir, options, &deriving, true, err);
        st = etp_run_derive_end(&deriving, st, err);
    } else if (st == ETP_OK) {
        st = write_kit(session, dir, options, NULL, true, err);
    }
    etp_arena_dispose(&arena);
    return st == ETP_OK ? ETP_OK : etp_fail_ctx(err, "%s", dir);
}
