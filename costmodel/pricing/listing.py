"""Candidates of a job with their scores: all that its workload and its user's limits leave."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from costmodel.fabrics import FabricBase
from costmodel.hardware.device import Device
from costmodel.pricing.candidates import Candidates, enumerate_candidates
from costmodel.pricing.limits import ANYWHERE, Limits, within_limits
from costmodel.pricing.listed_together import listed_together, scored
from costmodel.pricing.recently import Recently
from costmodel.pricing.score import Scores
from costmodel.workloads import Workload

Priced = tuple[Candidates, Scores]


def listed_and_priced(
    workload: Workload, sizes: Sequence[int], device: Device, fabric: FabricBase, limits: Limits = ANYWHERE
) -> Priced:
    """Every candidate on each size that fits in memory and meets all limits, those of the workload too."""
    return within_limits(*priced(workload, sizes, device, fabric, limits))


def priced(workload: Workload, sizes: Sequence[int], device: Device, fabric: FabricBase, limits: Limits) -> Priced:
    """Every candidate on each size that fits in memory, whatever its users wait. Found once for all who ask the same:
    nobody may change its arrays."""
    question = _question(workload, sizes, device, fabric, limits)
    return _RECENT.of(question, lambda: _fixed(_priced(question)))


def price_together(
    asked: Sequence[tuple[Workload, Sequence[int]]], device: Device, fabric: FabricBase, limits: Limits
) -> None:
    """Finds what `priced` will be asked of each workload and its sizes, at once for serving jobs that are much alike:
    tables of a few rows take hardly longer together than each of them alone."""
    questions = (_question(workload, sizes, device, fabric, limits) for workload, sizes in asked)
    new = [question for question in questions if question not in _RECENT]
    jobs = [(question.parts[0], question.sizes) for question in new]
    for number, candidates, scores in listed_together(jobs, device, fabric, limits):
        _RECENT.keep(new[number], _fixed((candidates, scores)))


@dataclass(frozen=True)
class _Question:
    """All that candidates and their scores depend on, by its text; the objects come along."""

    text: str
    sizes: tuple[int, ...]
    limits: Limits
    parts: tuple[Workload, Device, FabricBase] = field(compare=False)


_RECENT = Recently[_Question, Priced](64)


def _question(
    workload: Workload, sizes: Sequence[int], device: Device, fabric: FabricBase, limits: Limits
) -> _Question:
    parts = workload, device, fabric
    return _Question("\n".join(part.model_dump_json() for part in parts), tuple(sizes), limits, parts)


def _priced(question: _Question) -> Priced:
    (workload, device, fabric), limits = question.parts, question.limits
    found = enumerate_candidates(
        workload,
        question.sizes,
        device,
        fabric,
        one_server=limits.one_server,
        per_server=limits.per_server,
        collective=limits.collective,
        servers_by_rack=limits.servers_by_rack,
    )
    return scored(found, device, fabric, limits)


def _fixed(priced: Priced) -> Priced:
    """The same; nobody can change it."""
    for columns in (*priced, priced[0].mappings):
        for column in vars(columns).values():
            if isinstance(column, np.ndarray):
                column.flags.writeable = False
    return priced
