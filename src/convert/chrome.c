// SPDX-License-Identifier: Apache-2.0
// Chrome's trace event format: complete events ("X") in microseconds, flow arrows, one counter.
#include <etprof/version.h>

#include "base/json.h"
#include "convert/slices.h"

typedef struct flow_end { // where an arrow leaves or arrives
    bool known;
    uint64_t at_ns;
    size_t process, track;
} flow_end;

// Below 2^53 ns, so that microseconds with three decimals name the nanosecond.
static void microseconds(etp_json *j, const char *key, uint64_t ns)
{
    etp_json_kv_double(j, key, (double)ns / 1000);
}

static void begin(etp_json *j, const char *phase, size_t process, size_t track)
{
    etp_json_begin_object_inline(j);
    etp_json_kv_z(j, "ph", phase);
    etp_json_kv_u64(j, "pid", process + 1);
    etp_json_kv_u64(j, "tid", track + 1);
}

static void metadata(etp_json *j, const char *what, size_t process, size_t track, etp_str name)
{
    begin(j, "M", process, track);
    etp_json_kv_z(j, "name", what);
    etp_json_key(j, "args");
    etp_json_begin_object_inline(j);
    etp_json_kv_str(j, "name", name);
    etp_json_end(j);
    etp_json_end(j);
}

// One of the colours that the viewers know by name.
static const char *color_of(etp_side_verdict verdict)
{
    static const char *const k_colors[ETP_SIDE_VERDICTS] = {
        [ETP_SIDE_FASTER] = "good",
        [ETP_SIDE_VANISHED] = "good",
        [ETP_SIDE_SLOWER] = "terrible",
        [ETP_SIDE_INSERTED] = "bad",
    };
    return k_colors[verdict];
}

// A complete event has start and duration in one; viewers nest those of a thread by their times.
static void slice_json(etp_json *j, const etp_slice *s, size_t process, size_t track)
{
    begin(j, "X", process, track);
    microseconds(j, "ts", s->start_ns);
    microseconds(j, "dur", s->ns);
    etp_json_kv_str(j, "name", s->name);
    etp_json_kv_z(j, "cat", s->category);
    if (color_of(s->verdict)) {
        etp_json_kv_z(j, "cname", color_of(s->verdict));
    }
    etp_json_key(j, "args");
    etp_json_begin_object_inline(j);
    etp_json_kv_u64(j, "ns", s->ns);
    if (s->run) {
        etp_json_kv_u64(j, "run", s->run);
    }
    if (s->verdict) {
        etp_json_kv_z(j, "verdict", etp_side_verdict_name(s->verdict));
    }
    for (size_t i = 0; s->args && i < s->args->n; i++) {
        const etp_slice_arg *a = &s->args->items[i];
        if (a->text.ptr) {
            etp_json_kv_str(j, a->key, a->text);
        } else {
            etp_json_kv_i64(j, a->key, a->number);
        }
    }
    etp_json_end(j);
    etp_json_end(j);
}

static void flow_json(etp_json *j, const char *phase, const flow_end *end, uint64_t id)
{
    begin(j, phase, end->process, end->track);
    microseconds(j, "ts", end->at_ns);
    etp_json_kv_u64(j, "id", id);
    etp_json_kv_z(j, "name", "same operator");
    etp_json_kv_z(j, "cat", "same operator");
    if (*phase == 'f') {
        etp_json_kv_z(j, "bp", "e"); // binds to the slice around it
    }
    etp_json_end(j);
}

// Arrows go forwards in time, whichever side is there first; they hold on in the middle of slices.
// The first pass finds the greatest number, the second where each arrow's ends are; there are at
// most two slices of a number, one in each process.
static etp_status flows_json(etp_json *j, const etp_slices *s, etp_arena *arena, etp_error *err)
{
    uint64_t most = 0;
    flow_end *ends = NULL;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t p = 0; p < s->n_processes; p++) {
            for (size_t t = 0; t < ETP_SLICE_TRACKS; t++) {
                const etp_slice_track *track = &s->processes[p].tracks[t];
                for (size_t i = 0; i < track->n; i++) {
                    const etp_slice *x = &track->items[i];
                    most = ETP_MAX(x->flow, most);
                    if (ends && x->flow) {
                        ends[2 * x->flow + p] = (flow_end){true, x->start_ns + x->ns / 2, p, t};
                    }
                }
            }
        }
        if (!ends && !(ends = ETP_NEW_ARRAY(arena, flow_end, 2 * most + 2))) {
            return etp_fail_nomem(err, "arrows");
        }
    }
    for (uint64_t id = 1; id <= most; id++) {
        const flow_end *a = &ends[2 * id], *b = &ends[2 * id + 1];
        if (a->known && b->known) {
            bool forwards = a->at_ns <= b->at_ns;
            flow_json(j, "s", forwards ? a : b, id);
            flow_json(j, "f", forwards ? b : a, id);
        }
    }
    return ETP_OK;
}

etp_status etp_slices_chrome(const etp_slices *s, etp_arena *arena, etp_sink *sink, etp_error *err)
{
    etp_json j;
    etp_json_init(&j, sink, true);
    etp_json_begin_object(&j);
    etp_json_kv_z(&j, "displayTimeUnit", "ns");
    etp_json_key(&j, "otherData");
    etp_json_begin_object_inline(&j);
    etp_json_kv_str(&j, "title", s->title);
    etp_json_kv_z(&j, "exporter", "etprof " ETP_VERSION);
    etp_json_end(&j);
    etp_json_key(&j, "traceEvents");
    etp_json_begin_array(&j);
    for (size_t p = 0; p < s->n_processes; p++) {
        const etp_slice_process *process = &s->processes[p];
        metadata(&j, "process_name", p, 0, process->name);
        for (size_t t = 0; t < ETP_SLICE_TRACKS; t++) {
            const etp_slice_track *track = &process->tracks[t];
            if (track->n) {
                metadata(&j, "thread_name", p, t, etp_str_from(track->name));
            }
            for (size_t i = 0; i < track->n; i++) {
                slice_json(&j, &track->items[i], p, t);
            }
        }
    }
    etp_status st = flows_json(&j, s, arena, err);
    for (size_t i = 0; s->counter && i < s->points.n; i++) {
        begin(&j, "C", s->n_processes - 1, 0);
        microseconds(&j, "ts", s->points.items[i].at_ns);
        etp_json_kv_z(&j, "name", s->counter);
        etp_json_key(&j, "args");
        etp_json_begin_object_inline(&j);
        etp_json_kv_i64(&j, "ns", s->points.items[i].value);
        etp_json_end(&j);
        etp_json_end(&j);
    }
    etp_json_end(&j);
    etp_json_end(&j);
    etp_json_end_document(&j);
    return st;
}
