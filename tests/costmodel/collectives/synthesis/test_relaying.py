"""All-to-alls along given ways."""

from costmodel.collectives.synthesis.relaying import relay
from tests.costmodel.collectives.synthesis.networks import path


def test_what_has_far_to_go_goes_first() -> None:
    """Rank 0 of a path sends to the end before it sends to its neighbour."""
    network = path(3)
    near, far = (1, ((0,),)), (2, ((0,), (1,)))
    sent = relay(network, [near, far], 1.0, None)
    assert [(each.chunk, each.links, each.start_s) for each in sent] == [(2, (0,), 0.0), (1, (0,), 1.0), (2, (1,), 1.0)]


def test_ways_without_links_need_no_time() -> None:
    assert relay(path(2), [(0, ())], 1.0, None) == ()
