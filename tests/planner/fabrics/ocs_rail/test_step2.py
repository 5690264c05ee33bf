"""Rails: the exact policy against enumeration, rails chosen in step 1 or left to step 2, and what step 2 refutes."""

from collections.abc import Callable

import pytest

from planner.candidates.expand import expand
from planner.checks import check
from planner.cpsat.step2.realize import realize
from planner.fabrics.ocs_rail import constraints as rails_module
from planner.fabrics.ocs_rail.step2 import RailStepTwo
from planner.fabrics.pattern import Choice
from planner.formulation.step_two import StepTwoLimits
from planner.model.instance import Instance
from planner.model.result import SolveOptions, Status
from planner.pipeline import solve
from tests.oracles.rails import best_value
from tests.planner.checks.plans import TRAINING
from tests.planner.fabrics.ocs_rail.step2_cases import instance_of, tiny, tiny_in_turns, tiny_with_circulants
from tests.seeds import seeds

LIMITS = StepTwoLimits(time_limit_s=10.0, deterministic_limit=None, workers=1, seed=0)
NUM_SEEDS = 30


@pytest.mark.slow
@pytest.mark.parametrize("most_places", [0, 5000], ids=["step 2", "step 1"])
@pytest.mark.parametrize("seed", seeds(NUM_SEEDS))
def test_the_value_is_the_enumerated_one(seed: int, most_places: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rails_module, "MOST_PLACES", most_places)
    instance = tiny(seed)
    expected = best_value(instance)
    result = solve(instance, options=SolveOptions(time_limit_s=600.0, workers=1, deterministic_limit=30.0))
    assert (result.status is Status.INFEASIBLE) == (expected is None)
    if expected is not None:
        assert result.status is Status.OPTIMAL
        assert result.objective == pytest.approx(expected, rel=1e-6)
        assert result.plan is not None
        assert check(instance, result.plan, starts=True) == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(12))
@pytest.mark.parametrize("tiny_rails", [tiny_in_turns, tiny_with_circulants])
def test_with_turns_and_with_circulants_the_value_is_the_enumerated_one(
    tiny_rails: Callable[[int], Instance], seed: int
) -> None:
    instance = tiny_rails(seed)
    expected = best_value(instance)
    result = solve(instance, options=SolveOptions(time_limit_s=600.0, workers=1, deterministic_limit=30.0))
    assert (result.status is Status.INFEASIBLE) == (expected is None)
    if expected is not None:
        assert result.status is Status.OPTIMAL
        assert result.objective == pytest.approx(expected, rel=1e-6)
        assert result.plan is not None
        assert check(instance, result.plan, starts=True) == []


def _pairs() -> tuple[Instance, dict[int, Choice]]:
    """Three jobs of two ranks, each across two of three servers with two rails: an odd cycle."""
    jobs = [{"name": f"job{j}", "workload": TRAINING, "accelerators": 2} for j in range(3)]
    instance = instance_of(jobs, servers=3, gpus_per_server=2)
    problem = expand(instance)
    pattern = {}
    for j, servers in enumerate([(0, 1), (1, 2), (0, 2)]):
        shapes = problem.options[j].shapes
        row = next(k for k, shape in enumerate(shapes) if shape.num_ports)
        pattern[j] = Choice(row, False, tuple((s, 1) for s in servers))
    return instance, pattern


def test_an_odd_cycle_of_pairs_is_refuted() -> None:
    instance, pattern = _pairs()
    problem = expand(instance)
    assert realize(problem, pattern, LIMITS).nogood == (0, 1, 2)
    for left_out in pattern:
        fewer = {j: choice for j, choice in pattern.items() if j != left_out}
        packed = RailStepTwo().realize(problem, fewer, LIMITS).assignments
        assert packed is not None
        assert len(packed) == 2
        assert realize(problem, fewer, LIMITS).assignments is not None


def test_only_jobs_that_exclude_each_other_are_refuted() -> None:
    """The third slot works on the first server only: a fourth job takes it and is not to blame."""
    _, pattern = _pairs()
    jobs = [{"name": f"job{j}", "workload": TRAINING, "accelerators": 2} for j in range(4)]
    problem = expand(instance_of(jobs, gpus_per_server=3, health={"failed_tiles": ["s1.g2", "s2.g2"]}))
    pattern = pattern | {3: Choice(pattern[0].row, False, ((0, 1), (3, 1)))}
    assert realize(problem, pattern, LIMITS).nogood == (0, 1, 2)
