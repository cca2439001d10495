// SPDX-License-Identifier: Apache-2.0
// Status codes and the caller-owned error record that every fallible function of etprof fills.
//
// Thread rule: no shared state; an etp_error belongs to the caller.
// Readers of files say ETP_CORRUPT with the byte position for what breaks the format,
// ETP_UNSUPPORTED for a sound file that is newer or larger than what they know, ETP_NOMEM.
#ifndef ETPROF_ERROR_H
#define ETPROF_ERROR_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define ETP_API __attribute__((visibility("default")))
#define ETP_PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))
#define ETP_NODISCARD __attribute__((warn_unused_result))
#else
#define ETP_API
#define ETP_PRINTF(fmt, first)
#define ETP_NODISCARD
#endif

#if defined(__cplusplus) // around the declarations of every public header
#define ETP_C_BEGIN extern "C" {
#define ETP_C_END }
#else
#define ETP_C_BEGIN
#define ETP_C_END
#endif

ETP_C_BEGIN

// name, process exit code (the contract of `etprof help exit-codes`), text
#define ETP_STATUS_MAP(X)                            \
    X(OK, 0, "ok")                                   \
    X(NO, 1, "the answer is no")                     \
    X(USAGE, 2, "bad command line")                  \
    X(UNKNOWN, 3, "not enough data")                 \
    X(CORRUPT, 4, "broken file")                     \
    X(UNSUPPORTED, 4, "unsupported file")            \
    X(IO, 5, "I/O error")                            \
    X(NOMEM, 5, "out of memory")                     \
    X(ENVIRONMENT, 5, "environment lacks something") \
    X(DEVICE, 5, "device error")                     \
    X(CHILD, 6, "measured program failed")           \
    X(INTERRUPTED, 128, "interrupted")               \
    X(INTERNAL, 70, "internal error")

typedef enum etp_status {
#define ETP_STATUS_ENUM(name, code, text) ETP_##name,
    ETP_STATUS_MAP(ETP_STATUS_ENUM)
#undef ETP_STATUS_ENUM
} etp_status;

#define ETP_NO_OFFSET UINT64_MAX

typedef struct etp_error {
    etp_status status;
    int os_errno;    // 0 when the system was not involved
    uint64_t offset; // byte position in the file, ETP_NO_OFFSET when there is none
    char msg[480];   // lower case, no full stop; names a file only where a path was given
} etp_error;

// Each fills *err (which may be NULL) and returns STATUS, so that callers write `return
// etp_fail(…)`.
ETP_API etp_status etp_fail(etp_error *err, etp_status status, const char *fmt, ...)
    ETP_PRINTF(3, 4);
ETP_API etp_status etp_fail_at(etp_error *err, etp_status status, uint64_t offset, const char *fmt,
                               ...) ETP_PRINTF(4, 5);
// Appends ": <strerror(errno)>".
ETP_API etp_status etp_fail_errno(etp_error *err, etp_status status, const char *fmt, ...)
    ETP_PRINTF(3, 4);
// Prefixes "<fmt>: " to what is there already; returns err->status (ETP_INTERNAL when err is NULL).
ETP_API etp_status etp_fail_ctx(etp_error *err, const char *fmt, ...) ETP_PRINTF(2, 3);

ETP_API int etp_status_exit_code(etp_status status);
ETP_API const char *etp_status_text(etp_status status); // static, never NULL

#define ETP_TRY(expr)                 \
    do {                              \
        etp_status etp_try_ = (expr); \
        if (etp_try_ != ETP_OK) {     \
            return etp_try_;          \
        }                             \
    } while (0)

ETP_C_END

#endif
