"""The solver against every placement of small problems."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from planner.model.page_instance import PageInstance
from planner.model.result import SolveOptions, Status
from planner.pages.policies import RULES, cpsat
from planner.pages.problem import PageProblem, Pages
from tests.oracles.pages import Choice, fastest
from tests.planner.page_cases import fields, problems, roomier
from tests.planner.pages.cpsat.against_brute_force_cases import by_ticks, stretches

OPTIONS = SolveOptions(time_limit_s=20, workers=1)
SECONDS = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.mark.slow
@SECONDS
@given(problem=problems())
def test_the_solver_finds_the_fastest_placement(problem: PageProblem) -> None:
    (task,) = problem.tasks
    capacity = list(problem.capacity_pages)
    best = fastest(
        stretches(task), len(task.links), task.local_pages, capacity, lambda chosen: by_ticks(problem, chosen)
    )
    result = cpsat(problem, OPTIONS)
    if best is None:
        assert result.status is Status.INFEASIBLE
        return
    assert result.status is Status.OPTIMAL
    assert result.value_s == pytest.approx(best, rel=1e-3)
    assert result.placed is not None
    assert problem.fits(result.placed)


@pytest.mark.slow
@SECONDS
@given(problem=problems(most_layers=5, most_pages=9))
def test_more_of_everything_is_never_slower_and_no_rule_is_faster(problem: PageProblem) -> None:
    result, better = cpsat(problem, OPTIONS), cpsat(roomier(problem), OPTIONS)
    if result.value_s is None:
        return
    assert better.value_s is not None
    assert better.value_s <= result.value_s * (1 + 2e-4)
    for rule in RULES.values():
        placed = rule(problem)
        if placed is not None:
            assert problem.fits(placed)
            assert result.value_s <= problem.value_s(placed)


@pytest.mark.slow
@pytest.mark.parametrize("parallel", ["data", "model"])
def test_alexnet_in_coarse_pages(parallel: str) -> None:
    """Eight tensors of a page each, behind half a port to the host, in local memory for two, or made again."""
    data = fields(ways=[{"memory": "host", "bandwidth": "8 GB/s"}], local="160 MB")
    data["page"] = "80 MB"
    data["jobs"][0]["step"] |= {"parallel": parallel, "system": "DC-DLA"}
    problem = PageProblem.of(PageInstance.parse(data))
    (task,) = problem.tasks
    sizes = task.program.size_bytes

    def simulated(chosen: tuple[Choice, ...]) -> float:
        return problem.step_s(0, _pages(chosen))

    best = fastest(stretches(task), 1, task.local_pages, [None], simulated)
    result = cpsat(problem, OPTIONS)
    assert len(sizes) == 8
    assert result.status is Status.OPTIMAL
    assert result.value_s == pytest.approx(best, rel=1e-9)


def _pages(chosen: tuple[Choice, ...]) -> Pages:
    return Pages(
        np.array([moved for moved, _, _ in chosen]),
        np.array([kept for _, kept, _ in chosen]),
        np.array([again for _, _, again in chosen]),
    )
