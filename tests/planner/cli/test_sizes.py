"""Sizes that options give."""

import pytest

from planner.cli.sizes import bytes_of
from planner.model.errors import InputError


@pytest.mark.parametrize(("text", "size"), [("1 MiB", 2**20), ("8 b", 1), ("12", 12), ("1000 PB", 1e18)])
def test_a_size_has_its_unit_or_is_in_bytes(text: str, size: float) -> None:
    assert bytes_of(text, "--size", "") == size


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("-1 GiB", "is less than a byte; give more"),
        ("0", "is less than a byte; give more"),
        ("1e300", "is more than 1 EB; give more"),
        ("1001 PB", "is more than 1 EB; give more"),
        ("1 m", "unknown unit"),
        ("lots", "cannot read 'lots'"),
    ],
)
def test_what_is_no_size_is_told_in_words(text: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem) as raised:
        bytes_of(text, "--size", "give more")
    assert str(raised.value).startswith(f"--size: '{text}': ")
