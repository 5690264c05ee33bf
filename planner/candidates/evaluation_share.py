"""What evaluation takes of the time of a job that trains, in words."""

from costmodel.pricing.candidates import candidates_of
from costmodel.pricing.score import score, score_by_phase
from planner.model.cluster import Cluster
from planner.model.job import Job
from planner.model.plan import Assignment


def evaluation_in_words(cluster: Cluster, job: Job, assignment: Assignment) -> str:
    """Its share, and that of changing circuits and memory; empty where the job has no evaluation. Places of tensors
    change the time of training alone."""
    if getattr(job.workload, "evaluation", None) is None:
        return ""
    rows = candidates_of([assignment.configuration], job.workload, cluster.device, cluster.fabric)
    whole_s = float(score(rows, cluster.device, cluster.fabric).step_s[0])
    training_s, evaluation_s = (float(p.step_s[0]) for p in score_by_phase(rows, cluster.device, cluster.fabric))
    changing_s, step_s = whole_s - (training_s + evaluation_s), assignment.step_s
    changes = f", changing between them {changing_s / step_s:.2%}" if rows.has_phases[0] else ""
    training = (step_s - evaluation_s - changing_s) / step_s
    return f"evaluation takes {evaluation_s / step_s:.1%} of its time, training {training:.1%}{changes}"
