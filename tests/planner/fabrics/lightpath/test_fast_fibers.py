"""What a replay keeps in numbers against the light, the layouts and the rails that the planner counts anew."""

from random import Random
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from planner.fabrics.lightpath.fast_fibers import Spread, Spreads
from planner.fabrics.lightpath.free_state import LightpathFreeState
from planner.fabrics.lightpath.job_class import Boundaries, LightpathOption
from planner.fabrics.lightpath.layouts import layouts
from planner.fabrics.ocs_rail.rails import FreeRails, ServersByRails, on_rails
from planner.model.cluster import Cluster
from planner.simulate.placers import PLACERS
from tests.planner.simulate.grounds import FABRICS, cluster, come_and_go, ground, state_of

Ints = NDArray[np.int64]
SIZES = [1, 2, 4, 8, 16]


class _Row(NamedTuple):
    boundary: Ints


def _busy(seed: int) -> tuple[LightpathFreeState, dict[object, LightpathOption]]:
    """A lightpath on which jobs came and went, some fibers of which have failed."""
    health = {"failed_fibers": [{"from": "s0", "to": "s2", "index": 0}, {"from": "s3", "to": "s1", "index": 1}]}
    fabric = FABRICS["lightpath"] | {"fibers": 2}
    state = state_of(Cluster.model_validate({"device": "h100-sxm", "fabric": fabric, "health": health}))
    assert isinstance(state, LightpathFreeState)
    site = ground("g", state.cluster, SIZES)
    for _ in come_and_go(state, PLACERS["first_fit"](state, 0), site, SIZES, Random(seed), 60, 0.7):
        pass
    rows = [row for kind in site.kinds.values() for row in kind.rows]
    return state, {row.shape.key: row for row in rows if isinstance(row, LightpathOption)}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_kept_light_is_the_light_that_is_counted(seed: int) -> None:
    state, rows = _busy(seed)
    router = state.router
    assert router.fibers is not None
    random, seen = Random(seed), dict[object, int]()
    for _ in range(60):
        row = random.choice(list(rows.values()))
        chosen = sorted(random.sample(range(4), random.randint(2, 4)))
        cuts = sorted(random.sample(range(1, row.num_parts), len(chosen) - 1)) if row.num_parts >= len(chosen) else []
        if not cuts:
            continue
        counts = [b - a for a, b in zip([0, *cuts], [*cuts, row.num_parts], strict=True)]
        blocks = list(zip(chosen, counts, strict=True))
        spread = router.fibers.spread(blocks)
        light = router.light
        room = tuple(tuple(light.room(a, b) if a != b else 0 for b in chosen) for a in chosen)
        assert spread.room == room
        spreads = Spreads([blocks], router.fibers, Boundaries([row, row]))
        for look in (0, 1, 0):
            assert bool(list(spreads.open_to(look))) == state.may_span(row.shape, blocks)
        pairs = [(a, b) for a in chosen for b in chosen if a != b]
        fibers = (tuple((i, light.taken.get((a, b, i), 0)) for i in light.routes.fibers(a, b)) for a, b in pairs)
        assert seen.setdefault((tuple(counts), *fibers), spread.number) == spread.number
        assert set(row.layouts.within(spread.counts, spread.room)) == _within(row, spread)
    assert len(set(seen.values())) == len(seen) > 5


def _within(row: LightpathOption, spread: Spread) -> set[tuple[int, ...]]:
    """Orders with room, wavelength by wavelength of each configuration."""
    found = set()
    for order in layouts(row.shape, list(enumerate(spread.counts))):
        fits = True
        for between in (each.table for each in row.shape.between_blocks):
            needed = np.zeros((len(spread.counts),) * 2)
            for a, b in np.argwhere(between):
                needed[order[a], order[b]] += between[a, b]
            np.fill_diagonal(needed, 0)
            fits &= bool((needed <= np.array(spread.room)).all())
        if fits:
            found.add(tuple(order))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_the_next_row_with_an_open_way_is_that_of_a_look_at_each(seed: int) -> None:
    state, rows = _busy(seed)
    assert state.router.fibers is not None
    found = set()
    for blocks in ([(0, 4), (1, 4)], [(0, 2), (2, 6)]):
        alike = [row for row in rows.values() if row.num_parts == 8]
        shares = [Random(seed).uniform(0, 2) for _ in range(12)]
        boundaries = Boundaries([_Row((row.boundary * share).astype(np.int64)) for row in alike for share in shares])
        spreads = Spreads([blocks], state.router.fibers, boundaries)
        is_open = [bool(list(spreads.open_to(rank))) for rank in range(len(boundaries))]
        for rank in range(len(is_open)):
            following = [later for later in range(rank + 1, len(is_open)) if is_open[later]]
            assert spreads.open_after(rank) == min(following, default=len(is_open))
        found |= set(is_open)
    none = Spreads([], state.router.fibers, Boundaries([_Row(np.zeros(9, dtype=np.int64))] * 3))
    assert not list(none.open_to(0))
    assert none.open_after(0) == 3
    assert found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seed", "servers"), [*((seed, 12) for seed in range(30)), *((seed, 60) for seed in range(15))]
)
def test_servers_on_rails_are_those_of_a_plain_search(seed: int, servers: int) -> None:
    """The fullest server first, then the one that leaves the most common rails, of equal ones the fullest."""
    random = Random(seed)
    of = cluster("ocs_rail", servers=servers)
    kinds = ground("g", of, [4, 8, 16, 24, 32]).kinds
    rails = FreeRails(of)
    free = [{slot for slot in range(8) if random.random() < random.choice((0.2, 0.6, 0.95))} for _ in range(servers)]
    lit = ServersByRails([sum(1 << slot for slot in slots) for slots in free])
    found = [
        (list(on_rails(rails, row.shape, lit)), _plain(free, row.shape.block, row.shape.num_blocks))
        for kind in kinds.values()
        for row in kind.rows
        if row.shape.chooses_servers
    ]
    assert found
    assert all(mine == theirs for mine, theirs in found)


def _plain(free: list[set[int]], block: int, number: int) -> list[list[tuple[int, int]]]:
    servers = sorted((s for s in range(len(free)) if len(free[s]) >= block), key=lambda s: (len(free[s]), s))
    for first in servers[:8]:
        chosen, common = [first], free[first]
        while len(chosen) < number:
            left = [s for s in servers if s not in chosen]
            if not left:
                break
            best = max(left, key=lambda s: (len(common & free[s]), -len(free[s])))
            if len(common & free[best]) < block:
                break
            chosen.append(best)
            common = common & free[best]
        else:
            return [[(server, 1) for server in sorted(chosen)]]
    return []
