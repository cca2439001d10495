// SPDX-License-Identifier: Apache-2.0
// What a roof is called, when two are the same one, for how many threads: without measuring any.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/choice.h"
#include "roofs/roofs.h"

const char *etp_roof_unit_name(etp_roof_unit unit)
{
    static const char *const k_names[ETP_ROOF_UNITS] = {"op/s", "byte/s", "ns"};
    return k_names[unit];
}

const char *etp_roof_what_name(etp_roof_what what)
{
    static const char *const k_names[ETP_ROOF_WHATS] = {
        [ETP_ROOF_OTHER] = "other",     [ETP_ROOF_FMA_F32] = "fma_f32",
        [ETP_ROOF_FMA_F16] = "fma_f16", [ETP_ROOF_DOT_I8] = "dot_i8",
        [ETP_ROOF_READ] = "read",       [ETP_ROOF_WRITE] = "write",
        [ETP_ROOF_COPY] = "copy",       [ETP_ROOF_STRIDED_COPY] = "strided_copy",
        [ETP_ROOF_REGION] = "region",   [ETP_ROOF_TIMER] = "timer",
    };
    return k_names[what];
}

double etp_roof_noise(const etp_roof *r)
{
    return r->best && r->again ? fabs((double)r->again / (double)r->best - 1) : (double)NAN;
}

bool etp_roof_same(const etp_roof *a, const etp_roof *b)
{
    return a->threads == b->threads && a->bytes == b->bytes && a->what == b->what &&
           strcmp(a->isa, b->isa) == 0;
}

size_t etp_roof_default_threads(uint32_t cpus, uint32_t out[ETP_ROOF_COUNTS_MAX])
{
    size_t n = 0;
    cpus = ETP_MIN(cpus, ETP_ROOF_THREADS_MAX);
    for (uint32_t t = 1; t < cpus; t *= 2) {
        out[n++] = t;
    }
    out[n++] = ETP_MAX(cpus, 1);
    return n;
}

bool etp_roof_threads_parse(const char *text, uint32_t out[ETP_ROOF_COUNTS_MAX], size_t *out_n)
{
    *out_n = 0;
    for (const char *at = text;; at++) {
        char *end;
        unsigned long n = *at >= '0' && *at <= '9' ? strtoul(at, &end, 10) : 0;
        if (n < 1 || n > ETP_ROOF_THREADS_MAX || *out_n == ETP_ROOF_COUNTS_MAX ||
            (*out_n > 0 && n <= out[*out_n - 1])) {
            return false;
        }
        out[(*out_n)++] = (uint32_t)n;
        at = end;
        if (*at != ',') {
            return *at == '\0';
        }
    }
}
