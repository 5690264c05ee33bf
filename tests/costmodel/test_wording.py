"""Numbers of things in words."""

import pytest

from costmodel.pricing.fit_ranges import WORDS, Far
from costmodel.wording import counted


def test_one_thing_is_singular() -> None:
    assert [counted(number, "row") for number in (0, 1, 2, 65536)] == ["0 rows", "1 row", "2 rows", "65,536 rows"]
    assert counted(1, "memory", many="memories") == "1 memory"
    assert counted(2, "memory", many="memories") == "2 memories"
    assert counted(0.5, "token", "in") == "0.5 tokens in"


@pytest.mark.parametrize("name", WORDS)
def test_what_lies_outside_a_fit_is_counted(name: str) -> None:
    noun, rest = WORDS[name]
    assert Far(name, 1, 2, 8).told == f"1 {noun} {rest}".rstrip() + " (fitted on 2 to 8)"
    assert Far(name, 9, 2, 8).told == f"9 {noun}s {rest}".rstrip() + " (fitted on 2 to 8)"
