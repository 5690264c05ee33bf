"""Numbers as people read them."""

import pytest

from planner.cli.output import money, number, percent, quantity


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "-"), (0.0, "0"), (3.0, "3"), (1284.0, "1,284"), (48.6271, "48.63"), (0.07123, "0.0712"),
     (12345.6, "12,346"), (1e-7, "1e-07"), (-2.5, "-2.500")],
)  # fmt: skip
def test_numbers(value: float | None, text: str) -> None:
    assert number(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0214, "21.4 ms"), (1.324, "1.32 s"), (0.0, "0 s"), (1e-6, "1.00 us"), (0.9999, "1.00 s"),
     (123456.0, "123 ks"), (999.9, "1.00 ks"), (None, "-")],
)  # fmt: skip
def test_quantities(value: float | None, text: str) -> None:
    assert quantity(value, "s") == text


@pytest.mark.parametrize(
    ("fraction", "text"),
    [(None, "-"), (0.0, "0 %"), (0.0561, "5.6 %"), (0.0005, "0.05 %"), (1e-9, "< 0.01 %")],
)
def test_percentages(fraction: float | None, text: str) -> None:
    assert percent(fraction) == text


def test_money_has_no_prefixes() -> None:
    assert [money(value, "EUR") for value in (0.0636, 1.1, 12345.678)] == ["0.0636 EUR", "1.100 EUR", "12,346 EUR"]
