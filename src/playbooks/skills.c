// SPDX-License-Identifier: Apache-2.0
// Playbooks: front matter, commands with their settings filled in, selection by name and number.
#include "playbooks/skills.h"

#include <string.h>

#include "base/guard.h"
#include "base/number.h"
#include "base/sink.h"

#define MOST_WORDS 64
#define ETP_SKILL_RUN "{run}"

// ---- lines ----

static bool next_line(etp_str *rest, etp_str *line)
{
    if (rest->len == 0) {
        return false;
    }
    size_t n = etp_str_find(*rest, ETP_STR("\n"));
    *line = (etp_str){rest->ptr, n};
    size_t used = n < rest->len ? n + 1 : n;
    *rest = (etp_str){rest->ptr + used, rest->len - used};
    return true;
}

static bool split_at(etp_str s, const char *mark, etp_str *before, etp_str *after)
{
    size_t at = etp_str_find(s, etp_str_from(mark));
    if (at >= s.len) {
        return false;
    }
    size_t skip = at + strlen(mark);
    *before = etp_str_trim((etp_str){s.ptr, at}, " ");
    *after = etp_str_trim((etp_str){s.ptr + skip, s.len - skip}, " ");
    return true;
}

// ---- settings ----

static const char *lookup(const etp_skill_settings *s, etp_str name)
{
    for (size_t i = 0; s && i < s->n; i++) {
        if (etp_str_eqz(name, s->items[i].name)) {
            return s->items[i].value;
        }
    }
    return NULL;
}

typedef struct filling {
    const etp_skill *skill;
    const etp_skill_settings *given;
    const char *platform;
    etp_arena *arena;
    uint32_t line;
} filling;

static const char *value_of(const filling *f, etp_str name)
{
    if (etp_str_eqz(name, "platform")) { // of the machine, or of the phone that was set
        const char *given = lookup(f->given, name);
        return given ? given : f->platform;
    }
    // A setting can be given only where the playbook has a default for it: the front matter is the
    // list of what can be set.
    const char *own = lookup(&f->skill->settings, name);
    const char *given = own ? lookup(f->given, name) : NULL;
    return given ? given : own;
}

// Replaces {name} in TEXT. A value may hold further braces, since defaults are made of other
// defaults ("out_{model}/…/{model}_{dtype}.pte"); DEPTH ends a default that is made of itself.
static etp_status fill(const filling *f, etp_str text, int depth, etp_strbuf *out, etp_error *err)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] != '{') {
            etp_strbuf_append(out, (etp_str){text.ptr + i, 1});
            continue;
        }
        etp_str rest = {text.ptr + i + 1, text.len - i - 1};
        size_t n = etp_str_find(rest, ETP_STR("}"));
        etp_str name = {rest.ptr, n};
        const char *value = n < rest.len ? value_of(f, name) : NULL;
        // The folder does not exist yet when the playbook is read: the step before this one makes
        // it. A playbook without a pte has no model whose run it could be.
        if (!value && etp_str_eqz(name, "run") && lookup(&f->skill->settings, ETP_STR("pte"))) {
            etp_strbuf_appendz(out, ETP_SKILL_RUN); // when it is started
            i += n + 1;
            continue;
        }
        if (!value || depth > 3) {
            return etp_fail(err, ETP_CORRUPT, "%s:%u: no setting for {%.*s}", f->skill->id, f->line,
                            ETP_STR_ARG(name));
        }
        ETP_TRY(fill(f, etp_str_from(value), depth + 1, out, err));
        i += n + 1;
    }
    return ETP_OK;
}

// ---- commands ----

static etp_str next_word(etp_str *rest, bool *quoted)
{
    *rest = etp_str_trim(*rest, " ");
    *quoted = rest->len > 0 && rest->ptr[0] == '"';
    etp_str in = *quoted ? (etp_str){rest->ptr + 1, rest->len - 1} : *rest;
    size_t n = etp_str_find(in, *quoted ? ETP_STR("\"") : ETP_STR(" "));
    etp_str word = {in.ptr, n};
    size_t used = n < in.len ? n + 1 : n;
    *rest = (etp_str){in.ptr + used, in.len - used};
    return word;
}

static etp_status add_command(filling *f, etp_skill *skill, etp_str line, bool gate, etp_error *err)
{
    // Split first and filled in afterwards: a value with a blank in it stays one word.
    const char **argv = ETP_NEW_ARRAY(f->arena, const char *, MOST_WORDS + 1);
    etp_strbuf shown;
    etp_strbuf_init(&shown, f->arena);
    size_t n = 0;
    for (etp_str rest = line; etp_str_trim(rest, " ").len > 0;) {
        bool quoted = false;
        etp_str word = next_word(&rest, &quoted);
        etp_strbuf buf;
        etp_strbuf_init(&buf, f->arena);
        if (n == MOST_WORDS) {
            return etp_fail(err, ETP_CORRUPT, "%s:%u: more than %d words", skill->id, f->line,
                            MOST_WORDS);
        }
        ETP_TRY(fill(f, word, 0, &buf, err));
        argv[n] = etp_arena_strdup(f->arena, etp_strbuf_str(&buf));
        etp_strbuf_printf(&shown, quoted ? "%s\"%s\"" : "%s%s", n ? " " : "", argv[n]);
        n++;
    }
    etp_skill_command c = {.gate = gate, .line = f->line, .argv = argv, .shown = shown.ptr};
    // The program is kept by its path, filled in now, because its run is looked for when the
    // settings are not at hand any more.
    if (etp_str_find(etp_strbuf_str(&shown), ETP_STR(ETP_SKILL_RUN)) < shown.len) {
        etp_strbuf pte;
        etp_strbuf_init(&pte, f->arena);
        ETP_TRY(fill(f, ETP_STR("{pte}"), 0, &pte, err));
        c.run_of = etp_arena_strdup(f->arena, etp_strbuf_str(&pte));
    }
    ETP_ADD(f->arena, &skill->commands, c);
    return ETP_OK;
}

// A YAML scalar as playbooks write them: plain, or in double quotes without escapes.
static bool scalar(etp_str text, etp_str *out)
{
    bool quoted = text.len >= 2 && text.ptr[0] == '"' && text.ptr[text.len - 1] == '"';
    *out = quoted ? (etp_str){text.ptr + 1, text.len - 2} : text;
    if (quoted) {
        return !memchr(out->ptr, '"', out->len) && !memchr(out->ptr, '\\', out->len);
    }
    // Others read the front matter as YAML: what is plain text here must be plain text there.
    bool plain = text.len > 0 && !strchr("\"'{[&*!|>%@`#,?-", text.ptr[0]);
    return plain && etp_str_find(text, ETP_STR(": ")) == text.len &&
           etp_str_find(text, ETP_STR(" #")) == text.len && text.ptr[text.len - 1] != ':';
}

static etp_status add_setting(etp_skill *skill, etp_str key, const char *value, etp_arena *arena,
                              etp_error *err)
{
    etp_skill_setting s = {etp_arena_strdup(arena, key), value};
    if (lookup(&skill->settings, key)) {
        return etp_fail(err, ETP_CORRUPT, "%s: the setting %.*s is there twice", skill->id,
                        ETP_STR_ARG(key));
    }
    ETP_ADD(arena, &skill->settings, s);
    return ETP_OK;
}

// *in_settings: the lines "  name: value" that follow are settings.
static etp_status front_matter(etp_skill *skill, etp_str line, bool *in_settings, etp_arena *arena,
                               etp_error *err)
{
    etp_str key = {0}, raw = {0}, value = {0};
    bool indented = etp_str_starts(line, ETP_STR("  "));
    if (etp_str_eqz(line, "settings:")) {
        *in_settings = true;
        return ETP_OK;
    }
    if (!split_at(line, ":", &key, &raw) || key.len == 0) {
        return etp_fail(err, ETP_CORRUPT, "%s: front matter without a colon: %.*s", skill->id,
                        ETP_STR_ARG(line));
    }
    if (!scalar(raw, &value)) {
        return etp_fail(err, ETP_CORRUPT, "%s: %.*s: put the value in double quotes: %.*s",
                        skill->id, ETP_STR_ARG(key), ETP_STR_ARG(raw));
    }
    const char *text = etp_arena_strdup(arena, value);
    if (indented && *in_settings) {
        return add_setting(skill, key, text, arena, err);
    }
    *in_settings = false;
    if (!indented && etp_str_eqz(key, "name")) {
        skill->name = text;
    } else if (!indented && etp_str_eqz(key, "description")) {
        skill->description = text;
    } else if (!indented && etp_str_eqz(key, "next")) {
        skill->next = text;
    } else if (!indented && etp_str_eqz(key, "minutes")) {
        return etp_parse_u64(value, &skill->minutes)
                   ? ETP_OK
                   : etp_fail(err, ETP_CORRUPT, "%s: minutes: %s is no number", skill->id, text);
    } else {
        return etp_fail(err, ETP_CORRUPT, "%s: unknown key %.*s", skill->id, ETP_STR_ARG(key));
    }
    return ETP_OK;
}

typedef enum where { START, FRONT, TEXT, OTHER_BLOCK, STEPS, GATES } where;

// A fence ends the block it stands in. A block that is neither step nor gate is text: its lines are
// shown and never run.
static where after_fence(where now, etp_str line)
{
    if (now != TEXT) {
        return TEXT;
    }
    return etp_str_eqz(line, "```sh step")   ? STEPS
           : etp_str_eqz(line, "```sh gate") ? GATES
                                             : OTHER_BLOCK;
}

// Reads one playbook: front matter and commands. SETTINGS win over its own; {platform} and {…} of
// other defaults may stand in a default. Errors: ETP_CORRUPT with the line.
static etp_status skill_read(const etp_embedded *text, const etp_skill_settings *settings,
                             const char *platform, etp_arena *arena, etp_skill *out, etp_error *err)
{
    *out = (etp_skill){.id = text->name, .folder = text->folder, .text = text->text};
    filling f = {.skill = out, .given = settings, .platform = platform, .arena = arena};
    where now = START;
    bool in_settings = false;
    etp_str line = {0};
    for (etp_str rest = out->text; next_line(&rest, &line);) {
        f.line++;
        if (now <= FRONT && etp_str_eqz(line, "---")) {
            now = now == START ? FRONT : TEXT;
        } else if (now == FRONT) {
            ETP_TRY(front_matter(out, line, &in_settings, arena, err));
        } else if (now == START) {
            break;
        } else if (etp_str_starts(line, ETP_STR("```"))) {
            now = after_fence(now, line);
        } else if ((now == STEPS || now == GATES) && etp_str_trim(line, " ").len > 0 &&
                   line.ptr[0] != '#') {
            ETP_TRY(add_command(&f, out, line, now == GATES, err));
        }
    }
    // A playbook that ends within a block or within its front matter was cut off.
    if (now != TEXT || !out->name || !out->description) {
        return etp_fail(err, ETP_CORRUPT,
                        "%s: expected front matter with name and description, and closed blocks",
                        out->id);
    }
    return ETP_OK;
}

// ---- selection ----

// Two digits, as the files are numbered: "4" is no number of one, and no name.
static bool number_of(etp_str s, uint64_t *out)
{
    return s.len == 2 && etp_parse_u64(s, out);
}

static bool is_named(const etp_skill *s, etp_str name)
{
    return etp_str_eqz(name, s->id) || etp_str_eqz(name, s->name);
}

static bool is_between(const etp_skill *s, uint64_t first, uint64_t last)
{
    uint64_t number = 0;
    etp_str id = etp_str_from(s->id);
    return id.len > 2 && id.ptr[2] == '_' && number_of((etp_str){id.ptr, 2}, &number) &&
           number >= first && number <= last;
}

static etp_status add_item(const etp_skill_list *all, etp_str item, etp_arena *arena,
                           etp_skill_list *out, etp_error *err)
{
    etp_str a = item, b = item;
    uint64_t first = 0, last = 0;
    (void)split_at(item, "-", &a, &b); // without one, both ends are the item
    bool numbers = number_of(a, &first) && number_of(b, &last) && first <= last;
    size_t before = out->n;
    for (size_t i = 0; i < all->n; i++) {
        bool wanted =
            numbers ? is_between(&all->items[i], first, last) : is_named(&all->items[i], item);
        if (wanted) {
            ETP_ADD(arena, out, all->items[i]);
        }
    }
    // A range whose end does not exist would silently do less than it says.
    bool whole = !numbers || out->n - before == last - first + 1;
    if (out->n == before || !whole) {
        return etp_fail(err, ETP_USAGE,
                        "no skill %.*s; 'etprof skills' lists them: 01 to 08, "
                        "readme, setup-agent, pipeline-agent, validation-agent",
                        ETP_STR_ARG(item));
    }
    return ETP_OK;
}

static etp_status settings_are_known(const etp_skill_list *list, const etp_skill_settings *given,
                                     etp_error *err)
{
    for (size_t k = 0; given && k < given->n; k++) {
        bool known = strcmp(given->items[k].name, "platform") == 0; // of every playbook
        for (size_t i = 0; i < list->n; i++) {
            known = known || lookup(&list->items[i].settings, etp_str_from(given->items[k].name));
        }
        if (!known) {
            return etp_fail(err, ETP_USAGE,
                            "no skill of these has a setting '%s'; their front "
                            "matter lists what can be set (etprof skills NAME)",
                            given->items[k].name);
        }
    }
    return ETP_OK;
}

static etp_status choose(const char *selection, const etp_skill_settings *settings,
                         const char *platform, etp_arena *arena, etp_skill_list *out,
                         etp_error *err)
{
    etp_skill_list all = {0};
    *out = (etp_skill_list){0};
    // All are read, also when one is asked for: numbers and ranges are about the whole chain.
    for (const etp_embedded *t = k_etp_skill_texts; t->name; t++) {
        etp_skill s;
        ETP_TRY(skill_read(t, settings, platform, arena, &s, err));
        ETP_ADD(arena, &all, s);
    }
    if (!selection) {
        *out = all;
        return settings_are_known(out, settings, err);
    }
    for (etp_str rest = etp_str_from(selection); rest.len > 0;) {
        size_t n = etp_str_find(rest, ETP_STR(","));
        ETP_TRY(add_item(&all, etp_str_trim((etp_str){rest.ptr, n}, " "), arena, out, err));
        size_t used = n < rest.len ? n + 1 : n;
        rest = (etp_str){rest.ptr + used, rest.len - used};
    }
    return settings_are_known(out, settings, err);
}

etp_status etp_skill_select(const char *selection, const etp_skill_settings *settings,
                            const char *platform, etp_arena *arena, etp_skill_list *out,
                            etp_error *err)
{
    ETP_GUARDED(arena, err, "playbooks", choose(selection, settings, platform, arena, out, err));
}
