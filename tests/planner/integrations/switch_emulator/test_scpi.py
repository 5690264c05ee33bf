"""SCPI as the excerpts of the manual and public clients have it, and the rules of SCPI-99 for headers and errors."""

import pytest

from planner.integrations.switch_emulator import FaultKind, RequestClass
from planner.integrations.switch_emulator.connections import BusyPort
from planner.integrations.switch_emulator.scpi import MOST_ERRORS
from tests.planner.integrations.switch_emulator.lines import scpi
from tests.planner.integrations.switch_emulator.switches import SETTLING_S


def test_connections_are_added_listed_and_taken_away() -> None:
    line = scpi()
    assert line.say(":oxc:swit:conn:add (@1,2),(@6,5)\n") == ""
    assert line.say(":OXC:SWITch:CONNect:STATe?\n") == "(@1,2),(@6,5)\r\n"
    assert line.say(":oxc:swit:conn:port? 2\r\n") == '"5"\r\n'
    line.settle()
    assert line.lit == {"1A-2B", "2A-1B"}
    assert line.say(":oxc:swit:conn:sub (@1),(@6)\n:oxc:swit:conn:stat?\n") == "(@2),(@5)\r\n"
    assert line.say(":oxc:swit:disc:all\n:oxc:swit:conn:stat?;size?\n") == "(@),(@)\r\n"
    assert line.say(":syst:err?\n") == '-113, "Undefined header"\r\n'


def test_only_leaves_nothing_else() -> None:
    line = scpi()
    line.say(":oxc:swit:conn:add (@1,2),(@5,6)\n:oxc:swit:conn:only (@2,3),(@6,5)\n")
    assert line.say(":oxc:swit:conn:stat?\n") == "(@2,3),(@6,5)\r\n"


@pytest.mark.parametrize(
    ("busy", "found", "said"),
    [(BusyPort.REFUSE, "(@1),(@5)", "-221"), (BusyPort.FORCE, "(@2,3),(@5,6)", "0")],
)
def test_a_busy_port_by_habit(busy: BusyPort, found: str, said: str) -> None:
    line = scpi(busy)
    line.say(":oxc:swit:conn:add (@1),(@5)\n:oxc:swit:conn:add (@2,3),(@5,6)\n")
    assert line.say(":oxc:swit:conn:stat?\n").strip() == found
    assert line.say(":syst:err?\n").startswith(said)


def test_light_passes_only_when_the_operation_is_complete() -> None:
    """A connection is told at once: `*OPC?` alone waits for mirrors."""
    line = scpi()
    line.say(":oxc:swit:conn:add (@1),(@5)\n")
    assert line.lit == set()
    (reply,) = line.session.receive(b"*OPC?\n")
    assert (reply.data, 0 < reply.wait_s <= SETTLING_S) == (b"1\r\n", True)
    line.clock.now_s += reply.wait_s
    assert line.lit == {"1A-1B"}


def test_ports_that_are_off_or_never_tune() -> None:
    line = scpi()
    line.emulator.switches["o"].hardware.stuck.add("2B")
    line.say(":oxc:swit:conn:add (@1,2),(@5,6)\n:oxc:swit:port:dis (@3)\n")
    assert line.say(":oxc:swit:port:stat? (@1:3,6)\n") == "(E,E,D,F)\r\n"
    line.say(":oxc:swit:port:enab (@3)\n")
    assert line.say(":oxc:swit:port:stat?\n") == "(E,E,E,E,E,F,E,E)\r\n"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (":oxc:swit:conn:add (@1)", -109),
        (":oxc:swit:conn:add (@1),(@x)", -109),
        (":oxc:swit:conn:add (@1),(@5),(@6)", -108),
        (":oxc:swit:conn:add (@1,2),(@5)", -220),
        (":oxc:swit:conn:add (@5),(@1)", -222),
        (":oxc:swit:conn:add (@1,1),(@5,6)", -221),
        (":oxc:swit:conn:port? 9", -222),
        (":oxc:swit:conn:port? a", -104),
        (":oxc:sw:conn:stat?", -113),
    ],
)
def test_what_is_wrong_waits_in_the_queue(text: str, code: int) -> None:
    line = scpi()
    assert line.say(f"{text}\n") == ""
    assert line.say(":syst:err?;:syst:err?\n").split(",")[0] == str(code)
    assert line.say(":syst:err?\n") == '0, "No error"\r\n'


def test_the_queue_says_that_it_ran_over() -> None:
    line = scpi()
    for _ in range(MOST_ERRORS + 3):
        line.say("nothing\n")
    said = line.say(";".join([":syst:err?"] * (MOST_ERRORS + 1)) + "\n").strip().split(";")
    assert [each.split(",")[0] for each in said] == ["-113"] * (MOST_ERRORS - 1) + ["-350", "0"]


@pytest.mark.parametrize("kind", [FaultKind.HALF, FaultKind.LIE, FaultKind.ERROR, FaultKind.HANG, FaultKind.RESTART])
def test_faults(kind: FaultKind) -> None:
    line = scpi()
    line.emulator.faults["o"].plan(RequestClass.BULK, kind)
    line.say(":oxc:swit:conn:add (@1,2,3),(@5,6,7)\n")
    held = len(line.emulator.switches["o"].circuits)
    said = line.say(":syst:err?\n")
    if kind in (FaultKind.HALF, FaultKind.LIE):
        assert held < 3
        assert said.startswith("-200" if kind is FaultKind.HALF else "0")
    elif kind is FaultKind.ERROR:
        assert (held in (0, 3), said.startswith("-300")) == (True, True)
    else:
        assert (said, line.session.is_closed) == ("", kind is FaultKind.RESTART)
