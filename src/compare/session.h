// SPDX-License-Identifier: Apache-2.0
// Private to the files that build an etp_ab.
#ifndef ETP_COMPARE_SESSION_H
#define ETP_COMPARE_SESSION_H

#include "compare/opened.h"
#include "measure/outputs.h"

typedef struct etp_ab_dump { // opened, a timeline gives one for each of its blocks
    const char *path;        // of the recording; NULL on out of memory
    uint32_t arm;
    uint32_t block;  // from 1; order within the arm for bare dumps
    bool of_session; // ours: one method with one input, so executions that differ were disturbed
    // Of an open one.
    const char *level; // that a timeline names; NULL: none
    etp_file file;
    etp_trace *trace;
} etp_ab_dump;

typedef struct etp_ab_program { // of one model
    etp_file file;
    const etp_program *program; // NULL: not there or unreadable
    etp_etrecord record;
    bool has_record;
    double record_share; // of the points in which the record agrees; with has_record
} etp_ab_program;

typedef struct etp_ab_side { // one of two operands
    const char *operand;     // as given
    const char *dir;         // of a run folder, else NULL
    const char *wanted;      // name of an arm, NULL: the only one
    etp_run run;
    uint32_t arm; // of the run
} etp_ab_side;

// What is compared lies here; what was opened stands here after a failure too.
typedef struct etp_ab_inputs {
    struct {
        etp_ab_dump *items;
        size_t n, cap;
    } recordings, dumps; // as they are told, none of them open; those that could be opened
    struct {
        etp_ab_program *items;
        size_t n;
    } programs; // of the run's models; one for bare dumps with --pte
} etp_ab_inputs;

struct etp_ab_session {
    etp_arena arena;
    etp_ab_options options; // what they point to is there while the session is opened
    etp_run run;
    bool has_run;
    etp_ab_side sides[2];
    etp_stats stats;
    bool has_stats;
    etp_ab_inputs in;
    etp_ab_session **later;  // of a session of several phases, all but the first; then those of
    size_t n_later;          // pairs within its models
    etp_ab_findings noticed; // while it was loaded and compared
    etp_ab_arm *arms;        // those of ab, for the stages that find out about them
    etp_ab_comparison *comparisons; // likewise
    etp_ab ab;
};

// arms.c: of which nothing is known yet, not even the name.
extern const etp_ab_arm k_etp_ab_unknown_arm;
// What a manifest says of an arm and of a model.
void etp_ab_describe_arm(const etp_run *run, const etp_run_arm *in, etp_arena *arena,
                         etp_ab_arm *out);
etp_ab_model etp_ab_model_of(const etp_run_model *m, etp_arena *arena);
// recordings.c: what their calls of delegates did not log, and means of few of the executions.
void etp_ab_tell_mean(const etp_ab *ab, uint32_t arm, etp_ab_findings *to);
// load.c: opens the recordings.
ETP_NODISCARD etp_status etp_ab_open_dumps(const etp_ab_session *s, etp_ab_findings *noticed,
                                           etp_ab_inputs *in, etp_error *err);
// recordings.c: what the recordings of an arm cannot say, or say of less than all of it.
void etp_ab_tell_recordings(const etp_ab_session *s, uint32_t arm, const etp_trace *const *traces,
                            size_t n, etp_ab_findings *to, etp_ab_arm *out);
// What the recordings say of the ARMS [n_arms].
ETP_NODISCARD etp_status etp_ab_take_traces(const etp_ab_session *s, etp_ab_findings *noticed,
                                            etp_ab_arm *arms, etp_error *err);
// Bare dumps from paths, one arm each (P_b<k>.etdump joins its P.etdump). No more than ROOM, for
// which ARMS has room.
#define ETP_AB_BARE_DUMPS 512
ETP_NODISCARD etp_status etp_ab_describe_dumps(const char *const *paths, size_t n_paths,
                                               size_t room, etp_ab_arm *arms, etp_ab *out,
                                               etp_ab_inputs *in, etp_error *err);
// programs.c: those of the run, or the one that the options name.
ETP_NODISCARD etp_status etp_ab_open_programs(const etp_ab_session *s, etp_ab_findings *noticed,
                                              etp_ab_inputs *in, etp_error *err);
ETP_NODISCARD etp_status etp_ab_join_arm(const etp_ab_session *s, uint32_t arm,
                                         etp_profile *profile, const etp_trace *const *traces,
                                         etp_ab_findings *noticed, etp_error *err);
const etp_program *etp_ab_program_of(const etp_ab_session *s, uint32_t arm); // NULL: not there
// ETP_USAGE when the program that the user named is of none of the recordings.
ETP_NODISCARD etp_status etp_ab_need_program(const etp_ab_session *s, etp_error *err);
// ARM: of RUN, whose calls tell the sizes; SIZE_MAX: they stay upper bounds.
ETP_NODISCARD etp_status etp_ab_open_kept(etp_arena *arena, const char *dir, const etp_run *run,
                                          size_t model, size_t arm, etp_ab_findings *noticed,
                                          etp_ab_program *out, etp_error *err);
// operands.c: the two sides of a comparison, one arm each, the baseline first; what they hold; the
// programs of those that are run folders, as etp_ab_open_programs.
ETP_NODISCARD etp_status etp_ab_open_sides(etp_arena *arena, const char *const *operands,
                                           etp_ab_side *sides, etp_error *err);
ETP_NODISCARD etp_status etp_ab_describe_sides(const etp_ab_session *s, const char *const *operands,
                                               etp_ab_arm *arms, etp_ab *out, etp_ab_inputs *in,
                                               etp_error *err);
// Names that the user gave, else those of the two arms; always two different ones.
ETP_NODISCARD etp_status etp_ab_name_sides(const etp_ab_session *s, const char *const *operands,
                                           etp_ab_arm *arms, etp_error *err);
ETP_NODISCARD etp_status etp_ab_open_sides_programs(const etp_ab_session *s,
                                                    etp_ab_findings *noticed, etp_ab_inputs *in,
                                                    etp_error *err);
// sides.c
bool etp_ab_same_session(const etp_ab_side *x, const etp_ab_side *y);
bool etp_ab_same_task(const etp_ab_session *s); // both sides computed the same from the same
// pair.c: the run of the two arms of OPTIONS' part, which borrows from the whole.
ETP_NODISCARD etp_status etp_ab_open_pair(const etp_ab_options *options, etp_arena *arena,
                                          etp_run *out, etp_error *err);
// PHASED as if the arms of one phase had been measured alone; without phases as it is. Without
// a part the first.
ETP_NODISCARD etp_status etp_ab_open_phase(const etp_run *phased, const etp_ab_options *options,
                                           etp_arena *arena, etp_run *out, etp_error *err);
// arms.c: device, models and arms of the run, whose folder is DIR.
ETP_NODISCARD etp_status etp_ab_describe_run(const etp_ab_session *s, const char *dir,
                                             etp_ab_arm *arms, etp_ab *out, etp_ab_inputs *in,
                                             etp_error *err);
// Which arm the others are compared with, and the order in which they are shown. ASKED: name of an
// arm, NULL: the rule of baselines.
ETP_NODISCARD etp_status etp_ab_choose_baseline(const etp_ab_session *s, const char *asked,
                                                etp_ab *out, etp_error *err);
// statistics.c
// WHOLE: the session whose control speaks for arms that have none; NULL. *out_known false: no timed
// launch.
ETP_NODISCARD etp_status etp_ab_run_statistics(const etp_ab_session *s, double margin,
                                               const etp_ab_session *whole, etp_stats *out,
                                               bool *out_known, etp_error *err);
// What these say of the ARMS [n_arms], and the values of their blocks.
void etp_ab_take_statistics(const etp_ab_session *s, etp_ab_arm *arms, etp_ab *out);
// Of ARM of ST. LN [n_blocks_seen]: takes its launch values in complete blocks, whose number it
// returns.
size_t etp_ab_time_arm(const etp_stats *st, uint32_t arm, double *ln, etp_ab_arm *out);
// sides.c: of two sides that are run folders, whose ARMS are two. COMPARISON stays as the
// recordings have it where launches tell nothing.
bool etp_ab_sides_timed(const etp_ab_session *s); // both have timed launches
ETP_NODISCARD etp_status etp_ab_time_sides(const etp_ab_session *s, double margin, etp_ab_arm *arms,
                                           etp_ab_comparison *comparison, bool *out_control_differs,
                                           etp_error *err);
// The comparisons of s->stats, as they are given (see etp_ab_withhold).
etp_ab_comparison *etp_ab_compare_times(const etp_ab_session *s, etp_withheld otherwise);
// within.c: where there are several models or thread counts, the arm that CANDIDATE is held against
// within its own; ETP_NO_INDEX: none.
uint32_t etp_ab_reference_within(const etp_ab *ab, uint32_t candidate);
// outputs.c: outputs of the run's ARMS, or of two sides, against each other (ALL) and against
// expected ones.
ETP_NODISCARD etp_status etp_ab_compare_outputs(const etp_ab_session *s, etp_ab_findings *noticed,
                                                etp_ab_arm *arms, etp_ab_correctness *all,
                                                etp_error *err);
// SAME_TASK: both sides computed the same from the same.
ETP_NODISCARD etp_status etp_ab_compare_sides_outputs(const etp_ab_session *s, bool same_task,
                                                      etp_ab_findings *noticed, etp_ab_arm *arms,
                                                      etp_ab_correctness *all, etp_error *err);
// evidence.c: what an arm's launches say of it.
// OUT [n_arms] of the answer's arms: of arm AT, which is ONE of RUN; ONE ETP_NO_INDEX: of all, each
// by its own number.
ETP_NODISCARD etp_status etp_ab_take_launches(const etp_ab_session *s, const etp_run *run,
                                              uint32_t one, uint32_t at, etp_ab_findings *noticed,
                                              etp_ab_arm *out, etp_error *err);
// loading.c: of RUN_ARM, which is arm AT of the answer.
void etp_ab_take_load(const etp_ab_session *s, const etp_run *run, uint32_t run_arm, uint32_t at,
                      etp_ab_arm *out);
// MEASURED as the answer gives it: without its figures where the evidence does not carry them (the
// raw samples stay). Asks for what is known of outputs and proofs. OTHERWISE: why they are withheld
// where nothing else does.
etp_ab_comparison etp_ab_withhold(const etp_ab *ab, const etp_ab_comparison *measured,
                                  bool control_differs, etp_withheld otherwise);
// What the arms are called where a reader takes a figure away: by what was measured. [n_arms]
const char *const *etp_ab_arm_names(const etp_ab *ab);
// And what they have in common.
void etp_ab_name(const etp_ab *ab, etp_ab *out);
// The same of one arm, in a finding of a stage before they are in the answer.
const char *etp_ab_arm_called(const etp_ab *ab, uint32_t arm);
// compare.c: known to be. models.c: that two arms are of models that have nothing in common, as a
// sentence; NULL: they have, or nothing tells.
bool etp_ab_one_program(const etp_ab *ab, const etp_ab_arm *x, const etp_ab_arm *y);
const char *etp_ab_unrelated(const etp_ab *ab);
// bottlenecks.c: the executions of ARM, and where the time of its profile, which may be NULL, went;
// then what takes most of it, and why one operator takes its time.
ETP_NODISCARD etp_status etp_ab_split_arm(const etp_ab_session *s, uint32_t arm, etp_ab_arm *out,
                                          etp_error *err);
void etp_ab_find_bottlenecks(const etp_ab *ab, etp_ab_operator *operators, etp_ab *out);
etp_why etp_ab_why(const etp_ab *ab, const etp_ab_operator *op);
// engage.c: engagement per operator and in sum.
// What the names of the build mean that RUN was measured with; NULL: it was not asked.
const etp_name_book *etp_ab_name_book(const etp_run *run, etp_arena *arena);
// OUT, and EACH [n_operators].
void etp_ab_engage(const etp_ab_session *s, etp_ab_engagement *out, etp_engage *each);
// makers.c: of each of OPERATORS, which others made what it takes.
void etp_ab_find_makers(const etp_ab *ab, etp_ab_operator *operators);
// roofs.c: those of FILE or of the run folder, NULL: none; where operator OP of each arm is below
// them.
ETP_NODISCARD etp_status etp_ab_read_roofs(const etp_ab_session *s, const char *file,
                                           const struct etp_roof_table **out, etp_error *err);
void etp_ab_place_roofs(const etp_ab *ab, size_t op, const etp_roof_place **out);
// Share of the time of ARM's operators with a roof that is in those faster than theirs; the most
// extreme of them. NAN: it has none with a roof.
double etp_ab_above_roof(const etp_ab *ab, uint32_t arm, const etp_ab_operator **worst);
// compare.c: ledgers and operators from profiles and comparisons. The operators are returned too,
// for the stages that find out about them.
etp_ab_operator *etp_ab_align(const etp_ab *ab, etp_ab *out);
// logged.c: [n_comparisons] whether delegates of one side logged what those of the other did not.
void etp_ab_take_logged(const etp_ab *ab, const bool **out);
// categories.c: of operators; of these, per comparison, where the bottleneck was and is.
void etp_ab_categorize(const etp_ab *ab, const etp_ab_category **out, size_t *out_n);
void etp_ab_find_shifts(const etp_ab *ab, etp_ab_comparison *comparisons);
// ends.c: what is around Method::execute in traced launches. AROUND_NS [n_arms]
void etp_ab_take_ends(const etp_ab_session *s, int64_t *call_overhead_ns);
// environment.c: what surrounded the blocks. Borrows from RUN.
void etp_ab_take_environment(const etp_run *run, etp_ab *out);
// sustained.c: C's ratio at the two ends of the session; with statistics.
void etp_ab_find_ends(const etp_ab_session *s, etp_ab_comparison *c);
// drift.c: change over the session, and what else changed; likewise.
ETP_NODISCARD etp_status etp_ab_drift_of(const etp_ab_session *s, uint32_t arm, etp_ab_arm *out,
                                         etp_error *err);
// extra_ratios.c: cold, traced; costs.
void etp_ab_take_extra_ratios(const etp_ab_session *s, etp_ab_arm *arms,
                              etp_ab_comparison *comparisons);
size_t etp_ab_block_index(const etp_stats *st, uint32_t block); // SIZE_MAX: it has none
uint64_t etp_cost_of(const etp_run_launch *l, etp_cost cost);   // 0: not known

// findings.c: adds a finding with the next id; EVIDENCE is one reference or NULL.
void etp_ab_add_finding(etp_ab_findings *to, etp_finding_kind kind, etp_finding_severity severity,
                        const char *evidence, const char *text);
// The same resting on N rows.
void etp_ab_find_rows(etp_ab_findings *to, etp_finding_kind kind, etp_finding_severity severity,
                      const char *const *evidence, size_t n, const char *text);
// Both with a text that is made here. (Functions would hold a va_list where memory may end.)
#define ETP_FIND(to, kind, severity, evidence, ...)          \
    etp_ab_add_finding((to), (kind), (severity), (evidence), \
                       etp_arena_printf((to)->arena, __VA_ARGS__))
#define ETP_FIND_ROWS(to, kind, severity, evidence, n, ...)     \
    etp_ab_find_rows((to), (kind), (severity), (evidence), (n), \
                     etp_arena_printf((to)->arena, __VA_ARGS__))

#endif
