"""Places of the slots of a schedule in the input, output and scratch buffers of MSCCL."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from costmodel.collectives.schedule import Schedule
from planner.integrations.exports.runs import Round


class Place(NamedTuple):
    """An offset in a buffer: i input, o output, s scratch."""

    buffer: str
    offset: int

    def shifted(self, count: int) -> "Place":
        return Place(self.buffer, self.offset + count)


@dataclass
class Buffers:
    """Places of the slots of each rank.

    An all-reduce and a broadcast work in place; an all-gather in its output; a reduce-scatter in a scratch copy of its
    input; an all-to-all keeps what is only passed on in scratch.
    """

    schedule: Schedule
    relayed: list[dict[int, int]] = field(default_factory=list)
    """scratch offset of each slot that a rank passes on in an all-to-all"""

    @classmethod
    def of(cls, schedule: Schedule, rounds: tuple[Round, ...]) -> "Buffers":
        relayed: list[dict[int, int]] = [{} for _ in range(schedule.ranks)]
        if schedule.collective == "all_to_all":
            for run in (run for each in rounds for run in each.runs):
                for slot in range(run.target, run.target + run.count):
                    if slot % schedule.num_chunks // schedule.parts != run.receiver:
                        relayed[run.receiver].setdefault(slot, len(relayed[run.receiver]))
        return cls(schedule, relayed)

    @property
    def is_in_place(self) -> bool:
        return self.schedule.collective in ("all_reduce", "broadcast")

    @property
    def chunks_per_loop(self) -> int:
        return self.schedule.num_chunks

    def place(self, rank: int, slot: int) -> Place:
        schedule = self.schedule
        if schedule.collective == "all_to_all":
            source, given = divmod(slot, schedule.num_chunks)
            destination, part = divmod(given, schedule.parts)
            if source == rank:
                return Place("i", given)
            if destination == rank:
                return Place("o", source * schedule.parts + part)
            return Place("s", self.relayed[rank][slot])
        if schedule.collective == "reduce_scatter":
            return Place("s", slot)
        if schedule.collective == "all_gather":
            return Place("o", slot)
        return Place("i", slot) if slot < schedule.num_chunks else Place("s", slot - schedule.num_chunks)

    def sizes(self, rank: int) -> dict[str, int]:
        """Chunks of each buffer of a rank."""
        schedule, chunks = self.schedule, self.schedule.num_chunks
        scratch = {
            "all_to_all": len(self.relayed[rank]),
            "reduce_scatter": schedule.num_slots,
            "all_gather": 0,
        }.get(schedule.collective, schedule.num_slots - chunks)
        inputs = schedule.parts if schedule.collective == "all_gather" else chunks
        outputs = schedule.parts if schedule.collective == "reduce_scatter" else chunks
        return {"i_chunks": inputs, "o_chunks": outputs, "s_chunks": scratch}

    def prologue(self, rank: int) -> Iterator[tuple[Place, Place, int]]:
        """Copies before the first round: (source, target, count)."""
        parts = self.schedule.parts
        if self.schedule.collective == "all_gather":
            yield Place("i", 0), Place("o", rank * parts), parts
        elif self.schedule.collective == "all_to_all":
            yield Place("i", rank * parts), Place("o", rank * parts), parts
        elif self.schedule.collective == "reduce_scatter":
            yield Place("i", 0), Place("s", 0), self.schedule.num_chunks

    def epilogue(self, rank: int) -> Iterator[tuple[Place, Place, int]]:
        """Copies after the last round."""
        if self.schedule.collective == "reduce_scatter":
            yield Place("s", rank * self.schedule.parts), Place("o", 0), self.schedule.parts
