"""Cells of a sweep on several processes."""

import os
from pathlib import Path

import pytest

from planner.model.errors import InputError
from planner.sweep.run import Where, run_cells
from planner.sweep.store import Store
from tests.planner.sweep import work
from tests.planner.sweep.run_cases import KEYS

SQUARES = {cell: cell * cell + 10 for cell in KEYS}


@pytest.mark.parametrize("workers", [1, 2])
def test_every_cell_is_done_once_and_kept(tmp_path: Path, workers: int) -> None:
    store, told = Store(tmp_path / "cells"), list[tuple[int, int, bool]]()
    store.save("key3", {"square": 19, "worker": 0})
    found = run_cells(
        work.square, 10, KEYS, store=store, where=Where(workers),
        on_cell=lambda done, total, left_s: told.append((done, total, left_s is None)),
    )  # fmt: skip
    assert {cell: document["square"] for cell, document in found.items()} == SQUARES
    assert list(found) == list(KEYS)
    assert found[3]["worker"] == 0
    assert ({document["worker"] for document in found.values()} - {0} == {os.getpid()}) == (workers == 1)
    assert told == [(1, 6, True), *((done, 6, False) for done in range(2, 7))]
    assert all(store.load(key) == found[cell] for cell, key in KEYS.items())
    assert not list((tmp_path / "cells").glob("*.part"))


def test_bad_input_found_by_a_worker_is_told() -> None:
    with pytest.raises(InputError, match=r"^file: field: is wrong in cell \d$"):
        run_cells(work.refuse, None, KEYS, store=None, where=Where(2))
