"""Boxes of a torus by name, as jobs ask for them: 4x4x8."""

import re

from costmodel.fabrics.boxes import Sides

NAME = re.compile(r"([1-9]\d{0,4})x([1-9]\d{0,4})x([1-9]\d{0,4})")


def box_named(name: str) -> Sides:
    """Accelerators along the three axes; ValueError, with the remedy, for a text that names no box."""
    found = NAME.fullmatch(name)
    if found is None:
        raise ValueError(f"'{name}' is no box of a torus; give the accelerators along its three axes, such as 4x4x8")
    a, b, c = map(int, found.groups())
    return a, b, c
