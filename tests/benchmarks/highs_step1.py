"""Step 1 of a problem as a mixed-integer linear model for HiGHS: what CP-SAT is measured against.

HiGHS comes with ortools (MathOpt). Never import highspy beside it: both ship the same library.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from ortools.math_opt.python import mathopt

from costmodel.fabrics import Lightpath
from planner.fabrics.demand import Demand
from planner.fabrics.problem import JobOptions, Problem
from planner.model.job import Resident

Pair = tuple[int, int]
"""Ordered pair of servers."""
Kind = tuple[int, bool]
"""Ranks of a block, and whether the job has one rank only and so needs no port."""


@dataclass(frozen=True)
class HighsOutcome:
    """What HiGHS says about step 1; None where it found nothing in time."""

    objective: float | None
    bound: float | None
    seconds: float
    is_optimal: bool
    num_variables: int
    num_constraints: int


@dataclass
class _Job:
    """Variables of one job."""

    options: JobOptions
    rows: Sequence[mathopt.Variable]
    blocks: Mapping[Kind, Sequence[mathopt.Variable]]
    touched: Sequence[mathopt.Variable]
    spans: mathopt.Variable
    light: dict[Pair, mathopt.Variable] = field(default_factory=dict)

    @property
    def placed(self) -> mathopt.LinearBase:
        return mathopt.fast_sum(self.rows)

    def devices(self, server: int, *, lit_only: bool = False) -> mathopt.LinearBase:
        return mathopt.fast_sum(
            size * blocks[server] for (size, is_single), blocks in self.blocks.items() if not (lit_only and is_single)
        )


def solve_step1(problem: Problem, *, time_limit_s: float) -> HighsOutcome:
    """Build the model and maximize the value; `seconds` covers both.

    The rows are those of planner/cpsat/constraints for one rack without residents, but for two: of the table
    L_k(y) of leaving light only its least entry stands, as a big-M row, and the light of a job on a pair need
    not be a multiple of its circuits' width. The optimum is therefore no smaller than that of CP-SAT's step 1.
    """
    started = time.perf_counter()
    model = mathopt.Model(name=problem.instance.name)
    _build(model, problem)
    left = max(time_limit_s - (time.perf_counter() - started), 0.01)
    parameters = mathopt.SolveParameters(time_limit=timedelta(seconds=left), relative_gap_tolerance=0.0)
    result = mathopt.solve(model, mathopt.SolverType.HIGHS, params=parameters)
    bound = result.dual_bound()
    return HighsOutcome(
        objective=result.objective_value() if result.has_primal_feasible_solution() else None,
        bound=bound if abs(bound) < float("inf") else None,
        seconds=time.perf_counter() - started,
        is_optimal=result.termination.reason == mathopt.TerminationReason.OPTIMAL,
        num_variables=model.get_num_variables(),
        num_constraints=model.get_num_linear_constraints(),
    )


def _build(model: mathopt.Model, problem: Problem) -> None:
    fabric = problem.cluster.fabric
    if fabric.racks != 1 or any(isinstance(options.job, Resident) for options in problem.options):
        raise ValueError("the HiGHS model covers one rack without residents")
    capacity, per_fiber = _capacity(problem), _wavelengths_of_a_fiber(problem)
    jobs = [_job(model, problem, options, capacity) for options in problem.options]
    for job in jobs:
        _admission(model, job)
        _locality(model, job)
        _whole_circuits(model, job, capacity, per_fiber)
        _light(model, job, capacity)
    _devices(model, problem, jobs)
    for pair, most in capacity.items():
        model.add_linear_constraint(mathopt.fast_sum(job.light[pair] for job in jobs if pair in job.light) <= most)
    model.maximize(
        mathopt.fast_sum(
            float(value) * row for job in jobs for value, row in zip(job.options.value, job.rows, strict=True)
        )
    )


def _capacity(problem: Problem) -> dict[Pair, int]:
    """Wavelengths on the healthy fibers of each ordered pair that has fibers."""
    cluster, fabric = problem.cluster, problem.cluster.fabric
    if not isinstance(fabric, Lightpath):
        return {}
    servers = range(fabric.num_servers)
    return {
        (a, b): _wavelengths_of_a_fiber(problem) * len(cluster.healthy_fibers(a, b))
        for a in servers
        for b in servers
        if fabric.num_fibers(a, b)
    }


def _wavelengths_of_a_fiber(problem: Problem) -> int:
    fabric = problem.cluster.fabric
    if not isinstance(fabric, Lightpath):
        return 0
    return min(fabric.wavelengths_per_fiber, fabric.wavelengths_per_tile)


def _job(model: mathopt.Model, problem: Problem, options: JobOptions, capacity: Mapping[Pair, int]) -> _Job:
    cluster = problem.cluster
    servers = range(cluster.fabric.num_servers)
    room = [len(cluster.healthy_slots(server)) for server in servers]
    blocks = {
        kind: [model.add_integer_variable(lb=0, ub=room[s] // kind[0]) for s in servers]
        for kind in sorted({_kind(shape) for shape in options.shapes})
    }
    job = _Job(
        options,
        [model.add_binary_variable() for _ in options.shapes],
        blocks,
        [model.add_binary_variable() for _ in servers],
        model.add_binary_variable(),
    )
    if any(shape.has_light for shape in options.shapes):
        job.light = {pair: model.add_variable(lb=0, ub=most) for pair, most in capacity.items()}
    return job


def _kind(shape: Demand) -> Kind:
    return shape.block, shape.num_ranks == 1


def _admission(model: mathopt.Model, job: _Job) -> None:
    """One configuration at most, and its blocks on servers."""
    must_run = 1.0 if job.options.must_run else 0.0
    model.add_linear_constraint(lb=must_run, expr=job.placed, ub=1.0)
    for kind, blocks in job.blocks.items():
        chosen = mathopt.fast_sum(
            shape.num_blocks * row
            for shape, row in zip(job.options.shapes, job.rows, strict=True)
            if _kind(shape) == kind
        )
        model.add_linear_constraint(mathopt.fast_sum(blocks) == chosen)


def _locality(model: mathopt.Model, job: _Job) -> None:
    """Touched servers hold blocks; a job spans if and only if it touches two servers or more."""
    for server, touched in enumerate(job.touched):
        here = [blocks[server] for blocks in job.blocks.values()]
        for count in here:
            model.add_linear_constraint(count <= count.upper_bound * touched)
        model.add_linear_constraint(mathopt.fast_sum(here) >= touched)
    touches = mathopt.fast_sum(job.touched)
    model.add_linear_constraint(job.spans <= job.placed)
    model.add_linear_constraint(touches >= job.placed + job.spans)
    model.add_linear_constraint(touches <= job.placed + (len(job.touched) - 1) * job.spans)


def _whole_circuits(model: mathopt.Model, job: _Job, capacity: Mapping[Pair, int], per_fiber: int) -> None:
    r"""Circuits of width u lie whole on a fiber: $w_{ab} \le fibers_{ab} \sum_k u_k \lfloor W / u_k \rfloor z_k$."""
    if not job.light:
        return
    usable = model.add_variable(lb=0, ub=per_fiber)
    by_row = [per_fiber // shape.unit * shape.unit for shape in job.options.shapes]
    terms = (whole * row for whole, row in zip(by_row, job.rows, strict=True))
    model.add_linear_constraint(usable == mathopt.fast_sum(terms))
    for pair, reserved in job.light.items():
        model.add_linear_constraint(reserved <= capacity[pair] // per_fiber * usable)


def _light(model: mathopt.Model, job: _Job, capacity: Mapping[Pair, int]) -> None:
    r"""Light out of and into a touched server: $\sum w \ge \sum_k f_k z_k - F (2 - spans - t)$."""
    floors = [min((int(w) for w in shape.boundary[1:-1]), default=0) for shape in job.options.shapes]
    largest = max(floors, default=0)
    for (a, b), reserved in job.light.items():
        for literal in (job.spans, job.touched[a], job.touched[b]):
            model.add_linear_constraint(reserved <= capacity[a, b] * literal)
    if not largest:
        return
    needed = mathopt.fast_sum(floor * row for floor, row in zip(floors, job.rows, strict=True) if floor)
    for server, touched in enumerate(job.touched):
        slack = largest * (2 - job.spans - touched)
        for end in (0, 1):
            crossing = mathopt.fast_sum(w for pair, w in job.light.items() if pair[end] == server)
            model.add_linear_constraint(crossing >= needed - slack)


def _devices(model: mathopt.Model, problem: Problem, jobs: Sequence[_Job]) -> None:
    """Jobs fit on the healthy devices of each server, those with two ranks or more on working ports."""
    cluster = problem.cluster
    for server in range(cluster.fabric.num_servers):
        healthy, lit = len(cluster.healthy_slots(server)), len(cluster.lit_slots(server))
        model.add_linear_constraint(mathopt.fast_sum(job.devices(server) for job in jobs) <= healthy)
        if lit < healthy:
            on_ports = mathopt.fast_sum(job.devices(server, lit_only=True) for job in jobs)
            model.add_linear_constraint(on_ports <= lit)
    model.add_linear_constraint(
        mathopt.fast_sum(
            shape.num_ranks * row for job in jobs for shape, row in zip(job.options.shapes, job.rows, strict=True)
        )
        <= cluster.num_healthy
    )
