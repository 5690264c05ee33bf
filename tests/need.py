"""Programs that some tests need beside Python."""

import os
import shutil

import pytest


def need_program(*names: str) -> str:
    """Path of the first of these programs that is installed.

    Where none is, the test is skipped; with PHOTONPLAN_CI=1 in the environment it fails instead, so that
    continuous integration never skips unnoticed.
    """
    for name in names:
        if path := shutil.which(name):
            return path
    reason = f"none of these programs is on PATH: {', '.join(names)}"
    if os.environ.get("PHOTONPLAN_CI") == "1":
        pytest.fail(f"{reason}; PHOTONPLAN_CI=1 asks for it")
    pytest.skip(reason)
