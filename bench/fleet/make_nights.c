// SPDX-License-Identifier: Apache-2.0
// Writes many dumps out of a real one: all its executions, slower or faster.
//   make_nights FROM.etdump < LINES       a line: FACTOR SEED PATH
// FACTOR: of every time of the dump. Each execution scatters around it by a hundredth, by SEED.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <etprof/etdump.h>
#include <etprof/stats.h>

#include "etdump_writer.h"
#include "os/os.h"

static const char *zero_terminated(etp_str s, etp_arena *arena)
{
    return s.ptr ? etp_arena_strdup(arena, s) : NULL;
}

static uint64_t at(uint64_t t, uint64_t origin, double factor)
{
    return t < origin ? t : origin + (uint64_t)((double)(t - origin) * factor);
}

static void copy_run(dump_writer *w, const etp_etdump_run *run, double factor, etp_arena *arena)
{
    uint64_t origin = UINT64_MAX;
    etp_etdump_profile p;
    for (size_t i = 0; i < run->n_events; i++) {
        if (etp_etdump_profile_of(etp_etdump_event_at(run, i), &p) && p.start < origin) {
            origin = p.start;
        }
    }
    for (size_t i = 0; i < run->n_events; i++) {
        if (etp_etdump_profile_of(etp_etdump_event_at(run, i), &p)) {
            dump_event(w, &(dump_profile){zero_terminated(p.name, arena),
                                          zero_terminated(p.delegate_id_str, arena), p.chain_index,
                                          p.instruction_id, p.delegate_id,
                                          at(p.start, origin, factor), at(p.end, origin, factor),
                                          p.delegate_metadata.ptr ? "" : NULL});
        }
    }
    dump_run(w, "Execute", -1);
}

static bool make(const etp_etdump *from, double factor, uint64_t seed, const char *path)
{
    etp_arena arena = {0};
    etp_rng rng;
    dump_writer w;
    etp_rng_init(&rng, seed);
    w = dump_begin(&arena);
    for (size_t r = 0; r < from->n_runs; r++) {
        etp_etdump_run run = etp_etdump_run_at(from, r);
        double u = etp_rng_unit(&rng);
        copy_run(&w, &run, factor * (1 + 0.01 * etp_normal_quantile(0.001 + 0.998 * u)), &arena);
    }
    etp_bytes out = dump_finish(&w, true);
    FILE *f = fopen(path, "wb");
    bool ok = out.ptr && f && fwrite(out.ptr, 1, out.len, f) == out.len;
    ok = f && fclose(f) == 0 && ok;
    etp_arena_dispose(&arena);
    return ok;
}

int main(int argc, char **argv)
{
    etp_error err = {0};
    etp_file file = {0};
    etp_etdump from = {0};
    if (argc != 2 || etp_file_open(argv[1], (uint64_t)1 << 32, &file, &err) != ETP_OK ||
        etp_etdump_open(file.bytes, &from, &err) != ETP_OK) {
        fprintf(stderr, "usage: make_nights FROM.etdump < LINES %s\n", err.msg);
        return 2;
    }
    char line[4096];
    while (fgets(line, sizeof line, stdin)) {
        char *end = NULL;
        line[strcspn(line, "\n")] = '\0';
        double factor = strtod(line, &end);
        uint64_t seed = strtoull(end, &end, 10);
        if (*end != ' ' || !make(&from, factor, seed, end + 1)) {
            fprintf(stderr, "make_nights: cannot write '%s'\n", line);
            return 1;
        }
    }
    etp_file_close(&file);
    return 0;
}
