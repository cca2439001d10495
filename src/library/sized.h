// SPDX-License-Identifier: Apache-2.0
// What programs give: structs that begin with their size, so that programs and libraries of
// different versions agree, and texts, which they may free as soon as the function returns.
#ifndef ETP_LIBRARY_SIZED_H
#define ETP_LIBRARY_SIZED_H

#include <etprof/arena.h>

// Size of TYPE when LAST was its last member.
#define ETP_SIZE_TO(type, last) (offsetof(type, last) + sizeof(((type *)NULL)->last))

// Copies the caller's options GIVEN (NULL: the defaults, which are zero) into OPTIONS of SIZE
// bytes. FIRST: the size of the first version. ETP_USAGE when struct_size is not set,
// ETP_UNSUPPORTED when a member is set that this version does not know.
ETP_NODISCARD etp_status etp_options_take(void *options, size_t size, size_t first,
                                          const void *given, const char *what, etp_error *err);
// TEXT in ARENA, whose owner checks it in the end: NULL means "not given" of every option.
const char *etp_keep(etp_arena *arena, const char *text);
// Likewise the N of GIVEN, none of which may be empty.
ETP_NODISCARD etp_status etp_keep_list(etp_arena *arena, const char *const *given, size_t n,
                                       const char *what, const char *const **out, etp_error *err);
// Copies RESULT of SIZE bytes to the caller's OUT, as much as that has room for.
ETP_NODISCARD etp_status etp_result_give(const void *result, size_t size, size_t first, void *out,
                                         const char *what, etp_error *err);

#endif
