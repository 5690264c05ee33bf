"""Most value of tiny instances whose racks are joined: every way to give parts of jobs to racks, rack by rack."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import cache, reduce
from itertools import combinations, product
from typing import Any

import numpy as np

from costmodel.fabrics import Sipam, UpperFibers, UpperPackets, UpperSwitches
from costmodel.parallelism.configuration import Configuration
from costmodel.pricing.candidates import Candidates, enumerate_candidates
from costmodel.pricing.phases import with_phases
from costmodel.pricing.score import score
from planner.model.cluster import Cluster
from planner.model.instance import Instance
from planner.model.job import Job
from tests.oracles.best_slots import _fit
from tests.oracles.choices import Mode, _is_possible
from tests.oracles.circuits import required_circuits
from tests.oracles.placement import PlacementSearch
from tests.oracles.pool_search import Mode as PoolMode
from tests.oracles.pool_search import Server, can_run, mode_of, servers_of
from tests.oracles.slots import SlotOptions, Taken

Way = tuple[Any, int, int]
"""what a job has in each of its racks, their number, and the links that it holds"""
FAILED = (
    "failed_tiles", "failed_ports", "failed_memory_units", "failed_tray_ports", "failed_uplinks", "failed_switches",
)  # fmt: skip
"""parts that belong to one rack"""


def most_value(instance: Instance) -> float:
    """The most that jobs of an instance without residents or required jobs are worth together."""
    kinds = {"lightpath": _Racks, "sipam": _RacksOfPools}
    return kinds.get(instance.cluster.fabric.kind, _RacksOfSlices)(instance).most_value()


class _Racks:
    def __init__(self, instance: Instance) -> None:
        self.instance, self.fabric = instance, instance.cluster.fabric
        self.alone = [self.rack(_rack(instance, rack)) for rack in range(self.fabric.racks)]
        self.fits = cache(self._fits)
        self.asked = _light

    def rack(self, alone: Instance) -> Any:
        """What says whether jobs fit into a rack."""
        return PlacementSearch(alone)

    def most_value(self) -> float:
        ways = [[(0.0, None), *_ways(job, self.instance, self.asked)] for job in self.instance.jobs]
        values = reduce(np.add.outer, (np.array([value for value, _ in each]) for each in ways))
        for number in np.argsort(-values, axis=None, kind="stable"):
            chosen = [each[i][1] for each, i in zip(ways, np.unravel_index(number, values.shape), strict=True)]
            if self._is_possible(chosen):
                return float(values.flat[number])
        raise AssertionError("nothing at all fits always")

    def _is_possible(self, chosen: list[Way | None]) -> bool:
        """Whether some racks of each job have room for all parts, and links between them."""
        jobs = [(j, way) for j, way in enumerate(chosen) if way is not None]
        spread = [list(combinations(range(self.fabric.racks), way[1])) for _, way in jobs]
        for racks in product(*spread):
            held = [(way[2], own) for (_, way), own in zip(jobs, racks, strict=True)]
            modes = [
                tuple(way[0] if way is not None and rack in dict(zip([j for j, _ in jobs], racks, strict=True))[j]
                      else None for j, way in enumerate(chosen))
                for rack in range(self.fabric.racks)
            ]  # fmt: skip
            if self._has_links(held) and all(self.fits(rack, each) for rack, each in enumerate(modes)):
                return True
        return False

    def _fits(self, rack: int, modes: tuple[Any, ...]) -> bool:
        return bool(self.alone[rack].can_run(modes))

    def _has_links(self, held: list[tuple[int, tuple[int, ...]]]) -> bool:
        upper, failed = self.fabric.upper_layer, self.instance.cluster.health.failed_upper
        used: Counter[tuple[int, ...]] = Counter()
        if isinstance(upper, UpperFibers):
            for links, racks in held:
                used.update({(a, b): links for a, b in product(racks, racks) if a != b})
            for (a, b), links in used.items():
                count = upper.fibers if isinstance(upper.fibers, int) else next(
                    (each.count for each in upper.fibers if (each.source, each.destination) == (f"r{a}", f"r{b}")), 0
                )  # fmt: skip
                count -= sum(name.startswith(f"r{a}>r{b}#") for name in failed)
                if links > count * upper.wavelengths_per_fiber:
                    return False
            return True
        for links, racks in held:
            used.update(dict.fromkeys(racks, links))
        if isinstance(upper, UpperSwitches):
            each = min(upper.radix // self.fabric.racks, upper.ports)
            most = upper.ports - (min(each, upper.ports) if failed else 0)
        else:
            most = int(self.fabric.devices_per_rack / upper.oversubscription) if isinstance(upper, UpperPackets) else 0
        return all(links <= most for links in used.values())


class _RacksOfSlices(_Racks):
    """Racks whose jobs take slices."""

    def __init__(self, instance: Instance) -> None:
        super().__init__(instance)
        self.asked = _slices

    def rack(self, alone: Instance) -> SlotOptions:
        return SlotOptions(alone.cluster)

    def _fits(self, rack: int, modes: tuple[Any, ...]) -> bool:
        slots, options = self.alone[rack], list[list[Taken]]()
        for configuration, is_part in (mode for mode in modes if mode is not None):
            found = slots.of(configuration)
            options.append([each for each in found if each <= slots.lit] if is_part else found)
        return _fit(options, frozenset())


class _RacksOfPools(_Racks):
    """Racks whose servers are pools of memory units."""

    def __init__(self, instance: Instance) -> None:
        super().__init__(instance)
        self.asked = _pool

    def rack(self, alone: Instance) -> tuple[Instance, list[Server]]:
        return alone, servers_of(alone)

    def _fits(self, rack: int, modes: tuple[Any, ...]) -> bool:
        return can_run(*self.alone[rack], [mode for mode in modes if mode is not None])


def _rack(instance: Instance, rack: int) -> Instance:
    """One rack alone, with as many jobs."""
    raw = instance.model_dump(mode="json", by_alias=True, exclude_none=True)
    raw["cluster"]["fabric"] |= {"racks": 1}
    raw["cluster"]["fabric"].pop("upper", None)
    health = instance.cluster.health
    mine = {
        key: [name.removeprefix(f"r{rack}.") for name in getattr(health, key) if name.startswith(f"r{rack}.")]
        for key in FAILED
    }
    raw["cluster"]["health"] = mine
    raw["jobs"] = [{**job, "accelerators": 1, "constraints": {}} for job in raw["jobs"]]
    return Instance.parse(raw, "rack")


def _light(rows: Candidates, row: int, job: Job, cluster: Cluster) -> Mode | None:
    """What a job asks for in each of its racks; None where no tile has that much light."""
    configuration = rows.configuration(row)
    racks = configuration.data_collective.racks
    part = configuration.num_devices // racks
    held = {
        tuple(sorted(circuit for circuit in circuits if circuit[0] < part))
        for _, circuits in required_circuits(configuration)
    }
    demand = tuple(sorted(c for c in held if not any({*c} < {*other} for other in held)))
    per_server = job.constraints.per_server
    mode = Mode(part, configuration.block, demand, per_server=per_server, is_part=racks > 1)
    return mode if _is_possible(mode, cluster, configuration.memory_io or 0) else None


def _slices(rows: Candidates, row: int, job: Job, cluster: Cluster) -> tuple[Configuration, bool]:
    """The configuration of the part in each rack, and whether there are others."""
    configuration = rows.configuration(row)
    racks = configuration.data_collective.racks
    collective = configuration.data_collective.model_copy(update={"racks": 1, "links": 0})
    alone = configuration.model_copy(update={"data": configuration.data // racks, "data_collective": collective})
    return alone.model_copy(update={"micro_batch": 1}), racks > 1


def _pool(rows: Candidates, row: int, job: Job, cluster: Cluster) -> PoolMode:
    """What a job asks for in each of its racks."""
    assert isinstance(cluster.fabric, Sipam)
    return replace(mode_of(rows, row, cluster.fabric), per_server=job.constraints.per_server)


def _ways(job: Job, instance: Instance, asked_of: Callable[..., Any]) -> list[tuple[float, Way]]:
    """Ways to run a job, each with the most that it is worth so."""
    cluster, asked = instance.cluster, job.constraints
    rows = enumerate_candidates(
        job.workload, job.sizes, cluster.device, cluster.fabric,
        one_server=asked.one_server, per_server=asked.per_server, collective=asked.collective,
    )  # fmt: skip
    if not len(rows):
        return []
    if cluster.fabric.resetting_s is not None and not asked.one_setting:
        rows, _ = with_phases(rows, cluster.device, cluster.fabric)
    speed = score(rows, cluster.device, cluster.fabric).speed
    best: dict[Way, float] = {}
    for row in range(len(rows)):
        configuration = rows.configuration(row)
        x = float(speed[row] / speed.max())
        mode = asked_of(rows, row, job, cluster)
        way = mode, configuration.data_collective.racks, configuration.data_collective.links
        if mode is not None:
            best[way] = max(best.get(way, 0.0), job.weight * (x**0.5 if job.utility == "sqrt" else x))
    return [(value, way) for way, value in best.items()]
