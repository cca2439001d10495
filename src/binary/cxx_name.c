// SPDX-License-Identifier: Apache-2.0
// A reader of mangled names that keeps the names and skips the types.
#include "binary/cxx_name.h"

#include <ctype.h>
#include <string.h>

#include "base/sink.h"

typedef struct reader {
    const char *at, *end;
    etp_strbuf *out;
    etp_str last; // the name that a constructor repeats
} reader;

static char peek(const reader *r)
{
    return r->at < r->end ? *r->at : '\0';
}

static bool take(reader *r, const char *text)
{
    size_t n = strlen(text);
    bool is = (size_t)(r->end - r->at) >= n && memcmp(r->at, text, n) == 0;
    r->at += is ? n : 0;
    return is;
}

static bool one_of(reader *r, const char *letters)
{
    bool is = peek(r) && strchr(letters, peek(r));
    r->at += is;
    return is;
}

// <source-name>: a length and so many characters.
static bool source_name(reader *r, etp_str *name)
{
    size_t n = 0;
    while (isdigit((unsigned char)peek(r)) && n < 100000) {
        n = 10 * n + (size_t)(*r->at++ - '0');
    }
    if (n == 0 || n > (size_t)(r->end - r->at)) {
        return false;
    }
    *name = (etp_str){r->at, n};
    r->at += n;
    return true;
}

// "_", "0_", "1A_": the number of a substitution, a parameter or a lambda.
static bool sequence(reader *r)
{
    while (isalnum((unsigned char)peek(r))) {
        r->at++;
    }
    return take(r, "_");
}

static bool one_of_types(reader *r, unsigned *depth)
{
    etp_str ignored;
    char c = peek(r);
    if (isdigit((unsigned char)c)) {
        return source_name(r, &ignored);
    }
    r->at++;
    switch (c) {
    case 'E':
        --*depth;
        return true;
    case 'N':
    case 'I':
    case 'J':
    case 'F':
    case 'Z':
        ++*depth;
        return *depth < 256;
    case 'S':
        return one_of(r, "tabsiod") || sequence(r);
    case 'T':
        return sequence(r);
    case 'A': // of N elements
        return sequence(r);
    case 'L': // a literal of a simple type: its digits are no length
        if (!islower((unsigned char)peek(r))) {
            return false;
        }
        while (peek(r) && peek(r) != 'E') {
            r->at++;
        }
        return take(r, "E");
    case 'D':
        return one_of(r, "pnahsiuf");
    default: // P, R, O, K, V, M and the letters of the simple types; no expressions
        return islower((unsigned char)c) || (c && strchr("PROKVMCG", c));
    }
}

// Types and template arguments up to the E that ends them.
static bool skip_types(reader *r)
{
    unsigned depth = 1;
    while (depth > 0) {
        if (r->at >= r->end || !one_of_types(r, &depth)) {
            return false;
        }
    }
    return true;
}

static void put(reader *r, etp_str name, bool *first)
{
    etp_strbuf_appendz(r->out, etp_if(!*first, "::"));
    bool unnamed = etp_str_starts(name, ETP_STR("_GLOBAL__N"));
    etp_strbuf_append(r->out, unnamed ? ETP_STR("(anonymous)") : name);
    r->last = name;
    *first = false;
}

static bool operator_name(reader *r, bool *first)
{
    static const struct {
        const char *code, *name;
    } k_names[] = {
        {"cl", "operator()"     },
        {"ix", "operator[]"     },
        {"eq", "operator=="     },
        {"aS", "operator="      },
        {"pl", "operator+"      },
        {"mi", "operator-"      },
        {"ml", "operator*"      },
        {"dv", "operator/"      },
        {"nw", "operator new"   },
        {"dl", "operator delete"},
        {"pt", "operator->"     }
    };
    for (size_t i = 0; i < sizeof k_names / sizeof *k_names; i++) {
        if (take(r, k_names[i].code)) {
            put(r, etp_str_from(k_names[i].name), first);
            return true;
        }
    }
    return false;
}

static bool unqualified(reader *r, bool *first)
{
    etp_str name;
    (void)take(r, "L"); // of this file alone
    if (isdigit((unsigned char)peek(r))) {
        if (!source_name(r, &name)) {
            return false;
        }
        put(r, name, first);
    } else if (take(r, "Ul")) {
        if (!skip_types(r) || !sequence(r)) {
            return false;
        }
        put(r, ETP_STR("{lambda}"), first);
    } else if ((peek(r) == 'C' || peek(r) == 'D') && r->end - r->at > 1 &&
               isdigit((unsigned char)r->at[1])) {
        const char *between = peek(r) == 'C' ? "::" : "::~";
        etp_strbuf_appendz(r->out, etp_if(!*first, between));
        etp_strbuf_append(r->out, r->last);
        r->at += 2;
    } else if (!operator_name(r, first)) {
        return false;
    }
    while (take(r, "B")) { // tags: "B5cxx11"
        if (!source_name(r, &name)) {
            return false;
        }
    }
    return !take(r, "I") || skip_types(r);
}

static bool name_of(reader *r, bool *first, unsigned nested);

static bool name_of(reader *r, bool *first, unsigned nested)
{
    if (nested > 8) {
        return false;
    }
    if (take(r, "Z")) {
        if (!name_of(r, first, nested + 1) || !skip_types(r)) {
            return false;
        }
        return take(r, "s") ? true : name_of(r, first, nested + 1);
    }
    if (!take(r, "N")) {
        if (take(r, "St")) {
            put(r, ETP_STR("std"), first);
        }
        return unqualified(r, first);
    }
    while (peek(r) && strchr("rVKRO", peek(r))) {
        r->at++;
    }
    if (take(r, "St")) {
        put(r, ETP_STR("std"), first);
    }
    while (!take(r, "E")) {
        if (r->at >= r->end || !unqualified(r, first)) {
            return false;
        }
    }
    return true;
}

etp_str etp_cxx_name(etp_str symbol, etp_arena *arena)
{
    etp_strbuf out;
    etp_strbuf_init(&out, arena);
    size_t end = symbol.len > 2 ? etp_str_find(symbol, ETP_STR(".")) : 0;
    reader r = {symbol.ptr, symbol.ptr + end, &out, {0}};
    bool first = true;
    if (!take(&r, "_Z") || !name_of(&r, &first, 0) || first) {
        return (etp_str){0};
    }
    return etp_strbuf_str(&out);
}
