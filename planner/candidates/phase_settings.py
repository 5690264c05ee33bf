"""A job that changes between phases of its workload, in words: its setting in each, and what changing gains."""

import numpy as np

from costmodel.parallelism.configuration import Configuration
from costmodel.parallelism.mappings import CHOICES, DIMENSIONS, Mappings
from costmodel.pricing.candidates import Candidates, candidates_of, list_candidates
from costmodel.pricing.score import score
from planner.model.cluster import Cluster
from planner.model.job import Job


def settings_by_phase(cluster: Cluster, job: Job, configuration: Configuration) -> tuple[str, ...]:
    """prefill: tensor ring w4, 8 units over 8 I/Os; decode: ...; none where the job keeps one setting."""
    if configuration.first_phase is None:
        return ()
    rows = candidates_of([configuration], job.workload, cluster.device, cluster.fabric)
    names = job.workload.phases[0], job.workload.phases[-1]
    phases = rows.in_first_phase(), rows.in_last_phase()
    return tuple(f"{name}: {_setting(each)}" for name, each in zip(names, phases, strict=True))


def _setting(rows: Candidates) -> str:
    split = rows.splits[rows.split[0]]
    plans = (f"{d} {plan.name}" for d, plan in zip(DIMENSIONS, rows.row_plans(0), strict=True) if plan.kind != "none")
    memory = f"{split.memory_units} units over {split.memory_io} I/Os" if split.memory_units else "no units"
    return ", ".join([*plans, memory])


def gain_of_phases(cluster: Cluster, job: Job, configuration: Configuration) -> float:
    """Speed over that of the fastest single setting of the same mapping and block with no more memory, less one."""
    device, fabric = cluster.device, cluster.fabric
    choice = configuration.choice(job.workload.menus())
    mapping = Mappings.of(**{name: np.array([choice[name]]) for name in CHOICES})
    rows = list_candidates(job.workload, mapping, device, fabric, blocks=lambda *_: (configuration.block,))
    most = max(each.memory_units or 0 for each in configuration.by_phase)
    units = np.array([split.memory_units or 0 for split in rows.splits])[rows.split]
    rivals = score(
        rows.take(np.flatnonzero((units <= most) & (rows.racks == configuration.racks))), device, fabric
    ).speed
    mine = score(candidates_of([configuration], job.workload, device, fabric), device, fabric).speed[0]
    return float(mine / rivals.max() - 1) if len(rivals) else float("inf")
