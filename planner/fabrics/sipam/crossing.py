"""How many circuits of one colour leave some consecutive blocks of a job."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from costmodel.fabrics import GroupPlan
from costmodel.parallelism.degrees import Degrees
from costmodel.parallelism.mappings import DIMENSIONS

Ints = NDArray[np.int64]
CELLS = 1 << 21
"""of tables that are counted together"""


class Groups(NamedTuple):
    """Groups along one dimension, in blocks of so many ranks."""

    ranks: tuple[int, ...]
    """degrees of tensor, pipeline, data, context and expert"""
    block: int
    plan: GroupPlan
    axis: int


Matchings = tuple[bytes, ...]
"""positions of senders and receivers in a group, int64 (2, circuits), of each colour"""
MOST_KNOWN = 20_000
_known = dict[tuple[tuple[int, ...], int, int, Matchings], int]()
"""what shapes share that differ along other dimensions, or in the width of their circuits"""
_of_plans = dict[GroupPlan, Matchings]()


def most_crossing(asked: Sequence[Groups]) -> list[int]:
    """Most circuits of one colour that leave, or enter, a run of consecutive blocks, not all of them; of each."""
    keys = [(groups.ranks, groups.block, groups.axis, _matchings(groups.plan)) for groups in asked]
    if len(_known) + len(keys) > MOST_KNOWN:
        _known.clear()
    found, tables = dict.fromkeys((key for key in keys if key not in _known), 0), dict[int, list[_Cells]]()
    for key in found:
        for number, cells in _circuits(*key):
            tables.setdefault(number, []).append(_Cells(key, cells))
    for number, each in tables.items():
        together = max(CELLS // (number + 1) ** 2, 1)
        for start in range(0, len(each), together):
            some = each[start : start + together]
            for (key, _), most in zip(some, _leaving(number, [each.cells for each in some]), strict=True):
                found[key] = max(found[key], most)
    _known.update(found)
    return [_known[key] for key in keys]


class _Cells(NamedTuple):
    """Circuits of one colour of a key, as `_circuits` has them."""

    key: tuple[tuple[int, ...], int, int, Matchings]
    cells: Ints


def _matchings(plan: GroupPlan) -> Matchings:
    """Circuits of each colour in each configuration, once where they are alike but for their direction: as many leave
    blocks then as enter them."""
    if plan not in _of_plans:
        if len(_of_plans) >= MOST_KNOWN:
            _of_plans.clear()
        _of_plans[plan] = _distinct_matchings(plan)
    return _of_plans[plan]


def _distinct_matchings(plan: GroupPlan) -> Matchings:
    found = set[bytes]()
    for circuits, offsets in zip(plan.configurations(), plan.offsets(), strict=True):
        ends, colours = np.array(circuits, np.int64).reshape(-1, 3)[:, :2], np.array(offsets)
        for colour in set(offsets):
            mine = ends[colours == colour]
            found.add(min(each[np.lexsort(each.T)].T.tobytes() for each in (mine, mine[:, ::-1])))
    return tuple(sorted(found))


def _circuits(ranks: tuple[int, ...], block: int, axis: int, matchings: Matchings) -> list[tuple[int, Ints]]:
    """Blocks of the job, and of the circuits of each colour the cell of (source block, destination block) in a table
    with an empty row and column before the others."""
    tensor, pipeline, data, context, expert = ranks
    degrees = Degrees(tensor, pipeline, data, context, expert)
    number = degrees.num_devices // block
    places, found = degrees.groups(DIMENSIONS[axis]) // block + 1, []
    for matching in matchings:
        sources, destinations = np.frombuffer(matching, np.int64).reshape(2, -1)
        found.append((number, (places[:, sources] * (number + 1) + places[:, destinations]).ravel()))
    return found


def _leaving(num_blocks: int, tables: Sequence[Ints]) -> list[int]:
    """Of each list of circuits the most that leave, or enter, blocks a .. b - 1, over all a < b."""
    side = num_blocks + 1
    of = np.repeat(np.arange(len(tables)) * side**2, [len(cells) for cells in tables])
    number = np.bincount(np.concatenate(tables) + of, minlength=len(tables) * side**2)
    below = number.reshape(-1, side, side).cumsum(axis=1).cumsum(axis=2)
    corner = below.diagonal(axis1=1, axis2=2)
    inside = corner[:, None, :] - below - below.transpose(0, 2, 1) + corner[:, :, None]
    sent, received = below[:, :, -1], below[:, -1]
    most = np.maximum(sent[:, None, :] - sent[:, :, None], received[:, None, :] - received[:, :, None]) - inside
    runs = np.triu(np.ones((side, side), dtype=np.bool_), 1)
    runs[0, -1] = False
    found: list[int] = np.where(runs, most, 0).max(axis=(1, 2), initial=0).tolist()
    return found
