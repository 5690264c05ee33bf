"""More appliances, and more ports of an accelerator while its server has any."""

import pytest

from planner.fabrics import plugin_of
from tests.planner.fabrics.divided_ports.clusters import SERVING, instance


@pytest.mark.parametrize("left", [0, 1])
def test_a_port_more_is_offered_while_there_is_one(left: int) -> None:
    job = {"name": "a", "workload": SERVING, "accelerators": 4}
    memory = instance(job).cluster.fabric.memory  # type: ignore[attr-defined]
    asked = instance(job, ports=memory.all_ports - left)
    offered = {each.change: each.instance for each in plugin_of(asked.cluster.fabric).upgrades.of(asked, None)}
    assert ("one more optical port of each accelerator" in offered) == bool(left)
    assert offered["one more appliance in each server"] is not None
