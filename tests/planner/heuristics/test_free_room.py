"""How many jobs of one size fit on what is free, by counting."""

from itertools import combinations
from random import Random
from time import process_time

import pytest

from planner.checks.fitting import jobs_between
from planner.cpsat.step1.objectives.fitting import jobs_that_fit
from planner.fabrics import fabrics
from planner.heuristics.free_room import most_packed, parts
from planner.model.files import parse_text
from planner.model.instance import Cluster


def fat_tree(servers: int) -> Cluster:
    text = "cluster:\n  device: h100-sxm\n" + fabrics()["fat_tree"].template.text(servers=servers, tiles=8, fibers=1)
    return Cluster.model_validate(parse_text(text, "new")["cluster"])


def test_never_more_than_an_exact_search() -> None:
    random, met = Random(3), 0
    for _ in range(300):
        number, size = random.randint(1, 7), random.randint(2, 9)
        free = [random.randint(0, 9) for _ in range(number)]
        links = frozenset(pair for pair in combinations(range(number), 2) if random.random() < 0.8)

        def may_span(a: int, b: int, links: frozenset[tuple[int, int]] = links) -> bool:
            return (min(a, b), max(a, b)) in links

        least, most = jobs_between(tuple(free), links, size)
        found = most_packed(dict(enumerate(free)), size, may_span)
        bound = sum(sum(free[server] for server in part) // size for part in parts(free, size, may_span))
        assert found <= least == most <= bound
        met += found == most
    assert met > 280


@pytest.mark.parametrize(("free", "size", "expected"), [((6, 1, 1), 4, 2), ((3,) * 8, 4, 6), ((3,) * 5, 8, 0)])
def test_by_hand(free: tuple[int, ...], size: int, expected: int) -> None:
    """A server with enough lends to two; eight threes make two trees of four; a pair of threes is too small."""
    assert most_packed(dict(enumerate(free)), size, lambda a, b: True) == expected


def test_an_empty_cluster_of_many_servers_takes_no_time() -> None:
    cluster, free = fat_tree(512), [8] * 511 + [5]
    started_s = process_time()
    for size in (2, 4, 12, 16):
        assert jobs_that_fit(cluster, size, free, {}) == sum(free) // size
    assert process_time() - started_s < 2
