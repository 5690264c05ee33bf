"""What switches cannot join."""

import re

import pytest
from pydantic import ValidationError

from tests.costmodel.fabrics.torus_cases import SWITCHES, torus

SMALL = "line-shifts-2x2x1-2x2x2"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["line-shifts-2x2x1-4x4x4"], "joins cubes of [4, 4, 4], not [2, 2, 2]; make one with `planner wiring shifts`"),
        ([SMALL] * 2, "another one also joins [2, 2, 1] cubes; leave one out"),
        (["line-shifts-9"], "unknown line shifts 'line-shifts-9'; did you mean"),
    ],
)
def test_wirings_must_fit_the_cubes(given: list[str], message: str) -> None:
    with pytest.raises(ValidationError, match=re.escape(message)):
        torus((2, 2, 2), servers=4, switches=SWITCHES | {"line_shifts": given})


def test_too_few_cubes_for_a_wiring_are_refused() -> None:
    with pytest.raises(ValidationError, match=r"joins 4 cubes; give as many servers, or leave it out"):
        torus((2, 2, 2), servers=3, switches=SWITCHES | {"line_shifts": [SMALL]})


def test_too_few_cubes_for_any_twist_are_refused() -> None:
    with pytest.raises(
        ValidationError, match=r"switches.twisted: the smallest twisted torus has 2 cubes; give as many servers"
    ):
        torus((4, 4, 4), servers=1, switches=SWITCHES | {"twisted": True})
