"""What evaluation takes of the time of a job that trains, in words."""

from costmodel.parallelism.configuration import Configuration
from costmodel.pricing.candidates import candidates_of
from costmodel.pricing.score import score, score_by_phase
from planner.model.cluster import Cluster
from planner.model.job import Job


def evaluation_in_words(cluster: Cluster, job: Job, configuration: Configuration) -> str:
    """Its share, and that of changing circuits and memory; empty where the job has no evaluation."""
    if getattr(job.workload, "evaluation", None) is None:
        return ""
    rows = candidates_of([configuration], job.workload, cluster.device, cluster.fabric)
    whole_s = float(score(rows, cluster.device, cluster.fabric).step_s[0])
    training_s, evaluation_s = (float(p.step_s[0]) for p in score_by_phase(rows, cluster.device, cluster.fabric))
    changing = 1 - (training_s + evaluation_s) / whole_s
    changes = f", changing between them {changing:.2%}" if rows.has_phases[0] else ""
    return f"evaluation takes {evaluation_s / whole_s:.1%} of its time, training {training_s / whole_s:.1%}{changes}"
