"""A complete hint for the shared variables of step 1: their values in a known plan."""

from collections.abc import Iterator

from planner.formulation.variables import BlockKind, Hint, JobVariables, KnownPlan, Variables


def hints(v: Variables, plan: KnownPlan) -> Iterator[Hint]:
    """Every shared variable with its value, job by job, those of the fabric behind those of the job."""
    for j, job in enumerate(v.jobs):
        yield from _of_job(job, plan, j)
        yield from v.of_fabric.job_hints(plan, j)
    yield from v.of_fabric.shared_hints(plan)


def _of_job(job: JobVariables, plan: KnownPlan, j: int) -> Iterator[Hint]:
    choice, row, placed = plan.pattern.get(j), plan.row(j), plan.blocks(j)
    for k, literal in enumerate(job.rows):
        yield literal, k == row
    if job.stay is not None:
        yield job.stay, choice is not None and choice.stays
    kind = None if row is None else BlockKind.of(job.options.shapes[row])
    for some, counts in job.blocks.items():
        for server, count in enumerate(counts):
            yield count, placed.get(server, 0) if some == kind else 0
    for server, (touched, whole) in enumerate(zip(job.touched, job.whole, strict=True)):
        yield touched, server in placed
        yield whole, server in placed and len(placed) == 1
    yield job.spans, len(placed) > 1
    if job.racks is not None:
        fabric, demand = job.options.fabric, None if row is None else job.options.shapes[row]
        yield from job.racks.hints(demand, sorted({fabric.rack_of(server) for server in placed}))
    for rows in job.classes:
        if len(rows.rows) > 1:
            yield rows.chosen, row in rows.rows
