"""Step 1 of a problem: variables, constraints, and its objectives as integer terms."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from math import perm

from ortools.sat.python import cp_model

from costmodel.fabrics import Lightpath, OcsRail, Sipam, SlicedFabric
from costmodel.fabrics.sliced import Held
from planner.cpsat.step1.constraints import CONSTRAINTS
from planner.cpsat.step1.objectives import OBJECTIVES, Term
from planner.cpsat.symmetry import new_names
from planner.fabrics.demand import Demand
from planner.fabrics.free_state import Choice, Pattern
from planner.fabrics.problem import Problem
from planner.fabrics.sipam.demand import pool_demand
from planner.formulation.variables import BlockKind, Variables, create_variables
from planner.model.cluster import Health
from planner.model.plan import Assignment

MAX_IMAGES = 2000
"""so many renamings of servers a cut is repeated for"""
MOST_SPANS = 20_000
"""ordered pairs of servers, for each size, up to which fragmentation is stated"""
ValueOf = Callable[[cp_model.IntVar], int]
"""Reads a variable of a solution."""


@dataclass(frozen=True)
class Nogood:
    """What step 2 proved impossible together: shapes on counts of blocks, beside residents that stay."""

    placed: Mapping[int, tuple[Demand, tuple[tuple[int, int], ...]]]
    staying: tuple[int, ...]
    most_lit: dict[tuple[int, int], int] | None


@dataclass
class Model:
    """The CP-SAT model of step 1 and what relates it to patterns."""

    problem: Problem
    cp: cp_model.CpModel
    variables: Variables
    terms: dict[str, Term] = field(default_factory=dict)
    _counts: dict[tuple[int, BlockKind, int, int], cp_model.IntVar] = field(default_factory=dict)

    @classmethod
    def build(cls, problem: Problem) -> "Model":
        cp = cp_model.CpModel()
        variables = create_variables(cp, problem)
        for constraint in CONSTRAINTS.values():
            constraint(cp, variables, problem)
        return cls(problem, cp, variables)

    def can_state(self, objective: str) -> bool:
        """Whether the term of an objective is small enough to be built."""
        servers = self.problem.cluster.fabric.num_servers
        return objective != "fragmentation" or len(self.problem.instance.sizes_to_fit) * servers**2 <= MOST_SPANS

    def term(self, objective: str) -> Term:
        """Integer term of an objective, built when first asked for."""
        if objective not in self.terms:
            self.terms[objective] = OBJECTIVES[objective](self.cp, self.variables, self.problem)
        return self.terms[objective]

    def pattern(self, value: ValueOf) -> Pattern:
        """Choices of a solution."""
        pattern: dict[int, Choice] = {}
        for j, job in enumerate(self.variables.jobs):
            if job.stay is not None and value(job.stay):
                assert job.options.current is not None
                pattern[j] = Choice(job.options.current, True, ())
                continue
            row = next((k for k, literal in enumerate(job.rows) if value(literal)), None)
            if row is not None:
                counts = job.blocks[BlockKind.of(job.options.shapes[row])]
                blocks = tuple((s, int(value(c))) for s, c in enumerate(counts) if value(c))
                pattern[j] = Choice(row, False, blocks)
        return pattern

    def most_lit(self, value: ValueOf) -> dict[tuple[int, int], int]:
        """Fibers by ordered pair that a solution allows to carry light."""
        return {pair: int(value(lit)) for pair, lit in self.variables.lit.items()}

    def hint(self, pattern: Pattern, assignments: Sequence[Assignment]) -> None:
        """Replace the solver's hint by a complete one for the shared variables."""
        self.cp.clear_hints()  # type: ignore[no-untyped-call]
        used = _light_of(self.problem, assignments)
        by_job = {a.job: a for a in assignments}
        names = new_names(self.problem, pattern)
        for j, job in enumerate(self.variables.jobs):
            choice = pattern.get(j)
            name = job.options.job.name
            chosen = choice.row if choice is not None and not choice.stays else None
            placed = {names[s]: n for s, n in choice.blocks} if choice is not None and not choice.stays else {}
            for k, literal in enumerate(job.rows):
                self.cp.add_hint(literal, k == chosen)
            if job.stay is not None:
                self.cp.add_hint(job.stay, choice is not None and choice.stays)
            kind = BlockKind.of(job.options.shapes[chosen]) if chosen is not None else None
            for some, counts in job.blocks.items():
                for s, count in enumerate(counts):
                    self.cp.add_hint(count, placed.get(s, 0) if some == kind else 0)
            for s, (touched, whole) in enumerate(zip(job.touched, job.whole, strict=True)):
                self.cp.add_hint(touched, s in placed)
                self.cp.add_hint(whole, s in placed and len(placed) == 1)
            self.cp.add_hint(job.spans, len(placed) > 1)
            for demand in job.classes:
                if len(demand.rows) > 1:
                    self.cp.add_hint(demand.chosen, chosen in demand.rows)
            for unit, chosen_unit in job.units.items():
                of_unit = [k for demand in job.classes if demand.unit == unit for k in demand.rows]
                self.cp.add_hint(chosen_unit, chosen in of_unit)
            here = used.get(name, {}) if name in by_job and placed else {}
            for pair, reserved in job.light.items():
                self.cp.add_hint(reserved, len(here.get(pair, ())))
        lit = {pair: {f for name in used for f, _ in used[name].get(pair, ())} for pair in self.variables.lit}
        for pair, literal in self.variables.lit.items():
            self.cp.add_hint(literal, len(lit[pair]))
        if self.variables.places:
            self._hint_places(pattern, by_job, names)

    def _hint_places(self, pattern: Pattern, by_job: Mapping[str, Assignment], names: Mapping[int, int]) -> None:
        """Slices that the newly placed jobs hold, and no others, on the servers that stand for theirs."""
        fabric = self.problem.cluster.fabric
        assert isinstance(fabric, SlicedFabric)
        held: set[Held] = set()
        for j, choice in pattern.items():
            options = self.problem.options[j]
            if options.shapes[choice.row].cut and not choice.stays:
                devices = [fabric.parse_device(name) for name in by_job[options.job.name].devices]
                slices = fabric.held(options.candidates.row_plans(choice.row), devices)
                held.update((names[server], slots) for server, slots in slices or ())
        for (server, _), places in self.variables.places.items():
            for place in places:
                self.cp.add_hint(place.taken, (server, place.slice.slots) in held)

    def cut(self, refuted: Nogood) -> None:
        """Forbid what step 2 refuted: these jobs on these counts with these circuits or wider ones.

        Where all servers are alike, the same counts on other servers are forbidden too. With `most_lit` the
        refutation holds only while no more fibers may be lit.
        """
        servers = sorted({s for _, blocks in refuted.placed.values() for s, _ in blocks})
        num_servers = self.problem.cluster.fabric.num_servers
        images = [tuple(servers)]
        if self._servers_are_alike(refuted) and perm(num_servers, len(servers)) <= MAX_IMAGES:
            images = [*permutations(range(num_servers), len(servers))]
        escape = self._more_lit(refuted.most_lit) if refuted.most_lit is not None else []
        wide = {j: self._as_wide(j, shape) for j, (shape, _) in refuted.placed.items()}
        stays = [job.stay for j in refuted.staying if (job := self.variables.jobs[j]).stay is not None]
        for image in images:
            renamed = dict(zip(servers, image, strict=True))
            literals: list[cp_model.LiteralT] = [*wide.values(), *stays]
            for j, (shape, blocks) in refuted.placed.items():
                if BlockKind.of(shape) in self.variables.jobs[j].blocks:
                    literals += [self._count_is(j, BlockKind.of(shape), renamed[s], n) for s, n in blocks]
            self.cp.add_bool_or([*(~literal for literal in literals), *escape])

    def _servers_are_alike(self, refuted: Nogood) -> bool:
        fabric, health = self.problem.cluster.fabric, self.problem.cluster.health
        if isinstance(fabric, OcsRail):
            return not (health.failed_tiles or health.failed_ports or refuted.staying)
        if isinstance(fabric, Sipam):
            return fabric.racks == 1 and health == Health() and not refuted.staying
        return (
            isinstance(fabric, Lightpath)
            and isinstance(fabric.fibers, int)
            and fabric.racks == 1
            and not fabric.slots_matter
            and not health.failed_fibers
            and not self.problem.cluster.has_failed_light
            and not refuted.staying
            and refuted.most_lit is None
        )

    def _as_wide(self, j: int, shape: Demand) -> cp_model.IntVar:
        """Literal: job j has a row that asks for the circuits of `shape` or wider ones."""
        job = self.variables.jobs[j]
        fabric = self.problem.cluster.fabric
        is_within = (
            _needs_as_much
            if isinstance(fabric, OcsRail)
            else _pools_as_much
            if isinstance(fabric, Sipam)
            else Demand.is_within
        )
        rows = [literal for literal, other in zip(job.rows, job.options.shapes, strict=True) if is_within(shape, other)]
        if len(rows) == 1:
            return rows[0]
        chosen = self.cp.new_bool_var("")
        self.cp.add(sum(rows) == chosen)
        return chosen

    def _count_is(self, j: int, kind: BlockKind, server: int, count: int) -> cp_model.IntVar:
        """Literal: job j has exactly so many blocks on a server."""
        key = (j, kind, server, count)
        if key not in self._counts:
            literal = self.cp.new_bool_var("")
            blocks = self.variables.jobs[j].blocks[kind][server]
            self.cp.add(blocks == count).only_enforce_if(literal)
            self.cp.add(blocks != count).only_enforce_if(~literal)
            self._counts[key] = literal
        return self._counts[key]

    def _more_lit(self, most_lit: dict[tuple[int, int], int]) -> list[cp_model.IntVar]:
        """Literals of which one must hold for the light limits to be wider than refuted."""
        wider = []
        for pair, most in most_lit.items():
            literal = self.cp.new_bool_var("")
            self.cp.add(self.variables.lit[pair] >= most + 1).only_enforce_if(literal)
            wider.append(literal)
        return wider


def _needs_as_much(shape: Demand, other: Demand) -> bool:
    """Whether on rails the other shape fits nowhere where this one does not: same blocks, and at least its ports."""
    is_alike = (shape.num_ranks, shape.block) == (other.num_ranks, other.block)
    return is_alike and other.num_ports >= shape.num_ports


def _pools_as_much(shape: Demand, other: Demand) -> bool:
    """Whether in pooled racks the other shape fits nowhere where this one does not: in each phase the same memory, and
    no fewer rails."""
    phases = zip(pool_demand(shape).by_memory, pool_demand(other).by_memory, strict=True)
    return (shape.num_ranks, shape.block) == (other.num_ranks, other.block) and all(
        mine.units == theirs.units
        and mine.across <= theirs.across
        and mine.inside <= theirs.inside
        and mine.uplinks <= theirs.uplinks
        for mine, theirs in phases
    )


def _light_of(
    problem: Problem, assignments: Sequence[Assignment]
) -> dict[str, dict[tuple[int, int], set[tuple[str, int]]]]:
    """(fiber, wavelength) pairs by job and ordered pair of servers."""
    fabric = problem.cluster.fabric
    used: dict[str, dict[tuple[int, int], set[tuple[str, int]]]] = {}
    if not isinstance(fabric, Lightpath):
        return used
    for assignment in assignments:
        here = used.setdefault(assignment.job, {})
        for held in assignment.circuits:
            for circuit in held.circuits:
                for name in circuit.fibers:
                    pair = fabric.parse_fiber(name)[:2]
                    here.setdefault(pair, set()).update((name, w) for w in circuit.wavelengths)
    return used
