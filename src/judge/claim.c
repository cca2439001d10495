// SPDX-License-Identifier: Apache-2.0
// Sentences of few forms against the figures of an answer. What has no form that is known, and what
// the answer does not know, is never confirmed.
#include "judge/claim.h"

#include <math.h>
#include <string.h>

#include "base/guard.h"
#include "base/number.h"
#include "document/rows.h"

#define MAX_WORDS 40
#define FORMS                                                                                \
    "sentences that can be checked: 'N1 saves 0.7 ms' (or 'at least', 'up to'), 'op3 takes " \
    "1.2 ms in ARM', 'ARM takes 3.4 ms', 'Convolution takes 40 % in ARM', 'ARM is 1.42x "    \
    "faster than ARM', 'ARM is as fast as ARM', 'the outputs agree'"

// A typed figure stands for everything that rounds to it: VALUE ± HALF. One digit that counts would
// be confirmed by almost anything ("1 ms" by 0.5 to 1.5), so it never confirms.
typedef struct figure { // as it was typed
    double value;       // in ns, or a ratio
    double half;        // of the last digit that was typed, in the same
    bool coarse;        // one digit that counts: too little to be confirmed
    bool is_time, is_share;
} figure;

typedef struct check {
    const etp_ab *ab;
    etp_arena *arena;
    etp_claim *out;
    etp_str words[MAX_WORDS];
    size_t n, at;
} check;

// ---- words ----

// Only blanks part words: names of arms and operators may hold any other sign.
static void split(check *c, etp_str text)
{
    for (size_t i = 0; i < text.len && c->n < MAX_WORDS;) {
        size_t len = 0;
        while (i + len < text.len && text.ptr[i + len] != ' ') {
            len++;
        }
        if (len > 0) {
            c->words[c->n++] = (etp_str){text.ptr + i, len};
        }
        i += len + 1;
    }
}

static bool is_word(const check *c, size_t at, const char *word)
{
    return at < c->n && etp_str_eqz(c->words[at], word);
}

static bool take(check *c, const char *word)
{
    bool yes = is_word(c, c->at, word);
    c->at += yes;
    return yes;
}

// Words FROM to TO of the sentence as they stand in it, blanks included.
// Names hold blanks ("int8 at VNNI"), so what stands before or behind the verb is one name.
static etp_str span(const check *c, size_t from, size_t to)
{
    const char *end = c->words[to - 1].ptr + c->words[to - 1].len;
    return (etp_str){c->words[from].ptr, (size_t)(end - c->words[from].ptr)};
}

static etp_claim_state answer(check *c, etp_claim_state state, const char *why)
{
    c->out->why = why;
    return state;
}

static etp_claim_state unknown_form(check *c)
{
    return answer(c, ETP_CLAIM_NOT_IN_DATA, FORMS);
}

// ---- figures ----

static size_t digits_that_count(etp_str s)
{
    size_t n = 0;
    bool begun = false;
    for (size_t i = 0; i < s.len; i++) {
        begun = begun || (s.ptr[i] >= '1' && s.ptr[i] <= '9');
        n += begun && s.ptr[i] != '.';
    }
    return n;
}

// Digits with at most one point: etp_parse_double would also take signs and exponents, and then the
// last digit has no place to round to.
static bool plain_number(etp_str s, double *value, double *half)
{
    size_t dot = s.len, dots = 0;
    for (size_t i = 0; i < s.len; i++) {
        bool point = s.ptr[i] == '.';
        if (!point && (s.ptr[i] < '0' || s.ptr[i] > '9')) {
            return false;
        }
        dot = point ? i : dot;
        dots += point;
    }
    *half = 0.5 * pow(10, dot == s.len ? 0 : -(double)(s.len - dot - 1));
    return s.len > 0 && s.len <= 18 && dots <= 1 && etp_parse_double(s, value);
}

static const struct {
    const char *name;
    double scale;
    bool is_time, is_share;
} k_units[] = {
    {"ns",    1,    true,  false},
    {"us",    1e3,  true,  false},
    {"µs",   1e3,  true,  false},
    {"ms",    1e6,  true,  false},
    {"s",     1e9,  true,  false},
    {"%",     0.01, false, true },
    {"x",     1,    false, false},
    {"×",    1,    false, false},
    {"times", 1,    false, false},
};

// "0.7 ms", "0.7ms", "40 %", "1.42x".
static bool take_figure(check *c, figure *out)
{
    if (c->at >= c->n) {
        return false;
    }
    etp_str word = c->words[c->at], unit;
    size_t len = 0;
    while (len < word.len &&
           ((word.ptr[len] >= '0' && word.ptr[len] <= '9') || word.ptr[len] == '.')) {
        len++;
    }
    bool apart = len == word.len;
    unit =
        apart && c->at + 1 < c->n ? c->words[c->at + 1] : (etp_str){word.ptr + len, word.len - len};
    *out = (figure){0};
    etp_str number = {word.ptr, len};
    if (!plain_number(number, &out->value, &out->half)) {
        return false;
    }
    for (size_t i = 0; i < sizeof k_units / sizeof *k_units; i++) {
        if (etp_str_eqz(unit, k_units[i].name)) {
            out->value *= k_units[i].scale;
            out->half *= k_units[i].scale;
            out->coarse = digits_that_count(number) < 2;
            out->is_time = k_units[i].is_time;
            out->is_share = k_units[i].is_share;
            c->at += apart ? 2 : 1;
            return true;
        }
    }
    return false;
}

static void note(check *c, const figure *f, double found, double lo, double hi)
{
    c->out->unit = f->is_time ? ETP_CLAIM_OF_NS : ETP_CLAIM_OF_RATIO;
    c->out->said = f->value;
    c->out->found = found;
    c->out->lo = lo;
    c->out->hi = hi;
}

static const char *shown(check *c, const figure *f, double value)
{
    return f->is_time    ? etp_arena_printf(c->arena, "%s ms", ETP_DIGITS(value / 1e6, 6))
           : f->is_share ? etp_arena_printf(c->arena, "%s %%", ETP_DIGITS(value * 100, 4))
                         : etp_arena_printf(c->arena, "%.4gx", value);
}

// The 1e-9 is for figures without an exact binary value: 0.65 is half a digit away from 0.7, and
// 0.65 × 10^6 ns must count as that.
static bool same_figure(const figure *f, double found)
{
    return fabs(f->value - found) <= f->half * (1 + 1e-9);
}

// FOUND with its interval (NAN: none) against what was said.
static etp_claim_state judge_figure(check *c, const figure *f, double found, double lo, double hi)
{
    note(c, f, found, lo, hi);
    if (!isfinite(found)) {
        return answer(c, ETP_CLAIM_NOT_IN_DATA, "the data hold no such figure");
    }
    const char *is = shown(c, f, found);
    bool bounded = isfinite(lo) && isfinite(hi);
    const char *range =
        bounded ? etp_arena_printf(c->arena, " [%s, %s]", shown(c, f, lo), shown(c, f, hi)) : "";
    if (same_figure(f, found)) {
        return f->coarse
                   ? answer(c, ETP_CLAIM_NOT_IN_DATA,
                            etp_arena_printf(c->arena, "one digit is too little: the data say %s%s",
                                             is, range))
                   : answer(c, ETP_CLAIM_CONFIRMED,
                            etp_arena_printf(c->arena, "the data say %s%s", is, range));
    }
    bool inside = bounded && f->value >= lo && f->value <= hi;
    return inside
               ? answer(c, ETP_CLAIM_NOT_IN_DATA,
                        etp_arena_printf(c->arena, "it lies in the interval, but the data say %s%s",
                                         is, range))
               : answer(c, ETP_CLAIM_CONTRADICTED,
                        etp_arena_printf(c->arena, "the data say %s%s", is, range));
}

// ---- what a sentence can be about ----

static bool names_arm(const etp_ab_arm *arm, etp_str s)
{
    return etp_str_eqz(s, arm->name) || (arm->level_name && etp_str_eqz(s, arm->level_name)) ||
           etp_str_eqz(s, arm->measured);
}

// The only arm of that name; ETP_NO_INDEX when there is none or more than one.
// An experiment's own name is unique. Levels and spoken names are not: two arms at one level make
// the sentence ambiguous, which is not found rather than guessed.
static uint32_t find_arm(const etp_ab *ab, etp_str s)
{
    uint32_t found = ETP_NO_INDEX;
    for (uint32_t i = 0; i < ab->n_arms; i++) {
        if (etp_str_eqz(s, ab->arms[i].name)) {
            return i;
        }
        if (names_arm(&ab->arms[i], s)) {
            if (found != ETP_NO_INDEX) {
                return ETP_NO_INDEX;
            }
            found = i;
        }
    }
    return found;
}

static etp_claim_state nothing_named(check *c, etp_str what)
{
    return answer(
        c, ETP_CLAIM_NOT_IN_DATA,
        etp_arena_printf(c->arena, "the data have no %.*s, or more than one", ETP_STR_ARG(what)));
}

// "N1 saves [at least | up to] 0.7 ms": the expected gain, its floor, its ceiling. None of them was
// measured: figures of others are contradicted, these are a prediction.
static etp_claim_state predicted_saves(check *c, etp_str id)
{
    const etp_ab_fix *fix = NULL;
    for (size_t i = 0; i < c->ab->fixes.n; i++) {
        fix = etp_str_eqz(id, c->ab->fixes.items[i].id) ? &c->ab->fixes.items[i] : fix;
    }
    if (!fix) {
        return nothing_named(c, id);
    }
    c->out->source = fix->id;
    bool least = is_word(c, c->at, "at") && is_word(c, c->at + 1, "least");
    bool most = (is_word(c, c->at, "at") && is_word(c, c->at + 1, "most")) ||
                (is_word(c, c->at, "up") && is_word(c, c->at + 1, "to"));
    c->at += least || most ? 2 : 0;
    figure f;
    if (!take_figure(c, &f) || !f.is_time || c->at != c->n) {
        return unknown_form(c);
    }
    double lo = (double)fix->lo_ns, hi = (double)fix->hi_ns;
    if (least || most) {
        return judge_figure(c, &f, least ? lo : hi, (double)NAN, (double)NAN);
    }
    // Without an expected gain the middle only serves to say how far off the sentence is.
    return fix->expected_ns == ETP_NS_UNKNOWN && f.value >= lo && f.value <= hi
               ? answer(c, ETP_CLAIM_NOT_IN_DATA,
                        "it lies between floor and ceiling, and no gain is expected in between")
               : judge_figure(c, &f,
                              fix->expected_ns == ETP_NS_UNKNOWN ? (lo + hi) / 2
                                                                 : (double)fix->expected_ns,
                              lo, hi);
}

static etp_claim_state fix_saves(check *c, etp_str id)
{
    etp_claim_state state = predicted_saves(c, id);
    return state != ETP_CLAIM_CONFIRMED
               ? state
               : answer(
                     c, ETP_CLAIM_NOT_IN_DATA,
                     "that is what the fix is expected to save; no program with it was measured");
}

// "in ARM" at the end; the only arm may be left out.
static bool take_arm(check *c, uint32_t *arm)
{
    *arm = c->ab->n_arms == 1 ? 0 : ETP_NO_INDEX;
    if (take(c, "in") || take(c, "at")) {
        *arm = c->at < c->n ? find_arm(c->ab, span(c, c->at, c->n)) : ETP_NO_INDEX;
        c->at = c->n;
    }
    return c->at == c->n && *arm != ETP_NO_INDEX;
}

static etp_claim_state judge_time(check *c, const figure *f, double is, double lo, double hi)
{
    return c->ab->emulated
               ? answer(c, ETP_CLAIM_NOT_IN_DATA, "an emulator's times say nothing about speed")
               : judge_figure(c, f, is, lo, hi);
}

// "SUBJECT takes 1.2 ms [in ARM]", "takes 40 % in ARM".
// An arm's time is the untraced headline; operators and categories are timed with the tracer, and
// their shares are of the traced inference. The forms keep the two apart.
static etp_claim_state takes(check *c, etp_str subject)
{
    const etp_ab *ab = c->ab;
    figure f;
    uint32_t arm = find_arm(ab, subject);
    if (!take_figure(c, &f) || (!f.is_time && !f.is_share)) {
        return unknown_form(c);
    }
    if (arm != ETP_NO_INDEX && f.is_time && c->at == c->n) {
        const etp_ab_arm *a = &ab->arms[arm];
        c->out->source = a->name;
        return judge_time(c, &f, etp_known_ns(a->median_ns), a->lo_ns, a->hi_ns);
    }
    if (!take_arm(c, &arm)) {
        return answer(c, ETP_CLAIM_NOT_IN_DATA,
                      "the sentence does not end with an arm of the data: 'in ARM'");
    }
    for (size_t i = 0; i < ab->n_operators; i++) {
        const etp_ab_operator *op = &ab->operators[i];
        if (etp_str_eqz(subject, op->id)) {
            double ns = etp_known_ns(op->ns[arm]), whole = etp_known_ns(ab->arms[arm].traced_ns);
            c->out->source = op->id;
            return judge_time(c, &f, f.is_share ? ns / whole : ns, (double)NAN, (double)NAN);
        }
    }
    for (size_t i = 0; i < ab->n_categories; i++) {
        const etp_ab_category *x = &ab->categories[i];
        const char *name = etp_category_name(x->category);
        if (etp_str_eqz(subject, name)) {
            c->out->source = name;
            return judge_time(c, &f, f.is_share ? x->share[arm] : etp_known_ns(x->ns[arm]),
                              (double)NAN, (double)NAN);
        }
    }
    return nothing_named(c, subject);
}

static double other_way(double ratio)
{
    return 1 / ratio;
}

// In this order: k_said of judge_verdict is indexed by it.
typedef enum direction { FASTER, SLOWER, SAME } direction;

static etp_claim_state judge_verdict(check *c, const etp_ab_comparison *x, direction said,
                                     bool turned)
{
    static const etp_verdict k_said[] = {ETP_VERDICT_FASTER, ETP_VERDICT_SLOWER, ETP_VERDICT_SAME};
    etp_verdict is = x->verdict;
    if (turned && is != ETP_VERDICT_SAME && is != ETP_VERDICT_UNKNOWN) {
        is = is == ETP_VERDICT_FASTER ? ETP_VERDICT_SLOWER : ETP_VERDICT_FASTER;
    }
    const char *why = etp_arena_printf(c->arena, "the verdict is %s", etp_verdict_name(is));
    return answer(c,
                  is == ETP_VERDICT_UNKNOWN ? ETP_CLAIM_NOT_IN_DATA
                  : is == k_said[said]      ? ETP_CLAIM_CONFIRMED
                                            : ETP_CLAIM_CONTRADICTED,
                  why);
}

// The comparison of two arms, *TURNED when A is its baseline.
static const etp_ab_comparison *find_comparison(const etp_ab *ab, uint32_t a, uint32_t b,
                                                bool *turned)
{
    for (size_t i = 0; i < ab->n_comparisons; i++) {
        const etp_ab_comparison *x = &ab->comparisons[i];
        *turned = x->baseline == a && x->candidate == b;
        if (*turned || (x->baseline == b && x->candidate == a)) {
            return x;
        }
    }
    return NULL;
}

// FIGURE (NULL: none was said) and DIRECTION about A against B.
// The direction is judged first: a figure is not looked at when the verdict says the opposite, or
// nothing.
static etp_claim_state judge_arms(check *c, etp_str a, etp_str b, direction said, const figure *f)
{
    uint32_t left = find_arm(c->ab, a), right = find_arm(c->ab, b);
    if (left == ETP_NO_INDEX || right == ETP_NO_INDEX || left == right) {
        return nothing_named(c, left == ETP_NO_INDEX ? a : b);
    }
    bool turned = false;
    const etp_ab_comparison *x = find_comparison(c->ab, left, right, &turned);
    if (!x) {
        return answer(c, ETP_CLAIM_NOT_IN_DATA, "these two arms were not compared");
    }
    c->out->source = c->ab->arms[x->candidate].name;
    if (x->withheld) {
        return answer(
            c, ETP_CLAIM_NOT_IN_DATA,
            etp_arena_printf(c->arena, "no ratio is given: %s", etp_withheld_name(x->withheld)));
    }
    etp_claim_state state = judge_verdict(c, x, said, turned);
    if (state != ETP_CLAIM_CONFIRMED || !f) {
        return state;
    }
    // "slower" counts the other way than the answer's ratio, and so does a baseline as subject.
    bool inverse = turned != (said == SLOWER);
    return judge_figure(c, f, inverse ? other_way(x->estimate) : x->estimate,
                        inverse ? other_way(x->hi) : x->lo, inverse ? other_way(x->lo) : x->hi);
}

// "A is [1.42x] faster than B", "A is as fast as B".
static etp_claim_state compares(check *c, etp_str subject)
{
    figure f = {0};
    size_t from = c->at;
    bool with = take_figure(c, &f);
    if (with && (f.is_time || f.is_share)) {
        c->at = from;
        return unknown_form(c);
    }
    if (!with && take(c, "as") && take(c, "fast") && take(c, "as") && c->at < c->n) {
        return judge_arms(c, subject, span(c, c->at, c->n), SAME, NULL);
    }
    direction said = is_word(c, c->at, "faster") ? FASTER : SLOWER;
    if ((!take(c, "faster") && !take(c, "slower")) || !take(c, "than") || c->at >= c->n) {
        return unknown_form(c);
    }
    return judge_arms(c, subject, span(c, c->at, c->n), said, with ? &f : NULL);
}

static etp_claim_state outputs(check *c, bool agree)
{
    int ok = c->ab->correctness.ok;
    c->out->source = "outputs";
    if (ok < 0 && c->ab->correctness.not_finite) {
        return answer(c, ETP_CLAIM_NOT_IN_DATA,
                      "the outputs were not compared, " ETP_AB_NOT_FINITE);
    }
    return ok < 0 ? answer(c, ETP_CLAIM_NOT_IN_DATA, "the outputs were not compared")
                  : answer(c, (ok > 0) == agree ? ETP_CLAIM_CONFIRMED : ETP_CLAIM_CONTRADICTED,
                           ok > 0 ? "the outputs agree" : "the outputs differ");
}

// The first verb decides, whatever follows. A subject comes before it and something after it, hence
// the bounds.
static etp_claim_state run(check *c)
{
    size_t first = is_word(c, 0, "the");
    if (c->n == first + 2 && is_word(c, first, "outputs") &&
        (is_word(c, first + 1, "agree") || is_word(c, first + 1, "differ"))) {
        return outputs(c, is_word(c, first + 1, "agree"));
    }
    for (size_t i = 1; i + 1 < c->n; i++) {
        c->at = i + 1;
        if (is_word(c, i, "saves")) {
            return fix_saves(c, span(c, 0, i));
        }
        if (is_word(c, i, "takes")) {
            return takes(c, span(c, 0, i));
        }
        if (is_word(c, i, "is")) {
            return compares(c, span(c, 0, i));
        }
    }
    return unknown_form(c);
}

static etp_status check_sentence(const etp_ab *ab, const char *sentence, etp_arena *arena,
                                 etp_claim *out, etp_error *err)
{
    *out = (etp_claim){
        .sentence = sentence,
        .said = (double)NAN,
        .found = (double)NAN,
        .lo = (double)NAN,
        .hi = (double)NAN,
    };
    etp_str text = etp_str_trim(etp_str_from(sentence), " .\t\n");
    if (text.len == 0 || text.len > ETP_CLAIM_LIMIT) {
        return etp_fail(err, ETP_USAGE, "a claim is one sentence of 1 to %d bytes, not %zu",
                        ETP_CLAIM_LIMIT, text.len);
    }
    check c = {.ab = ab, .arena = arena, .out = out};
    split(&c, text);
    out->state = c.n >= MAX_WORDS ? unknown_form(&c) : run(&c);
    return ETP_OK;
}

etp_status etp_claim_check(const etp_ab *ab, const char *sentence, etp_arena *arena, etp_claim *out,
                           etp_error *err)
{
    ETP_GUARDED(arena, err, "claim", check_sentence(ab, sentence, arena, out, err));
}

const char *etp_claim_state_name(etp_claim_state state)
{
    static const char *const k_names[] = {"confirmed", "contradicted", "not in the data"};
    return k_names[state];
}

static const char *unit_name(etp_claim_unit unit)
{
    static const char *const k_names[] = {NULL, "ns", "ratio"};
    return k_names[unit];
}
WORDS(k_unit, unit_name, etp_claim_unit, ETP_CLAIM_OF_RATIO + 1)
WORDS(k_state, etp_claim_state_name, etp_claim_state, ETP_CLAIM_NOT_IN_DATA + 1)

#define OF etp_claim
#define FIGURE(key, what) FIELD(#key, NUMBER, key, what, .range = ETP_SIGNED)
static const etp_field k_claim_rows[] = {
    FIELD("claim", TEXT, sentence, "as given", .flags = ETP_SET),
    FIELD("state", WORD, state, "what the answer says to it", .words = &k_state),
    FIELD("about", TEXT, source, "id or name of what it is about"),
    FIELD("unit", WORD, unit, "of the figures", .words = &k_unit),
    FIGURE(said, "by the sentence"),
    FIGURE(found, "in the answer"),
    FIGURE(lo, "low end of its interval"),
    FIGURE(hi, "high end"),
    FIELD("why", TEXT, why, "one sentence", .flags = ETP_SET),
};
static SHAPE(k_claim, k_claim_rows);
#undef OF

const etp_document k_etp_claim_document = {"etprof.claim/1", "what verify-claim prints", &k_claim};

void etp_claim_json(const void *claim, etp_json *j)
{
    etp_document_write(j, &k_etp_claim_document, claim, claim);
}

const etp_report *etp_claim_report(const etp_claim *c, etp_arena *arena)
{
    static const etp_severity k_severities[] = {ETP_GOOD, ETP_BAD, ETP_WARN};
    etp_report *r = etp_report_create(arena, c->sentence);
    etp_report_note(r, k_severities[c->state], "%s: %s", etp_claim_state_name(c->state), c->why);
    return r;
}
