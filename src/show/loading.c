// SPDX-License-Identifier: Apache-2.0
// What an arm's process does from its start to the end of its first inference, part by part up to
// the whole, and what was packed for which operator.
#include <inttypes.h>

#include "base/number.h"
#include "document/rows.h"
#include "show/json.h"
#include "show/report.h"

enum { MOST_OPERATORS = 10 };

typedef struct sum { // of the parts of one kind
    int64_t ns;
    uint64_t bytes, faults;
    size_t n;
} sum;

static sum sum_of(const etp_ab_arm *arm, etp_load_what what)
{
    sum all = {0};
    for (size_t i = 0; i < arm->load.n; i++) {
        const etp_run_part *p = &arm->load.parts[i];
        if (what == ETP_LOAD_WHATS || p->what == what) {
            all.ns += (int64_t)p->ns;
            all.bytes += p->bytes;
            all.faults += p->faults;
            all.n++;
        }
    }
    return all;
}

// What there was none of is no time, such as packing where the weights are read; the first of the
// parts always happens, whether or not its time is known.
static etp_cell time_cell(const sum *s, bool happens)
{
    if (s->n > 0) {
        return etp_cell_i64(s->ns);
    }
    return happens ? etp_cell_called("", "not known here") : etp_cell_missing();
}

// The runner does not look at each part's: those of some are in another's.
static etp_cell faults_cell(const sum *s, etp_load_what what)
{
    static const char *const k_in[ETP_LOAD_WHATS + 1] = {
        [ETP_LOAD_MAPPING] = "in verification",
        [ETP_LOAD_GRAPH] = "in methods",
        [ETP_LOAD_PACKING] = "in methods",
        [ETP_LOAD_CREATION] = "in methods",
    };
    if (s->n == 0) {
        return etp_cell_missing();
    }
    return s->faults == 0 && k_in[what] ? etp_cell_called("", k_in[what]) : etp_cell_u64(s->faults);
}

static void parts_table(const char *id, const etp_ab_arm *b, const etp_ab_arm *x, etp_report *r,
                        etp_arena *arena)
{
    const etp_ab_arm *y = ETP_OR(x, b);
    const unsigned second = x ? 0 : ETP_COL_ABSENT;
    const etp_column columns[] = {
        {.key = "part", .title = "part"},
        {.key = b->name, .title = b->measured, .kind = ETP_KIND_NS},
        {.key = y->name, .title = y->measured, .kind = ETP_KIND_NS, .flags = second},
        {.key = etp_arena_printf(arena, "%s_faults", b->name),
         .title = etp_arena_printf(arena, "%s, page faults", b->measured),
         .kind = ETP_KIND_INT,
         .flags = ETP_COL_MINOR},
        {.key = etp_arena_printf(arena, "%s_faults", y->name),
         .title = etp_arena_printf(arena, "%s, page faults", y->measured),
         .kind = ETP_KIND_INT,
         .flags = ETP_COL_MINOR | second},
        {.key = "what", .title = "what it is", .flags = ETP_COL_MINOR},
    };
    static const char *const k_rows[][2] = {
#define ROW(name, word, title, what) {title, what},
        ETP_LOAD_PARTS(ROW)
#undef ROW
            { "to the end of the first inference", "the parts together"},
    };
    etp_table *t = etp_report_table(r, id, "From the start of the process, in one recorded launch",
                                    columns, 6);
    for (etp_load_what what = 0; what <= ETP_LOAD_WHATS; what++) {
        const sum from = sum_of(b, what), to = sum_of(y, what);
        const bool happens = what == ETP_LOAD_PROCESS;
        ETP_ROW(t, etp_cell_z(k_rows[what][0]), time_cell(&from, happens), time_cell(&to, happens),
                faults_cell(&from, what), faults_cell(&to, what), etp_cell_z(k_rows[what][1]));
    }
}

// ---- by operator ----

// The operator that PART of ARM's loading packs for; NULL: not known.
static const etp_ab_operator *owner(const etp_ab *ab, const etp_ab_arm *arm,
                                    const etp_run_part *part)
{
    const size_t at = (size_t)(part - arm->load.parts);
    const etp_partition *of = arm->load.partition[at];
    return of ? etp_ab_owner(ab, (uint32_t)(arm - ab->arms), of->values, arm->load.node[at]) : NULL;
}

// "op12 conv2d #3", or where it stands in the program.
static const char *packed_for(const etp_ab *ab, const etp_ab_arm *arm, const etp_run_part *p,
                              etp_arena *arena)
{
    const etp_partition *of = arm->load.partition[p - arm->load.parts];
    const uint32_t node = arm->load.node[p - arm->load.parts];
    if (!of) {
        return etp_arena_printf(arena, "delegate %" PRIu64 ", number %" PRIu64, p->delegate,
                                p->operation);
    }
    const etp_ab_operator *op = owner(ab, arm, p);
    return op ? etp_arena_printf(arena, "%s %s", op->id, op->label)
              : etp_arena_printf(arena, "%.*s, node %u of delegate %u",
                                 ETP_STR_ARG(of->nodes[node].type_name), node, of->index);
}

static const etp_run_part *same_in(const etp_ab_arm *arm, const etp_run_part *p)
{
    for (size_t i = 0; i < arm->load.n; i++) {
        const etp_run_part *other = &arm->load.parts[i];
        if (other->what == p->what && other->delegate == p->delegate &&
            other->operation == p->operation) {
            return other;
        }
    }
    return NULL;
}

// The largest that are not DONE; NULL: all are.
static const etp_run_part *largest(const etp_ab_arm *arm, const bool *done)
{
    const etp_run_part *found = NULL;
    for (size_t i = 0; i < arm->load.n; i++) {
        const etp_run_part *p = &arm->load.parts[i];
        if (p->what == ETP_LOAD_PACKING && !done[i] && (!found || p->bytes > found->bytes)) {
            found = p;
        }
    }
    return found;
}

// OF: both arms, of one alone twice the same.
static void packed_row(etp_table *t, const char *who, const sum of[2])
{
    ETP_ROW(t, etp_cell_z(who), etp_cell_u64(of[0].bytes),
            of[1].n > 0 ? etp_cell_u64(of[1].bytes) : etp_cell_missing(), time_cell(&of[0], false),
            time_cell(&of[1], false));
}

static void add(sum *to, const etp_run_part *p)
{
    to->ns += p ? (int64_t)p->ns : 0;
    to->bytes += p ? p->bytes : 0;
    to->n += p != NULL;
}

// The largest operators of the baseline, then the others together, then all.
static void packed_table(const char *id, const etp_ab *ab, const etp_ab_arm *b, const etp_ab_arm *x,
                         etp_report *r, etp_arena *arena)
{
    const etp_ab_arm *y = ETP_OR(x, b);
    // Times of an emulator are nobody's.
    const unsigned second = x ? 0 : ETP_COL_ABSENT, time = ab->emulated ? ETP_COL_ABSENT : 0;
    const etp_column columns[] = {
        {.key = "operator", .title = "packed for"},
        {.key = etp_arena_printf(arena, "%s_bytes", b->name),
         .title = b->measured,
         .kind = ETP_KIND_BYTES},
        {.key = etp_arena_printf(arena, "%s_bytes", y->name),
         .title = y->measured,
         .kind = ETP_KIND_BYTES,
         .flags = second},
        {.key = etp_arena_printf(arena, "%s_ns", b->name),
         .title = etp_arena_printf(arena, "%s, time", b->measured),
         .kind = ETP_KIND_NS,
         .flags = time},
        {.key = etp_arena_printf(arena, "%s_ns", y->name),
         .title = etp_arena_printf(arena, "%s, time", y->measured),
         .kind = ETP_KIND_NS,
         .flags = time | second},
    };
    etp_table *t = etp_report_table(r, id, "Packed weights, the largest first", columns, 5);
    bool *done = ETP_NEW_ARRAY(arena, bool, b->load.n + 1);
    sum others[2] = {{0}, {0}}, all[2] = {{0}, {0}};
    const etp_run_part *p;
    for (size_t shown = 0; (p = largest(b, done)) != NULL; shown++) {
        const etp_run_part *q = same_in(y, p);
        sum is[2] = {{0}, {0}};
        done[p - b->load.parts] = true;
        add(&is[0], p), add(&is[1], q);
        add(&all[0], p), add(&all[1], q);
        if (shown < MOST_OPERATORS) {
            packed_row(t, packed_for(ab, b, p, arena), is);
        } else {
            add(&others[0], p), add(&others[1], q);
        }
    }
    if (others[0].n > 0) {
        packed_row(t, etp_arena_printf(arena, "%zu others", others[0].n), others);
    }
    packed_row(t, "together", all);
}

// XNNPACK keeps intermediate results in workspaces, which delegates may share. OF: the arm, where
// another differs; "": all.
static void say_workspaces(const etp_ab_arm *a, const char *of, etp_report *r)
{
    if (a->load.workspaces == 0 || a->load.delegates < 2) {
        return;
    }
    char shared[48];
    snprintf(shared, sizeof shared, "%" PRIu64 " workspace%s that they share", a->load.workspaces,
             etp_if(a->load.workspaces != 1, "s"));
    etp_report_text(r,
                    "%s%sXNNPACK's %" PRIu64 " delegates compute in %s (its option "
                    "workspace_sharing_mode).",
                    of, etp_if(of[0], ": "), a->load.delegates,
                    a->load.workspaces < a->load.delegates
                        ? shared
                        : "a workspace each, where they could share one");
}

void etp_ab_loading_tables(const etp_ab *ab, size_t *n, etp_report *r, etp_arena *arena)
{
    size_t pairs = ab->n_comparisons;
    for (size_t i = 0; i < ETP_OR(pairs, ab->n_arms); i++) {
        const etp_ab_comparison *c = pairs ? &ab->comparisons[i] : NULL;
        const etp_ab_arm *b = &ab->arms[c ? c->baseline : i];
        const etp_ab_arm *x = c ? &ab->arms[c->candidate] : NULL;
        if (b->load.n == 0 || (x && x->load.n == 0)) {
            continue;
        }
        const char *number = ++*n == 1 ? "" : etp_arena_printf(arena, "-%zu", *n);
        if (!ab->emulated) {
            parts_table(etp_arena_printf(arena, "loading%s", number), b, x, r, arena);
        }
        const bool alike = !x || (x->load.delegates == b->load.delegates &&
                                  x->load.workspaces == b->load.workspaces);
        say_workspaces(b, etp_if(!alike, b->measured), r);
        if (!alike) {
            say_workspaces(x, x->measured, r);
        }
        if (b->load.packed_bytes > 0) {
            packed_table(etp_arena_printf(arena, "packing%s", number), ab, b, x, r, arena);
        }
    }
}

// ---- JSON ----

static const void *part_operator(const etp_json_cursor *at, etp_made *made)
{
    const etp_ab_operator *op = owner(at->root, at->outer->object, at->object);
    (void)made;
    return op ? &op->id : NULL;
}

// In the program, of the node that is packed for.
static const void *weight_bytes(const etp_json_cursor *at, etp_made *made)
{
    const etp_ab_arm *arm = at->outer->object;
    const size_t i = (size_t)((const etp_run_part *)at->object - arm->load.parts);
    const etp_partition *of = arm->load.partition[i];
    (void)made;
    return of ? &of->nodes[arm->load.node[i]].weight_bytes : NULL;
}

WORDS(k_whats, etp_load_what_name, etp_load_what, ETP_LOAD_WHATS)

#define OF etp_run_part
static const etp_field k_part_rows[] = {
    FIELD("what", WORD, what, "", .words = &k_whats),
    FIELD("delegate", UINT, delegate, "of XNNPACK in the order of loading, from 1",
          .flags = ETP_ABSENT | ETP_ZERO),
    FIELD("operation", UINT, operation, "of it that packs weights, from 1",
          .flags = ETP_ABSENT | ETP_ZERO),
    COMPUTED("operator", TEXT, part_operator, "that was packed for", .flags = ETP_ABSENT),
    COMPUTED("weight_bytes", UINT, weight_bytes, "of it, in the program",
             .flags = ETP_ABSENT | ETP_ZERO),
    FIELD("bytes", UINT, bytes, "packed", .flags = ETP_ABSENT | ETP_ZERO),
    FIELD("ns", UINT, ns, ""),
    FIELD("faults", UINT, faults, "page faults", .flags = ETP_ABSENT | ETP_ZERO),
};
static SHAPE_ON_ONE_LINE(k_part, k_part_rows);
#undef OF
#define OF etp_ab_arm
static const etp_field k_loading_rows[] = {
    FIELD("whole_ns", INT, load.whole_ns, "the parts together"),
    FIELD("packing_ns", INT, load.packing_ns, "those of packing"),
    FIELD("packed_bytes", UINT, load.packed_bytes, "likewise"),
    FIELD("delegates", UINT, load.delegates, "of XNNPACK", .flags = ETP_ABSENT | ETP_ZERO),
    FIELD("workspaces", UINT, load.workspaces, "that they compute in: with fewer, they share",
          .flags = ETP_ABSENT | ETP_ZERO),
    LIST("parts", OBJECT, load.parts, load.n, "one after another", .shape = &k_part),
};
SHAPE(k_etp_ab_loading, k_loading_rows);
#undef OF
