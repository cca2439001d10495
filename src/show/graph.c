// SPDX-License-Identifier: Apache-2.0
// The operators of an answer as the graph they are: which one takes what another has made.
#include "show/graph.h"

#include <math.h>
#include <stdlib.h>

#include "base/number.h"

// A frame's name: which call it is, and of which backend, of whose name 32 bytes have room.
static const char *group_of(const etp_ab_operator *op, char buf[static 64])
{
    if (!op->delegated) {
        return NULL;
    }
    etp_str backend = op->facts ? op->facts->op.backend : (etp_str){"", 0};
    snprintf(buf, 64, "delegate call %d%s%.*s", op->instruction, etp_if(backend.len, " · "),
             backend.len < 32 ? (int)backend.len : 32, backend.ptr);
    return buf;
}

void etp_ab_graph_section(const etp_ab *ab, etp_report *r)
{
    enum { MOST_BOXES = 1500 };
    bool joined = false; // to a program, which says what leads where
    for (size_t i = 0; i < ab->n_operators; i++) {
        joined = joined || ab->operators[i].makers.n > 0;
    }
    if (!joined || ab->n_operators > MOST_BOXES) {
        return;
    }
    uint32_t after = ab->bottleneck_arm, before = ab->baseline;
    bool compared = etp_ab_told(ab, 0);
    etp_report_section(r, 1, "graph", "The model");
    etp_report_section_is_folded(r);
    etp_report_text(
        r,
        "Operators of %s from the first to the last, delegate calls as frames. The "
        "darker, the longer; what got slower, and what stays off the feature, is orange.",
        ab->arms[after].measured);
    etp_picture *g = etp_report_picture(r, "graph");
    etp_picture_text(g, "title", "Operators and what leads from one to another");
    etp_picture_text(g, "view0", "time");
    etp_picture_text(g, "view1", etp_z_if(compared, "time saved"));
    etp_picture_text(g, "view2", etp_z_if(ab->engagement.feature_name, "engagement"));
    etp_picture_list(g, "boxes");
    double most = 1;
    for (size_t i = 0; i < ab->n_operators; i++) { // unknown times are far below 0
        most = fmax(most, (double)ab->operators[i].ns[after]);
    }
    for (size_t i = 0; i < ab->n_operators; i++) {
        const etp_ab_operator *op = &ab->operators[i];
        char group[64], tip[2 * ETP_NUMBER_CHARS + 8];
        bool known = op->ns[after] != ETP_NS_UNKNOWN,
             both = known && op->ns[before] != ETP_NS_UNKNOWN;
        snprintf(tip, sizeof tip, "%s%s%s", both && compared ? ETP_NS((double)op->ns[before]) : "",
                 etp_if(both && compared, " → "), known ? ETP_NS((double)op->ns[after]) : "–");
        double saved = both ? (double)(op->ns[before] - op->ns[after]) / most : (double)NAN;
        double on = (double)NAN;
        if (op->engaged.state == ETP_ENGAGED) {
            on = 70;
        } else if (op->engaged.state == ETP_PARTLY_ENGAGED) {
            on = 35;
        } else if (op->engaged.state == ETP_NOT_ENGAGED && op->engaged.eligible) {
            on = -70;
        }
        etp_picture_item(g);
        etp_picture_text(g, "label", op->label);
        etp_picture_text(g, "tip", tip);
        etp_picture_text(g, "group", group_of(op, group));
        etp_picture_link(g, op->id);
        // Square roots, because a few operators take most of the time and the others would all look
        // alike.
        etp_picture_list(g, "heat");
        etp_picture_number(g, NULL,
                           etp_value_if(known, round(100 * sqrt((double)op->ns[after] / most))));
        etp_picture_number(g, NULL, round(copysign(100 * sqrt(fabs(saved)), saved)));
        etp_picture_number(g, NULL, on);
        etp_picture_end(g);
        etp_picture_end(g);
    }
    etp_picture_end(g);
    etp_picture_list(g, "edges");
    for (uint32_t i = 0; i < ab->n_operators; i++) {
        for (size_t k = 0; k < ab->operators[i].makers.n; k++) {
            etp_picture_number(g, NULL, ab->operators[i].makers.items[k]);
            etp_picture_number(g, NULL, i);
        }
    }
    etp_picture_end(g);
    etp_picture_end(g);
}

// ---- arms as tracks ----

static etp_picture *begin_tracks(etp_report *r, const char *title)
{
    etp_picture *s = etp_report_picture(r, "spans");
    etp_picture_text(s, "title", title);
    etp_picture_list(s, "tracks");
    return s;
}

static void begin_track(etp_picture *s, const char *label, double length)
{
    etp_picture_item(s);
    etp_picture_text(s, "label", label);
    etp_picture_number(s, "length", length);
    etp_picture_list(s, "spans");
}

// Of a track, or of all: its list and itself.
static void end_track(etp_picture *s)
{
    etp_picture_end(s);
    etp_picture_end(s);
}

// TRACK: its length. A thousandth of it is less than a pixel.
static void span(etp_picture *s, double track, const char *label, const char *link, double from,
                 double length, unsigned depth, unsigned color)
{
    if (length < track / 1000) {
        return;
    }
    etp_picture_item(s);
    etp_picture_text(s, "label", label);
    etp_picture_link(s, link);
    etp_picture_number(s, "from", from);
    etp_picture_number(s, "length", length);
    if (depth) {
        etp_picture_number(s, "depth", depth);
    }
    if (color) {
        etp_picture_number(s, "color", color);
    }
    etp_picture_end(s);
}

// Operators are laid end to end in the program's order: recordings have no places that could be
// drawn (XNNPACK's begin times are made up from durations). What lies between operators shows at
// the end, as the rest of the track.
static void arm_track(const etp_ab *ab, uint32_t arm, etp_picture *s)
{
    double at = 0, from = 0;
    const etp_ab_operator *first = NULL;
    const double whole = etp_known_ns(ab->arms[arm].traced_ns);
    begin_track(s, ab->arms[arm].measured, whole);
    for (size_t i = 0; i <= ab->n_operators; i++) {
        const etp_ab_operator *op = i < ab->n_operators ? &ab->operators[i] : NULL;
        bool here = op && op->ns[arm] != ETP_NS_UNKNOWN;
        // Operators of one delegate call follow each other and share a box above them.
        bool same = op && first && first->delegated && op->delegated && op->chain == first->chain &&
                    op->instruction == first->instruction;
        if (first && !same && (here || !op)) {
            char group[64];
            const char *name = group_of(first, group);
            span(s, whole, ETP_OR(name, first->label), name ? NULL : first->id, from, at - from, 0,
                 0);
            first = NULL;
        }
        if (here) {
            from = first ? from : at;
            first = ETP_OR(first, op);
            span(s, whole, op->label, op->id, at, (double)op->ns[arm], 1,
                 etp_ab_category_color(op->category));
            at += (double)op->ns[arm];
        }
    }
    end_track(s);
}

typedef struct change {
    uint32_t op;
    int64_t ns;
} change;

static int largest_first(const void *pa, const void *pb)
{
    const change *a = pa, *b = pb;
    const int by_time = ETP_ORDER(b->ns, a->ns);
    return etp_order_then(by_time, ETP_ORDER(a->op, b->op));
}

// What was saved, or (SIGN −1) lost, operator by operator, the largest first.
// Operators that only one arm has are no change of an operator: the ledger has them as inserted and
// vanished.
static void change_track(const etp_ab *ab, int sign, const char *label, change *changes,
                         etp_picture *s)
{
    size_t n = 0;
    int64_t sum = 0;
    for (uint32_t i = 0; i < ab->n_operators; i++) {
        const int64_t *ns = ab->operators[i].ns;
        if (ns[ab->baseline] != ETP_NS_UNKNOWN && ns[ab->bottleneck_arm] != ETP_NS_UNKNOWN) {
            int64_t saved = sign * (ns[ab->baseline] - ns[ab->bottleneck_arm]);
            if (saved > 0) {
                changes[n++] = (change){i, saved};
                sum += saved;
            }
        }
    }
    if (n == 0) {
        return;
    }
    qsort(changes, n, sizeof *changes, largest_first);
    begin_track(s, label, (double)sum);
    double at = 0;
    for (size_t i = 0; i < n; i++) {
        const etp_ab_operator *op = &ab->operators[changes[i].op];
        span(s, (double)sum, op->label, op->id, at, (double)changes[i].ns, 0,
             etp_ab_category_color(op->category));
        at += (double)changes[i].ns;
    }
    end_track(s);
}

void etp_ab_spans_section(const etp_ab *ab, etp_report *r, etp_arena *arena)
{
    enum { ARMS = 4, MOST = 2000 };
    if (ab->n_operators == 0 || ab->n_operators > MOST || ab->n_arms > ARMS) {
        return;
    }
    etp_report_section(r, 1, "icicle", "Operator by operator");
    etp_report_section_is_folded(r);
    etp_report_text(r, "Every operator at its place in an inference, all arms on one scale; above "
                       "it the delegate call or kernel it belongs to. Colours are categories.");
    etp_picture *s = begin_tracks(r, "One traced inference");
    for (size_t i = 0; i < ab->n_arms; i++) {
        if (ab->arms[ab->shown[i]].profile) {
            arm_track(ab, ab->shown[i], s);
        }
    }
    end_track(s);
    change *changes = ETP_NEW_ARRAY(arena, change, ab->n_operators);
    if (etp_ab_told(ab, 0) && changes) {
        s = begin_tracks(r, "The difference");
        change_track(ab, 1, "saved", changes, s);
        change_track(ab, -1, "lost", changes, s);
        end_track(s);
    }
}
