"""Candidates with values as the rules state them; dropping dominated ones costs nothing."""

from math import sqrt
from typing import Any

import numpy as np
import pytest

from planner.candidates.expand import expand, list_options
from planner.candidates.knapsack_bounds import KnapsackBounds
from planner.model.clock import Clock
from planner.model.edit import edited
from planner.model.errors import InputError
from planner.model.instance import Instance
from planner.model.result import SolveOptions, Status
from planner.pipeline import solve
from planner.policies import POLICIES
from tests.oracles.tiny_instances import tiny_instance
from tests.planner.explain.remedies_cases import FAT_TREE
from tests.planner.small_racks import rack, serving, single, training
from tests.seeds import seeds

OPTIONS = SolveOptions(time_limit_s=600.0, workers=1, deterministic_limit=20.0)


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(20, first=1000))
def test_without_dominated_rows_every_level_has_the_same_optimum(seed: int) -> None:
    instance = tiny_instance(seed)
    exact = edited(instance, objectives=tuple(edited(o, tolerance=0.0) for o in instance.objectives))
    pruned, whole = expand(exact), expand(exact, prune=False)
    assert pruned.num_candidates <= whole.num_candidates
    assert whole.num_dominated == pruned.num_dominated - (whole.num_candidates - pruned.num_candidates)
    with_all, with_few = solve(whole, options=OPTIONS), solve(pruned, options=OPTIONS)
    assert with_all.status is with_few.status
    if with_all.status is Status.INFEASIBLE:
        return
    assert with_few.status is Status.OPTIMAL
    for a, b in zip(with_all.levels, with_few.levels, strict=True):
        assert a.value == pytest.approx(b.value, rel=1e-6, abs=1e-9), a.objective


@pytest.mark.parametrize("utility", ["sqrt", "linear", "step"])
def test_value_is_weight_times_utility_of_relative_speed(utility: str) -> None:
    data = rack(training("x", [2, 4], weight=3, utility=utility, step_at=0.7))
    options = expand(Instance.parse(data), prune=False).options[0]
    shares = options.scores.speed / max(options.scores.speed)
    gains = {"sqrt": [sqrt(x) for x in shares], "linear": [*shares], "step": [float(x >= 0.7) for x in shares]}
    assert options.value.tolist() == pytest.approx([3 * g for g in gains[utility]])
    least = min(options.scores.energy_per_work_j)
    assert options.energy.tolist() == pytest.approx([3 * e / least for e in options.scores.energy_per_work_j])
    assert options.value.max() == 3.0
    assert options.energy.min() == pytest.approx(3.0)


def test_sizes_above_a_rack_are_not_listed() -> None:
    data = rack(serving("x", {"min": 3, "max": 8}), servers=1)
    assert set(list_options(Instance.parse(data), Instance.parse(data).jobs[0]).candidates.num_devices) == {3, 4}


def test_nothing_listed_is_no_error() -> None:
    problem = expand(Instance.parse(rack(serving("x", 1, model="llama-3.1-70b"))))
    assert len(problem.options[0]) == 0
    assert problem.num_candidates == problem.num_dominated == 0


def resident_of(configuration: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return serving("r", 2, devices=["s0.t0", "s0.t1"], configuration=configuration, **fields)


def test_current_configuration_is_listed_even_if_sizes_or_constraints_rule_it_out() -> None:
    current = {"data": 2, "micro_batch": 4}
    resident = resident_of(current) | {"accelerators": 4}
    data = rack(residents=[resident])
    options = expand(Instance.parse(data)).options[0]
    assert options.current is not None
    assert options.candidates.num_devices[options.current] == 2
    assert set(np.delete(options.candidates.num_devices, options.current)) == {4}
    assert options.can_stay
    assert options.must_run
    moved = expand(Instance.parse(rack(residents=[resident], health={"failed_tiles": ["s0.t1"]}))).options[0]
    assert not moved.can_stay
    assert moved.current is not None


def test_current_configuration_that_the_fabric_lacks_is_an_error() -> None:
    data = rack(residents=[resident_of({"data": 2, "micro_batch": 3})])
    with pytest.raises(InputError, match=r"residents\[r\].configuration: .* does not divide the workload"):
        Instance.parse(data)


def test_current_row_is_kept_though_dominated() -> None:
    ring = {"kind": "ring", "wavelengths": [1]}
    configuration = {"tensor": 2, "micro_batch": 8, "tensor_collective": ring}
    resident = resident_of(configuration)
    a, b = resident["devices"]
    ends = [{"from": a, "to": b, "wavelengths": [0]}, {"from": b, "to": a, "wavelengths": [0]}]
    for end in ends:
        servers = [str(end[key]).split(".")[0] for key in ("from", "to")]
        end["fibers"] = [] if servers[0] == servers[1] else [f"{servers[0]}>{servers[1]}#0"]
    resident |= {"circuits": [{"dimension": "tensor", "circuits": ends}]}
    instance = Instance.parse(rack(residents=[resident], fibers=1))
    options = expand(instance).options[0]
    assert options.current is not None
    assert options.candidates.configuration(options.current) == instance.residents[0].configuration


def test_fat_tree_keeps_the_best_row_of_each_block() -> None:
    """Packets ask for no circuits: one row for each number of devices and block, unless energy is at odds."""
    data = rack(training("x", [2, 4]))
    data["cluster"]["fabric"] = FAT_TREE
    options = expand(Instance.parse(data)).options[0]
    rows = {}
    for row, shape in enumerate(options.shapes):
        rows.setdefault((shape.num_ranks, shape.block), []).append((options.value[row], options.energy[row]))
    for pairs in rows.values():
        ordered = sorted(pairs, reverse=True)
        assert [e for _, e in ordered] == sorted((e for _, e in ordered), reverse=True)


def test_rows_taken_keep_the_current_one() -> None:
    instance = Instance.parse(rack(residents=[resident_of({"data": 2, "micro_batch": 4}) | {"accelerators": [1, 2]}]))
    options = expand(instance, prune=False).options[0]
    assert options.current is not None
    taken = options.take(np.array([options.current], dtype=np.int64))
    assert taken.current == 0
    assert taken.row_of(instance.residents[0].configuration) == 0


def test_single_resident_of_the_helpers_stays() -> None:
    options = expand(Instance.parse(rack(residents=[single("r", "s0.t0")]))).options[0]
    assert options.staying().is_moved is False
    assert options.assignment(options.current or 0, ["s0.t1"], ()).is_moved


def test_jobs_that_are_not_listed_in_time_wait_and_loosen_the_bound() -> None:
    """Required ones and those that ask for the same are listed; another one may still be worth its weight."""
    waits = training("waits", 4, weight=2.0, constraints={"one_server": True})
    jobs = [training("first", 2), waits, training("must", 2, required=True)]
    data = rack(*jobs)
    problem = expand(Instance.parse(data), clock=Clock.of(0.0))
    by_name = {options.job.name: options for options in problem.options}
    assert [name for name, options in by_name.items() if not options.is_listed] == ["waits"]
    assert list(by_name) == ["first", "waits", "must"]
    whole = KnapsackBounds.of(expand(Instance.parse(data))).bound
    assert whole <= KnapsackBounds.of(problem).bound
    result = POLICIES["cpsat"](problem, SolveOptions(workers=1, deterministic_limit=1.0))
    assert result.plan is not None
    assert result.status is Status.FEASIBLE
    assert {left.job: left.reason for left in result.left_out}["waits"] == "not listed in the time limit"


def test_what_is_listed_for_one_job_is_a_short_list_of_late_others() -> None:
    other_utility = training("other", 4, weight=2.0, utility="linear")
    jobs = [training("first", [2, 4]), other_utility, training("same", [2, 4], weight=3.0)]
    problem = expand(Instance.parse(rack(*jobs)), clock=Clock.of(0.0))
    first, other, same = problem.options
    assert [each.is_listed for each in problem.options] == [True, False, True]
    assert {int(n) for n in other.candidates.num_devices} == {4}
    assert other.value.max() == 2.0
    assert (same.value == 3.0 * first.value).all()
    assert same.assignment(0, ["s0.t0"] * same.shapes[0].num_ranks, ()).job == "same"


def test_jobs_that_are_late_have_a_short_list_and_their_best_value_in_the_bound() -> None:
    jobs = [training("first", 2), training("late", [1, 2, 4], weight=2.0, constraints={"one_server": True})]
    whole = expand(Instance.parse(rack(*jobs)))
    problem = expand(Instance.parse(rack(*jobs)), clock=Clock.of(0.0), last=Clock.of(60.0))
    late, all_of_it = problem.options[1], whole.options[1]
    assert not late.is_listed
    assert {int(n) for n in late.candidates.num_devices} == {1, 2, 4}
    assert late.most_value == all_of_it.value.max()
    assert len(late) < late.num_listed == all_of_it.num_listed
    assert (
        KnapsackBounds.of(whole).bound
        <= KnapsackBounds.of(problem).bound
        <= whole.options[0].value.max() + late.most_value
    )
    result = POLICIES["cpsat"](problem, SolveOptions(workers=1, deterministic_limit=1.0))
    assert result.plan is not None
    assert result.plan.admitted == ("first", "late")
    assert result.status is Status.FEASIBLE
