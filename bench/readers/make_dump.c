// SPDX-License-Identifier: Apache-2.0
// Makes a big ETDump out of a real one: its longest execution again and again, with later times.
//   make_dump FROM.etdump RUNS same|alternate OUT.etdump
// "alternate": every second execution lacks the last operator, and one in the middle lacks two, as
// if two methods took turns and one call went another way.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <etprof/etdump.h>

#include "etdump_writer.h"
#include "os/os.h"

static const char *zero_terminated(etp_str s, etp_arena *arena)
{
    return s.ptr ? etp_arena_strdup(arena, s) : NULL; // strings of a file end in NUL, but be plain
}

// The R-th execution: the events without [SKIP, SKIP + N_SKIP), later and up to a tenth longer as a
// whole, so that parts stay inside what they are parts of. Times before FIRST are of another clock.
static void copy_run(dump_writer *w, const dump_profile *events, size_t n, size_t skip,
                     size_t n_skip, uint64_t first, uint64_t r)
{
    for (size_t i = 0; i < n; i++) {
        if (i >= skip && i - skip < n_skip) {
            continue;
        }
        dump_profile e = events[i];
        uint64_t from = e.start >= first ? first : 0, later = from + r * 10000019;
        e.start = later + (e.start - from) * (1000 + r % 101) / 1000;
        e.end = later + (e.end - from) * (1000 + r % 101) / 1000;
        dump_event(w, &e);
    }
}

static etp_etdump_run longest_run(const etp_etdump *dump)
{
    etp_etdump_run best = etp_etdump_run_at(dump, 0);
    for (size_t r = 1; r < dump->n_runs; r++) {
        etp_etdump_run run = etp_etdump_run_at(dump, r);
        best = run.n_events > best.n_events ? run : best;
    }
    return best;
}

int main(int argc, char **argv)
{
    etp_error err = {0};
    etp_file file = {0};
    etp_etdump dump = {0};
    if (argc != 5 || etp_file_open(argv[1], (uint64_t)1 << 32, &file, &err) != ETP_OK ||
        etp_etdump_open(file.bytes, &dump, &err) != ETP_OK || dump.n_runs == 0) {
        fprintf(stderr, "usage: make_dump FROM.etdump RUNS same|alternate OUT.etdump %s\n",
                err.msg);
        return 2;
    }
    long runs = strtol(argv[2], NULL, 10);
    bool alternate = strcmp(argv[3], "alternate") == 0;
    etp_arena arena = {0};
    etp_etdump_run run = longest_run(&dump);
    dump_profile *events = ETP_NEW_ARRAY(&arena, dump_profile, run.n_events);
    size_t n = 0;
    uint64_t first = 0;
    for (size_t i = 0; events && i < run.n_events; i++) {
        etp_etdump_profile p;
        if (etp_etdump_profile_of(etp_etdump_event_at(&run, i), &p)) {
            events[n++] = (dump_profile){zero_terminated(p.name, &arena),
                                         zero_terminated(p.delegate_id_str, &arena),
                                         p.chain_index,
                                         p.instruction_id,
                                         p.delegate_id,
                                         p.start,
                                         p.end,
                                         p.delegate_metadata.ptr ? "" : NULL};
            first = etp_str_eqz(p.name, "Method::execute") ? p.start : first;
        }
    }
    dump_writer w = dump_begin(&arena);
    for (long r = 0; r < runs; r++) {
        size_t skip = 0;
        if (alternate) {
            skip = r == runs / 2 ? 2 : (size_t)(r % 2);
        }
        copy_run(&w, events, n, n > 3 ? n - 3 : 0, skip, first, (uint64_t)r);
        dump_run(&w, "Execute", -1);
    }
    etp_bytes out = dump_finish(&w, true);
    FILE *f = fopen(argv[4], "wb");
    bool ok = out.ptr && f && fwrite(out.ptr, 1, out.len, f) == out.len;
    ok = f && fclose(f) == 0 && ok;
    etp_arena_dispose(&arena);
    etp_file_close(&file);
    return ok ? 0 : 1;
}
