// SPDX-License-Identifier: Apache-2.0
// Writes a sample report to standard output: render full|hostile
// text|brief|color|ascii|md|html|csv|svg [ID]

#include "sample.h"

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: %s full|hostile text|brief|color|ascii|md|html|csv|svg [ID]\n",
                argv[0]);
        return 2;
    }
    static const struct {
        const char *name;
        etp_report_writer *format;
        etp_report_style style;
    } k_ways[] = {
        {"text",  etp_write_text, {.width = 100, .unicode = true}               },
        {"brief", etp_write_text, {.width = 80, .unicode = true, .brief = true} },
        {"color", etp_write_text, {.width = 100, .unicode = true, .color = true}},
        {"ascii", etp_write_text, {.width = 80}                                 },
        {"md",    etp_write_md,   {0}                                           },
        {"html",  etp_write_html, {0}                                           },
        {"csv",   etp_write_csv,  {0}                                           },
        {"svg",   etp_write_svg,  {0}                                           }
    };
    for (size_t i = 0; i < sizeof k_ways / sizeof *k_ways; i++) {
        if (strcmp(argv[2], k_ways[i].name) != 0) {
            continue;
        }
        etp_arena arena = {0};
        etp_report *r =
            strcmp(argv[1], "hostile") == 0 ? sample_hostile(&arena) : sample_full(&arena);
        etp_report_style style = k_ways[i].style;
        style.select = argc > 3 ? argv[3] : NULL;
        etp_sink out = etp_sink_file(stdout);
        etp_error err;
        etp_status st = etp_report_write(r, k_ways[i].format, &style, &out, &err);
        if (st != ETP_OK) {
            fprintf(stderr, "%s\n", err.msg);
        }
        etp_arena_dispose(&arena);
        return etp_status_exit_code(st);
    }
    fprintf(stderr, "no such format: %s\n", argv[2]);
    return 2;
}
