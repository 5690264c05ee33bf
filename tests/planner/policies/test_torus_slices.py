"""The torus of a job is as cubic as its servers allow."""

from math import prod

import pytest

from planner.policies.torus_slices import torus_of


@pytest.mark.parametrize(
    ("servers", "per_server", "sides"),
    [
        (8, 8, (4, 4, 4)),
        (8, 32, (4, 8, 8)),
        (32, 8, (4, 8, 8)),
        (16, 4, (4, 4, 4)),
        (2, 3, (1, 2, 3)),
        (1, 1, (1, 1, 1)),
    ],
)
def test_the_torus_is_as_cubic_as_its_servers_allow(servers: int, per_server: int, sides: tuple[int, ...]) -> None:
    box, grid = torus_of(servers, per_server)
    assert (prod(box), prod(grid)) == (per_server, servers)
    assert tuple(sorted(a * b for a, b in zip(box, grid, strict=True))) == sides
