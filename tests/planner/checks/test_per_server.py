"""What each server of a job gives."""

from costmodel.parallelism.configuration import Configuration
from tests.planner.checks.good import ring_assignment
from tests.planner.checks.per_server_cases import EVEN
from tests.planner.checks.plans import assign, broken, collective, edited, held, instance_of, job, plan_of


def test_servers_that_give_other_numbers() -> None:
    instance = instance_of(job("ring", 4, **EVEN))
    whole = Configuration(data=4, block=4, data_collective=collective("ring", 4))
    around = held("data", *(f"s0.t{i} s0.t{(i + 1) % 4} 0,1,2,3" for i in range(4)))
    one = assign("ring", whole, "s0.t0 s0.t1 s0.t2 s0.t3", around)
    assert broken(instance, plan_of(instance, one)) == {"listed", "per_server"}
    ring = ring_assignment()
    blocks = ring.model_copy(update={"configuration": ring.configuration.model_copy(update={"block": 2})})
    good = plan_of(instance, blocks)
    assert broken(instance, good) == set()
    assert broken(instance, edited(good, "ring", devices=("s0.t0", "s0.t1", "s1.t0", "s0.t2"))) >= {"per_server"}


def test_servers_that_give_fewer() -> None:
    instance = instance_of(job("ring", 4, constraints={"per_server": 4}))
    assert "per_server" in broken(instance, plan_of(instance, ring_assignment()))


def test_jobs_without_it_lie_as_they_like() -> None:
    instance = instance_of(job("ring", 4))
    assert broken(instance, plan_of(instance, ring_assignment())) == set()
