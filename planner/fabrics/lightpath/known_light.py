"""Light of parts of jobs as first fit found it, found again on other servers between which the same light is free."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from costmodel.fabrics import Route
from planner.fabrics.demand import Demand
from planner.fabrics.free_devices import FreeDevices
from planner.fabrics.lightpath.routes import Device, Waveguide
from planner.fabrics.lightpath.rwa import Paths, Spectrum
from planner.fabrics.placement import Owned

MOST_HELD = 1_000_000
"""ranks of all answers that are remembered, and pairs of servers of all questions: some 200 bytes each"""
NUMBERS_OF_A_RANK = 16
"""of a question, that take as much memory as a rank of an answer"""
Numbers = Mapping[int, int] | Sequence[int]
"""of servers, by their present numbers"""


class FoundLight(NamedTuple):
    """Devices by rank, paths of the circuits between them, and the light that these take."""

    devices: list[Device]
    paths: Paths
    owned: Owned[Any]


class KnownLight:
    """Answers of first fit by all that they depend on, with servers by their place in the question."""

    def __init__(self) -> None:
        self._known: dict[Hashable, FoundLight | None] = {}
        self._num_held = 0

    def of(
        self, question: Hashable, servers: Sequence[int], search: Callable[[], FoundLight | None]
    ) -> FoundLight | None:
        """What was found for a question, on these servers; searched if it is new."""
        if question not in self._known:
            found = search()
            place = {server: number for number, server in enumerate(servers)}
            self._keep(question, len(servers), None if found is None else _on(found, place))
            return found
        known = self._known[question]
        return None if known is None else _on(known, servers)

    def _keep(self, question: Hashable, num_servers: int, found: FoundLight | None) -> None:
        if self._num_held > MOST_HELD:
            self._known.clear()
            self._num_held = 0
        self._known[question] = found
        self._num_held += num_servers**2 + (0 if found is None else sum(map(len, found.paths)))
        self._num_held += _numbers_in(question) // NUMBERS_OF_A_RANK


def _numbers_in(question: Hashable) -> int:
    """Numbers of 64 bits that a question holds."""
    if isinstance(question, tuple):
        return sum(map(_numbers_in, question))
    return 1 + question.bit_length() // 64 if isinstance(question, int) else 0


def _on(laid: FoundLight, number: Numbers) -> FoundLight:
    """The same on servers of other numbers."""
    routes = {route: _route_on(route, number) for each in laid.paths for route, _ in each.values()}
    paths = [{i: (routes[route], mask) for i, (route, mask) in each.items()} for each in laid.paths]
    masks = tuple([(_guide_on(guide, number), mask) for guide, mask in laid.owned.masks])
    devices = [(number[server], slot) for server, slot in laid.devices]
    return FoundLight(devices, paths, laid.owned._replace(masks=masks))


def _route_on(route: Route, number: Numbers) -> Route:
    return tuple([(number[a], number[b], i) for a, b, i in route])


def _guide_on(guide: Waveguide, number: Numbers) -> Waveguide:
    if len(guide) == 4:
        kind, server, source, destination = guide
        return kind, number[server], source, destination
    a, b, index = guide
    return number[a], number[b], index


def state_of(
    free: FreeDevices, light: Spectrum, demand: Demand, blocks: Sequence[tuple[int, int]], *, is_uniform: bool
) -> tuple[Hashable, Sequence[int]] | None:
    """All that the light of blocks depends on but the numbers of some servers, and these; None where it may depend on
    more. `is_uniform`: whether it depends on what is taken of the fibers between its servers alone."""
    if is_uniform:
        servers, room = [server for server, _ in blocks], free.any if demand.is_single else free.lit
        has_room = all(room[server] >= count * demand.block for server, count in blocks)
        return ((*(count for _, count in blocks), *light.between(servers)), servers) if has_room else None
    rack = free.cluster.fabric.rack_of(blocks[0][0])
    if free.is_untouched(rack):
        together = free.together[rack]
        return (*((server - together[0], count) for server, count in blocks),), together
    return None if demand.is_single else _state_inside(free, light, blocks)


def _state_inside(
    free: FreeDevices, light: Spectrum, blocks: Sequence[tuple[int, int]]
) -> tuple[Hashable, Sequence[int]] | None:
    """The same where slots matter, by what is taken of the servers and of the fibers between them."""
    has_more = light.cluster.has_failed_light or light.routes.may_cross or light.is_limited
    if has_more or not light.fabric.slots_matter:
        return None
    servers = [server for server, _ in blocks]
    inside = [(count, free.slots.lit[server], _taken_inside(light, server)) for server, count in blocks]
    return (*inside, *light.between(servers)), servers


def _taken_inside(light: Spectrum, server: int) -> int:
    """Wavelengths that are taken of the waveguides of a server, as one number."""
    fabric, taken, found = light.fabric, light.taken.get, 0
    width, grid = fabric.wavelengths_per_tile, (fabric.tiles_per_server, fabric.tiles_per_server // fabric.tile_rows)
    for source, destination in _waveguides(*grid) if fabric.waveguides == "shared" else ():
        found = found << width | taken(("tile", server, source, destination), 0)
    return found


@lru_cache(maxsize=64)
def _waveguides(tiles: int, columns: int) -> tuple[tuple[int, int], ...]:
    """Neighbouring slots of a server, there and back."""
    found = list[tuple[int, int]]()
    for slot in range(tiles):
        beside = (slot + 1,) if slot % columns < columns - 1 else ()
        found += [(slot, there) for there in (*beside, slot + columns) if there < tiles]
    return (*found, *((there, slot) for slot, there in found))
