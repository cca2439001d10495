# SPDX-License-Identifier: Apache-2.0
"""The part of GitHub's workflow language that action.yml and examples/ci/pull_request.yml use, run with bash as GitHub
does. What is no `run` step is played: a checkout is a git clone, a cache is a folder."""
import os
import pathlib
import re
import shutil
import subprocess

import yaml


class Job:
    """One job: a working directory, contexts for expressions, a home for caches."""

    def __init__(self, folder, action, repository, branch, caches, github, env):
        self.folder, self.action, self.caches = folder, action, caches
        self.source, self.branch = repository, branch
        self.github = {"action_path": str(action.parent), **github}
        self.env, self.failed, self.log, self.summaries = env, False, [], []

    def value(self, expression, inputs, steps):
        """An expression of names, texts, ==, !=, && and !cancelled()."""
        places = {"inputs": inputs, "github": self.github, "steps": steps}

        def name(found):
            if found[0].startswith("'"):
                return found[0]
            at = places
            for part in found[0].split("."):
                at = at.get(part, {}) if isinstance(at, dict) else {}
            return repr(at if isinstance(at, str) else "")

        text = expression.replace("!cancelled()", "True").replace("&&", "and")
        text = re.sub(r"'[^']*'|\b(?:inputs|github|steps)\.[\w.-]+", name, text)
        return eval(text, {"__builtins__": {}}) # of files of this tree

    def filled(self, text, inputs, steps):
        return re.sub(r"\$\{\{(.*?)\}\}", lambda m: str(self.value(m[1].strip(), inputs, steps)), str(text))

    def bash(self, script, env):
        """Its outputs and exit code."""
        told = {name: self.folder.parent / f"{name}.{len(self.log)}"
                for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        for path in told.values():
            path.write_text("")
        file = self.folder.parent / f"step.{len(self.log)}.sh"
        file.write_text(script)
        done = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", file], cwd=self.folder, text=True,
                              env={**self.env, **env, **{k: str(v) for k, v in told.items()}}, capture_output=True,
                              check=False, stdin=subprocess.DEVNULL, timeout=600)
        self.log.append((script.strip().splitlines()[0], done.returncode, done.stdout[-3000:] + done.stderr[-3000:]))
        self.summaries.append(told["GITHUB_STEP_SUMMARY"].read_text())
        lines = told["GITHUB_OUTPUT"].read_text().splitlines()
        return dict(line.split("=", 1) for line in lines), done.returncode

    def cache(self, verb, given):
        place = self.folder / given["path"]
        if verb == "save":
            shutil.copytree(place, self.caches / given["key"])
            return
        found = sorted((p for p in self.caches.iterdir() if p.name.startswith(given["restore-keys"])),
                       key=os.path.getmtime)
        if found:
            shutil.copytree(found[-1], place)

    def use(self, step, inputs, steps):
        given = {k: self.filled(v, inputs, steps) for k, v in step.get("with", {}).items()}
        what = step["uses"].split("@")[0]
        if what == "actions/checkout":
            subprocess.run(["git", "clone", "-q", "--branch", self.branch, self.source, self.folder], check=True)
        elif what.startswith("actions/cache/"):
            self.cache(what.rsplit("/", 1)[1], given)
        elif what == "actions/upload-artifact":
            shutil.copy(self.folder / given["path"], self.folder.parent / given["name"])
        elif what == "OWNER/etprof":
            return self.composite(given)
        else:
            raise ValueError(f"{what}: nobody plays this")
        return {}, 0

    def composite(self, given):
        action = yaml.safe_load(self.action.read_text())
        missing = [k for k, v in action["inputs"].items() if v.get("required") and k not in given]
        unknown = set(given) - set(action["inputs"])
        if missing or unknown:
            raise ValueError(f"inputs: {missing} {unknown}")
        inputs = {**{k: str(v.get("default", "")) for k, v in action["inputs"].items()}, **given}
        steps = {}
        code = self.steps(action["runs"]["steps"], inputs, steps)
        outputs = {k: self.filled(v["value"], inputs, steps) for k, v in action["outputs"].items()}
        return outputs, code

    def steps(self, listed, inputs, steps):
        """Runs them; after a failure those alone whose condition says so."""
        failed = 0
        for step in listed:
            condition = str(step.get("if", "")).strip().removeprefix("${{").removesuffix("}}").strip()
            if (failed and "cancelled()" not in condition) or (condition and not self.value(condition, inputs, steps)):
                continue
            if "uses" in step:
                outputs, code = self.use(step, inputs, steps)
            else:
                env = {k: self.filled(v, inputs, steps) for k, v in step.get("env", {}).items()}
                outputs, code = self.bash(self.filled(step["run"], inputs, steps), env)
            if step.get("id"):
                steps[step["id"]] = {"outputs": outputs}
            failed = failed or code
        return failed

    def run(self, workflow, **changes):
        """Exit code and outputs of the steps of a workflow's only job; CHANGES to what the action is given."""
        job, = yaml.safe_load(pathlib.Path(workflow).read_text())["jobs"].values()
        for step in job["steps"]:
            if step.get("uses", "").startswith("OWNER/"):
                step["with"] = {**step["with"], **changes}
        steps = {}
        return self.steps(job["steps"], {}, steps), steps
