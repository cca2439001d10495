// SPDX-License-Identifier: Apache-2.0
// Where the code of the library was loaded from.
#include <dlfcn.h>

#include "os/os.h"

const char *etp_os_library_path(etp_arena *arena)
{
    static const char k_inside = 0;
    Dl_info info;
    return dladdr(&k_inside, &info) != 0 && info.dli_fname ? etp_os_absolute(info.dli_fname, arena)
                                                           : NULL;
}
