// SPDX-License-Identifier: Apache-2.0
// From which number of rows on a level pays.
#include "study/replay_sweep.h"

#include <math.h>
#include <stdlib.h>

#include "base/guard.h"
#include "document/document.h"
#include "document/rows.h"
#include "show/json.h"
#include "show/report.h"

// ---- what is asked ----

static int by_m(const void *a, const void *b)
{
    uint64_t x = ((const etp_sweep_size *)a)->m, y = ((const etp_sweep_size *)b)->m;
    return ETP_ORDER(x, y);
}

static etp_status read_sizes(const char *const *words, size_t n, etp_arena *arena, etp_sweep *out,
                             etp_error *err)
{
    out->sizes = ETP_NEW_ARRAY(arena, etp_sweep_size, n);
    for (size_t i = 0; i < n; i++) {
        etp_str word = etp_str_from(words[i]);
        etp_str name = ETP_STR("M");
        bool named = i > 0 || (etp_str_part(&word, '=', &name) && etp_str_eq(name, ETP_STR("M")));
        etp_sweep_size *size = &out->sizes[out->n_sizes++];
        if (!named || !etp_parse_u64(word, &size->m) || size->m == 0) {
            return etp_fail(err, ETP_USAGE,
                            "--sweep takes numbers of rows from 1, as M=1,2,4,8, not '%s'",
                            words[i]);
        }
    }
    qsort(out->sizes, n, sizeof *out->sizes, by_m);
    for (size_t i = 1; i < n; i++) {
        if (out->sizes[i].m == out->sizes[i - 1].m) {
            return etp_fail(err, ETP_USAGE, "--sweep has M = %llu twice",
                            (unsigned long long)out->sizes[i].m);
        }
    }
    return ETP_OK;
}

etp_status etp_sweep_read(const char *const *words, size_t n, etp_arena *arena, etp_sweep *out,
                          etp_error *err)
{
    ETP_GUARDED(arena, err, "the sweep", read_sizes(words, n, arena, out, err));
}

// ---- what was measured ----

static const etp_ab_comparison *comparison_of(const etp_ab *ab, uint32_t arm)
{
    for (size_t i = 0; i < ab->n_comparisons + ab->n_within; i++) {
        const etp_ab_comparison *c = etp_ab_comparison_at(ab, i);
        if (c->candidate == arm && etp_ab_is_within(ab, c)) {
            return c;
        }
    }
    return NULL;
}

static const char *text_of(const char *text, etp_arena *arena)
{
    return text ? etp_arena_printf(arena, "%s", text) : NULL;
}

static etp_sweep_level level_of(const etp_ab *ab, uint32_t arm, etp_arena *arena)
{
    const etp_ab_arm *a = &ab->arms[arm];
    static const etp_ab_comparison k_none = {.estimate = NAN,
                                             .lo = NAN,
                                             .hi = NAN,
                                             .margin = ETP_MARGIN_DEFAULT,
                                             .verdict = ETP_VERDICT_UNKNOWN,
                                             .withheld = ETP_WITHHELD_NOT};
    const etp_ab_comparison *held = comparison_of(ab, arm), *c = ETP_OR(held, &k_none);
    const etp_ab_arm *over = held ? &ab->arms[held->baseline] : NULL;
    return (etp_sweep_level){
        .level = text_of(a->level_name, arena),
        .word = text_of(etp_ab_level_word(a), arena),
        .threads = a->threads,
        .ns = etp_known_ns(a->median_ns),
        .lo = a->lo_ns,
        .hi = a->hi_ns,
        .operator_alone = etp_replay_alone(a->profile, arena),
        .over = over ? text_of(over->level_name, arena) : NULL,
        .over_word = over ? text_of(etp_ab_level_word(over), arena) : NULL,
        .estimate = c->estimate,
        .ratio_lo = c->lo,
        .ratio_hi = c->hi,
        .blocks = c->blocks,
        .margin = c->margin,
        .verdict = c->verdict,
        .withheld = c->withheld,
    };
}

static const etp_sweep_level *same_level(const etp_sweep_size *size, const etp_sweep_level *level)
{
    for (size_t i = 0; i < size->n_levels; i++) {
        const etp_sweep_level *x = &size->levels[i];
        if (x->over && strcmp(x->level, level->level) == 0 && x->threads == level->threads) {
            return x;
        }
    }
    return NULL;
}

typedef struct course {    // of a level over the sizes
    uint64_t first, last;  // M measured
    uint64_t from;         // 0: it is not faster at the last
    uint64_t before;       // the last M below FROM
    etp_verdict at_before; // verdict there, or at the last
    etp_withheld withheld; // likewise
} course;

static course follow(const etp_sweep *s, const etp_sweep_level *level)
{
    course c = {0};
    for (size_t i = 0; i < s->n_sizes; i++) {
        const etp_sweep_level *x = same_level(&s->sizes[i], level);
        if (!x) {
            continue;
        }
        c.first = ETP_OR(c.first, s->sizes[i].m);
        c.last = s->sizes[i].m;
        if (x->verdict != ETP_VERDICT_FASTER) {
            c.from = 0;
            c.before = s->sizes[i].m;
            c.at_before = x->verdict;
            c.withheld = x->withheld;
        } else if (c.from == 0) {
            c.from = s->sizes[i].m;
        }
    }
    return c;
}

static const char *sentence(const course *c, const etp_sweep_level *level, etp_arena *arena)
{
    static const char *const k_is[] = {
        [ETP_VERDICT_UNKNOWN] = "it is not known",
        [ETP_VERDICT_FASTER] = "it is faster",
        [ETP_VERDICT_SLOWER] = "it is slower",
        [ETP_VERDICT_SAME] = "the two are the same",
    };
    const char *threads = level->threads > 1 ? etp_arena_printf(arena, " (%lu threads)",
                                                                (unsigned long)level->threads)
                                             : "";
    const char *subject = etp_arena_printf(arena, "%s%s", level->word, threads);
    const unsigned long long first = c->first, last = c->last, from = c->from, at = c->before;
    if (c->from && c->before) {
        return etp_arena_printf(arena, "%s pays over %s from M = %llu on; at M = %llu %s", subject,
                                level->over_word, from, at, k_is[c->at_before]);
    }
    if (c->from && first == last) {
        return etp_arena_printf(arena, "%s pays over %s at M = %llu", subject, level->over_word,
                                last);
    }
    if (c->from) {
        return etp_arena_printf(arena, "%s pays over %s at every M measured, %llu to %llu", subject,
                                level->over_word, first, last);
    }
    if (c->at_before == ETP_VERDICT_UNKNOWN) {
        return etp_arena_printf(arena, "Whether %s pays over %s at M = %llu is not known%s%s",
                                subject, level->over_word, last, etp_if(c->withheld, ": "),
                                etp_ab_withheld_text(c->withheld));
    }
    return etp_arena_printf(arena, "%s does not pay over %s at M = %llu: %s", subject,
                            level->over_word, last, k_is[c->at_before]);
}

static etp_status take(const etp_ab *ab, etp_arena *arena, etp_sweep *out)
{
    size_t model = 0;
    for (size_t i = 0; i < out->n_sizes; i++) {
        etp_sweep_size *size = &out->sizes[i];
        size->levels = ETP_NEW_ARRAY(arena, etp_sweep_level, ab->n_arms);
        for (size_t k = 0; size->capsule && k < 2 * ab->n_arms; k++) {
            const uint32_t arm = ab->shown[k % ab->n_arms];
            const bool held = comparison_of(ab, arm) != NULL, now = k >= ab->n_arms;
            if (ab->arms[arm].model == model && ab->arms[arm].level_name && held == now) {
                size->levels[size->n_levels++] = level_of(ab, arm, arena); // references first
            }
        }
        model += size->capsule != NULL;
    }
    out->answers = ETP_NEW_ARRAY(arena, etp_sweep_answer, ab->n_arms);
    const etp_sweep_size *size = NULL;
    for (size_t i = 0; i < out->n_sizes; i++) {
        size = out->sizes[i].n_levels ? &out->sizes[i] : size;
    }
    for (size_t i = 0; size && i < size->n_levels; i++) {
        const etp_sweep_level *level = &size->levels[i];
        if (!level->over) {
            continue;
        }
        const course c = follow(out, level);
        out->answers[out->n_answers++] = (etp_sweep_answer){
            level->level, level->over, level->threads, c.from, sentence(&c, level, arena)};
    }
    return ETP_OK;
}

etp_status etp_sweep_take(const etp_ab *ab, etp_arena *arena, etp_sweep *out, etp_error *err)
{
    ETP_GUARDED(arena, err, "the sweep", take(ab, arena, out));
}

// ---- forms ----

KNOWN(is_held, etp_sweep_level, it->over != NULL)

#define OF etp_sweep_level
static const etp_field k_ratio_rows[] = {
    FIELD("over", TEXT, over, "level it is held against", .flags = ETP_SET),
    FIELD("estimate", RATIO, estimate, "how much faster; null: withheld"),
    FIELD("lo", RATIO, ratio_lo, "low end of its 95 % interval"),
    FIELD("hi", RATIO, ratio_hi, "high end"),
    FIELD("blocks", UINT, blocks, "it rests on"),
    FIELD("verdict", WORD, verdict, "of the level", .words = &k_etp_verdict_words),
    FIELD("withheld", WORD, withheld, "why the figures are not given, null: they are",
          .words = &k_etp_withheld_words),
};
static SHAPE_ON_ONE_LINE(k_ratio, k_ratio_rows);
static const etp_field k_level_rows[] = {
    FIELD("level", TEXT, level, "", .flags = ETP_SET),
    FIELD("threads", UINT, threads, ""),
    FIELD("ns", RATIO, ns, "an inference of the capsule, untraced"),
    FIELD("lo", RATIO, lo, "95 % interval over the blocks", .range = ETP_SIGNED),
    FIELD("hi", RATIO, hi, "likewise", .range = ETP_SIGNED),
    FIELD("operator", OBJECT, operator_alone, "the operator alone, of the recordings",
          .shape = &k_etp_replay_time),
    GROUP("speedup", &k_ratio, "null: nothing is held against it", .when = is_held),
};
static SHAPE(k_level, k_level_rows);
#undef OF
#define OF etp_sweep_size
static const etp_field k_size_rows[] = {
    FIELD("m", UINT, m, "rows", .range = ETP_FROM_1),
    FIELD("capsule", TEXT, capsule, "the program; null: it could not be made"),
    FIELD("bytes", UINT, bytes, "of the capsule", .flags = ETP_ZERO),
    FIELD("shapes", TEXT, shapes, "operands → results"),
    FIELD("why", TEXT, why, "it could not be made"),
    LIST("levels", OBJECT, levels, n_levels, "in the order of a report", .shape = &k_level),
};
static SHAPE(k_size, k_size_rows);
#undef OF
#define OF etp_sweep_answer
static const etp_field k_answer_rows[] = {
    FIELD("level", TEXT, level, "", .flags = ETP_SET),
    FIELD("over", TEXT, over, "", .flags = ETP_SET),
    FIELD("threads", UINT, threads, ""),
    FIELD("from", UINT, from, "the least M at which it is faster, and at all larger ones",
          .flags = ETP_ZERO),
    FIELD("text", TEXT, text, "", .flags = ETP_SET),
};
static SHAPE(k_answer, k_answer_rows);
#undef OF
#define OF etp_replay
static const etp_field k_of_rows[] = {
    FIELD("operator", TEXT, name, "in the model", .flags = ETP_SET),
    FIELD("type", TEXT, type, "of the node", .flags = ETP_SET),
    FIELD("shapes", TEXT, shapes, "operands → results, in the model", .flags = ETP_SET),
    FIELD("model", TEXT, model, "", .flags = ETP_SET),
    FIELD("real_weights", BOOL, real_weights, "false: their elements stand in another order"),
    FIELD("command", TEXT, command, "that measures it again", .flags = ETP_SET),
};
static SHAPE(k_of, k_of_rows);
#undef OF
#define OF etp_sweep
static const etp_field k_rows[] = {
    POINTER("of", of, &k_of, "the operator"),
    FIELD("m", UINT, m, "rows of the operator in the model", .range = ETP_FROM_1),
    FIELD("folder", TEXT, dir, "run folder; null: not measured"),
    LIST("sizes", OBJECT, sizes, n_sizes, "by M", .shape = &k_size),
    LIST("answers", OBJECT, answers, n_answers, "a level each", .shape = &k_answer),
};
static SHAPE(k_sweep, k_rows);
#undef OF
const etp_document k_etp_replay_sweep_document = {"etprof.replay_sweep/1",
                                                  "What replay --sweep prints", &k_sweep};

static const char *why_of(const etp_sweep_level *x, etp_arena *arena)
{
    if (x->withheld) {
        return etp_ab_withheld_text(x->withheld);
    }
    bool unknown = x->over && x->verdict == ETP_VERDICT_UNKNOWN;
    return unknown
               ? etp_verdict_cell(arena, x->verdict, x->ratio_lo, x->ratio_hi, x->blocks, x->margin)
               : NULL;
}

static void add_table(const etp_sweep *s, etp_report *r, etp_arena *arena)
{
    static const etp_column k_columns[] = {
        {.key = "m", .title = "M", .kind = ETP_KIND_INT},
        {.key = "level", .title = "level"},
        {.key = "threads", .title = "threads", .kind = ETP_KIND_INT, .flags = ETP_COL_MINOR},
        {.key = "ns", .title = "time", .kind = ETP_KIND_NS},
        {.key = "lo_ns", .title = "from", .kind = ETP_KIND_NS, .flags = ETP_COL_MINOR},
        {.key = "hi_ns", .title = "to", .kind = ETP_KIND_NS, .flags = ETP_COL_MINOR},
        {.key = "speedup", .title = "faster", .kind = ETP_KIND_RATIO},
        {.key = "speedup_lo", .title = "from", .kind = ETP_KIND_RATIO},
        {.key = "speedup_hi", .title = "to", .kind = ETP_KIND_RATIO},
        {.key = "verdict", .title = "verdict"},
        {.key = "name", .title = "ran as", .flags = ETP_COL_CODE | ETP_COL_MINOR},
        {.key = "why", .title = "why", .flags = ETP_COL_MINOR},
    };
    etp_table *t = etp_report_table(r, "sweep", NULL, k_columns, 12);
    for (size_t i = 0; i < s->n_sizes; i++) {
        const etp_sweep_size *size = &s->sizes[i];
        const etp_cell none = etp_cell_missing();
        if (size->n_levels == 0) {
            ETP_ROW(t, etp_cell_u64(size->m), none, none, none, none, none, none, none, none, none,
                    none, etp_cell_z(size->why));
        }
        for (size_t k = 0; k < size->n_levels; k++) {
            const etp_sweep_level *x = &size->levels[k];
            ETP_ROW(t, etp_cell_u64(size->m), etp_cell_called(x->level, x->word),
                    etp_cell_u64(x->threads), etp_cell_rounded_ns(x->ns),
                    etp_cell_rounded_ns(x->lo), etp_cell_rounded_ns(x->hi),
                    etp_cell_gain(x->estimate, x->ratio_lo, x->ratio_hi),
                    etp_cell_double(x->ratio_lo), etp_cell_double(x->ratio_hi),
                    x->over ? etp_cell_z(etp_verdict_name(x->verdict)) : none,
                    etp_cell_z(x->operator_alone.name), etp_cell_z(why_of(x, arena)));
        }
    }
}

// A bar for each M: where it passes 1×, the level pays.
static void add_picture(const etp_sweep *s, const etp_sweep_answer *a, etp_report *r,
                        etp_arena *arena)
{
    const etp_sweep_level of = {.level = a->level, .threads = a->threads};
    etp_chart *c = NULL;
    for (size_t i = 0; i < s->n_sizes; i++) {
        const etp_sweep_level *x = same_level(&s->sizes[i], &of);
        if (!x || !isfinite(x->estimate)) {
            continue;
        }
        if (!c) {
            c = etp_report_chart(
                r, ETP_CHART_INTERVALS,
                etp_arena_printf(arena, "pays_%s_t%lu", a->level, (unsigned long)a->threads),
                etp_arena_printf(arena, "How much faster %s is than %s", x->word, x->over_word),
                ETP_KIND_RATIO);
            etp_chart_describe(c, "%s.", a->text);
        }
        etp_chart_interval(c, 0,
                           etp_arena_printf(arena, "M = %llu", (unsigned long long)s->sizes[i].m),
                           etp_verdict_name(x->verdict), x->estimate, x->ratio_lo, x->ratio_hi);
    }
}

const etp_report *etp_sweep_report(const etp_sweep *s, etp_arena *arena)
{
    etp_report *r = etp_report_create(arena, s->of->name);
    etp_report_section(r, 1, "sweep", "With other numbers of rows");
    etp_report_text(r, "%s %s in the model, M = %llu", s->of->type, s->of->shapes,
                    (unsigned long long)s->m);
    for (size_t i = 0; i < s->n_answers; i++) {
        etp_report_note(r, s->answers[i].from ? ETP_GOOD : ETP_PLAIN, "%s", s->answers[i].text);
    }
    if (s->dir) {
        add_table(s, r, arena);
    } else {
        // What was made and not measured.
        static const etp_column k_columns[] = {
            {.key = "m",       .title = "M",       .kind = ETP_KIND_INT  },
            {.key = "capsule", .title = "program", .flags = ETP_COL_CODE },
            {.key = "bytes",   .title = "size",    .kind = ETP_KIND_BYTES},
            {.key = "shapes",  .title = "shapes",  .flags = ETP_COL_MINOR},
        };
        etp_table *t = etp_report_table(r, "sweep", NULL, k_columns, 4);
        for (size_t i = 0; i < s->n_sizes; i++) {
            const etp_sweep_size *x = &s->sizes[i];
            ETP_ROW(t, etp_cell_u64(x->m), etp_cell_z(x->capsule),
                    etp_cell_if(x->capsule, etp_cell_u64(x->bytes)), etp_cell_z(x->shapes));
        }
    }
    for (size_t i = 0; i < s->n_sizes; i++) {
        if (s->sizes[i].why) {
            etp_report_note(r, ETP_WARN, "M = %llu: %s", (unsigned long long)s->sizes[i].m,
                            s->sizes[i].why);
        }
    }
    for (size_t i = 0; i < s->n_answers; i++) {
        add_picture(s, &s->answers[i], r, arena);
    }
    return r;
}
