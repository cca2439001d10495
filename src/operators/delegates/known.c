// SPDX-License-Identifier: Apache-2.0
// What files of backends share: the operation in a longer name.
#include "operators/delegates.h"
#include "operators/table.h"

static etp_str shorter(etp_str s)
{
    while (s.len > 0 && s.ptr[s.len - 1] != '_') {
        s.len--;
    }
    s.len -= s.len > 0;
    return s;
}

etp_str etp_delegate_known_part(etp_str name)
{
    while (name.len > 0 && !etp_op_family_find(name, true)) {
        name = shorter(name);
    }
    return name;
}
