// SPDX-License-Identifier: Apache-2.0
// Finding and opening the dumps of an answer, and summing them into one profile per arm.
#include <math.h>
#include <stdlib.h>

#include "base/guard.h"
#include "base/number.h"
#include "base/path.h"
#include "compare/session.h"
#include "trace/timeline.h"

#define DUMP_LIMIT ((uint64_t)4 << 30)
#define TIMELINE_LIMIT ((uint64_t)1 << 30)

// File name without folder and ".etdump"/".etdp" or what timelines of it are called.
static etp_str stem_of_file(const char *path)
{
    etp_str name = etp_str_from(etp_path_name(path));
    static const char *const k_suffixes[] = {ETP_OS_PACKED, ".etdump",   ".etdp",
                                             ".csv",        "_timeline", "_all_runs",
                                             "_run0",       "_exec",     "_xtrace"};
    for (size_t i = 0; i < sizeof k_suffixes / sizeof *k_suffixes; i++) {
        etp_str suffix = etp_str_from(k_suffixes[i]);
        if (etp_str_ends(name, suffix)) {
            name.len -= suffix.len;
        }
    }
    return name;
}

// Name of a dump's arm, where "_b<k>" is the block of one that has several.
static etp_str arm_of_file(const char *path, uint32_t *block)
{
    etp_str name = stem_of_file(path);
    *block = 1;
    for (size_t i = name.len; i > 2; i--) {
        if (name.ptr[i - 1] >= '0' && name.ptr[i - 1] <= '9') {
            continue;
        }
        uint64_t k = 0;
        if (i < name.len && name.ptr[i - 1] == 'b' && name.ptr[i - 2] == '_' &&
            etp_parse_u64((etp_str){name.ptr + i, name.len - i}, &k) && k >= 2 && k < 100000) {
            *block = (uint32_t)k;
            name.len = i - 2;
        }
        break;
    }
    return name;
}

static bool is_arm(const etp_ab *ab, etp_str name)
{
    for (size_t i = 0; i < ab->n_arms; i++) {
        if (etp_str_eqz(name, ab->arms[i].name)) {
            return true;
        }
    }
    return false;
}

typedef struct collecting {
    etp_ab *ab;
    etp_ab_arm *arms;
    etp_ab_inputs *in;
    size_t room; // most dumps
} collecting;

static etp_status add_dump(const collecting *c, const char *path, etp_error *err)
{
    etp_ab *ab = c->ab;
    if (c->in->recordings.n >= c->room) {
        return etp_fail(err, ETP_USAGE, "more than %d dumps; name fewer", ETP_AB_BARE_DUMPS);
    }
    uint32_t block = 1;
    etp_str name = arm_of_file(path, &block);
    size_t arm = 0;
    while (arm < ab->n_arms && !etp_str_eqz(name, ab->arms[arm].name)) {
        arm++;
    }
    // The same name twice with the same block is two files of two folders: two arms.
    for (size_t i = 0; arm < ab->n_arms && i < c->in->recordings.n; i++) {
        const etp_ab_dump *other = &c->in->recordings.items[i];
        if (other->arm == arm && other->block == block) {
            arm = ab->n_arms;
            name = etp_str_from(path);
        }
    }
    if (arm == ab->n_arms) {
        c->arms[ab->n_arms++] = k_etp_ab_unknown_arm;
        c->arms[arm].name = etp_arena_strdup(ab->arena, name);
    }
    etp_ab_dump recording = {.path = path, .arm = (uint32_t)arm, .block = block};
    ETP_ADD(ab->arena, &c->in->recordings, recording);
    return ETP_OK;
}

static bool is_dump_name(const char *name)
{
    etp_str n = etp_str_from(name);
    return etp_str_ends(n, ETP_STR(".etdump" ETP_OS_PACKED)) ||
           etp_str_ends(n, ETP_STR(".etdump")) || etp_str_ends(n, ETP_STR(".etdp"));
}

static etp_status collect_dir(const collecting *c, const char *dir, int depth, etp_error *err)
{
    etp_arena *arena = c->ab->arena;
    etp_dir_list list = {0};
    ETP_TRY(etp_os_list(dir, arena, &list, err));
    for (size_t i = 0; i < list.n; i++) {
        const char *path = etp_arena_printf(arena, "%s/%s", dir, list.items[i].name);
        if (list.items[i].is_dir && list.items[i].is_other) {
            continue; // a link: out of the folder, or round in a circle
        }
        if (list.items[i].is_dir && depth < 3 && list.items[i].name[0] != '.') {
            ETP_TRY(collect_dir(c, path, depth + 1, err));
        } else if (!list.items[i].is_dir && is_dump_name(list.items[i].name)) {
            ETP_TRY(add_dump(c, path, err));
        }
    }
    return ETP_OK;
}

// What the run folder that PATH lies in, RUN/EXPERIMENT/FILE, says of that arm: whether an emulator
// ran it, and how long it waited for a CPU. A folder that cannot be read says nothing.
static etp_status ask_run_folder(const char *path, bool *emulated, double *waited, etp_error *err)
{
    etp_str folder = etp_path_folder(path), above = etp_path_above(etp_str_from(path), 2);
    etp_str experiment = folder.len ? etp_path_last(folder) : (etp_str){0};
    etp_arena scratch = {0};
    etp_run run;
    const char *dir = "..";
    if (folder.ptr) {
        dir = above.len > 0 ? etp_arena_strdup(&scratch, above) : ".";
    }
    etp_status st = ETP_OK;
    *emulated = false;
    *waited = NAN;
    if (etp_run_is(dir)) {
        bool whole = etp_run_open(dir, &scratch, &run, err) == ETP_OK;
        st = whole ? ETP_OK : etp_run_open_manifest(dir, &scratch, &run, err);
        *emulated = st == ETP_OK && run.emulated;
        const double *waits = whole ? etp_ab_waited_of(&run, &scratch) : NULL;
        for (size_t i = 0; st == ETP_OK && i < run.arms.n; i++) {
            const etp_run_arm *arm = &run.arms.items[i];
            if (etp_str_eq(arm->name, experiment)) {
                *emulated = *emulated || arm->emulated;
                *waited = waits ? waits[i] : (double)NAN;
            }
        }
    }
    etp_arena_dispose(&scratch);
    return st == ETP_NOMEM ? st : ETP_OK;
}

etp_status etp_ab_describe_dumps(const char *const *paths, size_t n_paths, size_t room,
                                 etp_ab_arm *arms, etp_ab *ab, etp_ab_inputs *in, etp_error *err)
{
    const collecting c = {ab, arms, in, room};
    ab->bare = true;
    ab->title = n_paths == 1 ? etp_path_name(paths[0]) : "dumps";
    ab->correctness = ETP_AB_NOT_COMPARED;
    for (size_t i = 0; i < n_paths; i++) {
        size_t before = in->recordings.n;
        if (etp_os_is_dir(paths[i])) {
            ETP_TRY(collect_dir(&c, paths[i], 0, err));
            if (in->recordings.n == before) {
                return etp_fail(err, ETP_USAGE, "%s holds no manifest.json and no .etdump file",
                                paths[i]);
            }
        } else {
            ETP_TRY(add_dump(&c, paths[i], err));
        }
    }
    bool emulated = false; // both of the folder that the last recording lies in
    double waited = NAN;
    for (size_t i = 0; i < in->recordings.n; i++) {
        const char *path = in->recordings.items[i].path;
        const char *last = i > 0 ? in->recordings.items[i - 1].path : "";
        etp_str folder = etp_path_folder(path);
        if (!folder.ptr || !etp_str_eq(folder, etp_path_folder(last))) {
            ETP_TRY(ask_run_folder(path, &emulated, &waited, err));
        }
        etp_ab_arm *arm = &arms[in->recordings.items[i].arm];
        arm->emulated = arm->emulated || emulated;
        arm->waited = fmax(arm->waited, waited); // passes over a NAN
        ab->emulated = ab->emulated || arm->emulated;
    }
    // A recording without others of its arm is called as its file is: "_b10" tells no blocks apart.
    for (size_t i = 0; i < in->recordings.n; i++) {
        const etp_ab_dump *r = &in->recordings.items[i];
        size_t of_arm = 0;
        for (size_t k = 0; k < in->recordings.n; k++) {
            of_arm += in->recordings.items[k].arm == r->arm;
        }
        etp_str whole = stem_of_file(r->path);
        uint32_t block;
        bool cut = etp_str_eqz(arm_of_file(r->path, &block), arms[r->arm].name);
        if (of_arm == 1 && block > 1 && cut && !is_arm(ab, whole)) {
            arms[r->arm].name = etp_arena_strdup(ab->arena, whole);
        }
    }
    // Length of what all arm names begin with, up to and with a separator; 0 when nothing would be
    // left.
    size_t prefix = ab->n_arms < 2 ? 0 : strlen(ab->arms[0].name);
    for (size_t i = 1; i < ab->n_arms; i++) {
        size_t k = 0;
        while (k < prefix && ab->arms[i].name[k] && ab->arms[i].name[k] == ab->arms[0].name[k]) {
            k++;
        }
        prefix = k;
    }
    while (prefix > 0 && !strchr("._-/", ab->arms[0].name[prefix - 1])) {
        prefix--;
    }
    for (size_t i = 0; i < ab->n_arms; i++) {
        prefix = ab->arms[i].name[prefix] ? prefix : 0;
    }
    for (size_t i = 0; i < ab->n_arms; i++) {
        arms[i].full_name = arms[i].name;
        arms[i].name += prefix;
    }
    return ETP_OK;
}

// What an error calls a file: in a run folder by its path there, as derived files do not tell where
// the folder lies: they must come out the same anywhere.
static const char *called(const etp_ab_session *s, const char *path)
{
    size_t inside = s->has_run ? strlen(s->ab.dir) + 1 : 0;
    bool within = s->has_run && strlen(path) > inside &&
                  etp_str_starts(etp_str_from(path), etp_str_from(s->ab.dir));
    return within ? path + inside : path;
}

// A timeline of several blocks becomes one dump for each of them; all borrow from the file of the
// first.
static etp_status open_timeline(const etp_ab_session *s, const etp_ab_dump *recording,
                                etp_ab_inputs *in, etp_error *err)
{
    etp_arena *arena = s->ab.arena;
    const etp_ab_dump whole = {.path = recording->path, .arm = recording->arm};
    etp_ab_dump first = whole;
    etp_timeline timeline = {0};
    ETP_TRY(etp_file_open(recording->path, TIMELINE_LIMIT, &first.file, err));
    etp_str text = {(const char *)first.file.bytes.ptr, first.file.bytes.len};
    etp_status st = etp_timeline_open(text, arena, &timeline, err);
    if (st != ETP_OK) {
        etp_file_close(&first.file);
        return etp_fail_ctx(err, "%s", called(s, recording->path));
    }
    for (size_t i = 0; i < timeline.n; i++) {
        etp_ab_dump part = i == 0 ? first : whole;
        part.block = timeline.session_blocks[i];
        part.level = timeline.level;
        part.trace = timeline.traces[i];
        if (st != ETP_OK || !ETP_PUSH(arena, &in->dumps, part)) {
            etp_trace_close(part.trace);
            etp_file_close(&part.file);
            st = ETP_NOMEM;
        }
    }
    return st == ETP_OK ? ETP_OK : etp_fail_nomem(err, "timeline");
}

// A runner of language models records all of an answer: what calls the prompt, then the tokens. The
// calls of a phase that it was asked for stand last.
static uint64_t calls_of(const etp_ab_session *s, uint32_t arm)
{
    const etp_run *run = &s->run;
    if (!s->has_run || arm >= run->arms.n || run->arms.items[arm].phase >= run->phases.n) {
        return 0;
    }
    const etp_run_phase *p = &run->phases.items[run->arms.items[arm].phase];
    return p->clock_ns > 0 ? p->calls : 0;
}

static etp_status open_dump(const etp_ab_session *s, const etp_ab_dump *recording,
                            etp_ab_inputs *in, etp_error *err)
{
    if (etp_str_ends(etp_str_from(recording->path), ETP_STR(".csv"))) {
        return open_timeline(s, recording, in, err);
    }
    etp_ab_dump dump = {.path = recording->path, .arm = recording->arm, .block = recording->block};
    ETP_TRY(etp_file_open_unpacked(recording->path, DUMP_LIMIT, &dump.file, err));
    const etp_trace_options how = {.last = calls_of(s, dump.arm), .units = s->options.units};
    etp_status st = etp_trace_open(dump.file.bytes, &how, &dump.trace, err);
    if (st == ETP_OK && !s->has_run && !recording->of_session) {
        st = etp_trace_tell_modes(dump.trace, err);
    }
    if (st == ETP_OK) {
        st = etp_trace_need_time(dump.trace, err);
    }
    if (st != ETP_OK) {
        etp_trace_close(dump.trace);
        etp_file_close(&dump.file);
        return etp_fail_ctx(err, "%s", called(s, recording->path));
    }
    if (!ETP_PUSH(s->ab.arena, &in->dumps, dump)) {
        etp_trace_close(dump.trace);
        etp_file_close(&dump.file);
        return etp_fail_nomem(err, "dumps");
    }
    return ETP_OK;
}

static int by_block(const void *pa, const void *pb)
{
    const etp_ab_dump *const *a = pa, *const *b = pb;
    return ETP_ORDER((*a)->block, (*b)->block);
}

// One profile from the dumps of ARM; none when it has no readable dump. *out_level: as they name
// it, NULL: they do not.
static etp_status profile_arm(const etp_ab_session *s, uint32_t arm, etp_ab_findings *noticed,
                              etp_ab_arm *out, const char **out_level, etp_error *err)
{
    const etp_ab_dump **mine = ETP_NEW_ARRAY(s->ab.arena, const etp_ab_dump *, s->in.dumps.n);
    const etp_trace **traces = ETP_NEW_ARRAY(s->ab.arena, const etp_trace *, s->in.dumps.n);
    etp_profile *profile = ETP_NEW(s->ab.arena, etp_profile);
    size_t n = 0;
    for (size_t i = 0; i < s->in.dumps.n; i++) {
        if (s->in.dumps.items[i].arm == arm && s->in.dumps.items[i].trace) {
            mine[n++] = &s->in.dumps.items[i];
        }
    }
    qsort(mine, n, sizeof *mine, by_block);
    out->n_dumps = n;
    for (size_t i = 0; i < n; i++) {
        traces[i] = mine[i]->trace;
        *out_level = mine[i]->level;
    }
    const char *name = s->ab.arms[arm].name;
    if (n == 0) {
        return ETP_OK;
    }
    etp_ab_tell_recordings(s, arm, traces, n, noticed, out);
    etp_status st = etp_profile_build(traces, n, s->ab.arena, profile, err);
    if (st == ETP_UNKNOWN) {
        ETP_FIND(noticed, ETP_FINDING_NO_EXECUTION, ETP_SEVERITY_WARN, NULL,
                 "%s: no execution in its traces finished, or none is sound",
                 etp_ab_arm_called(&s->ab, arm));
        return ETP_OK;
    }
    if (st != ETP_OK) {
        return etp_fail_ctx(err, "%s", name);
    }
    out->profile = profile;
    out->traced_ns = etp_profile_traced_ns(profile);
    out->traced_mean_ns =
        llround((double)profile->all_execute_ns / (double)profile->all_executions);
    out->traced_kept = profile->executions;
    return etp_ab_join_arm(s, arm, profile, traces, noticed, err);
}

etp_status etp_ab_take_traces(const etp_ab_session *s, etp_ab_findings *noticed, etp_ab_arm *arms,
                              etp_error *err)
{
    const char **levels = ETP_NEW_ARRAY(s->ab.arena, const char *, s->ab.n_arms + 1);
    for (uint32_t a = 0; a < s->ab.n_arms; a++) {
        ETP_TRY(profile_arm(s, a, noticed, &arms[a], &levels[a], err));
        ETP_TRY(etp_ab_split_arm(s, a, &arms[a], err));
    }
    ETP_TRY(etp_ab_need_program(s, err));
    for (uint32_t a = 0; a < s->ab.n_arms; a++) {
        if (levels[a] && !arms[a].level_name) {
            arms[a].level_name = levels[a];
            etp_level level = etp_level_find(ETP_ISA_NONE, levels[a]);
            bool both = level == ETP_LEVEL_BEST_AARCH64; // "best" does not name its family
            arms[a].level = both ? ETP_LEVEL_NONE : level;
        }
    }
    return ETP_OK;
}

static etp_status open_dumps(const etp_ab_session *s, etp_ab_findings *noticed, etp_ab_inputs *in,
                             etp_error *err)
{
    size_t unused = 0;
    const char *first = NULL;
    for (size_t i = 0; i < in->recordings.n; i++) {
        etp_status st = open_dump(s, &in->recordings.items[i], in, err);
        if (st == ETP_OK) {
            continue;
        }
        // A run folder's other dumps still answer; a dump the user named must be readable.
        if (!s->has_run || st == ETP_NOMEM) {
            return st;
        }
        if (unused++ == 0) {
            first = etp_arena_strdup(s->ab.arena, etp_str_from(err->msg));
        }
    }
    // A folder of many blocks may have lost many: they are said once, with the first.
    if (unused > 0) {
        first = ETP_OR(first, "");
        const char *text =
            unused == 1 ? etp_arena_printf(s->ab.arena, "trace not used: %s", first)
                        : etp_arena_printf(s->ab.arena, "%zu of %zu traces not used; the first: %s",
                                           unused, in->recordings.n, first);
        etp_ab_add_finding(noticed, ETP_FINDING_TRACE_UNUSED, ETP_SEVERITY_WARN, NULL, text);
    }
    return ETP_OK;
}

etp_status etp_ab_open_dumps(const etp_ab_session *s, etp_ab_findings *noticed, etp_ab_inputs *in,
                             etp_error *err)
{
    ETP_UNGUARDED(s->ab.arena, open_dumps(s, noticed, in, err));
}
