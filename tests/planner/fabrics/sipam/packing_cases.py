"""Shared by the tests of packed pools."""

from random import Random

from planner.fabrics.sipam.server_menus import Menu, MenuItem, ServerSpread

PRICES = 1.0, 0.5
FILLS = Menu((MenuItem(0, 4, 2, 5.0, 0.0),), (), 0.0, 5.0, is_required=False)
"""all accelerators of a server, and half of its units, without loss"""


def drawn(rng: Random, over: int = 0) -> Menu:
    """Some ways to run one job, priced at 1 for an accelerator."""
    sizes = [(rng.randint(1, 4), rng.randint(0, 6), rng.random() * 6) for _ in range(rng.randint(1, 3))]
    worth = max(max(value - ranks for ranks, _, value in sizes), 0.0)
    items = tuple(MenuItem(row, *size, worth - size[2] + size[0]) for row, size in enumerate(sizes))
    spreads = tuple(ServerSpread(9, 4, 1, 1, 2, 5.0, worth - 1.0) for _ in range(over))
    return Menu(items, spreads, max(worth, 1.0 * over), 2.0, is_required=False)


def wide(blocks: int = 2, *, uplinks: int = 1, required: bool = False) -> Menu:
    """As much in one server, where two units are then left over, or block by block over several."""
    spread = ServerSpread(1, blocks, 4 // blocks, 1, uplinks, 5.0, 0.0)
    return Menu((MenuItem(0, 4, 2, 5.0, 0.0),), (spread,), 1.0, 5.0, is_required=required)


def beside(*units: int) -> list[Menu]:
    """Jobs of two accelerators and so many units each, without loss."""
    values = [2 * PRICES[0] + each * PRICES[1] for each in units]
    items = [MenuItem(0, 2, each, value, 0.0) for each, value in zip(units, values, strict=True)]
    return [Menu((item,), (), 0.0, item.value, is_required=False) for item in items]
