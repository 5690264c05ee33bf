"""The best plan of a collective, with the gap to a bound that no plan beats."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from costmodel.collectives import closed_forms
from costmodel.collectives.family import EVERY_PLAN, Family, kinds_of, orders_of, plans_of
from costmodel.collectives.ladder import Collective, ladder
from costmodel.collectives.limits import Limits
from costmodel.collectives.plan import CollectivePlan
from costmodel.collectives.search import Digit, search


@dataclass(frozen=True)
class Best:
    """The fastest plan of a family, its time and a lower bound on the time of any plan."""

    plan: CollectivePlan
    time_s: float
    bound_s: float

    @property
    def gap(self) -> float:
        """How much longer than the bound the plan takes: 0.03 is 3 %."""
        return self.time_s / self.bound_s - 1 if self.bound_s > 0 else 0.0


@lru_cache(maxsize=4096)
def best(collective: Collective, ranks: int, message_bytes: float, limits: Limits, family: Family = EVERY_PLAN) -> Best:
    """Fastest plan of a family for one message; of equals, the earlier algorithm of `ALGORITHMS`."""
    if not 0 <= message_bytes < float("inf"):
        raise ValueError(f"message_bytes: must be a finite number from 0, got {message_bytes}")
    plans = list(plans_of(collective, ranks, limits, family))
    if family.overlap:
        plans += _overlapping(collective, ranks, float(message_bytes), limits, family)
    if not plans:
        raise ValueError(f"family: has no plan for {collective} of {ranks} ranks; allow more algorithms or peers")
    times = [plan.time_s(message_bytes) for plan in plans]
    least = min(range(len(plans)), key=times.__getitem__)
    return Best(plans[least], times[least], bound_s(collective, ranks, message_bytes, limits))


def bound_s(collective: Collective, ranks: int, message_bytes: float, limits: Limits) -> float:
    """Least time of any plan: the larger of the bounds by latency and by bandwidth in `closed_forms`."""
    bound = getattr(closed_forms, f"{collective}_bound_s")
    return float(bound(message_bytes, ranks, limits.most_peers, limits.alpha_s, limits.link_bytes_per_s))


def _overlapping(
    collective: Collective, ranks: int, message_bytes: float, limits: Limits, family: Family
) -> Iterator[CollectivePlan]:
    """The best plan of each algorithm that changes its circuits, with bridges where they help."""
    for kind in kinds_of(collective, family):
        for order in orders_of(collective, kind, family) if kind not in ("ring", "fixed_tree") else ():
            found = search(ladder(kind, collective, ranks, order, family.padded), limits, message_bytes)
            if found is None:
                continue
            groups = list(_groups(found[1]))
            yield CollectivePlan(
                collective,
                kind,
                ranks,
                limits,
                tuple(digit.radix for digit in found[1]),
                tuple(len(group) for group in groups),
                tuple(digit.width for digit in found[1]),
                "fixed" if len(groups) == 1 else order,
                tuple(group[-1].after == "bridge" for group in groups[:-1]),
            )


def _groups(digits: list[Digit]) -> Iterator[list[Digit]]:
    """Digits of each configuration."""
    group: list[Digit] = []
    for digit in digits:
        group.append(digit)
        if digit.after != "on":
            yield group
            group = []
    if group or not digits:
        yield group
