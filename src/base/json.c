// SPDX-License-Identifier: Apache-2.0
// Streaming JSON writer.
#include "base/json.h"

#include <assert.h>
#include <math.h>

#include "base/number.h"
#include "base/utf8.h"

void etp_json_init(etp_json *j, etp_sink *sink, bool pretty)
{
    *j = (etp_json){.sink = sink, .pretty = pretty};
}

void etp_json_end_document(etp_json *j)
{
    assert(j->depth == 0 && !j->after_key);
    etp_sink_char(j->sink, '\n');
}

static bool inside_compact(const etp_json *j)
{
    return !j->pretty || (j->depth > 0 && j->stack[j->depth - 1].compact);
}

static void new_line(etp_json *j)
{
    if (!inside_compact(j)) {
        etp_sink_char(j->sink, '\n');
        etp_sink_repeat(j->sink, ' ', 2 * (size_t)j->depth);
    }
}

// Comma, line break and indentation before a key (in objects) or a value (in arrays).
static void separate(etp_json *j)
{
    if (j->depth == 0) {
        return;
    }
    if (j->stack[j->depth - 1].has_items) {
        // One line within a document for people has blanks; a document on one line has none.
        etp_sink_z(j->sink, inside_compact(j) && j->pretty ? ", " : ",");
    }
    j->stack[j->depth - 1].has_items = true;
    new_line(j);
}

static void before_value(etp_json *j)
{
    if (j->after_key) {
        j->after_key = false;
        return;
    }
    assert(j->depth == 0 || !j->stack[j->depth - 1].is_object);
    separate(j);
}

static void begin(etp_json *j, bool is_object, bool compact)
{
    before_value(j);
    assert(j->depth < ETP_JSON_MAX_DEPTH);
    etp_sink_char(j->sink, is_object ? '{' : '[');
    j->stack[j->depth].is_object = is_object;
    j->stack[j->depth].has_items = false;
    // What is inside a compact value is compact as well.
    j->stack[j->depth].compact = compact || inside_compact(j);
    j->depth++;
}

void etp_json_begin_object(etp_json *j)
{
    begin(j, true, false);
}

void etp_json_begin_array(etp_json *j)
{
    begin(j, false, false);
}

void etp_json_begin_object_inline(etp_json *j)
{
    begin(j, true, true);
}

void etp_json_begin_array_inline(etp_json *j)
{
    begin(j, false, true);
}

void etp_json_end(etp_json *j)
{
    assert(j->depth > 0 && !j->after_key);
    bool compact = inside_compact(j);
    j->depth--;
    if (j->stack[j->depth].has_items && !compact) {
        new_line(j);
    }
    etp_sink_char(j->sink, j->stack[j->depth].is_object ? '}' : ']');
}

// As JSON's escapes, so that nothing is lost: a terminal takes U+009B for the beginning of a
// command.
static void write_unit(etp_sink *sink, uint32_t c)
{
    // JSON escapes UTF-16: a pair of surrogates.
    if (c >= 0x10000) {
        etp_sink_printf(sink, "\\u%04x", (unsigned)(0xD800 + ((c - 0x10000) >> 10)));
        c = 0xDC00 + ((c - 0x10000) & 0x3FF);
    }
    etp_sink_printf(sink, "\\u%04x", (unsigned)c);
}

static void write_escaped(etp_sink *sink, etp_str s)
{
    etp_sink_char(sink, '"');
    for (;;) {
        // How many bytes S begins with that stand for themselves.
        size_t plain = 0;
        for (; plain < s.len; plain++) {
            unsigned char c = (unsigned char)s.ptr[plain];
            if (c < 0x20 || c >= 0x7F || c == '"' || c == '\\') {
                break;
            }
        }
        etp_sink_write(sink, (etp_str){s.ptr, plain});
        if (plain == s.len) {
            break;
        }
        s = (etp_str){s.ptr + plain, s.len - plain};
        bool valid = false;
        size_t n = etp_utf8_next(s, &valid);
        unsigned char c = (unsigned char)s.ptr[0];
        if (!valid) {
            etp_sink_z(sink, "\xEF\xBF\xBD");
        } else if (c == '"' || c == '\\') {
            etp_sink_char(sink, '\\');
            etp_sink_char(sink, (char)c);
        } else if (c == '\n') {
            etp_sink_z(sink, "\\n");
        } else if (c == '\t') {
            etp_sink_z(sink, "\\t");
        } else if (c == '\r') {
            etp_sink_z(sink, "\\r");
        } else if (c < 0x20 || c == 0x7F) {
            etp_sink_printf(sink, "\\u%04x", c);
        } else if (n > 1 &&
                   etp_is_deceptive(etp_utf8_code_point((const unsigned char *)s.ptr, n))) {
            write_unit(sink, etp_utf8_code_point((const unsigned char *)s.ptr, n));
        } else {
            etp_sink_write(sink, (etp_str){s.ptr, n});
        }
        s = (etp_str){s.ptr + n, s.len - n};
    }
    etp_sink_char(sink, '"');
}

void etp_json_key_str(etp_json *j, etp_str key)
{
    assert(j->depth > 0 && j->stack[j->depth - 1].is_object && !j->after_key);
    separate(j);
    write_escaped(j->sink, key);
    etp_sink_z(j->sink, j->pretty ? ": " : ":");
    j->after_key = true;
}

void etp_json_key(etp_json *j, const char *key)
{
    etp_json_key_str(j, etp_str_from(key));
}

void etp_json_str(etp_json *j, etp_str s)
{
    before_value(j);
    write_escaped(j->sink, s);
}

void etp_json_z(etp_json *j, const char *z)
{
    if (z) {
        etp_json_str(j, etp_str_from(z));
    } else {
        etp_json_null(j);
    }
}

void etp_json_u64(etp_json *j, uint64_t v)
{
    before_value(j);
    char buf[ETP_NUMBER_CHARS];
    etp_sink_write(j->sink, etp_format_u64(v, buf));
}

void etp_json_i64(etp_json *j, int64_t v)
{
    before_value(j);
    char buf[ETP_NUMBER_CHARS];
    etp_sink_write(j->sink, etp_format_i64(v, buf));
}

static void write_number(etp_json *j, double v, bool ratio)
{
    if (!isfinite(v)) {
        etp_json_null(j);
        return;
    }
    char buf[ETP_NUMBER_CHARS];
    before_value(j);
    etp_sink_z(j->sink, ratio ? etp_format_ratio(v, buf) : etp_format_double(v, buf));
}

void etp_json_double(etp_json *j, double v)
{
    write_number(j, v, false);
}

void etp_json_ratio(etp_json *j, double v)
{
    write_number(j, v, true);
}

void etp_json_rounded(etp_json *j, double v)
{
    // Below 2⁶³, where llround still has a result.
    if (isfinite(v) && fabs(v) < 9.2e18) {
        etp_json_i64(j, llround(v));
    } else {
        etp_json_null(j);
    }
}

void etp_json_bool(etp_json *j, bool v)
{
    before_value(j);
    etp_sink_z(j->sink, v ? "true" : "false");
}

void etp_json_null(etp_json *j)
{
    before_value(j);
    etp_sink_z(j->sink, "null");
}

void etp_json_raw(etp_json *j, etp_str json)
{
    before_value(j);
    etp_sink_write(j->sink, json);
}
