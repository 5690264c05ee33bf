"""Circuits of a job that take turns at its ports, in words: which are on together, and what the switches cost."""

from costmodel.pricing.candidates import candidates_of
from costmodel.pricing.score import score
from costmodel.pricing.step_price import switching_of
from planner.fabrics.demand import shape_of
from planner.model.cluster import Cluster
from planner.model.job import Job
from planner.model.plan import Assignment


def turns_in_words(cluster: Cluster, job: Job, assignment: Assignment) -> str:
    """Turns, the ports that they share, and the switches of a step, how much of them operators hide and for how much a
    step waits; empty where all circuits are on at once, or a step waits for all switches.

    Of serving, whose steps are of two phases, switches are not counted.
    """
    turns = assignment.configuration.turns
    if not (turns or cluster.fabric.switching_inside.is_hidden):
        return ""
    rows = candidates_of([assignment.configuration], job.workload, cluster.device, cluster.fabric)
    ports, scores = shape_of(rows, 0, cluster.fabric).num_ports, score(rows, cluster.device, cluster.fabric)
    told = f"{' | '.join(turns)} on {ports} port{'s' * (ports > 1)} of each accelerator" if turns else "by dimension"
    waits = float(scores.reconfiguration_s[0] / scores.step_s[0])
    split = rows.splits[rows.split[0]]
    part, graph = rows.part(slice(None), split.device)
    if graph.pace is not None:
        return f"{told}; a step waits {waits:.1%} of its time for switches" if turns else ""
    found = switching_of(part, graph, split.device, split.fabric)
    number, hidden_s = float(found.number[0]), float(found.hidden_s[0])
    if not number:
        return ""
    switches = f"{number:,.0f} switches in a step, {number * found.switch_s:,.3g} s"
    hides = f"{hidden_s:,.3g} s of them behind operators"
    return f"{told}; {switches}, {hides}: a step waits {waits:.1%} of its time for them"
