// SPDX-License-Identifier: Apache-2.0
// SVG primitives: escaping, text that fits, scales with round ticks, and the frame of a chart.
#include "report/svg.h"

#include <math.h>

static const double k_margin = 20, k_head = 44; // of a stand-alone picture

// A tenth of a pixel is as fine as anybody sees, and short numbers keep pages small. The limits
// keep a hostile or broken value from making a picture that no program can draw.
void etp_svg_number(etp_sink *sink, double v)
{
    if (!isfinite(v)) {
        v = 0;
    }
    v = fmin(fmax(v, -1e6), 1e6);
    double tenths = floor(v * 10 + 0.5);
    // A −0 would be printed with its sign; adding 0.0 makes it a 0.
    if (fmod(tenths, 10) == 0) {
        etp_sink_printf(sink, "%.0f", tenths / 10 + 0.0);
    } else {
        etp_sink_printf(sink, "%.1f", tenths / 10);
    }
}

static void attribute(etp_svg *o, const char *name, double v)
{
    etp_sink_printf(o->sink, " %s=\"", name);
    etp_svg_number(o->sink, v);
    etp_sink_char(o->sink, '"');
}

static void class_attribute(etp_svg *o, const char *cls)
{
    if (*cls) {
        etp_sink_printf(o->sink, " class=\"%s\"", cls);
    }
}

// Fonts differ; this errs on the wide side so that labels do not collide.
double etp_svg_text_width(etp_str s)
{
    // Widths in em of four classes of letters, of a usual sans-serif font; the chart's is 12.5
    // pixels.
    double em = 0;
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        // Bytes that continue a character of UTF-8 have no width of their own.
        if (((unsigned char)c & 0xC0) == 0x80) {
            continue;
        }
        if (memchr("iljtfI.,:;|'!()[]/ ", c, 19)) {
            em += 0.33;
        } else if (memchr("mwMW@%", c, 6)) {
            em += 0.9;
        } else if (c >= 'A' && c <= 'Z') {
            em += 0.68;
        } else {
            em += 0.58;
        }
    }
    return em * 12.5;
}

static etp_str fitted(etp_svg *o, etp_str s, double max_width)
{
    double w = etp_svg_text_width(s);
    if (max_width <= 0 || w <= max_width + 1) { // + 1: callers computed one from the other
        return s;
    }
    double columns = floor((double)etp_width(s) * max_width / w);
    o->scratch.len = 0;
    return etp_truncate(&o->scratch, s, (size_t)fmax(columns, 2));
}

void etp_svg_text(etp_svg *o, double x, double y, etp_anchor anchor, const char *cls, etp_str s,
                  double max_width)
{
    static const char *const k_anchor[] = {"", " text-anchor=\"middle\"", " text-anchor=\"end\""};
    etp_sink_z(o->sink, "<text");
    attribute(o, "x", x);
    attribute(o, "y", y);
    etp_sink_z(o->sink, k_anchor[anchor]);
    class_attribute(o, cls);
    etp_sink_char(o->sink, '>');
    etp_sink_xml(o->sink, fitted(o, s, max_width));
    etp_sink_z(o->sink, "</text>\n");
}

// How much of S fits on a line of that width, cut at a blank; at least a word.
static size_t line_of(etp_str s, double width)
{
    size_t end = 0;
    for (size_t i = 0; i <= s.len; i++) {
        if (i == s.len || s.ptr[i] == ' ') {
            if (end > 0 && etp_svg_text_width((etp_str){s.ptr, i}) > width) {
                return end;
            }
            end = i;
        }
    }
    return s.len;
}

void etp_svg_label(etp_svg *o, double x, double y, etp_str s, double width)
{
    if (etp_svg_text_width(s) * ETP_SVG_BOLD <= width + 1) {
        etp_svg_text(o, x, y + 4, ETP_RIGHT, "b", s, 0);
        return;
    }
    size_t n = line_of(s, width / ETP_SVG_BOLD);
    etp_str rest = {s.ptr + n + (n < s.len), s.len - n - (n < s.len)};
    etp_svg_text(o, x, y - 3, ETP_RIGHT, "b", (etp_str){s.ptr, n}, width);
    etp_svg_text(o, x, y + 12, ETP_RIGHT, "b", rest, width);
}

void etp_svg_textz(etp_svg *o, double x, double y, etp_anchor anchor, const char *cls,
                   const char *z)
{
    etp_svg_text(o, x, y, anchor, cls, etp_str_from(z), 0);
}

void etp_svg_rect(etp_svg *o, double x, double y, double w, double h, const char *cls)
{
    etp_sink_z(o->sink, "<rect");
    attribute(o, "x", x);
    attribute(o, "y", y);
    attribute(o, "width", fmax(w, 0));
    attribute(o, "height", fmax(h, 0));
    class_attribute(o, cls);
    etp_sink_z(o->sink, "/>\n");
}

void etp_svg_line(etp_svg *o, double x1, double y1, double x2, double y2, const char *cls)
{
    etp_sink_z(o->sink, "<line");
    attribute(o, "x1", x1);
    attribute(o, "y1", y1);
    attribute(o, "x2", x2);
    attribute(o, "y2", y2);
    class_attribute(o, cls);
    etp_sink_z(o->sink, "/>\n");
}

static void path_begin(etp_svg *o, const char *cls)
{
    etp_sink_z(o->sink, "<path");
    class_attribute(o, cls);
    etp_sink_z(o->sink, " d=\"");
}

static void path_to(etp_svg *o, char command, double x, double y)
{
    etp_sink_char(o->sink, command);
    etp_svg_number(o->sink, x);
    etp_sink_char(o->sink, ' ');
    etp_svg_number(o->sink, y);
}

void etp_svg_whisker(etp_svg *o, double x1, double y1, double x2, double y2, const char *cls)
{
    double cap = 4, dx = y1 == y2 ? 0 : cap, dy = y1 == y2 ? cap : 0;
    path_begin(o, cls);
    path_to(o, 'M', x1, y1);
    path_to(o, 'L', x2, y2);
    path_to(o, 'M', x1 - dx, y1 - dy);
    path_to(o, 'L', x1 + dx, y1 + dy);
    path_to(o, 'M', x2 - dx, y2 - dy);
    path_to(o, 'L', x2 + dx, y2 + dy);
    etp_sink_z(o->sink, "\"/>\n");
}

void etp_svg_mark(etp_svg *o, double x, double y, size_t arm)
{
    static const struct {
        int n;
        double xy[4][2];
    } k_shape[] = {
        {4, {{-3.6, -3.6}, {3.6, -3.6}, {3.6, 3.6}, {-3.6, 3.6}}}, // square
        {4, {{0, -5}, {5, 0}, {0, 5}, {-5, 0}}                  }, // diamond
        {3, {{0, -4.8}, {4.6, 3.4}, {-4.6, 3.4}}                }, // triangle
    };
    char cls[8];
    etp_svg_arm(arm, cls);
    if (arm % 4 == 0) {
        etp_sink_z(o->sink, "<circle r=\"4.2\"");
        attribute(o, "cx", x);
        attribute(o, "cy", y);
        class_attribute(o, cls);
        etp_sink_z(o->sink, "/>\n");
        return;
    }
    size_t k = arm % 4 - 1;
    path_begin(o, cls);
    for (int i = 0; i < k_shape[k].n; i++) {
        path_to(o, i ? 'L' : 'M', x + k_shape[k].xy[i][0], y + k_shape[k].xy[i][1]);
    }
    etp_sink_z(o->sink, "Z\"/>\n");
}

void etp_svg_group_begin(etp_svg *o, const char *tip)
{
    etp_sink_z(o->sink, "<g><title>");
    etp_sink_xml(o->sink, etp_str_from(tip));
    etp_sink_z(o->sink, "</title>\n");
}

void etp_svg_group_end(etp_svg *o)
{
    etp_sink_z(o->sink, "</g>\n");
}

// Behind the last colour they begin again.
static const char *numbered(char letter, size_t series, size_t colors, char buf[static 8])
{
    snprintf(buf, 8, "%c%u", letter, (unsigned)(series % colors) + 1);
    return buf;
}

size_t etp_chart_color(const etp_chart *c, size_t series)
{
    return series < ETP_CHART_COLORED && c->colors[series] ? c->colors[series] - 1 : series;
}

const char *etp_svg_fill(size_t series, char buf[static 8])
{
    return numbered('f', series, ETP_SVG_COLORS, buf);
}

const char *etp_svg_stroke(size_t arm, char buf[static 8])
{
    return numbered('s', arm, ETP_SVG_ARMS, buf);
}

const char *etp_svg_arm(size_t arm, char buf[static 8])
{
    return numbered('a', arm, ETP_SVG_ARMS, buf);
}

const char *etp_svg_on(size_t series, char buf[static 8])
{
    return numbered('o', series, ETP_SVG_COLORS, buf);
}

// ---- scales ----

double etp_scale_at(const etp_scale *s, double v)
{
    double span = s->hi - s->lo;
    double share = span > 0 && isfinite(span) && isfinite(v) ? (v - s->lo) / span : 0;
    return s->from + fmin(fmax(share, 0), 1) * (s->to - s->from);
}

// Steps of 1, 2 or 5 times a power of ten. The 1e-9 of a step is for ends that miss a tick by
// rounding.
size_t etp_scale_ticks(const etp_scale *s, size_t n, double *ticks, double *step)
{
    double span = s->hi - s->lo;
    *step = 1;
    if (n < 2 || !(span > 0) || !isfinite(span)) {
        return 0;
    }
    double rough = span / (double)(n - 1), power = pow(10, floor(log10(rough)));
    if (!(power > 0) || !isfinite(power)) {
        return 0;
    }
    static const double k_leads[] = {1, 2, 5, 10};
    double lead = rough / power;
    *step = power * k_leads[(lead > 1) + (lead > 2) + (lead > 5)];
    double first = ceil(s->lo / *step - 1e-9);
    size_t count = 0;
    while (count < n && (first + (double)count) * *step <= s->hi + *step * 1e-9) {
        ticks[count] = (first + (double)count) * *step;
        count++;
    }
    return count;
}

etp_view etp_view_ticks(const etp_view *v, double step)
{
    etp_view t = *v;
    double shown = step / v->divide, decimals = -floor(log10(shown) + 1e-9);
    t.decimals = isfinite(decimals) ? (int)fmax(0, fmin(decimals, 9)) : 0;
    return t;
}

// ---- frame ----

// The same classes as in page.css, with literal colours: programs that show slides know neither
// custom properties nor, often, dark mode, so light is the default.
static const char k_sheet_light[] =
    "text{font:12.5px system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,"
    "'DejaVu Sans',sans-serif;fill:#1d232b;font-variant-numeric:tabular-nums}"
    ".h{font-size:17px;font-weight:600}.b{font-weight:600}.m{fill:#59636f}.c{font-size:11.5px}"
    ".bg{fill:#fff}.grid{stroke:#dfe3e8}.axis{stroke:#7c8692}.join{stroke:#aab2bc}"
    ".wh{stroke:#1d232b;stroke-width:1.3;fill:none}.fg{fill:#0f7f72}.fb{fill:#c2571a}"
    ".ft{fill:#3d4c5e}.fn{fill:#8d97a3}.hat{stroke:#fff;stroke-width:2}.band{opacity:.22}"
    ".seg{stroke:#fff;stroke-width:1}"
    ".f1{fill:#1b5e9e}.f2{fill:#f2a03d}.f3{fill:#0f7f72}.f4{fill:#d9b8e0}.f5{fill:#8c3b2e}"
    ".f6{fill:#9fd3e8}.f7{fill:#6d5a00}.f8{fill:#c3c8cf}.f9{fill:#5b3a8c}.f10{fill:#cfe08f}"
    ".f11{fill:#3f4f5f}.f12{fill:#f4c4cf}";
static const char k_sheet_series[] =
    "path[class^='s']{stroke-width:1.8;fill:none}"
    ".s1{stroke:#0066ff}.a1{fill:#0066ff}.s2{stroke:#d9480f}.a2{fill:#d9480f}"
    ".s3{stroke:#008f66}.a3{fill:#008f66}"
    ".s4{stroke:#8a2be2}.a4{fill:#8a2be2}.s5{stroke:#c9184a}.a5{fill:#c9184a}"
    ".s6{stroke:#5c4033}.a6{fill:#5c4033}"
    ".o1,.o3,.o5,.o7,.o9,.o11{fill:#fff}.o2,.o4,.o6,.o8,.o10,.o12{fill:#14181d}";
static const char k_sheet_dark[] =
    "@media (prefers-color-scheme:dark){text{fill:#e3e7ec}.m{fill:#9da7b3}.bg{fill:#14181d}"
    ".grid{stroke:#2c333c}.axis{stroke:#78828e}.join{stroke:#4d5763}.wh{stroke:#e3e7ec}"
    ".fg{fill:#2ba596}.fb{fill:#e8853f}.ft{fill:#9fb0c4}.fn{fill:#737e8a}.hat{stroke:#14181d}"
    ".seg{stroke:#14181d}.f1{fill:#4a90d9}.f3{fill:#2ba596}.f5{fill:#d9705f}.f7{fill:#b09a2e}"
    ".f8{fill:#8b919a}.f9{fill:#a98be0}.f11{fill:#7f93a8}"
    ".s1{stroke:#6aa8ff}.a1{fill:#6aa8ff}.s2{stroke:#ff8a65}.a2{fill:#ff8a65}"
    ".s3{stroke:#4dd6ac}.a3{fill:#4dd6ac}.s4{stroke:#c18bff}.a4{fill:#c18bff}"
    ".s5{stroke:#ff7096}.a5{fill:#ff7096}.s6{stroke:#bf9b8a}.a6{fill:#bf9b8a}"
    ".o1,.o3,.o5,.o7,.o9,.o11{fill:#14181d}}";

enum { COMMON_COLORS = 12 };
// Colours behind them, that few pictures have.
static const char k_sheet_more[] =
    ".f13{fill:#a8327c}.f14{fill:#f0d95c}.f15{fill:#2f6b1f}.f16{fill:#e3a987}.f17{fill:#3b49c9}"
    ".f18{fill:#a3ecd0}.f19{fill:#7a6a59}.f20{fill:#94a3c4}.o13,.o15,.o17,.o19{fill:#fff}"
    ".o14,.o16,.o18,.o20{fill:#14181d}"
    "@media (prefers-color-scheme:dark){.f13{fill:#e07ab8}.f15{fill:#7cb86a}.f17{fill:#8f9af2}"
    ".f19{fill:#b5a48f}.o13,.o15,.o17,.o19{fill:#14181d}}";

// Writes the description below a picture that stands alone; nothing of it is cut off. Without
// WRITE: the height alone.
static double describe(etp_svg *o, etp_str s, double y, bool write)
{
    double height = s.len ? 6 : 0;
    while (s.len > 0) {
        size_t n = line_of(s, o->width);
        height += 18;
        if (write) {
            etp_svg_text(o, 0, y + height - 2, ETP_LEFT, "m", (etp_str){s.ptr, n}, 0);
        }
        n += n < s.len;
        s = (etp_str){s.ptr + n, s.len - n};
    }
    return height;
}

void etp_svg_begin(etp_svg *o, const etp_chart *c, double height)
{
    double w = o->width, h = height;
    if (o->standalone) {
        w += 2 * k_margin;
        h += k_margin + k_head + describe(o, c->description, 0, false);
    }
    etp_sink_z(o->sink, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ");
    etp_svg_number(o->sink, w);
    etp_sink_char(o->sink, ' ');
    etp_svg_number(o->sink, h);
    etp_sink_char(o->sink, '"');
    // A picture by itself needs a size, for programs that show slides. In a page the style gives
    // it, and shows one of the two variants.
    if (o->standalone) {
        attribute(o, "width", w);
        attribute(o, "height", h);
    } else {
        class_attribute(o, o->narrow ? "narrow" : "wide");
    }
    // A page has each chart twice, wide and narrow, so ids need the variant as well as the serial.
    char variant = o->narrow ? 'n' : 'w';
    etp_sink_printf(o->sink, " role=\"img\" aria-labelledby=\"t%u%c d%u%c\">\n", o->serial, variant,
                    o->serial, variant);
    etp_sink_printf(o->sink, "<title id=\"t%u%c\">", o->serial, variant);
    etp_sink_xml(o->sink, c->title);
    etp_sink_printf(o->sink, "</title>\n<desc id=\"d%u%c\">", o->serial, variant);
    etp_sink_xml(o->sink, c->description);
    etp_sink_printf(o->sink,
                    "</desc>\n<defs><pattern id=\"hatch%u%c\" width=\"6\" height=\"6\" "
                    "patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">"
                    "<rect width=\"6\" height=\"6\" class=\"fn\"/>"
                    "<line x1=\"0\" y1=\"0\" x2=\"0\" y2=\"6\" class=\"hat\"/></pattern></defs>\n",
                    o->serial, variant);
    if (o->standalone) {
        etp_sink_z(o->sink, "<style>");
        etp_sink_z(o->sink, k_sheet_light);
        etp_sink_z(o->sink, k_sheet_series);
        etp_sink_z(o->sink, k_sheet_dark);
        bool more = false;
        for (size_t k = 0; k < c->series.n; k++) {
            more = more || etp_chart_color(c, k) % ETP_SVG_COLORS >= COMMON_COLORS;
        }
        etp_sink_z(o->sink, etp_if(more, k_sheet_more));
        etp_sink_z(o->sink, "</style>\n");
        etp_svg_rect(o, 0, 0, w, h, "bg");
        etp_svg_text(o, k_margin, 30, ETP_LEFT, "h", c->title, o->width * 0.72);
        etp_sink_printf(o->sink, "<g transform=\"translate(%.0f %.0f)\">\n", k_margin, k_head);
        describe(o, c->description, height, true);
    }
}

void etp_svg_end(etp_svg *o)
{
    etp_sink_z(o->sink, o->standalone ? "</g>\n</svg>\n" : "</svg>\n");
}
