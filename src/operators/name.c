// SPDX-License-Identifier: Apache-2.0
// Takes an operator's name apart.
#include "operators/name.h"

#include "operators/delegates.h"
#include "operators/table.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static bool is_word(char c)
{
    return is_digit(c) || is_upper(c) || (c >= 'a' && c <= 'z') || c == '_';
}

static etp_str drop(etp_str s, size_t n)
{
    return (etp_str){s.ptr + n, s.len - n};
}

// "Add (ND) #12" → "Add (ND)" and 12. A number with a leading zero or beyond 32 bits is no counter.
// ExecuTorch's XNNPACK profiler counts the operators of one name within a delegate call: the number
// restarts with every call and is no part of what the operator is.
etp_str etp_op_split_counter(etp_str name, uint32_t *out_counter)
{
    *out_counter = 0;
    size_t at = name.len;
    while (at > 0 && is_digit(name.ptr[at - 1])) {
        at--;
    }
    // Ten digits are the most of a 32-bit number, so the sum below cannot overflow 64 bits. Three
    // bytes before them are one letter of a name, the blank and the '#'.
    size_t digits = name.len - at;
    if (digits == 0 || digits > 10 || at < 3 || name.ptr[at - 1] != '#' ||
        name.ptr[at - 2] != ' ' || name.ptr[at] == '0') {
        return name;
    }
    uint64_t value = 0;
    for (size_t i = at; i < name.len; i++) {
        value = value * 10 + (uint64_t)(name.ptr[i] - '0');
    }
    if (value > UINT32_MAX) {
        return name;
    }
    *out_counter = (uint32_t)value;
    return (etp_str){name.ptr, at - 2};
}

// Layouts are made of axis letters only ("NC", "NTHC", "NCHW2NHWC"); data types are not, since all
// of them carry a width.
static bool is_layout(etp_str token)
{
    if (token.len == 0 || !is_upper(token.ptr[0])) {
        return false;
    }
    for (size_t i = 0; i < token.len; i++) {
        if (!memchr("NCHWDT2", token.ptr[i], 7)) {
            return false;
        }
    }
    return true;
}

// "Family (TOKENS)" or "Family (TOKENS) UKERNEL" with tokens of capitals, digits and underscores.
// XNNPACK capitalises its families and ExecuTorch's operators are lower case, so the first letter
// tells them apart before the table is asked.
static bool parse_xnnpack(etp_op_name *op)
{
    etp_str s = op->base;
    size_t open = etp_str_find(s, ETP_STR(" ("));
    if (s.len == 0 || !is_upper(s.ptr[0]) || open == s.len) {
        return false;
    }
    etp_str inside = drop(s, open + 2);
    size_t close = etp_str_find(inside, ETP_STR(")"));
    if (close == inside.len || close == 0) {
        return false;
    }
    etp_str rest = drop(inside, close + 1);
    inside.len = close;
    if (rest.len > 0 && rest.ptr[0] != ' ') {
        return false;
    }
    // Anything else in the parentheses is prose of a user's event ("Load (from cache)"), not a
    // list.
    for (size_t i = 0; i < inside.len; i++) {
        char c = inside.ptr[i];
        if (!is_upper(c) && !is_digit(c) && c != '_' && c != ',' && c != ' ') {
            return false;
        }
    }
    op->kind = ETP_OP_XNNPACK;
    op->family = etp_str_trim((etp_str){s.ptr, open}, " ");
    op->ukernel = etp_str_trim(rest, " ");
    // Only the first token can be a layout; operators without one ("Pack LH (X32)") begin with a
    // type.
    etp_str list = inside;
    bool first = true;
    while (list.len > 0) {
        const char *comma = memchr(list.ptr, ',', list.len);
        size_t len = comma ? (size_t)(comma - list.ptr) : list.len;
        etp_str token = etp_str_trim((etp_str){list.ptr, len}, " ");
        if (first && is_layout(token)) {
            op->layout = token;
        } else if (token.len > 0 && op->n_dtypes < ETP_OP_MAX_DTYPES) {
            op->dtypes[op->n_dtypes++] = token;
        }
        first = false;
        list = drop(list, comma ? len + 1 : len);
    }
    return true;
}

// "name.overload", "ns::name.overload", "torch.ops.ns.name.overload" → name and overload.
// A name has one or two dots, and no mark says which part is missing: the part before the first of
// two dots is taken for a namespace.
static void split_target(etp_str s, etp_str *out_name, etp_str *out_overload)
{
    bool has_namespace = false; // dropped already
    size_t colons = etp_str_find(s, ETP_STR("::"));
    if (colons < s.len) {
        s = drop(s, colons + 2);
        has_namespace = true;
    } else if (etp_str_starts(s, ETP_STR("torch.ops."))) {
        s = drop(s, 10);
        size_t end = etp_str_find(s, ETP_STR("."));
        s = drop(s, end < s.len ? end + 1 : 0);
        has_namespace = true;
    }
    size_t dot = etp_str_find(s, ETP_STR("."));
    if (!has_namespace && dot < s.len) {
        etp_str after = drop(s, dot + 1);
        if (etp_str_find(after, ETP_STR(".")) < after.len) {
            s = after; // three parts: the first is the namespace
            dot = etp_str_find(s, ETP_STR("."));
        }
    }
    *out_name = (etp_str){s.ptr, dot};
    *out_overload = dot < s.len ? drop(s, dot + 1) : (etp_str){0};
}

// A family alone, without any of the marks that would have made it a longer pattern.
static bool is_plain(etp_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        if (!is_word(s.ptr[i]) && s.ptr[i] != ' ' && s.ptr[i] != '-') {
            return false;
        }
    }
    return s.len > 0;
}

// A call of a delegate that is an operator itself, as it is recorded and as etp_ops_unlogged has
// it.
static bool is_unlogged(etp_str name)
{
    return etp_str_eqz(name, "DELEGATE_CALL") || (etp_str_starts(name, ETP_STR("inside ")) &&
                                                  etp_str_ends(name, ETP_STR(", not logged")));
}

// The order matters: the prefix of kernels and XNNPACK's parentheses are certain, a bare word is
// believed only when the table knows its family, and a graph target is tried last, since any text
// with a dot looks like one.
void etp_op_parse(etp_str name, etp_op_name *out)
{
    *out = (etp_op_name){.kind = ETP_OP_NAMED, .category = ETP_CATEGORY_OTHER};
    out->base = etp_op_split_counter(name, &out->counter);
    out->family = out->base;
    const etp_op_family *family = NULL;
    if (etp_str_starts(out->base, ETP_STR("native_call_"))) {
        out->kind = ETP_OP_KERNEL;
        split_target(drop(out->base, 12), &out->family, &out->overload);
        family = etp_op_family_find(out->family, true);
    } else if (parse_xnnpack(out)) {
        family = etp_op_family_find(out->family, false);
    } else if (is_plain(out->base) && (family = etp_op_family_find(out->base, false)) != NULL) {
        if (is_upper(out->base.ptr[0]) && !etp_str_starts(out->base, ETP_STR("XNN"))) {
            out->kind = ETP_OP_XNNPACK; // "Invalid Unary Op", and families cut short by hand
        }
    } else {
        etp_str target, overload;
        split_target(out->base, &target, &overload);
        if (is_plain(target)) {
            family = etp_op_family_find(target, true);
        }
        if (family) {
            out->family = target;
            out->overload = overload;
        } else {
            family = etp_op_family_find(etp_delegate_family(name), true);
        }
    }
    if (is_unlogged(name)) {
        out->category = ETP_CATEGORY_UNLOGGED;
    }
    if (family) {
        out->known = true;
        out->category = family->category;
        out->note = family->note;
    }
}

etp_category etp_op_category(etp_str name)
{
    etp_op_name op;
    etp_op_parse(name, &op);
    return op.category;
}

// VMulCAddC is what XNNPACK runs for a depthwise convolution whose window is 1 × 1.
bool etp_op_is_depthwise(const etp_op_name *op)
{
    return op->category == ETP_CATEGORY_CONVOLUTION &&
           (etp_str_eqz(op->ukernel, "DWConv") || etp_str_eqz(op->ukernel, "VMulCAddC") ||
            etp_str_eqz(op->family, "XNNDepthwiseConv2d"));
}
