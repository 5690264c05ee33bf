"""Copies of the journal, made at any moment while processes write, stand by, are stopped and end."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from planner.controller import Controller
from planner.controller.journal_copies import back_up, restore
from planner.model.errors import InputError
from tests.oracles.controller import replayed
from tests.planner.controller.sites import request
from tests.simulation.referee import Answer, rows_of

if TYPE_CHECKING:
    from tests.simulation.world import SimulatedWorld

BETWEEN_S = (4.0, 30.0)
"""two copies"""


@dataclass(frozen=True)
class Copy:
    """One of them."""

    path: Path
    seq: int
    """of its last event, as was told"""
    made_s: float


@dataclass
class Copies:
    """An operator who makes them, by chance of its own: nobody else does anything else because of that."""

    world: "SimulatedWorld"
    random: Random
    wakes_s: float = 0.0
    made: list[Copy] = field(default_factory=list)

    def act(self) -> None:
        """Make the next one, once there is a journal."""
        world = self.world
        self.wakes_s = world.now_s + self.random.uniform(*BETWEEN_S)
        if not world.reigns:
            return
        copy = world.path.with_name(f"copy{len(self.made)}.db")
        try:
            seq = back_up(str(world.path), str(copy))
        except InputError as error:
            world.wrong.append(f"at {world.now_s:.2f} s no copy can be made: {error}")
            return
        self.made.append(Copy(copy, seq, world.now_s))


def lacking(path: Path, copy: Copy, answers: Sequence[Answer]) -> Iterator[str]:
    """What a copy has that the journal has not in the end, and what it lacks that had been answered before."""
    held, rows = rows_of(copy.path), rows_of(path)
    if held != rows[: copy.seq] or len(held) != copy.seq:
        yield f"the copy of {copy.made_s:.2f} s is no beginning of the journal"
    by_key = {key: seq for seq, key, *_ in rows}
    before = [by_key.get(each.key, 0) for each in answers if each.answered_s <= copy.made_s]
    if max(before, default=0) > len(held):
        yield f"the copy of {copy.made_s:.2f} s ends with event {len(held)}, and {max(before)} had been answered"


def going_on(path: Path, copy: Copy, size: int, *, is_led_by_standby: bool) -> Iterator[str]:
    """Put a copy in the place of a journal whose processes have ended as they did; one controller leads it then and
    another stands by, which goes on when the first is gone: nothing of the copy may be lost, nor of what follows."""
    held, wanted = rows_of(copy.path), replayed(copy.path).state()
    standby = Controller(journal=path, is_standby=True) if is_led_by_standby else None
    if restore(str(copy.path), str(path)).seq != copy.seq:
        yield f"the copy of {copy.made_s:.2f} s was put back with another end"
    if standby is None:
        with Controller(journal=path) as leader:
            yield from _unlike(leader, wanted, "whoever leads a copy that was put back")
            leader.submit(request("after the copy", size), key="after the copy")
            standby = Controller(journal=path, is_standby=True)
            wanted = leader.state()
            yield from _unlike(standby, wanted, "who stands by")
    standby.lead("http://standby")
    yield from _unlike(standby, wanted, "who stood by")
    standby.submit(request("by the standby", size), key="by the standby")
    standby.close()
    if rows_of(path)[: len(held)] != held:
        yield "events of a copy that was put back are lost"
    with Controller(journal=path) as last:
        yield from _unlike(last, replayed(path).state(), "whoever leads last")


def _unlike(controller: Controller, wanted: dict[str, object], who: str) -> Iterator[str]:
    state = controller.state()
    yield from (f"{who} has another {name}" for name in wanted if wanted[name] != state[name])
