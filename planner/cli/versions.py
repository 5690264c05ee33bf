"""Versions that a run depends on."""

import platform
from importlib.metadata import PackageNotFoundError, version


def versions() -> dict[str, str]:
    """photonplan, ortools, numpy and python."""
    from planner import __version__

    return {
        "photonplan": __version__,
        "ortools": _version("ortools"),
        "numpy": _version("numpy"),
        "python": platform.python_version(),
    }


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "not installed"
