"""Cells that nobody has run yet, one after the other, on processes or on Ray; same documents wherever they run."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from planner.model.interrupts import noting_interrupts
from planner.sweep.store import Document, Store
from planner.sweep.types import CellT, Do, Finished, SharedT

OnCell = Callable[[int, int, float | None], None]
"""(cells finished, all cells, seconds left or None while unknown)"""


@dataclass(frozen=True)
class Where:
    """Where cells run."""

    workers: int = 1
    """processes"""
    ray: str | None = None
    """a Ray cluster instead: auto, local, or host:port"""
    cores: int = 1
    """that a cell takes on Ray"""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C; `found` has the documents of the cells that are finished, of `total`; the text is for people."""

    def __init__(self, found: dict[Any, Document], total: int, *, is_kept: bool) -> None:
        super().__init__(f"stopped: {len(found)} of {total} are done{'; the same command resumes' if is_kept else ''}")
        self.found = found


def run_cells(
    do: Do[SharedT, CellT],
    shared: SharedT,
    keys: Mapping[CellT, str],
    *,
    store: Store | None,
    where: Where | None = None,
    on_cell: OnCell | None = None,
) -> dict[CellT, Document]:
    """Document of every cell in the order of `keys`, those from the store that are there already.

    After Ctrl-C what is finished is in the store and in `Interrupted`.
    """
    known = {cell: store.load(key) if store is not None else None for cell, key in keys.items()}
    found = {cell: document for cell, document in known.items() if document is not None}
    missing = [cell for cell in keys if cell not in found]
    tell = on_cell or (lambda done, total, left_s: None)
    started = time.perf_counter()
    try:
        tell(len(found), len(keys), None)
        with closing(_run(do, shared, missing, where or Where())) as finished:
            for number, (cell, document) in enumerate(finished, start=1):
                if store is not None:
                    store.save(keys[cell], document)
                found[cell] = json.loads(json.dumps(document))
                left_s = (time.perf_counter() - started) / number * (len(missing) - number)
                tell(len(found), len(keys), left_s)
    except KeyboardInterrupt:
        done = {cell: found[cell] for cell in keys if cell in found}
        raise Interrupted(done, len(keys), is_kept=store is not None) from None
    return {cell: found[cell] for cell in keys}


def _run(do: Do[SharedT, CellT], shared: SharedT, cells: Sequence[CellT], where: Where) -> Finished[CellT]:
    """Cells as they finish."""
    if where.ray is not None and cells:
        from planner.sweep.over_ray import over_ray

        return over_ray(do, shared, cells, where.ray, where.cores)
    if where.workers == 1 or len(cells) < 2:
        return _one_by_one(do, shared, cells)
    from planner.sweep.processes import over_processes

    return over_processes(do, shared, cells, where.workers)


def _one_by_one(do: Do[SharedT, CellT], shared: SharedT, cells: Sequence[CellT]) -> Finished[CellT]:
    """A cell that Ctrl-C cut short is dropped, whether or not it noticed."""
    with noting_interrupts() as is_asked:
        for cell in cells:
            document = do(shared, cell, is_asked)
            if is_asked():
                raise KeyboardInterrupt
            yield cell, document
