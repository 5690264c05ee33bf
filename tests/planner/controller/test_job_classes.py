"""Kinds of jobs are asked for by several threads, by what their candidates depend on, and take bounded memory."""

import gc
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from costmodel.collectives.limits import Limits
from costmodel.collectives.plan import CollectivePlan
from planner.controller import Controller, Settings
from planner.controller.job_classes import JobClasses
from planner.controller.sizes import num_bytes
from planner.fabrics.job_class import JobClass, Option
from planner.model.errors import FullError
from tests.planner.controller.sites import request
from tests.planner.simulate.grounds import BERT, cluster

NAME = "kind"


def unwritten(name: str) -> str:
    raise AssertionError(f"{name} is in no journal")


def distinct(number: int, accelerators: Any = 2, **changes: Any) -> Any:
    """A job that asks for what no other does."""
    return request(f"j{number}", accelerators, utility="step", step_at=0.5 + number * 1e-6, **changes)


def bounded(most_bytes: float, path: Path | str = ":memory:") -> Controller:
    rules = {"kinds_memory": most_bytes, "greedy_budget_s": 60, "repair_budget_s": 0, "snapshot_every": 20,
             "keep_events": 20}  # fmt: skip
    return Controller(cluster("lightpath"), path, Settings.model_validate(rules))


@pytest.fixture
def expanded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of jobs that are expanded for real, nothing is shared between controllers."""
    found: list[str] = []
    method: Any = JobClasses.__dict__["_rows"]
    real: Callable[[JobClasses, Any], tuple[Option, ...]] = getattr(method, "_method", method)

    def rows(kinds: JobClasses, job: Any) -> tuple[Option, ...]:
        found.append(job.name)
        return real(kinds, job)

    monkeypatch.setattr(JobClasses, "_rows", rows)
    return found


def test_a_kind_is_whole_as_soon_as_others_see_it() -> None:
    seen, kinds = list[Any](), JobClasses(cluster("lightpath"), 1e9, set, unwritten)

    class Watched(dict[str, JobClass]):
        """Asks as another thread would, once a kind is there."""

        def __setitem__(self, name: str, kind: JobClass) -> None:
            super().__setitem__(name, kind)
            seen.append(len(kinds.limited(name, 1, 0).rows))

    kinds._kinds = Watched()
    kinds.expand(request("a", [1, 2]))
    assert [number > 0 for number in seen] == [True]
    assert kinds.num_bytes > 0


def test_of_a_kind_that_is_asked_about_no_row_is_worked_out(expanded: list[str]) -> None:
    kinds = JobClasses(cluster("lightpath"), 1e9, set, unwritten)
    asked = request("a", 8)
    name = kinds.list(asked)
    rows = kinds[name].rows
    assert rows
    assert not any("layouts" in vars(row) or "boundary" in vars(row.shape) for row in rows)
    assert kinds.limited(name, 100, 100) is kinds[name]
    kinds.count()
    listed_bytes = kinds.num_bytes
    assert kinds.expand(asked) == name
    assert kinds[name].rows == rows
    assert all("boundary" in vars(row.shape) for row in rows)
    assert kinds.num_bytes > 1.5 * listed_bytes > 0
    assert len(expanded) == 1


def test_jobs_that_differ_in_weight_are_of_one_kind(expanded: list[str]) -> None:
    """Rows have the value of weight 1; plans have that of the job."""
    with bounded(1e9) as controller:
        for number in range(10):
            controller.submit(request(f"j{number}", 2, weight=1 + number * 1e-6))
        assert len(expanded) == 1
        found = controller.plan()
        assert found is not None
        values = [assignment.value for assignment in found[1].assignments]
        assert values == pytest.approx([values[0] * (1 + number * 1e-6) for number in range(10)], rel=1e-12)
        assert len(set(values)) == 10
        assert controller.check() == []


def test_weight_is_kept_over_a_restart(tmp_path: Path) -> None:
    with bounded(1e9, tmp_path / "journal.db") as controller:
        controller.submit(request("heavy", 2, weight=7.5))
        state = controller.state()
    with Controller(journal=tmp_path / "journal.db") as again:
        assert again.state() == state
        assert again.job("heavy").request.weight == 7.5


@pytest.mark.slow
def test_memory_is_flat_over_events_of_distinct_requests(expanded: list[str], tmp_path: Path) -> None:
    """Requests that come and go, each of a kind of its own: kinds, and what goes by their rows, are forgotten."""
    taken = list[int]()
    with bounded(1e9) as measured:
        measured.submit(distinct(0))
        size = measured._durable.kinds.num_bytes
    with bounded(6 * size, tmp_path / "journal.db") as controller:
        gc.freeze()
        tracemalloc.start()
        try:
            for number in range(90):
                controller.submit(distinct(number))
                if number >= 2:
                    controller.cancel(f"j{number - 2}")
                assert controller._durable.kinds.num_bytes <= 6 * size * 1.1
                gc.collect()
                taken.append(tracemalloc.get_traced_memory()[0])
            live = sum(isinstance(each, JobClass) for each in gc.get_objects())
        finally:
            tracemalloc.stop()
            gc.unfreeze()
        assert controller.check() == []
        assert len(expanded) >= 90
    assert live <= 12
    assert max(taken[-30:]) - max(taken[30:-30]) < 0.25 * size, "memory grows with the number of requests"


def test_a_kind_that_finds_no_memory_is_refused_for_now(expanded: list[str]) -> None:
    with bounded(1e9) as measured:
        measured.submit(distinct(0))
        size = measured._durable.kinds.num_bytes
    with bounded(2.5 * size) as controller:
        for number in range(2):
            controller.submit(distinct(number))
        before = controller.state(), controller.seq
        for call in (controller.submit, controller.prepare):
            with pytest.raises(FullError, match="2 kinds of jobs wait or run, and leave no memory for another one"):
                call(distinct(2))
        assert (controller.state(), controller.seq) == before
        assert controller._durable.kinds.num_bytes <= 2.5 * size
        assert distinct(2) not in controller._durable.kinds
        controller.submit(request("again", 2, utility="step", step_at=0.5))
        controller.cancel("j1")
        assert controller.submit(distinct(2))
        with pytest.raises(FullError):
            controller.submit_all([distinct(number) for number in range(3, 9)])


def test_what_cannot_be_forgotten_is_not_looked_at_at_every_event() -> None:
    """A kind in use that is larger than all memory: to make the state anew would free nothing."""
    with bounded(1000) as controller:
        controller.submit(request("a", 2))
        state = controller._durable.state
        for number in range(3):
            controller.submit(request(f"b{number}", 2))
        assert controller._durable.state is state
        controller.cancel("a")
        for number in range(3):
            controller.cancel(f"b{number}")
        controller.submit(request("other", 4))
        assert len(controller._durable.kinds._kinds) == 1, "what nobody needs is forgotten as before"


def test_a_forgotten_kind_comes_back_from_the_journal(expanded: list[str], tmp_path: Path) -> None:
    """Decisions of before are told although what they name was forgotten."""
    with bounded(1e9) as measured:
        measured.submit(distinct(0))
        size = measured._durable.kinds.num_bytes
    with bounded(2.5 * size, tmp_path / "journal.db") as controller:
        told = [controller.submit(distinct(0), key="k0")[0].body()]
        controller.cancel("j0")
        for number in range(1, 4):
            controller.submit(distinct(number))
            controller.cancel(f"j{number}")
        expanded.clear()
        assert [decision.body() for decision in controller.decided(0, 1)[0].decisions] == told
        assert [decision.body() for decision in controller.submit(distinct(0), key="k0")] == told
        assert len(expanded) == 1


def test_bytes_are_counted_once_and_not_of_what_all_share() -> None:
    one = bytes(10_000)
    assert 10_000 < num_bytes([one]) < 10_500
    assert 10_000 < num_bytes([one, one, {"a": one}]) < 11_000
    ring = CollectivePlan("all_reduce", "ring", 64, Limits(16, 4, 1e-6, 1e-6, 1e9), (), (1,), (16,))
    assert sum(map(len, ring.configurations())) >= 64
    assert num_bytes([request("a"), JobClass, ring]) < 200
    assert BERT
