// SPDX-License-Identifier: Apache-2.0
// The first screen of the HTML page: the big numbers, what they are made of, what to do next.
#include <math.h>

#include "base/number.h"
#include "report/html_parts.h"
#include "report/view.h"

static void z(etp_sink *sink, const char *s)
{
    etp_sink_z(sink, s);
}

void etp_html_element(etp_sink *sink, const char *tag, const char *cls, etp_str s)
{
    if (s.len) {
        etp_sink_printf(sink, *cls ? "<%s class=\"%s\">" : "<%s>", tag, cls);
        etp_sink_xml(sink, s);
        etp_sink_printf(sink, "</%s>\n", tag);
    }
}

void etp_html_id(etp_sink *sink, etp_str id)
{
    for (size_t i = 0; i < id.len; i++) {
        char c = id.ptr[i];
        bool fine = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                    c == '-' || c == '_';
        etp_sink_char(sink, fine ? c : '-');
    }
}

// Is S[at] the blank between a figure and its unit?
static bool parts_unit(etp_str s, size_t at)
{
    static const char *const k_units[] = {"ns", "µs", "ms", "s", "%"};
    etp_str rest = {s.ptr + at + 1, s.len - at - 1};
    bool unit = false;
    for (size_t k = 0; k < sizeof k_units / sizeof *k_units; k++) {
        size_t n = strlen(k_units[k]);
        bool ends = rest.len == n || (rest.len > n && strchr(" ,;)", rest.ptr[n]));
        unit = unit || (ends && etp_str_starts(rest, etp_str_from(k_units[k])));
    }
    return unit && at > 0 && s.ptr[at] == ' ' && s.ptr[at - 1] >= '0' && s.ptr[at - 1] <= '9';
}

// The interval on a line with the point of no difference: where the estimate stands, at a glance.
static void strip(etp_sink *sink, const etp_card *card)
{
    // The scale holds the interval and the point of no difference, with some room at the ends:
    // their distance is what the strip is there to show.
    double lo = fmin(1, card->lo), hi = fmax(1, card->hi);
    if (!isfinite(card->value) || !isfinite(card->lo) || !isfinite(card->hi) || !(hi > lo)) {
        return;
    }
    etp_view v = etp_view_for(ETP_KIND_RATIO, 0, NULL, 0);
    char buf[ETP_VIEW_CHARS];
    double from = lo - (hi - lo) * 0.08, percent = 100 / ((hi - lo) * 1.16);
    double reference = (1 - from) * percent;
    etp_sink_printf(
        sink,
        "<div class=\"strip\" role=\"img\" aria-label=\"estimate and interval against no "
        "difference\"><p class=\"track\"><i style=\"left:%.2f%%\"></i>"
        "<u style=\"left:%.2f%%;width:%.2f%%\"></u><s style=\"left:%.2f%%\"></s></p>",
        reference, (card->lo - from) * percent, (card->hi - card->lo) * percent,
        (card->value - from) * percent);
    bool left = reference < 50; // its words stand on the side that has room
    etp_sink_printf(
        sink, "<small style=\"margin-%s:%.2f%%;text-align:%s\">%s no difference</small></div>\n",
        left ? "left" : "right", left ? reference : 100 - reference, left ? "left" : "right",
        etp_view_value(&v, 1, buf));
}

// Before and after as bars from zero, with their intervals.
static void write_ends(etp_sink *sink, const etp_card *card, double unit)
{
    char buf[ETP_VIEW_CHARS], other[ETP_VIEW_CHARS];
    double most = 0;
    for (int i = 0; i < 2; i++) {
        most = fmax(most, fmax(card->ends[i].value, card->ends[i].hi));
    }
    if (!(most > 0)) {
        return;
    }
    etp_view v = etp_view_in_unit(most, unit), bare = etp_view_bare(&v);
    z(sink, "<dl class=\"ends\">\n");
    for (int i = 0; i < 2; i++) {
        double lo = card->ends[i].lo, hi = card->ends[i].hi;
        etp_sink_printf(sink, "<div class=\"%s\"><dt>", i ? "after" : "before");
        etp_sink_xml(sink, card->ends[i].name);
        etp_sink_printf(sink, "</dt><dd><span class=\"track\"><i style=\"width:%.2f%%\"></i>",
                        100 * fmax(card->ends[i].value, 0) / most);
        if (isfinite(lo) && isfinite(hi)) {
            etp_sink_printf(sink, "<u style=\"left:%.2f%%;width:%.2f%%\"></u>",
                            100 * fmax(lo, 0) / most, 100 * (hi - fmax(lo, 0)) / most);
        }
        etp_sink_printf(sink, "</span><b>%s</b>", etp_view_value(&v, card->ends[i].value, buf));
        if (isfinite(lo) && isfinite(hi)) {
            etp_sink_printf(sink, " <small>%s … %s</small>", etp_view_number(&bare, lo, buf),
                            etp_view_number(&bare, hi, other));
        }
        if (card->ends[i].note.len) {
            z(sink, " <small class=\"end\">");
            etp_sink_xml(sink, card->ends[i].note);
            z(sink, "</small>");
        }
        z(sink, "</dd></div>\n");
    }
    z(sink, "</dl>\n");
}

static void write_card(etp_sink *sink, const etp_card *card, double unit)
{
    char buf[ETP_VIEW_CHARS];
    etp_view v = etp_view_for(ETP_KIND_RATIO, 0, NULL, 0), bare = etp_view_bare(&v);
    etp_sink_printf(sink, "<article class=\"card %s\">\n", k_etp_css_severity[card->severity]);
    etp_html_element(sink, "p", "label", card->label);
    z(sink, "<p class=\"value\">");
    if (isfinite(card->value)) {
        z(sink, "<b>");
        z(sink, etp_view_value(&v, card->value, buf));
        z(sink, "</b> ");
    }
    z(sink, "<span class=\"verdict\">");
    etp_sink_xml(sink, card->verdict);
    z(sink, "</span></p>\n");
    z(sink, "<p class=\"interval\">");
    if (isfinite(card->lo) && isfinite(card->hi)) {
        z(sink, "<b>");
        z(sink, etp_view_number(&bare, card->lo, buf));
        z(sink, " … ");
        z(sink, etp_view_number(&bare, card->hi, buf));
        z(sink, "</b> ");
    }
    etp_sink_xml(sink, card->interval);
    z(sink, "</p>\n");
    if (card->has_ends) {
        write_ends(sink, card, unit);
    } else {
        strip(sink, card);
        // No line ends between a figure and its unit.
        const etp_str s = card->detail;
        size_t from = 0;
        z(sink, etp_if(s.len, "<p class=\"detail\">"));
        for (size_t i = 0; i < s.len; i++) {
            if (parts_unit(s, i)) {
                etp_sink_xml(sink, (etp_str){s.ptr + from, i - from});
                z(sink, "&nbsp;");
                from = i + 1;
            }
        }
        etp_sink_xml(sink, (etp_str){s.ptr + from, s.len - from});
        z(sink, etp_if(s.len, "</p>\n"));
    }
    z(sink, "</article>\n");
}

// ---- what to do next ----

enum { ACTIONS_SHOWN = 3, CARDS_SHOWN = 6 }; // the others are folded away

static double share(double part, double whole)
{
    return whole > 0 && part > 0 ? fmin(100 * part / whole, 100) : 0;
}

// The bar is on the scale of the whole: dark up to the floor, light up to the ceiling, a tick at
// the likely gain. Without a likely gain only the ceiling is told, as "up to".
static void write_gain(etp_sink *sink, const etp_action_card *a, double unit)
{
    char buf[ETP_VIEW_CHARS];
    // In the unit of what it is taken from, so that cards compare at a glance; one of which less
    // than two digits would be left keeps its own.
    double most = fmax(etp_known_or_0(a->gain), etp_known_or_0(a->hi));
    etp_view v = etp_view_in_unit(a->whole > 0 ? a->whole : most, unit);
    double least = v.divide / pow(10, v.decimals); // what its digits tell apart
    if (most < 10 * least) {
        v = etp_view_for(ETP_KIND_NS, most, NULL, 0);
        least = v.divide / pow(10, v.decimals);
    }
    z(sink, "<p class=\"gain\">");
    if (isfinite(a->gain) && a->gain < least / 2) {
        etp_sink_printf(sink, "<b>under %s</b>", etp_view_value(&v, least, buf));
    } else if (isfinite(a->gain)) {
        etp_sink_printf(sink, "<b>−%s</b>", etp_view_value(&v, a->gain, buf));
        if (a->whole > 0) {
            etp_sink_printf(sink, " <span>%.1f %%</span>", 100 * a->gain / a->whole);
        }
    } else {
        etp_sink_printf(sink, "<b>up to −%s</b>", etp_view_value(&v, a->hi, buf));
    }
    etp_sink_printf(sink,
                    "</p>\n<p class=\"track\"><i style=\"width:%.2f%%\"></i>"
                    "<u style=\"left:%.2f%%;width:%.2f%%\"></u>",
                    share(a->lo, a->whole), share(a->lo, a->whole),
                    fmax(share(a->hi, a->whole) - share(a->lo, a->whole), 0));
    if (isfinite(a->gain)) {
        etp_sink_printf(sink, "<s style=\"left:%.2f%%\"></s>", share(a->gain, a->whole));
    }
    z(sink, "</p>\n");
    // "0.759 to 1.304 ms of 4.276 ms", whether or not the middle is known.
    char lo[ETP_VIEW_CHARS], hi[ETP_VIEW_CHARS], whole[ETP_VIEW_CHARS];
    etp_view bare = etp_view_bare(&v);
    etp_sink_printf(sink, "<p class=\"range\">%s to %s", etp_view_number(&bare, a->lo, lo),
                    etp_view_value(&v, a->hi, hi));
    if (a->whole > 0) {
        etp_view all = etp_view_in_unit(a->whole, unit);
        etp_sink_printf(sink, " of %s", etp_view_value(&all, a->whole, whole));
    }
    z(sink, "</p>\n");
}

// The script makes its words links where they name drawers of its scope.
static void write_action(etp_sink *sink, const etp_action_card *a, double unit)
{
    z(sink, "<li");
    if (a->scope.len) {
        z(sink, " data-scope=\"");
        etp_html_id(sink, a->scope);
        z(sink, "\"");
    }
    z(sink, ">");
    if (isfinite(a->hi)) { // else what it gains is not known
        write_gain(sink, a, unit);
    }
    etp_html_element(sink, "p", "of", a->of);
    z(sink, "<p class=\"what\"><b class=\"id\">");
    etp_sink_xml(sink, a->shown);
    z(sink, "</b> ");
    etp_sink_xml(sink, a->text);
    z(sink, "</p>\n");
    etp_html_element(sink, "p", "advice", a->advice);
    if (a->command.len) {
        z(sink, "<div class=\"copy\"><code>");
        etp_sink_xml(sink, a->command);
        z(sink, "</code></div>");
    }
    z(sink, "</li>\n");
}

void etp_html_actions(etp_sink *sink, const etp_actions *a, etp_str id, int level)
{
    if (a->n == 0 && a->none.len == 0) {
        return;
    }
    z(sink, "<section class=\"actions\" aria-labelledby=\"");
    etp_html_id(sink, id);
    etp_sink_printf(sink, "\"><h%d id=\"", level);
    etp_html_id(sink, id);
    etp_sink_printf(sink, "\">What to do next</h%d>", level);
    if (a->n == 0) {
        etp_html_element(sink, "p", "none", a->none);
        z(sink, "</section>\n");
        return;
    }
    // The unit of what all gains are taken from: of phases that are a thousandfold apart each its
    // own.
    double least = (double)INFINITY, most = 0;
    for (size_t i = 0; i < a->n; i++) {
        double whole = a->items[i].whole;
        least = whole > 0 ? fmin(least, whole) : least;
        most = whole > 0 ? fmax(most, whole) : most;
    }
    const double unit =
        etp_common_unit(least, most, etp_view_for(ETP_KIND_NS, most, NULL, 0).divide);
    z(sink, "<ol>\n");
    for (size_t i = 0; i < a->n; i++) {
        if (i == ACTIONS_SHOWN) {
            etp_sink_printf(sink,
                            "</ol>\n<details class=\"fold\"><summary>%zu more</summary><ol>\n",
                            a->n - ACTIONS_SHOWN);
        }
        write_action(sink, &a->items[i], unit);
    }
    z(sink, a->n > ACTIONS_SHOWN ? "</ol></details></section>\n" : "</ol></section>\n");
}

void etp_html_summary(etp_sink *sink, const etp_report *r)
{
    // The unit of all times on the first screen, so that cards of phases or arms compare at a
    // glance; 0: each has its own.
    double least = (double)INFINITY, most = 0;
    for (size_t i = 0; i < r->cards.n; i++) {
        const etp_card *card = &r->cards.items[i];
        for (int e = 0; e < 2 && card->has_ends; e++) {
            least = fmin(least, card->ends[e].value); // which pass over what is not known
            most = fmax(most, card->ends[e].value);
        }
    }
    const double unit =
        etp_common_unit(least, most, etp_view_for(ETP_KIND_NS, most, NULL, 0).divide);
    // Cells have dozens of comparisons: the first six stand open.
    for (size_t i = 0; i < r->cards.n; i++) {
        if (i == CARDS_SHOWN) {
            etp_sink_printf(sink, "</div>\n<details class=\"fold\"><summary>%zu more</summary>",
                            r->cards.n - CARDS_SHOWN);
        }
        z(sink, etp_if(i == 0 || i == CARDS_SHOWN, "<div class=\"cards\">\n"));
        write_card(sink, &r->cards.items[i], unit);
    }
    z(sink, etp_if(r->cards.n, "</div>\n"));
    z(sink, etp_if(r->cards.n > CARDS_SHOWN, "</details>\n"));
}

void etp_html_decides(etp_sink *sink, const etp_report *r)
{
    etp_html_actions(sink, &r->actions, etp_str_from("next"), 2);
    z(sink, etp_if(r->facts.n, "<dl class=\"facts\">\n"));
    for (size_t i = 0; i < r->facts.n; i++) {
        z(sink, "<div><dt>");
        etp_sink_xml(sink, r->facts.items[i].key);
        z(sink, "</dt><dd>");
        etp_sink_xml(sink, r->facts.items[i].value);
        z(sink, "</dd></div>\n");
    }
    z(sink, etp_if(r->facts.n, "</dl>\n"));
}
