"""Jobs that ask for the same and run alike are judged once, all others each by its own request."""

from costmodel.parallelism.configuration import Configuration
from planner.checks import pricing
from planner.checks.judged import judged
from planner.model.instance import Instance
from planner.model.plan import Plan
from tests.planner.checks.good import resident_of, ring_assignment
from tests.planner.checks.plans import collective, instance_of, job, plan_of


def _two(**fields: object) -> tuple[Instance, Plan]:
    """Two jobs that run alike, of which the second asks for something else."""
    one = ring_assignment()
    other = one.model_copy(update={"job": "other"})
    instance = instance_of(job("ring", 4), {**job("other", 4), **fields})
    return instance, Plan(instance="tiny", assignments=(one, other))


def test_jobs_that_ask_for_the_same_share_a_judgement() -> None:
    first, second = judged(*_two(tenant="another", weight=3.0))
    assert first is second
    assert first.fault is None
    assert first.price is not None


def test_what_a_job_asks_for_counts() -> None:
    first, second = judged(*_two(accelerators=2))
    assert first.fault is None
    assert second.fault == "its sizes, constraints or memory rule this configuration out"
    first, second = judged(*_two(reference={"speed": 7.0, "energy_per_work": 2.0}))
    assert first.full_speed != 7.0
    assert (second.full_speed, second.least_energy) == (7.0, 2.0)


def test_a_resident_may_run_as_it_does() -> None:
    resident = resident_of(ring_assignment(), accelerators=2)
    instance = instance_of(residents=(resident,))
    (found,) = judged(instance, plan_of(instance, ring_assignment()))
    assert found.fault is None
    priced = pricing.price(instance, instance.residents[0], ring_assignment().configuration)
    assert priced is not None
    assert found.full_speed is not None
    assert found.full_speed >= priced.speed


def test_no_such_configuration() -> None:
    odd = Configuration(data=4, data_collective=collective("tree"))
    instance = instance_of(job("ring", 4))
    plan = Plan(instance="tiny", assignments=(ring_assignment().model_copy(update={"configuration": odd}),))
    assert judged(instance, plan)[0].fault == "neither workload nor fabric has this configuration"
