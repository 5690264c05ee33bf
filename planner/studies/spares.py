"""How many spare parts a promised goodput needs: parts that are out at once, over drawn stretches of time.

Spares come out of the cluster, and fail like all others. A spare stands in for any part of its kind as soon as that
fails; goodput is the share of what is promised that works, over time. What jobs lose when they restart, and that a
spare may find no light, is not in it: `planner replay --faults` has both.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from planner.model.cluster import Cluster
from planner.model.errors import InputError
from planner.simulate.fault_study import FaultStudy
from planner.statistics import estimate
from planner.whatif.failure_model import FailureModel, sample_failures

Outage = tuple[str, float, float]
"""part, and from when until when it is out"""
Shares = NDArray[np.float64]
"""of the time in which so many parts are out, shape (parts + 1,)"""
ACCELERATOR, SERVER = "accelerator", "server"


@dataclass(frozen=True)
class Goodput:
    """With so many spares; half the width of the 95 % interval over seeds is None of one seed."""

    spares: int
    mean: float
    half_width: float | None

    @property
    def least(self) -> float:
        """The lower end of the interval."""
        return self.mean - (self.half_width or 0.0)


@dataclass(frozen=True)
class SparesNeeded:
    """Spares of one kind."""

    kind: str
    parts: int
    """with the spares"""
    mean_out: float
    """parts that are out at once"""
    most_out: int
    """so many spares were never too few"""
    without: Goodput
    needed: Goodput | None
    """the fewest spares whose interval is not below what is promised; None where all parts are too few"""


def spares_needed(
    cluster: Cluster, faults: FaultStudy, failures: FailureModel | None, goodput: float, span_s: float, seeds: int
) -> list[SparesNeeded]:
    """Single accelerators and whole servers by the log, and other kinds of parts by their rates; InputError for a
    goodput that is no share."""
    if not 0 < goodput < 1:
        raise InputError("--goodput", f"{goodput:g}", "is no share that can be promised; give one such as 0.99")
    fabric = cluster.fabric
    drawn = [_outages(cluster, faults, failures, span_s, seed) for seed in range(seeds)]
    counts = {kind: parts.count for kind, parts in fabric.inventory().items()}
    counts |= {ACCELERATOR: fabric.num_devices, SERVER: fabric.num_servers}
    return [
        _needed(kind, counts[kind], [_shares(each.get(kind, ()), counts[kind], span_s) for each in drawn], goodput)
        for kind in dict.fromkeys(kind for each in drawn for kind in each)
    ]


def _outages(
    cluster: Cluster, faults: FaultStudy, failures: FailureModel | None, span_s: float, seed: int
) -> dict[str, list[Outage]]:
    """Outages by kind of part; an accelerator that is out takes its server out, where whole servers are the spares."""
    fabric = cluster.fabric
    places = [(server, slot) for server in range(fabric.num_servers) for slot in range(fabric.devices_per_server)]
    server_of = {fabric.device_name(*place): fabric.server_name(place[0]) for place in places}
    linked = faults.on(cluster, "repair", span_s, seed)
    accelerators = [(part, each.fail_s, each.repair_s) for each in linked for part in each.parts]
    found: dict[str, list[Outage]] = {}
    if failures is not None:
        kind_of = {name: kind for kind, parts in fabric.inventory().items() for name in parts.names()}
        for event in sample_failures(failures, fabric, span_s, seed):
            outage = event.part, event.fail_s, event.repair_s
            if event.part in server_of:
                accelerators.append(outage)
            else:
                found.setdefault(kind_of[event.part], []).append(outage)
    servers = [(server_of[part], fail_s, repair_s) for part, fail_s, repair_s in accelerators]
    return {ACCELERATOR: accelerators, SERVER: servers, **found}


def _shares(outages: Iterable[Outage], parts: int, span_s: float) -> Shares:
    """How long how many are out; a part that several faults take is out once."""
    shares, down = np.zeros(parts + 1), dict[str, int]()
    ends = [(min(fail_s, span_s), 1, part) for part, fail_s, _ in outages]
    ends += [(min(repair_s, span_s), -1, part) for part, _, repair_s in outages]
    out, since_s = 0, 0.0
    for at_s, step, part in sorted(ends):
        shares[out] += at_s - since_s
        since_s, before = at_s, down.get(part, 0)
        down[part] = before + step
        out += (before + step > 0) - (before > 0)
    shares[out] += span_s - since_s
    found: Shares = shares / span_s
    return found


def _needed(kind: str, parts: int, shares: Sequence[Shares], goodput: float) -> SparesNeeded:
    out = np.arange(parts + 1)
    each = (_with(spares, shares, out) for spares in range(parts))
    return SparesNeeded(
        kind,
        parts,
        float(np.mean([float(share @ out) for share in shares])),
        max(int(np.flatnonzero(share).max()) for share in shares),
        _with(0, shares, out),
        next((found for found in each if found.least >= goodput), None),
    )


def _with(spares: int, shares: Sequence[Shares], out: NDArray[np.int64]) -> Goodput:
    """Of the parts that are no spares, those that work or have a spare in their place."""
    promised = len(out) - 1 - spares
    works = np.minimum(promised, len(out) - 1 - out) / promised
    values = np.array([float(share @ works) for share in shares])
    if len(values) == 1:
        return Goodput(spares, float(values[0]), None)
    found = estimate(values[:, None])
    return Goodput(spares, float(found.mean[0]), float(found.half_width[0]))
