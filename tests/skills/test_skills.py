# SPDX-License-Identifier: Apache-2.0
"""Executes the playbooks and the tutorial in a clean folder: a view of the source tree in which nothing was made
yet. Usage: test_skills.py text|chain|failure|tutorial|setup|export ETPROF SOURCE"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import execute, skip

part, etprof, source = sys.argv[1], str(pathlib.Path(sys.argv[2]).resolve()), pathlib.Path(sys.argv[3]).resolve()
FOLDERS = ("agent_skill_ml_profiling", "agentic-kits")
SECTIONS = ("## Prerequisites", "## Steps", "## Success gates", "## Expected outputs", "## Failures")
failures = []


def check(what, ok, detail=""):
    if not ok:
        failures.append(what)
        print(f"FAILED {what}\n{detail}")


def etp(*words, cwd):
    return execute(etprof, *words, cwd=cwd, stdin=subprocess.DEVNULL)


def clean_folder(where):
    for entry in source.iterdir():
        if entry.name == "model_profiling":  # "export --new" writes into it
            shutil.copytree(entry, where / entry.name, ignore=shutil.ignore_patterns("out_*", "__pycache__"))
        elif not entry.name.startswith(("out_", ".git", ".etprof", "etprof")):
            (where / entry.name).symlink_to(entry)
    return where


def run(selection, cwd, *settings):
    p = etp("skills", "run", selection, "--format", "json", *settings, cwd=cwd)
    if p.returncode not in (0, 1):
        check(f"run {selection}", False, p.stderr)
        return p.returncode, {"skills": [], "stopped_at": None, "ok": None}
    return p.returncode, json.loads(p.stdout)


def all_ok(selection, cwd, *settings):
    code, answer = run(selection, cwd, *settings)
    failed = [(s["id"], c) for s in answer["skills"] for c in s["commands"] if c["ok"] is not True]
    check(f"skills run {selection}", code == 0 and answer["ok"] is True and not failed,
          json.dumps(failed[:1], indent=1, ensure_ascii=False))
    return answer


def playbooks():
    for folder in FOLDERS:
        yield from sorted((source / folder).glob("*.md"))


def front_matter(path):
    """What a YAML parser reads of a playbook's head; PyYAML where it is there, else the part of YAML that is used."""
    head = path.read_text().split("---\n")[1]
    try:
        import yaml
        return yaml.safe_load(head)
    except ImportError:
        print("PyYAML is not here: read as the part of YAML that playbooks use")
    out, into = {}, None
    for line in head.splitlines():
        key, _, value = line.partition(":")
        into = out if not key.startswith("  ") else into
        if not value:
            into = out[key] = {}
            continue
        value = value.strip()
        quoted = re.fullmatch(r'"[^"\\]*"', value)
        if key.strip() in into or not (quoted or re.fullmatch(r"[^\"'{\[&*!|>%@`#,?-](?:(?!: | #).)*(?<!:)", value)):
            raise ValueError(f"{path.name}: {line}")
        value = value[1:-1] if quoted else value
        into[key.strip()] = int(value) if value.isdigit() and not quoted else value
    return out


def heads():
    """A YAML parser reads every key of every head, and reads what etprof reads."""
    listed = {s["id"]: s for s in json.loads(etp("skills", "--format", "json", cwd=source).stdout)["skills"]}
    for path in playbooks():
        try:
            head = front_matter(path)
        except Exception as error:  # the parser's own classes differ
            check(f"{path.name}: front matter is YAML", False, str(error))
            continue
        keys = {line.split(":")[0].strip() for line in path.read_text().split("---\n")[1].splitlines()}
        settings = head.get("settings", {})
        check(f"{path.name}: every key is read", keys == set(head) | set(settings), f"{keys} {head}")
        check(f"{path.name}: known keys", set(head) <= {"name", "description", "minutes", "next", "settings"},
              str(head))
        for key in ("name", "description", "next"):
            check(f"{path.name}: {key}", head.get(key) == listed[path.stem][key], f"{head.get(key)}")
        for name, value in settings.items():  # what can be set is what is used
            body = path.read_text().split("---\n", 2)[2] + "".join(map(str, settings.values()))
            check(f"{path.name}: {{{name}}} is used", f"{{{name}}}" in body or (name == "pte" and "{run}" in body),
                  str(value))


def text():
    heads()
    listed = {s["id"]: s for s in json.loads(etp("skills", "--format", "json", cwd=source).stdout)["skills"]}
    check("catalogue", set(listed) == {p.stem for p in playbooks()}, f"{sorted(listed)}")
    for path in playbooks():
        body = path.read_text()
        check(f"{path.name} is what is compiled in", etp("skills", path.stem, cwd=source).stdout == body)
        if path.stem != "readme":
            for section in SECTIONS:
                check(f"{path.name}: {section}", f"\n{section}\n" in body)
            check(f"{path.name}: has gates", "```sh gate\n" in body)
            check(f"{path.name}: failures are a table", "\n|---" in body.split("## Failures")[1])
        for link in re.findall(r"\]\(([^)#]+)\)", body):
            check(f"{path.name}: link {link}", (path.parent / link).exists())
        for doc in re.findall(r"`(docs/[a-z-]+\.md|examples/[a-z/]+)`", body):
            check(f"{path.name}: {doc}", (source / doc).exists())
        follow = listed[path.stem]["next"]
        check(f"{path.name}: next {follow}", follow is None or follow in listed)
    # Every verb and option that a command uses exists; help is where etprof itself looks.
    dry = etp("skills", "run", "01-08,setup-agent,pipeline-agent,validation-agent", "--dry-run", cwd=source)
    check("dry run", dry.returncode == 0 and dry.stdout.count("\n") > 25, dry.stderr)
    for line in dry.stdout.splitlines():
        words = line.split()
        if words[0] == "grep":  # in what a command before it writes
            check(f"{line}: its file", f"--output {words[-1]}" in dry.stdout.split(line)[0])
            continue
        if words[0] != "etprof":
            check(f"{line}: its file", (source / words[1]).is_file())
            continue
        if words[1].startswith("-"):
            continue
        about = etp("help", words[1], cwd=source)
        check(f"{line}: verb", about.returncode == 0, about.stderr)
        if words[1] == "export":
            continue  # Python parses their options; skills.export runs them
        for option in (w for w in words if w.startswith("--")):
            check(f"{line}: {option}", option in about.stdout)
    for line in re.findall(r"run: (.*)", (source / "examples/ci/profile.yml").read_text()):
        words = line.split()
        if words[0] == "./etprof":
            p = etp(*words[1:4], "--dry-run", cwd=source)
            check(f"workflow: {line}", p.returncode == 0, p.stderr)
        else:
            check(f"workflow: {line}", (source / words[1]).is_file())


def installed():
    """Where an agent looks: a folder each, front matter that names it, no link that leads nowhere."""
    with tempfile.TemporaryDirectory() as folder:
        done = etp("skills", "install", f"{folder}/skills", cwd=folder)
        found = sorted(pathlib.Path(folder, "skills").iterdir())
        check("skills install", done.returncode == 0 and len(found) == len(list(playbooks())), done.stderr)
        for path in found:
            text = (path / "SKILL.md").read_text()
            head, body = re.fullmatch(r"---\n(.*?)\n---\n(.*)", text, re.S).groups()
            lines = dict(line.split(": ", 1) for line in head.splitlines())
            check(f"{path.name}: front matter", set(lines) == {"name", "description"} and lines["name"] == path.name and
                  re.fullmatch(r"[a-z0-9-]{1,64}", path.name) and 20 < len(lines["description"]) <= 1024, head)
            for target in re.findall(r"\]\((\.\./etprof-[^)]*)\)", body):
                check(f"{path.name}: {target}", (path / target).is_file())
            check(f"{path.name}: links", not re.search(r"\]\([^)]*\d\d_\w+\.md\)", body), body)
            steps = re.findall(r"```sh (?:step|gate)\n.*?```", body, re.S)
            source_of = [p for p in playbooks() if all(s in p.read_text() for s in steps)]
            check(f"{path.name}: its commands", not steps or source_of)
        again = etp("skills", "install", f"{folder}/skills", cwd=folder)
        check("skills install again", again.returncode == 0, again.stderr)
        check("skills install without a folder", etp("skills", "install", cwd=folder).returncode == 2)


def with_bundled_model(where):
    folder = where / "out_toy_cnn" / "artifacts"
    folder.mkdir(parents=True)
    shutil.copy(source / "examples/models/toy_cnn_xnnpack_fp16.pte", folder)


def need_runner():
    if not any((source / "build/bundle").glob("*/etprof-runner")):
        skip("no runner bundle; scripts/build-runner native builds one")


def chain(where):
    need_runner()
    with_bundled_model(where)
    answer = all_ok("04-07", where, "--set", "blocks=2")
    check("order", [s["id"][:2] for s in answer["skills"]] == ["04", "05", "06", "07"])
    made = where / "out_toy_cnn"
    for name in ("report.html", "report.json", "metrics.json", "analysis_summary.json", "manifest.json"):
        check(f"made {name}", (made / "runs" / answer_platform() / name).is_file())
    check("made the Markdown report", "toy_cnn" in (made / "toy_cnn_fp16_report.md").read_text())
    check("made the trace run", (made / "runs" / f"{answer_platform()}_trace" / "manifest.json").is_file())
    all_ok("validation-agent", where)
    for judged in ("folder=out_toy_cnn", "pte=out_toy_cnn/artifacts/toy_cnn_xnnpack_fp16.pte"):
        all_ok("validation-agent", where, "--set", judged)
    changed_settings(where, made)
    shutil.rmtree(made)
    all_ok("pipeline-agent", where, "--set", "blocks=2")
    # The gates can say no: a folder that was tampered with fails the chain where it is looked at.
    csv = made / "runs" / answer_platform() / "samples.csv"
    csv.write_text(csv.read_text().replace("1", "2", 40))
    code, answer = run("validation-agent", where)
    check("tampered folder", code == 1 and answer["stopped_at"] == "validation-agent", str(answer))


def changed_settings(where, made):
    """Other settings never pass on what an earlier model left."""
    other = made / "artifacts" / "toy_cnn_xnnpack_fp32.pte"
    shutil.copy(source / "examples/models" / other.name, other)
    words = ("--set", "dtype=fp32", "--set", "blocks=2")
    code, answer = run("05", where, "--set", "dtype=fp32")
    said = json.dumps(answer)
    check("a model that was not measured", code == 1 and "measure it first" in said and "toy_cnn_xnnpack_fp16" in said,
          said)
    answer = all_ok("04,05,07", where, *words)
    second = f"out_toy_cnn/runs/{answer_platform()}.2"
    read = [c["command"] for s in answer["skills"] for c in s["commands"] if "runs/" in c["command"]]
    check("later steps read what was measured", read and all(second in c or "_trace" in c for c in read),
          "\n".join(read))
    check("the report is the new one", "fp32" in (made / "toy_cnn_fp32_report.md").read_text().splitlines()[0])
    other.write_bytes(other.read_bytes() + b"\0")  # exported again under the same name
    code, answer = run("05", where, "--set", "dtype=fp32")
    check("a model that was exported again", code == 1 and "measure it first" in json.dumps(answer), json.dumps(answer))
    for name in (second, f"out_toy_cnn/runs/{answer_platform()}_trace.2"):
        shutil.rmtree(where / name)


def tutorial_blocks(kind):
    page = source / "docs/tutorial.md"
    for block in re.findall(rf"```sh {kind}\n(.*?)```", page.read_text(), re.S):
        for line in block.splitlines():
            yield page.name, line.replace("{platform}", answer_platform())


def follow_tutorial(kind, where):
    seen = 0
    for page, line in tutorial_blocks(kind):
        words = re.findall(r'"[^"]*"|\S+', line)
        words = [w.strip('"') for w in words]
        check(f"{page}: {line}: is etprof", words[0] == "etprof")
        p = etp(*words[1:], cwd=where)
        check(f"{page}: {line}", p.returncode == 0, p.stdout[-1500:] + p.stderr[-1500:])
        seen += 1
    check(f"the tutorial has commands of kind {kind}", seen > 3)


def tutorial(where):
    need_runner()
    page = source / "docs/tutorial.md"
    steps = re.findall(r"^## (\d)\. ", page.read_text(), re.M)
    check("six steps", steps == list("123456"), str(steps))
    for link in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
        check(f"{page.name}: link {link}", (page.parent / link).exists())
    dry = etp("skills", "run", "01,02", "--dry-run", cwd=source).stdout.splitlines()
    for page, line in tutorial_blocks("setup"):
        check(f"{page}: {line} is what the skills run", line in dry)
    follow_tutorial("step", where)


def answer_platform():
    return "mac" if sys.platform == "darwin" else "linux"


def failure(where):
    code, answer = run("03-05", where, "--set", "model=absent_model", "--set", "dtype=fp16")
    first = answer["skills"][0]["commands"] if answer["skills"] else []
    check("stops at the first", code == 1 and answer["ok"] is False and answer["stopped_at"] == "03_export_model",
          json.dumps(answer, indent=1)[:2000])
    check("says why", bool(first) and "absent_model" in (first[0].get("output") or ""), str(first))
    check("exit code of the command", bool(first) and first[0]["exit_code"] not in (0, None), str(first))
    check("later ones were not run", all(c["ok"] is None for s in answer["skills"][1:] for c in s["commands"]))
    p = etp("skills", "run", "06", "--timeout", "0", cwd=where)
    check("a time-out of nothing is refused", p.returncode == 2, p.stderr)
    (where / "here").mkdir()
    p = execute(etprof, "skills", "run", "01", "--format", "json", cwd=where / "here", stdin=subprocess.DEVNULL)
    check("outside a clone", p.returncode == 1 and "No such file" in p.stdout, p.stdout + p.stderr)


def setup(where):
    if pathlib.Path(etprof).resolve() != (source / "build/release/bin/etprof").resolve():
        skip("the set-up skills build build/release; run them from that build's tests")
    (where / ".venv").unlink()  # the tests' own has what the set-up would have to install
    all_ok("01,02", where)
    check("the link", (where / "etprof").is_symlink())
    all_ok("setup-agent", where)
    done = execute(where / ".venv/bin/python", "-c", "import jsonschema")
    check("what validating needs is set up", done.returncode == 0, done.stderr)


def export(where):
    python = source / ".venv/bin/python"
    if execute(python, "-c", "import torch, executorch", text=False).returncode \
            if python.exists() else True:
        skip("no PyTorch in .venv; scripts/check --export installs it")
    all_ok("03,08", where)
    follow_tutorial("torch", where)
    check("the program", (where / "out_toy_cnn/artifacts/toy_cnn_xnnpack_fp16.pte").is_file())


if part == "text":
    installed()
    text()
else:
    with tempfile.TemporaryDirectory(prefix="etprof-skills-") as folder:
        {"chain": chain, "failure": failure, "setup": setup, "export": export,
         "tutorial": tutorial}[part](
            clean_folder(pathlib.Path(folder)))
sys.exit(1 if failures else 0)
