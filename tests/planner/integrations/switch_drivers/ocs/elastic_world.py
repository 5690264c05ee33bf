"""A controller over lightpaths that fail by seed, whose jobs grow around the light that they have, and shrink."""

from collections.abc import Callable
from dataclasses import dataclass

from planner.controller import Controller, Request
from planner.model.errors import ConflictError, InputError
from planner.placement.placement import Place
from tests.planner.controller.sites import chat, request, resized
from tests.planner.integrations.switch_drivers.ocs.controlled_world import ControlledWorld

RESIZED = 0.4
"""share of events in which a job is to grow or shrink, if one runs"""
MOST = 12
"""accelerators that a job grows to"""
OVER_RACKS = (1, 2, 4, 4, 4, 8)
SIZES = {"lightpath": (1, 2, 4, 8), "lightpath-fibers": OVER_RACKS, "lightpath-switches": OVER_RACKS}
"""of jobs as they come, in accelerators: those of a whole rack, of four, grow over others"""
ASKS: tuple[Callable[[str, int], Request], ...] = (request, chat)


@dataclass
class ElasticWorld(ControlledWorld):
    """Jobs that run are resized as often as others come and go."""

    most_points = 60

    def _new(self, name: str) -> Request:
        return self.random.choice(ASKS)(name, self.random.choice(SIZES[self.site.kind]))

    def _event(self, controller: Controller) -> None:
        if controller.running and self.random.random() < RESIZED:
            name = self.random.choice(sorted(controller.running))
            how = "shrink" if self.random.random() < 0.25 else "grow"
            self._resize(controller, name, controller.running[name], how)
        else:
            super()._event(controller)

    def _resize(self, controller: Controller, name: str, place: Place, how: str) -> None:
        """Half of what it has, or all and more beside it; circuits and what others have may stand in the way."""
        devices = place.device_names
        try:
            if how == "grow":
                more = [*range(2 * len(devices), MOST + 1, len(devices))]
                if more:
                    controller.grow(resized(controller, name, self.random.choice(more)))
            elif len(devices) > 1:
                kept = devices[: self.random.choice((1, len(devices) // 2))]
                controller.shrink(resized(controller, name, len(kept)), kept)
        except (ConflictError, InputError):
            self.counts[f"{how} refused"] += 1
            return
        self.counts[how] += controller.running.get(name) is not place
