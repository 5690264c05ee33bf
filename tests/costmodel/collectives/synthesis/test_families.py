"""Families on networks: where links are as the families think, times are those of their closed forms."""

import pytest

from costmodel.collectives import closed_forms
from costmodel.collectives.interpret import interpret
from costmodel.collectives.ladder import Collective
from costmodel.collectives.synthesis.families import best_family, ring_of
from costmodel.collectives.synthesis.network import Link, Network
from tests.costmodel.collectives.synthesis.networks import network_of, path, ring, star


def _one_way_ring(ranks: int, alpha_s: float) -> Network:
    return Network("ring", ranks, 0, tuple(Link(i, (i + 1) % ranks, 1.0, alpha_s) for i in range(ranks)))


@pytest.mark.parametrize("collective", ["all_gather", "reduce_scatter", "all_reduce"])
def test_on_a_ring_of_one_way_the_ring_is_best(collective: Collective) -> None:
    found = best_family(_one_way_ring(6, 0.25), collective, 60.0)
    form = getattr(closed_forms, f"ring_{collective}_s")
    assert found.name.startswith("ring")
    assert found.time_s == pytest.approx(float(form(60.0, 6, 0.25, 1.0)))
    assert interpret(found.schedule) == ()


def test_messages_of_a_round_share_links() -> None:
    """On a star what one rank sends to three others goes out one after the other."""
    assert best_family(star(4), "all_to_all", 4.0).time_s == pytest.approx(3.0)


def test_a_ring_takes_the_fast_links() -> None:
    fast, slow = [(0, 2), (2, 1), (1, 3), (3, 0)], [(0, 1), (2, 3)]
    links = [*network_of(4, fast, rate=2.0).links, *network_of(4, slow).links]
    found = ring_of(Network("n", 4, 0, tuple(links)))
    assert found is not None
    ends = {frozenset(pair) for pair in zip(found, (*found[1:], found[0]), strict=True)}
    assert ends == {frozenset(pair) for pair in fast}
    assert ring_of(path(3)) is None


def test_where_no_ring_is_messages_go_through_other_ranks() -> None:
    found = best_family(path(3), "all_gather", 3.0)
    assert found.time_s >= 2.0
    assert ring_of(ring(5)) is not None
