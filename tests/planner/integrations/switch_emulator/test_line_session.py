"""Messages come in any pieces; a switch that hangs or starts says nothing more."""

import pytest

from planner.integrations.switch_emulator import FaultKind, RequestClass
from planner.integrations.switch_emulator.line_session import MOST_WAITING_BYTES
from tests.planner.integrations.switch_emulator.lines import scpi, tl1


def test_pieces() -> None:
    line = scpi()
    assert [line.say(piece) for piece in (":oxc:swit", ":size", "?\n:oxc")] == ["", "", "4,4\r\n"]
    assert line.say(":swit:size?\n") == "4,4\r\n"


def test_a_message_that_never_ends_closes() -> None:
    line = tl1()
    line.say("x" * (MOST_WAITING_BYTES + 1))
    assert line.session.is_closed


@pytest.mark.parametrize("kind", [FaultKind.HANG, FaultKind.RESTART])
def test_nothing_more_is_said(kind: FaultKind) -> None:
    line = scpi()
    line.emulator.faults["o"].plan(RequestClass.READ, kind)
    assert line.say(":oxc:swit:size?\n:oxc:swit:size?\n") == ""
    line.clock.now_s += 10
    assert line.say(":oxc:swit:size?\n") == ""
    assert [each.kind for each in line.emulator.happened] == [kind]
