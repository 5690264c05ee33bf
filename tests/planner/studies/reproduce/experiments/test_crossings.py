"""Crossings of two curves."""

import numpy as np
import pytest

from planner.studies.reproduce.experiments.crossings import crossings
from tests.planner.studies.reproduce.experiments.lumorph import SCALARS, halved, lumorph, outcome


@pytest.mark.parametrize("other", ["ring", "Lumorph-2", "pipelined tree"])
@pytest.mark.parametrize("n", [64, 128, 256])
def test_crossings_of_lumorph_4(other: str, n: int) -> None:
    low, high = (1e5, 1e8) if other == "pipelined tree" else (1e6, 1e9)
    expected = halved(lambda size: lumorph(4, size, n) - SCALARS[other](size, n), low, high)
    found = outcome("collectives").quantities[f"first message of equal time of Lumorph-4 over {other}, {n} ranks"]
    assert found == pytest.approx(expected, rel=1e-6)


def test_crossings_of_a_known_function() -> None:
    found = crossings(lambda x: (x - 3e3) * (x - 4e6), np.geomspace(1, 1e9, 100))
    assert found == pytest.approx([3e3, 4e6])
    assert len(crossings(lambda x: x + 1, np.geomspace(1, 1e9, 100))) == 0
