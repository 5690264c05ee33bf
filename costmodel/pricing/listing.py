"""Candidates of a job with their scores: all that its workload and its user's limits leave."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from costmodel.fabrics import FabricBase
from costmodel.hardware.device import Device
from costmodel.pricing.candidates import Candidates, enumerate_candidates
from costmodel.pricing.limits import ANYWHERE, Limits, within_limits
from costmodel.pricing.phases import with_phases
from costmodel.pricing.score import Scores, score
from costmodel.workloads import Workload


def listed_and_priced(
    workload: Workload, sizes: Sequence[int], device: Device, fabric: FabricBase, limits: Limits = ANYWHERE
) -> tuple[Candidates, Scores]:
    """Every candidate on each size that fits in memory and meets all limits, those of the workload too."""
    return within_limits(*priced(workload, sizes, device, fabric, limits))


def priced(
    workload: Workload, sizes: Sequence[int], device: Device, fabric: FabricBase, limits: Limits
) -> tuple[Candidates, Scores]:
    """Every candidate on each size that fits in memory, whatever its users wait. Found once for all who ask the same:
    nobody may change its arrays."""
    text = "\n".join(part.model_dump_json() for part in (workload, device, fabric))
    return _priced(_Question(text, tuple(sizes), limits, (workload, device, fabric)))


@dataclass(frozen=True)
class _Question:
    """All that candidates and their scores depend on, by its text; the objects come along."""

    text: str
    sizes: tuple[int, ...]
    limits: Limits
    parts: tuple[Workload, Device, FabricBase] = field(compare=False)


@lru_cache(maxsize=64)
def _priced(question: _Question) -> tuple[Candidates, Scores]:
    (workload, device, fabric), limits = question.parts, question.limits
    found = enumerate_candidates(
        workload,
        question.sizes,
        device,
        fabric,
        one_server=limits.one_server,
        per_server=limits.per_server,
        collective=limits.collective,
    )
    priced = (found, score(found, device, fabric)) if limits.one_setting else with_phases(found, device, fabric)
    for columns in (*priced, priced[0].mappings):
        for column in vars(columns).values():
            if isinstance(column, np.ndarray):
                column.flags.writeable = False
    return priced
