"""What a job keeps in a second memory tier, in words: how much, how fast it moves, and what waits for it."""

from costmodel.hardware.device import Device
from costmodel.hardware.memory.tier import MemoryTier
from costmodel.hardware.offload import offload_name
from costmodel.pricing.candidates import Candidates, candidates_of
from costmodel.pricing.score import score, score_by_phase
from planner.model.cluster import Cluster
from planner.model.job import Job
from planner.model.plan import Assignment

FEW = 5e-4
"""share of a step; what waits less is not told"""


def kept_away_in_words(cluster: Cluster, job: Job, assignment: Assignment) -> str:
    """What, and bytes of each accelerator, and whether steps wait for the tier, in each phase where the job changes
    between them; empty where nothing is kept there."""
    if not any(job.workload.menus().get("offload", ())):
        return ""
    rows = candidates_of([assignment.configuration], job.workload, cluster.device, cluster.fabric)
    if not rows.mappings.offload[0] or rows.splits[rows.split[0]].device.offload is None:
        return ""
    return _in_each_phase(rows, cluster) if rows.has_phases[0] else _in_a_step(rows, cluster, assignment)


def _in_a_step(rows: Candidates, cluster: Cluster, assignment: Assignment) -> str:
    device = rows.splits[rows.split[0]].device
    assert device.offload is not None
    graph, scores = rows.workload.op_graph(rows.mappings, device), score(rows, cluster.device, cluster.fabric)
    free_s, placed = float(scores.step_s[0] - scores.offload_s[0]), assignment.second_tier
    is_placed = placed is not None and placed.step_s == assignment.step_s
    waits = max(1 - free_s / (assignment.step_s if is_placed else float(scores.step_s[0])), 0.0)
    most = "at most " if is_placed else ""
    kept = _kept(rows, device.offload, most, float(graph.tier_footprint_bytes[0]))
    return f"{kept}; {_passes(device, most, float(graph.tier_bytes[0]), waits)}"


def _in_each_phase(rows: Candidates, cluster: Cluster) -> str:
    """The first and the last phase, each with its own units."""
    names, words = (rows.workload.phases[0], rows.workload.phases[-1]), []
    settings = rows.in_first_phase(), rows.in_last_phase()
    scores = score_by_phase(rows, cluster.device, cluster.fabric)
    for name, each, prices in zip(names, settings, scores, strict=True):
        device = each.splits[each.split[0]].device
        assert device.offload is not None
        graph = rows.workload.op_graph(rows.mappings, device).in_rounds()
        waits = float(prices.offload_s[0] / prices.step_s[0])
        words.append(f"{name}: {_passes(device, '', float(graph.phase_tier_bytes[name][0]), waits)}")
    kept = _kept(rows, device.offload, "", float(scores[-1].tier_footprint_bytes[0]))
    return "; ".join([kept, *words])


def _kept(rows: Candidates, tier: MemoryTier, most: str, held_bytes: float) -> str:
    held, room = held_bytes / 1e9, tier.capacity_bytes / 1e9
    what = offload_name(int(rows.mappings.offload[0]))
    return f"{what} in {tier.name}: {most}{held:,.1f} of {room:,.0f} GB for each accelerator"


def _passes(device: Device, most: str, moved_bytes: float, waits: float) -> str:
    """What moves in a step, a share `waits` of which it waits for that."""
    tier = device.offload
    assert tier is not None
    passes = f"{most}{moved_bytes / 1e9:,.3g} GB pass in a step at {tier.bandwidth_bytes_per_s / 1e9:,.0f} GB/s"
    if waits < FEW:
        return f"{passes}, behind operators: the {device.capacity_bytes / 1e9:,.0f} GB of its own memory bind"
    return f"{passes}, for which a step waits {waits:.1%} of its time: the bandwidth of {tier.name} binds"
