"""Job arrays. Slurm shows tasks that have not been touched as one waiting job, their rest. A task becomes a job of its
own, with a number of its own and all that the rest has, when it is split off: from then on it is a job like others.

As many are split off as could run at once, and as many are given to the controller as the limit of the array
(`--array=0-99%4`) lets run: no task holds accelerators that Slurm will not start.
"""

from collections import Counter
from collections.abc import Collection
from itertools import chain, islice

from planner.integrations.slurm.config import SlurmSite
from planner.integrations.slurm.job_requests import JobDescriptor
from planner.integrations.slurm.observed_state import DesiredState, Memory, ObservedState
from planner.integrations.slurm.rows import JobRow

LIMITED = "JobArrayTaskLimit"
"""reason of a task that Slurm will not start, since as many others run as may"""


def first_tasks(tasks: str, most: int) -> list[int]:
    """The first numbers of a list such as 0-3,7,10-90:5, at most so many."""
    found: list[int] = []
    for part in tasks.split(","):
        span, _, step = part.partition(":")
        low, _, high = span.partition("-")
        numbers = range(int(low), int(high or low) + 1, int(step or 1))
        found += islice(numbers, max(0, most - len(found)))
    return found


def at_once(row: JobRow, descriptor: JobDescriptor, site: SlurmSite) -> int:
    """Tasks of an array that could run at once on all servers, but no more than its limit."""
    on_each = site.gpus_per_node // max(1, descriptor.gpus)
    fit = max(1, site.cluster.fabric.num_servers * on_each // max(1, descriptor.nodes[0]))
    return min(fit, row.most_tasks) if row.most_tasks else fit


def split_off(observed: ObservedState, site: SlurmSite, job: int, now_s: float) -> list[int]:
    """Tasks that are to become jobs now; none where the job is no array, or may not run."""
    rest = observed.jobs[job]
    if not rest.tasks or not observed.may_run(job, now_s):
        return []
    ahead = sum(row.reason != "JobHeldAdmin" for row in observed.tasks.get(rest.array_id, []))
    return first_tasks(rest.tasks, at_once(rest, observed.ours[job], site) - ahead)


def over_limit(observed: ObservedState, desired: DesiredState, held: Collection[int]) -> set[int]:
    """Of held jobs those for which there is no room within the limit of their array: first come those that the
    controller knows."""
    rows = chain.from_iterable(observed.tasks.values())
    used = Counter(row.array_id for row in rows if not (row.waits and row.is_held))
    over = set()
    for job in sorted(held, key=lambda job: not desired.knows(job)):
        row = observed.jobs[job]
        if row.most_tasks and used[row.array_id] >= row.most_tasks:
            over.add(job)
        used[row.array_id] += 1
    return over


def why_waiting(observed: ObservedState, desired: DesiredState, memory: Memory, job: int) -> str:
    """Why a job without a place waits: of a rest, why the first of its tasks does."""
    row = observed.jobs[job]
    waiting = [each.job_id for each in observed.tasks.get(row.array_id, []) if each.waits] if row.tasks else [job]
    return next(filter(None, (_why(desired, memory, each) for each in waiting)), "")


def why_behind(observed: ObservedState, site: SlurmSite, job: int, now_s: float) -> str:
    """Why a job waits that could run, and that the controller does not get: only tasks of arrays do."""
    row = observed.jobs[job]
    if split_off(observed, site, job, now_s):
        return ""
    if row.most_tasks:
        return f"as many tasks of the array run as its limit of {row.most_tasks} lets"
    return "other tasks of the array come before" if row.tasks else ""


def _why(desired: DesiredState, memory: Memory, job: int) -> str:
    refused = memory.refused.get(job)
    return "cannot run: " + refused.why if refused is not None and not desired.knows(job) else desired.why.get(job, "")
