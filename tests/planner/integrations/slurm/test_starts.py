"""A prolog that fails and names no part: counted, put off, told, and in the end the job is ended."""

from collections.abc import Iterator
from itertools import pairwise

import pytest

from planner.integrations.slurm import hooks
from planner.integrations.slurm.allocations import AllocationStore
from planner.integrations.slurm.starts import troubles
from tests.planner.integrations.slurm.any_acts import Cluster
from tests.planner.integrations.slurm.fake import FakeJob


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    monkeypatch.setattr(hooks, "BUSY_WAIT_S", 0.0)
    cluster = Cluster()
    (cluster.state / "driver" / "faults.json").write_text("no JSON")
    cluster.slurm.submit(7, 2, (2, 2))
    yield cluster
    cluster.close()


def seconds(made: Cluster, count: int) -> list[float]:
    """So many pass, Slurm starts what it may and after a failure waits 6 s by itself; when job 7 was started."""
    began, job = [], made.slurm.jobs_by_number[7]
    slurm_waits_until = 0.0
    for _ in range(count):
        made.tick()
        before = job.restarts
        if not job.delays and made.now_s >= slurm_waits_until:
            job.is_put_off = False
        if made.slurm.start(7):
            began.append(made.now_s)
        for _ in range(2):
            if job.holds:
                made.slurm.go_on(7)
        if job.restarts > before:
            slurm_waits_until = made.now_s + 6.0
    return began


def ended(made: Cluster) -> FakeJob:
    job = made.slurm.jobs_by_number[7]
    assert job.state == "CANCELLED"
    return job


def test_it_is_tried_ever_later_and_then_ended(made: Cluster) -> None:
    began = seconds(made, 90)
    assert 3 <= len(began) <= 7
    pauses = [later - sooner for sooner, later in pairwise(began)]
    assert pauses == sorted(pauses)
    job = made.slurm.jobs_by_number[7]
    assert f"circuits could not be connected, tried {len(began)} times, at most 8 times" in job.admin_comment
    assert "faults.json lists no parts" in job.admin_comment
    (line,) = troubles(made.loop.observe(), 8)
    assert line.startswith(f"job 7: circuits could not be connected, tried {len(began)} times")
    began += seconds(made, 400)
    assert len(began) == 8
    assert "tried 8 times, it was ended" in ended(made).admin_comment
    made.tick()
    assert not AllocationStore(made.state, made.bindings).all()
    assert not made.controller.view().failed


@pytest.mark.slow
def test_no_death_forgets_a_try(made: Cluster) -> None:
    began = []
    while made.slurm.jobs_by_number[7].state == "PENDING" or not began:
        began += seconds(made, 10)
        made.kill_daemon()
        assert len(began) < 20
    assert len(began) == 8
    ended(made)


def test_a_start_that_works_ends_the_count(made: Cluster) -> None:
    began = seconds(made, 40)
    (made.state / "driver" / "faults.json").write_text("[]")
    job = made.slurm.jobs_by_number[7]
    for _ in range(80):
        made.moment(0)
        if job.state == "RUNNING":
            break
    made.tick()
    made.tick()
    assert len(began) > 2
    assert (job.state, AllocationStore(made.state, made.bindings).all()[7].tries) == ("RUNNING", 0)
    assert "why=" not in job.admin_comment
    assert not list(troubles(made.loop.observe(), 8))
