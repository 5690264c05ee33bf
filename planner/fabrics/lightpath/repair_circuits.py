"""Fibers and wavelengths of jobs whose ranks may move: as much of their light as possible stays."""

from collections import defaultdict
from collections.abc import Sequence

from ortools.sat.python import cp_model

from costmodel.fabrics import Lightpath
from planner.fabrics.lightpath.routes import Routes
from planner.fabrics.lightpath.rwa import Spectrum
from planner.fabrics.lightpath.step2_paths import Paths, Ray
from planner.fabrics.ranked_circuits import RankedCircuit, RankedLink
from planner.formulation.rank_literals import Literal, PlaceLiterals
from planner.formulation.repair_model import RepairModel, RepairProblem, Wanted, Where


class LightpathRepair(RepairModel):
    """Ranks that move, and routing and wavelength assignment (RWA) of all circuits of their jobs."""

    def num_literals(self, problem: RepairProblem) -> int:
        fabric = problem.cluster.fabric
        assert isinstance(fabric, Lightpath)
        ways, servers = Routes(problem.cluster), {device[0] for device in problem.free}
        ranks = sum(len(tenant.devices) for tenant in problem.tenants)
        fibers = sum(ways.most_routes(a, b) for a in servers for b in servers if a != b)
        circuits = sum(tenant.num_circuits for tenant in problem.tenants)
        per_circuit = fabric.wavelengths_per_tile * (1 + fibers)
        if fabric.slots_matter:
            return ranks * len(problem.free) + circuits * (per_circuit + 2 * len(problem.free) ** 2)
        spanning = sum(
            link.source // t.block != link.destination // t.block
            for t in problem.tenants
            for held in t.links
            for link in held
        )
        return ranks * (len(servers) + 1) + circuits * fabric.wavelengths_per_tile + spanning * per_circuit

    def circuits(self, places: PlaceLiterals, problem: RepairProblem, wanted: Wanted) -> "CircuitRepair":
        taken = Spectrum(problem.cluster)
        for assignment in problem.fixed:
            taken.commit(assignment.circuits)
        return CircuitRepair(places, taken, wanted)


class CircuitRepair:
    """CP-SAT model of the circuits of all tenants of `places`, beside the light that fixed jobs have taken.

    `wanted` gives the light that a circuit had, None where there was none: it counts as unchanged if it has that
    light again and its ranks keep their devices.
    """

    def __init__(self, places: PlaceLiterals, taken: Spectrum, wanted: Wanted) -> None:
        self.places, self.cp, self.paths = places, places.cp, Paths(places.cp, taken)
        self.rays: dict[Where, Ray] = {}
        self.same: dict[Where, Literal] = {}
        for t, tenant in enumerate(places.tenants):
            for c, links in enumerate(tenant.links):
                self._add_configuration(t, c, links)
                for i, link in enumerate(links):
                    beam = wanted[t][c][i]
                    if beam is not None:
                        self._may_stay((t, c, i), link, beam)
        self.paths.share()

    def _add_configuration(self, t: int, c: int, links: Sequence[RankedLink]) -> None:
        sent: defaultdict[tuple[int, int], list[Literal]] = defaultdict(list)
        received: defaultdict[tuple[int, int], list[Literal]] = defaultdict(list)
        for i, link in enumerate(links):
            ray = self.rays[t, c, i] = self._ray(t, link)
            for w, literal in enumerate(ray.light):
                sent[link.source, w].append(literal)
                received[link.destination, w].append(literal)
            self.paths.use_fibers((t, c), ray)
            ends = self.places.at(t, link.source), self.places.at(t, link.destination)
            self.paths.spare_failed(ray, *ends)
            if self.places.slots_matter:
                self.paths.use_slots((t, c), ray, *ends)
        for literals in (*sent.values(), *received.values()):
            self.cp.add_at_most_one(literals)

    def _ray(self, t: int, link: RankedLink) -> Ray:
        """Light from rank to rank; between servers if the ranks are not of one block."""
        block = self.places.tenants[t].block
        if link.source // block == link.destination // block:
            return self.paths.ray(link.width, {}, {})
        servers_of = self.places.servers_of
        return self.paths.ray(link.width, servers_of(t, link.source), servers_of(t, link.destination))

    def _may_stay(self, where: Where, link: RankedLink, beam: RankedCircuit) -> None:
        ray, t = self.rays[where], where[0]
        same = self.same[where] = self.cp.new_bool_var("")
        for w, literal in enumerate(ray.light):
            self.cp.add_implication(same, literal if beam.mask >> w & 1 else ~literal)
        for rank in (link.source, link.destination):
            self.cp.add_implication(same, self.places.keeps[t, rank])
        if beam.route in ray.routes:
            self.cp.add_implication(same, ray.routes[beam.route])
        elif beam.route:
            self.cp.add(same == 0)

    def beams(self, solver: cp_model.CpSolver) -> list[tuple[tuple[RankedCircuit, ...], ...]]:
        """Light of each circuit in a solution, by tenant and configuration."""
        return [
            tuple(
                tuple(self._beam(self.rays[t, c, i], solver) for i in range(len(links)))
                for c, links in enumerate(tenant.links)
            )
            for t, tenant in enumerate(self.places.tenants)
        ]

    def _beam(self, ray: Ray, solver: cp_model.CpSolver) -> RankedCircuit:
        return RankedCircuit(ray.mask(solver), ray.route(solver))
