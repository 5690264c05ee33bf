"""Jobs on partitions of a server: placed whole, and a plan that takes other boxes breaks a rule."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.checks import check
from planner.controller import Controller, Settings
from planner.fabrics import plugin_of
from planner.model.cluster import Cluster
from tests.planner.integrations.slices.cubes import CLUSTER, FABRIC, RULES, request

PARTITIONS = [[2, 2, 1], [2, 2, 2], [2, 2, 4], [2, 4, 4]]
CUBES = Cluster.model_validate(CLUSTER | {"fabric": FABRIC | {"servers": 2, "partitions": PARTITIONS}})
PLAIN = Cluster.model_validate(CLUSTER | {"fabric": FABRIC | {"servers": 2}})


def controller(cluster: Cluster) -> Controller:
    return Controller(cluster, Path(":memory:"), Settings.model_validate(RULES))


@pytest.mark.slow
@settings(max_examples=20)
@given(st.lists(st.tuples(st.sampled_from([4, 8, 16, 32, 64]), st.booleans()), min_size=4, max_size=12))
def test_hosts_are_never_shared_and_no_rule_is_broken(steps: Sequence[tuple[int, bool]]) -> None:
    with controller(CUBES) as c:
        for number, (size, leaves) in enumerate(steps):
            c.submit(request(f"j{number}", size))
            if leaves and c.running:
                c.finish(min(c.running))
            hosts = plugin_of(CUBES.fabric).hosts(CUBES.fabric)
            host_of = {slot: host for host, slots in enumerate(hosts) for slot in slots}
            owners: dict[tuple[int, int], str] = {}
            for job, place in c.running.items():
                for server, slot in place.devices:
                    assert owners.setdefault((server, host_of[slot]), job) == job
        assert c.check() == []


def broken(cluster: Cluster, size: int, shift: int = 0) -> list[str]:
    """What the rule of slices says where a job that was placed on a cluster is moved by so many chips."""
    with controller(cluster) as c:
        c.submit(request("j", size))
        found: Any = c.plan()
    instance, plan = found
    assert check(instance, plan) == []
    (one,) = plan.assignments
    moved = [cluster.fabric.parse_device(name) for name in one.devices]
    devices = tuple(cluster.fabric.device_name(server, slot + shift) for server, slot in moved)
    plan = plan.model_copy(update={"assignments": (one.model_copy(update={"devices": devices}),)})
    violations = check(instance.model_copy(update={"cluster": CUBES}), plan)
    return [each.message for each in violations if each.rule == "cut"]


def test_other_boxes_break_a_rule() -> None:
    for size in (1, 12, 48):
        (said,) = broken(PLAIN, size)
        assert "are no partitions of a server" in said
    assert broken(CUBES, 8) == []
    assert broken(CUBES, 8, shift=2) == []
    (said,) = broken(CUBES, 8, shift=1)
    assert "is no partition of a server, since it starts at 1 along axis z" in said
