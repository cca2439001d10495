// SPDX-License-Identifier: Apache-2.0
// What a program can ask the public library for, with the arena of shortage.c: out of memory is the
// status of the call that met it, and nothing is printed then.
//   library QUESTION PATH
#include <etprof/etprof.h>
#include <stdio.h>
#include <string.h>

// All that was handed over, printed only when everything could be had.
static etp_buffer parts[3];

static etp_status ask_analysis(const etp_analysis *a, etp_error *err)
{
    etp_analysis_summary about = {.struct_size = sizeof about};
    ETP_TRY(etp_analysis_about(a, &about, err));
    for (uint32_t i = 0; i < about.comparisons; i++) {
        etp_comparison_result c = {.struct_size = sizeof c};
        ETP_TRY(etp_analysis_comparison(a, i, &c, err));
    }
    for (uint32_t i = 0; i < about.operators; i++) {
        etp_operator_result op = {.struct_size = sizeof op};
        ETP_TRY(etp_analysis_operator(a, i, &op, err));
    }
    ETP_TRY(etp_analysis_json(a, &parts[0], err));
    ETP_TRY(etp_analysis_table_name(a, 0, &parts[1], err));
    return etp_analysis_text(a, NULL, &parts[2], err);
}

// Reads a stream to its end. The rows themselves are for the tests of convert.
static etp_status drain(struct ArrowArrayStream *s, etp_error *err)
{
    struct ArrowSchema schema = {.format = NULL};
    int code = s->get_schema(s, &schema);
    for (bool more = code == 0; more;) {
        struct ArrowArray rows = {.length = 0};
        code = s->get_next(s, &rows);
        more = code == 0 && rows.release;
        if (rows.release) {
            rows.release(&rows);
        }
    }
    if (schema.release) {
        schema.release(&schema);
    }
    etp_status st = ETP_OK;
    if (code) {
        const char *why = s->get_last_error(s);
        st = etp_fail(err, ETP_NOMEM, "%s", why ? why : "out of memory");
    }
    s->release(s);
    return st;
}

static etp_status ask_table(const etp_analysis *a, etp_error *err)
{
    struct ArrowArrayStream stream;
    ETP_TRY(etp_analysis_table(a, NULL, &stream, err));
    return drain(&stream, err);
}

static etp_status ask_reply(etp_question_kind kind, const char *path, etp_error *err)
{
    const char *const change = "drop *";
    etp_question q = {.struct_size = sizeof q,
                      .kind = kind,
                      .paths = &path,
                      .n_paths = 1,
                      .changes = kind == ETP_QUESTION_WHATIF ? &change : NULL,
                      .n_changes = kind == ETP_QUESTION_WHATIF ? 1 : 0};
    etp_analysis_output json = {.struct_size = sizeof json, .format = ETP_OUTPUT_JSON};
    etp_reply *reply = NULL;
    ETP_TRY(etp_reply_open(&q, &reply, err));
    etp_status st = etp_reply_text(reply, &json, &parts[0], err);
    if (st == ETP_OK && kind == ETP_QUESTION_INSPECTOR) {
        etp_inspector_columns columns = {.struct_size = sizeof columns};
        st = etp_reply_columns(reply, &columns, err);
        parts[1] = columns.memory;
        parts[1].len = 0; // numbers, not text
    } else if (st == ETP_OK) {
        st = etp_reply_text(reply, NULL, &parts[1], err);
    }
    etp_reply_close(reply);
    return st;
}

static etp_status ask(const char *question, const char *path, etp_error *err)
{
    static const char *const k_kinds[ETP_QUESTIONS] = {[ETP_QUESTION_OPS] = "ops",
                                                       [ETP_QUESTION_INSPECT] = "inspect",
                                                       [ETP_QUESTION_STATS] = "stats",
                                                       [ETP_QUESTION_WHATIF] = "whatif",
                                                       [ETP_QUESTION_INSPECTOR] = "inspector"};
    for (int k = 0; k < ETP_QUESTIONS; k++) {
        if (strcmp(question, k_kinds[k]) == 0) {
            return ask_reply((etp_question_kind)k, path, err);
        }
    }
    etp_analysis *a = NULL;
    ETP_TRY(strcmp(question, "dumps") == 0 ? etp_analysis_open_dumps(&path, 1, NULL, &a, err)
                                           : etp_analysis_open_run(path, NULL, &a, err));
    etp_status st = strcmp(question, "tables") == 0 ? ask_table(a, err) : ask_analysis(a, err);
    etp_analysis_close(a);
    return st;
}

int main(int argc, char **argv)
{
    etp_error err = {.msg = "usage: library QUESTION PATH"};
    etp_status st = argc == 3 ? ask(argv[1], argv[2], &err) : ETP_USAGE;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (st == ETP_OK) {
            fwrite(parts[i].ptr ? parts[i].ptr : "", 1, parts[i].len, stdout);
        }
        etp_buffer_dispose(&parts[i]);
    }
    fputs(st == ETP_OK ? "" : err.msg, stderr);
    return etp_status_exit_code(st);
}
