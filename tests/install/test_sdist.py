# SPDX-License-Identifier: Apache-2.0
"""What pip makes of an sdist in an empty environment: the program is compiled and measures. It asks the network for
cmake and ninja, as the sdist says; ExecuTorch's SDK is in the cache.

usage: test_sdist.py SOURCE_DIR"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv[1]).resolve()


def run(*words, **options):
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False, timeout=1500,
                          stdin=subprocess.DEVNULL, **options)
    if done.returncode != 0:
        raise AssertionError(f"{words}: exit {done.returncode}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout


class Sdist(unittest.TestCase):
    def test_pip_builds_and_installs_it(self):
        with tempfile.TemporaryDirectory(prefix="etprof-sdist-", dir="/tmp") as folder:
            top = pathlib.Path(folder)
            sources = run(sys.executable, SOURCE / "python/wheel/backend.py", top).strip()
            run(sys.executable, "-m", "venv", top / "venv")
            # Nothing of this tree's environment, but the cache of downloads and how pip is told to fetch.
            env = {**os.environ, "PATH": f"{top}/venv/bin:/usr/bin:/bin", "HOME": folder,
                   "ETPROF_CACHE": str(SOURCE / ".cache"), "LC_ALL": "C.UTF-8"}
            for name in ("PYTHONPATH", "VIRTUAL_ENV", "TMPDIR"):
                env.pop(name, None)
            run("pip", "install", "--quiet", sources, env=env, cwd=top)
            tree = next((top / "venv/lib").glob("python3.*/site-packages/etprof/tree"))
            run(top / "venv/bin/etprof", "ab", tree / "share/etprof/models/toy_cnn_xnnpack_fp32.pte", "--blocks", "2",
                "--iterations", "5", "--warmup", "2", "--out", "run", env=env, cwd=top)
            self.assertIn("04_run_profiling", run(top / "venv/bin/etprof", "skills", env=env, cwd=top))
            code = "import etprof; print(len(etprof.open('run').operators))"
            run(top / "venv/bin/python", "-c", code, env=env, cwd=top)


if __name__ == "__main__":
    if not (SOURCE / f".cache/sdk/{os.uname().machine}-linux-gnu").is_dir():
        print("skipped: no SDK of ExecuTorch in .cache (scripts/build-runner native)")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
