// SPDX-License-Identifier: Apache-2.0
// Element types: the codes of ExecuTorch and XNNPACK, names and sizes.
#include <etprof/dtype.h>

static const struct {
    const char *name;
    unsigned bits;
} k_dtypes[ETP_DTYPE_COUNT] = {
#define ETP_DTYPE_ROW(id, n_bits, text) [ETP_DTYPE_##id] = {(text), (n_bits)},
    ETP_DTYPE_MAP(ETP_DTYPE_ROW)
#undef ETP_DTYPE_ROW
};

// Places by the code in the file. A code between them that ExecuTorch does not use is left out and
// reads as 0, which is UNKNOWN.
static const uint8_t k_scalar_types[] = {
    [0] = ETP_DTYPE_UINT8,           [1] = ETP_DTYPE_INT8,
    [2] = ETP_DTYPE_INT16,           [3] = ETP_DTYPE_INT32,
    [4] = ETP_DTYPE_INT64,           [5] = ETP_DTYPE_FLOAT16,
    [6] = ETP_DTYPE_FLOAT32,         [7] = ETP_DTYPE_FLOAT64,
    [8] = ETP_DTYPE_COMPLEX32,       [9] = ETP_DTYPE_COMPLEX64,
    [10] = ETP_DTYPE_COMPLEX128,     [11] = ETP_DTYPE_BOOL,
    [12] = ETP_DTYPE_QINT8,          [13] = ETP_DTYPE_QUINT8,
    [14] = ETP_DTYPE_QINT32,         [15] = ETP_DTYPE_BFLOAT16,
    [16] = ETP_DTYPE_QUINT4X2,       [17] = ETP_DTYPE_QUINT2X4,
    [22] = ETP_DTYPE_BITS16,         [23] = ETP_DTYPE_FLOAT8E5M2,
    [24] = ETP_DTYPE_FLOAT8E4M3FN,   [25] = ETP_DTYPE_FLOAT8E5M2FNUZ,
    [26] = ETP_DTYPE_FLOAT8E4M3FNUZ, [27] = ETP_DTYPE_UINT16,
    [28] = ETP_DTYPE_UINT32,         [29] = ETP_DTYPE_UINT64,
};

// Places by XNNDatatype of the delegate's schema; 0 is its "invalid".
static const uint8_t k_xnn_datatypes[] = {
    [1] = ETP_DTYPE_FLOAT32, [2] = ETP_DTYPE_FLOAT16,   [3] = ETP_DTYPE_QINT8,
    [4] = ETP_DTYPE_QUINT8,  [5] = ETP_DTYPE_QINT32,    [6] = ETP_DTYPE_QCINT8,
    [7] = ETP_DTYPE_QCINT32, [8] = ETP_DTYPE_QCINT4,    [9] = ETP_DTYPE_QDINT8,
    [10] = ETP_DTYPE_QBINT4, [11] = ETP_DTYPE_QPINT8,   [12] = ETP_DTYPE_INT32,
    [13] = ETP_DTYPE_PFP32,  [14] = ETP_DTYPE_BFLOAT16,
};

etp_dtype etp_dtype_from_scalar_type(int code)
{
    if (code < 0 || (size_t)code >= sizeof k_scalar_types) {
        return ETP_DTYPE_UNKNOWN;
    }
    return (etp_dtype)k_scalar_types[code];
}

etp_dtype etp_dtype_from_xnn(int code)
{
    if (code < 0 || (size_t)code >= sizeof k_xnn_datatypes) {
        return ETP_DTYPE_UNKNOWN;
    }
    return (etp_dtype)k_xnn_datatypes[code];
}

const char *etp_dtype_name(etp_dtype dtype)
{
    return (unsigned)dtype < ETP_DTYPE_COUNT ? k_dtypes[dtype].name : "unknown";
}

unsigned etp_dtype_bits(etp_dtype dtype)
{
    return (unsigned)dtype < ETP_DTYPE_COUNT ? k_dtypes[dtype].bits : 0;
}

// Counted in bits, since four-bit weights share bytes.
bool etp_dtype_bytes(etp_dtype dtype, uint64_t elements, uint64_t *out_bytes)
{
    unsigned bits = etp_dtype_bits(dtype);
    // The 7 leave room for rounding up to whole bytes.
    if (bits == 0 || elements > (UINT64_MAX - 7) / bits) {
        return false;
    }
    *out_bytes = (elements * bits + 7) / 8;
    return true;
}
