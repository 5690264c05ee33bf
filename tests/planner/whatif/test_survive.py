"""Plans that survive any one failure: each judged by enumerating the repair of every part, none left out."""

from dataclasses import replace
from typing import Any

import pytest

from costmodel.fabrics import Lightpath
from planner.checks import check
from planner.cpsat.repair import RepairLimits
from planner.model.errors import InputError
from planner.model.instance import Instance
from planner.model.plan import Plan
from planner.model.result import Result, SolveOptions, Status
from planner.pipeline import solve
from planner.whatif.failures import damaged, parse_failure
from planner.whatif.survive import survive, weaknesses
from tests.oracles.repair import fewest
from tests.oracles.tiny_instances import tiny_crossing, tiny_instance
from tests.planner.small_racks import rack, single, training
from tests.seeds import seeds

OPTIONS = SolveOptions(time_limit_s=600.0, workers=1, deterministic_limit=20.0)
LIMITS = RepairLimits(deterministic=20.0, workers=1)


def parts(instance: Instance) -> list[str]:
    """Every tile, port and fiber that works, and every laser and receiver."""
    cluster, fabric = instance.cluster, instance.cluster.fabric
    servers = range(fabric.num_servers)
    tiles = [fabric.device_name(s, slot) for s in servers for slot in cluster.healthy_slots(s)]
    ports = [f"{fabric.device_name(s, slot)}:port" for s in servers for slot in cluster.lit_slots(s)]
    fibers, wavelengths = [], []
    if isinstance(fabric, Lightpath):
        numbers = range(fabric.wavelengths_per_tile)
        lit = [fabric.device_name(s, slot) for s in servers for slot in cluster.lit_slots(s)]
        wavelengths = [f"{name}:{end}w{w}" for name in lit for end in ("", "rx:") for w in numbers]
        fibers = [fabric.fiber_name(a, b, i) for a in servers for b in servers for i in cluster.healthy_fibers(a, b)]
    return tiles + ports + fibers + wavelengths


def survives(instance: Instance, plan: Plan) -> bool:
    return all(fewest(damaged(instance, [parse_failure(instance.cluster, name)]), plan) for name in parts(instance))


def movable(seed: int, *, is_crossing: bool = False) -> Instance | None:
    instance = tiny_crossing(seed) if is_crossing else tiny_instance(seed)
    return instance if all(resident.movable for resident in instance.residents) else None


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "is_crossing"), [(s, False) for s in seeds(40)] + [(s, True) for s in seeds(20)])
def test_representative_failures_stand_for_all(seed: int, is_crossing: bool) -> None:
    instance = movable(seed, is_crossing=is_crossing)
    plan = None if instance is None else solve(instance, policy="first_fit").plan
    if instance is None or plan is None:
        return
    weak, _ = weaknesses(instance, plan, LIMITS)
    assert (weak == []) == survives(instance, plan)
    assert all(each.is_proven for each in weak)


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(20))
def test_the_plan_survives_and_says_what_it_costs(seed: int) -> None:
    instance = movable(seed)
    if instance is None:
        return
    found = survive(instance, options=OPTIONS)
    if found.result.plan is None:
        assert found.weaknesses or found.base.plan is None
        return
    assert check(instance, found.result.plan) == []
    assert survives(instance, found.result.plan)
    assert found.cost is not None
    value = instance.objectives[0].name == "value" and instance.objectives[0].tolerance == 0
    if value:
        assert found.cost >= -1e-9
        assert found.result.bound is not None
        assert found.result.objective is not None
        assert found.result.bound >= found.result.objective
    assert (found.result.status is Status.OPTIMAL) <= (found.base.status is Status.OPTIMAL)


def test_one_tile_is_kept_free_and_that_is_optimal() -> None:
    """Four jobs of one weight on four tiles: one of them must give way, whichever."""
    jobs = [training(name, 1) for name in "abcd"]
    instance = Instance.parse(rack(*jobs, servers=1, tiles=4, objectives=["value"]))
    found = survive(instance, options=OPTIONS)
    assert found.cost == pytest.approx(1.0)
    assert found.result.status is Status.OPTIMAL
    assert len(found.reserve) == 1


@pytest.mark.slow
def test_a_job_over_single_fibers_cannot_survive_their_loss() -> None:
    """The large job needs the only fibers there are; the small one fits beside a spare."""
    data = rack(training("large", 6, weight=4), training("small", 2), fibers=1, objectives=["value"])
    instance = Instance.parse(data)
    found = survive(instance, options=OPTIONS)
    assert found.result.plan is not None
    assert found.result.plan.admitted == ("small",)
    assert found.cost == pytest.approx(4.0)


@pytest.mark.slow
def test_what_is_easy_to_repair_is_found_before_what_is_hard(monkeypatch: pytest.MonkeyPatch) -> None:
    """A job that runs best over all servers is lost with any fiber: in one server it survives, found by the second
    solve, whenever the search is stopped after it."""
    solves: list[Result] = []

    def counted(*args: Any, **kwargs: Any) -> Result:
        solves.append(solve(*args, **kwargs))
        return solves[-1]

    monkeypatch.setattr("planner.whatif.survive.solve", counted)
    data = rack(training("wide", {"min": 2, "max": 6}, batch=48), servers=3, tiles=2, fibers=1, objectives=["value"])
    instance = Instance.parse(data)
    options = replace(OPTIONS, deterministic_limit=0.5, should_stop=lambda: len(solves) > 2)
    found = survive(instance, options=options)
    assert found.result.plan is not None
    assert len(found.result.plan["wide"].devices) == 2
    assert found.result.status is Status.FEASIBLE
    assert found.cost is not None
    assert found.cost > 0
    assert survives(instance, found.result.plan)
    assert check(instance, found.result.plan, starts=True) == []


def test_residents_must_be_allowed_to_move() -> None:
    data = rack(training("p", 2), residents=[single("r", "s0.t0", movable=False)])
    with pytest.raises(InputError, match="let it move"):
        survive(Instance.parse(data), options=OPTIONS)
