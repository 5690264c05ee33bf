"""The circuits of a place that the fast board has found: it keeps light as masks, these name every circuit."""

from collections.abc import Iterator, Mapping, Sequence
from math import prod

from costmodel.fabrics import Fiber, Lightpath, OcsRail, Route, SlicedFabric
from planner.fabrics.lightpath.routes import Device
from planner.fabrics.slices.free_slices import slice_circuits
from planner.model.plan import Circuit, HeldCircuits
from planner.placement.job_classes import Option
from planner.placement.placement import NO_WIRING, Step, Wire, Wiring, wiring_of
from planner.placement.state import Placement, State

MOST_REMEMBERED = 100_000
"""wirings by what they depend on"""
MOST_WIRES = 500_000
"""of all remembered wirings; each takes some 200 bytes"""


class CircuitNamer:
    """Circuits of placements, by the planner's own first fit; remembered where the same light comes back."""

    def __init__(self) -> None:
        self._num_wires = 0
        self._known: dict[object, Wiring] = {}
        self._alike: dict[Wiring, Wiring] = {}
        self._laid: dict[object, tuple[tuple[int, ...], Wiring]] = {}
        """place among the devices of its slices for each rank, and circuits, by what they depend on"""

    def wire(self, state: State, placement: Placement) -> tuple[tuple[Device, ...], Wiring] | None:
        """Devices in rank order, and the circuits, of a placement that is taken; None where they are not what was."""
        row, fabric = placement.row, state.cluster.fabric
        if isinstance(fabric, SlicedFabric):
            return self._on_slices(state, placement)
        if not row.sets_circuits:
            return placement.devices, NO_WIRING
        if isinstance(fabric, OcsRail):
            assert state.board.rails is not None
            circuits = state.board.rails.circuits(row.shape, placement.devices)
            return placement.devices, self._one(wiring_of(circuits, placement.devices, row))
        assert isinstance(fabric, Lightpath)
        return self._over_fibers(state, placement)

    def _one(self, wiring: Wiring) -> Wiring:
        found = self._alike.get(wiring)
        if found is None:
            self._num_wires += sum(len(wires) for _, wires in wiring.configurations)
            if self._num_wires > MOST_WIRES:
                self._forget()
            found = self._alike[wiring] = wiring
        return found

    def _forget(self) -> None:
        """Circuits are found again where they are asked for."""
        self._known.clear()
        self._alike.clear()
        self._laid.clear()
        self._num_wires = 0

    def _over_fibers(self, state: State, placement: Placement) -> tuple[tuple[Device, ...], Wiring] | None:
        router, shape = state.router, placement.row.shape
        assert router is not None
        assert placement.beams is not None
        key = _key(state, placement) if router.is_uniform else None
        wiring = self._known.get(key) if key is not None else None
        if wiring is not None:
            return placement.devices, wiring
        paths: Sequence[Mapping[int, tuple[Route, int]]] | None = router.paths(placement.beams)
        if paths is None:
            router.release(placement.beams)
            none_stay: list[dict[int, Circuit]] = [{} for _ in shape.configurations]
            paths = router.light.paths(shape.configurations, shape.offsets, placement.devices, none_stay)
            router.take(placement.beams)
        if paths is None:
            return None
        wiring = self._one(_wiring(placement, paths))
        if router.is_uniform and dict(_fibers(placement, wiring)) != dict(placement.beams.guides):
            return None
        if key is not None:
            if len(self._known) > MOST_REMEMBERED:
                self._forget()
            self._known[key] = wiring
        return placement.devices, wiring

    def _on_slices(self, state: State, placement: Placement) -> tuple[tuple[Device, ...], Wiring] | None:
        """Slices are found again as if they were free; ranks and circuits of all that lie alike once."""
        row, count = placement.row, dict[int, int]()
        for server, _ in placement.devices:
            count[server] = count.get(server, 0) + 1
        blocks = [(server, ranks // row.shape.part) for server, ranks in sorted(count.items())]
        state.release(placement)
        found = state.realize(row, blocks)
        state.take(placement)
        if found is None or set(found.devices) != set(placement.devices):
            return None
        if not row.shape.cut:
            return found.devices, NO_WIRING
        fabric, (servers, slots) = state.cluster.fabric, zip(*found.devices, strict=True)
        number: dict[int, int] = {}
        lie = tuple([number.setdefault(server, len(number)) for server in servers])
        key = id(row), fabric.rack_of(servers[0]) if fabric.has_circuits else 0, lie, slots
        if key not in self._laid:
            if len(self._laid) > MOST_REMEMBERED:
                self._forget()
            ranks, wiring = _on_held(row, found.devices)
            self._laid[key] = ranks, self._one(wiring)
        ranks, wiring = self._laid[key]
        return tuple([found.devices[place] for place in ranks]), wiring


def _on_held(row: Option, devices: Sequence[Device]) -> tuple[tuple[int, ...], Wiring]:
    """The place of each rank among the devices of slices, one slice after the other, and the circuits of these."""
    fabric, plans, size = row.options.fabric, row.options.candidates.row_plans(row.number), prod(row.shape.cut)
    assert isinstance(fabric, SlicedFabric)
    slices = [devices[first : first + size] for first in range(0, len(devices), size)]
    held = [(each[0][0], tuple([slot for _, slot in each])) for each in slices]
    place = {device: number for number, device in enumerate(devices)}
    laid = fabric.layout(plans, held)
    wiring = wiring_of(slice_circuits(fabric, plans, held), tuple(laid), row)
    return tuple([place[device] for device in laid]), wiring


def _wiring(placement: Placement, paths: Sequence[Mapping[int, tuple[Route, int]]]) -> Wiring:
    """What first fit has found, by number of the job's servers."""
    fabric, configurations = placement.row.options.fabric, placement.row.shape.configurations
    assert isinstance(fabric, Lightpath)
    number = {server: i for i, server in enumerate(dict.fromkeys(server for server, _ in placement.devices))}

    def step(fiber: Fiber) -> Step:
        a, b, index = fiber
        return (number[a], number[b], index) if a in number and b in number else fabric.fiber_name(*fiber)

    return Wiring(
        tuple(
            (
                dimension,
                tuple(Wire(a, b, chosen[i][1], tuple(map(step, chosen[i][0]))) for i, (a, b, _) in enumerate(circuits)),
            )
            for (dimension, circuits), chosen in zip(configurations, paths, strict=True)
        )
    )


def _fibers(placement: Placement, wiring: Wiring) -> Iterator[tuple[Fiber, int]]:
    """Wavelengths of all configurations by fiber."""
    servers = list(dict.fromkeys(server for server, _ in placement.devices))
    for (a, b, index), mask in wiring.beams:
        yield (servers[a], servers[b], index), mask


def _key(state: State, placement: Placement) -> object:
    """All that first fit depends on where slots do not matter: the shape, the server of each block, and on each fiber
    between these servers what others have taken."""
    assert state.router is not None
    assert placement.beams is not None
    light, own = state.router.light, dict(placement.beams.guides)
    layout = [server for server, _ in placement.devices[:: placement.row.shape.block]]
    servers = list(dict.fromkeys(layout))
    if len(servers) == 1:
        return id(placement.row.shape)
    number = {server: i for i, server in enumerate(servers)}
    taken, fibers = light.taken, light.ways.fibers
    return (
        id(placement.row.shape),
        tuple(map(number.__getitem__, layout)),
        *(
            tuple((i, taken.get((a, b, i), 0) & ~own.get((a, b, i), 0)) for i in fibers(a, b))
            for a in servers
            for b in servers
            if a != b
        ),
    )


def beams_of(state: State, circuits: tuple[HeldCircuits, ...], placement: Placement) -> Placement:
    """A placement with the light of these circuits, for a board that is built anew."""
    if state.router is None or not placement.row.sets_circuits:
        return placement
    return Placement(
        placement.row, placement.devices, placement.held, state.router.beams(placement.row.shape, circuits)
    )
