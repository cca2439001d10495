// SPDX-License-Identifier: Apache-2.0
// Proof, on two tiny models, that hiding features works with this SDK here.
#ifndef ETP_RUNNER_SELFTEST_H
#define ETP_RUNNER_SELFTEST_H

#include "hook.h"
#include "protocol.h"

namespace etprof
{

// Sends one selftest line. With ETPROF_MASK set it judges that level in this
// process; without, it starts itself once for every level this CPU can be
// switched to. Returns the exit status: 1 if a level is contradicted.
int selftest(const etp_hook_state &hook, Lines &lines);

} // namespace etprof

#endif
