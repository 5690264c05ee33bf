"""Candidates of several serving jobs in one table: found and priced at once, then divided among the jobs."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from costmodel.fabrics import FabricBase
from costmodel.hardware.device import Device
from costmodel.pricing.candidates import Candidates, enumerate_candidates
from costmodel.pricing.limits import Limits
from costmodel.pricing.score import Scores, score
from costmodel.workloads import TransformerInference, Workload
from costmodel.workloads.transformer.joined_serving import JoinedServing, joining_key

Sizes = Sequence[int]
Asked = tuple[Workload, Sizes]


def listed_together(
    asked: Sequence[Asked], device: Device, fabric: FabricBase, limits: Limits
) -> Iterator[tuple[int, Candidates, Scores]]:
    """Number, candidates and scores of those jobs that can be joined with others, each as if it were alone.

    Where a job chooses how much I/O goes to memory, choices may be its own, and tables are large.
    """
    for alike in _joinable(asked).values():
        if len(alike) > 1 and len(fabric.splits(device, asked[alike[0]][0])) == 1:
            jobs = [job for number in alike if isinstance(job := asked[number][0], TransformerInference)]
            sizes = [asked[number][1] for number in alike]
            yield from zip(alike, *_priced(jobs, sizes, device, fabric, limits), strict=True)


def _joinable(asked: Sequence[Asked]) -> dict[str, list[int]]:
    """Numbers of the jobs by their key."""
    alike = dict[str, list[int]]()
    for number, (job, _) in enumerate(asked):
        if isinstance(job, TransformerInference) and (key := joining_key(job)):
            alike.setdefault(key, []).append(number)
    return alike


def _priced(
    jobs: Sequence[TransformerInference], sizes: Sequence[Sizes], device: Device, fabric: FabricBase, limits: Limits
) -> tuple[list[Candidates], list[Scores]]:
    together = JoinedServing.of(jobs)
    mappings = together.joined_mappings(sizes)
    found = enumerate_candidates(
        together, (), device, fabric, one_server=limits.one_server, per_server=limits.per_server,
        collective=limits.collective, mappings=mappings,
    )  # fmt: skip
    scores = score(found, device, fabric)
    ends = range(len(jobs) + 1)
    of_mappings = np.searchsorted(found.mappings.job, ends)
    of_rows = np.searchsorted(found.mapping, of_mappings).tolist()
    rows, of_jobs = _runs(of_rows), _runs(of_mappings.tolist())
    own = [_own(found, *each) for each in zip(jobs, rows, of_jobs, strict=True)]
    return own, [scores.take(each) for each in rows]


def _runs(ends: Sequence[int]) -> list[slice]:
    return [slice(start, end) for start, end in pairwise(ends)]


def _own(found: Candidates, job: TransformerInference, rows: slice, of_job: slice) -> Candidates:
    """Rows of one job, with its mappings alone: those of a job stand together."""
    own, mappings = found.take(rows), found.mappings.take(of_job)
    mapping = own.mapping - own.mapping.dtype.type(of_job.start)
    return replace(own, workload=job, mappings=replace(mappings, job=np.zeros_like(mappings.job)), mapping=mapping)
