"""Candidates of a job with their scores: all that its workload and its user's limits leave."""

from collections.abc import Sequence
from hashlib import blake2b
from typing import NamedTuple

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
    question = _Question.of(workload, sizes, device, fabric, limits)
    return _RECENT.of(question, lambda: _fixed(_priced(workload, sizes, device, fabric, limits)))


def price_together(
    asked: Sequence[tuple[Workload, Sequence[int]]], device: Device, fabric: FabricBase, limits: Limits
) -> None:
    """Finds what `priced` will be asked of each workload and its sizes, at once for serving jobs that are much alike:
    tables of a few rows take hardly longer together than each of them alone."""
    questions = [_Question.of(workload, sizes, device, fabric, limits) for workload, sizes in asked]
    new = [number for number, question in enumerate(questions) if question not in _RECENT]
    for number, candidates, scores in listed_together([asked[i] for i in new], device, fabric, limits):
        _RECENT.keep(questions[new[number]], _fixed((candidates, scores)))


class _Question(NamedTuple):
    """All that candidates and their scores depend on."""

    digest: bytes
    """of the texts of workload, device and fabric, which may be long"""
    sizes: tuple[int, ...]
    limits: Limits

    @classmethod
    def of(
        cls, workload: Workload, sizes: Sequence[int], device: Device, fabric: FabricBase, limits: Limits
    ) -> "_Question":
        texts = "\n".join(part.model_dump_json() for part in (workload, device, fabric))
        return cls(blake2b(texts.encode()).digest(), tuple(sizes), limits)


def _rows_kept(priced: Priced) -> int:
    """An empty table takes as much memory as one of some rows."""
    return 30 + len(priced[0])


_RECENT = Recently[_Question, Priced](64, most_weight=100_000, weigh=_rows_kept)
"""64 of any size, and small ones beside them, as many as take some 40 MB"""


def _priced(workload: Workload, sizes: Sequence[int], device: Device, fabric: FabricBase, limits: Limits) -> Priced:
    found = enumerate_candidates(
        workload,
        sizes,
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
