// SPDX-License-Identifier: Apache-2.0
// Prints every field of an ETDump as JSON, through the public header alone; check_etdump_fields.py
// holds the output against flatc's.
#include <stdio.h>

#include <etprof/etdump.h>

#include "base/json.h"
#include "os/os.h"

static void put_optional(etp_json *j, const char *key, etp_str s)
{
    if (s.ptr) {
        etp_json_kv_str(j, key, s);
    }
}

static void put_tensor(etp_json *j, const etp_etdump_tensor *t)
{
    etp_json_begin_object(j);
    etp_json_kv_i64(j, "scalar_type", t->scalar_type);
    etp_json_key(j, "sizes");
    etp_json_begin_array(j);
    for (size_t i = 0; i < t->n_dims; i++) {
        etp_json_i64(j, etp_etdump_tensor_size(t, i));
    }
    etp_json_end(j);
    etp_json_key(j, "strides");
    etp_json_begin_array(j);
    for (size_t i = 0; i < t->n_strides; i++) {
        etp_json_i64(j, etp_etdump_tensor_stride(t, i));
    }
    etp_json_end(j);
    etp_json_kv_i64(j, "offset", t->buffer_offset);
    etp_json_end(j);
}

static void put_value(etp_json *j, const etp_etdump_value *v)
{
    etp_json_key(j, "value");
    etp_json_begin_object(j);
    etp_json_kv_i64(j, "type", (int64_t)v->type);
    etp_json_kv_bool(j, "is_output", v->is_output);
    switch (v->type) {
    case ETP_ETDUMP_INT:
        etp_json_kv_i64(j, "int", v->i);
        break;
    case ETP_ETDUMP_BOOL:
        etp_json_kv_bool(j, "bool", v->b);
        break;
    case ETP_ETDUMP_FLOAT:
    case ETP_ETDUMP_DOUBLE:
        etp_json_kv_double(j, "double", v->d);
        break;
    case ETP_ETDUMP_TENSOR:
        etp_json_key(j, "tensor");
        put_tensor(j, &v->tensor);
        break;
    case ETP_ETDUMP_TENSOR_LIST:
        etp_json_key(j, "tensors");
        etp_json_begin_array(j);
        for (size_t i = 0; i < v->n_tensors; i++) {
            etp_etdump_tensor t = etp_etdump_value_tensor(v, i);
            put_tensor(j, &t);
        }
        etp_json_end(j);
        break;
    default:
        break;
    }
    etp_json_end(j);
}

static void put_event(etp_json *j, const etp_etdump *dump, etp_etdump_event event)
{
    etp_etdump_profile p;
    etp_etdump_allocation a;
    etp_etdump_debug d;
    etp_json_begin_object(j);
    if (etp_etdump_profile_of(event, &p)) {
        etp_json_kv_z(j, "kind", "profile");
        put_optional(j, "name", p.name);
        etp_json_kv_i64(j, "chain_index", p.chain_index);
        etp_json_kv_i64(j, "instruction_id", p.instruction_id);
        etp_json_kv_i64(j, "delegate_debug_id_int", p.delegate_id);
        put_optional(j, "delegate_debug_id_str", p.delegate_id_str);
        if (p.delegate_metadata.ptr) {
            etp_json_key(j, "delegate_debug_metadata");
            etp_json_begin_array(j);
            for (size_t i = 0; i < p.delegate_metadata.len; i++) {
                etp_json_u64(j, p.delegate_metadata.ptr[i]);
            }
            etp_json_end(j);
        }
        etp_json_kv_u64(j, "start_time", p.start);
        etp_json_kv_u64(j, "end_time", p.end);
    }
    if (etp_etdump_allocation_of(event, &a)) {
        etp_json_kv_z(j, "kind", "allocation");
        etp_json_kv_i64(j, "allocator_id", a.allocator_id);
        etp_json_kv_u64(j, "allocation_size", a.size_bytes);
    }
    if (etp_etdump_debug_of(dump, event, &d)) {
        etp_json_kv_z(j, "kind", "debug");
        put_optional(j, "name", d.name);
        etp_json_kv_u64(j, "chain_index", d.chain_index);
        etp_json_kv_i64(j, "instruction_id", d.instruction_id);
        etp_json_kv_i64(j, "delegate_debug_id_int", d.delegate_id);
        put_optional(j, "delegate_debug_id_str", d.delegate_id_str);
        if (d.has_value) {
            put_value(j, &d.value);
        }
    }
    etp_json_end(j);
}

static void put_dump(etp_json *j, const etp_etdump *dump)
{
    etp_json_begin_object(j);
    etp_json_kv_u64(j, "version", dump->version);
    etp_json_key(j, "run_data");
    etp_json_begin_array(j);
    for (size_t r = 0; r < dump->n_runs; r++) {
        etp_etdump_run run = etp_etdump_run_at(dump, r);
        etp_json_begin_object(j);
        put_optional(j, "name", run.name);
        etp_json_kv_i64(j, "bundled_input_index", run.bundled_input);
        etp_json_key(j, "allocators");
        etp_json_begin_array(j);
        for (size_t i = 0; i < run.n_allocators; i++) {
            etp_json_str(j, etp_etdump_allocator_name(&run, i));
        }
        etp_json_end(j);
        etp_json_key(j, "events");
        etp_json_begin_array(j);
        for (size_t e = 0; e < run.n_events; e++) {
            put_event(j, dump, etp_etdump_event_at(&run, e));
        }
        etp_json_end(j);
        etp_json_end(j);
    }
    etp_json_end(j);
    etp_json_end(j);
}

int main(int argc, char **argv)
{
    etp_file file = {0};
    etp_etdump dump;
    etp_error err = {0};
    if (argc != 2 || etp_file_open(argv[1], (uint64_t)1 << 32, &file, &err) != ETP_OK ||
        etp_etdump_open(file.bytes, &dump, &err) != ETP_OK) {
        fprintf(stderr, "%s\n", argc == 2 ? err.msg : "usage: etdump_fields FILE");
        return 1;
    }
    etp_sink sink = etp_sink_file(stdout);
    etp_json j;
    etp_json_init(&j, &sink, false);
    put_dump(&j, &dump);
    etp_json_end_document(&j);
    etp_file_close(&file);
    return sink.failed ? 1 : 0;
}
