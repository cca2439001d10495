// SPDX-License-Identifier: Apache-2.0
// Reading and writing files.
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/number.h"
#include "base/sink.h"
#include "os/system.h"

#define TEMPORARY ".tmp-" // and the number of the process

static int open_retry(const char *path, int flags)
{
    int fd;
    do {
        fd = open(path, flags | O_CLOEXEC, 0666);
    } while (fd < 0 && errno == EINTR);
    return fd;
}

// Reads up to LEN bytes; short only at the end of the file. -1 on error.
static ssize_t read_full(int fd, void *buf, size_t len)
{
    size_t done = 0;
    while (done < len) {
        ssize_t n = read(fd, (char *)buf + done, len - done);
        if (n == 0) {
            break;
        }
        if (n < 0 && errno != EINTR) {
            return -1;
        }
        done += n > 0 ? (size_t)n : 0;
    }
    return (ssize_t)done;
}

static bool write_full(int fd, etp_str s)
{
    for (size_t done = 0; done < s.len;) {
        ssize_t n = write(fd, s.ptr + done, s.len - done);
        if (n < 0 && errno != EINTR) {
            return false;
        }
        done += n > 0 ? (size_t)n : 0;
    }
    return true;
}

static etp_status file_load(const char *path, int fd, uint64_t size, etp_file *out, etp_error *err)
{
    if (size >= ETP_OS_MAP_BYTES) {
        void *map = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (map == MAP_FAILED) {
            return etp_fail_errno(err, ETP_IO, "cannot map %s", path);
        }
        out->mapping = map;
        out->bytes = (etp_bytes){map, (size_t)size, 0};
        return ETP_OK;
    }
    uint8_t *data = etp_arena_alloc_raw(&out->arena, (size_t)size, 1);
    if (!data) {
        return etp_fail_nomem(err, path);
    }
    ssize_t got = read_full(fd, data, (size_t)size);
    if (got < 0) {
        return etp_fail_errno(err, ETP_IO, "cannot read %s", path);
    }
    out->bytes = (etp_bytes){data, (size_t)got, 0};
    return ETP_OK;
}

etp_status etp_file_open(const char *path, uint64_t limit, etp_file *out, etp_error *err)
{
    *out = (etp_file){0};
    // O_NONBLOCK: a FIFO of that name must not make us wait for a writer.
    int fd = open_retry(path, O_RDONLY | O_NONBLOCK);
    if (fd < 0) {
        return etp_fail_errno(err, ETP_IO, "cannot open %s", path);
    }
    struct stat st;
    etp_status status;
    char a[ETP_NUMBER_CHARS], b[ETP_NUMBER_CHARS];
    if (fstat(fd, &st) != 0) {
        status = etp_fail_errno(err, ETP_IO, "cannot read %s", path);
    } else if (!S_ISREG(st.st_mode)) {
        status = etp_fail(err, S_ISDIR(st.st_mode) ? ETP_IO : ETP_UNSUPPORTED, "%s is %s", path,
                          S_ISDIR(st.st_mode) ? "a folder, not a file" : "no regular file");
    } else if ((uint64_t)st.st_size > limit || (uint64_t)st.st_size > SIZE_MAX / 2) {
        status = etp_fail(err, ETP_UNSUPPORTED, "%s is too large: %s, at most %s", path,
                          etp_format_bytes((uint64_t)st.st_size, a), etp_format_bytes(limit, b));
    } else {
        status = file_load(path, fd, (uint64_t)st.st_size, out, err);
    }
    close(fd);
    if (status != ETP_OK) {
        etp_file_close(out);
    }
    return status;
}

void etp_file_close(etp_file *file)
{
    if (file->mapping) {
        munmap(file->mapping, file->bytes.len);
    }
    etp_arena_dispose(&file->arena);
    *file = (etp_file){0};
}

etp_status etp_os_read_text(const char *path, size_t limit, etp_arena *arena, etp_str *out,
                            etp_error *err)
{
    int fd = open_retry(path, O_RDONLY | O_NONBLOCK);
    if (fd < 0) {
        return etp_fail_errno(err, ETP_IO, "cannot open %s", path);
    }
    etp_strbuf text;
    etp_strbuf_init(&text, arena);
    etp_status status = ETP_OK;
    for (;;) {
        char buf[8192];
        ssize_t got = read_full(fd, buf, sizeof buf);
        if (got < 0) {
            status = etp_fail_errno(err, ETP_IO, "cannot read %s", path);
            break;
        }
        if ((size_t)got > limit - text.len) {
            status = etp_fail(err, ETP_UNSUPPORTED, "%s is larger than %zu bytes", path, limit);
            break;
        }
        etp_strbuf_append(&text, (etp_str){buf, (size_t)got});
        if (text.failed) {
            status = etp_fail_nomem(err, path);
            break;
        }
        if ((size_t)got < sizeof buf) {
            break;
        }
    }
    close(fd);
    *out = etp_strbuf_str(&text);
    return status;
}

// The folder's entry must reach the disk too, or a rename may be forgotten in a power cut.
static void sync_parent(const char *path)
{
    etp_arena arena = {0};
    etp_str s = etp_str_from(path);
    while (s.len > 0 && s.ptr[s.len - 1] != '/') {
        s.len--;
    }
    const char *parent = s.len == 0 ? "." : etp_arena_strdup(&arena, s);
    int fd = parent ? open_retry(parent, O_RDONLY | O_DIRECTORY) : -1;
    if (fd >= 0) {
        fsync(fd); // some file systems refuse it for folders; the data itself is safe
        close(fd);
    }
    etp_arena_dispose(&arena);
}

// What a sink has been given and the file has not: single cells must not become system calls.
typedef struct file_stream {
    int fd;
    int os_errno; // of the first write that failed
    size_t n;
    char buf[1 << 16];
} file_stream;

static bool stream_put(file_stream *f, etp_str s)
{
    if (f->os_errno == 0 && !write_full(f->fd, s)) {
        f->os_errno = errno;
    }
    return f->os_errno == 0;
}

static bool stream_flush(file_stream *f)
{
    etp_str s = {f->buf, f->n};
    f->n = 0;
    return stream_put(f, s);
}

static bool stream_write(etp_sink *sink, const char *ptr, size_t len)
{
    file_stream *f = sink->target;
    if (len > sizeof f->buf - f->n && !stream_flush(f)) {
        return false;
    }
    if (len > sizeof f->buf) {
        return stream_put(f, (etp_str){ptr, len});
    }
    memcpy(f->buf + f->n, ptr, len);
    f->n += len;
    return true;
}

// A file that nobody else has made: what lies under its name (of a killed process of our number, or
// a link that somebody put there for us to write through) is removed first.
static int open_new(const char *path)
{
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW;
    int fd = open_retry(path, flags);
    if (fd < 0 && errno == EEXIST && unlink(path) == 0) {
        fd = open_retry(path, flags);
    }
    return fd;
}

// Writes to a new file TEMP, or to the device or pipe of that name.
static etp_status write_temp(const char *temp, bool device, etp_os_fill *fill, void *ctx, bool sync,
                             etp_error *err)
{
    file_stream f = {.fd = device ? open_retry(temp, O_WRONLY) : open_new(temp)};
    if (f.fd < 0) {
        return etp_fail_errno(err, ETP_IO, "cannot create %s", temp);
    }
    etp_sink sink = {.write = stream_write, .target = &f};
    etp_status status = fill(ctx, &sink, err);
    bool ok = stream_flush(&f) && (!sync || etp_os_full_sync(f.fd));
    int saved = f.os_errno ? f.os_errno : errno;
    if (close(f.fd) != 0 && ok) {
        ok = false;
        saved = errno;
    }
    if (!ok) {
        errno = saved;
        return etp_fail_errno(err, ETP_IO, "cannot write %s", temp);
    }
    return status == ETP_OK && sink.failed ? etp_fail_nomem(err, temp) : status;
}

// Devices and pipes (/dev/null, /dev/stdout) are written to; a rename would put a file in their
// place.
static bool is_no_file(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

static etp_status replace(const char *path, etp_os_fill *fill, void *ctx, bool sync, etp_error *err)
{
    if (is_no_file(path)) {
        return write_temp(path, true, fill, ctx, false, err);
    }
    etp_arena arena = {0};
    const char *temp = etp_arena_printf(&arena, "%s" TEMPORARY "%ld", path, (long)getpid());
    etp_status status =
        temp ? write_temp(temp, false, fill, ctx, sync, err) : etp_fail_nomem(err, path);
    if (status == ETP_OK && rename(temp, path) != 0) {
        status = etp_fail_errno(err, ETP_IO, "cannot write %s", path);
    }
    if (status == ETP_OK && sync) {
        sync_parent(path);
    }
    if (status != ETP_OK && temp) {
        unlink(temp);
    }
    etp_arena_dispose(&arena);
    return status;
}

void etp_os_sweep_temporary(const char *dir)
{
    etp_arena arena = {0};
    etp_dir_list list = {0};
    if (etp_os_list(dir, &arena, &list, NULL) != ETP_OK) {
        list.n = 0;
    }
    for (size_t i = 0; i < list.n; i++) {
        const char *mark = strstr(list.items[i].name, TEMPORARY);
        int64_t pid;
        if (!mark || list.items[i].is_dir ||
            !etp_parse_i64(etp_str_from(mark + strlen(TEMPORARY)), &pid) || pid <= 0 ||
            pid > INT32_MAX || etp_process_alive(pid)) {
            continue;
        }
        const char *path = etp_arena_printf(&arena, "%s/%s", dir, list.items[i].name);
        if (path) {
            unlink(path);
        }
    }
    etp_arena_dispose(&arena);
}

static etp_status fill_text(void *ctx, etp_sink *sink, etp_error *err)
{
    (void)err;
    etp_sink_write(sink, *(etp_str *)ctx);
    return ETP_OK;
}

etp_status etp_os_write_atomic(const char *path, etp_str content, etp_error *err)
{
    return replace(path, fill_text, &content, true, err);
}

etp_status etp_os_replace_by(const char *path, etp_os_fill *fill, void *ctx, etp_error *err)
{
    return replace(path, fill, ctx, false, err);
}

etp_status etp_os_append(const char *path, etp_str content, etp_error *err)
{
    int fd = open_retry(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) {
        return etp_fail_errno(err, ETP_IO, "cannot open %s", path);
    }
    struct stat st;
    bool ok = fstat(fd, &st) == 0;
    if (ok && !(write_full(fd, content) && etp_os_full_sync(fd))) {
        int saved = errno; // the cause; a cut that fails as well would only hide it
        int ignored = ftruncate(fd, st.st_size);
        (void)ignored;
        ok = false;
        errno = saved;
    }
    etp_status status = ok ? ETP_OK : etp_fail_errno(err, ETP_IO, "cannot write %s", path);
    close(fd);
    return status;
}

etp_status etp_os_truncate(const char *path, uint64_t size, etp_error *err)
{
    int fd = open_retry(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK);
    etp_status status = fd >= 0 && ftruncate(fd, (off_t)size) == 0
                            ? ETP_OK
                            : etp_fail_errno(err, ETP_IO, "cannot shorten %s", path);
    if (fd >= 0) {
        close(fd);
    }
    return status;
}

etp_status etp_os_sync(const char *path, etp_error *err)
{
    int fd = open_retry(path, O_RDONLY);
    if (fd < 0) {
        return etp_fail_errno(err, ETP_IO, "cannot open %s", path);
    }
    bool ok = etp_os_full_sync(fd);
    etp_status status = ok ? ETP_OK : etp_fail_errno(err, ETP_IO, "cannot write %s", path);
    close(fd);
    return status;
}

etp_status etp_os_unlink(const char *path, etp_error *err)
{
    if (unlink(path) != 0 && errno != ENOENT) {
        return etp_fail_errno(err, ETP_IO, "cannot remove %s", path);
    }
    return ETP_OK;
}
