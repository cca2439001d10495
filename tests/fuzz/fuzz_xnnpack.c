// SPDX-License-Identifier: Apache-2.0
// XNNPACK payloads: every id of a node leads to a value, every constant to bytes of the payload.
#include "fuzz_inspect.h"

static void check_node(const etp_xnn_graph *g, const etp_xnn_node *n)
{
    for (uint8_t i = 0; i < n->n_inputs; i++) {
        FUZZ_CHECK(n->inputs[i] == ETP_XNN_NO_ID || etp_xnn_value_by_id(g, n->inputs[i]));
    }
    for (uint8_t i = 0; i < n->n_outputs; i++) {
        FUZZ_CHECK(etp_xnn_value_by_id(g, n->outputs[i]));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    etp_arena arena = {0};
    etp_error err = {0};
    etp_xnn_graph g;
    const etp_bytes payload = {data, size, 0};
    if (etp_xnn_read(payload, &arena, &g, &err) == ETP_OK) {
        for (uint32_t i = 0; i < g.n_nodes; i++) {
            check_node(&g, &g.nodes[i]);
        }
        for (uint32_t i = 0; i < g.n_constants; i++) {
            const etp_bytes *d = &g.constants[i].data;
            FUZZ_CHECK(d->len == 0 || (d->ptr >= data && d->len <= size));
        }
    } else {
        FUZZ_CHECK(err.msg[0] != '\0');
    }
    etp_arena_dispose(&arena);
    return 0;
}
