"""Exact routing and wavelength assignment (RWA): ranks, fibers and wavelengths for given counts of some jobs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ortools.sat.python import cp_model

from costmodel.fabrics import Circuits
from planner.fabrics.demand import Demand
from planner.fabrics.free_slots import FreeSlots
from planner.fabrics.lightpath.routes import Device
from planner.fabrics.lightpath.rwa import Spectrum
from planner.fabrics.lightpath.step2_paths import Given, Paths, Ray
from planner.fabrics.lightpath.step2_ranks import Layouts
from planner.fabrics.pattern import Pattern
from planner.fabrics.problem import Problem
from planner.model.cluster import Cluster
from planner.model.masks import numbers_of
from planner.model.plan import Assignment, Circuit, HeldCircuits


@dataclass(frozen=True)
class _Circuit:
    """One circuit of a job between two ranks."""

    job: int
    configuration: int
    ranks: tuple[int, int]
    ray: Ray | Given


@dataclass
class ExactRwa:
    """CP-SAT model of the circuits of `jobs` in a pattern, beside the light of residents that stay.

    Devices of a server that are alike are interchangeable: those in one condition where slots do not matter. If
    all of a server are, only servers are chosen. With a `grain` above 1 light is assigned by bundles of so many
    wavelengths: a restriction, which proves nothing where it finds none.
    """

    problem: Problem
    pattern: Pattern
    jobs: Sequence[int]
    staying: Sequence[Assignment]
    most_lit: Mapping[tuple[int, int], int] | None = None
    grain: int = 1
    layouts: Layouts = field(default_factory=dict)
    """server of each block of some jobs; with them, too, nothing is proven where nothing is found"""
    cp: cp_model.CpModel = field(default_factory=cp_model.CpModel)
    _on: dict[tuple[int, int, int], cp_model.IntVar] = field(default_factory=dict)
    _at: dict[tuple[int, int], dict[Device, cp_model.IntVar]] = field(default_factory=dict)
    """(job, rank): literal by the first of the free devices that are alike"""
    _alike: dict[Device, list[Device]] = field(default_factory=dict)
    _circuits: list[_Circuit] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.light = Spectrum(self.cluster)
        self.slots = FreeSlots(self.cluster)
        for assignment in self.staying:
            self.light.commit(assignment.circuits)
            self.slots.take(map(self.cluster.fabric.parse_device, assignment.devices))
        for j in self.jobs:
            self._place(j)
        if self.light.fabric.slots_matter or self.cluster.has_failed_light:
            self._take_slots()
        self.paths = Paths(self.cp, self.light, self.grain)
        for j in self.jobs:
            self._add_circuits(j)
        self.paths.share()
        self._limit_lit_fibers()

    @property
    def cluster(self) -> Cluster:
        return self.problem.cluster

    def shape(self, j: int) -> Demand:
        return self.problem.options[j].shapes[self.pattern[j].row]

    def _place(self, j: int) -> None:
        """Each block on one server, as many as the pattern says."""
        shape = self.shape(j)
        for block in range(shape.num_blocks):
            for server, _ in self.pattern[j].blocks:
                self._on[j, block, server] = self.cp.new_bool_var("")
            self.cp.add_exactly_one(self._on[j, block, s] for s, _ in self.pattern[j].blocks)
        for server, count in self.pattern[j].blocks:
            self.cp.add(sum(self._on[j, block, server] for block in range(shape.num_blocks)) == count)
        for block, server in enumerate(self.layouts.get(j, ())):
            self.cp.add(self._on[j, block, server] == 1)

    def _group_alike(self) -> None:
        first: dict[object, Device] = {}
        for server in range(self.cluster.fabric.num_servers):
            for device in ((server, slot) for slot in self.slots.free(server, single=True)):
                kind = device if self.light.fabric.slots_matter else (server, self.cluster.condition(device))
                self._alike.setdefault(first.setdefault(kind, device), []).append(device)

    def _take_slots(self) -> None:
        """Each rank on one free device of its block's server, each device for one rank."""
        self._group_alike()
        takers: dict[Device, list[cp_model.IntVar]] = {}
        for j in self.jobs:
            shape = self.shape(j)
            for rank in range(shape.num_ranks):
                for server, _ in self.pattern[j].blocks:
                    here = {d: self.cp.new_bool_var("") for d in self._kinds(server, single=shape.is_single)}
                    self._at.setdefault((j, rank), {}).update(here)
                    for device, literal in here.items():
                        takers.setdefault(device, []).append(literal)
                    self.cp.add(sum(here.values()) == self._on[j, rank // shape.block, server])
        for device, literals in takers.items():
            self.cp.add(sum(literals) <= len(self._alike[device]))
        # Single-device jobs use slots without a port first: what they leave free is what is counted free.
        for server in range(self.cluster.fabric.num_servers):
            dark = self.slots.dark[server]
            singles = [j for j in self.jobs if self.shape(j).is_single and dict(self.pattern[j].blocks).get(server)]
            if dark and singles:
                kinds = [device for device in self._kinds(server, single=True) if device[1] in dark]
                self.cp.add(sum(sum(takers.get(d, [])) for d in kinds) == min(len(dark), len(singles)))

    def _kinds(self, server: int, *, single: bool) -> list[Device]:
        """The first of each set of free devices that are alike, as far as a job may take them."""
        return [d for d in self._alike if d[0] == server and (single or d not in self.cluster.dark_devices)]

    def _add_circuits(self, j: int) -> None:
        shape = self.shape(j)
        for index, ((_, circuits), offsets) in enumerate(zip(shape.configurations, shape.offsets, strict=True)):
            if self._is_inside(shape, circuits):
                for (source, destination, width), first in zip(circuits, offsets, strict=True):
                    ray = Given(((1 << width) - 1) << first)
                    self._circuits.append(_Circuit(j, index, (source, destination), ray))
                continue
            sent: dict[tuple[int, int], list[cp_model.IntVar]] = {}
            received: dict[tuple[int, int], list[cp_model.IntVar]] = {}
            for source, destination, width in circuits:
                lit = self._ray(j, source, destination, width)
                self._circuits.append(_Circuit(j, index, (source, destination), lit))
                for w, literal in enumerate(lit.light):
                    sent.setdefault((source, w), []).append(literal)
                    received.setdefault((destination, w), []).append(literal)
                self.paths.use_fibers((j, index), lit)
                ends = [[*self._at.get((j, rank), {}).items()] for rank in (source, destination)]
                self.paths.spare_failed(lit, ends[0], ends[1])
                if self.light.fabric.slots_matter:
                    self.paths.use_slots((j, index), lit, ends[0], ends[1])
            for literals in (*sent.values(), *received.values()):
                self.cp.add_at_most_one(literals)

    def _is_inside(self, shape: Demand, circuits: Circuits) -> bool:
        """Whether a configuration has no circuits between blocks, and so on any tiles the canonical colouring."""
        alike = not (self.light.fabric.slots_matter or self.cluster.has_failed_light)
        return alike and all(source // shape.block == to // shape.block for source, to, _ in circuits)

    def _ray(self, j: int, source: int, destination: int, width: int) -> Ray:
        """Light from rank to rank; between servers if the ranks are not of one block."""
        blocks = source // self.shape(j).block, destination // self.shape(j).block
        if blocks[0] == blocks[1]:
            return self.paths.ray(width, {}, {})
        ends = [{server: self._on[j, block, server] for server in self._servers(j, block)} for block in blocks]
        return self.paths.ray(width, ends[0], ends[1])

    def _servers(self, j: int, block: int) -> list[int]:
        """Where a block may lie."""
        return [self.layouts[j][block]] if j in self.layouts else [server for server, _ in self.pattern[j].blocks]

    def _limit_lit_fibers(self) -> None:
        if self.most_lit is None:
            return
        lit: dict[tuple[int, int, int], list[cp_model.IntVar]] = {}
        for circuit in self._circuits:
            for fiber, taken in circuit.ray.fibers.items():
                lit.setdefault(fiber, []).append(taken)
        for pair, most in self.most_lit.items():
            fixed = {f for f in self.light.routes.fibers(*pair) if self.light.taken.get((*pair, f))}
            used = []
            for fiber, literals in lit.items():
                if fiber[:2] == pair and fiber[2] not in fixed:
                    on = self.cp.new_bool_var("")
                    for literal in literals:
                        self.cp.add_implication(literal, on)
                    used.append(on)
            self.cp.add(sum(used) <= most - len(fixed))

    def assignments(self, solver: cp_model.CpSolver) -> list[Assignment]:
        """Assignments of a solution; where slots do not matter each job takes the first free ones."""
        result = []
        for j in self.jobs:
            devices = self._devices(j, solver)
            names = [self.cluster.fabric.device_name(*device) for device in devices]
            held = [
                HeldCircuits(dimension=dimension, circuits=tuple(self._named(j, index, devices, solver)))
                for index, (dimension, _) in enumerate(self.shape(j).configurations)
            ]
            result.append(self.problem.options[j].assignment(self.pattern[j].row, names, held))
        return result

    def _devices(self, j: int, solver: cp_model.CpSolver) -> list[Device]:
        shape = self.shape(j)
        devices: list[Device] = []
        for rank in range(shape.num_ranks):
            if self._at:
                kind = next(device for device, literal in self._at[j, rank].items() if solver.value(literal))
                devices.append(self._alike[kind].pop(0))
                continue
            server = next(s for s, _ in self.pattern[j].blocks if solver.value(self._on[j, rank // shape.block, s]))
            device = server, self.slots.free(server, single=shape.is_single)[0]
            self.slots.take([device])
            devices.append(device)
        return devices

    def _named(self, j: int, index: int, devices: Sequence[Device], solver: cp_model.CpSolver) -> Iterator[Circuit]:
        fabric = self.light.fabric
        for circuit in self._circuits:
            if (circuit.job, circuit.configuration) == (j, index):
                yield Circuit(
                    source=fabric.device_name(*devices[circuit.ranks[0]]),
                    destination=fabric.device_name(*devices[circuit.ranks[1]]),
                    wavelengths=numbers_of(circuit.ray.mask(solver)),
                    fibers=tuple(fabric.fiber_name(*fiber) for fiber in circuit.ray.route(solver)),
                )
