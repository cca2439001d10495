# SPDX-License-Identifier: Apache-2.0
"""What the scripts and the exporter may install: every package of every lock file has one version and the hashes of its
files, no file names an index, no two disagree, and nobody installs past them. usage: test_locks.py PROJECT"""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import expect, finish, skip

ROOT = pathlib.Path(sys.argv[1]).resolve()
HOMES = (ROOT / "scripts/requirements", ROOT / "python/etprof/requirements")
try:
    from pip._vendor.packaging.markers import Marker
except ImportError:
    skip("no pip in this Python, whose reading of markers is used")

SYSTEMS = {"Linux x86-64": ("linux", "x86_64", "Linux"), "Linux arm64": ("linux", "aarch64", "Linux"),
           "macOS arm64": ("darwin", "arm64", "Darwin")}
VERSIONS = ("3.9", "3.10", "3.11", "3.12", "3.13")
TOGETHER = ("build", "tests", "lint", "export", "models", "torch-default")  # what shares .venv


def entries(path):
    text = re.sub(r"^#.*\n", "", path.read_text(), flags=re.M).replace("\\\n", " ")
    for line in filter(None, map(str.strip, text.splitlines())):
        found = re.fullmatch(r"([a-z0-9.-]+)==([A-Za-z0-9.+]+)(?: ; (.*?))?((?: +--hash=sha256:[0-9a-f]{64})+)", line)
        expect(found, path.name, f"is no pinned package with hashes: {line[:120]}")
        if found:
            yield found.group(1), found.group(2), found.group(3), found.group(4).split()


def chosen(path, environment):
    """{package: version} that the file gives there; two versions at once are an error of the file."""
    out = {}
    for name, version, marker, _ in entries(path):
        if marker is None or Marker(marker).evaluate(environment):
            expect(out.get(name, version) == version, path.name, environment,
                   f"{name} twice: {out.get(name)}, {version}")
            out[name] = version
    return out


locks = {p.stem: p for home in HOMES for p in sorted(home.glob("*.txt"))}
expect({"build", "sdist", "zig", "tests", "mcp", "lint", "lock", "wheel", "export", "fleet", "models", "spark",
        "torch-cpu", "torch-default", "parquet", "validate"} ==
       set(locks), sorted(locks))
for home in HOMES:
    for source in home.glob("*.in"):
        wanted = {re.match(r"[a-z0-9.-]+", w).group(0) for w in source.read_text().splitlines() if w and w[0] != "#"}
        have = {e[0] for p in home.glob("*.txt") for e in entries(p)}
        expect(wanted <= have, source.name, f"not locked: {wanted - have}")
rows = 0
for path in locks.values():
    expect("://" not in path.read_text() and "index" not in re.sub(r"#.*", "", path.read_text()), path.name,
           "names an index")
    for name, _, _, hashes in entries(path):
        rows += 1
        expect(len(set(hashes)) == len(hashes), path.name, name, "a hash stands twice")
for system, (sys_platform, machine, system_name) in SYSTEMS.items():
    for version in VERSIONS:
        environment = {"python_version": version, "python_full_version": version + ".5", "sys_platform": sys_platform,
                       "platform_machine": machine, "platform_system": system_name, "os_name": "posix",
                       "implementation_name": "cpython", "platform_python_implementation": "CPython"}
        shared = {}
        for purpose in TOGETHER:
            if version == "3.9" and purpose not in ("build", "tests"):
                continue  # the exporter needs 3.10
            for name, pin in chosen(locks[purpose], environment).items():
                expect(shared.setdefault(name, pin) == pin, system, version, purpose,
                       f"{name} is {pin} here, {shared[name]} elsewhere")
        if version != "3.9":
            expect("torch" in shared and "executorch" in shared and "torchao" in shared, system, version,
                   "the exporter is not whole")
            cuda = [n for n in shared if n.startswith("nvidia-")]
            expect(bool(cuda) == (sys_platform == "linux"), system, version, f"CUDA's packages: {cuda}")
            expect(not [n for n in chosen(locks["export"], environment) if n.startswith(("nvidia", "cuda", "triton"))],
                   "export.txt has CUDA")
# Nobody goes past them: each call of pip that installs names hashes. The SDK's wheel is checked by scripts/sdk itself.
for path in [*(ROOT / "scripts").iterdir(), *(ROOT / "model_profiling/scripts").glob("*.sh"),
             ROOT / "tests/python/run"]:
    if not path.is_file():
        continue
    text = re.sub(r"\\\n\s*", " ", path.read_text())
    for line in text.splitlines():
        if re.search(r"-m pip install\b", line) and not re.search(r"die |echo |say ", line):
            expect("--require-hashes" in line, path.relative_to(ROOT), f"installs without hashes: {line.strip()[:120]}")
for path in [ROOT / "tests/python/run", *(ROOT / "python/etprof").rglob("*.py")]:
    text = path.read_text()
    for found in re.finditer(r'"pip", "install"|pip\([^)]*"install"', text):
        around = text[found.start():found.start() + 300]
        if path.name == "prepare.py" and '"--report"' in around:
            continue  # releases that somebody names: what pip took is kept, with its hashes
        expect("--require-hashes" in around, path.relative_to(ROOT), f"installs without hashes: {around[:80]!r}")
# What a verb tells of what is missing is what its lock was made from.
sys.path.insert(0, str(ROOT / "python"))
from etprof.extras import NEEDS

for purpose, told in NEEDS.items():
    source = HOMES[1] / f"{purpose}.in"
    listed = tuple(w for w in source.read_text().splitlines() if w and w[0] != "#") if source.is_file() else told
    expect(told == listed, "extras.py", purpose, f"tells {told}, {source.name} has {listed}")
# Nobody owns our name in an index yet: who registers it would run code wherever it is installed by name.
LOOKED = [ROOT / "action.yml", ROOT / "README.md", ROOT / "AGENTS.md", *(
    path for folder in ("docs", "examples", "python", "scripts", "src", "tests", "agentic-kits", "model_profiling")
    for path in (ROOT / folder).rglob("*")
    if path.suffix in (".md", ".yml", ".py", ".sh", ".c", ".ipynb", ".txt", ".in", ".json", "") and path.is_file())]
# NAME, NAME==1, NAME[mcp] and "NAME @" as words of a call of pip; a path or an address ends in .whl.
BY_NAME = re.compile(r"""\bpip[3x]? install\b[^\n`#]*?[\s'"]etprof(?=[\s'"`,;)\]]|\[|==|$)|\betprof==[0-9X]""")
for path in LOOKED:
    if path.resolve() != pathlib.Path(__file__).resolve() and "build" not in path.relative_to(ROOT).parts:
        found = BY_NAME.search(path.read_text(errors="replace"))
        expect(not found, path.relative_to(ROOT), "installs etprof by a name that nobody has registered", found)
text = (ROOT / "docs/install.md").read_text()
expect("Before the first release" in text, "docs/install.md", "what must be registered")
finish(f"{rows} packages in {len(locks)} files")
