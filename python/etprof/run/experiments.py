# SPDX-License-Identifier: Apache-2.0
"""From a config to one session of `etprof ab`: models × levels × threads in paired blocks, however the kit's config
spreads them over runners and modes."""
from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Callable

from etprof.errors import BadInput, EnvironmentProblem, EtprofError, UsageError
from etprof.run.config import Config
from etprof.run.places import near

HERE = "mac" if sys.platform == "darwin" else "linux"
PLATFORMS = ("mac", "android", "linux")


class Unsupported(EtprofError):
    exit_code = 4


def _of_name(name: str) -> str | None:
    """The platform that NAME has as a word ("mac_sme2_on", not "machine"); None: none, or several."""
    found = [p for p in PLATFORMS if re.search(rf"(?<![A-Za-z]){p}(?![A-Za-z])", name)]
    return found[0] if len(found) == 1 else None


def _of_folder(folder: str) -> str | None:
    """That of a run folder: …/runs/android, …/runs/mac_trace, android.2."""
    parent, name = os.path.split(folder.rstrip("/"))
    behind = "(?![A-Za-z])" if os.path.basename(parent) == "runs" else r"(?=\.|$)"
    return next((p for p in PLATFORMS if re.match(p + behind, name)), None)


class Experiments:
    """Those of CONFIG that are called ONLY; none: all. SAY tells what is decided."""

    def __init__(self, config: Config, only: list[str], say: Callable[[str, str], None]):
        self.config, self.say = config, say
        names = [e.name for e in config.experiments]
        for name in only:
            if name not in names:
                raise UsageError(f'--only: no experiment "{name}"{near(name, names)}; {config.path} has: '
                                 f"{', '.join(names)}")
        wanted = [e for e in config.experiments if not only or e.name in only]
        timing = [e for e in wanted if not e.xnntrace]
        # A trace beside a timing experiment of the same level is no arm of its own: the arm's traced and sampled
        # launches are its evidence.
        self.arms = timing + [e for e in wanted if e.xnntrace and e.level not in [t.level for t in timing]]
        self.kernels = len(timing) < len(wanted)
        self.trace_only = not timing
        self._alike()

    def _alike(self) -> None:
        first = self.arms[0]
        for e in self.arms[1:]:
            where = f'{self.config.path}: "{first.name}" and "{e.name}" differ in'
            if e.threads != first.threads:
                raise Unsupported(f"{where} threads; one session runs all its experiments with the same list: give "
                                  f"both the same, or use two configs (at byte {e.at})")
            if e.cpus != first.cpus:
                raise Unsupported(f"{where} cpu_affinity; on other CPUs they could not be compared (at byte {e.at})")

    def device(self, named: str | None) -> str | None:
        """What is NAMED, else what the names need. What names a platform is measured there or not at all."""
        adb = bool(named) and (named == "adb" or str(named).startswith("adb:"))
        expected = [("android", "device", str(named))] if adb else []  # others can be of any
        told = [("experiment", e.name, _of_name(e.name)) for e in self.arms]
        if self.config.output_root:
            told.append(("output_root", self.config.output_root, _of_folder(self.config.output_root)))
        for what, name, platform in told:
            if platform and expected and expected[0][0] != platform:
                first = expected[0]
                raise BadInput(f'{self.config.path}: {first[1]} "{first[2]}" names {first[0]}, {what} "{name}" names '
                               f"{platform}: one session is measured on one device; rename one, or make two configs")
            if platform:
                expected.append((platform, what, name))
        if not expected:
            return named
        platform, what, name = expected[0]
        if not named and platform == "android":
            self.say("device", f'adb, because {what} "{name}" names android')
            return "adb"
        if (named or "local") == "local" and platform != HERE:
            remedy = {"mac": "run it on a Mac", "android": "name a phone ('etprof doctor devices' lists them)"}
            raise EnvironmentProblem(
                f'{what} "{name}" names {platform}, but this machine is {HERE}: what names a platform is measured '
                f"there or not at all; {remedy.get(platform, 'name another --device')}, or use names of {HERE} "
                "('etprof run --init MODEL.pte' writes a config with them)")
        return named

    def model(self) -> tuple[str, str | None]:
        """The model as written from here, else beside the config, else the fallback; and its run folder."""
        c = self.config
        beside = os.path.join(os.path.dirname(c.path), c.model)
        for path in (c.model, beside):
            if os.path.isfile(path):
                return path, c.output_root
        if c.fallback_model and os.path.isfile(c.fallback_model):
            self.say("model", f"{c.model} is not there: THE FALLBACK {c.fallback_model} IS MEASURED")
            # Its times must not land in a folder that is called after the model that is missing.
            return c.fallback_model, c.fallback_output_root or c.output_root
        other = f", nor does its fallback {c.fallback_model}" if c.fallback_model else ""
        raise EnvironmentProblem(f"{c.path}: model {c.model} does not exist{other}; paths start where etprof is "
                                 "started")

    def baseline(self) -> str | None:
        """That of the first pair that is run; pairs with another one are one command away."""
        names, baseline = [e.name for e in self.arms], None
        for (first, threads), (second, _) in self.config.pairs:
            if first.name not in names or second.name not in names:
                self.say("pair", "a pair of compare_pairs names an experiment that is not run here")
                continue
            name = first.arm(threads)
            baseline = baseline or name
            if name != baseline:
                self.say("pair", f"compared with {baseline}; for {name} as the baseline: etprof analyze FOLDER "
                         f"--baseline {name}")
        return baseline

    def runner(self) -> tuple[str | None, bool]:
        """The runner, and whether it is one of others. The kit's rule: executorch/<path>, then <path>. Builds that its
        presets promise and nobody made are replaced by one runner and masks."""
        own: str | None = None
        builds: list[str] = []
        missing: str | None = None
        for e in self.arms:
            path = next((p for p in (f"executorch/{e.runner}", str(e.runner)) if e.runner and os.path.exists(p)), None)
            if path is None:
                missing = e.runner or missing
            elif os.path.basename(path) == "etprof-runner" or os.path.isfile(os.path.join(path, "bundle.json")):
                if e.runner != self.arms[0].runner:
                    raise Unsupported(f"{self.config.path}: experiments differ in runner_path; one session has one "
                                      "runner, levels come from masks")
                own = path
            else:
                builds.append(path)
        # Some arms with a build of their own and others with a mask would differ in two things at once.
        if 0 < len(builds) < len(self.arms):
            lacks = f"; missing is {missing}" if missing else ""
            raise Unsupported(f"{self.config.path}: only some experiments have a runner_path that is there{lacks}: "
                              "give all of them one, or none")
        if missing:
            self.say("runner", f"{missing} is not there: one runner of etprof's own with masks takes the place of all")
        return (",".join(builds), True) if builds else (own, False)

    def counts(self) -> tuple[int, int]:
        runs, warmups = ({getattr(e, key) for e in self.arms} for key in ("runs", "warmup"))
        if len(runs) > 1 or len(warmups) > 1:
            self.say("runs", "experiments differ in runs or warmup; all get the largest, so that they can be compared")
        return max(runs), max(warmups)

    def session(self, typed: dict[str, str]) -> list[str]:
        """The words of `etprof ab`; what is TYPED takes the place of what the config says."""
        options = {**self.config.options, **typed}
        options["device"] = self.device(options.get("device"))
        model, root = self.model()
        runner, others = (options["runner"], False) if options.get("runner") else self.runner()
        baseline = self.baseline()
        runs, warmup = self.counts()
        if self.trace_only and not options.get("blocks") and not options.get("budget"):
            options["blocks"] = 1  # evidence needs no repetition, and no latency is claimed
        if self.kernels and options.get("kernels") != "never":
            emulated = str(options["device"] or "").split(":")[0] == "qemu"
            if not others and not emulated:
                options["kernels"] = "always"
            self.say("xnntrace", self._evidence(others, emulated))
        levels = ",".join(f"{e.name}={e.level}" for e in self.arms)
        options |= {"levels": levels, "threads": ",".join(map(str, self.arms[0].threads)), "baseline": baseline,
                    "cpus": self.arms[0].cpus, "runner": runner, "iterations": runs, "warmup": warmup, "out": root}
        flags = [f"--{key}" for key, value in options.items() if value is True]
        return [*flags, *(f"--{key}={value}" for key, value in options.items() if value and value is not True), "--",
                model]

    @staticmethod
    def _evidence(others: bool, emulated: bool) -> str:
        if others:
            return "operator names of the traced launches are the evidence: others' runners are not sampled"
        if emulated:
            return "emulated: operator names of the traced launches are the evidence, none are sampled"
        return "evidence: operator names of the traced launches and sampled launches; never in a latency"

    def folder(self) -> str:
        """Whose newest run was measured with the config; its model need not be there any more."""
        c, root = self.config, self.config.output_root
        if not any(os.path.isfile(p) for p in (c.model, os.path.join(os.path.dirname(c.path), c.model))):
            if c.fallback_model and os.path.isfile(c.fallback_model):
                root = c.fallback_output_root or root
        place = Path(root or "")
        named = re.compile(re.escape(place.name) + r"(?:\.\d+)*")
        siblings = place.parent.iterdir() if root and place.parent.is_dir() else ()
        found = [p.name for p in siblings if named.fullmatch(p.name) and (p / "manifest.json").is_file()]
        if not found:
            raise UsageError(f"--analysis-only: nothing was measured in {root or 'output_root (not given)'}; for dumps "
                             "of other runners use 'etprof analyze'")
        newest = max(found, key=lambda name: [int(part) for part in name[len(place.name):].split(".")[1:]])
        return str(place if place.name in found else place.with_name(newest))  # of the former's the program finds it
