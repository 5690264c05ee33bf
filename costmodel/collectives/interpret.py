"""Proof that a schedule does what it is for, by following every contribution to every chunk."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from costmodel.collectives.schedule import LOCAL, Schedule

Ints = NDArray[np.int64]
BITS = 32
"""contributions in one 64-bit word: the sum of up to 2^32 words differs from their union where two overlap"""
BLOCK_BYTES = 64 * 2**20
"""memory of the chunks that are followed at a time"""


def interpret(schedule: Schedule) -> tuple[str, ...]:
    """What is wrong with a schedule, nothing if it is proved.

    Proved is: every wire row uses a circuit from its sender to its receiver that is on in the configuration of its
    round; rounds are in order and no rank sends what it does not hold yet, so nothing waits for ever; no
    contribution is added twice, and no slot is replaced twice in a round; and each call ends with what the
    collective promises, each chunk with every contribution once.
    """
    return (
        *_circuit_faults(schedule),
        *(fault for call in range(schedule.num_calls) for fault in _faults(schedule, call)),
    )


def _circuit_faults(schedule: Schedule) -> Iterator[str]:
    """Rows that no circuit carries."""
    if (np.diff(schedule.round) < 0).any():
        yield "rounds are not in order"
    is_local = schedule.sender == schedule.receiver
    if (is_local != (schedule.circuit == LOCAL)).any():
        yield "a row between two ranks has no circuit, or one within a rank has"
        return
    wire = np.flatnonzero(~is_local)
    circuits, used = schedule.circuits, schedule.circuit[wire]
    configuration = schedule.configuration[wire]
    if (
        (circuits.source[used] != schedule.sender[wire]) | (circuits.destination[used] != schedule.receiver[wire])
    ).any():
        yield "a row uses a circuit of other ranks"
    if ((circuits.first[used] > configuration) | (configuration > circuits.last[used])).any():
        yield "a row uses a circuit that is off in its round"


@dataclass(frozen=True)
class _Block:
    """Rows of one call that read and write a range of slots."""

    first: int
    count: int
    rows: Ints


def _faults(schedule: Schedule, call: int) -> Iterator[str]:
    rows = np.flatnonzero(schedule.call_of[schedule.round] == call)
    words = -(-schedule.ranks // BITS) if _reduces(schedule) else 1
    is_split = bool((schedule.chunk == schedule.target).all())
    most = max(1, BLOCK_BYTES // (8 * words * schedule.ranks))
    size = min(most, schedule.num_slots) if is_split else schedule.num_slots
    block_of = schedule.chunk[rows] // size
    rows = rows[np.argsort(block_of, kind="stable")]
    number = -(-schedule.num_slots // size)
    cuts = np.searchsorted(np.sort(block_of), np.arange(number + 1))
    for index in range(number):
        count = min(size, schedule.num_slots - index * size)
        block = _Block(index * size, count, rows[cuts[index] : cuts[index + 1]])
        fault = _run(schedule, block, words)
        if fault:
            yield f"call {call}: {fault}"
            return


def _reduces(schedule: Schedule) -> bool:
    return schedule.collective in ("all_reduce", "reduce_scatter")


def _run(schedule: Schedule, block: _Block, words: int) -> str | None:
    """First fault of one range of slots."""
    held = _initial(schedule, block, words)
    edges = np.flatnonzero(np.diff(schedule.round[block.rows], prepend=-1, append=-1))
    for first, last in pairwise(edges.tolist()):
        rows = block.rows[first:last]
        arriving = held[schedule.sender[rows], schedule.chunk[rows] - block.first]
        if not arriving.any(axis=1).all():
            row = rows[np.argmin(arriving.any(axis=1))]
            what = f"rank {schedule.sender[row]} sends chunk {schedule.chunk[row]}"
            return f"round {schedule.round[row]}: {what} before it holds it"
        fault = _write(schedule, held, block, rows, arriving)
        if fault:
            return fault
    return _end_fault(schedule, held, block, words)


def _write(schedule: Schedule, held: Ints, block: _Block, rows: Ints, arriving: Ints) -> str | None:
    """Add or replace what arrives in one round."""
    place = schedule.receiver[rows].astype(np.int64) * block.count + schedule.target[rows] - block.first
    adds = schedule.is_reduction[rows]
    order = np.argsort(place, kind="stable")
    place, adds, arriving = place[order], adds[order], arriving[order]
    starts = np.flatnonzero(np.diff(place, prepend=-1))
    where = np.divmod(place[starts], block.count)
    adding = adds[starts]
    if not adds.all() and len(starts) < len(rows):
        counts = np.diff(starts, append=len(rows))
        if (counts[np.logical_and.reduceat(adds, starts) == 0] > 1).any():
            return f"round {schedule.round[rows[0]]}: a slot is replaced while something else arrives in it"
    own = np.where(adding[:, None], held[where], 0)
    total = own + np.add.reduceat(arriving, starts, axis=0)
    union = own | np.bitwise_or.reduceat(arriving, starts, axis=0)
    if (total != union).any():
        rank, slot = (int(each[np.argmax((total != union).any(axis=1))]) for each in where)
        return f"round {schedule.round[rows[0]]}: rank {rank} adds a contribution to chunk {slot + block.first} twice"
    held[where] = union
    return None


def _full(schedule: Schedule, words: int) -> Ints:
    """All contributions to a chunk."""
    contributors = schedule.ranks if _reduces(schedule) else 1
    bits = np.minimum(np.maximum(contributors - BITS * np.arange(words), 0), BITS)
    return (np.int64(1) << bits) - 1


def _origins(schedule: Schedule, block: _Block) -> tuple[Ints, Ints]:
    """(rank, slot) that hold something at the start of a call."""
    slots = np.arange(block.first, block.first + block.count)
    if schedule.collective == "all_to_all":
        return slots // schedule.num_chunks, slots
    slots = slots[slots < schedule.num_chunks]
    if schedule.collective == "all_gather":
        return slots // schedule.parts, slots
    if schedule.collective == "broadcast":
        return np.zeros_like(slots), slots
    ranks, grid = np.meshgrid(np.arange(schedule.ranks), slots, indexing="ij")
    return ranks.ravel(), grid.ravel()


def _ends(schedule: Schedule, block: _Block) -> tuple[Ints, Ints]:
    """(rank, slot) that must be complete at the end of a call."""
    slots = np.arange(block.first, block.first + block.count)
    if schedule.collective == "all_to_all":
        return slots % schedule.num_chunks // schedule.parts, slots
    slots = slots[slots < schedule.num_chunks]
    if schedule.collective == "reduce_scatter":
        return slots // schedule.parts, slots
    ranks, grid = np.meshgrid(np.arange(schedule.ranks), slots, indexing="ij")
    return ranks.ravel(), grid.ravel()


def _initial(schedule: Schedule, block: _Block, words: int) -> Ints:
    held = np.zeros((schedule.ranks, block.count, words), dtype=np.int64)
    rank, slot = _origins(schedule, block)
    if _reduces(schedule):
        held[rank, slot - block.first, rank // BITS] = np.int64(1) << (rank % BITS)
    else:
        held[rank, slot - block.first, 0] = 1
    return held


def _end_fault(schedule: Schedule, held: Ints, block: _Block, words: int) -> str | None:
    rank, slot = _ends(schedule, block)
    complete = (held[rank, slot - block.first] == _full(schedule, words)).all(axis=1)
    if complete.all():
        return None
    first = int(np.argmin(complete))
    return f"rank {rank[first]} ends without all contributions to chunk {slot[first]}"
