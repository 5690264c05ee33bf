"""Routing and wavelength assignment (RWA) of circuits in a CP-SAT model, beside the spectrum that is taken."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from ortools.sat.python import cp_model

from costmodel.fabrics import Fiber, Route
from planner.fabrics.lightpath.routes import Device, Waveguide
from planner.fabrics.lightpath.rwa import Spectrum
from planner.model.masks import numbers_of

Literal = cp_model.IntVar
Key = tuple[int, int]
"""(job, configuration)"""
Ends = Sequence[tuple[Device, Literal]]
"""devices that a rank may lie on"""


@dataclass(frozen=True)
class Ray:
    """Literals of one circuit."""

    light: list[Literal]
    """by wavelength, or by bundle of `grain` wavelengths"""
    routes: dict[Route, Literal]
    """one is taken if the ends lie on different servers, none else"""
    fibers: dict[Fiber, Literal]
    """true if the route takes the fiber"""
    grain: int

    def mask(self, solver: cp_model.CpSolver) -> int:
        """Wavelengths in a solution."""
        bundle = (1 << self.grain) - 1
        return sum(bundle << w * self.grain for w, literal in enumerate(self.light) if solver.value(literal))

    def route(self, solver: cp_model.CpSolver) -> Route:
        """Fibers in a solution."""
        return next((route for route, taken in self.routes.items() if solver.value(taken)), ())


@dataclass(frozen=True)
class Given:
    """Wavelengths of a circuit inside a server, by the canonical colouring."""

    wavelengths: int
    fibers: Mapping[Fiber, Literal] = field(default_factory=dict)

    def mask(self, _: cp_model.CpSolver) -> int:
        return self.wavelengths

    def route(self, _: cp_model.CpSolver) -> Route:
        return ()


class Paths:
    """Light of circuits that are on together, or of jobs that are not in step, in bundles of `grain` wavelengths."""

    def __init__(self, cp: cp_model.CpModel, taken: Spectrum, grain: int = 1) -> None:
        self.cp, self.taken, self.routes, self.grain = cp, taken.taken, taken.routes, grain
        self.fabric, self.cluster = taken.fabric, taken.cluster
        self._uses: defaultdict[tuple[int, int, Waveguide, int], list[Literal]] = defaultdict(list)

    def ray(self, width: int, sources: Mapping[int, Literal], destinations: Mapping[int, Literal]) -> Ray:
        """A circuit so wide between two servers, each of them one of those given; none where both ends lie together."""
        light = [self.cp.new_bool_var("") for _ in range(self.fabric.wavelengths_per_tile // self.grain)]
        self.cp.add(sum(light) == width // self.grain)
        routes: dict[Route, Literal] = {}
        for a, at_a in sources.items():
            for b, at_b in destinations.items():
                if a == b:
                    continue
                both = self.cp.new_bool_var("")
                self.cp.add_bool_and(at_a, at_b).only_enforce_if(both)
                self.cp.add_bool_or([both, ~at_a, ~at_b])
                chosen = {route: self.cp.new_bool_var("") for route in self.routes.routes(a, b)}
                self.cp.add(sum(chosen.values()) == both)
                routes |= chosen
        return Ray(light, routes, self._fibers(routes), self.grain)

    def _fibers(self, routes: Mapping[Route, Literal]) -> dict[Fiber, Literal]:
        """Literal of each fiber: that of its route where no servers are crossed."""
        if not self.routes.may_cross:
            return {fiber: taken for (fiber,), taken in routes.items()}
        fibers: dict[Fiber, Literal] = {}
        for route, taken in routes.items():
            for fiber in route:
                if fiber not in fibers:
                    fibers[fiber] = self.cp.new_bool_var("")
                self.cp.add_implication(taken, fibers[fiber])
        return fibers

    def spare_failed(self, ray: Ray, sources: Ends, destinations: Ends) -> None:
        """No light on wavelengths that the device of the source cannot send, or that of the destination receive."""
        cluster = self.cluster
        for ends, failed in ((sources, cluster.failed_lasers), (destinations, cluster.failed_receivers)):
            for device, at in ends:
                for w in numbers_of(failed.get(device, 0)):
                    self.cp.add_implication(at, ~ray.light[w])

    def use_fibers(self, key: Key, ray: Ray) -> None:
        """The light of a circuit on the fibers of its route."""
        for fiber, taken in ray.fibers.items():
            for w, literal in enumerate(ray.light):
                if w * self.grain >= self.fabric.wavelengths_per_fiber:
                    self.cp.add_implication(taken, ~literal)
                else:
                    self._use(key, fiber, w, [taken, literal])

    def use_slots(self, key: Key, ray: Ray, sources: Ends, destinations: Ends) -> None:
        """Loss between each two slots, and light on the tile boundaries on the way.

        A route visits no server twice: its fiber from the server of the source is the first one, that to the server
        of the destination the last one, and two that meet in a third server follow one another.
        """
        for a, at_a in sources:
            for b, at_b in destinations:
                if a[0] == b[0] and a != b:
                    self._lead(key, ray, a, b, [at_a, at_b])
                    self._reach(a, b, (), [at_a, at_b])
                for route, taken in ray.routes.items():
                    if (route[0][0], route[-1][1]) == (a[0], b[0]):
                        self._reach(a, b, route, [at_a, at_b, taken])
        for fiber, taken in ray.fibers.items():
            gate = self.fabric.fiber_slot(fiber[2])
            for device, at in sources:
                if device[0] == fiber[0]:
                    self._lead(key, ray, device, (fiber[0], gate), [at, taken])
            for device, at in destinations:
                if device[0] == fiber[1]:
                    self._lead(key, ray, (fiber[1], gate), device, [at, taken])
        for first, second in sorted({pair for route in ray.routes for pair in pairwise(route)}):
            gates = [(first[1], self.fabric.fiber_slot(fiber[2])) for fiber in (first, second)]
            self._lead(key, ray, gates[0], gates[1], [ray.fibers[first], ray.fibers[second]])

    def _reach(self, a: Device, b: Device, route: Route, literals: list[Literal]) -> None:
        """Not all literals are true if the way loses too much."""
        if not self.routes.reaches(a, b, route):
            self.cp.add_bool_or([~literal for literal in literals])

    def _lead(self, key: Key, ray: Ray, a: Device, b: Device, literals: list[Literal]) -> None:
        """All literals true: the light goes from one slot of a server to another."""
        for guide in self.routes.waveguides(a, b, ()):
            for w, light in enumerate(ray.light):
                self._use(key, guide, w, [*literals, light])

    def _use(self, key: Key, guide: Waveguide, w: int, literals: list[Literal]) -> None:
        """All literals true: a circuit of this job and configuration has wavelength w on the waveguide."""
        if self.taken.get(guide, 0) >> w * self.grain & ((1 << self.grain) - 1):
            self.cp.add_bool_or([~literal for literal in literals])
            return
        used = self.cp.new_bool_var("")
        self.cp.add_bool_or([*(~literal for literal in literals), used])
        self._uses[*key, guide, w].append(used)

    def share(self) -> None:
        """A wavelength on a waveguide: one circuit of a configuration, one job in all its configurations."""
        users: defaultdict[tuple[Waveguide, int], dict[int, Literal]] = defaultdict(dict)
        for (job, _, guide, w), literals in self._uses.items():
            self.cp.add_at_most_one(literals)
            jobs = users[guide, w]
            if job not in jobs:
                jobs[job] = self.cp.new_bool_var("")
            for literal in literals:
                self.cp.add_implication(literal, jobs[job])
        for jobs in users.values():
            self.cp.add_at_most_one(jobs.values())
