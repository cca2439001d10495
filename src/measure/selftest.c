// SPDX-License-Identifier: Apache-2.0
// Runs `--selftest` under the mask of each level and reads the verdicts.
#include "measure/selftest.h"

#include "base/json_read.h"
#include "base/sha256.h"
#include "measure/channel.h"

typedef struct answer { // of one level
    const char *level;
    bool found, ok,
        failed; // failed: the runner says that the mask does not work; neither: it cannot tell
    bool extra; // of no arm: asked for its names alone
    const char *why, *names;
} answer;

// One for each level that was asked about, those of the plan first.
typedef struct answers {
    answer items[ETP_LEVEL_COUNT];
    size_t n;
} answers;

// {"type":"selftest","levels":[{"level":"vnni","ok":true,"types":"…","why":"…",…}]}: "ok" null =
// cannot tell. False when LINE is nothing of that kind.
static bool read_answer(etp_str line, etp_arena *arena, answer *out)
{
    json_t *root = NULL;
    bool sound = etp_json_read(line, &root, NULL) == ETP_OK;
    const json_t *levels = sound ? json_object_get(root, "levels") : NULL;
    for (size_t i = 0; i < json_array_size(levels) && !out->found; i++) {
        const json_t *entry = json_array_get(levels, i);
        const char *name = json_string_value(json_object_get(entry, "level"));
        const char *why = json_string_value(json_object_get(entry, "why"));
        const char *types = json_string_value(json_object_get(entry, "types"));
        const json_t *verdict = json_object_get(entry, "ok");
        // Of equal masks the runner may know another name, and under a mask it answers for that
        // alone.
        if (name && (json_array_size(levels) == 1 || strcmp(name, out->level) == 0)) {
            out->ok = json_is_true(verdict);
            out->failed = json_is_false(verdict);
            out->why = etp_arena_strdup(arena, etp_str_from(ETP_OR(why, "")));
            out->names = etp_arena_strdup(arena, etp_str_from(ETP_OR(types, "")));
            out->found = out->why && out->names;
        }
    }
    json_decref(root);
    return out->found;
}

// A process for each level: a mask holds for the whole life of one.
static etp_status ask(etp_device *device, const char *mask_text, uint64_t timeout_ns,
                      etp_arena *arena, answer *out, etp_error *err)
{
    etp_channel *channel = ETP_NEW(arena, etp_channel);
    const char *mask = etp_arena_printf(arena, "ETPROF_MASK=%s", mask_text);
    ETP_NEED(channel && mask, err, "the self-test");
    const char *const args[] = {"--selftest", NULL};
    const char *const env[] = {mask, NULL};
    channel->timeout_ns = timeout_ns;
    etp_error reason;
    etp_status started = etp_channel_start(device, args, env, arena, channel, &reason);
    if (started == ETP_OK) {
        // It takes no commands.
        etp_process_close_input(&channel->process);
        etp_str line;
        char why[256];
        bool found = false;
        while (!found && etp_channel_line(channel, &line, why, sizeof why) == ETP_CHANNEL_OK) {
            found = read_answer(line, arena, out);
        }
        if (found) {
            (void)etp_channel_finish(channel);
        }
    }
    etp_channel_dispose(channel);
    return started == ETP_NOMEM ? etp_fail_nomem(err, "the self-test")
                                : etp_arena_check(arena, err, "the self-test");
}

// Runner, SDK, processor and levels name the answer.
static const char *cache_path(const etp_device *device, const etp_session_plan *plan,
                              const char *cache_dir, etp_arena *arena)
{
    if (!cache_dir || !device->info.emulated) { // natively it takes milliseconds
        return NULL;
    }
    etp_sha256 h;
    char hex[ETP_SHA256_HEX_CHARS];
    etp_sha256_init(&h);
    const char *const parts[] = {device->bundle.runner_sha256, device->bundle.sdk_digest,
                                 device->info.spec, plan->cpu.text};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        etp_sha256_update(&h, parts[i], strlen(parts[i]) + 1);
    }
    for (uint32_t i = 0; i < plan->n_arms; i++) {
        etp_sha256_update(&h, plan->arms[i].mask, strlen(plan->arms[i].mask) + 1);
    }
    etp_sha256_hex(&h, hex);
    return etp_arena_printf(arena, "%s/selftest3-%.16s.txt", cache_dir, hex);
}

static answer *answer_of(answers *all, const char *level)
{
    for (size_t i = 0; i < all->n; i++) {
        if (strcmp(all->items[i].level, level) == 0) {
            return &all->items[i];
        }
    }
    return NULL;
}

static bool has_kind(const answers *all, etp_named named)
{
    for (size_t i = 0; i < all->n; i++) {
        if (etp_level_named(etp_level_find(ETP_ISA_NONE, all->items[i].level)) == named) {
            return true;
        }
    }
    return false;
}

// The levels of the plan; and, for what names mean, one with the feature that they can show and one
// without.
static etp_status ask_all(etp_device *device, const etp_session_plan *plan, etp_arena *arena,
                          answers *all, etp_error *err)
{
    for (uint32_t i = 0; i < plan->n_arms && all->n < ETP_LEVEL_COUNT; i++) {
        if (!answer_of(all, plan->arms[i].level_name)) {
            answer *a = &all->items[all->n++];
            *a = (answer){.level = plan->arms[i].level_name, .why = "", .names = ""};
            ETP_TRY(ask(device, plan->arms[i].mask, plan->timeout_ns, arena, a, err));
        }
    }
    etp_level levels[ETP_LEVEL_COUNT];
    size_t n = etp_level_list(plan->cpu.cpu.family, levels);
    for (size_t i = 0; i < n && all->n < ETP_LEVEL_COUNT; i++) {
        etp_level_state state = etp_level_state_of(&plan->cpu.cpu, levels[i]);
        const etp_level_info *info = etp_level_get(levels[i]);
        // Only a runner that tells names at all is asked for more of them.
        bool told = all->n > 0 && all->items[0].found && all->items[0].names[0] != '\0';
        etp_named named = etp_level_named(levels[i]);
        if (!told || !state.available || !state.switchable || named == ETP_NAMED_UNCLEAR ||
            has_kind(all, named) || answer_of(all, info->name)) {
            continue;
        }
        etp_isa_mask mask = etp_level_mask(levels[i]);
        char *text = etp_arena_alloc(arena, ETP_ISA_TEXT_MAX);
        ETP_NEED(text, err, "the self-test");
        (void)etp_isa_mask_format(&mask, text, ETP_ISA_TEXT_MAX);
        answer *a = &all->items[all->n++];
        *a = (answer){.level = info->name, .extra = true, .why = "", .names = ""};
        ETP_TRY(ask(device, text, plan->timeout_ns, arena, a, err));
    }
    return ETP_OK;
}

bool etp_names_have(etp_str list, char separator, etp_str name)
{
    for (etp_str one; etp_str_part(&list, separator, &one);) {
        if (etp_str_eq(etp_str_trim(one, " "), name)) {
            return true;
        }
    }
    return false;
}

// The first name of MORE that LESS has not, in whatever order; NULL: none.
static const char *missing_name(const char *more, const char *less, etp_arena *arena)
{
    for (etp_str name, rest = etp_str_from(more); etp_str_part(&rest, ';', &name);) {
        name = etp_str_trim(name, " ");
        if (!etp_names_have(etp_str_from(less), ';', name)) {
            return etp_arena_strdup(arena, name);
        }
    }
    return NULL;
}

// The runner knows what SME and VNNI are called and says of every other level that it cannot tell.
// But a level differs from the next above it in its mask alone: an operator that the one has and
// the other has not (XNNPACK computes float16 as float32 without F16C) shows that the mask works.
static void judge_by_change(answers *all, etp_isa_family family, etp_arena *arena)
{
    etp_level levels[ETP_LEVEL_COUNT];
    size_t n = etp_level_list(family, levels);
    const answer *above = NULL;
    for (size_t i = 0; i < n; i++) {
        answer *a = answer_of(all, etp_level_get(levels[i])->name);
        if (!a || !a->found || a->names[0] == '\0') {
            continue;
        }
        const char *gone =
            above && !a->ok && !a->failed ? missing_name(above->names, a->names, arena) : NULL;
        if (gone) {
            a->ok = true;
            a->why = etp_arena_printf(arena, "%s, which %s has, is gone", gone, above->level);
        }
        above = a;
    }
}

// In the cache: the words, then a line for each level, its name, a tab, its names.
static void write_cache(const char *path, const char *dir, const etp_selftest_result *r,
                        etp_arena *arena)
{
    etp_strbuf text;
    etp_strbuf_init(&text, arena);
    etp_strbuf_appendz(&text, r->text);
    for (size_t i = 0; i < r->n_names; i++) {
        etp_strbuf_printf(&text, "\n%s\t%s", r->names[i].level, r->names[i].names);
    }
    if (!text.failed && etp_os_mkdirs(dir, NULL) == ETP_OK) {
        etp_status ignored = etp_os_write_atomic(path, etp_strbuf_str(&text), NULL);
        (void)ignored; // asked again next time
    }
}

static bool read_cache(const char *path, etp_arena *arena, etp_selftest_result *out)
{
    etp_str known;
    if (!path || !etp_os_is_file(path) ||
        etp_os_read_text(path, 65536, arena, &known, NULL) != ETP_OK || known.len == 0) {
        return false;
    }
    char *at = etp_arena_strdup(arena, known);
    out->text = at;
    while (at && (at = strchr(at, '\n')) != NULL && out->n_names < ETP_RUN_NAMED_LEVELS) {
        *at++ = '\0';
        char *tab = strchr(at, '\t');
        if (tab) {
            *tab = '\0';
            out->names[out->n_names].level = at;
            out->names[out->n_names++].names = at = tab + 1;
        }
    }
    if (at) {
        *at = '\0';
    }
    return out->text != NULL;
}

etp_status etp_selftest_run(etp_device *device, const etp_session_plan *plan, const char *cache_dir,
                            etp_arena *arena, etp_selftest_result *out, etp_error *err)
{
    *out = (etp_selftest_result){.ran = true, .ok = true, .text = ""};
    const char *cached = cache_path(device, plan, cache_dir, arena);
    if (read_cache(cached, arena, out)) {
        out->told = true; // else nothing was kept
        return ETP_OK;
    }
    answers all = {.n = 0};
    etp_strbuf text;
    etp_strbuf_init(&text, arena);
    ETP_TRY(ask_all(device, plan, arena, &all, err));
    // The runner judges by what names mean in the XNNPACK it knows. Where a level without the
    // feature has a name of it, and one with the feature has every name alike, the names of this
    // build show nothing.
    for (size_t i = 0; i < all.n; i++) {
        answer *a = &all.items[i];
        // Only a verdict of "failed" can be taken back, and only by names that are equal at a level
        // of either kind.
        for (size_t k = 0; k < all.n && a->failed; k++) {
            const answer *other = &all.items[k];
            bool on = etp_level_named(etp_level_find(ETP_ISA_NONE, other->level)) == ETP_NAMED_ON;
            bool off = etp_level_named(etp_level_find(ETP_ISA_NONE, a->level)) == ETP_NAMED_OFF;
            if (off && on && other->found && a->names[0] != '\0' &&
                strcmp(a->names, other->names) == 0) {
                a->failed = false;
                a->why = "this build has the same names with the feature and without";
            }
        }
    }
    judge_by_change(&all, plan->cpu.cpu.family, arena);
    for (size_t i = 0; i < all.n; i++) {
        const answer *a = &all.items[i];
        if (a->found && a->names[0] != '\0' && out->n_names < ETP_RUN_NAMED_LEVELS) {
            out->names[out->n_names].level = a->level;
            out->names[out->n_names++].names = a->names;
        }
        if (a->extra) {
            continue;
        }
        // A single level without an answer leaves the whole test open: it is never read as a
        // success.
        out->ran = out->ran && a->found;
        out->ok = out->ok && !a->failed;
        out->told = out->told || (a->found && a->ok);
        const char *verdict = "no answer";
        if (a->found && a->ok) {
            verdict = "ok";
        } else if (a->found) {
            verdict = a->failed ? "FAILED" : "cannot tell";
        }
        etp_strbuf_printf(&text, "%s%s: %s%s%s", etp_if(text.len > 0, "; "), a->level, verdict,
                          etp_if(a->why[0], ", "), a->why);
    }
    out->ok = out->ok && out->ran;
    out->text = ETP_OR(text.ptr, "");
    out->told = out->ok && out->told;
    ETP_TRY(etp_arena_check(arena, err, "the self-test"));
    // What tells nothing is not remembered: the next session asks again.
    if (cached && out->told) {
        write_cache(cached, cache_dir, out, arena);
    }
    return ETP_OK;
}

etp_status etp_selftest_builds(etp_device *device, const etp_session_plan *plan,
                               const char *cache_dir, etp_arena *arena, etp_selftest_result *out,
                               etp_error *err)
{
    etp_selftest_result other;
    // B first, so that the device is left with A, the baseline's build, as before.
    ETP_TRY(etp_device_use(device, plan->arms[1].bundle, err));
    ETP_TRY(etp_selftest_run(device, plan, cache_dir, arena, &other, err));
    ETP_TRY(etp_device_use(device, plan->arms[0].bundle, err));
    ETP_TRY(etp_selftest_run(device, plan, cache_dir, arena, out, err));
    out->ran = out->ran && other.ran;
    out->ok = out->ok && other.ok;
    out->told = out->ok && out->told && other.told;
    if (strcmp(out->text, other.text) != 0) {
        out->text = etp_arena_printf(arena, "A: %s; B: %s", out->text, other.text);
    }
    // Adds what the other build calls its operators at a level.
    for (size_t i = 0; i < other.n_names; i++) {
        size_t k = 0;
        // The names of both builds count for a level: an operator may be called by either of them.
        while (k < out->n_names && strcmp(out->names[k].level, other.names[i].level) != 0) {
            k++;
        }
        if (k < out->n_names && strcmp(out->names[k].names, other.names[i].names) != 0) {
            out->names[k].names =
                etp_arena_printf(arena, "%s; %s", out->names[k].names, other.names[i].names);
        }
    }
    return ETP_OK;
}
