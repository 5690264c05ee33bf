"""Weights, costs and energies that lie many orders of magnitude apart: none is lost beside the others."""

from fractions import Fraction
from itertools import product
from random import Random

import pytest
from ortools.sat.python import cp_model

from planner.candidates.expand import expand
from planner.checks import check
from planner.formulation.quantize import exact
from planner.formulation.solver import new_solver
from planner.formulation.terms import Part, sum_of
from planner.model.instance import Instance
from planner.model.result import SolveOptions, Status
from planner.pipeline import solve
from tests.planner.checks.plans import FAT_TREE
from tests.planner.formulation.terms_cases import instance_of, job

QUICK = SolveOptions(time_limit_s=30, workers=1)


@pytest.mark.slow
@pytest.mark.parametrize("weights", [(1e6, 1e-3), (1e3, 1e-6), (1e6, 1e-6), (1e6, 1e-9), (1e6, 1e-12)])
def test_no_later_level_drops_a_job_of_little_weight(weights: tuple[float, float]) -> None:
    instance = instance_of(job("big", 2, weights[0]), job("small", [1, 2], weights[1]))
    result = solve(instance, options=QUICK)
    assert result.status is Status.OPTIMAL
    assert result.plan is not None
    assert result.plan.admitted == ("big", "small")
    best = max(expand(instance).options[1].value.tolist())
    assert result.plan["small"].value == best
    assert {level.objective: level.value for level in result.levels} == result.plan.objectives
    assert check(instance, result.plan, starts=True) == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2, 15, 22])
def test_the_plan_of_most_value_is_the_enumerated_one(seed: int) -> None:
    """Sums are compared exactly: weights are drawn from 18 orders of magnitude."""
    rng = Random(seed)
    jobs = [
        job(f"j{number}", sorted(rng.sample((1, 2, 3, 4), rng.choice((1, 2)))), round(10 ** rng.uniform(-12, 6), 15))
        for number in range(4)
    ]
    instance = instance_of(*jobs)
    ways = []
    for options in expand(instance).options:
        of_size: dict[int, float] = {0: 0.0}
        for devices, value in zip(options.candidates.num_devices.tolist(), options.value.tolist(), strict=True):
            of_size[devices] = max(of_size.get(devices, 0.0), value)
        ways.append(list(of_size.items()))
    most = max(
        sum((exact(value) for _, value in chosen), Fraction(0))
        for chosen in product(*ways)
        if sum(devices for devices, _ in chosen) <= 4
    )
    result = solve(instance, options=QUICK)
    assert result.status is Status.OPTIMAL
    assert result.plan is not None
    assert sum((exact(a.value) for a in result.plan.assignments), Fraction(0)) == most


@pytest.mark.slow
@pytest.mark.parametrize("is_maximized", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_digits_decide_as_exact_sums_do(seed: int, is_maximized: bool) -> None:
    """One amount of each of six jobs, some excluded by others, over 30 orders of magnitude."""
    rng = Random(seed)
    amounts = [[round(rng.uniform(1, 9), 11) * 10 ** rng.uniform(-15, 15) for _ in range(3)] for _ in range(6)]
    model, solver = cp_model.CpModel(), new_solver()
    solver.parameters.num_workers = 1
    literals = [[model.new_bool_var("") for _ in job] for job in amounts]
    parts: list[list[Part]] = [list(zip(*pair, strict=True)) for pair in zip(amounts, literals, strict=True)]
    pairs = [(rng.sample(range(6), 2), rng.randrange(3), rng.randrange(3)) for _ in range(8)]
    for of_job in literals:
        model.add_exactly_one(of_job)
    for (a, b), i, k in pairs:
        model.add(literals[a][i] + literals[b][k] <= 1)
    term = sum_of(parts, is_maximized=is_maximized)
    while True:
        (model.maximize if is_maximized else model.minimize)(term.expression)
        assert solver.solve(model) == cp_model.OPTIMAL
        chosen = [next(i for i, literal in enumerate(job) if solver.value(literal)) for job in literals]
        found = [amounts[number][i] for number, i in enumerate(chosen)]
        assert term.steps_of(found) == round(solver.objective_value)
        if term.is_fine:
            break
        term = term.finer(model, found)
    allowed = (
        tried
        for tried in product(range(3), repeat=6)
        if not any(tried[a] == i and tried[b] == k for (a, b), i, k in pairs)
    )
    sums = (sum((exact(amounts[n][i]) for n, i in enumerate(tried)), Fraction(0)) for tried in allowed)
    best = (max if is_maximized else min)(sums)
    assert abs(sum(map(exact, found), Fraction(0)) - best) <= Fraction(term.rounding)


def test_amounts_of_nothing_need_no_digits() -> None:
    model = cp_model.CpModel()
    assert sum_of([[(0.0, model.new_bool_var(""))]], is_maximized=False).is_fine
    assert sum_of([], is_maximized=True).is_fine


def test_a_resident_of_little_cost_is_not_moved_for_nothing() -> None:
    """One resident must move at a cost of a million, another one need not, at a millionth."""
    free = solve(instance_of(job("a", 1, 1), job("b", 1, 1)), policy="first_fit").plan
    assert free is not None
    residents = [
        job(name, 1, 1)
        | {
            "devices": [device], "configuration": free[name].configuration.model_dump(), "circuits": [],
            "movable": True, "move_cost": cost,
        }
        for name, device, cost in (("a", "s0.g0", 1e6), ("b", "s0.g1", 1e-6))
    ]  # fmt: skip
    cluster = {"device": "h100-sxm", "fabric": FAT_TREE | {"servers": 1}, "health": {"failed_tiles": ["s0.g0"]}}
    fields = {"schema_version": 2, "name": "moves", "cluster": cluster, "jobs": [], "residents": residents}
    result = solve(Instance.parse(fields | {"objectives": ["moves", "energy"]}), options=QUICK)
    assert (result.objective, result.levels[0].status) == (1e6, Status.OPTIMAL)
    assert result.plan is not None
    assert (result.plan["a"].is_moved, result.plan["b"].is_moved) == (True, False)
