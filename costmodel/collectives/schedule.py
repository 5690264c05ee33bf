"""A collective written out: every transfer of every round, and the circuits it goes over."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from costmodel.collectives.ladder import Collective
from costmodel.collectives.plan import CollectivePlan

Ints = NDArray[np.int64]
Column = NDArray[np.int32]
Ranks = NDArray[np.int16]
Scalar = TypeVar("Scalar", bound=np.generic)
LOCAL = -1
"""circuit of a row that moves data inside a rank"""


@dataclass(frozen=True, eq=False)
class Circuits:
    """Simplex circuits, one entry each; a circuit is on from its first to its last configuration."""

    source: Ranks
    destination: Ranks
    wavelengths: Ranks
    first: Ranks
    last: Ranks

    def __len__(self) -> int:
        return len(self.source)

    def on(self, configuration: int) -> NDArray[np.bool_]:
        """Which circuits are on in a configuration, shape (circuits,)."""
        return (self.first <= configuration) & (configuration <= self.last)


@dataclass(frozen=True, eq=False)
class Schedule:
    """Rounds of one call, or of two where successive calls differ; a row is one chunk that moves.

    A round reads what earlier rounds left and writes at its end. A rank has slots for chunks: slot c of the first
    `num_chunks` is chunk c of the message, further slots are scratch. What one rank gives in an all-gather, or ends
    with in a reduce-scatter, is `parts` chunks that follow each other; in an all-to-all, slots from (source * n +
    destination) * parts on are what one rank gives another. A row within one rank (sender = receiver) takes no time.
    """

    collective: Collective
    ranks: int
    num_chunks: int
    """chunks of a message of one rank"""
    num_slots: int
    round: Column
    sender: Ranks
    receiver: Ranks
    chunk: Column
    """slot that is read at the sender"""
    target: Column
    """slot that is written at the receiver"""
    is_reduction: NDArray[np.bool_]
    """added to the slot; else replaces it"""
    circuit: Column
    """index into `circuits`, or LOCAL"""
    configuration_of: Column
    """configuration of each round, shape (rounds,)"""
    call_of: Column
    """call that each round belongs to, shape (rounds,)"""
    circuits: Circuits

    def __len__(self) -> int:
        return len(self.round)

    @property
    def parts(self) -> int:
        """Chunks of what one rank gives another in an all-to-all, gives to all or ends with."""
        return max(self.num_chunks // self.ranks, 1)

    @property
    def configuration(self) -> Column:
        """Configuration of each row."""
        return self.configuration_of[self.round]

    @property
    def num_calls(self) -> int:
        return int(self.call_of.max(initial=0)) + 1

    @property
    def num_configurations(self) -> int:
        return int(self.circuits.last.max(initial=0)) + 1

    @property
    def starts(self) -> Ints:
        """First row of each round, and the number of rows, shape (rounds + 1,)."""
        return np.searchsorted(self.round, np.arange(len(self.configuration_of) + 1))

    def relabelled(self, rank_of: Iterable[int]) -> "Schedule":
        """The same schedule with rank r called rank_of[r], and the chunk that is its own part alike."""
        if self.collective not in ("all_reduce", "reduce_scatter", "all_gather"):
            raise ValueError(
                f"collective: the ranks of a {self.collective} differ; relabel an all_reduce or a half of it"
            )
        new = np.fromiter(rank_of, dtype=np.int16, count=self.ranks)
        if sorted(new.tolist()) != list(range(self.ranks)):
            raise ValueError(f"rank_of: must name each of the {self.ranks} ranks once")
        old = self.circuits
        circuits = Circuits(new[old.source], new[old.destination], old.wavelengths, old.first, old.last)
        columns = {name: getattr(self, name) for name in self.__dataclass_fields__}
        columns |= {"sender": new[self.sender], "receiver": new[self.receiver], "circuits": circuits}
        if self.collective != "all_reduce":
            columns |= {name: new[getattr(self, name)].astype(np.int32) for name in ("chunk", "target")}
        return Schedule(**columns)


@dataclass
class Writer:
    """Collects rounds of a plan and numbers the circuits that they use."""

    plan: CollectivePlan
    columns: list[tuple[Column, Ranks, Ranks, Column, Column, NDArray[np.bool_]]] = field(default_factory=list)
    keys: list[Ints] = field(default_factory=list)
    configuration_of: list[int] = field(default_factory=list)
    call_of: list[int] = field(default_factory=list)

    def begin_round(self, configuration: int, call: int) -> None:
        self.configuration_of.append(configuration)
        self.call_of.append(call)

    def begin_local_round(self) -> None:
        """A round within ranks, after the round before."""
        self.begin_round(self.configuration_of[-1] if self.configuration_of else 0, self.call_of[-1])

    def move(
        self, sender: Ints, receiver: Ints, chunk: Ints, *, adds: bool, digit: int, target: Ints | None = None
    ) -> None:
        """Rows of the present round over the circuits of a digit (LOCAL: within a rank); shapes broadcast."""
        arrays = np.broadcast_arrays(sender, receiver, chunk, chunk if target is None else target)
        sender, receiver, chunk, where = (each.ravel() for each in arrays)
        count, ranks = len(sender), self.plan.ranks
        now = np.full(count, len(self.configuration_of) - 1, dtype=np.int32)
        ends = sender.astype(np.int16), receiver.astype(np.int16)
        slots = chunk.astype(np.int32)
        targets = slots if target is None else where.astype(np.int32)
        self.columns.append((now, *ends, slots, targets, np.full(count, adds)))
        self.keys.append(np.where(digit == LOCAL, LOCAL, (digit * ranks + sender) * ranks + receiver))

    def finish(self, num_chunks: int, num_slots: int) -> Schedule:
        ranks = self.plan.ranks
        empty = np.zeros(0, dtype=np.int64)
        keys = np.concatenate([empty, *self.keys])
        used = np.unique(keys[keys != LOCAL])
        circuit = np.where(keys == LOCAL, LOCAL, np.searchsorted(used, keys)).astype(np.int32)
        rows = list(zip(*self.columns, strict=True)) or [()] * 6
        return Schedule(
            collective=self.plan.collective,
            ranks=ranks,
            num_chunks=num_chunks,
            num_slots=num_slots,
            round=_joined(rows[0], np.int32),
            sender=_joined(rows[1], np.int16),
            receiver=_joined(rows[2], np.int16),
            chunk=_joined(rows[3], np.int32),
            target=_joined(rows[4], np.int32),
            is_reduction=_joined(rows[5], np.bool_),
            circuit=circuit,
            configuration_of=np.array(self.configuration_of, dtype=np.int32),
            call_of=np.array(self.call_of, dtype=np.int32),
            circuits=self._circuits(used),
        )

    def _circuits(self, used: Ints) -> Circuits:
        ranks = self.plan.ranks
        digit, pair = np.divmod(used, ranks * ranks)
        first_of = np.array([number for number, count in enumerate(self.plan.held) for _ in range(count)] or [0])
        last_of = first_of + [self.plan.is_bridge(each) for each in range(len(first_of))]
        widths = np.array(self.plan.wavelengths or (0,))
        columns = pair // ranks, pair % ranks, widths[digit], first_of[digit], last_of[digit]
        return Circuits(*(each.astype(np.int16) for each in columns))


def _joined(parts: Sequence[NDArray[Scalar]], kind: type[Scalar]) -> NDArray[Scalar]:
    """One column of all rounds."""
    return np.concatenate([np.zeros(0, dtype=kind), *parts]).astype(kind, copy=False)
