"""What becomes of jobs when a part fails, by hand; and nothing of the accelerator-time is lost from sight."""

from math import isnan

import pytest

from planner.placement.job_classes import Site
from planner.simulate.recovery import RESPONSES, Response
from planner.whatif.fault_log import LinkedFault
from tests.planner.simulate.fault_cases import END_S, figures, run, site
from tests.planner.simulate.grounds import FABRICS


def _server(number: int, letter: str = "g") -> tuple[str, ...]:
    return tuple(f"s{number}.{letter}{slot}" for slot in range(8))


@pytest.fixture(scope="module")
def two() -> Site:
    return site("fat_tree", 2, [4, 8, 16])


@pytest.fixture(scope="module")
def three() -> Site:
    return site("fat_tree", 3, [4, 8, 16])


def test_an_evicted_job_loses_work_and_comes_back_where_there_is_room(two: Site) -> None:
    """Of 100 s 60 are in a checkpoint; 30 s pass before it goes on, with 940 to do."""
    done = run(two, [(0.0, 1000.0, 8)], [LinkedFault(_server(0), 100.0, 400.0)], "requeue")
    assert done.log.finish_s[0] == 100 + 30 + 940
    assert figures(done) == {
        "evictions": 1, "restarts": 1, "moved_accelerators": 0, "used_h": 8 * (1070 - 70), "wasted_h": 8 * 70,
        "idle_h": 16 * END_S - 8 * 1070 - 8 * 300, "spare_h": 0, "down_h": 8 * 300,
    }  # fmt: skip


def test_an_evicted_job_waits_for_the_repair_where_there_is_no_room(two: Site) -> None:
    done = run(two, [(0.0, 1000.0, 16)], [LinkedFault(_server(0), 100.0, 400.0)], "requeue")
    assert done.log.finish_s[0] == 400 + 30 + 940
    assert figures(done)["wasted_h"] == 16 * 70


@pytest.mark.parametrize(("work_s", "again_s"), [(950.0, 20), (951.0, 1100), (980.0, 1100)])
def test_who_comes_back_behind_the_first_job_has_time_for_its_pause_too(work_s: float, again_s: int) -> None:
    """32 are promised to the second job at 1000; the third loses its 10 s at 20, and would pause for 30 s."""
    five, failed = site("fat_tree", 5, [8, 16, 32]), [LinkedFault(_server(2), 20.0, 1900.0)]
    log = run(five, [(0.0, 1000.0, 16), (1.0, 100.0, 32), (10.0, work_s, 8)], failed, "requeue").log
    assert log.start_s[:3] == [0, 1000, 10]
    assert log.finish_s[2] == again_s + 30 + work_s


@pytest.mark.parametrize("response", ["spare_server", "repair"])
def test_a_spare_server_takes_the_place_of_one_that_failed(three: Site, response: Response) -> None:
    """The other server of the job is kept; the one that was repaired becomes the spare."""
    done = run(three, [(0.0, 1000.0, 16)], [LinkedFault(_server(0), 100.0, 400.0)], response, 1)
    assert done.log.finish_s[0] == 100 + 30 + 940
    found = figures(done)
    assert (found["evictions"], found["restarts"], found["moved_accelerators"]) == (0, 1, 8)
    assert found["spare_h"] == 8 * (100 + END_S - 400)
    assert found["idle_h"] == 16 * (END_S - 1070)


@pytest.mark.parametrize(("response", "moved", "down"), [("repair", 1, 1), ("spare_server", 4, 8)])
def test_one_accelerator_is_replaced_alone_or_with_its_server(
    three: Site, response: Response, moved: int, down: int
) -> None:
    lost = _server(0)[:down]
    found = figures(run(three, [(0.0, 1000.0, 4)], [LinkedFault(lost, 100.0, 400.0)], response, 1))
    assert found["moved_accelerators"] == moved
    assert found["down_h"] == down * 300


def test_without_a_spare_a_job_waits_and_others_go_by(two: Site) -> None:
    """Until the repair no place for 16 is known: the job of 8 runs meanwhile."""
    rows = [(0.0, 1000.0, 16), (200.0, 100.0, 8)]
    done = run(two, rows, [LinkedFault(_server(0), 100.0, 400.0)], "spare_server")
    assert done.log.start_s[1] == 200
    assert done.log.finish_s[0] == 400 + 30 + 940


def test_two_faults_at_once_take_two_servers(three: Site) -> None:
    """One spare is too few: the job waits, and the spare is kept for the next fault."""
    faults = [LinkedFault(_server(0), 100.0, 400.0), LinkedFault(_server(1), 100.0, 500.0)]
    done = run(three, [(0.0, 1000.0, 16)], faults, "repair", 1)
    assert done.log.finish_s[0] == 500 + 30 + 940
    assert figures(done)["evictions"] == 1


@pytest.mark.parametrize("response", RESPONSES)
@pytest.mark.parametrize("fabric", FABRICS)
def test_used_wasted_idle_spare_and_down_are_all_there_is(fabric: str, response: Response) -> None:
    of = site(fabric, 4, [2, 4, 8, 16])
    name = of.cluster.fabric.device_name
    faults = [
        LinkedFault(tuple(name(server, slot) for slot in range(8)), 100.0 + 50 * server, 700.0 - 100 * server)
        for server in range(3)
    ] + [LinkedFault((name(3, 5),), 300.0, 900.0)]
    rows = [(10.0 * i, 400.0 + 90 * i, size) for i, size in enumerate([4, 8, 16, 2, 4, 2, 8, 2])]
    done = run(of, rows, faults, response, 1)
    found = figures(done)
    parts = [found[f"{part}_h"] for part in ("used", "wasted", "idle", "spare", "down")]
    assert min(parts) >= 0
    assert sum(parts) == pytest.approx(32 * END_S)
    assert found["down_h"] == 8 * (600 + 450 + 300) + 600
    left = [job for job, time_s in enumerate(done.log.finish_s) if isnan(time_s)]
    assert left == [job for job, kind in enumerate(done.jobs.kind) if not kind.rows]
    assert done.state.num_free + 8 * (response in ("spare_server", "repair")) == 32
