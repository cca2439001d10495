# SPDX-License-Identifier: Apache-2.0
"""A short session's folder stays small: recordings are compressed, timelines are made when they are asked for. What
was compressed is what the runner wrote (unpacked by another program), hashed as it lies there, and read by every verb.

usage: folder_size.py ETPROF SOURCE_DIR"""
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import execute, expect, finish, new_folder, plain_session, skip

ETPROF, SOURCE = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
MODEL = SOURCE / "examples/models/image_encoder_xnnpack_int8.pte"
MOST = 5_000_000  # bytes, of a session of six blocks
BLOCKS = 2


def etprof(*words, fine=(0,)):
    done = execute(ETPROF, *words, timeout=900)
    expect(done.returncode in fine, words[0], done.returncode, done.stderr[-400:])
    return done.stdout


def measure(out):
    # Enough iterations that the recordings are as long as those of the default.
    etprof("ab", MODEL, "--blocks", BLOCKS, "--warmup", 3, "--iterations", 50, "--seed", 5, "--out", out,
           fine=(0, 1, 3, 6))
    return files(out)


def files(out):
    return {str(p.relative_to(out)): p.stat().st_size for p in out.rglob("*") if p.is_file()}


def of_six(sizes):
    """What six blocks would take: the rows grow with the blocks, and each adds recordings and logs as block 2 did."""
    grows = sum(n for name, n in sizes.items() if name in ("samples.csv", "environment.jsonl")) / BLOCKS
    block = sum(n for name, n in sizes.items() if "_b2." in name)
    return sum(sizes.values()) + (6 - BLOCKS) * (grows + block)


def check_hashes(folder):
    listed = {f["path"]: f for f in json.loads((folder / "manifest.json").read_text())["files"]}
    packed = list(folder.rglob("*.zst"))
    expect(len(packed) >= 2 * BLOCKS, "compressed", len(packed), "files")
    for path in packed:
        said = listed.get(str(path.relative_to(folder)), {})
        expect(said.get("sha256") == hashlib.sha256(path.read_bytes()).hexdigest(), path.name, "hash as it lies there")
    etprof("verify", folder)
    etprof("validate", folder)
    if packed:
        other = folder.with_name("altered")
        shutil.copytree(folder, other)
        at = other / packed[0].relative_to(folder)
        content = bytearray(at.read_bytes())
        content[len(content) // 2] ^= 1
        at.write_bytes(content)
        etprof("verify", other, fine=(1,))
    return packed


def check_unpacked(folder, packed, work):
    """The same answers from what another program unpacked."""
    zstd = shutil.which("zstd")
    dump = next((p for p in packed if p.name.endswith("_b2.etdump.zst")), None)
    if not zstd or not dump:
        expect(dump is not None, "a recording of block 2 is compressed")
        print("skipped: no zstd here to unpack a recording with", flush=True)
        return 77
    plain = work / dump.name.removesuffix(".zst")
    subprocess.run([zstd, "-q", "-d", dump, "-o", plain], check=True)
    content = plain.read_bytes()
    expect(content[4:8] == b"ED00" or content[8:12] == b"ED00", "what is packed is an ETDump")
    expect(etprof("ops", dump, "--format", "csv") == etprof("ops", plain, "--format", "csv"), "ops of both")
    shown = etprof("inspect", dump, "--format", "json")
    shown = shown.replace(dump.name, plain.name)
    expect(shown.replace(str(dump.parent), str(work)) == etprof("inspect", plain, "--format", "json"),
           "inspect of both")
    logged = etprof("inspect", dump, "--tensor", "--format", "json").replace(str(dump), str(plain))
    expect(logged == etprof("inspect", plain, "--tensor", "--format", "json"), "inspect --tensor of both")
    return 0


def check_readers(folder, packed, work):
    """Who else reads recordings: the views, and the package by the library."""
    dump = next(p for p in packed if p.name.endswith(".etdump.zst"))
    etprof("convert", dump, "--to", "chrome", "-o", work / "one.json")
    expect(json.loads((work / "one.json").read_text())["traceEvents"], "convert of a compressed recording")
    etprof("convert", folder, "--to", "speedscope", "-o", work / "both.json")
    done = subprocess.run([sys.executable, "-c", "import sys, etprof\nfrom etprof.inspector import Inspector\n"
                           "print(len(Inspector(sys.argv[1]).rows()), etprof.open(sys.argv[2]) is not None)",
                           dump, folder], capture_output=True, text=True, timeout=300, check=False,
                          env=os.environ | {"PYTHONPATH": str(SOURCE / "python")})
    expect(done.returncode == 0 and done.stdout.endswith("True\n"), "the package", done.stdout, done.stderr[-400:])


def check_timelines(folder, work):
    tables = work / "tables"
    etprof("analyze", folder, "--out", tables)
    made = list(tables.rglob("*_exec_all_runs_timeline.csv"))
    expect(len(made) == 2, "analyze --out makes a timeline per arm", len(made))


def main():
    if not list(SOURCE.glob("build/bundle/*/etprof-runner")):
        skip("no runner is built (scripts/build-runner)")
    work = new_folder()
    sizes = measure(work / "run")
    expect(of_six(sizes) <= MOST, "six blocks take", round(of_six(sizes) / 1e6, 2), "MB, at most", MOST / 1e6)
    packed = check_hashes(work / "run")
    code = check_unpacked(work / "run", packed, work)
    check_readers(work / "run", packed, work)
    check_timelines(work / "run", work)
    etprof("analyze", "--full", "--renew", work / "run")
    after = {str(p.relative_to(work / "run")) for p in (work / "run").rglob("*") if p.is_file()}
    expect(after == set(sizes), "report adds no files", after ^ set(sizes))
    done = plain_session(ETPROF, MODEL, work / "plain", ("linux_on", "linux_off"), "--blocks", BLOCKS, runs=50,
                         warmup=3)
    expect(done.returncode in (0, 1, 3, 6), "run --plain", done.returncode, done.stderr[-400:])
    kept = files(work / "plain")
    expect(not any(n.endswith(".zst") for n in kept), "--plain keeps recordings as they are")
    expect(sum(n.endswith("_exec_all_runs_timeline.csv") for n in kept) == 2, "--plain has the timelines")
    etprof("verify", work / "plain")
    print(f"{sum(sizes.values()) / 1e6:.2f} MB after {BLOCKS} blocks, {of_six(sizes) / 1e6:.2f} MB after six; "
          f"--plain: {sum(kept.values()) / 1e6:.2f} MB", flush=True)
    finish(code=code)


main()
