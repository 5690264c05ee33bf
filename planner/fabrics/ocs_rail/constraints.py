"""Rails of optical switches: jobs with circuits take one block of each server, on the same rails everywhere."""

from collections import defaultdict

from ortools.sat.python import cp_model

from planner.fabrics.free_slots import Device
from planner.fabrics.ocs_rail.rails import FreeRails
from planner.fabrics.problem import Problem
from planner.formulation.variables import JobVariables, Variables, total

MOST_PLACES = 5000
"""jobs with circuits x devices up to which rails are chosen here; for more of them that is left to step 2"""


def blocks_apart(model: cp_model.CpModel, v: Variables, problem: Problem) -> None:
    r"""No two blocks of a job with circuits share a server, $y_{js} \le 1$."""
    for job in v.jobs:
        if (with_circuits := _needing_more(model, job, 0)) is not None:
            for count in (count for blocks in job.blocks.values() for count in blocks):
                model.add(count <= 1).only_enforce_if(with_circuits)


def same_rails(model: cp_model.CpModel, v: Variables, problem: Problem) -> None:
    """All blocks of a job with circuits lie on the same rails, each with enough working switches."""
    free = FreeRails(problem.cluster)
    for ports in sorted({len(working) for working in free.switches}):
        _fit(model, v, problem, ports, set(free.with_switches(ports + 1)))
    _choose_rails(model, v, problem, free)


def _needing_more(model: cp_model.CpModel, job: JobVariables, ports: int) -> cp_model.IntVar | None:
    """Literal: the job is placed anew with a row that needs more ports; None where it has none."""
    rows = [row for row, shape in zip(job.rows, job.options.shapes, strict=True) if shape.num_ports > ports]
    if not rows:
        return None
    chosen = model.new_bool_var("")
    model.add(sum(rows) == chosen)
    return chosen


def _fit(model: cp_model.CpModel, v: Variables, problem: Problem, ports: int, rails: set[int]) -> None:
    r"""Who needs more than p ports fits on the devices of rails with more working switches,
    $\sum_{j: p_j > p} b_j y_{js} \le healthy_{sp}$: where rails are not chosen this is all that is stated."""
    needing = [(job, literal) for job in v.jobs if (literal := _needing_more(model, job, ports)) is not None]
    for server in range(problem.cluster.fabric.num_servers) if needing else ():
        room = len(rails.intersection(problem.cluster.lit_slots(server)))
        taken = []
        for job, literal in needing:
            devices = model.new_int_var(0, room, "")
            model.add(devices == job.new_devices(server)).only_enforce_if(literal)
            taken.append(devices)
        model.add(total(taken) <= room)


def _choose_rails(model: cp_model.CpModel, v: Variables, problem: Problem, free: FreeRails) -> None:
    r"""A job with circuits takes $b_k$ rails, $\sum_q x_{jq} = \sum_k b_k z_{jk}$, each on all its servers, and no
    device serves two: $\sum_j x_{jq} t_{js} \le 1$. Then every solution can be realised."""
    with_circuits = [job for job in v.jobs if any(shape.num_ports for shape in job.options.shapes)]
    if len(with_circuits) * problem.cluster.fabric.num_devices > MOST_PLACES:
        return
    takers: defaultdict[Device, list[cp_model.IntVar]] = defaultdict(list)
    for job in v.jobs:
        if job.stay is not None:
            for name in job.options.staying().devices:
                takers[problem.cluster.fabric.parse_device(name)].append(job.stay)
    for job in with_circuits:
        chosen = _rails_of(model, job, free)
        for server, touched in enumerate(job.touched):
            lit = problem.cluster.lit_slots(server)
            for rail, literal in enumerate(chosen):
                both = model.new_bool_var("")
                model.add_bool_or(~literal, ~touched, both)
                if rail in lit:
                    takers[server, rail].append(both)
                else:
                    model.add(both == 0)
    for literals in takers.values():
        model.add_at_most_one(literals)


def _rails_of(model: cp_model.CpModel, job: JobVariables, rails: FreeRails) -> list[cp_model.IntVar]:
    """Literal of each rail: the job is placed anew with circuits on it."""
    rows = [(row, shape) for row, shape in zip(job.rows, job.options.shapes, strict=True) if shape.num_ports]
    chosen = [model.new_bool_var("") for _ in rails.switches]
    model.add(sum(chosen) == sum(shape.block * row for row, shape in rows))
    for literal, working in zip(chosen, rails.switches, strict=True):
        for row, shape in rows:
            if shape.num_ports > len(working):
                model.add_implication(row, ~literal)
    return chosen
