"""A whole lightpath rack as a problem of its own: what has failed there has failed in the window, and nothing else."""

from typing import Any

import pytest

from planner.candidates.expand import expand
from planner.cpsat.lns.window import open_window
from planner.fabrics import plugin_of
from planner.heuristics.greedy import place_all
from planner.heuristics.strategies import in_order
from planner.model.instance import Instance
from tests.fabrics import FABRICS
from tests.planner.simulate.grounds import BERT

HEALTH: dict[str, Any] = {
    "failed_tiles": ["r0.s0.t1", "r1.s1.t0"],
    "failed_ports": ["r1.s0.t2"],
    "failed_fibers": [{"from": "r1.s0", "to": "r1.s1", "index": 0}, {"from": "r2.s0", "to": "r2.s1", "index": 0}],
    "failed_lasers": [{"tile": "r1.s2.t3", "wavelength": 2}, {"tile": "r0.s2.t3", "wavelength": 1}],
    "failed_receivers": [{"tile": "r1.s1.t1", "wavelength": 0}],
}


def _instance(fabric: str, **cluster: Any) -> Instance:
    parts = {"device": "h100-sxm", "fabric": FABRICS[fabric] | {"racks": 3}, **cluster}
    jobs = [{"name": "j", "workload": BERT, "accelerators": 4}]
    return Instance.parse({"schema_version": 2, "name": "n", "cluster": parts, "jobs": jobs})


def test_a_rack_has_its_own_failures() -> None:
    problem = expand(_instance("lightpath", health=HEALTH))
    size = problem.cluster.fabric.servers
    health = open_window(problem, [], [range(size, 2 * size)], [0]).problem.cluster.health
    assert health.failed_tiles == ("s1.t0",)
    assert health.failed_ports == ("s0.t2",)
    assert [part.name for part in health.failed_fibers] == ["s0>s1#0"]
    assert [part.name for part in health.failed_lasers] == ["s2.t3:w2"]
    assert [part.name for part in health.failed_receivers] == ["s1.t1:rx:w0"]


def test_two_racks_keep_their_names_apart() -> None:
    problem = expand(_instance("lightpath", health=HEALTH))
    size = problem.cluster.fabric.servers
    window = open_window(problem, [], [range(size), range(2 * size, 3 * size)], [0])
    health = window.problem.cluster.health
    assert health.failed_tiles == ("r0.s0.t1",)
    assert [part.name for part in health.failed_fibers] == ["r1.s0>r1.s1#0"]


@pytest.mark.parametrize(
    ("fabric", "servers", "racks"),
    [("lightpath", False, True), ("fat_tree", True, True), ("ocs_rail", False, True), ("torus", False, True)],
)
def test_which_fabrics_have_windows(fabric: str, servers: bool, racks: bool) -> None:
    cluster = _instance(fabric).cluster
    windows = plugin_of(cluster.fabric).windows
    assert (windows.are_possible(cluster), windows.racks_are(cluster)) == (servers, racks)


def test_rails_pass_through_a_window_with_what_has_failed_of_them() -> None:
    """A fixed job takes its devices, and with them their ports; the window has all switches."""
    instance = _instance("ocs_rail", health={"failed_switches": ["q2#1"], "failed_ports": ["r0.s1.g3", "r2.s0.g0"]})
    problem = expand(instance)
    fixed = place_all(problem, in_order)
    assert fixed
    cluster = open_window(problem, fixed, [range(problem.cluster.fabric.servers)], [0]).problem.cluster
    assert cluster.health.failed_switches == ("q2#1",)
    assert cluster.health.failed_ports == ("s1.g3",)
    assert [f"r0.{name}" for name in cluster.health.failed_tiles] == sorted(fixed[0].devices)
