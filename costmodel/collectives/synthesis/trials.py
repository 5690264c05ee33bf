"""One trial: a schedule of a collective with a number of parts, by the quick ways of this folder."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from costmodel.collectives.ladder import Collective
from costmodel.collectives.synthesis.network import Network
from costmodel.collectives.synthesis.relaying import relay
from costmodel.collectives.synthesis.rounding import ways_of
from costmodel.collectives.synthesis.spreading import spread
from costmodel.collectives.synthesis.timed import (
    TimedSchedule,
    backwards,
    chunk_bytes_of,
    one_after_the_other,
)

PATIENCE = (1.0, 0.0, 0.5)
"""of routes that wait for a better sender"""


class TrialSettings(NamedTuple):
    """How a schedule is looked for."""

    parts: int
    patience: float = 0.0
    """see `spreading`; an all-to-all has none"""


@dataclass(frozen=True)
class CollectiveQuestion:
    """What is asked: a collective of one message on a network."""

    network: Network
    collective: Collective
    message_bytes: float
    flows: NDArray[np.float64] | None = None
    """of an all-to-all: (ranks, links), see `rounding`"""

    @cached_property
    def turned(self) -> Network:
        return self.network.reversed()

    def transfers(self, parts: int) -> int:
        """Of a schedule with so many parts, relays of an all-to-all left out."""
        ranks = self.network.ranks
        return parts * (ranks - 1) * {"broadcast": 1, "all_reduce": 2 * ranks}.get(self.collective, ranks)

    def trial(self, settings: TrialSettings, number: int, seed: int) -> TimedSchedule:
        """A schedule; number 0 has no random changes, and but for an all-to-all is the same for all seeds."""
        parts, patience = settings
        rng = np.random.default_rng((seed, parts, number))
        noise = rng if number else None
        if self.collective == "all_to_all":
            return self._exchange(parts, rng, noise)
        if self.collective in ("broadcast", "all_gather"):
            return self._spread(self.network, self.collective, parts, patience, noise)
        scatter = backwards(self._spread(self.turned, "all_gather", parts, patience, noise), self.network)
        if self.collective == "reduce_scatter":
            return scatter
        return one_after_the_other(scatter, self._spread(self.network, "all_gather", parts, patience, noise))

    def _spread(
        self,
        network: Network,
        collective: Collective,
        parts: int,
        patience: float,
        noise: np.random.Generator | None,
    ) -> TimedSchedule:
        chunk_bytes = self._chunk_bytes(parts)
        sources = [0] * parts if collective == "broadcast" else [c // parts for c in range(network.ranks * parts)]
        transfers = spread(network, sources, chunk_bytes, patience=patience, rng=noise)
        return TimedSchedule(network, collective, parts, chunk_bytes, transfers)

    def _exchange(self, parts: int, rng: np.random.Generator, noise: np.random.Generator | None) -> TimedSchedule:
        if self.flows is None:
            raise ValueError("flows: an all-to-all needs the flows of its linear program")
        chunk_bytes, network = self._chunk_bytes(parts), self.network
        transfers = relay(network, ways_of(network, self.flows, parts, rng), chunk_bytes, noise)
        return TimedSchedule(network, "all_to_all", parts, chunk_bytes, transfers)

    def _chunk_bytes(self, parts: int) -> float:
        return chunk_bytes_of(self.collective, self.network.ranks, parts, self.message_bytes)


def settings_tried(question: CollectiveQuestion, most_transfers: int) -> Iterator[TrialSettings]:
    """Of 1, 2, 3, 4, 6, 8, 12, 16, ... parts as long as schedules stay short; chunks have at least one byte."""
    pieces = 1 if question.collective == "broadcast" else question.network.ranks
    patience = PATIENCE if question.collective != "all_to_all" else (0.0,)
    parts, step = 1, 1
    while parts == 1 or (question.transfers(parts) <= most_transfers and parts <= question.message_bytes / pieces):
        yield from (TrialSettings(parts, each) for each in patience)
        if parts >= 4 and parts & (parts - 1) == 0:
            step = parts // 2
        parts += step
