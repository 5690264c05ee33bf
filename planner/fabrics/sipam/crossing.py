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


MOST_KNOWN = 20_000
_known = dict[Groups, int]()
"""what shapes share that differ along other dimensions"""


def most_crossing(asked: Sequence[Groups]) -> list[int]:
    """Most circuits of one colour that leave, or enter, a run of consecutive blocks, not all of them; of each."""
    known = list(map(_known.get, asked))
    new = [place for place, most in enumerate(known) if most is None]
    if len(_known) + len(new) > MOST_KNOWN:
        _known.clear()
    found, tables = dict.fromkeys(new, 0), dict[int, list[tuple[int, Ints]]]()
    for place in new:
        for number, cells in _circuits(asked[place]):
            tables.setdefault(number, []).append((place, cells))
    for number, each in tables.items():
        together = max(CELLS // (number + 1) ** 2, 1)
        for start in range(0, len(each), together):
            some = each[start : start + together]
            for (place, _), most in zip(some, _leaving(number, [cells for _, cells in some]), strict=True):
                found[place] = max(found[place], most)
    _known.update((asked[place], most) for place, most in found.items())
    return [found[place] if most is None else most for place, most in enumerate(known)]


def _circuits(groups: Groups) -> list[tuple[int, Ints]]:
    """Blocks of the job, and of the circuits of each colour in each configuration the cell of (source block,
    destination block) in a table with an empty row and column before the others."""
    tensor, pipeline, data, context, expert = groups.ranks
    degrees = Degrees(tensor, pipeline, data, context, expert)
    number = degrees.num_devices // groups.block
    places, found = degrees.groups(DIMENSIONS[groups.axis]) // groups.block + 1, []
    for circuits, offsets in zip(groups.plan.configurations(), groups.plan.offsets(), strict=True):
        ends, colours = np.array(circuits, np.int64).reshape(-1, 3), np.array(offsets)
        cells = places[:, ends[:, 0]] * (number + 1) + places[:, ends[:, 1]]
        found += [(number, cells[:, colours == colour].ravel()) for colour in set(offsets)]
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
