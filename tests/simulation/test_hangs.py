"""A process that hangs between taking a journal's lock and its first lease is ended by who stands by."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from planner.controller.journal_file import Seen
from tests.planner.controller.sites import quick_folder, remember_kinds
from tests.planner.integrations.switch_drivers.ocs.faulty_world import Killed
from tests.planner.integrations.switch_drivers.ocs.site import unconnected
from tests.simulation.mishaps import Mishaps
from tests.simulation.referee import TAKE_OVER_S
from tests.simulation.simulated import simulated
from tests.simulation.world import SimulatedWorld

FOREVER_S = 1e6
READY_S = 3.0
"""until one leads and two stand by"""


@dataclass
class Hang(Mishaps):
    """No mishap but one: whoever begins to lead after the first is stopped for good at one of its points."""

    left: int = 0
    """points until then"""
    hung: int = 0
    """number of the process"""

    def act(self) -> None:
        self.wakes_s = FOREVER_S

    def at_point(self, *, may_be_overtaken: bool) -> None:
        world, strand = self.world, self.world.strand
        if strand is None:
            return
        if strand.member.is_dead:
            raise Killed
        if self.hung or world.now_s < world.begun_s or not strand.member.is_beginning:
            return
        self.left -= 1
        if self.left < 0:
            self.hung, strand.member.frozen_s = strand.member.number, FOREVER_S
            strand.wait(world.now_s, is_stopped=True)


class Three(SimulatedWorld):
    """One that leads and two that stand by, on one machine, and nobody who asks anything."""

    begun_s = FOREVER_S
    """when the leader was killed"""

    def kill(self, place: int) -> None:
        self.members[place].is_dead = True
        self.reap(self.members[place])


def hung_at(point: int, *, is_alone: bool) -> tuple[int, int, float]:
    """Kill a leader, and stop who begins to lead then at a point: its number, 0 for none; who leads at last; and after
    how long. `is_alone`: nobody stood by, and two processes begin after all have ended."""
    with quick_folder() as folder:
        world = Three(unconnected(Path(folder), "torus", "restconf"), 0, 0.0)
        hang = world.chaos = Hang(world, left=point)
        for each in (*world.clients, world.copies):
            each.wakes_s = FOREVER_S
        with simulated(world):
            for place in range(1 if is_alone else 3):
                world.begin(place)
                world.run_until(world.now_s + READY_S)
            world.begun_s = world.now_s
            world.kill(0)
            for place in range(2 if is_alone else 0):
                world.begin(place)
                world.run_until(world.now_s + 0.1)
            world.run_until(world.now_s + 3 * TAKE_OVER_S)
            assert world.wrong == []
            return hang.hung, world.reigns[-1][1], world.reigns[-1][0] - world.begun_s


@pytest.fixture(autouse=True, scope="module")
def _remembered_kinds() -> None:
    remember_kinds()


@pytest.mark.parametrize("is_alone", [False, True])
def test_one_that_hangs_before_its_first_lease_is_ended(is_alone: bool) -> None:
    """At each point from the lock to the lease in turn; that two never lead the world sees to."""
    points = 0
    while (found := hung_at(points, is_alone=is_alone))[0]:
        hung, leads, took_s = found
        assert hung != leads, points
        assert took_s <= TAKE_OVER_S, points
        points += 1
    assert points >= 10


def test_without_a_claim_nobody_ever_leads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Seen, "claim", lambda self: None)
    hung, leads, _ = hung_at(5, is_alone=False)
    assert hung
    assert leads in (1, hung)
