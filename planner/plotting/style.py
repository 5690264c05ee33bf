"""Colours that differ within a figure, and numbers along logarithmic axes as people write them."""

from __future__ import annotations

import colorsys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text

HUES = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#7a5fb0")
"""Okabe-Ito, safe for colour-blind readers"""
ROUNDS = ((1.0, 0.0), (1.0, 0.5), (0.0, 0.4), (0.0, 0.65))
"""white or black that is mixed in, and its share, when all hues have had their turn"""
GOLDEN = 0.61803398875
"""of a circle: each next hue lies far from those before it"""
STEPS = (1.0, 2.0, 5.0)
"""numbers along a logarithmic axis that spans few decades; of more, the powers of ten alone"""
FEW_DECADES = 3.0


def palette(count: int) -> list[str]:
    """So many colours, all different: those of the page first, then hues around the circle."""
    rounds = [_mixed(hue, *mix) for mix in ROUNDS for hue in HUES]
    more = (
        _hex(colorsys.hls_to_rgb(number * GOLDEN % 1.0, 0.3 + 0.1 * (number % 5), 0.55 + 0.4 * (number % 2)))
        for number in range(count)
    )
    found = list(dict.fromkeys([*rounds, *more]))
    return found[:count]


def is_dark(colour: str) -> bool:
    """Whether white text is read on it."""
    red, green, blue = ((int(colour[i : i + 2], 16) / 255) ** 2.2 for i in (1, 3, 5))
    return bool(0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.2)


def as_written(texts: Iterable[Text]) -> None:
    """Names that users gave are no formulas: $ stands for itself."""
    for text in texts:
        text.set_parse_math(False)


def plain_ticks(ax: Axes, axes: Iterable[Literal["x", "y"]] = ("x", "y")) -> Axes:
    """Numbers such as 200, 5 k and 2 M along logarithmic axes, in place of powers; call it when all is drawn."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator

    for name in axes:
        low, high = ax.get_xlim() if name == "x" else ax.get_ylim()
        steps = STEPS if high < low * 10**FEW_DECADES else STEPS[:1]
        locator = LogLocator(base=10.0, subs=steps, numticks=12)
        places = [place for place in locator.tick_values(low, high) if low <= place <= high]
        axis = ax.xaxis if name == "x" else ax.yaxis
        axis.set_major_locator(FixedLocator(places) if len(places) > 1 else LogLocator(subs=range(1, 10)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: shown(value)))
        axis.set_minor_formatter(FuncFormatter(lambda value, _: ""))
        (ax.set_xlim if name == "x" else ax.set_ylim)(low, high)
    return ax


def shown(value: float) -> str:
    """0.05, 200, 5 k, 1 T: a number with a prefix of the SI from a thousand on."""
    for prefix, scale in (("P", 1e15), ("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if abs(value) >= scale:
            return f"{value / scale:g} {prefix}"
    return f"{value:g}"


def _mixed(hue: str, other: float, share: float) -> str:
    red, green, blue = (int(hue[i : i + 2], 16) / 255 * (1 - share) + other * share for i in (1, 3, 5))
    return _hex((red, green, blue))


def _hex(colour: tuple[float, float, float]) -> str:
    return "#" + "".join(f"{round(255 * part):02x}" for part in colour)
