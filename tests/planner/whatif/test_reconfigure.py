"""Changes between random plans: stages that disturb nobody, fewest pauses, fewest changed circuits."""

from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costmodel.fabrics import Lightpath
from planner.checks import check
from planner.cpsat.repair import RepairLimits
from planner.model.instance import Instance
from planner.model.plan import Assignment, HeldCircuits, Plan
from planner.model.result import SolveOptions
from planner.pipeline import solve
from planner.whatif.reconfigure import Reconfiguration, reconfigure
from tests.oracles.light import Given
from tests.oracles.light_paths import LightPaths
from tests.oracles.repair import Row, least_changes
from tests.oracles.tiny_instances import tiny_crossing, tiny_instance
from tests.oracles.transition import fewest_pauses, play
from tests.planner.small_racks import rack, single, training
from tests.seeds import seeds

LIMITS = RepairLimits(deterministic=20.0, workers=1)


def plans(seed: int, *, is_crossing: bool = False) -> tuple[Instance, Plan, Plan] | None:
    """Two plans of one instance; None where it has none, or no circuits."""
    instance = tiny_crossing(seed) if is_crossing else tiny_instance(seed)
    if not isinstance(instance.cluster.fabric, Lightpath):
        return None
    rng = Random(seed)
    found = [
        solve(instance, policy=rng.choice(("random_fit", "first_fit", "best_fit")), options=SolveOptions(seed=s)).plan
        for s in (seed, seed + 1)
    ]
    first, second = found
    return None if first is None or second is None else (instance, first, second)


def agrees(seed: int, *, is_crossing: bool = False) -> None:
    given_plans = plans(seed, is_crossing=is_crossing)
    if given_plans is None:
        return
    instance, old, new = given_plans
    change = reconfigure(instance, new, old, limits=LIMITS)
    assert check(instance, change.plan) == []
    assert [(a.job, a.devices, a.configuration) for a in change.plan.assignments] == [
        (a.job, a.devices, a.configuration) for a in new.assignments
    ]
    paths = LightPaths(instance.cluster)
    play(paths, old.assignments, change.plan.assignments, change.transition)
    assert change.kept == change.most_kept
    expected = least_changes(list(_rows(paths, old, new)))
    assert expected is None or change.changed == expected
    least = fewest_pauses(paths, old.assignments, change.plan.assignments)
    assert len(change.transition.paused) == change.transition.least_paused == least
    _counts_agree(change, old)


def _rows(paths: LightPaths, old: Plan, new: Plan) -> Iterator[Row]:
    """Every circuit of the new plan, and the light that the same job's same configuration gave it."""
    numbers = {paths.fabric.fiber_name(*fiber): i for i, fiber in enumerate(paths.fibers)}
    before: dict[object, Given] = {}
    for a in old.assignments:
        for key, held in _numbered(a):
            for c in held.circuits:
                light = tuple(numbers.get(name, -1) for name in c.fibers), sum(1 << w for w in c.wavelengths)
                before[a.job, key, c.source, c.destination, len(c.wavelengths)] = light
    for job, a in enumerate(new.assignments):
        for number, (key, held) in enumerate(_numbered(a)):
            for c in held.circuits:
                ends = paths.fabric.parse_device(c.source), paths.fabric.parse_device(c.destination)
                had = before.get((a.job, key, c.source, c.destination, len(c.wavelengths)))
                yield (job, number), paths.domain((*ends, len(c.wavelengths))), had


def _numbered(assignment: Assignment) -> Iterator[tuple[tuple[str, int], HeldCircuits]]:
    seen: list[str] = []
    for held in assignment.circuits:
        yield (held.dimension, seen.count(held.dimension)), held
        seen.append(held.dimension)


def _counts_agree(change: Reconfiguration, old: Plan) -> None:
    steps = [step for stage in change.transition.stages for step in stage]
    assert sum(len(step.set_up) for step in steps) == change.changed
    assert sum(len(step.torn_down) for step in steps) == change.torn_down
    before = {(a.job, c) for a in old.assignments for h in a.circuits for c in h.circuits}
    after = {(a.job, c) for a in change.plan.assignments for h in a.circuits for c in h.circuits}
    assert {(step.job, c) for step in steps for c in step.set_up} >= after - before


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(40))
def test_stages_are_safe_and_pauses_fewest(seed: int) -> None:
    agrees(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(24))
def test_stages_are_safe_where_light_crosses_servers_or_lasers_fail(seed: int) -> None:
    agrees(seed, is_crossing=True)


@pytest.mark.slow
@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.integers(min_value=0, max_value=2**32 - 2))
def test_any_stages_are_safe_and_pauses_fewest(seed: int) -> None:
    agrees(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(24))
def test_nothing_changes_from_a_plan_to_itself(seed: int) -> None:
    given_plans = plans(seed)
    if given_plans is None:
        return
    instance, old, _ = given_plans
    change = reconfigure(instance, old, old, limits=LIMITS)
    assert (change.changed, change.torn_down, change.transition.stages) == (0, 0, ())
    assert change.plan == old


def swapped() -> tuple[Instance, Plan, Plan]:
    """Two trainings of two ranks that change places on a full server."""
    data = rack(training("a", 2), training("b", 2), servers=1, tiles=4)
    instance = Instance.parse(data)
    plan = solve(instance, policy="first_fit").plan
    assert plan is not None
    a, b = plan.assignments
    other = {"devices": b.devices, "circuits": b.circuits}, {"devices": a.devices, "circuits": a.circuits}
    assert a.configuration == b.configuration
    turned = (a.model_copy(update=other[0]), b.model_copy(update=other[1]))
    return instance, plan, plan.model_copy(update={"assignments": turned})


def test_two_that_change_places_need_one_pause() -> None:
    instance, old, new = swapped()
    change = reconfigure(instance, new, old).transition
    assert len(change.paused) == change.least_paused == 1
    assert [[step.action for step in stage] for stage in change.stages] == [["pause"], ["switch"], ["resume"]]
    assert change.time_s == pytest.approx(3 * 4.4e-6)
    assert change.disturbed == ("a", "b")


def test_residents_are_what_runs_where_no_old_plan_is_given() -> None:
    data = rack(training("p", 2), servers=1, tiles=4, residents=[single("r", "s0.t0")])
    instance = Instance.parse(data)
    plan = solve(instance, options=SolveOptions(time_limit_s=600.0, workers=1, deterministic_limit=5.0)).plan
    assert plan is not None
    change = reconfigure(instance, plan)
    assert [(step.job, step.action) for stage in change.transition.stages for step in stage] == [("p", "start")]
    assert change.transition.disturbed == ()


def test_light_of_the_old_plan_is_taken_over() -> None:
    """The same devices on other wavelengths: nothing needs to change."""
    instance = Instance.parse(rack(training("p", 6, constraints={"collective": "ring"}), fibers=2))
    old = solve(instance, policy="first_fit").plan
    assert old is not None
    turned = old.model_dump(mode="json")
    for held in turned["assignments"][0]["circuits"]:
        for circuit in held["circuits"]:
            circuit["wavelengths"] = sorted(3 - w for w in circuit["wavelengths"])
            circuit["fibers"] = [
                f.replace("#0", "#x").replace("#1", "#0").replace("#x", "#1") for f in circuit["fibers"]
            ]
    new = Plan.model_validate(turned)
    assert check(instance, new.model_copy(update={"objectives": {}})) == []
    change = reconfigure(instance, new, old)
    assert change.changed == 0
    assert change.kept == change.most_kept == change.num_circuits
