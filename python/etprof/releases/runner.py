# SPDX-License-Identifier: Apache-2.0
"""The runner's protocol (src/wire/wire.h) over the Python runtime of one release of ExecuTorch: for releases whose
wheel has no C++ SDK, and for those that are held against them. Lies in a bundle, beside its bundle.json, and runs in
any Python with torch and numpy; nothing of the package etprof is there.

Inputs are set outside the measured time, which is that of Method::execute and one call from Python. Memory is what
came with the program: what Python and torch held before it was loaded is taken off."""
from __future__ import annotations

import argparse
import ctypes
import gc
import importlib.machinery
import importlib.util
import json
import mmap
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NoReturn

HERE = Path(__file__).resolve().parent
RELEASE = HERE / ".release"  # the wheel, unpacked
MOST_ITERATIONS = 1_000_000
# ExecuTorch's numbers of types: those that a tensor of torch has, too.
TYPES = {0: "uint8", 1: "int8", 2: "int16", 3: "int32", 4: "int64", 5: "float16", 6: "float32", 7: "float64",
         11: "bool", 15: "bfloat16", 27: "uint16", 28: "uint32", 29: "uint64"}
# What the runtime's log says of the reason for which it refuses a program, the first that is found.
REASONS = (r"Missing operator: .*", r"Backend \S+ is not registered.*", r"[^]]*(?:not supported|[Uu]nsupported).*",
           r"(?<=\] ).*(?:[Ff]ailed|[Ii]nvalid|rror).*")


class Refused(Exception):
    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Lines:
    """Standard output as lines of the protocol; what libraries print goes to standard error."""

    def __init__(self) -> None:
        self.file = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)
        self.failed = False

    def send(self, type_: str, /, **members: Any) -> None:
        self.file.write(json.dumps({"type": type_, **members}) + "\n")

    def flush(self) -> None:
        self.file.flush()

    def error(self, problem: Refused) -> None:
        self.failed = True
        self.send("error", code=problem.code, message=str(problem)[:900])
        self.flush()


def resident() -> dict[str, int]:
    """Bytes: all that is resident, and what of it was written."""
    text = Path("/proc/self/smaps_rollup").read_text()
    return {key: int(re.search(rf"^{key}: +(\d+) kB", text, re.M)[1]) * 1024 for key in ("Rss", "Anonymous")}


def peak() -> int:
    return int(re.search(r"^VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text(), re.M)[1]) * 1024


def drop_cached(path: str) -> int:
    """Drops the file from the page cache; the bytes that stay there all the same (runner/src/process.cpp)."""
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        size = os.fstat(file.fileno()).st_size
        with mmap.mmap(file.fileno(), 0, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_WRITE) as mapped:
            pages = (ctypes.c_ubyte * -(-size // mmap.PAGESIZE))()
            at = ctypes.addressof(hold := ctypes.c_char.from_buffer(mapped))
            known = ctypes.CDLL(None).mincore(ctypes.c_void_p(at), ctypes.c_size_t(size), pages) == 0
            del hold
    return mmap.PAGESIZE * sum(page & 1 for page in pages) if known else size


def waited_ns() -> int:
    """For how long the threads together were ready without a CPU."""
    total = 0
    for task in Path("/proc/self/task").iterdir():
        try:
            total += int((task / "schedstat").read_text().split()[1])
        except (OSError, IndexError):  # it has just ended
            pass
    return total


def extension() -> Path:
    """The release's Python runtime: its name differs between releases."""
    folder = RELEASE / "executorch/extension/pybindings"
    for name in ("_C", "_portable_lib"):
        for suffix in importlib.machinery.EXTENSION_SUFFIXES:
            if (folder / (name + suffix)).is_file():
                return folder / (name + suffix)
    raise Refused("load", f"{folder} has no runtime for Python {sys.version_info.major}.{sys.version_info.minor}")


def asked_torch() -> str:
    text = "".join(path.read_text(encoding="utf-8") for path in RELEASE.glob("executorch-*.dist-info/METADATA"))
    found = re.search(r"^Requires-Dist: (torch\b(?!ao)[^;\n]*)", text, re.M)
    return found[1].strip() if found else "another"


def runtime() -> Any:
    import torch  # the runtime's libraries are linked against torch's, which this loads

    path = extension()
    try:
        spec = importlib.util.spec_from_file_location(path.name.split(".")[0], path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        for library in (RELEASE / "executorch/kernels/quantized").glob("libquantized_ops_aot_lib.*"):
            torch.ops.load_library(str(library))
    except (ImportError, OSError) as e:
        why = re.sub(r"\S*/", "", str(e))
        raise Refused("load", f"this release's runtime does not start with torch {torch.__version__}, its wheel needs "
                      f"{asked_torch()} ({why}); name a Python that both releases start in with ETPROF_PYTHON") from e
    torch.set_num_threads(1)
    return module


class Said:
    """What is said on standard error meanwhile, which still comes there."""

    def __enter__(self) -> Said:
        self.file = tempfile.TemporaryFile()
        self.kept = os.dup(2)
        os.dup2(self.file.fileno(), 2)
        return self

    def __exit__(self, *_: object) -> None:
        os.dup2(self.kept, 2)
        os.close(self.kept)
        self.file.seek(0)
        self.text = self.file.read().decode(errors="replace")
        sys.stderr.write(self.text)
        sys.stderr.flush()

    def reason(self, problem: BaseException) -> str:
        found = (re.search(pattern, self.text) for pattern in REASONS)
        why = next((match[0].strip() for match in found if match), "")
        first = (str(problem).splitlines() or [type(problem).__name__])[0]
        return f"{first} ({why})" if why and why not in first else first


def values(spec: str, sizes: list[list[int]], types: list[str]) -> list[Any]:
    """The inputs as etprof's C++ runner makes them (runner/src/inputs.cpp)."""
    import numpy
    import torch

    paths = [] if spec == "ones" or spec.startswith("random:") else spec.split(",")
    if paths and len(paths) != len(sizes):
        raise Refused("input", f"--inputs names {len(paths)} files, the method takes {len(sizes)}")
    state = int(spec[len("random:"):]) if spec.startswith("random:") else 0
    made = []
    for i, (size, name) in enumerate(zip(sizes, types)):
        dtype = getattr(torch, name)
        count = int(numpy.prod(size, dtype=numpy.int64))
        if paths:
            data = bytearray(Path(paths[i]).read_bytes())
            if len(data) != count * dtype.itemsize:
                raise Refused("input", f"input {i}: {paths[i]} has {len(data)} bytes, the method takes "
                                       f"{count * dtype.itemsize}")
            made.append(torch.frombuffer(data, dtype=dtype).reshape(size) if count else torch.empty(size, dtype=dtype))
            continue
        if spec == "ones":
            made.append(torch.ones(size, dtype=dtype))
            continue
        with numpy.errstate(over="ignore"):
            z = numpy.uint64(state) + numpy.arange(1, 2 * count + 1, dtype=numpy.uint64) * \
                numpy.uint64(0x9E3779B97F4A7C15)
            state = int(z[-1]) if count else state
            z = (z ^ (z >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
            z = (z ^ (z >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
            z ^= z >> numpy.uint64(31)
        whole = (z[1::2] % numpy.uint64(10)).astype(numpy.int64)
        real = (z[0::2] >> numpy.uint64(53)).astype(numpy.float64) / 1024 - 1
        chosen = real if dtype.is_floating_point else whole & 1 if name == "bool" else whole
        made.append(torch.from_numpy(chosen).to(dtype).reshape(size))
    return made


class Session:
    def __init__(self, options: argparse.Namespace) -> None:
        self.o = options
        self.done = 0
        self.before: dict[str, int] = {}

    def load(self) -> dict[str, Any]:
        library = runtime()
        library._unsafe_reset_threadpool(self.o.threads)
        verification = library.Verification.InternalConsistency
        gc.collect()
        gc.freeze()
        gc.disable()
        try:
            Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
        except OSError:
            pass
        self.before = resident()
        cached = drop_cached(self.o.model) if self.o.kind == "cold" else 0
        with Said() as said:
            try:
                start = time.monotonic_ns()
                self.program = library._load_program(self.o.model, self.o.kind == "traced", 0, verification)
                self.name = self._choose([self.program.get_method_name(i) for i in range(self.program.num_methods())])
                self.method = self.program.load_method(self.name)
                took = time.monotonic_ns() - start
            except (RuntimeError, MemoryError) as e:
                problem: BaseException | None = e
            else:
                problem = None
        if problem:
            raise Refused("load", f"{self.o.model}: this release does not load the program: {said.reason(problem)}")
        rss = resident()["Rss"] - self.before["Rss"]
        meta = self.method.method_meta()
        self._make_inputs(meta)
        return {"ns": took, "cached_bytes": cached, "rss_bytes": max(rss, 0), "method": self.name,
                "inputs": meta.num_inputs(), "outputs": meta.num_outputs()}

    def _choose(self, names: list[str]) -> str:
        listed = ", ".join(sorted(names))
        if self.o.method and self.o.method not in names:
            raise Refused("method", f"{self.o.model} has no method '{self.o.method}'; it has: {listed}")
        if self.o.method or "forward" in names or len(names) == 1:
            return self.o.method or ("forward" if "forward" in names else names[0])
        raise Refused("method", f"{self.o.model} has several methods and no 'forward'; choose with --method: {listed}")

    def _make_inputs(self, meta: Any) -> None:
        import torch

        described = []
        for i in range(meta.num_inputs()):
            try:
                described.append(meta.input_tensor_meta(i))
            except RuntimeError as e:
                raise Refused("input", f"input {i} is not a tensor: releases get tensors alone") from e
        unknown = [str(info.dtype()) for info in described if info.dtype() not in TYPES]
        if unknown:
            raise Refused("input", f"there is no tensor of type {unknown[0]} in Python")
        self.inputs = values(self.o.inputs, [list(info.sizes()) for info in described],
                             [TYPES[info.dtype()] for info in described])
        with Said() as said:
            try:
                self.method.set_inputs(self.inputs)
                return
            except RuntimeError as e:
                problem = e
            # Programs say in which order dimensions lie in memory; the runtime does not.
            self.inputs = [t.contiguous(memory_format=torch.channels_last) if t.dim() == 4 else t for t in self.inputs]
            try:
                self.method.set_inputs(self.inputs)
                return
            except RuntimeError:
                pass
        raise Refused("input", f"this release does not take the inputs: {said.reason(problem)}")

    def run(self, n: int, lines: Lines) -> dict[str, Any]:
        samples = []
        waited, began = waited_ns(), time.monotonic_ns()
        set_inputs, execute, now, inputs = self.method.set_inputs, self.method.execute, time.monotonic_ns, self.inputs
        sent, last = 0, began
        problem = None
        for i in range(n):
            try:
                set_inputs(inputs)
                start = now()
                execute()
                end = now()
            except RuntimeError as e:
                problem = Refused("execute", f"iteration {self.done + i} of method '{self.name}' failed: "
                                             f"{(str(e).splitlines() or [''])[0]}")
                break
            samples.append((start, end - start))
            # Writing wakes the reader: only slow models are reported as they go.
            if end - last > 1_000_000_000:
                sent = self._send(samples, sent, lines)
                last = now()
        span, waited = time.monotonic_ns() - began, waited_ns() - waited
        self._send(samples, sent, lines)
        self.done += len(samples)
        if problem:
            raise problem
        return {"n": n, "span_ns": span, "wait_ns": max(waited, 0)}

    def _send(self, samples: list[tuple[int, int]], sent: int, lines: Lines) -> int:
        for k in range(sent, len(samples)):
            lines.send("iter", i=self.done + k, start_ns=samples[k][0], ns=max(samples[k][1], 1))
        lines.flush()
        return len(samples)

    def memory(self) -> dict[str, Any]:
        now = resident()
        dirty = max(now["Anonymous"] - self.before["Anonymous"], 0)
        return {"n": 1, "dirty_bytes": dirty, "clean_bytes": max(now["Rss"] - self.before["Rss"] - dirty, 0)}

    def dump(self, path: str) -> dict[str, Any]:
        if self.o.kind != "traced":
            raise Refused("kind", f"dump needs --kind traced, this launch is {self.o.kind}")
        path = "/dev/null" if path == "-" else path
        try:
            self.program.write_etdump_result_to_file(path)
            return {"n": 1, "bytes": os.path.getsize(path) if os.path.isfile(path) else 0}
        except (RuntimeError, OSError) as e:
            raise Refused("io", f"this release wrote no recording: {e}") from e

    def outputs(self, folder: str) -> dict[str, Any]:
        if self.done == 0:
            raise Refused("io", "there are no outputs before the first iteration")
        os.makedirs(folder, exist_ok=True)
        entries, files, size = [], 0, 0
        for i, value in enumerate(self.method.get_outputs(True)):
            entry = output(value)
            data = entry.pop("data")
            if data is not None:
                Path(folder, f"output-{i}.bin").write_bytes(data)
                files, size = files + 1, size + len(data)
            entries.append({"index": i, "file": None if data is None else f"output-{i}.bin", **entry,
                            "bytes": len(data or b"")})
        text = json.dumps({"outputs": entries})
        Path(folder, "outputs.json").write_text(text)
        return {"n": files + 1, "bytes": size + len(text)}


def output(value: Any) -> dict[str, Any]:
    import struct

    import torch

    if isinstance(value, torch.Tensor):
        # Dimensions in the order in which they lie in memory, and the bytes likewise.
        order = sorted(range(value.dim()), key=lambda d: (-value.stride(d), d))
        flat = value.permute(order).contiguous().reshape(-1)
        return {"data": flat.view(torch.uint8).numpy().tobytes() if flat.numel() else b"",
                "dtype": str(value.dtype).removeprefix("torch."), "shape": list(value.shape), "dim_order": order}
    kinds = {bool: ("bool", "<?"), int: ("int64", "<q"), float: ("float64", "<d")}
    dtype, form = kinds.get(type(value), (None, None))
    return {"data": struct.pack(form, value) if form else None, "dtype": dtype, "shape": [], "dim_order": []}


def obey(line: str, session: Session, lines: Lines) -> bool:
    """One command; False ends the session."""
    verb, _, rest = line.strip().partition(" ")
    if verb == "quit":
        return False
    try:
        if verb == "run" and rest.isdigit() and 0 < int(rest) <= MOST_ITERATIONS:
            said = session.run(int(rest), lines)
        elif verb in ("dump", "outputs") and rest:
            said = getattr(session, verb)(rest)
        elif verb == "memory":
            said = session.memory()
        else:
            raise Refused("usage", f"command: '{line.strip()[:80]}' is not known")
    except Refused as problem:
        lines.error(problem)
        return True
    lines.send("done", cmd=verb, peak_rss_bytes=max(peak() - session.before["Rss"], 0), **{"bytes": 0, **said})
    lines.flush()
    return True


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise Refused("usage", message)


def parse(argv: list[str]) -> argparse.Namespace:
    p = _Parser(prog="runner.py", allow_abbrev=False)
    for name in ("model", "method", "cpus", "level"):
        p.add_argument(f"--{name}", default="")
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--inputs", default="random:1")
    p.add_argument("--kind", choices=("timed", "traced", "cold"), default="timed")
    p.add_argument("--probe", action="store_true")
    return p.parse_args(argv)


def pin(cpus: str) -> None:
    wanted: set[int] = set()
    for part in cpus.split(","):
        first, _, last = part.partition("-")
        wanted.update(range(int(first), int(last or first) + 1))
    os.sched_setaffinity(0, wanted)


def hello(options: argparse.Namespace) -> dict[str, Any]:
    release = json.loads((HERE / "bundle.json").read_text())["executorch"]["version"]
    # Only the probe is asked which CPU this is; etprof-launch knows.
    cpu = subprocess.run([HERE / "etprof-launch", "--probe"], capture_output=True, text=True, check=False).stdout \
        if options.probe else ""
    return {"protocol": 1, "pid": os.getpid(), "nonce": os.environ.get("ETPROF_NONCE", ""), "executorch": release,
            "kind": options.kind, "threads": options.threads, "cpu": cpu.strip(), "memory": 1,
            "counters": {"events": "none", "why": "the Python runtime of a release is not counted"}}


def serve(lines: Lines) -> None:
    options = parse(sys.argv[1:])
    lines.send("hello", **hello(options))
    lines.flush()
    if options.probe:
        return
    if os.environ.get("ETPROF_MASK"):
        raise Refused("mask", "the Python runtime of a release runs at the CPU's own level")
    if options.cpus:
        pin(options.cpus)
    session = Session(options)
    lines.send("load", **session.load())
    lines.flush()
    for line in sys.stdin:
        if line.strip() and not obey(line, session, lines):
            break


def main() -> int:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # no orphans
    lines = Lines()
    try:
        serve(lines)
    except Refused as problem:
        lines.error(problem)
        return 2 if problem.code == "usage" else 1
    return 1 if lines.failed else 0


if __name__ == "__main__":
    sys.exit(main())
