// SPDX-License-Identifier: Apache-2.0
// Recordings of both arms, and the operators in them.
#include "numerics/times.h"

#include <math.h>

#include <etprof/stats.h>

#include "numerics/pairs.h"

#define BLOCKS 6u      // traced launches of each program, in turns
#define ITERATIONS 20u // of such a launch

static etp_status record_both(etp_arms *arms, etp_arm_times *out)
{
    const etp_session_plan *plan = arms->plan;
    const uint32_t blocks = plan->blocks_exact ? plan->blocks : BLOCKS;
    const uint64_t n = ETP_OR(plan->settings.iterations, ITERATIONS);
    etp_run_wait waited = {0};
    for (uint32_t b = 0; b < blocks; b++) {
        for (int k = 0; k < 2; k++) { // the order turns, so that drift does no harm
            const int which = (int)(b % 2) ^ k;
            if (arms->ask && which == ETP_BASELINE) {
                continue;
            }
            etp_status status = etp_arms_record(arms, which, n, &waited);
            if (status == ETP_UNSUPPORTED || status == ETP_CHILD) {
                out->untimed = etp_arena_printf(arms->arena, "%s", arms->err->msg);
                return ETP_OK;
            }
            ETP_TRY(status);
        }
    }
    out->waited = etp_run_wait_share(&waited);
    return ETP_OK;
}

etp_status etp_arm_times_measure(etp_arms *arms, etp_arm_times *out)
{
    *out = (etp_arm_times){
        .whole_ns = {(double)NAN, (double)NAN},
          .waited = (double)NAN
    };
    if (arms->plan->settings.no_trace) {
        out->untimed = "--no-trace leaves times out";
        return ETP_OK;
    }
    etp_arms_tell(arms, "measuring both programs");
    ETP_TRY(record_both(arms, out));
    for (int which = arms->ask != NULL; which <= ETP_CANDIDATE && !out->untimed; which++) {
        const etp_arm_side *x = &arms->sides[which];
        const size_t n = x->recordings.n;
        const etp_trace **traces = ETP_NEW_ARRAY(arms->arena, const etp_trace *, n);
        for (size_t i = 0; i < n; i++) {
            traces[i] = x->recordings.items[i].trace;
        }
        etp_profile *p = ETP_NEW(arms->arena, etp_profile);
        etp_status status = etp_profile_build(traces, n, arms->arena, p, arms->err);
        if (status == ETP_UNKNOWN) {
            out->untimed = "no execution of the recordings is sound";
            continue;
        }
        ETP_TRY(status);
        out->profiles[which] = p;
        out->whole_ns[which] = (double)p->execute_total_ns / (double)p->executions;
        ETP_TRY(etp_profile_join(p, traces, x->program, NULL, arms->arena, arms->err));
    }
    if (out->untimed) {
        *out = (etp_arm_times){
            .whole_ns = {(double)NAN, (double)NAN},
              .waited = out->waited, .untimed = out->untimed
        };
    }
    return ETP_OK;
}

double etp_arm_times_of(const etp_arms *arms, const etp_arm_times *times, int which, uint32_t place)
{
    const etp_op *op = &arms->sides[which].ops.items[place];
    const etp_cut_place *at = &op->at;
    const etp_instruction *i = &at->method->instructions[at->instruction];
    const etp_profile *p = times->profiles[which];
    uint32_t n = 0, multiplying = 0;
    const etp_profile_row *row = etp_profile_row_of(p, i->chain, i->index, at->node, &n);
    const etp_row_facts *facts = row ? &p->facts->rows[row - p->rows] : NULL;
    for (uint32_t k = 0; facts && at->node != ETP_NO_INDEX && k < n; k++) {
        const etp_op other = {
            .at = {at->method, at->instruction, facts->nodes[k]}
        };
        multiplying += etp_op_multiplies(&other);
    }
    // Of what ran as one with another that multiplies, the time is not this one's.
    const bool another = multiplying > etp_op_multiplies(op);
    const double ns = etp_profile_typical(p, row, arms->arena).estimate;
    const bool cut_off = row && row->whole_us && ns < ETP_CLOCK_CUT_NS;
    return etp_value_if(!(another || cut_off), ns);
}

void etp_arm_times_say(const char *untimed, double waited, etp_report *r)
{
    if (untimed) {
        etp_report_note(r, ETP_WARN, "no times: %s", untimed);
    }
    if (waited > ETP_WAIT_MOST) {
        etp_report_note(r, ETP_WARN,
                        "other programs had the CPU for %.0f %% of the time: measure times again",
                        100 * waited);
    }
}
