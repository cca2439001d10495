// SPDX-License-Identifier: Apache-2.0
// Asks the XNNPACK inside a library what it calls an operator of one data type, and runs it.
//
// usage: ask_names LIBRARY TYPE     prints the names of the operators, one a line
//
// It knows nothing of etprof. Declarations are those of XNNPACK's public header, as far as they are
// used.
#include <dlfcn.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FP32 = 1, FP16, QINT8, QUINT8, QINT32, QCINT8, QCINT32, QCINT4, QDINT8 };
enum { INPUT = 1, OUTPUT = 2, PROFILE = 8, NONE = -1 };

typedef struct value {
    uint32_t id;
    void *data;
} value;

static void *library;

static void *need(const char *name)
{
    void *f = dlsym(library, name);
    if (!f) {
        fprintf(stderr, "no %s\n", name);
        exit(3);
    }
    return f;
}

// ISO C has no cast from a pointer to an object to one to a function.
#define FUNCTION(type, var, name) \
    type var;                     \
    void *var##_at = need(name);  \
    memcpy(&var, &var##_at, sizeof var)

static void ok(int status, const char *what)
{
    if (status != 0) {
        fprintf(stderr, "%s: status %d\n", what, status);
        exit(4);
    }
}

static void *graph;
static float scales[64];
static _Alignas(64) unsigned char weights[131072], biases[4096], in[131072], in2[131072],
    out[131072];

static uint32_t plain(int type, size_t n, const size_t *dims, const void *data, uint32_t external,
                      uint32_t flags)
{
    typedef int (*fn)(void *, int, size_t, const size_t *, const void *, uint32_t, uint32_t,
                      uint32_t *);
    FUNCTION(fn, f, "xnn_define_tensor_value");
    uint32_t id;
    ok(f(graph, type, n, dims, data, external, flags, &id), "tensor");
    return id;
}

static uint32_t quantised(size_t n, const size_t *dims, uint32_t external, uint32_t flags)
{
    typedef int (*fn)(void *, int, int32_t, float, size_t, const size_t *, const void *, uint32_t,
                      uint32_t, uint32_t *);
    FUNCTION(fn, f, "xnn_define_quantized_tensor_value");
    uint32_t id;
    ok(f(graph, QINT8, 0, 0.5f, n, dims, NULL, external, flags, &id), "quantised tensor");
    return id;
}

static uint32_t by_channel(int type, size_t n, size_t channel, const size_t *dims, const void *data)
{
    typedef int (*fn)(void *, int, int32_t, const float *, size_t, size_t, const size_t *,
                      const void *, uint32_t, uint32_t, uint32_t *);
    FUNCTION(fn, f, "xnn_define_channelwise_quantized_tensor_value_v2");
    uint32_t id;
    ok(f(graph, type, type == QCINT4 ? 8 : 0, scales, n, channel, dims, data, UINT32_MAX, 0, &id),
       "weights");
    return id;
}

static uint32_t dynamic(uint32_t from, size_t n, const size_t *dims)
{
    typedef int (*define)(void *, int, size_t, size_t, const size_t *, uint32_t, uint32_t,
                          uint32_t *);
    typedef int (*convert)(void *, uint32_t, uint32_t, uint32_t);
    FUNCTION(define, f, "xnn_define_dynamically_quantized_tensor_value");
    FUNCTION(convert, c, "xnn_define_convert");
    uint32_t id;
    ok(f(graph, QDINT8, n, 1, dims, UINT32_MAX, 0, &id), "dynamic tensor");
    ok(c(graph, from, id, 0), "convert");
    return id;
}

// 32 rows of 256 to 64: most of the time is in the kernel.
static void linear(const char *type)
{
    typedef int (*fn)(void *, float, float, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t);
    FUNCTION(fn, f, "xnn_define_fully_connected");
    static const size_t k_in[] = {32, 256}, k_w[] = {64, 256}, k_b[] = {64};
    static const size_t k_out[] = {32, 64};
    bool half = strstr(type, "16") != NULL, stat = strcmp(type, "linear_int8") == 0;
    bool dyn8 = strcmp(type, "linear_dyn8") == 0, dyn4 = strcmp(type, "linear_dyn4") == 0;
    uint32_t a, w, b, y;
    if (stat) {
        a = quantised(2, k_in, 0, INPUT);
        w = by_channel(QCINT8, 2, 0, k_w, weights);
        b = by_channel(QCINT32, 1, 0, k_b, biases);
        y = quantised(2, k_out, 1, OUTPUT);
    } else {
        int t = half ? FP16 : FP32, packed = dyn8 ? QCINT8 : QCINT4;
        a = plain(t, 2, k_in, NULL, 0, INPUT);
        a = dyn8 || dyn4 ? dynamic(a, 2, k_in) : a;
        w = dyn8 || dyn4 ? by_channel(packed, 2, 0, k_w, weights)
                         : plain(t, 2, k_w, weights, UINT32_MAX, 0);
        b = plain(t, 1, k_b, biases, UINT32_MAX, 0);
        y = plain(t, 2, k_out, NULL, 1, OUTPUT);
    }
    ok(f(graph, -INFINITY, INFINITY, a, w, b, y, 0), "fully connected");
}

// An 18×18 image of 16 channels, window of 3×3, to 16.
static void convolution(const char *type)
{
    typedef int (*conv)(void *, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t,
                        uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, size_t, size_t, float,
                        float, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t);
    typedef int (*depth)(void *, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t,
                         uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, size_t, float, float,
                         uint32_t, uint32_t, uint32_t, uint32_t, uint32_t);
    static const size_t k_in[] = {1, 18, 18, 16}, k_out[] = {1, 16, 16, 16}, k_b[] = {16};
    static const size_t k_w[] = {16, 3, 3, 16}, k_dw[] = {1, 3, 3, 16};
    bool dw = strncmp(type, "dw", 2) == 0, int8 = strstr(type, "int8") != NULL;
    const size_t *wd = dw ? k_dw : k_w, *od = k_out, *bd = k_b;
    int t = strstr(type, "16") ? FP16 : FP32;
    size_t axis = dw ? 3 : 0;
    uint32_t a = int8 ? quantised(4, k_in, 0, INPUT) : plain(t, 4, k_in, NULL, 0, INPUT);
    uint32_t w =
        int8 ? by_channel(QCINT8, 4, axis, wd, weights) : plain(t, 4, wd, weights, UINT32_MAX, 0);
    uint32_t b =
        int8 ? by_channel(QCINT32, 1, 0, bd, biases) : plain(t, 1, bd, biases, UINT32_MAX, 0);
    uint32_t y = int8 ? quantised(4, od, 1, OUTPUT) : plain(t, 4, od, NULL, 1, OUTPUT);
    if (dw) {
        FUNCTION(depth, f, "xnn_define_depthwise_convolution_2d");
        ok(f(graph, 0, 0, 0, 0, 3, 3, 1, 1, 1, 1, 1, 16, -INFINITY, INFINITY, a, w, b, y, 0), "dw");
    } else {
        FUNCTION(conv, f, "xnn_define_convolution_2d");
        ok(f(graph, 0, 0, 0, 0, 3, 3, 1, 1, 1, 1, 1, 16, 16, -INFINITY, INFINITY, a, w, b, y, 0),
           "convolution");
    }
}

static void product(void)
{
    typedef int (*fn)(void *, uint32_t, uint32_t, uint32_t, uint32_t);
    FUNCTION(fn, f, "xnn_define_batch_matrix_multiply");
    static const size_t k_a[] = {2, 32, 64}, k_b[] = {2, 64, 64}, k_y[] = {2, 32, 64};
    uint32_t a = plain(FP32, 3, k_a, NULL, 0, INPUT);
    uint32_t b = plain(FP32, 3, k_b, NULL, 2, INPUT);
    uint32_t y = plain(FP32, 3, k_y, NULL, 1, OUTPUT);
    ok(f(graph, a, b, y, 0), "batch matrix multiply");
}

static void print_names(void *runtime)
{
    typedef int (*fn)(void *, int, size_t, void *, size_t *);
    FUNCTION(fn, f, "xnn_get_runtime_profiling_info");
    static char names[4096];
    size_t n = 0, size = 0;
    ok(f(runtime, 0, sizeof n, &n, &size), "number of operators");
    ok(f(runtime, 1, sizeof names, names, &size), "names");
    const char *at = names;
    for (size_t i = 0; i < n && at < names + sizeof names - 1; i++, at += strlen(at) + 1) {
        puts(at);
    }
}

int main(int argc, char **argv)
{
    typedef int (*init)(const void *);
    typedef int (*create)(uint32_t, uint32_t, void **);
    typedef int (*runtime_of)(void *, void *, uint32_t, void **);
    typedef int (*setup)(void *, size_t, const value *);
    typedef int (*invoke)(void *);
    const char *first = getenv("ASK_FIRST"); // what LIBRARY takes from PyTorch otherwise
    if (first && !dlopen(first, RTLD_LAZY | RTLD_GLOBAL)) {
        fprintf(stderr, "%s\n", dlerror());
        return 2;
    }
    library = argc == 3 ? dlopen(argv[1], RTLD_LAZY | RTLD_GLOBAL) : NULL;
    if (!library) {
        fprintf(stderr, "%s\n", argc == 3 ? dlerror() : "usage: ask_names LIBRARY TYPE");
        return 2;
    }
    for (size_t i = 0; i < 64; i++) {
        scales[i] = 0.01f;
    }
    FUNCTION(init, initialise, "xnn_initialize");
    FUNCTION(create, make, "xnn_create_subgraph");
    FUNCTION(runtime_of, runtime_make, "xnn_create_runtime_v2");
    FUNCTION(setup, bind, "xnn_setup_runtime");
    FUNCTION(invoke, run, "xnn_invoke_runtime");
    void *runtime = NULL;
    bool bmm = strcmp(argv[2], "product_fp32") == 0;
    ok(initialise(NULL), "initialize");
    ok(make(3, 0, &graph), "subgraph");
    if (bmm) {
        product();
    } else if (strncmp(argv[2], "linear", 6) == 0) {
        linear(argv[2]);
    } else {
        convolution(argv[2]);
    }
    ok(runtime_make(graph, NULL, PROFILE, &runtime), "runtime");
    const value values[] = {
        {0, in },
        {1, out},
        {2, in2}
    };
    ok(bind(runtime, bmm ? 3 : 2, values), "setup");
    ok(run(runtime), "invoke");
    print_names(runtime);
    return 0;
}
