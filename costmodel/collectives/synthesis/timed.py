"""Schedules with times: which chunk goes over which links from when on."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from costmodel.collectives.ladder import Collective
from costmodel.collectives.synthesis.network import Network, Path


class Transfer(NamedTuple):
    """One chunk over one route."""

    chunk: int
    links: Path
    start_s: float
    adds: bool = False
    """whether it is added to what the receiver has of the chunk, all of which was added up before"""


@dataclass(frozen=True)
class TimedSchedule:
    """All transfers of one call, by time.

    Chunks are numbered as the slots of `costmodel.collectives.schedule`: chunk c of an all-gather comes from rank
    c // parts, chunk c of a reduce-scatter ends there, chunk (s n + d) parts + p of an all-to-all goes from s to d, and
    a broadcast begins on rank 0.
    """

    network: Network
    collective: Collective
    parts: int
    """chunks that what one rank gives (of an all-to-all: what it gives one other) is cut into"""
    chunk_bytes: float
    transfers: tuple[Transfer, ...]

    @property
    def finish_s(self) -> float:
        """When the last chunk has arrived."""
        return max((self.arrival_s(each) for each in self.transfers), default=0.0)

    def arrival_s(self, transfer: Transfer) -> float:
        return transfer.start_s + self.network.route(transfer.links).time_s(self.chunk_bytes)


def chunk_bytes_of(collective: Collective, ranks: int, parts: int, message_bytes: float) -> float:
    """Bytes of a chunk; a message is the whole buffer of one rank, as in `costmodel.collectives.closed_forms`."""
    return message_bytes / (parts if collective == "broadcast" else ranks * parts)


def as_early_as_possible(schedule: TimedSchedule) -> TimedSchedule:
    """The same transfers in the same order on every link, each as soon as its chunk is there and its links are free.

    What adds waits for all that was added at its sender before, by the times given.
    """
    free_s = [0.0] * len(schedule.network.links)
    there_s: dict[tuple[int, int], float] = {}
    moved = []
    for transfer in sorted(schedule.transfers, key=lambda each: each.start_s):
        route = schedule.network.route(transfer.links)
        place = transfer.chunk, route.source
        start_s = max([there_s.get(place, 0.0), *(free_s[link] for link in transfer.links)])
        for link in transfer.links:
            free_s[link] = start_s + route.busy_s(schedule.chunk_bytes)
        target = transfer.chunk, route.destination
        there_s[target] = max(there_s.get(target, 0.0), start_s + route.time_s(schedule.chunk_bytes))
        moved.append(transfer._replace(start_s=start_s))
    return replace(schedule, transfers=tuple(moved))


def backwards(gather: TimedSchedule, network: Network) -> TimedSchedule:
    """The reduce-scatter on a network that an all-gather on the same network turned round is, run from end to start.

    Where routes of different latency share a link, it may take longer: they hold it before their latency, not after.
    """
    finish_s = gather.finish_s
    turned = (
        Transfer(each.chunk, each.links[::-1], max(finish_s - gather.arrival_s(each), 0.0), adds=True)
        for each in gather.transfers
    )
    scatter = replace(gather, network=network, collective="reduce_scatter", transfers=tuple(turned))
    return as_early_as_possible(scatter)


def one_after_the_other(scatter: TimedSchedule, gather: TimedSchedule) -> TimedSchedule:
    """The all-reduce of a reduce-scatter and an all-gather, each chunk of which goes on as soon as it is complete."""
    shift_s = scatter.finish_s
    later = (each._replace(start_s=each.start_s + shift_s) for each in gather.transfers)
    both = replace(scatter, collective="all_reduce", transfers=(*scatter.transfers, *later))
    return as_early_as_possible(both)


def levels_of(schedule: TimedSchedule) -> Sequence[int]:
    """Round of each transfer: after all that brought its chunk to its sender, and none before on the same route."""
    there: dict[tuple[int, int], int] = {}
    last: dict[Path, int] = {}
    found = []
    for transfer in schedule.transfers:
        route = schedule.network.route(transfer.links)
        level = max(there.get((transfer.chunk, route.source), 0), last.get(transfer.links, 0))
        target = transfer.chunk, route.destination
        there[target] = max(there.get(target, 0), level + 1)
        last[transfer.links] = level
        found.append(level)
    return found
