"""Memory nodes that devices share: which slots ranks with DIMMs take, and a row for each node."""

from collections import defaultdict
from collections.abc import Sequence

from ortools.sat.python import cp_model

from costmodel.fabrics import MemoryNodeRings
from planner.fabrics.problem import Problem
from planner.formulation.variables import BlockKind, Variables, total

Class = tuple[int, bool]
"""DIMMs of the node on either side of a rank; whether it may do without a port"""


def memory_nodes(model: cp_model.CpModel, v: Variables, problem: Problem) -> None:
    r"""Ranks with h DIMMs of either node lie on slots i, whosever they are: $\sum_i x_{hsi} = \sum_j ranks_{jhs}$; of
    the node after slot i $\sum_h h (x_{hsi} + x_{hs,i+1}) \le D$ are held, those of residents that stay
    included; D is 0 of a node that failed.

    The sum over all nodes is redundant and tightens the relaxation.
    """
    fabric = problem.cluster.fabric
    assert isinstance(fabric, MemoryNodeRings)
    if not fabric.shared_nodes:
        return
    for server in range(fabric.num_servers):
        _nodes_of(model, v, problem, server)
    rows = [
        shape.num_ranks * shape.held_units * row
        for job in v.jobs
        for shape, row in zip(job.options.shapes, job.rows, strict=True)
        if shape.held_units
    ]
    working = fabric.num_devices - len(problem.cluster.failed_memory_nodes)
    model.add(total(rows) <= fabric.node_dimms * working)


def _nodes_of(model: cp_model.CpModel, v: Variables, problem: Problem, server: int) -> None:
    cluster = problem.cluster
    fabric = cluster.fabric
    assert isinstance(fabric, MemoryNodeRings)
    slots = range(fabric.devices_per_server)
    ranks: defaultdict[Class, list[cp_model.LinearExprT]] = defaultdict(list)
    for job in v.jobs:
        for kind, blocks in job.blocks.items():
            if kind.memory_units:
                ranks[_class_of(kind)].append(kind.size * blocks[server])
    on_slot: list[list[cp_model.LinearExprT]] = [[] for _ in slots]
    held: list[list[cp_model.LinearExprT]] = [[] for _ in slots]
    lit = cluster.lit_slots(server)
    with_port = [job.new_devices(server, lit_only=True) for job in v.jobs]
    for (each, is_single), counts in ranks.items():
        on = {slot: model.new_bool_var("") for slot in (cluster.healthy_slots(server) if is_single else lit)}
        for slot, literal in on.items():
            on_slot[slot].append(literal)
            held[slot].append(each * literal)
        model.add(total(on.values()) == total(counts))
        with_port += [on[slot] for slot in lit if is_single]
    for slot, stay, each in _staying(v, server):
        on_slot[slot].append(stay)
        held[slot].append(each * stay)
        with_port += [stay] if slot in lit else []
    model.add(total(with_port) <= len(lit))
    for slot in slots:
        model.add(total(on_slot[slot]) <= 1)
        dimms = 0 if (server, slot) in cluster.failed_memory_nodes else fabric.node_dimms
        model.add(total([*held[slot], *held[(slot + 1) % len(slots)]]) <= dimms)


def _staying(v: Variables, server: int) -> Sequence[tuple[int, cp_model.IntVar, int]]:
    """Slots of residents that may stay, and the DIMMs that each rank holds of either node."""
    return [
        (slot, job.stay, job.options.shapes[job.options.current].held_units // 2)
        for job in v.jobs
        if job.stay is not None and job.options.current is not None
        for at, slot in map(job.options.fabric.parse_device, getattr(job.options.job, "devices", ()))
        if at == server
    ]


def _class_of(kind: BlockKind) -> Class:
    return kind.memory_units // 2, kind.is_single
