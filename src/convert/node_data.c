// SPDX-License-Identifier: Apache-2.0
// Model Explorer's node data: by graph, by node.
#include "convert/node_data.h"

#include <stdlib.h>

#include "base/json.h"

static int by_graph_and_node(const void *pa, const void *pb)
{
    const etp_node_datum *a = pa, *b = pb;
    int order = etp_str_cmp(a->graph, b->graph);
    return order ? order : etp_str_cmp(a->node, b->node);
}

// Model Explorer colours nodes between these two by their value.
static void gradient(etp_json *j)
{
    static const char *const k_colors[] = {"#ffffff", "#f55a5a"};
    etp_json_key(j, "gradient");
    etp_json_begin_array_inline(j);
    for (unsigned stop = 0; stop < 2; stop++) {
        etp_json_begin_object_inline(j);
        etp_json_kv_u64(j, "stop", stop);
        etp_json_kv_z(j, "bgColor", k_colors[stop]);
        etp_json_end(j);
    }
    etp_json_end(j);
}

void etp_node_data_json(etp_node_datum *items, size_t n, etp_sink *sink)
{
    if (n) {
        qsort(items, n, sizeof *items, by_graph_and_node);
    }
    etp_json j;
    etp_json_init(&j, sink, true);
    etp_json_begin_object(&j);
    for (size_t i = 0; i < n;) {
        etp_str graph = items[i].graph;
        etp_json_key_str(&j, graph);
        etp_json_begin_object(&j);
        etp_json_key(&j, "results");
        etp_json_begin_object(&j);
        while (i < n && etp_str_eq(items[i].graph, graph)) {
            etp_str node = items[i].node;
            uint64_t value = 0;
            for (; i < n && etp_str_eq(items[i].graph, graph) && etp_str_eq(items[i].node, node);
                 i++) {
                value += items[i].value;
            }
            etp_json_key_str(&j, node);
            etp_json_begin_object_inline(&j);
            etp_json_kv_u64(&j, "value", value);
            etp_json_end(&j);
        }
        etp_json_end(&j);
        gradient(&j);
        etp_json_end(&j);
    }
    etp_json_end(&j);
    etp_json_end_document(&j);
}
