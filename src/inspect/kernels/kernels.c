// SPDX-License-Identifier: Apache-2.0
// Sampled kernels of a run folder: loading, the document, the derived files.
#include "inspect/kernels/kernels.h"

#include <math.h>

#include "base/csv.h"
#include "os/os.h"

#define FILE_LIMIT ((size_t)256 << 20)

// ---- loading ----

typedef struct launch_texts {
    etp_kernels_text *items;
    size_t n, cap;
} launch_texts;

static etp_status read_text(const etp_run *run, uint32_t index, uint32_t block, uint32_t nth,
                            const char *suffix, etp_arena *arena, etp_str *out, etp_error *err)
{
    const char *dir = etp_arena_strdup(arena, run->dir);
    const char *name = etp_run_sampled_name(arena, &run->arms.items[index], block, nth, suffix);
    name = name && dir ? etp_run_stored(arena, dir, name) : NULL;
    const char *path = name ? etp_run_path(arena, dir, etp_str_from(name)) : NULL;
    ETP_NEED(path, err, "samples");
    etp_file file;
    ETP_TRY(etp_file_open_unpacked(path, FILE_LIMIT, &file, err));
    const char *text =
        etp_arena_strdup(arena, (etp_str){(const char *)file.bytes.ptr, file.bytes.len});
    *out = (etp_str){text, file.bytes.len};
    etp_file_close(&file);
    return text ? ETP_OK : etp_fail_nomem(err, path);
}

// All sampled launches of an arm.
static etp_status read_arm(const etp_run *run, uint32_t index, etp_arena *arena,
                           etp_kernels_of_arm *out, launch_texts *texts, etp_error *err)
{
    uint32_t block = 0, nth = 0;
    for (size_t i = 0; i < run->launches.n; i++) {
        const etp_run_launch *l = &run->launches.items[i];
        etp_kernels_text text;
        if (l->arm != index || l->kind != ETP_LAUNCH_SAMPLED) {
            continue;
        }
        nth = l->block == block ? nth + 1 : 1;
        block = l->block;
        ETP_TRY(read_text(run, index, block, nth, ".samples", arena, &text.samples, err));
        ETP_TRY(read_text(run, index, block, nth, ".code", arena, &text.code, err));
        ETP_NEED(ETP_PUSH(arena, texts, text), err, "samples");
    }
    return texts->n ? etp_kernels_read(texts->items, texts->n, arena, &out->kernels, err) : ETP_OK;
}

static etp_status load_arm(const etp_run *run, uint32_t i, etp_arena *arena,
                           etp_kernels_of_arm *out, etp_error *err)
{
    const etp_run_arm *in = &run->arms.items[i];
    out->name = etp_arena_strdup(arena, in->name);
    out->level_name = in->level.len ? etp_arena_strdup(arena, in->level) : NULL;
    out->prefix =
        etp_arena_printf(arena, "%.*s/%.*s", ETP_STR_ARG(in->name), ETP_STR_ARG(in->prefix));
    out->model =
        in->model < run->models.n ? etp_arena_strdup(arena, run->models.items[in->model].stem) : "";
    out->level = out->level_name ? etp_level_find(ETP_ISA_NONE, out->level_name) : ETP_LEVEL_NONE;
    out->threads = in->threads;
    ETP_NEED(out->name && out->prefix && out->model, err, "arms");
    launch_texts texts = {0};
    etp_error why = {.offset = ETP_NO_OFFSET};
    etp_status st = read_arm(run, i, arena, out, &texts, &why);
    if (st == ETP_OK && texts.n == 0) {
        return ETP_OK;
    }
    if (st == ETP_NOMEM) {
        return etp_fail_nomem(err, "samples");
    }
    out->sampled = st == ETP_OK;
    if (st != ETP_OK) {
        out->kernels = (etp_kernels){0};
        out->problem = etp_arena_printf(arena, "%s", why.msg);
    }
    return ETP_OK;
}

etp_status etp_kernels_load(const etp_run *run, etp_arena *arena, etp_kernels_answer *out,
                            etp_error *err)
{
    *out = (etp_kernels_answer){0};
    out->arms = ETP_NEW_ARRAY(arena, etp_kernels_of_arm, run->arms.n);
    etp_kernels_arm *judged = ETP_NEW_ARRAY(arena, etp_kernels_arm, run->arms.n);
    out->title = run->models.n ? etp_arena_strdup(arena, run->models.items[0].stem) : "run";
    ETP_NEED(out->arms && judged && out->title, err, "kernels");
    for (uint32_t i = 0; i < run->arms.n; i++) {
        etp_kernels_of_arm *arm = &out->arms[out->n_arms++];
        ETP_TRY(load_arm(run, i, arena, arm, err));
        out->n_sampled += arm->sampled;
        judged[i] = (etp_kernels_arm){arm->sampled ? &arm->kernels : NULL, arm->level,
                                      run->arms.items[i].model};
    }
    for (size_t i = 0; i < out->n_arms; i++) {
        ETP_TRY(etp_kernels_judge(judged, out->n_arms, i, arena, &out->arms[i].proof, err));
    }
    return ETP_OK;
}

// ---- document ----

static double share(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : (double)NAN;
}

static void json_shares(etp_json *j, const char *key, const uint64_t of[ETP_CODES], uint64_t whole)
{
    etp_json_key(j, key);
    etp_json_begin_object_inline(j);
    for (int c = 0; c < ETP_CODES; c++) {
        if (of[c]) {
            etp_json_kv_ratio(j, etp_code_name((etp_code)c), share(of[c], whole));
        }
    }
    etp_json_end(j);
}

static void json_kernel_name(etp_json *j, const char *key, const etp_kernel *k)
{
    char place[300];
    snprintf(place, sizeof place, "%.*s+0x%llx", ETP_STR_ARG(k->module),
             (unsigned long long)k->start);
    etp_json_kv_str(j, key, k->symbol.len ? k->symbol : etp_str_from(place));
}

static void json_kernels(etp_json *j, const etp_kernels *k)
{
    etp_json_key(j, "kernels");
    etp_json_begin_array(j);
    for (size_t i = 0; i < k->n_kernels; i++) {
        const etp_kernel *f = &k->kernels[i];
        etp_json_begin_object_inline(j);
        json_kernel_name(j, "name", f);
        etp_json_kv_z(j, "title", f->title);
        etp_json_kv_str_if(j, "symbol", f->symbol, f->symbol.len);
        etp_json_kv_str(j, "module", f->module);
        etp_json_kv_str(j, "build_id", f->build_id);
        etp_json_kv_u64(j, "offset", f->start);
        etp_json_kv_u64(j, "bytes", f->end - f->start);
        etp_json_kv_bool(j, "bounds_known", f->has_bounds);
        etp_json_kv_z(j, "isa", etp_code_name(f->code));
        etp_json_kv_bool(j, "decoded", f->whole);
        etp_json_kv_bool(j, "steered", f->evidence);
        etp_json_kv_u64(j, "samples", f->samples);
        etp_json_kv_ratio(j, "share", share(f->samples, k->samples));
        if (f->op < k->n_ops) {
            etp_json_kv_str(j, "operator", k->ops[f->op].name);
        } else {
            etp_json_kv_null(j, "operator");
        }
        etp_json_end(j);
    }
    etp_json_end(j);
}

static void json_operators(etp_json *j, const etp_kernels *k)
{
    etp_json_key(j, "operators");
    etp_json_begin_array(j);
    for (size_t i = 0; i < k->n_ops; i++) {
        const etp_kernel_op *op = &k->ops[i];
        etp_json_begin_object_inline(j);
        etp_json_kv_str(j, "name", op->name);
        etp_json_kv_i64(j, "chain", op->chain);
        etp_json_kv_i64(j, "instruction", op->instruction);
        etp_json_kv_z(j, "category", etp_category_name(etp_op_category(op->name)));
        etp_json_kv_u64(j, "samples", op->samples);
        etp_json_kv_u64(j, "sure", op->sure);
        etp_json_kv_ratio(j, "share", share(op->samples, k->samples));
        json_shares(j, "isa", op->of, op->samples);
        if (op->kernel < k->n_kernels) {
            json_kernel_name(j, "kernel", &k->kernels[op->kernel]);
            etp_json_kv_z(j, "kernel_isa", etp_code_name(k->kernels[op->kernel].code));
        } else {
            etp_json_kv_null(j, "kernel");
            etp_json_kv_null(j, "kernel_isa");
        }
        etp_json_kv_ratio(j, "kernel_share",
                          op->kernel < k->n_kernels ? share(op->kernel_samples, op->sure)
                                                    : (double)NAN);
        etp_json_end(j);
    }
    etp_json_end(j);
}

static void json_proof(etp_json *j, const etp_proof *proof)
{
    etp_json_key(j, "proof");
    etp_json_begin_object_inline(j);
    etp_json_kv_bool_if(j, "ok", proof->truth == ETP_CONFIRMED, proof->truth != ETP_UNPROVEN);
    etp_json_kv_z(j, "text", proof->lines.n ? proof->lines.items[0].text : NULL);
    etp_json_end(j);
}

static void json_arm(etp_json *j, const etp_kernels_of_arm *a)
{
    const etp_kernels *k = &a->kernels;
    etp_json_begin_object(j);
    etp_json_kv_z(j, "name", a->name);
    etp_json_kv_z(j, "level", a->level_name);
    etp_json_kv_u64(j, "threads", a->threads);
    etp_json_kv_bool(j, "sampled", a->sampled);
    etp_json_kv_z(j, "problem", a->problem);
    if (a->sampled) {
        etp_json_kv_z(j, "machine", etp_machine_name(k->machine));
        etp_json_kv_u64(j, "samples", k->samples);
        etp_json_kv_u64(j, "in_iterations", k->in_iterations);
        etp_json_kv_u64(j, "joined", k->joined);
        etp_json_kv_u64(j, "joined_surely", k->sure);
        etp_json_kv_u64(j, "evidence_samples", k->evidence);
        etp_json_kv_ratio(j, "streaming_share", share(k->streaming, k->streaming_known));
        json_shares(j, "isa", k->of, k->samples);
        json_shares(j, "evidence_isa", k->evidence_of, k->evidence);
        json_shares(j, "ahead_isa", k->ahead_of, k->evidence);
        json_proof(j, &a->proof);
        json_kernels(j, k);
        json_operators(j, k);
    }
    etp_json_end(j);
}

void etp_kernels_json(const void *data, etp_json *j)
{
    const etp_kernels_answer *answer = data;
    etp_json_begin_object(j);
    etp_json_kv_z(j, "schema", "etprof.kernels/1");
    etp_json_kv_z(j, "model", answer->title);
    etp_json_key(j, "arms");
    etp_json_begin_array(j);
    for (size_t i = 0; i < answer->n_arms; i++) {
        json_arm(j, &answer->arms[i]);
    }
    etp_json_end(j);
    etp_json_end(j);
    etp_json_end_document(j);
}

// What the kit calls category.
etp_str etp_kernel_kind(const etp_kernels *k, const etp_kernel *f)
{
    etp_kernel_name name;
    etp_op_name op;
    etp_kernel_name_parse(f->symbol, &name);
    if (name.op.len) {
        return name.op;
    }
    if (f->op >= k->n_ops || !f->evidence) {
        return (etp_str){0};
    }
    etp_op_parse(k->ops[f->op].name, &op); // its parts borrow from the name
    return op.ukernel.len ? op.ukernel : op.family;
}
