// SPDX-License-Identifier: Apache-2.0
// How a gate's answer is written down.
#include "study/gate/gate.h"

#include <math.h>

#include "base/sink.h"
#include "document/rows.h"

static const char *const k_words[] = {"unknown", "yes", "no"};

static const char *state_name(etp_gate_state state)
{
    return k_words[state];
}
WORDS(k_states, state_name, etp_gate_state, ETP_GATE_NO + 1)
FIND(check_ok, etp_gate_check, etp_gate,
     MAKE(maybe, it->state == ETP_GATE_UNKNOWN ? -1 : it->state == ETP_GATE_YES))
KNOWN(has_limit, etp_gate_check, isfinite(it->limit))

#define OF etp_gate_check
static const etp_field k_figure_rows[] = {
    FIELD("value", RATIO, value, "times in ns, memory in bytes", .range = ETP_SIGNED),
    FIELD("lo", RATIO, lo, "low end of its 95 % interval", .range = ETP_SIGNED),
    FIELD("hi", RATIO, hi, "high end", .range = ETP_SIGNED),
    FIELD("limit", RATIO, limit, "of the rule", .range = ETP_SIGNED),
};
static SHAPE(k_figure, k_figure_rows);
static const etp_field k_check_rows[] = {
    FIELD("id", TEXT, id,
          "speedup:linux_vnni, decode@0.speedup:linux_vnni_decode0, proof:…, outputs, …",
          .flags = ETP_SET),
    FIELD("phase", TEXT, phase, "that it is about; absent: the session as a whole",
          .flags = ETP_ABSENT),
    COMPUTED("ok", TRISTATE, check_ok, "null: unknown"),
    FIELD("found", TEXT, found, "", .flags = ETP_SET),
    FIELD("expected", TEXT, expected, "", .flags = ETP_SET),
    FIELD("fix", TEXT, fix, "what to do next; null: nothing"),
    GROUP(NULL, &k_figure, "", .when = has_limit, .flags = ETP_ABSENT),
};
static SHAPE_ON_ONE_LINE(k_check, k_check_rows);
#undef OF
#define OF etp_gate
static const etp_field k_rows[] = {
    FIELD("verdict", WORD, state, "of all checks", .words = &k_states),
    VECTOR("checks", OBJECT, checks, "in order", .shape = &k_check),
    VECTOR("noticed", TEXT, noticed, "what is wrong with the recordings",
           .flags = ETP_SET | ETP_LATER),
};
static SHAPE(k_gate, k_rows);
#undef OF
const etp_document k_etp_gate_document = {"etprof.gate/1", "What gate prints", &k_gate};

const etp_report *etp_gate_report(const etp_gate *g, etp_arena *arena)
{
    static const etp_column k_columns[] = {
        {.key = "check", .title = "check", .flags = ETP_COL_CODE},
        {.key = "ok", .title = "ok"},
        {.key = "found", .title = "found"},
        {.key = "expected", .title = "expected"},
    };
    static const etp_severity k_severity[] = {ETP_WARN, ETP_GOOD, ETP_BAD};
    static const char *const k_headline[] = {"unknown: not enough data to say yes or no",
                                             "yes: every check holds",
                                             "no: at least one check fails"};
    etp_report *r = etp_report_create(arena, "gate");
    etp_report_section(r, 1, "checks", g->title);
    etp_report_note(r, k_severity[g->state], "%s", k_headline[g->state]);
    etp_table *t = etp_report_table(r, "checks", NULL, k_columns, 4);
    for (size_t i = 0; i < g->checks.n; i++) {
        const etp_gate_check *c = &g->checks.items[i];
        ETP_ROW(t, etp_cell_called(c->id, c->called),
                etp_cell_judged(etp_cell_z(k_words[c->state]), k_severity[c->state]),
                etp_cell_z(c->found), etp_cell_z(c->expected));
    }
    for (size_t i = 0; i < g->noticed.n; i++) {
        etp_report_note(r, ETP_WARN, "%s", g->noticed.items[i]);
    }
    for (size_t i = 0; i < g->checks.n; i++) {
        const etp_gate_check *c = &g->checks.items[i];
        if (c->fix) {
            etp_report_note(r, k_severity[c->state], "%s: %s, expected %s; next: %s", c->called,
                            c->found, c->expected, c->fix);
        }
    }
    return r;
}

// XML 1.0 has no way to write most control characters, not even escaped.
static void xml(etp_sink *sink, const char *text)
{
    // Byte by byte: those of a character beyond ASCII are above 0x7F and pass through as they are.
    for (const char *p = text; *p; p++) {
        etp_sink_xml(sink, (unsigned char)*p < 0x20 ? ETP_STR(" ") : (etp_str){p, 1});
    }
}

// Unknown is "skipped": JUnit has no third answer, and build servers neither fail nor count it as
// passed. The exit code tells unknown apart.
bool etp_gate_junit(const etp_gate *g, etp_arena *arena, etp_str *out)
{
    etp_strbuf buf;
    etp_strbuf_init(&buf, arena);
    etp_sink sink = etp_sink_strbuf(&buf);
    size_t count[3] = {0};
    for (size_t i = 0; i < g->checks.n; i++) {
        count[g->checks.items[i].state]++;
    }
    etp_sink_z(&sink, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"");
    xml(&sink, g->title);
    etp_sink_printf(&sink, "\" tests=\"%zu\" failures=\"%zu\" skipped=\"%zu\">\n", g->checks.n,
                    count[ETP_GATE_NO], count[ETP_GATE_UNKNOWN]);
    for (size_t i = 0; i < g->checks.n; i++) {
        const etp_gate_check *c = &g->checks.items[i];
        etp_sink_z(&sink, "  <testcase classname=\"etprof.gate\" name=\"");
        xml(&sink, c->id);
        if (c->state == ETP_GATE_YES) {
            etp_sink_z(&sink, "\"/>\n");
            continue;
        }
        etp_sink_z(&sink,
                   c->state == ETP_GATE_NO ? "\"><failure message=\"" : "\"><skipped message=\"");
        xml(&sink, c->found);
        etp_sink_z(&sink, ", expected ");
        xml(&sink, c->expected);
        etp_sink_z(&sink, "\"");
        if (c->state == ETP_GATE_NO) {
            etp_sink_z(&sink, ">");
            xml(&sink, ETP_OR(c->fix, ""));
            etp_sink_z(&sink, "</failure></testcase>\n");
        } else {
            etp_sink_z(&sink, "/></testcase>\n");
        }
    }
    etp_sink_z(&sink, "</testsuite>\n");
    *out = etp_strbuf_str(&buf);
    return !buf.failed && !sink.failed;
}
