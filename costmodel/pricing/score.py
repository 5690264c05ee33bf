"""Candidates -> Scores: steps of all phases, in chunks of rows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costmodel.fabrics import FabricBase
from costmodel.hardware.device import Device
from costmodel.parallelism.mappings import DIMENSIONS
from costmodel.pricing.calibration import Calibration
from costmodel.pricing.candidates import Candidates
from costmodel.pricing.on_devices import Accelerators, on_devices
from costmodel.pricing.opgraph import OpGraph
from costmodel.pricing.pace import Pace
from costmodel.pricing.phase_switches import phase_switches, rounds_per_step
from costmodel.pricing.power import Drawn, waiting_j
from costmodel.pricing.step_price import step_price

Floats = NDArray[np.float64]
Calibrations = tuple[Calibration, ...]
Shares = Callable[[OpGraph], Sequence[OpGraph]]
SUMMED = (
    "step_s", "compute_s", "memory_s", "communication_s", "reconfiguration_s", "offload_s", "bubble_s",
)  # fmt: skip
"""columns that add up over the steps of phases"""
HELD = ("footprint_bytes", "tier_footprint_bytes")
"""columns of which the most of any phase counts"""
ENERGIES = {
    "compute": "compute", "memory": "memory", "network": "network", "active": "running", "static": "idle",
    "node": "servers",
}  # fmt: skip
"""causes of a job's energy, by the columns that add up to it, and how readers are told of them"""


@dataclass(frozen=True)
class Scores:
    """Price of each candidate, columns of shape (C,), row for row with `Candidates`.

    Times are seconds of one step; `compute_s` and `memory_s` split the operators by what binds them,
    `communication_s` has shape (5, C), by DIMENSIONS, without what hides behind operators; `offload_s` is what
    the second memory tier adds, `bubble_s` the idle time of a pipeline, `engine_s` software that serves, and its
    waiting. `ttft_s` and `tpot_s` are what users see: time to first token and time per output token; NaN of a workload
    without users. Energies are joules of the whole job in one step: of accelerators that compute, move bytes of memory,
    run (`active_j`) and are there at all (`static_j`), of links, and of the servers around them (`node_j`).
    """

    step_s: Floats
    compute_s: Floats
    memory_s: Floats
    communication_s: Floats
    reconfiguration_s: Floats
    offload_s: Floats
    bubble_s: Floats
    engine_s: Floats
    ttft_s: Floats
    tpot_s: Floats
    work: Floats
    footprint_bytes: Floats
    tier_footprint_bytes: Floats
    """what an accelerator keeps in its second memory tier"""
    compute_j: Floats
    memory_j: Floats
    network_j: Floats
    active_j: Floats
    static_j: Floats
    node_j: Floats

    @property
    def speed(self) -> Floats:
        """Units of work (tokens) per second of the whole job."""
        return self.work / self.step_s

    @property
    def energy_j(self) -> Floats:
        """Joules of the whole job in one step."""
        return self.compute_j + self.memory_j + self.network_j + self.active_j + self.static_j + self.node_j

    @property
    def energy_per_work_j(self) -> Floats:
        """Joules per unit of work."""
        return self.energy_j / self.work

    @property
    def power_w(self) -> Floats:
        return self.energy_j / self.step_s

    def take(self, rows: NDArray[np.integer] | slice) -> "Scores":
        return Scores(**{name: column[..., rows] for name, column in vars(self).items()})

    @classmethod
    def concatenate(cls, parts: "Sequence[Scores]") -> "Scores":
        """The rows of all parts, one after the other."""
        return cls(**{f.name: np.concatenate([getattr(p, f.name) for p in parts], axis=-1) for f in fields(cls)})

    @classmethod
    def empty(cls, num_rows: int) -> "Scores":
        shapes = {"communication_s": (len(DIMENSIONS), num_rows)}
        return cls(**{f.name: np.empty(shapes.get(f.name, (num_rows,))) for f in fields(cls)})


def score(
    candidates: Candidates, device: Device, fabric: FabricBase, *, calibrations: Calibrations | None = None
) -> Scores:
    """Price all rows, as many at once as fit the cache; memory grows by the rows of Scores alone.

    The time of a row is that of its busiest accelerator: operators by roofline, then messages along
    each dimension by its plan, less what hides, then the switches between the circuits of dimensions, and those
    between phases where the row has a setting of its own in the first one. `calibrations` replaces the catalog's.
    """
    phased = candidates.has_phases
    if not phased.any():
        return _score_setting(candidates, device, fabric, calibrations, lambda graph: (graph,))[0]
    found = Scores.empty(len(candidates))
    for rows, part in ((np.flatnonzero(is_in), candidates.take(np.flatnonzero(is_in))) for is_in in (phased, ~phased)):
        if part.has_phases.any():
            both = score_by_phase(part, device, fabric, calibrations=calibrations)
            scores = joined(*both, part, device, fabric)
        else:
            scores = score(part.in_last_phase(), device, fabric, calibrations=calibrations)
        for name, column in vars(scores).items():
            getattr(found, name)[..., rows] = column
    return found


def score_by_phase(
    candidates: Candidates, device: Device, fabric: FabricBase, *, calibrations: Calibrations | None = None
) -> tuple[Scores, Scores]:
    """What a step of rounds spends in the first phase of the workload, under the setting there, and in all else."""
    split = _phases_of(candidates)

    def scored(setting: Candidates, part: int) -> Scores:
        return _score_setting(setting, device, fabric, calibrations, lambda graph: (split(graph)[part],))[0]

    return scored(candidates.in_first_phase(), 0), scored(candidates.in_last_phase(), 1)


def score_whole_and_by_phase(candidates: Candidates, device: Device, fabric: FabricBase) -> tuple[Scores, ...]:
    """`score` of rows with one setting, and `score_by_phase`: what all three share is found once."""
    split = _phases_of(candidates)
    return tuple(_score_setting(candidates, device, fabric, None, lambda graph: (graph, *split(graph)), 3))


def score_paced(
    candidates: Candidates, device: Device, fabric: FabricBase, paces: Callable[[Pace | None], Sequence[Pace]], num: int
) -> tuple[Scores, ...]:
    """Rows with one setting, whose phases follow each other in each of so many ways that are made of their own."""

    def shares(graph: OpGraph) -> tuple[OpGraph, ...]:
        return tuple(replace(graph, pace=pace) for pace in paces(graph.pace))

    return tuple(_score_setting(candidates, device, fabric, None, shares, num))


def _phases_of(candidates: Candidates) -> Shares:
    """A step of rounds, in its first phase and in all else."""
    name = candidates.workload.phases[0]

    def split(graph: OpGraph) -> tuple[OpGraph, ...]:
        rounds = graph.in_rounds()
        return rounds.of_phase(name), rounds.without_phase(name)

    return split


def joined(first: Scores, last: Scores, candidates: Candidates, device: Device, fabric: FabricBase) -> Scores:
    """Both phases together, with the switches between them where a row has a setting of its own in the first."""
    sums = {f.name: getattr(first, f.name) + getattr(last, f.name) for f in fields(Scores)}
    sums |= {name: np.maximum(getattr(first, name), getattr(last, name)) for name in HELD} | {"work": last.work}
    switches = phase_switches(candidates, last.footprint_bytes, last.tier_footprint_bytes, fabric)
    num_devices = candidates.num_devices.astype(np.float64)
    sums["step_s"] = sums["step_s"] + switches.step_s
    sums["reconfiguration_s"] = sums["reconfiguration_s"] + switches.step_s
    sums["ttft_s"] = sums["ttft_s"] + switches.step_s / rounds_per_step(candidates)
    sums["memory_j"] = sums["memory_j"] + switches.moved_j * num_devices
    for name, joules in waiting_j(switches.step_s, device, fabric, num_devices).items():
        sums[name] = sums[name] + joules
    return Scores(**sums)


def _score_setting(
    candidates: Candidates,
    device: Device,
    fabric: FabricBase,
    calibrations: Calibrations | None,
    shares: Shares,
    num_parts: int = 1,
) -> list[Scores]:
    """Rows with one setting; `shares` says what to price of a step: so many parts of it, each by itself."""
    scores = [Scores.empty(len(candidates)) for _ in range(num_parts)]
    for some in on_devices(candidates, fabric.splits(device, candidates.workload), calibrations):
        for each, share in zip(scores, shares(some.graph), strict=True):
            for name, column in _paced(some.candidates, share, some.own, some.fabric, calibrations).items():
                getattr(each, name)[..., some.rows] = column
    return scores


def _paced(
    candidates: Candidates, graph: OpGraph, own: Accelerators, fabric: FabricBase, calibrations: Calibrations | None
) -> dict[str, Floats]:
    """Columns of Scores: those of the graph, or of the steps of its phases as its pace has them follow each other."""
    m, num_devices, device = candidates.mapping, candidates.num_devices.astype(np.float64), own.device
    columns = {name: getattr(graph, name).take(m) for name in ("work", *HELD)}
    if graph.pace is None:
        nobody = np.full(len(candidates), np.nan)
        prices, drawn = step_price(candidates, graph, device, fabric, calibrations, own.memory.j_per_byte)
        columns |= {"engine_s": np.zeros(len(candidates)), "ttft_s": nobody, "tpot_s": nobody}
        columns |= prices | drawn.energies(device, num_devices, own.memory.power_limit_w)
    else:
        given = {block.phase for block in graph.blocks}
        parts = {
            name: step_price(
                candidates.of_prompts() if name == "prefill" else candidates,
                graph.alone(name), device, fabric, calibrations, own.memory.j_per_byte,
            )
            for name in graph.pace.phases
            if name in given
        }  # fmt: skip
        columns |= _in_turn(graph.pace, m, parts, own, num_devices)
    return columns | waiting_j(columns["step_s"], device, fabric, num_devices)


def _in_turn(
    pace: Pace, m: NDArray[np.integer[Any]], parts: Mapping[str, tuple[dict[str, Floats], Drawn]], own: Accelerators,
    num_devices: Floats,
) -> dict[str, Floats]:  # fmt: skip
    """Columns of rows with these mappings, whose single steps cost `parts`, by phase."""
    step_s = {phase: prices["step_s"] for phase, (prices, _) in parts.items()}
    sent_s = {
        p: prices["communication_s"].sum(axis=0) + prices["reconfiguration_s"] for p, (prices, _) in parts.items()
    }
    paced = pace.paced(step_s, m, sent_s)
    columns = {
        name: np.sum([paced.steps[phase] * prices[name] for phase, (prices, _) in parts.items()], axis=0)
        for name in SUMMED
    }
    columns["network_j"] = np.sum([paced.shares[p] * prices["network_j"] for p, (prices, _) in parts.items()], axis=0)
    energies = [
        drawn.often(paced.shares[phase], paced.software_s[phase]).energies(
            own.device, num_devices, own.memory.power_limit_w
        )
        for phase, (_, drawn) in parts.items()
    ]
    columns |= {name: np.sum([each[name] for each in energies], axis=0) for name in energies[0]}
    users = {"engine_s": paced.engine_s, "ttft_s": paced.ttft_s, "tpot_s": paced.tpot_s}
    return columns | users | {"step_s": columns["step_s"] + paced.engine_s}
