# SPDX-License-Identifier: Apache-2.0
"""packaging/, which no brew, conda or Docker has run: it is read. Versions, options, libraries and files that it names
are those of this tree.

usage: test_packaging.py SOURCE_DIR"""
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import expect, finish, in_python_with, skip

in_python_with("yaml")
try:
    import yaml
except ImportError:
    skip("no PyYAML to read the recipe with; pip install pyyaml, and ETPROF_TESTS_PYTHON=that python")

SOURCE = pathlib.Path(sys.argv[1]).resolve()
HERE = SOURCE / "packaging"
CMAKE = "".join(p.read_text() for p in (SOURCE / "CMakeLists.txt", *sorted((SOURCE / "cmake").glob("*.cmake"))))
VERSION = re.search(r"project\(etprof VERSION ([0-9.]+)", CMAKE)[1]
# pkg-config's name of a library, as CMake asks for it, and the name of the package in Homebrew and conda.
PACKAGES = {"jansson": "jansson", "libzip": "libzip", "libzstd": "zstd", "capstone": "capstone"}


def libraries():
    """What the build links with."""
    found = set(re.findall(r"pkg_check_modules\(\w+ (?:REQUIRED )?IMPORTED_TARGET (\w+)", CMAKE)) - {"cmocka"}
    expect(found == set(PACKAGES), "libraries of the build", found)
    return {PACKAGES.get(name, name) for name in found}


def options(text, what):
    for option in re.findall(r"-D(ETPROF_\w+)=", text):
        expect(option in CMAKE, what, "no such option", option)


def formula(wanted):
    text = (HERE / "homebrew/etprof.rb").read_text()
    expect(f'version "{VERSION}"' in text, "formula", "version")
    needs = set(re.findall(r'^  depends_on "([\w-]+)"$', text, re.M))
    expect(needs == wanted, "formula", needs, wanted)
    options(text, "formula")
    opened = len(re.findall(r"^\s*(?:class|def|test do)\b", text, re.M))
    expect(opened == len(re.findall(r"^\s*end$", text, re.M)), "formula", "each block ends")
    if shutil.which("ruby"):
        done = subprocess.run(["ruby", "-wc", HERE / "homebrew/etprof.rb"], capture_output=True, text=True, check=False)
        expect(done.returncode == 0, "formula", done.stderr)
    else:
        print("left out: Ruby's own look at the formula: no ruby")


def recipe(wanted):
    text = (HERE / "conda/meta.yaml").read_text()
    read = yaml.safe_load(text)
    expect(read["package"] == {"name": "etprof", "version": VERSION}, "recipe", read["package"])
    expect(set(read["requirements"]["host"]) == set(read["requirements"]["run"]) == wanted, "recipe", "libraries")
    expect((HERE / "conda" / read["source"]["path"] / "CMakeLists.txt").is_file(), "recipe", "its source")
    expect((SOURCE / read["about"]["license_file"]).is_file(), "recipe", "the licence")
    options(text, "recipe")


def dockerfile():
    known = {"FROM", "RUN", "COPY", "WORKDIR", "ENTRYPOINT", "CMD"}
    lines = [line for line in (HERE / "Dockerfile").read_text().splitlines() if line and line[0] != "#"]
    expect(all(line.split()[0] in known for line in lines), "Dockerfile", lines)
    stages = re.findall(r"^FROM \S+ AS (\w+)$", "\n".join(lines), re.M)
    expect(set(re.findall(r"--from=(\w+)", "\n".join(lines))) <= set(stages), "Dockerfile", stages)
    for script in re.findall(r"\bscripts/\w+", "\n".join(lines)):
        expect((SOURCE / script).is_file(), "Dockerfile", script)
    for line in lines:
        if line.startswith("RUN "):
            done = subprocess.run(["sh", "-n", "-c", line[4:]], capture_output=True, text=True, check=False)
            expect(done.returncode == 0, "Dockerfile", line, done.stderr)


packages = libraries()
formula(packages)
recipe(packages)
dockerfile()
for name in ("homebrew/etprof.rb", "conda/meta.yaml", "Dockerfile"):
    expect("Not tried yet" in (HERE / name).read_text(), name, "says that nobody has tried it")
    expect(f"`{name}`" in (HERE / "README.md").read_text(), name, "is in packaging/README.md")
finish("a formula, a recipe and a Dockerfile name what is here; none of them has been run")
