"""Candidates -> what they execute and run on: rows whose devices are alike but for their memory, in chunks."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from costmodel.fabrics import FabricBase, Split
from costmodel.hardware.device import Device
from costmodel.hardware.memory.columns import MemoryColumns
from costmodel.pricing.calibration import Calibrations
from costmodel.pricing.candidates import Candidates
from costmodel.pricing.opgraph import OpGraph
from costmodel.pricing.splits_together import groups_of, part_of

Rows = NDArray[np.integer[Any]] | slice
CHUNK = 1 << 16
"""rows priced at once: columns of more leave the cache, for fewer each shape of layers is priced again"""


@dataclass(frozen=True)
class Accelerators:
    """What some rows run on."""

    device: Device
    memory: MemoryColumns
    """of each row, or of all"""

    @classmethod
    def of(cls, device: Device) -> "Accelerators":
        """All alike."""
        return cls(device, MemoryColumns.of(device))


class RowsOnDevices(NamedTuple):
    """Some rows of candidates."""

    rows: Rows
    """their numbers"""
    candidates: Candidates
    """with their own mappings alone"""
    graph: OpGraph
    """what these execute"""
    own: Accelerators
    fabric: FabricBase
    """as they see it"""


def on_devices(
    candidates: Candidates, splits: Sequence[Split], calibrations: Calibrations | None
) -> Iterator[RowsOnDevices]:
    """All rows, each once, with the splits of their fabric: together where these differ in memory alone."""
    for group in groups_of(candidates, calibrations):
        first = splits[group.splits[0]]
        for rows in _chunks(candidates, group.splits):
            if group.is_table:
                part, graph, memory = part_of(candidates, rows, splits, calibrations)
                own = Accelerators(splits[int(part.split[0])].device, memory)
                yield RowsOnDevices(rows, part, graph, own, first.fabric)
            else:
                yield from _of_split(candidates, rows, first, calibrations)


def _of_split(
    candidates: Candidates, rows: Rows, split: Split, calibrations: Calibrations | None
) -> Iterator[RowsOnDevices]:
    """Rows of one split on its device, unless its memory is as fast as the share of their reads that a cache has."""
    part, graph = candidates.part(rows, split.device, calibrations)
    if split.cached is None:
        yield RowsOnDevices(rows, part, graph, Accelerators.of(split.device), split.fabric)
        return
    kept_bytes, at_random = graph.footprint_bytes[part.mapping], candidates.workload.reads_at_random
    hits = split.cached.hits(kept_bytes, at_random=at_random)
    numbers = np.arange(len(candidates))[rows]
    for hit in np.unique(hits):
        some, device = numbers[hits == hit], split.cached.at(float(hit))
        own = Accelerators.of(device)
        yield RowsOnDevices(some, *candidates.part(some, device, calibrations), own, split.fabric)


def _chunks(candidates: Candidates, splits: Sequence[int]) -> Iterator[Rows]:
    """Rows of some splits, a cacheful at a time; slices where they stand together."""
    rows = np.flatnonzero(np.isin(candidates.split, splits))
    for start in range(0, len(rows), CHUNK):
        chunk = rows[start : start + CHUNK]
        is_run = chunk[-1] - chunk[0] == len(chunk) - 1
        yield slice(int(chunk[0]), int(chunk[-1]) + 1) if is_run else chunk
