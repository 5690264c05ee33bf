"""Circuits by rank: what each kind of fabric reads of them, which failures break them, who may choose them again."""

from typing import Any

import pytest

from planner.fabrics import plugin_of
from planner.fabrics.ranked_circuits import RankedCircuit
from planner.model.cluster import Cluster
from planner.model.plan import Circuit
from tests.costmodel.pricing.score_cases import LIGHTPATH
from tests.planner.checks.plans import job
from tests.planner.fabrics.ocs_rail.step2_cases import instance_of

HERE, THERE = (0, 1), (1, 2)
"""(server, slot) of both ends"""


def lightpath(**health: Any) -> Cluster:
    fabric = LIGHTPATH | {"fibers": 2, "wavelengths_per_fiber": 4}
    return Cluster.model_validate({"device": "h100-sxm", "fabric": fabric, "health": health})


@pytest.mark.parametrize(
    ("health", "is_broken"),
    [
        ({}, False),
        ({"failed_lasers": [{"tile": "s0.t1", "wavelength": 1}]}, True),
        ({"failed_lasers": [{"tile": "s0.t1", "wavelength": 0}, {"tile": "s1.t2", "wavelength": 1}]}, False),
        ({"failed_receivers": [{"tile": "s1.t2", "wavelength": 1}]}, True),
        ({"failed_receivers": [{"tile": "s0.t1", "wavelength": 1}]}, False),
        ({"failed_fibers": [{"source": "s0", "destination": "s1", "index": 1}]}, True),
        ({"failed_fibers": [{"source": "s1", "destination": "s0", "index": 1}]}, False),
    ],
)
def test_light_needs_its_fibers_its_laser_and_its_receiver(health: dict[str, Any], is_broken: bool) -> None:
    cluster = lightpath(**health)
    part = plugin_of(cluster.fabric).ranked_circuits
    circuit = Circuit(source="s0.t1", destination="s1.t2", wavelengths=(1,), fibers=("s0>s1#1",))
    assert part.route(cluster.fabric, circuit) == ((0, 1, 1),)
    assert part.is_broken(cluster, RankedCircuit(0b10, ((0, 1, 1),)), HERE, THERE) == is_broken
    assert plugin_of(cluster.fabric).rewiring(cluster) is not None


@pytest.mark.parametrize(("name", "is_broken"), [("q1#1", True), ("q1#0", False), ("q2#1", False)])
def test_a_circuit_of_a_rail_needs_the_switches_of_the_slot_it_leaves(name: str, is_broken: bool) -> None:
    instance = instance_of([job("x", 2)], health={"failed_switches": [name]}, servers=8, switches=4, ports=8)
    cluster, plugin = instance.cluster, plugin_of(instance.cluster.fabric)
    circuit = Circuit(source="s0.g1", destination="s1.g1", wavelengths=(1, 3))
    assert plugin.ranked_circuits.route(cluster.fabric, circuit) == ()
    assert plugin.ranked_circuits.is_broken(cluster, RankedCircuit(0b1010, ()), HERE, (1, 1)) == is_broken
    assert plugin.rewiring(cluster) is None
    assert plugin.switch_setting(instance, ()) is None
