// SPDX-License-Identifier: Apache-2.0
// Reading XNNPACK's log of micro-kernels, and showing one or the difference of two.
#include "inspect/kernels/log.h"

#include <stdlib.h>

#include "base/csv.h"
#include "base/guard.h"
#include "base/number.h"
#include "base/unicode.h"
#include "base/utf8.h"
#include "document/rows.h"

// Far more than a library has (1,485 with names in that of bench/results.md): a file with more is
// no such log.
#define MOST_KERNELS 100000

// What a regular expression calls \w, in ASCII.
static bool word_char(char c)
{
    c = etp_lower(c);
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

// Moves *S behind WORD, in any case, and the blanks after it; false when something else stands
// there.
// Arm's kit finds these lines by Using\s+(\w+)\s+microkernel\s+'([^']+)', in any case: what it
// finds, this has to find.
static bool skip_word(etp_str *s, const char *word)
{
    size_t n = strlen(word);
    for (size_t i = 0; i < n; i++) {
        if (i >= s->len || etp_lower(s->ptr[i]) != word[i]) {
            return false;
        }
    }
    size_t at = n;
    while (at < s->len && (s->ptr[at] == ' ' || s->ptr[at] == '\t')) {
        at++;
    }
    if (at == n) {
        return false;
    }
    *s = (etp_str){s->ptr + at, s->len - at};
    return true;
}

// "Using <category> microkernel '<name>'" at the start of S.
static bool parse_use(etp_str s, etp_str *category, etp_str *name)
{
    if (!skip_word(&s, "using")) {
        return false;
    }
    size_t n = 0;
    while (n < s.len && word_char(s.ptr[n])) {
        n++;
    }
    *category = (etp_str){s.ptr, n};
    s = (etp_str){s.ptr + n, s.len - n};
    size_t blanks = 0;
    while (blanks < s.len && (s.ptr[blanks] == ' ' || s.ptr[blanks] == '\t')) {
        blanks++;
    }
    s = (etp_str){s.ptr + blanks, s.len - blanks};
    if (n == 0 || blanks == 0 || !skip_word(&s, "microkernel") || s.len == 0 || s.ptr[0] != '\'') {
        return false;
    }
    s = (etp_str){s.ptr + 1, s.len - 1};
    size_t end = etp_str_find(s, ETP_STR("'"));
    // A quote that closes in a later line is another line's: the name would swallow what lies
    // between.
    *name = (etp_str){s.ptr, end};
    return end > 0 && end < s.len && etp_str_find(*name, ETP_STR("\n")) == end;
}

typedef struct name_key {
    const etp_kernel_log *log;
    etp_str name;
} name_key;

// What makes two names those of one function: of "AVX2 kernel of Convolution [libx.so+0x1f]" the
// place, since what it ran for differs from arm to arm.
static etp_str identity(etp_str name)
{
    size_t place = etp_str_find(name, ETP_STR(" ["));
    bool placed = place < name.len && etp_str_ends(name, ETP_STR("]")); // "f[abi:cxx11]" is not
    return placed ? (etp_str){name.ptr + place, name.len - place} : name;
}

static bool same_name(const void *ctx, uint32_t position)
{
    const name_key *key = ctx;
    return etp_str_eq(identity(key->log->kernels.items[position].name), identity(key->name));
}

static uint64_t hash_of(etp_str name)
{
    const etp_str id = identity(name);
    return etp_hash_bytes(ETP_HASH_START, id.ptr, id.len);
}

static const etp_logged_kernel *find(const etp_kernel_log *log, etp_str name)
{
    const name_key key = {log, name};
    uint32_t at = etp_index_find(&log->by_name, hash_of(name), same_name, &key);
    return at == ETP_NO_INDEX ? NULL : &log->kernels.items[at];
}

static etp_status add(etp_kernel_log *log, etp_arena *arena, etp_str category, etp_str name,
                      uint64_t count, etp_logged_kernel **out, etp_error *err)
{
    log->lines += count;
    const name_key key = {log, name};
    uint32_t at = etp_index_find(&log->by_name, hash_of(name), same_name, &key);
    if (at != ETP_NO_INDEX) {
        *out = &log->kernels.items[at];
        (*out)->count += count;
        return ETP_OK;
    }
    if (log->kernels.n >= MOST_KERNELS) {
        return etp_fail(err, ETP_UNSUPPORTED, "more than %d different kernels", MOST_KERNELS);
    }
    char *kind = etp_arena_strdup(arena, category), *copy = etp_arena_strdup(arena, name);
    for (char *p = kind; *p; p++) {
        *p = etp_lower(*p);
    }
    bool transpose = strcmp(kind, "transposec") == 0;
    etp_logged_kernel k = {
        .name = {copy, name.len},
          .count = count
    };
    k.category = transpose ? ETP_STR("transpose") : etp_str_from(kind);
    etp_kernel_name_parse(k.name, &k.parts);
    ETP_ADD(arena, &log->kernels, k);
    etp_index_insert(&log->by_name, arena, hash_of(name), (uint32_t)(log->kernels.n - 1));
    *out = &log->kernels.items[log->kernels.n - 1];
    return ETP_OK;
}

// The words are looked for anywhere, not at the begin of a line: logcat puts time, process and tag
// before them, and other output may be mixed in.
static etp_status read_log(etp_str text, etp_arena *arena, etp_kernel_log *out, etp_error *err)
{
    etp_logged_kernel *kernel;
    for (size_t at = 0; at < text.len; at++) {
        etp_str category, name;
        if (etp_lower(text.ptr[at]) == 'u' &&
            parse_use((etp_str){text.ptr + at, text.len - at}, &category, &name)) {
            ETP_TRY(add(out, arena, category, name, 1, &kernel, err));
            // Behind the closing quote once the loop has counted on, so each byte is looked at
            // once.
            at = (size_t)(name.ptr + name.len - text.ptr);
        }
    }
    return ETP_OK;
}

static etp_code code_of(etp_str name)
{
    int c = 0;
    while (c < ETP_CODES && !etp_str_eqz(name, etp_code_name((etp_code)c))) {
        c++;
    }
    return c < ETP_CODES ? (etp_code)c : ETP_CODE_UNKNOWN;
}

// The kit's P_kernels.csv, or ours, which has more columns behind the same names: columns are found
// by their titles. Ours is of what ran; it says in which instruction set.
static etp_status read_table(etp_str text, etp_arena *arena, etp_kernel_log *out, etp_error *err)
{
    static const char *const k_needed[] = {"kernel_name", "category", "count", "model_id"};
    etp_csv_reader reader;
    etp_csv_row row = {0};
    bool more;
    int at[4];
    etp_csv_open(&reader, text, arena);
    ETP_TRY(etp_csv_next(&reader, &row, &more, err));
    for (size_t i = 0; i < 4; i++) {
        at[i] = more ? etp_csv_column(&row, k_needed[i]) : -1;
        if (at[i] < 0) {
            return etp_fail(err, ETP_CORRUPT, "the table has no column %s", k_needed[i]);
        }
    }
    const int isa = etp_csv_column(&row, "isa"), share = etp_csv_column(&row, "share");
    out->sampled = isa >= 0 && share >= 0;
    for (;;) {
        uint64_t count = 0;
        ETP_TRY(etp_csv_next(&reader, &row, &more, err));
        if (!more) {
            return ETP_OK;
        }
        for (size_t i = 0; i < 4; i++) {
            if ((size_t)at[i] >= row.n) {
                return etp_fail_at(err, ETP_CORRUPT, row.offset, "line %llu has too few cells",
                                   (unsigned long long)row.line);
            }
        }
        // Counts of 32 bits cannot overflow the sums: it would take 2^32 rows.
        if (!etp_parse_u64(row.cells[at[2]], &count) || count > UINT32_MAX) {
            return etp_fail_at(err, ETP_CORRUPT, row.offset,
                               "line %llu: count is '%.*s', not a number",
                               (unsigned long long)row.line, ETP_STR_ARG(row.cells[at[2]]));
        }
        etp_logged_kernel *kernel = NULL;
        ETP_TRY(add(out, arena, row.cells[at[1]], row.cells[at[0]], count, &kernel, err));
        if (out->sampled && (size_t)isa < row.n && (size_t)share < row.n) {
            kernel->code = code_of(row.cells[isa]);
            kernel->share = etp_str_from(etp_arena_strdup(arena, row.cells[share]));
        }
        out->model_id = ETP_OR(out->model_id, etp_arena_strdup(arena, row.cells[at[3]]));
    }
}

static int by_count(const void *pa, const void *pb)
{
    const etp_logged_kernel *a = pa, *b = pb;
    return etp_order_then(ETP_ORDER(b->count, a->count), etp_str_cmp(a->name, b->name));
}

static etp_status read_either(etp_str text, etp_arena *arena, etp_kernel_log *out, etp_error *err)
{
    *out = (etp_kernel_log){0};
    // By its header, since a log may begin with anything else.
    bool table = etp_str_starts(text, ETP_STR("model_id,kernel_name,"));
    ETP_TRY(table ? read_table(text, arena, out, err) : read_log(text, arena, out, err));
    if (out->kernels.n == 0 && !table) {
        return etp_fail(
            err, ETP_UNSUPPORTED,
            "no line \"Using … microkernel '…'\": XNNPACK writes them only when it was built with "
            "-DXNN_LOG_LEVEL=4 or more, the environment changes nothing; 'etprof ab' "
            "needs no such build");
    }
    if (out->kernels.n) {
        qsort(out->kernels.items, out->kernels.n, sizeof *out->kernels.items, by_count);
    }
    out->by_name = (etp_index){0}; // their places are others now
    for (size_t i = 0; i < out->kernels.n; i++) {
        etp_index_insert(&out->by_name, arena, hash_of(out->kernels.items[i].name), (uint32_t)i);
    }
    return ETP_OK;
}

etp_status etp_kernel_log_read(etp_str text, etp_arena *arena, etp_kernel_log *out, etp_error *err)
{
    ETP_GUARDED(arena, err, "kernels",
                read_either(etp_unicode_decode(text, arena), arena, out, err));
}

// ---- showing ----

static bool wanted(const etp_kernel_logs *logs, etp_str name)
{
    return !logs->filter || etp_str_find(name, etp_str_from(logs->filter)) < name.len ||
           !logs->filter[0];
}

// What the name says it needs.
// In order of demand, since a name may have several of the parts: "neoni8mm" has "neon" too, and
// "sme2" has "sme".
static const char *architecture_of(const etp_kernel_name *name)
{
    static const struct {
        const char *part, *title;
    } k_parts[] = {
        {"sme2",          "SME2"        },
        {"sme",           "SME"         },
        {"sve2",          "SVE2"        },
        {"sve",           "SVE"         },
        {"neonbf16",      "NEON bf16"   },
        {"i8mm",          "NEON i8mm"   },
        {"dot",           "NEON dotprod"},
        {"neonfp16arith", "NEON fp16"   },
        {"neon",          "NEON"        },
        {"aarch64",       "NEON"        },
        {"amx",           "AMX"         },
        {"avx512fp16",    "AVX512-FP16" },
        {"avx512bf16",    "AVX512-BF16" },
        {"avx512vnni",    "AVX-512 VNNI"},
        {"avx256vnni",    "AVX-512 VNNI"},
        {"avxvnni",       "AVX-VNNI"    },
        {"avx512",        "AVX-512"     },
        {"avx",           "AVX"         },
        {"fma3",          "AVX"         },
        {"f16c",          "AVX"         },
        {"sse",           "SSE"         },
        {"scalar",        "scalar"      },
    };
    for (size_t i = 0; i < sizeof k_parts / sizeof *k_parts; i++) {
        if (etp_str_find(name->arch, etp_str_from(k_parts[i].part)) < name->arch.len) {
            return k_parts[i].title;
        }
    }
    return "Other";
}

// What was sampled is told by its code, whatever it is called.
static const char *architecture(const etp_logged_kernel *k)
{
    return k->code != ETP_CODE_UNKNOWN ? etp_code_title(k->code) : architecture_of(&k->parts);
}

static bool all_sampled(const etp_kernel_logs *logs)
{
    bool sampled = true;
    for (size_t i = 0; i < logs->n; i++) {
        sampled = sampled && logs->logs[i].sampled;
    }
    return sampled;
}

FIND(means, etp_kernel_logs, etp_kernel_logs,
     MAKE(text, all_sampled(it) ? "sampled while the model ran"
                                : "registered for this CPU, not necessarily run"))
static bool is_wanted(const void *kernel, const etp_json_cursor *at)
{
    return wanted(at->root, ((const etp_logged_kernel *)kernel)->name);
}

#define OF etp_logged_kernel
static const etp_field k_kernel_rows[] = {
    FIELD("kernel_name", STR, name, "as logged"),
    FIELD("category", STR, category, "in lower case"),
    FIELD("count", UINT, count, "lines that name it; no calls"),
    FIELD("dtype", STR, parts.dtype, "of the name"),
    FIELD("xnn_op", STR, parts.op, "likewise"),
    FIELD("variant", STR, parts.variant, "likewise"),
    FIELD("ukernel_shape", STR, parts.shape, "likewise: its tile"),
    FIELD("arch_chain", STR, parts.arch, "likewise: what it is for"),
    FIELD("has_sme", BOOL, parts.sme, "the name says so"),
    FIELD("has_sme2", BOOL, parts.sme2, "likewise"),
};
static SHAPE_ON_ONE_LINE(k_kernel, k_kernel_rows);
#undef OF
#define OF etp_kernel_log
static const etp_field k_log_rows[] = {
    FIELD("name", TEXT, title, "of the log"),
    FIELD("model_id", TEXT, model_id, "of a table"),
    FIELD("lines", UINT, lines, "that named a kernel"),
    VECTOR("kernels", OBJECT, kernels, "most lines first", .shape = &k_kernel, .when = is_wanted),
};
static SHAPE(k_log, k_log_rows);
#undef OF
#define OF etp_kernel_logs
static const etp_field k_rows[] = {
    COMPUTED("means", TEXT, means, "what to make of it", .flags = ETP_SET),
    LIST("logs", OBJECT, logs, n, "one or two", .shape = &k_log, .least = 1),
};
static SHAPE(k_logs, k_rows);
#undef OF

const etp_document k_etp_kernel_log_document = {"etprof.kernel_log/1",
                                                "what kernels prints of logs of XNNPACK", &k_logs};

static void kernels_table(const etp_kernel_logs *logs, etp_report *r)
{
    static const etp_column k_columns[] = {
        {.key = "model_id", .title = "model", .flags = ETP_COL_MINOR},
        {.key = "kernel_name", .title = "kernel", .flags = ETP_COL_CODE},
        {.key = "category", .title = "category"},
        {.key = "count", .title = "lines", .kind = ETP_KIND_INT},
        {.key = "dtype", .title = "types"},
        {.key = "xnn_op", .title = "operation"},
        {.key = "variant", .title = "variant", .flags = ETP_COL_MINOR},
        {.key = "ukernel_shape", .title = "shape", .flags = ETP_COL_MINOR},
        {.key = "arch_chain", .title = "architecture"},
        {.key = "has_sme", .title = "SME", .kind = ETP_KIND_INT, .flags = ETP_COL_MINOR},
        {.key = "has_sme2", .title = "SME2", .kind = ETP_KIND_INT, .flags = ETP_COL_MINOR},
        {.key = "isa", .title = "instruction set"}, // of what ran
        {.key = "share", .title = "share of samples"},
    };
    const size_t n_columns = sizeof k_columns / sizeof *k_columns - (all_sampled(logs) ? 0 : 2);
    etp_table *t = etp_report_table(r, "kernels", NULL, k_columns, n_columns);
    for (size_t i = 0; i < logs->n; i++) {
        for (size_t k = 0; k < logs->logs[i].kernels.n; k++) {
            const etp_logged_kernel *f = &logs->logs[i].kernels.items[k];
            const etp_kernel_name *name = &f->parts;
            // Either the name or the code may say it; SME2 includes SME.
            const bool sme2 = name->sme2 || f->code == ETP_CODE_SME2;
            const bool sme = name->sme || sme2 || f->code == ETP_CODE_SME;
            const etp_cell cells[] = {etp_cell_z(logs->logs[i].model_id),
                                      etp_cell_str(f->name),
                                      etp_cell_str(f->category),
                                      etp_cell_u64(f->count),
                                      etp_cell_str(name->dtype),
                                      etp_cell_str(name->op),
                                      etp_cell_str(name->variant),
                                      etp_cell_str(name->shape),
                                      etp_cell_str(name->arch),
                                      etp_cell_u64(sme),
                                      etp_cell_u64(sme2),
                                      etp_cell_z(etp_code_name(f->code)),
                                      etp_cell_str(f->share)};
            if (wanted(logs, f->name)) {
                etp_table_add_row(t, cells, n_columns);
            }
        }
    }
}

static int by_name(const void *pa, const void *pb)
{
    return etp_str_cmp(*(const etp_str *)pa, *(const etp_str *)pb);
}

// A table of what ran is called after it too: its name is what somebody wished for.
static const char *column_title(const etp_kernel_log *log, etp_arena *arena)
{
    if (!log->sampled || !log->title || strchr(log->title, '(')) {
        return log->title;
    }
    etp_code most = ETP_CODE_UNKNOWN;
    for (size_t i = 0; i < log->kernels.n; i++) {
        most = ETP_MAX(log->kernels.items[i].code, most);
    }
    return etp_arena_printf(arena, "%s (%s)", log->title, etp_code_title(most));
}

void etp_kernel_logs_view(const etp_kernel_logs *logs, etp_report *r, etp_arena *arena)
{
    const etp_column columns[] = {
        {.key = "kernel", .title = "Kernel Name", .flags = ETP_COL_CODE},
        {.key = "first", .title = column_title(&logs->logs[0], arena)},
        {.key = "second", .title = column_title(&logs->logs[1], arena)},
        {.key = "architecture", .title = "Architecture"},
        {.key = "delegation", .title = "Delegation"},
    };
    // The union of the names, in order: of the second log only what the first has not.
    size_t n = 0, most = 0;
    for (size_t i = 0; i < logs->n; i++) {
        most += logs->logs[i].kernels.n;
    }
    etp_str *names = ETP_NEW_ARRAY(arena, etp_str, most);
    for (size_t i = 0; names && i < logs->n; i++) {
        for (size_t k = 0; k < logs->logs[i].kernels.n; k++) {
            etp_str name = logs->logs[i].kernels.items[k].name;
            if (wanted(logs, name) && (i == 0 || !find(&logs->logs[0], name))) {
                names[n++] = name;
            }
        }
    }
    if (names && n) {
        qsort(names, n, sizeof *names, by_name);
    }
    etp_table *t = names ? etp_report_table(r, "view", NULL, columns, 5) : NULL;
    // Samples lie in every function that ran, of the runtime and its libraries too.
    size_t others = 0;
    for (size_t i = 0; i < n; i++) {
        const etp_logged_kernel *first = find(&logs->logs[0], names[i]);
        const etp_logged_kernel *second = find(&logs->logs[1], names[i]);
        bool is_xnn = etp_str_starts(names[i], ETP_STR("xnn_")) ||
                      etp_str_starts(names[i], ETP_STR("kai_")) ||
                      etp_kernel_in_xnnpack(identity(names[i]));
        if (!is_xnn && all_sampled(logs)) {
            others++;
            continue;
        }
        ETP_ROW(t, etp_cell_str(names[i]), etp_cell_z(first ? "✅ Present" : "❌ Absent"),
                etp_cell_z(second ? "✅ Present" : "❌ Absent"),
                etp_cell_z(architecture(ETP_OR(first, second))),
                etp_cell_z(is_xnn ? "XNNPACK Delegated" : "unknown"));
    }
    if (others > 0) {
        etp_report_text(r, "%zu functions outside XNNPACK ran too; the tables have them.", others);
    }
    if (n == 0) {
        etp_report_note(r, ETP_WARN, "no kernel has '%s' in its name", ETP_OR(logs->filter, ""));
    }
}

const etp_report *etp_kernel_logs_report(const etp_kernel_logs *logs, etp_arena *arena)
{
    const bool ran = all_sampled(logs);
    etp_report *r =
        etp_report_create(arena, ETP_OR(logs->title, "Kernel view (XNNPACK Delegated)"));
    etp_report_section(r, 1, logs->n == 2 ? "view" : "kernels",
                       ran ? "Which kernels ran" : "Which kernels are registered");
    if (logs->n == 2) {
        etp_kernel_logs_view(logs, r, arena);
    } else {
        kernels_table(logs, r);
    }
    etp_report_text(
        r, "%s",
        ran ? "Program counters were sampled while the model ran: present means that some were in "
              "the kernel, absent that none was; counts are samples."
            : "XNNPACK writes these lines when it fills its tables for this CPU, one for each "
              "tile: present means registered, not run, and counts are not calls. 'etprof ab "
              "--kernels always' shows what ran.");
    return r;
}
