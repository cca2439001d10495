// SPDX-License-Identifier: Apache-2.0
// Private to the files that look for next fixes: fixes.c (frame, order), found.c (what all of them
// ask), layout.c (data that is moved or converted without need), work.c (work that could be done
// faster), roofs.c.
#ifndef ETP_JUDGE_FIXES_FIXES_H
#define ETP_JUDGE_FIXES_FIXES_H

#include "judge/fixes/factors.h"
#include "judge/judge.h"

#define ETP_FIX_WORTH_SHARE 0.005 // of an inference: smaller ceilings are not shown
#define ETP_FIX_TRUNCATED_NS 1000 // XNNPACK reports whole microseconds

typedef struct etp_fixer {
    const etp_ab *ab;
    etp_ab *out;
    uint32_t arm;
    int64_t total;   // traced inference of the arm, as it usually takes (profile.h)
    bool *covered;   // [n_operators] a fix of its own is about it: the general ones leave it out
    double boundary; // Σ (DELEGATE_CALL − its operators), median of the blocks' means
    size_t calls, inside; // delegate calls, operators in them
    bool delegates;       // any, whether or not it logs its operators
    double *call_ns;    // [calls] what each takes beside its operators, likewise, the longest first
    double join_likely; // what one call less likely saves
    double hidden;      // what truncation likely hides of a delegated operator
    double best_rate;   // bytes per ns of the arm's best copying operator, NAN unknown
} etp_fixer;

// Operators that one fix is about. What is not known is NAN.
typedef struct etp_fix_found {
    struct {
        uint32_t *items; // indices of operators, each once
        size_t n, cap;
    } ops;
    double lo, expected, hi; // gain, ns
    double concerns;         // time of what it is about beside that of OPS
} etp_fix_found;

typedef struct etp_fix_words { // what etp_ab_fix says of it; unsaid is NULL
    etp_fix_kind kind;
    const char *one, *many; // "layer norm outside the delegate": one of them, several
    bool splits;
    const char *command, *behind_dir; // where CHANGE does not say it
    const char *advice, *formula;
    etp_fix_change change;
} etp_fix_words;

typedef struct etp_fix_time { // of a set of operators in the arm, ns per inference
    double mean, lo, hi;      // 95 % interval over the blocks; below two blocks lo = 0, hi = mean
    // What goes with the operators and is booked at the boundary: what whole microseconds hide of
    // delegated ones, and a delegate call's set-up for each partition that kernels no longer split.
    double likely_more, most_more;
} etp_fix_time;

void etp_fix_add_op(etp_fixer *f, etp_fix_found *at, uint32_t op);
etp_fix_time etp_fix_time_of(const etp_fixer *f, const etp_fix_found *at);
// All times here are the usual ones of etp_profile_row, not means: a fix does not gain the time
// that the system gave to somebody else.
double etp_fix_row_ns(const etp_fixer *f, const etp_profile_row *row); // parts included
int64_t etp_fix_op_ns(const etp_fixer *f, uint32_t op);                // 0 unknown
const etp_profile_row *etp_fix_row(const etp_fixer *f, uint32_t op);
const char *etp_fix_model(const etp_fixer *f); // what to type for the arm's model
// The command that exports the arm's model again, as far as its file name tells how that was done,
// with CHANGE.
const char *etp_fix_export(const etp_fixer *f, etp_fix_change change);
// Work that is not done any more: all of its time, give or take the spread over the blocks and what
// whole microseconds hide; and the formula in words.
void etp_fix_goes_away(const etp_fixer *f, etp_fix_found *at);
extern const char etp_fix_k_goes_away[];
#define ETP_FIX_BOOKED_ELSEWHERE                                                                    \
    "what the boundary hides of them: up to 1 µs per delegated operator (truncation), a delegate " \
    "call's set-up per kernel that joins two partitions"
// What is known of OP through the program: NULL when nothing is.
const etp_op_facts *etp_fix_facts(const etp_fixer *f, uint32_t op);
// A level without kernels of float16 computes such an operator in float32.
bool etp_fix_reads_half(const etp_fixer *f, uint32_t op);
// Sizes of a dynamic program are upper bounds where the run's are not known: no figure rests on
// them.
static inline bool etp_fix_knows_work(const etp_op_facts *facts)
{
    return facts && facts->work.known && !facts->work.bound;
}
static inline bool etp_fix_knows_bytes(const etp_value *value)
{
    return value->bytes != ETP_BYTES_UNKNOWN && !value->dynamic;
}
// First node of the payload that OP did the work of, and its partition; NULL outside delegates.
const etp_node *etp_fix_node(const etp_fixer *f, uint32_t op, const etp_partition **out);
// The largest of INPUTS that is a tensor and no constant, ETP_NO_INDEX.
uint32_t etp_fix_data_input(const etp_value *values, const uint32_t *inputs, uint32_t n);
// The operator that does the work of a node, ETP_NO_INDEX.
uint32_t etp_fix_owner(const etp_fixer *f, const etp_partition *p, uint32_t node);
// Operator of the arm that makes the data OP works on, ETP_NO_INDEX when unknown.
uint32_t etp_fix_producer(const etp_fixer *f, uint32_t op);
// Shows the fix when it is worth it, and claims its operators.
void etp_fix_show(etp_fixer *f, const etp_fix_found *at, const etp_fix_words *w);
// The same for a fix about one ledger row that is the sum of COUNT things.
void etp_fix_show_sum(etp_fixer *f, const etp_fix_found *at, const char *row, size_t count,
                      const etp_fix_words *w);
// Attention is still torch's own, with its safe softmax outside the delegate: the exporter writes
// its permutes, and a recipe that looks for the model's finds none.
bool etp_fix_has_safe_softmax(const etp_fixer *f);
// Most that JOINED delegate calls less can save, by what the calls there are took.
double etp_fix_join_most(const etp_fixer *f, double joined);
// What copying OP's bytes takes, ns: the roof of memory, else the best rate that an operator of the
// arm reached, else NAN.
double etp_fix_copy_ns(const etp_fixer *f, uint32_t op);

// roofs.c: what fixes ask of the device's roofs. NAN without.
double etp_fix_roof_ns(const etp_fixer *f, uint32_t op);   // least time of OP
double etp_fix_memory_ns(const etp_fixer *f, uint32_t op); // of its bytes alone
double etp_fix_int8_ratio(const etp_fixer *f); // int8 ÷ float32 operations at the arm's level
double etp_fix_product_ns(const etp_fixer *f); // one product of float32 at the arm's level
double etp_fix_region_ns(const etp_fixer *f, uint32_t threads); // one parallel region

void etp_fixes_of_layout(etp_fixer *f);
// What no fix of its own covered; after the others.
void etp_fixes_of_moves(etp_fixer *f);
void etp_fixes_of_work(etp_fixer *f);

#endif
