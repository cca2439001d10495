// SPDX-License-Identifier: Apache-2.0
// Private to the files that fill a history.
#ifndef ETP_STUDY_HISTORY_INTERNAL_H
#define ETP_STUDY_HISTORY_INTERNAL_H

#include "study/history/history.h"

#define ETP_HISTORY_MAX_RUNS 10000

// The attributes of a run that was a run folder.
enum {
    ETP_HISTORY_PROGRAM,
    ETP_HISTORY_RUNNER,
    ETP_HISTORY_EXECUTORCH,
    ETP_HISTORY_ETPROF,
    ETP_HISTORY_CPU,
    ETP_HISTORY_ATTRIBUTES
};
void etp_history_put_attributes(etp_history *h);
// "sha256:0123456789ab" of each, a blank between.
etp_str etp_history_short_hashes(etp_str hashes, etp_arena *arena);

// A value of run RUN of N_RUNS in the series NAME, which is made when it is the first.
// N_RUNS is the length of every series and the same in all calls.
ETP_NODISCARD etp_status etp_history_put(etp_history *h, etp_str name, etp_str phase, size_t run,
                                         size_t n_runs, double value, etp_error *err);

// ---- how it is shown ----

// What NAME ends in; with *OUT_STEM what is before it.
etp_series_unit etp_series_unit_of(etp_str name, etp_str *out_stem);
const char *etp_series_unit_end(etp_series_unit unit);  // "_speedup"; not of others
const char *etp_series_unit_word(etp_series_unit unit); // "speedup"; NULL: of others
etp_severity etp_history_judgement(const etp_history_series *s, const etp_history_change *c);
const char *etp_history_figure(const etp_history_series *s, double v, etp_arena *arena);
etp_str etp_history_shown_time(etp_str time, etp_arena *arena);
const char *etp_history_change_words(const etp_history_change *c, etp_arena *arena);
// The card of a change, in the report of every format and on the page.
void etp_history_change_card(const etp_history_series *s, const etp_history_change *c,
                             const char *label, const char *figures, etp_report *r,
                             etp_arena *arena);
// Said once for all cards: that N_ALONE of them know of nothing else that changed there.
void etp_history_beside_fact(size_t n_alone, size_t n_cards, etp_report *r);
// What people read for the series NAME: of one that a session made its level; else NAME.
etp_str etp_history_called(etp_str name, etp_arena *arena);
// V with six significant digits, as the session's own document has it.
double etp_history_ratio(double v);
// What the HTML page has in place of the tables and charts of the other formats.
void etp_history_page_first(const etp_history *h, etp_report *r, etp_arena *arena);
void etp_history_page(const etp_history *h, etp_report *r, etp_arena *arena);

// Calls VISIT for PATH, or for the run folders in it, four levels down.
typedef etp_status etp_history_visit(void *ctx, const char *path, etp_error *err);
ETP_NODISCARD etp_status etp_history_each_folder(const char *path, etp_arena *arena,
                                                 etp_history_visit *visit, void *ctx,
                                                 etp_error *err);
#endif
