# SPDX-License-Identifier: Apache-2.0
"""Run folders for the tests of tables, and what their rows have to be: computed from the raw files here."""
import csv
import datetime
import hashlib
import json
import pathlib

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "examples/runs/image_encoder_int8_qemu"
ARMS = ("linux_sme2_on", "linux_sme1", "linux_sme2_off")


def make(folder, blocks=2, iterations=5, names=ARMS, beyond=0):
    """A folder with a row for each arm, block and iteration, and rows of BEYOND blocks that the manifest has not."""
    folder.mkdir(parents=True)
    manifest = json.loads((EXAMPLE / "manifest.json").read_text())
    manifest["blocks_done"] = manifest["plan"]["blocks"] = blocks
    manifest["plan"]["order"] = [[0, 1, 2]] * blocks
    manifest["files"] = []
    for arm, name in zip(manifest["plan"]["arms"], names):
        arm["name"] = name
    manifest["plan"]["arms"][1]["level"] = ""
    (folder / "manifest.json").write_text(json.dumps(manifest, ensure_ascii=False), encoding="utf-8")
    launch = 0
    with (folder / "samples.csv").open("w", newline="", encoding="utf-8") as out, \
            (folder / "environment.jsonl").open("w", encoding="utf-8") as env:
        rows = csv.writer(out, lineterminator="\n")
        rows.writerow("experiment,block,launch,iteration,phase,start_ns,duration_ns".split(","))
        for block in range(1, blocks + beyond + 1):
            env.write(json.dumps({"type": "block", "block": block, "start": {}, "end": {}}) + "\n")
            for position, name in enumerate(names):
                launch += 1
                known = position != 1  # of the second arm the system told nothing
                env.write(json.dumps({
                    "type": "launch", "block": block, "launch": launch, "experiment": name, "kind": "timed",
                    "position": position, "pid": 1000 + launch, "start_ns": launch * 10**9, "wall_ns": 10**8 + launch,
                    "load_ns": 777 if known else None, "minor_faults": 20 if known else None,
                    "major_faults": 0 if known else None, "user_ns": 0 if known else None,
                    "wait_ns": 0 if known else None}) + "\n")
                for i in range(iterations):
                    rows.writerow([name, block, launch, i, "warmup" if i == 0 else "timed",
                                   launch * 10**9 + i * 1000, (launch * 7919 + i * 104729) % 999983])
    return folder


def keys(folder):
    """{experiment: the columns that every row begins with}"""
    raw = (folder / "manifest.json").read_bytes()
    m = json.loads(raw)
    when = datetime.datetime.fromisoformat(m["generated_at"].replace("Z", "+00:00"))
    out = {}
    for arm in m["plan"]["arms"]:
        model = m["models"][arm["model"]]
        out[arm["name"]] = {
            "run": str(folder), "run_id": hashlib.sha256(raw).hexdigest(),
            "generated_at": int(when.timestamp()) * 10**6, "platform": m["device"]["platform"],
            "device": m["device"]["spec"], "cpu": m["device"]["facts"].get("cpu"), "emulated": arm["emulated"],
            "model": model["stem"], "model_sha256": model["sha256"], "experiment": arm["name"],
            "level": arm["level"] or None, "threads": arm["threads"]}
        phase = m["plan"]["phases"][arm.get("phase", 0)] if "phases" in m["plan"] else {}
        out[arm["name"]] |= {"phase_name": phase.get("name"), "phase_kind": phase.get("kind"),
                             "phase_tokens": phase.get("tokens"), "phase_depth": phase.get("depth")}
    return out


def samples(folder):
    """The rows of samples.csv as the table has them."""
    first = keys(folder)
    done = json.loads((folder / "manifest.json").read_text())["blocks_done"]
    with (folder / "samples.csv").open(newline="", encoding="utf-8") as f:
        for row in csv.DictReader(f):
            if int(row["block"]) <= done:
                number = {k: int(row[k]) for k in ("block", "launch", "iteration", "start_ns", "duration_ns")}
                yield {**first[row["experiment"]], **number, "phase": row["phase"]}


def operators(folder):
    """report.json's operators, a row for each arm: the columns that are not in a deeper object."""
    first = keys(folder)
    report = json.loads((folder / "report.json").read_text())
    for document in [report] + [p["document"] for p in report.get("phases", [])[1:]]:
        yield from operators_of(document, first)


def operators_of(report, first):
    for op in report["operators"]:
        for arm in (a["name"] for a in report["arms"]):
            row = dict(first[arm])
            for name in ("id", "label", "category", "five", "delegated", "chain", "instruction", "macs", "aligned_by",
                         "doubtful", "confidence"):
                row[name] = op[name]
            row["names"] = " | ".join(op["names"][arm]) or None
            row["ns"] = op["ns"][arm]
            row["untraced_ns"] = op["untraced_ns"][arm]
            at = [i for i, c in enumerate(report["comparisons"]) if c["candidate"] == arm]
            row["baseline"] = report["comparisons"][at[0]]["baseline"] if at else None
            row["speedup"] = op["speedup"][at[0]] if at else None
            row["engaged"] = op["engaged"]["state"] if (report["engagement"] or {}).get("arm") == arm else None
            row["source_file"] = op["source"]["file"] if op["source"] else None
            yield row


def launches(folder):
    """environment.jsonl's launches: what needs no rule, and what has to be null."""
    first = keys(folder)
    done = json.loads((folder / "manifest.json").read_text())["blocks_done"]
    for line in (folder / "environment.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row["type"] == "launch" and row["block"] <= done:
            names = ("block", "launch", "position", "kind", "pid", "start_ns", "wall_ns", "load_ns", "user_ns",
                     "minor_faults", "major_faults")
            wanted = {k: row.get(k) for k in names}
            yield {**first[row["experiment"]], **wanted, "wait_ns": row.get("wait_ns"), "cycles": None}
