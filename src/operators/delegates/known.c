// SPDX-License-Identifier: Apache-2.0
// What files of backends share: the operation in a longer name.
#include "operators/delegates.h"
#include "operators/table.h"

etp_str etp_delegate_known_part(etp_str name)
{
    while (name.len > 0 && !etp_op_family_find(name, true)) {
        while (name.len > 0 && name.ptr[name.len - 1] != '_') {
            name.len--;
        }
        name.len -= name.len > 0;
    }
    return name;
}
