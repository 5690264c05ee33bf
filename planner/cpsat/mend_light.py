"""Fibers and wavelengths of jobs whose ranks may move: as much of their light as possible stays."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ortools.sat.python import cp_model

from planner.cpsat.mend_places import Literal, Places
from planner.light import Device, Fiber, Light, Waveguide
from planner.tenants import Beam, Link

Where = tuple[int, int, int]
"""(tenant, configuration, position)"""


class _Ray(NamedTuple):
    """Literals of one circuit: its wavelengths, and the fiber it takes where its ends lie on two servers."""

    light: list[Literal]
    fibers: dict[Fiber, Literal]


class MendLight:
    """CP-SAT model of the circuits of all tenants of `places`, beside the light that fixed jobs have taken.

    `wanted` gives the light that a circuit had, None where there was none: it counts as unchanged if it has that
    light again and its ranks keep their devices.
    """

    def __init__(self, places: Places, taken: Light, wanted: Sequence[Sequence[Sequence[Beam | None]]]) -> None:
        self.places, self.cp, self.taken = places, places.cp, taken
        self.rays: dict[Where, _Ray] = {}
        self.same: dict[Where, Literal] = {}
        self._uses: defaultdict[tuple[int, int, Waveguide, int], list[Literal]] = defaultdict(list)
        for t, tenant in enumerate(places.tenants):
            for c, links in enumerate(tenant.links):
                self._add_configuration(t, c, links)
                for i, link in enumerate(links):
                    beam = wanted[t][c][i]
                    if beam is not None:
                        self._may_stay((t, c, i), link, beam)
        self._share()

    def _add_configuration(self, t: int, c: int, links: Sequence[Link]) -> None:
        sent: defaultdict[tuple[int, int], list[Literal]] = defaultdict(list)
        received: defaultdict[tuple[int, int], list[Literal]] = defaultdict(list)
        for i, link in enumerate(links):
            light = [self.cp.new_bool_var("") for _ in range(self.taken.fabric.wavelengths_per_tile)]
            self.cp.add(sum(light) == link.width)
            for w, literal in enumerate(light):
                sent[link.source, w].append(literal)
                received[link.destination, w].append(literal)
            ray = self.rays[t, c, i] = _Ray(light, dict(self._fibers(t, link)))
            self._use_fibers((t, c), ray)
            if self.places.slots_matter:
                self._use_tiles((t, c), link, ray)
        for literals in (*sent.values(), *received.values()):
            self.cp.add_at_most_one(literals)

    def _fibers(self, t: int, link: Link) -> Iterator[tuple[Fiber, Literal]]:
        """One fiber where the ends lie on two servers, none else."""
        if link.source // self.places.tenants[t].block == link.destination // self.places.tenants[t].block:
            return
        for a, at_a in self.places.servers_of(t, link.source).items():
            for b, at_b in self.places.servers_of(t, link.destination).items():
                if a == b:
                    continue
                both = self.cp.new_bool_var("")
                self.cp.add_bool_and(at_a, at_b).only_enforce_if(both)
                self.cp.add_bool_or([both, ~at_a, ~at_b])
                chosen = {(a, b, i): self.cp.new_bool_var("") for i in self.taken.fibers(a, b)}
                self.cp.add(sum(chosen.values()) == both)
                yield from chosen.items()

    def _use_fibers(self, key: tuple[int, int], ray: _Ray) -> None:
        limit = self.taken.fabric.wavelengths_per_fiber
        for fiber, taken in ray.fibers.items():
            for w, literal in enumerate(ray.light):
                if w >= limit:
                    self.cp.add_implication(taken, ~literal)
                else:
                    self._use(key, fiber, w, [taken, literal])

    def _use(self, key: tuple[int, int], guide: Waveguide, w: int, literals: Sequence[Literal]) -> None:
        """All literals true: a circuit of this tenant and configuration has wavelength w on the waveguide."""
        if self.taken.taken.get(guide, 0) >> w & 1:
            self.cp.add_bool_or([~literal for literal in literals])
            return
        used = self.cp.new_bool_var("")
        self.cp.add_bool_or([*(~literal for literal in literals), used])
        self._uses[*key, guide, w].append(used)

    def _use_tiles(self, key: tuple[int, int], link: Link, ray: _Ray) -> None:
        """Loss between each two devices, and light on the tile boundaries between them."""
        for a, at_a in self.places.at(key[0], link.source):
            for b, at_b in self.places.at(key[0], link.destination):
                if a == b:
                    continue
                if a[0] == b[0]:
                    self._path(key, ray, (a, b, None), [at_a, at_b])
                for fiber, taken in ray.fibers.items():
                    if fiber[:2] == (a[0], b[0]):
                        self._path(key, ray, (a, b, fiber[2]), [at_a, at_b, taken])

    def _path(
        self, key: tuple[int, int], ray: _Ray, path: tuple[Device, Device, int | None], literals: list[Literal]
    ) -> None:
        if not self.taken.reaches(*path):
            self.cp.add_bool_or([~literal for literal in literals])
            return
        for guide in self.taken.waveguides(*path):
            if guide[0] == "tile":
                for w, light in enumerate(ray.light):
                    self._use(key, guide, w, [*literals, light])

    def _may_stay(self, where: Where, link: Link, beam: Beam) -> None:
        ray, t = self.rays[where], where[0]
        same = self.same[where] = self.cp.new_bool_var("")
        for w, literal in enumerate(ray.light):
            self.cp.add_implication(same, literal if beam.mask >> w & 1 else ~literal)
        for rank in (link.source, link.destination):
            self.cp.add_implication(same, self.places.keeps[t, rank])
        if beam.fiber is not None:
            if beam.fiber in ray.fibers:
                self.cp.add_implication(same, ray.fibers[beam.fiber])
            else:
                self.cp.add(same == 0)

    def _share(self) -> None:
        """A wavelength on a waveguide: one circuit of a configuration, one job in all its configurations."""
        users: defaultdict[tuple[Waveguide, int], dict[int, Literal]] = defaultdict(dict)
        for (t, _, guide, w), literals in self._uses.items():
            self.cp.add_at_most_one(literals)
            jobs = users[guide, w]
            if t not in jobs:
                jobs[t] = self.cp.new_bool_var("")
            for literal in literals:
                self.cp.add_implication(literal, jobs[t])
        for jobs in users.values():
            self.cp.add_at_most_one(jobs.values())

    def beams(self, solver: cp_model.CpSolver) -> list[tuple[tuple[Beam, ...], ...]]:
        """Light of each circuit in a solution, by tenant and configuration."""
        return [
            tuple(
                tuple(self._beam(self.rays[t, c, i], solver) for i in range(len(links)))
                for c, links in enumerate(tenant.links)
            )
            for t, tenant in enumerate(self.places.tenants)
        ]

    def _beam(self, ray: _Ray, solver: cp_model.CpSolver) -> Beam:
        mask = sum(1 << w for w, literal in enumerate(ray.light) if solver.value(literal))
        fibers = [fiber for fiber, taken in ray.fibers.items() if solver.value(taken)]
        return Beam(mask, fibers[0] if fibers else None)
