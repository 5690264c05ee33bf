"""Jobs that change between prefill and decode: optimal by enumeration, never worse than without, always realised."""

from functools import lru_cache
from random import Random
from typing import Any

import pytest

from planner.candidates.expand import expand
from planner.candidates.phase_settings import gain_of_phases, settings_by_phase
from planner.checks import check, objective_values
from planner.cli.tables.jobs_table import job_row, phase_lines
from planner.explain.admitted import what_phases_gain
from planner.fabrics.sipam.demand import PoolDemand
from planner.fabrics.sipam.free_pool import FreePool, stay_on
from planner.fabrics.sipam.server_pool import FreeServer
from planner.fabrics.sipam.step2 import Part, wire
from planner.formulation.step_two import StepTwoLimits
from planner.model.errors import InputError
from planner.model.instance import Instance
from planner.model.plan import Plan
from planner.model.result import SolveOptions, Status
from planner.pipeline import solve
from tests.oracles.pool_search import Mode, Server, Setting, best_value, wires
from tests.oracles.tiny_pools import phased_pool, tiny_pool
from tests.paths import ROOT

OPTIONS = SolveOptions(time_limit_s=600.0, workers=1, deterministic_limit=20.0)
FILE = ROOT / "instances" / "sipam" / "phases.yaml"
SEEDS = (
    0, 1, 2, 3, 4, 7, 8, 9, 10, 13, 15, 17, 19, 22, 23, 26, 27, 29, 30, 32, 34, 36, 38, 39, 40, 41, 42, 43, 44, 45,
    46, 47, 48, 49, 50, 52, 53, 55, 57, 58, 59, 60, 61, 62, 64,
)  # fmt: skip
"""pools that are enumerated in a moment"""


def changes(plan: Plan) -> list[bool]:
    """Of each job that changes between phases, whether its memory does."""
    settings = [a.configuration.by_phase for a in plan.assignments if a.configuration.first_phase is not None]
    return [first.memory_io != last.memory_io for first, last in settings]


@lru_cache(maxsize=len(SEEDS))
def optimum(seed: int) -> Plan:
    """Of a pool: proven, equal to the enumerated optimum, and without violation."""
    instance = phased_pool(seed)
    expected, result = best_value(instance), solve(instance, options=OPTIONS)
    assert result.status is Status.OPTIMAL
    assert result.objective == pytest.approx(expected, rel=1e-6, abs=1e-9)
    assert result.plan is not None
    assert check(instance, result.plan, starts=True) == []
    return result.plan


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_value_is_the_enumerated_optimum(seed: int) -> None:
    optimum(seed)


def test_some_optima_change_collectives_and_some_memory_too() -> None:
    found = [change for seed in SEEDS for change in changes(optimum(seed))]
    assert found.count(False) >= 5
    assert found.count(True) >= 3


def with_one_setting(instance: Instance) -> Instance:
    data: dict[str, Any] = instance.model_dump(mode="json")
    for job in data["jobs"]:
        job["constraints"]["one_setting"] = True
    return Instance.parse(data)


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS[::4])
def test_value_is_never_less_than_with_one_setting(seed: int) -> None:
    instance = phased_pool(seed)
    alone = solve(with_one_setting(instance), options=OPTIONS)
    assert alone.plan is not None
    assert changes(alone.plan) == []
    assert check(with_one_setting(instance), alone.plan) == []
    assert objective_values(instance, optimum(seed))["value"] >= objective_values(instance, alone.plan)["value"] - 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_switches_that_never_pay_leave_the_plan_as_it_is(seed: int) -> None:
    data = (phased_pool if seed % 2 else tiny_pool)(seed).model_dump(mode="json")
    data["cluster"]["fabric"]["reconfiguration"] = "1 h"
    slow = Instance.parse(data)
    both, alone = (solve(each, options=OPTIONS).plan for each in (slow, with_one_setting(slow)))
    assert (both is None) == (alone is None)
    if both is not None and alone is not None:
        what = {"assignments": {"__all__": {"job", "configuration", "devices", "circuits", "memory"}}, "switches": True}
        assert both.model_dump(include=what) == alone.model_dump(include=what)
        assert both.objectives == pytest.approx(alone.objectives, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(60))
def test_wiring_of_two_phases_is_what_enumeration_says(seed: int) -> None:
    """Racks with few ports: which circuits stay on in the phase with less memory is chosen together with all rails."""
    rng = Random(seed)
    rails, trays, spine, port_units = rng.choice((3, 4)), rng.choice((1, 2)), rng.choice((0, 0, 1)), rng.choice((1, 2))
    ports = [[rng.randint(1, 3) for _ in range(trays)] for _ in range(rails)]
    units = [rng.randint(2, 6) for _ in range(trays)]
    rack = FreeServer(
        [[*range(number)] for number in units],
        {rail: [[*range(number)] for number in ports[rail]] for rail in range(rails)},
        tuple(range(rails, rails + spine)),
        {},
    )
    server = Server(9, tuple(units), tuple(map(tuple, ports)), frozenset(rack.spine), ())
    parts, here = {}, []
    for job in range(rng.choice((1, 1, 2))):
        phases = []
        for io in sorted(rng.choices(range(1, rails + 1), k=2)):
            number = rng.randint((io - 1) * port_units + 1, io * port_units)
            phases.append(Setting(number, io, 0, rng.randint(0, rails + spine - io)))
        if phases[0].memory_io == phases[1].memory_io:
            phases[0] = Setting(phases[1].units, phases[1].memory_io, 0, phases[0].inside)
        demands = [PoolDemand(p.units, p.memory_io, 0, p.inside, 0) for p in phases]
        most, inside = phases[1], max(p.inside for p in phases)
        ranks = rng.choice((1, 2))
        order = tuple(demands if rng.random() < 0.5 else demands[::-1])
        parts[job] = Part(PoolDemand(most.units, most.memory_io, 0, inside, 0, order), ranks)
        here.append((Mode(ranks, 1, 0, tuple(phases)), ranks))
    limits = StepTwoLimits(time_limit_s=10.0, deterministic_limit=None, workers=1, seed=0)
    found = wire(rack, parts, port_units, limits).found
    assert (found is not None) == wires(server, tuple(here), port_units)
    for job, part in parts.items() if found is not None else ():
        assert all(stay_on(plugs, rack, part.demand, found[job].kept) is not None for plugs in found[job].plugs)
    if len(parts) == 1:
        by_hand = FreePool.__new__(FreePool)
        by_hand.fabric, by_hand.racks = tiny_pool(0).cluster.fabric, [rack]  # type: ignore[assignment]
        first = by_hand.wires(parts[0].demand, {0: [(0, rank) for rank in range(parts[0].num_ranks)]})
        assert first is None or port_units != by_hand.fabric.port_units or found is not None


@lru_cache(maxsize=1)
def planned() -> tuple[Instance, Plan]:
    instance = Instance.load(FILE)
    result = solve(instance, options=OPTIONS)
    assert result.status is Status.OPTIMAL
    assert result.plan is not None
    return instance, result.plan


@pytest.mark.slow
def test_the_shipped_services_gain_by_collectives_and_by_memory() -> None:
    instance, plan = planned()
    gains = {a.job: gain_of_phases(instance.cluster, instance.job(a.job), a.configuration) for a in plan.assignments}
    assert gains == {
        "llama405b-chat": pytest.approx(0.073, abs=0.002),
        "llama405b-documents": pytest.approx(0.021, abs=0.002),
        "llama70b-documents": pytest.approx(0.020, abs=0.002),
    }
    more = plan["llama405b-documents"]
    words = settings_by_phase(instance.cluster, instance.job(more.job), more.configuration)
    assert words == (
        "prefill: tensor ring w4, 8 units over 8 I/Os",
        "decode: tensor ring w2, 10 units over 10 I/Os",
    )
    assert changes(plan) == [False, True, True]


@pytest.mark.slow
def test_tables_and_explanations_show_both_settings_and_the_gain() -> None:
    instance, plan = planned()
    job = instance.job("llama70b-documents")
    row = job_row(instance, job, plan[job.name])
    assert row[3] == "tp8, 10 units"
    assert row[4] == "by phase, see below"
    (line,) = (line for line in phase_lines(instance, plan) if line.startswith(job.name))
    settings = "prefill: tensor ring w4, 8 units over 8 I/Os; decode: tensor ring w2, 10 units over 10 I/Os"
    assert line == f"{job.name}: {settings}; 2.0 % faster than with one setting"
    (statement,) = what_phases_gain(instance, plan, job.name)
    assert statement.text.endswith("2.0% faster than with one setting")
    assert not list(what_phases_gain(with_one_setting(instance), one_setting_plan(), job.name))


def one_setting_plan() -> Plan:
    result = solve(with_one_setting(planned()[0]), options=OPTIONS)
    assert result.plan is not None
    return result.plan


@pytest.mark.slow
def test_a_running_job_keeps_both_settings() -> None:
    instance, plan = planned()
    data: dict[str, Any] = instance.model_dump(mode="json")
    held = plan["llama70b-documents"].model_dump(
        mode="json", include={"devices", "configuration", "circuits", "memory"}
    )
    data["residents"] = [data["jobs"].pop(2) | held | {"movable": False}]
    again = Instance.parse(data)
    result = solve(again, options=OPTIONS)
    assert result.plan is not None
    assert check(again, result.plan) == []
    assert not result.plan["llama70b-documents"].is_moved
    assert result.plan.switches is not None
    assert result.plan.switches.before
    assert {change.job for change in result.plan.switches.phases} >= {"llama70b-documents"}
    for plug in data["residents"][0]["memory"]:
        plug.pop("phase", None)
    with pytest.raises(InputError, match="needs 8 units over 8 memory circuits in prefill"):
        Instance.parse(data)


def test_rows_with_two_settings_do_not_grow_the_list_much() -> None:
    instance, _ = planned()
    alone, both = expand(with_one_setting(instance), prune=False), expand(instance, prune=False)
    for one, two in zip(alone.options, both.options, strict=True):
        assert len(one) < len(two) <= 2 * len(one)
