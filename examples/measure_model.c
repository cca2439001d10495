// SPDX-License-Identifier: Apache-2.0
// Measures a model at two CPU-feature levels and prints the speedup, as `etprof ab` does.
//   cc measure_model.c $(pkg-config --cflags --libs etprof) -o measure_model
#include <etprof/etprof.h>
#include <stdio.h>

static void progress(void *ctx, const etp_measurement_progress *p)
{
    fprintf((FILE *)ctx, "block %u of %u: %.*s\n", p->block, p->blocks, ETP_STR_ARG(p->arm));
}

static etp_status speedup(const char *folder, etp_error *err)
{
    etp_analysis *a = NULL;
    etp_comparison_result c = {sizeof c};
    etp_status st = etp_analysis_open_run(folder, NULL, &a, err);
    st = st == ETP_OK ? etp_analysis_comparison(a, 0, &c, err) : st;
    if (st == ETP_OK) {
        printf("%.*s: %.2fx [%.2f, %.2f] %.*s\n", ETP_STR_ARG(c.verdict_text), c.speedup, c.lo,
               c.hi, ETP_STR_ARG(c.withheld_text));
    }
    etp_analysis_close(a);
    return st;
}

int main(int argc, char **argv)
{
    etp_error err = {ETP_USAGE, 0, ETP_NO_OFFSET, "usage: measure_model MODEL.pte NEW_FOLDER"};
    const char *const models[] = {argv[1]};
    etp_measurement_options o = {sizeof o, models, 1};
    etp_measurement_callbacks on = {sizeof on, stderr, progress};
    etp_measurement *m = NULL;
    o.blocks = 2, o.folder = argv[2];
    etp_status st = argc == 3 ? etp_measurement_create(&o, &on, &m, &err) : ETP_USAGE;
    st = st == ETP_OK ? etp_measurement_run(m, &err) : st;
    st = st == ETP_OK ? speedup(argv[2], &err) : st;
    fputs(st == ETP_OK ? "" : err.msg, stderr);
    etp_measurement_destroy(m);
    return etp_status_exit_code(st);
}
