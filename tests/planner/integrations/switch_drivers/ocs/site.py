"""A cluster, its wiring, its switches and two planned jobs, for the tests of the driver."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from planner.fabrics.wiring import memory_json
from planner.integrations.switch_drivers import Circuits, Driver, driver_of, unfenced
from planner.integrations.switch_drivers.ocs.driver import OcsDriver
from planner.integrations.switch_emulator.port_names import fiber, number
from planner.integrations.wiring.cables import CableTable
from planner.integrations.wiring.cross_connects import cross_connects
from planner.model.instance import Instance
from planner.model.plan import Plan
from tests.planner.integrations.switch_drivers.ocs.stub import StubSwitch, served
from tests.planner.integrations.wiring.wiring_cases import fabric_of, given_of, planned

ACCESS = {"timeout": "20 s", "tries": 2, "backoff": "1 ms"}
SCHEMES = {"restconf": "http", "gnmi": "http", "openconfig": "http", "tl1": "tcp", "scpi": "tcp"}
HASTY = {"timeout": "400 ms"}
"""of a switch that hangs"""


@cache
def plan_of(kind: str) -> tuple[Instance, Plan]:
    """Two jobs over several servers each."""
    return planned(kind, (16, 16) if kind != "sipam" else (4, 4))


def circuits_of(kind: str, job: str) -> Circuits:
    """As a controller gives them."""
    assignment = plan_of(kind)[1][job]
    network = [held.model_dump(mode="json", by_alias=True) for held in assignment.circuits]
    return [*network, *memory_json(assignment.memory)]


def wanted_of(kind: str, *jobs: str) -> dict[str, set[str]]:
    """Names of cross-connects that jobs of the plan have on, by switch."""
    instance, plan = plan_of(kind)
    chosen = plan.model_copy(update={"assignments": tuple(plan[job] for job in jobs)})
    found = cross_connects(instance, chosen, CableTable.of(instance.cluster.fabric))
    return {switch: {each.name for each in joined} for switch, joined in found.items() if joined}


def port_name(protocol: str, port: str, per_side: int) -> str:
    """What a switch calls the port that emulators call 12A."""
    if protocol in ("scpi", "openconfig"):
        return f"{'1/' if protocol == 'openconfig' else ''}{number(port, per_side)}"
    return f"{fiber(port)}{port[-1]}" if protocol == "tl1" else port


def spoken(table: CableTable, protocol: str) -> CableTable:
    """A wiring with ports as switches of a protocol call them."""
    counts = Counter(cable.switch for cable in table.cables)
    return CableTable(tuple(
        replace(c, port=port_name(protocol, c.port, counts[c.switch] // 2)) for c in table.cables
    ))  # fmt: skip


@dataclass
class Site:
    """Files and switches of one cluster."""

    kind: str
    path: Path
    switches: dict[str, StubSwitch]
    """by name in plans"""
    protocol: str = "restconf"
    drivers: list[OcsDriver] = field(default_factory=list)

    def driver(self, fence: Callable[[], int] = unfenced) -> Driver:
        """A new one, as another process would have it."""
        found = driver_of({"kind": "ocs", "config": str(self.path)}, self.path.parent / "driver", fence)
        assert isinstance(found, OcsDriver)
        self.drivers.append(found)
        return found

    def wanted(self, *jobs: str) -> dict[str, set[str]]:
        """Names of cross-connects that jobs of the plan have on, by switch."""
        return wanted_of(self.kind, *jobs)

    def lit(self) -> dict[str, set[str]]:
        return {name: switch.lit() for name, switch in self.switches.items() if switch.lit()}

    def rows(self) -> dict[str, set[str]]:
        return {name: set(switch.rows) for name, switch in self.switches.items() if switch.rows}

    def record(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.path.parent / "driver" / "switches.json").read_text())
        return found


def path_name(switch: str) -> str:
    """Of a switch, in addresses."""
    return re.sub("[^A-Za-z0-9]+", "-", switch)


def files_of(folder: Path, fabric: Any, table: CableTable, switches: dict[str, Any], **more: Any) -> Path:
    """Cluster, wiring and switches.yaml of a site."""
    (folder / "cluster.yaml").write_text(yaml.safe_dump({"device": "h100-sxm", "fabric": fabric}))
    (folder / "wiring.csv").write_text(table.to_csv())
    config = {"cluster": "cluster.yaml", "wiring": "wiring.csv", "settle": "20 s", **more, "switches": switches}
    (folder / "switches.yaml").write_text(yaml.safe_dump(config))
    return folder / "switches.yaml"


def ports_of(table: CableTable) -> dict[str, list[str]]:
    """By switch."""
    found: dict[str, list[str]] = {}
    for cable in table.cables:
        found.setdefault(cable.switch, []).append(cable.port)
    return found


@contextmanager
def site_of(
    folder: Path, kind: str = "ocs_rail", *, loss_db: float | None = None, hasty: str = "-", **more: Any
) -> Iterator[Site]:
    """`loss_db`: of each cable; `hasty`: a switch that is not waited for long; `more`: fields of switches.yaml."""
    table = CableTable.of(fabric_of(kind), loss_db)
    switches = {name: StubSwitch(each) for name, each in ports_of(table).items()}
    with served({path_name(name): switch for name, switch in switches.items()}) as server:
        access = {hasty: {"url": server.url, **ACCESS, **HASTY}, "*": {"url": server.url, **ACCESS}}
        site = Site(kind, files_of(folder, given_of(kind), table, access, **more), switches)
        try:
            yield site
        finally:
            for driver in site.drivers:
                driver.close()


def access_of(folder: Path, protocol: str, url: str) -> dict[str, Any]:
    """Of switches.yaml, for one of SCHEMES; TL1 has a login."""
    found: dict[str, Any] = {"protocol": protocol, "url": url, **ACCESS}
    if protocol == "tl1":
        (folder / "password").write_text("secret")
        found |= {"username": "planner", "password_file": "password"}
    if protocol in ("gnmi", "openconfig"):
        found["target"] = "{}"
    return found


def unconnected(folder: Path, kind: str, protocol: str) -> Site:
    """Of switches that a world stands for."""
    table = CableTable.of(fabric_of(kind))
    url = "http://switches:1/{}" if protocol == "restconf" else f"{SCHEMES[protocol]}://{{}}:1"
    path = files_of(folder, given_of(kind), spoken(table, protocol), {"*": access_of(folder, protocol, url)})
    return Site(kind, path, {name: StubSwitch(each) for name, each in ports_of(table).items()}, protocol)


def edited(path: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    """Change what switches.yaml says."""
    data = yaml.safe_load(path.read_text())
    change(data)
    path.write_text(yaml.safe_dump(data))
