"""The flows of an all-to-all that keep the busiest link least busy, and the bound that their linear program proves."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from costmodel.collectives.synthesis.network import Network
from planner.formulation.linear import Rows, minimized

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ExchangeFlows:
    """Flows of an all-to-all in which each rank gives each other one unit."""

    seconds_per_byte: float
    """proven: with one byte for each pair no schedule takes less, latency left out"""
    flows: Floats
    """(ranks, links): what each rank sends over each link"""


def exchange_flows(network: Network, time_limit_s: float) -> ExchangeFlows | None:
    """Maximum concurrent flow (Shahrokhi and Matula, J. ACM 37, 1990), what leaves one rank as one commodity; None
    where the time does not suffice."""
    ranks, links = network.ranks, len(network.links)
    fastest = max(link.bytes_per_s for link in network.links)
    worst = ranks * ranks * fastest / min(link.bytes_per_s for link in network.links)
    box = np.array([(0.0, float(ranks))] * (ranks * links) + [(0.0, worst)])
    objective = np.zeros(len(box))
    objective[-1] = 1.0
    found = minimized(_rows(network, fastest), box, objective, time_limit_s)
    if found is None:
        return None
    return ExchangeFlows(found.bound / fastest, found.columns[:-1].reshape(ranks, links))


def _rows(network: Network, fastest: float) -> Rows:
    """Columns are flows by rank and link, then the time of the busiest link; a unit of time is one unit of flow over
    the fastest link."""
    ranks, links = network.ranks, len(network.links)
    ends = [(link.source, link.destination) for link in network.links]
    rows = Rows()
    for source in range(ranks):
        for node in (node for node in range(network.nodes) if node != source):
            into = [source * links + i for i, (_, after) in enumerate(ends) if after == node]
            out = [source * links + i for i, (before, _) in enumerate(ends) if before == node]
            asked = float(node < ranks)
            rows.add([*into, *out], [1.0] * len(into) + [-1.0] * len(out), asked, asked)
    for i, link in enumerate(network.links):
        columns = [*range(i, ranks * links, links), ranks * links]
        rows.add(columns, [1.0] * ranks + [-link.bytes_per_s / fastest], -np.inf, 0.0)
    return rows
