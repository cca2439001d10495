// SPDX-License-Identifier: Apache-2.0
// Masks and CPUs as text, written by one process and read strictly by another.
#include "isa/isa.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *etp_isa_family_name(etp_isa_family family)
{
    switch (family) {
    case ETP_ISA_AARCH64:
        return "aarch64";
    case ETP_ISA_X86_64:
        return "x86_64";
    case ETP_ISA_NONE:
        break;
    }
    return "none";
}

// ---- writing ----

typedef struct out {
    char *buf;
    size_t cap, len;
    bool full;
} out;

static void put(out *o, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

static void put(out *o, const char *format, ...)
{
    if (o->full) {
        return;
    }
    va_list args;
    va_start(args, format);
    int n = vsnprintf(o->buf + o->len, o->cap - o->len, format, args);
    va_end(args);
    if (n < 0 || (size_t)n >= o->cap - o->len) {
        o->full = true;
        return;
    }
    o->len += (size_t)n;
}

static size_t finish(const out *o)
{
    if (o->full) {
        if (o->cap > 0) {
            o->buf[0] = '\0';
        }
        return 0;
    }
    return o->len;
}

static void put_set(out *o, const etp_x86_set *set)
{
    const char *comma = "";
    for (size_t i = 0; i < ETP_X86_FLAGS; i++) {
        if (etp_x86_has(set, i)) {
            put(o, "%s%s", comma, etp_x86_flag_name(i));
            comma = ",";
        }
    }
    if (*comma == '\0') {
        put(o, "none");
    }
}

static void put_hwcaps(out *o, uint64_t hwcap, uint64_t hwcap2)
{
    put(o, "hwcap=0x%llx,hwcap2=0x%llx", (unsigned long long)hwcap, (unsigned long long)hwcap2);
}

size_t etp_isa_mask_format(const etp_isa_mask *mask, char *buf, size_t cap)
{
    out o = {.buf = buf, .cap = cap, .full = cap == 0};
    put(&o, "%s:", etp_isa_family_name(mask->family));
    if (mask->family == ETP_ISA_AARCH64) {
        put_hwcaps(&o, mask->hwcap, mask->hwcap2);
    } else {
        put_set(&o, &mask->x86);
    }
    return finish(&o);
}

size_t etp_isa_cpu_format(const etp_isa_cpu *cpu, char *buf, size_t cap)
{
    out o = {.buf = buf, .cap = cap, .full = cap == 0};
    put(&o, "%s:", etp_isa_family_name(cpu->family));
    if (cpu->family == ETP_ISA_AARCH64) {
        put_hwcaps(&o, cpu->hwcap, cpu->hwcap2);
        put(&o, ",midr=0x%x,kernel=%u.%u", (unsigned)cpu->midr, (unsigned)cpu->kernel_major,
            (unsigned)cpu->kernel_minor);
    } else {
        put(&o, "kernel=%u.%u,", (unsigned)cpu->kernel_major, (unsigned)cpu->kernel_minor);
        put_set(&o, &cpu->x86);
    }
    return finish(&o);
}

// ---- reading ----

typedef struct in {
    const char *at;
    const char *text;
    char *why;
    size_t why_cap;
} in;

static bool bad(in *s, const char *expected)
{
    if (s->why_cap > 0) {
        (void)snprintf(s->why, s->why_cap, "byte %zu: found '%.24s', expected %s",
                       (size_t)(s->at - s->text), s->at, expected);
    }
    return false;
}

static bool word(in *s, const char *expected)
{
    size_t len = strlen(expected);
    if (strncmp(s->at, expected, len) != 0) {
        return bad(s, expected);
    }
    s->at += len;
    return true;
}

static bool hex(in *s, unsigned max_digits, uint64_t *value)
{
    if (!word(s, "0x")) {
        return false;
    }
    size_t n = strspn(s->at, "0123456789abcdef");
    if (n == 0 || n > max_digits) {
        return bad(s, "a lower-case hexadecimal number that fits");
    }
    *value = 0;
    for (size_t i = 0; i < n; i++) {
        char c = *s->at++;
        *value = *value << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    return true;
}

static bool decimal(in *s, uint32_t *value)
{
    size_t n = strspn(s->at, "0123456789");
    if (n == 0 || n > 5) {
        return bad(s, "a number of at most 5 digits");
    }
    *value = 0;
    for (size_t i = 0; i < n; i++) {
        *value = *value * 10 + (uint32_t)(*s->at++ - '0');
    }
    return true;
}

static bool family(in *s, etp_isa_family *value)
{
    static const etp_isa_family k_all[] = {ETP_ISA_AARCH64, ETP_ISA_X86_64};
    for (size_t i = 0; i < 2; i++) {
        const char *name = etp_isa_family_name(k_all[i]);
        size_t len = strlen(name);
        if (strncmp(s->at, name, len) == 0 && s->at[len] == ':') {
            s->at += len + 1;
            *value = k_all[i];
            return true;
        }
    }
    return bad(s, "aarch64: or x86_64:");
}

static bool set(in *s, etp_x86_set *value)
{
    if (strcmp(s->at, "none") == 0) {
        s->at += 4;
        return true;
    }
    for (;;) {
        size_t len = strcspn(s->at, ",");
        int index = etp_x86_flag_find(s->at, len);
        if (index < 0) {
            return bad(s, "an x86 feature name");
        }
        if (etp_x86_has(value, (size_t)index)) {
            return bad(s, "each feature once");
        }
        etp_x86_add(value, (size_t)index);
        s->at += len;
        if (*s->at == '\0') {
            return true;
        }
        s->at++;
    }
}

static bool hwcaps(in *s, uint64_t *hwcap, uint64_t *hwcap2)
{
    return word(s, "hwcap=") && hex(s, 16, hwcap) && word(s, ",hwcap2=") && hex(s, 16, hwcap2);
}

static bool kernel(in *s, etp_isa_cpu *cpu)
{
    return word(s, "kernel=") && decimal(s, &cpu->kernel_major) && word(s, ".") &&
           decimal(s, &cpu->kernel_minor);
}

static bool end(in *s)
{
    return *s->at == '\0' || bad(s, "the end");
}

bool etp_isa_mask_parse(const char *text, etp_isa_mask *mask, char *why, size_t why_cap)
{
    in s = {.at = text, .text = text, .why = why, .why_cap = why_cap};
    memset(mask, 0, sizeof *mask);
    bool ok = family(&s, &mask->family) &&
              (mask->family == ETP_ISA_AARCH64 ? hwcaps(&s, &mask->hwcap, &mask->hwcap2)
                                               : set(&s, &mask->x86)) &&
              end(&s);
    if (!ok) {
        memset(mask, 0, sizeof *mask);
    }
    return ok;
}

bool etp_isa_cpu_parse(const char *text, etp_isa_cpu *cpu, char *why, size_t why_cap)
{
    in s = {.at = text, .text = text, .why = why, .why_cap = why_cap};
    memset(cpu, 0, sizeof *cpu);
    bool ok = family(&s, &cpu->family);
    if (ok && cpu->family == ETP_ISA_AARCH64) {
        uint64_t midr = 0;
        ok = hwcaps(&s, &cpu->hwcap, &cpu->hwcap2) && word(&s, ",midr=") && hex(&s, 8, &midr) &&
             word(&s, ",") && kernel(&s, cpu);
        cpu->midr = (uint32_t)midr;
    } else if (ok) {
        ok = kernel(&s, cpu) && word(&s, ",") && set(&s, &cpu->x86);
    }
    ok = ok && end(&s);
    if (!ok) {
        memset(cpu, 0, sizeof *cpu);
    }
    return ok;
}
