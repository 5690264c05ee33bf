"""Two processes of a controller over a lightpath, or several that fibers join, whose jobs grow around the light that
they have, and shrink."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from planner.controller.switch_driver import Driver
from tests.planner.controller.sites import chat
from tests.planner.integrations.switch_drivers.commanded_world import CommandDriver, CommandedWorld
from tests.simulation.clients import Client, ElasticUser, Operator, User
from tests.simulation.world import SimulatedWorld

PARTS = {
    "lightpath": ("s1", "s0.t1", "s1.t2:port", "s0>s1#0"),
    "lightpath-fibers": ("r0.s1", "r1.s0.t1", "r2.s1.t0:port", "r1.s0>r1.s1#0", "r0>r1#0"),
}
"""that fail by themselves"""


@dataclass
class RackWorld(CommandedWorld, SimulatedWorld):
    """The same with a driver that runs a command."""

    def _begin_clients(self) -> list[Client]:
        users = self._users_of_racks() if self.cluster.fabric.racks > 1 else self._users_of_one()
        return [*users, Operator(self, parts=PARTS[self.site.kind])]

    def _users_of_one(self) -> list[User]:
        return [
            User(self, name="a", sizes=(8, 12)),
            ElasticUser(self, name="b", sizes=(2, 4, 8), asks=chat),
            ElasticUser(self, name="c", sizes=(2, 4), asks=chat),
            ElasticUser(self, name="d", sizes=(1, 2)),
        ]

    def _users_of_racks(self) -> list[User]:
        """Racks have four accelerators: what takes one grows over others."""
        most = self.cluster.fabric.num_devices
        return [
            User(self, name="a", sizes=(4, 8)),
            ElasticUser(self, name="b", sizes=(4,), most=most),
            ElasticUser(self, name="c", sizes=(2, 4), asks=chat, most=most),
            ElasticUser(self, name="d", sizes=(1, 2), most=most),
        ]

    def _make_drivers(self) -> Callable[[Callable[[], int]], Driver]:
        return partial(CommandDriver, self, self.disk.record)
