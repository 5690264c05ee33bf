"""Shared by the tests of `circuits`, `digits`, `family`, `front` and `plan`."""

import numpy as np

from costmodel.collectives.family import Family, plans_of
from costmodel.collectives.ladder import Algorithm
from costmodel.collectives.limits import Limits
from costmodel.collectives.plan import CollectivePlan
from tests.costmodel.collectives.cases import ALPHA_S, RATE, RHO_S

W = 16
WAVELENGTH_RATE = RATE / W
EXACT = Family(orders=("fixed",), padded=False)


def family(ranks: int, max_peers: int = 16, wavelengths: int = W, which: Family = EXACT) -> tuple[CollectivePlan, ...]:
    limits = Limits(wavelengths, max_peers, ALPHA_S, RHO_S, WAVELENGTH_RATE)
    return plans_of("all_reduce", ranks, limits, which)


def best_plan(plans: tuple[CollectivePlan, ...], message_bytes: float) -> CollectivePlan:
    return min(plans, key=lambda plan: plan.time_s(message_bytes))


def built(
    kind: Algorithm, radices: tuple[int, ...], held: tuple[int, ...], wavelengths: tuple[int, ...]
) -> CollectivePlan:
    limits = Limits(W, 16, ALPHA_S, RHO_S, WAVELENGTH_RATE)
    return CollectivePlan("all_reduce", kind, int(np.prod(radices)), limits, radices, held, wavelengths)
