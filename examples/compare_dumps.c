// SPDX-License-Identifier: Apache-2.0
// Two recordings side by side: how much faster B is than A, operator by operator, and a report.
//   cc compare_dumps.c $(pkg-config --cflags --libs etprof) -o compare_dumps
#include <etprof/etprof.h>
#include <stdio.h>

static etp_status print(const etp_analysis *a, etp_error *err)
{
    etp_analysis_summary about = {sizeof about};
    etp_comparison_result c = {sizeof c};
    ETP_TRY(etp_analysis_about(a, &about, err));
    ETP_TRY(etp_analysis_comparison(a, 0, &c, err));
    printf("%.2fx, grade %.*s\n", c.speedup, ETP_STR_ARG(about.grade));
    for (uint32_t i = 0; i < about.operators; i++) {
        etp_operator_result op = {sizeof op};
        int64_t ns[2];
        ETP_TRY(etp_analysis_operator(a, i, &op, err));
        ETP_TRY(etp_analysis_operator_in(a, i, c.baseline, NULL, &ns[0], err));
        ETP_TRY(etp_analysis_operator_in(a, i, c.candidate, NULL, &ns[1], err));
        if (ns[0] != ETP_UNKNOWN_NS && ns[1] != ETP_UNKNOWN_NS) {
            printf("%12.3f us %12.3f us  %.*s\n", (double)ns[0] / 1e3, (double)ns[1] / 1e3,
                   ETP_STR_ARG(op.label));
        }
    }
    return ETP_OK;
}

int main(int argc, char **argv)
{
    etp_error err = {ETP_USAGE, 0, ETP_NO_OFFSET, "usage: compare_dumps A B REPORT.html"};
    etp_analysis *a = NULL;
    etp_analysis_output html = {sizeof html, ETP_OUTPUT_HTML};
    etp_status st = argc == 4 ? etp_analysis_compare(argv[1], argv[2], NULL, &a, &err) : ETP_USAGE;
    st = st == ETP_OK ? print(a, &err) : st;
    st = st == ETP_OK ? etp_analysis_write_file(a, &html, argv[3], &err) : st;
    fputs(st == ETP_OK ? "" : err.msg, stderr);
    etp_analysis_close(a);
    return etp_status_exit_code(st);
}
