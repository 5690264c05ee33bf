"""What users ask of places and settings, one by one."""

from costmodel.pricing.limits import ANYWHERE, Limits
from planner.model.job import JobConstraints


def test_each_limit_is_left_out_in_turn() -> None:
    both = Limits(per_server=4, one_setting=True)
    assert both.without_one() == {"per_server": Limits(one_setting=True), "one_setting": Limits(per_server=4)}
    assert both.of_places == Limits(per_server=4)
    assert ANYWHERE.without_one() == {}


def test_numbers_of_servers_go_with_those_of_a_server() -> None:
    asked = Limits(per_server=4, servers_by_rack=(1, 3))
    assert [*asked.without_one().items()] == [("servers_by_rack", Limits(per_server=4)), ("per_server", ANYWHERE)]


def test_limits_of_an_object_are_its_attributes() -> None:
    constraints = JobConstraints(one_server=True, per_server=2, servers_by_rack=(1,), collective="ring")
    assert Limits.of(constraints) == Limits(True, 2, "ring", False, (1,))
