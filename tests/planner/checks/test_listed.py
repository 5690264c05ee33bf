"""Only configurations that the cost model lists; a resident may keep its own."""

from typing import Any

import pytest

from costmodel.parallelism.configuration import Configuration
from planner import solve
from planner.checks import check
from planner.checks.listed import check_listed
from planner.checks.pricing import price
from planner.model.edit import edited as changed
from planner.model.instance import Instance
from tests.fabrics import FABRICS
from tests.planner.checks.good import pair, resident_of, ring, ring_assignment
from tests.planner.checks.plans import (
    SERVING,
    assign,
    broken,
    collective,
    edited,
    held,
    instance_of,
    job,
    plan_of,
)


@pytest.mark.parametrize(
    "fields",
    [
        {"accelerators": (2, 8)},
        {"constraints": {"one_server": True}},
        {"constraints": {"collective": "radix"}},
    ],
)
def test_sizes_and_constraints(fields: dict[str, Any]) -> None:
    instance = instance_of({**job("ring", 4), **fields})
    assert broken(instance, plan_of(instance, ring_assignment())) == {"listed"}


def test_constraints_that_hold() -> None:
    instance = instance_of(job("ring", {"min": 2, "max": 4}, constraints={"collective": "ring"}))
    assert broken(instance, plan_of(instance, ring_assignment())) == set()


@pytest.mark.parametrize("change", [{"micro_batch": 2}, {"micro_batch": 10**30}, {"block": 2}])
def test_configuration_of_no_candidate(change: dict[str, int]) -> None:
    """Micro-batches of another size; blocks that the devices respect, though nobody lists them."""
    instance, plan = ring()
    configuration = plan["ring"].configuration.model_copy(update=change)
    assert broken(instance, edited(plan, "ring", configuration=configuration)) == {"listed"}


def test_width_that_is_no_halving() -> None:
    instance = instance_of(job("pair", 2))
    assert broken(instance, plan_of(instance, pair("pair", "s0.t0", "s0.t1", "0,1,2"))) == {"listed"}
    assert broken(instance, plan_of(instance, pair("pair", "s0.t0", "s0.t1", "0,1"))) == set()


@pytest.mark.parametrize("kind", ["tree", "switched", "none", "line", "ring"])
def test_collective_of_another_fabric(kind: str) -> None:
    instance, _ = ring()
    odd = Configuration(data=4, data_collective=collective(kind))
    assert broken(instance, plan_of(instance, assign("ring", odd, "s0.t0 s0.t1 s0.t2 s0.t3"))) == {"listed"}


def test_memory() -> None:
    instance, plan = ring()
    device = changed(instance.cluster.device, capacity_bytes=1.0)
    small = changed(instance, cluster=changed(instance.cluster, device=device))
    assert broken(instance, plan) == set()
    assert {violation.rule for violation in check(small, plan)} == {"listed"}


SERVED: dict[str, Any] = {"name": "chat", "workload": SERVING, "accelerators": 4}


@pytest.mark.parametrize("name", FABRICS)
def test_limits_on_waiting(name: str) -> None:
    """A plan that was right for patient users is refused where they wait too long, and held where they do not."""
    cluster = {"device": "h100-sxm", "fabric": FABRICS[name]}

    def chat(**limits: float) -> Instance:
        served = SERVED | {"workload": SERVING | ({"limits": limits} if limits else {})}
        return Instance.parse(
            {"schema_version": 2, "name": "tiny", "cluster": cluster, "jobs": [served], "objectives": ["value"]}
        )

    plan = solve(chat(), policy="best_fit").plan
    assert plan is not None
    priced = price(chat(), chat().jobs[0], plan["chat"].configuration)
    assert priced is not None
    times = {"ttft": priced.ttft_s, "tpot": priced.tpot_s}
    assert [*check_listed(chat(**times), plan)] == []
    for field, told in (("ttft", "first token takes"), ("tpot", "next token takes")):
        (violation,) = check_listed(chat(**times | {field: 0.999 * times[field]}), plan)
        assert told in violation.message
    again = solve(chat(**times), policy="best_fit").plan
    assert again is not None
    assert again.admitted == ("chat",)


def test_resident_keeps_what_is_not_listed() -> None:
    """A resident of four devices that now accepts two may keep four, in place or moved; no other job may."""
    resident = resident_of(ring_assignment(), accelerators=2)
    instance = instance_of(residents=(resident,))
    plan = plan_of(instance, ring_assignment())
    assert broken(instance, plan) == set()
    elsewhere = held("data", *_ring_over("s0.t3", "s0.t4", "s0.t5", "s0.t2"))
    moved = edited(plan, "ring", devices=("s0.t3", "s0.t4", "s0.t5", "s0.t2"), circuits=(elsewhere,))
    assert broken(instance, moved) == set()
    narrow = held("data", *_ring_over("s0.t3", "s0.t4", "s0.t5", "s0.t2", wavelengths="0"))
    configuration = Configuration(data=4, data_collective=collective("ring", 1))
    other = assign("ring", configuration, "s0.t3 s0.t4 s0.t5 s0.t2", narrow)
    assert broken(instance, plan_of(instance, other)) == {"listed"}


def test_resident_keeps_an_exchange_in_fixed_order() -> None:
    """Written before exchanges could alternate, which is what is listed now; no other job may have it."""
    exchange = collective("exchange", 4, 4, radices=(2, 2), held=(1, 1))
    inside = [f"s0.t{a} s0.t{a ^ 1} 0,1,2,3" for a in range(4)]
    across = [f"s0.t{a} s0.t{a ^ 2} 0,1,2,3" for a in range(4)]
    circuits = held("data", *inside), held("data", *across)
    configuration = Configuration(data=4, data_collective=exchange)
    assignment = assign("pair", configuration, "s0.t0 s0.t1 s0.t2 s0.t3", *circuits)
    instance = instance_of(residents=(resident_of(assignment, accelerators=4),), fabric={"max_peers": 1})
    assert broken(instance, plan_of(instance, assignment)) == set()
    new = instance_of(job("pair", 4), fabric={"max_peers": 1})
    assert broken(new, plan_of(new, assignment)) == {"listed"}
    alternating = configuration.model_copy(
        update={"data_collective": exchange.model_copy(update={"order": "alternating"})}
    )
    faster = assign("pair", alternating, "s0.t0 s0.t1 s0.t2 s0.t3", *circuits)
    assert broken(new, plan_of(new, faster)) == set()


def _ring_over(*devices: str, wavelengths: str = "0,1") -> list[str]:
    return [f"{a} {b} {wavelengths}" for a, b in zip(devices, (*devices[1:], devices[0]), strict=True)]
