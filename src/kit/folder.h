// SPDX-License-Identifier: Apache-2.0
// A folder that Arm's kit left behind: its experiments with the end-to-end figures as the kit
// computes them and as they are.
#ifndef ETP_KIT_FOLDER_H
#define ETP_KIT_FOLDER_H

#include <etprof/operators.h>

#include "explain/profile.h"
#include "inspect/kernels/log.h"
#include "judge/open.h"
#include "kit/latency.h"
#include "trace/timeline.h"

typedef enum etp_kit_side { ETP_KIT_NO_SIDE, ETP_KIT_ON, ETP_KIT_OFF } etp_kit_side;

typedef struct etp_kit_unit { // one experiment with one thread count: the files that begin with its
                              // stem
    const char *dir;          // relative to the folder, "" at the top
    const char *stem, *model, *experiment; // model NULL unknown
    uint32_t threads;                      // 0 unknown
    etp_kit_side side;
    const char *timeline, *dump, *robust, *kernels,
        *log; // relative paths, NULL absent; log of kernels
    // End to end
    // Three medians that should be one: by the kit's rule, as the kit wrote it down, and of the
    // executions as they are.
    double kit_median_ms; // by the kit's rule, from its table or else from the dump; NAN
    size_t kit_runs;
    double reported_median_ms; // as its files say, NAN
    uint64_t *ns;              // our executions, from the dump, else from the table
    size_t n_runs;
    double median_ns;                        // NAN
    double dump_median_ns, table_median_ns;  // NAN
    const etp_profile *profile;              // NULL without operators
    int64_t five_ns[ETP_KIT_CATEGORY_COUNT]; // mean per inference
    const char *problem;                     // why its figures are missing
} etp_kit_unit;

typedef struct etp_kit_pair { // off and on of one model, thread count and place
    size_t off, on;
    double ratio;            // of the medians, off ÷ on
    const char *label;       // "toy, 4 threads: sme2 on against off", NULL: not answered
    etp_ab_session *session; // off against on as `compare` answers it, NULL
} etp_kit_pair;

typedef struct etp_kit_folder {
    const char *path;
    etp_arena *arena;
    struct {
        const char **items; // relative
        size_t n, cap;
    } files;
    struct {
        etp_kit_unit *items; // by model, experiment, threads, place
        size_t n, cap;
    } units;
    struct {
        etp_kit_pair *items;
        size_t n, cap;
    } pairs;
    const etp_kit_unit
        *logged[2]; // on and off, of one model, whose kernels are known; NULL without both
    etp_kernel_log logs[2];
    char first_date[11], last_date[11]; // "2026-01-27", as its summaries say; "" none does
    struct {
        etp_trace **items; // what profiles borrow from
        size_t n, cap;
    } traces;
    struct {
        etp_timeline *items; // the same, of tables
        size_t n, cap;
    } timelines;
    struct {
        etp_file *items;
        size_t n, cap;
    } maps;
} etp_kit_folder;

// Not a run folder of etprof, and with a table or summary of the kit in it or below.
ETP_NODISCARD etp_status etp_kit_folder_is(const char *path, bool *out, etp_error *err);
// Closed with etp_kit_folder_close also after an error. Everything else lives in ARENA.
ETP_NODISCARD etp_status etp_kit_folder_open(const char *path, etp_arena *arena,
                                             etp_kit_folder *out, etp_error *err);
void etp_kit_folder_close(etp_kit_folder *f);
// kit/folder_pairs.c: what `compare` reads of U, below the folder's path; NULL: it has neither.
const char *etp_kit_recording_of(const etp_kit_folder *f, const etp_kit_unit *u, etp_arena *arena);
// kit/folder_pairs.c: fills label and session of the pairs.
ETP_NODISCARD etp_status etp_kit_answer_pairs(etp_kit_folder *f, etp_error *err);

// Text of a file of the folder, NULL when it is not there or too large to be what it should be.
etp_str etp_kit_folder_text(const etp_kit_folder *f, const char *relative);
// Does NAME have the side on or off? The last such word counts.
etp_kit_side etp_kit_side_of(etp_str name);

extern const etp_document k_etp_kit_document; // of etp_kit_folder
const etp_report *etp_kit_folder_report(const etp_kit_folder *f, etp_arena *arena);

#endif
