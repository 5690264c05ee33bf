"""Wavelengths between servers: what spanning jobs surely need, and what the fibers carry."""

from ortools.sat.python import cp_model

from costmodel.fabrics import Lightpath
from planner.fabrics.lightpath.routes import Routes
from planner.fabrics.lightpath.transit_constraints import flow
from planner.fabrics.problem import Problem
from planner.formulation.variables import DemandClass, JobVariables, Pair, Variables


def fibers(model: cp_model.CpModel, v: Variables, problem: Problem) -> None:
    r"""Fibers carry all jobs: $\sum_j w_{jab} \le W lit_{ab}$ for each ordered pair of servers."""
    for pair, lit in v.lit.items():
        reserved = [job.light[pair] for job in v.jobs if pair in job.light]
        staying = [job.stay_light[pair] * job.stay for job in v.jobs if job.stay is not None]
        if reserved or staying:
            model.add(sum(reserved) + sum(staying) <= v.lit_wavelengths * lit)


def light(model: cp_model.CpModel, v: Variables, problem: Problem) -> None:
    r"""A spanning job lights what its circuits need: $\sum_b w_{jab} \ge L_k(y_{ja})$ for each server a, and into it.

    $L_k(c)$ is the least number of wavelengths that leave any c blocks of the configuration, so this is a
    relaxation of every choice of ranks. Where circuits may cross third servers, the light that leaves a server
    flows on to other servers of the job.
    """
    if not isinstance(problem.cluster.fabric, Lightpath):
        return
    ways = Routes(problem.cluster)
    for job in v.jobs:
        for (a, b), reserved in job.light.items():
            for server in () if ways.may_cross else (a, b):
                model.add(reserved == 0).only_enforce_if(~job.touched[server])
            model.add(reserved == 0).only_enforce_if(~job.spans)
            _whole_circuits(model, v, job, (a, b))
        for server in range(problem.cluster.fabric.num_servers) if job.classes else ():
            out = [w for (a, _), w in job.light.items() if a == server]
            into = [w for (_, b), w in job.light.items() if b == server]
            if ways.may_cross:
                out = flow(model, job, ways, server) or out
            for demand in job.classes:
                _leaving(model, job, demand, server, out, into)


def _whole_circuits(model: cp_model.CpModel, v: Variables, job: JobVariables, pair: Pair) -> None:
    r"""Circuits are not split: $w_{jab} = u_k m$, at most $\lfloor W / u_k \rfloor$ of the job on each fiber."""
    if not job.units:
        return
    reserved = job.light[pair]
    most_fibers = v.num_fibers[pair]
    circuits = model.new_int_var(0, most_fibers * v.lit_wavelengths, "")
    for unit, chosen in job.units.items():
        per_fiber = v.lit_wavelengths // unit
        model.add(reserved == unit * circuits).only_enforce_if(chosen)
        if per_fiber * unit < v.lit_wavelengths:
            model.add(circuits <= most_fibers * per_fiber).only_enforce_if(chosen)


def _leaving(
    model: cp_model.CpModel,
    job: JobVariables,
    demand: DemandClass,
    server: int,
    out: list[cp_model.IntVar],
    into: list[cp_model.IntVar],
) -> None:
    """Light out of and into one server if the class is chosen and the job has some of its blocks here."""
    interior = demand.boundary[1:-1]
    floor = min(interior, default=0)
    if floor > 0:
        literals = [demand.chosen, job.spans, job.touched[server]]
        model.add(sum(out) >= floor).only_enforce_if(literals)
        model.add(sum(into) >= floor).only_enforce_if(literals)
    if len(set(interior)) > 1:
        blocks = job.blocks[demand.kind][server]
        most = max(demand.boundary)
        needed = model.new_int_var(0, most, "")
        largest = job.options.candidates.num_devices.max() // demand.kind.size
        padding = [0] * (int(largest) + 1 - len(demand.boundary))
        model.add_element(blocks, [*demand.boundary, *padding], needed)
        model.add(sum(out) >= needed).only_enforce_if(demand.chosen)
        model.add(sum(into) >= needed).only_enforce_if(demand.chosen)
