# SPDX-License-Identifier: Apache-2.0
"""Every shipped config fits the JSON Schema and is read by `etprof run`; templates are refused
until they are filled in, and work once they are. usage: test_configs.py ETPROF"""
import json
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import ended, execute, expect, finish, in_python_with, new_folder

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONFIGS = ROOT / "model_profiling" / "configs"
ELSEWHERE = "linux" if sys.platform == "darwin" else "mac"  # whose experiments cannot be measured on this machine
etprof = str(pathlib.Path(sys.argv[1]).resolve())


def run(*words):
    tmp = new_folder()
    return execute(etprof, "run", *words, cwd=tmp)


schema = json.loads((ROOT / "model_profiling/schemas/config.schema.json").read_text())
in_python_with("jsonschema")
try:
    import jsonschema
except ImportError:
    jsonschema = None
    print("the schema itself is not applied: no Python package jsonschema")

KITS = ("mac", "toy_cnn_run", "efficient_sam_run", "edgetam_image_encoder_run", "edgetam_image_encoder_android_run")
paths = sorted(CONFIGS.rglob("*.json"))
expect(len(paths) == 14, f"14 shipped configs, found {len(paths)}")
expect(set(KITS) == {p.stem for p in CONFIGS.glob("*.json")}, "the kit's own configs have the kit's names")
for path in paths:
    text = path.read_text()
    elsewhere = f'"{ELSEWHERE}_sme2' in text
    if jsonschema:
        errors = [e.message for e in jsonschema.Draft202012Validator(schema).iter_errors(json.loads(text))]
        expect(not errors, f"{path.name}: {errors}")
    if "<model>" in text:
        ended(run(path), 4, says="placeholder")
        filled = json.loads(text)
        filled["model"], filled["output_root"] = "nowhere.pte", "out_x"
        here = not elsewhere
        with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
            json.dump(filled, f)
            f.flush()
            done = run(f.name)
        expect(done.returncode == 5 and ("nowhere.pte does not exist" if here else f"names {ELSEWHERE}") in done.stderr,
              f"{path.name} filled in is read: {done.stderr}")
    elif elsewhere:
        ended(run(path), 5, says=f"names {ELSEWHERE}")
    else:
        done = run(path)
        wanted = "does not exist, nor does its fallback" if "fallback" in text else "does not exist"
        expect(done.returncode == 5 and wanted in done.stderr,
              f"{path.name} is read: {done.stderr}")

if jsonschema:  # the schema refuses what the program refuses
    for name in ("unknown_key", "unknown_key_of_an_experiment", "key_in_the_wrong_place", "wrong_type",
                 "extra_args"):
        bad = json.loads((ROOT / f"tests/data/configs/{name}.json").read_text())
        expect(not jsonschema.Draft202012Validator(schema).is_valid(bad), f"schema refuses {name}")
finish()
