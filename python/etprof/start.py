# SPDX-License-Identifier: Apache-2.0
# Starts `export` or `models` so that nothing of the working directory is imported:
#   python3 -I DIR/etprof/start.py export|models ARGUMENTS
# Readable by older Pythons too, which are told that they are.
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)


def clean_path(text):
    """A search path without its relative entries; the empty one is the working directory."""
    return os.pathsep.join(part for part in text.split(os.pathsep) if os.path.isabs(part))


def again(python, verb, argv):
    """Replaces this process by `VERB ARGV` in PYTHON. Set iteration order reaches the exported file,
    so it is fixed (same input, same bytes), which an isolated Python would not read."""
    environment = dict(os.environ, PYTHONHASHSEED="0")
    environment["PYTHONPATH"] = clean_path(environment.get("PYTHONPATH", ""))
    sys.stdout.flush()
    sys.stderr.flush()
    os.execve(python, [python, os.path.join(HERE, "start.py"), verb] + list(argv), environment)


def named_python(argv):
    """The value of --python, which also helps when this interpreter is too old to go on."""
    for i, word in enumerate(argv):
        if word.startswith("--python="):
            return word[len("--python="):]
        if word == "--python" and i + 1 < len(argv):
            return argv[i + 1]
    return None


def refuse_old(argv):
    if sys.version_info >= (3, 10):
        return
    other = named_python(argv)
    if other and os.environ.get("ETPROF_REEXEC") != "1":
        os.environ["ETPROF_REEXEC"] = "1"  # once: the other one may be as old
        again(other, "export", argv)
    sys.stderr.write(
        "etprof export: needs Python 3.10 or newer, this is %d.%d; "
        "name a newer one with --python PATH\n" % sys.version_info[:2]
    )
    sys.exit(5)


def export(argv):
    refuse_old(argv)
    if os.environ.get("PYTHONHASHSEED") != "0" or sys.flags.ignore_environment:
        again(sys.executable, "export", argv)
    from etprof.export.cli import main

    return main(argv)


def models(argv):
    from etprof.models import main

    return main(argv)


if __name__ == "__main__":
    # The folder of a started script would come first, and ours has names that others have too.
    sys.path[:] = [ROOT] + [p for p in sys.path if os.path.realpath(p) not in (os.path.realpath(HERE), ROOT)]
    sys.exit({"export": export, "models": models}[sys.argv[1]](sys.argv[2:]))
