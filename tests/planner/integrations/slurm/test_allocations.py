"""Locks: what two jobs never have, and files that a death leaves."""

import stat
from pathlib import Path
from typing import Any

import pytest

from planner.integrations.slurm.allocations import Allocation, AllocationStore, Order
from planner.integrations.slurm.hooks import circuits_file
from planner.model.errors import InputError

USER = 12345


def circuits(fiber: str, wavelength: int) -> list[dict[str, Any]]:
    one = {"from": "s0.t0", "to": "s1.t0", "wavelengths": [wavelength], "fibers": [fiber]}
    return [{"dimension": "data", "circuits": [one]}]


@pytest.fixture
def store(tmp_path: Path) -> AllocationStore:
    (tmp_path / "state").mkdir(mode=0o700)
    (tmp_path / "bindings").mkdir()
    return AllocationStore(tmp_path / "state", tmp_path / "bindings")


def test_a_telling_is_written_and_forgotten(
    store: AllocationStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    owners: list[tuple[int, int]] = []
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setattr("os.fchown", lambda file, user, group: owners.append((user, group)))
    allocation = Allocation({"n0": (5, 2), "n1": (0, 1)}, circuits("s0>s1#0", 3), restarts=2)
    store.tell(7, allocation, USER)
    assert store.all() == {7: allocation}
    assert store.all()[7].restarts == 2
    binding = tmp_path / "bindings" / "7.n0"
    assert binding.read_text() == "5,2\n"
    assert stat.S_IMODE(binding.stat().st_mode) == 0o400
    assert owners.count((USER, -1)) == 2
    assert circuits_file(tmp_path / "state", 7).exists()
    store.forget(7)
    store.forget(7)
    assert store.all() == {}
    assert not list((tmp_path / "bindings").iterdir())
    assert not circuits_file(tmp_path / "state", 7).exists()


@pytest.mark.parametrize(
    ("other", "problem"),
    [
        (Allocation({"n1": (1, 2)}, []), "n1/1 is locked for job 7"),
        (Allocation({"n2": (1,)}, circuits("s0>s1#0", 3)), "is locked for job 7"),
    ],
)
def test_two_jobs_never_have_the_same(store: AllocationStore, other: Allocation, problem: str) -> None:
    store.tell(7, Allocation({"n0": (0, 1), "n1": (0, 1)}, circuits("s0>s1#0", 3)), USER)
    with pytest.raises(ValueError, match=problem):
        store.tell(8, other, USER)
    assert list(store.all()) == [7]
    store.tell(8, Allocation({"n1": (2, 3)}, []), USER)


def test_a_digest_is_of_the_place_alone() -> None:
    allocation = Allocation({"n0": (0, 1)}, [])
    assert allocation.digest == Allocation({"n0": (0, 1)}, [], restarts=4, leaves=True).digest
    others = [
        Allocation({"n0": (1, 0)}, []),
        Allocation({"n1": (0, 1)}, []),
        Allocation({"n0": (0, 1)}, circuits("s0>s1#0", 0)),
    ]
    assert len({allocation.digest, *(other.digest for other in others)}) == 4


def test_files_without_a_lock_are_swept(store: AllocationStore, tmp_path: Path) -> None:
    """The process died between two files."""
    bindings = tmp_path / "bindings"
    for name in ("9.n0", "8.n1", "task_prolog.sh"):
        (bindings / name).write_text("0\n")
    store.keep(8, Allocation({"n1": (0,)}, []))
    circuits_file(tmp_path / "state", 9).write_text("[]")
    store.sweep()
    assert sorted(path.name for path in bindings.iterdir()) == ["8.n1", "task_prolog.sh"]
    assert not circuits_file(tmp_path / "state", 9).exists()


def test_damaged_files_are_named(store: AllocationStore, tmp_path: Path) -> None:
    (tmp_path / "state" / "jobs" / "7.json").write_text("{}")
    with pytest.raises(InputError, match=r"7\.json.*is damaged"):
        store.all()
    (tmp_path / "state" / "reports" / "7.json").write_text("[")
    assert store.reports()[7].part is None


def test_orders_come_in_turn(store: AllocationStore) -> None:
    for part in ("s0>s1#0", "s1.t0"):
        store.order(Order("fail", part))
    assert [order.part for _, order in store.orders()] == ["s0>s1#0", "s1.t0"]


def test_a_damaged_lock_still_locks(store: AllocationStore, tmp_path: Path) -> None:
    """What the job has is known from its bindings and circuits; the planner stops it where it can."""
    store.tell(7, Allocation({"n0": (5, 2)}, circuits("s0>s1#0", 3)), USER)
    lock = tmp_path / "state" / "jobs" / "7.json"
    lock.write_text("{")
    anew = AllocationStore(tmp_path / "state", tmp_path / "bindings")
    assert anew.sweep() == [lock.with_suffix(".damaged")]
    assert lock.with_suffix(".damaged").read_text() == "{"
    assert anew.all() == {7: Allocation({"n0": (5, 2)}, circuits("s0>s1#0", 3), leaves=True)}
    for other in (Allocation({"n0": (2,)}, []), Allocation({"n1": (0,)}, circuits("s0>s1#0", 3))):
        with pytest.raises(ValueError, match="is locked for job 7"):
            anew.tell(8, other, USER)
    assert anew.sweep() == []
    anew.forget(7)
    assert anew.all() == {}
