// SPDX-License-Identifier: Apache-2.0
// The tables of what was measured: samples.csv and the launches of environment.jsonl.
#include "convert/table_rows.h"

static etp_status open_samples(etp_table_folder *f, etp_error *err)
{
    return etp_run_samples_open(&f->rows, &f->run, err);
}

static etp_status open_launches(etp_table_folder *f, etp_error *err)
{
    return etp_run_launches_open(&f->rows, &f->run, err);
}

static void close_rows(etp_table_folder *f)
{
    etp_run_rows_close(&f->rows);
}

etp_status etp_table_put_sample(const etp_table_folder *f, const etp_run_sample *s, etp_batch *b,
                                etp_error *err)
{
    if (s->start_ns >
        INT64_MAX) { // signed, because people subtract: uint64 would wrap in their tools
        return etp_fail(err, ETP_UNSUPPORTED,
                        "%s: start_ns %llu is beyond 2^63 − 1, the largest number of the table",
                        f->rows.path, (unsigned long long)s->start_ns);
    }
    etp_table_keys(f, s->arm, b);
    etp_batch_i64(b, s->block);
    etp_batch_i64(b, s->launch);
    etp_batch_i64(b, s->iteration);
    etp_batch_text(b, etp_str_from(etp_phase_name(s->phase)));
    etp_batch_i64(b, (int64_t)s->start_ns);
    etp_batch_i64(b, (int64_t)s->duration_ns);
    return etp_batch_end_row(b, err);
}

static etp_status next_sample(etp_table_folder *f, etp_batch *b, bool *more, etp_error *err)
{
    etp_run_sample s;
    ETP_TRY(etp_run_sample_next(&f->rows, &s, more, err));
    return *more ? etp_table_put_sample(f, &s, b, err) : ETP_OK;
}

static void some(etp_batch *b, uint64_t v) // 0 is unknown
{
    etp_batch_i64_if(b, v, v > 0);
}

static etp_status next_launch(etp_table_folder *f, etp_batch *b, bool *more, etp_error *err)
{
    etp_run_launch l;
    ETP_TRY(etp_run_launch_next(&f->rows, &l, more, err));
    if (!*more) {
        return ETP_OK;
    }
    // The system told about the process or it did not: no process lives without a page fault.
    bool usage = l.minor_faults > 0;
    etp_table_keys(f, l.arm, b);
    etp_batch_i64(b, l.block);
    etp_batch_i64(b, l.launch);
    etp_batch_i64(b, l.position);
    etp_batch_text(b, etp_str_from(etp_launch_kind_name(l.kind)));
    const uint64_t measured[] = {l.pid,      l.start_ns,  l.wall_ns,       l.load_ns,
                                 l.first_ns, l.rss_bytes, l.peak_rss_bytes};
    for (size_t i = 0; i < sizeof measured / sizeof measured[0]; i++) {
        some(b, measured[i]);
    }
    const uint64_t used[] = {l.user_ns,      l.system_ns,          l.minor_faults,
                             l.major_faults, l.voluntary_switches, l.involuntary_switches};
    for (size_t i = 0; i < sizeof used / sizeof used[0]; i++) {
        etp_batch_i64_if(b, used[i], usage);
    }
    etp_batch_i64_if(b, l.wait_ns, true); // UINT64_MAX, unknown, is beyond the range
    etp_batch_i64_if(b, l.migrations, true);
    const uint64_t counted[] = {l.cycles, l.instructions, l.fast_cycles, l.energy_nj};
    for (size_t i = 0; i < sizeof counted / sizeof counted[0]; i++) {
        some(b, counted[i]);
    }
    // Zero calls are an answer where a hook was there to count them.
    etp_batch_i64_if(b, l.hook_calls, l.mask_hook.len > 0);
    etp_batch_i64_if(b, l.hook_cost.calls, l.hook_cost.call_ps > 0);
    etp_batch_i64_if(b, l.hook_cost.call_ps, l.hook_cost.call_ps > 0);
    etp_batch_text_if(b, l.mask_requested);
    etp_batch_text_if(b, l.mask_cleared);
    etp_batch_text_if(b, l.mask_hook);
    etp_batch_text_if(b, l.mask_caller);
    etp_batch_text_if(b, l.flags);
    etp_batch_text_if(b, l.cpus_allowed);
    return etp_batch_end_row(b, err);
}

const etp_table_rows k_etp_sample_rows = {open_samples, next_sample, close_rows};
const etp_table_rows k_etp_launch_rows = {open_launches, next_launch, close_rows};
