"""Candidates of several serving jobs in one table: found and priced at once, then divided among the jobs."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from costmodel.fabrics import FabricBase, Split
from costmodel.hardware.device import Device
from costmodel.pricing.candidates import Candidates, Ints, enumerate_candidates
from costmodel.pricing.limits import Limits
from costmodel.pricing.phases import with_phases
from costmodel.pricing.score import Scores, score
from costmodel.workloads import TransformerInference, Workload
from costmodel.workloads.transformer.joined_serving import JoinedServing, joining_key

Sizes = Sequence[int]
Asked = tuple[Workload, Sizes]
Priced = tuple[Candidates, Scores]
MOST_OF_SPLITS = 1 << 14
"""accelerators of all sizes of all jobs, times splits of the I/O, that one table has: about as many rows"""


def listed_together(
    asked: Sequence[Asked], device: Device, fabric: FabricBase, limits: Limits
) -> Iterator[tuple[int, Candidates, Scores]]:
    """Number, candidates and scores of those jobs that can be joined with others, each as if it were alone.

    Where a job chooses how much I/O goes to memory, tables of many jobs are large: these are found in several.
    """
    for alike in _joinable(asked).values():
        number = len(fabric.splits(device, asked[alike[0]][0]))
        for some in _tables(alike, [number * sum(sizes) for _, sizes in asked], number):
            jobs = [job for each in some if isinstance(job := asked[each][0], TransformerInference)]
            sizes = [asked[each][1] for each in some]
            if len(some) > 1:
                priced = _priced(jobs, sizes, device, fabric, limits)
                yield from ((each, *one) for each, one in zip(some, priced, strict=True))


def scored(found: Candidates, device: Device, fabric: FabricBase, limits: Limits) -> Priced:
    """Candidates with their prices, and where they may change their setting between phases those that do."""
    return (found, score(found, device, fabric)) if limits.one_setting else with_phases(found, device, fabric)


def _joinable(asked: Sequence[Asked]) -> dict[str, list[int]]:
    """Numbers of the jobs by their key."""
    alike = dict[str, list[int]]()
    for number, (job, _) in enumerate(asked):
        if isinstance(job, TransformerInference) and (key := joining_key(job)):
            alike.setdefault(key, []).append(number)
    return alike


def _tables(jobs: Sequence[int], rows: Sequence[int], splits: int) -> Iterator[list[int]]:
    """Jobs of each table, by about how many rows each job has."""
    some, number = list[int](), 0
    for job in jobs:
        if some and splits > 1 and number + rows[job] > MOST_OF_SPLITS:
            yield some
            some, number = [], 0
        some.append(job)
        number += rows[job]
    yield some


def _priced(
    jobs: Sequence[TransformerInference], sizes: Sequence[Sizes], device: Device, fabric: FabricBase, limits: Limits
) -> Iterator[Priced]:
    together = JoinedServing.of(jobs)
    mappings = together.joined_mappings(sizes)
    found = enumerate_candidates(
        together, (), device, fabric, one_server=limits.one_server, per_server=limits.per_server,
        collective=limits.collective, servers_by_rack=limits.servers_by_rack, mappings=mappings,
    )  # fmt: skip
    found, scores = scored(found, device, fabric, limits)
    of = found.mappings.job[found.mapping]
    for number, job in enumerate(jobs):
        rows = np.flatnonzero(of == number)
        own, splits = found.take(rows), fabric.splits(device, job)
        if len(splits) < len(found.splits):
            place = _places(found.splits, splits)
            is_own = np.logical_and(*(place[each.split] >= 0 for each in (own.in_first_phase(), own.in_last_phase())))
            rows, own = rows[is_own], _renumbered(own.take(is_own), place, tuple(splits))
        yield _alone(own, job), scores.take(rows)


def _places(splits: Sequence[Split], own: Sequence[Split]) -> Ints:
    """Of each split its number among a job's own; -1 where it is none of them."""
    number = {(each.memory_units, each.memory_io, each.tier_units): place for place, each in enumerate(own)}
    every = ((each.memory_units, each.memory_io, each.tier_units) for each in splits)
    return np.array([number.get(each, -1) for each in every], np.int32)


def _renumbered(rows: Candidates, place: Ints, splits: tuple[Split, ...]) -> Candidates:
    first = None if rows.first_split is None else place[rows.first_split]
    return replace(rows, split=place[rows.split], splits=splits, first_split=first)


def _alone(rows: Candidates, job: TransformerInference) -> Candidates:
    """Rows of one job, with its mappings alone."""
    used, mapping = np.unique(rows.mapping, return_inverse=True)
    mappings = rows.mappings.take(used)
    mappings = replace(mappings, job=np.zeros_like(mappings.job))
    return replace(rows, workload=job, mappings=mappings, mapping=mapping.astype(rows.mapping.dtype))
