"""A cluster, its wiring, its switches and two planned jobs, for the tests of the driver."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from planner.fabrics.wiring import memory_json
from planner.integrations.switch_drivers import Circuits, Driver, driver_of
from planner.integrations.switch_drivers.ocs.driver import OcsDriver
from planner.integrations.wiring.cables import CableTable
from planner.integrations.wiring.cross_connects import cross_connects
from planner.model.instance import Instance
from planner.model.plan import Plan
from tests.fabrics import FABRICS
from tests.planner.integrations.switch_drivers.ocs.stub import StubSwitch, served
from tests.planner.integrations.wiring.wiring_cases import fabric_of, planned

ACCESS = {"timeout": "20 s", "tries": 2, "backoff": "1 ms"}
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


@dataclass
class Site:
    """Files and switches of one cluster."""

    kind: str
    path: Path
    switches: dict[str, StubSwitch]
    """by name in plans"""
    drivers: list[OcsDriver] = field(default_factory=list)

    def driver(self) -> Driver:
        """A new one, as another process would have it."""
        found = driver_of({"kind": "ocs", "config": str(self.path)}, self.path.parent / "driver")
        assert isinstance(found, OcsDriver)
        self.drivers.append(found)
        return found

    def wanted(self, *jobs: str) -> dict[str, set[str]]:
        """Names of cross-connects that jobs of the plan have on, by switch."""
        instance, plan = plan_of(self.kind)
        chosen = plan.model_copy(update={"assignments": tuple(plan[job] for job in jobs)})
        found = cross_connects(instance, chosen, CableTable.of(instance.cluster.fabric))
        return {switch: {each.name for each in joined} for switch, joined in found.items() if joined}

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


@contextmanager
def site_of(
    folder: Path, kind: str = "ocs_rail", *, loss_db: float | None = None, hasty: str = "-", **more: Any
) -> Iterator[Site]:
    """`loss_db`: of each cable; `hasty`: a switch that is not waited for long; `more`: fields of switches.yaml."""
    table = CableTable.of(fabric_of(kind), loss_db)
    ports: dict[str, list[str]] = {}
    for cable in table.cables:
        ports.setdefault(cable.switch, []).append(cable.port)
    switches = {name: StubSwitch(each) for name, each in ports.items()}
    (folder / "cluster.yaml").write_text(yaml.safe_dump({"device": "h100-sxm", "fabric": FABRICS[kind]}))
    (folder / "wiring.csv").write_text(table.to_csv())
    with served({path_name(name): switch for name, switch in switches.items()}) as server:
        config = {"cluster": "cluster.yaml", "wiring": "wiring.csv", "settle": "20 s", **more}
        config["switches"] = {hasty: {"url": server.url, **ACCESS, **HASTY}, "*": {"url": server.url, **ACCESS}}
        (folder / "switches.yaml").write_text(yaml.safe_dump(config))
        site = Site(kind, folder / "switches.yaml", switches)
        try:
            yield site
        finally:
            for driver in site.drivers:
                driver.close()


def edited(path: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    """Change what switches.yaml says."""
    data = yaml.safe_load(path.read_text())
    change(data)
    path.write_text(yaml.safe_dump(data))
