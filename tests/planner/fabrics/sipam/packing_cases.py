"""Shared by the tests of packed pools."""

from random import Random

from planner.fabrics.sipam.server_menus import Menu, MenuItem, ServerSpread


def drawn(rng: Random, over: int = 0) -> Menu:
    """Some ways to run one job, priced at 1 for an accelerator."""
    sizes = [(rng.randint(1, 4), rng.randint(0, 6), rng.random() * 6) for _ in range(rng.randint(1, 3))]
    worth = max(max(value - ranks for ranks, _, value in sizes), 0.0)
    items = tuple(MenuItem(row, *size, worth - size[2] + size[0]) for row, size in enumerate(sizes))
    spreads = tuple(ServerSpread(9, 4, 1, 1, 2, 5.0, worth - 1.0) for _ in range(over))
    return Menu(items, spreads, max(worth, 1.0 * over), 2.0, is_required=False)
