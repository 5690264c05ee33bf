"""Cells on processes of this machine."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from planner.model.errors import InputError
from planner.sweep.types import CellT, Do, Finished, SharedT

MOST_DEATHS = 3
"""deaths of a worker between two finished cells, after which the run ends"""


def over_processes(
    do: Do[SharedT, CellT], shared: "SharedT", cells: "Sequence[CellT]", workers: int
) -> Finished[CellT]:
    """Cells as they finish; those of a process that died are run again."""
    missing = dict.fromkeys(cells)
    deaths = 0
    while missing:
        try:
            for cell, document in _of_one_pool(do, shared, list(missing), workers):
                del missing[cell]
                deaths = 0
                yield cell, document
        except BrokenProcessPool:
            deaths += 1
            if deaths == MOST_DEATHS:
                problem = f"a process died {deaths} times, which too little memory does; take fewer and run again"
                raise InputError("workers", str(workers), problem) from None


def _of_one_pool(do: Do[SharedT, CellT], shared: "SharedT", cells: "Sequence[CellT]", workers: int) -> Finished[CellT]:
    """Cells as they finish; every process is given what they share once, and none outlives the iterator."""
    others = set(multiprocessing.active_children())
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(min(workers, len(cells)), context, _begin, (do, shared))
    try:
        futures = {pool.submit(_do_here, cell): cell for cell in cells}
        for future in as_completed(futures):
            yield futures[future], future.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for worker in set(multiprocessing.active_children()) - others:
            worker.terminate()
        pool.shutdown(wait=True)


_here: list[Any] = []
"""what this process does, and what all cells share"""


def _begin(do: Any, shared: Any) -> None:
    """Ctrl-C is for the first process alone; a worker ends with it, however that ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _here[:] = [do, shared]
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
    os._exit(1)


def _do_here(cell: Any) -> Any:
    do, shared = _here
    return do(shared, cell, bool)
