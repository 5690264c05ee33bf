"""Failures that stand for the loss of any one part."""

from planner.whatif.single_failures import single_failures
from tests.planner.whatif.repair.pools_cases import Pool


def test_failures_of_parts_go_job_by_job(pool: Pool) -> None:
    instance, plan = pool
    for jobs in (plan.assignments, plan.assignments[::-1]):
        reordered = plan.model_copy(update={"assignments": jobs})
        units = [{unit for plug in job.memory for unit in plug.units} for job in jobs]
        tried = [f.name for f in single_failures(instance, reordered) if f.kind == "memory unit"]
        owners = [next(number for number, owned in enumerate(units) if name in owned) for name in tried]
        assert owners == sorted(owners)
        assert owners
