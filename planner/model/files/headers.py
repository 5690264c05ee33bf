"""What is probably meant by a header of a table that lacks a column."""

from collections.abc import Sequence
from difflib import get_close_matches


def header_hint(given: Sequence[str], missing: str) -> str:
    """A sentence that ends in a blank, or "": another separator, another spelling, another case."""
    if len(given) == 1:
        for mark, name in ((";", "semicolons"), ("\t", "tabs"), ("|", "bars")):
            if mark in given[0]:
                return f"the columns are parted by {name}; save the table with commas between them. "
    near = [name for name in given if name.casefold() == missing.casefold()]
    near = near or get_close_matches(missing, [name for name in given if name], n=1)
    return f"did you mean '{near[0]}'? Rename it to {missing}. " if near else ""
