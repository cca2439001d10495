// SPDX-License-Identifier: Apache-2.0
// Vulkan: ETVK_EXECUTE holds ETVK_COPY_INPUTS, ETVK_COMPUTE_GRAPH_EXECUTE and ETVK_COPY_OUTPUTS by
// the runtime's clock. Shaders are logged after the graph that ran them, in nanoseconds of the GPU:
// `{"kernel_name": "conv2d_dw", …, "dispatch_id": 3}` or `{conv2d_dw, "dispatch_id": 3}`.
#include "operators/delegates.h"

static bool is_part(etp_str event)
{
    return etp_str_starts(event, ETP_STR("ETVK_"));
}

static bool is_shader(etp_str event)
{
    return etp_str_starts(event, ETP_STR("{")) &&
           etp_str_find(event, ETP_STR("dispatch_id")) < event.len;
}

static bool wrote(etp_str event)
{
    return is_part(event) || is_shader(event);
}

static etp_span span(etp_str event)
{
    if (is_part(event)) {
        return (etp_span){.clock = ETP_SPAN_RUNTIME};
    }
    return (etp_span){
        .clock = ETP_SPAN_OWN_NS, .flat = true, .within = "ETVK_COMPUTE_GRAPH_EXECUTE"};
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

static size_t skip(etp_str s, size_t at, bool words)
{
    while (at < s.len && is_word(s.ptr[at]) == words) {
        at++;
    }
    return at;
}

// Shaders that are named by what they are made for, and an operator of their kind.
static const struct {
    const char *begins, *family;
} k_shaders[] = {
    {"binary",     "add" },
    {"unary",      "abs" },
    {"activation", "relu"},
    {"buffer_to",  "copy"},
    {"nchw_to",    "copy"},
    {"image_to",   "copy"},
    {"bitw8",      "copy"},
    {"pack_",      "copy"},
    {"transfer",   "copy"},
    {"coopmat_mm", "mm"  },
};

// The shader's name without what its variant adds: "conv2d_dw_output_tile_3x3_half" → "conv2d". It
// stands behind the word kernel_name, or first.
static etp_str family(etp_str event)
{
    if (is_part(event)) {
        bool copies = etp_str_starts(event, ETP_STR("ETVK_COPY_"));
        return copies ? ETP_STR("copy") : (etp_str){0};
    }
    size_t key = etp_str_find(event, ETP_STR("kernel_name"));
    size_t from = skip(event, key < event.len ? skip(event, key, true) : 0, false);
    etp_str name = (etp_str){event.ptr + from, skip(event, from, true) - from};
    static const etp_str k_int8 = {"q8ta_", 5}; // "q8ta_conv2d_dw" is a "conv2d_dw"
    if (etp_str_starts(name, k_int8)) {
        name = (etp_str){name.ptr + k_int8.len, name.len - k_int8.len};
    }
    for (size_t i = 0; i < sizeof k_shaders / sizeof *k_shaders; i++) {
        if (etp_str_starts(name, etp_str_from(k_shaders[i].begins))) {
            return etp_str_from(k_shaders[i].family);
        }
    }
    return etp_delegate_known_part(name);
}

const etp_delegate k_etp_delegate_vulkan = {"VulkanBackend", wrote, span, family, false, NULL};
