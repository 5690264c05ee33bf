"""A switch of Calient by what it says: a connection that answers what it was told to."""

from collections import deque
from pathlib import Path

from planner.integrations.switch_drivers.ocs.config import load_switches
from planner.integrations.switch_drivers.ocs.tl1 import Tl1Switch
from tests.planner.integrations.switch_drivers.ocs.site import unconnected

HEAD = "\r\n   OCS 16-11-07 11:20:14\r\nM  {} {}\r\n"
WORDS = "PS=UPR,AL=CL"
LIT, READY, FAILED = "AS=IS,OS=IS,OC=OK", "AS=UMA,OS=RDY,OC=OK", "AS=IS,OS=OOS,OC=FAIL"


class Told:
    """A connection that answers what it was told to, and keeps what was sent."""

    def __init__(self, *answers: str) -> None:
        self.answers, self.sent = deque(answers), ""

    def sendall(self, data: bytes) -> None:
        self.sent += data.decode()

    def recv(self, most: int) -> bytes:
        return self.answers.popleft().encode() if self.answers else b""

    def settimeout(self, time_s: float) -> None:
        """Nothing is waited for."""

    def close(self) -> None:
        """Nothing is open."""


def said(tag: int, *lines: str, code: str = "COMPLD", end: str = ";") -> str:
    return HEAD.format(tag, code) + "".join(f"   {line}\r\n" for line in lines) + f"{end}\r\n"


def line(source: str, sink: str, state: str, *, kind: str = "1WAY", group: str = "SYSTEM", name: str = "") -> str:
    sign = ">" if kind == "1WAY" else "-"
    sides = f"SRCPORT={source},DSTPORT={sink},GRPNAME={group},CONNNAME={name or source + sign + sink},CONNTYPE={kind}"
    return f'"{source}{sign}{sink}:{sides},{state},{WORDS}"'


def switch(tmp_path: Path, *answers: str) -> tuple[Tl1Switch, Told]:
    site = unconnected(tmp_path, "torus", "tl1")
    told = Told(said(1), *answers)
    return Tl1Switch(load_switches(site.path), "x0"), told
