// SPDX-License-Identifier: Apache-2.0
// Shapes and types for the output files of a stock runner, which are bare bytes: from the program.

#include <etprof/pte.h>

#include "base/json.h"
#include "measure/foreign.h"

// Without a name the first one, which is what executor_runner runs.
static const etp_pte_method *method_of(const etp_pte *pte, const char *name)
{
    for (uint32_t i = 0; i < pte->n_methods; i++) {
        if (!name || etp_str_eqz(pte->methods[i].name, name)) {
            return &pte->methods[i];
        }
    }
    return NULL;
}

// As etprof's own runner lists an output (runner's outputs.json), so that both are compared by one
// reader.
static void write_output(etp_json *j, const char *dir, uint32_t i, const etp_pte_tensor *t,
                         etp_arena *arena)
{
    const char *name = etp_arena_printf(arena, "output-%u.bin", i);
    const char *path = name ? etp_arena_printf(arena, "%s/%s", dir, name) : NULL;
    // A dynamic output may be shorter than the program's largest: then the bytes have no shape that
    // is known here.
    etp_file file;
    bool there = t && path && etp_file_open(path, UINT64_MAX, &file, NULL) == ETP_OK;
    if (there) {
        there = file.bytes.len == t->nbytes;
        etp_file_close(&file);
    }
    etp_json_begin_object(j);
    etp_json_kv_u64(j, "index", i);
    etp_json_kv_z(j, "file", etp_z_if(there, name));
    etp_json_kv_z(j, "dtype", t ? etp_dtype_name(t->dtype) : NULL);
    etp_json_key(j, "shape");
    etp_json_begin_array(j);
    for (size_t k = 0; t && k < t->sizes.n; k++) {
        etp_json_u64(j, (uint64_t)etp_i32_at(t->sizes, k));
    }
    etp_json_end(j);
    etp_json_key(j, "dim_order");
    etp_json_begin_array(j);
    for (size_t k = 0; t && k < t->dim_order.len; k++) {
        etp_json_u64(j, (uint8_t)t->dim_order.ptr[k]);
    }
    etp_json_end(j);
    etp_json_kv_u64(j, "bytes", there ? t->nbytes : 0);
    etp_json_end(j);
}

etp_status etp_foreign_list_outputs(const char *dir, const char *model, const char *method,
                                    etp_arena *arena, etp_error *err)
{
    etp_file file;
    etp_pte pte;
    ETP_TRY(etp_file_open(model, UINT64_MAX, &file, err));
    etp_status st = etp_pte_read(file.bytes, arena, &pte, err);
    const etp_pte_method *m = st == ETP_OK ? method_of(&pte, method) : NULL;
    etp_strbuf buf;
    etp_strbuf_init(&buf, arena);
    if (m) {
        etp_json j;
        etp_sink sink = etp_sink_strbuf(&buf);
        etp_json_init(&j, &sink, false);
        etp_json_begin_object(&j);
        etp_json_key(&j, "outputs");
        etp_json_begin_array(&j);
        for (uint32_t i = 0; i < m->outputs.n; i++) {
            int32_t v = etp_i32_at(m->outputs, i);
            bool tensor =
                v >= 0 && (uint32_t)v < m->n_values && m->values[v].kind == ETP_EVALUE_TENSOR;
            write_output(&j, dir, i, tensor ? m->values[v].u.tensor : NULL, arena);
        }
        etp_json_end(&j);
        etp_json_end(&j);
        etp_json_end_document(&j);
        const char *path = etp_arena_printf(arena, "%s/outputs.json", dir);
        st = etp_arena_check(arena, err, "outputs");
        if (st == ETP_OK) {
            st = etp_os_write_atomic(path, etp_strbuf_str(&buf), err);
        }
    } else if (st == ETP_OK) {
        st = etp_fail(err, ETP_UNSUPPORTED, "the program has no such method");
    }
    etp_file_close(&file);
    return st;
}
