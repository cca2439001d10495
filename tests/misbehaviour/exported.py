# SPDX-License-Identifier: Apache-2.0
"""What the exporter said of a program (export.json beside it) decides which recipes are offered, in which order, and by
which command. The recordings are those of tests/data/fixes, the documents are made here.

usage: exported.py ETPROF"""
import hashlib
import html
import json
import pathlib
import re
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import pages
from checks import ended, execute, expect, finish

ETPROF = sys.argv[1]
DATA = pathlib.Path(__file__).resolve().parents[1] / "data" / "fixes"
COMMAND = ["etprof", "export", "my models/net.py:Net", "--dtype", "fp16", "--seed", "3"]


def entry(**members):
    sha256 = hashlib.sha256((DATA / "layer_norm.pte").read_bytes()).hexdigest()
    return {"file": "layer_norm.pte", "state": "ok", "sha256": sha256, "command": COMMAND,
            "recipes": [{"name": "layer-norm", "places": 4}]} | members


def analyzed(text, form):
    """The answer in FORM to the recordings beside the program and an export.json of TEXT."""
    with tempfile.TemporaryDirectory() as name:
        for suffix in (".pte", ".etdump", "_b2.etdump"):
            shutil.copy(DATA / f"layer_norm{suffix}", name)
        if text is not None:
            (pathlib.Path(name) / "export.json").write_text(text)
        words = ["analyze", "layer_norm.etdump", "layer_norm_b2.etdump", "--pte", "layer_norm.pte", "--format", form]
        done = ended(execute(ETPROF, *words, cwd=name), 0)
        return done.stdout


def fixes(text):
    return json.loads(analyzed(text, "json"))["next_fixes"]


def document(**members):
    other = {"file": "b.pte", "state": "ok", "sha256": "0" * 64, "command": ["etprof", "export", "b"]}
    return json.dumps({"schema": "etprof.export/1", "tool": {}, "artifacts": [other, entry(**members)]})


def of_entry(**members):
    return fixes(document(**members))


def norm(found):
    return next((f for f in found if "layer-norm" in f["recipe"]), None)


usual = fixes(None)
expect(norm(usual) is not None and norm(usual)["places"] is None, "usual", usual)
expect(norm(usual)["recipe"] == "etprof export MODEL --apply layer-norm", "usual", usual)

asked = of_entry()
expect(asked[0] == norm(asked) and asked[0]["places"] == 4, "asked", asked)
expect(asked[0]["recipe"] == "etprof export 'my models/net.py:Net' --dtype fp16 --seed 3 --apply layer-norm", "asked",
       asked[0]["recipe"])

nowhere = of_entry(recipes=[{"name": "layer-norm", "places": 0}])
expect(norm(nowhere) is None, "nowhere", nowhere)

silent = of_entry(recipes=[])
expect(norm(silent)["places"] is None, "silent", silent)
expect(norm(silent)["recipe"].startswith("etprof export 'my models/net.py:Net'"), "silent", silent)

hostile = norm(of_entry(command=["rm", "x", "$(reboot) ;"]))
expect(hostile["recipe"] == "etprof export '$(reboot) ;' --apply layer-norm", "another command", hostile)

# A command is shown whole, whatever its words are: these are how sentences about commands went on.
word = "my; net names it, says it measures it"
whole = document(command=["etprof", "export", word])
wanted = f"etprof export '{word}' --apply layer-norm"
expect(f"\n      {wanted}\n" in analyzed(whole, "text"), "screen", wanted, analyzed(whole, "text"))
page = analyzed(whole, "html")
copied = [html.unescape(re.sub("<[^>]*>", "", c)) for c in re.findall(r"<code>(.*?)</code>", page, re.S)]
copied += [b["text"] for b in pages.blocks(page) if b["kind"] == "code"]
expect(copied.count(wanted) == 2, "page", "a card and a drawer have the command", copied)

for what, members in (("no command", {"command": []}),
                      ("no text", {"command": ["etprof", "export", 7]}), ("no list", {"command": "etprof export m"}),
                      ("options of another kind", {"command": COMMAND + ["--python", "/tmp/evil"]}),
                      ("many words", {"command": ["etprof", "export"] + ["x"] * 300}),
                      ("no places", {"recipes": [{"name": "layer-norm", "places": -1}]}),
                      ("of another program", {"sha256": "f" * 64})):
    expect(of_entry(**members) == usual, what, norm(of_entry(**members)))
for text in ("", "{", "[]", '{"artifacts": 7}', '{"artifacts": [7]}'):
    expect(fixes(text) == usual, "broken", text)
finish("recipes as the exporter told")
