"""The best plan of a collective, with the gap to a bound that no plan beats."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from costmodel import collectives
from costmodel.plans.ladder import Algorithm, Collective, Order, ladder
from costmodel.plans.limits import Limits
from costmodel.plans.plan import Plan, tree_depth
from costmodel.plans.search import Digit, search

ALGORITHMS: dict[Collective, tuple[Algorithm, ...]] = {
    "all_reduce": ("ring", "radix", "exchange"),
    "reduce_scatter": ("ring", "radix"),
    "all_gather": ("ring", "radix"),
    "broadcast": ("fixed_tree", "tree", "scatter"),
    "all_to_all": ("direct", "bruck"),
}
ORDERS: tuple[Order, ...] = ("fixed", "alternating")
MOST_RANKS = 4096


@dataclass(frozen=True)
class Family:
    """Which plans are considered; all of them unless told otherwise."""

    algorithms: tuple[Algorithm, ...] | None = None
    """None: every algorithm of the collective"""
    orders: tuple[Order, ...] = ORDERS
    """order of the configurations on successive calls"""
    padded: bool = True
    """whether radices may reach beyond the number of ranks"""
    overlap: bool = False
    """whether circuits that do not change may send while the others turn"""


EVERY_PLAN = Family()


@dataclass(frozen=True)
class Best:
    """The fastest plan of a family, its time and a lower bound on the time of any plan."""

    plan: Plan
    time_s: float
    bound_s: float

    @property
    def gap(self) -> float:
        """How much longer than the bound the plan takes: 0.03 is 3 %."""
        return self.time_s / self.bound_s - 1 if self.bound_s > 0 else 0.0


@lru_cache(maxsize=4096)
def best(collective: Collective, ranks: int, message_bytes: float, limits: Limits, family: Family = EVERY_PLAN) -> Best:
    """Fastest plan of a family for one message; of equals, the earlier algorithm of `ALGORITHMS`.

    Exact over all ordered radices (those whose product exceeds the ranks included) x held groups x whole
    wavelengths x orders. Ranks that fold into a smaller group before and out after need no entry: a digit of
    radix 2 in front does the same in half the rounds, with as many peers and no more data.
    """
    if not 1 <= ranks <= MOST_RANKS:
        raise ValueError(f"ranks: must be 1 to {MOST_RANKS}, got {ranks}; plan the parts of a larger group")
    if not 0 <= message_bytes < float("inf"):
        raise ValueError(f"message_bytes: must be a finite number from 0, got {message_bytes}")
    plans = list(_plans(collective, ranks, float(message_bytes), limits, family))
    if not plans:
        raise ValueError(f"family: has no plan for {collective} of {ranks} ranks; allow more algorithms or peers")
    times = [plan.time_s(message_bytes) for plan in plans]
    least = min(range(len(plans)), key=times.__getitem__)
    return Best(plans[least], times[least], bound_s(collective, ranks, message_bytes, limits))


def bound_s(collective: Collective, ranks: int, message_bytes: float, limits: Limits) -> float:
    """Least time of any plan: the larger of the bounds by latency and by bandwidth in `costmodel.collectives`."""
    bound = getattr(collectives, f"{collective}_bound_s")
    return float(bound(message_bytes, ranks, limits.most_peers, limits.alpha_s, limits.link_bytes_per_s))


def _plans(collective: Collective, ranks: int, message_bytes: float, limits: Limits, family: Family) -> Iterator[Plan]:
    """The best plan of each algorithm and order."""
    allowed = family.algorithms or ALGORITHMS[collective]
    for algorithm in (name for name in ALGORITHMS[collective] if name in allowed):
        if algorithm == "ring":
            yield Plan(collective, "ring", ranks, limits, (), (1,), (limits.wavelengths,))
        elif algorithm == "fixed_tree":
            yield _fixed_tree(ranks, message_bytes, limits)
        else:
            for order in _orders(collective, algorithm, family):
                yield from _switched(collective, algorithm, ranks, message_bytes, limits, family, order)


def _orders(collective: Collective, algorithm: Algorithm, family: Family) -> tuple[Order, ...]:
    """Orders worth a search: there and back is in order by itself, alternating is otherwise never slower.

    Only for a reduce-scatter or all-gather does the order decide how much each digit sends.
    """
    if collective in ("reduce_scatter", "all_gather"):
        return family.orders
    if algorithm == "scatter" or (collective == "all_reduce" and algorithm == "radix"):
        return ("fixed",)
    return ("alternating",) if "alternating" in family.orders else ("fixed",)


def _switched(
    collective: Collective,
    algorithm: Algorithm,
    ranks: int,
    message_bytes: float,
    limits: Limits,
    family: Family,
    order: Order,
) -> Iterator[Plan]:
    steps = ladder(algorithm, collective, ranks, order, family.padded)
    found = search(steps, limits, message_bytes, family.overlap)
    if found is None:
        return
    digits = found[1]
    groups = list(_groups(digits))
    is_single = len(groups) == 1
    yield Plan(
        collective,
        algorithm,
        ranks,
        limits,
        tuple(digit.radix for digit in digits),
        tuple(len(group) for group in groups),
        tuple(digit.width for digit in digits),
        "fixed" if is_single else order,
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


def _fixed_tree(ranks: int, message_bytes: float, limits: Limits) -> Plan:
    """A tree that is never changed, of the best fan-out."""
    plans = [
        Plan("broadcast", "fixed_tree", ranks, limits, (fan_out + 1,), (1,), (limits.wavelengths // fan_out,))
        for fan_out in range(1, limits.most_peers + 1)
        if fan_out == 1 or tree_depth(ranks, fan_out) < tree_depth(ranks, fan_out - 1)
    ]
    return min(plans, key=lambda plan: plan.time_s(message_bytes))
