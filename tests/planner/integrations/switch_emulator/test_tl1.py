"""TL1 as public clients of Calient's switches have it: answers of an S162, ACT, CANC and DLT, logins."""

import re

import pytest

from planner.integrations.switch_emulator import FaultKind, RequestClass
from planner.integrations.switch_emulator.tl1 import LINES_A_MESSAGE
from tests.planner.integrations.switch_emulator.lines import Line, tl1

ENTER, ACTIVATE = "ENT-CRS::1.1.1,1.1.2:4::,1WAY;", "ACT-CRS::1.1.1,1.1.2:5::1.1.1>1.1.2,SYSTEM;"
CANCEL, DELETE = "CANC-CRS::1.1.1,1.1.2:6::,SYSTEM,1.1.1>1.1.2;", "DLT-CRS::1.1.1,1.1.2:7::,SYSTEM,1.1.1>1.1.2;"
ANSWER = re.compile(r"\r\n   o \d\d-\d\d-\d\d \d\d:\d\d:\d\d\r\nM  (\S+) (COMPLD|DENY)\r\n(?:   .*\r\n)*[;>]\r\n")


def state(line: Line) -> list[str]:
    """AS, OS and OC of each connection."""
    return re.findall(r"AS=\w+,OS=\w+,OC=\w+", line.say("RTRV-CRS:::9::ALL;"))


def codes(text: str) -> list[tuple[str, str]]:
    """Tag and outcome of answers, of which the text consists."""
    assert "".join(match[0] for match in ANSWER.finditer(text)) == text
    return [(match[1], match[2]) for match in ANSWER.finditer(text)]


def test_a_connection_is_provisioned_and_put_in_service() -> None:
    line = tl1()
    assert codes(line.say(ENTER)) == [("4", "COMPLD")]
    line.settle()
    assert (state(line), line.lit) == (["AS=UMA,OS=RDY,OC=OK"], set())
    assert codes(line.say(ACTIVATE)) == [("5", "COMPLD")]
    assert state(line) == ["AS=IS,OS=OOS,OC=OK"]
    line.settle()
    assert (state(line), line.lit) == (["AS=IS,OS=IS,OC=OK"], {"1A-2B"})
    assert "SRCPORT=1.1.1,DSTPORT=1.1.2,GRPNAME=SYSTEM,CONNNAME=1.1.1>1.1.2,CONNTYPE=1WAY" in line.say("RTRV-CRS:::9;")


def test_habits_of_different_releases() -> None:
    line = tl1(activates=True)
    line.say(ENTER)
    line.settle()
    assert line.lit == {"1A-2B"}
    assert "SNVS" in line.say(DELETE)
    assert codes(line.say(CANCEL + DELETE)) == [("6", "COMPLD"), ("7", "COMPLD")]
    assert (state(line), line.lit) == ([], set())
    line = tl1(activates=True, deletes_active=True)
    assert codes(line.say(ENTER + DELETE)) == [("4", "COMPLD"), ("7", "COMPLD")]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("ENT-CRS::1.1.1,1.1.3:4::,1WAY;", "SNVS"),
        (ENTER, "SAIS"),
        ("ENT-CRS::1.1.3,1.1.9:4::,1WAY;", "IIAC"),
        ("ENT-CRS::1.1.3:4::,1WAY;", "IIAC"),
        ("ENT-CRS::1.1.3,1.1.4:4::,2WAY;", "IDNV"),
        ("DLT-CRS::1.1.3,1.1.4:7::,SYSTEM,1.1.3>1.1.4;", "IIAC"),
        ("DLT-CRS::1.1.1,1.1.2:7::,OTHER,1.1.1>1.1.2;", "IIAC"),
        ("RTRV-TIME:::1;", "ICNV"),
    ],
)
def test_denials(text: str, code: str) -> None:
    line = tl1()
    line.say(ENTER)
    said = line.say(text)
    assert [outcome for _, outcome in codes(said)] == ["DENY"]
    assert f"\r\n   {code}\r\n" in said


def test_a_login_comes_first() -> None:
    line = tl1()
    other = type(line.session)(line.emulator, "o", ("me", "secret"))  # type: ignore[call-arg]
    fresh = Line(line.emulator, line.clock, other)
    assert "PLNA" in fresh.say("RTRV-CRS:::1;")
    assert "PIUI" in fresh.say("ACT-USER::me:2::wrong;")
    assert codes(fresh.say("ACT-USER::me:2::secret;RTRV-CRS:::3;CANC-USER::me:4;")) == [
        ("2", "COMPLD"), ("3", "COMPLD"), ("4", "COMPLD"),
    ]  # fmt: skip
    assert "PLNA" in fresh.say("RTRV-CRS:::1;")


def test_a_long_answer_comes_in_parts() -> None:
    line = tl1(ports=100)
    said = line.say("RTRV-PORT::0:8;")
    assert codes(said) == [("8", "COMPLD")] * -(-50 // LINES_A_MESSAGE)
    assert re.findall(r"^([;>])\r$", said, re.MULTILINE) == [">", ">", ";"]
    assert len(re.findall(r'"[\d.]+:WX', said)) == 50


def test_ports_tell_what_they_can_and_what_light_they_have() -> None:
    line = tl1(activates=True)
    line.emulator.switches["o"].hardware.stuck.add("2B")
    line.say(ENTER + "ENT-CRS::1.1.2,1.1.1:4::,1WAY;")
    line.settle()
    assert state(line) == ["AS=IS,OS=OOS,OC=FAIL", "AS=IS,OS=IS,OC=OK"]
    assert re.findall(r"OC=FAIL", line.say("RTRV-PORT::1.1.2:8;")) == ["OC=FAIL"]
    powers = dict(re.findall(r'"([\d.]+):ALIAS=NONE,INPWR=-2.00,OUTPWR=([-\w.]+)"', line.say("RTRV-PORT-SUM::0:8;")))
    assert {port for port, power in powers.items() if power != "NONE"} == {"1.1.1"}
    assert -5 < float(powers["1.1.1"]) < -2.8


def test_what_nobody_asked_for_comes_in_between() -> None:
    line = tl1(has_noise=True)
    said = "".join(line.say("RTRV-CRS:::9;") for _ in range(200))
    assert "REPT DBCHG" in said
    assert "IP 9\r\n<" in said
    assert "PLNA" not in said
    line.say("INH-MSG:::1;")
    assert "REPT" not in "".join(line.say("RTRV-CRS:::9;") for _ in range(100))


@pytest.mark.parametrize("kind", [FaultKind.HALF, FaultKind.LIE, FaultKind.ERROR, FaultKind.HANG])
def test_faults(kind: FaultKind) -> None:
    done, denied = set(), set()
    for seed in range(20):
        line = tl1()
        line.emulator.faults["o"].random.seed(seed)
        line.emulator.faults["o"].plan(RequestClass.BULK, kind)
        said = line.say(ENTER)
        done.add("1A-2B" in line.emulator.switches["o"].circuits)
        denied.add((said, bool(done)) if kind is FaultKind.HANG else "DENY" in said)
    assert done == ({False} if kind is FaultKind.HALF else {True, False})
    assert denied == {FaultKind.HANG: {("", True)}, FaultKind.LIE: {True, False}}.get(kind, {True})
