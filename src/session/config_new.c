// SPDX-License-Identifier: Apache-2.0
// A first config for a model: two experiments whose names are true where they will be measured.
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/path.h"
#include "device/device.h"
#include "explain/kernels.h"
#include "isa/isa.h"
#include "os/os.h"
#include "session/config.h"

typedef struct parts { // of the new config
    const char *model, *output_root;
    etp_platform platform;
    const char *device; // NULL: this machine
    bool trace;
    const char *words[2]; // what the experiments are called after the platform: "sme2_on"
} parts;

// ---- a new one ----
static etp_status fill_new(void *ctx, etp_sink *sink, etp_error *err)
{
    (void)err;
    const parts *c = ctx;
    etp_json j;
    etp_json_init(&j, sink, true);
    etp_json_begin_object(&j);
    etp_json_kv_z(&j, "model", c->model);
    etp_json_kv_z(&j, "output_root", c->output_root);
    if (c->device) {
        etp_json_kv_z(&j, "device", c->device);
    }
    etp_json_key(&j, "experiments");
    etp_json_begin_array(&j);
    for (int i = 0; i < 2; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s_%s", etp_platform_name(c->platform), c->words[i]);
        etp_json_begin_object(&j);
        etp_json_kv_z(&j, "name", name);
        etp_json_kv_z(&j, "mode", c->trace ? "xnntrace" : "timing");
        etp_json_kv_u64(&j, "runs", ETP_CONFIG_RUNS);
        etp_json_key(&j, "threads");
        etp_json_begin_array_inline(&j);
        etp_json_u64(&j, 1);
        etp_json_end(&j);
        etp_json_end(&j);
    }
    etp_json_end(&j);
    etp_json_end(&j);
    etp_json_end_document(&j);
    return ETP_OK;
}

// The same config once more is no conflict: scripts may repeat themselves.
static etp_status write(const char *path, parts *c, etp_arena *arena, etp_error *err)
{
    if (!etp_os_is_file(path) && !etp_os_is_dir(path)) {
        return etp_os_replace_by(path, fill_new, c, err);
    }
    etp_strbuf buf;
    etp_str old = {0};
    etp_strbuf_init(&buf, arena);
    etp_sink sink = etp_sink_strbuf(&buf);
    ETP_TRY(fill_new(c, &sink, err));
    bool same = !buf.failed && etp_os_is_file(path) &&
                etp_os_read_text(path, buf.len + 1, arena, &old, NULL) == ETP_OK &&
                etp_str_eq(old, etp_strbuf_str(&buf));
    return same ? ETP_OK : etp_fail(err, ETP_USAGE, "%s is there already; name another file", path);
}

// ---- --init ----
// Names that are true on this machine: SME2 is in them where it has SME2. Of another platform
// nothing is known yet; there the names mean "the best level" and "plain SIMD", and the report says
// what ran.
static etp_status name_experiments(const etp_os_facts *facts, const char *program, parts *c,
                                   etp_arena *arena, etp_error *err)
{
    c->words[0] = "sme2_on";
    c->words[1] = "sme2_off";
    if (facts->platform != c->platform) {
        c->device = c->platform == ETP_PLATFORM_ANDROID ? "adb" : NULL;
        return ETP_OK;
    }
    etp_isa_cpu cpu, usable;
    etp_isa_cpu_detect(&cpu);
    const char *bundle = etp_bundle_beside(program, facts->triple, arena);
    ETP_TRY(etp_kernels_usable_in(bundle, &cpu, &usable, err));
    etp_level best = etp_isa_best(&usable), plain = etp_isa_plain(&usable);
    if (best == ETP_LEVEL_NONE || plain == ETP_LEVEL_NONE) {
        return etp_fail(
            err, ETP_ENVIRONMENT,
            "this CPU has one level only: nothing to compare with ('etprof doctor levels')");
    }
    if (best != ETP_LEVEL_SME2) {
        c->words[0] = etp_level_get(best)->name;
        c->words[1] = etp_level_get(plain)->name;
    }
    return ETP_OK;
}

etp_status etp_config_write_new(const etp_config_new *what, etp_arena *arena, const char **out,
                                etp_error *err)
{
    etp_os_facts facts;
    etp_os_facts_read(&facts);
    etp_platform platform = what->platform ? ETP_PLATFORM_UNKNOWN : facts.platform;
    for (etp_platform p = ETP_PLATFORM_UNKNOWN + 1; what->platform && p < ETP_PLATFORMS; p++) {
        platform = strcmp(what->platform, etp_platform_name(p)) == 0 ? p : platform;
    }
    const char *tail = what->trace ? "_trace" : "";
    if (!platform) {
        return etp_fail(err, ETP_USAGE, "--platform is mac, android or linux, not '%s'",
                        what->platform);
    }
    const char *place = etp_platform_name(platform);
    if (!etp_os_is_file(what->model)) {
        return etp_fail(err, ETP_IO, "model %s does not exist", what->model);
    }
    etp_str name = etp_str_from(etp_path_name(what->model));
    name.len -= name.len > 4 && etp_str_ends(name, ETP_STR(".pte")) ? 4 : 0;
    *out = what->path ? what->path
                      : etp_arena_printf(arena, "%.*s_%s%s.json", ETP_STR_ARG(name), place, tail);
    const char *folder = etp_arena_printf(arena, "%s%s", place, tail);
    ETP_TRY(etp_arena_check(arena, err, "the config")); // its folder is made of the text
    parts c = {.model = what->model,
               .output_root = etp_run_default_dir(arena, what->model, folder),
               .platform = platform,
               .trace = what->trace};
    ETP_TRY(name_experiments(&facts, what->program, &c, arena, err));
    return write(*out, &c, arena, err);
}
