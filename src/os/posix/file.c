// SPDX-License-Identifier: Apache-2.0
// Reading and writing files.
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/guard.h"
#include "base/number.h"
#include "base/path.h"
#include "base/sink.h"
#include "os/posix/place.h"

// O_NONBLOCK: a FIFO of that name must not make us wait for a writer.
static etp_status open_to_read(const char *path, int *fd, etp_error *err)
{
    ETP_NEED(path, err, "a path");
    *fd = etp_place_open(AT_FDCWD, path, O_RDONLY | O_NONBLOCK);
    return *fd >= 0 ? ETP_OK : etp_fail_errno(err, ETP_IO, "cannot open %s", path);
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
        if (n < 0 && errno == EAGAIN) { // a pipe whose writer has nothing yet
            struct pollfd more = {.fd = fd, .events = POLLIN};
            n = poll(&more, 1, -1) < 0 ? -1 : 0;
        }
        if (n < 0 && errno != EINTR) {
            return -1;
        }
        done += (size_t)ETP_MAX(n, 0);
    }
    return (ssize_t)done;
}

bool etp_place_write(int fd, etp_str s)
{
    for (size_t done = 0; done < s.len;) {
        ssize_t n = write(fd, s.ptr + done, s.len - done);
        if (n < 0 && errno != EINTR) {
            return false;
        }
        done += (size_t)ETP_MAX(n, 0);
    }
    return true;
}

// A file that became shorter since its size was asked has what could be read.
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
    ETP_NEED(data, err, path);
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
    int fd = -1;
    ETP_TRY(open_to_read(path, &fd, err));
    struct stat st;
    etp_status status;
    if (fstat(fd, &st) != 0) {
        status = etp_fail_errno(err, ETP_IO, "cannot read %s", path);
    } else if (!S_ISREG(st.st_mode)) {
        status = etp_fail(err, S_ISDIR(st.st_mode) ? ETP_IO : ETP_UNSUPPORTED, "%s is %s", path,
                          S_ISDIR(st.st_mode) ? "a folder, not a file" : "no regular file");
    } else if ((uint64_t)st.st_size > limit || (uint64_t)st.st_size > SIZE_MAX / 2) {
        status = etp_fail(err, ETP_UNSUPPORTED, "%s is too large: %s, at most %s", path,
                          ETP_BYTES((uint64_t)st.st_size), ETP_BYTES(limit));
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

static etp_status read_text(const char *path, size_t limit, etp_arena *arena, etp_str *out,
                            etp_error *err)
{
    int fd = -1;
    ETP_TRY(open_to_read(path, &fd, err));
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
        if (text.failed || (size_t)got < sizeof buf) {
            status = etp_arena_check(arena, err, path);
            break;
        }
    }
    close(fd);
    *out = etp_strbuf_str(&text);
    return status;
}

etp_status etp_os_read_text(const char *path, size_t limit, etp_arena *arena, etp_str *out,
                            etp_error *err)
{
    ETP_UNGUARDED(arena, read_text(path, limit, arena, out, err));
}

// The folder's entry must reach the disk too, or a rename may be forgotten in a power cut.
static void sync_parent(const etp_place *p)
{
    const char *path = p->name;
    if (p->folder >= 0) {
        fsync(p->folder);
        return;
    }
    etp_arena arena = {0};
    etp_str s = etp_str_from(path);
    s.len -= etp_path_last(s).len;
    const char *parent = s.len == 0 ? "." : etp_arena_strdup(&arena, s);
    int fd = parent ? etp_place_open(AT_FDCWD, parent, O_RDONLY | O_DIRECTORY) : -1;
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
    if (f->os_errno == 0 && !etp_place_write(f->fd, s)) {
        f->os_errno = errno;
    }
    return f->os_errno == 0;
}

// n is 0 afterwards even if it failed: what could not be written is not tried again.
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
static int open_new(int folder, const char *name)
{
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW;
    int fd = etp_place_open(folder, name, flags);
    if (fd < 0 && errno == EEXIST && unlinkat(folder, name, 0) == 0) {
        fd = etp_place_open(folder, name, flags);
    }
    return fd;
}

// Writes to FD, which is of P, and closes it.
// The system's error comes before what FILL made of its failing sink: "no space left" helps,
// "cannot write" does not. A sink that failed without an error of the system ran out of memory.
static etp_status write_fd(int fd, const etp_place *p, etp_os_fill *fill, void *ctx, bool sync,
                           etp_error *err)
{
    file_stream f = {.fd = fd};
    if (fd < 0) {
        return etp_fail_errno(err, ETP_IO, "cannot create %s", p->shown);
    }
    etp_sink sink = {.write = stream_write, .target = &f};
    etp_status status = fill(ctx, &sink, err);
    bool ok = stream_flush(&f) && (!sync || etp_os_full_sync(f.fd));
    int saved = ETP_OR(f.os_errno, errno);
    if (close(f.fd) != 0 && ok) {
        ok = false;
        saved = errno;
    }
    if (!ok) {
        errno = saved;
        return etp_fail_errno(err, ETP_IO, "cannot write %s", p->shown);
    }
    return status == ETP_OK && sink.failed ? etp_fail_nomem(err, p->shown) : status;
}

typedef struct temporary { // the name that next content has until it is whole
    char name[PATH_MAX];   // on the stack: it can be removed where there is no memory
} temporary;

// "NAME.tmp-1234": etp_os_remove_temporary reads the number back. There is one such name in a
// process, so two threads must not replace one file at the same time.
static etp_status name_temporary(const etp_place *p, temporary *out, etp_error *err)
{
    int n =
        snprintf(out->name, sizeof out->name, "%s" ETP_TEMPORARY "%ld", p->name, (long)getpid());
    errno = ENAMETOOLONG;
    return n > 0 && (size_t)n < sizeof out->name
               ? ETP_OK
               : etp_fail_errno(err, ETP_IO, "cannot create %s", p->shown);
}

etp_status etp_place_stage(const etp_place *p, etp_os_fill *fill, void *ctx, bool sync,
                           etp_error *err)
{
    temporary temp;
    ETP_TRY(name_temporary(p, &temp, err));
    etp_status status = write_fd(open_new(p->folder, temp.name), p, fill, ctx, sync, err);
    if (status != ETP_OK) {
        unlinkat(p->folder, temp.name, 0);
    }
    return status;
}

etp_status etp_place_unstage(const etp_place *p, bool keep, bool sync, etp_error *err)
{
    temporary temp;
    ETP_TRY(name_temporary(p, &temp, err));
    etp_status status = ETP_OK;
    if (keep && renameat(p->folder, temp.name, p->folder, p->name) != 0) {
        status = etp_fail_errno(err, ETP_IO, "cannot write %s", p->shown);
        keep = false;
    }
    if (!keep) {
        unlinkat(p->folder, temp.name, 0);
    } else if (sync) {
        sync_parent(p);
    }
    return status;
}

etp_status etp_place_replace(const etp_place *p, etp_os_fill *fill, void *ctx, bool sync,
                             etp_error *err)
{
    ETP_NEED(p->name, err, "a path");
    // Devices and pipes (/dev/null, /dev/stdout) are written to; a rename would put a file in their
    // place. Never below a folder of ours: what is none of its files is replaced there.
    struct stat st;
    if (p->folder < 0 && fstatat(p->folder, p->name, &st, 0) == 0 && !S_ISREG(st.st_mode) &&
        !S_ISDIR(st.st_mode)) {
        return write_fd(etp_place_open(AT_FDCWD, p->name, O_WRONLY), p, fill, ctx, false, err);
    }
    ETP_TRY(etp_place_stage(p, fill, ctx, sync, err));
    return etp_place_unstage(p, true, sync, err);
}

etp_status etp_place_fill(void *ctx, etp_sink *sink, etp_error *err)
{
    (void)err;
    etp_sink_write(sink, *(etp_str *)ctx);
    return ETP_OK;
}

etp_status etp_os_write_atomic(const char *path, etp_str content, etp_error *err)
{
    const etp_place p = etp_place_of(path);
    return etp_place_replace(&p, etp_place_fill, &content, true, err);
}

etp_status etp_os_replace_by(const char *path, etp_os_fill *fill, void *ctx, etp_error *err)
{
    const etp_place p = etp_place_of(path);
    return etp_place_replace(&p, fill, ctx, false, err);
}

etp_status etp_os_unlink(const char *path, etp_error *err)
{
    ETP_NEED(path, err, "a path");
    if (unlink(path) != 0 && errno != ENOENT) {
        return etp_fail_errno(err, ETP_IO, "cannot remove %s", path);
    }
    return ETP_OK;
}
