"""Jobs on rails of optical switches: good plans written by hand, and each way to break them."""

from typing import Any

import pytest

from costmodel.parallelism.configuration import Collective, Configuration
from planner.checks import check
from planner.model.instance import Instance
from planner.model.plan import Plan
from tests.planner.checks.plans import (
    SERVING,
    assign,
    broken,
    collective,
    edited,
    held,
    job,
    plan_of,
    relocated,
    rewired,
)
from tests.planner.fabrics.ocs_rail.rule_rails_cases import in_turns, rails, ring

INSIDE = Collective(kind="ring")


def grid() -> tuple[Instance, Plan]:
    """Two tensor ranks inside, two stages and two replicas across: a line on one switch, rings on two others."""
    instance = rails(job("grid", 8))
    configuration = Configuration(
        tensor=2,
        pipeline=2,
        data=2,
        block=2,
        tensor_collective=INSIDE,
        pipeline_collective=collective("line", 1),
        data_collective=collective("ring", 2),
    )
    pipeline = [f"s{a}.g{q} s{b}.g{q} 0" for q in (0, 2) for a, b in ((0, 1), (1, 0), (2, 3), (3, 2))]
    data = [f"s{a}.g{q} s{b}.g{q} 1,2" for q in (0, 2) for a, b in ((0, 2), (2, 0), (1, 3), (3, 1))]
    devices = " ".join(f"s{s}.g{q}" for s in range(4) for q in (0, 2))
    return instance, plan_of(
        instance, assign("grid", configuration, devices, held("pipeline", *pipeline), held("data", *data))
    )


def replicas() -> tuple[Instance, Plan]:
    """Replicas that send nothing across need no circuits: two blocks in one server, one elsewhere on other rails."""
    instance = rails({**job("replicas", 3), "workload": SERVING})
    configuration = Configuration(data=3, micro_batch=3)
    return instance, plan_of(instance, assign("replicas", configuration, "s0.g1 s0.g2 s1.g0"))


@pytest.mark.parametrize("case", [ring, grid, in_turns], ids=["ring", "grid", "turns"])
def test_good_plans(case: Any) -> None:
    assert check(*case()) == []


def test_replicas_lie_anywhere() -> None:
    assert check(*replicas()) == []


def test_a_ring_on_other_switches() -> None:
    instance, plan = ring()
    lines = ("s0.g1 s1.g1 1,2", "s1.g1 s3.g1 0,2", "s3.g1 s0.g1 0,1")
    assert broken(instance, rewired(plan, "ring", *lines)) == set()


def test_a_switch_that_does_not_exist() -> None:
    instance, plan = ring()
    assert broken(instance, rewired(plan, "ring", "s0.g1 s1.g1 1,3")) == {"rails"}


def test_a_switch_that_has_failed() -> None:
    instance, plan = ring()
    cluster = instance.cluster.model_copy(
        update={"health": instance.cluster.health.model_copy(update={"failed_switches": ("q1#1", "q0#0")})}
    )
    instance = instance.model_copy(update={"cluster": cluster})
    assert broken(instance, plan) == {"rails"}
    lines = ("s0.g1 s1.g1 0,2", "s1.g1 s3.g1 0,2", "s3.g1 s0.g1 0,2")
    assert broken(instance, rewired(plan, "ring", *lines)) == set()


def test_a_device_twice_through_a_switch() -> None:
    """A stage sends on the switch of its ring, or receives on it."""
    instance, plan = grid()
    found = check(instance, rewired(plan, "grid", "s0.g0 s1.g0 1"))
    assert {(v.rule, v.where) for v in found} == {("rails", "q0#1")}
    assert [v.message.partition(" through")[0] for v in found[:2]] == ["s0.g0 sends 2 times", "s1.g0 receives 2 times"]
    assert "carries 5 circuits, it has 4 ports" in found[2].message
    assert [v.excess for v in found] == [1.0, 1.0, 1.0]


def test_two_jobs_never_meet_on_a_switch() -> None:
    """The same switches serve the servers of one ring and those of another: a matching of all."""
    instance = rails(job("one", 2), job("two", 2))
    configuration = Configuration(data=2, data_collective=collective("ring", 3))

    def pair(name: str, a: str, b: str) -> Any:
        return assign(name, configuration, f"{a} {b}", held("data", f"{a} {b} 0,1,2", f"{b} {a} 0,1,2"))

    good = plan_of(instance, pair("one", "s0.g0", "s1.g0"), pair("two", "s2.g0", "s3.g0"))
    assert check(instance, good) == []
    bad = plan_of(instance, pair("one", "s0.g0", "s1.g0"), pair("two", "s2.g0", "s1.g0"))
    assert broken(instance, bad) == {"placement", "rails"}


def test_blocks_on_other_rails() -> None:
    instance, plan = ring()
    assert broken(instance, relocated(plan, "ring", s3_g1="s3.g0")) == {"rails"}


def test_two_blocks_in_a_server() -> None:
    instance, plan = ring()
    found = {v.message for v in check(instance, relocated(plan, "ring", s3_g1="s1.g2"))}
    assert any("a job with circuits has one block on each" in message for message in found)
    assert any("a circuit joins two servers" in message for message in found)


def test_a_fiber_is_none() -> None:
    instance, plan = ring()
    assert broken(instance, rewired(plan, "ring", "s0.g1 s1.g1 0,1 s0>s1#0")) == {"rails"}


@pytest.mark.parametrize(
    ("lines", "drop", "rules"),
    [
        ((), "s0.g1 s1.g1", {"circuits", "rounds"}),
        (("s0.g1 s1.g1 0",), "", {"circuits", "rounds"}),
        (("s1.g1 s0.g1 0,1",), "", {"circuits", "rails"}),
    ],
    ids=["missing", "narrow", "superfluous"],
)
def test_circuits_are_those_required(lines: tuple[str, ...], drop: str, rules: set[str]) -> None:
    instance, plan = ring()
    assert broken(instance, rewired(plan, "ring", *lines, drop=drop)) == rules


def test_groups_inside_a_server_need_no_circuits() -> None:
    instance = rails(job("inside", 3))
    configuration = Configuration(data=3, block=3, data_collective=INSIDE)
    plan = plan_of(instance, assign("inside", configuration, "s0.g0 s0.g1 s0.g2"))
    assert check(instance, plan) == []
    across = edited(plan, "inside", devices=("s0.g0", "s1.g0", "s2.g0"))
    assert broken(instance, across) == {"block"}


def test_a_ring_over_packets_does_not_reach_other_servers() -> None:
    instance, plan = ring()
    configuration = Configuration(data=3, data_collective=INSIDE)
    without = edited(plan, "ring", configuration=configuration, circuits=())
    assert "listed" in broken(instance, without)


def test_more_ports_than_there_are() -> None:
    instance, plan = grid()
    wide = plan["grid"].configuration.model_copy(update={"data_collective": collective("ring", 3)})
    lines = [f"s{a}.g{q} s{b}.g{q} 0,1,2" for q in (0, 2) for a, b in ((0, 2), (2, 0), (1, 3), (3, 1))]
    changed = rewired(edited(plan, "grid", configuration=wide), "grid", *lines, at=1)
    assert {"listed", "rails"} <= broken(instance, changed)


def test_a_dark_device() -> None:
    instance, plan = ring()
    health = instance.cluster.health.model_copy(update={"failed_ports": ("s3.g1",)})
    cluster = instance.cluster.model_copy(update={"health": health})
    assert broken(instance.model_copy(update={"cluster": cluster}), plan) == {"placement"}


def test_a_resident_on_a_failed_switch_cannot_stay() -> None:
    _, plan = ring()
    kept = plan["ring"].model_dump(include={"devices", "configuration", "circuits"})
    resident = {**job("ring", 3), **kept}
    instance = rails(health={"failed_switches": ["q1#0"]}, residents=[resident])
    assert broken(instance, plan) == {"rails", "residents"}


def test_circuits_of_one_turn_share_no_port() -> None:
    """In one turn each port would be in two circuits; circuits that are on in another turn were not priced so."""
    assert broken(*in_turns(data="pipeline")) == {"rails", "phases"}
    assert broken(*in_turns(data=None)) == {"phases"}
    assert broken(*in_turns(data="layers")) == {"phases"}


def test_turns_on_switches_that_stand_still() -> None:
    instance, plan = in_turns()
    standing = rails(job("turns", 4))
    assert broken(standing, plan) == {"listed"}
    held_all = edited(plan, "turns", configuration=plan["turns"].configuration.model_copy(update={"turns": ()}))
    assert broken(instance, held_all) == {"listed", "rails", "phases"}


def test_switches_have_ports_for_the_most_circuits_of_each_job() -> None:
    instance, plan = in_turns()
    few = instance.cluster.fabric.model_copy(update={"ports": 3})
    few.__dict__["_in_turns"] = instance.cluster.fabric._in_turns  # no fabric from a file has so few
    short = instance.model_copy(update={"cluster": instance.cluster.model_copy(update={"fabric": few})})
    found = [each.message for each in check(short, plan) if each.rule == "rails"]
    assert found == [f"switch q1#{number} carries 4 circuits, it has 3 ports" for number in range(3)]
