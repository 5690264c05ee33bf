"""Defragmentation on request: servers are emptied of jobs that fit elsewhere, priced, and only proposed.

What moves cost and gain are accelerator-seconds: the downtime of the ranks that move, against free accelerators that
are no longer fragmented, for as long as a job is expected to wait.
"""

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b

from planner.controller.defragmentation import are_apart
from planner.controller.free_state import Found
from planner.controller.ledger import Entry
from planner.controller.state import ClusterState
from planner.fabrics.placement import Placement
from planner.model.errors import ConflictError
from planner.placement.placement import Place


@dataclass(frozen=True)
class ProposedMove:
    """One job that would go on elsewhere."""

    job: str
    before: Place
    place: Place
    placement: Placement


@dataclass(frozen=True)
class MoveProposal:
    """Moves that pay together, for the state after one event."""

    seq: int
    moves: tuple[ProposedMove, ...]
    free: int
    """accelerators"""
    fragmented_before: float
    """free accelerators that jobs of the sizes at hand, and of a whole server, find on several servers alone"""
    fragmented_after: float
    cost_s: float
    """accelerator-seconds"""
    gain_s: float

    @property
    def name(self) -> str:
        """By which it is accepted; another one as soon as anything has happened."""
        text = repr([(move.job, move.place.devices) for move in self.moves])
        return f"{self.seq}-{blake2b(text.encode(), digest_size=4).hexdigest()}"


def propose(state: ClusterState, seq: int, budget_s: float) -> MoveProposal:
    """Moves that pay; the state is left as it was. ConflictError on fabrics where nobody moves for others."""
    if not state.free.state.servers_are_counts:
        kind = state.free.cluster.fabric.kind
        raise ConflictError("defrag", kind, "has slots, slices or pools that matter: jobs are not moved for room there")
    search = _Search(state, time.perf_counter() + budget_s)
    try:
        search.run()
        return search.proposal(seq)
    finally:
        search.undo(search.moves)


def carry_out(state: ClusterState, proposal: MoveProposal) -> None:
    """Move these jobs; ConflictError, and nothing has changed, where the validator objects."""
    entries = [state.ledger.jobs[move.job] for move in proposal.moves]
    names = [entry.name for entry in entries]
    for entry, move in zip(entries, proposal.moves, strict=True):
        objection = state.validator.objection(entry.request, move.place, names)
        if objection is not None:
            raise ConflictError("defrag", move.job, f"cannot move: {objection}; ask for a new proposal")
    for name in names:
        state.free.release(name)
    for entry, move in zip(entries, proposal.moves, strict=True):
        state.free.state.take(move.placement)
        state.move(entry, move.placement, move.place, "so that free accelerators lie together, as was accepted")
    state.counts.moves += len(names)


class _Search:
    """Empties one server after the other, the emptiest first, and keeps what pays."""

    def __init__(self, state: ClusterState, deadline_s: float) -> None:
        self._state, self._deadline_s = state, deadline_s
        kept = state.ledger.reserved.servers
        self._emptied = {*state.drained, *kept}
        """servers where nobody goes: also those that are kept for the first in line"""
        self._sizes = _sizes(state)
        self.moves: list[ProposedMove] = []
        self._before = self._now = self._fragmented()

    def run(self) -> None:
        servers = [s for s in self._state.all_servers - self._state.drained if self._state.on(s)]
        for server in sorted(servers, key=lambda s: (sum(self._state.on(s).values()), s)):
            if time.perf_counter() > self._deadline_s:
                return
            self._empty(server)

    def proposal(self, seq: int) -> MoveProposal:
        cost_s = self._cost_s(self.moves)
        gain_s = (self._before - self._now) * self._state.settings.expected_wait_s
        free = sum(self._open(self._state.free.state.any))
        return MoveProposal(seq, tuple(self.moves), free, self._before, self._now, cost_s, gain_s)

    def undo(self, moves: Sequence[ProposedMove]) -> None:
        """Placements as before these moves."""
        free = self._state.free
        for move in moves:
            free.state.release(move.placement)
        for move in moves:
            free.state.take(free.held[move.job])

    def _empty(self, server: int) -> None:
        """Move all jobs of a server, if they may, fit elsewhere and it pays."""
        jobs, moved = [self._state.ledger.jobs[name] for name in self._state.on(server)], set(self._moved())
        if not all(_may_move(entry) and entry.name not in moved for entry in jobs):
            return
        self._emptied.add(server)
        tried: list[ProposedMove] = []
        for entry in sorted(jobs, key=lambda each: (-len(_place(each).devices), each.number)):
            move = self._elsewhere(entry, [*moved, *(each.job for each in tried)])
            if move is None:
                break
            tried.append(move)
        fragmented = self._fragmented() if len(tried) == len(jobs) else self._now
        gain_s = (self._now - fragmented) * self._state.settings.expected_wait_s
        if gain_s > self._cost_s(tried):
            self.moves += tried
            self._now = fragmented
        else:
            self.undo(tried)
            self._emptied.discard(server)

    def _elsewhere(self, entry: Entry, leaving: Sequence[str]) -> ProposedMove | None:
        """The same configuration on other servers, taken."""
        state, before = self._state, _place(entry)
        held = state.free.held[entry.name]
        state.free.state.release(held)
        kind = replace(state.kind(entry), held=len(before.devices), rows=(before.row,))
        found = state.free.find(entry.kind, kind, frozenset(self._emptied), self._deadline_s)
        others = [Found(move.placement, move.place) for move in self.moves]
        if found.placement is not None and found.place is not None:
            objection = state.validator.objection(entry.request, found.place, leaving)
            if objection is None and are_apart([*others, found]):
                return ProposedMove(entry.name, before, found.place, found.placement)
            state.free.state.release(found.placement)
        state.free.state.take(held)
        return None

    def _moved(self) -> Iterator[str]:
        return (move.job for move in self.moves)

    def _cost_s(self, moves: Sequence[ProposedMove]) -> float:
        return self._state.settings.downtime_s * sum(len(move.place.devices) for move in moves)

    def _open(self, free: Sequence[int]) -> list[int]:
        """Of free accelerators by server those on servers that take jobs."""
        drained = self._state.drained
        return [0 if server in drained else count for server, count in enumerate(free)]

    def _fragmented(self) -> float:
        """Free accelerators, on average over the sizes, that lie in pieces too small."""
        free = self._open(self._state.free.state.lit)
        total, lost = sum(free), 0.0
        for size, share in self._sizes.items():
            if possible := total // size:
                lost += share * (1 - sum(each // size for each in free) / possible)
        return lost * total


def _sizes(state: ClusterState) -> dict[int, float]:
    """Shares of the sizes of all jobs, of each what it would have on one server, and of a whole server."""
    kinds, most = state.ledger.kinds, state.free.cluster.fabric.devices_per_server
    counts = Counter(min(most, kinds[entry.kind].size) for entry in state.ledger.jobs.values())
    counts[most] += 1
    return {size: number / counts.total() for size, number in counts.items()}


def _may_move(entry: Entry) -> bool:
    return entry.request.movable and entry.place is not None and len(entry.place.servers) == 1


def _place(entry: Entry) -> Place:
    assert entry.place is not None
    return entry.place
