// SPDX-License-Identifier: Apache-2.0
#include "document/layouts.h"

#include <stdio.h>

#define TEXT(name, doc) {name, doc, ETP_LAYOUT_TEXT, false}
#define MAYBE_TEXT(name, doc) {name, doc, ETP_LAYOUT_TEXT, true}
#define NUMBER(name, doc) {name, doc, ETP_LAYOUT_NUMBER, false}
#define MAYBE_NUMBER(name, doc) {name, doc, ETP_LAYOUT_NUMBER, true}
#define INTEGER(name, doc) {name, doc, ETP_LAYOUT_INTEGER, false}
#define MAYBE_INTEGER(name, doc) {name, doc, ETP_LAYOUT_INTEGER, true}

// Columns of several tables.
#define LEVEL MAYBE_TEXT("level", "CPU-feature level that ran; `unknown`: nothing tells it")
#define EXPERIMENT                               \
    MAYBE_TEXT("experiment", "whose row it is"), \
        MAYBE_INTEGER("threads", "of the experiment; empty: not known"), LEVEL
#define OPERATION                                                            \
    MAYBE_TEXT("category", "of operators and portable kernels, else empty"), \
        MAYBE_TEXT("five", "the kit's group of that category")
#define BACKEND                                                                                 \
    "`portable`, or the backend (`XnnpackBackend`); `delegated` where neither the program nor " \
    "operators' names tell it"
#define TYPE_AND_BACKEND \
    MAYBE_TEXT("type", "the name without ` #k`"), MAYBE_TEXT("delegate_backend", BACKEND)
#define ROW_KIND "`operator`, `portable`, `boundary`, `framework`, `unexplained`"

static const etp_layout_column k_samples[] = {
    TEXT("experiment", "as in `plan.arms[]` of the manifest"),
    INTEGER("block", "of the session, from 1"),
    INTEGER("launch", "of the session, from 0"),
    INTEGER("iteration", "of the launch, from 0"),
    TEXT("phase", "`warmup`, `timed`, `traced`, `sampled` or `control`"),
    INTEGER("start_ns", "on the device's clock"),
    INTEGER("duration_ns", "of `Method::execute` alone"),
    LEVEL,
};

static const etp_layout_column k_timeline[] = {
    TEXT("model_id", "the experiment's prefix"),
    MAYBE_TEXT("name", "the event; operators of XNNPACK with their ` #k`"),
    TYPE_AND_BACKEND,
    NUMBER("start_us", "the dump's start tick"),
    NUMBER("end_us", "that and the duration"),
    NUMBER("duration_ms", "with the parts"),
    MAYBE_NUMBER("pct_total", "in per cent of this execution's `Method::execute`"),
    INTEGER("node_id", "ordinal of the event in its dump"),
    INTEGER("run_index", "number of the execution; −1: none"),
    MAYBE_TEXT("block", "the event block's name"),
    MAYBE_INTEGER("duration_ns", "as `duration_ms`"),
    MAYBE_INTEGER("exclusive_ns", "without the parts"),
    MAYBE_TEXT("kind", ROW_KIND "; `outside` of any execution"),
    OPERATION,
    MAYBE_INTEGER("chain", "of the program, as in the dump"),
    MAYBE_INTEGER("instruction", "of the program, as in the dump"),
    MAYBE_INTEGER("parent", "`node_id` of the event that contains this one; −1 at the top"),
    MAYBE_INTEGER("event_block", "index in the dump"),
    MAYBE_INTEGER("session_block", "block of the session; 1 for bare dumps"),
    LEVEL,
};

static const etp_layout_column k_ops_stats[] = {
    TEXT("model_id", "the experiment's prefix"),
    MAYBE_TEXT("name", "as `type`"),
    TYPE_AND_BACKEND,
    INTEGER("count", "distinct events of the program"),
    NUMBER("total_ms", "sum over them of the mean per execution, with the parts"),
    NUMBER("avg_ms", "`total_ms` ÷ `count`"),
    MAYBE_NUMBER("pct_total", "`total_ms` in per cent of the mean `Method::execute`"),
    MAYBE_INTEGER("calls", "samples over all executions"),
    MAYBE_INTEGER("mean_ns", "per execution, with the parts"),
    MAYBE_INTEGER("exclusive_ns", "per execution, without the parts"),
    MAYBE_TEXT("kind", ROW_KIND),
    OPERATION,
    LEVEL,
};

static const etp_layout_column k_categories[] = {
    TEXT("category", "of operators"),
    NUMBER("total_ms", "over all executions"),
    NUMBER("avg_ms", "per inference"),
    MAYBE_NUMBER("pct_of_e2e", "in per cent of `Method::execute`"),
    INTEGER("operator_count", "operators of the category"),
    EXPERIMENT,
    MAYBE_TEXT("five", "the kit's group of that category"),
    MAYBE_INTEGER("mean_ns", "per inference"),
    MAYBE_TEXT("average", "of which executions the times are"),
};

static const etp_layout_column k_operators[] = {
    MAYBE_TEXT("operator", "as the dump names it"),
    TEXT("category", "of it"),
    NUMBER("total_ms", "over all executions"),
    NUMBER("avg_ms", "per inference"),
    MAYBE_NUMBER("pct_of_e2e", "in per cent of `Method::execute`"),
    INTEGER("event_count", "samples over all executions"),
    EXPERIMENT,
    MAYBE_TEXT("five", "the kit's group of that category"),
    MAYBE_INTEGER("mean_ns", "per inference"),
    MAYBE_INTEGER("chain", "of the program"),
    MAYBE_INTEGER("instruction", "of the program"),
    MAYBE_INTEGER("occurrence", "which of those with this name and instruction"),
    MAYBE_TEXT("kind", ROW_KIND),
    MAYBE_TEXT("delegate_backend", BACKEND),
};

static const etp_layout_column k_latency[] = {
    TEXT("model_name", "the experiment's prefix"),
    INTEGER("num_runs", "executions"),
    MAYBE_NUMBER("total_ms", "of `Method::execute`, all together"),
    MAYBE_NUMBER("avg_ms", "likewise, the mean"),
    MAYBE_NUMBER("min_ms", "likewise, the least"),
    MAYBE_NUMBER("max_ms", "likewise, the most"),
    EXPERIMENT,
    MAYBE_INTEGER("traced_mean_ns", "the mean; what follows adds up to it"),
    MAYBE_INTEGER("operators_ns", "operators"),
    MAYBE_INTEGER("boundary_ns", "into and out of delegates"),
    MAYBE_INTEGER("framework_ns", "ExecuTorch's own"),
    MAYBE_INTEGER("unexplained_ns", "inside delegates, of no operator"),
    MAYBE_INTEGER("untraced_median_ns", "of launches without a tracer"),
    MAYBE_INTEGER("untraced_lo_ns", "its interval's lower end"),
    MAYBE_INTEGER("untraced_hi_ns", "its interval's upper end"),
};

static const etp_layout_column k_comparison[] = {
    TEXT("category", "of operators; the other columns are named in from-the-kit.md"),
};

static const etp_layout_column k_kernels[] = {
    TEXT("model_id", "of the model"),
    TEXT("kernel_name", "the function's symbol; without one what it is and where, as in the views"),
    MAYBE_TEXT("category", "what kind of kernel"),
    INTEGER("count", "samples in it"),
    MAYBE_TEXT("dtype", "by its name"),
    MAYBE_TEXT("xnn_op", "by its name; of XNNPACK's code without a symbol that of the operator"),
    MAYBE_TEXT("variant", "by its name"),
    MAYBE_TEXT("ukernel_shape", "by its name"),
    MAYBE_TEXT("arch_chain", "by its name"),
    INTEGER("has_sme", "1: by its name or its instructions"),
    INTEGER("has_sme2", "1: likewise"),
    MAYBE_TEXT("isa", "instruction set of its code"),
    MAYBE_NUMBER("share", "of all samples"),
    MAYBE_TEXT("module", "the file that holds it"),
    MAYBE_TEXT("offset", "its address in that file"),
    MAYBE_TEXT("bytes", "its length"),
    MAYBE_TEXT("operator", "that it ran in most"),
};

static const etp_layout_column k_code_samples[] = {
    INTEGER("time_ns", "of CLOCK_MONOTONIC"),
    INTEGER("thread", "its number in the system"),
    MAYBE_TEXT("module", "the file that holds the address; empty: none"),
    MAYBE_TEXT("address", "the file's own, hexadecimal"),
    MAYBE_TEXT("symbol", "of the function"),
    MAYBE_TEXT("streaming", "state of SME's streaming mode, where the system told it"),
    MAYBE_INTEGER("iteration", "of the launch, warm-up too"),
    MAYBE_INTEGER("chain", "of the program"),
    MAYBE_INTEGER("instruction", "of the program"),
    MAYBE_TEXT("operator", "that ran then"),
    MAYBE_INTEGER("sure", "1: nothing else can have run then; else 0"),
};

static const etp_layout_column k_code[] = {
    TEXT("module", "the file that holds the function"),
    TEXT("machine", "of that file"),
    MAYBE_TEXT("build_id", "of that file"),
    TEXT("start", "first address, hexadecimal"),
    TEXT("end", "address behind the last"),
    TEXT("bounds", "what told them: `none`, `symbol`, `unwind`, `starts`, `flow`"),
    MAYBE_TEXT("symbol", "of the function"),
    MAYBE_TEXT("code", "its bytes, hexadecimal; empty: too many, or unreadable"),
};

static const etp_layout_column k_sources[] = {
    TEXT("method", "of the program"),
    MAYBE_INTEGER("instruction", "of the program; empty: known by its handle alone"),
    MAYBE_INTEGER("handle", "debug handle of the operator"),
    MAYBE_INTEGER("line", "of the file"),
    MAYBE_TEXT("file", "that the exporter was given"),
    MAYBE_TEXT("function", "that holds the line"),
    MAYBE_TEXT("module", "PyTorch module that holds the operator"),
    MAYBE_TEXT("op", "its name at export"),
};

#define COLUMNS(array) array, sizeof array / sizeof *array

static const etp_layout k_layouts[] = {
    [ETP_LAYOUT_SAMPLES] = {"samples.csv",           "One row per inference",                      COLUMNS(k_samples),  7,  true,
                            true                                                                                                        },
    [ETP_LAYOUT_TIMELINE] = {"_timeline.csv",         "Every event of every execution",             COLUMNS(k_timeline),
                            11,                                                                                             false, true },
    [ETP_LAYOUT_OPS_STATS] = {"_ops_stats.csv",        "Operators of one experiment by type",
                            COLUMNS(k_ops_stats),                                                                       8,  false, true },
    [ETP_LAYOUT_CATEGORIES] = {"_category_summary.csv", "Categories of every experiment",
                            COLUMNS(k_categories),                                                                      5,  true,  true },
    [ETP_LAYOUT_OPERATORS] = {"_operator_details.csv", "Operators of every experiment",
                            COLUMNS(k_operators),                                                                       6,  true,  true },
    [ETP_LAYOUT_OTHER_OPERATORS] = {"_other_top_ops.csv",    "The longest operators of no category",
                            COLUMNS(k_operators),                                                                       6,  true,  true },
    [ETP_LAYOUT_LATENCY] = {"_e2e_latency.csv",      "Latency of every experiment",                COLUMNS(k_latency),
                            6,                                                                                              false, true },
    [ETP_LAYOUT_COMPARISON] = {"_comparison.csv",       "Categories of all experiments side by side",
                            COLUMNS(k_comparison),                                                                      1,  true,  true },
    [ETP_LAYOUT_KERNELS] = {"_kernels.csv",          "Functions that were sampled",                COLUMNS(k_kernels),  11,
                            true,                                                                                                  true },
    [ETP_LAYOUT_CODE_SAMPLES] = {".samples",              "Where the processor was, sample by sample",
                            COLUMNS(k_code_samples),                                                                    0,  true,  false},
    [ETP_LAYOUT_CODE] = {".code",                 "The functions of those samples",             COLUMNS(k_code),     0,  true,
                            false                                                                                                       },
    [ETP_LAYOUT_SOURCES] = {".sources.csv",          "Source lines of a program",                  COLUMNS(k_sources),  8,
                            true,                                                                                                  false},
};

const etp_layout *etp_layout_of(etp_layout_id id)
{
    return &k_layouts[id];
}

const char *etp_layout_required(const etp_layout *layout, char *buffer, size_t size)
{
    size_t at = 0;
    for (size_t i = 0; i < layout->n_required && at < size; i++) {
        at += (size_t)snprintf(buffer + at, size - at, "%s%s", etp_if(i, ","),
                               layout->columns[i].name);
    }
    return buffer;
}

etp_status etp_layout_fail(etp_layout_id id, etp_error *err)
{
    char names[200];
    return etp_fail_at(err, ETP_CORRUPT, 0, "the header is not %s",
                       etp_layout_required(&k_layouts[id], names, sizeof names));
}

void etp_layout_header(etp_sink *sink, etp_layout_id id)
{
    const etp_layout *layout = &k_layouts[id];
    for (size_t i = 0; i < layout->n_columns; i++) {
        etp_sink_z(sink, layout->columns[i].name);
        etp_sink_char(sink, i + 1 < layout->n_columns ? ',' : '\n');
    }
}
