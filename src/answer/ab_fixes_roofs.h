// SPDX-License-Identifier: Apache-2.0
// What next fixes ask of measured roofs. Everything is NAN until roofs of the machine that the arm
// ran on are known; then fixes say what is expected, before only what is possible.
#ifndef ETP_ANSWER_AB_FIXES_ROOFS_H
#define ETP_ANSWER_AB_FIXES_ROOFS_H

#include "answer/ab.h"

// Least time of one inference's OP in ARM: operations and bytes against the arm's roofs, ns.
double etp_ab_roof_ns(const etp_ab *ab, const etp_ab_operator *op, uint32_t arm);
// Bytes moved (read and written) per ns by a copy whose operands are BYTES together.
double etp_ab_copy_rate(const etp_ab *ab, uint32_t arm, uint64_t bytes);
// Peak multiply-adds of int8 ÷ those of float32 at the arm's level, one thread.
double etp_ab_int8_ratio(const etp_ab *ab, uint32_t arm);
// Cost of one parallel region on THREADS threads, ns.
double etp_ab_region_ns(const etp_ab *ab, uint32_t arm, uint32_t threads);

#endif
