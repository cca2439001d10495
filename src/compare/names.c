// SPDX-License-Identifier: Apache-2.0
// What arms are called where a reader takes a figure away. An experiment's name is what somebody
// wished to measure; a headline, a picture and a line to quote say what was measured: level, model,
// threads, device.
#include "compare/session.h"

#include <string.h>

#include "base/sink.h"
#include "base/utf8.h"

static etp_str stem_of(const etp_ab *ab, size_t model)
{
    const char *stem = ab->models[model].stem;
    return etp_str_from(ETP_OR(stem, "model"));
}

// Does a word end at S[AT]? A version is one word.
static bool between_words(etp_str s, size_t at)
{
    const char *c = &s.ptr[at];
    if (*c == '.' && at > 0 && at + 1 < s.len) {
        return !(c[-1] >= '0' && c[-1] <= '9' && c[1] >= '0' && c[1] <= '9');
    }
    return strchr("_-.", *c) != NULL;
}

// How many leading bytes all stems share, up to the end of a word; with TAIL how many trailing
// ones.
static size_t shared(const etp_ab *ab, bool tail)
{
    etp_str first = stem_of(ab, 0);
    size_t cut = 0;
    for (size_t n = 1; n <= first.len; n++) {
        etp_str part = {tail ? first.ptr + first.len - n : first.ptr, n};
        for (size_t i = 1; i < ab->n_models; i++) {
            etp_str s = stem_of(ab, i);
            if (tail ? !etp_str_ends(s, part) : !etp_str_starts(s, part)) {
                return cut;
            }
        }
        if (between_words(first, tail ? first.len - n : n - 1)) {
            cut = n;
        }
    }
    return cut;
}

// What tells a model from the others of the session: "fp16" of net_xnnpack_fp16 beside
// net_xnnpack_int8.
const char *etp_ab_model_word(const etp_ab *ab, size_t model, etp_arena *arena)
{
    etp_str s = stem_of(ab, model);
    size_t front = ab->n_models > 1 ? shared(ab, false) : 0,
           back = ab->n_models > 1 ? shared(ab, true) : 0;
    if (front + back >= s.len) {
        return etp_arena_strdup(arena, s);
    }
    return etp_arena_strdup(arena, (etp_str){s.ptr + front, s.len - front - back});
}

static bool threads_differ(const etp_ab *ab)
{
    for (size_t i = 1; i < ab->n_arms; i++) {
        if (ab->arms[i].threads != ab->arms[0].threads) {
            return true;
        }
    }
    return false;
}

// Named after no feature that may be absent from a model.
static bool is_plain(etp_level level)
{
    return level == ETP_LEVEL_AVX512 || level == ETP_LEVEL_AVX2 || level == ETP_LEVEL_SSE ||
           etp_level_hides_one(level);
}

static bool is_vnni(etp_code code)
{
    return code != ETP_CODE_UNKNOWN && (ETP_VNNI_CODES >> code & 1) != 0;
}

static const char *code_word(etp_code code)
{
    return is_vnni(code) ? "VNNI" : etp_code_title(code);
}

typedef struct at_work {
    etp_code most, second; // ETP_CODE_UNKNOWN: none
} at_work;

// Of the samples in kernels that the baseline's level lacks: what most of them are in, and where
// that is not VNNI what at least a quarter as many are in. A gain is of both.
static at_work seen_at(const etp_ab *ab, const etp_ab_arm *a)
{
    const etp_ab_arm *base = &ab->arms[ab->baseline];
    etp_level lower = base->level != a->level ? base->level : ETP_LEVEL_NONE;
    etp_codes classes = etp_kernels_classes(a->level, lower);
    at_work seen = {etp_kernels_most(a->kernels, classes), ETP_CODE_UNKNOWN};
    if (seen.most != ETP_CODE_UNKNOWN && !is_vnni(seen.most)) {
        classes &= ~((etp_codes)1 << seen.most);
        etp_code second = etp_kernels_most(a->kernels, classes);
        bool much = second != ETP_CODE_UNKNOWN &&
                    a->kernels->evidence_of[second] >= a->kernels->evidence_of[seen.most] / 4;
        seen.second = much ? second : seen.second;
    }
    return seen;
}

const char *etp_ab_ran_instead(const etp_ab *ab, const etp_ab_arm *a)
{
    const etp_level_info *info = etp_level_get(a->level);
    if (!info || info->family != ETP_ISA_X86_64 || is_plain(a->level) ||
        a->level == ETP_LEVEL_BEST_X86_64) {
        return NULL;
    }
    const at_work seen = seen_at(ab, a);
    const etp_codes own = etp_kernels_classes(a->level, ETP_LEVEL_NONE);
    bool instead = seen.most != ETP_CODE_UNKNOWN && !(own >> seen.most & 1) &&
                   (seen.second == ETP_CODE_UNKNOWN || !(own >> seen.second & 1));
    return instead ? code_word(seen.most) : NULL;
}

// What a level is called in sentences. One whose name is that of a feature is called after it only
// where names or samples show that the feature ran; where samples show another one that the
// baseline does not have, after that. Else it is the level and no more.
static const char *level_called(const etp_ab *ab, const etp_ab_arm *a, etp_arena *arena)
{
    const etp_level_info *info = etp_level_get(a->level);
    if (!info) {
        return a->level_name;
    }
    bool best = a->level == ETP_LEVEL_BEST_X86_64 || a->level == ETP_LEVEL_BEST_AARCH64;
    if (is_plain(a->level) || (info->family == ETP_ISA_AARCH64 && !best)) {
        return info->word;
    }
    if (best && a == &ab->arms[ab->baseline]) { // what the others hide differs
        return info->word;
    }
    const at_work seen = seen_at(ab, a);
    const char *word = seen.most != ETP_CODE_UNKNOWN ? code_word(seen.most) : NULL;
    if (seen.second != ETP_CODE_UNKNOWN) {
        word = etp_arena_printf(arena, "%s + %s", word, code_word(seen.second));
    }
    bool named = a->profile && a->level == ETP_LEVEL_VNNI && a->proof.truth == ETP_CONFIRMED &&
                 etp_feature_of_names(a->profile, NULL) == ETP_FEATURE_VNNI;
    word = word || !named ? word : info->word;
    for (size_t i = 0; word && i < ab->n_arms; i++) { // another arm of that name
        const etp_ab_arm *other = &ab->arms[i];
        bool taken = other->level != a->level && is_plain(other->level) &&
                     strcmp(etp_level_get(other->level)->word, word) == 0;
        word = etp_z_if(!taken, word);
    }
    return ETP_OR(word, etp_arena_printf(arena, "level %s", info->name));
}

const char *etp_ab_fix_command(const etp_ab_fix *f, const char *dir, etp_arena *arena)
{
    return f->behind_dir ? etp_arena_printf(arena, "%s %s%s", f->command, dir, f->behind_dir)
                         : f->command;
}

// Of one that is only said, the level that is said, whatever ran.
const char *etp_ab_level_called(const etp_ab *ab, const etp_ab_arm *a, etp_arena *arena)
{
    bool said = a->level != ETP_LEVEL_NONE && etp_level_is_said(a->level_name);
    return said ? etp_arena_printf(arena, "%s (said)", etp_level_get(a->level)->word)
                : level_called(ab, a, arena);
}

static bool levels_differ(const etp_ab *ab) // any arm's from another's
{
    for (size_t i = 1; i < ab->n_arms; i++) {
        if (ab->arms[i].level != ab->arms[0].level) {
            return true;
        }
    }
    return false;
}

static void add(etp_strbuf *to, const char *between, const char *part)
{
    etp_strbuf_printf(to, "%s%s", etp_if(to->len, between), part);
}

static const char *measured(const etp_ab *ab, const etp_ab_arm *a, etp_arena *arena)
{
    if (a->level == ETP_LEVEL_NONE) {
        return a->name;
    }
    etp_strbuf buf;
    etp_strbuf_init(&buf, arena);
    const bool models = ab->n_models > 1 && a->model < ab->n_models;
    const bool one_level = !levels_differ(ab);
    if (models) {
        add(&buf, "", etp_ab_model_word(ab, a->model, arena));
    }
    if (!(one_level && (a->cache || models || a->build))) { // else it tells no arm from another
        add(&buf, " at ", etp_ab_level_called(ab, a, arena));
    }
    if (a->cache) {
        add(&buf, ", ", etp_ab_cache_called(a, arena));
    }
    if (a->threads && threads_differ(ab)) {
        add(&buf, ", ",
            etp_arena_printf(arena, "%u thread%s", a->threads, etp_if(a->threads != 1, "s")));
    }
    if (a->build) {
        add(&buf, ", ", etp_ab_build_called(a, arena));
    }
    return buf.ptr;
}

bool etp_ab_models_at_one_level(const etp_ab *ab)
{
    const etp_level_info *info = ab->n_models > 1 ? etp_level_get(ab->arms[0].level) : NULL;
    return info && info->family == ETP_ISA_X86_64 && !levels_differ(ab);
}

const char *etp_ab_build_called(const etp_ab_arm *a, etp_arena *arena)
{
    return a->executorch ? etp_arena_printf(arena, "ExecuTorch %s", a->executorch)
                         : etp_arena_printf(arena, "build %c", a->build);
}

const char *etp_ab_cache_called(const etp_ab_arm *a, etp_arena *arena)
{
    return etp_arena_printf(arena, "cache %s", etp_packed_cache_name(a->cache));
}

// Different builds, folders or days of one level: the names are what tells them apart.
static bool all_differ(const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < i; k++) {
            if (strcmp(names[i], names[k]) == 0) {
                return false;
            }
        }
    }
    return true;
}

const char *etp_ab_fact_of(const etp_ab *ab, const char *key)
{
    for (size_t i = 0; i < ab->n_device; i++) {
        if (strcmp(ab->device[i].key, key) == 0) {
            return ab->device[i].value;
        }
    }
    return NULL;
}

static void subject(const etp_ab *ab, etp_ab *out)
{
    const char *model = etp_ab_fact_of(ab, "model"); // a phone's
    const char *cpu = ETP_OR(model, etp_ab_fact_of(ab, "cpu"));
    out->subject = NULL;
    out->where = "";
    if (ab->bare || ab->n_models == 0 || ab->n_arms == 0) {
        return;
    }
    etp_strbuf models, threads;
    etp_strbuf_init(&models, ab->arena);
    etp_strbuf_init(&threads, ab->arena);
    for (size_t i = 0; i < ab->n_models; i++) {
        etp_strbuf_printf(&models, "%s%.*s", etp_if(i, ", "), ETP_STR_ARG(stem_of(ab, i)));
    }
    if (ab->arms[0].threads && !threads_differ(ab)) {
        etp_strbuf_printf(&threads, ", %u thread%s", ab->arms[0].threads,
                          etp_if(ab->arms[0].threads != 1, "s"));
    }
    const etp_level_info *level = etp_level_get(ab->arms[0].level);
    if (level && (ab->n_models > 1 || ab->arms[0].build) && !levels_differ(ab)) {
        etp_strbuf_printf(&threads, ", level %s", level->name);
    }
    if (cpu) {
        out->where =
            etp_arena_printf(ab->arena, "on %s%s%.*s", etp_if(ab->emulated, "an emulator of "), cpu,
                             ETP_STR_ARG(etp_strbuf_str(&threads)));
        etp_strbuf_printf(&models, " %s", out->where);
    } else {
        etp_strbuf_append(&models, etp_strbuf_str(&threads));
    }
    out->subject = etp_strbuf_str(&models).ptr;
}

static bool is_letter(char c)
{
    return (etp_lower(c) >= 'a' && etp_lower(c) <= 'z') || (c >= '0' && c <= '9');
}

static bool begins(const char *at, const char *word)
{
    while (*word && etp_lower(*at) == *word) {
        at++, word++;
    }
    return *word == '\0';
}

// "SME2-On", "sme2on"; "sme21" is another word.
static bool has_word(const char *name, const char *word)
{
    size_t len = strlen(word);
    for (const char *at = name; *at; at++) {
        bool ends = begins(at, word) &&
                    (!is_letter(at[len]) || begins(at + len, "on") || begins(at + len, "off"));
        if (ends && (at == name || !is_letter(at[-1]))) {
            return true;
        }
    }
    return false;
}

// The level that an arm's name speaks of, unless that is its own. "base" says as often what others
// are compared with.
static const etp_level_info *level_in_name(const etp_ab_arm *a)
{
    const etp_level_info *found = NULL;
    for (int i = 1; i < ETP_LEVEL_COUNT; i++) {
        const etp_level_info *info = etp_level_get((etp_level)i);
        if (etp_level_of_word(info->name) == info->level && info->level != ETP_LEVEL_BASE &&
            has_word(a->name, info->name)) {
            if (info->level == a->level) {
                return NULL;
            }
            found = ETP_OR(found, info);
        }
    }
    return found || !has_word(a->name, "sme") ? found : etp_level_get(ETP_LEVEL_SME1);
}

#define NAMED_MOST 4 // arms in a sentence

typedef struct naming { // arms of one kind in a sentence
    etp_strbuf text;
    size_t n;
    const etp_level_info *last;
} naming;

static void add_naming(naming *to, const char *between, const etp_level_info *info,
                       const char *text)
{
    if (to->n++ < NAMED_MOST) {
        etp_strbuf_printf(&to->text, "%s%s", etp_if(to->n > 1, between), text);
    }
    to->last = info;
}

static const char *misnamed(const etp_ab *ab, etp_arena *arena)
{
    naming other = {.n = 0}, unknown = {.n = 0};
    bool claims = false; // some arm of unknown level is called after what it is to have had
    etp_strbuf_init(&other.text, arena);
    etp_strbuf_init(&unknown.text, arena);
    for (size_t i = 0; i < ab->n_arms; i++) {
        const etp_ab_arm *a = &ab->arms[i];
        const etp_level_info *info = level_in_name(a), *own = etp_level_get(a->level);
        // Names of a recording show some levels, whatever it is called.
        bool shown = a->profile && etp_feature_of_names(a->profile, NULL) != ETP_FEATURE_NONE;
        if (info && !own && !shown) {
            add_naming(&unknown, ", ", info, a->name);
            claims = claims || !has_word(a->name, "off");
        } else if (info && own && !etp_level_hides_one(a->level) &&
                   !has_word(a->name, "off")) { // "…_sme2_off" claims no SME2
            add_naming(&other, "; ", info,
                       etp_arena_printf(arena, "the experiment %s was measured at %s, not at %s",
                                        a->name, own->word, info->word));
        }
    }
    etp_strbuf out;
    etp_strbuf_init(&out, arena);
    if (other.n > 0) {
        etp_strbuf_printf(&out, "%s: no figure here is about %s", other.text.ptr, other.last->word);
    }
    if (claims) {
        etp_strbuf_printf(&out,
                          "%swhat ran is unknown: no recording names the level of %s%s, and a "
                          "label is not evidence for %s",
                          etp_if(other.n, "; "), unknown.text.ptr,
                          etp_if(unknown.n > NAMED_MOST, " and others"), unknown.last->word);
    }
    return etp_z_if(other.n > 0 || claims, out.ptr);
}

const char *const *etp_ab_arm_names(const etp_ab *ab)
{
    const char **names = ETP_NEW_ARRAY(ab->arena, const char *, ab->n_arms + 1);
    for (size_t i = 0; i < ab->n_arms; i++) {
        names[i] = measured(ab, &ab->arms[i], ab->arena);
    }
    bool plain = ab->bare || !all_differ(names, ab->n_arms);
    for (size_t i = 0; i < ab->n_arms && plain; i++) {
        names[i] = ab->arms[i].name;
    }
    return names;
}

void etp_ab_name(const etp_ab *ab, etp_ab *out)
{
    subject(ab, out);
    out->misnamed = misnamed(ab, ab->arena);
}

const char *etp_ab_arm_called(const etp_ab *ab, uint32_t arm)
{
    return etp_ab_arm_names(ab)[arm];
}

const etp_ab_operator *etp_ab_operator_of(const etp_ab *ab, const char *id)
{
    for (size_t i = 0; i < ab->n_operators; i++) {
        if (strcmp(ab->operators[i].id, id) == 0) {
            return &ab->operators[i];
        }
    }
    return NULL;
}
