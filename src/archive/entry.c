// SPDX-License-Identifier: Apache-2.0
// What of a session goes into the store.
#include <math.h>

#include "archive/archive.h"
#include "base/guard.h"
#include "base/number.h"
#include "base/sha256.h"
#include "os/os.h"

// Block values lie block by block in an answer, an arm keeps its own column of them.
static void take_arm(const etp_ab *ab, uint32_t at, etp_arena *arena, etp_archive_session *out)
{
    const etp_ab_arm *arm = &ab->arms[at];
    const etp_ab_model *model = arm->model < ab->n_models ? &ab->models[arm->model] : NULL;
    double *blocks = ab->block_values ? ETP_NEW_ARRAY(arena, double, ab->n_blocks) : NULL;
    for (uint32_t b = 0; blocks && b < ab->n_blocks; b++) {
        blocks[b] = ab->block_values[(size_t)b * ab->n_arms + at];
    }
    etp_archive_arm x = {.phase = etp_str_from(ab->phase ? ab->phase->name : NULL),
                         .experiment = etp_str_from(arm->name),
                         .level = etp_str_from(arm->level_name),
                         .model = etp_str_from(model ? model->stem : NULL),
                         .model_sha256 = etp_str_from(model ? model->sha256 : NULL),
                         .proof = etp_str_from(etp_truth_name(arm->proof.truth)),
                         .threads = arm->threads,
                         .launches = arm->launches,
                         .samples = arm->samples,
                         .baseline = at == ab->baseline,
                         .median_ns = etp_known_ns(arm->median_ns),
                         .lo_ns = arm->lo_ns,
                         .hi_ns = arm->hi_ns,
                         .traced_ns = etp_known_ns(arm->traced_ns),
                         .load_ns = etp_known_ns(arm->load_ns),
                         .first_ns = etp_known_ns(arm->first_ns),
                         .peak_rss_bytes = etp_known_ns(arm->peak_rss_bytes),
                         .tokens_per_s = etp_ab_token_rate(ab, at),
                         .block_ns = blocks,
                         .n_blocks = blocks ? ab->n_blocks : 0};
    ETP_ADD(arena, &out->arms, x);
}

// Whether an operator ran on the feature is known of one arm alone.
static void take_operators(const etp_ab *ab, uint32_t first, etp_arena *arena,
                           etp_archive_session *out)
{
    for (uint32_t arm = 0; arm < ab->n_arms; arm++) {
        for (size_t i = 0; i < ab->n_operators; i++) {
            const etp_ab_operator *op = &ab->operators[i];
            // This arm has no such operator.
            if (op->names[arm].len == 0) {
                continue;
            }
            bool asked = arm == ab->engagement.arm && ab->engagement.feature_name;
            etp_archive_operator x = {
                .arm = first + arm,
                .id = etp_str_from(op->id),
                .label = etp_str_from(op->label),
                .category = etp_str_from(etp_category_name(op->category)),
                .names = op->names[arm],
                .engaged = etp_str_from(asked ? etp_ab_engaged_word(op->engaged.state) : NULL),
                .delegated = op->delegated,
                .ns = etp_known_ns(op->ns[arm]),
                .macs = op->macs == ETP_AB_NO_MACS ? (double)NAN : (double)op->macs};
            ETP_ADD(arena, &out->operators, x);
        }
    }
}

static void take_answer(const etp_ab *ab, etp_arena *arena, etp_archive_session *out)
{
    // Arms of later phases follow those of earlier ones, so indices of a phase's own answer move by
    // this.
    uint32_t first = (uint32_t)out->arms.n;
    for (uint32_t i = 0; i < ab->n_arms; i++) {
        take_arm(ab, i, arena, out);
    }
    for (size_t i = 0; i < ab->n_comparisons; i++) {
        const etp_ab_comparison *c = &ab->comparisons[i];
        double none = (double)NAN;
        etp_archive_comparison x = {
            .phase = etp_str_from(ab->phase ? ab->phase->name : NULL),
            .verdict = etp_str_from(c->withheld ? NULL : etp_verdict_name(c->verdict)),
            .withheld = etp_str_from(etp_withheld_name(c->withheld)),
            .baseline = first + c->baseline,
            .candidate = first + c->candidate,
            .blocks = c->blocks,
            .estimate = c->withheld ? none : c->estimate,
            .lo = c->withheld ? none : c->lo,
            .hi = c->withheld ? none : c->hi,
            .margin = c->margin,
            .noise_floor = c->noise_floor,
            .sign_flip_p = c->sign_flip_p};
        ETP_ADD(arena, &out->comparisons, x);
    }
    take_operators(ab, first, arena, out);
}

static void take_models(const etp_run *run, etp_arena *arena, etp_archive_session *out)
{
    etp_strbuf names, hashes;
    etp_strbuf_init(&names, arena);
    etp_strbuf_init(&hashes, arena);
    for (size_t i = 0; i < run->models.n; i++) {
        const etp_run_model *m = &run->models.items[i];
        etp_strbuf_printf(&names, "%s%.*s", i ? ", " : "", ETP_STR_ARG(m->stem));
        etp_strbuf_printf(&hashes, "%s%.*s", i ? " " : "", ETP_STR_ARG(m->sha256));
    }
    out->models = etp_strbuf_str(&names);
    out->programs = etp_strbuf_str(&hashes);
}

static bool is_timed(const etp_run *run)
{
    for (size_t i = 0; i < run->samples.n; i++) {
        if (run->samples.items[i].phase == ETP_PHASE_TIMED) {
            return true;
        }
    }
    return false;
}

static etp_status make_entry(const etp_ab_session *session, etp_arena *arena,
                             etp_archive_session *out, bool *out_finished, etp_error *err)
{
    const etp_ab *ab = etp_ab_answer(session);
    const etp_run *run = etp_ab_run(session);
    *out = (etp_archive_session){0};
    *out_finished = run && run->state == ETP_RUN_FINISHED && is_timed(run);
    if (!*out_finished) {
        return ETP_OK;
    }
    char *hex = etp_arena_alloc(arena, ETP_SHA256_HEX_CHARS);
    const char *manifest = etp_arena_printf(arena, "%s/" ETP_RUN_MANIFEST, ab->dir);
    uint64_t bytes;
    ETP_TRY(etp_run_hash_file(manifest, hex, &bytes, err));
    const char *folder = etp_os_absolute(ab->dir, arena);
    *out = (etp_archive_session){.run_id = etp_str_from(hex),
                                 .folder = etp_str_from(folder ? folder : ab->dir),
                                 .generated_at = run->generated_at,
                                 .platform = run->platform,
                                 .device = run->device_spec,
                                 .cpu = etp_run_fact_of(run, "cpu"),
                                 .runner_sha256 =
                                     run->arms.n ? run->arms.items[0].runner_sha256 : (etp_str){0},
                                 .executorch = run->executorch.version,
                                 .etprof = run->tool_version,
                                 .grade = etp_str_from(ab->judged.grade),
                                 .command = run->command,
                                 .config = run->config,
                                 .emulated = run->emulated,
                                 .blocks = run->blocks_done};
    take_models(run, arena, out);
    if (ab->n_phases == 0) {
        take_answer(ab, arena, out);
    }
    for (size_t i = 0; i < ab->n_phases; i++) { // the first phase's answer is the session's own
        take_answer(ab->phases[i].ab, arena, out);
    }
    return ETP_OK;
}

etp_status etp_archive_entry(const etp_ab_session *session, etp_arena *arena,
                             etp_archive_session *out, bool *out_finished, etp_error *err)
{
    ETP_GUARDED(arena, err, "an entry", make_entry(session, arena, out, out_finished, err));
}
