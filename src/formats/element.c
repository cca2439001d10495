// SPDX-License-Identifier: Apache-2.0
// Elements of tensors as numbers.
#include "formats/element.h"

#include <math.h>
#include <string.h>

// IEEE 754 binary16: 1 bit of sign, 5 of exponent (bias 15), 10 of fraction. Exponent 0 is
// subnormal, in units of 2^−24; else the fraction has a leading 1, and 25 = 15 + 10.
static double from_half(uint16_t bits)
{
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double v = ldexp(fraction + 1024, exponent - 25);
    if (exponent == 0) {
        v = ldexp(fraction, -24);
    } else if (exponent == 31) {
        v = fraction ? (double)NAN : (double)INFINITY;
    }
    return (bits & 0x8000) != 0 ? -v : v;
}

static double from_f32(uint32_t bits)
{
    float v;
    memcpy(&v, &bits, sizeof v);
    return (double)v;
}

// Loads go byte by byte (etp_load_…): the buffer promises no alignment. What is larger than 53 bits
// loses its last digits, which minimum and mean can bear.
double etp_dtype_element(etp_dtype dtype, const uint8_t *data, size_t i)
{
    const uint8_t *p = data + i * (etp_dtype_bits(dtype) / 8);
    uint64_t bits;
    double v;
    switch (dtype) {
    case ETP_DTYPE_UINT8:
        return *p;
    case ETP_DTYPE_BOOL:
        return *p != 0;
    case ETP_DTYPE_INT8:
        return (int8_t)*p;
    case ETP_DTYPE_INT16:
        return (int16_t)etp_load_u16(p);
    case ETP_DTYPE_UINT16:
        return etp_load_u16(p);
    case ETP_DTYPE_INT32:
        return (int32_t)etp_load_u32(p);
    case ETP_DTYPE_UINT32:
        return etp_load_u32(p);
    case ETP_DTYPE_INT64:
        return (double)(int64_t)etp_load_u64(p);
    case ETP_DTYPE_UINT64:
        return (double)etp_load_u64(p);
    case ETP_DTYPE_FLOAT16:
        return from_half(etp_load_u16(p));
    // The upper half of a binary32.
    case ETP_DTYPE_BFLOAT16:
        return from_f32((uint32_t)etp_load_u16(p) << 16);
    case ETP_DTYPE_FLOAT32:
        return from_f32(etp_load_u32(p));
    case ETP_DTYPE_FLOAT64:
        bits = etp_load_u64(p);
        memcpy(&v, &bits, sizeof v);
        return v;
    default:
        return (double)NAN;
    }
}

// Asks for one, so that the list of types exists once: one that is not read gives NAN for zero
// bits, every other type 0.
bool etp_dtype_has_elements(etp_dtype dtype)
{
    const uint8_t zero[8] = {0};
    return etp_dtype_element(dtype, zero, 0) == 0.0;
}
