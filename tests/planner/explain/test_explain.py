"""Why a job runs or not: each kind of answer where it is known, each offer tried by a solve."""

from typing import Any

import pytest

from planner.explain import Explanation, explain
from planner.model.errors import InputError
from planner.model.instance import Instance
from planner.model.plan import Plan
from planner.model.result import Result, SolveOptions, Status
from planner.pipeline import solve

Fields = dict[str, Any]
OPTIONS = SolveOptions(workers=1, deterministic_limit=5.0)
ONE_SERVER = {"one_server": True}
FAT_TREE = {
    "kind": "fat_tree", "servers": 2, "gpus_per_server": 4, "nvlink_bandwidth": "450 GB/s",
    "nvlink_alpha": "2 us", "nvlink_energy": "10 pJ/b", "network_bandwidth": "50 GB/s",
    "network_alpha": "5 us", "network_energy": "20 pJ/b",
}  # fmt: skip


def rack(*jobs: Fields, servers: int = 2, tiles: int = 4, fibers: int = 0, **changes: Any) -> Fields:
    """An instance as in a file; `changes` are fields of the fabric, or health, residents and objectives."""
    top: Fields = {key: changes.pop(key) for key in ("residents", "objectives") if key in changes}
    health = changes.pop("health", {})
    fabric = {
        "kind": "lightpath", "servers": servers, "tiles_per_server": tiles, "fibers": fibers,
        "wavelengths_per_tile": 4, "wavelengths_per_fiber": 4, "wavelength_bandwidth": "75 GB/s",
        "max_peers": 3, "alpha": "0.7 us", "reconfiguration": "3.7 us", "energy": "5 pJ/b", **changes,
    }  # fmt: skip
    cluster = {"device": "h100-sxm", "fabric": fabric, "health": health}
    return {"schema_version": 1, "name": "small", "cluster": cluster, "jobs": list(jobs), **top}


def serving(name: str, accelerators: Any, model: str = "llama-3.1-8b", **fields: Any) -> Fields:
    """Replicas of it need no circuits, so it may lie anywhere."""
    workload = {
        "kind": "transformer_inference", "model": model, "concurrency": 8, "input_tokens": 512,
        "output_tokens": 128,
    }  # fmt: skip
    return {"name": name, "accelerators": accelerators, "workload": workload, **fields}


def training(name: str, accelerators: Any, batch: int = 64, **fields: Any) -> Fields:
    """Its ranks exchange gradients or activations, so it needs light wherever it lies."""
    workload = {"kind": "transformer_training", "model": "bert-large", "global_batch": batch, "sequence": 512}
    return {"name": name, "accelerators": accelerators, "workload": workload, **fields}


def single(name: str, device: str, **fields: Any) -> Fields:
    """A resident on one device."""
    return serving(name, 1, devices=[device], configuration={"micro_batch": 8}, **fields)


def ask(data: Fields, name: str, plan: Plan | None = None) -> Explanation:
    return explain(Instance.parse(data), name, plan=plan, options=OPTIONS)


def texts(explanation: Explanation) -> list[str]:
    assert all(statement.is_verified for statement in explanation.statements)
    return [statement.text for statement in explanation.statements]


def outcome(data: Fields) -> Result:
    return solve(Instance.parse(data), options=OPTIONS)


def is_possible(data: Fields, name: str, **changes: Any) -> bool:
    """Whether the job, changed and required, runs beside what else must run."""
    jobs = [job | changes | {"required": True} if job["name"] == name else job for job in data["jobs"]]
    status = outcome(data | {"jobs": jobs}).status
    assert status in (Status.OPTIMAL, Status.INFEASIBLE)
    return status is Status.OPTIMAL


def with_fibers(data: Fields, *counts: tuple[str, str, int]) -> Fields:
    bundles = [{"from": a, "to": b, "count": n} for a, b, n in counts]
    cluster = data["cluster"] | {"fabric": data["cluster"]["fabric"] | {"fibers": bundles}}
    return data | {"cluster": cluster}


@pytest.mark.slow
def test_admitted_job_says_where_it_runs_and_what_other_sizes_change() -> None:
    data = rack(serving("x", [2, 4, 8]), training("y", 4), fibers=1)
    explanation = ask(data, "x")
    assert explanation.tag == "admitted"
    assert explanation.headline in ("x runs with 4 accelerators on s0", "x runs with 4 accelerators on s1")
    smaller, larger = texts(explanation)
    assert smaller.startswith("with 2 accelerators it fits beside the others (1.52x slower, 0.175 less value")
    best = outcome(data).objective
    alone = outcome(rack(serving("x", [2, 4, 8]), fibers=1))
    assert best is not None
    assert alone.plan is not None
    assert alone.objective is not None
    # Alone, x takes 8 accelerators; y then leaves.
    assert len(alone.plan["x"].devices) == 8
    assert larger.endswith(f"making room costs {best - alone.objective:.3g} of value")


def test_too_little_memory() -> None:
    data = rack(serving("x", 1, model="llama-3.1-70b"))
    explanation = ask(data, "x")
    assert explanation.tag == "impossible alone"
    assert explanation.headline == "x cannot run even with the whole cluster to itself"
    assert texts(explanation) == [
        "with 1 accelerator: each accelerator would hold 144.8 GB, 64.8 GB more than it has",
        "fits with 2, 4, 6 or 8 accelerators",
    ]
    possible = [size for size in range(1, 9) if is_possible(data, "x", accelerators=size)]
    assert possible == [2, 4, 6, 8]


@pytest.mark.slow
def test_size_that_does_not_divide_or_exceeds_what_works() -> None:
    data = rack(training("x", [5, 8]), fibers=2, health={"failed_tiles": ["s0.t1"]})
    explanation = ask(data, "x")
    assert explanation.tag == "impossible alone"
    assert texts(explanation) == [
        "with 5 accelerators: 5 is no product of degrees of parallelism that divide its 16 heads, 24 layers and 64 "
        "sequences; try a number with more divisors; possible with uneven_stages: true",
        "with 8 accelerators: needs 8 accelerators, 7 work",
        "fits if s0.t1 is repaired",
        "fits with 1, 2, 3 or 4 accelerators",
    ]
    assert is_possible(rack(training("x", [5, 8]), fibers=2), "x")
    assert not is_possible(rack(training("x", 5), fibers=2), "x")
    assert all(is_possible(data, "x", accelerators=size) for size in (1, 2, 3, 4))


def test_one_server_is_too_small() -> None:
    data = rack(serving("x", 8, constraints=ONE_SERVER))
    explanation = ask(data, "x")
    assert explanation.tag == "impossible alone"
    assert "with 8 accelerators: must lie in one server, which has 4 accelerators" in texts(explanation)
    assert "fits on s0 and s1 if it may span servers" in texts(explanation)
    assert is_possible(data, "x", constraints={})


def test_collective_that_the_fabric_cannot_form() -> None:
    data = rack(training("x", 7, batch=56, constraints={"collective": "radix"}))
    data["cluster"]["fabric"] = FAT_TREE
    explanation = ask(data, "x")
    assert explanation.tag == "impossible alone"
    said = texts(explanation)
    assert said[0] == "with 7 accelerators: no radix all-reduce joins 7 accelerators here"
    assert "fits with ring" in said
    assert is_possible(data, "x", constraints={"collective": "ring"})


@pytest.mark.slow
def test_no_fibers_at_all() -> None:
    data = rack(training("x", 8))
    explanation = ask(data, "x")
    assert explanation.tag == "impossible alone"
    assert texts(explanation) == [
        "with 8 accelerators: needs 1 more fiber from s0 to s1 and 1 more fiber from s1 to s0",
        "fits with 1, 2, 3 or 4 accelerators",
    ]
    assert is_possible(with_fibers(data, ("s0", "s1", 1), ("s1", "s0", 1)), "x")
    assert not is_possible(with_fibers(data, ("s0", "s1", 1)), "x")


def test_too_few_free_accelerators_and_what_admission_costs() -> None:
    data = rack(serving("a", 4, weight=2), serving("x", 3), servers=1)
    explanation = ask(data, "x")
    assert explanation.tag == "does not fit beside this plan"
    assert explanation.headline == "x does not fit beside this plan (admitting it would cost 1 of value)"
    assert explanation.cost == pytest.approx(1.0)
    assert texts(explanation) == [
        "with 3 accelerators: needs 3, 0 are free",
        "in the best plan found with x, a is left out",
    ]
    base = outcome(data)
    forced = outcome(rack(serving("a", 4, weight=2), serving("x", 3, required=True), servers=1))
    assert base.objective is not None
    assert forced.objective is not None
    assert base.objective - forced.objective == pytest.approx(1.0)


@pytest.mark.slow
def test_rack_by_rack() -> None:
    jobs = [training("a", 3, weight=2), training("b", 3, weight=2), training("x", 2)]
    explanation = ask(rack(*jobs, tiles=2, fibers=1, racks=2), "x")
    assert explanation.tag == "does not fit beside this plan"
    assert "with 2 accelerators: needs 2, 1 is free in any one rack" in texts(explanation)
    assert "fits with 1 accelerator (1.93x slower than its fastest)" in texts(explanation)
    said = texts(ask(rack(training("x", [3, 8]), tiles=2, racks=2), "x"))
    assert said[1] == "with 8 accelerators: needs 8 accelerators, a rack has 4"


@pytest.mark.slow
def test_scattered_free_devices_and_the_move_that_joins_them() -> None:
    residents = [single("r0", "s0.t0"), single("r1", "s1.t0", move_cost=3)]
    data = rack(serving("x", 4, constraints=ONE_SERVER), residents=residents, objectives=["moves", "value"])
    explanation = ask(data, "x")
    assert explanation.tag == "does not fit beside this plan"
    assert explanation.headline == "x does not fit beside this plan (admitting it would cost 1 of moves)"
    said = texts(explanation)
    assert said[0] == "with 4 accelerators: no server has 4 free; most is 3 on s0"
    assert "fits with 4 accelerators if r0 moves to s1" in said
    assert "fits with 2 accelerators (1.52x slower than its fastest)" in said
    assert "fits on s0 and s1 if it may span servers (1.42x slower than its fastest)" in said
    moved = [single("r0", "s1.t1", movable=False), single("r1", "s1.t0", movable=False)]
    assert is_possible(data | {"residents": moved}, "x")
    stuck = [resident | {"movable": False} for resident in residents]
    assert not is_possible(data | {"residents": stuck}, "x")
    assert is_possible(data | {"residents": stuck}, "x", accelerators=2)
    assert is_possible(data | {"residents": stuck}, "x", constraints={})


@pytest.mark.slow
def test_immovable_residents_are_not_asked_to_move() -> None:
    residents = [single("r0", "s0.t0", movable=False), single("r1", "s1.t0", movable=False)]
    explanation = ask(rack(serving("x", 4, constraints=ONE_SERVER), residents=residents), "x")
    assert not any("moves" in text for text in texts(explanation))
    assert "no plan runs x and all required jobs and residents" in texts(explanation)


@pytest.mark.slow
def test_fiber_that_another_job_holds() -> None:
    """p spans both servers on the only wavelength between them; x would have to, too."""
    residents = [single("r0", "s0.t0", movable=False), single("r1", "s1.t0", movable=False)]
    common: Fields = {"tiles": 3, "fibers": 1, "wavelengths_per_fiber": 1, "residents": residents}
    narrow = rack(training("p", 2), health={"failed_tiles": ["s0.t2", "s1.t2"]}, **common)
    plan = outcome(narrow).plan
    assert plan is not None
    data = rack(training("p", 2), training("x", 2), **common)
    explanation = ask(data, "x", plan)
    assert explanation.tag == "does not fit beside this plan"
    gain = 4.0 - plan.objectives["value"]
    assert explanation.cost == pytest.approx(-gain)
    assert explanation.headline.endswith(f"(a better plan admits it: {gain:.3g} more value)")
    said = texts(explanation)
    assert said[0] == "with 2 accelerators: needs 1 more fiber from s0 to s1 and 1 more fiber from s1 to s0"
    assert any(text.startswith("fits with 2 accelerators if p is rearranged on") for text in said)
    p = plan["p"].model_dump(include={"devices", "configuration", "circuits"})
    standing = [*residents, training("p", 2, movable=False, **p)]
    pinned = data | {"residents": standing, "jobs": data["jobs"][1:]}
    assert not is_possible(pinned, "x")
    assert not is_possible(with_fibers(pinned, ("s0", "s1", 2), ("s1", "s0", 1)), "x")
    assert is_possible(with_fibers(pinned, ("s0", "s1", 2), ("s1", "s0", 2)), "x")
    assert outcome(data).objective == pytest.approx(4.0)


def test_job_that_fits_but_is_worth_nothing_there() -> None:
    data = rack(
        serving("x", [2, 4], utility="step", step_at=0.9),
        servers=1,
        residents=[single("r0", "s0.t0", movable=False)],
    )
    explanation = ask(data, "x")
    assert explanation.tag == "worth less"
    assert explanation.headline == "x is worth less than it takes (admitting it costs no value)"
    assert explanation.cost == 0.0
    assert texts(explanation) == ["fits beside the other jobs with 2 accelerators on s0"]
    assert is_possible(data, "x", accelerators=2)
    assert not is_possible(data, "x", accelerators=4)


def test_cost_is_told_in_the_first_objective() -> None:
    explanation = ask(rack(serving("x", 2), objectives=["energy", "value"]), "x")
    assert explanation.tag == "worth less"
    assert explanation.headline == "x is worth less than it takes (admitting it costs 1 of energy)"


def test_fat_tree() -> None:
    residents = [single("r0", "s0.g0", movable=False), single("r1", "s1.g0")]
    data = rack(serving("x", 4, constraints=ONE_SERVER), residents=residents, objectives=["moves", "value"])
    data["cluster"]["fabric"] = FAT_TREE
    said = texts(ask(data, "x"))
    assert said[0] == "with 4 accelerators: no server has 4 free; most is 3 on s0"
    assert "fits with 4 accelerators if r1 moves to s0" in said


def test_without_time_nothing_is_claimed() -> None:
    instance = Instance.parse(rack(serving("x", 2)))
    explanation = explain(instance, "x", plan=Plan(instance="small"), time_limit_s=0.0)
    assert explanation.tag == "undecided in time"
    assert [statement.is_verified for statement in explanation.statements] == [False]


def test_required_jobs_that_exclude_each_other() -> None:
    data = rack(serving("a", 4, required=True), serving("x", 4, required=True), servers=1)
    explanation = ask(data, "x")
    assert explanation.headline == "x: the required jobs and residents cannot all run, so there is no plan"


def test_unknown_job_and_foreign_plan() -> None:
    instance = Instance.parse(rack(serving("x", 3), serving("y", 3)))
    with pytest.raises(InputError, match="no job 'z'"):
        explain(instance, "z")
    plan = outcome(rack(serving("z", 4))).plan
    with pytest.raises(InputError, match="no job 'z'"):
        explain(instance, "x", plan=plan, options=OPTIONS)
    plan = outcome(rack(serving("y", 3))).plan
    assert plan is not None
    failed = Instance.parse(rack(serving("x", 3), serving("y", 3), health={"failed_tiles": [plan["y"].devices[0]]}))
    with pytest.raises(InputError, match="failed part"):
        explain(failed, "x", plan=plan, options=OPTIONS)


@pytest.mark.slow
def test_same_question_same_answer() -> None:
    assert texts(ask(rack(training("x", 8)), "x")) == texts(ask(rack(training("x", 8)), "x"))
