"""The referee against light that is right, wrong, shared, leaked, early and dark."""

import math

import pytest

from planner.integrations.switch_emulator import FaultKind, Holding, LightInterval, RequestClass, judge
from planner.integrations.switch_emulator.referee import FindingKind
from tests.planner.integrations.switch_emulator.switches import rig


def light(a_side: str, b_side: str, since: float, until: float = math.inf, cause: str = "request") -> LightInterval:
    return LightInterval("ocs0", a_side, b_side, since, until, cause)


def holding(job: str, *names: str, since: float, until: float = math.inf, started: float | None = None) -> Holding:
    circuits = frozenset(("ocs0", *name.split("-")) for name in names)
    return Holding(job, circuits, since, until, started)  # type: ignore[arg-type]


def kinds(*found: object) -> list[tuple[str, tuple[str, ...], float, float]]:
    return [(each.kind, each.jobs, each.from_s, each.until_s) for each in judge(*found, now_s=100.0)]  # type: ignore[attr-defined, arg-type]


def test_light_that_is_held_is_right() -> None:
    job = holding("j", "1A-2B", "3A-4B", since=1.0, until=9.0, started=3.0)
    assert kinds([light("1A", "2B", 2.0, 9.0), light("3A", "4B", 2.5, 8.999), ], [job]) == [
        (FindingKind.DARK, ("j",), 8.999, 9.0)
    ]  # fmt: skip
    assert kinds([light("1A", "2B", 2.0, 9.0), light("3A", "4B", 2.5, 9.0)], [job]) == []


def test_light_before_and_after_is_leaked_beyond_the_grace() -> None:
    job = holding("j", "1A-2B", since=2.0, until=5.0, started=2.0)
    seen = [light("1A", "2B", 1.5, 7.0)]
    assert kinds(seen, [job]) == [(FindingKind.LEAKED, (), 1.5, 2.0), (FindingKind.LEAKED, (), 5.0, 7.0)]
    (found,) = judge(seen, [job], grace_s=1.0)
    assert (found.kind, found.from_s, found.until_s) == (FindingKind.LEAKED, 6.0, 7.0)


def test_light_of_nobody_is_leaked_until_now() -> None:
    assert kinds([light("1A", "2B", 1.0)], []) == [(FindingKind.LEAKED, (), 1.0, 100.0)]


def test_light_to_the_wrong_port_is_wrong_and_the_job_dark() -> None:
    job = holding("j", "1A-2B", since=1.0, started=2.0)
    found = kinds([light("1A", "2B", 1.0, 4.0), light("1A", "3B", 5.0, 6.0), light("1A", "2B", 7.0)], [job])
    assert found == [(FindingKind.DARK, ("j",), 4.0, 7.0), (FindingKind.WRONG, ("j",), 5.0, 6.0)]


def test_light_between_two_jobs_is_shared() -> None:
    jobs = [holding("j", "1A-1B", since=1.0), holding("k", "2A-2B", since=3.0)]
    found = kinds([light("1A", "2B", 2.0, 4.0)], jobs)
    assert found == [(FindingKind.WRONG, ("j",), 2.0, 3.0), (FindingKind.SHARED, ("j", "k"), 3.0, 4.0)]


def test_what_one_job_left_on_the_port_of_another_is_never_excused() -> None:
    jobs = [holding("old", "1A-1B", since=0.0, until=5.0), holding("new", "1A-2B", since=5.0)]
    (found,) = judge([light("1A", "1B", 1.0, 6.0)], jobs, grace_s=3.0)
    assert (found.kind, found.jobs, found.from_s, found.until_s) == (FindingKind.WRONG, ("new",), 5.0, 6.0)


def test_two_jobs_that_hold_one_port_share_it_without_any_light() -> None:
    jobs = [holding("j", "1A-1B", since=1.0, until=4.0), holding("k", "1A-2B", since=3.0)]
    assert kinds([], jobs) == [(FindingKind.SHARED, ("j", "k"), 3.0, 4.0)]


def test_a_start_before_ports_were_tuned_is_early() -> None:
    job = holding("j", "1A-2B", since=1.0, until=50.0, started=2.0)
    assert kinds([light("1A", "2B", 2.5)], [job])[0] == (FindingKind.EARLY, ("j",), 2.0, 2.5)
    assert kinds([], [job]) == [(FindingKind.EARLY, ("j",), 2.0, 50.0)]


@pytest.mark.parametrize(("wait_s", "wanted"), [(0.001, [FindingKind.EARLY]), (0.01, [])])
def test_it_reads_the_switches(wait_s: float, wanted: list[str]) -> None:
    made = rig()
    made.bulk(add=["1A-2B"])
    job = holding("j", "1A-2B", since=made.clock.now_s, started=made.clock.now_s + wait_s)
    made.clock.now_s += 1.0
    assert [each.kind for each in judge(made.emulator.light(), [job], now_s=made.clock.now_s)] == wanted


def test_faults_of_switches_are_not_blamed_on_who_asked() -> None:
    made = rig()
    made.emulator.faults["ocs0"].plan(RequestClass.READ, FaultKind.FOREIGN)
    made.rows("OCS_PORT")
    made.clock.now_s += 1.0
    (found,) = judge(made.emulator.light(), [], now_s=made.clock.now_s)
    assert (found.kind, found.is_by_request) == (FindingKind.LEAKED, False)


@pytest.mark.parametrize(("kind", "grace_s", "is_blamed"), [(FaultKind.DROP, 0.5, False), (FaultKind.DROP, 0.1, True)])
def test_who_starts_a_job_reads_back_shortly_before(kind: FaultKind, grace_s: float, is_blamed: bool) -> None:
    job = holding("j", "1A-2B", since=1.0, started=5.0)
    seen = [LightInterval("ocs0", "1A", "2B", 2.0, 4.7, "request", kind)]
    (found,) = judge(seen, [job], now_s=9.0, grace_s=grace_s)
    assert (found.kind, found.is_by_request) == (FindingKind.EARLY, is_blamed)


def test_light_that_a_fault_puts_off_is_dark_by_that_fault() -> None:
    made = rig()
    made.bulk(add=["1A-2B"])
    made.settle()
    job = holding("j", "1A-2B", since=100.0, started=made.clock.now_s)
    made.clock.now_s += 1.0
    made.emulator.faults["ocs0"].plan(RequestClass.READ, FaultKind.DROP)
    made.rows("OCS_PORT")
    made.clock.now_s += 1.0
    (found,) = judge(made.emulator.light(), [job], now_s=made.clock.now_s)
    assert (found.kind, found.cause, found.until_s - found.from_s) == (FindingKind.DARK, "drop", pytest.approx(1.0))


def test_a_foreign_circuit_that_a_request_puts_off_is_told() -> None:
    made = rig()
    made.emulator.faults["ocs0"].plan(RequestClass.READ, FaultKind.FOREIGN)
    (row,) = made.rows("OCS_CROSS_CONNECT")
    made.clock.now_s += 1.0
    made.bulk(delete=[row["cross_connect_id"]])
    found = judge(made.emulator.light(), [], now_s=made.clock.now_s)
    assert [(each.kind, each.is_by_request) for each in found] == [
        (FindingKind.LEAKED, False),
        (FindingKind.TAKEN, True),
    ]
