// SPDX-License-Identifier: Apache-2.0
// Lengths of x86-64 instructions against capstone's, over the code of given files.
// usage: test_length FILE...    one line of counts per file; status 1 when a length differs
#include <capstone/capstone.h>
#include <stdio.h>
#include <stdlib.h>

#include "binary/image.h"
#include "launcher/launch.h"
#include "os/os.h"

// Compares from START to END. capstone 4 knows not every instruction: where it stops, so do we.
static int compare(csh handle, cs_insn *insn, etp_bytes code, uint64_t *out_compared)
{
    const uint8_t *p = code.ptr;
    size_t left = code.len;
    uint64_t address = 0;
    int bad = 0;
    for (const uint8_t *at = p; cs_disasm_iter(handle, &p, &left, &address, insn); at = p) {
        size_t ours = x86_instruction_length(at, code.len - (size_t)(at - code.ptr));
        (*out_compared)++;
        if (ours != insn->size) {
            bad++;
            printf("%s %s: %zu bytes, capstone says %u:", insn->mnemonic, insn->op_str, ours,
                   (unsigned)insn->size);
            for (unsigned i = 0; i < insn->size; i++) {
                printf(" %02x", at[i]);
            }
            puts("");
        }
    }
    return bad;
}

static int check(csh handle, const char *path, uint64_t *compared)
{
    etp_file file;
    etp_arena arena = {0};
    etp_image *elf = NULL;
    cs_insn *insn = cs_malloc(handle);
    int bad = 0;
    if (etp_file_open(path, UINT64_MAX, &file, NULL) != ETP_OK) {
        return 1;
    }
    etp_bytes text = {0};
    if (etp_image_open(file.bytes, &arena, &elf, NULL) == ETP_OK) {
        text = etp_image_section(elf, ".text");
    }
    while (text.len > 0 && bad < 20) { // beyond what capstone does not know, go on 64 bytes later
        const uint8_t *p = text.ptr;
        size_t left = text.len;
        uint64_t address = 0;
        while (cs_disasm_iter(handle, &p, &left, &address, insn)) {
        }
        etp_bytes known = text;
        known.len = (size_t)(p - text.ptr);
        bad += compare(handle, insn, known, compared);
        size_t skip = known.len + 64 < text.len ? known.len + 64 : text.len;
        text.ptr += skip;
        text.len -= skip;
    }
    cs_free(insn, 1);
    etp_arena_dispose(&arena);
    etp_file_close(&file);
    return bad;
}

int main(int argc, char **argv)
{
    csh handle;
    int bad = 0;
    if (cs_open(CS_ARCH_X86, CS_MODE_64, &handle) != CS_ERR_OK) {
        return 2;
    }
    for (int i = 1; i < argc; i++) {
        uint64_t compared = 0;
        bad += check(handle, argv[i], &compared);
        printf("%s: %llu instructions compared\n", argv[i], (unsigned long long)compared);
        bad += compared < 1000;
    }
    cs_close(&handle);
    return bad != 0;
}
