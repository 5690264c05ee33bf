"""Windows: a few servers of a cluster as a problem of their own, in which what others hold there has failed."""

from collections.abc import Mapping, Sequence
from typing import Any

from costmodel.fabrics import FabricBase
from planner.fabrics.free_state import FreeState
from planner.fabrics.problem import Problem
from planner.model.cluster import Cluster
from planner.model.health import FailedFiber, Health
from planner.model.plan import Assignment


class Windows:
    """Windows of servers joined by packets: nothing but devices is held, and each belongs to one server."""

    def are_possible(self, cluster: Cluster) -> bool:
        """True if every part that a job holds belongs to one server."""
        return True

    def racks_are(self, cluster: Cluster) -> bool:
        """True if a whole rack is a problem of its own where no job holds parts there and elsewhere."""
        return self.are_possible(cluster)

    def may_keep(self, cluster: Cluster) -> bool:
        """True if jobs in a window may be fixed, those that hold parts elsewhere too."""
        return self.are_possible(cluster)

    def held(
        self, problem: Problem, fixed: Sequence[Assignment], servers: Sequence[int], names: Mapping[int, str]
    ) -> Health:
        """Everything in these servers that is not free beside fixed jobs; `names`: servers as the window has them."""
        cluster = problem.cluster
        taken = {cluster.fabric.parse_device(name) for assignment in fixed for name in assignment.devices}
        gone, slots = cluster.failed_devices | taken, range(cluster.fabric.devices_per_server)
        devices = [(server, slot) for server in servers for slot in slots]
        failed = (device_name(cluster, names, *device) for device in devices if device in gone)
        dark = (device_name(cluster, names, *device) for device in devices if device in cluster.dark_devices - gone)
        return Health(failed_tiles=tuple(failed), failed_ports=tuple(dark))

    def switches(self, fabric: FabricBase, window: FabricBase, racks: Sequence[int]) -> Mapping[str, str]:
        """Names of optical switches that belong to no server, as the window over these racks has them."""
        return {}


def device_name(cluster: Cluster, names: Mapping[int, str], server: int, slot: int) -> str:
    """A device as the window has it."""
    return f"{names[server]}.{cluster.fabric.device_letter}{slot}"


def taken_devices(free: FreeState, servers: Sequence[int], names: Mapping[int, str]) -> tuple[str, ...]:
    """Devices of these servers that are not free, as the window has them."""
    return tuple(
        device_name(free.cluster, names, server, slot)
        for server in servers
        for slot in range(free.cluster.fabric.devices_per_server)
        if slot not in free.slots.lit[server] and slot not in free.slots.dark[server]
    )


class NoWindows(Windows):
    """Jobs hold parts between servers: a few servers alone are no problem of their own."""

    def are_possible(self, cluster: Cluster) -> bool:
        return False


class RailWindows(NoWindows):
    """Jobs hold devices and their ports, which belong to servers; rails pass through the window with all switches."""

    def racks_are(self, cluster: Cluster) -> bool:
        return True

    def may_keep(self, cluster: Cluster) -> bool:
        """A port that a fixed job uses belongs to one of its own devices."""
        return True

    def switches(self, fabric: FabricBase, window: FabricBase, racks: Sequence[int]) -> Mapping[str, str]:
        return {name: name for name in fabric.switch_names}


class RackWindows(NoWindows):
    """Jobs hold parts between servers of one rack: a whole rack is a problem of its own."""

    def racks_are(self, cluster: Cluster) -> bool:
        return True

    def held(
        self, problem: Problem, fixed: Sequence[Assignment], servers: Sequence[int], names: Mapping[int, str]
    ) -> Health:
        """What has failed in a whole rack, beside no fixed jobs."""
        assert not fixed, "jobs that stay hold parts that belong to no server"
        fabric, health = problem.cluster.fabric, problem.cluster.health
        inside = {fabric.server_name(server): name for server, name in names.items()}
        return Health(
            **{
                field: tuple(found for entry in entries if (found := _in_window(entry, inside)) is not None)
                for field, entries in iter(health)
            }
        )


def _in_window(entry: Any, inside: Mapping[str, str]) -> Any | None:
    """A failed part as the window names it; None where it is not there."""
    if isinstance(entry, str):
        server, dot, rest = entry.rpartition(".")
        return f"{inside[server]}{dot}{rest}" if server in inside else None
    if isinstance(entry, FailedFiber):
        ends = entry.source, entry.destination
        if not inside.keys() >= set(ends):
            return None
        return entry.model_copy(update={"source": inside[ends[0]], "destination": inside[ends[1]]})
    tile = _in_window(entry.tile, inside)
    return None if tile is None else entry.model_copy(update={"tile": tile})
