"""Where everything lies, by number."""

from planner.report.floor import floor, held_circuits, number_of, owners_of
from tests.planner.report import rack


def test_accelerators_are_numbered_server_after_server() -> None:
    cluster = rack.instance().cluster
    assert number_of(cluster, (1, 3)) == 7
    assert floor(cluster) == {"letter": "t", "failed": [7], "dark": [6]}


def test_who_is_where_and_over_which_circuits() -> None:
    instance, plan = rack.instance(), rack.plan()
    assert owners_of(instance, plan)[1, 0] == [(rack.RING, 2)]
    (held,) = held_circuits(instance, plan[rack.RING])
    assert (held["dimension"], held["number"], len(held["circuits"])) == ("tensor", 1, 4)
