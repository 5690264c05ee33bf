"""Figures with matplotlib, an extra: `pip install '.[plots]'`. Each takes an Axes and returns it."""

import importlib

from planner.model.errors import InputError

SUFFIXES = (".png", ".svg")


def require_matplotlib() -> None:
    """InputError with the remedy where matplotlib is not installed."""
    try:
        importlib.import_module("matplotlib")
    except ImportError:
        remedy = "matplotlib is not installed; run `pip install '.[plots]'` where the project lies"
        raise InputError("plots", "", remedy) from None
