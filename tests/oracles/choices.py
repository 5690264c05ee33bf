"""The ways in which one job may run: listed configurations, grouped by what they ask of the cluster."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from costmodel.fabrics import Lightpath
from costmodel.parallelism.configuration import Configuration
from costmodel.pricing.candidates import candidates_of, enumerate_candidates
from costmodel.pricing.score import Scores, score
from planner.model.cluster import Cluster
from planner.model.job import Job, JobConstraints, Resident
from tests.oracles.by_rack import Asked, sizes_asked
from tests.oracles.circuits import Circuit, Held, keeps_tile_rules, required_circuits

Demand = tuple[tuple[Circuit, ...], ...]
ROUNDING = 1e-9
"""relative difference below which two speeds are equal"""


@dataclass(frozen=True)
class Mode:
    """What the placement and the light of a job depend on; `stays` for a resident that keeps all it has."""

    num_devices: int
    block: int
    demand: Demand
    """circuits of each configuration; what another configuration contains is left out"""
    stays: bool = False
    per_server: int | None = None
    """ranks on each of its servers, where the job asks for that"""
    servers_by_rack: Asked = None
    """where the job asks for that"""
    units: int = 0
    """of a pool of its server that each rank holds"""
    is_part: bool = False
    """whether the job has ranks in other racks, too"""


@dataclass(frozen=True)
class Choice:
    """One way to run a job, and what it counts; `mode` None: not admitted."""

    mode: Mode | None = None
    configuration: Configuration | None = None
    value: float = 0.0
    energy: float = 0.0
    moves: float = 0.0
    speed: float = 0.0
    step_s: float = 0.0
    energy_per_work: float = 0.0
    power_w: float = 0.0


def choices(job: Job, cluster: Cluster) -> list[Choice]:
    """All choices that a plan may need: of one mode, those that no other beats in value and energy."""
    found = _unordered(job, cluster)
    best: dict[tuple[Mode | None, float], list[Choice]] = {}
    for choice in sorted(found, key=lambda c: (-c.value, c.energy)):
        kept = best.setdefault((choice.mode, choice.moves), [])
        if not kept or choice.energy < kept[-1].energy:
            kept.append(choice)
    return [choice for kept in best.values() for choice in kept]


def _unordered(job: Job, cluster: Cluster) -> list[Choice]:
    constraints = job.constraints
    listed = enumerate_candidates(
        job.workload,
        sizes_asked(job, cluster.fabric),
        cluster.device,
        cluster.fabric,
        one_server=constraints.one_server,
        per_server=constraints.per_server,
        collective=constraints.collective,
    )
    configurations = [listed.configuration(row) for row in range(len(listed))]
    scores = [score(listed, cluster.device, cluster.fabric)] if configurations else []
    if isinstance(job, Resident):
        current = candidates_of([job.configuration], job.workload, cluster.device, cluster.fabric)
        configurations.append(job.configuration)
        scores.append(score(current, cluster.device, cluster.fabric))
    if not configurations:
        return [] if job.required else [Choice()]
    return list(_priced(job, cluster, configurations, scores))


def _priced(job: Job, cluster: Cluster, configurations: list[Configuration], scores: list[Scores]) -> Iterator[Choice]:
    speed, step_s, energy, power_w = (
        np.concatenate([getattr(part, name) for part in scores])
        for name in ("speed", "step_s", "energy_per_work_j", "power_w")
    )
    resident = job if isinstance(job, Resident) else None
    if not job.required and resident is None:
        yield Choice()
    for row, configuration in enumerate(configurations):
        x = float(speed[row] / speed.max())
        gain = {"sqrt": x**0.5, "linear": x, "step": float(x >= job.step_at * (1 - ROUNDING))}[job.utility]
        numbers = {
            "configuration": configuration,
            "value": job.weight * gain,
            "energy": job.weight * float(energy[row] / energy.min()),
            "speed": float(speed[row]),
            "step_s": float(step_s[row]),
            "energy_per_work": float(energy[row]),
            "power_w": float(power_w[row]),
        }
        mode = _mode(configuration, cluster, job.constraints)
        if resident is not None and configuration is resident.configuration:
            staying = replace(mode, demand=_all_circuits(configuration), stays=True)
            yield Choice(mode=staying, **numbers)
        if resident is not None and not resident.movable:
            continue
        if _is_possible(mode, cluster, configuration.memory_io or 0):
            yield Choice(mode=mode, moves=0.0 if resident is None else resident.move_cost, **numbers)


def _all_circuits(configuration: Configuration) -> Demand:
    return tuple(circuits for _, circuits in required_circuits(configuration))


def _mode(configuration: Configuration, cluster: Cluster, asked: JobConstraints) -> Mode:
    held = {tuple(sorted(circuits)) for circuits in _all_circuits(configuration)}
    largest = [c for c in held if not any(set(c) < set(other) for other in held)]
    demand = tuple(sorted(largest)) if cluster.fabric.has_circuits else ()
    is_pooled = isinstance(cluster.fabric, Lightpath) and cluster.fabric.memory and cluster.fabric.memory.shared
    units = (configuration.memory_units or 0) if is_pooled else 0
    places: dict[str, Any] = {"per_server": asked.per_server, "servers_by_rack": asked.servers_by_rack}
    return Mode(configuration.num_devices, configuration.block, demand, units=units, **places)


def _is_possible(mode: Mode, cluster: Cluster, taken: int) -> bool:
    """Whether no tile sends more than it can, of whose wavelengths memory takes some."""
    fabric = cluster.fabric
    if not isinstance(fabric, Lightpath):
        return True
    room = fabric.wavelengths_per_tile - taken
    return all(keeps_tile_rules(circuits, room, fabric.max_peers) for circuits in mode.demand)


def source_of(held: Held, mode: Mode, number_of: int) -> list[tuple[int, int]]:
    """Where the light of each circuit of a configuration, the `number_of`-th of the job, is found: (configuration,
    position) in the mode."""
    if mode.stays:
        return [(number_of, position) for position in range(len(held[1]))]
    for number, circuits in enumerate(mode.demand):
        if set(held[1]) <= set(circuits):
            return [(number, circuits.index(circuit)) for circuit in held[1]]
    raise LookupError(f"the mode lacks circuits of {held[0]}")
