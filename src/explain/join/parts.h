// SPDX-License-Identifier: Apache-2.0
// The pieces of the join of a recording to its program.
#ifndef ETP_EXPLAIN_JOIN_PARTS_H
#define ETP_EXPLAIN_JOIN_PARTS_H

#include <etprof/join.h>

// ---- the dataflow of a partition ----

typedef struct etp_value_flow {
    const etp_partition *partition;
    uint32_t *producer;    // per value: node, ETP_NO_INDEX for inputs and constants
    uint32_t *consumer;    // per value: first consuming node, ETP_NO_INDEX
    uint32_t *n_consumers; // per value; results of the delegate count one more
} etp_value_flow;

void etp_flow_make(const etp_partition *partition, etp_arena *arena, etp_value_flow *out);
// Node that makes the only non-constant operand of NODE when it feeds nothing else; ETP_NO_INDEX.
uint32_t etp_flow_sole_producer(const etp_value_flow *flow, uint32_t node);
// Elementwise with one tensor operand; binary nodes count when the other operand is one constant.
bool etp_flow_is_unary(const etp_value_flow *flow, uint32_t node);
// XNNPACK turns chains of such nodes from 8 bits to 8 bits into one table look-up, kept at the
// chain's last node. First node of the chain that ends in NODE; NODE itself when there is none.
uint32_t etp_flow_lut_start(const etp_value_flow *flow, uint32_t node);

typedef enum etp_node_fate { // what XNNPACK's optimizer may do with a node
    ETP_FATE_STAYS,
    ETP_FATE_INTO_PRODUCER, // clamps and copies behind an operator
    ETP_FATE_INTO_CONSUMER, // padding, dynamic quantisation, transposes of weights
    ETP_FATE_INTO_TABLE     // inside a chain that may become a table look-up
} etp_node_fate;

etp_node_fate etp_value_flow_fate(const etp_value_flow *flow, uint32_t node);

// ---- matching one operator with one node ----

// Costs are in twentieths: 20 = "as bad as one plain contradiction".
#define ETP_COST_UNIT 20u
#define ETP_COST_NEVER 1000000u

typedef struct etp_match_op { // an operator's name, looked up once
    etp_op_name name;
    const uint8_t *types; // node types its family can stand for, 0-terminated; NULL = unknown
    bool is_table;        // "Invalid Unary Op": a table look-up
} etp_match_op;

void etp_match_prepare(etp_str name, etp_match_op *out);
// 0 = the name fits the node in every respect; ETP_COST_NEVER = a different operator.
uint32_t etp_match_cost(const etp_value_flow *flow, uint32_t node, const etp_match_op *op);
uint32_t etp_skip_node_cost(const etp_value_flow *flow, uint32_t node);
uint32_t etp_skip_operator_cost(const etp_match_op *op);

// ---- alignment ----

typedef struct etp_placed_operator { // result for one delegate operator
    uint32_t node;                   // ETP_NO_INDEX when none
    uint32_t first, n; // all nodes it did: etp_operator_placement.covered[first … first + n)
    bool inserted;
    double confidence;
} etp_placed_operator;

typedef struct etp_operator_placement {
    etp_placed_operator *placed; // one per operator
    uint32_t *covered;           // node indices, ascending for each operator
    double fit;                  // 0…1: share of operators and nodes without contradiction
} etp_operator_placement;

// An operator that PARTITION cannot have run, although its family is known: it has no node, or it
// computes in another type. CONVERTS: the call has conversions between types.
bool etp_match_contradicts(const etp_partition *partition, const etp_match_op *op,
                           const etp_placed_operator *placed, bool converts);

// Convolutions and products of matrices: what no rewriting of the graph takes away.
bool etp_node_multiplies(int type);

// Aligns the operators of one delegate call, in order, to the nodes of PARTITION (with a graph).
// ARENA stands under a guard.
void etp_align_operators(const etp_partition *partition, const etp_str *names, uint32_t n,
                         etp_arena *arena, etp_operator_placement *out);

#endif
