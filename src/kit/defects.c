// SPDX-License-Identifier: Apache-2.0
// Where the conclusions of Arm's kit about a folder differ from ours, one function per defect or
// two. Numbers of defects are those of docs/from-the-kit.md.
#include "kit/folder.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#include "base/csv.h"
#include "base/guard.h"
#include "base/number.h"
#include "base/path.h"
#include "explain/kernels.h"
#include "kit/json.h"

// ---- saying it ----

// Text of a difference, cut at the buffer's length: parts of it come from files.
static const char *say(etp_kit_folder *f, const char *fmt, ...) ETP_PRINTF(2, 3);
static const char *say(etp_kit_folder *f, const char *fmt, ...)
{
    char buf[600];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(buf, sizeof buf, fmt, ap);
    va_end(ap);
    return etp_arena_strdup(f->arena, etp_str_from(buf));
}

static void differ(etp_kit_folder *f, const char *defect, const char *where, const char *kit,
                   const char *etprof, const char *why)
{
    etp_kit_difference d = {defect, where, kit, etprof, why};
    ETP_ADD(f->arena, &f->differences, d);
}

static const char *name_of(etp_kit_folder *f, const etp_kit_unit *u)
{
    return say(f, "%s%s%s", u->dir, u->dir[0] ? "/" : "", u->stem);
}

// Our figures in the kit's own five groups, so that the two can be held against each other.
static const char *five_text(etp_kit_folder *f, const etp_kit_unit *u)
{
    etp_strbuf s;
    etp_strbuf_init(&s, f->arena);
    for (int c = 0; c < ETP_KIT_CATEGORY_COUNT; c++) {
        if (u->five_ns[c] > 0) {
            etp_strbuf_printf(&s, "%s%s %.3f ms", s.len ? ", " : "",
                              etp_kit_category_name((etp_kit_category)c),
                              (double)u->five_ns[c] / 1e6);
        }
    }
    return s.len ? etp_strbuf_str(&s).ptr : "no operators";
}

static bool ends(const char *path, const char *suffix)
{
    return etp_str_ends(etp_str_from(path), etp_str_from(suffix));
}

static bool contains(etp_str text, const char *part)
{
    return etp_str_find(text, etp_str_from(part)) < text.len;
}

// The first line of TEXT with PART in it, without Markdown's marks around; NULL without one.
static const char *line_with(etp_kit_folder *f, etp_str text, const char *part)
{
    size_t at = etp_str_find(text, etp_str_from(part)), from = at, to = at;
    if (at >= text.len) {
        return NULL;
    }
    while (from > 0 && text.ptr[from - 1] != '\n') {
        from--;
    }
    while (to < text.len && text.ptr[to] != '\n') {
        to++;
    }
    while (from < to && strchr("-*# ", text.ptr[from])) {
        from++;
    }
    etp_str line = {text.ptr + from, to - from > 160 ? 160 : to - from};
    return etp_arena_strdup(f->arena, line);
}

// ---- per experiment ----

// D10, outliers deleted: what the kit's fences would take away from these very executions. D14,
// another process warmed up: the first execution is slower than all others and 5 % above what is
// usual after it.
static void d10_d14(etp_kit_folder *f, const etp_kit_unit *u)
{
    const char *name = name_of(f, u);
    etp_kit_series x = {.name = u->stem, .ns = u->ns, .n = u->n_runs};
    // Of two runs none is beyond the fences, and one after the first says nothing of what is usual.
    if (u->n_runs < 3) {
        return;
    }
    const etp_kit_robust r = etp_kit_robust_of(&x, f->arena);
    if (r.kept.n < x.n) {
        differ(f, "D10", name,
               say(f, "deletes %zu of %zu runs as outliers: variation %.2f %% instead of %.2f %%",
                   x.n - r.kept.n, x.n, r.kept.cv_percent, r.all.cv_percent),
               say(f, "keeps all %zu", x.n),
               "fences on a few values call clean noise an outlier in one sample of four");
    }
    uint64_t most = 0;
    double *rest = ETP_NEW_ARRAY(f->arena, double, u->n_runs);
    for (size_t i = 1; i < u->n_runs; i++) {
        rest[i - 1] = (double)u->ns[i];
        most = u->ns[i] > most ? u->ns[i] : most;
    }
    double usual = etp_median(rest, u->n_runs - 1);
    if ((double)u->ns[0] > 1.05 * usual && u->ns[0] > most) {
        differ(f, "D14", name,
               say(f, "mean %.3f ms, the first run of %.3f ms in it", r.all.mean / 1e6,
                   (double)u->ns[0] / 1e6),
               say(f, "the first run is cold: %.3f ms is usual after it", usual / 1e6),
               "its warm-up is another process; the measured one starts cold");
    }
}

// D15, runs added up: the kit's rule leaves fewer runs than there are executions. D17, a sum that
// counts twice: Method::execute is not the whole of the kit's percentages; up to 5 % can be events
// outside.
static void d15_d17(etp_kit_folder *f, const etp_kit_unit *u)
{
    const char *name = name_of(f, u);
    if (u->n_runs > 0 && u->kit_runs > 0 && u->kit_runs != u->n_runs) {
        differ(
            f, "D15", name, say(f, "%zu runs, median %.6f ms", u->kit_runs, u->kit_median_ms),
            say(f, "%zu runs, median %.6f ms", u->n_runs, u->median_ns / 1e6),
            "run indices start anew in every event block, and what has the same index is added up");
    }
    if (isfinite(u->execute_share) && u->execute_share < 0.95) {
        differ(f, "D17", name,
               say(f, "Method::execute is %.1f %% of the total", 100 * u->execute_share),
               "Method::execute is the whole",
               "the denominator adds containers to what they contain");
    }
}

// D16, operators of different delegates fused: one full name, counter included, is that of several
// operators. The first such name is told.
static void d16(etp_kit_folder *f, const etp_kit_unit *u)
{
    const etp_profile *p = u->profile;
    for (size_t i = 0; p && i < p->n_rows; i++) {
        double sum = 0, own = etp_profile_all_mean(p, &p->rows[i]);
        size_t same = 0;
        for (size_t k = 0; k < p->n_rows && p->rows[i].kind == ETP_ROW_OPERATOR; k++) {
            bool equal =
                p->rows[k].kind == ETP_ROW_OPERATOR && etp_str_eq(p->rows[k].name, p->rows[i].name);
            same += equal;
            sum += equal ? etp_profile_all_mean(p, &p->rows[k]) : 0;
            if (equal && k < i) {
                same = 0; // said already
                break;
            }
        }
        if (same > 1) {
            differ(
                f, "D16", name_of(f, u),
                say(f, "%.*s is one operator of %.3f ms", ETP_STR_ARG(p->rows[i].name), sum / 1e6),
                say(f, "%zu operators, the first %.3f ms", same, own / 1e6),
                "the counter in the name starts anew in every delegate call");
            return;
        }
    }
}

// The kit's report: lower-case substrings, the first hit wins.
static etp_kit_category kit_category(etp_str name)
{
    static const struct {
        const char *part;
        etp_kit_category five;
    } k_parts[] = {
        {"conv",       ETP_KIT_CATEGORY_CONV         },
        // "convert" below is never reached behind "conv": conversions are convolutions to the kit.
        {"matmul",     ETP_KIT_CATEGORY_GEMM         },
        {"linear",     ETP_KIT_CATEGORY_GEMM         },
        {"gemm",       ETP_KIT_CATEGORY_GEMM         },
        {"transpose",  ETP_KIT_CATEGORY_DATA_MOVEMENT},
        {"reshape",    ETP_KIT_CATEGORY_DATA_MOVEMENT},
        {"copy",       ETP_KIT_CATEGORY_DATA_MOVEMENT},
        {"convert",    ETP_KIT_CATEGORY_DATA_MOVEMENT},
        {"pad",        ETP_KIT_CATEGORY_DATA_MOVEMENT},
        {"relu",       ETP_KIT_CATEGORY_ELEMENTWISE  },
        {"gelu",       ETP_KIT_CATEGORY_ELEMENTWISE  },
        {"sigmoid",    ETP_KIT_CATEGORY_ELEMENTWISE  },
        {"tanh",       ETP_KIT_CATEGORY_ELEMENTWISE  },
        {"hardswish",  ETP_KIT_CATEGORY_ELEMENTWISE  },
        {"hard_swish", ETP_KIT_CATEGORY_ELEMENTWISE  },
        {"clamp",      ETP_KIT_CATEGORY_ELEMENTWISE  },
        {"add",        ETP_KIT_CATEGORY_ELEMENTWISE  },
        {"mul",        ETP_KIT_CATEGORY_ELEMENTWISE  },
        {"sub",        ETP_KIT_CATEGORY_ELEMENTWISE  },
        {"div",        ETP_KIT_CATEGORY_ELEMENTWISE  },
    };
    char low[256];
    size_t n = name.len < sizeof low - 1 ? name.len : sizeof low - 1;
    for (size_t i = 0; i < n; i++) {
        low[i] = name.ptr[i] >= 'A' && name.ptr[i] <= 'Z' ? (char)(name.ptr[i] + 32) : name.ptr[i];
    }
    for (size_t i = 0; i < sizeof k_parts / sizeof *k_parts; i++) {
        if (contains((etp_str){low, n}, k_parts[i].part)) {
            return k_parts[i].five;
        }
    }
    return ETP_KIT_CATEGORY_OTHER;
}

// D6, categories by substring: of the operators that the kit puts elsewhere, the longest is named
// and all are added up.
static void d6(etp_kit_folder *f, const etp_kit_unit *u)
{
    double kit[ETP_KIT_CATEGORY_COUNT] = {0}, moved = 0, largest = -1;
    const etp_profile_row *worst = NULL;
    const etp_profile *p = u->profile;
    for (size_t i = 0; p && i < p->n_rows; i++) {
        const etp_profile_row *row = &p->rows[i];
        if (!etp_means_is_operator(row->kind)) {
            continue;
        }
        double ms = etp_profile_all_mean(p, row) / 1e6;
        etp_kit_category theirs = kit_category(row->name);
        kit[theirs] += ms;
        if (theirs != etp_kit_category_of(row->parsed.category)) {
            moved += ms;
            worst = ms > largest ? row : worst;
            largest = ms > largest ? ms : largest;
        }
    }
    if (!worst) {
        return;
    }
    differ(
        f, "D6", name_of(f, u),
        say(f,
            "%.*s is %s: CONV %.3f, GEMM %.3f, Data Movement %.3f, Elementwise %.3f, Other %.3f ms",
            ETP_STR_ARG(worst->name), etp_kit_category_name(kit_category(worst->name)), kit[0],
            kit[1], kit[2], kit[3], kit[4]),
        say(f, "it is %s: %s", etp_kit_category_name(etp_kit_category_of(worst->parsed.category)),
            five_text(f, u)),
        say(f, "substrings of names: %.3f ms are in the wrong category", moved));
}

// D34, validation that cannot fail: an empty dump. D5, a stale dump: its table has other times than
// the dump beside it (more than the nanosecond that its decimals may lose), or two experiments have
// one dump. The same number of runs is asked for, because D15 explains any other.
static void d5_d34(etp_kit_folder *f, const etp_kit_unit *u)
{
    if (u->dump_empty) {
        differ(f, "D34", name_of(f, u), "its validator accepts the dump", "it is empty",
               "only that a file of this name exists is checked");
    }
    bool both = isfinite(u->dump_median_ns) && isfinite(u->kit_median_ms) && u->timeline;
    if (both && u->kit_runs == u->n_runs && fabs(u->table_median_ns - u->dump_median_ns) > 1) {
        differ(f, "D5", name_of(f, u), say(f, "median %.6f ms, from its table", u->kit_median_ms),
               say(f, "%.6f ms, from the dump beside it", u->dump_median_ns / 1e6),
               "the table was made from another dump: one of the two is stale");
    }
    for (size_t i = 0; i < f->units.n; i++) {
        const etp_kit_unit *other = &f->units.items[i];
        // An earlier one alone, so that two experiments with one dump are told once.
        if (other < u && u->dump_sha256[0] && !u->dump_empty &&
            strcmp(other->dump_sha256, u->dump_sha256) == 0) {
            differ(f, "D5", name_of(f, u), "a measurement of its own",
                   say(f, "byte for byte the dump of %s", name_of(f, other)),
                   "a dump that lay there before was taken for a new one");
            return;
        }
    }
}

// D36, kernel names misparsed: the operation in the kit's table is not the one that the name holds.
static void d36(etp_kit_folder *f, const etp_kit_unit *u)
{
    etp_csv_reader reader;
    etp_csv_row row = {0};
    bool more = false;
    size_t wrong = 0;
    const char *kit = NULL, *ours = NULL;
    etp_csv_open(&reader, etp_kit_folder_text(f, u->kernels), ',', f->arena);
    etp_status st = etp_csv_next(&reader, &row, &more, NULL);
    int name_at = more ? etp_csv_column(&row, "kernel_name") : -1,
        op_at = more ? etp_csv_column(&row, "xnn_op") : -1;
    while (st == ETP_OK && more && name_at >= 0 && op_at >= 0) {
        st = etp_csv_next(&reader, &row, &more, NULL);
        if (st != ETP_OK || !more || row.n <= (size_t)name_at || row.n <= (size_t)op_at) {
            break;
        }
        etp_kernel_name name;
        etp_kernel_name_parse(row.cells[name_at], &name);
        if (name.op.len && !etp_str_eq(name.op, row.cells[op_at])) {
            wrong++;
            kit = kit ? kit
                      : say(f, "%.*s is operation '%.*s'", ETP_STR_ARG(row.cells[name_at]),
                            ETP_STR_ARG(row.cells[op_at]));
            ours = ours ? ours
                        : say(f, "operation '%.*s' of types %.*s", ETP_STR_ARG(name.op),
                              ETP_STR_ARG(name.dtype));
        }
    }
    if (wrong) {
        differ(f, "D36", name_of(f, u), kit, ours,
               say(f,
                   "the second part of the name is taken for the operation; %zu names "
                   "are wrong",
                   wrong));
    }
}

// ---- over experiments ----

// D4, thread counts mixed: one figure where the folder has several pairs. What a report of the kit
// says is quoted; without a report, the range that its figure can have fallen into is told.
static void d4(etp_kit_folder *f)
{
    double lo = INFINITY, hi = 0;
    const char *said = NULL;
    etp_strbuf ours;
    etp_strbuf_init(&ours, f->arena);
    for (size_t i = 0; i < f->units.n; i++) {
        for (size_t k = 0; k < f->units.n; k++) {
            const etp_kit_unit *off = &f->units.items[i], *on = &f->units.items[k];
            if (off->side == ETP_KIT_OFF && on->side == ETP_KIT_ON && off->median_ns > 0 &&
                on->median_ns > 0) {
                lo = fmin(lo, off->median_ns / on->median_ns);
                hi = fmax(hi, off->median_ns / on->median_ns);
            }
        }
    }
    for (size_t i = 0; i < f->files.n; i++) {
        const char *base = etp_path_name(f->files.items[i].path);
        if (!said && (strcmp(base, "report.md") == 0 || strcmp(base, "combined_report.md") == 0)) {
            etp_str text = etp_kit_folder_text(f, f->files.items[i].path);
            const char *line = line_with(f, text, "x slowdown");
            line = line ? line : line_with(f, text, "x speedup");
            said = line ? say(f, "%s says: %s", f->files.items[i].path, line) : NULL;
        }
    }
    for (size_t i = 0; i < f->pairs.n; i++) {
        const etp_kit_unit *on = &f->units.items[f->pairs.items[i].on];
        etp_strbuf_printf(&ours, "%s%s%s%u thread%s%s%s: %.2f", i ? "; " : "",
                          on->model ? on->model : "", on->model ? ", " : "", on->threads,
                          on->threads == 1 ? "" : "s", on->dir[0] ? ", " : "", on->dir,
                          f->pairs.items[i].ratio);
    }
    if (f->pairs.n < 2) {
        return;
    }
    differ(f, "D4", "all experiments",
           said ? said
                : say(f, "one figure from %.2f to %.2f, as the folder's order has it", lo, hi),
           etp_strbuf_str(&ours).ptr,
           "its reports take the first experiment on and the first off, whatever their threads and "
           "models are");
}

// D9, no uncertainty: every pair, in the words that the kit's report would use. D13, timing runs
// are traced: true of each folder
// with a pair.
static void d9(etp_kit_folder *f)
{
    for (size_t i = 0; i < f->pairs.n; i++) {
        const etp_kit_pair *p = &f->pairs.items[i];
        const char *kit = p->ratio > 1 ? say(f, "SME2 acceleration shows %.2fx speedup", p->ratio)
                                       : say(f, "SME2 shows %.2fx slowdown", 1 / p->ratio);
        differ(f, "D9",
               say(f, "%s against %s", name_of(f, &f->units.items[p->on]),
                   name_of(f, &f->units.items[p->off])),
               kit, "unknown: no interval, no verdict",
               "one launch each, one after the other: drift and chance look the same as an effect");
    }
    if (f->pairs.n > 0) {
        differ(f, "D13", "all experiments", "these are the latencies of the model",
               "of the model with a tracer",
               "its timing runs record ETDumps; there is no run without");
    }
}

// Does the label of MS say another side than the experiment whose figure it is?
// The experiment is the one with the nearest figure, within 2 %: labels are what is in doubt, so
// only the number can tell whose it is.
// MS is above 0: who asks has looked.
static void check_label(etp_kit_folder *f, const char *where, etp_str label, double ms, bool leaves)
{
    const etp_kit_unit *best = NULL;
    etp_kit_side said = etp_kit_side_of(label);
    double distance = 0.02;
    for (size_t i = 0; i < f->units.n; i++) {
        const etp_kit_unit *u = &f->units.items[i];
        double own = leaves ? u->leaves_ms : u->median_ns / 1e6, d = fabs(own - ms) / ms;
        best = own > 0 && d < distance ? u : best;
        distance = own > 0 && d < distance ? d : distance;
    }
    if (!best || said == ETP_KIT_NO_SIDE || best->side == ETP_KIT_NO_SIDE || best->side == said) {
        return;
    }
    differ(f, "D2", where, say(f, "%.3f ms are called '%.*s'", ms, ETP_STR_ARG(label)),
           say(f, "they are those of %s", name_of(f, best)),
           "its pages give the labels in the other order than the files");
}

// D2, labels swapped, of the table that compares categories: a side's column adds up to its
// operators. D20, speedup 0: in the same table.
static void d2_table(etp_kit_folder *f, const char *path)
{
    etp_csv_reader reader;
    etp_csv_row head = {0}, row = {0};
    bool more = false;
    double sum[2] = {0};
    size_t zero = 0;
    etp_csv_open(&reader, etp_kit_folder_text(f, path), ',', f->arena);
    if (etp_csv_next(&reader, &head, &more, NULL) != ETP_OK || !more || head.n < 4 ||
        !etp_str_ends(head.cells[1], ETP_STR("_ms")) ||
        !etp_str_ends(head.cells[2], ETP_STR("_ms"))) {
        return;
    }
    while (etp_csv_next(&reader, &row, &more, NULL) == ETP_OK && more) {
        for (size_t i = 0; i < 2; i++) {
            double ms = 0;
            sum[i] += i + 1 < row.n && etp_parse_double(row.cells[i + 1], &ms) ? ms : 0;
        }
        double speedup = 1;
        zero += row.n > 3 && etp_parse_double(row.cells[3], &speedup) && speedup == 0;
    }
    for (size_t i = 0; i < 2 && sum[i] > 0; i++) {
        etp_str label = {head.cells[i + 1].ptr, head.cells[i + 1].len - 3};
        check_label(f, path, label, sum[i], true);
    }
    if (zero) {
        differ(f, "D20", path, say(f, "speedup 0 in %zu categories", zero), "no speedup",
               "a category that one side lacks has no ratio");
    }
}

// D2, of the file that compares two latencies.
static void d2_robust(etp_kit_folder *f, const char *path, const json_t *doc)
{
    for (int i = 0; i < 2; i++) {
        const json_t *side = json_object_get(doc, i ? "config2" : "config1");
        const char *name = etp_kit_json_text(side, "name");
        double ms = etp_kit_json_number(side, "median_ms");
        if (name && ms > 0) {
            const char *label = etp_arena_strdup(f->arena, etp_str_from(name));
            check_label(f, path, etp_str_from(label), ms, false);
        }
    }
}

// ---- its documents ----

// D1, category totals empty or sums of everything. Totals that agree with the sum over all
// experiments, and are of more than one category, are not held against the kit.
static void d1(etp_kit_folder *f, const char *path, json_t *doc)
{
    json_t *totals = json_object_get(doc, "category_totals_ms");
    etp_strbuf kit, ours;
    etp_strbuf_init(&kit, f->arena);
    etp_strbuf_init(&ours, f->arena);
    double sum = 0, leaves = 0;
    const char *key;
    json_t *v;
    json_object_foreach(totals, key, v)
    {
        sum += json_is_number(v) ? json_number_value(v) : 0;
        etp_strbuf_printf(&kit, "%s%s %.3f ms", kit.len ? ", " : "", key, json_number_value(v));
    }
    for (size_t i = 0; i < f->units.n; i++) {
        leaves += f->units.items[i].leaves_ms;
        if (f->units.items[i].profile && ours.len < 300) {
            etp_strbuf_printf(&ours, "%s%s: %s", ours.len ? "; " : "", f->units.items[i].experiment,
                              five_text(f, &f->units.items[i]));
        }
    }
    bool same = leaves > 0 && fabs(sum - leaves) / leaves < 0.01 && json_object_size(totals) > 1;
    if (json_object_size(totals) == 0 || same || ours.len == 0) {
        return;
    }
    differ(f, "D1", path, etp_strbuf_str(&kit).ptr, say(f, "%s", etp_strbuf_str(&ours).ptr),
           "operator types are empty without an ETRecord; containers, experiments and "
           "thread counts are added up");
}

// Names of files do not always say how many threads: 0 agrees with any number.
static bool is_known(const etp_kit_folder *f, const char *experiment, double threads,
                     bool with_latency)
{
    for (size_t i = 0; i < f->units.n; i++) {
        const etp_kit_unit *u = &f->units.items[i];
        if (strcmp(u->experiment, experiment) == 0 && (u->threads == 0 || u->threads == threads) &&
            (!with_latency || u->n_runs > 0)) {
            return true;
        }
    }
    return false;
}

// A summary's run without a number of threads (NAN) is none that names of files tell.
static bool is_listed(const json_t *runs, const etp_kit_unit *u)
{
    for (size_t i = 0; i < json_array_size(runs); i++) {
        const json_t *r = json_array_get(runs, i);
        const char *name = etp_kit_json_text(r, "experiment");
        double threads = etp_kit_json_number(r, "threads");
        if (name && strcmp(name, u->experiment) == 0 &&
            (u->threads == 0 || !(threads != u->threads))) {
            return true;
        }
    }
    return false;
}

// D22, status ok without a measurement: nothing in the folder is of this experiment. D32, modes
// mixed: one name with two modes.
static void summary_run(etp_kit_folder *f, const char *path, const json_t *runs, size_t i)
{
    const json_t *r = json_array_get(runs, i);
    const char *name = etp_kit_json_text(r, "experiment"), *status = etp_kit_json_text(r, "status");
    const char *mode = etp_kit_json_text(r, "mode");
    double threads = etp_kit_json_number(r, "threads");
    bool timing = !mode || strcmp(mode, "timing") == 0;
    if (!name) {
        return;
    }
    if (timing && status && strcmp(status, "ok") == 0 && !is_known(f, name, threads, true)) {
        differ(f, "D22", path, say(f, "%s: status ok", name), "failed: nothing was measured",
               "a runner that does not start is reported as a run");
    }
    for (size_t k = 0; k < i; k++) {
        const json_t *other = json_array_get(runs, k);
        const char *same = etp_kit_json_text(other, "experiment"),
                   *its = etp_kit_json_text(other, "mode");
        if (same && strcmp(same, name) == 0 &&
            !(etp_kit_json_number(other, "threads") != threads) && mode && its &&
            strcmp(mode, its) != 0) {
            differ(f, "D32", path, say(f, "%s twice, as %s and %s", name, its, mode),
                   "one experiment, with kernel evidence",
                   "results are found by name whatever their mode is");
        }
    }
}

// D28, --only rewrites the summary: experiments lie there that it does not list. D7, no analysis:
// none of the files that it would have written.
static void summary(etp_kit_folder *f, const char *path, const json_t *doc, bool analysed)
{
    const json_t *runs = json_object_get(doc, "runs");
    const char *base = etp_path_name(path);
    etp_str model = {base, strlen(base) - strlen("_pipeline_summary.json")};
    for (size_t i = 0; i < json_array_size(runs); i++) {
        summary_run(f, path, runs, i);
    }
    for (size_t i = 0; i < f->units.n && json_is_array(runs); i++) {
        const etp_kit_unit *u = &f->units.items[i];
        bool of_it = u->model && etp_str_eqz(model, u->model);
        if (of_it && u->n_runs > 0 && !is_listed(runs, u)) {
            differ(f, "D28", path,
                   say(f, "%zu runs, without %s", json_array_size(runs), u->experiment),
                   say(f, "%s is there, with %zu executions", name_of(f, u), u->n_runs),
                   "--only rewrites the summary with what it selected");
        }
    }
    if (!analysed) {
        differ(f, "D7", path, "no operator analysis",
               "operators and categories of every experiment",
               "its pipeline looks for a file name that it never writes");
    }
}

// Dates in this form order as texts do.
static void take_date(etp_kit_folder *f, const json_t *doc)
{
    static const char k_form[] = "dddd-dd-dd";
    const char *at = etp_kit_json_text(doc, "generated_at");
    size_t n = 0;
    while (at && k_form[n] &&
           (k_form[n] == 'd' ? at[n] >= '0' && at[n] <= '9' : at[n] == k_form[n])) {
        n++;
    }
    if (n < sizeof k_form - 1) {
        return;
    }
    if (!f->first_date[0] || memcmp(at, f->first_date, n) < 0) {
        memcpy(f->first_date, at, n);
    }
    if (memcmp(at, f->last_date, n) > 0) {
        memcpy(f->last_date, at, n);
    }
}

// D35, no JSON: NaN in it, or cut off. D34: a manifest that is valid and says nothing.
static etp_status judge(etp_kit_folder *f, const char *path, json_t *doc, bool is_nan,
                        bool analysed)
{
    const char *base = etp_path_name(path);
    if (is_nan) {
        differ(f, "D35", path, "NaN", "null",
               "NaN is no JSON: other programs refuse the whole file");
    } else if (!doc) {
        differ(f, "D35", path, "written", "not readable", "the file is cut off or no JSON");
    }
    take_date(f, doc);
    if (ends(base, "_robust_comparison.json")) {
        d2_robust(f, path, doc);
    }
    if (doc && ends(base, "_pipeline_summary.json")) {
        summary(f, path, doc, analysed);
    }
    if (doc && strcmp(base, "analysis_summary.json") == 0) {
        d1(f, path, doc);
    }
    if (doc && strcmp(base, "manifest.json") == 0 &&
        json_array_size(json_object_get(doc, "results")) == 0) {
        differ(f, "D34", path, "its validator accepts it", "it has no results",
               "presence is checked, not content");
    }
    return ETP_OK;
}

// DOC is held meanwhile, hence a guard of its own.
static etp_status guarded_judge(etp_kit_folder *f, const char *path, json_t *doc, bool is_nan,
                                bool analysed, etp_error *err)
{
    ETP_GUARDED(f->arena, err, path, judge(f, path, doc, is_nan, analysed));
}

static etp_status documents(etp_kit_folder *f, etp_error *err)
{
    // Whether anything was analysed has to be known before the first summary is judged (D7).
    bool analysed = false;
    for (size_t i = 0; i < f->files.n; i++) {
        const char *base = etp_path_name(f->files.items[i].path);
        analysed = analysed || strcmp(base, "analysis_summary.json") == 0 ||
                   strstr(base, "_category_summary.csv");
    }
    for (size_t i = 0; i < f->files.n; i++) {
        const char *path = f->files.items[i].path;
        bool is_nan = false;
        json_t *doc = NULL;
        if (ends(path, "_comparison.csv")) {
            d2_table(f, path);
        }
        if (!ends(path, ".json")) {
            continue;
        }
        ETP_TRY(etp_kit_json_load(etp_kit_folder_text(f, path), f->arena, &doc, &is_nan, err));
        etp_status st = guarded_judge(f, path, doc, is_nan, analysed, err);
        json_decref(doc);
        ETP_TRY(st);
    }
    return ETP_OK;
}

// D18, the host as the device: a report on a phone has a section that only the host can have
// filled. D38, reports called Unknown.
static void d18_d38(etp_kit_folder *f)
{
    for (size_t i = 0; i < f->files.n; i++) {
        const char *path = f->files.items[i].path;
        if (strcmp(etp_path_name(path), "report.md") != 0) {
            continue;
        }
        etp_str text = etp_kit_folder_text(f, path);
        bool android = false;
        for (size_t k = 0; k < f->units.n; k++) {
            const etp_kit_unit *u = &f->units.items[k];
            android = android || strstr(u->stem, "android") || strstr(u->dir, "android");
        }
        if (android && contains(text, "Device Information")) {
            differ(f, "D18", path, "describes the computer that wrote it as the device",
                   "device unknown", "nothing is read from the phone");
        }
        if (contains(text, "Profiling Report: Unknown")) {
            differ(f, "D38", path, "model Unknown",
                   f->units.items[0].model ? f->units.items[0].model : "as the files are called",
                   "its report needs a manifest that nothing writes");
        }
    }
}

// By number, not by text: D4 comes before D10.
static int by_number(const void *pa, const void *pb)
{
    const etp_kit_difference *a = pa, *b = pb;
    long x = strtol(a->defect + 1, NULL, 10), y = strtol(b->defect + 1, NULL, 10);
    int d = (x > y) - (x < y);
    d = d ? d : strcmp(a->where, b->where);
    return d ? d : strcmp(a->kit, b->kit);
}

etp_status etp_kit_find_differences(etp_kit_folder *f, etp_error *err)
{
    for (size_t i = 0; i < f->units.n; i++) {
        const etp_kit_unit *u = &f->units.items[i];
        d5_d34(f, u);
        d10_d14(f, u);
        d15_d17(f, u);
        d6(f, u);
        d16(f, u);
        if (u->kernels) {
            d36(f, u);
        }
    }
    d4(f);
    d9(f);
    ETP_TRY(documents(f, err));
    d18_d38(f);
    if (f->differences.n) {
        qsort(f->differences.items, f->differences.n, sizeof *f->differences.items, by_number);
    }
    return ETP_OK;
}
