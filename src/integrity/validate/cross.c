// SPDX-License-Identifier: Apache-2.0
// Files against each other: do figures that occur twice agree, and do figures follow from what they
// are said to be made of? Works by the names of files, so for folders of Arm's kit too.
#include <math.h>
#include <stdlib.h>

#include "base/number.h"
#include "base/path.h"
#include "integrity/validate/parts.h"
#include <etprof/stats.h>

#define AGAIN \
    "make the derived files again with 'etprof report' or 'etprof analyze --out', and compare"

// Paths are literals of this room, so a key that does not fit the buffer is a mistake here, not in
// the file.
double etp_valid_number(const json_t *object, const char *path)
{
    const json_t *at = object;
    char key[64];
    while (at && *path) {
        size_t n = strcspn(path, ".");
        if (n >= sizeof key) {
            return NAN;
        }
        memcpy(key, path, n);
        key[n] = '\0';
        at = json_object_get(at, key);
        path += path[n] == '.' ? n + 1 : n;
    }
    return json_is_number(at) ? json_number_value(at) : (double)NAN;
}

const char *etp_valid_text(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

bool etp_valid_close(double a, double b)
{
    return fabs(a - b) <= 1e-9 + 2e-6 * fmax(fabs(a), fabs(b));
}

// Both unknown is agreement.
static bool agree(double a, double b)
{
    return (isnan(a) && isnan(b)) || etp_valid_close(a, b);
}

static int by_value(const void *pa, const void *pb)
{
    const uint64_t *a = pa, *b = pb;
    return (*a > *b) - (*a < *b);
}

static uint64_t *sorted(const etp_validator *v, const uint64_t *ns, size_t n)
{
    uint64_t *copy = ETP_NEW_ARRAY(v->arena, uint64_t, n);
    if (n) {
        memcpy(copy, ns, n * sizeof *ns);
        qsort(copy, n, sizeof *copy, by_value);
    }
    return copy;
}

// The same durations in any order: Arm's kit writes event by event, a dump is in time.
static bool same_durations(etp_validator *v, const uint64_t *a, size_t na, const uint64_t *b,
                           size_t nb)
{
    const uint64_t *x = sorted(v, a, na), *y = sorted(v, b, nb);
    for (size_t i = 0; na == nb && i < na; i++) {
        uint64_t d = x[i] > y[i] ? x[i] - y[i] : y[i] - x[i];
        if (d > 1) { // decimals of milliseconds
            return false;
        }
    }
    return na == nb;
}

// ---- one document in itself ----

static double *numbers(etp_validator *v, const json_t *list, size_t *n)
{
    *n = json_array_size(list);
    double *x = ETP_NEW_ARRAY(v->arena, double, *n);
    for (size_t i = 0; i < *n; i++) {
        x[i] = json_number_value(json_array_get(list, i));
    }
    return x;
}

// median, min and max of LATENCIES against the figures beside them.
// The median is etp_median, by which these documents are written: another rule for an even number
// of values would find fault with every file.
static void check_moments(etp_validator *v, const char *file, const char *id, const json_t *object,
                          const char *list, const char *experiment)
{
    static const char *const k_keys[] = {"median_ms", "min_ms", "max_ms"};
    size_t n;
    double *x = numbers(v, json_object_get(object, list), &n);
    if (n == 0) {
        return;
    }
    double is[3] = {0, x[0], x[0]};
    for (size_t i = 0; i < n; i++) {
        is[1] = fmin(is[1], x[i]);
        is[2] = fmax(is[2], x[i]);
    }
    is[0] = etp_median(x, n); // reorders
    for (size_t k = 0; k < 3; k++) {
        double says = etp_valid_number(object, k_keys[k]);
        if (!agree(says, is[k])) {
            etp_valid_note(v, file, id, false,
                           etp_arena_printf(v->arena, "%s of the %zu latencies beside it: %s",
                                            k_keys[k], n, ETP_DIGITS(is[k], 9)),
                           "the figure or a latency was edited: " AGAIN, "%s %s = %s", experiment,
                           k_keys[k], ETP_DIGITS(says, 9));
            return;
        }
    }
    etp_valid_note(v, file, id, true, "median, minimum and maximum of the latencies", NULL,
                   "%s: %zu latencies", experiment, n);
}

// Counts before means before medians: each makes sense only when the one before holds.
static void check_robust(etp_validator *v, const etp_valid_file *f)
{
    size_t n, n_indices = json_array_size(json_object_get(f->json, "run_indices"));
    const double *x = numbers(v, json_object_get(f->json, "latencies_ms"), &n);
    double sum = 0, count = etp_valid_number(f->json, "count"),
           mean = etp_valid_number(f->json, "mean_ms");
    for (size_t i = 0; i < n; i++) {
        sum += x[i];
    }
    if (count != (double)n || n_indices != n) {
        etp_valid_note(v, f->name, "robust.count", false,
                       etp_arena_printf(v->arena, "%zu, one per latency", n),
                       "latencies were added or lost: " AGAIN, "count %.0f, %zu run_indices", count,
                       n_indices);
        return;
    }
    if (n && !etp_valid_close(mean, sum / (double)n)) {
        etp_valid_note(v, f->name, "robust.mean", false,
                       etp_arena_printf(v->arena, "the mean of the latencies: %s",
                                        ETP_DIGITS(sum / (double)n, 9)),
                       "the figure or a latency was edited: " AGAIN, "mean_ms = %s",
                       ETP_DIGITS(mean, 9));
        return;
    }
    check_moments(v, f->name, "robust.median", f->json, "latencies_ms",
                  etp_valid_text(f->json, "name"));
}

static void check_metrics(etp_validator *v, const etp_valid_file *f)
{
    size_t i;
    json_t *r;
    json_array_foreach(json_object_get(f->json, "results"), i, r)
    {
        check_moments(v, f->name, "metrics.median", json_object_get(r, "metrics"), "latency_ms",
                      etp_valid_text(r, "experiment"));
    }
}

static double sum_of(const json_t *object)
{
    double sum = 0;
    const char *key;
    json_t *x;
    json_object_foreach((json_t *)(uintptr_t)object, key, x)
    {
        (void)key;
        sum += json_number_value(x);
    }
    return sum;
}

static void check_analysis(etp_validator *v, const etp_valid_file *f)
{
    size_t i;
    json_t *e;
    json_array_foreach(json_object_get(f->json, "experiments"), i, e)
    {
        double whole = etp_valid_number(e, "execute_ns");
        double parts = sum_of(json_object_get(e, "categories_ns")) +
                       etp_valid_number(e, "boundary_ns") + etp_valid_number(e, "framework_ns") +
                       etp_valid_number(e, "unexplained_ns");
        // Exactly: whole nanoseconds below 2^53 (104 days) are doubles without rounding.
        if (isfinite(whole) && parts != whole) {
            etp_valid_note(
                v, f->name, "categories.sum", false,
                etp_arena_printf(v->arena, "categories and remainder = execute_ns, %.0f", whole),
                "a category was edited or lost: " AGAIN, "%s: %.0f",
                etp_valid_text(e, "experiment"), parts);
            return;
        }
    }
    double dumps = etp_valid_number(f->json, "etdump_count");
    size_t listed = json_array_size(json_object_get(f->json, "per_etdump"));
    bool same = (double)listed == dumps;
    etp_valid_note(v, f->name, same ? "categories" : "analysis.dumps", same,
                   "categories that add up, an entry per dump",
                   "an entry was added or lost: " AGAIN, "%zu of %.0f dumps", listed, dumps);
}

// A ledger without rows belongs to a comparison without recordings: there is nothing to add up.
static bool check_ledger(etp_validator *v, const etp_valid_file *f, const json_t *ledger)
{
    size_t i;
    json_t *row;
    double sum = 0, delta = etp_valid_number(ledger, "delta_ns");
    double a = etp_valid_number(ledger, "baseline_ns"),
           b = etp_valid_number(ledger, "candidate_ns");
    const json_t *rows = json_object_get(ledger, "rows");
    json_array_foreach(rows, i, row)
    {
        sum += etp_valid_number(row, "delta_ns");
    }
    if (json_array_size(rows) == 0 || (sum == delta && b - a == delta)) {
        return true;
    }
    etp_valid_note(v, f->name, "report.ledger", false,
                   "sum of the rows = delta_ns = candidate_ns - baseline_ns",
                   "a row was edited, added or lost: " AGAIN, "%.0f, %.0f, %.0f", sum, delta,
                   b - a);
    return false;
}

static bool has_arm(const json_t *report, const char *name)
{
    size_t i;
    json_t *arm;
    json_array_foreach(json_object_get(report, "arms"), i, arm)
    {
        const char *is = etp_valid_text(arm, "name");
        if (is && name && strcmp(is, name) == 0) {
            return true;
        }
    }
    return false;
}

static bool has_operator(const json_t *report, const char *id)
{
    size_t i;
    json_t *op;
    json_array_foreach(json_object_get(report, "operators"), i, op)
    {
        const char *is = etp_valid_text(op, "id");
        if (is && strcmp(is, id) == 0) {
            return true;
        }
    }
    return false;
}

static bool check_fix(etp_validator *v, const etp_valid_file *f, const json_t *fix)
{
    size_t i;
    json_t *at;
    const char *id = etp_valid_text(fix, "id");
    double lo = etp_valid_number(fix, "gain_ns.lo"), x = etp_valid_number(fix, "gain_ns.expected"),
           hi = etp_valid_number(fix, "gain_ns.hi");
    if (lo > hi || x < lo || x > hi) { // the expected gain may be unknown
        etp_valid_note(v, f->name, "report.fix", false, "lo <= expected <= hi",
                       "a gain was edited: " AGAIN, "%s: %.0f in %.0f to %.0f", id, x, lo, hi);
        return false;
    }
    json_array_foreach(json_object_get(fix, "evidence"), i, at)
    {
        const char *op = json_string_value(at);
        if (op && strncmp(op, "op", 2) == 0 && !has_operator(f->json, op)) {
            etp_valid_note(v, f->name, "report.fix", false, "operators that are there",
                           "an operator was renamed or lost: " AGAIN, "%s is about %s", id, op);
            return false;
        }
    }
    return true;
}

// One problem is told for the whole report: an edit that breaks one of these figures often breaks
// several, and the fix is the same.
static void check_report(etp_validator *v, const etp_valid_file *f)
{
    size_t i;
    json_t *c;
    json_array_foreach(json_object_get(f->json, "next_fixes"), i, c)
    {
        if (!check_fix(v, f, c)) {
            return;
        }
    }
    json_array_foreach(json_object_get(f->json, "ledgers"), i, c)
    {
        if (!check_ledger(v, f, c)) {
            return;
        }
    }
    json_array_foreach(json_object_get(f->json, "comparisons"), i, c)
    {
        const char *base = etp_valid_text(c, "baseline"),
                   *candidate = etp_valid_text(c, "candidate");
        double x = etp_valid_number(c, "speedup.estimate");
        if (!has_arm(f->json, base) || !has_arm(f->json, candidate)) {
            etp_valid_note(v, f->name, "report.arms", false, "comparisons of arms that are there",
                           "an arm was renamed or lost: " AGAIN, "%s against %s", candidate, base);
            return;
        }
        // Comparisons with NAN are false, so unknown ends and withheld estimates pass.
        if (etp_valid_number(c, "speedup.lo") > x || x > etp_valid_number(c, "speedup.hi")) {
            etp_valid_note(v, f->name, "report.interval", false, "lo <= estimate <= hi",
                           "the speedup or its interval was edited: " AGAIN, "%s: %s in %s to %s",
                           candidate, ETP_DIGITS(x, 6),
                           ETP_DIGITS(etp_valid_number(c, "speedup.lo"), 6),
                           ETP_DIGITS(etp_valid_number(c, "speedup.hi"), 6));
            return;
        }
        if (etp_valid_text(c, "withheld") && isfinite(x)) {
            etp_valid_note(v, f->name, "report.withheld", false, "no figure where it is withheld",
                           "a withheld speedup was filled in: " AGAIN, "%s: %s, withheld %s",
                           candidate, ETP_DIGITS(x, 6), etp_valid_text(c, "withheld"));
            return;
        }
    }
    etp_valid_note(v, f->name, "report", true, "ledgers that add up, intervals in order", NULL,
                   "%zu comparisons", json_array_size(json_object_get(f->json, "comparisons")));
}

// ---- documents against files ----

// TEXT with its end FROM replaced by TO; NULL when it does not end so.
static const char *renamed(etp_arena *arena, const char *text, const char *from, const char *to)
{
    etp_str s = etp_str_from(text), suffix = etp_str_from(from);
    return etp_str_ends(s, suffix)
               ? etp_arena_printf(arena, "%.*s%s", (int)(s.len - suffix.len), s.ptr, to)
               : NULL;
}

static etp_valid_file *neighbour(const etp_validator *v, const etp_valid_file *f, const char *from,
                                 const char *to)
{
    const char *name = renamed(v->arena, f->name, from, to);
    return name ? etp_valid_find(v, name) : NULL;
}

// The statistics against the timeline they describe.
static void check_robust_timeline(etp_validator *v, const etp_valid_file *f)
{
    const etp_valid_file *t = neighbour(v, f, "_robust_stats.json", ".csv");
    size_t n;
    const double *ms = numbers(v, json_object_get(f->json, "latencies_ms"), &n);
    if (!t || !t->readable) {
        return;
    }
    uint64_t *ns = ETP_NEW_ARRAY(v->arena, uint64_t, n);
    for (size_t i = 0; i < n; i++) {
        ns[i] = (uint64_t)llround(ms[i] * 1e6);
    }
    bool ok = same_durations(v, ns, n, t->execute_ns, t->n_execute);
    etp_valid_note(
        v, f->name, "robust.timeline", ok,
        etp_arena_printf(v->arena, "the %zu Method::execute of %s", t->n_execute, t->name),
        "statistics and timeline are of different runs, or one was edited: " AGAIN,
        "%zu latencies%s", n, ok ? ", the same" : "");
}

// The block of a dump of that stem: P.etdump is of block 1, P_b2.etdump of block 2; 0: none of its
// dumps.
static uint64_t block_of_dump(const char *name, const char *stem)
{
    etp_str s = etp_str_from(name), end = ETP_STR(".etdump");
    uint64_t block = 1;
    if (etp_str_ends(s, ETP_STR(ETP_OS_PACKED))) {
        s.len -= sizeof ETP_OS_PACKED - 1;
    }
    if (!etp_str_starts(s, etp_str_from(stem)) || !etp_str_ends(s, end) ||
        s.len < strlen(stem) + end.len) {
        return 0;
    }
    s = (etp_str){s.ptr + strlen(stem), s.len - strlen(stem) - end.len};
    if (s.len == 0) {
        return 1;
    }
    return etp_str_starts(s, ETP_STR("_b")) &&
                   etp_parse_u64((etp_str){s.ptr + 2, s.len - 2}, &block) && block > 1
               ? block
               : 0;
}

// A timeline against its dumps: P.etdump, and P_b2.etdump … of later blocks.
static void check_timeline_dumps(etp_validator *v, const etp_valid_file *f)
{
    static const char *const k_ends[] = {"_exec_all_runs_timeline.csv", "_all_runs_timeline.csv"};
    const char *stem = NULL;
    // The longer end first, of which the other is a part: else "_exec" would stay in the stem.
    for (size_t i = 0; i < 2 && !stem; i++) {
        stem = renamed(v->arena, f->name, k_ends[i], "");
    }
    struct {
        uint64_t *items;
        size_t n, cap;
    } ns = {0};
    if (!stem) {
        return;
    }
    const etp_valid_file *manifest = etp_valid_find(v, ETP_RUN_MANIFEST);
    const char *state = manifest && manifest->json ? etp_valid_text(manifest->json, "state") : NULL;
    // Else a block that is not committed may have left some.
    // NAN as the limit lets every block pass.
    bool ended = !state || strcmp(state, etp_run_state_name(ETP_RUN_FINISHED)) == 0;
    double committed = ended ? (double)NAN : etp_valid_number(manifest->json, "blocks_done");
    size_t dumps = 0;
    for (size_t i = 0; i < v->files.n; i++) { // a block that was cut short may have none
        const etp_valid_file *d = &v->files.items[i];
        uint64_t block = block_of_dump(d->name, stem);
        if (block == 0 || (double)block > committed) {
            continue;
        }
        if (!d->readable) {
            return; // said already
        }
        for (size_t k = 0; k < d->n_execute; k++) {
            ETP_ADD(v->arena, &ns, d->execute_ns[k]);
        }
        dumps++;
    }
    if (dumps == 0) {
        etp_valid_note(
            v, f->name, "timeline.dump", false,
            etp_arena_printf(v->arena, "%s.etdump, the dump it was made from", stem),
            "the dump was removed or renamed: bring it back, the table alone proves nothing",
            "absent");
        return;
    }
    bool ok = same_durations(v, ns.items, ns.n, f->execute_ns, f->n_execute);
    etp_valid_note(v, f->name, "timeline.dump", ok,
                   etp_arena_printf(v->arena, "the %zu executions of %zu dumps", ns.n, dumps),
                   "the table was edited, or made from another dump (a stale file, swapped "
                   "experiments): " AGAIN,
                   "%zu executions%s", f->n_execute, ok ? ", the same" : ", other durations");
}

// Files that a document names. Absolute paths are of the machine that wrote it: their last part
// counts.
static bool names_file(const etp_validator *v, const char *name)
{
    if (!name || etp_valid_find(v, name)) {
        return true;
    }
    return name[0] == '/' && etp_valid_find(v, etp_path_name(name));
}

// A key that is null or absent names nothing and is fine.
static bool check_path(etp_validator *v, const etp_valid_file *f, const char *name)
{
    if (names_file(v, name)) {
        return true;
    }
    etp_valid_note(
        v, f->name, "paths", false, "files that are in the folder",
        "a file was removed or renamed after the summary was written: bring it back, or make the "
        "derived files again with 'etprof report'",
        "%s is not there", name);
    return false;
}

// The keys of all the kit's documents that hold paths; a document has some of them, and foreach
// over what it lacks does nothing.
static void check_paths(etp_validator *v, const etp_valid_file *f)
{
    size_t i;
    json_t *e, *path;
    const char *key;
    json_array_foreach(json_object_get(f->json, "csv_files"), i, e)
    {
        if (!check_path(v, f, json_string_value(e))) {
            return;
        }
    }
    json_array_foreach(json_object_get(f->json, "per_etdump"), i, e)
    {
        if (!check_path(v, f, etp_valid_text(e, "etdump"))) {
            return;
        }
    }
    json_array_foreach(json_object_get(f->json, "runs"), i, e)
    {
        json_object_foreach(json_object_get(e, "paths"), key, path)
        {
            if (!check_path(v, f, json_string_value(path))) {
                return;
            }
        }
    }
    json_array_foreach(json_object_get(f->json, "results"), i, e)
    {
        if (!check_path(v, f, etp_valid_text(json_object_get(e, "metrics"), "etdump_rel"))) {
            return;
        }
    }
    etp_valid_note(v, f->name, "paths", true, "files that are in the folder", NULL, "all there");
}

// The pipeline summary quotes the robust statistics.
// A run without robust statistics of its own (a recording that failed) quotes none.
static void check_summary(etp_validator *v, const etp_valid_file *f)
{
    size_t i;
    json_t *run;
    json_array_foreach(json_object_get(f->json, "runs"), i, run)
    {
        const json_t *m = json_object_get(run, "metrics");
        const char *path = etp_valid_text(m, "robust_stats_path");
        const etp_valid_file *r = path ? etp_valid_find(v, path) : NULL;
        r = r || !path ? r : etp_valid_find(v, etp_path_name(path));
        if (!r || !r->json) {
            continue;
        }
        double says = etp_valid_number(m, "median_ms"), is = etp_valid_number(r->json, "median_ms");
        if (!agree(says, is) ||
            !agree(etp_valid_number(m, "mean_ms"), etp_valid_number(r->json, "mean_ms"))) {
            etp_valid_note(v, f->name, "summary.median", false,
                           etp_arena_printf(v->arena, "median and mean as in %s: %s", r->name,
                                            ETP_DIGITS(is, 9)),
                           "one of the two was edited or is older: " AGAIN, "%s: %s",
                           etp_valid_text(run, "experiment"), ETP_DIGITS(says, 9));
            return;
        }
    }
    etp_valid_note(v, f->name, "summary", true, "medians as in the robust statistics", NULL,
                   "%zu runs", json_array_size(json_object_get(f->json, "runs")));
}

// Their content is compared when a folder is analysed; here only whether all of it is there.
static void check_outputs(etp_validator *v, const etp_valid_file *f)
{
    size_t i;
    json_t *o;
    json_array_foreach(json_object_get(f->json, "outputs"), i, o)
    {
        const char *name = renamed(v->arena, f->name, "outputs.json", etp_valid_text(o, "file"));
        const etp_valid_file *bin = name ? etp_valid_find(v, name) : NULL;
        double bytes = etp_valid_number(o, "bytes");
        if (!bin || (double)bin->size != bytes) {
            etp_valid_note(
                v, f->name, "outputs.size", false, etp_arena_printf(v->arena, "%.0f bytes", bytes),
                "the output was cut or removed: restore it from a copy, or measure again", "%s: %s",
                etp_valid_text(o, "file"), bin ? "another size" : "absent");
            return;
        }
    }
}

// Tables of something else that somebody put into a run folder: they are not of its record, and the
// dump they were made from need not lie beside them. 'verify' says when a file of the record was
// taken off it.
static bool is_guest(const etp_run_derived *recorded, const etp_valid_file *f)
{
    for (size_t i = 0; i < recorded->n; i++) {
        if (etp_str_eqz(recorded->files[i].path, f->name)) {
            return false;
        }
    }
    return recorded->n > 0 && !etp_run_is_raw(etp_str_from(f->name));
}

// What a schema cannot say: figures that follow from others of the same document, and files that
// have to be there or to say the same.
static void check_document(etp_validator *v, const etp_valid_file *f)
{
    switch (f->document) {
    case ETP_VALID_ROBUST_STATS:
        check_robust(v, f);
        check_robust_timeline(v, f);
        break;
    case ETP_VALID_METRICS:
    case ETP_VALID_KIT_MANIFEST:
    case ETP_VALID_RUN:
        check_metrics(v, f);
        check_paths(v, f);
        break;
    case ETP_VALID_ANALYSIS_SUMMARY:
        check_analysis(v, f);
        check_paths(v, f);
        break;
    case ETP_VALID_PIPELINE_SUMMARY:
        check_summary(v, f);
        check_paths(v, f);
        break;
    case ETP_VALID_AB:
        check_report(v, f);
        break;
    case ETP_VALID_OUTPUTS:
        check_outputs(v, f);
        break;
    default: // nothing in it occurs elsewhere
        break;
    }
}

void etp_valid_cross(etp_validator *v)
{
    etp_run_derived recorded = {0};
    if (!etp_run_is(v->root) ||
        etp_run_derived_read(v->root, v->arena, &recorded, NULL) != ETP_OK) {
        // Without a readable record nothing can be told to be a guest, so everything is checked.
        recorded = (etp_run_derived){0};
    }
    for (size_t i = 0; i < v->files.n; i++) {
        const etp_valid_file *f = &v->files.items[i];
        if (is_guest(&recorded, f)) {
            continue;
        }
        if (f->kind == ETP_VALID_CSV && f->readable && f->n_execute) {
            check_timeline_dumps(v, f);
        }
        if (f->json) {
            check_document(v, f);
        }
    }
}
