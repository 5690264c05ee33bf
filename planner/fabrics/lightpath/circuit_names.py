"""Circuits of jobs on a lightpath, by the planner's own first fit."""

from collections.abc import Iterator, Mapping, Sequence

from costmodel.fabrics import FabricBase, Fiber, Lightpath, Route
from planner.fabrics.circuit_names import CircuitNamer
from planner.fabrics.free_slots import Device
from planner.fabrics.free_state import FreeState
from planner.fabrics.job_class import Option
from planner.fabrics.lightpath.free_state import LightpathFreeState
from planner.fabrics.placement import Placement
from planner.fabrics.wiring import NO_WIRING, Step, Wire, Wiring, WiringNames
from planner.model.plan import Circuit, HeldCircuits

MOST_REMEMBERED = 100_000
"""wirings by what they depend on"""


class LightpathWiringNames(WiringNames):
    """A route is a list of fibers; those between servers of the job are kept by number."""

    def route(self, fabric: FabricBase, wire: Wire, devices: Sequence[Device]) -> Iterator[str]:
        assert isinstance(fabric, Lightpath)
        servers = tuple(dict.fromkeys(server for server, _ in devices)) if wire.route else ()
        for step in wire.route:
            yield step if isinstance(step, str) else fabric.fiber_name(servers[step[0]], servers[step[1]], step[2])

    def step(self, fabric: FabricBase, number: dict[int, int], name: str) -> Step:
        assert isinstance(fabric, Lightpath)
        a, b, index = fabric.parse_fiber(name)
        return (number[a], number[b], index) if a in number and b in number else name


class LightpathCircuitNamer(CircuitNamer):
    """First fit is not repeated where the same light comes back."""

    def __init__(self) -> None:
        super().__init__()
        self._known: dict[object, Wiring] = {}

    def forget(self) -> None:
        super().forget()
        self._known.clear()

    def name_in_rack(self, state: FreeState, placement: Placement) -> tuple[Placement, Wiring] | None:
        assert isinstance(state, LightpathFreeState)
        if not placement.row.sets_circuits:
            return placement, NO_WIRING
        key = _key(state, placement) if state.router.is_uniform else None
        wiring = self._known.get(key) if key is not None else None
        if wiring is None:
            wiring = self._over_fibers(state, placement)
            if wiring is None:
                state.release(placement)
                return None
            if key is not None:
                if len(self._known) > MOST_REMEMBERED:
                    self.forget()
                self._known[key] = wiring
        return placement, wiring

    def _over_fibers(self, state: LightpathFreeState, placement: Placement) -> Wiring | None:
        router, shape = state.router, placement.row.shape
        assert placement.owned is not None
        paths: Sequence[Mapping[int, tuple[Route, int]]] | None = router.paths(placement.owned)
        if paths is None:
            router.release(placement.owned)
            none_stay: list[dict[int, Circuit]] = [{} for _ in shape.configurations]
            paths = router.light.paths(shape.configurations, shape.offsets, placement.devices, none_stay)
            router.take(placement.owned)
        if paths is None:
            return None
        wiring = self.one(_wiring(placement, paths))
        if router.is_uniform and dict(_fibers(placement, wiring)) != dict(placement.owned.masks):
            return None
        return wiring

    def placement_in_rack(
        self,
        state: FreeState,
        row: Option,
        devices: tuple[Device, ...],
        wiring: Wiring,
        circuits: Sequence[HeldCircuits],
    ) -> Placement:
        assert isinstance(state, LightpathFreeState)
        owned = state.router.owned_over(row.shape, circuits) if row.sets_circuits else None
        return Placement(row, devices, devices, owned)


def _wiring(placement: Placement, paths: Sequence[Mapping[int, tuple[Route, int]]]) -> Wiring:
    """Circuits that first fit has found, by number of the job's servers."""
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
    for (a, b, index), mask in wiring.fiber_masks:
        yield (servers[a], servers[b], index), mask


def _key(state: LightpathFreeState, placement: Placement) -> object:
    """All that first fit depends on where slots do not matter: the shape, the server of each block, and on each fiber
    between these servers what others have taken."""
    assert placement.owned is not None
    light, own = state.light, dict(placement.owned.masks)
    layout = [server for server, _ in placement.devices[:: placement.row.shape.block]]
    servers = list(dict.fromkeys(layout))
    if len(servers) == 1:
        return id(placement.row.shape)
    number = {server: i for i, server in enumerate(servers)}
    taken, fibers = light.taken, light.routes.fibers
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
