// SPDX-License-Identifier: Apache-2.0
// bench_cut MODEL.pte DIR: every prefix and every capsule of a program as files in DIR, and a line
// of tabs for each: kind, place, what it is called, type of its output, file; or why there is none.
#include <stdio.h>

#include "cut/cut.h"
#include "os/os.h"

typedef etp_status cutter(etp_bytes file, const etp_program *program, const etp_cut_place *at,
                          etp_arena *arena, etp_bytes *out, etp_error *err);

static etp_status capsule(etp_bytes file, const etp_program *program, const etp_cut_place *at,
                          etp_arena *arena, etp_bytes *out, etp_error *err)
{
    return etp_cut_capsule(file, program, at, arena, out, NULL, NULL, err);
}

static etp_status write_one(cutter *cut, const char *kind, etp_bytes file,
                            const etp_program *program, const etp_cut_place *at, const char *dir,
                            etp_error *err)
{
    etp_arena arena = {0};
    const etp_instruction *i = &at->method->instructions[at->instruction];
    const etp_partition *p =
        at->node == ETP_NO_INDEX ? NULL : &at->method->partitions[i->partition];
    etp_dtype type = p ? p->values[p->nodes[at->node].outputs[0]].dtype : ETP_DTYPE_UNKNOWN;
    char name[96];
    etp_bytes bytes;
    etp_error why = {0};
    snprintf(name, sizeof name, "%.20s.%s.%lu.%ld.pte", at->method->name.ptr, kind,
             (unsigned long)at->instruction, at->node == ETP_NO_INDEX ? -1 : (long)at->node);
    etp_status status = cut(file, program, at, &arena, &bytes, &why);
    if (status == ETP_OK) {
        const char *path = etp_arena_printf(&arena, "%s/%s", dir, name);
        status = etp_os_write_atomic(path, (etp_str){(const char *)bytes.ptr, bytes.len}, err);
        printf("%s\t%lu.%ld\t%s\t%s\t%s\n", kind, (unsigned long)at->instruction,
               at->node == ETP_NO_INDEX ? -1 : (long)at->node, etp_cut_place_text(at, &arena),
               etp_dtype_name(type), name);
    } else {
        printf("%s\t-\t%s\t%s\t! %s\n", kind, etp_cut_place_text(at, &arena), etp_dtype_name(type),
               why.msg);
        status = status == ETP_UNSUPPORTED ? ETP_OK : status;
    }
    etp_arena_dispose(&arena);
    return status;
}

static etp_status write_method(etp_bytes file, const etp_program *program, const etp_method *m,
                               const char *dir, etp_error *err)
{
    for (uint32_t i = 0; i < m->n_instructions; i++) {
        const etp_instruction *x = &m->instructions[i];
        etp_cut_place at = {m, i, ETP_NO_INDEX};
        if (x->kind == ETP_INSTR_KERNEL || x->kind == ETP_INSTR_DELEGATE) {
            ETP_TRY(write_one(etp_cut_prefix, "prefix", file, program, &at, dir, err));
        }
        for (uint32_t n = 0;
             x->kind == ETP_INSTR_DELEGATE && n < m->partitions[x->partition].n_nodes; n++) {
            at.node = n;
            ETP_TRY(write_one(etp_cut_prefix, "prefix", file, program, &at, dir, err));
            ETP_TRY(write_one(capsule, "capsule", file, program, &at, dir, err));
        }
    }
    return ETP_OK;
}

int main(int argc, char **argv)
{
    etp_error err = {0};
    etp_file file = {0};
    const etp_program *program = NULL;
    if (argc != 3) {
        fprintf(stderr, "usage: bench_cut MODEL.pte DIR\n");
        return 2;
    }
    etp_status status = etp_file_open(argv[1], (uint64_t)1 << 33, &file, &err);
    if (status == ETP_OK) {
        status = etp_program_open(file.bytes, NULL, &program, &err);
    }
    for (uint32_t i = 0; status == ETP_OK && i < program->n_methods; i++) {
        status = write_method(file.bytes, program, &program->methods[i], argv[2], &err);
    }
    if (status != ETP_OK) {
        fprintf(stderr, "bench_cut: %s\n", err.msg);
    }
    etp_program_close(program);
    etp_file_close(&file);
    return status == ETP_OK ? 0 : 1;
}
