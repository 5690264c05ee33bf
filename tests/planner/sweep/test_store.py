"""The store of finished cells."""

from pathlib import Path

import pytest

from planner.model.errors import InputError
from planner.sweep.store import Store, key_of
from planner.sweep.versions import code


def test_keys_follow_all_inputs() -> None:
    assert key_of(1, {"a": 1, "b": 2}) == key_of(1, {"b": 2, "a": 1}) != key_of(2, {"a": 1, "b": 2})
    assert {name for name in code() if ":" not in name} == {"photonplan", "ortools", "numpy"}


def test_a_store_that_cannot_be_made_is_bad_input(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="--results: cannot be made"):
        Store(tmp_path / "file" / "cells")
