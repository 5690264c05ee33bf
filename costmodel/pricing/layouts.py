"""How the ranks of a job may lie in servers: blocks under each order of the ranks, whatever plans join them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import NamedTuple

from costmodel.fabrics import FabricBase
from costmodel.parallelism.degrees import RANK_ORDERS, Degrees, RankOrder
from costmodel.parallelism.mappings import DIMENSIONS

BlocksOf = Callable[[FabricBase, Sequence[int], int], Sequence[int]]
"""blocks to list, given the sizes of the groups that should not be torn apart, and the number of devices"""
Key = tuple[tuple[int, ...], int]
"""degrees as `group_degrees` has them, and devices"""


@dataclass(frozen=True)
class ListedBlocks:
    """Blocks that suit what a user asks of places, as in `enumerate_candidates`."""

    one_server: bool
    per_server: int | None

    def __call__(self, fabric: FabricBase, spans: Sequence[int], num_devices: int) -> Sequence[int]:
        if self.one_server:
            found: Sequence[int] = (num_devices,) if num_devices <= fabric.devices_per_server else ()
        else:
            found = fabric.blocks(spans, num_devices)
        return found if self.per_server is None else fabric.even_blocks(found, num_devices, self.per_server)


class RankLayout(NamedTuple):
    """One block under one order of the ranks."""

    block: int
    order: int
    """its place in RANK_ORDERS"""
    together: tuple[int, ...]
    """ranks of a group along each of DIMENSIONS that share a server"""
    inside: tuple[bool, ...]
    """whether a group along each lies in one server"""


class LaidDegrees(NamedTuple):
    """Degrees, the ranks of the groups along each of DIMENSIONS, and their layouts."""

    degrees: Degrees
    ranks: tuple[int, ...]
    layouts: tuple[RankLayout, ...]


def layouts(
    fabric: FabricBase, blocks: BlocksOf, orders: tuple[RankOrder, ...], server: int | None
) -> Callable[[Key], LaidDegrees]:
    """Layouts of degrees, found once for all fabrics with the same servers; `server`: devices of one where tensor
    groups may be wider, else None."""
    return _layouts(_Question(fabric.layout_key, blocks, orders, server, fabric)).of


@dataclass(frozen=True)
class _Question:
    """All that layouts depend on; the fabric comes along."""

    text: str
    blocks: BlocksOf
    orders: tuple[RankOrder, ...]
    server: int | None
    fabric: FabricBase = field(compare=False)


@lru_cache(maxsize=64)
def _layouts(question: _Question) -> "_Layouts":
    return _Layouts(question)


class _Layouts:
    """Layouts of all degrees that were asked for."""

    def __init__(self, question: _Question) -> None:
        self._question, self._known = question, dict[Key, LaidDegrees]()

    def of(self, key: Key) -> LaidDegrees:
        if key not in self._known:
            degrees, num_devices = laid_degrees(key[0]), key[1]
            ranks = tuple(map(degrees.ranks, DIMENSIONS))
            self._known[key] = LaidDegrees(degrees, ranks, tuple(self._each(degrees, ranks, num_devices)))
        return self._known[key]

    def _each(self, degrees: Degrees, ranks: Sequence[int], num_devices: int) -> Iterator[RankLayout]:
        """Blocks under each order, once where groups then share servers alike."""
        seen = set[tuple[int, tuple[int, ...]]]()
        question = self._question
        for order in dict.fromkeys(map(degrees.first_order_like, question.orders)):
            laid = degrees if order == degrees.order else replace(degrees, order=order)
            for block in question.blocks(question.fabric, laid.spans(question.server), num_devices):
                together = laid.together(block)
                if (block, together) not in seen:
                    seen.add((block, together))
                    inside = tuple([near == of for near, of in zip(together, ranks, strict=True)])
                    yield RankLayout(block, RANK_ORDERS.index(order), together, inside)


def laid_degrees(degrees: Sequence[int]) -> Degrees:
    """Degrees of a row of `group_degrees`, in the first order."""
    tensor, pipeline, shards, context, expert, prefill, own_tensor, own_expert = degrees
    return Degrees(
        tensor, pipeline, shards // context, context, expert, RANK_ORDERS[0], prefill, own_tensor, own_expert
    )
