"""What a job keeps in a second memory tier, in words: how much, how fast it moves, and what waits for it."""

from costmodel.hardware.offload import offload_name
from costmodel.pricing.candidates import candidates_of
from costmodel.pricing.score import score
from planner.model.cluster import Cluster
from planner.model.job import Job
from planner.model.plan import Assignment


def kept_away_in_words(cluster: Cluster, job: Job, assignment: Assignment) -> str:
    """What, and bytes of each accelerator, and whether steps wait for the tier; empty where nothing is kept there."""
    if not any(job.workload.menus().get("offload", ())):
        return ""
    rows = candidates_of([assignment.configuration], job.workload, cluster.device, cluster.fabric)
    code, device = int(rows.mappings.offload[0]), rows.splits[rows.split[0]].device
    if not code or device.offload is None:
        return ""
    tier, graph = device.offload, job.workload.op_graph(rows.mappings, device)
    scores = score(rows, cluster.device, cluster.fabric)
    held, moved = graph.tier_footprint_bytes[0] / 1e9, graph.tier_bytes[0] / 1e9
    rate, room = tier.bandwidth_bytes_per_s / 1e9, tier.capacity_bytes / 1e9
    free_s, placed = float(scores.step_s[0] - scores.offload_s[0]), assignment.second_tier
    is_placed = placed is not None and placed.step_s == assignment.step_s
    waits = max(1 - free_s / (assignment.step_s if is_placed else float(scores.step_s[0])), 0.0)
    most = "at most " if is_placed else ""
    kept = f"{offload_name(code)} in {tier.name}: {most}{held:,.1f} of {room:,.0f} GB for each accelerator"
    passes = f"{most}{moved:,.3g} GB pass in a step at {rate:,.0f} GB/s"
    if waits < 5e-4:
        own = device.capacity_bytes / 1e9
        return f"{kept}; {passes}, behind operators: the {own:,.0f} GB of its own memory bind"
    return f"{kept}; {passes}, for which a step waits {waits:.1%} of its time: the bandwidth of {tier.name} binds"
