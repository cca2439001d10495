// SPDX-License-Identifier: Apache-2.0
// Number parsing and formatting. The C locale is never changed, so printf's decimal point is '.'.
#include "base/number.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NO_DIGIT = 99 };

static int lower_digit(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : NO_DIGIT;
}

static int digit_value(char c)
{
    return lower_digit(c >= 'A' && c <= 'F' ? (char)(c - 'A' + 'a') : c);
}

bool etp_parse_u64(etp_str s, uint64_t *out)
{
    unsigned radix = 10;
    if (s.len > 2 && s.ptr[0] == '0' && (s.ptr[1] == 'x' || s.ptr[1] == 'X')) {
        radix = 16;
        s = (etp_str){s.ptr + 2, s.len - 2};
    }
    if (s.len == 0) {
        return false;
    }
    uint64_t v = 0;
    size_t at = 0;
    for (; radix == 10 && at < s.len && at < 19; at++) { // 19 digits fit whatever they are
        unsigned d = (unsigned)(unsigned char)s.ptr[at] - '0';
        if (d > 9) {
            return false;
        }
        v = v * 10 + d;
    }
    for (size_t i = at; i < s.len; i++) {
        unsigned d = (unsigned)digit_value(s.ptr[i]);
        if (d >= radix || v > (UINT64_MAX - d) / radix) {
            return false;
        }
        v = v * radix + d;
    }
    *out = v;
    return true;
}

bool etp_parse_i64(etp_str s, int64_t *out)
{
    bool negative = s.len > 0 && s.ptr[0] == '-';
    if (negative) {
        s = (etp_str){s.ptr + 1, s.len - 1};
    }
    uint64_t magnitude = 0;
    if (!etp_parse_u64(s, &magnitude)) {
        return false;
    }
    if (negative) {
        if (magnitude > (uint64_t)INT64_MAX + 1) {
            return false;
        }
        *out = magnitude == (uint64_t)INT64_MAX + 1 ? INT64_MIN : -(int64_t)magnitude;
        return true;
    }
    if (magnitude > INT64_MAX) {
        return false;
    }
    *out = (int64_t)magnitude;
    return true;
}

bool etp_parse_double(etp_str s, double *out)
{
    char buf[64];
    if (s.len == 0 || s.len >= sizeof buf) {
        return false;
    }
    for (size_t i = 0; i < s.len; i++) {
        if (!(s.ptr[i] >= '0' && s.ptr[i] <= '9') && memchr("+-.eE", s.ptr[i], 5) == NULL) {
            return false; // also keeps inf, nan, hex and blanks away from strtod
        }
        buf[i] = s.ptr[i];
    }
    buf[s.len] = '\0';
    char *end = NULL;
    double v = strtod(buf, &end);
    if (end != buf + s.len || !isfinite(v)) {
        return false;
    }
    *out = v;
    return true;
}

bool etp_parse_hex(etp_str s, uint8_t *out)
{
    for (size_t i = 0; i < s.len / 2; i++) {
        int hi = lower_digit(s.ptr[2 * i]), lo = lower_digit(s.ptr[2 * i + 1]);
        if (hi == NO_DIGIT || lo == NO_DIGIT) {
            return false;
        }
        out[i] = (uint8_t)(hi << 4 | lo);
    }
    return s.len % 2 == 0;
}

// The digits of V end before END; gives where they begin.
static char *digits_before(char *end, uint64_t v)
{
    do {
        *--end = (char)('0' + v % 10);
        v /= 10;
    } while (v > 0);
    return end;
}

etp_str etp_format_u64(uint64_t v, char buf[static ETP_NUMBER_CHARS])
{
    char *end = buf + ETP_NUMBER_CHARS - 1, *begin = digits_before(end, v);
    *end = '\0';
    return (etp_str){begin, (size_t)(end - begin)};
}

etp_str etp_format_i64(int64_t v, char buf[static ETP_NUMBER_CHARS])
{
    char *end = buf + ETP_NUMBER_CHARS - 1;
    // −INT64_MIN does not fit an int64_t; as an unsigned number it does.
    char *begin = digits_before(end, v < 0 ? -(uint64_t)v : (uint64_t)v);
    if (v < 0) {
        *--begin = '-';
    }
    *end = '\0';
    return (etp_str){begin, (size_t)(end - begin)};
}

// Most numbers of documents are whole, or thousandths: nanoseconds told in microseconds. Below 4e12
// their neighbours of three decimals are other doubles, so the three decimals, without zeros at the
// end, are the shortest decimal.
static const char *format_thousandths(double v, char buf[static ETP_NUMBER_CHARS])
{
    if (!(v > 0 && v < 4e12)) {
        return NULL;
    }
    uint64_t k = (uint64_t)(v * 1000 + 0.5);
    if ((double)k / 1000 != v) {
        return NULL;
    }
    char *end = buf + ETP_NUMBER_CHARS - 1;
    *end = '\0';
    uint64_t fraction = k % 1000;
    if (fraction > 0) {
        int decimals = 3;
        for (; fraction % 10 == 0; fraction /= 10) {
            decimals--;
        }
        for (; decimals > 0; decimals--, fraction /= 10) {
            *--end = (char)('0' + fraction % 10);
        }
        *--end = '.';
    }
    char *begin = digits_before(end, k / 1000);
    return memmove(buf, begin, (size_t)(buf + ETP_NUMBER_CHARS - begin));
}

const char *etp_format_double(double v, char buf[static ETP_NUMBER_CHARS])
{
    const char *simple = format_thousandths(v, buf);
    if (simple) {
        return simple;
    }
    // 17 digits tell every double from its neighbours, 15 are enough for most.
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(buf, ETP_NUMBER_CHARS, "%.*g", digits, v);
        if (strtod(buf, NULL) == v) {
            break;
        }
    }
    return buf;
}

const char *etp_format_ratio(double v, char buf[static ETP_NUMBER_CHARS])
{
    snprintf(buf, ETP_NUMBER_CHARS, "%.6g", v);
    return buf;
}

const char *etp_format_ns(double ns, char buf[static ETP_NUMBER_CHARS])
{
    static const struct {
        double unit;
        const char *name;
    } k_units[] = {
        {1e9, "s"  },
        {1e6, "ms" },
        {1e3, "µs"}
    };
    double magnitude = fabs(ns);
    for (size_t i = 0; i < sizeof k_units / sizeof *k_units; i++) {
        // What would be rounded to 1000.0 of the smaller unit is 1.000 of the larger one.
        if (magnitude >= k_units[i].unit * 0.99995) {
            double v = ns / k_units[i].unit;
            int decimals = 1 + (fabs(v) < 99.995) + (fabs(v) < 9.9995);
            snprintf(buf, ETP_NUMBER_CHARS, "%s%.*f %s", etp_if(ns < 0, "−"), decimals, fabs(v),
                     k_units[i].name);
            return buf;
        }
    }
    snprintf(buf, ETP_NUMBER_CHARS, "%s%.0f ns", etp_if(ns <= -0.5, "−"), magnitude);
    return buf;
}

const char *etp_format_digits(double v, int digits, char buf[static ETP_NUMBER_CHARS])
{
    enum { MOST_DECIMALS = 9 };
    char text[ETP_NUMBER_CHARS - 8];
    double magnitude = fabs(v);
    const char *sign = etp_if(v < 0, "−");
    if (isnan(v)) {
        return "unknown";
    }
    if (magnitude >= 1e15) {
        snprintf(buf, ETP_NUMBER_CHARS, "%s> 999999999999999", sign);
        return buf;
    }
    if (magnitude > 0 && magnitude < 0.5e-9) {
        snprintf(buf, ETP_NUMBER_CHARS, "%s< 0.000000001", sign);
        return buf;
    }
    int before = magnitude > 0 ? (int)floor(log10(magnitude)) + 1 : 1; // digits before the point
    int decimals = (int)fmax(0, fmin(digits - before, MOST_DECIMALS));
    snprintf(text, sizeof text, "%.*f", decimals, magnitude);
    // Cuts zeros off the end of a fraction.
    char *end = text + strlen(text);
    if (strchr(text, '.')) {
        while (end[-1] == '0') {
            *--end = '\0';
        }
        if (end[-1] == '.') {
            end[-1] = '\0';
        }
    }
    snprintf(buf, ETP_NUMBER_CHARS, "%s%s", etp_if(strcmp(text, "0") != 0, sign), text);
    return buf;
}

const char *etp_format_change(double v, int decimals, char buf[static ETP_NUMBER_CHARS])
{
    char digits[ETP_NUMBER_CHARS - 4];
    double magnitude = fmin(fabs(v), 1e15);
    snprintf(digits, sizeof digits, "%.*f", ETP_MIN(decimals, 6), magnitude);
    bool zero = strspn(digits, "0.") == strlen(digits);
    const char *sign = v < 0 ? "−" : "+";
    snprintf(buf, ETP_NUMBER_CHARS, "%s%s", etp_if(!zero, sign), digits);
    return buf;
}

bool etp_interval_tells(double lo, double hi)
{
    return lo > 0.01 && hi < 100;
}

const char *etp_format_interval(double lo, double hi, int decimals,
                                char buf[static ETP_INTERVAL_CHARS])
{
    snprintf(buf, ETP_INTERVAL_CHARS, "[%.*f, %.*f]", decimals, lo, decimals, hi);
    return buf;
}

const char *etp_format_estimate(double ratio, double lo, double hi, int decimals,
                                char buf[static ETP_INTERVAL_CHARS])
{
    snprintf(buf, ETP_INTERVAL_CHARS, "%.*f× %s", decimals, ratio, ETP_INTERVAL(lo, hi, decimals));
    return buf;
}

double etp_common_unit(double least, double most, double unit)
{
    while (unit > 1 && least < 0.1 * unit) {
        unit /= 1000;
    }
    return least > 0 && least <= most && most < 1e4 * unit ? unit : 0;
}

const char *etp_format_bytes(uint64_t bytes, char buf[static ETP_NUMBER_CHARS])
{
    static const char *const k_names[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
    double v = (double)bytes;
    size_t i = 0;
    // Rounding must not give "1000 kB".
    for (; v >= 999.95 && i + 1 < sizeof k_names / sizeof *k_names; i++) {
        v /= 1000;
    }
    if (i == 0) {
        snprintf(buf, ETP_NUMBER_CHARS, "%" PRIu64 " B", bytes);
    } else {
        int decimals = (v < 99.95) + (v < 9.995);
        snprintf(buf, ETP_NUMBER_CHARS, "%.*f %s", decimals, v, k_names[i]);
    }
    return buf;
}

double etp_known_ns(int64_t ns)
{
    return ns == ETP_NS_UNKNOWN ? (double)NAN : (double)ns;
}

int64_t etp_whole_ns(double ns)
{
    return isfinite(ns) ? llround(ns) : ETP_NS_UNKNOWN;
}
