"""A site whose switches are emulated, and answer in one of the protocols over real sockets."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from planner.integrations.switch_drivers import Driver, driver_of
from planner.integrations.switch_drivers.ocs.driver import OcsDriver
from planner.integrations.switch_emulator import Emulator, SwitchSpec
from planner.integrations.switch_emulator.gnmi import gnmi_server
from planner.integrations.switch_emulator.line_server import serving_lines
from planner.integrations.switch_emulator.line_session import LineSession
from planner.integrations.switch_emulator.scpi import ScpiSession
from planner.integrations.switch_emulator.tl1 import Tl1ServerSession
from planner.integrations.wiring.cables import CableTable
from tests.fabrics import FABRICS
from tests.planner.integrations.switch_drivers.ocs.site import (
    access_of,
    files_of,
    path_name,
    plan_of,
    ports_of,
    spoken,
    wanted_of,
)
from tests.planner.integrations.wiring.wiring_cases import fabric_of

SETTLING_S = 0.005
ACCOUNT = ("planner", "secret")


@dataclass
class EmulatedSite:
    """Names of switches are those of plans; the emulator has them as addresses do."""

    protocol: str
    path: Path
    emulator: Emulator
    names: dict[str, str]
    drivers: list[OcsDriver] = field(default_factory=list)

    def driver(self) -> Driver:
        """A new one, as another process would have it."""
        found = driver_of({"kind": "ocs", "config": str(self.path)}, self.path.parent / "driver")
        assert isinstance(found, OcsDriver)
        self.drivers.append(found)
        return found

    def lit(self) -> dict[str, set[str]]:
        """Where light goes, by switch, as the emulator records it."""
        plain = {path: name for name, path in self.names.items()}
        found: dict[str, set[str]] = {}
        for each in self.emulator.light():
            if each.is_on:
                found.setdefault(plain[each.switch], set()).add(f"{each.a_side}-{each.b_side}")
        return found

    def wanted(self, *jobs: str) -> dict[str, set[str]]:
        """Where it should go."""
        return wanted_of("torus", *jobs)


@contextmanager
def emulated(folder: Path, protocol: str, *, loss_db: float | None = None, **more: Any) -> Iterator[EmulatedSite]:
    """Cubes that are joined by switches, with two planned jobs; `more`: fields of switches.yaml."""
    assert plan_of("torus")
    table = CableTable.of(fabric_of("torus"), loss_db)
    ports = ports_of(table)
    names = {name: path_name(name) for name in ports}
    emulator = Emulator([SwitchSpec(names[n], len(each)) for n, each in ports.items()], settling_s=SETTLING_S)
    with ExitStack() as stack:
        if protocol in ("tl1", "scpi"):
            addresses = stack.enter_context(serving_lines([*names.values()], _sessions(protocol, emulator)))
        else:
            server, port = gnmi_server(emulator, "127.0.0.1:0")
            stack.callback(lambda: server.stop(0).wait())
            addresses = dict.fromkeys(names.values(), f"http://127.0.0.1:{port}")
        access = {name: access_of(folder, protocol, addresses[path]) for name, path in names.items()}
        path = files_of(folder, FABRICS["torus"], spoken(table, protocol), access, **more)
        site = EmulatedSite(protocol, path, emulator, names)
        stack.callback(lambda: [driver.close() for driver in site.drivers])
        yield site


def _sessions(protocol: str, emulator: Emulator) -> Any:
    def session(name: str) -> LineSession:
        return Tl1ServerSession(emulator, name, ACCOUNT) if protocol == "tl1" else ScpiSession(emulator, name)

    return session
