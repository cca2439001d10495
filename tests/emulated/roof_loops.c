// SPDX-License-Identifier: Apache-2.0
// Runs every roof loop that this aarch64 CPU has and checks what it computes: sums over ones, and
// for the matrix unit products of vectors with different elements against plain C. One line for
// each; 1 when one is wrong. `--ops` prints what a trip of each loop claims instead.
#include <stdio.h>
#include <string.h>

#include "roofs/internal.h"

#define MAX_VECTOR 256

static int checked, wrong;

static void say(bool ok, const char *isa, const char *what, const char *how)
{
    printf("%s %s: %s %s\n", isa, what, how, ok ? "ok" : "WRONG");
    checked++;
    wrong += !ok;
}

static void sums(const etp_roof_loop *l)
{
    bool ok = true;
    for (uint64_t trips = 0; trips < l->exact_trips && trips < 5000; trips = 3 * trips + 1) {
        ok = ok && l->run(trips) == (int64_t)(trips * l->adds);
    }
    say(ok, l->isa, etp_roof_what_name(l->what), "sums");
}

// ---- the matrix unit against plain C: element (row, column) of tile t is vector 4 × row + t of ZA
// ----

static uint8_t za[MAX_VECTOR * MAX_VECTOR];

static float za_f32(uint64_t vector, uint64_t column, uint64_t bytes)
{
    float f;
    memcpy(&f, za + vector * bytes + 4 * column, sizeof f);
    return f;
}

static bool same(float a, float b)
{
    return !(a < b) && !(a > b);
}

#define TRIPS 3
#define A(i) (float)((int)(i) % 7 + 1)
#define B(i) (float)((int)(i) % 5 - 2)

static void mopa_f32(uint64_t bytes)
{
    float a[MAX_VECTOR / 4], b[MAX_VECTOR / 4];
    uint64_t n = bytes / 4;
    bool ok = true;
    for (uint64_t i = 0; i < n; i++) {
        a[i] = A(i);
        b[i] = B(i);
    }
    etp_sme_mopa_f32(TRIPS, a, b, za);
    for (uint64_t v = 0; v < bytes; v++) {
        for (uint64_t c = 0; c < n; c++) {
            ok = ok && same(za_f32(v, c, bytes), TRIPS * 4 * A(v / 4) * B(c));
        }
    }
    say(ok, "sme", "fma_f32", "outer products");
}

// Half precision of the small whole numbers used here.
static uint16_t half(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return (uint16_t)(same(f, 0) ? 0
                                 : (bits >> 16 & 0x8000) | (((bits >> 23 & 255) - 112) << 10) |
                                       (bits >> 13 & 1023));
}

static void mopa_f16(uint64_t bytes)
{
    uint16_t a[MAX_VECTOR / 2], b[MAX_VECTOR / 2];
    uint64_t n = bytes / 4;
    bool ok = true;
    for (uint64_t i = 0; i < 2 * n; i++) {
        a[i] = half(A(i));
        b[i] = half(B(i));
    }
    etp_sme_mopa_f16(TRIPS, a, b, za);
    for (uint64_t v = 0; v < bytes; v++) {
        for (uint64_t c = 0; c < n; c++) {
            float sum = 0;
            for (uint64_t k = 0; k < 2; k++) {
                sum += A(2 * (v / 4) + k) * B(2 * c + k);
            }
            ok = ok && same(za_f32(v, c, bytes), TRIPS * 4 * sum);
        }
    }
    say(ok, "sme", "fma_f16", "outer products");
}

static void mopa_i8(uint64_t bytes)
{
    int8_t a[MAX_VECTOR], b[MAX_VECTOR];
    bool ok = true;
    for (uint64_t i = 0; i < bytes; i++) {
        a[i] = (int8_t)((int)(i * 37 % 255) - 127);
        b[i] = (int8_t)((int)(i * 91 % 255) - 127);
    }
    etp_sme_mopa_i8(TRIPS, a, b, za);
    for (uint64_t v = 0; v < bytes; v++) {
        for (uint64_t c = 0; c < bytes / 4; c++) {
            int32_t sum = 0, found;
            for (uint64_t k = 0; k < 4; k++) {
                sum += a[4 * (v / 4) + k] * b[4 * c + k];
            }
            memcpy(&found, za + v * bytes + 4 * c, sizeof found);
            ok = ok && found == TRIPS * 4 * sum;
        }
    }
    say(ok, "sme", "dot_i8", "outer products");
}

static void fmla(uint64_t bytes)
{
    float a[MAX_VECTOR / 4], b[MAX_VECTOR / 4];
    uint64_t n = bytes / 4;
    bool ok = true;
    for (uint64_t i = 0; i < n; i++) {
        a[i] = A(i);
        b[i] = B(i);
    }
    etp_sme2_fmla_f32(TRIPS, a, b, za);
    const float trips = n < 8 ? 2 * TRIPS : TRIPS;
    for (uint64_t v = 0; v < bytes; v++) {
        float times = v % n < 8 ? trips : 0; // eight groups of four vectors
        for (uint64_t c = 0; c < n; c++) {
            ok = ok && same(za_f32(v, c, bytes), times * A(c) * B(c));
        }
    }
    say(ok, "sme2", "fma_f32", "vectors into ZA");
}

int main(int argc, char **argv)
{
    etp_isa_cpu cpu;
    etp_isa_cpu_detect(&cpu);
    for (size_t i = 0; etp_roof_loop_at(i); i++) {
        const etp_roof_loop *l = etp_roof_loop_at(i);
        if (!etp_roof_set_on(etp_roof_set_find(l->isa), &cpu)) {
            printf("%s %s: not on this CPU\n", l->isa, etp_roof_what_name(l->what));
        } else if (argc > 1 && strcmp(argv[1], "--ops") == 0) {
            printf("%s %s %llu\n", l->isa, etp_roof_what_name(l->what),
                   (unsigned long long)l->ops());
        } else {
            sums(l);
        }
    }
    if (argc == 1 && etp_roof_set_on(etp_roof_set_find("sme"), &cpu)) {
        uint64_t bytes = etp_sme_vector_bytes();
        printf("vector %llu bytes\n", (unsigned long long)bytes);
        mopa_f32(bytes);
        mopa_f16(bytes);
        mopa_i8(bytes);
        if (etp_roof_set_on(etp_roof_set_find("sme2"), &cpu)) {
            fmla(bytes);
        }
    }
    printf("%d checked, %d wrong\n", checked, wrong);
    return wrong > 0;
}
