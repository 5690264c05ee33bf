"""What happens to processes, their disk and their machines, by seed."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from tests.planner.integrations.switch_drivers.ocs.faulty_world import Killed

if TYPE_CHECKING:
    from tests.simulation.strands import Member
    from tests.simulation.world import SimulatedWorld

Kind = Literal["kill", "cut", "stop"]
KINDS: tuple[Kind, ...] = ("kill", "kill", "kill", "stop", "stop", "cut")
POINTS = 250
"""most of them until the next mishap"""
STOPS_S = (0.5, 3.0, 7.5, 12.0, 30.0)
"""for about how long a process is stopped"""
LOCKS_S = 8.0
"""after which a file server takes the locks of a machine that stopped"""


@dataclass
class Mishaps:
    """They are drawn one after the other; each strikes whoever comes to the point that was drawn."""

    world: "SimulatedWorld"
    wakes_s: float = 0.0
    kind: Kind | None = None
    points: int = 0
    """until it strikes"""
    counts: dict[str, int] = field(default_factory=dict)
    is_over: bool = False
    _begins: dict[int, float] = field(default_factory=dict)
    """by place that is empty: when the next process begins there"""
    _stopped: dict[int, float] = field(default_factory=dict)
    """by process of a machine of its own: when it was stopped"""

    def act(self) -> None:
        """Draw the next one; begin processes anew; forget locks."""
        world, random = self.world, self.world.random
        self.wakes_s = world.now_s + 0.25
        world.mend_switches(1.0 if self.is_over else 0.02)
        for place, member in enumerate(world.members):
            if member.is_dead and world.now_s >= self._begins.setdefault(place, world.now_s + random.uniform(0.2, 6.0)):
                del self._begins[place]
                world.begin(place)
            elif world.now_s > self._stopped.get(member.number, world.now_s) + LOCKS_S:
                del self._stopped[member.number]
                if world.now_s < member.frozen_s:
                    world.lose_locks(member)
        if self.is_over:
            self.kind = None
        elif self.kind is None and random.random() < 0.06:
            self.kind, self.points = random.choice(KINDS), random.randrange(POINTS)
        elif random.random() < 0.004:
            world.disk.full_s = world.now_s + random.uniform(0.5, 4.0)
            self._count("full")

    def at_point(self, *, may_be_overtaken: bool) -> None:
        """`may_be_overtaken`: what follows is refused where another leads by then."""
        world, strand = self.world, self.world.strand
        if strand is None:
            return
        if strand.member.is_dead:
            raise Killed
        if self.kind is None:
            return
        self.points -= 1
        if self.points > 0:
            return
        if self.kind == "stop":
            if may_be_overtaken or not world.has_two_machines:
                self._stop(strand.member)
            return
        self._count(self.kind)
        if self.kind == "cut":
            world.disk.take()
            for member in world.members:
                member.is_dead = True
        self.kind, strand.member.is_dead = None, True
        raise Killed

    def _stop(self, member: "Member") -> None:
        """Whatever it was doing goes on later, if it is not ended meanwhile."""
        world = self.world
        assert world.strand is not None
        self.kind = None
        self._count("stop")
        member.frozen_s = world.now_s + world.random.choice([0.5, 3.0, 7.5, 12.0, 30.0]) * world.random.uniform(
            0.8, 1.2
        )
        if world.has_two_machines:
            self._stopped[member.number] = world.now_s
        world.struck(member)
        world.strand.wait(world.now_s, is_stopped=True)
        if world.reigns and world.reigns[-1][1] == member.number:
            world.lost_s = None

    def _count(self, what: str) -> None:
        self.counts[what] = self.counts.get(what, 0) + 1
