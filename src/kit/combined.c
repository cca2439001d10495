// SPDX-License-Identifier: Apache-2.0
// Several answers as one report.
#include "kit/combined.h"

#include <math.h>
#include <string.h>

#include <etprof/version.h>

#include "base/guard.h"
#include "base/path.h"
#include "base/shell.h"
#include "compare/phases.h"
#include "document/rows.h"
#include "show/json.h"

// ---- names ----

// The last PARTS names of the path of a run's folder: "monday", "phone/monday".
// Never the whole path: a report is passed on, and the path is of the machine that wrote it.
static const char *folder_of(const etp_ab *ab, int parts, etp_arena *arena)
{
    etp_str dir = etp_path_trimmed(etp_str_from(ETP_OR(ab->dir, "")));
    size_t from = dir.len - etp_path_last(dir).len;
    for (int k = 1; k < parts && from > 0; k++) {
        from -= etp_path_last((etp_str){dir.ptr, from - 1}).len + 1;
    }
    dir = (etp_str){dir.ptr + from, dir.len - from};
    if (dir.len > 2 && etp_str_starts(dir, ETP_STR("./"))) {
        dir = (etp_str){dir.ptr + 2, dir.len - 2};
    }
    return dir.len ? etp_arena_printf(arena, "%.*s", ETP_STR_ARG(dir)) : "a folder without a name";
}

// What tells runs apart, shortest first: "android"; "toy_cnn"; both; with the processor; with the
// time of measuring; the folder.
static const char *name_by(const etp_ab *ab, int rule, etp_arena *arena)
{
    const char *unnamed = ab->bare ? "recordings" : "platform not recorded";
    const char *platform = ETP_OR(ab->platform, unnamed);
    const char *cpu = etp_ab_fact_of(ab, "cpu"),
               *title = ab->n_models > 1 && !ab->bare
                            ? etp_arena_printf(arena, "%zu models", ab->n_models)
                            : ab->title;
    switch (rule) {
    case 0:
        return platform;
    case 1:
        return title;
    case 2:
        return etp_arena_printf(arena, "%s %s", title, platform);
    case 3:
        return etp_arena_printf(arena, "%s %s %s", title, platform,
                                ETP_OR(cpu, "processor not recorded"));
    case 4:
        return etp_arena_printf(arena, "%s %s", platform,
                                ETP_OR(ab->measured_at, "at an unknown time"));
    default:
        return folder_of(ab, rule - 4, arena);
    }
}

// Of name_by. The last two give one name of the folder's path, and two.
enum { RULES = 7 };

// ---- like for like ----

static void note(etp_combined *c, const char *text)
{
    ETP_ADD(c->arena, &c->notes, text);
}

// Two unknowns are no difference, one unknown is: the sentences end with "or one is unknown".
static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static const char *first_sha(const etp_ab *ab)
{
    return ab->n_models ? ab->models[0].sha256 : NULL;
}

// A run may have several thread counts: the candidate of its first comparison speaks for it.
static uint32_t threads_of(const etp_ab *ab)
{
    return ab->n_arms ? ab->arms[ab->bottleneck_arm].threads : 0;
}

// "N1 of mac = N2 of android" for one fix of run RUN, when other runs want it too and none before
// said so.
// Fixes are the same when they are of one kind: their figures are of different devices.
static bool say_common(const etp_combined *c, size_t run, etp_fix_kind kind, etp_strbuf *text)
{
    size_t hits = 0;
    for (size_t k = 0; k < c->runs.n; k++) {
        const etp_ab *ab = c->runs.items[k].ab;
        for (size_t g = 0; g < ab->fixes.n; g++) {
            if (ab->fixes.items[g].kind != kind) {
                continue;
            }
            if (k < run) {
                return false;
            }
            etp_strbuf_printf(text, "%s%s of %s", etp_if(hits++, " = "), ab->fixes.items[g].id,
                              c->runs.items[k].run);
            break;
        }
    }
    return hits > 1;
}

// A run may want two of one kind, for two groups of operators: the first speaks for both.
static bool wanted_before(const etp_ab *ab, size_t f)
{
    size_t k = 0;
    while (ab->fixes.items[k].kind != ab->fixes.items[f].kind) {
        k++;
    }
    return k < f;
}

// Every run asks for the same fixes in the same order.
static bool same_fixes(const etp_combined *c)
{
    const etp_ab *first = c->runs.n ? c->runs.items[0].ab : NULL;
    for (size_t i = 1; i < c->runs.n; i++) {
        const etp_ab *ab = c->runs.items[i].ab;
        for (size_t f = 0; f < first->fixes.n; f++) {
            if (ab->fixes.n != first->fixes.n ||
                ab->fixes.items[f].kind != first->fixes.items[f].kind) {
                return false;
            }
        }
    }
    // The sentence names the first and the last: a single fix is left to the other one.
    return c->runs.n > 1 && first->fixes.n > 1;
}

// A fix that several runs ask for comes before one that a single device asks for.
static void common_fixes(etp_combined *c)
{
    if (same_fixes(c)) {
        const etp_ab *ab = c->runs.items[0].ab;
        note(c, etp_arena_printf(c->arena, "every run wants the same fixes, %s to %s",
                                 ab->fixes.items[0].id, ab->fixes.items[ab->fixes.n - 1].id));
        return;
    }
    etp_strbuf all;
    etp_strbuf_init(&all, c->arena);
    for (size_t i = 0; i < c->runs.n; i++) {
        const etp_ab *ab = c->runs.items[i].ab;
        for (size_t f = 0; f < ab->fixes.n; f++) {
            etp_strbuf one;
            etp_strbuf_init(&one, c->arena);
            if (!wanted_before(ab, f) && say_common(c, i, ab->fixes.items[f].kind, &one)) {
                etp_strbuf_printf(&all, "%s%s", etp_if(all.len, " · "), etp_strbuf_str(&one).ptr);
            }
        }
    }
    if (all.len == 0) {
        return;
    }
    note(c,
         etp_arena_printf(c->arena, "fixes that several runs want: %s", etp_strbuf_str(&all).ptr));
}

static const char *title_of(const etp_combined *c)
{
    for (size_t i = 1; i < c->runs.n; i++) {
        if (strcmp(c->runs.items[i].ab->title, c->runs.items[0].ab->title) != 0) {
            return etp_arena_printf(c->arena, "%zu runs", c->runs.n);
        }
    }
    return c->runs.items[0].ab->title;
}

// ---- what the page has one by one ----

// A run's first phase is the run's own answer, under the name of the phase.
static etp_ab_views phases_of(const etp_combined *c)
{
    size_t n = 0;
    for (size_t i = 0; i < c->runs.n; i++) {
        n += etp_ab_answers(c->runs.items[i].ab);
    }
    struct etp_ab_view *views = ETP_NEW_ARRAY(c->arena, struct etp_ab_view, n + 1);
    n = 0;
    for (size_t i = 0; i < c->runs.n; i++) {
        const struct etp_ab_view *run = &c->runs.items[i];
        const etp_ab *ab = run->ab;
        views[n++] = *run;
        for (size_t p = 0; ab->n_phases > 1 && p < ab->n_phases; p++) {
            // The run's own view, put above, gives way to that of its first phase.
            n -= p == 0; // the first is the run's own answer
            views[n++] = (struct etp_ab_view){
                .ab = etp_ab_answer_at(ab, p),
                .run = etp_arena_printf(c->arena, "%s · %s", run->run, ab->phases[p]->phase),
                .scope =
                    p ? etp_arena_printf(c->arena, "%s-phase-%zu", run->scope, p + 1) : run->scope};
        }
    }
    return (etp_ab_views){views, n};
}

static etp_status build(const etp_ab *const *answers, size_t n, const char *title, etp_arena *arena,
                        etp_combined *out)
{
    *out = (etp_combined){.arena = arena};
    struct etp_ab_view *views = ETP_NEW_ARRAY(arena, struct etp_ab_view, n);
    out->runs = (etp_ab_views){views, n};
    for (size_t i = 0; i < n; i++) {
        views[i].ab = answers[i];
        views[i].scope = etp_arena_printf(arena, "run-%zu", i + 1);
    }
    // The first rule that tells all runs apart, else the first of those that tell the most apart.
    size_t most = 0;
    const char **names = ETP_NEW_ARRAY(arena, const char *, n);
    const char **best = ETP_NEW_ARRAY(arena, const char *, n);
    for (int rule = 0; rule < RULES && most < n; rule++) {
        for (size_t i = 0; i < n; i++) {
            names[i] = name_by(answers[i], rule, arena);
        }
        size_t different = 0;
        for (size_t i = 0; i < n; i++) {
            bool taken = false;
            for (size_t k = 0; k < i; k++) {
                taken = taken || strcmp(names[i], names[k]) == 0;
            }
            different += !taken;
        }
        if (different > most) {
            most = different;
            memcpy(best, names, n * sizeof *best);
        }
    }
    for (size_t i = 0; i < n; i++) { // one folder twice: by place
        bool taken = false;
        for (size_t k = 0; k < n; k++) {
            taken = taken || (k != i && strcmp(best[i], best[k]) == 0);
        }
        views[i].run = taken ? etp_arena_printf(arena, "%s, run %zu", best[i], i + 1) : best[i];
    }
    out->phases = phases_of(out);
    // Each run is held against the first: of two runs that differ at least one differs from it.
    // The first of the three sentences on models that is true is enough.
    bool models = false, titles = false, versions = false, threads = false,
         bare = views[0].ab->bare;
    for (size_t i = 1; i < n; i++) {
        bare = bare || views[i].ab->bare;
        titles = titles || !same_text(views[i].ab->title, views[0].ab->title);
        models = models || !same_text(first_sha(views[i].ab), first_sha(views[0].ab));
        versions = versions || !same_text(views[i].ab->executorch_sha, views[0].ab->executorch_sha);
        threads = threads || threads_of(views[i].ab) != threads_of(views[0].ab);
    }
    if (bare) {
        note(out, "recordings alone do not say of which model, build and threads they are");
    } else if (titles) {
        note(out, "the runs are of different models");
    } else if (models) {
        note(out, "the runs are of different files of the model: exported differently, or one is "
                  "unknown");
    }
    if (versions && !bare) {
        note(out, "the runs used different revisions of ExecuTorch, or one is unknown");
    }
    if (threads && !bare) {
        note(out, "the runs used different numbers of threads, or one is unknown");
    }
    for (size_t i = 0; i < n; i++) {
        if (views[i].ab->emulated) {
            note(out,
                 etp_arena_printf(arena, "%s: times of an emulator; they say nothing about speed",
                                  views[i].run));
        }
    }
    common_fixes(out);
    out->title = ETP_OR(title, title_of(out));
    return ETP_OK;
}

etp_status etp_combined_build(const etp_ab *const *answers, size_t n, const char *title,
                              etp_arena *arena, etp_combined *out, etp_error *err)
{
    ETP_GUARDED(arena, err, "the report", build(answers, n, title, arena, out));
}

// ---- report ----

// Of which models, where the run's name does not say it.
static const char *models_of(const struct etp_ab_view *view, etp_arena *arena)
{
    const etp_ab *ab = view->ab;
    etp_strbuf text;
    etp_strbuf_init(&text, arena);
    for (size_t i = 0; i < ab->n_models; i++) {
        const char *stem = ab->models[i].stem;
        etp_strbuf_printf(&text, "%s%s", etp_if(i, ", "), ETP_OR(stem, "model"));
    }
    return text.len && !ab->bare ? etp_strbuf_str(&text).ptr : NULL;
}

static void what_ran(const etp_combined *c, etp_report *r, etp_arena *arena)
{
    static const etp_column k_columns[] = {
        {.key = "run", .title = "run"},
        {.key = "model", .title = "model"},
        {.key = "platform", .title = "platform"},
        {.key = "cpu", .title = "processor"},
        {.key = "experiments",
         .title = "experiments",
         .kind = ETP_KIND_INT,
         .flags = ETP_COL_MINOR},
        {.key = "executorch", .title = "ExecuTorch"},
        {.key = "executorch_sha", .title = "revision", .flags = ETP_COL_CODE | ETP_COL_MINOR},
        {.key = "measured_at", .title = "measured (UTC)", .flags = ETP_COL_MINOR},
        {.key = "grade", .title = "grade"},
        {.key = "config", .title = "Config File", .flags = ETP_COL_CODE | ETP_COL_MINOR},
    };
    etp_report_section(r, 1, "runs", "Runs");
    etp_table *t = etp_report_table(r, "runs", NULL, k_columns, 10);
    for (size_t i = 0; i < c->runs.n; i++) {
        const etp_ab *ab = c->runs.items[i].ab;
        const char *sha =
            ab->executorch_sha ? etp_arena_printf(arena, "%.12s", ab->executorch_sha) : NULL;
        ETP_ROW(t, etp_cell_z(c->runs.items[i].run),
                etp_cell_z(models_of(&c->runs.items[i], arena)), etp_cell_z(ab->platform),
                etp_cell_z(etp_ab_fact_of(ab, "cpu")), etp_cell_u64(ab->n_arms),
                etp_cell_z(ab->executorch_version), etp_cell_z(sha), etp_cell_z(ab->measured_at),
                etp_cell_z(ab->judged.grade), etp_cell_z(ab->config));
    }
    etp_report_text(r, "Each run's figures are its own: nothing paired the runs, so nothing is "
                       "computed between them.");
    for (size_t i = 0; i < c->notes.n; i++) {
        etp_report_note(r, ETP_INFO, "%s", c->notes.items[i]);
    }
}

static const char *whole_command(const struct etp_ab_view *v, etp_arena *arena)
{
    const etp_ab *ab = v->ab;
    if (!ab->dir) {
        return NULL;
    }
    return etp_shell_command(arena, "etprof analyze %s -o answer.html", ab->dir);
}

// Each run as its own page has it.
// Launches are drawn for a few arms only: those of many would cover each other.
static void parts(const etp_combined *c, etp_report *r, etp_arena *arena)
{
    enum { MOST_ARMS = 4 }; // whose launches are drawn
    etp_report_medium(r, ETP_ON_PAGE);
    etp_report_parts(r, "Run by run");
    for (size_t i = 0; i < c->phases.n; i++) {
        const struct etp_ab_view *v = &c->phases.items[i];
        etp_report_begin_part(r, v->scope, v->run);
        etp_report_section_whole(r, whole_command(v, arena));
        const char *option = etp_ab_phase_option(v->ab, arena);
        const char *whatif =
            v->ab->bare || !option ? NULL : etp_arena_printf(arena, "etprof whatif DIR%s", option);
        etp_ab_page_findings(v->ab, whatif, r, arena);
        if (v->ab->n_arms <= MOST_ARMS) {
            etp_ab_blocks_section(v->ab, true, r);
        }
        etp_report_end_part(r);
    }
    etp_report_medium(r, ETP_EVERYWHERE);
}

const etp_report *etp_combined_report(const etp_combined *c, etp_arena *arena)
{
    etp_report *r = etp_report_create(arena, c->title);
    etp_strbuf names;
    etp_strbuf_init(&names, arena);
    for (size_t i = 0; i < c->runs.n; i++) {
        etp_strbuf_printf(&names, "%s%s", etp_if(i, ", "), c->runs.items[i].run);
    }
    for (size_t i = 0; i < c->phases.n; i++) {
        etp_ab_headline_cards(&c->phases.items[i], r, arena);
    }
    etp_report_subtitle(r, "%zu runs: %s", c->runs.n,
                        names.failed ? "" : etp_strbuf_str(&names).ptr);
    etp_ab_page_actions(&c->phases, r, arena);
    what_ran(c, r, arena);
    etp_report_section(r, 1, "latency-section", "Latency");
    etp_ab_latency_chart(&c->phases, r);
    etp_ab_latency_table(&c->phases, r);
    etp_report_section(r, 1, "categories", "Where the time goes");
    etp_chart_only_names(etp_ab_breakdown_chart(&c->phases, r));
    etp_ab_category_table(&c->phases, r);
    etp_report_medium(r, ETP_OFF_PAGE); // on the page of each run
    for (size_t i = 0; i < c->phases.n; i++) {
        const etp_ab *ab = c->phases.items[i].ab;
        if (etp_ab_told(ab, 0) && ab->ledgers[0].n) {
            etp_ab_shift_key(ab, 0, etp_report_keys(r, c->phases.items[i].run));
        }
    }
    etp_ab_hot_section(&c->phases, r, arena);
    etp_ab_split_section(&c->phases, r, arena);
    etp_ab_kernel_section(&c->phases, r, arena);
    etp_ab_fix_section(&c->phases, r);
    parts(c, r, arena);
    etp_report_section(r, 1, "evidence", "Evidence");
    etp_report_section_is_detail(r);
    for (size_t i = 0; i < c->runs.n; i++) {
        const etp_ab *ab = c->runs.items[i].ab;
        etp_report_scope(r, c->runs.items[i].scope, NULL);
        etp_keys *keys = etp_report_keys(r, c->runs.items[i].run);
        etp_keys_add(keys, ETP_PLAIN, "grade", "%s: %s", ab->judged.grade, ab->judged.grade_reason);
        etp_ab_proof_keys(ab, keys, arena);
        for (size_t f = 0; f < ab->judged.findings.n; f++) {
            bool bad = ab->judged.findings.items[f].severity == ETP_SEVERITY_BAD;
            etp_keys_add(keys, bad ? ETP_BAD : ETP_INFO, ab->judged.findings.items[f].id, "%s",
                         ab->judged.findings.items[f].text);
        }
    }
    etp_report_scope(r, NULL, NULL);
    etp_report_medium(r, ETP_ON_PAGE);
    etp_ab_drawers(&c->phases, r, arena);
    return r;
}

FIND(version, etp_combined, etp_combined, MAKE(text, ETP_VERSION))
static void write_answer(etp_json *j, const etp_json_cursor *at)
{
    const etp_ab *ab = ((const struct etp_ab_view *)at->object)->ab;
    etp_document_write(j, &k_etp_ab_document, ab, ab);
}

#define OF struct etp_ab_view
static const etp_field k_run_rows[] = {
    FIELD("run", TEXT, run, "what tells it from the others", .flags = ETP_SET),
    WRITTEN("answer", write_answer, "{\"$ref\": \"ab.schema.json\"}", "its etprof.ab/1"),
};
static SHAPE(k_run, k_run_rows);
#undef OF
#define OF etp_combined
static const etp_field k_tool_rows[] = {
    COMPUTED("version", TEXT, version, "that wrote the document", .flags = ETP_SET),
};
static SHAPE_ON_ONE_LINE(k_tool, k_tool_rows);
static const etp_field k_combined_rows[] = {
    GROUP("tool", &k_tool, "versions of etprof"),
    FIELD("title", TEXT, title, "of the report", .flags = ETP_SET),
    VECTOR("notes", TEXT, notes, "what keeps the runs from being like for like", .flags = ETP_SET),
    LIST("runs", OBJECT, runs.items, runs.n, "as given", .shape = &k_run, .least = 2),
};
static SHAPE(k_combined, k_combined_rows);
#undef OF

const etp_document k_etp_combined_document = {
    "etprof.combined/1", "what analyze prints of several folders", &k_combined};
