// SPDX-License-Identifier: Apache-2.0
// Prints Inspector's table of a dump; check_inspector_rows.py holds it against ExecuTorch's own.
//   inspector_rows json|tsv DUMP [--buffer FILE] [--etrecord FILE]
#include <stdio.h>
#include <string.h>

#include "convert/inspector.h"
#include "os/os.h"

static etp_status print_table(int argc, char **argv, etp_arena *arena, etp_file files[3],
                              etp_error *err)
{
    etp_etdump dump;
    etp_inspector_table table;
    bool has_buffer = false;
    ETP_TRY(etp_file_open(argv[2], (uint64_t)1 << 32, &files[0], err));
    ETP_TRY(etp_etdump_open(files[0].bytes, &dump, err));
    ETP_TRY(etp_inspector_build(&dump, arena, &table, err));
    for (int i = 3; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--buffer") == 0) {
            has_buffer = true;
            ETP_TRY(etp_file_open(argv[i + 1], (uint64_t)1 << 32, &files[1], err));
        } else {
            etp_etrecord *record = ETP_NEW(arena, etp_etrecord);
            ETP_TRY(etp_file_open(argv[i + 1], (uint64_t)1 << 32, &files[2], err));
            ETP_TRY(record ? etp_etrecord_read(files[2].bytes, arena, record, err)
                           : etp_fail_nomem(err, "record"));
            ETP_TRY(etp_inspector_annotate(&table, record, arena, err));
        }
    }
    etp_sink sink = etp_sink_file(stdout);
    if (strcmp(argv[1], "tsv") == 0) {
        etp_inspector_tsv(&table, &sink);
        return ETP_OK;
    }
    return etp_inspector_json(&table, has_buffer ? &files[1].bytes : NULL, &sink, err);
}

int main(int argc, char **argv)
{
    etp_arena arena = {0};
    etp_file files[3] = {0};
    etp_error err = {0};
    if (argc < 3) {
        fprintf(stderr, "usage: inspector_rows json|tsv DUMP [--buffer FILE] [--etrecord FILE]\n");
        return 2;
    }
    etp_status status = print_table(argc, argv, &arena, files, &err);
    if (status != ETP_OK) {
        fprintf(stderr, "%s\n", err.msg);
    }
    for (int i = 0; i < 3; i++) {
        etp_file_close(&files[i]);
    }
    etp_arena_dispose(&arena);
    return status == ETP_OK ? 0 : 1;
}
