"""More links and more memory, each alone."""

from planner.fabrics import plugin_of
from tests.planner.fabrics.memory_ring.ring_cases import instance, job, shared


def test_more_dimms_let_more_of_a_node_be_shared() -> None:
    asked, plan = shared()
    upgrades = {each.change: each.instance for each in plugin_of(asked.cluster.fabric).upgrades.of(asked, plan)}
    changed = upgrades["1 more DIMM in each memory node"]
    assert changed is not None
    more = changed.cluster.fabric
    assert [split.memory_units for split in more.splits(asked.cluster.device)] == [None, 2, 4, 6, 8, 10]
    assert "one more ring of links in each node" in upgrades


def test_each_change_is_of_one_number() -> None:
    asked = instance(job("a", 1))
    for each in plugin_of(asked.cluster.fabric).upgrades.of(asked, None):
        assert each.instance is not None
        assert each.instance.cluster.fabric != asked.cluster.fabric or each.instance.cluster != asked.cluster
