"""What users ask of places and settings, one by one."""

from costmodel.pricing.limits import ANYWHERE, Limits


def test_each_limit_is_left_out_in_turn() -> None:
    both = Limits(per_server=4, one_setting=True)
    assert both.without_one() == {"per_server": Limits(one_setting=True), "one_setting": Limits(per_server=4)}
    assert both.of_places == Limits(per_server=4)
    assert ANYWHERE.without_one() == {}
