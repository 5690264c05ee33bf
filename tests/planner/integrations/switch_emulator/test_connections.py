"""Connections without names of their own: what a change takes away, and what became of one."""

import pytest

from planner.integrations.switch_emulator.connections import (
    BusyPort,
    BusyPortError,
    LightState,
    broken_ports,
    change_for,
    condition,
    row_of,
)
from tests.planner.integrations.switch_emulator.lines import made

ONE = ("1A", "1B")


def test_what_is_there_stays() -> None:
    switch = made()[0].switches["o"]
    switch.apply((), [row_of(ONE)])
    assert change_for(switch, (), [ONE, ("2A", "2B")], BusyPort.REFUSE) == ([], [row_of(("2A", "2B"))])
    assert change_for(switch, ["1A-1B"], [("1A", "2B")], BusyPort.REFUSE) == (["1A-1B"], [row_of(("1A", "2B"))])
    assert change_for(switch, (), [("1A", "2B")], BusyPort.FORCE) == (["1A-1B"], [row_of(("1A", "2B"))])
    for pairs in ([("1A", "2B")], [("2A", "2B"), ("2A", "3B")]):
        with pytest.raises(BusyPortError):
            change_for(switch, (), pairs, BusyPort.REFUSE)


def test_conditions() -> None:
    emulator, clock = made()
    switch = emulator.switches["o"]
    switch.apply((), [row_of(ONE)])
    assert condition(switch, "1A-1B") is LightState.MOVING
    clock.now_s += 1
    assert (condition(switch, "1A-1B"), broken_ports(switch)) == (LightState.LIT, set())
    switch.hardware.delete("1A-1B")
    assert (condition(switch, "1A-1B"), broken_ports(switch)) == (LightState.BROKEN, {"1A", "1B"})
