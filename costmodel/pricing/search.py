"""The best mapping of a workload on so many devices: the whole space is priced, what is dominated is dropped."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from costmodel.fabrics import FabricBase
from costmodel.hardware.device import Device
from costmodel.parallelism.configuration import Configuration
from costmodel.parallelism.mappings import Mappings
from costmodel.pricing.calibration import Calibration
from costmodel.pricing.candidates import Candidates, list_candidates
from costmodel.pricing.limits import within_limits
from costmodel.pricing.score import Scores, score
from costmodel.pricing.search_counts import SearchCounts
from costmodel.workloads import Workload

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
BATCH = 1 << 18
"""mappings listed and priced at once"""
SAMPLED, COMPROMISES = 1 << 10, 8
"""rows of a sample in which compromises are looked for, and how many of them drop rows from a front"""


@dataclass(frozen=True)
class Option:
    """One configuration with its price."""

    configuration: Configuration
    scores: Scores
    """of one row"""
    mfu: float
    """matrix operations that the model needs over what the devices could do in the step"""


@dataclass(frozen=True)
class SearchResult:
    """What a search over all mappings of some numbers of devices found."""

    counts: SearchCounts
    best: tuple[Option, ...]
    """the fastest, one a mapping, by time per unit of work"""
    front: tuple[Option, ...]
    """those that no other beats in time and energy per unit of work and in memory, by time"""


def widest_block(fabric: FabricBase, spans: Sequence[int], num_devices: int) -> Sequence[int]:
    """The largest of the groups that fits in one server, for fabrics where a narrower layout is never better."""
    fitting = fabric.blocks(spans, num_devices)
    return (max(fitting),) if fitting else (1,)


def search(
    workload: Workload,
    sizes: Sequence[int],
    device: Device,
    fabric: FabricBase,
    *,
    top: int = 10,
    calibrations: tuple[Calibration, ...] | None = None,
    progress: Callable[[int], None] | None = None,
    pinned: Mapping[str, int] | None = None,
) -> SearchResult:
    """Price every mapping on each number of devices, of those with `pinned` numbers in columns; `progress` hears how
    many are done.

    Keeps the fastest and the Pareto front alone, so memory does not grow with the space.
    """
    kept: list[tuple[Candidates, Scores, Floats]] = []
    counts = SearchCounts()
    for candidates, scores, of_batch in priced_batches(workload, sizes, device, fabric, calibrations, pinned):
        counts += of_batch
        rows = _kept(scores, top)
        of_rows, prices = candidates.take(rows), scores.take(rows)
        kept.append((of_rows, prices, mfu(of_rows, prices, device)))
        if progress:
            progress(counts.listed)
    costs = np.concatenate([np.zeros((3, 0)), *(_per_work(scores) for _, scores, _ in kept)], axis=1)
    batch = np.repeat(np.arange(len(kept)), [len(candidates) for candidates, _, _ in kept])
    row = np.concatenate([np.zeros(0, np.intp), *(np.arange(len(candidates)) for candidates, _, _ in kept)])
    fastest = np.argsort(costs[0], kind="stable")

    def options(chosen: Rows) -> Iterator[Option]:
        for i in chosen:
            candidates, scores, share = kept[batch[i]]
            own = int(row[i])
            yield Option(candidates.configuration(own), scores.take(row[i : i + 1]), float(share[own]))

    return SearchResult(counts, best=_distinct(options(fastest), top), front=tuple(options(pareto(costs))))


def priced_batches(
    workload: Workload,
    sizes: Sequence[int],
    device: Device,
    fabric: FabricBase,
    calibrations: tuple[Calibration, ...] | None = None,
    pinned: Mapping[str, int] | None = None,
) -> Iterator[tuple[Candidates, Scores, SearchCounts]]:
    """Candidates on so many devices in batches: rows, scores, and what was looked at."""
    for batch in _batches(workload, sizes, pinned or {}):
        found = list_candidates(workload, batch, device, fabric, blocks=widest_block)
        scores = score(found, device, fabric, calibrations=calibrations)
        yield *within_limits(found, scores), SearchCounts.of(len(batch), found)


def _batches(workload: Workload, sizes: Sequence[int], pinned: Mapping[str, int]) -> Iterator[Mappings]:
    """Mappings on all sizes, BATCH at most at a time; small sizes share a batch."""
    waiting: list[Mappings] = []
    for size in sizes:
        mappings = workload.mappings(size)
        waiting.append(mappings.take(mappings.where(pinned)) if pinned else mappings)
        if sum(len(mappings) for mappings in waiting) >= BATCH:
            joined, waiting = Mappings.concatenate(waiting), []
            yield from (joined.take(slice(start, start + BATCH)) for start in range(0, len(joined), BATCH))
    if any(len(mappings) for mappings in waiting):
        yield Mappings.concatenate(waiting)


def pareto(costs: Floats) -> Rows:
    """Rows that no other row is as good as in every cost and better in one, by the first cost; (D, C) -> (F,).

    Of equal rows the first stays. A few good compromises drop most rows before the others are compared in turn.
    """
    rows, columns, before = np.arange(costs.shape[1]), list(costs), np.inf
    while 4 * SAMPLED < len(rows) < before / 2:
        before, sample = len(rows), np.stack([column[:: len(rows) // SAMPLED] for column in columns])
        for pivot in _compromises(sample):
            kept = np.flatnonzero(_not_beaten(columns, sample[:, pivot]))
            rows, columns = rows[kept], [column[kept] for column in columns]
    order = np.lexsort(columns[::-1])
    sorted_costs = [column[order] for column in columns]
    front: list[int] = []
    left = np.arange(len(order))
    while len(left):
        first = int(left[0])
        front.append(first)
        is_better = np.zeros(len(left), dtype=np.bool_)
        for column in sorted_costs:
            is_better |= column[left] < column[first]
        left = left[is_better]
    return np.asarray(rows[order[front]], dtype=np.intp)


def _compromises(costs: Floats) -> Iterator[int]:
    """Rows of the front, first the one that beats most rows, then the one that beats most of the others."""
    front = pareto(costs)
    beats: NDArray[np.bool_] = np.logical_and.reduce(costs[:, front, None] <= costs[:, None, :])
    for _ in range(COMPROMISES):
        best = int(beats.sum(axis=1).argmax())
        yield int(front[best])
        beats &= ~beats[best]


def _not_beaten(columns: Sequence[Floats], one: Floats) -> NDArray[np.bool_]:
    """Rows that are better than one row in some cost, and those equal to it."""
    found = np.zeros(len(columns[0]), np.bool_)
    for column, cost in zip(columns, one, strict=True):
        found |= column < cost
    alike = np.flatnonzero(columns[0] == one[0])
    is_equal = [column[alike] == cost for column, cost in zip(columns, one, strict=True)]
    found[alike] |= np.logical_and.reduce(is_equal)
    return found


def _per_work(scores: Scores) -> Floats:
    return np.stack([scores.step_s / scores.work, scores.energy_per_work_j, scores.footprint_bytes])


def _kept(scores: Scores, top: int) -> Rows:
    """The fastest rows and the front of a batch. Each mapping may have a row for each plan, hence more than top."""
    costs = _per_work(scores)
    most = min(8 * top, costs.shape[1])
    fastest = np.argpartition(costs[0], most - 1)[:most] if most else np.zeros(0, np.intp)
    return np.union1d(fastest, pareto(costs))


def mfu(candidates: Candidates, scores: Scores, device: Device) -> Floats:
    """Matrix operations that the model needs over what all devices could do in the time of a step, shape (C,)."""
    workload = candidates.workload
    could = candidates.num_devices * device.matrix_flops_per_s(workload.precision) * scores.step_s
    return np.asarray(workload.flops_per_work * scores.work / could)


def _distinct(options: Iterator[Option], top: int) -> tuple[Option, ...]:
    """The first options, one a mapping: that of its best collectives."""
    found: dict[tuple[object, ...], Option] = {}
    for option in options:
        written = option.configuration
        key = (written.degrees, written.num_devices, written.recompute, written.zero, written.sequence_parallel)
        found.setdefault((*key, written.offload, written.schedule), option)
        if len(found) == top:
            break
    return tuple(found.values())
