// SPDX-License-Identifier: Apache-2.0
// The playbooks where an agent looks for skills: a folder each, with SKILL.md, whose front matter
// has the name of the folder and what the skill is for.
#include "base/guard.h"
#include "os/os.h"
#include "playbooks/skills.h"

// "etprof-run-profiling" of "run_profiling".
static const char *folder_name(const etp_skill *skill, etp_arena *arena)
{
    char *name = etp_arena_printf(arena, "etprof-%s", skill->name);
    for (char *p = name; *p; p++) {
        *p = *p == '_' || *p == ' ' ? '-' : *p;
    }
    return name;
}

// The front matter is left out: the file that is written has one of its own, in the form in which
// agents read it.
static etp_str body_of(etp_str text)
{
    etp_str rest = {text.ptr + 4, text.len > 4 ? text.len - 4 : 0}; // behind the first "---\n"
    size_t end = etp_str_find(rest, ETP_STR("\n---\n"));
    return end < rest.len ? (etp_str){rest.ptr + end + 5, rest.len - end - 5} : rest;
}

// The skill that a link's TARGET ("../folder/04_run_profiling.md") leads to; NULL: none of LIST.
static const etp_skill *linked(const etp_skill_list *list, etp_str target)
{
    for (size_t at; (at = etp_str_find(target, ETP_STR("/"))) < target.len;) {
        target = (etp_str){target.ptr + at + 1, target.len - at - 1};
    }
    for (size_t i = 0; i < list->n && etp_str_ends(target, ETP_STR(".md")); i++) {
        if (etp_str_eqz((etp_str){target.ptr, target.len - 3}, list->items[i].id)) {
            return &list->items[i];
        }
    }
    return NULL;
}

// BODY with its links leading to where the others are now; those to other files lose their target.
static void put_body(const etp_skill_list *list, etp_str body, etp_arena *arena, etp_strbuf *out)
{
    while (body.len > 0) {
        size_t at = etp_str_find(body, ETP_STR("]("));
        etp_strbuf_append(out, (etp_str){body.ptr, at});
        if (at == body.len) {
            return;
        }
        etp_str target = {body.ptr + at + 2, body.len - at - 2};
        target.len = etp_str_find(target, ETP_STR(")"));
        const etp_skill *to = linked(list, target);
        if (to) {
            etp_strbuf_printf(out, "](../%s/SKILL.md", folder_name(to, arena));
        } else {
            etp_strbuf_printf(out, "](%.*s", ETP_STR_ARG(target));
        }
        body = (etp_str){target.ptr + target.len, body.len - at - 2 - target.len};
    }
}

static void put_settings(const etp_skill *skill, etp_strbuf *out)
{
    etp_strbuf_printf(out, "\n`etprof skills run %s` executes the steps and gates below.",
                      skill->id);
    for (size_t i = 0; i < skill->settings.n; i++) {
        etp_strbuf_printf(out, "%s`{%s}` (%s)",
                          i ? ", " : " What stands in braces is a setting, `--set NAME=VALUE`: ",
                          skill->settings.items[i].name, skill->settings.items[i].value);
    }
    etp_strbuf_appendz(out, skill->settings.n ? ".\n" : "\n");
}

static etp_status install(const etp_skill_list *list, const char *dir, etp_arena *arena,
                          etp_error *err)
{
    ETP_TRY(etp_os_mkdirs(dir, err));
    for (size_t i = 0; i < list->n; i++) {
        const etp_skill *skill = &list->items[i];
        const char *name = folder_name(skill, arena);
        const char *relative = etp_arena_printf(arena, "%s/SKILL.md", name);
        etp_strbuf text;
        etp_strbuf_init(&text, arena);
        etp_strbuf_printf(&text, "---\nname: %s\ndescription: \"etprof: %s\"\n---\n", name,
                          skill->description);
        put_settings(skill, &text);
        put_body(list, body_of(skill->text), arena, &text);
        ETP_TRY(etp_os_write_below(dir, relative, etp_strbuf_str(&text), err));
    }
    return ETP_OK;
}

etp_status etp_skill_install(const etp_skill_list *list, const char *dir, etp_arena *arena,
                             etp_error *err)
{
    ETP_GUARDED(arena, err, "skills", install(list, dir, arena, err));
}
