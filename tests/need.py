"""Programs, and packages of another Python, that some tests need."""

import os
import shutil
import subprocess
import sys
from functools import cache

import pytest


def need_program(*names: str) -> str:
    """Path of the first of these programs that is installed.

    Where none is, the test is skipped; with PHOTONPLAN_CI=1 in the environment it fails instead, so that
    continuous integration never skips unnoticed.
    """
    for name in names:
        if path := shutil.which(name):
            return path
    raise _lacking(f"none of these programs is on PATH: {', '.join(names)}")


@cache
def need_python_with(package: str) -> str:
    """Path of a Python that can import a package: the one that runs, or the system's.

    Where none can, as `need_program`.
    """
    for path in (sys.executable, "/usr/bin/python3"):
        if (
            shutil.which(path)
            and subprocess.run([path, "-c", f"import {package}"], capture_output=True).returncode == 0
        ):
            return path
    raise _lacking(f"no Python here imports {package}")


def need_root() -> None:
    """Go on as root; else as `need_program`."""
    if os.geteuid() != 0:
        raise _lacking("needs root: it starts daemons that run jobs of several users")


def _lacking(reason: str) -> BaseException:
    """What skips a test, or fails it in continuous integration."""
    if os.environ.get("PHOTONPLAN_CI") == "1":
        return pytest.fail.Exception(f"{reason}; PHOTONPLAN_CI=1 asks for it")
    return pytest.skip.Exception(reason)
