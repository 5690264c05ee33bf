"""A job over the end of one server."""

from planner.fabrics.sipam.bridges import best_bridge
from planner.fabrics.sipam.fill_server import Filling
from planner.fabrics.sipam.server_layout import Over, ServerLayout
from planner.fabrics.sipam.server_menus import Menu, MenuItem, ServerSpread

THREE = Menu((MenuItem(0, 3, 3, 3.0, 0.0),), (), 1.0, 2.0, is_required=False)
"""three of four accelerators of a server, and nothing else"""


def _over(blocks: int, *, uplinks: int = 0, loss: float = 0.0) -> Menu:
    return Menu((), (ServerSpread(7, blocks, 1, 1, uplinks, 2.0, loss),), 1.0, 1.0, is_required=False)


def _bridged(*menus: Menu, uplinks: int = 1) -> tuple[int, Over] | None:
    """Job and place of the bridge over three servers of four accelerators, beside the first job in the first server."""
    layout = ServerLayout.empty(menus, [(4, 4)] * 3, [uplinks] * 3, (1.0, 0.0))
    filling = Filling.of([menus[0].items], [[2.0]], (4, 4))
    found = best_bridge(layout, filling, [0], dict.fromkeys(range(1, len(menus)), 0.0), range(3))
    return None if found is None else (found[0].job, found[1])


def test_a_bridge_takes_what_is_left_and_goes_on_in_the_next_servers() -> None:
    assert _bridged(THREE, _over(3)) == (1, ((0, 1), (1, 2)))
    assert _bridged(THREE, _over(8)) == (1, ((0, 1), (1, 4), (2, 3)))


def test_no_bridge_without_room_uplinks_or_gain() -> None:
    assert _bridged(THREE, _over(13)) is None
    assert _bridged(THREE, _over(3, uplinks=2)) is None
    assert _bridged(THREE, _over(3, loss=5.0)) is None


def test_of_bridges_the_one_that_loses_least() -> None:
    assert _bridged(THREE, _over(3, loss=0.2), _over(3)) == (2, ((0, 1), (1, 2)))


def test_no_job_bridges_two_servers_and_lies_in_the_first() -> None:
    both = Menu((MenuItem(0, 3, 3, 3.0, 0.0),), (ServerSpread(7, 3, 1, 1, 0, 2.0, 0.0),), 1.0, 2.0, is_required=False)
    layout = ServerLayout.empty([both], [(4, 4)] * 3, [1] * 3, (1.0, 0.0))
    filling = Filling.of([both.items], [[2.0]], (4, 4))
    found = best_bridge(layout, filling, [0], {0: 3.0}, range(3))
    assert found is not None
    assert found[1] == ((0, 2), (1, 1)), "beside one block there is room for the job itself"
