"""Colours never repeat within a figure, and numbers along axes are those that people write."""

import pytest

from planner.plotting.style import HUES, is_dark, palette, plain_ticks, shown


@pytest.mark.parametrize("count", [0, 1, 8, 9, 33, 400])
def test_colours_differ(count: int) -> None:
    found = palette(count)
    assert len(found) == len(set(found)) == count
    assert found[:8] == list(HUES[:count])
    assert all(len(colour) == 7 and int(colour[1:], 16) >= 0 for colour in found)


def test_ink_follows_the_ground() -> None:
    assert is_dark("#000000")
    assert is_dark("#0072b2")
    assert not is_dark("#f0e442")


@pytest.mark.parametrize(
    ("value", "text"), [(0.05, "0.05"), (200, "200"), (5000, "5 k"), (2e6, "2 M"), (1e12, "1 T"), (1e15, "1 P")]
)
def test_numbers(value: float, text: str) -> None:
    assert shown(value) == text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("limits", "texts"),
    [
        ((90, 1100), ["100", "200", "500", "1 k"]),
        ((1e11, 3e15), ["100 G", "1 T", "10 T", "100 T", "1 P"]),
        ((0.9, 6.0), ["1", "2", "5"]),
    ],
)
def test_ticks_of_logarithmic_axes(limits: tuple[float, float], texts: list[str]) -> None:
    from matplotlib.figure import Figure

    ax = Figure().subplots()
    ax.set(xscale="log", xlim=limits)
    plain_ticks(ax, "x")
    assert [label.get_text() for label in ax.get_xticklabels()] == texts
    assert ax.get_xlim() == limits
