"""A table that is wider than the terminal is printed in parts, with nothing lost."""

import io
from itertools import chain

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from planner.cli.output import table
from planner.cli.wide_table import WideTable

WORDS = st.text("abcxyz0123456789", min_size=1, max_size=14)


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[str], list[list[str]], int]:
    """Names of columns, all different, rows, and how many columns name a row."""
    names = draw(st.lists(WORDS, min_size=2, max_size=9, unique=True))
    rows = draw(st.lists(st.lists(WORDS, min_size=len(names), max_size=len(names)), min_size=1, max_size=4))
    return names, rows, draw(st.integers(1, min(2, len(names) - 1)))


def _printed(part: WideTable) -> list[list[str]]:
    out = io.StringIO()
    Console(file=out, width=1000).print(part)
    return [line.split() for line in out.getvalue().splitlines()]


@given(tables(), st.integers(20, 120))
def test_parts_fit_repeat_the_keys_and_together_have_each_column_once(
    drawn: tuple[list[str], list[list[str]], int], width: int
) -> None:
    names, rows, keys = drawn
    whole = table(names, rows, right=names[keys:], keys=keys)
    assert isinstance(whole, WideTable)
    parts = [_printed(part) for part in whole.parts(width)]
    beyond = [[line[keys:] for line in part] for part in parts]
    assert [line[:keys] for part in parts for line in part] == [line[:keys] for line in [names, *rows]] * len(parts)
    assert [list(chain(*lines)) for lines in zip(*beyond, strict=True)] == [line[keys:] for line in [names, *rows]]
    widths = [max(6, *(len(line[i]) for line in [names, *rows])) + 2 for i in range(len(names))]
    for part in beyond:
        assert len(part[0]) == 1 or sum(widths[:keys]) + sum(widths[names.index(name)] for name in part[0]) - 2 <= width


def test_a_table_that_fits_is_one() -> None:
    whole = table(["job", "value"], [["a", "1"]], right=["value"])
    assert isinstance(whole, WideTable)
    assert whole.parts(14) == [whole]
    assert len(whole.parts(13)) == 1, "one column beside the key cannot be parted"
