// SPDX-License-Identifier: Apache-2.0
// Kernels that are built into a program file.
#include "inspect/kernels/binary.h"

#include <stdlib.h>
#include <string.h>

#include "base/guard.h"
#include "document/rows.h"

bool etp_kernel_binary_is(etp_bytes file)
{
    // ELF; Mach-O of 64 and 32 bits, little-endian; universal files of either width, big-endian.
    static const char *const k_magics[] = {"\177ELF", "\317\372\355\376", "\316\372\355\376",
                                           "\312\376\272\276", "\312\376\272\277"};
    for (size_t i = 0; i < sizeof k_magics / sizeof *k_magics; i++) {
        if (file.len >= 16 && memcmp(file.ptr, k_magics[i], 4) == 0) {
            return true;
        }
    }
    return false;
}

// From all the tables that the file has, before twins and inner functions go.
typedef struct functions {
    etp_function *items;
    size_t n, cap;
} functions;

// By begin, the longest first, one with a name before one without.
static int by_place(const void *pa, const void *pb)
{
    const etp_function *a = pa, *b = pb;
    return etp_order_then(
        ETP_ORDER(a->start, b->start),
        etp_order_then(ETP_ORDER(b->end, a->end), (a->symbol.len == 0) - (b->symbol.len == 0)));
}

// What else has a name in these libraries sets up operators or packs weights.
static bool is_kernel(etp_str name)
{
    bool xnnpack =
        etp_str_starts(name, ETP_STR("xnn_")) &&
        etp_str_find(name, ETP_STR("ukernel")) < name.len &&
        etp_str_find(name, ETP_STR("_get_")) == name.len; // which say how large a tile is
    return xnnpack || etp_str_starts(name, ETP_STR("kai_kernel_")) ||
           etp_str_starts(name, ETP_STR("kai_run_"));
}

// Functions of several files may share a name; the address then decides, as qsort keeps no order.
static int by_name(const void *pa, const void *pb)
{
    const etp_built_kernel *a = pa, *b = pb;
    int order = etp_str_cmp(a->name, b->name);
    return etp_order_then(order, ETP_ORDER(a->address, b->address));
}

static etp_status read_file(etp_bytes file, etp_arena *arena, etp_kernel_binary *out,
                            etp_error *err)
{
    etp_image *image;
    functions all = {0};
    *out = (etp_kernel_binary){0};
    ETP_TRY(etp_image_open(file, arena, &image, err));
    size_t ranges = etp_image_range_count(image), symbols = etp_image_symbol_count(image), kept = 0;
    for (size_t i = 0; i < ranges + symbols; i++) {
        etp_function f =
            i < ranges ? etp_image_range_at(image, i) : etp_image_symbol_at(image, i - ranges);
        if (f.end > f.start) {
            ETP_ADD(arena, &all, f);
        }
    }
    if (all.n > 1) {
        qsort(all.items, all.n, sizeof *all.items, by_place);
    }
    // Symbols and unwind entries describe the same functions, and aliases and local labels lie
    // inside others. What begins inside the one kept last is left out, so that no byte of code
    // counts twice.
    for (size_t i = 0; i < all.n; i++) {
        if (kept == 0 || all.items[i].start >= all.items[kept - 1].end) {
            all.items[kept++] = all.items[i];
        }
    }
    all.n = kept;
    out->format = etp_image_format_of(image) == ETP_IMAGE_ELF ? "ELF" : "Mach-O";
    out->machine = etp_image_machine(image);
    out->build_id = etp_image_build_id(image);
    for (size_t i = 0; i < all.n; i++) {
        const etp_function *f = &all.items[i];
        etp_bytes bytes;
        etp_code_count count;
        etp_code code = ETP_CODE_UNKNOWN;
        // Ranges outside the code sections (a table may name them) stay unknown and are counted as
        // undecoded.
        if (etp_image_code(image, f->start, f->end, &bytes)) {
            ETP_TRY(etp_code_of(etp_image_machine(image), bytes, &count, &code, err));
        }
        out->functions++;
        out->named += f->symbol.len > 0;
        out->undecoded += code == ETP_CODE_UNKNOWN;
        out->of[code]++;
        out->bytes_of[code] += f->end - f->start;
        etp_built_kernel k = {f->symbol, f->start, f->end - f->start, code};
        if (is_kernel(f->symbol)) {
            ETP_ADD(arena, &out->kernels, k);
        }
    }
    if (out->kernels.n > 1) {
        qsort(out->kernels.items, out->kernels.n, sizeof *out->kernels.items, by_name);
    }
    if (out->functions == 0) {
        return etp_fail(err, ETP_UNSUPPORTED, "no table of the file says where functions begin");
    }
    return ETP_OK;
}

etp_status etp_kernel_binary_read(etp_bytes file, etp_arena *arena, etp_kernel_binary *out,
                                  etp_error *err)
{
    ETP_GUARDED(arena, err, "kernels", read_file(file, arena, out, err));
}

static bool shown(const etp_kernel_binaries *b, const etp_built_kernel *k)
{
    return !b->filter || etp_str_find(k->name, etp_str_from(b->filter)) < k->name.len;
}

// ---- JSON ----

WORDS(k_code, etp_code_name, etp_code, ETP_CODES)
WORDS(k_machine, etp_machine_name, etp_machine, ETP_MACHINES)
LENGTH(k_codes, etp_kernel_binaries, ETP_CODES - 1) // all but the unknown
FIND(means, etp_kernel_binaries, etp_kernel_binaries, MAKE(text, "built in, not run"))
FIND(of_code, etp_kernel_binary, etp_kernel_binaries, it->of[at->index + 1] ? it : NULL)
FIND(code, etp_kernel_binary, etp_kernel_binaries, MAKE(maybe, (int)at->index + 1))
FIND(code_functions, etp_kernel_binary, etp_kernel_binaries, &it->of[at->index + 1])
FIND(code_bytes, etp_kernel_binary, etp_kernel_binaries, &it->bytes_of[at->index + 1])
static bool is_listed(const void *kernel, const etp_json_cursor *at)
{
    return shown(at->root, kernel);
}

#define OF etp_built_kernel
static const etp_field k_kernel_rows[] = {
    FIELD("kernel_name", STR, name, "of XNNPACK or KleidiAI"),
    FIELD("isa", WORD, code, "its most demanding instruction's", .words = &k_code),
    FIELD("address", UINT, address, "in the file's address space"),
    FIELD("bytes", UINT, bytes, "of its code"),
};
static SHAPE_ON_ONE_LINE(k_kernel, k_kernel_rows);
#undef OF
#define OF etp_kernel_binary
static const etp_field k_isa_rows[] = {
    COMPUTED("isa", WORD, code, "least first within a machine", .words = &k_code, .flags = ETP_SET),
    COMPUTED("functions", UINT, code_functions, "that need it", .flags = ETP_SET),
    COMPUTED("bytes", UINT, code_bytes, "of their code", .flags = ETP_SET),
};
static SHAPE_ON_ONE_LINE(k_isa, k_isa_rows);
static const etp_field k_file_rows[] = {
    FIELD("name", TEXT, title, "of the file", .flags = ETP_SET),
    FIELD("format", TEXT, format, "ELF or Mach-O", .flags = ETP_SET),
    FIELD("machine", WORD, machine, "of its code", .words = &k_machine),
    FIELD("build_id", STR, build_id, "empty: none"),
    FIELD("functions", UINT, functions, "of those that lie in each other the outer one"),
    FIELD("named", UINT, named, "of these"),
    FIELD("undecoded", UINT, undecoded, "of these"),
    COMPUTED_PER("isa", OBJECT, of_code, &k_codes, "what the functions need", .shape = &k_isa,
                 .flags = ETP_SKIP),
    VECTOR("kernels", OBJECT, kernels, "by name", .shape = &k_kernel, .when = is_listed),
};
static SHAPE(k_file, k_file_rows);
#undef OF
#define OF etp_kernel_binaries
static const etp_field k_rows[] = {
    COMPUTED("means", TEXT, means, "what to make of it", .flags = ETP_SET),
    LIST("files", OBJECT, files, n, "one or two", .shape = &k_file),
};
static SHAPE(k_binaries, k_rows);
#undef OF

const etp_document k_etp_kernel_binary_document = {
    "etprof.kernel_binary/1", "what kernels prints of a program or library", &k_binaries};

// ---- report ----

// What decides whether a level of etprof can change anything: matrix code of the family.
// A class without any function is a warning, because the feature was left out when the library was
// built: no level can turn it on.
static void feature_keys(const etp_kernel_binary *f, etp_report *r)
{
    static const etp_code k_arm[] = {ETP_CODE_SME2, ETP_CODE_SME, ETP_CODE_I8MM, ETP_CODE_DOTPROD};
    static const etp_code k_x86[] = {ETP_CODE_AVX512_VNNI, ETP_CODE_AVX512, ETP_CODE_AVX2};
    bool arm = f->machine == ETP_MACHINE_AARCH64;
    const etp_code *codes = arm ? k_arm : k_x86;
    etp_keys *keys = etp_report_keys(r, f->title);
    etp_keys_add(keys, ETP_PLAIN, "file", "%s, %s%s%.*s", f->format, etp_machine_name(f->machine),
                 etp_if(f->build_id.len, ", build id "), (int)ETP_MIN(f->build_id.len, 12),
                 ETP_OR(f->build_id.ptr, ""));
    etp_keys_add(keys, ETP_PLAIN, "functions", "%llu, %llu with a name",
                 (unsigned long long)f->functions, (unsigned long long)f->named);
    for (size_t i = 0; i < (arm ? sizeof k_arm / sizeof *k_arm : sizeof k_x86 / sizeof *k_x86);
         i++) {
        bool some = f->of[codes[i]] > 0;
        etp_keys_add(keys, some ? ETP_GOOD : ETP_WARN, etp_code_title(codes[i]),
                     some ? "needed by %llu function%s" : "built without: no function needs it",
                     (unsigned long long)f->of[codes[i]], etp_if(f->of[codes[i]] != 1, "s"));
    }
}

static void isa_table(const etp_kernel_binaries *b, etp_report *r)
{
    static const etp_column k_columns[] = {
        {.key = "file", .title = "file", .flags = ETP_COL_CODE},
        {.key = "isa", .title = "needs"},
        {.key = "functions", .title = "functions", .kind = ETP_KIND_INT},
        {.key = "bytes", .title = "code", .kind = ETP_KIND_BYTES},
    };
    etp_report_section(r, 1, "isa", "Code by instruction set");
    etp_table *t = etp_report_table(r, "isa", NULL, k_columns, 4);
    for (size_t i = 0; i < b->n; i++) {
        const etp_kernel_binary *f = &b->files[i];
        // Class 0 is code that could not be decoded: nothing says what it needs.
        for (unsigned c = ETP_CODES; c-- > 1;) {
            if (f->of[c]) {
                ETP_ROW(t, etp_cell_z(f->title), etp_cell_z(etp_code_title((etp_code)c)),
                        etp_cell_u64(f->of[c]), etp_cell_u64(f->bytes_of[c]));
            }
        }
    }
}

const etp_report *etp_kernel_binaries_report(const etp_kernel_binaries *b, etp_arena *arena)
{
    static const etp_column k_columns[] = {
        {.key = "file", .title = "file", .flags = ETP_COL_CODE | ETP_COL_MINOR},
        {.key = "kernel_name", .title = "kernel", .flags = ETP_COL_CODE},
        {.key = "isa", .title = "needs"},
        {.key = "bytes", .title = "code", .kind = ETP_KIND_BYTES},
    };
    etp_report *r =
        etp_report_create(arena, b->n == 1 ? b->files[0].title : "kernels of two files");
    etp_report_subtitle(r, "built in, not run: what a CPU must have for each function");
    etp_report_section(r, 1, "files", b->n == 1 ? "File" : "Files");
    for (size_t i = 0; i < b->n; i++) {
        feature_keys(&b->files[i], r);
    }
    isa_table(b, r);
    size_t listed = 0;
    for (size_t i = 0; i < b->n; i++) {
        listed += b->files[i].kernels.n;
    }
    if (!b->filter && listed > 0) {
        etp_report_text(r,
                        "Micro-kernels with a name: %zu; --filter TEXT lists those with TEXT in "
                        "it. One without vector "
                        "instructions hands over to a function without a name.",
                        listed);
    }
    etp_report_section(r, 1, "kernels", "Kernels with a name");
    etp_report_section_is_detail(r);
    etp_table *t = etp_report_table(r, "kernels", NULL, k_columns, 4);
    for (size_t i = 0; i < b->n; i++) {
        const etp_kernel_binary *f = &b->files[i];
        for (size_t k = 0; k < f->kernels.n; k++) {
            const etp_built_kernel *one = &f->kernels.items[k];
            if (shown(b, one)) {
                ETP_ROW(t, etp_cell_z(f->title), etp_cell_str(one->name),
                        etp_cell_z(etp_code_title(one->code)), etp_cell_u64(one->bytes));
            }
        }
    }
    return r;
}
