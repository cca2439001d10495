// SPDX-License-Identifier: Apache-2.0
// What the file of somebody else's runner shows: which flags it takes, what was compiled into it,
// by which compiler.

#include "base/number.h"
#include "base/path.h"
#include "base/sha256.h"
#include "binary/image.h"
#include "measure/foreign.h"

#define FILE_LIMIT ((uint64_t)2 << 30)

// gflags keeps the name of each flag as a text in the program: a flag that a build takes can be
// seen in its file, without starting it.
static const char *const k_flag_names[ETP_FOREIGN_FLAGS] = {
    [ETP_FOREIGN_MODEL_PATH] = "model_path",   [ETP_FOREIGN_NUM_EXECUTIONS] = "num_executions",
    [ETP_FOREIGN_ETDUMP_PATH] = "etdump_path", [ETP_FOREIGN_CPU_THREADS] = "cpu_threads",
    [ETP_FOREIGN_INPUTS] = "inputs",           [ETP_FOREIGN_OUTPUT_FILE] = "output_file",
    [ETP_FOREIGN_METHOD_NAME] = "method_name", [ETP_FOREIGN_PRINT_OUTPUT] = "print_output",
    [ETP_FOREIGN_DATA_PATH] = "data_path",     [ETP_FOREIGN_TOKENIZER_PATH] = "tokenizer_path",
    [ETP_FOREIGN_PROMPT] = "prompt",           [ETP_FOREIGN_MAX_NEW_TOKENS] = "max_new_tokens",
    [ETP_FOREIGN_SEQ_LEN] = "seq_len",         [ETP_FOREIGN_TEMPERATURE] = "temperature",
    [ETP_FOREIGN_IGNORE_EOS] = "ignore_eos",   [ETP_FOREIGN_WARMUP] = "warmup",
    [ETP_FOREIGN_DATA_PATHS] = "data_paths",
};

static bool holds(etp_bytes b, const void *what, size_t len)
{
    return memmem(b.ptr, b.len, what, len) != NULL;
}

static bool holds_text(etp_bytes b, const char *text)
{
    return holds(b, text, strlen(text));
}

// Flags are registered under their names: texts with a NUL behind.
static bool holds_name(etp_bytes b, const char *name)
{
    return holds(b, name, strlen(name) + 1);
}

// Of a runner of language models: the flags of llama_main, or, in a script, its statistics too.
static bool is_text(const bool flags[ETP_FOREIGN_FLAGS])
{
    return flags[ETP_FOREIGN_MODEL_PATH] && flags[ETP_FOREIGN_TOKENIZER_PATH] &&
           (flags[ETP_FOREIGN_MAX_NEW_TOKENS] || flags[ETP_FOREIGN_SEQ_LEN]);
}

static void find_flags(etp_bytes b, bool program, bool flags[ETP_FOREIGN_FLAGS])
{
    for (size_t i = 0; i < ETP_FOREIGN_FLAGS; i++) {
        flags[i] = program ? holds_name(b, k_flag_names[i]) : holds_text(b, k_flag_names[i]);
    }
}

// Encodings of the Arm manual (MSR SVCRSM, SVCRZA, SVCRSMZA, each with 1). A64 instructions are 4
// bytes and aligned, so data could look alike but code cannot be missed.
// Whole instructions that switch streaming mode or ZA on: SMSTART in its three forms.
static bool starts_streaming(etp_bytes b)
{
    static const uint32_t k_smstart[] = {0xd503477f, 0xd503437f, 0xd503457f};
    for (size_t i = 0; i + 4 <= b.len; i += 4) {
        uint32_t word = etp_load_u32(b.ptr + i);
        if (word == k_smstart[0] || word == k_smstart[1] || word == k_smstart[2]) {
            return true;
        }
    }
    return false;
}

// ".comment": NUL-terminated texts of the compilers and the linker; each once, sorted by
// appearance.
static const char *texts_of(etp_bytes section, etp_arena *arena)
{
    etp_strbuf buf;
    etp_strbuf_init(&buf, arena);
    for (size_t i = 0; i < section.len;) {
        const char *text = (const char *)section.ptr + i;
        size_t len = strnlen(text, section.len - i);
        etp_str so_far = etp_strbuf_str(&buf), piece = {text, len};
        if (len > 0 && len < 400 && etp_str_find(so_far, piece) == so_far.len && buf.len < 800) {
            etp_strbuf_printf(&buf, "%s%.*s", etp_if(buf.len, " + "), (int)len, text);
        }
        i += len + 1;
    }
    for (size_t i = 0; i < buf.len; i++) { // it goes into manifests and onto terminals
        if (buf.ptr[i] < ' ' || buf.ptr[i] > '~') {
            buf.ptr[i] = '?';
        }
    }
    return buf.ptr && !buf.failed ? buf.ptr : "";
}

static void summarise(etp_foreign *f, etp_arena *arena)
{
    // By etp_known: not known, no, yes.
    static const char *const k_words[][3] = {
        {"tracer unknown",  "no event tracer", "event tracer"},
        {"XNNPACK unknown", "no XNNPACK",      "XNNPACK"     },
        {"",                "no SME code",     "SME code"    },
        {"",                "no timing log",   "timing log"  }
    };
    etp_strbuf buf;
    etp_strbuf_init(&buf, arena);
    etp_strbuf_printf(&buf, "%s", ETP_BYTES(f->bytes));
    if (!f->is_elf) {
        etp_strbuf_appendz(&buf, f->kind == ETP_FOREIGN_TEXT
                                     ? ", a script that names the flags of llama_main"
                                     : ", no program file (a script?): what it starts is unknown");
    } else {
        const etp_known known[] = {f->tracer, f->xnnpack, f->sme, f->logging};
        etp_strbuf_printf(&buf, ", %s, %s", f->is_static ? "static" : "dynamic",
                          f->has_symbols ? "symbols" : "stripped");
        for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
            const char *word = k_words[i][known[i]];
            etp_strbuf_printf(&buf, "%s%s", etp_if(word[0], ", "), word);
        }
        if (f->n_libraries > 0) {
            etp_strbuf_printf(&buf, ", %zu %s of its own", f->n_libraries,
                              f->n_libraries == 1 ? "library" : "libraries");
        }
        etp_strbuf_printf(&buf, ", %s", f->compiler[0] ? f->compiler : "compiler unknown");
        if (f->build_id[0]) {
            etp_strbuf_printf(&buf, ", build-id %.12s", f->build_id);
        }
    }
    f->summary = buf.ptr;
}

static void read_image(etp_bytes b, const etp_image *image, etp_arena *arena, etp_foreign *f)
{
    bool elf = etp_image_format_of(image) == ETP_IMAGE_ELF,
         arm64 = etp_image_machine(image) == ETP_MACHINE_AARCH64;
    f->is_elf = true;
    f->machine = etp_machine_name(etp_image_machine(image));
    f->build_id = etp_arena_strdup(arena, etp_image_build_id(image));
    f->compiler = texts_of(etp_image_section(image, ".comment"), arena);
    f->command_line = texts_of(etp_image_section(image, ".GCC.command.line"), arena);
    // Only what a loader completes names one.
    f->is_static = elf && etp_image_section(image, ".interp").len == 0;
    f->has_symbols =
        elf ? etp_image_section(image, ".symtab").len > 0 : etp_image_symbol_count(image) > 0;
    find_flags(b, true, f->flags);
    f->tracer = f->flags[ETP_FOREIGN_ETDUMP_PATH] ? ETP_KNOWN_YES : ETP_KNOWN_NO;
    // The oldest releases log "Model executed successfully." without a time.
    f->logging = holds_text(b, "Model executed successfully ") ? ETP_KNOWN_YES : ETP_KNOWN_NO;
    // The name of the backend is what a program's delegates are looked up by, so a build with
    // XNNPACK has the text, stripped or not.
    bool xnnpack = holds_text(b, "XnnpackBackend") || holds_text(b, "executorch_backend_xnnpack");
    bool elsewhere = !f->is_static && holds_text(b, "libexecutorch"); // libraries that load others
    etp_known absent = elsewhere ? ETP_KNOWN_NOT : ETP_KNOWN_NO;
    f->xnnpack = xnnpack ? ETP_KNOWN_YES : absent;
    if (arm64) {
        f->sme = starts_streaming(b) ? ETP_KNOWN_YES : absent;
    }
}

etp_status etp_foreign_inspect(const char *path, bool tokenizer, etp_arena *arena, etp_foreign *out,
                               etp_error *err)
{
    *out = (etp_foreign){.machine = "", .build_id = "", .compiler = "", .command_line = ""};
    out->path = etp_os_absolute(path, arena);
    if (!out->path) {
        return etp_os_is_file(path) ? etp_fail_nomem(err, path)
                                    : etp_os_fail_absent("runner", path, ETP_ENVIRONMENT, err);
    }
    if (!etp_os_is_executable(out->path)) {
        return etp_fail(err, ETP_ENVIRONMENT, "runner %s is not executable", path);
    }
    out->there = out->path;
    etp_file file;
    ETP_TRY(etp_file_open(out->path, FILE_LIMIT, &file, err));
    const etp_bytes b = file.bytes;
    etp_sha256_of(b.ptr, b.len, out->sha256);
    out->bytes = b.len;
    etp_image *image = NULL;
    etp_arena scratch = {0};
    if (etp_image_open_tables(b, &scratch, &image, NULL) == ETP_OK) {
        read_image(b, image, arena, out);
        // A build that has the flags of both kinds is taken for an executor_runner, but for one
        // with a tokenizer.
        if (tokenizer || (is_text(out->flags) && !out->flags[ETP_FOREIGN_NUM_EXECUTIONS])) {
            out->kind = ETP_FOREIGN_TEXT;
            // llama_main has the flag of recordings in every build, and their writer in those with
            // a tracer.
            bool writer = holds_text(b, "ETDumpGen") || holds_text(b, "ETDump file written");
            out->tracer =
                out->flags[ETP_FOREIGN_ETDUMP_PATH] && writer ? ETP_KNOWN_YES : ETP_KNOWN_NO;
            out->flags[ETP_FOREIGN_ETDUMP_PATH] = out->tracer == ETP_KNOWN_YES;
            out->logging = holds_text(b, "PyTorchObserver") ? ETP_KNOWN_YES : ETP_KNOWN_NOT;
        }
    } else {
        // A script has the flags that it names. One that only hands them on, and is given a
        // tokenizer, has those without which nothing could be asked.
        static const etp_foreign_flag k_least[] = {
            ETP_FOREIGN_MODEL_PATH,  ETP_FOREIGN_TOKENIZER_PATH, ETP_FOREIGN_PROMPT,
            ETP_FOREIGN_TEMPERATURE, ETP_FOREIGN_MAX_NEW_TOKENS, ETP_FOREIGN_CPU_THREADS};
        find_flags(b, false, out->flags);
        bool named = out->flags[ETP_FOREIGN_MODEL_PATH];
        bool text = tokenizer || is_text(out->flags);
        for (size_t i = 0; i < ETP_FOREIGN_FLAGS && !text; i++) {
            out->flags[i] = true; // taken for a wrapper around one of today's
        }
        for (size_t i = 0; i < sizeof k_least / sizeof *k_least && text && !named; i++) {
            out->flags[k_least[i]] = true;
        }
        out->kind = text ? ETP_FOREIGN_TEXT : ETP_FOREIGN_EXECUTOR;
        out->tracer = text && !out->flags[ETP_FOREIGN_ETDUMP_PATH] ? ETP_KNOWN_NO : ETP_KNOWN_NOT;
    }
    etp_arena_dispose(&scratch);
    etp_file_close(&file);
    // One library more changes the build, as does another name of one.
    const char *const *paths = NULL;
    ETP_TRY(etp_foreign_libraries(out->path, arena, &paths, &out->n_libraries, err));
    if (out->n_libraries > 0) {
        etp_sha256 all;
        etp_sha256_init(&all);
        // Each with its terminating zero: no two lists run into the same bytes.
        etp_sha256_update(&all, out->sha256, sizeof out->sha256);
        for (size_t i = 0; i < out->n_libraries; i++) {
            const char *name = etp_path_name(paths[i]);
            char hex[ETP_SHA256_HEX_CHARS];
            ETP_TRY(etp_os_hash_file(paths[i], hex, NULL, err));
            etp_sha256_update(&all, name, strlen(name) + 1);
            etp_sha256_update(&all, hex, sizeof hex);
        }
        etp_sha256_hex(&all, out->sha256);
    }
    summarise(out, arena);
    return ETP_OK;
}

bool etp_foreign_is(const char *path)
{
    etp_file file;
    if (etp_file_open(path, FILE_LIMIT, &file, NULL) != ETP_OK) {
        return false;
    }
    // By bare texts, since it may be a script: --runner decides by it whether a file is etprof's
    // own.
    bool flags[ETP_FOREIGN_FLAGS];
    find_flags(file.bytes, false, flags);
    bool is =
        is_text(flags) || (flags[ETP_FOREIGN_MODEL_PATH] && flags[ETP_FOREIGN_NUM_EXECUTIONS]);
    etp_file_close(&file);
    return is;
}

static void differ(etp_strbuf *buf, const char *what, const char *a, const char *b)
{
    if (strcmp(a, b) != 0) {
        etp_strbuf_printf(buf, "%s%s: %s against %s", etp_if(buf->len, "; "), what,
                          a[0] ? a : "unknown", b[0] ? b : "unknown");
    }
}

const char *etp_foreign_differences(const etp_foreign *a, const etp_foreign *b, etp_arena *arena)
{
    static const char *const k_known[] = {"unknown", "no", "yes"};
    etp_strbuf buf;
    etp_strbuf_init(&buf, arena);
    differ(&buf, "compiler", a->compiler, b->compiler);
    differ(&buf, "flags", a->command_line, b->command_line);
    differ(&buf, "linking", a->is_static ? "static" : "dynamic",
           b->is_static ? "static" : "dynamic");
    differ(&buf, "event tracer", k_known[a->tracer], k_known[b->tracer]);
    differ(&buf, "XNNPACK", k_known[a->xnnpack], k_known[b->xnnpack]);
    differ(&buf, "SME code", k_known[a->sme], k_known[b->sme]);
    differ(&buf, "timing log", k_known[a->logging], k_known[b->logging]);
    differ(&buf, "size", ETP_BYTES(a->bytes), ETP_BYTES(b->bytes));
    return buf.ptr && !buf.failed ? buf.ptr : "";
}
