// SPDX-License-Identifier: Apache-2.0
// The report tree as writers see it. Private to the report room.
#ifndef ETP_REPORT_TREE_H
#define ETP_REPORT_TREE_H

#include "report/report.h"

// A report is a flat list of blocks, not a tree of pointers: what a block belongs to follows from
// the sections, folds and drawers before it. Writers keep that nesting while they go through the
// list (html.c: enclose).
typedef enum etp_block_kind {
    ETP_BLOCK_SECTION,
    ETP_BLOCK_FOLD,    // text has its title alone
    ETP_BLOCK_DRAWER,  // HTML only
    ETP_BLOCK_PICTURE, // HTML only: text is its JSON, caption its kind
    ETP_BLOCK_ACTIONS, // HTML only: of a part
    ETP_BLOCK_DATA,    // HTML only: JSON of a part, for the script
    ETP_BLOCK_TEXT,    // a paragraph; a note when severity is not ETP_PLAIN
    ETP_BLOCK_CODE,
    ETP_BLOCK_KEYS,
    ETP_BLOCK_TABLE,
    ETP_BLOCK_CHART
} etp_block_kind;

typedef struct etp_key_value {
    etp_str key, value, scope;
    etp_str histogram; // "from to steps 0137921", without the zeros at the end, empty: none
    etp_severity severity;
    bool on_page; // a fact that the page alone has
} etp_key_value;

struct etp_keys {
    etp_report *report;
    etp_str title;
    struct {
        etp_key_value *items;
        size_t n, cap;
    } pairs;
};

typedef struct etp_row {
    const etp_cell *cells;
    bool total;
    etp_str link;  // id of a drawer, empty: none
    etp_str scope; // whose drawers its ids are
} etp_row;

struct etp_table {
    etp_report *report;
    etp_str id, caption;
    const etp_column *columns; // key, title, unit and help are clean copies; decimals resolved
    size_t n_columns;
    uint32_t absent; // bit i: the author's column i is not among them
    size_t limit;    // 0 = none
    struct {
        etp_row *items;
        size_t n, cap;
    } rows;
};

#define ETP_CHART_COLORED 24

typedef enum etp_role { ETP_ROLE_VALUE, ETP_ROLE_TOTAL, ETP_ROLE_STEP } etp_role;

typedef struct etp_chart_entry { // one bar, step, block or x
    etp_str label, note;         // note: group of a step, remark of an interval
    etp_role role;
    bool muted;
    bool begins_group; // bars from here on belong together
    double x;
    size_t arm;                     // of an interval
    const double *values, *lo, *hi; // n_values each; NAN = missing
    size_t n_values;
} etp_chart_entry;

struct etp_text;

struct etp_chart {
    etp_report *report;
    void (*text)(struct etp_text *o, const etp_chart *c); // writes it
    void (*md)(etp_sink *sink, const etp_chart *c);       // likewise
    void (*page)(etp_sink *sink, const etp_chart *c, unsigned serial, etp_arena *arena);
    bool next_begins_group, only_names, no_ratio;
    double ceiling; // of lines; 0: none
    etp_chart_kind chart;
    etp_kind kind;
    etp_str id, title, description, lacks, x_title;
    struct {
        etp_str *items;
        size_t n, cap;
    } series;
    unsigned colors[ETP_CHART_COLORED]; // of the first series; 0: by its position
    struct {
        etp_chart_entry *items;
        size_t n, cap;
    } entries;
};

typedef struct etp_action_card {
    etp_str id, shown, scope; // shown: the id without its scope, which is that of the words
    etp_str of, text, advice, command;
    double whole, gain, lo, hi;
} etp_action_card;

typedef struct etp_actions {
    etp_action_card *items;
    size_t n, cap;
    etp_str none; // why there is none, empty: nothing is said
} etp_actions;

typedef struct etp_block {
    etp_block_kind kind;
    etp_severity severity;
    int level;    // sections
    bool part;    // a section that begins a part
    bool inner;   // a section that the page shows within the one before
    bool parts;   // a section that lists the parts behind it
    bool wrapped; // code: lines that are too long for a terminal go on below
    bool line;    // code: one line, broken between words
    bool folded;  // a section that is shut on the page
    bool detail;  // this block is inside a detail section, or is one
    etp_medium medium;
    size_t tab;    // counted from 1; 0: none
    etp_str id;    // sections, drawers
    etp_str scope; // whose drawers the ids in it are; of a drawer also the begin of its own id
    etp_str text;
    etp_str caption; // code; of a drawer: what its scope is called; of a section that begins a part
                     // or a tab: the command that shows all of it, empty: none
    etp_keys *keys;
    etp_table *table;
    etp_chart *chart;
    etp_actions *actions;
} etp_block;

typedef struct etp_card { // a headline
    etp_str label, verdict, interval, detail;
    etp_severity severity;
    double value, lo, hi;
    struct {
        etp_str name;
        double value, lo, hi;
        etp_str note;
    } ends[2];
    bool has_ends, on_page; // on_page: the page alone has it
} etp_card;

typedef struct etp_cards {
    etp_card *items;
    size_t n, cap;
} etp_cards;

typedef struct etp_facts {
    etp_key_value *items;
    size_t n, cap;
} etp_facts;

struct etp_report {
    etp_arena *arena; // that it failed tells that the report is incomplete
    etp_str title, subtitle, json_id, json;
    etp_cards cards;
    etp_facts facts;
    etp_actions actions;
    struct {
        etp_block *items;
        size_t n, cap;
    } blocks;
    struct {
        etp_str *items;
        size_t n, cap;
    } tabs;
    etp_block spare; // of a report that lacks memory, which nobody shows: in the place of others
    // Everything from here on is what the next block is added with.
    size_t tab;                 // of what is added now, 0: none
    int detail_level;           // level of the open detail section, 0 = none
    etp_medium medium;          // of what is added now
    bool inner;                 // sections from here on stand within another
    etp_str part;               // id of the open part, "" none
    etp_str scope, scope_title; // etp_report_scope; "" none
};

// MEDIUM: ETP_ON_PAGE for HTML, ETP_OFF_PAGE for the others.
static inline bool etp_block_shown(const etp_block *b, const etp_report_style *style,
                                   etp_medium medium)
{
    bool empty = b->keys && b->keys->pairs.n == 0;
    return !empty && !(b->detail && style->brief) &&
           (b->medium == ETP_EVERYWHERE || b->medium == medium);
}

// report.c: for the files that build other parts of the tree.
etp_str etp_report_clean(etp_report *r, const char *z);
etp_str ETP_PRINTF(2, 0) etp_report_format(etp_report *r, const char *fmt, va_list ap);
etp_str etp_report_id_within(etp_report *r, etp_str outer, const char *id);
etp_str etp_report_part_id(etp_report *r, const char *id); // within the open part
etp_str etp_report_link(etp_report *r, const char *id);    // to a drawer of the scope; empty: none
etp_block *etp_report_add_block(etp_report *r, etp_block_kind kind); // there always is one
// write.c: there is no WHAT of that id; NULL: none at all.
etp_status etp_report_lacks(const char *what, const char *id, etp_error *err);

#endif
