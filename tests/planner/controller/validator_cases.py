"""Shared by the tests of `validator`."""

from collections.abc import Callable
from dataclasses import replace

from planner.controller import Controller
from planner.controller.settings import Request
from planner.controller.validator import Validator
from planner.fabrics.wiring import Wire, Wiring
from planner.placement.placement import Place
from tests.planner.controller.sites import request

Broken = Callable[[Place], Place]


def placed(controlled: Controller, name: str, size: int) -> tuple[Request, Place]:
    controlled.submit(request(name, size))
    return controlled.job(name).request, controlled.running[name]


def guard_of(controlled: Controller) -> Validator:
    return controlled._durable.state.validator


def rewired(place: Place, change: Callable[[Wire], Wire | None]) -> Place:
    """The place with each circuit changed, or left out."""
    configurations = tuple(
        (dimension, tuple(new for wire in wires if (new := change(wire)) is not None))
        for dimension, wires in place.wiring.configurations
    )
    return replace(place, wiring=Wiring(configurations))


def on(place: Place, *devices: tuple[int, int]) -> Place:
    return replace(place, devices=devices + place.devices[len(devices) :])
