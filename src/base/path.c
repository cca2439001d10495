// SPDX-License-Identifier: Apache-2.0
#include "base/path.h"
#include "base/choice.h"

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
    return (etp_str){etp_z_if(slash, path), slash ? (size_t)(slash - path) : 0};
}

etp_str etp_path_trimmed(etp_str path)
{
    while (path.len > 1 && path.ptr[path.len - 1] == '/') {
        path.len--;
    }
    return path;
}

etp_str etp_path_last(etp_str path)
{
    size_t start = path.len;
    while (start > 0 && path.ptr[start - 1] != '/') {
        start--;
    }
    return (etp_str){path.ptr + start, path.len - start};
}

etp_str etp_path_above(etp_str path, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        path.len -= etp_path_last(path).len;
        path.len -= path.len > 0;
    }
    return path;
}
