"""What users get wrong in files and bodies is answered by what is expected there."""

import re
from collections.abc import Callable
from datetime import date
from math import inf, nan
from typing import Any

import pytest

from costmodel.spec import Spec
from planner.controller import Request, Settings
from planner.integrations.kubernetes.config import Kubernetes
from planner.integrations.slurm.config import SlurmConfig
from planner.model.errors import InputError
from planner.model.files import validate
from planner.model.instance import Instance
from planner.model.validation_messages import fields_at, truths_for_numbers
from planner.service.event_routes import Budget, Jobs
from planner.service.extender import ExtenderArgs
from tests.planner.simulate.grounds import BERT

SLURM = {
    "cluster": "c.yaml", "nodes": "n[0-3]", "state": "/a", "bindings": "/b", "driver": {"kind": "file"},
    "workloads": {"bert": BERT}, "default_workload": "bert",
}  # fmt: skip
KUBERNETES = {"nodes": "n[0-3]", "workloads": {"bert": BERT}}
JOB = {"name": "a", "accelerators": 4, "workload": BERT}
RAW = re.compile(r"Input should|Value error|unable to|valid (integer|number|string|dictionary|tuple|list|boolean|path)")
"""words of the library that validates"""


def _settings(change: Any) -> tuple[type[Spec], Any]:
    return Settings, change


def _slurm(change: Any) -> tuple[type[Spec], Any]:
    return SlurmConfig, SLURM | change


def _kubernetes(change: Any) -> tuple[type[Spec], Any]:
    return Kubernetes, KUBERNETES | change


def _job(change: Any) -> tuple[type[Spec], Any]:
    return Request, JOB | change


def _quota(change: Any) -> tuple[type[Spec], Any]:
    return Settings, {"quotas": {"a": change}}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("of", "change", "field", "problem"),
    [
        (_settings, {"patiense": "12 h"}, "patiense", "is no known field here; did you mean 'patience'?"),
        (_settings, {"colour": 1}, "colour", "correct or remove it (`planner schema settings` lists them)"),
        (_settings, {"patience": "twelve"}, "patience", "cannot read 'twelve'; write it like '12 h'"),
        (_settings, {"patience": "2 parsecs"}, "patience", "unknown unit 'parsecs'"),
        (_settings, {"patience": "-1 s"}, "patience", "must be at least 0 (got '-1 s')"),
        (_settings, {"patience": None}, "patience", "a string with its unit such as '12 h'"),
        (_settings, {"half_life": 0}, "half_life", "must be above 0 (got 0)"),
        (_settings, {"moves": "perhaps"}, "moves", "must be true or false (got 'perhaps')"),
        (_settings, {"depth": "x"}, "depth", "must be a whole number (got 'x')"),
        (_settings, {"depth": 1.5}, "depth", "must be a whole number (got 1.5)"),
        (_settings, {"depth": 10**30}, "depth", "must be at most 1000000000"),
        (_settings, {"quotas": []}, "quotas", "must be a mapping (got a list)"),
        (_quota, 3, "quotas.a", "must be a mapping with fields such as accelerators, ports, share (got 3)"),
        (_quota, {"accelerator": 3}, "quotas.a.accelerator", "did you mean 'accelerators'?"),
        (_quota, {"share": 0}, "quotas.a.share", "must be above 0 (got 0)"),
        (_slurm, {"driver": "file"}, "driver", "must be a mapping with fields such as kind, command"),
        (_slurm, {"driver": {}}, "driver", "has no `kind`; `planner schema slurm` lists them"),
        (_slurm, {"driver": {"kind": "hok"}}, "driver", "did you mean hook? known: file, hook"),
        (_slurm, {"driver": {"kind": "hook"}}, "driver.command", "(`planner schema slurm` shows every field)"),
        (_slurm, {"driver": {"kind": "hook", "command": "x"}}, "driver.command", "must be a list (got 'x')"),
        (_slurm, {"driver": {"kind": "hook", "command": []}}, "driver.command", "1 or more entries, and has 0"),
        (_slurm, {"driver": {"kind": "hook", "timout": 1}}, "driver.timout", "did you mean 'timeout'?"),
        (_slurm, {"nodes": 3}, "nodes", "must be a mapping or text (got 3)"),
        (_slurm, {"nodes": {"n0": 3}}, "nodes.n0", "must be text (got 3)"),
        (_slurm, {"partitions": "gpu"}, "partitions", "must be a list (got 'gpu')"),
        (_slurm, {"state": 3}, "state", "must be a path (got 3)"),
        (_slurm, {"default_workload": None}, "default_workload", "must be text (got null)"),
        (_slurm, {"settings": {"patiense": 1}}, "settings.patiense", "did you mean 'patience'?"),
        (_slurm, {"workloads": {"b": BERT | {"sequenc": 1}}}, "workloads.b.sequenc", "did you mean 'sequence'?"),
        (_kubernetes, {"nodes": {"A b": "s0"}}, "nodes.A b", "'A b' is no name of an object; use lower-case letters"),
        (_kubernetes, {"check": ""}, "check", "'' is no name of an object"),
        (_kubernetes, {"resources": ["a b"]}, "resources[0]", "write it like nvidia.com/gpu"),
        (_kubernetes, {"controllers": ["a"]}, "controllers[0]", "write it as namespace:name"),
        (_kubernetes, {"tenant": "users"}, "tenant", "must be 'namespace' or 'queue' (got 'users')"),
        (_kubernetes, {"requeue": "2 h"}, "requeue", "must be at most 3600 (got '2 h')"),
        (_kubernetes, {"requeus": 1}, "requeus", "did you mean 'requeue'?"),
        (_job, {"accelerators": "four"}, "accelerators",
         "must be a whole number, a list or a mapping with fields such as min, max (got 'four')"),
        (_job, {"accelerators": []}, "accelerators", "the list is empty; give at least one size"),
        (_job, {"name": ""}, "name", "must have 1 or more characters (got '')"),
        (_job, {"name": 3}, "name", "must be text (got 3); put it into quotes"),
        (_job, {"name": date(2026, 1, 31)}, "name", "must be text (got the date 2026-01-31); put it into quotes"),
        (_job, {"workload": "bert"}, "workload", "must be a mapping with fields such as kind, model"),
        (_job, {"priority": 10**7}, "priority", "must be at most 1000000 (got 10000000)"),
        (_job, {"priorty": 1}, "priorty", "did you mean 'priority'?"),
        (lambda change: (Request, change), [], "", "must be a mapping with fields such as name, tenant"),
        (lambda change: (Request, change), {"name": "a"}, "workload", "(`/openapi.json` shows every field)"),
        (lambda change: (Jobs, change), {"jobs": [3]}, "jobs[0]", "must be a mapping with fields such as name"),
        (lambda change: (Settings, change), {"depth": inf}, "depth", "(got inf)"),
        (lambda change: (Settings, change), {"quotas": {"a": {"share": nan}}}, "quotas.a.share", "(got nan)"),
        (lambda change: (Budget, change), {"budget": 99}, "budget", "must be at most 5 (got 99)"),
        (lambda change: (ExtenderArgs, change), {"Pod": 3}, "Pod", "fields such as metadata, spec (got 3)"),
    ],
)  # fmt: skip
def test_it_says_what_is_expected(of: Callable[[Any], Any], change: Any, field: str, problem: str) -> None:
    model, data = of(change)
    with pytest.raises(InputError) as error:
        validate(model, data, "file")
    assert error.value.field == field
    assert problem in error.value.problem
    assert not RAW.search(str(error.value))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("change", "fields"),
    [
        ({"tiles_per_server": True}, ["tiles_per_server"]),
        ({"servers": False, "fibers": True}, ["servers", "fibers"]),
        ({"fibers": [{"from": "s0", "to": "s1", "count": True}]}, ["fibers.0.count"]),
        ({"upper": {"kind": "fibers", "fibers": True, "wavelengths_per_fiber": 4}}, ["upper.fibers"]),
        ({"memory": {"units": 2, "wavelengths": True, "shared": True}}, ["memory.wavelengths"]),
        ({"nothing": True, "alpha": "1 us"}, []),
    ],
)
def test_truths_are_found_where_numbers_are_asked_for(change: dict[str, Any], fields: list[str]) -> None:
    data = {"cluster": {"device": "h100-sxm", "fabric": {"kind": "lightpath"} | change}}
    found = [error["loc"] for error in truths_for_numbers(Instance, data)]
    assert [".".join(map(str, loc[2:])) for loc in found] == fields


def test_a_truth_is_told_before_what_it_would_mean_as_a_number() -> None:
    fabric = {"kind": "lightpath", "servers": 2, "tiles_per_server": True, "tile_rows": 2}
    with pytest.raises(InputError, match=r"fabric\.tiles_per_server: must be a number \(got true\)"):
        validate(Instance, {"cluster": {"device": "h100-sxm", "fabric": fabric}, "jobs": []}, "file")


def test_fields_are_found_through_lists_tags_and_unions() -> None:
    assert fields_at(Instance, ["cluster", "fabric", "lightpath"]) != fields_at(
        Instance, ["cluster", "fabric", "torus"]
    )
    for tag in ("lightpath", "torus"):
        assert "kind" in fields_at(Instance, ["cluster", "fabric", tag])
    assert {"name", "workload"} <= set(fields_at(Instance, ["jobs", 0]))
    assert fields_at(Instance, ["jobs", 0, "accelerators", "Range"]) == ["min", "max"]
    assert fields_at(Settings, ["quotas", "any"]) == ["accelerators", "ports", "share"]
    assert fields_at(Settings, ["depth"]) == []
