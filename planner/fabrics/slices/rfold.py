"""RFold, a published policy for tori of cubes: fold the shape of a job, then join cubes by switches.

*Toward Co-adapting Machine Learning Job Shape and Cluster Topology* (arXiv:2510.03891) and its simulator
(shuoshuoc/RFold). From there: whole cubes are the first free ones, joined by switches; a job with one dimension is a
chain on the used cube with the most free chips, on an empty cube if none has enough; any other takes, of the foldings
that need the fewest cubes, every orientation in turn, and of one orientation every place in a cube, each place in all
cubes before the next. Decided here, where the source leaves it open or the fabric has it otherwise: of foldings that
need as many cubes the shape asked for comes first and the others are tried after it; a chain lies in one cube, and one
that is a ring must close; parts of cubes are not joined with cubes, since the fabric joins whole ones alone.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise, permutations
from math import prod

from costmodel.fabrics import Torus
from costmodel.fabrics.boxes import POINT, Sides
from costmodel.fabrics.sliced import Slice
from planner.fabrics.free_state import FreeState
from planner.fabrics.job_class import JobClass, Option
from planner.fabrics.placement import Placement, Switches
from planner.fabrics.search import Search
from planner.fabrics.slices.free_state import SlicedFreeState
from planner.heuristics.strategies import in_order
from planner.slices.chains import free_chain
from planner.slices.foldings import foldings

WHOLE = Search(in_order)
"""how whole cubes are chosen"""


def rfold(state: FreeState, kind: JobClass) -> Placement | None:
    """A place for a job on cubes of equal sides, taken; None where RFold has none."""
    assert isinstance(state, SlicedFreeState)
    if kind.held > state.num_free or not kind.rows:
        return None
    row = kind.rows[0]
    demand = row.shape
    a, b, c = demand.cut or POINT
    if demand.num_ranks != a * b * c or demand.num_ranks == state.per_server or (demand.is_single and state.dark):
        return state.place(kind, WHOLE)
    found = next(_found(state, row, (a, b, c)), None)
    return None if found is None else state.taking(found)


def _found(state: SlicedFreeState, row: Option, asked: Sides) -> Iterator[Placement]:
    """Places for a row that lies in one cube, in the order of the policy."""
    fabric = state.cluster.fabric
    assert isinstance(fabric, Torus)
    if sum(extent > 1 for extent in asked) == 1:
        yield from _chains(state, row, fabric)
    for folding in foldings(asked, fabric.sides[0]):
        for a, b, c in sorted({*permutations(folding.extents)}):
            cut = (a, b, c)
            first = min(_places(state, cut), key=lambda place: (place[1].slots[0], place[0]), default=None)
            if first is not None:
                server, each = first
                yield _placed(row, server, each.slots, state.slices.switches(server, cut, each))


def _places(state: SlicedFreeState, cut: Sides) -> Iterator[tuple[int, Slice]]:
    """Cubes and places in them where a box is free."""
    for server, free in enumerate(state.lit):
        if free >= prod(cut):
            yield from ((server, each) for each in state.slices.usable(server, cut))


def _chains(state: SlicedFreeState, row: Option, fabric: Torus) -> Iterator[Placement]:
    """The chain on the used cube with the most free chips, or on the first empty one, where its switches work."""
    length, lit = row.shape.num_ranks, state.lit
    used = [server for server, free in enumerate(lit) if length <= free < state.per_server]
    empty = [server for server, free in enumerate(lit) if free == state.per_server]
    for server in [*sorted(used, key=lambda server: -lit[server]), *empty][:1]:
        closed = length == fabric.sides[0]
        chain = free_chain(state.slices.free_chips(server), fabric.sides, length, closed=closed)
        if chain is not None:
            switches = _switches(fabric, server, [*chain, chain[0]] if closed else chain)
            if switches.isdisjoint(state.cluster.failed_switches):
                yield _placed(row, server, chain, switches)


def _switches(fabric: Torus, server: int, chain: Sequence[int]) -> Switches:
    """Optical switches through which a chain goes: those at its steps from one face of the cube to the opposite one."""
    found: Switches = frozenset()
    for one, other in pairwise(chain):
        for axis, side in enumerate(fabric.sides):
            stride = prod(fabric.sides[axis + 1 :])
            if side > 2 and abs(one - other) == (side - 1) * stride:
                line = tuple(side if i == axis else 1 for i in range(3))
                found |= fabric.needed_switches(server, line, [one])
    return found


def _placed(row: Option, server: int, slots: Sequence[int], switches: Switches) -> Placement:
    devices = tuple((server, slot) for slot in slots)
    return Placement(row, devices, devices, switches=switches)
