// SPDX-License-Identifier: Apache-2.0
// All of libetprof. docs/library.md is its guide: what is owned by whom, threads, errors, versions.
#ifndef ETPROF_ETPROF_H
#define ETPROF_ETPROF_H

#include <etprof/analysis.h>
#include <etprof/arena.h>
#include <etprof/buffer.h>
#include <etprof/bundled.h>
#include <etprof/bytes.h>
#include <etprof/dtype.h>
#include <etprof/error.h>
#include <etprof/etdump.h>
#include <etprof/etrecord.h>
#include <etprof/flat_tensor.h>
#include <etprof/fleet.h>
#include <etprof/join.h>
#include <etprof/mapping.h>
#include <etprof/measurement.h>
#include <etprof/npz.h>
#include <etprof/operators.h>
#include <etprof/output.h>
#include <etprof/program.h>
#include <etprof/pte.h>
#include <etprof/reply.h>
#include <etprof/stats.h>
#include <etprof/tables.h>
#include <etprof/trace.h>
#include <etprof/version.h>
#include <etprof/xnnpack.h>

#endif
