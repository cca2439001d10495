// SPDX-License-Identifier: Apache-2.0
// Names of C++ functions for readers. After the Itanium C++ ABI, section 5.1 (external names).
#ifndef ETP_BINARY_CXX_NAME_H
#define ETP_BINARY_CXX_NAME_H

#include <etprof/arena.h>
#include <etprof/bytes.h>

// The qualified name of SYMBOL ("_ZN5torch8executor3addEi" → "torch::executor::add") without
// parameters, template arguments and what a compiler appended (".constprop.0"); a lambda is
// "{lambda}". Empty when SYMBOL is no mangled name, or uses what is not understood here. Lives in
// ARENA; empty on out of memory, too. SYMBOL is untrusted.
etp_str etp_cxx_name(etp_str symbol, etp_arena *arena);

#endif
