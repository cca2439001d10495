// SPDX-License-Identifier: Apache-2.0
// The first screen of an ab answer: headline, why, proof, what became dominant, what got slower.
#include "show/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <etprof/version.h>

#include "base/number.h"
#include "document/document.h"
#include "show/screen.h"

// "faster: 2.31× [2.28, 2.34]", "withheld: emulated": one comparison in words, without its arms.
static const char *ab_headline_text(const etp_ab_comparison *c, etp_arena *arena)
{
    if (c->withheld) {
        return etp_arena_printf(arena, "withheld: %s", etp_ab_withheld_text(c->withheld));
    }
    if (!isfinite(c->estimate)) {
        return etp_verdict_words(arena, c->verdict, NAN, NAN, c->blocks, c->margin);
    }
    if (!etp_interval_tells(c->lo, c->hi)) {
        return etp_arena_printf(arena, "%s: %.2f× (no interval)", etp_verdict_name(c->verdict),
                                c->estimate);
    }
    return etp_arena_printf(arena, "%s: %s", etp_verdict_name(c->verdict),
                            ETP_ESTIMATE(c->estimate, c->lo, c->hi, 2));
}

// Recordings alone have no untraced time; then the traced one stands in and is called so.
static const char *ends_text(const etp_ab *ab, const etp_ab_comparison *c, etp_arena *arena)
{
    const etp_ab_arm *base = &ab->arms[c->baseline], *cand = &ab->arms[c->candidate];
    int64_t from = base->median_ns != ETP_NS_UNKNOWN ? base->median_ns : base->traced_ns;
    int64_t to = cand->median_ns != ETP_NS_UNKNOWN ? cand->median_ns : cand->traced_ns;
    if (ab->emulated || from == ETP_NS_UNKNOWN || to == ETP_NS_UNKNOWN) {
        return NULL;
    }
    const char *rates = etp_ab_rates_text(ab, c, arena);
    return etp_arena_printf(arena, "%s%s%s → %s%s", ETP_OR(rates, ""), etp_if(rates, "; "),
                            ETP_NS((double)from), ETP_NS((double)to),
                            etp_if(base->median_ns == ETP_NS_UNKNOWN, " (traced, mean)"));
}

// Two bars, of untraced times alone: a recording's are shown, not judged.
static void headline_ends(const etp_ab *ab, const etp_ab_comparison *c, etp_headline *h,
                          etp_arena *arena)
{
    const uint32_t arms[2] = {c->baseline, c->candidate};
    for (int i = 0; i < 2; i++) {
        const etp_ab_arm *a = &ab->arms[arms[i]];
        if (ab->emulated || c->withheld || a->median_ns == ETP_NS_UNKNOWN) {
            // Both ends or none: one bar alone would invite a comparison with nothing.
            h->ends[0].name = NULL;
            return;
        }
        h->ends[i].name = a->measured;
        h->ends[i].value = (double)a->median_ns;
        h->ends[i].lo = a->lo_ns;
        h->ends[i].hi = a->hi_ns;
        double rate = etp_ab_token_rate(ab, arms[i]);
        if (isfinite(rate)) {
            const char *text = etp_rate_text(rate, arena);
            h->ends[i].note = text ? etp_arena_printf(arena, "%s tok/s", text) : NULL;
        }
    }
}

void etp_ab_headline_cards(const struct etp_ab_view *view, etp_report *r, etp_arena *arena)
{
    const etp_ab *ab = view->ab;
    size_t n;
    const etp_ab_comparison *const *all = etp_ab_all_comparisons(ab, arena, &n);
    for (size_t i = 0; i < n; i++) {
        const etp_ab_comparison *c = all[i];
        const bool unpaired = c->method == ETP_UNPAIRED_LAUNCHES;
        const char *verdict;
        if (c->withheld) {
            verdict = etp_arena_printf(arena, "withheld: %s", etp_ab_withheld_text(c->withheld));
        } else if (unpaired && c->verdict == ETP_VERDICT_UNKNOWN) {
            verdict = "unknown: two sessions, and the difference is not clear of their noise";
        } else {
            const char *noise = etp_ab_noise_words(c, arena);
            verdict =
                noise ? noise
                      : etp_verdict_words(arena, c->verdict, c->lo, c->hi, c->blocks, c->margin);
        }
        // What was measured; what the experiments are called, the sections say.
        const char *label = etp_arena_printf(
            arena, "%s%s%s against %s", ETP_OR(view->run, ""), etp_if(view->run, ": "),
            ab->arms[c->candidate].measured, ab->arms[c->baseline].measured);
        etp_headline h = {
            .label = ETP_OR(label, ""),
            .verdict = ETP_OR(verdict, ""),
            .severity = c->withheld ? ETP_WARN : etp_ab_severity_of_verdict(c->verdict),
            .value = etp_value_if(!c->withheld, c->estimate),
            .lo = etp_value_if(!c->withheld, c->lo),
            .hi = etp_value_if(!c->withheld, c->hi),
            .interval = etp_arena_printf(arena, "95 %% interval, %u blocks", c->blocks),
            .detail = ends_text(ab, c, arena),
        };
        if (unpaired) {
            h.interval = etp_arena_printf(arena,
                                          "95 %% Hodges–Lehmann interval, %zu and %zu launches "
                                          "that nothing pairs",
                                          c->launches[0], c->launches[1]);
        }
        // An interval that was computed and is too wide to mean anything is not shown as figures.
        if (!etp_interval_tells(c->lo, c->hi)) {
            h.lo = h.hi = NAN;
            h.interval = etp_z_if(isfinite(c->lo), "no interval yet");
        }
        // "1.20× slower": what people read counts the way that the verdict says, the document
        // always baseline ÷ candidate.
        etp_ratio_as_said(c->verdict, &h.value, &h.lo, &h.hi);
        headline_ends(ab, c, &h, arena);
        etp_report_headline(r, &h);
    }
    if (ab->n_comparisons == 0 && ab->n_arms == 1 && ab->arms[0].traced_ns != ETP_NS_UNKNOWN) {
        etp_report_fact(r, "traced inference", "%s", ETP_NS((double)ab->arms[0].traced_ns));
    }
}

void etp_ab_facts(const etp_ab *ab, etp_report *r, etp_arena *arena)
{
    etp_report_fact(r, "grade", "%s: %s", ab->judged.grade, ab->judged.grade_reason);
    for (size_t i = 0; i < ab->n_comparisons; i++) {
        const etp_ab_comparison *c = &ab->comparisons[i];
        const char *control =
            isfinite(c->noise_floor) ? etp_control_text(arena, &c->control) : NULL;
        // All comparisons of a session have the same control, so one line says it.
        if (control) {
            etp_report_fact(r, "trust", "%s (A/A control %s)", etp_screen_noise(ab, arena),
                            control);
            break;
        }
    }
    if (ab->precision > 0) {
        static const char *const k_ends[] = {
            [ETP_STOP_OTHER] = "not reached",
            [ETP_STOP_PRECISION] = "reached",
            [ETP_STOP_BUDGET] = "not reached within the budget",
            [ETP_STOP_BLOCKS] = "not reached within the planned blocks",
        };
        etp_report_fact(r, "stop rule",
                        "±%s %% wanted, %s; looked after every second block, "
                        "intervals widened by 1 + 1.5/blocks for it",
                        ETP_DIGITS(100 * ab->precision, 3), k_ends[ab->stopped]);
    }
    if (ab->blocks_before_extend > 0) {
        etp_report_fact(
            r, "extended",
            "after %u blocks whose result had been seen: intervals widened by 1 + 1.5/blocks",
            ab->blocks_before_extend);
    }
    if (ab->neighbours && ab->n_comparisons > 0) {
        etp_report_fact(r, "virtual machine",
                        "the load of its neighbours is not visible: the speedup's interval is "
                        "widened by 1 + 1.5/blocks");
    }
    if (etp_ab_is_unfinished(ab)) {
        etp_report_fact(r, "state", "%s", etp_run_state_name(ab->state));
    }
    if (ab->emulated) {
        etp_report_fact(r, "times", "of an emulator; they say nothing about speed");
    }
}

// "−0.941 ms": all parts of a sum in the unit of its largest.
// One unit for all: "1.2 ms · 300 µs" cannot be added by eye.
static const char *in_unit_of(int64_t largest, int64_t ns, etp_arena *arena)
{
    static const struct {
        double ns;
        int decimals;
        const char *name;
    } k_units[] = {
        {1e9, 3, "s"  },
        {1e6, 3, "ms" },
        {1e3, 2, "µs"},
        {1,   0, "ns" }
    };
    char buf[ETP_NUMBER_CHARS];
    size_t u = 0;
    while (u < 3 && (double)llabs(largest) < k_units[u].ns) {
        u++;
    }
    etp_format_change((double)ns / k_units[u].ns, k_units[u].decimals, buf);
    const char *text = etp_arena_printf(arena, "%s %s", buf, k_units[u].name);
    return ETP_OR(text, "");
}

// A sum in words: categories and what lies beside operators, the largest change first. It adds up,
// because what is too small to name goes into "rest".
static void why(const etp_ab *ab, size_t at, etp_keys *keys, etp_arena *arena)
{
    const etp_ledger *l = &ab->ledgers[at];
    etp_ledger_row parts[ETP_CATEGORY_COUNT + 3];
    size_t n = 0;
    for (int c = 0; c < ETP_CATEGORY_COUNT; c++) {
        (void)etp_ab_step_of(ab, at, (etp_category)c, ETP_ROW_OPERATOR, true, &parts[n++]);
    }
    // What recording costs is a row of the ledger and no reason: the parts are of recorded
    // inferences.
    static const etp_row_kind k_kinds[] = {ETP_ROW_BOUNDARY, ETP_ROW_FRAMEWORK,
                                           ETP_ROW_UNEXPLAINED};
    for (size_t i = 0; i < sizeof k_kinds / sizeof *k_kinds; i++) {
        (void)etp_ab_step_of(ab, at, ETP_CATEGORY_COUNT, k_kinds[i], true, &parts[n++]);
    }
    for (size_t i = 1; i < n; i++) { // by size, stable
        for (size_t k = i; k > 0 && llabs(parts[k].delta_ns) > llabs(parts[k - 1].delta_ns); k--) {
            etp_ledger_row t = parts[k];
            parts[k] = parts[k - 1];
            parts[k - 1] = t;
        }
    }
    etp_strbuf text;
    etp_strbuf_init(&text, arena);
    // Parts below one per cent of the biggest go together, so that the line still adds up.
    int64_t rest = 0;
    int64_t recorded = l->delta_ns;
    for (size_t i = 0; i < l->n; i++) {
        recorded -= l->items[i].kind == ETP_ROW_TRACER ? l->items[i].delta_ns : 0;
    }
    int64_t largest = llabs(recorded) > llabs(parts[0].delta_ns) ? recorded : parts[0].delta_ns;
    largest = llabs(l->delta_ns) > llabs(largest) ? l->delta_ns : largest;
    // Sorted by size, so the first 0 ends the list.
    for (size_t i = 0; i < n && parts[i].delta_ns != 0; i++) {
        if (i > 0 && llabs(parts[i].delta_ns) < llabs(parts[0].delta_ns) / 100) {
            rest += parts[i].delta_ns;
            continue;
        }
        etp_strbuf_printf(&text, "%s%s %s", etp_if(i, " · "), parts[i].label,
                          in_unit_of(largest, parts[i].delta_ns, arena));
    }
    if (rest != 0) {
        etp_strbuf_printf(&text, " · rest %s", in_unit_of(largest, rest, arena));
    }
    if (text.len == 0) {
        etp_strbuf_appendz(&text, "no part differs");
    }
    etp_keys_add(keys, ETP_PLAIN, "why",
                 recorded != l->delta_ns ? "%s = %s recorded (%s without recording)" : "%s = %s",
                 etp_strbuf_str(&text).ptr, in_unit_of(largest, recorded, arena),
                 in_unit_of(largest, l->delta_ns, arena));
    etp_strbuf shorts;
    etp_strbuf_init(&shorts, arena);
    for (size_t i = 0; i < ab->n_categories; i++) {
        const etp_ab_category *c = &ab->categories[i];
        if (etp_ab_category_below_clock(ab, c, at, true)) {
            etp_strbuf_printf(&shorts, "%s%s", etp_if(shorts.len, ", "),
                              etp_category_name(c->category));
        }
    }
    if (shorts.len) {
        etp_keys_add(keys, ETP_PLAIN, "short",
                     "%s: below what the clock resolves; what it cut off is in the boundary",
                     etp_strbuf_str(&shorts).ptr);
    }
}

void etp_ab_shift_key(const etp_ab *ab, size_t at, etp_keys *keys)
{
    const etp_ab_comparison *c = &ab->comparisons[at];
    if (!isfinite(c->shift.before_share) || !isfinite(c->shift.after_share)) {
        return;
    }
    // Kernels outside delegates, when there are any worth a word.
    char portable[96] = "";
    if (isfinite(c->shift.portable_before) && isfinite(c->shift.portable_after) &&
        fmax(c->shift.portable_before, c->shift.portable_after) >= 0.01) {
        snprintf(portable, sizeof portable, "; outside delegates %.0f %% → %.0f %%",
                 100 * c->shift.portable_before, 100 * c->shift.portable_after);
    }
    const char *before = etp_ab_part_name(c->shift.before),
               *after = etp_ab_part_name(c->shift.after);
    if (c->shift.moved) {
        etp_keys_add(keys, ETP_INFO, "bottleneck",
                     "moved from %s (%.0f %% of the time) to %s (%.0f %%, was %.0f %%)%s", before,
                     100 * c->shift.before_share, after, 100 * c->shift.after_share,
                     100 * c->shift.after_was, portable);
    } else if (c->shift.before == c->shift.after) {
        etp_keys_add(keys, ETP_PLAIN, "bottleneck",
                     "stays %s: %.0f %% of the time before, %.0f %% after%s", before,
                     100 * c->shift.before_share, 100 * c->shift.after_share, portable);
    } else { // as good as equal in one of the arms, or not logged in one
        char is[16] = "unknown", was[16] = "unknown";
        if (isfinite(c->shift.before_is)) {
            snprintf(is, sizeof is, "%.0f %%", 100 * c->shift.before_is);
        }
        if (isfinite(c->shift.after_was)) {
            snprintf(was, sizeof was, "%.0f %%", 100 * c->shift.after_was);
        }
        etp_keys_add(keys, ETP_PLAIN, "bottleneck",
                     "%s: %.0f %% of the time before, %s after; %s: %s before, %.0f %% after%s",
                     before, 100 * c->shift.before_share, is, after, was,
                     100 * c->shift.after_share, portable);
    }
}

// Of single launches, what proves nothing of others.
static bool is_longer(const etp_ledger_row *row)
{
    return row->each_longer;
}

// Only what is slower beyond its noise (etp_ledger_row_slower), the largest first: of some hundred
// operators a few are always slower by chance. Without any interval there were no blocks.
static void slower(const etp_ab *ab, size_t at, etp_keys *keys, etp_arena *arena)
{
    enum { SHOWN = 3 };
    const etp_ledger *l = &ab->ledgers[at];
    const etp_ledger_row *worst[SHOWN];
    size_t judged = 0, operators = 0, same = 0;
    for (size_t i = 0; i < l->n; i++) {
        judged += l->items[i].lo_ns != ETP_NS_UNKNOWN;
        operators += l->items[i].pair != ETP_NO_INDEX;
        same += l->items[i].same;
    }
    size_t n = etp_ledger_worst(l, judged ? etp_ledger_row_slower : is_longer, worst, SHOWN);
    etp_strbuf text;
    etp_strbuf_init(&text, arena);
    for (size_t k = 0; k < SHOWN && worst[k]; k++) {
        etp_strbuf_printf(&text, "%s%s +%s", etp_if(k, " · "), worst[k]->label,
                          ETP_NS((double)worst[k]->delta_ns));
    }
    if (n > SHOWN) {
        etp_strbuf_printf(&text, " · and %zu more", n - SHOWN);
    }
    if (operators > 0 && same == 0) {
        etp_keys_add(keys, ETP_PLAIN, "slower", "unknown: the two programs have no equal operator");
    } else if (n == 0) {
        etp_keys_add(keys, ETP_PLAIN, "slower", "%s",
                     judged ? "no operator beyond its noise"
                            : "unknown: single operators need at least 2 blocks");
    } else {
        const char *alone =
            "in every iteration of these two launches, which proves nothing about others: ";
        etp_keys_add(keys, judged ? ETP_WARN : ETP_PLAIN, "slower", "%s%s", etp_if(!judged, alone),
                     etp_strbuf_str(&text).ptr);
    }
}

// The first alone: they are ranked, and gains of fixes that touch the same operators do not add up.
static void next_fix(const etp_ab *ab, etp_keys *keys)
{
    if (ab->fixes.n == 0) {
        return;
    }
    const etp_ab_fix *f = &ab->fixes.items[0];
    const char *more = etp_if(ab->fixes.n > 1, " · more under Next fixes");
    if (f->expected_ns == ETP_NS_UNKNOWN) {
        etp_keys_add(keys, ETP_PLAIN, "next fix",
                     "%s %s: %s to %s to gain, how much of it is unknown → %s%s", f->id, f->text,
                     ETP_NS((double)f->lo_ns), ETP_NS((double)f->hi_ns), f->recipe, more);
        return;
    }
    etp_keys_add(keys, ETP_PLAIN, "next fix", "%s %s: about %s (%.1f %%) to gain, %s to %s → %s%s",
                 f->id, f->text, ETP_NS((double)f->expected_ns), 100 * f->share,
                 ETP_NS((double)f->lo_ns), ETP_NS((double)f->hi_ns), f->recipe, more);
}

// The line of an arm's proof that a reader needs first: what contradicts, else what confirms, else
// what samples show, else names.
static const etp_proof_line *main_line(const etp_proof *p)
{
    const etp_proof_line *open = NULL, *supports = NULL;
    for (size_t k = 0; k < p->lines.n; k++) {
        const etp_proof_line *line = &p->lines.items[k];
        if (line->contradicts) {
            return line;
        }
        bool names = line->kind == ETP_PROOF_NAMES && !open;
        open = names || line->kind == ETP_PROOF_SAMPLES ? line : open;
        supports = line->supports && !supports ? line : supports;
    }
    return ETP_OR(supports, open);
}

// Arms whose proof reads the same share a line; cells would else repeat it for each thread count.
static bool same_proof(const etp_ab_arm *a, const etp_ab_arm *b)
{
    if (etp_level_is_said(a->level_name) != etp_level_is_said(b->level_name)) {
        return false;
    }
    const etp_proof_line *x = main_line(&a->proof), *y = main_line(&b->proof);
    return x && y && a->proof.truth == b->proof.truth && a->proof.by_table == b->proof.by_table &&
           strcmp(x->text, y->text) == 0;
}

void etp_ab_proof_keys(const etp_ab *ab, etp_keys *keys, etp_arena *arena)
{
    // In the order of etp_proof's `truth`.
    static const char *const k_words[] = {"level set by mask, not provable from names", "confirmed",
                                          "CONTRADICTED"};
    static const char *const k_said[] = {"level only said, not provable from names",
                                         "level only said, names do not contradict it",
                                         "CONTRADICTED"};
    static const etp_severity k_severity[] = {ETP_PLAIN, ETP_GOOD, ETP_BAD};
    const char *key = "proof";
    for (size_t i = 0; i < ab->n_arms; i++) {
        const etp_ab_arm *a = &ab->arms[i];
        const etp_proof_line *line = main_line(&a->proof);
        bool said = false;
        for (size_t k = 0; k < i; k++) {
            said = said || same_proof(&ab->arms[k], a);
        }
        if (!line || said) {
            continue;
        }
        etp_strbuf arms;
        etp_strbuf_init(&arms, arena);
        size_t alike = 0;
        for (size_t k = i; k < ab->n_arms; k++) {
            if (same_proof(a, &ab->arms[k])) {
                etp_strbuf_printf(&arms, "%s%s", etp_if(alike++, ", "), ab->arms[k].measured);
            }
        }
        if (alike == ab->n_arms && alike > 4) { // cells are dozens
            etp_strbuf_init(&arms, arena);
            etp_strbuf_printf(&arms, "all %zu arms", alike);
        }
        bool level_said = etp_level_is_said(a->level_name);
        const char *note = etp_z_if(line->kind == ETP_PROOF_NAMES, etp_proof_names_note(&a->proof));
        etp_keys_add(keys, k_severity[a->proof.truth], key, "%s: %s; %s%s%s",
                     etp_strbuf_str(&arms).ptr, (level_said ? k_said : k_words)[a->proof.truth],
                     line->text, etp_if(note, "; "), ETP_OR(note, ""));
        // Lines below the first have no key: they go on with the same answer.
        key = "";
    }
    if (ab->selftest) {
        etp_keys_add(keys, ETP_PLAIN, key, "self-test of the runner: %s", ab->selftest);
    }
}

// "ruled out  tracer (…) · threads (…)", and what stays possible.
// One line for each state, in the order of the causes.
static void causes(const etp_ab *ab, etp_keys *keys, etp_arena *arena)
{
    etp_strbuf text[ETP_CAUSE_STATES];
    for (int k = 0; k < ETP_CAUSE_STATES; k++) {
        etp_strbuf_init(&text[k], arena);
    }
    for (size_t i = 0; i < ab->judged.n_causes; i++) {
        etp_strbuf *t = &text[ab->judged.causes[i].state];
        etp_strbuf_printf(t, "%s%s", etp_if(t->len, " · "), ab->judged.causes[i].text);
    }
    if (text[ETP_CAUSE_RULED_OUT].len) {
        etp_keys_add(keys, ETP_PLAIN, "ruled out", "%s",
                     etp_strbuf_str(&text[ETP_CAUSE_RULED_OUT]).ptr);
    }
    if (text[ETP_CAUSE_SUSPECT].len) {
        etp_keys_add(keys, ETP_WARN, "suspect", "%s", etp_strbuf_str(&text[ETP_CAUSE_SUSPECT]).ptr);
    }
    // Bare dumps tell none of it: their grade says so.
    if (text[ETP_CAUSE_UNKNOWN].len && !ab->bare && !ab->emulated) {
        etp_keys_add(keys, ETP_PLAIN, "not ruled out", "%s",
                     etp_strbuf_str(&text[ETP_CAUSE_UNKNOWN]).ptr);
    }
}

static void agreement(etp_keys *keys, const char *key, int ok, const etp_ab_correctness *c,
                      const char *right, const char *wrong)
{
    if (etp_ab_outputs_mute(c)) {
        etp_keys_add(keys, ETP_BAD, key, "%s", etp_ab_outputs_mute(c));
    }
    if (ok < 0 && c->random) {
        etp_keys_add(keys, ETP_WARN, key, "not compared: the program is not deterministic");
    }
    if (ok == 0 && !(isfinite(c->cosine) && isfinite(c->max_abs))) { // other shapes, infinities
        etp_keys_add(keys, ETP_BAD, key, "%s", wrong);
    }
    if (ok < 0 || !isfinite(c->cosine)) { // nothing was compared
        return;
    }
    if (isfinite(c->max_abs)) {
        etp_keys_add(keys, ok ? ETP_GOOD : ETP_BAD, key,
                     "%s (largest difference %s, relative %s, cosine %.6f)", ok ? right : wrong,
                     ETP_DIGITS(c->max_abs, 3), ETP_DIGITS(c->max_rel, 3), c->cosine);
    }
    if (isfinite(c->argmax) && c->argmax < 1) {
        etp_keys_add(keys, ETP_WARN, "", "the largest element is another one in %s %% of the rows",
                     ETP_DIGITS(100 * (1 - c->argmax), 3));
    }
}

static void finding_notes(const etp_ab *ab, size_t from, size_t to, etp_report *r)
{
    for (size_t i = from; i < ab->judged.findings.n && i < to; i++) {
        const etp_ab_finding *f = &ab->judged.findings.items[i];
        etp_report_note(r, etp_ab_severity_of(f->severity), "%s %s", f->id, f->text);
    }
}

// Comparisons have lists of their own; what is said of the answer as a whole (engagement, fixes,
// proof, outputs, causes) follows once.
static void answer_keys(const etp_ab *ab, etp_report *r, etp_arena *arena)
{
    for (size_t i = 0; i < ab->n_comparisons; i++) {
        const char *title = NULL;
        if (ab->n_comparisons > 1) {
            title = etp_arena_printf(arena, "%s against %s",
                                     ab->arms[ab->comparisons[i].candidate].measured,
                                     ab->arms[ab->comparisons[i].baseline].measured);
        }
        etp_keys *keys = etp_report_keys(r, title);
        const etp_ab_comparison *c = &ab->comparisons[i];
        const char *ends = etp_ab_sustained_words(c, arena);
        if (ends && etp_ab_told(ab, i)) {
            etp_keys_add(keys, c->sustained.changed ? ETP_WARN : ETP_PLAIN, "sustained", "%s%s",
                         ends,
                         etp_if(c->sustained.turned, ": the faster arm became the slower one"));
        }
        if (ab->logged_unlike[i]) {
            etp_keys_add(keys, ETP_PLAIN, "why",
                         "unknown: delegates of one side logged what those of the other did not");
        } else if (ab->ledgers[i].n && etp_ab_told(ab, i)) {
            why(ab, i, keys, arena);
            etp_ab_shift_key(ab, i, keys);
            slower(ab, i, keys, arena);
        }
    }
    etp_keys *keys = etp_report_keys(r, NULL);
    etp_ab_engaged_key(ab, keys, arena);
    next_fix(ab, keys);
    etp_ab_proof_keys(ab, keys, arena);
    agreement(keys, "outputs", ab->correctness.ok, &ab->correctness,
              etp_ab_programs_apart(ab) ? "agree within each program" : "agree within tolerance",
              "DIFFER beyond tolerance");
    for (size_t i = 0; i < ab->n_arms; i++) {
        const char *right =
            etp_arena_printf(arena, "%s: as its inputs' author expects", ab->arms[i].measured);
        const char *wrong = etp_arena_printf(arena, "%s: NOT what its inputs' author expects",
                                             ab->arms[i].measured);
        agreement(keys, "expected", ab->arms[i].expected.ok, &ab->arms[i].expected,
                  ETP_OR(right, "as expected"), ETP_OR(wrong, "NOT as expected"));
    }
    causes(ab, keys, arena);
    etp_ab_feature_table(ab, r);
}

void etp_ab_answer_lines(const etp_ab *ab, etp_report *r, etp_arena *arena)
{
    answer_keys(ab, r, arena);
    finding_notes(ab, 0, SIZE_MAX, r);
}

void etp_ab_reason_sections(const etp_ab *ab, etp_report *r, etp_arena *arena)
{
    const etp_ab_views one = {&(struct etp_ab_view){.ab = ab}, 1};
    etp_ab_category_section(ab, r);
    etp_ab_hot_section(&one, r, arena);
    etp_ab_split_section(&one, r, arena);
    etp_ab_kernel_section(&one, r, arena);
    etp_ab_fix_section(&one, r);
    etp_ab_load_fix_section(ab, r);
    etp_ab_ledger_section(ab, r);
    etp_ab_operator_section(ab, r);
}

void etp_ab_reproduce_section(const etp_ab *ab, etp_report *r, etp_arena *arena)
{
    etp_report_section(r, 1, "reproduce", "Reproduce");
    if (ab->config) {
        etp_keys_add(etp_report_keys(r, NULL), ETP_PLAIN, "Config File", "%s", ab->config);
    }
    if (ab->command) {
        etp_report_line(r, "The command that measures this again", ab->command);
    }
    etp_strbuf line;
    etp_strbuf_init(&line, arena);
    // The version that measured, where the folder says it: this one only shows.
    etp_strbuf_printf(&line, "etprof %s", ETP_OR(ab->tool_version, ETP_VERSION));
    if (ab->executorch_version) {
        etp_strbuf_printf(&line, " · ExecuTorch %s (%s)", ab->executorch_version,
                          ETP_OR(ab->executorch_sha, "SHA not recorded"));
    }
    for (size_t i = 0; i < ab->n_models; i++) {
        const char *sha256 = ab->models[i].sha256;
        etp_strbuf_printf(&line, " · %s, sha256 %.*s", ETP_OR(ab->models[i].stem, "model"),
                          sha256 ? 12 : 20, ETP_OR(sha256, "not recorded"));
    }
    const char *cpu = etp_ab_fact_of(ab, "cpu");
    if (cpu) {
        etp_strbuf_printf(&line, " · %s%s", etp_if(ab->emulated, "emulated on "), cpu);
    }
    for (size_t i = 0; i < ab->n_comparisons; i++) {
        const char *text = ab_headline_text(&ab->comparisons[i], arena);
        const etp_ab_arm *base = &ab->arms[ab->comparisons[i].baseline],
                         *cand = &ab->arms[ab->comparisons[i].candidate];
        etp_strbuf_printf(&line, " · %s against %s %s", cand->measured, base->measured,
                          ETP_OR(text, ""));
    }
    etp_strbuf_printf(&line, " · grade %s", ab->judged.grade);
    etp_report_line(r, "The line to quote", etp_strbuf_str(&line).ptr);
}

// What the HTML page has between what decides and the sections that every format has.
void etp_ab_page_findings(const etp_ab *ab, const char *whatif, etp_report *r, etp_arena *arena)
{
    etp_ab_page_first(ab, r, arena);
    etp_report_section(r, 1, "answer", "What was found");
    enum { SHOWN = 5 };
    finding_notes(ab, 0, SHOWN, r);
    bool measured = false;
    for (size_t i = 0; i < ab->n_arms; i++) {
        const etp_ab_arm *a = &ab->arms[i];
        measured = measured || a->launches > 0 || a->traced_ns != ETP_NS_UNKNOWN;
    }
    if (ab->judged.findings.n == 0) {
        etp_report_text(r, "%s",
                        measured ? "Nothing stands out."
                                 : "Nothing was measured yet: no launch is complete.");
    }
    if (ab->judged.findings.n > SHOWN) {
        etp_report_fold(
            r, etp_arena_printf(arena, "%zu more findings", ab->judged.findings.n - SHOWN));
        finding_notes(ab, SHOWN, SIZE_MAX, r);
    }
    etp_report_fold(r, "How it came about, and what was checked");
    answer_keys(ab, r, arena);
    etp_ab_page_more(ab, whatif, r, arena);
}
