// SPDX-License-Identifier: Apache-2.0
// The platform that a config speaks of.
#include "cli/run_platform.h"

#include <string.h>

// Which platform a device of that spec can be; unknown: any.
static etp_platform only_platform(const char *spec)
{
    return etp_device_kind_of(spec) == ETP_DEVICE_ADB ? ETP_PLATFORM_ANDROID : ETP_PLATFORM_UNKNOWN;
}

etp_status etp_platform_of_config(const etp_config *config, const char *spec,
                                  const etp_config_experiment *const *arms, size_t n_arms,
                                  etp_expected_platform *out, etp_error *err)
{
    // What the device can be stands first: a name that contradicts --device is then the one that is
    // complained about.
    *out = (etp_expected_platform){only_platform(spec), "device", spec};
    for (size_t i = 0; i <= n_arms; i++) {
        bool folder = i == n_arms;
        const char *name = folder ? config->output_root : arms[i]->name;
        etp_platform platform = !name    ? ETP_PLATFORM_UNKNOWN
                                : folder ? etp_platform_of_folder(name)
                                         : etp_platform_of_name(name);
        const char *what = folder ? "output_root" : "experiment";
        if (platform && out->platform && platform != out->platform) {
            return etp_fail(
                err, ETP_CORRUPT,
                "%s: %s \"%s\" names %s, %s \"%s\" names %s: one session is measured on one "
                "device; rename one, or make two configs",
                config->path, out->what, out->name, etp_platform_name(out->platform), what, name,
                etp_platform_name(platform));
        }
        if (platform && !out->platform) {
            *out = (etp_expected_platform){platform, what, name};
        }
    }
    return ETP_OK;
}

const char *etp_platform_device(const etp_expected_platform *expected)
{
    return expected->platform == ETP_PLATFORM_ANDROID ? "adb" : NULL;
}
