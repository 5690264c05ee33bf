"""Divided ports: joint plans equal the enumerated optimum, pruning loses nothing, what servers share is kept."""

import pytest

from planner.candidates.expand import expand
from planner.candidates.lagrangian_bounds import has_prices, pool_prices
from planner.checks import check
from planner.explain.marginal import marginal
from planner.fabrics.divided_ports.step1 import DividedPortsStepOne
from planner.model.errors import InputError
from planner.model.plan import Plan
from planner.model.result import Status
from planner.pipeline import solve
from planner.policies import POLICIES
from planner.whatif.repair import repair
from tests.oracles.tiny_pools import SMALL
from tests.oracles.tiny_shares import best_value, tiny_shares
from tests.planner.fabrics.divided_ports.clusters import Fields, instance, job, resident, shared
from tests.planner.optimum import OPTIONS, assert_solved_to
from tests.seeds import seeds


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(30))
def test_value_is_the_enumerated_optimum(seed: int) -> None:
    tiny = tiny_shares(seed, objectives=["value"])
    assert_solved_to(tiny, best_value(tiny))


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2, 3, 5, 6, 16, 49, 50])
def test_value_with_a_second_tier_is_the_enumerated_optimum(seed: int) -> None:
    """In all but three of them what a job may hold of it depends on others."""
    tiny = tiny_shares(seed, objectives=["value"], has_tier=True)
    assert_solved_to(tiny, best_value(tiny))


@pytest.mark.slow
def test_units_of_a_second_tier_are_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the rows of shares, step 1 gives the units of some servers away twice."""
    monkeypatch.setattr(DividedPortsStepOne, "groups", ())
    tiny = tiny_shares(3, objectives=["value"], has_tier=True)
    plan = solve(tiny, options=OPTIONS).plan
    assert plan is not None
    assert any("second-tier units of appliances are held" in each.message for each in check(tiny, plan))


@pytest.mark.slow
def test_what_is_shared_matters(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the rows of shares, step 1 promises more than servers have in some of the same instances."""
    monkeypatch.setattr(DividedPortsStepOne, "groups", ())
    broken = 0
    for seed in range(30):
        plan = solve(tiny_shares(seed, objectives=["value"]), options=OPTIONS).plan
        rules = {each.rule for each in check(tiny_shares(seed), plan)} if plan is not None else set()
        broken += "shares" in rules
    assert broken >= 3


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(12, first=100))
def test_without_dominated_rows_every_level_has_the_same_optimum(seed: int) -> None:
    tiny = tiny_shares(seed, objectives=["value", "energy"])
    with_few, with_all = (solve(expand(tiny, prune=prune), options=OPTIONS) for prune in (True, False))
    assert with_few.status is with_all.status
    if with_all.plan is None:
        return
    for one, other in zip(with_few.levels, with_all.levels, strict=True):
        assert one.value == pytest.approx(other.value, rel=1e-6, abs=1e-9), one.objective


@pytest.mark.slow
def test_prices_bound_every_plan() -> None:
    for seed in range(200, 215):
        tiny = tiny_shares(seed, objectives=["value"])
        problem = expand(tiny)
        if has_prices(problem) and (result := solve(problem, options=OPTIONS)).plan is not None:
            prices = pool_prices(problem)
            assert result.objective is not None
            assert prices.bound >= result.objective - 1e-9
            for options, bounds in zip(problem.options, prices.rows, strict=True):
                found = [each for each in result.plan.assignments if each.job == options.job.name]
                for assignment in found:
                    row = options.row_of(assignment.configuration)
                    assert row is not None
                    assert bounds[row] >= result.objective - 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["first_fit", "best_fit", "random_fit", "server_aligned"])
def test_heuristics_keep_what_is_shared(policy: str) -> None:
    for seed in range(200, 212):
        result = POLICIES[policy](expand(tiny_shares(seed)), OPTIONS)
        if result.plan is not None:
            assert check(tiny_shares(seed), result.plan) == []


@pytest.mark.slow
def test_jobs_divide_the_ports_of_an_appliance() -> None:
    """Four accelerators and sixteen ports in each server: a job with all eight ports leaves the other too few."""
    asked, plan = shared()
    assert check(asked, plan) == []
    ports = {each.job: (each.configuration.memory_io or 0) * len(each.devices) for each in plan.assignments}
    assert len(ports) == 3
    assert max(ports.values()) <= 16
    alone = solve(instance(job("a", 2)), options=OPTIONS).plan
    assert alone is not None
    assert alone["a"].configuration.memory_io == 8
    assert ports["a"] + ports["b"] <= 16 or plan["a"].devices[0][:2] != plan["b"].devices[0][:2]


@pytest.mark.slow
def test_a_server_without_the_appliance_of_the_plan_breaks_the_rule() -> None:
    asked = instance(job("a", 4), per_server=2)
    plan = solve(asked, options=OPTIONS).plan
    assert plan is not None
    assert plan["a"].configuration.memory_io == 8
    assert "shares" in {violation.rule for violation in check(instance(job("a", 4)), plan, starts=True)}


@pytest.mark.slow
def test_an_accelerator_without_light_runs_nothing() -> None:
    dark = {"failed_ports": ["s0.g0", "s0.g1", "s0.g2", "s0.g3", "s1.g0", "s1.g1", "s1.g2"]}
    plan = solve(instance(job("a", 1), job("b", 1), health=dark), options=OPTIONS).plan
    assert plan is not None
    assert [each.devices for each in plan.assignments] == [("s1.g3",)]
    data = plan.model_dump(mode="json")
    data["assignments"][0]["devices"] = ["s0.g0"]
    asked = instance(job("a", 1), job("b", 1), health=dark)
    assert "shares" in {violation.rule for violation in check(asked, Plan.model_validate(data))}


@pytest.mark.slow
def test_residents_keep_their_share() -> None:
    asked, plan = shared()
    stays = tuple(resident(asked, plan, name) for name in ("a", "c"))
    later = instance(job("b", 2), residents=stays)
    found = solve(later, options=OPTIONS)
    assert found.status is Status.OPTIMAL
    assert found.plan is not None
    assert check(later, found.plan) == []


@pytest.mark.slow
def test_a_failed_accelerator_is_repaired_within_the_share() -> None:
    asked, plan = shared()
    found = repair(asked, plan, [plan["a"].devices[0]])
    assert found.plan is not None
    assert check(found.instance, found.plan) == []


@pytest.mark.slow
def test_one_more_appliance_is_worth_something() -> None:
    asked = instance(job("a", 4), job("b", 4))
    gains = {each.change: each.gain or 0.0 for each in marginal(asked, time_limit_s=20.0, options=OPTIONS)}
    assert gains["one more appliance in each server"] > 0


@pytest.mark.parametrize(
    ("memory", "message"),
    [
        ({"ports": 17}, "17 of one accelerator, the appliances of a server have 16; give fewer"),
        ({"per_server": 0}, "per_server"),
        ({"hit": 1.5}, "hit"),
        ({"kind": "memory_pool"}, "kind"),
        ({"part": "photonic-appliance"}, "did you mean photonic-fabric-appliance"),
        ({"part": "memory-unit"}, "unknown memory appliance"),
        ({"second_tier": {"unit": "cxl-ddr", "units": 4}}, "did you mean cxl-ddr5"),
        ({"second_tier": {"unit": "cxl-ddr5"}}, r"second_tier\.units"),
        ({"second_tier": {"unit": "cxl-ddr5", "units": 0}}, r"second_tier\.units"),
    ],
)
def test_bad_memory_is_named(memory: Fields, message: str) -> None:
    with pytest.raises(InputError, match=message):
        instance(job("a", 1), **memory)


def test_parts_that_cannot_fail_are_refused() -> None:
    with pytest.raises(InputError, match="failed_memory_units: a divided_ports has none"):
        instance(job("a", 1), health={"failed_memory_units": ["s0.m0.u0"]})


@pytest.mark.slow
def test_small_jobs_of_all_kinds_fit() -> None:
    training = {"kind": "transformer_training", "model": SMALL, "global_batch": 8, "sequence": 64, "micro_batch": 1}
    plan = solve(instance(job("a", 2, workload=training), job("b", 2)), options=OPTIONS).plan
    assert plan is not None
    assert {each.job for each in plan.assignments} == {"a", "b"}
