"""Tiles that cannot use all wavelengths host no rank that needs more than they have."""

from collections.abc import Mapping
from functools import lru_cache

import numpy as np
from ortools.sat.python import cp_model

from costmodel.fabrics import Lightpath
from planner.fabrics.demand import Demand
from planner.fabrics.lightpath.routes import Device
from planner.fabrics.problem import Problem
from planner.formulation.variables import JobVariables, Variables, total


def lasers(model: cp_model.CpModel, v: Variables, problem: Problem) -> None:
    r"""For each number k of wavelengths left on some tile: $\sum_{j: need_j > k} x_{js} \le |\{t: k_t > k\}|$.

    $need_j$ is the fewest wavelengths that any rank of the configuration sends, or receives, in its busiest
    configuration of light; a relaxation, since other ranks may need more and the same wavelengths may be missing.
    """
    cluster = problem.cluster
    assert isinstance(cluster.fabric, Lightpath)
    most = cluster.fabric.wavelengths_per_tile
    for end, failed in enumerate((cluster.failed_lasers, cluster.failed_receivers)):
        for server in sorted({device[0] for device in failed}):
            lit = [(server, slot) for slot in cluster.lit_slots(server)]
            left = {device: most - failed.get(device, 0).bit_count() for device in lit}
            for level in sorted(set(left.values()) - {most}):
                able = [device for device, count in left.items() if count > level]
                needed = total(_needing(model, job, end, server, level, left) for job in v.jobs)
                model.add(needed <= len(able))


def _needing(
    model: cp_model.CpModel, job: JobVariables, end: int, server: int, level: int, left: Mapping[Device, int]
) -> cp_model.LinearExprT:
    """Devices that a job takes on a server with more wavelengths than the level."""
    needing = [row for row, shape in zip(job.rows, job.options.shapes, strict=True) if least_need(shape, end) > level]
    terms: list[cp_model.LinearExprT] = []
    if needing:
        devices = model.new_int_var(0, len(left), "")
        for row in needing:
            model.add(devices >= job.new_devices(server, lit_only=True)).only_enforce_if(row)
        terms.append(devices)
    if job.stay is not None:
        parse = job.options.fabric.parse_device
        held = [parse(name) for name in getattr(job.options.job, "devices", ())]
        terms.append(sum(left.get(device, 0) > level for device in held) * job.stay)
    return total(terms)


@lru_cache(maxsize=100_000)
def least_need(shape: Demand, end: int) -> int:
    """Fewest wavelengths that a rank sends (end 0) or receives (end 1) in the configuration where it needs the most."""
    most = np.zeros(shape.num_ranks, dtype=np.int64)
    for _, circuits in shape.configurations:
        used = np.zeros(shape.num_ranks, dtype=np.int64)
        for circuit in circuits:
            used[circuit[end]] += circuit[2]
        most = np.maximum(most, used)
    return int(most.min())
