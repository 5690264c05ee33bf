"""How numbers, tables and JSON are printed."""

import json
import math
import os
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

WIDE = 200
"""columns of output that is no terminal"""
_PREFIXES = {-12: "p", -9: "n", -6: "u", -3: "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T", 15: "P"}


def console(*, stderr: bool = False) -> "Console":
    """A console that prints text as it is; as wide as the terminal, or wide where there is none.

    A table that needs more is cut into parts, one below the other. A column that is too wide alone is printed in full,
    and the terminal breaks its lines: a cropped cell could pass for another value.
    """
    from rich.console import Console
    from rich.measure import Measurement
    from rich.table import Table

    from planner.cli.wide_table import WideTable

    class Whole(Console):
        def print(self, *objects: Any, **options: Any) -> None:
            width = self.width
            parts = [each.parts(width) if isinstance(each, WideTable) else [each] for each in objects]
            objects = tuple(part for each in parts for part in each)
            roomy = self.options.update(max_width=sys.maxsize)
            needed = [Measurement.get(self, roomy, each).minimum for each in objects if isinstance(each, Table)]
            self.width = max([width, *needed])
            super().print(*objects, **options)
            self.width = width

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() or "COLUMNS" in os.environ else WIDE
    return Whole(stderr=stderr, width=width, markup=False, highlight=False, emoji=False)


def table(
    columns: Iterable[str],
    rows: Iterable[Sequence[str]],
    *,
    right: Iterable[str] = (),
    wrap: Iterable[str] = (),
    keys: int | None = None,
) -> "Table":
    """A table without lines; the columns `right` are numbers, those of `wrap` give way where it is too wide.

    Where it still is, it is printed in parts, each with the first `keys` columns: those before the first number unless
    given. Cells are text, never markup.
    """
    from rich.text import Text

    from planner.cli.wide_table import WideTable

    names, numbers, yielding, lines = list(columns), set(right), set(wrap), [list(row) for row in rows]
    texts = next((i for i, name in enumerate(names) if name in numbers), len(names))
    result = WideTable(texts if keys is None else keys)
    for i, name in enumerate(names):
        side: Literal["left", "right"] = "right" if name in numbers else "left"
        whole = name not in yielding
        least = max([6, len(name), *(len(line[i]) for line in lines)]) if whole else 6
        result.add_column(name, justify=side, no_wrap=whole, min_width=least, overflow="fold")
    for row in lines:
        cells = [(cell[1:], "bold") if cell.startswith(BEST) else (cell, "") for cell in row]
        result.add_row(*(Text(plain(text), style=style) for text, style in cells))
    return result


BEST = "\x01"
"""prefix of a cell that is shown in bold"""


def plain(text: str) -> str:
    """Text without control characters, which a terminal could obey."""
    return "".join(c if c.isprintable() else "?" for c in text)


def print_json(data: object) -> None:
    """Strict JSON on stdout."""
    sys.stdout.write(json.dumps(data, indent=1, allow_nan=False) + "\n")


def number(value: float | None) -> str:
    """Four significant digits, whole numbers as such; - for what is absent."""
    if value is None:
        return "-"
    if value == round(value) and abs(value) < 1e15:
        return f"{value + 0.0:,.0f}"
    digits = 3 - math.floor(math.log10(abs(value)))
    return f"{value:,.{min(max(digits, 0), 4)}f}" if abs(value) >= 1e-3 else f"{value:.3g}"


def quantity(value: float | None, unit: str) -> str:
    """Three significant digits with a prefix: 21.4 ms."""
    if value is None:
        return "-"
    if value == 0 or not math.isfinite(value):
        return f"{value:g} {unit}"
    value = float(f"{value:.3g}")
    power = 3 * math.floor(math.log10(abs(value)) / 3)
    power = min(max(power, min(_PREFIXES)), max(_PREFIXES))
    scaled = value / 10.0**power
    digits = max(2 - math.floor(math.log10(abs(scaled)) + 1e-9), 0)
    return f"{scaled:.{min(digits, 4)}f} {_PREFIXES[power]}{unit}"


def money(value: float, currency: str) -> str:
    """As a number, without a prefix, which no currency has: 0.0636 EUR."""
    return f"{number(value)} {plain(currency)}"


def percent(fraction: float | None) -> str:
    """A gap: 5.6 %; 0 % only where it is none."""
    if fraction is None:
        return "-"
    if fraction == 0:
        return "0 %"
    if fraction < 0.0001:
        return "< 0.01 %"
    return f"{100 * fraction:.{1 if fraction >= 0.001 else 2}f} %"


def seconds(value: float) -> str:
    """Wall time: 1.9 s."""
    return f"{value:.1f} s" if value < 1000 else f"{value:,.0f} s"


def to_json(value: Any) -> Any:
    """Statuses by name, numbers of arrays as numbers."""
    from enum import Enum

    if isinstance(value, Enum):
        return value.value
    if isinstance(value, dict):
        return {str(key): to_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_json(item) for item in value]
    return value.item() if hasattr(value, "item") else value
