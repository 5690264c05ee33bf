"""Scalar oracles of collective times, and a simulation of all-reduce plans chunk by chunk.

Plain Python: loops over rounds, whole-number searches instead of logarithms, no shared code with the
kernels. One rank moves nothing.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise, product

from costmodel.collectives.plan import CollectivePlan

Transfer = tuple[int, int, frozenset[int]]
"""source rank, destination rank, chunks"""


def rounds_to_reach(count: int, factor: int) -> int:
    """Rounds until a set that grows by `factor` each round has `count` members."""
    rounds, reached = 0, 1
    while reached < count:
        reached, rounds = reached * factor, rounds + 1
    return rounds


def peer_bytes_per_s(radix: int, bytes_per_s: float, wavelengths: int) -> float:
    """Rate of one of radix - 1 equal circuits of whole wavelengths."""
    return wavelengths // (radix - 1) * (bytes_per_s / wavelengths)


def ring_reduce_scatter(message: float, ranks: int, alpha: float, rate: float) -> float:
    return sum(alpha + message / ranks / rate for _ in range(ranks - 1))


def ring_all_reduce(message: float, ranks: int, alpha: float, rate: float) -> float:
    return ring_reduce_scatter(message, ranks, alpha, rate) * 2


def binomial_tree_all_reduce(message: float, ranks: int, alpha: float, rate: float) -> float:
    return sum(alpha + message / rate for _ in range(2 * rounds_to_reach(ranks, 2)))


def pipelined_tree_all_reduce(message: float, ranks: int, alpha: float, rate: float, most_chunks: int) -> float:
    """Least time over 1 to `most_chunks` chunks, each tried."""
    height = rounds_to_reach(ranks, 2)
    if height == 0:
        return 0.0
    return min(2 * (height + chunks - 1) * (alpha + message / (chunks * rate)) for chunks in range(1, most_chunks + 1))


def double_tree_all_reduce(message: float, ranks: int, alpha: float, rate: float) -> float:
    return 0.0 if ranks == 1 else 2 * rounds_to_reach(ranks, 2) * alpha + 2 * message / rate


def mixed_radix_reduce_scatter(
    message: float, radices: list[int], alpha: float, rate: float, wavelengths: int
) -> float:
    time, kept = 0.0, message
    for radix in radices:
        kept /= radix
        if radix > 1:
            time += alpha + kept / peer_bytes_per_s(radix, rate, wavelengths)
    return time


def mixed_radix_all_reduce(message: float, radices: list[int], alpha: float, rate: float, wavelengths: int) -> float:
    return 2 * mixed_radix_reduce_scatter(message, radices, alpha, rate, wavelengths)


def full_exchange_all_reduce(message: float, radices: list[int], alpha: float, rate: float, wavelengths: int) -> float:
    circuits = [peer_bytes_per_s(radix, rate, wavelengths) for radix in radices if radix > 1]
    return sum(alpha + message / circuit for circuit in circuits)


def tree_broadcast(message: float, ranks: int, peers: int, alpha: float, rate: float, wavelengths: int) -> float:
    round_s = alpha + message / peer_bytes_per_s(peers + 1, rate, wavelengths)
    return rounds_to_reach(ranks, peers + 1) * round_s


def direct_all_to_all(message: float, ranks: int, peers: int, alpha: float, rate: float, wavelengths: int) -> float:
    time, left = 0.0, ranks - 1
    while left > 0:
        time += alpha + message / ranks / peer_bytes_per_s(peers + 1, rate, wavelengths)
        left -= peers
    return time


def bruck_all_to_all(message: float, ranks: int, radix: int, alpha: float, rate: float, wavelengths: int) -> float:
    round_s = alpha + message / radix / peer_bytes_per_s(radix, rate, wavelengths)
    return rounds_to_reach(ranks, radix) * round_s


def torus_all_reduce(message: float, side: int, dimensions: int, alpha: float, rate: float) -> float:
    """Each of d chunks, half in each direction, goes round one ring of links of rate/2d after another."""
    chunk, link = message / dimensions / 2, rate / (2 * dimensions)
    time = 0.0
    for _ in range(dimensions):
        time += sum(alpha + chunk / side / link for _ in range(side - 1))
        chunk /= side
    return 2 * time


def sipac_all_reduce(message: float, radix: int, levels: int, alpha: float, rate: float, chunks: int) -> float:
    """Each level has 1/levels of the links; `chunks` (1, or levels, rotated) work on different levels."""
    if radix == 1:
        return 0.0
    part, link = message / chunks, rate / levels / (radix - 1)
    time = 0.0
    for _ in range(levels):
        part /= radix
        time += alpha + part / link
    return 2 * time


def lower_bound(times_message: float, message: float, ranks: int, peers: int, alpha: float, rate: float) -> float:
    if ranks == 1:
        return 0.0
    return max(rounds_to_reach(ranks, peers + 1) * alpha, times_message * message / rate)


def ordered_factorizations(number: int) -> Iterator[tuple[int, ...]]:
    """Every tuple of factors >= 2 with that product."""
    for length in range(1, number.bit_length()):
        factors = [factor for factor in range(2, number + 1) if number % factor == 0]
        for candidate in product(factors, repeat=length):
            value = 1
            for factor in candidate:
                value *= factor
            if value == number:
                yield candidate


def compositions(total: int) -> Iterator[tuple[int, ...]]:
    """Every tuple of positive numbers with that sum, by choosing where to cut."""
    for cuts in product((False, True), repeat=total - 1):
        ends = [0, *(i + 1 for i, cut in enumerate(cuts) if cut), total]
        yield tuple(end - start for start, end in pairwise(ends))


def least_seconds_per_byte(
    ranks: int, wavelengths: int, max_peers: int, wavelength_rate: float
) -> dict[tuple[str, tuple[int, ...], tuple[int, ...]], float]:
    """Least bandwidth term by (kind, radices, held), every wavelength tuple tried."""
    best: dict[tuple[str, tuple[int, ...], tuple[int, ...]], float] = {}
    for radices in ordered_factorizations(ranks):
        widths_of = [range(1, wavelengths + 1) for _ in radices]
        for held, widths in product(compositions(len(radices)), product(*widths_of)):
            if not _fits(radices, held, widths, wavelengths, max_peers):
                continue
            kept, radix_term, exchange_term = 1.0, 0.0, 0.0
            for radix, width in zip(radices, widths, strict=True):
                kept /= radix
                radix_term += 2 * kept / (width * wavelength_rate)
                exchange_term += 1 / (width * wavelength_rate)
            for kind, term in (("radix", radix_term), ("exchange", exchange_term)):
                key = (kind, radices, held)
                best[key] = min(term, best.get(key, term))
    return best


def _fits(
    radices: tuple[int, ...], held: tuple[int, ...], widths: tuple[int, ...], wavelengths: int, max_peers: int
) -> bool:
    start = 0
    for length in held:
        group = range(start, start + length)
        if sum((radices[i] - 1) * widths[i] for i in group) > wavelengths:
            return False
        if sum(radices[i] - 1 for i in group) > max_peers:
            return False
        start += length
    return True


def check_circuits(plan: CollectivePlan, wavelengths: int, max_peers: int) -> None:
    """Per configuration no rank sends or receives on too many wavelengths or peers; no circuit twice."""
    for circuits in plan.configurations():
        assert len({(source, destination) for source, destination, _ in circuits}) == len(circuits)
        for end in (0, 1):
            used, peers = Counter[int](), Counter[int]()
            for circuit in circuits:
                assert circuit[0] != circuit[1]
                assert circuit[2] >= 1
                used[circuit[end]] += circuit[2]
                peers[circuit[end]] += 1
            assert max(used.values(), default=0) <= wavelengths
            assert max(peers.values(), default=0) <= max_peers
            assert all(0 <= rank < plan.ranks for rank in used)


def _digits(rank: int, radices: tuple[int, ...]) -> list[int]:
    digits = []
    for radix in radices:
        rank, digit = divmod(rank, radix)
        digits.append(digit)
    return digits


def _rounds(plan: CollectivePlan) -> list[tuple[int, bool, list[Transfer]]]:
    """(configuration, whether receivers add, transfers) of each round; n chunks, or one if sent whole."""
    n = plan.ranks
    if plan.kind == "ring":
        return [
            (0, step < n - 1, [(p, (p + 1) % n, frozenset({(p - step) % n})) for p in range(n)])
            for step in range(2 * (n - 1))
        ]
    digits = [_digits(rank, plan.radices) for rank in range(n)]
    configuration_of = [c for c, length in enumerate(plan.held) for _ in range(length)]
    reduces = []
    for i, configuration in enumerate(configuration_of):
        transfers = []
        for p, q in product(range(n), repeat=2):
            if [j for j in range(len(plan.radices)) if digits[p][j] != digits[q][j]] != [i]:
                continue
            chunks = [c for c in range(n) if digits[c][: i + 1] == digits[q][: i + 1]]
            transfers.append((p, q, frozenset(chunks if plan.kind == "radix" else {0})))
        reduces.append((configuration, True, transfers))
    if plan.kind == "exchange":
        return reduces
    return reduces + [(c, False, [(q, p, sent) for p, q, sent in ts]) for c, _, ts in reversed(reduces)]


def simulate_s(
    plan: CollectivePlan, message: float, alpha: float, reconfiguration: float, wavelength_rate: float
) -> float:
    """Time of one of many identical all-reduces, moving sets of contributions over the plan's circuits.

    Asserts that data move only on circuits of the present configuration, that no contribution is added
    twice, and that every rank ends with all contributions to all chunks.
    """
    num_chunks = 1 if plan.kind == "exchange" else plan.ranks
    width_of = [{(u, v): width for u, v, width in circuits} for circuits in plan.configurations()]
    held = [[frozenset({rank})] * num_chunks for rank in range(plan.ranks)]
    rounds = _rounds(plan)
    time, present = 0.0, rounds[-1][0] if rounds else 0
    for configuration, is_reduction, transfers in rounds:
        time += reconfiguration if configuration != present else 0.0
        present = configuration
        before = [list(chunks) for chunks in held]
        slowest = 0.0
        for source, destination, chunks in transfers:
            width = width_of[present][source, destination]
            slowest = max(slowest, message * len(chunks) / num_chunks / (width * wavelength_rate))
            for chunk in chunks:
                arriving, own = before[source][chunk], held[destination][chunk]
                assert not (is_reduction and arriving & own), "a contribution is added twice"
                held[destination][chunk] = arriving | own if is_reduction else arriving
        time += alpha + slowest
    everyone = frozenset(range(plan.ranks))
    assert all(chunk == everyone for chunks in held for chunk in chunks)
    return time
