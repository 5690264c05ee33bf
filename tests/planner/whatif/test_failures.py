"""Failures by name, and the instance without those parts."""

import pytest

from planner.model.errors import InputError
from planner.model.instance import Instance
from planner.whatif.failures import parse_failure
from planner.whatif.repair import repair
from tests.planner.small_racks import rack, single, training
from tests.planner.whatif.repair.racks import plan_of


@pytest.mark.parametrize(
    ("name", "kind", "part"),
    [
        ("s0.t1", "tile", "s0.t1"), ("s0.t1:port", "port", "s0.t1"), ("s0.t1:tx", "port", "s0.t1"),
        ("s0.t1:rx", "port", "s0.t1"), ("s0.t1:w3", "laser", "s0.t1:w3"), ("s0.t1:rx:w3", "receiver", "s0.t1:rx:w3"),
        ("s0>s1#1", "fiber", "s0>s1#1"), ("s0>s1#1:w0", "fiber", "s0>s1#1"),
    ],
)  # fmt: skip
def test_names_of_failures(name: str, kind: str, part: str) -> None:
    failure = parse_failure(Instance.parse(rack(training("p", 2), fibers=2)).cluster, name)
    assert (failure.kind, failure.part) == (kind, part)
    assert part in failure.words


@pytest.mark.parametrize(
    "name",
    [
        "", "s0", "t1", "s9.t0", "s0.t9", "s0.t1:w4", "s0.t1:rx:w4", "s0.t1:tx:w0", "s0.t1:laser", "s0>s1", "s0>s1#2",
        "s0>s0#0", "s0>s1#0:tx", "s0>s1#0:rx:w0",
    ],
)  # fmt: skip
def test_unknown_parts_are_refused(name: str) -> None:
    cluster = Instance.parse(rack(training("p", 2), fibers=2)).cluster
    with pytest.raises(InputError, match="failed"):
        parse_failure(cluster, name)


def test_a_resident_that_may_not_move_is_named() -> None:
    instance, plan = plan_of(rack(training("p", 2), residents=[single("r", "s0.t0", movable=False)]))
    with pytest.raises(InputError, match="may not move"):
        repair(instance, plan, ["s0.t0"])
