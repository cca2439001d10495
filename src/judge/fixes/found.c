// SPDX-License-Identifier: Apache-2.0
// What every search for fixes asks: times, facts and neighbours of an operator; and how what it
// found is written down.
#include "judge/fixes/fixes.h"

#include <math.h>
#include <string.h>

#include "base/number.h"
#include "base/path.h"
#include "base/shell.h"
#include "judge/fixes/factors.h"

#define PROGRAM_WORDS 2 // "etprof", "export"

#define CACHE_BYTES ((uint64_t)1 << 20) // more than a core usually has for itself

// ---- operators of the arm ----

void etp_fix_add_op(etp_fixer *f, etp_fix_found *at, uint32_t op)
{
    for (size_t i = 0; i < at->ops.n; i++) {
        if (at->ops.items[i] == op) {
            return;
        }
    }
    ETP_ADD(f->ab->arena, &at->ops, op);
}

// Mean over the dumps of what an execution usually spends in ROW; DUMP SIZE_MAX: over all of them.
static double usual(const etp_profile *p, const etp_profile_row *row, size_t dump)
{
    double sum = 0;
    for (size_t d = 0; d < p->n_dumps; d++) {
        sum += dump == SIZE_MAX || dump == d ? row->per_dump_typical_ns[d] : 0;
    }
    return sum / (dump == SIZE_MAX ? (double)p->n_dumps : 1);
}

double etp_fix_row_ns(const etp_fixer *f, const etp_profile_row *row)
{
    return usual(f->ab->arms[f->arm].profile, row, SIZE_MAX);
}

static double op_ns(const etp_fixer *f, uint32_t at, size_t dump)
{
    const etp_ab_operator *op = &f->ab->operators[at];
    const etp_profile *p = f->ab->arms[f->arm].profile;
    double sum = op->rows[f->arm] ? usual(p, op->rows[f->arm], dump) : 0;
    for (size_t i = 0; i < op->merged[f->arm].n; i++) {
        const etp_profile_row *row = op->merged[f->arm].items[i];
        sum += row != op->rows[f->arm] ? usual(p, row, dump) : 0;
    }
    return sum;
}

int64_t etp_fix_op_ns(const etp_fixer *f, uint32_t op)
{
    return llround(op_ns(f, op, SIZE_MAX));
}

const etp_profile_row *etp_fix_row(const etp_fixer *f, uint32_t op)
{
    return f->ab->operators[op].rows[f->arm];
}

static const etp_row_facts *row_facts(const etp_fixer *f, uint32_t op)
{
    const etp_profile *p = f->ab->arms[f->arm].profile;
    const etp_profile_row *row = etp_fix_row(f, op);
    return row && p->facts && !p->facts->problem ? &p->facts->rows[row - p->rows] : NULL;
}

const etp_op_facts *etp_fix_facts(const etp_fixer *f, uint32_t op)
{
    const etp_row_facts *facts = row_facts(f, op);
    return facts ? &facts->op : NULL;
}

bool etp_fix_reads_half(const etp_fixer *f, uint32_t op)
{
    const etp_op_facts *facts = etp_fix_facts(f, op);
    bool half = false;
    for (uint32_t i = 0; facts && i < facts->n_inputs; i++) {
        half = half || facts->values[facts->inputs[i]].dtype == ETP_DTYPE_FLOAT16;
    }
    return half;
}

static const char *model_path(const etp_fixer *f)
{
    uint32_t model = f->ab->arms[f->arm].model;
    return model < f->ab->n_models ? f->ab->models[model].path : NULL;
}

const char *etp_fix_model(const etp_fixer *f)
{
    const char *path = model_path(f);
    return path ? etp_shell_command(f->ab->arena, "%s", path) : "MODEL.pte";
}

// Options that say what the program is. The command comes from a manifest or an export.json, which
// may be anybody's, and is shown to be typed: one with any other option is not known.
static const char *const k_flags[] = {
    "--dtype",         "--backend",          "--name",       "--method",  "--dynamic-shape",
    "--static",        "--calibrate",        "--group-size", "--apply",   "--inline-delegates",
    "--no-transforms", "--external-weights", "--seed",       "--weights", "--tolerance",
    "--attention",     "--context",
};

static const char k_apply[] = "--apply"; // each adds a recipe

static bool is_option_of_program(const char *word)
{
    for (size_t i = 0; i < sizeof k_flags / sizeof *k_flags; i++) {
        if (strcmp(word, k_flags[i]) == 0) {
            return true;
        }
    }
    return false;
}

// NULL: how the arm's program was exported is not known.
static const etp_run_model *exported_as(const etp_fixer *f)
{
    uint32_t model = f->ab->arms[f->arm].model;
    const etp_run_model *m =
        model < f->ab->n_models ? f->ab->models[model].recorded : f->ab->program;
    bool known = m && m->command.n > PROGRAM_WORDS;
    for (size_t i = PROGRAM_WORDS; known && i < m->command.n; i++) {
        const char *word = m->command.items[i].ptr;
        known = word[0] != '-' || is_option_of_program(word);
    }
    return known ? m : NULL;
}

static bool is_recipe(const char *name, size_t len)
{
    for (etp_fix_change c = ETP_CHANGE_NONE + 1; c < ETP_CHANGE_RECIPES; c++) {
        if (etp_str_eqz((etp_str){name, len}, etp_fix_change_name(c))) {
            return true;
        }
    }
    return false;
}

// Types that an operator that multiplies can have been exported in, by the words of its name.
enum { FP16, INT8_DYNAMIC, INT8, INT4, N_TYPES };
static const char *const k_types[N_TYPES] = {"fp16", "int8-dynamic", "int8", "int4"};

static int type_of(const etp_fixer *f, uint32_t op)
{
    static const struct {
        const char *word;
        int type;
    } k_words[] = {
        {"QC4W", INT4        }, // of the weights, which stand last: they say more than what is beside them
        {"QB4W", INT4        },
        {"QD8",  INT8_DYNAMIC},
        {"QDU8", INT8_DYNAMIC},
        {"QP8",  INT8_DYNAMIC},
        {"QS8",  INT8        },
        {"QU8",  INT8        },
        {"QC8",  INT8        },
        {"PQS8", INT8        },
        {"F16",  FP16        },
        {"PF16", FP16        },
    };
    const etp_op_name *name = &etp_fix_row(f, op)->parsed;
    for (size_t k = 0; k < sizeof k_words / sizeof *k_words; k++) {
        for (size_t i = 0; i < name->n_dtypes; i++) {
            if (etp_str_eqz(name->dtypes[i], k_words[k].word)) {
                return k_words[k].type;
            }
        }
    }
    return etp_fix_reads_half(f, op) ? FP16 : N_TYPES;
}

// The type that most of what multiplies has, of what is not in float32: a program of float32 has
// none of these. NULL: there is none.
static const char *recorded_type(const etp_fixer *f)
{
    size_t n[N_TYPES + 1] = {0}, best = N_TYPES;
    for (uint32_t i = 0; i < f->ab->n_operators; i++) {
        etp_category category = f->ab->operators[i].category;
        if (etp_fix_row(f, i) &&
            (category == ETP_CATEGORY_CONVOLUTION || category == ETP_CATEGORY_GEMM)) {
            n[type_of(f, i)]++;
        }
    }
    n[N_TYPES] = 0;
    for (size_t t = 0; t < N_TYPES; t++) {
        best = n[t] > n[best] ? t : best;
    }
    return best < N_TYPES ? k_types[best] : NULL;
}

// How the arm's program was exported, from its name: MODEL_BACKEND_DTYPE[_RECIPE …].pte. Somebody
// may have added words of their own, which are no recipes.
static void exported(etp_strbuf *out, const etp_fixer *f, bool dtype)
{
    static const char *const k_backends[] = {"_xnnpack_", "_portable_"};
    const char *path = model_path(f), *name = path ? etp_path_name(path) : "", *at = NULL;
    for (size_t i = 0; i < 2; i++) {
        for (const char *found = name; (found = strstr(found, k_backends[i])) != NULL;) {
            found += strlen(k_backends[i]) - 1;         // its last "_" may start the next one
            at = at && at > found + 1 ? at : found + 1; // the model's own name may hold one, too
        }
    }
    etp_strbuf_appendz(out, "etprof export MODEL");
    size_t len = at ? strcspn(at, "_.") : 0;
    const char *type = at ? NULL : recorded_type(f); // of recordings no name is known
    for (size_t i = 0; at && i < N_TYPES; i++) {
        type = etp_str_eqz((etp_str){at, len}, k_types[i]) ? k_types[i] : type;
    }
    if (dtype && type) {
        etp_strbuf_printf(out, " --dtype %s", type);
    }
    for (at = at ? at + len : NULL; at && *at == '_'; at += len) {
        len = strspn(++at, "abcdefghijklmnopqrstuvwxyz0123456789-");
        if (len == 0 || (at[len] != '_' && at[len] != '.')) {
            break; // a name that somebody else gave it
        }
        if (is_recipe(at, len)) {
            etp_strbuf_printf(out, " %s %.*s", k_apply, (int)len, at);
        }
    }
}

// The words that exported it, without the option that is given anew; recipes are added.
static void again(etp_strbuf *out, const etp_run_model *m, const char *option)
{
    etp_strbuf_appendz(out, "etprof export");
    for (size_t i = PROGRAM_WORDS; i < m->command.n; i++) {
        const char *word = m->command.items[i].ptr;
        if (strcmp(word, option) == 0 && strcmp(word, k_apply) != 0) {
            i++; // its value
            continue;
        }
        etp_strbuf_appendz(out, " ");
        etp_shell_word(out, word);
    }
}

// Of recipes that the exporter was asked for when it made the program; -1: it was not.
static int64_t places_of(const etp_fixer *f, etp_fix_change change)
{
    const etp_run_model *m = exported_as(f);
    for (size_t i = 0; m && change && i < m->recipes.n; i++) {
        if (etp_str_eqz(m->recipes.items[i].name, etp_fix_change_name(change))) {
            return (int64_t)m->recipes.items[i].places;
        }
    }
    return -1;
}

const char *etp_fix_export(const etp_fixer *f, etp_fix_change change)
{
    const etp_run_model *m = exported_as(f);
    const char *option = k_apply;
    if (change == ETP_CHANGE_INT8 || change == ETP_CHANGE_XNNPACK) {
        option = change == ETP_CHANGE_INT8 ? "--dtype" : "--backend";
    }
    etp_strbuf out;
    etp_strbuf_init(&out, f->ab->arena);
    if (m) {
        again(&out, m, option);
    } else {
        exported(&out, f, change != ETP_CHANGE_INT8);
    }
    etp_strbuf_printf(&out, " %s %s", option, etp_fix_change_name(change));
    return etp_strbuf_str(&out).ptr;
}

// A call of two takes at least what the longer of them took: joining saves at most the shorter one.
double etp_fix_join_most(const etp_fixer *f, double joined)
{
    double sum = 0;
    for (size_t i = 1; i < f->calls && (double)i <= joined; i++) {
        sum += f->call_ns[i];
    }
    return sum;
}

etp_fix_time etp_fix_time_of(const etp_fixer *f, const etp_fix_found *at)
{
    const etp_profile *p = f->ab->arms[f->arm].profile;
    etp_fix_time t = {0};
    size_t delegated = 0;
    double *blocks = ETP_NEW_ARRAY(f->ab->arena, double, p->n_dumps + 1);
    for (size_t i = 0; i < at->ops.n; i++) {
        uint32_t op = at->ops.items[i];
        t.mean += op_ns(f, op, SIZE_MAX);
        delegated += f->ab->operators[op].delegated;
        for (size_t d = 0; d < p->n_dumps; d++) {
            blocks[d] += op_ns(f, op, d);
        }
    }
    double joined =
        f->calls > 1 ? fmin((double)(at->ops.n - delegated), (double)(f->calls - 1)) : 0;
    if (f->calls) {
        double truth = f->boundary - (double)f->inside * f->hidden;
        t.likely_more = (double)delegated * f->hidden + joined * fmax(0, truth) / (double)f->calls;
        t.most_more = fmin((double)delegated * ETP_FIX_TRUNCATED_NS + etp_fix_join_most(f, joined),
                           f->boundary);
    }
    t.lo = 0; // one block says nothing of the spread
    t.hi = t.mean;
    if (p->n_dumps >= 2) {
        etp_interval ci = etp_mean_interval(blocks, p->n_dumps, ETP_CONFIDENCE);
        t.lo = isfinite(ci.lo) && ci.lo > 0 ? ci.lo : 0;
        t.hi = isfinite(ci.hi) ? ci.hi : t.mean;
    }
    return t;
}

// ---- dataflow ----

static const etp_partition *partition_of(const etp_fixer *f, const etp_row_facts *facts)
{
    const etp_program *program = f->ab->arms[f->arm].profile->facts->program;
    if (facts->method >= program->n_methods) {
        return NULL;
    }
    const etp_method *m = &program->methods[facts->method];
    for (uint32_t i = 0; i < m->n_partitions; i++) {
        if (m->partitions[i].values == facts->op.values) {
            return &m->partitions[i];
        }
    }
    return NULL;
}

const etp_node *etp_fix_node(const etp_fixer *f, uint32_t op, const etp_partition **out)
{
    const etp_row_facts *facts = row_facts(f, op);
    const etp_partition *p = facts && facts->n_nodes ? partition_of(f, facts) : NULL;
    *out = p;
    return p && facts->nodes[0] < p->n_nodes ? &p->nodes[facts->nodes[0]] : NULL;
}

uint32_t etp_fix_owner(const etp_fixer *f, const etp_partition *p, uint32_t node)
{
    const etp_ab_operator *op = etp_ab_owner(f->ab, f->arm, p->values, node);
    return op ? (uint32_t)(op - f->ab->operators) : ETP_NO_INDEX;
}

static bool has(const uint32_t *list, uint32_t n, uint32_t v)
{
    for (uint32_t i = 0; i < n; i++) {
        if (list[i] == v) {
            return true;
        }
    }
    return false;
}

uint32_t etp_fix_data_input(const etp_value *values, const uint32_t *inputs, uint32_t n)
{
    uint32_t found = ETP_NO_INDEX;
    for (uint32_t i = 0; i < n; i++) {
        const etp_value *v = &values[inputs[i]];
        bool larger = found == ETP_NO_INDEX ||
                      (v->bytes != ETP_BYTES_UNKNOWN && v->bytes > values[found].bytes);
        found = v->kind == ETP_EVALUE_TENSOR && !v->constant && larger ? inputs[i] : found;
    }
    return found;
}

static uint32_t delegated_producer(const etp_fixer *f, const etp_partition *p, const etp_node *node)
{
    for (uint32_t guard = 0; node && guard < p->n_nodes; guard++) {
        uint32_t value = etp_fix_data_input(p->values, node->inputs, node->n_inputs);
        const etp_node *from = NULL;
        for (uint32_t i = 0; value != ETP_NO_INDEX && i < p->n_nodes && !from; i++) {
            bool makes = has(p->nodes[i].outputs, p->nodes[i].n_outputs, value);
            from = makes ? &p->nodes[i] : NULL;
        }
        uint32_t owner = from ? etp_fix_owner(f, p, from->index) : ETP_NO_INDEX;
        if (owner != ETP_NO_INDEX) {
            return owner;
        }
        node = from; // a node without an operator passes its data on
    }
    return ETP_NO_INDEX;
}

uint32_t etp_fix_producer(const etp_fixer *f, uint32_t op)
{
    const etp_partition *p;
    const etp_node *node = etp_fix_node(f, op, &p);
    if (node) {
        return delegated_producer(f, p, node);
    }
    const etp_op_facts *facts = etp_fix_facts(f, op);
    uint32_t value =
        facts ? etp_fix_data_input(facts->values, facts->inputs, facts->n_inputs) : ETP_NO_INDEX;
    for (uint32_t i = op; value != ETP_NO_INDEX && i-- > 0;) {
        const etp_op_facts *from = etp_fix_facts(f, i);
        if (from && from->values == facts->values && has(from->outputs, from->n_outputs, value)) {
            return i;
        }
    }
    return ETP_NO_INDEX;
}

// ---- rates ----

double etp_fix_copy_ns(const etp_fixer *f, uint32_t op)
{
    double roof = etp_fix_memory_ns(f, op);
    const etp_op_facts *facts = etp_fix_facts(f, op);
    if (isfinite(roof)) {
        return roof;
    }
    return etp_fix_knows_work(facts) ? (double)facts->work.bytes / f->best_rate : (double)NAN;
}

// A large copy also pushes other data out of the caches: without it, what comes next may save as
// much as reading the data once more takes, half of the copy's own time.
static double read_again(const etp_fixer *f, const etp_fix_found *at)
{
    double sum = 0;
    for (size_t i = 0; i < at->ops.n; i++) {
        const etp_op_facts *facts = etp_fix_facts(f, at->ops.items[i]);
        bool large = etp_fix_knows_work(facts) && facts->work.bytes >= CACHE_BYTES;
        sum += large && f->ab->operators[at->ops.items[i]].category == ETP_CATEGORY_DATA_MOVEMENT
                   ? (double)etp_fix_op_ns(f, at->ops.items[i]) / 2
                   : 0;
    }
    return sum;
}

void etp_fix_goes_away(const etp_fixer *f, etp_fix_found *at)
{
    etp_fix_time t = etp_fix_time_of(f, at);
    at->lo = t.lo;
    at->expected = t.mean + t.likely_more;
    at->hi = t.hi + t.most_more + read_again(f, at);
}

const char etp_fix_k_goes_away[] =
    "expected: Σ time, as the operators are not run any more, + the likely part "
    "of " ETP_FIX_BOOKED_ELSEWHERE
    "; floor: lower end of the 95 % interval of Σ time over the blocks (0 "
    "below two); ceiling: its upper end + all of that "
    "+ half of the time of copies of a megabyte or more, for the caches they fill";

// ---- showing ----

// Gains are sums of traced times; the headline is untraced. Floors and ceilings hold for both.
// ESTIMATE: before measured cases corrected it.
static void to_headline(const etp_fixer *f, etp_ab_fix *fix, const etp_fix_found *estimate,
                        const etp_fix_found *at)
{
    const etp_ab_arm *a = &f->ab->arms[f->arm];
    double scale = a->median_ns != ETP_NS_UNKNOWN && a->median_ns > 0
                       ? (double)a->median_ns / (double)f->total
                       : 1;
    // No gain is more than the inference that it is a part of. A ceiling that reaches it says
    // nothing: what the fix concerns is then the most.
    double most = (double)f->total * scale;
    fix->concerns_ns = llround(fmin((double)fix->concerns_ns, (double)f->total) * scale);
    double hi = fmax(0, at->hi) * fmax(1, scale);
    hi = hi < most ? hi : fmin(most, (double)fix->concerns_ns);
    double lo = fmin(at->lo * (at->lo > 0 ? fmin(1, scale) : fmax(1, scale)), hi);
    fix->lo_ns = llround(lo);
    fix->hi_ns = llround(hi);
    fix->estimate_ns = etp_whole_ns(estimate->expected * scale);
    fix->expected_ns =
        isfinite(at->expected) ? llround(fmin(fmax(at->expected * scale, lo), hi)) : ETP_NS_UNKNOWN;
    fix->share = fix->expected_ns == ETP_NS_UNKNOWN
                     ? (double)NAN
                     : (double)fix->expected_ns / ((double)f->total * scale);
}

// Share of the estimate that is taken as a floor: below the least of the cases, as the next one may
// bring less.
static double floor_of(const etp_fix_factor *factor)
{
    return factor->least * (factor->cases > 2 ? 0.8 : 0.5);
}

// What the change brought where it was measured corrects the estimate and gives it a floor. One
// case is no median.
static etp_fix_found corrected(const etp_fix_found *at, const etp_fix_factor *factor)
{
    etp_fix_found told = *at;
    if (factor && at->expected > 0) {
        told.expected = at->expected * (factor->cases > 1 ? factor->usual : 1);
        told.lo = at->expected * floor_of(factor);
    }
    return told;
}

static const char *formula_of(const etp_fixer *f, const etp_fix_words *w,
                              const etp_fix_factor *factor)
{
    if (!w->change) {
        return w->formula;
    }
    if (!factor) {
        return etp_arena_printf(f->ab->arena, "%s; not yet measured on any model", w->formula);
    }
    if (factor->cases == 1) {
        return etp_arena_printf(f->ab->arena,
                                "%s; one measured model gained %.2f of that estimate: it is "
                                "expected as it is, the floor is %.2f × it",
                                w->formula, factor->usual, floor_of(factor));
    }
    return etp_arena_printf(f->ab->arena,
                            "%s; %zu measured models gained %.2f of that estimate, the least of "
                            "them %.2f: expected is %.2f × it, the floor %.2f × it",
                            w->formula, factor->cases, factor->usual, factor->least, factor->usual,
                            floor_of(factor));
}

// The time that is told is that of the tables: somebody who adds up the rows comes to the same.
static int64_t tables_ns(const etp_fixer *f, const etp_fix_found *at)
{
    int64_t sum = 0;
    for (size_t i = 0; i < at->ops.n; i++) {
        int64_t ns = f->ab->operators[at->ops.items[i]].ns[f->arm];
        sum += ns == ETP_NS_UNKNOWN ? 0 : ns;
    }
    return at->ops.n ? sum : llround(at->concerns);
}

static void compose(const etp_fixer *f, etp_ab_fix *fix)
{
    bool one = fix->count == 1;
    const char *splits = one ? " and splits a partition" : " and split partitions";
    fix->text = etp_arena_printf(f->ab->arena, "%zu %s %s %s%s", fix->count, fix->subject,
                                 one ? "takes" : "take", ETP_NS((double)fix->time_ns),
                                 etp_if(fix->splits, splits));
    fix->typed = etp_ab_fix_command(fix, "DIR", f->ab->arena);
    fix->recipe =
        etp_arena_printf(f->ab->arena, "%s%s%s", ETP_OR(fix->typed, ""),
                         etp_if(fix->typed && fix->advice, "; "), ETP_OR(fix->advice, ""));
}

static void show(etp_fixer *f, const etp_fix_found *at, const char **ids, size_t n, size_t count,
                 const etp_fix_words *w)
{
    const etp_fix_factor *factor = etp_fix_factor_of(w->change);
    etp_ab_fix fix = {.kind = w->kind,
                      .count = count,
                      .subject = count == 1 ? w->one : w->many,
                      .time_ns = tables_ns(f, at),
                      .splits = w->splits,
                      .command = w->change ? etp_fix_export(f, w->change) : w->command,
                      .behind_dir = w->behind_dir,
                      .advice = w->advice,
                      .formula = formula_of(f, w, factor),
                      .by_command = w->change != ETP_CHANGE_NONE,
                      .places = places_of(f, w->change),
                      .cases = factor ? factor->cases : 0,
                      .evidence = ids,
                      .n_evidence = n};
    compose(f, &fix);
    double concerns = at->concerns;
    for (size_t i = 0; i < at->ops.n; i++) {
        concerns += op_ns(f, at->ops.items[i], SIZE_MAX);
    }
    fix.concerns_ns = llround(concerns); // traced, as yet
    etp_fix_found told = corrected(at, factor);
    to_headline(f, &fix, at, &told);
    ETP_ADD(f->ab->arena, &f->out->fixes, fix);
}

// A model is not exported again for what likely is below half a per cent: nobody could tell it from
// noise.
static bool worth(const etp_fixer *f, const etp_fix_found *at, const etp_fix_words *w)
{
    const etp_fix_found told = corrected(at, etp_fix_factor_of(w->change));
    double least = ETP_FIX_WORTH_SHARE * (double)f->total;
    bool hardly = w->change && isfinite(told.expected) && told.expected < least;
    return at->hi >= least && !hardly && places_of(f, w->change) != 0;
}

// What it is about took less than its clocks can have cut off: nobody knows that it is there.
static bool below_clock(const etp_fixer *f, const etp_fix_found *at)
{
    etp_ab_clocked_time sum = {llround(etp_known_or_0(at->concerns)), 0};
    for (size_t i = 0; i < at->ops.n; i++) {
        const etp_ab_operator *op = &f->ab->operators[at->ops.items[i]];
        const etp_ab_clocked_time part = etp_ab_operator_time(f->ab, op, f->arm);
        etp_ab_part_add(&sum, &part);
    }
    return etp_ab_time_below_clock(&sum);
}

void etp_fix_show(etp_fixer *f, const etp_fix_found *at, const etp_fix_words *w)
{
    if (at->ops.n == 0 || !worth(f, at, w) || below_clock(f, at)) {
        return;
    }
    const char **ids = ETP_NEW_ARRAY(f->ab->arena, const char *, at->ops.n);
    for (size_t i = 0; i < at->ops.n; i++) {
        ids[i] = f->ab->operators[at->ops.items[i]].id;
        f->covered[at->ops.items[i]] = true;
    }
    show(f, at, ids, at->ops.n, at->ops.n, w);
}

void etp_fix_show_sum(etp_fixer *f, const etp_fix_found *at, const char *row, size_t count,
                      const etp_fix_words *w)
{
    if (worth(f, at, w)) {
        const char **ids = ETP_NEW(f->ab->arena, const char *);
        *ids = row;
        show(f, at, ids, 1, count, w);
    }
}
