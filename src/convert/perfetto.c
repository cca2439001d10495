// SPDX-License-Identifier: Apache-2.0
// Perfetto's trace protobuf, written by hand: a trace is a list of packets, and a field of a
// message is a number with a wire type in front of its value (varint, 8 bytes, or length and
// bytes).
#include "convert/clean.h"
#include "convert/slices.h"
#include "convert/varint.h"

enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2 };

enum { // field numbers of Perfetto's trace_packet.proto and of what it includes
    TRACE_PACKET = 1,
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE = 10,
    PACKET_EVENT = 11,
    PACKET_DESCRIPTOR = 60,
    DESCRIPTOR_UUID = 1,
    DESCRIPTOR_NAME = 2,
    DESCRIPTOR_PROCESS = 3,
    DESCRIPTOR_THREAD = 4,
    DESCRIPTOR_PARENT = 5,
    DESCRIPTOR_COUNTER = 8,
    PROCESS_PID = 1,
    PROCESS_NAME = 6,
    THREAD_PID = 1,
    THREAD_TID = 2,
    THREAD_NAME = 5,
    COUNTER_UNIT = 3,
    UNIT_TIME_NS = 1,
    EVENT_ANNOTATION = 4,
    EVENT_TYPE = 9,
    EVENT_TRACK = 11,
    EVENT_CATEGORY = 22,
    EVENT_NAME = 23,
    EVENT_COUNTER_VALUE = 30,
    EVENT_FLOW = 47,
    TYPE_BEGIN = 1,
    TYPE_END = 2,
    TYPE_COUNTER = 4,
    ANNOTATION_INT = 4,
    ANNOTATION_STRING = 6,
    ANNOTATION_NAME = 10,
};

typedef struct writer {
    etp_sink *sink;
    etp_strbuf packet, inner, part, text; // message, message within, and within that
} writer;

static void field_varint(etp_strbuf *buf, unsigned field, uint64_t v)
{
    etp_varint(buf, field << 3 | WIRE_VARINT);
    etp_varint(buf, v);
}

static void field_fixed64(etp_strbuf *buf, unsigned field, uint64_t v)
{
    etp_varint(buf, field << 3 | WIRE_FIXED64);
    etp_little_endian(buf, v, 8);
}

static void field_bytes(etp_strbuf *buf, unsigned field, etp_str bytes)
{
    etp_varint(buf, field << 3 | WIRE_BYTES);
    etp_varint(buf, bytes.len);
    etp_strbuf_append(buf, bytes);
}

static void field_text(writer *w, etp_strbuf *buf, unsigned field, etp_str s)
{
    w->text.len = 0;
    etp_clean_append(&w->text, s, ETP_CLEAN_UTF8);
    field_bytes(buf, field, etp_strbuf_str(&w->text));
}

// Ends the packet whose other fields are in w->packet and whose body is in w->inner.
// A message's length stands in front of it, so each is built in a buffer before the one around it
// goes on. An event has to say which sequence of packets it is of; here all are of one.
static void end_packet(writer *w, unsigned body)
{
    field_varint(&w->packet, PACKET_SEQUENCE, 1);
    field_bytes(&w->packet, body, etp_strbuf_str(&w->inner));
    w->text.len = 0;
    field_bytes(&w->text, TRACE_PACKET, etp_strbuf_str(&w->packet));
    etp_sink_write(w->sink, etp_strbuf_str(&w->text));
    w->packet.len = w->inner.len = 0;
}

static void process_descriptor(writer *w, uint64_t uuid, uint64_t pid, etp_str name)
{
    field_varint(&w->inner, DESCRIPTOR_UUID, uuid);
    w->part.len = 0;
    field_varint(&w->part, PROCESS_PID, pid);
    field_text(w, &w->part, PROCESS_NAME, name);
    field_bytes(&w->inner, DESCRIPTOR_PROCESS, etp_strbuf_str(&w->part));
    end_packet(w, PACKET_DESCRIPTOR);
}

static void thread_descriptor(writer *w, uint64_t uuid, uint64_t pid, uint64_t tid,
                              const char *name)
{
    field_varint(&w->inner, DESCRIPTOR_UUID, uuid);
    w->part.len = 0;
    field_varint(&w->part, THREAD_PID, pid);
    field_varint(&w->part, THREAD_TID, tid);
    field_text(w, &w->part, THREAD_NAME, etp_str_from(name));
    field_bytes(&w->inner, DESCRIPTOR_THREAD, etp_strbuf_str(&w->part));
    end_packet(w, PACKET_DESCRIPTOR);
}

// Negative numbers are ten bytes long, as protobuf wants it of an int64.
static void annotate_number(writer *w, const char *key, int64_t v)
{
    w->part.len = 0;
    field_text(w, &w->part, ANNOTATION_NAME, etp_str_from(key));
    field_varint(&w->part, ANNOTATION_INT, (uint64_t)v);
    field_bytes(&w->inner, EVENT_ANNOTATION, etp_strbuf_str(&w->part));
}

static void annotate_text(writer *w, const char *key, etp_str s)
{
    w->part.len = 0;
    field_text(w, &w->part, ANNOTATION_NAME, etp_str_from(key));
    field_text(w, &w->part, ANNOTATION_STRING, s);
    field_bytes(&w->inner, EVENT_ANNOTATION, etp_strbuf_str(&w->part));
}

static void begin_event(writer *w, uint64_t at_ns, uint64_t track, unsigned type)
{
    field_varint(&w->packet, PACKET_TIMESTAMP, at_ns);
    field_varint(&w->inner, EVENT_TYPE, type);
    field_varint(&w->inner, EVENT_TRACK, track);
}

static void slice_begin(writer *w, const etp_slice *s, uint64_t track)
{
    begin_event(w, s->start_ns, track, TYPE_BEGIN);
    field_text(w, &w->inner, EVENT_NAME, s->name);
    field_text(w, &w->inner, EVENT_CATEGORY, etp_str_from(s->category));
    annotate_number(w, "ns", (int64_t)s->ns);
    if (s->run) {
        annotate_number(w, "run", (int64_t)s->run);
    }
    if (s->verdict) {
        annotate_text(w, "verdict", etp_str_from(etp_side_verdict_name(s->verdict)));
    }
    for (size_t i = 0; s->args && i < s->args->n; i++) {
        const etp_slice_arg *a = &s->args->items[i];
        if (a->text.ptr) {
            annotate_text(w, a->key, a->text);
        } else {
            annotate_number(w, a->key, a->number);
        }
    }
    if (s->flow) { // on both ends: the reader draws the arrow from the earlier one to the later one
        field_fixed64(&w->inner, EVENT_FLOW, s->flow);
    }
    end_packet(w, PACKET_EVENT);
}

// A slice ends before the next one begins that is not within it. OPEN: room for the deepest
// nesting.
static void track_packets(writer *w, const etp_slice_track *t, uint64_t track, uint64_t *open)
{
    size_t n_open = 0;
    for (size_t i = 0; i <= t->n; i++) {
        uint32_t depth = i < t->n ? t->items[i].depth : 0;
        while (n_open > depth) {
            begin_event(w, open[--n_open], track, TYPE_END);
            end_packet(w, PACKET_EVENT);
        }
        if (i < t->n) {
            slice_begin(w, &t->items[i], track);
            open[n_open++] = t->items[i].start_ns + t->items[i].ns;
        }
    }
}

static void counter_packets(writer *w, const etp_slices *s, uint64_t uuid, uint64_t parent)
{
    field_varint(&w->inner, DESCRIPTOR_UUID, uuid);
    field_varint(&w->inner, DESCRIPTOR_PARENT, parent);
    field_text(w, &w->inner, DESCRIPTOR_NAME, etp_str_from(s->counter));
    w->part.len = 0;
    field_varint(&w->part, COUNTER_UNIT, UNIT_TIME_NS);
    field_bytes(&w->inner, DESCRIPTOR_COUNTER, etp_strbuf_str(&w->part));
    end_packet(w, PACKET_DESCRIPTOR);
    for (size_t i = 0; i < s->points.n; i++) {
        begin_event(w, s->points.items[i].at_ns, uuid, TYPE_COUNTER);
        field_varint(&w->inner, EVENT_COUNTER_VALUE, (uint64_t)s->points.items[i].value);
        end_packet(w, PACKET_EVENT);
    }
}

etp_status etp_slices_perfetto(const etp_slices *s, etp_arena *arena, etp_sink *sink,
                               etp_error *err)
{
    writer w = {.sink = sink};
    etp_strbuf *const bufs[] = {&w.packet, &w.inner, &w.part, &w.text};
    for (size_t i = 0; i < 4; i++) {
        etp_strbuf_init(bufs[i], arena);
    }
    // Tracks are told apart by these alone, so they count up over processes, threads and the
    // counter.
    uint64_t uuid = 0, last_process = 0;
    for (size_t p = 0; p < s->n_processes; p++) {
        const etp_slice_process *process = &s->processes[p];
        last_process = ++uuid;
        process_descriptor(&w, uuid, p + 1, process->name);
        for (size_t t = 0; t < ETP_SLICE_TRACKS; t++) {
            const etp_slice_track *track = &process->tracks[t];
            if (track->n == 0) {
                continue;
            }
            uint32_t deepest = 0;
            for (size_t i = 0; i < track->n; i++) {
                deepest = track->items[i].depth > deepest ? track->items[i].depth : deepest;
            }
            uint64_t *open = ETP_NEW_ARRAY(arena, uint64_t, (size_t)deepest + 1);
            ETP_NEED(open, err, "trace");
            // As on a real system no two threads have the same number, whatever process they are
            // of.
            thread_descriptor(&w, ++uuid, p + 1, 100 * (p + 1) + t, track->name);
            track_packets(&w, track, uuid, open);
        }
    }
    if (s->counter) {
        counter_packets(&w, s, uuid + 1, last_process);
    }
    return etp_arena_check(arena, err, "trace");
}
