// SPDX-License-Identifier: Apache-2.0
// The one result of "how much faster, and why": what `ab`, `run`, `compare`, `analyze` and `report`
// show. Built once from a run folder or from bare dumps; json.c and report.c only present it.
//
// Everything lives in one arena. Times are integer nanoseconds, unknown is ETP_NS_UNKNOWN or NAN.
#ifndef ETP_COMPARE_AB_H
#define ETP_COMPARE_AB_H

#include "base/memory_rows.h"
#include "compare/counters.h"
#include "compare/finding_map.h"
#include "compare/why.h"
#include "explain/engage.h"
#include "explain/kernels.h"
#include "explain/ledger.h"
#include "explain/proof.h"
#include "explain/roof.h"
#include "isa/isa.h"
#include "os/os.h"
#include <etprof/stats.h>

typedef struct etp_ab_correctness {
    int ok; // 1 same, 0 differ, -1 not compared
    double max_abs, max_rel, cosine;
    double argmax;   // least share of rows whose largest element is the same, NAN without such rows
    bool not_finite; // an output has no finite element on either side; ok is 0 or -1 then
    bool constant; // no output of the reference varies, so that agreement proves nothing; likewise
    bool random;   // an arm's own launches differ, so that no two arms can be held together
} etp_ab_correctness;

typedef struct etp_ab_model {
    const char *path;                     // as recorded
    const char *sha256;                   // NULL unknown
    const char *stem;                     // file name without ".pte"
    const struct etp_run_model *recorded; // how it was exported; lives as long as the answer
} etp_ab_model;

// What an arm costs beside its steady inference: what a launch says once.
typedef enum etp_cost {
    ETP_COST_LOAD, // what is read lies in the page cache
    ETP_COST_COLD_LOAD,
    ETP_COST_FIRST,
    ETP_COST_PEAK,
    ETP_COST_DIRTY, // after the measured iterations: pages that only swap could free
    ETP_COST_CLEAN, // likewise: pages of files, which the system can drop and read again
    ETP_COSTS
} etp_cost;
typedef struct etp_cost_row {
    const char *title;
    bool bytes;           // else ns
    size_t of_launch;     // where a launch (etp_run_launch) has it
    etp_launch_kind kind; // of that launch
} etp_cost_row;
extern const etp_cost_row k_etp_costs[ETP_COSTS]; // extra_ratios.c; in the order of tables

#define ETP_AB_SPREAD 21

typedef struct etp_ab_arm {
    const char *name;     // of the experiment; for bare dumps what tells the file names apart
    const char *measured; // what a reader takes away: "VNNI", "int8 at VNNI, 2 threads"; the name
                          // where no level is known
    const char *level_called; // of MEASURED what its level is called
    const char *full_name;    // bare dumps: the whole file stem, else NULL
    const char *level_name;   // NULL unknown (bare dumps; tables that do not say it)
    etp_level level;
    uint32_t threads;       // 0 unknown
    uint32_t model;         // index, ETP_NO_INDEX unknown
    char build;             // 'A' or 'B' of two builds, 0 without any
    const char *executorch; // the release that it ran, where that of two builds differs, else NULL
    etp_packed_cache cache;
    const char *runner_sha256;
    bool foreign; // measured with a runner of others
    bool emulated;
    uint64_t launches;    // timed, kept
    uint64_t samples;     // timed iterations after the warm-up rule
    const double *spread; // [ETP_AB_SPREAD] quantiles of all timed iterations, evenly from the
                          // shortest to the longest; NULL unknown
    double lo_ns, hi_ns;  // 95 % interval of the median over the blocks, NAN unknown
    double waited, interrupted; // shares of its time without a CPU, of its iterations that were
                                // interrupted; NAN unknown
    int64_t median_ns; // exp(mean over complete blocks of the launch value); bare dumps: unknown
    int64_t traced_ns; // mean Method::execute of the traced executions kept (explain/profile.h)
    int64_t traced_mean_ns;            // and of all of them: the ETDumps' latency
    double traced_median_ns;           // and their median, NAN unknown
    uint64_t traced_runs, traced_kept; // executions: all, and those behind traced_ns
    int64_t call_overhead_ns; // a traced iteration less its Method::execute, ETP_NS_UNKNOWN
    struct {                  // where traced_ns went: means per inference that add up to it exactly
        int64_t delegated_ns, portable_ns; // operators of delegates, kernels outside
        int64_t boundary_ns, framework_ns, unexplained_ns;
        int64_t movement_ns;      // of both: Data movement and Quantize/convert
        int64_t delegated_cut_ns; // most that the clocks can have cut off delegated_ns
        // Operators, kernels, calls of delegates, operators that move data.
        uint32_t delegated, portable, calls, movement;
    } time_breakdown;
    int64_t costs[ETP_COSTS]; // medians over the launches
    uint64_t cached_bytes;    // of its files, that a launch could not drop from the page cache
    // 95 % intervals of these medians, whatever the distribution; NAN below six launches.
    double costs_lo[ETP_COSTS], costs_hi[ETP_COSTS];
    // Of the launch that was made for it, else of that with the median of their sum; code 0: not
    // known.
    etp_memory_rows memory;
    etp_memory_stages memory_at; // of the first of these
    struct {                     // of one recorded launch; n 0: not known
        // In the order in which they happen; those of delegates come before the rest of their
        // method.
        const struct etp_run_part *parts;
        const etp_partition **partition; // [n] whose NODE packs; NULL: of no node, or not known
        uint32_t *node;
        size_t n;
        uint64_t delegates, workspaces; // of XNNPACK; that they compute in, 0 not known
        int64_t whole_ns, packing_ns;   // their sum, and that of packing
        uint64_t packed_bytes;
    } load;
    int64_t disk_bytes; // its program and the weights beside it
    struct {
        double calls, call_ns, share; // NAN unknown
    } masking_cost;                   // what hiding features added to an inference: medians
    etp_proof proof;
    const etp_kernels *kernels; // sampled program counters, NULL without
    const etp_profile *profile; // NULL when the arm has no usable dump
    size_t n_dumps;
    bool tensors_logged;         // in recordings: their times are not the program's
    bool several_lengths;        // in recordings: what is shown is less than three quarters of them
    etp_paired cold;             // first inference of a process ÷ steady
    etp_paired tracing_overhead; // traced ÷ untraced
    struct {                     // of the launch values over the session
        bool known;
        double per_block, p; // Theil–Sen, relative; Mann–Kendall
        // Rank correlation over the blocks, NAN: not read or unchanged.
        double with_temperature, with_clock;
    } drift;
    etp_ab_correctness expected; // against the outputs that the inputs came with
    bool outputs_differ; // beyond tolerance: from the arm of its program that is shown first, or
                         // from `expected`
} etp_ab_arm;

// Why the figures of a comparison are not given. The order is that of the reasons: the first that
// holds is told.
typedef enum etp_withheld {
    ETP_WITHHELD_NOT, // they are given
    ETP_WITHHELD_OUTPUTS_DIFFER,
    ETP_WITHHELD_PROOF_FAILED,
    ETP_WITHHELD_EMULATED,
    ETP_WITHHELD_TENSORS,   // recordings that also logged tensors
    ETP_WITHHELD_LENGTHS,   // recordings of several methods or input lengths, none of them most
    ETP_WITHHELD_CROWDED,   // more threads than CPUs allowed
    ETP_WITHHELD_CONTENDED, // other programs had the CPU
    ETP_WITHHELD_NOISE_FLOOR,
    ETP_WITHHELD_COUNT
} etp_withheld;
const char *etp_withheld_name(etp_withheld w);      // "outputs_differ"; NULL: they are given
const char *etp_ab_withheld_text(etp_withheld why); // for people; a literal

typedef enum etp_ab_method {
    ETP_PAIRED_BLOCKS,
    ETP_UNPAIRED_LAUNCHES,
    ETP_TRACED_MEANS // of recordings: executions around the median
} etp_ab_method;
const char *etp_ab_method_name(etp_ab_method m); // "paired-blocks"

#define ETP_SUSTAINED_S 60.0        // either end of a session
#define ETP_SUSTAINED_LEAST_S 180.0 // of a session that has two ends

struct etp_ab_comparison;
// Why C is unknown although its interval decides: equal launches differ as much. NULL: that is not
// the reason.
const char *etp_ab_noise_words(const struct etp_ab_comparison *c, etp_arena *arena);
// What the noise of a session withholds.
etp_withheld etp_ab_noise_reason(etp_contention contention, bool control_differs);

typedef struct etp_ab_comparison {
    uint32_t baseline, candidate; // arms
    double estimate, lo, hi;      // NAN when withheld or unknown
    uint32_t blocks;
    double widening; // of the interval: looked at during the session, or neighbours; 1: none
    etp_ab_method method;
    size_t launches[2];                  // unpaired: of the baseline and the candidate
    double mann_whitney_p, cliffs_delta; // unpaired, else NAN
    double sign_flip_p;                  // NAN unknown
    etp_verdict verdict;
    double margin;
    double noise_floor; // half-width of the A/A control's interval of ln, NAN unknown
    etp_interval
        control; // of the ratio of two equal arms; of two sessions, the one that reaches farther
    uint32_t control_blocks;
    etp_paired by_cpu; // the same by the time that the threads ran; blocks 0: not known
    etp_contention contention;
    etp_withheld withheld;
    etp_paired costs[ETP_COSTS]; // beside the headline
    struct {                     // what the device keeps up over a long session
        double seconds; // from the first block's begin to the last one's; 0: below LEAST_S, or
                        // unknown
        // Of the blocks that began in the first minute, and in the last.
        size_t blocks[2];
        etp_interval ratio[2];   // 95 %; NAN below ETP_MIN_BLOCKS blocks
        double temperature_c[2]; // mean of the hottest zone; NAN not read
        double clock_khz[2];     // mean of the fastest clock; NAN not read
        bool changed;            // the two intervals do not meet
        bool turned;             // who was faster is slower
    } sustained;
    struct {               // where the bottleneck was and is
        int before, after; // etp_category, or ETP_AB_OUTSIDE; each the largest part of its own arm
        double before_share, after_share; // each of its own arm
        double before_is, after_was;      // shares of the same two in the other arm
        bool moved; // false with two names: they are as good as equal in one of the arms
        double portable_before, portable_after; // share of kernels outside delegates
    } shift;
} etp_ab_comparison;

// "1.52× [1.49, 1.55] in the first minute, 1.31× [1.27, 1.35] in the last of 10.0 min (61 → 78 °C,
// clock 3.4 → 2.7 GHz)"; NULL where nothing is told of C's ends.
const char *etp_ab_sustained_words(const etp_ab_comparison *c, etp_arena *arena);

typedef struct etp_ab_category {
    etp_category category;
    int64_t *ns;            // [n_arms], ETP_NS_UNKNOWN without a profile
    int64_t *truncation_ns; // [n_arms] most that the clocks can have cut off it: by operators, and
                            // by the delegate calls around them

    double *share;   // [n_arms] of traced_ns
    double *most;    // [n_arms] with what may be of the category too, as nothing tells its own
    double *speedup; // [n_comparisons], NAN also below what the clocks resolve
    double *lo, *hi; // [n_comparisons] 95 % interval over the blocks, moved by what the clocks can
                     // have cut off; NAN
    double *ceiling; // [n_arms] speedup of the whole if this took no time (Amdahl), NAN
} etp_ab_category;

// Why an operator with a large part of an inference is worth a look: what is looked at first comes
// first.
typedef enum etp_bottleneck_kind {
    ETP_BOTTLENECK_PORTABLE, // outside delegates
    ETP_BOTTLENECK_MOVEMENT, // moves or converts data
    ETP_BOTTLENECK_LITTLE,   // gained less than the inference as a whole
    ETP_BOTTLENECK_LARGE,
    ETP_BOTTLENECK_KINDS
} etp_bottleneck_kind;

const char *etp_bottleneck_kind_name(etp_bottleneck_kind kind); // "portable"

typedef struct etp_ab_operator {
    const char *id;
    const char *label;
    etp_category category;
    bool delegated;
    int32_t chain, instruction;
    etp_str *names;  // [n_arms], empty = the arm has no such operator
    int64_t *ns;     // [n_arms], ETP_NS_UNKNOWN likewise
    double *speedup; // [n_comparisons]; NAN also below what the clocks resolve in either
    const etp_profile_row **rows; // [n_arms] the row that names it, NULL where absent
    etp_profile_rows *merged;     // [n_arms] more rows that belong to the group
    struct {                      // operators whose results it takes in the arm that runs now, each
        uint32_t *items;          // once; none: it takes inputs alone, or no program says it
        size_t n, cap;
    } makers;
    etp_engage engaged;          // of the candidate of the first comparison, or the only arm
    const etp_roof_place *roofs; // [n_arms] below the roofs of the device; NULL without roofs
    etp_why why;
    struct { // of those that are listed as bottlenecks
        etp_bottleneck_kind kind;
        double share; // of the arm's Method::execute
    } bottleneck;
    double confidence;
    bool by_nodes;              // aligned through the program
    const etp_row_facts *facts; // what the program says, NULL unknown
    uint64_t macs;              // ETP_AB_NO_MACS unknown
    const char *source_file;    // NULL unknown
    uint32_t source_line;
    const char *module;
} etp_ab_operator;

// XNNPACK cuts every operator down to whole microseconds. A time below this many times what its
// clock can have cut off says more of the clock than of code: no ratio is made of it, on either
// side.
#define ETP_AB_CLOCKS 5
#define ETP_AB_READING_NS 40 // what two readings of a clock of nanoseconds take

typedef struct etp_ab_clocked_time { // a time, and what its clock can have cut off
    int64_t ns, truncation_ns;
} etp_ab_clocked_time;

#define ETP_BOTTLENECK_SHARE \
    0.05 // of an inference: operators above it are bottlenecks, and kernels outside delegates
#define ETP_BOTTLENECK_MOVEMENT_SHARE 0.1 // operators that move data, together

#define ETP_AB_SHARE_KNOWN 0.05 // bounds of a share that are nearer than this make it known

typedef struct etp_ab_engagement { // of the candidate of the first comparison, or the only arm
    etp_feature feature;
    const char *feature_name; // "SME2", NULL when nothing is compared
    uint32_t arm;
    uint32_t eligible, engaged, off, unknown; // operators
    uint32_t row_kernels; // of the engaged: one row, which keeps the matrix unit mostly idle
    // On the feature at least and at most; NAN unknown. What lies between is not known: operators
    // without enough samples. The share is set, their middle, when it is known.
    double macs_lo, macs_hi, time_lo, time_hi;
    double macs_share, time_share;
    double macs_known, time_known;        // of all eligible operators' MACs and time
    etp_reason reasons[ETP_REASON_COUNT]; // of those that stayed off, longest first
    size_t n_reasons;
    struct {
        uint32_t operators;
        int64_t ns;              // in the candidate
    } off_for[ETP_REASON_COUNT]; // by reason
    uint32_t sampled;            // launches that sampled the arm
    etp_samples_end sampling;    // why there were no more, or none
} etp_ab_engagement;

// What could be done next. The test answer_fixes has a recording for each of them.
#define ETP_FIX_MAP(X)                \
    X(BATCH_NORM, "batch_norm")       \
    X(RESHAPE_CHAIN, "reshape_chain") \
    X(BORDER_LAYOUT, "border_layout") \
    X(BROADCAST, "broadcast_copies")  \
    X(ISLANDS, "islands")             \
    X(COPIES, "copies")               \
    X(CONVERTS, "converts")           \
    X(DELEGATE, "delegate")           \
    X(PARTITIONS, "partitions")       \
    X(ODD_SIZES, "odd_sizes")         \
    X(PRECISION, "precision")         \
    X(THREADS, "threads")             \
    X(ROOF_GAP, "roof_gap")           \
    X(SLOWER, "slower")

typedef enum etp_fix_kind {
#define ETP_FIX_ENUM(name, id) ETP_FIX_##name,
    ETP_FIX_MAP(ETP_FIX_ENUM)
#undef ETP_FIX_ENUM
        ETP_FIX_COUNT
} etp_fix_kind;

const char *etp_fix_id(etp_fix_kind kind); // "batch_norm"

typedef struct etp_ab_fix {
    const char *id; // "N1"
    etp_fix_kind kind;
    // What is wrong: COUNT of SUBJECT, "layer norms outside the delegate", and their time in the
    // arm, as its tables add up; SPLITS: they part one delegate's operators.
    size_t count;
    const char *subject;
    int64_t time_ns;
    bool splits;
    // What to do: what to type, up to the run folder where it takes one, and what follows that;
    // BEHIND_DIR NULL: it takes none, COMMAND NULL: there is no command.
    const char *command, *behind_dir;
    const char *typed;  // etp_ab_fix_command, DIR for the folder
    const char *advice; // by hand, or what to know of the command; NULL: nothing
    // Both as sentences, for forms that say all of it: nobody reads these back.
    const char *text, *recipe;
    int64_t lo_ns, expected_ns, hi_ns; // gain per inference of the arm; expected may be unknown
    double share;                      // expected gain ÷ inference, NAN
    int64_t estimate_ns; // what its formula gives before measured cases correct it; may be unknown
    int64_t concerns_ns; // time of what it is about
    bool by_command;     // of the exporter; else by hand
    int64_t places;      // where the exporter said that its recipe applies; -1: it was not asked
    size_t cases; // models that the change was measured on, whose gains set expected gain, floor
                  // and ceiling; 0 none
    const char *formula;
    const char **evidence; // ids of operators or ledger rows
    size_t n_evidence;
} etp_ab_fix;

// What to type, in the run folder DIR; NULL: nothing. In names.c.
const char *etp_ab_fix_command(const etp_ab_fix *f, const char *dir, etp_arena *arena);

// What changing how a program is loaded saves, as measured; below 0 it costs. None of it is time of
// an inference of the steady state: etp_ab_fix has that.
typedef struct etp_ab_load_fix {
    const char *id;            // "L1"
    const char *kind;          // "packed_cache"
    const char *arm, *with;    // names of the arm without and with it
    const char *text, *recipe; // sentences
    etp_interval load_ns, first_ns, dirty_bytes;
    const char *formula;
    const char *evidence[2]; // "arm:…" of both
} etp_ab_load_fix;

#define ETP_AB_NO_MACS UINT64_MAX

typedef enum etp_finding_kind {
#define ETP_FINDING_ENUM(name, id, formula) ETP_FINDING_##name,
    ETP_FINDING_MAP(ETP_FINDING_ENUM, ETP_FINDING_ENUM)
#undef ETP_FINDING_ENUM
        ETP_FINDING_COUNT
} etp_finding_kind;

const char *etp_finding_id(etp_finding_kind kind); // "slower"

// How much a sentence matters to a reader.
typedef enum etp_finding_severity {
    ETP_SEVERITY_INFO,
    ETP_SEVERITY_GOOD,
    ETP_SEVERITY_WARN,
    ETP_SEVERITY_BAD
} etp_finding_severity;
const char *etp_severity_name(etp_finding_severity s); // "info", "good", "warn", "bad"

typedef struct etp_ab_finding {
    const char *id; // "F1"
    etp_finding_kind kind;
    etp_finding_severity severity;
    const char *text;
    const char *const *evidence; // ids of ledger rows, operators, "comparison:0", "arm:neon"
    size_t n_evidence;
    const char *formula; // how the figures came about, NULL: the text says it all
} etp_ab_finding;

typedef struct etp_ab_findings {
    etp_ab_finding *items;
    size_t n, cap;
    etp_arena *arena; // of the texts
} etp_ab_findings;

typedef struct etp_texts { // ids of operators, sentences
    const char **items;
    size_t n, cap;
} etp_texts;

// What else could have made the difference, and whether it did.
#define ETP_CAUSE_MAP(X)        \
    X(THERMAL, "thermal")       \
    X(DRIFT, "drift")           \
    X(CONTENTION, "contention") \
    X(TRACER, "tracer")         \
    X(THREADS, "threads")       \
    X(BUILDS, "builds")         \
    X(OUTPUTS, "outputs")

typedef enum etp_cause {
#define ETP_CAUSE_ENUM(name, id) ETP_CAUSE_##name,
    ETP_CAUSE_MAP(ETP_CAUSE_ENUM)
#undef ETP_CAUSE_ENUM
        ETP_CAUSE_COUNT
} etp_cause;

typedef enum etp_cause_state {
    ETP_CAUSE_UNKNOWN,   // the data cannot tell; the text says why
    ETP_CAUSE_RULED_OUT, // the data could have shown it and did not
    ETP_CAUSE_SUSPECT,   // the data shows it
    ETP_CAUSE_STATES
} etp_cause_state;

const char *etp_cause_id(etp_cause cause);               // "thermal"
const char *etp_cause_state_name(etp_cause_state state); // "unknown", "ruled_out", "suspect"

typedef struct etp_ab_cause {
    etp_cause cause;
    etp_cause_state state;
    const char *text;    // "tracer (at most +0.4 %, and not in the headline)"
    const char *formula; // the rule that decided
    const char *evidence;
} etp_ab_cause;

// A part of an inference in a report's words. PART: etp_category or ETP_AB_OUTSIDE.
const char *etp_ab_engaged_word(etp_engagement e); // NULL: unknown
const char *etp_ab_part_name(int part);
#define ETP_AB_OUTSIDE \
    ETP_CATEGORY_COUNT // no operator's time: delegate calls less their operators, framework

typedef struct etp_ab_conditions { // of a block; NAN unknown
    uint32_t block;
    double load1, cpus_busy, cpus_stolen, temperature_c, clock_khz, memory_free_bytes, slept_ns;
    double waited_share, migrations, interrupted, minor_faults, major_faults; // of its launches
    etp_str governor, power;                                                  // empty unknown
    int boost;                                                                // -1 unknown
} etp_ab_conditions;

typedef struct etp_ab {
    etp_arena *arena;
    const char *subject; // what all arms have in common: "toy_cnn_xnnpack_fp16 on AMD EPYC, 1
                         // thread"; NULL bare dumps
    const char *where;   // of it behind the models: "on AMD EPYC, 1 thread"; "" nothing
    const char
        *misnamed; // names of experiments that say what did not run, as a sentence; NULL: none
    const char *unrelated;     // arms are of different models, as a sentence; NULL: not so
    const bool *logged_unlike; // [n_comparisons] one side logged what the other did not
    const char *title;         // model stem
    const char *dir;           // folder it was read from; not part of documents
    const char *both_of;       // of two operands, the session that both are arms of; NULL
    const char *phase;         // "decode @256", that this is the answer of; NULL: the method alone
    bool later_phase;          // one that is not its session's first
    const struct etp_run_phase *phased; // what was recorded of it; in the answer of the first those
                                        // of the others stand behind it
    const struct etp_ab *const *phases; // of the session, itself first, each as if it had been
    size_t n_phases;                    // measured alone; in the answer of the first only
    bool bare;                          // from dumps alone
    const struct etp_run_model *program; // of those: how --pte was exported; NULL
    bool emulated;
    etp_run_state state;           // ETP_RUN_NO_SESSION for bare dumps
    etp_run_stop stopped;          // what ended the session
    double precision;              // asked for, relative; 0: none
    uint32_t blocks_before_extend; // blocks when --resume went on after the end; 0: never
    bool neighbours;               // of a virtual machine: intervals are widened for them
    uint32_t controls;             // blocks with launches of the A/A control, as planned
    const etp_detail *device;
    size_t n_device;
    struct {
        const etp_ab_conditions *blocks; // in order
        size_t n_blocks;
        uint64_t pad[2]; // least and most bytes by which launches' environments were made larger
        const etp_str *unreadable; // what of it this device does not tell
        size_t n_unreadable;
    } environment;
    const char *platform;
    const char *measured_at;                         // "2026-03-01 14:52", UTC; NULL unknown
    const char *executorch_version, *executorch_sha; // NULL unknown
    const char *bundles_sha256; // of the runners with their libraries, likewise
    const char *command;        // that repeats the measurement, NULL
    const char *config;         // that asked for it, NULL
    const char *tool_version;   // that measured
    const etp_ab_model *models;
    size_t n_models;
    const etp_ab_arm *arms;
    size_t n_arms;
    uint32_t baseline;
    const uint32_t *shown;                // arm indices in the order of reports: the baseline first
    const etp_ab_comparison *comparisons; // each other arm against the baseline
    const etp_ledger *ledgers;            // parallel, n = 0 rows when an arm has no dump
    size_t n_comparisons;
    // Of several models or thread counts: each arm against the one of the baseline's level and
    // build within them, where `comparisons` has no such pair.
    const etp_ab_comparison *within;
    size_t n_within;
    etp_counters counters;             // arms and splits as arms and comparisons; zeroed: not known
    const etp_ab_category *categories; // in table order, only those that occur
    size_t n_categories;
    const etp_ab_operator *operators; // program order
    const uint32_t *by_time;          // their indices, slowest in the baseline first
    size_t n_operators;
    uint32_t bottleneck_arm; // as etp_ab_subject
    struct {
        uint32_t *items; // of operators, by kind, then longest first
        size_t n, cap;
    } bottlenecks;
    const struct etp_run_lost *lost; // launches that gave nothing, of the arms by their indices
    const char *const *lost_texts;   // parallel: why, for people
    size_t n_lost;
    bool block_lost; // a block was lost
    etp_ab_correctness correctness;
    etp_ab_engagement engagement;
    const char *program_problem; // why operators are not joined to a program, NULL when they are
    // Launch values per block for the raw plot: [block * n_arms + arm] nanoseconds, NAN missing.
    const double *block_values;
    uint32_t n_blocks;
    const struct etp_roof_table *roofs; // of the device, NULL: not measured or not to be had
    bool roofs_low; // of some arm much is faster than they allow: nothing is concluded from them
    const char *selftest; // the runner's own proof that masking works, NULL
    // Of the rooms that read all of the above.
    struct {
        etp_ab_fix *items; // largest expected gain first, then by ceiling, then what is likely not
                           // worth it
        size_t n, cap;
    } fixes;
    struct {
        etp_ab_load_fix *items; // in the order of the comparisons
        size_t n, cap;
    } load_fixes;
    struct {
        const char *grade; // "A" … "D"
        const char *grade_reason;
        // What the arms have in common: "session" → "same", "different", …
        etp_detail grade_facts[7];
        size_t n_grade_facts;
        etp_ab_findings findings;
        etp_ab_cause causes[ETP_CAUSE_COUNT]; // in the order above
        size_t n_causes;                      // 0 when nothing is compared
    } judged;
} etp_ab;

const char *etp_ab_fact_of(const etp_ab *ab, const char *key); // of the device; NULL: not told
// "8 threads on 2 CPUs": an arm has more threads than CPUs are allowed; NULL: not so, or not known.
const char *etp_ab_crowded(const etp_ab *ab);
uint32_t etp_ab_whole_cpus(const etp_ab *ab); // allowed to a run, whole ones; 0 unknown or none
// Tokens a second of an arm, NAN where nothing is told.
double etp_ab_token_rate(const etp_ab *ab, uint32_t arm);

// What recording adds to an inference, of the arm that it changes most: 0.5 for half as long again.
// NAN: of no arm it is known.
double etp_ab_recording_adds(const etp_ab *ab);
#define ETP_RECORDING_MUCH 0.10 // it bends the breakdown
// O: an arm's observer. Has it launches with and without it, within a factor of two of each other,
// and more than MUCH only where the interval excludes that it adds nothing?
bool etp_ab_recording_known(const etp_paired *o);
// A recording that takes longer than the inference has no parts of the inference to show; nor has
// one of an arm whose recordings other programs cut to an unknown length.
bool etp_ab_recording_hides(const etp_ab *ab);
// From here on most of what was recorded is recording.
#define ETP_RECORDING_MOST 1.0

// Whether a time of NS says something of code beside a clock that can have cut off CUT_NS.
bool etp_ab_resolved(int64_t ns, int64_t truncation_ns);
// Whether figures that hold arms of COMPARISON against each other are given: ratios, differences,
// intervals, what got slower. Times of single arms always are.
bool etp_ab_told(const etp_ab *ab, size_t comparison);
// A comparison is of two programs, whose outputs nobody compares: where outputs agree they do so
// within each program.
bool etp_ab_programs_apart(const etp_ab *ab);
// Of `comparisons`, then of `within`.
const etp_ab_comparison *etp_ab_comparison_at(const etp_ab *ab, size_t i);
// The comparison that has ARM as its candidate: of each arm one at most. NULL: a baseline.
const etp_ab_comparison *etp_ab_comparison_of(const etp_ab *ab, uint32_t arm);
// Two arms or more hide one CPU feature each, and the baseline none.
bool etp_ab_tells_features(const etp_ab *ab);
// The arm that fixes, bottlenecks and the engaged feature are of: the first candidate. Where each
// candidate lacks a feature it is the baseline, which is what people run.
uint32_t etp_ab_subject(const etp_ab *ab);
// BEFORE ÷ AFTER of one comparison; NAN when its figures are withheld, or when a clock does not
// resolve either.
double etp_ab_part_ratio(const etp_ab *ab, size_t comparison, const etp_ab_clocked_time *before,
                         const etp_ab_clocked_time *after);
// Whether less of P is known than its clock can have cut off: nothing rests on such a time.
bool etp_ab_time_below_clock(const etp_ab_clocked_time *p);
// Whether clocks leave what was saved from BEFORE to AFTER unknown within a factor of two.
bool etp_ab_change_below_clock(const etp_ab_clocked_time *before, const etp_ab_clocked_time *after);
// SPEEDUP of OP in a comparison, by the rules of a category's: with what clocks resolve, and where
// the interval over the blocks is within a factor of two and holds it. LOGS: scratch, per block.
double etp_ab_operator_speedup(const etp_ab *ab, size_t comparison, const etp_ab_operator *op,
                               double *logs);
// The same of all operators that are IN [n_operators], whose sums are BEFORE and AFTER.
double etp_ab_sum_speedup(const etp_ab *ab, size_t comparison, const bool *in,
                          const etp_ab_clocked_time *before, const etp_ab_clocked_time *after,
                          etp_arena *scratch);
// True where SPEEDUP is not given although both times are known and the comparison's figures are
// not withheld.
bool etp_ab_below_clock(const etp_ab *ab, size_t comparison, double speedup,
                        const etp_ab_clocked_time *before, const etp_ab_clocked_time *after);
// That of a category in comparison AT; CHANGE: what it gained is not known either (within a
// factor of two), and lies in the boundary as much as in the category.
bool etp_ab_category_below_clock(const etp_ab *ab, const etp_ab_category *c, size_t at,
                                 bool change);
// Time of the arm's inference without recording ÷ with it, which brings what was recorded to the
// scale of headlines; 1 where no time without recording is known.
double etp_ab_untraced(const etp_ab_arm *a);
// An operator's time in an arm, and what its clocks can have cut off.
etp_ab_clocked_time etp_ab_operator_time(const etp_ab *ab, const etp_ab_operator *op, uint32_t arm);
// All it took in one recording of an arm (SIZE_MAX: in all): the sum over its executions, and over
// its rows: an arm may have needed several (a merged clamp on the other side).
int64_t etp_ab_recorded_ns(const etp_ab_operator *op, uint32_t arm, size_t dump);
bool etp_ab_logs_partly(const etp_profile *p); // in some of its executions alone
// Whether OP, of ARM, can take the time that it took in the baseline: only where both logged it, in
// each execution. What one of them lacks is in something else there.
bool etp_ab_goes_back(const etp_ab *ab, const etp_ab_operator *op, uint32_t arm);
// What clocks can have counted too much of what calls did not log, in an inference: too little of
// the operators beside it, or too much of the call.
int64_t etp_ab_rests_over(const etp_profile *p);
// SHARE with what may be of the category too: not logged, withheld, of unknown names of a delegate.
double etp_ab_category_most(const etp_ab *ab, uint32_t arm, etp_category category, double share);
void etp_ab_part_add(etp_ab_clocked_time *sum, const etp_ab_clocked_time *part);

// What share of the time of the operators that are asked about is known, or would be with TIMES as
// many samples at best; TIMES 0: now. NAN: nothing is asked.
double etp_ab_engage_reach(const etp_ab *ab, double times);

bool etp_ab_computes_int8(const etp_op_name *op); // by the types in its name; roofs.c

// ---- settling what is unknown ----

// Blocks to measure beyond BLOCKS so that an interval of their spread leaves LIMIT out: at least 2,
// at most 100, and those that lack to where verdicts begin.
uint32_t etp_ab_blocks_to_tell(double estimate, double lo, double hi, uint32_t blocks,
                               double limit);
bool etp_ab_is_unfinished(const etp_ab *ab); // of a session that runs, or was interrupted
// "etprof ab --resume DIR --blocks 8" (without --blocks while the session is unfinished); NULL when
// more of this session cannot be measured.
const char *etp_ab_extend_command(const etp_ab *ab, uint32_t more, etp_arena *arena);
// The command that would settle an unknown verdict; NULL when C has a verdict, or when something
// else than blocks withholds it.
const char *etp_ab_settle_command(const etp_ab *ab, const etp_ab_comparison *c, etp_arena *arena);
// What is measured anew where other programs or noise are in the way: the session on a quieter
// machine, or with threads that have CPUs; NULL when it cannot be.
const char *etp_ab_again_command(const etp_ab *ab, etp_arena *arena);
// Where the A/A control of C reaches too far: blocks while more of them have control launches,
// which those after the plan's have not; else as etp_ab_again_command.
const char *etp_ab_quieter_command(const etp_ab *ab, const etp_ab_comparison *c, etp_arena *arena);

// The method of its program that the operators of ARM were joined to; NULL: none. In makers.c.
const etp_method *etp_ab_joined_method(const etp_ab_arm *arm);
// loading.c: the operator of ARM that did the work of NODE, one of those with VALUES; NULL: not
// known.
const etp_ab_operator *etp_ab_owner(const etp_ab *ab, uint32_t arm, const etp_value *values,
                                    uint32_t node);
// The operator that answers call ID ("op12"); NULL: none.
const etp_ab_operator *etp_ab_operator_of(const etp_ab *ab, const char *id);
bool etp_ab_same_group(const etp_ab_arm *a, const etp_ab_arm *b);    // one model and thread count
bool etp_ab_is_within(const etp_ab *ab, const etp_ab_comparison *c); // its arms are of one group

// What tells a model from the others of the session; NULL on out of memory.
const char *etp_ab_model_word(const etp_ab *ab, size_t model, etp_arena *arena);
// What the level of an arm is called: after a feature only where it ran.
const char *etp_ab_level_called(const etp_ab *ab, const etp_ab_arm *a, etp_arena *arena);
// Several models at one level of x86-64: it is not what is compared.
bool etp_ab_models_at_one_level(const etp_ab *ab);
// What its build is called: by the release where that of two builds differs, else by its letter.
const char *etp_ab_build_called(const etp_ab_arm *a, etp_arena *arena);
const char *etp_ab_cache_called(const etp_ab_arm *a, etp_arena *arena); // of packed weights
// Of level vnni, "AVX-512": what samples show where the baseline's level lacks it and they show no
// VNNI, as of an fp32 model; likewise of fp16 and amx. NULL: nothing, or the level's own code.
const char *etp_ab_ran_instead(const etp_ab *ab, const etp_ab_arm *a);

#define ETP_AB_NOT_COMPARED ((etp_ab_correctness){-1, NAN, NAN, NAN, NAN, false, false, false})
// Why outputs that were held together say nothing, for people; NULL: they do, or none were.
const char *etp_ab_outputs_mute(const etp_ab_correctness *c);

// What is wrong with the recordings themselves, in the order of the findings.
void etp_ab_add_doubts(const etp_ab *ab, etp_arena *arena, etp_texts *to);

#endif
