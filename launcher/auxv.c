// SPDX-License-Identifier: Apache-2.0
// The auxiliary vector of a program that was just started: the kernel puts the CPU's features
// there, on the program's stack, and everything that asks by getauxval reads them from it. Linux
// only.
#include "launch.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#ifndef AT_HWCAP
#define AT_HWCAP 16
#endif
#ifndef AT_HWCAP2
#define AT_HWCAP2 26
#endif
#ifndef AT_ENTRY
#define AT_ENTRY 9
#endif

#define MAX_WORDS \
    (UINT64_C(1) << 22) // arguments and environment together: far above any system's limit

typedef struct stack_reader {
    int fd;
    uint64_t at; // address of the next word
    uint64_t words[512];
    size_t n, next;
    uint64_t taken;
} stack_reader;

static bool next_word(stack_reader *r, uint64_t *out)
{
    if (r->next == r->n) {
        ssize_t got = pread(r->fd, r->words, sizeof r->words, (off_t)(r->at + 8 * r->n));
        r->at += 8 * r->n;
        if (got < 8) { // nearer to the end of the stack than the buffer is long: one by one
            got = pread(r->fd, r->words, 8, (off_t)r->at);
        }
        r->n = got > 0 ? (size_t)got / 8 : 0;
        r->next = 0;
    }
    if (r->n == 0 || ++r->taken > MAX_WORDS) {
        return false;
    }
    *out = r->words[r->next++];
    return true;
}

static uint64_t address_of_last(const stack_reader *r)
{
    return r->at + 8 * (r->next - 1);
}

// Moves past argc, argv and envp.
static bool to_vector(stack_reader *r)
{
    uint64_t argc, word = 1;
    if (!next_word(r, &argc) || argc > MAX_WORDS) {
        return false;
    }
    for (uint64_t i = 0; i <= argc; i++) {
        if (!next_word(r, &word)) {
            return false;
        }
    }
    do {
        if (!next_word(r, &word)) {
            return false;
        }
    } while (word != 0);
    return true;
}

static bool clear(launch *l, const stack_reader *r, uint64_t value, uint64_t mask, uint64_t *before,
                  uint64_t *after)
{
    *before = value;
    *after = value & ~mask;
    if (*after != value &&
        pwrite(r->fd, after, sizeof *after, (off_t)address_of_last(r)) != (ssize_t)sizeof *after) {
        launch_why(l, "cannot write to the program's stack: %s", strerror(errno));
        return false;
    }
    return true;
}

bool auxv_hide(launch *l, pid_t pid, int mem_fd, uint64_t sp)
{
    stack_reader r = {.fd = mem_fd, .at = sp};
    uint64_t type, value;
    bool seen = false;
    if (!to_vector(&r)) {
        launch_why(l, "the stack of process %d is not what a started program's is", (int)pid);
        return false;
    }
    while (next_word(&r, &type) && type != AT_NULL && next_word(&r, &value)) {
        if (type == AT_HWCAP) {
            seen = true;
            if (!clear(l, &r, value, l->mask.hwcap, &l->hwcap_before, &l->hwcap_after)) {
                return false;
            }
        } else if (type == AT_HWCAP2 &&
                   !clear(l, &r, value, l->mask.hwcap2, &l->hwcap2_before, &l->hwcap2_after)) {
            return false;
        }
    }
    if (!seen) {
        launch_why(l, "no AT_HWCAP in the auxiliary vector of process %d", (int)pid);
    }
    return seen;
}

uint64_t auxv_entry(int mem_fd, uint64_t sp)
{
    stack_reader r = {.fd = mem_fd, .at = sp};
    uint64_t type, value;
    if (!to_vector(&r)) {
        return 0;
    }
    while (next_word(&r, &type) && type != AT_NULL && next_word(&r, &value)) {
        if (type == AT_ENTRY) {
            return value;
        }
    }
    return 0;
}
