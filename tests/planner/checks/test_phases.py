"""Checks of jobs that change between phases: a good plan passes, and each way to break it is noticed by its rule."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import pytest

from planner.checks import check
from planner.checks.phases import in_phases
from planner.model.instance import Instance
from planner.model.plan import Plan
from planner.model.result import SolveOptions
from planner.pipeline import solve
from tests.paths import ROOT

FILE = ROOT / "instances" / "sipam" / "phases.yaml"
MORE = "llama405b-documents"
"""a job with more memory in decode"""
SAME = "llama405b-chat"
"""one with the same memory in both"""
Fields = dict[str, Any]


@lru_cache(maxsize=1)
def instance() -> Instance:
    return Instance.load(FILE)


@lru_cache(maxsize=1)
def good() -> Plan:
    result = solve(instance(), options=SolveOptions(time_limit_s=600.0, workers=1, deterministic_limit=20.0))
    assert result.plan is not None
    return result.plan


def broken(change: Callable[[Fields], None]) -> set[str]:
    """Rules that a changed plan breaks."""
    data = good().model_dump(mode="json")
    change(data)
    return {violation.rule for violation in check(instance(), Plan.model_validate(data))}


def of(data: Fields, job: str) -> Fields:
    return next(each for each in data["assignments"] if each["job"] == job)


def change_of(data: Fields, job: str) -> Fields:
    return next(each for each in data["switches"]["phases"] if each["job"] == job)


@pytest.mark.slow
def test_a_good_plan_breaks_no_rule_and_has_both_kinds_of_jobs() -> None:
    assert check(instance(), good()) == []
    io = {}
    for job in (MORE, SAME):
        first, last = in_phases(instance().job(job), good()[job])
        io[job] = first.configuration.memory_io, last.configuration.memory_io
        assert {circuit.port for circuit in first.memory} <= {circuit.port for circuit in last.memory}
        assert first.circuits != last.circuits
    assert io == {MORE: (8, 10), SAME: (8, 8)}
    assert Plan.model_validate_json(good().model_dump_json()) == good()


def _first_phase_forgotten(data: Fields) -> None:
    del of(data, SAME)["configuration"]["first_phase"]


def _mark_of_no_phase(data: Fields) -> None:
    of(data, SAME)["circuits"][0]["phase"] = "training"


def _memory_where_there_is_less(data: Fields) -> None:
    plug = next(plug for plug in of(data, MORE)["memory"] if plug.get("phase"))
    plug["phase"] = "prefill"


def _mark_without_change(data: Fields) -> None:
    _first_phase_forgotten(data)
    of(data, SAME)["memory"][0]["phase"] = "decode"


@pytest.mark.slow
@pytest.mark.parametrize(
    "change", [_first_phase_forgotten, _mark_of_no_phase, _memory_where_there_is_less, _mark_without_change]
)
def test_phases(change: Callable[[Fields], None]) -> None:
    assert "phases" in broken(change)


def _all_memory_in_both(data: Fields) -> None:
    for plug in of(data, MORE)["memory"]:
        plug.pop("phase", None)


def _one_circuit_less_in_prefill(data: Fields) -> None:
    next(plug for plug in of(data, MORE)["memory"] if "phase" not in plug)["phase"] = "decode"


def _unit_taken_away(data: Fields) -> None:
    of(data, MORE)["memory"].pop()


@pytest.mark.slow
@pytest.mark.parametrize("change", [_all_memory_in_both, _one_circuit_less_in_prefill, _unit_taken_away])
def test_memory(change: Callable[[Fields], None]) -> None:
    assert "memory_pool" in broken(change)


def _circuits_of_prefill_in_both(data: Fields) -> None:
    circuits = of(data, SAME)["circuits"]
    circuits[:] = circuits[:1]
    del circuits[0]["phase"]


def _phases_exchanged(data: Fields) -> None:
    first, last = of(data, SAME)["circuits"]
    first["phase"], last["phase"] = last["phase"], first["phase"]


def _a_circuit_less_in_decode(data: Fields) -> None:
    of(data, SAME)["circuits"][1]["circuits"].pop()


@pytest.mark.slow
@pytest.mark.parametrize("change", [_circuits_of_prefill_in_both, _phases_exchanged, _a_circuit_less_in_decode])
def test_circuits(change: Callable[[Fields], None]) -> None:
    assert "circuits" in broken(change)


def _network_on_a_rail_of_memory(data: Fields) -> None:
    """In prefill a ring goes over a rail that memory keeps there."""
    job = of(data, MORE)
    rails = {plug["rail"] for plug in job["memory"] if "phase" not in plug}
    for circuit in job["circuits"][0]["circuits"]:
        circuit["wavelengths"] = sorted([min(rails), *circuit["wavelengths"][1:]])


def test_network() -> None:
    assert "pool_network" in broken(_network_on_a_rail_of_memory)


def _no_change_stated(data: Fields) -> None:
    del data["switches"]["phases"]


def _change_of_a_job_without(data: Fields) -> None:
    change_of(data, SAME)["job"] = MORE


def _change_to_prefill(data: Fields) -> None:
    change_of(data, SAME)["phase"] = "prefill"


def _change_takes_no_time(data: Fields) -> None:
    change_of(data, SAME)["time"] = 0.0


def _nothing_undone(data: Fields) -> None:
    change_of(data, MORE)["undone"] = []


def _one_less_made(data: Fields) -> None:
    change_of(data, MORE)["made"][0]["connections"].pop()


def _made_before(data: Fields) -> None:
    change = change_of(data, MORE)
    state = next(state for state in data["switches"]["after"] if state["switch"] == change["made"][0]["switch"])
    state["connections"] += change["made"][0]["connections"]


def _another_job_undone(data: Fields) -> None:
    mine, theirs = change_of(data, MORE), change_of(data, "llama70b-documents")
    mine["undone"] = [*mine["undone"], *theirs["undone"]]


def _other_ports_undone(data: Fields) -> None:
    """A change breaks light of another job that does not change by itself."""
    change, other = change_of(data, MORE), of(data, SAME)["memory"][0]
    pair = [other["device"], other["port"]]
    change["undone"].append({"switch": f"{other['device'].split('.')[0]}.q{other['rail']}", "connections": [pair]})


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        _no_change_stated,
        _change_of_a_job_without,
        _change_to_prefill,
        _change_takes_no_time,
        _nothing_undone,
        _one_less_made,
        _made_before,
        _another_job_undone,
        _other_ports_undone,
    ],
)
def test_light(change: Callable[[Fields], None]) -> None:
    assert "pool_light" in broken(change)


def test_a_port_of_another_job_is_not_free_while_that_job_is_in_another_phase() -> None:
    """In decode one job takes the port that another one has in decode alone: each alone is right, not both."""

    def take(data: Fields) -> None:
        theirs = next(plug for plug in of(data, "llama70b-documents")["memory"] if plug.get("phase"))
        mine = next(plug for plug in of(data, MORE)["memory"] if plug.get("phase") and plug["rail"] == theirs["rail"])
        old = mine["port"]
        mine["port"], mine["units"] = theirs["port"], theirs["units"]
        for state in change_of(data, MORE)["made"]:
            pairs = state["connections"]
            state["connections"] = [[theirs["port"] if end == old else end for end in pair] for pair in pairs]

    assert {"memory_pool", "pool_light"} <= broken(take)


def _other_speed(data: Fields) -> None:
    of(data, SAME)["speed"] *= 1.01


def test_claims_are_recomputed_phase_by_phase() -> None:
    assert "claims" in broken(_other_speed)


def test_an_unlisted_pair_is_refused() -> None:
    def exchange(data: Fields) -> None:
        configuration = of(data, MORE)["configuration"]
        first = configuration["first_phase"]
        for name, value in list(first.items()):
            first[name], configuration[name] = configuration[name], value

    assert "listed" in broken(exchange)
