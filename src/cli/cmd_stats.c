// SPDX-License-Identifier: Apache-2.0
// etprof stats FILE.csv: the paired analysis of anybody's samples.
#include <stddef.h>

#include "answer/stats.h"
#include "cli/emit.h"
#include "isa/isa.h"
#include "os/os.h"

#define CSV_LIMIT ((uint64_t)2 << 30)

typedef struct stats_options {
    const char *baseline;
    double margin_percent;
} stats_options;

static const etp_opt k_options[] = {
    {"baseline", 'b', ETP_OPT_STRING, offsetof(stats_options, baseline), "NAME",
     "experiment the others are compared with", NULL},
    {"margin", 0, ETP_OPT_NUMBER, offsetof(stats_options, margin_percent), "PERCENT",
     "differences below this are 'same' (default 1)", NULL},
    {0},
};

// The level in an experiment's name: the one word of it that is a level ("fp16_neon"), else -1.
static int level_rank(etp_str name)
{
    int rank = -1;
    for (size_t at = 0; at < name.len;) {
        size_t len = 0;
        while (at + len < name.len && !strchr("_-. ", name.ptr[at + len])) {
            len++;
        }
        char word[16] = "";
        if (len < sizeof word) {
            memcpy(word, name.ptr + at, len);
            etp_level level = etp_level_find(ETP_ISA_NONE, word);
            if (level != ETP_LEVEL_NONE) {
                rank = (int)level;
            }
        }
        at += len + 1;
    }
    return rank;
}

static etp_status read_stdin(etp_arena *arena, etp_str *out, etp_error *err)
{
    etp_strbuf buf;
    etp_strbuf_init(&buf, arena);
    char chunk[65536];
    size_t n;
    while ((n = fread(chunk, 1, sizeof chunk, stdin)) > 0) {
        etp_strbuf_append(&buf, (etp_str){chunk, n});
        if (buf.failed || buf.len > CSV_LIMIT) {
            return etp_fail(err, ETP_NOMEM, "standard input is too large");
        }
    }
    if (ferror(stdin)) {
        return etp_fail_errno(err, ETP_IO, "reading standard input");
    }
    *out = etp_strbuf_str(&buf);
    return ETP_OK;
}

static etp_status analyze(etp_cli *cli, const char *path, const stats_options *o, etp_str text,
                          etp_error *err)
{
    etp_sample_table table;
    if (etp_samples_read_csv(text, &cli->arena, &table, err) != ETP_OK) {
        return etp_fail_ctx(err, "%s", path);
    }
    etp_arm_name *arms = ETP_NEW_ARRAY(&cli->arena, etp_arm_name, table.n_arms);
    if (!arms) {
        return etp_fail_nomem(err, "experiments");
    }
    for (uint32_t i = 0; i < table.n_arms; i++) {
        arms[i] = (etp_arm_name){table.arms[i], level_rank(table.arms[i])};
    }
    etp_stats_options options = {.margin = o->margin_percent / 100};
    ETP_TRY(etp_choose_baseline(arms, table.n_arms, etp_str_from(o->baseline), (etp_str){0},
                                &options.baseline, err));
    etp_stats_answer stats = {.source = path, .names = table.arms};
    if (etp_stats_analyze(table.samples, table.n_samples, table.n_arms, &options, &cli->arena,
                          &stats.stats, err) != ETP_OK) {
        return etp_fail_ctx(err, "%s", path);
    }
    etp_cli_answer answer = {
        .json = etp_stats_json,
        .data = &stats,
        .report = cli->format == ETP_CLI_JSON ? NULL : etp_stats_report(&stats, &cli->arena),
        .csv_table = "comparisons",
    };
    return etp_cli_emit(cli, &answer, err);
}

static etp_status run(etp_cli *cli, const void *opts, int argc, char **argv, etp_error *err)
{
    (void)argc;
    if (strcmp(argv[0], "-") == 0) {
        etp_str text = {0};
        ETP_TRY(read_stdin(&cli->arena, &text, err));
        return analyze(cli, "standard input", opts, text, err);
    }
    etp_file file = {0};
    ETP_TRY(etp_file_open(argv[0], CSV_LIMIT, &file, err));
    etp_str text = {(const char *)file.bytes.ptr, file.bytes.len};
    etp_status st = analyze(cli, argv[0], opts, text, err);
    etp_file_close(&file);
    return st;
}

const etp_command etp_cmd_stats = {
    .name = "stats",
    .summary = "paired statistics of a CSV of samples",
    .usage = "FILE.csv",
    .description =
        "Needs the columns experiment, block, iteration and duration_ns; '-' reads standard input.\n"
        "One block holds one launch of every experiment, measured close together; incomplete blocks\n"
        "are dropped and counted. With a column phase only 'timed' rows are compared, and 'control'\n"
        "rows (the baseline launched a second time) give the noise floor.",
    .examples = "  etprof stats samples.csv\n"
                "  etprof stats samples.csv --baseline neon --format json",
    .opts = k_options,
    .opts_size = sizeof(stats_options),
    .formats = ETP_CLI_STANDARD_FORMATS,
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
