// SPDX-License-Identifier: Apache-2.0
// The platform that names of experiments and folders speak of, held against the device.
#include "session/platform.h"

#include <string.h>

#include "base/path.h"
#include "device/device.h"

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

etp_platform etp_platform_of_name(const char *name)
{
    etp_platform found = ETP_PLATFORM_UNKNOWN;
    for (etp_platform p = ETP_PLATFORM_UNKNOWN + 1; p < ETP_PLATFORMS; p++) {
        if (has_word(etp_str_from(name), etp_platform_name(p))) {
            if (found) {
                return ETP_PLATFORM_UNKNOWN; // "linux_against_mac" is the name of no place
            }
            found = p;
        }
    }
    return found;
}

etp_platform etp_platform_of_folder(const char *dir)
{
    const etp_str path = etp_path_trimmed(etp_str_from(dir)), name = etp_path_last(path);
    const size_t start = path.len - name.len;
    // Below runs/ a name may go on after its platform ("mac_trace"). Anywhere else only the whole
    // name counts, or a later run of it (".2"): a folder "linux_models" is nobody's platform.
    bool in_runs = start >= 5 && memcmp(path.ptr + start - 5, "runs/", 5) == 0 &&
                   (start == 5 || path.ptr[start - 6] == '/');
    for (etp_platform p = ETP_PLATFORM_UNKNOWN + 1; p < ETP_PLATFORMS; p++) {
        size_t len = strlen(etp_platform_name(p));
        bool begins = etp_str_starts(name, etp_str_from(etp_platform_name(p))) &&
                      (name.len == len || !is_letter(name.ptr[len]));
        if (begins && (in_runs || name.len == len || name.ptr[len] == '.')) {
            return p;
        }
    }
    return ETP_PLATFORM_UNKNOWN;
}

etp_status etp_platform_check(const etp_expected_platform *expected, const char *spec,
                              etp_platform platform, etp_error *err)
{
    if (!expected->platform || expected->platform == platform) {
        return ETP_OK;
    }
    bool local = etp_device_kind_of(spec) == ETP_DEVICE_LOCAL;
    const char *remedy = "name another --device";
    if (expected->platform == ETP_PLATFORM_MAC) {
        remedy = "run it on a Mac";
    } else if (expected->platform == ETP_PLATFORM_ANDROID) {
        remedy = "name a phone ('etprof doctor devices' lists them)";
    }
    return etp_fail(
        err, ETP_ENVIRONMENT,
        "%s \"%s\" names %s, but %s is %s: what names a platform is measured there or not at all; "
        "%s, or use "
        "names of %s ('etprof run --init MODEL.pte' writes a config with them)",
        expected->what, expected->name, etp_platform_name(expected->platform),
        local ? "this machine" : spec, etp_platform_name(platform), remedy,
        etp_platform_name(platform));
}
