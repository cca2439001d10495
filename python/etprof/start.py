# SPDX-License-Identifier: Apache-2.0
# Starts a verb that Python carries out so that nothing of the working directory is imported:
#   python3 -I DIR/etprof/start.py export|fix|run|skills|mcp|history|validate|parquet|reference|releases ARGUMENTS
# Readable by older Pythons too, which are told that they are; so are __init__.py and restart.py.
import os
import sys


def named_python(argv):
    """The value of --python, which also helps when this interpreter is too old to go on."""
    for i, word in enumerate(argv):
        if word.startswith("--python="):
            return word[len("--python="):]
        if word == "--python" and i + 1 < len(argv):
            return argv[i + 1]
    return None


def refuse_old(verb, how, oldest=(3, 10)):
    if sys.version_info < oldest:
        sys.stderr.write("etprof %s: needs Python %d.%d or newer, this is %d.%d; name a newer one with %s\n"
                         % ((verb,) + oldest + tuple(sys.version_info[:2]) + (how,)))
        sys.exit(5)


def export(argv):
    from etprof.models import is_asked, main

    if is_asked(argv):  # needs no torch
        return main(argv)
    other = named_python(argv)
    if sys.version_info < (3, 10) and other and os.environ.get("ETPROF_REEXEC") != "1":
        from etprof.restart import again

        os.environ["ETPROF_REEXEC"] = "1"  # once: the other one may be as old
        again(other, "export", argv)
    refuse_old("export", "--python PATH")
    if os.environ.get("PYTHONHASHSEED") != "0" or sys.flags.ignore_environment:
        from etprof.restart import again

        again(sys.executable, "export", argv)
    from etprof.export.cli import main

    return main(argv)


def fix(argv):
    refuse_old("fix", "ETPROF_PYTHON", (3, 9))
    from etprof.fix.cli import main

    return main(argv)


def run(argv):
    refuse_old("run", "ETPROF_PYTHON", (3, 9))
    from etprof.run.cli import main

    return main(argv)


def skills(argv):
    refuse_old("skills", "ETPROF_PYTHON", (3, 9))
    from etprof.skills.cli import main

    return main(argv)


def mcp(argv):
    refuse_old("mcp", "ETPROF_PYTHON")
    from etprof.mcp.cli import main

    return main(argv)


def history(argv):
    refuse_old("history", "ETPROF_PYTHON")
    from etprof.history.cli import main

    return main(argv)


def validate(argv):
    refuse_old("validate", "ETPROF_PYTHON")
    from etprof.validate.cli import main

    return main(argv)


def releases(argv):
    refuse_old("ab --executorch", "ETPROF_PYTHON")
    from etprof.releases.cli import main

    return main(argv)


def reference(argv):
    refuse_old("ab --reference eager", "ETPROF_PYTHON")
    from etprof.reference import main

    return main(argv)


def parquet(argv):
    refuse_old("convert --to parquet", "ETPROF_PYTHON")
    from etprof.parquet import main

    return main(argv)


def settle(here):
    """Makes the package in HERE the one that is imported, and nothing beside it where that is another's."""
    # The folder of a started script would come first, and ours has names that others have too.
    root = os.path.dirname(here)
    if not os.path.isdir(os.path.join(here, "tree")):
        sys.path[:] = [root] + [p for p in sys.path if os.path.realpath(p) not in (os.path.realpath(here), root)]
        return
    # Of the wheel: ROOT holds the packages of the Python that it was installed for, and this may be another one.
    from importlib import util

    sys.path[:] = [p for p in sys.path if os.path.realpath(p) != os.path.realpath(here)]
    spec = util.spec_from_file_location("etprof", os.path.join(here, "__init__.py"), submodule_search_locations=[here])
    sys.modules["etprof"] = util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules["etprof"])


if __name__ == "__main__":
    settle(os.path.dirname(os.path.abspath(__file__)))
    sys.exit({"export": export, "fix": fix, "run": run, "skills": skills, "mcp": mcp, "history": history,
              "validate": validate, "parquet": parquet, "reference": reference,
              "releases": releases}[sys.argv[1]](sys.argv[2:]))
