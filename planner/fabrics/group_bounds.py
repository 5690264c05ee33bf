"""Least wavelengths that leave some of the ranks of one group: bounds for rings, exact radices, shifts and caches."""

from math import gcd, prod

import numpy as np
from numpy.typing import NDArray

from costmodel.fabrics import GroupPlan
from planner.fabrics.kept_circuits import while_kept

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@while_kept
def group_bound(plan: GroupPlan) -> Ints:
    """Least wavelengths that leave c of the ranks of one group in its busiest configuration, shape (ranks + 1,).

    Caches go within gcd(P, D) chains of (P + D) / gcd ranks: no fewer leave any ranks that fill no chains.
    """
    c = np.arange(plan.ranks + 1)
    if plan.kind in ("ring", "line"):
        return np.where((c > 0) & (c < plan.ranks), plan.wavelengths[0], 0)
    if plan.kind == "transfer":
        return np.where(c % (plan.ranks // gcd(*plan.radices[:2])) > 0, plan.wavelengths[0], 0)
    has_digits = plan.kind in ("radix", "exchange") and prod(plan.radices) == plan.ranks
    bound = _digits_bound(plan, c) if has_digits else _shifts_bound(plan, c)
    return np.ceil(bound - 1e-9).astype(np.int64)


def _digits_bound(plan: GroupPlan, c: Ints) -> Floats:
    """Digit d of radix r splits its complete graphs into a and r - a ranks: at least (c mod r)(r - c mod r) leave.

    Over all digits the Efron-Stein inequality gives sum_d leaving_d / r_d >= c (n - c) / n.
    """
    n = plan.ranks
    best = np.zeros(n + 1)
    digits = iter(zip(plan.radices, plan.wavelengths, strict=True))
    widest = 0.0
    for held in plan.held:
        group = [next(digits) for _ in range(held)]
        best = np.maximum(best, sum(w * (c % r) * (r - c % r) for r, w in group))
        widest += max(1 / (r * w) for r, w in group)
    return np.asarray(np.maximum(best, c * (n - c) / n / widest))


def _shifts_bound(plan: GroupPlan, c: Ints) -> Floats:
    """Circuits to the rank s ahead make cycles of n / gcd(s, n) ranks: they leave any c ranks that fill no cycles.

    In Fourier terms at least gap x c (n - c) / n wavelengths leave, the gap being the least over j from 1 to n - 1 of
    sum_s w_s (1 - cos 2 pi j s / n). Of what leaves in all configurations the busiest has its share at least.
    """
    n = plan.ranks
    best, total = np.zeros(n + 1), np.zeros(n - 1)
    turns = 2 * np.pi * np.arange(1, n) / n
    for circuits in plan.configurations():
        ahead = [(to, width) for rank, to, width in circuits if rank == 0]
        best = np.maximum(best, sum(width * (c % (n // gcd(far, n)) > 0) for far, width in ahead))
        gaps = np.sum([width * (1 - np.cos(turns * far)) for far, width in ahead], axis=0)
        best = np.maximum(best, c * (n - c) / n * gaps.min())
        total += gaps
    return np.asarray(np.maximum(best, c * (n - c) / n * total.min() / len(plan.held)))
