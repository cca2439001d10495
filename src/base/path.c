// SPDX-License-Identifier: Apache-2.0
#include "base/path.h"

#include <string.h>

const char *etp_path_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

etp_str etp_path_stem(const char *path)
{
    const char *name = etp_path_name(path), *dot = strrchr(name, '.');
    return (etp_str){name, dot && dot > name ? (size_t)(dot - name) : strlen(name)};
}

etp_str etp_path_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    return (etp_str){slash ? path : NULL, slash ? (size_t)(slash - path) : 0};
}
