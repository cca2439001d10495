// SPDX-License-Identifier: Apache-2.0
// A script of phases (--script) that somebody wrote, with a text decoder: what becomes of its
// calls, their shapes and places.
#include <etprof/program.h>

#include "fuzz.h"
#include "measure/script.h"
#include "os/os.h"

static const etp_program *decoder(void)
{
    static const etp_program *program; // one for all inputs
    static etp_file file;
    if (!program) {
        FUZZ_CHECK(etp_file_open(ETP_FUZZ_DATA "/llm/decoder_plain.pte", UINT64_MAX, &file, NULL) ==
                   ETP_OK);
        FUZZ_CHECK(etp_program_open(file.bytes, NULL, &program, NULL) == ETP_OK);
    }
    return program;
}

static void follow(const etp_script *script, size_t at, etp_arena *arena)
{
    etp_error err = {.offset = ETP_NO_OFFSET};
    etp_str steps;
    uint64_t calls = 0;
    etp_status st =
        etp_script_steps(script, at, decoder(), "model.pte", 7, arena, &steps, &calls, &err);
    if (st != ETP_OK) {
        FUZZ_CHECK(err.msg[0] != '\0');
        return;
    }
    FUZZ_CHECK(steps.len > 0 && calls >= 1 && calls <= ETP_SCRIPT_CALLS);
    etp_script_call call;
    st = etp_script_call_of(&script->phases.items[at], decoder(), arena, &call, &err);
    FUZZ_CHECK(st != ETP_OK || (call.method && call.inputs && call.start));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    etp_arena arena = {0};
    etp_script script;
    etp_error err = {.offset = ETP_NO_OFFSET};
    etp_str text = {(const char *)data, size};
    if (etp_script_read_text(text, &arena, &script, &err) != ETP_OK) {
        FUZZ_CHECK(err.msg[0] != '\0');
    } else {
        script.folder = ETP_FUZZ_DATA;
        for (size_t i = 0; i < script.phases.n; i++) {
            follow(&script, i, &arena);
        }
    }
    etp_arena_dispose(&arena);
    return 0;
}
