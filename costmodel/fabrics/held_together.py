"""Plans of several dimensions whose circuits are all on at once, on I/Os that they share."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from costmodel.fabrics.group_plans import GroupPlan
from costmodel.fabrics.ocs_rail import ports_of

Choices = tuple[tuple[int, ...], ...]
"""positions in the menus of plans, one for each dimension"""
Menu = tuple[GroupPlan, ...]
Bools = NDArray[np.bool_]


@lru_cache(maxsize=65536)
def choices_within(menus: tuple[Menu, ...], is_confined: tuple[bool, ...], io: int, spine_io: int) -> Choices:
    """Combinations, one plan of each menu, on at most `io` I/Os, of which `spine_io` leave the server.

    Where groups of a dimension are confined to a server, a combination is left out if its idle I/Os would allow a
    plan there with no more latency and no more seconds per byte. Of the others all widths stay: they differ in what
    they take of the fibers between servers.
    """
    if not all(menus):
        return ()
    needs = [np.array([ports_of(plan) for plan in menu], np.int64) for menu in menus]
    grid = np.indices([len(menu) for menu in menus]).reshape(len(menus), -1)
    taken = np.stack([need[row] for need, row in zip(needs, grid, strict=True)])
    across = taken[[not inside for inside in is_confined]].sum(axis=0)
    spare = io - taken.sum(axis=0)
    fits = (spare >= 0) & (across <= spine_io)
    for menu, need, row, inside in zip(menus, needs, grid, is_confined, strict=True):
        if len(menu) > 1:
            best = _best(menu, io)
            budget = need[row] + (np.clip(spare, 0, io) if inside else 0)
            fits &= best[row, np.minimum(budget, io)]
    return tuple(map(tuple, grid[:, fits].T.tolist()))


@lru_cache(maxsize=4096)
def _best(menu: Menu, io: int) -> Bools:
    """Whether no plan of a menu that takes at most b I/Os is better than each of them, shape (plans, io + 1)."""
    need = np.array([ports_of(plan) for plan in menu], np.int64)
    cost = np.array([[plan.latency_s, plan.seconds_per_byte] for plan in menu])
    number = np.arange(len(menu))
    no_worse = (cost[:, None, :] <= cost[None, :, :]).all(axis=2)
    better = no_worse & ~no_worse.T
    first = (need[:, None] < need) | ((need[:, None] == need) & (number[:, None] < number))
    beats = better | (no_worse & no_worse.T & first)
    allowed = need[:, None] <= np.arange(io + 1)
    return np.asarray(~np.einsum("qb,qp->pb", allowed, beats) & allowed)
