// SPDX-License-Identifier: Apache-2.0
// A program as one call runs it: work by hand, from the sizes that a text decoder was made with
// (tests/data/llm/make_decoder.py: 2 layers of width 32, 2 heads of 16, hidden width 64, vocabulary
// 64, a cache of 64), and what cannot be told.
#include <stdio.h>

#include "os/os.h"
#include "program/call.h"
#include "unit.h"

#define LLM ETP_TEST_SOURCE_DIR "/tests/data/llm/"

enum { LAYERS = 2, WIDTH = 32, HIDDEN = 64, VOCABULARY = 64, CACHE = 64 };
// Four matrices of attention and three of the feed-forward network, for each token.
#define LINEAR ((uint64_t)LAYERS * (4 * WIDTH * WIDTH + 3 * WIDTH * HIDDEN))
#define LOGITS ((uint64_t)WIDTH * VOCABULARY) // of the last token alone

typedef struct opened {
    etp_file file;
    const etp_program *program;
    const etp_method *forward;
} opened;

static opened open_call(const char *path, const etp_call *call)
{
    opened o = {0};
    etp_error err = {0};
    if (etp_file_open(path, (uint64_t)1 << 32, &o.file, &err) != ETP_OK ||
        etp_program_open_call(o.file.bytes, call, &o.program, &err) != ETP_OK) {
        fail_msg("%s: %s", path, err.msg);
    }
    o.forward = etp_program_find_method(o.program, ETP_STR("forward"));
    return o;
}

static void close_call(opened *o)
{
    etp_program_close(o->program);
    etp_file_close(&o->file);
}

static opened open_tokens(const char *path, int64_t n, int64_t positions, uint64_t twice_place)
{
    const etp_call_input inputs[] = {
        {.index = 0, .rank = 2, .dims = {1, n}     },
        {.index = 1, .rank = 1, .dims = {positions}}
    };
    const etp_call call = {
        .method = ETP_STR("forward"), .inputs = inputs, .n_inputs = 2, .twice_place = twice_place};
    return open_call(path, &call);
}

// Every matrix, and attention over the whole cache: two products of it and each query.
static void plain_attention(void **state)
{
    const int64_t tokens[] = {1, 2, 16, 33, 63};
    for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++) {
        uint64_t n = (uint64_t)tokens[i];
        opened o = open_tokens(LLM "decoder_plain.pte", tokens[i], 1, ETP_CALL_PLACE_UNKNOWN);
        assert_int_equal(o.forward->macs,
                         n * (LINEAR + (uint64_t)LAYERS * 2 * CACHE * WIDTH) + LOGITS);
        assert_false(o.forward->bound);
        close_call(&o);
    }
}

// Half of what PyTorch's own counter says of the eager model (torch.utils.flop_counter with
// ExecuTorch's llama_transformer and the decoder's parameters, attention as products of matrices).
static void as_pytorch_counts(void **state)
{
    const struct {
        int64_t n;
        uint64_t flops;
    } counted[] = {
        {1,  61440  },
        {16, 921600 },
        {63, 3616768}
    };
    for (size_t i = 0; i < sizeof counted / sizeof *counted; i++) {
        opened o = open_tokens(LLM "decoder_plain.pte", counted[i].n, 1, ETP_CALL_PLACE_UNKNOWN);
        assert_int_equal(2 * o.forward->macs, counted[i].flops);
        close_call(&o);
    }
}

// Query i of n behind p tokens sees p + i + 1 keys.
static void fused_attention(void **state)
{
    const struct {
        int64_t n;
        uint64_t place;
    } calls[] = {
        {1,  0 },
        {1,  32},
        {16, 0 },
        {7,  5 }
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        uint64_t n = (uint64_t)calls[i].n, seen = 0;
        for (uint64_t q = 0; q < n; q++) {
            seen += calls[i].place + q + 1;
        }
        opened o = open_tokens(LLM "decoder_fused.pte", calls[i].n, 1, 2 * calls[i].place);
        assert_int_equal(o.forward->macs,
                         n * LINEAR + (uint64_t)LAYERS * 2 * WIDTH * seen + LOGITS);
        assert_false(o.forward->bound);
        close_call(&o);
    }
}

// Four tokens one after another from place 8: places 8, 9, 10, 11 see 9 to 12 keys, 10.5 in the
// mean.
static void a_mean_of_places(void **state)
{
    opened o = open_tokens(LLM "decoder_fused.pte", 1, 1, 8 + 11);
    assert_int_equal(o.forward->macs, LINEAR + (uint64_t)LAYERS * WIDTH * 21 + LOGITS);
    close_call(&o);
}

static void an_unknown_place_is_a_bound(void **state)
{
    opened o = open_tokens(LLM "decoder_fused.pte", 1, 1, ETP_CALL_PLACE_UNKNOWN);
    assert_int_equal(o.forward->macs, LINEAR + (uint64_t)LAYERS * 2 * WIDTH * CACHE + LOGITS);
    assert_true(o.forward->bound);
    close_call(&o);
}

// Positions of their own: one layer of width 16, one head, a cache of 48, a vocabulary of 64,
// logits for every token (make_programs.py).
static void positions_of_their_own(void **state)
{
    for (int64_t n = 1; n <= 32; n += 31) {
        opened o = open_tokens(LLM "decoder_positions.pte", n, n, ETP_CALL_PLACE_UNKNOWN);
        assert_int_equal(o.forward->macs, n * (3 * 16 * 16 + 2 * 48 * 16 + 16 * 64));
        assert_false(o.forward->bound);
        close_call(&o);
    }
}

// The same decoder as the plain one, without a delegate.
static void kernels_alone(void **state)
{
    for (uint64_t n = 1; n <= 63; n += 31) {
        opened o = open_tokens(LLM "decoder_portable.pte", (int64_t)n, 1, ETP_CALL_PLACE_UNKNOWN);
        assert_int_equal(o.forward->macs,
                         n * (LINEAR + (uint64_t)LAYERS * 2 * CACHE * WIDTH) + LOGITS);
        assert_false(o.forward->bound);
        close_call(&o);
    }
}

// 3 × 3 windows of 3 channels for 8, padded by one: as many places as the picture has pixels.
static void pictures(void **state)
{
    const int64_t sides[][2] = {
        {8,  8 },
        {12, 20},
        {32, 32}
    };
    for (size_t i = 0; i < 3; i++) {
        const etp_call_input in = {
            .rank = 4, .dims = {1, 3, sides[i][0], sides[i][1]}
        };
        const etp_call call = {.inputs = &in, .n_inputs = 1, .twice_place = ETP_CALL_PLACE_UNKNOWN};
        opened o = open_call(LLM "shapes.pte", &call);
        assert_int_equal(o.forward->macs, (uint64_t)(sides[i][0] * sides[i][1]) * 8 * 27);
        assert_false(o.forward->bound);
        close_call(&o);
    }
}

// What a call moves: the queries of one token and what is in the cache, not all of it.
static void bytes_of_a_token(void **state)
{
    opened o = open_tokens(LLM "decoder_fused.pte", 1, 1, 2 * 31);
    size_t attention = 0, updates = 0;
    for (uint32_t i = 0; i < o.forward->n_instructions; i++) {
        const etp_instruction *in = &o.forward->instructions[i];
        if (etp_str_starts(in->op, ETP_STR("llama::custom_sdpa"))) {
            assert_int_equal(in->work.bytes, 4 * (2 * WIDTH + 2 * 32 * WIDTH));
            attention++;
        } else if (etp_str_starts(in->op, ETP_STR("llama::update_cache"))) {
            assert_int_equal(in->work.bytes, 4 * 2 * WIDTH);
            updates++;
        }
    }
    assert_int_equal(attention, LAYERS);
    assert_int_equal(updates, 2 * LAYERS);
    close_call(&o);
}

// Without a call, and with one that the program does not take, sizes stay bounds.
static void bounds_stay_bounds(void **state)
{
    const uint64_t most = 63 * (LINEAR + (uint64_t)LAYERS * 2 * CACHE * WIDTH) + LOGITS;
    const etp_call_input wrong[] = {
        {.index = 0, .rank = 2, .dims = {1, 64}},
        {.index = 0, .rank = 1, .dims = {1}    },
        {.index = 2, .rank = 2, .dims = {1, 1} }
    };
    for (size_t i = 0; i <= 3; i++) {
        const etp_call call = {.method = ETP_STR("forward"), .inputs = &wrong[i], .n_inputs = 1};
        opened o = open_call(LLM "decoder_plain.pte", i < 3 ? &call : NULL);
        assert_int_equal(o.forward->macs, most);
        assert_true(o.forward->bound);
        assert_true(o.forward->values[o.forward->inputs[0]].dynamic);
        close_call(&o);
    }
    const etp_call largest = {.twice_place = ETP_CALL_PLACE_UNKNOWN};
    opened o = open_call(LLM "decoder_plain.pte", &largest);
    assert_int_equal(o.forward->macs, most);
    assert_false(o.forward->bound);
    close_call(&o);
}

static void calls_as_text(void **state)
{
    etp_call_input room[ETP_CALL_INPUTS];
    etp_call call;
    assert_true(etp_call_read(ETP_STR("m"), ETP_STR("0=1x64,3=7"), ETP_STR("3.5"), room, &call));
    assert_int_equal(call.n_inputs, 2);
    assert_int_equal(room[0].rank, 2);
    assert_int_equal(room[0].dims[1], 64);
    assert_int_equal(room[1].index, 3);
    assert_int_equal(call.twice_place, 7);
    assert_true(etp_call_read(ETP_STR("m"), ETP_STR(""), ETP_STR(""), room, &call));
    assert_int_equal(call.n_inputs, 0);
    assert_int_equal(call.twice_place, ETP_CALL_PLACE_UNKNOWN);
    static const char *const k_wrong[] = {"0", "0=", "0=1x", "0=1x0", "=1", "0=1,,1=2", "0=-1"};
    for (size_t i = 0; i < sizeof k_wrong / sizeof *k_wrong; i++) {
        assert_false(
            etp_call_read(ETP_STR("m"), etp_str_from(k_wrong[i]), ETP_STR(""), room, &call));
    }
}
