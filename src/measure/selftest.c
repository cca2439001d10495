// SPDX-License-Identifier: Apache-2.0
// Runs `--selftest` under the mask of each level and reads the verdicts.
#include "measure/selftest.h"

#include <jansson.h>
#include <stdio.h>

#include "base/sha256.h"
#include "measure/conversation.h"

// {"type":"selftest","levels":[{"level":"vnni","ok":true,"why":"…",…}]}: "ok" null = cannot tell.
// Appends "vnni ok (…)" to TEXT. False when LINE is nothing of that kind.
static bool read_answer(etp_str line, const char *level, etp_strbuf *text, bool *ok)
{
    json_error_t e;
    json_t *root = json_loadb(line.ptr, line.len, JSON_REJECT_DUPLICATES, &e);
    const json_t *levels = json_object_get(root, "levels");
    bool found = false;
    for (size_t i = 0; i < json_array_size(levels) && !found; i++) {
        const json_t *entry = json_array_get(levels, i);
        const char *name = json_string_value(json_object_get(entry, "level"));
        const char *why = json_string_value(json_object_get(entry, "why"));
        const json_t *verdict = json_object_get(entry, "ok");
        if (!name || strcmp(name, level) != 0) {
            continue;
        }
        found = true;
        *ok = *ok && !json_is_false(verdict);
        etp_strbuf_printf(text, "%s%s: %s%s%s", text->len > 0 ? "; " : "", level,
                          json_is_true(verdict)    ? "ok"
                          : json_is_false(verdict) ? "FAILED"
                                                   : "cannot tell",
                          why ? ", " : "", why ? why : "");
    }
    json_decref(root);
    return found;
}

static etp_status ask(etp_device *device, const etp_plan_arm *arm, uint64_t timeout_ns,
                      etp_arena *arena, etp_strbuf *text, etp_selftest_result *out, etp_error *err)
{
    etp_talk *talk = ETP_NEW(arena, etp_talk);
    const char *mask = etp_arena_printf(arena, "ETPROF_MASK=%s", arm->mask);
    if (!talk || !mask) {
        return etp_fail_nomem(err, "the self-test");
    }
    const char *const args[] = {"--selftest", NULL};
    const char *const env[] = {mask, NULL};
    talk->timeout_ns = timeout_ns;
    bool found = false;
    if (etp_talk_start(device, args, env, arena, talk, NULL) == ETP_OK) {
        etp_process_close_input(&talk->process);
        etp_str line;
        char why[256];
        while (!found && etp_talk_line(talk, 0, &line, why, sizeof why) == ETP_TALK_OK) {
            found = read_answer(line, arm->level_name, text, &out->ok);
        }
        if (found) {
            bool ended = etp_talk_finish(talk);
            (void)ended;
        }
    }
    etp_talk_dispose(talk);
    out->ran = out->ran && found;
    if (!found) {
        etp_strbuf_printf(text, "%s%s: no answer", text->len > 0 ? "; " : "", arm->level_name);
    }
    return ETP_OK;
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
    return etp_arena_printf(arena, "%s/selftest-%.16s.txt", cache_dir, hex);
}

static bool level_seen(const etp_session_plan *plan, uint32_t arm)
{
    for (uint32_t i = 0; i < arm; i++) {
        if (plan->arms[i].level == plan->arms[arm].level) {
            return true;
        }
    }
    return false;
}

etp_status etp_selftest_run(etp_device *device, const etp_session_plan *plan, const char *cache_dir,
                            etp_arena *arena, etp_selftest_result *out, etp_error *err)
{
    *out = (etp_selftest_result){.ran = true, .ok = true, .text = ""};
    const char *cached = cache_path(device, plan, cache_dir, arena);
    etp_str known;
    if (cached && etp_os_is_file(cached) &&
        etp_os_read_text(cached, 65536, arena, &known, NULL) == ETP_OK && known.len > 0) {
        out->text = known.ptr;
        return ETP_OK;
    }
    etp_strbuf text;
    etp_strbuf_init(&text, arena);
    for (uint32_t i = 0; i < plan->n_arms; i++) {
        if (!level_seen(plan, i)) {
            ETP_TRY(ask(device, &plan->arms[i], plan->timeout_ns, arena, &text, out, err));
        }
    }
    out->ok = out->ok && out->ran;
    out->text = text.ptr ? text.ptr : "";
    if (text.failed) {
        return etp_fail_nomem(err, "the self-test");
    }
    if (cached && out->ok && etp_os_mkdirs(cache_dir, NULL) == ETP_OK) {
        etp_status ignored = etp_os_write_atomic(cached, etp_strbuf_str(&text), NULL);
        (void)ignored; // asked again next time
    }
    return ETP_OK;
}
