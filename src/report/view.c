// SPDX-License-Identifier: Apache-2.0
// Values as people read them.
#include "report/view.h"

#include <inttypes.h>
#include <math.h>

#include "base/json.h"
#include "base/number.h"

typedef struct unit_step {
    double size;
    const char *name;
} unit_step;

static const unit_step k_time[] = {
    {1e9, "s"  },
    {1e6, "ms" },
    {1e3, "µs"},
    {1,   "ns" }
};
static const unit_step k_bytes[] = {
    {1e9, "GB"},
    {1e6, "MB"},
    {1e3, "kB"},
    {1,   "B" }
};

// The unit in which MAX has digits before the point. Seconds and gigabytes only when large, because
// a column in ms that reaches 2000 reads better than one in s that starts at 0.001.
static unit_step pick_unit(const unit_step *steps, size_t n, double max)
{
    size_t i = !(max >= 10 * steps[0].size);
    while (i + 1 < n && max < steps[i].size) {
        i++;
    }
    return steps[i];
}

static int scaled_decimals(double max) // of a maximum already in its unit: about four digits
{
    return 3 - (max >= 9.9995) - (max >= 999.95);
}

etp_view etp_view_for(etp_kind kind, double max, const char *unit, int decimals)
{
    etp_view v = {.kind = kind, .divide = 1};
    switch (kind) {
    case ETP_KIND_NS:
    case ETP_KIND_BYTES: {
        unit_step step = kind == ETP_KIND_NS
                             ? pick_unit(k_time, sizeof k_time / sizeof *k_time, max)
                             : pick_unit(k_bytes, sizeof k_bytes / sizeof *k_bytes, max);
        v.divide = step.size;
        v.unit = step.name;
        v.decimals = step.size > 1 ? scaled_decimals(max / step.size) : 0;
        break;
    }
    case ETP_KIND_RATIO:
        v.unit = "×";
        v.suffix = true;
        v.decimals = decimals > 0 ? decimals : 2;
        break;
    case ETP_KIND_PERCENT:
        v.unit = "%";
        v.suffix = true;
        v.divide = 0.01;
        v.decimals = ETP_MAX(decimals, 1);
        break;
    case ETP_KIND_DOUBLE:
        v.decimals = decimals > 0 ? decimals : 3;
        break;
    case ETP_KIND_TEXT:
    case ETP_KIND_INT:
        break;
    }
    if (unit) {
        v.unit = unit;
        v.suffix = false;
    }
    return v;
}

etp_view etp_view_in_unit(double max, double unit)
{
    etp_view v = etp_view_for(ETP_KIND_NS, max, NULL, 0);
    for (size_t i = 0; i < sizeof k_time / sizeof *k_time; i++) {
        if (k_time[i].size == unit) {
            v.divide = unit;
            v.unit = k_time[i].name;
            v.decimals = unit > 1 ? scaled_decimals(max / unit) : 0;
        }
    }
    return v;
}

double etp_cell_number(const etp_cell *c)
{
    switch (c->type) {
    case ETP_CELL_I64:
        return (double)c->v.i64;
    case ETP_CELL_U64:
        return (double)c->v.u64;
    case ETP_CELL_DOUBLE:
        return c->v.d;
    case ETP_CELL_MISSING:
    case ETP_CELL_TEXT:
        break;
    }
    return (double)NAN;
}

static double column_max(const etp_table *t, size_t column, bool totals)
{
    double max = 0;
    for (size_t i = 0; i < t->rows.n; i++) {
        double v = fabs(etp_cell_number(&t->rows.items[i].cells[column]));
        if (v > max && (totals || !t->rows.items[i].total)) { // false for NAN
            max = v;
        }
    }
    return max;
}

// Over all columns of COLUMN's kind that have all of FLAGS.
// Arms of a table are columns of one kind: their bars and units must be the same to be compared by
// eye.
static double table_max(const etp_table *t, size_t column, unsigned flags)
{
    double max = 0;
    for (size_t k = 0; k < t->n_columns; k++) {
        if (t->columns[k].kind == t->columns[column].kind &&
            (t->columns[k].flags & flags) == flags) {
            max = fmax(max, column_max(t, k, false));
        }
    }
    return max;
}

double etp_bar_max(const etp_table *t, size_t column)
{
    return t->columns[column].flags & ETP_COL_BAR ? table_max(t, column, ETP_COL_BAR) : 0;
}

bool etp_column_is_number(const etp_column *col)
{
    return col->kind != ETP_KIND_TEXT;
}

// Times (and sizes) of one table share a unit and its decimals, so that arms can be read side by
// side; totals do not decide, or the rows of a slow model would all read 0.0.
etp_view etp_view_column(const etp_table *t, size_t column)
{
    const etp_column *col = &t->columns[column];
    double max = table_max(t, column, 0), own = column_max(t, column, true);
    etp_view v = etp_view_for(col->kind, max > 0 ? max : own, col->unit, col->decimals);
    // A column whose values all are below one unit keeps three decimals, or it would be a column of
    // zeros.
    if (v.divide > 1 && own < v.divide) {
        v.decimals = 3;
    }
    v.sign = (col->flags & ETP_COL_SIGNED) != 0;
    return v;
}

etp_view etp_view_bare(const etp_view *v)
{
    etp_view bare = *v;
    bare.unit = NULL;
    bare.suffix = false;
    return bare;
}

etp_view etp_view_chart(const etp_chart *c)
{
    double max = 0, running = 0;
    for (size_t i = 0; i < c->entries.n; i++) {
        const etp_chart_entry *e = &c->entries.items[i];
        double sum = 0;
        for (size_t k = 0; k < e->n_values; k++) {
            if (isfinite(e->values[k])) {
                sum += fabs(e->values[k]);
                max = fmax(max, fabs(e->values[k]));
            }
        }
        double step = e->n_values ? e->values[0] : 0;
        running = e->role == ETP_ROLE_STEP ? running + step : sum;
        if (c->chart == ETP_CHART_STACKED) {
            max = fmax(max, sum);
        } else if (c->chart == ETP_CHART_WATERFALL) {
            max = fmax(max, fabs(running));
        }
    }
    return etp_view_for(c->kind, max, NULL, 0);
}

double etp_entry_sum(const etp_chart_entry *e)
{
    double sum = 0;
    for (size_t k = 0; k < e->n_values; k++) {
        sum += isfinite(e->values[k]) && e->values[k] > 0 ? e->values[k] : 0;
    }
    return sum;
}

// A and B behind each other; cells of a table are so many that snprintf would be a fifth of it.
static void join(char buf[static ETP_VIEW_CHARS], const char *a, const char *b)
{
    size_t n = strlen(a), more = strlen(b);
    n = n < ETP_VIEW_CHARS ? n : ETP_VIEW_CHARS - 1;
    more = more < ETP_VIEW_CHARS - n ? more : ETP_VIEW_CHARS - n - 1;
    memmove(buf, a, n);
    memcpy(buf + n, b, more);
    buf[n + more] = '\0';
}

// A zero never carries a sign.
static const char *sign_of(const etp_view *v, bool zero, bool negative)
{
    const char *sign = etp_if(v->sign, "+");
    sign = negative ? "−" : sign;
    return etp_if(!zero, sign);
}

// Rounds to DECIMALS. Beyond 1e15 a double has hardly a digit behind the point, and the text would
// not fit.
static void format_fixed(const etp_view *v, double value, char buf[static ETP_VIEW_CHARS])
{
    char digits[ETP_VIEW_CHARS - 8];
    double magnitude = fabs(value);
    if (magnitude < 1e15) {
        snprintf(digits, sizeof digits, "%.*f", v->decimals, magnitude);
    } else {
        snprintf(digits, sizeof digits, "%s", ETP_DIGITS(magnitude, 6));
    }
    bool zero = strspn(digits, "0.") == strlen(digits);
    join(buf, sign_of(v, zero, value < 0), digits);
}

static void append(char buf[static ETP_VIEW_CHARS], const char *a, const char *b)
{
    join(buf, buf, a);
    join(buf, buf, b);
}

const char *etp_view_number(const etp_view *v, double value, char buf[static ETP_VIEW_CHARS])
{
    if (!isfinite(value)) {
        snprintf(buf, ETP_VIEW_CHARS, "–");
        return buf;
    }
    double least = pow(10, -v->decimals);
    if (v->kind == ETP_KIND_DOUBLE && value > 0 && value < least / 2) { // it is not zero
        char digits[ETP_VIEW_CHARS];
        format_fixed(v, least, digits);
        join(buf, "<", digits);
        return buf;
    }
    format_fixed(v, value / v->divide, buf);
    if (v->suffix && v->unit) {
        append(buf, etp_if(strcmp(v->unit, "%") == 0, " "), v->unit);
    }
    return buf;
}

const char *etp_view_value(const etp_view *v, double value, char buf[static ETP_VIEW_CHARS])
{
    etp_view_number(v, value, buf);
    if (isfinite(value) && v->unit && !v->suffix) {
        append(buf, " ", v->unit);
    }
    return buf;
}

etp_str etp_view_cell(const etp_view *v, const etp_cell *c, char buf[static ETP_VIEW_CHARS])
{
    if (c->type == ETP_CELL_TEXT) {
        return c->called.len ? c->called : c->v.text;
    }
    bool integer = c->type == ETP_CELL_I64 || c->type == ETP_CELL_U64;
    if (integer && v->divide == 1 && v->decimals == 0) {
        // Integers exactly: a double would lose digits beyond 2^53.
        bool negative = c->type == ETP_CELL_I64 && c->v.i64 < 0;
        uint64_t magnitude = c->type == ETP_CELL_U64 ? c->v.u64 : (uint64_t)c->v.i64;
        magnitude = negative ? 0 - magnitude : magnitude;
        snprintf(buf, ETP_VIEW_CHARS, "%s%" PRIu64, sign_of(v, magnitude == 0, negative),
                 magnitude);
    } else if (v->kind == ETP_KIND_INT && c->type == ETP_CELL_DOUBLE) {
        snprintf(buf, ETP_VIEW_CHARS, "%.17g", c->v.d);
    } else {
        etp_view_number(v, etp_cell_number(c), buf);
    }
    return etp_str_from(buf);
}

bool etp_row_shown(const etp_table *t, size_t row)
{
    if (t->limit == 0 || t->rows.items[row].total || row < t->limit) {
        return true;
    }
    size_t plain = 0;
    for (size_t i = 0; i < row && plain < t->limit; i++) {
        plain += !t->rows.items[i].total;
    }
    return plain < t->limit;
}

size_t etp_rows_hidden(const etp_table *t)
{
    size_t hidden = 0;
    for (size_t i = 0; i < t->rows.n; i++) {
        hidden += !etp_row_shown(t, i);
    }
    return hidden;
}

// Every byte but the continuation bytes of UTF-8 (10xxxxxx) begins a code point.
size_t etp_width(etp_str s)
{
    size_t width = 0;
    for (size_t i = 0; i < s.len; i++) {
        width += ((unsigned char)s.ptr[i] & 0xC0) != 0x80;
    }
    return width;
}

static size_t byte_of_column(etp_str s, size_t column)
{
    size_t i = 0;
    for (; i < s.len; i++) {
        if (((unsigned char)s.ptr[i] & 0xC0) != 0x80 && column-- == 0) {
            break;
        }
    }
    return i;
}

etp_str etp_truncate(etp_strbuf *buf, etp_str s, size_t width)
{
    size_t have = etp_width(s);
    if (have <= width) {
        return s;
    }
    size_t keep = ETP_LESS(width, 1);
    size_t head = keep - keep / 2, tail = keep / 2;
    size_t a = byte_of_column(s, head), b = byte_of_column(s, have - tail);
    size_t start = buf->len;
    etp_strbuf_append(buf, (etp_str){s.ptr, a});
    etp_strbuf_appendz(buf, "…");
    etp_strbuf_append(buf, (etp_str){s.ptr + b, s.len - b});
    return (etp_str){buf->ptr + start, buf->len - start};
}
