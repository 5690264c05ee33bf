"""Symmetry breaking: cubes that are alike stand in one order, those that jobs take whole first, by job."""

from collections.abc import Iterator, Mapping

from ortools.sat.python import cp_model

from planner.fabrics.pattern import Pattern
from planner.fabrics.problem import Problem
from planner.formulation.variables import BlockKind, Variables


def server_order(model: cp_model.CpModel, v: Variables, problem: Problem) -> None:
    r"""$\sum_j (J - j) whole_{js}$ does not rise with s within a rack: servers that are alike can be renamed."""
    if not _are_alike(problem):
        return
    keys: list[cp_model.LinearExprT] = [
        sum(
            (len(v.jobs) - j) * blocks[server]
            for j, job in enumerate(v.jobs)
            for kind, blocks in job.blocks.items()
            if _is_whole(problem, kind)
        )
        for server in range(problem.cluster.fabric.num_servers)
    ]
    for first in _racks(problem):
        for server in range(first, first + problem.cluster.fabric.servers - 1):
            if not isinstance(keys[server], int):
                model.add(keys[server] >= keys[server + 1])


def new_names(problem: Problem, pattern: Pattern) -> Mapping[int, int]:
    """Server that stands for each one so that a pattern is in order."""
    servers = range(problem.cluster.fabric.num_servers)
    if not _are_alike(problem):
        return {server: server for server in servers}
    keys = dict.fromkeys(servers, 0)
    for j, choice in pattern.items():
        if _is_whole(problem, BlockKind.of(problem.options[j].shapes[choice.row])):
            for server, count in choice.blocks:
                keys[server] += (len(problem.options) - j) * count
    names: dict[int, int] = {}
    for first in _racks(problem):
        rack = range(first, first + problem.cluster.fabric.servers)
        names |= dict(zip(sorted(rack, key=lambda server: -keys[server]), rack, strict=True))
    return names


def _are_alike(problem: Problem) -> bool:
    """Whether servers can be renamed: no device has failed, and no resident stands where it is."""
    cluster = problem.cluster
    has_failed = bool(cluster.failed_devices or cluster.dark_devices)
    is_settled = any(options.can_stay for options in problem.options)
    return not has_failed and not is_settled


def _is_whole(problem: Problem, kind: BlockKind) -> bool:
    return bool(kind.cut) and kind.size == problem.cluster.fabric.devices_per_server == kind.size // kind.num_slices


def _racks(problem: Problem) -> Iterator[int]:
    """First server of each rack."""
    fabric = problem.cluster.fabric
    yield from range(0, fabric.num_servers, fabric.servers)
