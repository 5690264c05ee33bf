"""What keeps a job from being listed is the same sentence in every command, and its remedy works."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from planner import solve
from planner.candidates.unlisted import why_unlisted
from planner.cli.new_instance import left_out
from planner.controller import Controller, Request
from planner.explain import explain
from planner.model.errors import InputError
from planner.model.instance import Instance
from planner.model.result import SolveOptions
from tests.fabrics import FABRICS
from tests.planner.cli.conftest import Planner, planner  # noqa: F401

LLAMA: dict[str, Any] = {
    "kind": "transformer_training", "model": "llama-3.1-405b", "global_batch": 2048, "sequence": 4096,
    "uneven_stages": False,
}  # fmt: skip


HURRIED: dict[str, Any] = {
    "kind": "transformer_inference", "model": "llama-3.1-70b", "precision": "fp8", "concurrency": 64,
    "input_tokens": 2048, "output_tokens": 512, "limits": {"ttft": "300 ms", "tpot": "12 ms"},
}  # fmt: skip


def fields(accelerators: Any = 512, workload: dict[str, Any] = LLAMA, **job: Any) -> dict[str, Any]:
    fabric = FABRICS["fat_tree"] | {"servers": 128}
    jobs = [{"name": "x", "workload": workload, "accelerators": accelerators} | job]
    return {
        "schema_version": 2, "name": "large", "cluster": {"device": "h100-sxm", "fabric": fabric}, "jobs": jobs,
        "objectives": ["value"],
    }  # fmt: skip


def said(accelerators: Any = 512, **job: Any) -> str:
    instance = Instance.parse(fields(accelerators, **job))
    return why_unlisted(instance.cluster, instance.jobs[0]) or ""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("asked", "told", "remedy"),
    [
        (fields(), "its 126 layers divide into 2 equal stages at most", "possible with uneven_stages: true"),
        (fields(8, HURRIED), "ms at best (tensor 4 x data 2), 7", "concurrency: "),
    ],
)
def test_every_command_says_the_same(
    planner: Planner,  # noqa: F811
    tmp_path: Path,
    asked: dict[str, Any],
    told: str,
    remedy: str,
) -> None:
    instance, path = Instance.parse(asked), tmp_path / "large.yaml"
    path.write_text(yaml.safe_dump(asked))
    reason = why_unlisted(instance.cluster, instance.jobs[0]) or ""
    assert told in reason
    assert remedy in reason
    (left,) = solve(instance, options=SolveOptions(workers=1)).left_out
    assert left.reason == f"impossible alone: {reason}"
    assert any(reason in statement.text for statement in explain(instance, "x", time_limit_s=1).statements)
    assert reason in planner("solve", path).out
    assert reason in planner("score", path).out
    compared = ("compare", path, "--policies", "best_fit", "--results", tmp_path / "runs")
    assert f"impossible alone: x: {reason}" in planner(*compared).out
    with pytest.raises(InputError) as raised:
        Controller(instance.cluster).submit(Request(**asked["jobs"][0]))
    assert reason in str(raised.value)
    with pytest.raises(InputError) as raised:
        left_out(path.read_text(), str(path))
    assert reason in str(raised.value)


def test_the_remedy_gives_the_job_a_plan() -> None:
    result = solve(Instance.parse(fields(workload=LLAMA | {"uneven_stages": True})), options=SolveOptions(workers=1))
    assert result.plan is not None
    assert result.plan.admitted == ("x",)
    assert result.plan["x"].configuration.pipeline > 2


def test_of_several_sizes_the_nearest_is_told() -> None:
    assert "with 512, the nearest of its 3 sizes: each accelerator would hold 196.0 GB" in said([127, 256, 512])
    assert "1,024 accelerators" not in said([256, 512])


def test_limits_are_told_before_remedies() -> None:
    assert said(constraints={"one_server": True}) == "must lie in one server, which has 8 accelerators"


@pytest.mark.slow
def test_the_memory_of_a_pool_is_told_with_its_parts() -> None:
    cluster = {"device": "h100-sxm", "fabric": FABRICS["sipam"]}
    instance = Instance.parse(fields(2) | {"cluster": cluster})
    assert "is missing" in (why_unlisted(instance.cluster, instance.jobs[0]) or "")


def test_what_is_listed_has_no_reason() -> None:
    instance = Instance.parse(fields(workload=LLAMA | {"uneven_stages": True}))
    assert why_unlisted(instance.cluster, instance.jobs[0]) is None
