"""Which placements on slices lie alike."""

from dataclasses import replace

from planner.fabrics.slices.rule_isolation import SlicedIsolation
from tests.planner.controller.over_racks import joined, opened, training

ISOLATION = SlicedIsolation()


def test_racks_are_alike_but_for_the_names_of_switches() -> None:
    controller = opened(joined("torus", "switches"))
    for name in "ab":
        controller.submit(training(name, 8))
    first, second = controller.running["a"], controller.running["b"]
    assert first.servers != second.servers
    assert ISOLATION.lie(controller.cluster, first) == ISOLATION.lie(controller.cluster, second)


def test_jobs_over_racks_are_alike_where_all_they_hold_is_the_same() -> None:
    controller = opened(joined("torus", "switches"))
    controller.submit(training("a", 16))
    place, fabric = controller.running["a"], controller.cluster.fabric
    assert ISOLATION.wrong_here(fabric, place) is None
    fewer = replace(place, upper=place.upper[1:])
    assert ISOLATION.lie(controller.cluster, fewer) != ISOLATION.lie(controller.cluster, place)
    assert ISOLATION.wrong_here(fabric, fewer) == "has 1 links from r0 to r1, not 2"
