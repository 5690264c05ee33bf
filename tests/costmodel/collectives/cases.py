"""Limits and plans that several tests share."""

from costmodel.collectives.best import best
from costmodel.collectives.family import Family
from costmodel.collectives.ladder import Algorithm, Collective
from costmodel.collectives.limits import Limits
from costmodel.collectives.plan import CollectivePlan

ALPHA_S, RHO_S, RATE = 0.7e-6, 3.7e-6, 300e9
KIB, MIB = 2**10, 2**20
BEST_US = [
    (64, KIB, 3, 11.7), (64, KIB, 16, 1.5),
    (64, MIB, 3, 26.3), (64, MIB, 16, 17.5),
    (256, 64 * KIB, 3, 20.4), (256, 64 * KIB, 16, 6.7),
    (256, MIB, 3, 35.0), (256, MIB, 16, 17.6),
    (256, 256 * MIB, 3, 1835), (256, 256 * MIB, 16, 1826),
]  # fmt: skip
"""ranks, bytes, peers at once, and the microseconds of the best simple all-reduce"""


def limits(max_peers: int = 16, wavelengths: int = 16) -> Limits:
    """The rack of paper 003: 300 GB/s over 16 wavelengths."""
    return Limits(wavelengths, max_peers, ALPHA_S, RHO_S, RATE / 16)


def best_of(
    algorithm: Algorithm,
    collective: Collective,
    ranks: int,
    message_bytes: float,
    max_peers: int = 3,
    **family: object,
) -> CollectivePlan:
    """The best plan of one algorithm."""
    return best(collective, ranks, message_bytes, limits(max_peers), Family((algorithm,), **family)).plan  # type: ignore[arg-type]
