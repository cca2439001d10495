// SPDX-License-Identifier: Apache-2.0
// Filling the caller's error record.
#include <etprof/error.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

ETP_PRINTF(5, 0)
static void fill(etp_error *err, etp_status status, int os_errno, uint64_t offset, const char *fmt,
                 va_list ap)
{
    err->status = status;
    err->os_errno = os_errno;
    err->offset = offset;
    vsnprintf(err->msg, sizeof err->msg, fmt, ap); // a cut message is still a message
}

etp_status etp_fail(etp_error *err, etp_status status, const char *fmt, ...)
{
    if (err) {
        va_list ap;
        va_start(ap, fmt);
        fill(err, status, 0, ETP_NO_OFFSET, fmt, ap);
        va_end(ap);
    }
    return status;
}

etp_status etp_fail_at(etp_error *err, etp_status status, uint64_t offset, const char *fmt, ...)
{
    if (err) {
        va_list ap;
        va_start(ap, fmt);
        fill(err, status, 0, offset, fmt, ap);
        va_end(ap);
    }
    return status;
}

etp_status etp_fail_errno(etp_error *err, etp_status status, const char *fmt, ...)
{
    int saved = errno;
    if (err) {
        va_list ap;
        va_start(ap, fmt);
        fill(err, status, saved, ETP_NO_OFFSET, fmt, ap);
        va_end(ap);
        size_t used = strlen(err->msg);
        snprintf(err->msg + used, sizeof err->msg - used, ": %s", strerror(saved));
    }
    return status;
}

// What is there already comes last, so a message that is cut keeps what was added.
etp_status etp_fail_ctx(etp_error *err, const char *fmt, ...)
{
    if (!err) {
        return ETP_INTERNAL;
    }
    char old[sizeof err->msg];
    memcpy(old, err->msg, sizeof old);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(err->msg, sizeof err->msg, fmt, ap);
    va_end(ap);
    size_t used = strlen(err->msg);
    snprintf(err->msg + used, sizeof err->msg - used, ": %s", old);
    return err->status;
}

int etp_status_exit_code(etp_status status)
{
    switch (status) {
#define CODE(name, code, text) \
    case ETP_##name:           \
        return code;
        ETP_STATUS_MAP(CODE)
#undef CODE
    }
    return 70;
}

const char *etp_status_text(etp_status status)
{
    switch (status) {
#define TEXT(name, code, text) \
    case ETP_##name:           \
        return text;
        ETP_STATUS_MAP(TEXT)
#undef TEXT
    }
    return "unknown status";
}
