// SPDX-License-Identifier: Apache-2.0
// Files to and from a device, named and checked by their SHA-256: what is there already is not sent
// again, what was cut off is never taken for the whole.
#include "device/remote.h"

#include <unistd.h>

#include "base/number.h"
#include "base/path.h"
#include "base/sha256.h"
#include "base/shell.h"

#define HASH_NS ((uint64_t)120 * 1000000000u) // a slow card reads a big model

#define PULL_BYTES ((uint64_t)1 << 30) // of a recording, or of all outputs

// Status of the script that receives a file.
enum { RECEIVED = 0, NO_SPACE = 33, WRONG_BYTES = 34 };

// sha256 of a file there: coreutils, toybox and busybox have the first, macOS the second.
static const char k_hash[] =
    "h() { if command -v sha256sum >/dev/null 2>&1; then sha256sum <\"$1\"; "
    "else shasum -a 256 <\"$1\"; fi | cut -c 1-64; }\n";

static etp_status has_file(etp_device *d, const char *remote, const char *hex, etp_arena *arena,
                           bool *out, etp_error *err)
{
    const char *q = etp_shell_quoted(arena, remote);
    etp_remote_call call = {
        .script = etp_arena_printf(arena, "%s[ -f %s ] && [ \"$(h %s)\" = %s ]", k_hash, q, q, hex),
        .timeout_ns = HASH_NS};
    ETP_TRY(etp_remote_do(d, &call, arena, err));
    *out = call.status == 0;
    return ETP_OK;
}

// Through NAME.<nonce>.part, which gets its name when size and hash are right.
// Two sessions may send one file at a time: each has a part of its own, and the last rename wins
// with the same bytes. Space is asked for first, with a mebibyte to spare.
static etp_status send(etp_device *d, etp_bytes bytes, const char *hex, const char *remote,
                       bool executable, etp_arena *arena, etp_error *err)
{
    const etp_remote *r = d->data;
    const char *q = etp_shell_quoted(arena, remote);
    etp_remote_call call = {.input = bytes, .timeout_ns = HASH_NS};
    call.script = etp_arena_printf(
        arena,
        "%sf=%s; p=\"$f.%s.part\"; d=${f%%/*}\n"
        "mkdir -p \"$d\" || exit 1\n"
        "free=$(df -Pk \"$d\" 2>/dev/null | awk 'NR == 2 { print $4 }')\n"
        "case $free in ''|*[!0-9]*) ;; *) [ \"$free\" -gt %llu ] || exit %d ;; esac\n"
        "cat >\"$p\" || { rm -f \"$p\"; exit 1; }\n"
        "if [ $(($(wc -c <\"$p\"))) -ne %zu ] || [ \"$(h \"$p\")\" != %s ]; then "
        "rm -f \"$p\"; exit %d; fi\n"
        "chmod %s \"$p\" && mv -f \"$p\" \"$f\"",
        k_hash, q, r->nonce, (unsigned long long)(bytes.len / 1024 + 1024), NO_SPACE, bytes.len,
        hex, WRONG_BYTES, executable ? "755" : "644");
    ETP_TRY(etp_remote_do(d, &call, arena, err));
    etp_str reason = etp_remote_reason(call.log);
    switch (call.status) {
    case RECEIVED:
        return ETP_OK;
    case NO_SPACE:
        return etp_fail(err, ETP_ENVIRONMENT, "%s: no space for %s in %s", r->name,
                        ETP_BYTES(bytes.len), r->root);
    case WRONG_BYTES:
        return etp_fail(err, ETP_IO, "%s: the file arrived damaged", r->name);
    default:
        return etp_fail(err, ETP_ENVIRONMENT, "%s: cannot write %s: %.*s", r->name, remote,
                        ETP_STR_ARG(reason));
    }
}

etp_status etp_remote_push(etp_device *d, const char *local, etp_arena *arena,
                           const char **out_remote, etp_error *err)
{
    etp_remote *r = d->data;
    etp_file file;
    char hex[ETP_SHA256_HEX_CHARS];
    ETP_TRY(etp_file_open(local, UINT64_MAX, &file, err));
    etp_sha256_of(file.bytes.ptr, file.bytes.len, hex);
    const char *remote = etp_arena_printf(arena, "%s/files/%s", r->root, hex);
    const char *key = etp_arena_printf(&d->arena, "%s", hex);
    etp_status status = etp_arena_check(arena, err, local); // REMOTE goes into a command line
    bool there = false;
    for (size_t i = 0; i < r->sent.n; i++) {
        there = there || strcmp(r->sent.items[i], hex) == 0;
    }
    const bool known = there;
    if (status == ETP_OK && !there) {
        status = has_file(d, remote, hex, arena, &there, err);
    }
    if (status == ETP_OK && !there) {
        status = send(d, file.bytes, hex, remote, false, arena, err);
        if (status != ETP_OK) {
            status = etp_fail_ctx(err, "sending %s", local);
        }
    }
    if (status == ETP_OK && !known && key) {
        ETP_ADD(&d->arena, &r->sent, key);
    }
    etp_file_close(&file);
    *out_remote = remote;
    return status;
}

// ---- the bundle ----

typedef struct listed_file {
    etp_str hex, path; // path without "./"
} listed_file;
typedef struct listing {
    listed_file *items;
    size_t n, cap;
} listing;

// Hashes of all files of the bundle's folder there, in one call.
static etp_status list_bundle(etp_device *d, listing *out, etp_error *err)
{
    const etp_remote *r = d->data;
    const char *q = etp_shell_quoted(&d->arena, r->bundle);
    etp_remote_call call = {
        .script = etp_arena_printf(&d->arena,
                                   "%scd %s 2>/dev/null || exit 0\n"
                                   "find . -type f ! -name '*.part' | while read -r f; do "
                                   "echo \"$(h \"$f\") $f\"; done",
                                   k_hash, q),
        .timeout_ns = HASH_NS};
    ETP_TRY(etp_remote_do(d, &call, &d->arena, err));
    for (etp_str line, rest = call.out; etp_str_part(&rest, '\n', &line);) {
        if (line.len <= 67 || memcmp(line.ptr + 64, " ./", 3) != 0) {
            continue;
        }
        listed_file f = {
            {line.ptr,      64           },
            {line.ptr + 67, line.len - 67}
        };
        ETP_ADD(&d->arena, out, f);
    }
    return ETP_OK;
}

static bool is_listed(const listing *there, const char *path, const char *hex)
{
    for (size_t i = 0; i < there->n; i++) {
        if (etp_str_eqz(there->items[i].path, path)) {
            return etp_str_eqz(there->items[i].hex, hex);
        }
    }
    return false;
}

// PATH is below the bundle's folder here (LOCAL its full name) and there.
static etp_status push_part(etp_device *d, const listing *there, const char *local,
                            const char *path, etp_error *err)
{
    const etp_remote *r = d->data;
    etp_file file;
    char hex[ETP_SHA256_HEX_CHARS];
    const char *to = etp_arena_printf(&d->arena, "%s/%s", r->bundle, path);
    ETP_TRY(etp_file_open(local, UINT64_MAX, &file, err));
    etp_sha256_of(file.bytes.ptr, file.bytes.len, hex);
    etp_status status = ETP_OK;
    if (!is_listed(there, path, hex)) {
        status = send(d, file.bytes, hex, to, etp_os_is_executable(local), &d->arena, err);
    }
    etp_file_close(&file);
    return status == ETP_OK ? ETP_OK : etp_fail_ctx(err, "sending %s", local);
}

etp_status etp_remote_push_bundle(etp_device *d, etp_error *err)
{
    etp_remote *r = d->data;
    if (r->bundle_checked && !r->suspect) {
        return ETP_OK;
    }
    bool there = false;
    if (r->bundle_checked) {
        // Is the folder still there? The question also takes up a lost connection.
        const char *q = etp_shell_quoted(&d->arena, r->bundle);
        etp_remote_call look = {.script = etp_arena_printf(&d->arena, "[ -d %s ]", q)};
        ETP_TRY(etp_remote_do(d, &look, &d->arena, err));
        there = look.status == 0;
    }
    if (!there) {
        listing found = {0};
        const etp_bundle *b = &d->bundle;
        r->sent.n = 0; // whoever took the bundle away may have taken more
        ETP_TRY(list_bundle(d, &found, err));
        if (b->sdk_digest[0] == '\0') { // a bare program
            ETP_TRY(push_part(d, &found, b->runner, etp_path_name(b->runner), err));
        } else {
            etp_bundle_files files;
            ETP_TRY(etp_bundle_list(b, &d->arena, &files, err));
            for (size_t i = 0; i < files.n; i++) {
                const etp_bundle_file *f = &files.items[i];
                if (!f->is_dir) {
                    ETP_TRY(push_part(d, &found, f->path, f->path + strlen(b->dir) + 1, err));
                }
            }
        }
    }
    r->bundle_checked = true;
    r->suspect = false;
    return ETP_OK;
}

// ---- back ----

// Names come from the device and become paths here.
static bool plain_name(etp_str name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        bool ok = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '-' || c == '_' || c == '.';
        if (!ok) {
            return false;
        }
    }
    return name.len > 0 && name.len < 128 && name.ptr[0] != '.';
}

// The hash was taken there before the transfer, so what was cut off on the way is noticed. *LEFT is
// what the device may still send, of this file and those that follow.
static etp_status fetch(etp_device *d, const char *remote, etp_str hex, const char *local,
                        uint64_t *left, etp_arena *arena, etp_error *err)
{
    const etp_remote *r = d->data;
    const char *q = etp_shell_quoted(arena, remote);
    const char *part = etp_arena_printf(arena, "%s.part", local);
    etp_remote_call call = {
        .script = etp_arena_printf(arena, "cat %s", q), .output_path = part, .most_bytes = *left};
    etp_status status = etp_remote_do(d, &call, arena, err);
    etp_file file;
    if (status == ETP_OK && call.status != 0) {
        etp_str reason = etp_remote_reason(call.log);
        status =
            etp_fail(err, ETP_IO, "%s: cannot read %s: %.*s", r->name, remote, ETP_STR_ARG(reason));
    }
    if (status == ETP_OK && (status = etp_file_open(part, UINT64_MAX, &file, err)) == ETP_OK) {
        char found[ETP_SHA256_HEX_CHARS];
        etp_sha256_of(file.bytes.ptr, file.bytes.len, found);
        *left -= file.bytes.len;
        etp_file_close(&file);
        status = etp_str_eqz(hex, found)
                     ? etp_os_move(part, local, err)
                     : etp_fail(err, ETP_IO, "%s: %s arrived damaged", r->name, remote);
    }
    if (status != ETP_OK) {
        etp_status ignored = etp_os_unlink(part, NULL);
        (void)ignored;
    }
    return status;
}

// The script answers with a line for each file, hash and name; a file by itself is called ".".
etp_status etp_remote_pull(etp_device *d, const char *remote, const char *local, etp_error *err)
{
    etp_remote *r = d->data;
    etp_arena arena = {0};
    const char *q = etp_shell_quoted(&arena, remote);
    etp_remote_call call = {
        .script = etp_arena_printf(
            &arena,
            "%sif [ -d %s ]; then cd %s && for f in *; do [ -f \"$f\" ] && "
            "echo \"$(h \"$f\") $f\"; done; :; else [ -f %s ] && echo \"$(h %s) .\"; fi",
            k_hash, q, q, q, q),
        .timeout_ns = HASH_NS};
    etp_status status = etp_remote_do(d, &call, &arena, err);
    if (status == ETP_OK && call.status != 0) {
        status = etp_fail(err, ETP_IO, "%s: %s is not there", r->name, remote);
    }
    bool folder = false;
    const uint64_t rest_of_session = ETP_REMOTE_SESSION_BYTES - r->pulled;
    const uint64_t most = ETP_MIN(rest_of_session, PULL_BYTES);
    uint64_t left = most;
    const uint64_t begin = etp_os_now_ns();
    for (etp_str line, rest = call.out; status == ETP_OK && etp_str_part(&rest, '\n', &line);) {
        if (line.len < 66 || line.ptr[64] != ' ') {
            status = etp_fail(err, ETP_IO, "%s: cannot tell the hash of %s", r->name, remote);
            break;
        }
        etp_str hex = {line.ptr, 64}, name = {line.ptr + 65, line.len - 65};
        if (etp_str_eqz(name, ".")) {
            status = fetch(d, remote, hex, local, &left, &arena, err);
            continue;
        }
        if (!plain_name(name)) {
            status =
                etp_fail(err, ETP_CHILD, "%s: %s has a file with an invalid name", r->name, remote);
            break;
        }
        // Many small files, each of them slow, are an answer that never ends, too.
        const uint64_t transfer_ns = (most - left) / ETP_REMOTE_LEAST_RATE * UINT64_C(1000000000);
        if (etp_os_now_ns() - begin >= 4 * r->silence_limit_ns + transfer_ns) {
            status = etp_fail(err, ETP_CHILD, "%s: the files of %s did not all come in time",
                              r->name, remote);
            break;
        }
        if (!folder) {
            status = etp_os_remove_tree(local, err);
            if (status == ETP_OK) {
                status = etp_os_mkdirs(local, err);
            }
            folder = true;
        }
        const char *from = etp_arena_printf(&arena, "%s/%.*s", remote, ETP_STR_ARG(name));
        const char *to = etp_arena_printf(&arena, "%s/%.*s", local, ETP_STR_ARG(name));
        if (status == ETP_OK) {
            status = fetch(d, from, hex, to, &left, &arena, err);
        }
    }
    r->pulled += most - left;
    etp_arena_dispose(&arena);
    return status;
}
