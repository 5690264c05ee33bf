"""Partitions of a server: boxes of listed extents at multiples of these, whole servers, and nothing else."""

from itertools import product
from math import prod
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from costmodel.fabrics import Torus
from tests.costmodel.fabrics.torus_cases import Sides, cubes, job, torus

GKE: tuple[Sides, ...] = ((2, 2, 1), (2, 2, 2), (2, 2, 4), (2, 4, 4))


def partitioned(partitions: tuple[Sides, ...] = GKE, sides: Sides = (4, 4, 4), **fields: Any) -> Torus:
    return torus(sides, servers=2, partitions=partitions, switches={"ports": 32, "energy": "20 pJ/b"}, **fields)


@st.composite
def divided(draw: st.DrawFn) -> tuple[Sides, tuple[Sides, ...]]:
    """Sides of a server, and partitions that each divide the next one."""
    chain: list[Sides] = [(1, 1, 1)]
    for _ in range(draw(st.integers(2, 4))):
        factors = draw(st.tuples(*[st.sampled_from([1, 1, 2, 3])] * 3))
        chain.append((chain[-1][0] * factors[0], chain[-1][1] * factors[1], chain[-1][2] * factors[2]))
    sides = chain[-1][0] * 2, chain[-1][1] * 2, chain[-1][2] * 2
    return sides, tuple(dict.fromkeys(chain[1:]))


@given(divided(), st.booleans())
def test_slices_are_what_tiles_the_server(given_: tuple[Sides, tuple[Sides, ...]], has_switches: bool) -> None:
    sides, partitions = given_
    if prod(sides) > 4096:
        return
    fabric = partitioned(partitions, sides) if has_switches else torus(sides, partitions=partitions)
    for box in partitions:
        tiles = {
            frozenset(
                (x * sides[1] + y) * sides[2] + z
                for x, y, z in product(*(range(o, o + extent) for o, extent in zip(origin, box, strict=True)))
            )
            for origin in product(*(range(0, side, extent) for side, extent in zip(sides, box, strict=True)))
        }
        assert {frozenset(each.slots) for each in fabric.slices(box)} == tiles
        assert sum(map(len, tiles)) == prod(sides), "every chip is in one"


def test_jobs_take_partitions_and_whole_servers_alone() -> None:
    plain, fabric = cubes((4, 4, 4), 2), partitioned()
    for box in product((1, 2, 3, 4, 8), repeat=3):
        if not plain.combines(job(data=box)):
            assert not fabric.combines(job(data=box))
            continue
        assert fabric.combines(job(data=box)) == (box in GKE or box in ((4, 4, 4), (8, 4, 4))), box
    assert fabric.combines(job(tensor=(2, 2, 1), data=(1, 1, 2)))
    assert not fabric.combines(job(tensor=(1, 2, 1), data=(1, 1, 2)))
    assert not fabric.combines(job()), "a chip by itself is no host"
    assert "2 x 2 x 1, 2 x 2 x 2, 2 x 2 x 4, 2 x 4 x 4 and 4 x 4 x 4" in fabric.sizes


@pytest.mark.parametrize("wrong", [((2, 2, 1), (2, 3, 1)), ((2, 2, 2), (2, 2, 1)), ((0, 1, 1),), ((8, 1, 1),)])
def test_what_does_not_divide_a_server_is_refused(wrong: tuple[Sides, ...]) -> None:
    with pytest.raises(ValueError, match=r"partitions: \[.*\] must divide sides \[4, 4, 4\] and be made of the first"):
        partitioned(wrong)


def test_boards_give_light_to_boxes_at_any_place() -> None:
    boards = {"sides": (2, 2, 1), "wavelengths_per_link": 2, "reconfiguration": "4 us"}
    with pytest.raises(ValueError, match="partitions: boards redirect light for boxes at any place"):
        partitioned(boards=boards)
