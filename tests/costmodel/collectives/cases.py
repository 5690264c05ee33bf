"""Limits and plans that several tests share."""

from costmodel.collectives.best import best
from costmodel.collectives.family import Family
from costmodel.collectives.ladder import Algorithm, Collective
from costmodel.collectives.limits import Limits
from costmodel.collectives.plan import CollectivePlan

ALPHA_S, RHO_S, RATE = 0.7e-6, 3.7e-6, 300e9
KIB, MIB = 2**10, 2**20


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
