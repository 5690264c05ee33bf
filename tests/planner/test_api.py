"""The public API: what it offers, and how it meets wrong arguments."""

import inspect
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import planner
from planner import api
from tests.paths import ROOT
from tests.planner.policies.worst_fit import worst_fit

GOLDEN = ROOT / "instances" / "lumorph" / "golden.yaml"
CALLS = {
    "load": "path",
    "expand": "instance prune clock last",
    "score": "instance job",
    "solve": "instance policy options limits",
    "check": "instance plan starts",
    "explain": "instance job_name plan time_limit_s options",
    "marginal": "instance time_limit_s options",
    "repair": "instance plan failed limits",
    "compare": "instances policies seeds options",
    "replay": "demand clusters policies mix jobs loads seeds workers",
    "place_all": "problem strategy row_order",
    "in_order": "room servers blocks most",
    "heuristic_result": "policy problem options started assignments",
}
"""first parameters of each call of version 1"""


def test_version_1_keeps_its_calls() -> None:
    assert api.API_VERSION.split(".")[0] == "1"
    for name, parameters in CALLS.items():
        found = list(inspect.signature(getattr(api, name)).parameters)
        assert found[: len(parameters.split())] == parameters.split(), name


def test_every_name_is_there_and_has_a_docstring() -> None:
    for name in api.__all__:
        thing = getattr(api, name)
        assert inspect.getdoc(thing) or (not inspect.isroutine(thing) and not inspect.isclass(thing)), name
    assert set(planner.__all__) <= set(api.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'solved'"):
        api.__getattr__("solved")


def test_importing_it_loads_no_solver() -> None:
    code = "import sys, planner.api; sys.exit('ortools' in sys.modules or 'numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


def test_a_function_is_a_policy() -> None:
    result = api.solve(api.load(GOLDEN), policy=worst_fit)
    assert (result.policy, result.status) == ("worst_fit", api.Status.FEASIBLE)


def test_a_plan_has_the_jobs_that_it_admits() -> None:
    (job,) = PLAN.admitted
    assert PLAN[job].job == job
    assert job in PLAN
    assert "nobody" not in PLAN


def test_a_result_is_one_line() -> None:
    result = api.solve(api.load(GOLDEN), deterministic_limit=1.0, workers=1)
    assert repr(result).startswith("<Result OPTIMAL by cpsat, 1 job, value 4 (bound 4, gap 0.00%), ")
    assert "\n" not in repr(result)
    assert repr(api.Result(api.Status.NO_PLAN, "cpsat")) == "<Result NO_PLAN by cpsat, 0.00 s>"


def test_candidates_of_a_job_have_scores() -> None:
    instance = api.load(GOLDEN)
    options = api.score(instance, instance.jobs[0].name)
    assert len(options) == len(options.candidates) > 0


def test_policies_are_compared_and_replayed(tmp_path: Path) -> None:
    instance = api.load(GOLDEN)
    found = api.compare([instance], ["first_fit", "best_fit"])
    assert [(row.policy, row.value, row.violations) for row in found.rows] == [("first_fit", 4, 0), ("best_fit", 4, 0)]
    table = tmp_path / "jobs.csv"
    table.write_text("arrival_s,duration_s,num_gpus\n0,100,2\n10,100,2\n", encoding="utf-8")
    outcomes = api.replay(table, {"golden": instance.cluster}, ["first_fit", "best_fit"])
    assert [run.policy for run in outcomes] == ["first_fit", "best_fit"]


INSTANCE: Any = api.load(GOLDEN)
PLAN: Any = api.solve(INSTANCE, policy="first_fit").plan


def _replayed(**wrong: Any) -> Any:
    given = {"demand": "jobs.csv", "clusters": {"a": INSTANCE.cluster}, "policies": ["first_fit"]} | wrong
    return api.replay(**given)


WRONG: list[tuple[Any, str]] = [
    (lambda: api.solve(str(GOLDEN)), "solve.*instance.*is a str, not an Instance; read the file first"),  # type: ignore[arg-type]
    (lambda: api.solve(INSTANCE, policy=3), "policy.*is a int; give a name or a function"),  # type: ignore[arg-type]
    (lambda: api.solve(INSTANCE, policy="fit"), "policy.*is unknown; policies are"),
    (lambda: api.solve(INSTANCE, limit=3), "limit.*is no option; options are"),
    (lambda: api.check(INSTANCE, None), "check.*plan.*is a NoneType, not a Plan; give a Plan"),  # type: ignore[arg-type]
    (lambda: api.check(GOLDEN, PLAN), "check.*instance.*read the file first"),  # type: ignore[arg-type]
    (lambda: api.explain(INSTANCE, "nobody"), "nobody"),
    (lambda: api.explain(INSTANCE, INSTANCE.jobs[0].name, plan="plan.json"), "Plan.load"),  # type: ignore[arg-type]
    (lambda: api.marginal(GOLDEN), "marginal.*instance.*read the file first"),  # type: ignore[arg-type]
    (lambda: api.repair(INSTANCE, PLAN, "s0.t0"), "repair.*failed.*give a list of names"),
    (lambda: api.compare([INSTANCE], ["fit"]), "policy.*is unknown"),
    (lambda: api.score(INSTANCE, "nobody"), "nobody"),
    (lambda: api.load(None), "load.*path.*is a NoneType; give the path"),  # type: ignore[arg-type]
    (lambda: api.score("zz", INSTANCE), "score.*instance.*is a str"),  # type: ignore[arg-type]
    (lambda: api.solve(INSTANCE, time_limit_s="5"), "time_limit_s.*must be 0 or more, and finite .got '5'"),
    (lambda: api.solve(INSTANCE, workers="2"), "workers.*must be at least 1"),
    (lambda: api.solve(INSTANCE, gap=None), "gap.*must be a share"),
    (lambda: api.compare(INSTANCE, ["best_fit"]), "instances.*is a Instance; give a list"),  # type: ignore[arg-type]
    (lambda: api.compare([], ["best_fit"]), "instances.*is empty; give one or more"),
    (lambda: api.compare([INSTANCE], []), "policies.*is empty"),
    (lambda: api.compare([INSTANCE], [worst_fit]), "policies.*holds a function"),  # type: ignore[list-item]
    (lambda: api.compare([INSTANCE], ["best_fit"], seeds=0), "seeds.*must be a whole number from 1 .got 0"),
    (lambda: _replayed(jobs=0), "jobs.*must be a whole number from 1 .got 0"),
    (lambda: _replayed(seeds=0), "seeds.*must be a whole number from 1"),
    (lambda: _replayed(loads=0.5), "loads.*is a float; give a list, as in"),
    (lambda: _replayed(loads=[0]), "loads.*must be above 0 and at most 100"),
    (lambda: _replayed(loads=[float("nan")]), "loads.*must be above 0 .*got nan"),
    (lambda: _replayed(policies=[]), "policies.*is empty"),
    (lambda: _replayed(clusters={}), "clusters.*must be one or more clusters by name"),
    (lambda: _replayed(clusters={"a": INSTANCE}), r"clusters\[a\].*is a Instance; give a Cluster"),
]


@pytest.mark.parametrize(("call", "said"), WRONG)
def test_a_wrong_argument_is_told_at_once(call: Any, said: str) -> None:
    with pytest.raises(api.InputError, match=said):
        call()
