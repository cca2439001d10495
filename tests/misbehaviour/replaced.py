# SPDX-License-Identifier: Apache-2.0
"""A file that launches read (model, weights, inputs, runner, library) is replaced or written to while a session
runs: the session ends, says which, keeps only the blocks before it. Other rights or one link more change nothing.

usage: replaced.py ETPROF FAKE_RUNNER"""
import ctypes
import errno
import hashlib
import os
import pathlib
import platform
import shutil
import struct
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import fake_sessions
import run_folders
from checks import ended, execute, expect, finish, in_folders

ETPROF, FAKE = (str(pathlib.Path(p).resolve()) for p in sys.argv[1:3])
MODEL = fake_sessions.text()
SLOWER = fake_sessions.text("base sme2 9000000", "base neon 9000000")
WEIGHTS = pathlib.Path(__file__).resolve().parents[1] / "data/linear_external.ptd"
BLOCKS = 60


def build_kernels(tmp):
    """A library of kernels that brings one of its own, where there is a compiler."""
    cc = shutil.which("cc")
    if not cc:
        (tmp / "kernels.so").write_bytes(b"as it was")
        return
    (tmp / "libs").mkdir()
    (tmp / "help.c").write_text("int help(void) { return 1; }")
    (tmp / "kernels.c").write_text("int help(void); int kernels(void) { return help(); }")
    flags = ["-shared", "-fPIC", "-nostdlib"]
    subprocess.run([cc, *flags, "help.c", "-o", "libs/libhelp.so"], cwd=tmp, check=True)
    subprocess.run([cc, *flags, "kernels.c", "-Llibs", "-lhelp", "-Wl,-rpath,$ORIGIN/libs", "-o", "kernels.so"],
                   cwd=tmp, check=True)


def lay_out(tmp):
    (tmp / "model.pte").write_bytes(MODEL)
    shutil.copy(WEIGHTS, tmp / "weights.ptd")
    (tmp / "in.bin").write_bytes(bytes(64))
    build_kernels(tmp)
    (tmp / "runner" / "sdk").mkdir(parents=True)
    shutil.copy(FAKE, tmp / "runner" / "etprof-runner")
    for name in ("libx.so", "sdk/liby.so"):
        (tmp / "runner" / name).write_bytes(b"as it was")
    fake_sessions.bundle(tmp / "runner", "./etprof-runner", files=[
        run_folders.entry(tmp / "runner", name) for name in ("etprof-runner", "libx.so", "sdk/liby.so")])


def blocks_done(run):
    try:
        return run_folders.manifest(run)["blocks_done"]
    except FileNotFoundError:
        return 0


def arguments(blocks):
    return ["ab", "model.pte", "--levels", "sme2,neon", "--blocks", str(blocks), "--iterations", "4", "--warmup", "1",
            "--seed", "7", "--quiet", "--runner", "runner", "--data", "weights.ptd", "--inputs", "in.bin",
            "--custom-ops", "kernels.so", "--out", "run", "--no-trace"]


def no_inotify():
    """From here on the system has none for this process, as where all are taken."""
    number, arch = {"x86_64": (294, 0xC000003E), "aarch64": (26, 0xC00000B7)}[platform.machine()]
    steps = [(0x20, 0, 0, 4), (0x15, 0, 3, arch), (0x20, 0, 0, 0), (0x15, 0, 1, number),
             (0x06, 0, 0, 0x00050000 | errno.EMFILE), (0x06, 0, 0, 0x7FFF0000)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    libc = ctypes.CDLL(None, use_errno=True)
    program = ctypes.create_string_buffer(struct.pack("HP", len(steps), ctypes.addressof(code)))
    if libc.prctl(38, 1, 0, 0, 0) != 0 or libc.prctl(22, 2, program, 0, 0) != 0:
        os._exit(77)


def session(tmp, change, watched=True, model="model.pte", weights="weights.ptd"):
    """Runs a session in TMP and calls CHANGE when three of its blocks are done."""
    args = [{"model.pte": model, "weights.ptd": weights}.get(a, a) for a in arguments(BLOCKS)]
    with subprocess.Popen([ETPROF, *args], cwd=tmp, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          preexec_fn=None if watched else no_inotify) as p:
        end = time.monotonic() + 60
        while p.poll() is None and blocks_done(tmp / "run") < 3 and time.monotonic() < end:
            time.sleep(0.002)
        change()
        _, said = p.communicate(timeout=300)
    return p.returncode, said


def by_rename(path, content):
    new = path.with_name("new")
    new.write_bytes(content)
    new.chmod(path.stat().st_mode)
    os.replace(new, path)


def in_place(path, content):
    """As a copy over it does; the time of writing is put back."""
    kept = path.stat()
    with open(path, "r+b") as f:
        f.write(content)
    os.utime(path, ns=(kept.st_atime_ns, kept.st_mtime_ns))


def there_and_back(path, content):
    """Another file under its name, for less than a block."""
    kept = path.with_name("kept")
    os.rename(path, kept)
    path.write_bytes(content)
    os.rename(kept, path)


def written_and_back(path, content):
    """Its times are put back, and a link more is a reason for a new time of its inode."""
    was, kept = path.read_bytes(), path.stat()
    with open(path, "r+b") as f:
        f.write(content)
    path.write_bytes(was)
    os.utime(path, ns=(kept.st_atime_ns, kept.st_mtime_ns))
    os.link(path, path.with_name("link"))


def folder_there_and_back(folder):
    """Another folder under its name, for less than a block; something is added to it, too."""
    kept = folder.with_name(folder.name + "-kept")
    os.rename(folder, kept)
    shutil.copytree(kept, folder, ignore=lambda at, names: [n for n in names if n == "run"])
    if (folder / "model.pte").exists():
        (folder / "model.pte").write_bytes(SLOWER)
    os.rename(folder, folder.with_name(folder.name + "-other"))
    os.rename(kept, folder)
    (folder / "added").write_bytes(b"")
    shutil.rmtree(folder.with_name(folder.name + "-other"))


def cases(tmp):
    other = b"another".ljust(64)
    runner = tmp / "runner" / "etprof-runner"
    yield "the model by another", "model.pte", lambda: by_rename(tmp / "model.pte", SLOWER)
    yield "the model, in place", "model.pte", lambda: in_place(tmp / "model.pte", SLOWER)
    yield "the model, and back", "model.pte", lambda: there_and_back(tmp / "model.pte", SLOWER)
    if sys.platform == "linux":
        yield "the folder of the model, and back", tmp.name, lambda: folder_there_and_back(tmp)
        yield "the model, written and back", "model.pte", lambda: written_and_back(tmp / "model.pte", SLOWER)
        yield "the folder of the runner, and back", "runner", lambda: folder_there_and_back(tmp / "runner")
    yield "the weights", "weights.ptd", lambda: by_rename(tmp / "weights.ptd", other)
    yield "the inputs", "in.bin", lambda: (tmp / "in.bin").write_bytes(other)
    yield "a library of kernels", "kernels.so", lambda: by_rename(tmp / "kernels.so", other)
    yield "the runner", "etprof-runner", lambda: by_rename(runner, pathlib.Path(FAKE).read_bytes())
    yield "a library of its", "libx.so", lambda: by_rename(tmp / "runner" / "libx.so", other)
    yield "a library in a folder of its", "liby.so", lambda: by_rename(tmp / "runner" / "sdk" / "liby.so", other)
    yield "a library of its, in place", "libx.so", lambda: in_place(tmp / "runner" / "libx.so", b"otherwise")
    if shutil.which("cc"):
        yield "what a library needs", "libhelp.so", lambda: by_rename(tmp / "libs" / "libhelp.so", other)


def harmless(tmp):
    def change():
        (tmp / "model.pte").chmod(0o600)
        (tmp / "runner" / "libx.so").chmod(0o600)
        os.link(tmp / "model.pte", tmp / "link.pte")
        (tmp / "unrelated").write_bytes(b"x")

    code, said = session(tmp, change)
    expect(code == 0, "other rights and one link more", code, said[-400:])


def swapped_unwatched(tmp, name, there, content):
    """The folder at THERE by another for a launch or two, where the system does not tell of moves."""
    (tmp / "m").mkdir()
    (tmp / "m" / "model.pte").write_bytes(MODEL)
    (tmp / "w").mkdir()
    os.rename(tmp / "weights.ptd", tmp / "w" / "weights.ptd")
    folder, file = tmp / pathlib.Path(there).parent, pathlib.Path(there).name
    shutil.copytree(folder, tmp / "other")
    (tmp / "other" / file).write_bytes(content)

    def swap():
        os.rename(folder, tmp / "kept")
        os.rename(tmp / "other", folder)
        counted, end = tmp / "m" / "model.pte.count", time.monotonic() + 60
        before = 0 if name == "model" else len(counted.read_text().splitlines())
        # The first may have opened what lay there before and count itself here; the next one began here.
        while time.monotonic() < end and not (counted.exists() and len(counted.read_text().splitlines()) > before + 1):
            time.sleep(0.002)
        os.rename(folder, tmp / "other")
        os.rename(tmp / "kept", folder)

    code, said = session(tmp, swap, watched=False, model="m/model.pte", weights="w/weights.ptd")
    expect(code == 5 and f"{file} was replaced" in said, f"another {name}, and back, not watched", code, said[-400:])
    slow = [row for row in run_folders.samples(tmp / "run") if int(row["duration_ns"]) > 8000000]
    expect(not slow, "times of the other model are in the folder", slow[:2])
    notes = [note["id"] for note in run_folders.manifest(tmp / "run")["notes"]]
    expect("not_watched" in notes, "what is not watched is not noted", notes)


def never_mapped(tmp):
    """Another model in every launch, and the measured one back where its name is looked at."""
    (tmp / "model.pte").write_bytes(MODEL + b"unmapped\n")
    ended(execute(ETPROF, *arguments(2), cwd=tmp), 5, says="model.pte was replaced")


def replaced(tmp, name, at, change):
    code, said = session(tmp, change)
    manifest = run_folders.manifest(tmp / "run")
    done = manifest["blocks_done"]
    expect(code == 5 and at in said and "while it was measured" in said, name, code, said[-400:])
    expect(manifest["state"] == "interrupted" and 3 <= done < BLOCKS, name, manifest["state"], done)
    if "model" in name:
        slow = [row for row in run_folders.samples(tmp / "run")
                if row["level"] != "neon" and int(row["duration_ns"]) > 8000000]
        expect(not slow, name, "times of the other model are in the folder", slow[:2])
    if name in ("the model by another", "the model, in place"):
        ended(execute(ETPROF, "ab", "--resume", "run", "--runner", "runner", "--quiet", cwd=tmp), 2,
              says="hash", of=name)


def afterwards(tmp):
    """Replaced after the session: blocks are added, and the session repeated, with what was measured alone."""
    ended(execute(ETPROF, *arguments(2), cwd=tmp), 0)
    other = bytes(64)[:-1] + b"x"
    plan = run_folders.manifest(tmp / "run")["plan"]
    for key, name in (("data", "weights.ptd"), ("inputs", "in.bin"), ("kernels_lib", "kernels.so")):
        expect(plan.get(f"{key}_sha256") == hashlib.sha256((tmp / name).read_bytes()).hexdigest(), key, plan)
    for name in ("weights.ptd", "in.bin", "kernels.so", "model.pte", "runner/libx.so", "runner/sdk/liby.so",
                 "runner/etprof-runner"):
        kept = (tmp / name).read_bytes()
        longer = kept + b"x"
        content = {"model.pte": SLOWER, "weights.ptd": longer, "runner/etprof-runner": longer}.get(name, other)
        for verb, more in ((["ab", "--resume"], []), (["ab", "--resume"], ["--blocks", "1"]), (["rerun"], [])):
            again = tmp / "again"
            shutil.rmtree(again, ignore_errors=True)
            shutil.copytree(tmp / "run", again)
            if "--resume" in verb and not more:
                run_folders.cut_short(again, 1)
            before = (again / "manifest.json").read_bytes()
            (tmp / name).write_bytes(content)
            done = execute(ETPROF, *verb, "again", *more, "--runner", "runner", "--quiet", cwd=tmp)
            (tmp / name).write_bytes(kept)
            if verb == ["rerun"] and "runner" in name:  # another build may be what the question is about
                expect("different runners" in done.stdout, verb, name, done.returncode, done.stdout, done.stderr)
                continue
            expect(done.returncode == 2 and ("changed since" in done.stderr or name in done.stderr), verb, name,
                   done.returncode, done.stderr)
            expect((again / "manifest.json").read_bytes() == before, verb, name, "the folder was changed")


def damaged(tmp):
    """The runner of a session is damaged: what is wrong with it is said, not only that it does not start."""
    ended(execute(ETPROF, *arguments(1), cwd=tmp), 0)
    (tmp / "runner" / "etprof-runner").write_bytes(b"no program")
    ended(execute(ETPROF, "ab", "--resume", "run", "--blocks", "1", "--runner", "runner", "--quiet", cwd=tmp),
          5, says="etprof-runner is not the file that its bundle.json names")


def laid_out(tmp, part, *more):
    lay_out(tmp)
    part(tmp, *more)


def nth_case(tmp, n):
    replaced(tmp, *list(cases(tmp))[n])


in_folders(*((laid_out, nth_case, n) for n in range(len(list(cases(pathlib.Path("/")))))), (laid_out, harmless),
           (laid_out, afterwards), (laid_out, damaged))
if sys.platform == "linux":
    wall = b"wall * * 500\n"
    in_folders((laid_out, swapped_unwatched, "model", "m/model.pte", SLOWER + wall),
               (laid_out, swapped_unwatched, "file of weights", "w/weights.ptd", WEIGHTS.read_bytes()),
               (laid_out, swapped_unwatched, "runner", "runner/etprof-runner", pathlib.Path(FAKE).read_bytes()),
               (laid_out, never_mapped))
finish()
