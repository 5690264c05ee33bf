"""Step 2, exact: ranks, fibers and wavelengths for given counts of some jobs, or a proof that there are none."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ortools.sat.python import cp_model

from planner.cluster import Cluster
from planner.demand import Shape
from planner.light import Device, Light, Waveguide, wavelengths_of
from planner.plan import Assignment, Circuit, HeldCircuits
from planner.problem import Problem
from planner.routing import Pattern, Slots


@dataclass(frozen=True)
class _Circuit:
    """Literals of one circuit: wavelengths, and the fiber it takes if its ends are on different servers."""

    job: int
    configuration: int
    ranks: tuple[int, int]
    width: int
    light: list[cp_model.IntVar]
    fibers: dict[tuple[int, int, int], cp_model.IntVar]


@dataclass
class StepTwo:
    """CP-SAT model of the circuits of `jobs` in a pattern, beside the light of residents that stay.

    Where slots do not matter, the devices of a server are interchangeable and only servers are chosen.
    """

    problem: Problem
    pattern: Pattern
    jobs: Sequence[int]
    staying: Sequence[Assignment]
    most_lit: Mapping[tuple[int, int], int] | None = None
    cp: cp_model.CpModel = field(default_factory=cp_model.CpModel)
    _on: dict[tuple[int, int, int], cp_model.IntVar] = field(default_factory=dict)
    _at: dict[tuple[int, int, Device], cp_model.IntVar] = field(default_factory=dict)
    _circuits: list[_Circuit] = field(default_factory=list)
    _guides: dict[tuple[int, int, Waveguide, int], list[cp_model.IntVar]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.light = Light(self.cluster)
        self.slots = Slots(self.cluster)
        for assignment in self.staying:
            self.light.commit(assignment.circuits)
            self.slots.take(map(self.cluster.fabric.parse_device, assignment.devices))
        for j in self.jobs:
            self._place(j)
        if self.light.fabric.slots_matter:
            self._take_slots()
        for j in self.jobs:
            self._add_circuits(j)
        self._share_waveguides()
        self._limit_lit_fibers()

    @property
    def cluster(self) -> Cluster:
        return self.problem.cluster

    def shape(self, j: int) -> Shape:
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

    def _take_slots(self) -> None:
        """Each rank on one free slot of its block's server, each slot for one rank."""
        takers: dict[Device, list[cp_model.IntVar]] = {}
        for j in self.jobs:
            shape = self.shape(j)
            for rank in range(shape.num_ranks):
                for server, _ in self.pattern[j].blocks:
                    here = []
                    for slot in self.slots.free(server, single=shape.num_ranks == 1):
                        literal = self.cp.new_bool_var("")
                        self._at[j, rank, (server, slot)] = literal
                        takers.setdefault((server, slot), []).append(literal)
                        here.append(literal)
                    self.cp.add(sum(here) == self._on[j, rank // shape.block, server])
        for literals in takers.values():
            self.cp.add_at_most_one(literals)
        # Single-device jobs use slots without a port first: what they leave free is what is counted free.
        for server in range(self.cluster.fabric.num_servers):
            dark = [(server, slot) for slot in self.slots.dark[server]]
            singles = [
                j for j in self.jobs if self.shape(j).num_ranks == 1 and dict(self.pattern[j].blocks).get(server)
            ]
            if dark and singles:
                self.cp.add(sum(sum(takers.get(d, [])) for d in dark) == min(len(dark), len(singles)))

    def _add_circuits(self, j: int) -> None:
        shape = self.shape(j)
        num_wavelengths = self.light.fabric.wavelengths_per_tile
        for index, (_, circuits) in enumerate(shape.configurations):
            sent: dict[tuple[int, int], list[cp_model.IntVar]] = {}
            received: dict[tuple[int, int], list[cp_model.IntVar]] = {}
            for source, destination, width in circuits:
                light = [self.cp.new_bool_var("") for _ in range(num_wavelengths)]
                self.cp.add(sum(light) == width)
                for w, literal in enumerate(light):
                    sent.setdefault((source, w), []).append(literal)
                    received.setdefault((destination, w), []).append(literal)
                fibers = dict(self._fibers(j, shape, source, destination))
                circuit = _Circuit(j, index, (source, destination), width, light, fibers)
                self._circuits.append(circuit)
                self._use_fibers(circuit)
                if self.light.fabric.slots_matter:
                    self._use_slots(circuit)
            for literals in (*sent.values(), *received.values()):
                self.cp.add_at_most_one(literals)

    def _fibers(
        self, j: int, shape: Shape, source: int, destination: int
    ) -> Iterator[tuple[tuple[int, int, int], cp_model.IntVar]]:
        """One fiber if the ends are on different servers, none else."""
        ends = source // shape.block, destination // shape.block
        if ends[0] == ends[1]:
            return
        servers = [server for server, _ in self.pattern[j].blocks]
        for a in servers:
            for b in servers:
                if a == b:
                    continue
                both = self.cp.new_bool_var("")
                literals = self._on[j, ends[0], a], self._on[j, ends[1], b]
                self.cp.add_bool_and(literals).only_enforce_if(both)
                self.cp.add_bool_or([both, ~literals[0], ~literals[1]])
                chosen = {(a, b, i): self.cp.new_bool_var("") for i in self.light.fibers(a, b)}
                self.cp.add(sum(chosen.values()) == both)
                yield from chosen.items()

    def _use_fibers(self, circuit: _Circuit) -> None:
        limit = self.light.fabric.wavelengths_per_fiber
        for fiber, taken in circuit.fibers.items():
            for w, literal in enumerate(circuit.light):
                if w >= limit:
                    self.cp.add_implication(taken, ~literal)
                else:
                    self._use(circuit, fiber, w, [taken, literal])

    def _use(self, circuit: _Circuit, guide: Waveguide, w: int, literals: list[cp_model.IntVar]) -> None:
        """All literals true: the circuit's wavelength w lies on the waveguide."""
        if self.light.taken.get(guide, 0) >> w & 1:
            self.cp.add_bool_or([~literal for literal in literals])
            return
        used = self.cp.new_bool_var("")
        self.cp.add_bool_or([*(~literal for literal in literals), used])
        self._guides.setdefault((circuit.job, circuit.configuration, guide, w), []).append(used)

    def _use_slots(self, circuit: _Circuit) -> None:
        """Loss of each pair of slots, and light on the tile boundaries between them."""
        j, (source, destination) = circuit.job, circuit.ranks
        sources = {d: v for (job, rank, d), v in self._at.items() if (job, rank) == (j, source)}
        destinations = {d: v for (job, rank, d), v in self._at.items() if (job, rank) == (j, destination)}
        for a, at_a in sources.items():
            for b, at_b in destinations.items():
                if a == b:
                    continue
                if a[0] == b[0]:
                    self._path(circuit, a, b, None, [at_a, at_b])
                for (s, t, i), taken in circuit.fibers.items():
                    if (s, t) == (a[0], b[0]):
                        self._path(circuit, a, b, i, [at_a, at_b, taken])

    def _path(
        self, circuit: _Circuit, a: Device, b: Device, fiber: int | None, literals: list[cp_model.IntVar]
    ) -> None:
        if not self.light.reaches(a, b, fiber):
            self.cp.add_bool_or([~literal for literal in literals])
            return
        for guide in self.light.waveguides(a, b, fiber):
            if guide[0] == "tile":
                for w, light in enumerate(circuit.light):
                    self._use(circuit, guide, w, [*literals, light])

    def _share_waveguides(self) -> None:
        """A wavelength on a waveguide: one circuit per configuration, one job in all its configurations."""
        users: dict[tuple[Waveguide, int], dict[int, cp_model.IntVar]] = {}
        by_circuit: dict[tuple[int, int, Waveguide, int], list[cp_model.IntVar]] = self._guides
        for (j, _, guide, w), literals in by_circuit.items():
            self.cp.add_at_most_one(literals)
            jobs = users.setdefault((guide, w), {})
            if j not in jobs:
                jobs[j] = self.cp.new_bool_var("")
            for literal in literals:
                self.cp.add_implication(literal, jobs[j])
        for jobs in users.values():
            self.cp.add_at_most_one(jobs.values())

    def _limit_lit_fibers(self) -> None:
        if self.most_lit is None:
            return
        lit: dict[tuple[int, int, int], list[cp_model.IntVar]] = {}
        for circuit in self._circuits:
            for fiber, taken in circuit.fibers.items():
                lit.setdefault(fiber, []).append(taken)
        for pair, most in self.most_lit.items():
            fixed = {f for f in self.light.fibers(*pair) if self.light.taken.get((*pair, f))}
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
                devices += [d for (job, r, d), v in self._at.items() if (job, r) == (j, rank) and solver.value(v)]
                continue
            server = next(s for s, _ in self.pattern[j].blocks if solver.value(self._on[j, rank // shape.block, s]))
            device = server, self.slots.free(server, single=shape.num_ranks == 1)[0]
            self.slots.take([device])
            devices.append(device)
        return devices

    def _named(self, j: int, index: int, devices: Sequence[Device], solver: cp_model.CpSolver) -> Iterator[Circuit]:
        fabric = self.light.fabric
        for circuit in self._circuits:
            if (circuit.job, circuit.configuration) == (j, index):
                mask = sum(1 << w for w, literal in enumerate(circuit.light) if solver.value(literal))
                fibers = [fabric.fiber_name(*f) for f, taken in circuit.fibers.items() if solver.value(taken)]
                yield Circuit(
                    source=fabric.device_name(*devices[circuit.ranks[0]]),
                    destination=fabric.device_name(*devices[circuit.ranks[1]]),
                    wavelengths=wavelengths_of(mask),
                    fibers=tuple(fibers),
                )
