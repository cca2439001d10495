// SPDX-License-Identifier: Apache-2.0
// Which run a path means: a folder above several runs, or a name whose later runs got numbers.
#include "base/number.h"
#include "base/path.h"
#include "os/os.h"
#include "store/internal.h"

// Adds DIR when it is a run folder. One whose manifest cannot be read counts as the oldest: it
// cannot say when it was made, and what is readable is preferred.
static void add_if_run(const char *dir, etp_arena *arena, etp_run_found *out)
{
    if (!etp_run_is(dir)) {
        return;
    }
    etp_run run;
    etp_run_found_item item = {.dir = dir};
    if (etp_run_open_manifest(dir, arena, &run, NULL) == ETP_OK) {
        item.generated_at = run.generated_at;
        item.state = run.state;
        item.readable = true;
    }
    ETP_ADD(arena, out, item);
}

static uint64_t number_of(const char *dir)
{
    etp_str s = etp_str_from(dir);
    size_t digits = s.len;
    while (digits > 0 && s.ptr[digits - 1] >= '0' && s.ptr[digits - 1] <= '9') {
        digits--;
    }
    uint64_t number = 0;
    bool has = digits > 0 && s.ptr[digits - 1] == '.' &&
               etp_parse_u64((etp_str){s.ptr + digits, s.len - digits}, &number);
    return has ? number : 1;
}

// Newest first. Sessions of the same second: the number that a taken name got is the later one's.
static bool is_before(const etp_run_found_item *a, const etp_run_found_item *b)
{
    int order = etp_str_cmp(a->generated_at, b->generated_at);
    if (order != 0) {
        return order > 0;
    }
    uint64_t x = number_of(a->dir), y = number_of(b->dir);
    return x != y ? x > y : etp_str_cmp(etp_str_from(a->dir), etp_str_from(b->dir)) < 0;
}

static void sort_found(etp_run_found *f)
{
    for (size_t i = 1; i < f->n; i++) {
        etp_run_found_item item = f->items[i];
        size_t k = i;
        for (; k > 0 && is_before(&item, &f->items[k - 1]); k--) {
            f->items[k] = f->items[k - 1];
        }
        f->items[k] = item;
    }
}

static etp_status add_children(const char *dir, etp_arena *arena, etp_run_found *out,
                               etp_error *err)
{
    etp_dir_list list = {0};
    if (!etp_os_is_dir(dir)) {
        return ETP_OK;
    }
    ETP_TRY(etp_os_list(dir, arena, &list, err));
    for (size_t i = 0; i < list.n; i++) {
        if (list.items[i].is_dir && !list.items[i].is_other) {
            add_if_run(etp_run_path(arena, dir, etp_str_from(list.items[i].name)), arena, out);
        }
    }
    return ETP_OK;
}

static etp_status add_outputs(const char *dir, etp_arena *arena, etp_run_found *out, etp_error *err)
{
    etp_dir_list list = {0};
    ETP_TRY(etp_os_list(dir, arena, &list, err));
    for (size_t i = 0; i < list.n; i++) {
        if (!list.items[i].is_dir &&
            etp_str_ends(etp_str_from(list.items[i].name), ETP_STR(".etdump"))) {
            return ETP_OK;
        }
    }
    for (size_t i = 0; i < list.n; i++) {
        etp_str name = etp_str_from(list.items[i].name);
        if (list.items[i].is_dir && !list.items[i].is_other &&
            etp_str_starts(name, ETP_STR("out_"))) {
            const char *below = etp_run_path(arena, dir, name);
            ETP_TRY(add_children(below, arena, out, err));
            ETP_TRY(add_children(etp_run_path(arena, below, ETP_STR("runs")), arena, out, err));
        }
    }
    return ETP_OK;
}

etp_status etp_run_find_below(const char *path, etp_arena *arena, etp_run_found *out,
                              etp_error *err)
{
    *out = (etp_run_found){0};
    const char *dir = etp_arena_strdup(arena, etp_path_trimmed(etp_str_from(path)));
    const char *runs = etp_run_path(arena, dir, ETP_STR("runs"));
    ETP_TRY(add_children(dir, arena, out, err));
    ETP_TRY(add_children(runs, arena, out, err));
    if (out->n == 0) {
        ETP_TRY(add_outputs(dir, arena, out, err));
    }
    sort_found(out);
    return etp_arena_check(arena, err, "run folders");
}

// ".2", ".3" …, also ".2.2": a repetition of a numbered one.
static bool is_number_suffix(etp_str s)
{
    while (s.len > 1 && s.ptr[0] == '.') {
        size_t n = 1;
        while (n < s.len && s.ptr[n] >= '0' && s.ptr[n] <= '9') {
            n++;
        }
        if (n == 1) {
            return false;
        }
        s = (etp_str){s.ptr + n, s.len - n};
    }
    return s.len == 0;
}

etp_status etp_run_find_named(const char *path, etp_arena *arena, etp_run_found *out,
                              etp_error *err)
{
    *out = (etp_run_found){0};
    const char *dir = etp_arena_strdup(arena, etp_path_trimmed(etp_str_from(path)));
    const etp_str whole = etp_str_from(dir), name = etp_path_last(whole);
    const size_t start = whole.len - name.len;
    const char *parent = start > 0 ? etp_arena_strdup(arena, (etp_str){whole.ptr, start}) : ".";
    etp_dir_list list = {0};
    if (!etp_os_is_dir(parent)) {
        return etp_arena_check(arena, err, "run folders");
    }
    ETP_TRY(etp_os_list(parent, arena, &list, err));
    for (size_t i = 0; i < list.n; i++) {
        etp_str other = etp_str_from(list.items[i].name);
        if (list.items[i].is_dir && etp_str_starts(other, name) &&
            is_number_suffix((etp_str){other.ptr + name.len, other.len - name.len})) {
            add_if_run(etp_arena_printf(arena, "%.*s%s", (int)start, dir, list.items[i].name),
                       arena, out);
        }
    }
    sort_found(out);
    return etp_arena_check(arena, err, "run folders");
}
