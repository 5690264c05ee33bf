"""Placement of one job by number: its devices, and what it holds beside them as bit masks by part."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, NamedTuple, TypeVar

from costmodel.fabrics import UpperPart
from planner.fabrics.free_slots import Device, masks_by_server
from planner.fabrics.job_class import Option
from planner.model.plan import RackCircuit

Switches = frozenset[tuple[int, int]]
"""optical switches, as `Cluster.failed_switches` has them"""
PartT = TypeVar("PartT", bound=Hashable)


class Owned(NamedTuple, Generic[PartT]):
    """Parts that one job alone holds beside its devices."""

    masks: tuple[tuple[PartT, int], ...]
    """by part: wavelengths of a fiber or shared waveguide over all configurations, or numbers of parts of a pool"""
    ends: tuple[tuple[int, int, int], ...] = ()
    """(rank, wavelengths sent, wavelengths received) of ranks with circuits"""
    counted: tuple[tuple[PartT, int], ...] = ()
    """amounts of parts that jobs share up to a capacity"""


@dataclass(frozen=True, slots=True)
class HeldLinks:
    """What one job alone holds of the layer that joins racks."""

    counted: tuple[tuple[UpperPart, int], ...]
    """links by part"""
    masks: tuple[tuple[str, int], ...] = ()
    """ports by direction, and wavelengths by fiber"""
    circuits: tuple[RackCircuit, ...] = ()
    """the same by name; none where packets are switched"""


@dataclass(frozen=True)
class Placement:
    """Where one job runs by number: devices, and masks of what it holds beside them; by name it is a `Place`."""

    row: Option
    devices: tuple[Device, ...]
    """of the ranks; in rank order where jobs hold light"""
    held: tuple[Device, ...]
    """the same, and what rounding adds to a slice"""
    owned: Owned[Any] | None = None
    """light, or parts of pooled racks"""
    switches: Switches = frozenset()
    """optical switches that it needs"""
    links: HeldLinks | None = None
    """between the racks of a job over several; None where it lies in one"""
    parts: tuple["Placement", ...] = ()
    """what such a job has in each of its racks, ascending"""

    @cached_property
    def by_server(self) -> Mapping[int, int]:
        """Masks of the slots of held devices, by server."""
        return masks_by_server(self.held)
