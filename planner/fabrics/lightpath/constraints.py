"""Wavelengths between servers: what spanning jobs surely need, and what the fibers carry."""

from ortools.sat.python import cp_model

from planner.fabrics.lightpath.crossing import IMPOSSIBLE, least_crossing
from planner.fabrics.lightpath.routes import Routes
from planner.fabrics.lightpath.step1_variables import JobLight, LightVariables, light_variables
from planner.fabrics.lightpath.transit_constraints import flow
from planner.fabrics.problem import Problem
from planner.formulation.variables import BlockKind, JobVariables, Pair, RowClass, Variables


def sharing(model: cp_model.CpModel, v: Variables, problem: Problem) -> None:
    r"""Fibers carry all jobs: $\sum_j w_{jab} \le W lit_{ab}$ for each ordered pair of servers."""
    light = light_variables(v)
    for pair, lit in light.lit.items():
        reserved = [job.reserved[pair] for job in light.jobs if pair in job.reserved]
        staying = [
            mine.staying[pair] * job.stay for job, mine in zip(v.jobs, light.jobs, strict=True) if job.stay is not None
        ]
        if reserved or staying:
            model.add(sum(reserved) + sum(staying) <= light.per_fiber * lit)


def path(model: cp_model.CpModel, v: Variables, problem: Problem) -> None:
    r"""A spanning job lights what its circuits need: $\sum_b w_{jab} \ge L_k(y_{ja})$ for each server a, and into it.

    $L_k(c)$ is the least number of wavelengths that leave any c blocks of the configuration, so this is a
    relaxation of every choice of ranks; no counts part more light of a rank than fibers carry. Where circuits may
    cross third servers, the light that leaves a server flows on to other servers of the job.
    """
    ways, light = Routes(problem.cluster), light_variables(v)
    for job, mine in zip(v.jobs, light.jobs, strict=True):
        for (a, b), reserved in mine.reserved.items():
            for server in () if ways.may_cross else (a, b):
                model.add(reserved == 0).only_enforce_if(~job.touched[server])
            model.add(reserved == 0).only_enforce_if(~job.spans)
            _whole_circuits(model, light, mine, (a, b))
        for server in range(problem.cluster.fabric.num_servers) if job.classes else ():
            out = [w for (a, _), w in mine.reserved.items() if a == server]
            into = [w for (_, b), w in mine.reserved.items() if b == server]
            if ways.may_cross:
                out = flow(model, job, mine, ways, server) or out
            for rows in job.classes:
                _leaving(model, job, rows, server, out, into, light.per_fiber)


def _whole_circuits(model: cp_model.CpModel, light: LightVariables, job: JobLight, pair: Pair) -> None:
    r"""Circuits are not split: $w_{jab} = u_k m$, at most $\lfloor W / u_k \rfloor$ of the job on each fiber."""
    if not job.units:
        return
    reserved = job.reserved[pair]
    most_fibers = light.num_fibers[pair]
    circuits = model.new_int_var(0, most_fibers * light.per_fiber, "")
    for unit, chosen in job.units.items():
        per_fiber = light.per_fiber // unit
        model.add(reserved == unit * circuits).only_enforce_if(chosen)
        if per_fiber * unit < light.per_fiber:
            model.add(circuits <= most_fibers * per_fiber).only_enforce_if(chosen)


def _leaving(
    model: cp_model.CpModel,
    job: JobVariables,
    rows: RowClass,
    server: int,
    out: list[cp_model.IntVar],
    into: list[cp_model.IntVar],
    carried: int,
) -> None:
    """Light out of and into one server if the class is chosen and the job has some of its blocks here."""
    boundary, is_whole = least_crossing(rows.demand.in_rack, carried), rows.demand.racks == 1
    blocks = job.blocks[BlockKind.of(rows.demand)][server]
    if IMPOSSIBLE in boundary:
        possible = cp_model.Domain.from_values([c for c, width in enumerate(boundary) if width != IMPOSSIBLE])
        model.add_linear_expression_in_domain(blocks, possible).only_enforce_if(rows.chosen)
    interior = [width for width in boundary[1:-1] if width != IMPOSSIBLE]
    least = min(interior, default=0)
    if least > 0 and is_whole:
        literals = [rows.chosen, job.spans, job.touched[server]]
        model.add(sum(out) >= least).only_enforce_if(literals)
        model.add(sum(into) >= least).only_enforce_if(literals)
    if len(set(interior)) > 1 or (interior and not is_whole):
        kind = BlockKind.of(rows.demand)
        most = max(boundary)
        needed = model.new_int_var(0, most, "")
        largest = job.options.candidates.num_devices.max() // kind.size
        padding = [0] * (int(largest) + 1 - len(boundary))
        model.add_element(blocks, [*(max(0, width) for width in boundary), *padding], needed)
        model.add(sum(out) >= needed).only_enforce_if(rows.chosen)
        model.add(sum(into) >= needed).only_enforce_if(rows.chosen)
