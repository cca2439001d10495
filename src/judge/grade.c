// SPDX-License-Identifier: Apache-2.0
// The grade of a comparison: how much the arms have in common besides what is compared.
//   A  one binary, one session      B  one binary, two sessions of one day on one kind of machine,
//                                      or one session whose runner records no operators
//   C  different or unknown builds, otherwise as A or B      D  anything less, dumps alone included
#include <string.h>

#include "judge/judge.h"

// In this order: note_facts indexes its words by it, and UNKNOWN has none.
typedef enum shared { UNKNOWN, SAME, DIFFERENT } shared;

typedef struct common {
    shared session, binary, day, machine, model, threads, settings;
} common;

static shared same_text(etp_str a, etp_str b)
{
    if (a.len == 0 || b.len == 0) {
        return UNKNOWN;
    }
    return etp_str_eq(a, b) ? SAME : DIFFERENT;
}

// One difference is enough; the same needs both to be known.
static shared both(shared a, shared b)
{
    if (a == DIFFERENT || b == DIFFERENT) {
        return DIFFERENT;
    }
    return a == SAME && b == SAME ? SAME : UNKNOWN;
}

// What the CPU can do, and whatever else both sessions wrote down of the machine.
static shared same_machine(const etp_run *x, const etp_run *y)
{
    static const char *const k_keys[] = {"cpu", "cpus", "model", "serial", "soc"};
    // The CPU decides what is unknown; the other facts can only turn it into a difference, and one
    // that only one of the sessions recorded says nothing.
    shared found = same_text(x->device_cpu, y->device_cpu);
    for (size_t i = 0; i < sizeof k_keys / sizeof *k_keys; i++) {
        shared fact = same_text(etp_run_fact_of(x, k_keys[i]), etp_run_fact_of(y, k_keys[i]));
        found = fact == DIFFERENT ? DIFFERENT : found;
    }
    return found;
}

// What decides about clocks and power: a mode that etprof set, the governor, Android's settings. No
// mode is a mode, too.
static shared same_settings(const etp_run *x, const etp_run *y)
{
    // Here one empty text beside a set one is a difference: only one of the sessions was prepared.
    etp_str a = etp_run_fact_of(x, "prepare"), b = etp_run_fact_of(y, "prepare");
    shared found = same_text(a, b);
    if (a.len + b.len > 0 && found == UNKNOWN) {
        found = DIFFERENT;
    }
    static const char *const k_keys[] = {"governor", "settings"};
    for (size_t i = 0; i < sizeof k_keys / sizeof *k_keys; i++) {
        shared fact = same_text(etp_run_fact_of(x, k_keys[i]), etp_run_fact_of(y, k_keys[i]));
        found = fact == DIFFERENT || found == UNKNOWN ? fact : found;
    }
    return found;
}

// The date of an ISO 8601 time.
static etp_str day_of(const etp_run *run)
{
    etp_str day = run->generated_at;
    day.len = ETP_MIN(day.len, 10);
    return day;
}

static common of_sides(const etp_ab_side *x, const etp_ab_side *y)
{
    const etp_run_arm *a = &x->run.arms.items[x->arm], *b = &y->run.arms.items[y->arm];
    bool same = etp_ab_same_session(x, y);
    common c = {
        .session = same ? SAME : DIFFERENT,
        .binary = same_text(a->runner_sha256, b->runner_sha256),
        .day = same ? SAME : same_text(day_of(&x->run), day_of(&y->run)),
        .machine = same ? SAME : same_machine(&x->run, &y->run),
        .settings = same ? SAME : same_settings(&x->run, &y->run),
        .threads = a->threads == b->threads ? SAME : DIFFERENT,
    };
    if (a->model < x->run.models.n && b->model < y->run.models.n) {
        c.model =
            same_text(x->run.models.items[a->model].sha256, y->run.models.items[b->model].sha256);
    }
    return c;
}

static const char *distance(const common *c)
{
    if (c->day == DIFFERENT && c->machine == DIFFERENT) {
        return "different days and machines";
    }
    if (c->machine == DIFFERENT) {
        return "different machines";
    }
    return c->day == DIFFERENT ? "different days" : "unknown days or machines";
}

// Somebody's runner, whose recordings hold no operators: no names prove the levels.
// runner_no_tracer and runner_always_traces are notes that a session with a stock runner leaves in
// its manifest.
static bool lacks_names(const etp_ab *ab, const etp_run *run)
{
    bool foreign = false;
    for (size_t i = 0; i < run->n_notes; i++) {
        etp_note note = etp_run_note_kind(&run->notes[i]);
        if (note == ETP_NOTE_RUNNER_NO_TRACER) {
            return true;
        }
        foreign = foreign || note == ETP_NOTE_RUNNER_ALWAYS_TRACES;
    }
    for (size_t i = 0; foreign && i < ab->n_arms; i++) {
        if (!ab->arms[i].profile) { // an empty recording, or none was wanted
            return true;
        }
    }
    return false;
}

#define WITHOUT_NAMES "; without operator names nothing proves the levels"

static const char *reason_of_sides(const etp_ab_session *s, const common *c)
{
    static const char *const k_builds[] = {"unknown builds", "the same build", "different builds"};
    const char *builds = k_builds[c->binary];
    etp_strbuf text;
    etp_strbuf_init(&text, s->ab.arena);
    if (c->session == SAME) {
        etp_strbuf_printf(&text, "%s, one session%s", builds,
                          etp_if(c->binary == SAME, ", paired launches"));
    } else if (c->day == SAME && c->machine == SAME) {
        etp_strbuf_printf(&text, "%s, two sessions of one day on one kind of machine", builds);
    } else {
        etp_strbuf_printf(&text, "sessions of %s, %s", distance(c), builds);
    }
    bool nameless = lacks_names(&s->ab, &s->sides[0].run) || lacks_names(&s->ab, &s->sides[1].run);
    etp_strbuf_appendz(&text, etp_if(nameless, WITHOUT_NAMES));
    etp_strbuf_appendz(&text, etp_if(c->settings == DIFFERENT,
                                     "; the device was set up differently (governor, --prepare or "
                                     "its settings)"));
    etp_strbuf_appendz(&text, etp_if(c->model == DIFFERENT, "; the models differ too"));
    etp_strbuf_appendz(&text, etp_if(c->threads == DIFFERENT, "; the thread counts differ too"));
    return etp_strbuf_str(&text).ptr;
}

static const char *reason_of_recordings(const etp_ab_session *s)
{
    bool table = false, run = s->sides[0].dir || s->sides[1].dir;
    for (size_t i = 0; i < s->in.dumps.n; i++) {
        table = table || etp_str_ends(etp_str_from(s->in.dumps.items[i].path), ETP_STR(".csv"));
    }
    if (table) {
        return "timelines in CSV: builds, day and machine are unknown, times are traced";
    }
    return run ? "one side is dumps alone: its build, day and machine are unknown, times are traced"
               : "dumps alone: builds, day and machine are unknown, times are traced";
}

void etp_ab_grade(const etp_ab_session *s, etp_ab *out)
{
    const etp_ab *ab = &s->ab;
    // Two operands that are run folders; one of them may be a recording alone, which has no
    // manifest to ask.
    bool sides = s->sides[0].dir && s->sides[1].dir;
    common c = {UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN};
    if (sides) {
        c = of_sides(&s->sides[0], &s->sides[1]);
        bool near = c.day == SAME && c.machine == SAME && c.settings != DIFFERENT;
        bool nameless =
            lacks_names(&s->ab, &s->sides[0].run) || lacks_names(&s->ab, &s->sides[1].run);
        // The letter says nothing of models and threads: they may be what is compared, so they
        // stand in the reason.
        if (!near) {
            out->judged.grade = "D";
        } else if (c.binary != SAME) {
            out->judged.grade = "C";
        } else {
            out->judged.grade = c.session == SAME && !nameless ? "A" : "B";
        }
        out->judged.grade_reason = reason_of_sides(s, &c);
    } else if (ab->bare) {
        out->judged.grade = "D";
        out->judged.grade_reason = reason_of_recordings(s);
    } else {
        // Session, day, machine and settings are the same by construction.
        c = (common){SAME, SAME, SAME, SAME, SAME, SAME, SAME};
        for (size_t i = 1; i < ab->n_arms; i++) {
            const etp_ab_arm *a = &ab->arms[0], *b = &ab->arms[i];
            c.binary = both(c.binary, same_text(etp_str_from(a->runner_sha256),
                                                etp_str_from(b->runner_sha256)));
            c.model = both(c.model, a->model == b->model ? SAME : DIFFERENT);
            c.threads = both(c.threads, a->threads == b->threads ? SAME : DIFFERENT);
        }
        bool nameless = lacks_names(ab, &s->run);
        const char *pairs = etp_if(ab->n_arms > 1, ", paired launches");
        out->judged.grade = "C";
        out->judged.grade_reason = "the arms ran different or unknown builds";
        if (c.binary == SAME) {
            out->judged.grade = nameless ? "B" : "A";
            out->judged.grade_reason =
                etp_arena_printf(ab->arena, "the same build, one session%s%s", pairs,
                                 etp_if(nameless, WITHOUT_NAMES));
        }
    }
    static const char *const k_words[] = {NULL, "same", "different"};
    const etp_detail facts[] = {
        {"session",  k_words[c.session] },
        {"binary",   k_words[c.binary]  },
        {"day",      k_words[c.day]     },
        {"machine",  k_words[c.machine] },
        {"model",    k_words[c.model]   },
        {"threads",  k_words[c.threads] },
        {"settings", k_words[c.settings]},
    };
    out->judged.n_grade_facts = sizeof facts / sizeof *facts;
    memcpy(out->judged.grade_facts, facts, sizeof facts);
}
