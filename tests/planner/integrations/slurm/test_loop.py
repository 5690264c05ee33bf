"""One tick and the next: what is heard of parts, and how long jobs may be expanded."""

import time
from collections.abc import Iterator

import pytest

from planner.controller.settings import Request
from planner.integrations.slurm import loop
from planner.integrations.slurm.allocations import AllocationStore, Order
from planner.integrations.slurm.controller_events import in_turn
from planner.integrations.slurm.hooks import report_file
from planner.integrations.slurm.observed_state import Memory
from tests.planner.integrations.slurm.any_acts import Cluster
from tests.planner.integrations.slurm.job_requests_cases import asked


@pytest.fixture
def made() -> Iterator[Cluster]:
    cluster = Cluster()
    yield cluster
    cluster.close()


def test_a_server_that_a_hook_reports_stays_out_while_its_node_is_up(made: Cluster) -> None:
    report_file(made.state, 7).write_text('{"action": "connect", "part": "s3", "said": "dark"}')
    for _ in range(3):
        made.tick()
        assert made.loop.desired().failed == {"s3"}
    AllocationStore(made.state, made.bindings).order(Order("repair", "s3"))
    made.tick()
    assert made.loop.desired().failed == set()
    made.slurm.down.add("n3")
    made.tick()
    assert made.loop.desired().failed == {"s3"}
    made.slurm.down.clear()
    made.tick()
    assert made.loop.desired().failed == set()


def test_a_damaged_order_is_set_aside(made: Cluster) -> None:
    for number, text in enumerate(("[", '{"call": "close", "part": "s3"}')):
        (made.state / "orders" / f"{number}.json").write_text(text)
    AllocationStore(made.state, made.bindings).order(Order("fail", "s1.t0"))
    made.tick()
    assert made.loop.desired().failed == {"s1.t0"}
    assert sorted(path.name for path in (made.state / "orders").iterdir()) == ["0.damaged", "1.damaged"]
    assert made.said["damaged"] == 2


def test_few_jobs_are_expanded_in_a_tick(made: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "LONGEST_EXPANSION_S", 0.01)
    monkeypatch.setattr(made.controller, "prepare", lambda request: time.sleep(0.02))
    for number in range(3):
        made.slurm.submit(number, 1, (1, 1))
    for number in range(3):
        made.tick()
        assert sorted(made.loop.desired().requests) == list(range(number + 1))


def test_no_tenant_waits_for_all_jobs_of_another() -> None:
    memory, waiting, order = Memory(), requests("aaaabbc"), ""
    for now_s in range(7):
        first = in_turn(waiting, memory)[0]
        memory.served_s[first.tenant] = now_s
        waiting.remove(first)
        order += first.tenant
    assert order == "abcabaa"
    assert [each.tenant for each in in_turn(requests("aabc"), Memory())] == ["a", "b", "c", "a"]


def requests(tenants: str) -> list[Request]:
    return [asked(job_id=number, account=tenant) for number, tenant in enumerate(tenants)]
