"""Circuits of jobs that run already: those of their configurations, over fibers that lead there, and apart."""

from typing import TYPE_CHECKING

from costmodel.fabrics import FabricBase, Lightpath
from planner.fabrics.lightpath.routes import Routes
from planner.fabrics.residents import Running, check_asked_circuits, check_ends
from planner.fabrics.server_shares.residents import SharedResidents
from planner.model.plan import Circuit, HeldCircuits

if TYPE_CHECKING:
    from planner.model.job import Resident


class LightpathResidents(SharedResidents):
    """Wavelengths that tiles have, fibers that lead from end to end within the loss budget, each wavelength once."""

    def check_circuit(self, fabric: FabricBase, resident: "Resident", circuit: Circuit, where: str) -> None:
        assert isinstance(fabric, Lightpath)
        check_ends(resident, circuit, where)
        if max(circuit.wavelengths) >= fabric.wavelengths_per_tile or min(circuit.wavelengths) < 0:
            raise ValueError(f"{where}.circuits: wavelengths are 0 to {fabric.wavelengths_per_tile - 1}")
        source, destination = (fabric.parse_device(end)[0] for end in (circuit.source, circuit.destination))
        try:
            fabric.route(source, circuit.fibers, destination)
        except ValueError:
            wanted = f"one fiber such as {fabric.fiber_name(source, destination, 0)}"
            if fabric.transit:
                wanted = f"fibers that lead there over at most {fabric.transit} other servers"
            if source == destination:
                wanted = "no fiber"
            raise ValueError(
                f"{where}.circuits: {circuit.source} to {circuit.destination} takes {wanted}, not "
                f"{list(circuit.fibers)}"
            ) from None

    def check_circuits(self, running: Running) -> None:
        check_asked_circuits(running)
        routes = Routes(running.cluster)
        for held in running.resident.circuits:
            _check_together(routes, held, running.where)


def _check_together(routes: Routes, held: HeldCircuits, where: str) -> None:
    """Circuits of one configuration: wavelengths of tiles and waveguides once each, loss within the budget."""
    fabric, used = routes.fabric, set[object]()
    for circuit in held.circuits:
        source, destination = map(fabric.parse_device, (circuit.source, circuit.destination))
        route = tuple(map(fabric.parse_fiber, circuit.fibers))
        if not routes.reaches(source, destination, route):
            raise ValueError(f"{where}.circuits: {_name(circuit)} loses more light than loss_budget allows")
        if route and max(circuit.wavelengths) >= fabric.wavelengths_per_fiber:
            last = fabric.wavelengths_per_fiber - 1
            raise ValueError(f"{where}.circuits: {_name(circuit)} takes a fiber, which carries wavelengths 0 to {last}")
        guides = [("from", source), ("to", destination), *routes.waveguides(source, destination, route)]
        for key in ((guide, wavelength) for guide in guides for wavelength in circuit.wavelengths):
            if key in used:
                raise ValueError(f"{where}.circuits: {_name(circuit)} meets another circuit on wavelength {key[1]}")
            used.add(key)


def _name(circuit: Circuit) -> str:
    return f"{circuit.source} to {circuit.destination}"
