"""Links between racks: what jobs over several racks surely hold, and what there is."""

from functools import cache

from ortools.sat.python import cp_model

from planner.fabrics.problem import Problem
from planner.formulation.rack_variables import RackVariables
from planner.formulation.variables import JobVariables, Variables, total


def upper(model: cp_model.CpModel, v: Variables, problem: Problem) -> None:
    r"""Jobs hold links of what joins their racks: $l_{jp} \ge L_k$ where row k is chosen and the job is in all racks of
    part p, $\sum_p l_{jp} \ge \sum_k P_k L_k z_{jk}$ where row k needs P_k parts, $\sum_j l_{jp} \le links_p$.

    The second follows from the first, and tightens the relaxation.
    """
    layer = problem.cluster.fabric.upper_layer
    if layer is None:
        return
    num_parts = cache(lambda racks: len(layer.parts(range(racks))))
    for job in v.jobs:
        if job.racks is not None and job.racks.links:
            _links(model, job, job.racks)
            pairs = zip(job.options.shapes, job.rows, strict=True)
            least = [d.links * num_parts(d.racks) * row for d, row in pairs if d.links]
            model.add(total(job.racks.links.values()) >= total(least))
    for part, links in problem.cluster.upper_links.items():
        racks = [(job, job.racks) for job in v.jobs if job.racks is not None]
        held = [mine.links[part] for _, mine in racks if part in mine.links]
        staying = [mine.staying.get(part, 0) * job.stay for job, mine in racks if job.stay is not None]
        if held or staying:
            model.add(total([*held, *staying]) <= sum(links.values()))


def _links(model: cp_model.CpModel, job: JobVariables, racks: RackVariables) -> None:
    alike: dict[int, list[cp_model.IntVar]] = {}
    for demand, row in zip(job.options.shapes, job.rows, strict=True):
        alike.setdefault(demand.links, []).append(row)
    for links, rows in alike.items():
        chosen = model.new_bool_var("")
        model.add(sum(rows) == chosen)
        for part, held in racks.links.items() if links else ():
            model.add(held >= links).only_enforce_if(chosen, *(racks.inside[rack] for rack in part))
