"""Small networks, and random ones."""

from hypothesis import strategies as st

from costmodel.collectives.synthesis.network import Link, Network


def network_of(ranks: int, pairs: list[tuple[int, int]], *, switches: int = 0, rate: float = 1.0) -> Network:
    """Links of one rate and no latency, one each way for each pair."""
    both = [*pairs, *((b, a) for a, b in pairs)]
    return Network("test", ranks, switches, tuple(Link(a, b, rate, 0.0) for a, b in both))


def ring(ranks: int) -> Network:
    return network_of(ranks, [(rank, (rank + 1) % ranks) for rank in range(ranks)])


def star(ranks: int) -> Network:
    """All ranks on one switch."""
    return network_of(ranks, [(rank, ranks) for rank in range(ranks)], switches=1)


def path(ranks: int) -> Network:
    return network_of(ranks, [(rank, rank + 1) for rank in range(ranks - 1)])


NETWORKS = {"ring3": ring(3), "ring4": ring(4), "star3": star(3), "star4": star(4), "path3": path(3), "path4": path(4)}


@st.composite
def networks(draw: st.DrawFn, most_ranks: int = 4) -> Network:
    """Joined by a path of links, with more links and perhaps a switch; rates and latencies differ."""
    ranks, switches = draw(st.integers(2, most_ranks)), draw(st.integers(0, 1))
    pairs = {(rank, rank + 1) for rank in range(ranks - 1)}
    pairs |= draw(st.sets(st.tuples(st.integers(0, ranks - 1), st.integers(0, ranks - 1)), max_size=4))
    pairs |= {(rank, ranks) for rank in range(ranks)} if switches else set()
    ends = sorted({pair for a, b in pairs if a != b for pair in ((a, b), (b, a))})
    values = st.tuples(st.sampled_from([1e9, 2e9, 5e9]), st.sampled_from([0.0, 1e-6, 3e-6]))
    return Network("drawn", ranks, switches, tuple(Link(a, b, *draw(values)) for a, b in ends))
