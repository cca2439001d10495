// SPDX-License-Identifier: Apache-2.0
// Stacks as a picture: boxes as wide as their time, what contains above what is contained. Of two
// sides two panels: in the widths of the candidate, and in those of the baseline, where what
// vanished is still to be seen. Red took longer, blue less.
#include "base/index.h"
#include "base/number.h"
#include "convert/clean.h"
#include "convert/stacks.h"

#define WIDTH 1200.0
#define MARGIN 20.0
#define ROW 19.0
#define LETTER 6.6 // of the 11 px monospaced font, and a little
#define COLORS 12  // as many as there are categories

typedef struct box {
    etp_str name;
    uint32_t parent; // ETP_NO_INDEX for the outermost
    uint32_t depth;
    uint64_t ns[2];
    uint64_t used;  // width given to parts already, of the side that is drawn
    unsigned color; // one side: 1 + number of its category; 0: contains several
    double x, w;
} box;

typedef struct flame {
    const etp_stacks *stacks;
    etp_sink *sink;
    etp_strbuf text;
    etp_index index;
    struct {
        box *items; // parents before their parts
        size_t n, cap;
    } boxes;
    uint32_t deepest;
    etp_str categories[COLORS]; // by first appearance
    unsigned n_categories;
} flame;

typedef struct box_key {
    const flame *f;
    uint32_t parent;
    etp_str name;
} box_key;

static bool is_box(const void *ctx, uint32_t position)
{
    const box_key *key = ctx;
    const box *b = &key->f->boxes.items[position];
    return b->parent == key->parent && etp_str_eq(b->name, key->name);
}

// By first appearance, so that pictures of one model look alike from run to run.
static unsigned category_color(flame *f, etp_str category)
{
    unsigned i = 0;
    while (i < f->n_categories && !etp_str_eq(f->categories[i], category)) {
        i++;
    }
    if (i == f->n_categories && i < COLORS) {
        f->categories[f->n_categories++] = category;
    }
    return i % COLORS + 1;
}

static void add_stack(flame *f, const etp_stack *s, etp_arena *arena)
{
    uint32_t parent = ETP_NO_INDEX;
    for (uint32_t d = 0; d < s->n_frames; d++) {
        box_key key = {f, parent, s->frames[d]};
        uint64_t hash = etp_hash_bytes(ETP_HASH_START, &parent, sizeof parent);
        hash = etp_hash_bytes(hash, key.name.ptr ? key.name.ptr : "", key.name.len);
        uint32_t at = etp_index_find(&f->index, hash, is_box, &key);
        if (at == ETP_NO_INDEX) {
            at = (uint32_t)f->boxes.n;
            box b = {.name = key.name, .parent = parent, .depth = d};
            if (s->n_frames >= 4 && d + 2 >= s->n_frames) { // model, delegate, category, operator
                // The last two frames are the category and the operator. Shorter stacks are sums
                // and stay neutral.
                b.color = category_color(f, s->frames[s->n_frames - 2]);
            }
            if (!ETP_PUSH(arena, &f->boxes, b)) {
                return;
            }
            etp_index_insert(&f->index, arena, hash, at);
            f->deepest = d > f->deepest ? d : f->deepest;
        }
        f->boxes.items[at].ns[0] += s->ns[0];
        f->boxes.items[at].ns[1] += s->ns[1];
        parent = at;
    }
}

static void put(flame *f, etp_str s) // escaped
{
    f->text.len = 0;
    etp_clean_append(&f->text, s, ETP_CLEAN_LINE);
    etp_sink_xml(f->sink, etp_strbuf_str(&f->text));
}

// S cut to N characters, never within one.
static etp_str cut(etp_str s, size_t n)
{
    size_t at = 0, seen = 0;
    for (; at < s.len; at++) {
        if (((unsigned char)s.ptr[at] & 0xC0) != 0x80 && ++seen > n) {
            break;
        }
    }
    return (etp_str){s.ptr, at};
}

// From white to red (grew) or blue (shrank), by the difference's part of the largest one of its
// row.
static void difference_color(const box *b, int64_t most, char out[static 8])
{
    int64_t delta = (int64_t)(b->ns[1] - b->ns[0]);
    double part = most > 0 ? (double)(delta < 0 ? -delta : delta) / (double)most : 0;
    unsigned pale = (unsigned)(245 - 155 * (part > 1 ? 1 : part));
    if (delta > 0) {
        snprintf(out, 8, "#f5%02x%02x", pale, pale);
    } else if (delta < 0) {
        snprintf(out, 8, "#%02x%02xf5", pale, pale);
    } else {
        snprintf(out, 8, "#eeeeee");
    }
}

static const char *own_color(const box *b)
{
    static const char *const k_colors[COLORS + 1] = {
        "#e9e7e1", "#f7bd8a", "#f5e08c", "#e6a5a0", "#b9d8a0", "#a9d3d0", "#d9bfe3",
        "#f2c9d8", "#c9cfa0", "#aecbeb", "#e0c8a8", "#c4e3c0", "#d6d6d6"};
    return k_colors[b->color];
}

static void draw_box(flame *f, const box *b, double y, const char *color)
{
    const etp_stacks *s = f->stacks;
    etp_sink_printf(f->sink, "<g><title>");
    put(f, b->name);
    if (s->n_sides == 2) {
        etp_sink_printf(f->sink, ": %llu ns → %llu ns (%s ns)", (unsigned long long)b->ns[0],
                        (unsigned long long)b->ns[1],
                        ETP_CHANGE((double)b->ns[1] - (double)b->ns[0], 0));
    } else {
        etp_sink_printf(f->sink, ": %llu ns", (unsigned long long)b->ns[0]);
    }
    etp_sink_printf(
        f->sink, "</title><rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\" fill=\"%s\"/>",
        b->x, y, b->w, ROW - 1, color);
    // A picture without a script cannot measure text, so names are cut by the font's width; the
    // whole name is in the box's title, which browsers show on hovering.
    size_t fits = b->w > 6 ? (size_t)((b->w - 6) / LETTER) : 0;
    if (fits >= 3) {
        etp_str shown = cut(b->name, fits);
        bool whole = shown.len == b->name.len;
        etp_sink_printf(f->sink, "<text x=\"%.2f\" y=\"%.1f\">", b->x + 3, y + ROW - 6);
        put(f, whole ? shown : cut(b->name, fits - 1));
        etp_sink_z(f->sink, whole ? "</text>" : "…</text>");
    }
    etp_sink_z(f->sink, "</g>\n");
}

static void draw_panel(flame *f, int side, double top)
{
    int64_t most[ETP_STACK_FRAMES] = {
        0}; // by row: the sums' differences would leave the operators' pale
    for (size_t i = 0; i < f->boxes.n; i++) {
        box *b = &f->boxes.items[i];
        int64_t delta = (int64_t)(b->ns[1] - b->ns[0]);
        delta = delta < 0 ? -delta : delta;
        most[b->depth] = delta > most[b->depth] ? delta : most[b->depth];
        b->used = 0;
    }
    // Boxes stand in order of appearance, parents first, so a parent's place is known before its
    // parts take theirs from left to right.
    uint64_t whole = 0, used = 0;
    for (size_t i = 0; i < f->boxes.n; i++) {
        whole += f->boxes.items[i].parent == ETP_NO_INDEX ? f->boxes.items[i].ns[side] : 0;
    }
    double scale = whole ? (WIDTH - 2 * MARGIN) / (double)whole : 0;
    for (size_t i = 0; i < f->boxes.n; i++) {
        box *b = &f->boxes.items[i];
        box *parent = b->parent == ETP_NO_INDEX ? NULL : &f->boxes.items[b->parent];
        uint64_t *taken = parent ? &parent->used : &used;
        b->x = (parent ? parent->x : MARGIN) + (double)*taken * scale;
        b->w = (double)b->ns[side] * scale;
        *taken += b->ns[side];
        if (b->ns[side] == 0) {
            continue;
        }
        char color[8];
        if (f->stacks->n_sides == 2) {
            difference_color(b, most[b->depth], color);
        }
        draw_box(f, b, top + b->depth * ROW, f->stacks->n_sides == 2 ? color : own_color(b));
    }
}

static void heading(flame *f, double y, const char *cls, const char *before, etp_str name,
                    const char *after)
{
    etp_sink_printf(f->sink, "<text x=\"%.0f\" y=\"%.1f\"%s>%s", MARGIN, y, cls, before);
    put(f, name);
    etp_sink_printf(f->sink, "%s</text>\n", after);
}

static void legend(flame *f, double y)
{
    static const char *const k_entries[][2] = {
        {"#5a5af5", "blue: the candidate takes less"                             },
        {"#f55a5a", "red: it takes longer"                                       },
        {"#eeeeee", "grey: alike; full colour: the largest difference of its row"}
    };
    for (int i = 0; i < 3; i++) {
        double x = MARGIN + 230 * i;
        etp_sink_printf(f->sink,
                        "<rect x=\"%.0f\" y=\"%.1f\" width=\"14\" height=\"12\" fill=\"%s\"/><text "
                        "x=\"%.0f\" y=\"%.1f\">%s</text>\n",
                        x, y - 10, k_entries[i][0], x + 20, y, k_entries[i][1]);
    }
}

static void draw(flame *f)
{
    const etp_stacks *s = f->stacks;
    double panel = (f->deepest + 1) * ROW, two = s->n_sides == 2 ? 1 : 0;
    double height = 50 + panel + MARGIN + two * (panel + 60);
    etp_sink_printf(
        f->sink,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 "
        "%.0f %.0f\" role=\"img\">\n"
        "<style>text{font:11px "
        "ui-monospace,Menlo,Consolas,monospace;fill:#222}.h{font-size:15px;font-weight:bold}"
        "rect{stroke:#fff;stroke-width:.5}</style>\n",
        WIDTH, height, WIDTH, height);
    etp_sink_z(f->sink, "<title>");
    put(f, s->title);
    etp_sink_printf(f->sink, "</title>\n<rect width=\"%.0f\" height=\"%.0f\" fill=\"#fff\"/>\n",
                    WIDTH, height);
    heading(f, 22, " class=\"h\"", "", s->title, "");
    if (s->n_sides == 1) {
        char after[64];
        snprintf(after, sizeof after, "%zu executions together", s->executions);
        heading(f, 40, "", "", etp_str_from(after), "");
        draw_panel(f, 0, 50);
        return;
    }
    legend(f, 40);
    heading(f, 60, "", "widths of the candidate, ", s->names[1], ", mean per inference");
    draw_panel(f, 1, 68);
    heading(f, 68 + panel + 22, "", "widths of the baseline, ", s->names[0],
            ", mean per inference");
    draw_panel(f, 0, 68 + panel + 30);
}

etp_status etp_stacks_flame(const etp_stacks *s, etp_arena *arena, etp_sink *sink, etp_error *err)
{
    flame f = {.stacks = s, .sink = sink};
    etp_strbuf_init(&f.text, arena);
    for (size_t i = 0; i < s->n; i++) {
        add_stack(&f, &s->items[i], arena);
    }
    draw(&f);
    etp_sink_z(sink, "</svg>\n");
    return etp_arena_check(arena, err, "picture");
}
