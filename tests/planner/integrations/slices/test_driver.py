"""Slices follow what jobs want: made once nobody has their cubes, waited for, healed, deleted."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from planner.controller.switch_driver import UnsureError
from planner.integrations.slices.driver import SliceDriver
from planner.integrations.switch_drivers import CircuitBusyError, CircuitError, Resynced
from tests.planner.integrations.kubernetes.contract import require_write
from tests.planner.integrations.kubernetes.emulator import Server
from tests.planner.integrations.kubernetes.objects import SLICES
from tests.planner.integrations.slices.cubes import PARTITIONS, circuits_of, guards, site
from tests.planner.integrations.slices.gke import SliceController


class Rack:
    """A driver, GKE, and a clock that their waiting moves."""

    def __init__(self, server: Server, folder: Path) -> None:
        self.emulator, self.now_s, self.api = server.emulator, 0.0, server.api()
        self.emulator.guards = guards()
        self.gke = SliceController(self.emulator)
        self.folder = folder / "planner.db.circuits"
        self.driver = self.begin()

    def begin(self) -> SliceDriver:
        """A driver as of a new process."""
        return SliceDriver(self.folder, site(), self.api, clock=lambda: self.now_s, sleep=self.sleep)

    def sleep(self, time_s: float) -> None:
        self.now_s += time_s
        self.gke.step()

    def states(self) -> dict[str, str]:
        return {item["metadata"]["name"]: self.gke.state(item) for item in self.emulator.all(SLICES)}

    def specs(self) -> list[dict[str, Any]]:
        return [item["spec"] for item in self.emulator.all(SLICES)]

    def name(self) -> str:
        (found,) = self.states()
        return found


@pytest.fixture
def rack(server: Server, tmp_path: Path) -> Iterator[Rack]:
    one = Rack(server, tmp_path)
    yield one
    for write in one.emulator.asked:
        require_write(*write)
    one.api.close()


def foreign(rack: Rack, *partitions: str, name: str = "other") -> None:
    spec = {"type": "tpu7x", "topology": f"4x4x{4 * len(partitions)}", "partitionIds": list(partitions)}
    rack.emulator.put(SLICES, {"metadata": {"name": name}, "spec": spec})


def test_a_job_of_whole_cubes_is_a_slice_from_ready_to_gone(rack: Rack) -> None:
    circuits = circuits_of(128, 64)
    for job in circuits:
        rack.driver.connect(job, circuits[job])
    assert set(rack.states().values()) == {"ACTIVE"}
    assert [each["topology"] for each in rack.specs()] == ["4x4x8", "4x4x4"]
    used = [one for each in rack.specs() for one in each["partitionIds"]]
    assert (len(used), {*used} <= {*PARTITIONS.values()}) == (3, True)
    assert rack.driver.applied() == circuits
    asked = len(rack.emulator.asked)
    rack.driver.connect("j0", circuits["j0"])
    assert len(rack.emulator.asked) == asked, "on already: nothing is written"
    rack.driver.release("j0")
    assert [each["topology"] for each in rack.specs()] == ["4x4x4"]
    assert rack.driver.applied() == {"j1": circuits["j1"]}
    assert rack.emulator.guards.used == {one for one in rack.emulator.guards.rights if one[1] == "slices"}


def test_a_job_inside_a_cube_needs_none(rack: Rack) -> None:
    ((job, circuits),) = circuits_of(16).items()
    rack.driver.connect(job, circuits)
    assert rack.states() == {}
    assert rack.driver.resync().again == ()
    rack.driver.release(job)
    assert rack.driver.applied() == {}


def test_what_is_not_ready_in_time_is_unsure_and_looked_at_again(rack: Rack) -> None:
    circuits = circuits_of(64)["j0"]
    rack.gke.patience = 0.0
    with pytest.raises(UnsureError, match="without conditions"):
        rack.driver.connect("j0", circuits)
    rack.gke.patience = 1.0
    rack.begin().connect("j0", circuits)
    assert set(rack.states().values()) == {"ACTIVE"}
    assert [method for method, _, _ in rack.emulator.asked] == ["POST"], "it was made once"


def test_partitions_of_others_are_waited_for(rack: Rack) -> None:
    circuits = circuits_of(256)["j0"]
    foreign(rack, PARTITIONS["s3"])
    with pytest.raises(CircuitBusyError, match="partition cube3 is of Slice other"):
        rack.driver.connect("j0", circuits)
    assert set(rack.states()) == {"other"}
    assert rack.driver.applied() == {}
    assert rack.driver.resync().strange == ("Slice other",)
    rack.emulator.drop(SLICES, None, "other")
    rack.driver.connect("j0", circuits)
    assert len(rack.states()) == 1


def test_a_slice_that_goes_keeps_its_cubes_until_it_is_gone(rack: Rack) -> None:
    before, after = circuits_of(256)["j0"], circuits_of(64)["j0"]
    rack.driver.connect("old", before)
    rack.gke.patience = 0.0
    with pytest.raises(CircuitError, match="being deleted"):
        rack.driver.release("old")
    with pytest.raises(CircuitBusyError):
        rack.begin().connect("new", after)
    rack.gke.patience = 1.0
    rack.driver.release("old")
    rack.driver.connect("new", after)
    assert rack.name().startswith("new-")


def test_one_that_fails_is_deleted_and_told(rack: Rack) -> None:
    circuits = circuits_of(64)["j0"]
    rack.gke.broken = {*PARTITIONS.values()}
    with pytest.raises(CircuitError, match="FAILED"):
        rack.driver.connect("j0", circuits)
    for _ in range(3):
        rack.gke.step()
    assert rack.states() == {}
    rack.gke.broken.clear()
    rack.driver.connect("j0", circuits)
    assert set(rack.states().values()) == {"ACTIVE"}


Drift = Callable[[Rack], object]
DRIFTS: dict[str, Drift] = {
    "deleted": lambda rack: rack.emulator.drop(SLICES, None, rack.name()),
    "being deleted": lambda rack: rack.emulator.remove("alice", "slices", None, rack.name()),
    "other cubes": lambda rack: rack.emulator.change(SLICES, None, rack.name(), spec={"partitionIds": ["cube9"]}),
    "failed": lambda rack: rack.gke._say(rack.emulator.all(SLICES)[0], "False", "FAILED"),
    "without its owner, other cubes": lambda rack: rack.emulator.change(
        SLICES, None, rack.name(), metadata={"annotations": None}, spec={"partitionIds": ["cube9"]}
    ),
}


@pytest.mark.parametrize("what", DRIFTS)
@pytest.mark.parametrize("how", ["read back", "restart"])
def test_what_changes_by_itself_is_healed(rack: Rack, what: str, how: str) -> None:
    circuits = circuits_of(64)["j0"]
    rack.driver.connect("j0", circuits)
    wanted = rack.specs()
    DRIFTS[what](rack)
    for _ in range(3):
        try:
            if how == "read back":
                rack.driver.resync()
            rack.begin().connect("j0", circuits)
        except UnsureError:
            rack.sleep(1.0)
    assert rack.specs() == wanted
    assert set(rack.states().values()) == {"ACTIVE"}
    assert rack.driver.resync() == Resynced((), {}, ())


def test_what_a_planner_left_for_no_job_is_deleted(rack: Rack) -> None:
    rack.driver.connect("j0", circuits_of(64)["j0"])
    (rack.folder / "switches.json").unlink()
    foreign(rack, "cube9", name="other")
    rack.driver.resync()
    for _ in range(3):
        rack.gke.step()
    assert set(rack.states()) == {"other"}


@pytest.mark.parametrize("status", ["down", "busy", "forbidden"])
def test_an_api_that_does_not_answer_leaves_it_unsure(rack: Rack, status: str) -> None:
    circuits = circuits_of(64)["j0"]
    rack.emulator.is_down, rack.emulator.num_busy = status == "down", 99 * (status == "busy")
    if status == "forbidden":
        rack.emulator.guards.rights -= {("accelerator.gke.io", "slices", "list")}
    with pytest.raises(UnsureError, match={"down": "503", "busy": "429", "forbidden": "403"}[status]):
        rack.driver.connect("j0", circuits)
    assert rack.driver.applied() == {"j0": circuits}, "it is set again, or released"


def test_what_the_api_refuses_leaves_nothing(rack: Rack) -> None:
    rack.emulator.guards.rights -= {("accelerator.gke.io", "slices", "create")}
    with pytest.raises(CircuitError, match="403"):
        rack.driver.connect("j0", circuits_of(64)["j0"])
    assert rack.driver.applied() == {}
