// SPDX-License-Identifier: Apache-2.0
// Element types of tensors: ExecuTorch's ScalarType and XNNPACK's datatype in one list.
// Thread rule: pure functions; names are static.
#ifndef ETPROF_DTYPE_H
#define ETPROF_DTYPE_H

#include <etprof/bytes.h>

ETP_C_BEGIN

// name, bits per element (0 = not a fixed number), text in documents
#define ETP_DTYPE_MAP(X)                                              \
    X(UNKNOWN, 0, "unknown")                                          \
    X(UINT8, 8, "uint8")                                              \
    X(INT8, 8, "int8")                                                \
    X(INT16, 16, "int16")                                             \
    X(INT32, 32, "int32")                                             \
    X(INT64, 64, "int64")                                             \
    X(FLOAT16, 16, "float16")                                         \
    X(FLOAT32, 32, "float32")                                         \
    X(FLOAT64, 64, "float64")                                         \
    X(COMPLEX32, 32, "complex32")                                     \
    X(COMPLEX64, 64, "complex64")                                     \
    X(COMPLEX128, 128, "complex128")                                  \
    X(BOOL, 8, "bool")                                                \
    X(QINT8, 8, "qint8")                                              \
    X(QUINT8, 8, "quint8")                                            \
    X(QINT32, 32, "qint32")                                           \
    X(BFLOAT16, 16, "bfloat16")                                       \
    X(QUINT4X2, 4, "quint4x2")                                        \
    X(QUINT2X4, 2, "quint2x4")                                        \
    X(BITS16, 16, "bits16")                                           \
    X(FLOAT8E5M2, 8, "float8_e5m2")                                   \
    X(FLOAT8E4M3FN, 8, "float8_e4m3fn")                               \
    X(FLOAT8E5M2FNUZ, 8, "float8_e5m2fnuz")                           \
    X(FLOAT8E4M3FNUZ, 8, "float8_e4m3fnuz")                           \
    X(UINT16, 16, "uint16")                                           \
    X(UINT32, 32, "uint32")                                           \
    X(UINT64, 64, "uint64")                                           \
    X(QCINT8, 8, "qcint8") /* per-channel scales */                   \
    X(QCINT32, 32, "qcint32")                                         \
    X(QCINT4, 4, "qcint4")                                            \
    X(QDINT8, 8, "qdint8") /* quantised at run time, scale per row */ \
    X(QBINT4, 4, "qbint4") /* scale per block of a row */             \
    X(QPINT8, 8, "qpint8") /* quantised at run time and packed */     \
    X(PFP32, 32, "pfp32")  /* packed float32 */

typedef enum etp_dtype {
#define ETP_DTYPE_ENUM(name, bits, text) ETP_DTYPE_##name,
    ETP_DTYPE_MAP(ETP_DTYPE_ENUM)
#undef ETP_DTYPE_ENUM
        ETP_DTYPE_COUNT
} etp_dtype;

// UNKNOWN for codes that this version does not know.
ETP_API etp_dtype etp_dtype_from_scalar_type(int code); // ExecuTorch's ScalarType
ETP_API etp_dtype etp_dtype_from_xnn(int code);         // XNNPACK delegate's XNNDatatype
ETP_API const char *etp_dtype_name(etp_dtype dtype);    // static, never NULL
ETP_API unsigned etp_dtype_bits(etp_dtype dtype);
// Bytes of ELEMENTS packed elements, rounded up; false on overflow or unknown size.
ETP_API bool etp_dtype_bytes(etp_dtype dtype, uint64_t elements, uint64_t *out_bytes);

ETP_C_END

#endif
