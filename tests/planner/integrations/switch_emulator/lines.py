"""Sessions of emulated switches that speak in lines, on a clock that stands until it is moved."""

from dataclasses import dataclass, replace

from planner.integrations.switch_emulator import Emulator, SwitchSpec
from planner.integrations.switch_emulator.connections import BusyPort
from planner.integrations.switch_emulator.line_session import LineSession
from planner.integrations.switch_emulator.scpi import ScpiSession
from planner.integrations.switch_emulator.tl1 import Tl1ServerSession
from tests.planner.integrations.switch_emulator.switches import SETTLING_S, Clock


@dataclass
class Line:
    """One session, what it answers as text."""

    emulator: Emulator
    clock: Clock
    session: LineSession

    def say(self, text: str) -> str:
        return b"".join(reply.data for reply in self.session.receive(text.encode())).decode()

    def settle(self) -> None:
        self.clock.now_s += SETTLING_S

    @property
    def lit(self) -> set[str]:
        return {f"{each.a_side}-{each.b_side}" for each in self.emulator.light() if each.is_on}


def made(*, ports: int = 8, has_noise: bool = False) -> tuple[Emulator, Clock]:
    clock = Clock()
    return Emulator([SwitchSpec("o", ports)], settling_s=SETTLING_S, clock=clock, has_noise=has_noise), clock


def scpi(busy: BusyPort = BusyPort.REFUSE) -> Line:
    """Inputs 1 to 4, outputs 5 to 8."""
    emulator, clock = made()
    emulator.habits["o"] = replace(emulator.habits["o"], busy_port=busy)
    return Line(emulator, clock, ScpiSession(emulator, "o"))


def tl1(*, activates: bool = False, deletes_active: bool = False, has_noise: bool = False, ports: int = 8) -> Line:
    """Ports 1.1.1 to 1.1.4, logged in."""
    emulator, clock = made(ports=ports, has_noise=has_noise)
    habits = emulator.habits["o"]
    emulator.habits["o"] = replace(habits, activates=activates, deletes_active=deletes_active)
    line = Line(emulator, clock, Tl1ServerSession(emulator, "o", ("me", "secret")))
    line.say("ACT-USER::me:1::secret;")
    return line
