"""All-reduce algorithms by name on one network, as functions of message and ranks: closed forms and best plans.

Trees and rings run over an ideal packet switch at `alpha`; Lumorph-r pays for new circuits in each round, as its paper
charges it; best plans hold circuits over several rounds where that is faster.
"""

from collections.abc import Callable
from functools import cache, partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from costmodel.collectives import closed_forms
from costmodel.collectives.family import Family, pareto, plans_of
from costmodel.collectives.ladder import Order
from costmodel.collectives.limits import Limits
from costmodel.spec import BytesPerSecond, Seconds, Spec

Floats: TypeAlias = NDArray[np.float64]
AllReduce: TypeAlias = Callable[[Floats, int], Floats]
"""message bytes of any shape, ranks -> seconds"""
RING, UNPIPELINED_TREE, PIPELINED_TREE, DOUBLE_TREE = "ring", "unpipelined tree", "pipelined tree", "double tree limit"
LUMORPH_2, LUMORPH_4, BOUND = "Lumorph-2", "Lumorph-4", "bound"
Kernel: TypeAlias = Callable[[Floats, int, float, float], float | Floats]
SWITCHED: dict[str, Kernel] = {
    RING: closed_forms.ring_all_reduce_s,
    UNPIPELINED_TREE: closed_forms.binomial_tree_all_reduce_s,
    PIPELINED_TREE: closed_forms.pipelined_tree_all_reduce_s,
    DOUBLE_TREE: closed_forms.double_tree_all_reduce_s,
}
"""closed forms over an ideal packet switch"""


class SharedNetwork(Spec):
    """Network of all ranks, whatever the algorithm."""

    alpha_s: Seconds = Field(gt=0)
    """fixed time of a round"""
    reconfiguration_s: Seconds
    """of switching to other circuits"""
    link_bytes_per_s: BytesPerSecond
    """egress of a rank, in one direction"""
    wavelengths: int = Field(ge=1)
    peers: tuple[int, ...] = Field(min_length=1)
    """most peers of a rank at once, ascending; best plans are found for each"""


def best(peers: int) -> str:
    """Name of the best plan with so many peers at once."""
    return f"best plan of {peers} peers"


def alternating(peers: int) -> str:
    """The same, if exchanges of whole messages go through their circuits backwards every other time."""
    return f"{best(peers)}, exchanges alternating"


def algorithms(network: SharedNetwork) -> dict[str, AllReduce]:
    """Every algorithm by its name, and the lower bound."""
    found: dict[str, AllReduce] = {name: partial(_switched_s, network, kernel) for name, kernel in SWITCHED.items()}
    found |= {LUMORPH_2: partial(_lumorph_s, network, 2), LUMORPH_4: partial(_lumorph_s, network, 4)}
    for peers in network.peers:
        found[best(peers)] = partial(_best_s, network, peers, False)
        found[alternating(peers)] = partial(_best_s, network, peers, True)
    return found | {BOUND: partial(_bound_s, network)}


def radices_of(ranks: int, radix: int) -> tuple[int, ...]:
    """As many factors `radix` as divide the ranks, and what is left: 128 by 4 is 4 x 4 x 4 x 2."""
    found: list[int] = []
    while ranks % radix == 0:
        found.append(radix)
        ranks //= radix
    return (*found, ranks) if ranks > 1 else tuple(found)


def _switched_s(network: SharedNetwork, kernel: Kernel, message_bytes: Floats, ranks: int) -> Floats:
    return np.asarray(kernel(message_bytes, ranks, network.alpha_s, network.link_bytes_per_s))


def _bound_s(network: SharedNetwork, message_bytes: Floats, ranks: int) -> Floats:
    rate = network.link_bytes_per_s
    return np.asarray(closed_forms.all_reduce_bound_s(message_bytes, ranks, max(network.peers), network.alpha_s, rate))


def _lumorph_s(network: SharedNetwork, radix: int, message_bytes: Floats, ranks: int) -> Floats:
    alpha_s = network.alpha_s + network.reconfiguration_s
    radices = radices_of(ranks, radix)
    return np.asarray(
        closed_forms.mixed_radix_all_reduce_s(
            message_bytes, radices, alpha_s, network.link_bytes_per_s, network.wavelengths
        )
    )


def _best_s(network: SharedNetwork, peers: int, alternates: bool, message_bytes: Floats, ranks: int) -> Floats:
    latency_s, seconds_per_byte = _fastest_plans(network, peers, alternates, ranks)
    return np.asarray((latency_s + np.multiply.outer(message_bytes, seconds_per_byte)).min(axis=-1))


@cache
def _fastest_plans(network: SharedNetwork, peers: int, alternates: bool, ranks: int) -> tuple[Floats, Floats]:
    """Latency and seconds per byte of the plans that no other beats in both, each of shape (P,).

    Radices divide the ranks, as published. An exchange that alternates keeps the last circuits of one call for the
    first of the next: one change fewer.
    """
    wavelength_bytes_per_s = network.link_bytes_per_s / network.wavelengths
    limits = Limits(network.wavelengths, peers, network.alpha_s, network.reconfiguration_s, wavelength_bytes_per_s)
    orders: tuple[Order, ...] = ("alternating",) if alternates else ("fixed",)
    kept = pareto(plans_of("all_reduce", ranks, limits, Family(orders=orders, padded=False)))
    return np.array([plan.latency_s for plan in kept]), np.array([plan.seconds_per_byte for plan in kept])
