# SPDX-License-Identifier: Apache-2.0
"""The JSON that `etprof run` carries out: that of Arm's kit with its documents' aliases and ours. Every mistake is told
with its place, nothing is ignored. docs/measure.md describes every key."""
from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from etprof.errors import BadInput
from etprof.run.places import Node, near, read

RUNS = 10  # of an experiment that names none: the kit's promise
_MOST_EXPERIMENTS, _MOST_THREADS, _MOST_ITERATIONS = 64, 16, 1000000
_MOST_BLOCKS, _MOST_SEED = 1000, 2**53 - 1
# Keys that are options of `etprof ab` by the same name.
_OPTIONS = ("blocks", "budget", "device", "method", "inputs", "data", "seed", "plain")
_TOP = ("$schema", "model", "output_root", "experiments", "analysis", "fallback", "description", *_OPTIONS)
_EXPERIMENT = ("name", "level", "runner_path", "quiet_runner", "mode", "runs", "num_runs", "iterations", "warmup",
               "threads", "num_threads", "extra_args", "cpu_affinity", "description")
_ANALYSIS = ("compare_pairs",)
_PAIR = ("baseline", "candidate", "label")
_HOMES = {"at the top level": _TOP, "in an entry of experiments": _EXPERIMENT, "in analysis": _ANALYSIS,
          "in an entry of analysis.compare_pairs": _PAIR}


@dataclass
class Experiment:
    name: str
    at: int
    level: str = ""  # as --levels takes it: "on" is the best of the machine, "off" plain SIMD
    runner: str | None = None
    xnntrace: bool = False
    runs: int = RUNS
    warmup: int = 0  # 0: not given
    threads: tuple[int, ...] = (1,)
    cpus: str | None = None

    def arm(self, threads: int) -> str:
        return self.name if len(self.threads) == 1 else f"{self.name}_t{threads}"


@dataclass
class Config:
    path: str
    model: str = ""
    output_root: str | None = None
    fallback_model: str | None = None  # used when the model is not there
    fallback_output_root: str | None = None
    options: dict[str, Any] = field(default_factory=dict)
    experiments: list[Experiment] = field(default_factory=list)
    pairs: list[tuple[tuple[Experiment, int], tuple[Experiment, int]]] = field(default_factory=list)


def _levels() -> tuple[str, ...]:
    """Those there are: the document of `doctor levels` lists them, best first."""
    schema = json.loads((Path(__file__).parents[1] / "schemas/levels.schema.json").read_text())
    return tuple(schema["properties"]["levels"]["items"]["properties"]["name"]["enum"])


def _has_word(name: str, word: str) -> bool:
    """As a whole part: "on" is in "sme2_on" and not in "convolution"."""
    return re.search(rf"(?:^|[_-]){re.escape(word)}(?:[_-]|$)", name) is not None


def _level(node: Node, name: str) -> str:
    on, off = _has_word(name, "on"), _has_word(name, "off")
    given = node.member("level")
    level = given.text()
    if level:
        if level not in _levels():
            given.fail(f"unknown level \"{level:.40}\"; 'etprof doctor levels' lists them")
        # A name that says the opposite of its level would stand in every table of the report.
        if "sme2" in name and ((off and level in ("sme2", "sme1")) or (on and not off and level == "neon")):
            given.fail(f'experiment "{name}" contradicts its level "{level}"; rename it or leave the level out')
        return level
    if on and off:
        node.fail(f'"{name}" is both on and off: add "level"')
    found = "on" if on else next((known for known in _levels() if _has_word(name, known)), None)
    if not off and not found:
        node.fail(f'experiment "{name}" says no level: add "level" (see \'etprof doctor levels\'), or end its name in '
                  "_on (best level) or _off (plain SIMD)")
    return "off" if off else str(found)


def _either(node: Node, *keys: str) -> Node:
    """The kit's documents and its scripts have different words for one key; several may stand there when they agree."""
    found = [node.member(key) for key in keys if node.member(key)]
    for other in found[1:]:
        if json.dumps(other.value) != json.dumps(found[0].value):
            other.fail(f"{found[0].where} and {other.where} contradict each other; keep one")
    return found[0] if found else node.member(keys[0])


def _threads(node: Node) -> tuple[int, ...]:
    if not node:
        return (1,)
    items = node.items() if isinstance(node.value, list) else [node]
    if not 1 <= len(items) <= _MOST_THREADS:
        node.wrong("a list of 1 to 16 thread counts")
    found: list[int] = []
    for item in items:
        n = item.count(1, 1024)
        if n in found:
            item.fail(f"{item.where} repeats {n}")
        found.append(n)
    return tuple(found)


def _is_trace(node: Node) -> bool:
    mode, extra = node.member("mode"), node.member("extra_args")
    word = mode.text()
    if word not in (None, "timing", "xnntrace"):
        mode.fail(f'{mode.where} is "{word:.40}", not timing or xnntrace')
    if extra and not isinstance(extra.value, list):
        extra.wrong("a list")
    if extra.value:
        extra.fail(f"{extra.where}: arguments of another runner cannot be passed on; the keys method, inputs and data "
                   "at the top level do what they are for")
    return word == "xnntrace"


def _cpus(node: Node) -> str | None:
    """taskset's mask ("f0", "0xf0"), a list ("4-7") or a kind of CPUs as --cpus takes them."""
    text = node.text()
    if text is None or text in ("big", "mid", "little") or "," in text or "-" in text:
        return text
    mask = int(text, 16) if re.fullmatch("(?:0[xX])?[0-9a-fA-F]{1,16}", text) else 0
    if mask == 0:
        node.wrong('a hexadecimal mask ("f0") or a list of CPUs ("4-7")')
    return ",".join(str(i) for i in range(64) if mask >> i & 1)


def _experiment(node: Node, before: list[Experiment]) -> Experiment:
    node.known(_EXPERIMENT, _HOMES)
    name = node.member("name").text()
    if not name:
        node.fail(f"{node.where} has no name")
    if "," in name:
        node.fail(f'experiment name "{name}" cannot name a folder')
    e = Experiment(name, node.at, _level(node, name))
    e.xnntrace = _is_trace(node)
    e.cpus = _cpus(node.member("cpu_affinity"))
    e.runner = _either(node, "runner_path", "quiet_runner").text()
    runs, warmup = _either(node, "runs", "num_runs", "iterations"), node.member("warmup")
    e.runs = runs.count(1, _MOST_ITERATIONS) if runs else RUNS
    e.warmup = warmup.count(0, _MOST_ITERATIONS) if warmup else 0
    e.threads = _threads(_either(node, "threads", "num_threads"))
    # One name may stand twice, for timing and for the trace: both are of one arm.
    if any(other.name == e.name and other.xnntrace == e.xnntrace for other in before):
        node.fail(f'two experiments are called "{e.name}"')
    return e


def _side(pair: Node, key: str, experiments: list[Experiment]) -> tuple[Experiment, int]:
    side = pair.member(key)
    if not side:
        pair.fail(f"{pair.where} has no {key}")
    side.known(("experiment", "threads"), _HOMES)
    name, threads = side.member("experiment").text(), side.member("threads")
    found = [e for e in experiments if e.name == name]
    if not found:
        slip = near(name, [e.name for e in experiments]) if name else ""
        side.fail(f"{side.where} names no experiment{slip}")
    n = threads.count(1, 1024) if threads else found[-1].threads[0]
    if n not in found[-1].threads:
        threads.fail(f'experiment "{name}" is not run with {n} threads')
    return found[-1], n


def _pairs(root: Node, config: Config) -> None:
    analysis = root.member("analysis")
    if not analysis:
        return
    analysis.known(_ANALYSIS, _HOMES)
    pairs = analysis.member("compare_pairs")
    if pairs and not isinstance(pairs.value, list):
        pairs.wrong("a list")
    for pair in pairs.items():
        pair.known(_PAIR, _HOMES)
        if pair.member("label").value != "":  # it is for people and not used
            pair.member("label").text()
        baseline, candidate = (_side(pair, key, config.experiments) for key in ("baseline", "candidate"))
        if (baseline[0].name, baseline[1]) == (candidate[0].name, candidate[1]):
            pair.fail(f'{pair.where} compares "{baseline[0].name}" with itself')
        config.pairs.append((baseline, candidate))


def _options(root: Node, config: Config) -> None:
    for key in _OPTIONS:
        node = root.member(key)
        value: Any = None
        if not node:
            continue
        if key in ("blocks", "seed"):
            value = node.count(1, _MOST_BLOCKS if key == "blocks" else _MOST_SEED)
        elif key == "budget":
            seconds = node.value
            if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not 0 < seconds < math.inf:
                node.wrong("a number of seconds")
            value = f"{seconds:f}s"
        elif key == "plain":
            if not isinstance(node.value, bool):
                node.wrong("true or false")
            value = node.value
        else:
            value = node.text()
        config.options[key] = value


def _fill(root: Node, config: Config) -> None:
    root.known(_TOP, _HOMES)
    model = root.member("model").text()
    if not model:
        root.fail('the config names no "model"')
    config.model, config.output_root = model, root.member("output_root").text()
    _options(root, config)
    fallback = root.member("fallback")
    if fallback:
        fallback.known(("model", "output_root"), _HOMES)
        config.fallback_model = fallback.member("model").text()
        config.fallback_output_root = fallback.member("output_root").text()
    experiments = root.member("experiments")
    if not isinstance(experiments.value, list) or not experiments.value:
        experiments.fail('"experiments" is not a list of at least one')
    if len(experiments.value) > _MOST_EXPERIMENTS:
        experiments.fail(f"more than {_MOST_EXPERIMENTS} experiments")
    for node in experiments.items():
        config.experiments.append(_experiment(node, config.experiments))
    _pairs(root, config)


def load(path: str) -> Config:
    config = Config(path)
    try:
        _fill(read(path), config)
    except BadInput as problem:
        if problem.byte is None:
            raise
        raise BadInput(f"{path}: {problem} (at byte {problem.byte})") from problem
    return config
