// SPDX-License-Identifier: Apache-2.0
// The platform that names of experiments and folders speak of, held against the device.
#include "session/platform.h"

#include <string.h>

#include "device/device.h"

static const char *const k_platforms[] = {"android", "linux", "mac"};
#define N_PLATFORMS (sizeof k_platforms / sizeof *k_platforms)

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// The whole word: "mac_sme2_on" and "on-mac", not "machine".
static bool has_word(etp_str text, const char *word)
{
    size_t len = strlen(word);
    // Digits and underscores end a word, since names of experiments are made of them
    // ("mac_sme2_on").
    for (size_t at = 0; at + len <= text.len; at++) {
        bool begins = at == 0 || !is_letter(text.ptr[at - 1]);
        bool ends = at + len == text.len || !is_letter(text.ptr[at + len]);
        if (begins && ends && memcmp(text.ptr + at, word, len) == 0) {
            return true;
        }
    }
    return false;
}

const char *etp_platform_of_name(const char *name)
{
    const char *found = NULL;
    for (size_t i = 0; i < N_PLATFORMS; i++) {
        if (has_word(etp_str_from(name), k_platforms[i])) {
            if (found) {
                return NULL; // "linux_against_mac" is the name of no place
            }
            found = k_platforms[i];
        }
    }
    return found;
}

const char *etp_platform_of_folder(const char *dir)
{
    etp_str path = etp_str_from(dir);
    while (path.len > 0 && path.ptr[path.len - 1] == '/') {
        path.len--;
    }
    size_t start = path.len;
    while (start > 0 && path.ptr[start - 1] != '/') {
        start--;
    }
    etp_str name = {path.ptr + start, path.len - start};
    // Below runs/ a name may go on after its platform ("mac_trace"). Anywhere else only the whole
    // name counts, or a later run of it (".2"): a folder "linux_models" is nobody's platform.
    bool in_runs = start >= 5 && memcmp(path.ptr + start - 5, "runs/", 5) == 0 &&
                   (start == 5 || path.ptr[start - 6] == '/');
    for (size_t i = 0; i < N_PLATFORMS; i++) {
        size_t len = strlen(k_platforms[i]);
        bool begins = etp_str_starts(name, etp_str_from(k_platforms[i])) &&
                      (name.len == len || !is_letter(name.ptr[len]));
        if (begins && (in_runs || name.len == len || name.ptr[len] == '.')) {
            return k_platforms[i];
        }
    }
    return NULL;
}

etp_status etp_platform_check(const etp_expected_platform *expected, const char *spec,
                              const char *platform, etp_error *err)
{
    if (!expected->platform || strcmp(expected->platform, platform) == 0) {
        return ETP_OK;
    }
    bool local = etp_device_kind_of(spec) == ETP_DEVICE_LOCAL;
    return etp_fail(
        err, ETP_ENVIRONMENT,
        "%s \"%s\" names %s, but %s is %s: what names a platform is measured there or not at all; "
        "%s, or use "
        "names of %s ('etprof run --init MODEL.pte' writes a config with them)",
        expected->what, expected->name, expected->platform, local ? "this machine" : spec, platform,
        strcmp(expected->platform, "mac") == 0       ? "run it on a Mac"
        : strcmp(expected->platform, "android") == 0 ? "name a phone ('etprof devices' lists them)"
                                                     : "name another --device",
        platform);
}
