// SPDX-License-Identifier: Apache-2.0
// Settings of an Android device for measuring, and back.
#include "device/prepare.h"

#include <stdio.h>

#include "base/json.h"
#include "base/json_read.h"
#include "base/sha256.h"
#include "base/shell.h"
#include "device/remote.h"

#define JOURNAL_LIMIT ((size_t)64 << 10)
#define SCHEMA "etprof.prepare/1"
#define MAX_VALUE 64

// Status of the scripts below.
enum { DONE = 0, NOT_ANDROID = 30, NOT_TAKEN = 31, NO_FIXED_MODE = 32 };

typedef struct setting {
    const char *key, *boost, *app;
    bool scale; // a decimal number; else a whole one
} setting;

// The two sets of settings that a comparison with other people's results needs. None of them
// touches the clocks: 15 keeps the screen on with any source of power.
static const setting k_settings[] = {
    {"low_power",                  "0",  "0", false},
    {"stay_on_while_plugged_in",   "15", "1", false},
    {"window_animation_scale",     "0",  "1", true },
    {"transition_animation_scale", "0",  "1", true },
    {"animator_duration_scale",    "0",  "1", true },
};
#define N_SETTINGS (sizeof k_settings / sizeof *k_settings)

typedef struct journal {
    const char *spec;
    etp_prepare_mode mode;
    int64_t pid;
    bool fixed;
    const char *before[N_SETTINGS]; // NULL: not set
} journal;

const char *etp_prepare_mode_name(etp_prepare_mode mode)
{
    static const char *const k_names[ETP_PREPARE_MODES] = {"none", "boost", "app", "fixed"};
    return k_names[mode];
}

etp_status etp_prepare_mode_read(const char *name, etp_prepare_mode *out, etp_error *err)
{
    *out = ETP_PREPARE_NONE;
    for (etp_prepare_mode m = ETP_PREPARE_NONE; name && m < ETP_PREPARE_MODES; m++) {
        if (strcmp(name, etp_prepare_mode_name(m)) == 0) {
            *out = m;
            return ETP_OK;
        }
    }
    return name ? etp_fail(err, ETP_USAGE, "--prepare is boost, app, fixed or none, not '%s'", name)
                : ETP_OK;
}

static const char *wanted(const setting *s, etp_prepare_mode mode)
{
    if (mode == ETP_PREPARE_BOOST) {
        return s->boost;
    }
    return mode == ETP_PREPARE_APP ? s->app : NULL;
}

// ---- the journal ----

// A serial may hold any characters, so the file is named by a hash of it. One device has one
// journal, whatever session wrote it.
static const char *journal_path(const char *dir, const char *spec, etp_arena *arena)
{
    char hex[ETP_SHA256_HEX_CHARS];
    etp_sha256_of(spec, strlen(spec), hex);
    return etp_arena_printf(arena, "%s/prepared-%.16s.json", dir, hex);
}

static etp_status write_journal(const char *path, const journal *in, etp_arena *arena,
                                etp_error *err)
{
    etp_strbuf text;
    etp_strbuf_init(&text, arena);
    etp_sink sink = etp_sink_strbuf(&text);
    etp_json j;
    etp_json_init(&j, &sink, true);
    etp_json_begin_object(&j);
    etp_json_kv_z(&j, "schema", SCHEMA);
    etp_json_kv_z(&j, "spec", in->spec);
    etp_json_kv_z(&j, "mode", etp_prepare_mode_name(in->mode));
    etp_json_kv_i64(&j, "pid", in->pid);
    etp_json_kv_bool(&j, "fixed_performance", in->fixed);
    etp_json_key(&j, "before");
    etp_json_begin_object(&j);
    for (size_t i = 0; i < N_SETTINGS; i++) {
        etp_json_kv_z(&j, k_settings[i].key, in->before[i]);
    }
    etp_json_end(&j);
    etp_json_end(&j);
    etp_json_end_document(&j);
    ETP_TRY(etp_arena_check(arena, err, "the journal"));
    return etp_os_write_atomic(path, etp_strbuf_str(&text), err);
}

// What the setting can be: digits, with one point in a scale. Whatever else a file or a device says
// goes into no script.
static bool can_be(const setting *s, const char *z)
{
    size_t len = strlen(z), digits = 0, points = 0;
    for (size_t i = 0; i < len; i++) {
        digits += z[i] >= '0' && z[i] <= '9';
        points += z[i] == '.';
    }
    return digits > 0 && digits + points == len && points <= (s->scale != 0) && len < MAX_VALUE;
}

static etp_status take_journal(const json_t *root, etp_arena *arena, journal *out, etp_error *err)
{
    const char *schema = json_string_value(json_object_get(root, "schema"));
    const char *spec = json_string_value(json_object_get(root, "spec"));
    const char *mode = json_string_value(json_object_get(root, "mode"));
    const json_t *before = json_object_get(root, "before");
    if (!schema || strcmp(schema, SCHEMA) != 0 || !spec ||
        etp_prepare_mode_read(mode, &out->mode, NULL) != ETP_OK || out->mode == ETP_PREPARE_NONE ||
        !json_is_object(before)) {
        return etp_fail(err, ETP_CORRUPT, "no journal of prepared settings (" SCHEMA ")");
    }
    out->spec = etp_arena_strdup(arena, etp_str_from(spec));
    out->pid = json_integer_value(json_object_get(root, "pid"));
    out->fixed = json_is_true(json_object_get(root, "fixed_performance"));
    for (size_t i = 0; i < N_SETTINGS; i++) {
        const char *z = json_string_value(json_object_get(before, k_settings[i].key));
        if (z && !can_be(&k_settings[i], z)) {
            return etp_fail(err, ETP_CORRUPT, "the value of %s is not one that Android has",
                            k_settings[i].key);
        }
        out->before[i] = z ? etp_arena_strdup(arena, etp_str_from(z)) : NULL;
    }
    return etp_arena_check(arena, err, "the journal"); // a NULL says that a setting was not set
}

static etp_status read_journal(const char *path, etp_arena *arena, journal *out, etp_error *err)
{
    *out = (journal){0};
    etp_str text;
    ETP_TRY(etp_os_read_text(path, JOURNAL_LIMIT, arena, &text, err));
    json_t *root = NULL;
    etp_status status = etp_json_read(text, &root, err);
    if (status == ETP_OK) {
        status = take_journal(root, arena, out, err);
    }
    json_decref(root);
    return status == ETP_OK ? ETP_OK : etp_fail_ctx(err, "%s", path);
}

// With our own number it is of this session, which may undo it, or of a process that is gone.
static bool is_live(const journal *j)
{
    return j->pid > 0 && j->pid != etp_os_self_pid() && etp_process_alive(j->pid);
}

etp_status etp_prepare_list(const char *dir, etp_arena *arena, etp_prepare_journals *out,
                            etp_error *err)
{
    *out = (etp_prepare_journals){0};
    etp_dir_list list;
    if (!etp_os_is_dir(dir)) {
        return ETP_OK;
    }
    ETP_TRY(etp_os_list(dir, arena, &list, err));
    for (size_t i = 0; i < list.n; i++) {
        etp_str name = etp_str_from(list.items[i].name);
        if (!etp_str_starts(name, ETP_STR("prepared-")) ||
            name.len != strlen("prepared-.json") + 16) {
            continue;
        }
        journal j;
        etp_prepare_journal item = {.path = etp_arena_printf(arena, "%s/%s", dir, name.ptr)};
        ETP_TRY(read_journal(item.path, arena, &j, err));
        const char *own = journal_path(dir, j.spec, arena);
        // Its name is made of the device's: one that was copied here is no journal.
        if (own && strcmp(own, item.path) != 0) {
            return etp_fail(err, ETP_CORRUPT, "%s is not named after its device %s: remove it",
                            item.path, j.spec);
        }
        item.spec = j.spec;
        item.mode = j.mode;
        item.live = is_live(&j);
        ETP_ADD(arena, out, item);
    }
    return etp_arena_check(arena, err, dir);
}

// ---- the device ----

static etp_status call(etp_device *d, const etp_strbuf *script, bool cleanup, etp_arena *arena,
                       etp_remote_call *out, etp_error *err)
{
    ETP_NEED(!script->failed, err, "settings");
    *out = (etp_remote_call){.script = script->ptr, .cleanup = cleanup};
    return etp_remote_do(d, out, arena, err);
}

static bool next_line(etp_str *rest, etp_str *line)
{
    if (rest->len == 0) {
        return false;
    }
    if (!etp_str_cut(rest, "\n", line)) {
        rest->len = 0;
    }
    *line = etp_str_trim(*line, " \t\r");
    return true;
}

// A setting that was not set is deleted again: an empty value is another one.
static void put(etp_strbuf *s, const char *key, const char *value)
{
    if (!value) {
        etp_strbuf_printf(s, "settings delete global %s >/dev/null || x=1\n", key);
        return;
    }
    etp_strbuf_printf(s, "settings put global %s ", key);
    etp_shell_quote(s, value);
    etp_strbuf_appendz(s, " || x=1\n");
}

// 'settings put' says nothing when a device refuses a value, so each is read back.
static void expect(etp_strbuf *s, const char *key, const char *value)
{
    etp_strbuf_printf(s, "v=$(settings get global %s); [ \"$v\" = ", key);
    etp_shell_quote(s, ETP_OR(value, "null"));
    etp_strbuf_printf(s, " ] || { printf '%%s is %%s, not %%s\\n' %s \"$v\" ", key);
    etp_shell_quote(s, ETP_OR(value, "unset"));
    etp_strbuf_printf(s, " >&2; x=%d; }\n", NOT_TAKEN);
}

static void add_fact(etp_device *d, const char *key, const char *value)
{
    etp_device_fact_add(&d->extra, &d->arena, key, value);
}

// Applies, and keeps what the three reads of the procedure say afterwards. *OUT_UNTOUCHED: nothing
// was changed, so that there is nothing to bring back.
static etp_status apply(etp_device *d, const journal *j, bool *out_untouched, etp_error *err)
{
    const etp_remote *r = d->data;
    etp_strbuf s;
    etp_strbuf_init(&s, &d->arena);
    etp_strbuf_appendz(&s, "x=0\n");
    if (j->fixed) {
        etp_strbuf_printf(
            &s, "cmd power set-fixed-performance-mode-enabled true >/dev/null || exit %d\n",
            NO_FIXED_MODE);
    }
    if (j->mode == ETP_PREPARE_BOOST) { // first: it writes stay_on_while_plugged_in, too
        etp_strbuf_appendz(&s, "svc power stayon true >/dev/null 2>&1\n");
    }
    for (size_t i = 0; i < N_SETTINGS; i++) {
        const char *value = wanted(&k_settings[i], j->mode);
        if (value) {
            put(&s, k_settings[i].key, value);
            expect(&s, k_settings[i].key, value);
        }
    }
    etp_strbuf_appendz(&s,
                       "[ $x = 0 ] || exit $x\n"
                       "settings get global stay_on_while_plugged_in\n"
                       "settings get global low_power\n"
                       "dumpsys power 2>/dev/null | grep -i 'stay.*awake\\|thermal' | head -n 20\n"
                       "exit 0\n");
    etp_remote_call c;
    ETP_TRY(call(d, &s, false, &d->arena, &c, err));
    etp_str reason = etp_remote_reason(c.log), line;
    if (c.status == NO_FIXED_MODE) {
        *out_untouched = true;
        return etp_fail(err, ETP_ENVIRONMENT, "%s has no fixed-performance mode: %.*s", r->name,
                        ETP_STR_ARG(reason));
    }
    if (c.status != 0) {
        return etp_fail(err, ETP_ENVIRONMENT, "%s does not take the settings: %.*s", r->name,
                        ETP_STR_ARG(reason));
    }
    static const char *const k_reads[] = {"prepare_stay_on_while_plugged_in", "prepare_low_power"};
    for (size_t i = 0; i < 2 && next_line(&c.out, &line); i++) {
        add_fact(d, k_reads[i], etp_remote_shown(line, &d->arena));
    }
    etp_strbuf power;
    etp_strbuf_init(&power, &d->arena);
    while (next_line(&c.out, &line)) {
        etp_strbuf_printf(&power, "%s%.*s", etp_if(power.len, "; "), ETP_STR_ARG(line));
    }
    if (power.len > 0) {
        add_fact(d, "prepare_power", etp_remote_shown(etp_strbuf_str(&power), &d->arena));
    }
    return ETP_OK;
}

const char *etp_prepare_sets(etp_prepare_mode mode, etp_arena *arena)
{
    etp_strbuf text;
    etp_strbuf_init(&text, arena);
    for (size_t i = 0; i < N_SETTINGS; i++) {
        const char *value = wanted(&k_settings[i], mode);
        if (value) {
            etp_strbuf_printf(&text, "%s%s=%s", etp_if(text.len, " "), k_settings[i].key, value);
        }
    }
    if (mode == ETP_PREPARE_FIXED) {
        etp_strbuf_printf(&text, "%sfixed-performance mode", etp_if(text.len, ", "));
    }
    return text.failed ? "" : etp_strbuf_str(&text).ptr;
}

etp_status etp_prepare_undo(etp_device *d, const char *path, etp_error *err)
{
    journal j;
    ETP_TRY(read_journal(path, &d->arena, &j, err));
    if (strcmp(j.spec, d->info.spec) != 0) {
        return etp_fail(err, ETP_USAGE, "%s is about %s, not %s", path, j.spec, d->info.spec);
    }
    // Everything is put back before anything is asked for: one setting that fails must not keep the
    // others.
    const etp_remote *r = d->data;
    etp_arena arena = {0};
    etp_strbuf s;
    etp_strbuf_init(&s, &arena);
    etp_strbuf_appendz(&s, "x=0\n");
    if (j.fixed) {
        etp_strbuf_appendz(
            &s, "cmd power set-fixed-performance-mode-enabled false >/dev/null || x=1\n");
    }
    for (size_t i = 0; i < N_SETTINGS; i++) {
        if (wanted(&k_settings[i], j.mode)) {
            put(&s, k_settings[i].key, j.before[i]);
        }
    }
    for (size_t i = 0; i < N_SETTINGS; i++) {
        if (wanted(&k_settings[i], j.mode)) {
            expect(&s, k_settings[i].key, j.before[i]);
        }
    }
    etp_strbuf_appendz(&s, "exit $x\n");
    etp_remote_call c;
    etp_error first;
    etp_status status = call(d, &s, true, &arena, &c, &first);
    if (status != ETP_OK && etp_os_interrupted() == 0) { // a lost connection is worth a second try
        status = call(d, &s, false, &arena, &c, &first);
    }
    if (status != ETP_OK) {
        status = etp_fail(err, status, "%s", first.msg);
    } else if (c.status != 0) {
        etp_str reason = etp_remote_reason(c.log);
        status = etp_fail(err, ETP_ENVIRONMENT, "%s: %.*s", r->name, ETP_STR_ARG(reason));
    }
    etp_arena_dispose(&arena);
    ETP_TRY(status);
    return etp_os_unlink(path, err);
}

etp_status etp_device_prepare(etp_device *d, etp_prepare_mode mode, const char *dir,
                              bool *out_undone, etp_error *err)
{
    *out_undone = false;
    if (d->info.platform != ETP_PLATFORM_ANDROID) {
        return etp_fail(err, ETP_USAGE,
                        "--prepare sets up Android devices; %s is %s: set its governor yourself",
                        d->info.spec, etp_platform_name(d->info.platform));
    }
    journal j = {.spec = d->info.spec,
                 .mode = mode,
                 .pid = etp_os_self_pid(),
                 .fixed = mode == ETP_PREPARE_FIXED};
    ETP_TRY(etp_os_mkdirs(dir, err));
    const char *path = journal_path(dir, j.spec, &d->arena);
    if (etp_os_is_file(path)) {
        journal old;
        ETP_TRY(read_journal(path, &d->arena, &old, err));
        if (is_live(&old)) {
            return etp_fail(err, ETP_ENVIRONMENT,
                            "%s is prepared by a session that still runs (pid %lld)", d->info.spec,
                            (long long)old.pid);
        }
        *out_undone = true;
        ETP_TRY(etp_prepare_undo(d, path, err));
    }
    const etp_remote *r = d->data;
    etp_strbuf s;
    etp_strbuf_init(&s, &d->arena);
    etp_strbuf_printf(&s, "command -v settings >/dev/null 2>&1 || exit %d\n", NOT_ANDROID);
    for (size_t i = 0; i < N_SETTINGS; i++) {
        etp_strbuf_printf(&s, "settings get global %s || exit 1\n", k_settings[i].key);
    }
    etp_remote_call c;
    ETP_TRY(call(d, &s, false, &d->arena, &c, err));
    if (c.status == NOT_ANDROID) {
        return etp_fail(err, ETP_ENVIRONMENT,
                        "%s has no 'settings' command: --prepare needs Android", r->name);
    }
    etp_str line, reason = etp_remote_reason(c.log);
    for (size_t i = 0; i < N_SETTINGS; i++) {
        const char *z =
            c.status == 0 && next_line(&c.out, &line) ? etp_arena_strdup(&d->arena, line) : NULL;
        // 'settings get' writes this word for a setting that was never made.
        bool unset = z && strcmp(z, "null") == 0;
        if (!z || (!unset && !can_be(&k_settings[i], z))) {
            return etp_fail(err, ETP_ENVIRONMENT, "%s: cannot read the setting %s%s%.*s", r->name,
                            k_settings[i].key, etp_if(reason.len, ": "), ETP_STR_ARG(reason));
        }
        j.before[i] = etp_z_if(!unset, z);
    }
    // Before anything is changed there: whatever happens from here on can be undone from the file.
    ETP_TRY(write_journal(path, &j, &d->arena, err));
    d->journal = path;
    bool untouched = false;
    etp_status status = apply(d, &j, &untouched, err);
    if (status == ETP_OK) {
        etp_strbuf text;
        etp_strbuf_init(&text, &d->arena);
        for (size_t i = 0; i < N_SETTINGS; i++) {
            etp_strbuf_printf(&text, "%s%s=%s", etp_if(i, " "), k_settings[i].key,
                              ETP_OR(j.before[i], "unset"));
        }
        add_fact(d, "prepare", etp_prepare_mode_name(j.mode));
        add_fact(d, "prepare_before", text.ptr);
        status = etp_arena_check(&d->arena, err, "settings");
    }
    if (status != ETP_OK) {
        d->journal = etp_z_if(!untouched, path);
        etp_status ignored = untouched ? etp_os_unlink(path, NULL) : etp_device_restore(d, NULL);
        (void)ignored; // the journal stays
    }
    return status;
}

etp_status etp_device_restore(etp_device *d, etp_error *err)
{
    if (!d->journal) {
        return ETP_OK;
    }
    const char *path = d->journal;
    d->journal = NULL;
    return etp_prepare_undo(d, path, err);
}
