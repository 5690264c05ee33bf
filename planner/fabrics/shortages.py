"""The part of a plug-in that counts what a job lacks on servers that have devices enough."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from costmodel.fabrics import FabricBase
from planner.model.instance import Instance
from planner.model.plan import Assignment

Pair = tuple[int, int]
"""ordered pair of servers"""


class Lifted(NamedTuple):
    """The instance without one limit of its fabric."""

    reason: str
    """what the job lacks where it fits now, in words"""
    instance: Instance


class MoreLinks(ABC):
    """Links between servers of which the cluster could have more: optical fibers."""

    @abstractmethod
    def pairs(self, fabric: FabricBase) -> Sequence[Pair]:
        """Ordered pairs of servers that may have more."""

    @abstractmethod
    def added(self, instance: Instance, more: Mapping[Pair, int]) -> Instance:
        """The instance with so many more on some pairs."""

    @abstractmethod
    def added_everywhere(self, instance: Instance, more: int) -> Instance:
        """The instance with so many more on every pair."""

    @abstractmethod
    def newly_used(self, instance: Instance, assignment: Assignment) -> list[Pair]:
        """Pairs on which an assignment uses a link that the instance does not have."""

    @abstractmethod
    def phrase(self, fabric: FabricBase, more: Mapping[Pair, int]) -> str:
        """2 more fibers from s0 to s1"""


class Shortages:
    """Servers joined by packets: a job needs devices of servers and nothing that could be short beside them."""

    links: MoreLinks | None = None
    """None where links between servers are not a job's own"""

    def counted(self, instance: Instance, name: str, size: int) -> str | None:
        """Parts that a job of some size needs and does not find beside residents, by count; None where it is none of
        those that are counted.

        The instance is one in which the job, at this size, was found impossible.
        """
        return None

    def lifted(self, instance: Instance) -> Iterator[Lifted]:
        """Limits of the fabric that may be what keeps a job out, to be tried one by one."""
        yield from ()
