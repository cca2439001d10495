// SPDX-License-Identifier: Apache-2.0
// Node data of Model Explorer: a number for each node of the graphs that its adapter for .pte files
// builds (pte-adapter-model-explorer): the instructions of a method, the nodes of an XNNPACK
// payload.
#ifndef ETP_CONVERT_NODE_DATA_H
#define ETP_CONVERT_NODE_DATA_H

#include "base/sink.h"

typedef struct etp_node_datum {
    etp_str graph, node; // ids as the adapter gives them
    uint64_t value;
} etp_node_datum;

// Data of one node are added up. Orders ITEMS.
void etp_node_data_json(etp_node_datum *items, size_t n, etp_sink *sink);

#endif
