# SPDX-License-Identifier: Apache-2.0
# What can go wrong, each with the exit code that the command line promises for it.


class EtprofError(Exception):
    """A message for the user: what, where, found against expected, what to do."""

    exit_code = 70
    byte: "int | None" = None  # position in the damaged file, where the message is about one


class CheckFailed(EtprofError):
    """The answer is no: the exported program does not compute what the model does."""

    exit_code = 1


class UsageError(EtprofError, ValueError):
    exit_code = 2


class WrongType(UsageError, TypeError):
    """A text where a number is taken, and the like."""


class BadInput(EtprofError, ValueError):
    """A model, data or calibration file that is broken or that the exporter cannot take."""

    exit_code = 4


class EnvironmentProblem(EtprofError):
    """Something is missing or not permitted on this machine."""

    exit_code = 5


class FileProblem(EnvironmentProblem, OSError):
    """The system refused a file; `errno` says how."""


class NoSuchFile(FileProblem, FileNotFoundError):
    pass


class NotEnoughData(EtprofError):
    exit_code = 3


class RunFailed(EtprofError):
    """A measured program failed."""

    exit_code = 6


class Interrupted(EtprofError):
    """A session that ended before its plan; FOLDER is its run folder, None when nothing was measured."""

    exit_code = 130

    def __init__(self, text: str, folder: "str | None" = None) -> None:
        super().__init__(text)
        self.folder = folder


class MissingPackage(EnvironmentProblem):
    """A model needs Python packages that this interpreter has not; MODULES are what it imports."""

    def __init__(self, text, modules=()):
        super().__init__(text)
        self.modules = list(modules)


def suggest(name: str, known) -> str:
    """The end of a message about a NAME that is none of the KNOWN ones: those that are spelled nearly so."""
    import difflib

    near = difflib.get_close_matches(name, list(known), n=3)
    return "; did you mean " + " or ".join(near) + "?" if near else ""
