"""Whether fibers and wavelengths exist for the circuits of a few jobs: exact backtracking over bit masks."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tests.oracles.light_paths import Device, Light, LightPaths, Pair, Route, TileCircuit

Given = tuple[Route, int]
"""fibers and mask of wavelengths that a circuit must keep"""


@dataclass(frozen=True)
class Tenant:
    """Circuits of one job between its devices; `given` fixes (route, wavelengths) of each, row for row."""

    configurations: tuple[tuple[TileCircuit, ...], ...]
    given: tuple[tuple[Given, ...], ...] | None = None

    def parts(self) -> list["Tenant"]:
        """One tenant for each configuration."""
        given = [None] * len(self.configurations) if self.given is None else [(rows,) for rows in self.given]
        return [Tenant((held,), rows) for held, rows in zip(self.configurations, given, strict=True)]


Limits = tuple[tuple[Pair, int], ...]
"""most fibers in use for each pair of servers"""
Routing = tuple[tuple[tuple[Light, ...], ...], ...]
"""light of each circuit, by tenant, configuration and position"""


class _Variable(NamedTuple):
    job: int
    configuration: int
    position: int
    domain: tuple[Light, ...]


class _State(NamedTuple):
    """What a partial assignment uses: by (job, configuration), by job, and over all."""

    own: Mapping[tuple[int, int], int]
    shared: tuple[int, ...]
    wavelengths: int
    fibers: int

    def admits(self, variable: _Variable, light: Light) -> bool:
        if light.own & self.own.get(variable[:2], 0):
            return False
        others = (used for job, used in enumerate(self.shared) if job != variable.job)
        return not any(light.shared & used for used in others)

    def plus(self, variable: _Variable, light: Light) -> "_State":
        own = {**self.own, variable[:2]: self.own.get(variable[:2], 0) | light.own}
        shared = list(self.shared)
        shared[variable.job] |= light.shared
        fibers = self.fibers | sum(1 << fiber for fiber in light.route)
        return _State(own, tuple(shared), self.wavelengths | light.wavelengths, fibers)


class LightSearch:
    """Search for light on the paths of a cluster; remembers what it found."""

    def __init__(self, paths: LightPaths) -> None:
        self.paths = paths
        self._found: dict[tuple[tuple[Tenant, ...], Limits], Routing | None] = {}

    def route(self, tenants: Sequence[Tenant], most: Mapping[Pair, int] | None = None) -> Routing | None:
        """Light for all circuits, with at most `most` fibers in use for each pair; None where there is none.

        Tenants that cannot meet are searched apart.
        """
        tenants = [tenant if self.paths.slots_matter else _renumbered(tenant) for tenant in tenants]
        lights: list[tuple[tuple[Light, ...], ...]] = [()] * len(tenants)
        limits = tuple(sorted((most or self.paths.num_healthy).items()))
        for group in self._groups(tenants):
            members = tuple(tenants[i] for i in group)
            found = self._remembered(members, limits)
            if found is None:
                return None
            for i, routing in zip(group, found, strict=True):
                lights[i] = routing
        return tuple(lights)

    def _remembered(self, tenants: tuple[Tenant, ...], limits: Limits) -> Routing | None:
        """Light of tenants that can meet; each configuration is tried alone before."""
        key = tenants, limits
        if key not in self._found:
            alone = [part for tenant in tenants for part in tenant.parts()]
            is_hopeless = len(alone) > 1 and any(self._remembered((part,), limits) is None for part in alone)
            self._found[key] = None if is_hopeless else self._search(tenants, dict(limits))
        return self._found[key]

    def _groups(self, tenants: Sequence[Tenant]) -> list[list[int]]:
        """Tenants joined where one may use a boundary, or a fiber of a pair, that another may use."""
        groups: list[tuple[list[int], set[object]]] = []
        for i, tenant in enumerate(tenants):
            members, reach = [i], self._reach(tenant)
            for group in [g for g in groups if g[1] & reach]:
                groups.remove(group)
                members, reach = sorted(group[0] + members), reach | group[1]
            groups.append((members, reach))
        return [members for members, _ in groups]

    def _reach(self, tenant: Tenant) -> set[object]:
        reach: set[object] = set()
        for source, destination, _ in (c for circuits in tenant.configurations for c in circuits):
            for route, crossed in self.paths.between(source, destination):
                reach |= {self.paths.fibers[fiber][:2] for fiber in route}
                reach |= set(crossed) if self.paths.is_shared else set()
        return reach

    def _search(self, tenants: tuple[Tenant, ...], most: dict[Pair, int]) -> Routing | None:
        if self._is_overfull(tenants, most):
            return None
        state = _State({}, (0,) * len(tenants), 0, 0)
        found: dict[tuple[int, int, int], Light] = {}
        open_variables = []
        for variable, given in self._variables(tenants):
            if given is None:
                open_variables.append(variable)
                continue
            light = next((light for light in variable.domain if light[:2] == given), None)
            if light is None or not state.admits(variable, light):
                return None
            if self._is_closed(light, self._closed_fibers(state, most)):
                return None
            state = state.plus(variable, light)
            found[variable[:3]] = light
        completed = self._extend(state, open_variables, most)
        if completed is None:
            return None
        found |= completed
        return tuple(
            tuple(tuple(found[j, c, i] for i in range(len(held))) for c, held in enumerate(t.configurations))
            for j, t in enumerate(tenants)
        )

    def _is_closed(self, light: Light, closed: int) -> bool:
        return any(closed >> fiber & 1 for fiber in light.route)

    def _variables(self, tenants: Sequence[Tenant]) -> Iterator[tuple[_Variable, Given | None]]:
        """Each circuit, and the light it is given if any."""
        for job, tenant in enumerate(tenants):
            for c, held in enumerate(tenant.configurations):
                for i, circuit in enumerate(held):
                    given = None if tenant.given is None else tenant.given[c][i]
                    yield _Variable(job, c, i, self.paths.domain(circuit)), given

    def _is_overfull(self, tenants: Sequence[Tenant], most: Mapping[Pair, int]) -> bool:
        """Whether the fibers of a pair lack room even for each job's busiest configuration; not where others help."""
        if self.paths.fabric.transit:
            return False
        room = min(self.paths.fabric.wavelengths_per_tile, self.paths.fabric.wavelengths_per_fiber)
        for pair, limit in most.items():
            demands = (
                max(sum(w for a, b, w in held if (a[0], b[0]) == pair) for held in tenant.configurations)
                for tenant in tenants
                if tenant.configurations
            )
            if sum(demands) > limit * room:
                return True
        return False

    def _extend(
        self, state: _State, variables: list[_Variable], most: Mapping[Pair, int]
    ) -> dict[tuple[int, int, int], Light] | None:
        """Complete a partial assignment, the circuit with the fewest ways first; None where there is none."""
        if not variables:
            return {}
        closed = self._closed_fibers(state, most)
        best: tuple[_Variable, list[Light]] | None = None
        for variable in variables:
            ways = [v for v in variable.domain if not self._is_closed(v, closed) and state.admits(variable, v)]
            if best is None or len(ways) < len(best[1]):
                best = variable, ways
        assert best is not None
        rest = [variable for variable in variables if variable is not best[0]]
        for light in self._distinct(state, best[1]):
            found = self._extend(state.plus(best[0], light), rest, most)
            if found is not None:
                found[best[0][:3]] = light
                return found
        return None

    def _closed_fibers(self, state: _State, most: Mapping[Pair, int]) -> int:
        """Fibers that would be one too many of their pair."""
        used = dict.fromkeys(most, 0)
        for number, fiber in enumerate(self.paths.fibers):
            used[fiber[:2]] += state.fibers >> number & 1
        return sum(
            1 << number
            for number, fiber in enumerate(self.paths.fibers)
            if not state.fibers >> number & 1 and used[fiber[:2]] >= most[fiber[:2]]
        )

    def _distinct(self, state: _State, lights: Sequence[Light]) -> Iterator[Light]:
        """One of each set of ways that differ in wavelengths or fibers which nothing uses yet, and are alike."""
        unused, alike = ~state.wavelengths, self.paths.alike()
        tried: dict[object, Route] = {}
        for light in lights:
            kind = tuple(self._kind(state, fiber) for fiber in light.route)
            if tried.setdefault(kind, light.route) != light.route:
                continue
            if all(_is_lowest(light.wavelengths, unused & part) for part in alike):
                yield light

    def _kind(self, state: _State, number: int) -> object:
        """Unused fibers of a pair are alike where they leave and enter at the same slot, or slots do not matter."""
        if state.fibers >> number & 1:
            return number
        *pair, index = self.paths.fibers[number]
        return (*pair, index % self.paths.fabric.tiles_per_server if self.paths.slots_matter else 0)


def _is_lowest(chosen: int, free: int) -> bool:
    """Whether the members of `chosen` in `free` are the least ones there."""
    members = chosen & free
    return free & ((1 << members.bit_length()) - 1) == members


def _renumbered(tenant: Tenant) -> Tenant:
    """The same circuits, the slots of each server counted in order of appearance; jobs share none."""
    slots: dict[Device, int] = {}
    counts: dict[int, int] = {}
    for device in (end for held in tenant.configurations for circuit in held for end in circuit[:2]):
        if device not in slots:
            slots[device] = counts.get(device[0], 0)
            counts[device[0]] = slots[device] + 1
    configurations = tuple(
        tuple(((a[0], slots[a]), (b[0], slots[b]), width) for a, b, width in held) for held in tenant.configurations
    )
    return Tenant(configurations, tenant.given)
