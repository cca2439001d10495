# SPDX-License-Identifier: Apache-2.0
"""Are the JSON Schemas and the list of keys in docs/documents.md what the tables in src/ say? Has every member of an
arm, a comparison, an operator and a next fix a column in tables (Parquet, Arrow), or a reason to have none?
usage: check_documents.py DESCRIBE SOURCE_DIR, or DESCRIBE SOURCE_DIR --write to write them. DESCRIBE is the program
made of describe.c."""
import json
import pathlib
import subprocess
import sys

MARK = "<!-- made by tests/documents/check_documents.py --write -->\n"
TYPES = {"text": "string", "str": "string", "bool": "boolean", "maybe": "boolean", "not": "boolean",
         "uint": "integer", "int": "integer", "ns": "integer", "ratio": "number", "number": "number",
         "rounded": "integer", "word": "string"}
UNKNOWN = ("text", "maybe", "ns", "ratio", "number", "rounded")  # kinds that have a value for it
LIMITS = {"from 0": {"minimum": 0}, "signed": {}, "from 1": {"minimum": 1}, "0 to 1": {"minimum": 0, "maximum": 1},
          "above 0 to 1": {"exclusiveMinimum": 0, "maximum": 1}, "within 1": {"minimum": -1, "maximum": 1}}
SHOWN = {"object": "object", "written": "…", "uint": "integer", "rounded": "integer", "word": "text", "str": "text",
         "maybe": "boolean", "not": "boolean", "bool": "boolean", "ns": "integer", "int": "integer", "ratio": "number"}


PLACE = "https://etprof.invalid/schemas/"  # a name, not an address: nobody can own it
CLOSED = [True]  # whether the document that is described is
ANSWER = {}  # the members of etprof.ab/1


def spliced(members):
    """Members without a key hold members of the object itself: some of them may be absent all together, some are those
    of a part of etprof.ab/1."""
    for m in members:
        if m["key"] is None and m["kind"] == "object":
            absent = m["later"] or m["absent"]
            for inner in spliced(m["members"]):
                yield {**inner, "later": inner["later"] or absent, "together": inner.get("together") or absent,
                       "part_of": inner.get("part_of") or m["part"]}
        else:
            yield m


def parts_of(members):
    """{name: members} of the parts that other documents take over."""
    found = {}
    for m in members:
        found |= parts_of(m.get("members", ()))
        found |= {m["part"]: m["members"]} if m.get("part") else {}
    return found


def is_nullable(m):
    if m["kind"] == "text" and m["many"] == "counted":
        return False
    if any(m[flag] for flag in ("set", "skip", "blank", "sha256")) or (m["absent"] and m["many"] == "one"):
        return False
    return m["null"] or m["kind"] in UNKNOWN or None in m.get("words", ())


def is_of_answer(m):
    """An object of etprof.ab/1 is described there, if it is null here where it is there."""
    there = ANSWER.get(m.get("of_answer"))
    return there and (there["many"] == "counted" or is_nullable(there) == is_nullable(m))


def closed(schema):
    """One that a function's author wrote by hand: of an object it says the keys, all of them."""
    if isinstance(schema, dict):
        schema = {key: closed(inner) for key, inner in schema.items()}
        return schema | ({"additionalProperties": False} if CLOSED[0] and "properties" in schema else {})
    return [closed(inner) for inner in schema] if isinstance(schema, list) else schema


def of_value(m):
    """The schema of one value."""
    if is_of_answer(m):
        return {"$ref": f"ab.schema.json#/properties/{m['of_answer']}" +
                        "/items" * (ANSWER[m["of_answer"]]["many"] == "counted")}
    if m["kind"] == "written":
        return closed(json.loads(m["schema"]))
    if m["kind"] == "object":
        schema = of_object(m["members"])
    elif m["kind"] == "word" and m["words"]:
        schema = {"type": "string", "enum": list(dict.fromkeys(w for w in m["words"] if w is not None))}
    else:
        schema = {"type": TYPES[m["kind"]]}
        if schema["type"] in ("integer", "number"):
            schema |= LIMITS[m["range"]]
        elif m["sha256"]:
            schema |= {"minLength": 64, "maxLength": 64}
        elif schema["type"] == "string" and m["set"]:
            schema["minLength"] = 1
    if is_nullable(m):
        schema["type"] = [schema["type"], "null"]
        if "enum" in schema:
            schema["enum"].append(None)
    return schema


def of_member(m):
    value = of_value(m if m["many"] in ("one", "at") else {**m, "null": False} if m["kind"] == "object" else m)
    if m["many"] == "counted" or (m["many"] == "per" and not m["named"]):
        return {"type": "array", **({"minItems": m["least"]} if m["least"] else {}), "items": value}
    return {"type": "object", "additionalProperties": value} if m["many"] == "per" else value


def of_object(members, closed=None):
    """CLOSED: no other keys; those of a file that others write too (Arm's kit) are theirs to add."""
    if closed is not None:
        CLOSED[:] = [closed]
    schema = {"type": "object", "required": [], "properties": {}}
    for m in spliced(members):
        if m.get("part_of") and m.get("together"):  # none of them is required
            part = {"$ref": f"ab.schema.json#/$defs/{m['part_of']}"}
            schema["allOf"] = schema.get("allOf", []) + [part] * (part not in schema.get("allOf", []))
            continue
        if m["key"] is None:  # members whose names are data
            schema["additionalProperties"] = of_value(m)
            continue
        schema["properties"][m["key"]] = of_member(m)
        if not m["absent"] and not m["later"]:
            schema["required"].append(m["key"])
    if CLOSED[0] and "additionalProperties" not in schema:
        schema["unevaluatedProperties" if "allOf" in schema else "additionalProperties"] = False
    return schema


def schema_of(document):
    """That of a file of the kit's names no schema in it."""
    own = document["name"].startswith("etprof.")
    inner = of_object(document["members"], own)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema",
            "$id": f"{PLACE}{schema_file(document['name'])}.schema.json",
            "title": f"{document['title']} ({document['name']})" if own else document["title"], "type": "object",
            "required": ["schema"] * own + inner["required"],
            "properties": ({"schema": {"type": "string", "const": document["name"]}} if own else {}) |
                          inner["properties"],
            **{k: v for k, v in inner.items() if k in ("allOf", "additionalProperties", "unevaluatedProperties")},
            **({"$defs": {name: {"type": "object", "properties": of_object(members)["properties"]}
                          for name, members in sorted(parts_of(document["members"]).items())}}
               if document["name"] == "etprof.ab/1" else {})}


def schema_file(name):
    return name.split(".")[1].split("/")[0] if name.startswith("etprof.") else name.removesuffix(".json")


def lines_of(members, before=""):
    for m in spliced(members):
        many = "" if m["many"] in ("one", "at") else "{}" if m["named"] else "[]"
        name = before + (m["key"] or "*") + many
        kind = SHOWN.get(m["kind"], m["kind"]) + (" or null" if is_nullable(m) else "") + (
            ", may be absent" if m["absent"] else "")
        words = ", ".join(f"`{w}`" for w in dict.fromkeys(m.get("words", ())) if w)
        there = is_of_answer(m)
        doc = m["doc"] + (": " if words and m["doc"] else "") + words + ", as in `etprof.ab/1`" * bool(there)
        yield f"| `{name}` | {kind} | {doc} |".replace("  ", " ")
        yield from lines_of(() if there else m.get("members", ()), name + ".")


def page_of(documents):
    text = ""
    for d in documents:
        text += f"\n## `{d['name']}`\n\n{d['title']}.\n\n| Key | Kind | Is |\n|---|---|---|\n"
        text += "".join(line + "\n" for line in lines_of(d["members"]))
    return text


def tables_of(layouts):
    text = "\n## CSV files of a run folder\n"
    for layout in layouts:
        text += f"\n### `{layout['suffix'] if layout['suffix'][0] not in '._' else '…' + layout['suffix']}`\n\n"
        text += f"{layout['title']}.\n\n| Column | Kind | Is |\n|---|---|---|\n"
        for c in layout["columns"]:
            text += f"| `{c['name']}` | {c['kind']}{' or empty' * c['may_be_empty']} | {c['doc']} |\n"
    return text


def columns_of(layouts):
    """Of the tables that `etprof validate` asks cell by cell."""
    return [{"suffix": layout["suffix"], "may_be_empty": layout["may_be_empty"],
             "columns": [{k: c[k] for k in ("name", "kind", "required", "may_be_empty")} for c in layout["columns"]]}
            for layout in layouts if layout["checked"]]


ROWS = ("arms", "comparisons", "operators", "next_fixes")  # of etprof.ab/1, which are rows of tables too


def leaves(members, before="", apart=False):
    """(name, whether the row says that it has no column) of each member that holds a value: a column's worth."""
    for m in members:
        name, none = before + (m["key"] or ""), apart or m["apart"]
        if m["kind"] == "object" and (m["key"] is None or m["many"] in ("one", "at", "per")):
            yield from leaves(m["members"], name + "." * bool(m["key"]), none)
        else:
            yield name, none


def check_columns(documents, columns):
    """[what is wrong]: a member that a table forgot, a column of no member, or of one that is said to have none."""
    rows = {m["key"]: m["members"] for m in next(d for d in documents if d["name"] == "etprof.ab/1")["members"]
            if m["key"] in ROWS}
    wrong = []
    for row, members in rows.items():
        there = dict(leaves(members))
        shown = {".".join(filter(None, (c["outer"], c["key"]))): c["column"] for c in columns[row]}
        for name, apart in there.items():
            if apart and name in shown:
                wrong.append(f"{row}[].{name} has a column, and ETP_NO_COLUMN says that it has none")
            if not apart and name not in shown:
                wrong.append(f"{row}[].{name} has no COLUMN (src/document/ab_*.def) and is not ETP_NO_COLUMN")
        wrong += [f"column {column} of {row}: there is no {row}[].{name}"
                  for name, column in shown.items() if name and name not in there]
    return wrong + [f"etprof.ab/1 has no {row}" for row in ROWS if row not in rows]


DRAFT = "https://json-schema.org/draft/2020-12/schema"
CONFIG = "config.schema.json"  # people write it, and it names no schema


def problems_of(path):
    """What a file of the folder of schemas lacks that readers and editors rely on."""
    schema = json.loads(path.read_text())
    if not isinstance(schema, dict) or schema.get("$schema") != DRAFT or schema.get("$id") != PLACE + path.name:
        return [f"no schema with \"$schema\": \"{DRAFT}\" and \"$id\": \"{PLACE}{path.name}\""]
    problems = [] if schema.get("required") else ["no key is required"]
    if path.name == CONFIG or "schema" in schema["properties"]:  # others write the files of Arm's kit too
        problems += [f"{place or 'the document'}: any other key is taken" for place in open_objects(schema)]
    return problems


def open_objects(schema, place=""):
    """Places of objects that may have any key; $defs hold parts of objects, which say nothing of others."""
    if isinstance(schema, list):
        schema = dict(enumerate(schema))
    if isinstance(schema, dict):
        said = {"additionalProperties", "unevaluatedProperties"} & set(schema)
        if isinstance(schema.get("properties"), dict) and not said:
            yield place
        for key, inner in schema.items():
            if key != "$defs":
                yield from open_objects(inner, f"{place}/{key}")


def main():
    describe, source, write = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:] == ["--write"]
    described = json.loads(subprocess.run([describe], capture_output=True, text=True, check=True).stdout)
    documents = described["documents"]
    ANSWER.update({m["key"]: m for d in documents if d["name"] == "etprof.ab/1" for m in spliced(d["members"])})
    # Lines have a description for each type.
    titles = [d["title"] if d["name"].endswith(".jsonl") else d["name"] for d in documents]
    twice = {t for t in titles if titles.count(t) > 1}
    if twice:
        sys.exit(f"described twice: {', '.join(sorted(twice))}")
    page = source / "docs/documents.md"
    files = {source / f"python/etprof/schemas/{schema_file(d['name'])}.schema.json":
             json.dumps(schema_of(d), indent=2, ensure_ascii=False) + "\n"
             for d in documents if not d["name"].endswith(".jsonl")}
    files[source / "python/etprof/validate/tables.json"] = json.dumps(columns_of(described["layouts"]), indent=1) + "\n"
    files[page] = page.read_text().partition(MARK)[0] + MARK + page_of(documents) + tables_of(described["layouts"])
    wrong = [path for path, text in files.items() if not path.exists() or path.read_text() != text]
    for path in wrong:
        if write:
            path.write_text(files[path])
        else:
            print(f"{path} is not what the tables say: run this with --write")
    forgotten = check_columns(documents, described["columns"])
    for path in sorted((source / "python/etprof/schemas").iterdir()): # those written by hand, too
        forgotten += [f"{path.name}: {problem}" for problem in problems_of(path)]
    print("".join(line + "\n" for line in forgotten), end="")
    print(f"{len(documents)} documents, {len(wrong)} files {'written' if write else 'differ'}")
    return 1 if not documents or forgotten or (wrong and not write) else 0


sys.exit(main())
