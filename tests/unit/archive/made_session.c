// SPDX-License-Identifier: Apache-2.0
#include "made_session.h"

#include <math.h>
#include <stdlib.h>

#include "base/sha256.h"

#define BLOCKS 10

static etp_str printed(const char *text)
{
    if (!text) {
        abort();
    }
    return etp_str_from(text);
}

static void *zeroed(etp_arena *arena, size_t n, size_t size)
{
    void *p = etp_arena_alloc_array(arena, n, size);
    if (!p) {
        abort();
    }
    return p;
}

static void add_arm(etp_archive_session *s, unsigned arm, double ns, etp_str model,
                    etp_arena *arena)
{
    double *blocks = zeroed(arena, BLOCKS, sizeof *blocks);
    for (unsigned b = 0; b < BLOCKS; b++) {
        blocks[b] = ns * (1 + 0.001 * ((b * 7 + arm) % 5));
    }
    etp_archive_arm *x = &s->arms.items[s->arms.n++];
    *x = (etp_archive_arm){.experiment = printed(arm ? "linux_vnni" : "linux_avx2"),
                           .level = printed(arm ? "vnni" : "avx2"),
                           .model = model,
                           .model_sha256 = s->programs,
                           .proof = ETP_STR("confirmed"),
                           .threads = 1,
                           .launches = BLOCKS,
                           .samples = 100,
                           .baseline = arm == 0,
                           .median_ns = ns,
                           .lo_ns = ns * 0.99,
                           .hi_ns = ns * 1.01,
                           .traced_ns = ns * 1.02,
                           .load_ns = 2e6,
                           .first_ns = ns * 3,
                           .peak_rss_bytes = 5e7,
                           .tokens_per_s = (double)NAN,
                           .block_ns = blocks,
                           .n_blocks = BLOCKS};
    for (unsigned i = 0; i < MADE_OPERATORS; i++) {
        s->operators.items[s->operators.n++] = (etp_archive_operator){
            .arm = arm,
            .id = printed(etp_arena_printf(arena, "op%u", i)),
            .label = printed(etp_arena_printf(arena, "conv %u", i)),
            .category = ETP_STR("Convolution"),
            .names = printed(etp_arena_printf(arena, "Convolution (NHWC, QC8) %u", i)),
            .engaged = printed(arm ? "engaged" : ""),
            .delegated = true,
            .ns = ns / MADE_OPERATORS,
            .macs = 1e6};
    }
}

etp_archive_session made_session(unsigned number, unsigned models, unsigned devices,
                                 etp_arena *arena)
{
    unsigned model = number % models, device = number / models % devices,
             night = number / models / devices;
    char *hex = zeroed(arena, 1, ETP_SHA256_HEX_CHARS);
    etp_sha256 hash;
    etp_sha256_init(&hash);
    etp_sha256_update(&hash, &number, sizeof number);
    etp_sha256_hex(&hash, hex);
    etp_str name = printed(etp_arena_printf(arena, "model_%u", model));
    double ns = (1e6 + 1e4 * model) * (1 + 0.01 * device) * (1 + 0.002 * (number * 37 % 11)) *
                (night >= 60 && model % 10 == 0 ? 1.1 : 1);
    etp_archive_session s = {
        .run_id = etp_str_from(hex),
        .folder = printed(
            etp_arena_printf(arena, "/nightly/%u/device_%u/model_%u", night, device, model)),
        .generated_at =
            printed(etp_arena_printf(arena, "2026-%02u-%02uT%02u:%02u:00Z", night / 28 % 12 + 1,
                                     night % 28 + 1, device % 24, model % 60)),
        .platform = ETP_STR("linux"),
        .device = printed(etp_arena_printf(arena, "ssh:device_%u", device)),
        .cpu = ETP_STR("AMD EPYC 9B45"),
        .models = name,
        .programs = etp_str_from(hex),
        .runner_sha256 = ETP_STR("cd34"),
        .executorch = ETP_STR("1.5.1"),
        .etprof = ETP_STR("0.1.0"),
        .grade = ETP_STR("A"),
        .command = ETP_STR("etprof ab model.pte"),
        .blocks = BLOCKS};
    s.arms.items = zeroed(arena, MADE_ARMS, sizeof *s.arms.items);
    s.operators.items = zeroed(arena, MADE_ARMS * MADE_OPERATORS, sizeof *s.operators.items);
    s.comparisons.items = zeroed(arena, 1, sizeof *s.comparisons.items);
    add_arm(&s, 0, ns, name, arena);
    add_arm(&s, 1, ns / 1.5, name, arena);
    s.comparisons.items[s.comparisons.n++] = (etp_archive_comparison){.verdict = ETP_STR("faster"),
                                                                      .candidate = 1,
                                                                      .blocks = BLOCKS,
                                                                      .estimate = 1.5,
                                                                      .lo = 1.49,
                                                                      .hi = 1.51,
                                                                      .margin = 0.01,
                                                                      .noise_floor = 0.002,
                                                                      .sign_flip_p = (double)NAN};
    return s;
}
