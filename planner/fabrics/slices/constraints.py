"""Slices of fixed extent: those on one server must be there, and not overlap."""

from collections import defaultdict

from ortools.sat.python import cp_model

from costmodel.fabrics import SliceShape
from planner.fabrics.problem import Problem
from planner.fabrics.slices.free_slices import FreeSlices
from planner.fabrics.slices.slice_literals import add_disjoint
from planner.fabrics.slices.step1_variables import slice_variables
from planner.formulation.variables import Variables, total


def cut(model: cp_model.CpModel, v: Variables, problem: Problem) -> None:
    r"""Slices add up, $\sum_p x_{scp} = \sum_j y_{jsc}$ for each server and extent, and hold each slot once.

    Jobs on slices of one extent are alike here: they share the literals. Where there are too many of them, only servers
    without any such slice are excluded, and step 2 packs what is left.
    """
    counts: defaultdict[tuple[int, SliceShape], list[cp_model.LinearExprT]] = defaultdict(list)
    for job in v.jobs:
        for kind, blocks in job.blocks.items():
            for server, count in enumerate(blocks if kind.cut else ()):
                counts[server, kind.cut].append(kind.num_slices * count)
    if not counts:
        return
    whole = FreeSlices(problem.cluster)
    places = slice_variables(v).places
    for key, expressions in counts.items():
        if key in places:
            model.add(total(place.taken for place in places[key]) == total(expressions))
        elif not whole.usable(*key):
            model.add(total(expressions) == 0)
    for server in range(problem.cluster.fabric.num_servers):
        here = [place for (other, _), found in places.items() if other == server for place in found]
        add_disjoint(model, here, _holders(v, problem, server) if here else {})


def _holders(v: Variables, problem: Problem, server: int) -> dict[int, list[cp_model.LiteralT]]:
    """Residents that hold a slot of a server if they stay."""
    holders: dict[int, list[cp_model.LiteralT]] = {}
    for job in v.jobs:
        if job.stay is not None:
            for device in map(problem.cluster.fabric.parse_device, job.options.staying().devices):
                if device[0] == server:
                    holders.setdefault(device[1], []).append(job.stay)
    return holders
