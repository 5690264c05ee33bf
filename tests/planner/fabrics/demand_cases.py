"""Shared by the tests of `circuits_between`, `circuits`, `demand` and `fast_layouts`."""

from collections.abc import Iterator
from itertools import combinations

from costmodel.collectives.family import Family
from costmodel.collectives.family import plans_of as family_of
from costmodel.collectives.limits import Limits
from costmodel.collectives.offers import SWITCHED
from costmodel.collectives.plan import CollectivePlan
from costmodel.fabrics import NO_PLAN, GroupPlan, LinkPlan
from planner.fabrics.demand import Demand

WAVELENGTHS, PEERS = 8, 7


def plans_of(ranks: int, widths: tuple[int, ...] = (8, 2, 1)) -> tuple[CollectivePlan, ...]:
    """Rings of some widths, and other plans of a group: exact radices, then any."""
    limits = Limits(WAVELENGTHS, PEERS, 1e-6, 1e-5, 1e9)
    rings = [CollectivePlan("all_reduce", "ring", ranks, limits, (), (1,), (width,)) for width in widths]
    exact, every = (family_of("all_reduce", ranks, limits, Family(SWITCHED, padded=padded)) for padded in (False, True))
    return (*rings, *dict.fromkeys((*exact, *every)))


def line(stages: int, width: int = 2) -> LinkPlan:
    return LinkPlan("line", stages, wavelengths=(width,))


def shapes(tensor: int, pipeline: int, data: int, block: int, num_plans: int = 6) -> Iterator[Demand]:
    """A sample of the plans along each dimension; replicas may exchange nothing."""
    lines: tuple[GroupPlan, ...] = (line(pipeline), line(pipeline, 1)) if pipeline > 1 else (NO_PLAN,)
    for t in sample(tensor, num_plans):
        for p in lines:
            for d in (*sample(data, num_plans), *([NO_PLAN] if data > 1 else [])):
                yield Demand(tensor, pipeline, data, block, (t, p, d))


def sample(ranks: int, number: int) -> tuple[GroupPlan, ...]:
    if ranks == 1:
        return (NO_PLAN,)
    found = plans_of(ranks)
    return found[:: max(1, len(found) // number)]


SMALL = [
    (4, 1, 1, 1), (6, 1, 1, 1), (8, 1, 1, 1), (1, 1, 8, 1), (1, 4, 1, 1), (1, 2, 4, 1), (1, 4, 2, 1),
    (2, 1, 4, 2), (2, 2, 2, 2), (3, 2, 2, 3), (4, 1, 2, 4), (2, 1, 1, 2), (1, 1, 7, 1), (2, 4, 2, 2),
]  # fmt: skip


def is_coloured(shape: Demand) -> None:
    """No tile sends or receives a wavelength twice in one configuration, and none is out of range."""
    for (_, circuits), offsets in zip(shape.configurations, shape.offsets, strict=True):
        used = set()
        for (source, destination, width), first in zip(circuits, offsets, strict=True):
            assert 0 <= first <= WAVELENGTHS - width, shape
            for wavelength in range(first, first + width):
                for end in (("sends", source, wavelength), ("receives", destination, wavelength)):
                    assert end not in used, shape
                    used.add(end)


def least_leaving(shape: Demand) -> list[int]:
    """Least wavelengths that leave c blocks, over all sets of c blocks, in the configuration that needs most."""
    table = []
    for count in range(shape.num_blocks + 1):
        least = None
        for blocks in combinations(range(shape.num_blocks), count):
            most = 0
            for _, circuits in shape.configurations:
                leaving = sum(
                    w for s, d, w in circuits if s // shape.block in blocks and d // shape.block not in blocks
                )
                entering = sum(
                    w for s, d, w in circuits if d // shape.block in blocks and s // shape.block not in blocks
                )
                assert leaving == entering
                most = max(most, leaving)
            least = most if least is None else min(least, most)
        assert least is not None
        table.append(least)
    return table
