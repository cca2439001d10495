// SPDX-License-Identifier: Apache-2.0
// Timeline tables: structure and sums by hand, and tables that must be refused with a position.
#include <string.h>

#include "trace/timeline.h"
#include "unit.h"

#define KIT                                                                                        \
    "model_id,name,type,delegate_backend,start_us,end_us,duration_ms,pct_total,node_id,run_index," \
    "block\n"

// Two executions of: a delegate of two operators, a kernel in its call, a second delegate.
static const char k_kit[] =
    KIT "m,Method::init,Method::init,portable,1,2,0.001,1,0,0,Default\n"
        "m,\"Fully Connected (NC, F32) GEMM #1\",x,XnnpackBackend,10,20,0.010,1,1,0,Execute\n"
        "m,\"Fully Connected (NC, F32) GEMM #1\",x,XnnpackBackend,110,122,0.012,1,1,1,Execute\n"
        "m,Clamp (NC) #1,x,XnnpackBackend,20,24,0.004,1,2,0,Execute\n"
        "m,Clamp (NC) #1,x,XnnpackBackend,122,126,0.004,1,2,1,Execute\n"
        "m,DELEGATE_CALL,x,portable,9,29,0.020,1,3,0,Execute\n"
        "m,DELEGATE_CALL,x,portable,109,130,0.021,1,3,1,Execute\n"
        "m,native_call_mean.out,x,portable,30,35,0.005,1,4,0,Execute\n"
        "m,native_call_mean.out,x,portable,130,135,0.005,1,4,1,Execute\n"
        "m,OPERATOR_CALL,x,portable,30,36,0.0065,1,5,0,Execute\n"
        "m,OPERATOR_CALL,x,portable,130,137,0.007,1,5,1,Execute\n"
        "m,Copy (NC) #1,x,delegated,40,41,0.001,1,6,0,Execute\n"
        "m,Copy (NC) #1,x,delegated,140,141,0.001,1,6,1,Execute\n"
        "m,DELEGATE_CALL,x,portable,39,43,0.004,1,7,0,Execute\n"
        "m,DELEGATE_CALL,x,portable,139,143,0.004,1,7,1,Execute\n"
        "m,Method::execute,x,portable,8,48,0.040,1,8,0,Execute\n"
        "m,Method::execute,x,portable,108,150,0.042,1,8,1,Execute\n";

static void kit_table(void **state)
{
    static const struct {
        int32_t instruction;
        uint32_t parent;
        uint64_t ns[2];
    } k_expected[] = {
        {0,  2,            {10000, 12000}},
        {0,  2,            {4000, 4000}  },
        {0,  7,            {20000, 21000}},
        {1,  4,            {5000, 5000}  },
        {1,  7,            {6500, 7000}  },
        {2,  6,            {1000, 1000}  },
        {2,  7,            {4000, 4000}  },
        {-1, ETP_NO_INDEX, {40000, 42000}}
    };
    etp_timeline t;
    etp_error err = {.offset = ETP_NO_OFFSET};
    ASSERT_OK(etp_timeline_open(etp_str_from(k_kit), *state, &t, &err), err);
    assert_int_equal(t.n, 1);
    assert_false(etp_trace_places_known(t.traces[0]));
    assert_int_equal(etp_trace_block_count(t.traces[0]), 2);
    assert_false(etp_trace_block_at(t.traces[0], 0)->has_execute); // loading
    const etp_trace_block *b = etp_trace_block_at(t.traces[0], 1);
    assert_true(b->has_execute && b->n_runs == 2 && b->n_events == 8 && b->execute == 7);
    for (uint32_t i = 0; i < 8; i++) {
        assert_int_equal(b->events[i].instruction, k_expected[i].instruction);
        assert_int_equal(b->events[i].parent, k_expected[i].parent);
        assert_memory_equal(etp_trace_durations(b, i), k_expected[i].ns, sizeof k_expected[i].ns);
    }
    assert_true(b->events[0].kind == ETP_EVENT_DELEGATE_OP &&
                b->events[5].kind == ETP_EVENT_DELEGATE_OP);
    etp_trace_close(t.traces[0]);
}

// A run that failed in front of a whole one is no part of it; two bodies of a branch are two
// blocks.
static void odd_blocks(void **state)
{
    static const char k_failed[] = KIT "m,native_call_a.out,x,portable,1,2,0.001,1,0,0,Execute\n"
                                       "m,OPERATOR_CALL,x,portable,1,3,0.002,1,1,0,Execute\n"
                                       "m,native_call_b.out,x,portable,11,12,0.001,1,2,0,Execute\n"
                                       "m,Method::execute,x,portable,10,20,0.010,1,3,0,Execute\n";
    static const char k_branch[] = KIT "m,native_call_a.out,x,portable,1,2,0.001,1,0,0,Execute\n"
                                       "m,native_call_a.out,x,portable,11,12,0.001,1,0,1,Execute\n"
                                       "m,Method::execute,x,portable,0,9,0.009,1,1,0,Execute\n"
                                       "m,Method::execute,x,portable,10,19,0.009,1,1,1,Execute\n"
                                       "m,native_call_b.out,x,portable,21,22,0.001,1,2,0,Execute\n"
                                       "m,Method::execute,x,portable,20,29,0.009,1,3,0,Execute\n";
    etp_arena *arena = *state;
    etp_timeline t;
    assert_int_equal(etp_timeline_open(etp_str_from(k_failed), arena, &t, NULL), ETP_OK);
    assert_int_equal(etp_trace_block_count(t.traces[0]), 2);
    assert_false(etp_trace_block_at(t.traces[0], 0)->has_execute);
    assert_int_equal(etp_trace_block_at(t.traces[0], 1)->n_events, 2);
    etp_trace_close(t.traces[0]);
    assert_int_equal(etp_timeline_open(etp_str_from(k_branch), arena, &t, NULL), ETP_OK);
    assert_int_equal(etp_trace_block_count(t.traces[0]), 2);
    assert_int_equal(etp_trace_block_at(t.traces[0], 0)->n_runs, 2);
    assert_int_equal(etp_trace_block_at(t.traces[0], 1)->n_runs, 1);
    etp_trace_close(t.traces[0]);
}

// The kit's fixtures: run_index, name, duration_ms of whole inferences.
static void whole_inferences_alone(void **state)
{
    static const uint64_t k_ns[] = {12300000, 12100000};
    static const char k_three[] = "run_index,name,duration_ms\n0,Method::execute,12.3\n"
                                  "1,Method::execute,12.1\n";
    etp_timeline t;
    assert_int_equal(etp_timeline_open(etp_str_from(k_three), *state, &t, NULL), ETP_OK);
    assert_int_equal(etp_trace_block_count(t.traces[0]), 1);
    const etp_trace_block *b = etp_trace_block_at(t.traces[0], 0);
    assert_true(b->has_execute && b->n_runs == 2 && b->n_events == 1);
    assert_memory_equal(etp_trace_durations(b, 0), k_ns, sizeof k_ns);
    etp_trace_close(t.traces[0]);
}

static void refused(void **state)
{
    static const struct {
        const char *text;
        etp_status status;
        const char *words;
    } k_cases[] = {
        {"",                                                                                   ETP_UNSUPPORTED, "column 'name'"                       },
        {"experiment,block,iteration,duration_ns\na,1,0,5\n",                                  ETP_UNSUPPORTED, "column 'name'"                       },
        {"run_index,name,duration_ms\n0,Clamp (NC) #1,1\n",                                    ETP_UNSUPPORTED,
         "line 2: 'Clamp (NC) #1', but the table"                                                                                                     },
        {"run_index,name,duration_ms\n0,Method::execute,1,90\n",                               ETP_CORRUPT,
         "line 2 has 4 cells, the header 3; decimal commas"                                                                                           },
        {KIT,                                                                                  ETP_UNKNOWN,     "no execution"                        },
        {KIT "m,a,a,portable,1,2,nan,1,0,0,Execute\n",                                         ETP_CORRUPT,     "line 2: duration_ms is 'nan'"        },
        {KIT "m,a,a,portable,1,2,-0.5,1,0,0,Execute\n",                                        ETP_CORRUPT,     "duration_ms is '-0.5'"               },
        {KIT "m,a,a,portable,1,2,1e300,1,0,0,Execute\n",                                       ETP_CORRUPT,     "duration_ms"                         },
        {KIT "m,a,a,portable,1,2,0.5,1,x,0,Execute\n",                                         ETP_CORRUPT,     "node_id is 'x'"                      },
        {KIT "m,a,a,portable,1,2,0.5,1,-4,0,Execute\n",                                        ETP_CORRUPT,     "node_id is '-4'"                     },
        {KIT "m,a,a,portable,1,2,0.5,1,0,99999999999,Execute\n",                               ETP_CORRUPT,     "run_index"                           },
        {KIT "m,a,a,portable,1,2,0.5,1,0,0,Execute\nm,a,a,portable,1,2,0.5,1,0,0,Execute\n",
         ETP_CORRUPT,                                                                                           "line 3: node 0 has run 0 after run 0"},
        {KIT "m,a,a,portable,1,2,0.5,1,0,0,Execute\nm,b,b,portable,1,2,0.5,1,0,1,Execute\n",
         ETP_CORRUPT,                                                                                           "node 0 is 'b' here and 'a' above"    },
        {KIT "m,a,a,portable,1,2,0.5,1,0,0,Execute\nn,b,b,portable,1,2,0.5,1,1,0,Execute\n",
         ETP_CORRUPT,                                                                                           "of model 'n'"                        },
        {KIT "m,a,a,portable,1,2,0.5,1,0,0,Execute\nm,a,a,porta",                              ETP_CORRUPT,     "cut off"                             },
        {KIT "m,\"a,a,portable,1,2,0.5,1,0,0,Execute\n",                                       ETP_CORRUPT,     ""                                    },
        {KIT "m,a,a,portable,1,2,8e12,1,0,0,Execute\nm,a,a,portable,1,2,8e12,1,0,1,Execute\n",
         ETP_CORRUPT,                                                                                           "292 years"                           },
    };
    for (size_t i = 0; i < sizeof k_cases / sizeof *k_cases; i++) {
        etp_timeline t;
        etp_error err = {.offset = ETP_NO_OFFSET};
        etp_status st = etp_timeline_open(etp_str_from(k_cases[i].text), *state, &t, &err);
        if (st != k_cases[i].status || !strstr(err.msg, k_cases[i].words)) {
            fail_msg("case %zu: %d '%s'", i, (int)st, err.msg);
        }
    }
}

// Every prefix of a table is read or refused, and what is read closes with every execution whole.
static void cut_anywhere(void **state)
{
    for (size_t n = 0; n < sizeof k_kit - 1; n++) {
        etp_timeline t;
        if (etp_timeline_open((etp_str){k_kit, n}, *state, &t, NULL) == ETP_OK) {
            for (size_t i = 0; i < t.n; i++) {
                etp_trace_close(t.traces[i]);
            }
        }
    }
}
