"""The part of a plug-in that knows what can stand in for a part that failed."""

from collections.abc import Mapping, Sequence

from costmodel.fabrics import FabricBase
from planner.fabrics.problem import Problem
from planner.fabrics.ranked_assignment import RankedAssignment
from planner.fabrics.ranked_circuits import RankedCircuit
from planner.model.cluster import Cluster
from planner.model.plan import Assignment, Circuit, HeldCircuits

Device = tuple[int, int]
"""(server, slot)"""
Place = tuple[int] | tuple[int, int] | tuple[str]
"""where parts are alike: a server for its devices, a pair of servers for its fibers, or the name of a part of a pool
without its number"""


class CircuitRouter:
    """Finds circuits of jobs that are repaired, beside those of fixed jobs; servers joined by packets need none."""

    def restart(self) -> None:
        """Forget the circuits that were added."""

    def add(
        self, job: RankedAssignment, devices: Sequence[Device], kept: Sequence[Mapping[int, Circuit]]
    ) -> tuple[HeldCircuits, ...] | None:
        """First-fit circuits of a job on these devices beside those that it keeps, by configuration and position;
        None where first fit finds none."""
        return ()


class Spares:
    """Servers joined by packets: any healthy device of a server is as good as another one."""

    def router(self, cluster: Cluster, fixed: Sequence[Assignment]) -> CircuitRouter:
        """A router beside jobs that keep their circuits."""
        return CircuitRouter()

    def circuits(
        self,
        fabric: FabricBase,
        job: RankedAssignment,
        devices: Sequence[Device],
        found: Sequence[Sequence[RankedCircuit]],
    ) -> tuple[HeldCircuits, ...]:
        """Circuits of a job on other devices as a plan writes them, by configuration and position."""
        return ()

    def reconnected(self, problem: Problem, assignments: Sequence[Assignment]) -> list[Assignment] | None:
        """Assignments of jobs that lost a part on their devices with other parts, the others as they are, in order;
        None where parts of a job cannot be replaced alone, or first fit finds none. Each job has one row."""
        return None

    def are_servers_alike(self, fabric: FabricBase) -> bool:
        """True if it does not matter which device of which server of a whole rack is missing."""
        return True

    def place_of(self, fabric: FabricBase, kind: str, part: str) -> Place | None:
        """The place of the parts that could be kept free for a part of a kind; None for one that has no stand-in."""
        return None if kind in ("switch", "rack link") else (fabric.parse_device(part)[0],)

    def healthy_parts(self, cluster: Cluster, place: Place) -> list[str]:
        """Names of the working parts of a place."""
        server = place[0]
        assert isinstance(server, int)
        return [cluster.fabric.device_name(server, slot) for slot in cluster.lit_slots(server)]
