"""Rates of faults as they are written."""

import pytest

from planner.integrations.switch_emulator.faults import FaultKind, FaultRate, RequestClass, parse_rates
from planner.model.errors import InputError


def test_rates_are_read() -> None:
    assert parse_rates("bulk:half=0.05") == [FaultRate(RequestClass.BULK, FaultKind.HALF, 0.05)]
    assert [each.request_class for each in parse_rates("drop=1")] == [*RequestClass]
    assert [each.request_class for each in parse_rates("lie=0")] == [RequestClass.BULK]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("half", "write it as"),
        ("bulk:melt=0.1", "write it as"),
        ("all:drop=0.1", "write it as"),
        ("drop=2", "from 0 to 1"),
        ("drop=nan", "from 0 to 1"),
        ("read:half=0.1", "bulk requests alone"),
    ],
)
def test_wrong_ones_are_refused(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        parse_rates(text)
