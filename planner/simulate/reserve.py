"""Reservation of EASY backfill: the place that the first waiting job will have, and when; backfill leaves it alone."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property

from planner.fabrics.free_slots import Device
from planner.fabrics.free_state import FreeState
from planner.fabrics.job_class import JobClass
from planner.fabrics.placement import HeldLinks, Owned, Placement
from planner.simulate.placer import Placer
from planner.simulate.runs import Run


@dataclass(frozen=True)
class Reservation:
    """A placement that will be free at `time_s` if nothing else takes it beyond."""

    job: int
    time_s: float
    placement: Placement

    @cached_property
    def _devices(self) -> frozenset[Device]:
        return frozenset(self.placement.held)

    @cached_property
    def _light(self) -> dict[Hashable, int]:
        return dict(self.placement.owned.masks) if self.placement.owned is not None else {}

    def num_free(self, state: FreeState) -> int:
        """Reserved devices that are free already."""
        free = state.free
        return sum([(free[server] & mask).bit_count() for server, mask in self.placement.by_server.items()])

    def is_free(self, state: FreeState) -> bool:
        """True if all that is reserved is free."""
        if any(mask & ~state.free[server] for server, mask in self.placement.by_server.items()):
            return False
        taken, links = state.taken, self.placement.links
        if any(taken.get(guide, 0) & mask for guide, mask in self._light.items()):
            return False
        return links is None or state.links is None or state.links.are_free(links)

    def is_apart(self, placement: Placement) -> bool:
        """True if a placement shares nothing with what is reserved."""
        if not self._devices.isdisjoint(placement.held):
            return False
        if placement.links is not None and not self._is_apart_above(placement.links):
            return False
        return placement.owned is None or not any(
            self._light.get(guide, 0) & mask for guide, mask in placement.owned.masks
        )

    def _is_apart_above(self, links: HeldLinks) -> bool:
        """True if links between racks have nothing in common with those that are reserved: no circuit, or, where
        packets are switched, no part of the layer."""
        mine = self.placement.links
        if mine is None:
            return True
        masks, counted = dict(mine.masks), dict(mine.counted)
        if masks:
            return not any(masks.get(name, 0) & bits for name, bits in links.masks)
        return counted.keys().isdisjoint(part for part, _ in links.counted)

    def free_part(self, state: FreeState) -> Placement:
        """What is reserved and free; nothing is taken."""
        free = state.free
        devices = tuple((server, slot) for server, slot in self.placement.held if free[server] >> slot & 1)
        taken = state.taken
        guides = tuple((guide, mask & ~taken.get(guide, 0)) for guide, mask in self._light.items())
        links = self.placement.links
        left = None if links is None or state.links is None else state.links.still_free(links)
        return Placement(self.placement.row, devices, devices, Owned(guides), links=left)


def reserve(job: int, kind: JobClass, placer: Placer, runs: Sequence[Run]) -> Reservation | None:
    """The first time at which the policy finds a place as running jobs leave; None where it never does.

    `runs` are in the order of their ends, which are taken as known. The state is left as it was.
    """
    state, ahead, found = placer.state, placer.look_ahead(kind), None
    left, number = list[Placement](), 0
    while (number := ahead.first(runs, number + 1)) <= len(runs):
        end_s = runs[number - 1].end_s
        while number < len(runs) and runs[number].end_s == end_s:
            number += 1
        leaving = [run.placement for run in runs[len(left) : number]]
        state.release_all(leaving)
        left += leaving
        if kind.held <= state.num_free and (placement := placer.look(kind)) is not None:
            found = Reservation(job, end_s, placement)
            break
    state.take_all(left)
    return found
