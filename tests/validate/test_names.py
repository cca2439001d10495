# SPDX-License-Identifier: Apache-2.0
"""A file that is not what its name says: `validate` refuses it and says what it is, every other verb goes by its bytes.
usage: test_names.py ETPROF"""
import json
import os
import pathlib
import shutil
import sys
import venv

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/tools"))
from checks import ended, execute, expect, finish, new_folder  # noqa: E402

ETPROF = sys.argv[1]
# What the fixtures are, by the identifiers of ExecuTorch's schemas (ETDump: ED00, program: ET12, bundled program: BP08,
# flat tensor: FT01) and the first entry of an ETRecord.
FILES = {"etdump": ("mixed_xnnpack_fp32.etdump", "an ETDump", "etdump"),
         "pte": ("mixed_xnnpack_fp32.pte", "an ExecuTorch program", "pte"),
         "bpte": ("linear_xnnpack_fp32.bpte", "a bundled program", "bpte"),
         "ptd": ("linear_external.ptd", "a flat tensor file", "ptd"),
         "etrecord": ("mixed_xnnpack_fp32.etrecord", "an ETRecord", "etrecord")}


def ask(*words, code):
    done = ended(execute(ETPROF, *words, "--quiet", "--format", "json"), code)
    return json.loads(done.stdout) if done.stdout else {"error": done.stderr}


def swapped(tmp, was, named):
    """FILES[WAS] under the name of a NAMED."""
    name, what, kind = FILES[was]
    path = tmp / f"swapped.{named}"
    shutil.copy(ROOT / "tests/data" / name, path)
    same = was == named
    checks = ask("validate", path, code=0 if same else 1)["checks"]
    failed = [c for c in checks if not c["ok"]]
    if same:
        expect(not failed, f"{name}: {failed}")
    else:
        expect(len(failed) == 1 and failed[0]["id"] == "file.name" and failed[0]["fix"]
               and failed[0]["found"] == f"{what}, named .{named}" and failed[0]["expected"] == FILES[named][1],
               f"{name} as .{named}: {failed}")
    expect(ask("inspect", path, code=0)["kind"] == kind, f"inspect of {name} as .{named}")
    for verb in ("ops", "analyze"):
        answer = ask(verb, path, code=0 if was == "etdump" else 4)
        expect(was == "etdump" or "expected an ETDump, this is a" in answer["error"], f"{verb} {name}: {answer}")
    path.unlink()


def nothing(tmp):
    """Empty files, folders and texts under each name."""
    for named in FILES:
        path = tmp / f"nothing.{named}"
        path.write_bytes(b"")
        checks = ask("validate", path, code=1)["checks"]
        expect([c["id"] for c in checks] == ["dump.empty" if named == "etdump" else "model.readable"], f"{checks}")
        expect("empty" in ask("inspect", path, code=4)["error"], f"inspect of an empty .{named}")
        path.write_text("neither a model nor a recording, only text\n")
        checks = ask("validate", path, code=1)["checks"]
        expect([c["id"] for c in checks] == ["dump.readable" if named == "etdump" else "model.readable"], f"{checks}")
        path.unlink()
        path.mkdir()
        expect(ask("validate", path, code=1)["what"] == "folder", f"a folder called .{named}")
        for verb in ("inspect", "ops"):
            expect("is a folder" in ask(verb, path, code=5)["error"], f"{verb} of a folder called .{named}")
        path.rmdir()
    path = tmp / "archive.pte"
    path.write_bytes(b"PK\x03\x04" + bytes(60))
    checks = ask("validate", path, code=1)["checks"]
    expect([(c["id"], c["found"]) for c in checks] == [("file.name", "a zip archive, named .pte")], f"{checks}")


def without_jsonschema(tmp):
    """A JSON document cannot be held against its schema then: one line for pip names it; a model needs none."""
    venv.create(tmp / "bare", with_pip=False, symlinks=True)
    env = {**os.environ, "ETPROF_PYTHON": str(tmp / "bare/bin/python"), "ETPROF_VENV": str(tmp / "none")}
    (tmp / "derived.json").write_text("{}")
    for path, code in ((tmp / "derived.json", 5), (ROOT / "tests/data" / FILES["pte"][0], 0)):
        done = execute(ETPROF, "validate", path, env=env)
        expect(done.returncode == code and ("pip install 'jsonschema" in done.stderr) == (code == 5)
               and done.stderr.count("\n") == (code == 5), "without jsonschema", path, done)


folder = new_folder()
for was in FILES:
    for named in FILES:
        swapped(folder, was, named)
nothing(folder)
without_jsonschema(folder)
finish()
