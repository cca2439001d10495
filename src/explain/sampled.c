// SPDX-License-Identifier: Apache-2.0
// Loading the samples of a run folder.
#include "explain/sampled.h"

#include "base/guard.h"
#include "os/os.h"

#define FILE_LIMIT ((size_t)256 << 20)

typedef struct launch_texts {
    etp_kernels_text *items;
    size_t n, cap;
} launch_texts;

// Holds the file while it asks for memory.
static etp_status copy_text(const char *path, etp_arena *arena, etp_str *out, etp_error *err)
{
    etp_file file;
    ETP_TRY(etp_file_open_unpacked(path, FILE_LIMIT, &file, err));
    const char *text =
        etp_arena_strdup(arena, (etp_str){(const char *)file.bytes.ptr, file.bytes.len});
    *out = (etp_str){text, file.bytes.len};
    etp_file_close(&file);
    return text ? ETP_OK : etp_fail_nomem(err, path);
}

static etp_status read_text(const etp_run *run, uint32_t index, uint32_t block, uint32_t nth,
                            const char *suffix, etp_arena *arena, etp_str *out, etp_error *err)
{
    const char *dir = etp_arena_strdup(arena, run->dir);
    const char *name = etp_run_sampled_name(arena, &run->arms.items[index], block, nth, suffix);
    name = etp_run_stored(arena, dir, name);
    const char *path = etp_run_path(arena, dir, etp_str_from(name));
    ETP_UNGUARDED(arena, copy_text(path, arena, out, err));
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
        ETP_ADD(arena, texts, text);
    }
    return texts->n ? etp_kernels_read(texts->items, texts->n, arena, &out->kernels, err) : ETP_OK;
}

bool etp_run_cpu(const etp_run *run, etp_arena *arena, etp_isa_cpu *out)
{
    char why[ETP_ISA_WHY_MAX];
    const char *text = etp_arena_strdup(arena, run->device_cpu);
    return text && etp_isa_cpu_parse(text, out, why, sizeof why);
}

etp_level etp_run_arm_level(const etp_run *run, const etp_run_arm *arm, etp_arena *arena)
{
    etp_isa_cpu cpu;
    const char *name =
        arm->level.len ? etp_level_unsaid(etp_arena_strdup(arena, arm->level)) : NULL;
    etp_isa_family family = etp_run_cpu(run, arena, &cpu) ? cpu.family : ETP_ISA_NONE;
    etp_level level = name ? etp_level_find(family, name) : ETP_LEVEL_NONE;
    // A level of another family is a claim too, however odd.
    return name && level == ETP_LEVEL_NONE ? etp_level_find(ETP_ISA_NONE, name) : level;
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
    out->level = etp_run_arm_level(run, in, arena);
    out->threads = in->threads;
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

static const char *called(const etp_kernels_answer *answer, size_t arm)
{
    const etp_kernels_of_arm *a = &answer->arms[arm];
    for (size_t i = 0; i < answer->n_arms; i++) {
        if (a->level == ETP_LEVEL_NONE || (i != arm && answer->arms[i].level == a->level)) {
            return a->name;
        }
    }
    return etp_level_get(a->level)->word;
}

static etp_status load(const etp_run *run, etp_arena *arena, etp_kernels_answer *out,
                       etp_error *err)
{
    *out = (etp_kernels_answer){0};
    out->arms = ETP_NEW_ARRAY(arena, etp_kernels_of_arm, run->arms.n);
    etp_kernels_arm *judged = ETP_NEW_ARRAY(arena, etp_kernels_arm, run->arms.n);
    out->title = run->models.n ? etp_arena_strdup(arena, run->models.items[0].stem) : "run";
    for (uint32_t i = 0; i < run->arms.n; i++) {
        etp_kernels_of_arm *arm = &out->arms[out->n_arms++];
        ETP_TRY(load_arm(run, i, arena, arm, err));
        out->n_sampled += arm->sampled;
        judged[i] = (etp_kernels_arm){arm->sampled ? &arm->kernels : NULL, arm->level,
                                      run->arms.items[i].model};
    }
    for (size_t i = 0; i < out->n_arms; i++) {
        etp_kernels_judge(judged, out->n_arms, i, arena, &out->arms[i].proof);
        out->arms[i].called = called(out, i);
    }
    return ETP_OK;
}

etp_status etp_kernels_load(const etp_run *run, etp_arena *arena, etp_kernels_answer *out,
                            etp_error *err)
{
    ETP_GUARDED(arena, err, "kernels", load(run, arena, out, err));
}
