"""Why a process may end as it begins: what it says must be so."""

from typing import TYPE_CHECKING

from planner.controller.journal_file import Seen
from tests.simulation.disk import Connection

if TYPE_CHECKING:
    from tests.simulation.strands import Member
    from tests.simulation.world import SimulatedWorld

OTHERS = ("another controller uses it", "is written by another controller", "cannot be read", "database is locked")
"""what is said of a journal that another process has"""


def is_right(world: "SimulatedWorld", member: "Member", began_s: float, said: str) -> bool:
    """Whether a process that began then may end with these words: another has the journal, or had it meanwhile; the
    disk was full; or a file server took the locks away from this machine."""
    if any(words in said for words in OTHERS):
        return _is_had(world, member) or any(
            since_s >= began_s and number != member.number for since_s, number in world.reigns
        )
    if "is full" in said:
        return world.disk.full_s >= began_s
    return "disk I/O" in said and any(isinstance(each, Connection) and each.is_lost for each in member.opened)


def _is_had(world: "SimulatedWorld", member: "Member") -> bool:
    """Whether another process that has not ended is the one that may write."""
    return any(
        isinstance(each, Seen) and not each._is_closed
        for other in world.members
        if other is not member and not other.is_dead
        for each in other.opened
    )
