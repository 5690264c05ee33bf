"""The golden record names what ships, and a small part of it holds. All: `python tests/golden/record.py --check`."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.golden import record

RECORD = Path(record.__file__)


def test_record_names_what_is_run() -> None:
    recorded = {name.split(": ")[0] for name in record.read()}
    assert recorded == set(record.all_units()), "units changed; run python tests/golden/record.py"


def test_quick_part_touches_every_group_and_fabric() -> None:
    quick = [unit for unit in record.all_units().values() if unit.is_quick]
    assert {unit.group for unit in quick} == set(record.GROUPS)
    for fabric in ("fat_tree", "memory_ring", "divided_ports", "lightpath", "ocs_rail", "torus", "sipac", "sipam"):
        assert {unit.group for unit in quick if fabric in unit.name} >= {"plans", "answers", "control"}, fabric


@pytest.mark.slow
def test_small_part_is_as_recorded() -> None:
    found = subprocess.run(
        [sys.executable, RECORD, "--check", "--only", "lumorph/golden"], capture_output=True, text=True
    )
    assert (found.returncode, found.stdout) == (0, ""), found.stderr


def test_unlike_entries_are_told() -> None:
    assert record.differences({"a": "1", "b": "2"}, {"b": "3", "c": "4"}) == ["is gone: a", "differs: b", "is new: c"]
