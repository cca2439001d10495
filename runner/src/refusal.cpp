// SPDX-License-Identifier: Apache-2.0
// Why the SDK does not load a method: what it lacks, or where memory ended.
#include <set>

#include <executorch/runtime/backend/interface.h>

#include "owners.h"
#include "process.h"
#include "session.h"

namespace etprof
{

using executorch::runtime::Error;

// "; it needs VulkanBackend; this runner has XnnpackBackend", or nothing.
std::string Session::lacking_backends(const std::string &method)
{
    auto meta = module_->method_meta(method);
    std::set<std::string> lacking;
    for (size_t i = 0; meta.ok() && i < meta->num_backends(); i++) {
        auto name = meta->get_backend_name(i);
        if (name.ok() && !executorch::runtime::get_backend_class(*name)) {
            lacking.insert(*name);
        }
    }
    std::string has;
    for (size_t i = 0; i < executorch::runtime::get_num_registered_backends(); i++) {
        auto name = executorch::runtime::get_backend_name(i);
        if (name.ok()) {
            has += (has.empty() ? "" : ", ") + std::string(*name);
        }
    }
    std::string needs;
    for (const std::string &name : lacking) {
        needs += (needs.empty() ? "" : ", ") + name;
    }
    if (needs.empty()) {
        return "";
    }
    return "; it needs " + needs + "; this runner has " + (has.empty() ? "no backend" : has) +
           ". Export it for one of these, or measure with a runner that has it (--runner)";
}

// Why the SDK cannot load METHOD, whose own messages say little.
Failure Session::not_loaded(const std::string &method, Error error)
{
    const std::string what = options_.model + ": the SDK cannot load method '" + method +
                             "': " + executorch::runtime::to_string(error);
    uint64_t held = 0;
    const uint64_t refused = etp_memory_refused(&held), limit = address_limit();
    const std::string limited = limit > 0 ? "; the address space is limited to " +
                                                std::to_string(limit) + " bytes (ulimit -v)"
                                          : "";
    if (refused > 0) {
        return Failure{"memory",
                       what + "; memory ran out: XNNPACK, which held " + std::to_string(held) +
                           " bytes, was refused " + std::to_string(refused) + " more, with " +
                           std::to_string(peak_rss_bytes()) + " resident at most" + limited};
    }
    std::string why = lacking_backends(method);
    if (why.empty()) {
        why = options_.data.empty()
                  ? "; if its weights are in a .ptd file, give it with --data"
                  : "; weights that the program names are not in " + options_.data;
    }
    return Failure{"load", what + why + limited};
}

} // namespace etprof
