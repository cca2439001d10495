// SPDX-License-Identifier: Apache-2.0
// Strict parsing and locale-free formatting of numbers.
#ifndef ETP_BASE_NUMBER_H
#define ETP_BASE_NUMBER_H

#include <etprof/bytes.h>

#include "base/choice.h"

#define ETP_NS_UNKNOWN INT64_MIN // a time that is not known: null in JSON, an empty cell
#define ETP_NUMBER_CHARS 32      // enough for every formatter of one number below, NUL included
#define ETP_INTERVAL_CHARS 128   // enough for those of several

// NS where arithmetic follows: NAN for ETP_NS_UNKNOWN.
double etp_known_ns(int64_t ns);
// The other way: ETP_NS_UNKNOWN for what is not finite.
int64_t etp_whole_ns(double ns);

// Whole string, decimal or 0x hexadecimal, no blanks, no sign for unsigned; false when it is not a
// number or does not fit.
bool etp_parse_u64(etp_str s, uint64_t *out);
bool etp_parse_i64(etp_str s, int64_t *out);
// Whole string, decimal with optional fraction and exponent; no inf, nan, hex, blanks.
bool etp_parse_double(etp_str s, double *out);
// Whole string, two digits a byte, 0-9 and a-f alone: OUT gets s.len / 2 bytes. False where the
// number of digits is odd or another character is among them; what OUT holds then means nothing.
bool etp_parse_hex(etp_str s, uint8_t *out);

etp_str etp_format_u64(uint64_t v, char buf[static ETP_NUMBER_CHARS]);
etp_str etp_format_i64(int64_t v, char buf[static ETP_NUMBER_CHARS]);
// Shortest decimal that reads back as the same double. Not for inf and nan.
const char *etp_format_double(double v, char buf[static ETP_NUMBER_CHARS]);
// Six significant digits: how ratios are written everywhere.
const char *etp_format_ratio(double v, char buf[static ETP_NUMBER_CHARS]);
// "1.234 ms", "12.3 µs", "800 ns": three to four significant digits for people.
const char *etp_format_ns(double ns, char buf[static ETP_NUMBER_CHARS]);
// At most DIGITS significant digits, without zeros at the end and never as 1e+06: for people. What
// nine decimals do not show is "< 0.000000001", what no one counts "> 999999999999999".
const char *etp_format_digits(double v, int digits, char buf[static ETP_NUMBER_CHARS]);
// "+1.25", "−1.25" (U+2212), "0.00": what a change is shown as to people.
const char *etp_format_change(double v, int decimals, char buf[static ETP_NUMBER_CHARS]);
// Does the interval of a ratio say anything to people? One that reaches a hundredfold is what two
// or three blocks give by chance; such ends are not shown.
bool etp_interval_tells(double lo, double hi);
// "[1.70, 1.75]", and "1.72× [1.70, 1.75]": how a ratio with its interval is told to people.
const char *etp_format_interval(double lo, double hi, int decimals,
                                char buf[static ETP_INTERVAL_CHARS]);
const char *etp_format_estimate(double ratio, double lo, double hi, int decimals,
                                char buf[static ETP_INTERVAL_CHARS]);
// In which unit, of so many ns, times from LEAST to MOST stand below each other: UNIT, which is
// MOST's own, or a smaller one where LEAST would be less than a tenth. 0: they are too far apart.
double etp_common_unit(double least, double most, double unit);
// "10.2 MB" (powers of 1000) for people.
const char *etp_format_bytes(uint64_t bytes, char buf[static ETP_NUMBER_CHARS]);

// The same as arguments; each text lives until the end of the block around it.
#define ETP_NUMBER_TEXT      \
    (char[ETP_NUMBER_CHARS]) \
    {                        \
        0                    \
    }
#define ETP_DIGITS(v, digits) etp_format_digits((v), (digits), ETP_NUMBER_TEXT)
#define ETP_NS(ns) etp_format_ns((ns), ETP_NUMBER_TEXT)
#define ETP_BYTES(bytes) etp_format_bytes((bytes), ETP_NUMBER_TEXT)
#define ETP_CHANGE(v, decimals) etp_format_change((v), (decimals), ETP_NUMBER_TEXT)
#define ETP_INTERVAL_TEXT      \
    (char[ETP_INTERVAL_CHARS]) \
    {                          \
        0                      \
    }
#define ETP_INTERVAL(lo, hi, decimals) \
    etp_format_interval((lo), (hi), (decimals), ETP_INTERVAL_TEXT)
#define ETP_ESTIMATE(ratio, lo, hi, decimals) \
    etp_format_estimate((ratio), (lo), (hi), (decimals), ETP_INTERVAL_TEXT)

#endif
