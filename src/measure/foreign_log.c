// SPDX-License-Identifier: Apache-2.0
// What executor_runner's log says: its lines are found wherever they stand in a line, prefixes
// differ between releases and platforms. Everything else is passed over.
//
// "Iteration 3 of 10: 1.234567 ms" (newer releases), "Model executed successfully 10 time(s)
// in 12.3 ms." (older ones: the sum alone), "Model loaded in 4.5 ms.", "Resetting threadpool with
// num threads = 1". Of a runner of language models "PyTorchObserver {...}" at the start of a line.
#include <math.h>
#include <stdio.h>

#include "base/number.h"
#include "measure/foreign.h"

static bool number(etp_str *line, etp_str *out)
{
    size_t n = 0;
    while (n < line->len && ((line->ptr[n] >= '0' && line->ptr[n] <= '9') || line->ptr[n] == '.')) {
        n++;
    }
    *out = (etp_str){line->ptr, n};
    line->ptr += n;
    line->len -= n;
    return n > 0;
}

static bool integer(etp_str *line, uint64_t *out)
{
    etp_str text;
    return number(line, &text) && etp_parse_u64(text, out);
}

static bool milliseconds(etp_str *line, uint64_t *out_ns)
{
    etp_str text;
    double ms;
    if (!number(line, &text) || !etp_parse_double(text, &ms) || !(ms < 1e9)) {
        return false;
    }
    *out_ns = (uint64_t)llround(ms * 1e6);
    *out_ns += *out_ns == 0; // shorter than its six digits show
    return etp_str_skip(line, " ms");
}

// The rest of LINE after TEXT.
static bool after(etp_str line, const char *text, etp_str *out)
{
    etp_str before;
    *out = line;
    return etp_str_cut(out, text, &before);
}

static void wrong(etp_foreign_log *log, const char *what, uint64_t said, const char *against,
                  uint64_t expected)
{
    if (log->wrong[0] == '\0') {
        snprintf(log->wrong, sizeof log->wrong, "%s %llu, %s %llu", what, (unsigned long long)said,
                 against, (unsigned long long)expected);
    }
}

static void take_iteration(etp_foreign_log *log, uint64_t i, uint64_t n, uint64_t ns, uint64_t now)
{
    if (n != log->executions) {
        wrong(log, "executions:", n, "asked for", log->executions);
        return;
    }
    // Numbered from 1 without a gap: a line that is missing or comes twice would put the wrong
    // times into the sample.
    if (i != log->iterations.n + 1 || i > n) {
        wrong(log, "its log has iteration", i, "after", log->iterations.n);
        return;
    }
    // A line comes after its iteration; two that are read at once ended one after the other.
    uint64_t start = ETP_LESS(now, ns);
    if (log->iterations.n > 0) {
        const etp_launch_iteration *last = &log->iterations.items[log->iterations.n - 1];
        start = ETP_MAX(start, last->start_ns + last->ns);
    }
    etp_launch_iteration item = {start, ns};
    ETP_ADD(log->arena, &log->iterations, item);
}

// The statistics of one answer of a runner of language models.
static void take_answer(etp_foreign_log *log, etp_str text, uint64_t now)
{
    etp_foreign_stats stats;
    char why[sizeof log->bad];
    // One too many is known only when it comes; it is not kept, so that a log without end costs no
    // memory.
    if (log->answers.n == log->executions) {
        wrong(log, "answers: more than", log->executions, "asked for", log->executions);
        return;
    }
    if (!etp_foreign_stats_read(text, &stats, why, sizeof why)) {
        snprintf(log->bad, sizeof log->bad, "%s", log->bad[0] ? log->bad : why);
        return;
    }
    stats.ended_ns = now;
    log->load_ns = stats.load_ms * 1000000;
    ETP_ADD(log->arena, &log->answers, stats);
}

static void take_line(etp_foreign_log *log, etp_str line, uint64_t now)
{
    etp_str rest;
    uint64_t i, n, ns;
    bool text = log->kind == ETP_FOREIGN_TEXT; // which may look like anything else
    if (text && etp_str_skip(&line, "PyTorchObserver ")) {
        take_answer(log, line, now);
    } else if (after(line, "Resetting threadpool with num threads = ", &rest) &&
               integer(&rest, &n)) {
        log->threads = n;
    } else if (text) {
        return;
    } else if (after(line, "Iteration ", &rest) && integer(&rest, &i) &&
               etp_str_skip(&rest, " of ") && integer(&rest, &n) && etp_str_skip(&rest, ": ") &&
               milliseconds(&rest, &ns)) {
        take_iteration(log, i, n, ns, now);
    } else if (after(line, "Model executed successfully ", &rest) && integer(&rest, &n) &&
               etp_str_skip(&rest, " time(s) in ") && milliseconds(&rest, &ns)) {
        log->total_n = n;
        log->total_ns = ns;
        if (n != log->executions) {
            wrong(log, "executions:", n, "asked for", log->executions);
        }
    } else if (after(line, "Model loaded in ", &rest) && milliseconds(&rest, &ns)) {
        log->load_ns = ns;
    }
}

// Lines are put together here, one buffer for each stream, since a piece ends anywhere; a line
// counts with the time of the piece that completes it.
void etp_foreign_log_feed(etp_foreign_log *log, unsigned stream, const char *text, size_t len,
                          uint64_t now_ns)
{
    size_t cap = sizeof log->lines[stream].text;
    for (size_t k = 0; k < len; k++) {
        if (text[k] == '\n') {
            if (!log->lines[stream].skipping) {
                take_line(log, (etp_str){log->lines[stream].text, log->lines[stream].n}, now_ns);
            }
            log->lines[stream].n = 0;
            log->lines[stream].skipping = false;
        } else if (log->lines[stream].n < cap) {
            log->lines[stream].text[log->lines[stream].n++] = text[k];
        } else {
            log->lines[stream].skipping = true; // printed tensors
        }
    }
}
