"""The summary of a solve: what is proven, and what no plan can hold."""

from pathlib import Path

from tests.planner.cli.commands.solve_cases import overfull, solve
from tests.planner.cli.conftest import Planner, fields, written


def test_exit_code_3_if_required_jobs_cannot_run(planner: Planner, tmp_path: Path) -> None:
    path = overfull(tmp_path)
    outcome = solve(planner, path)
    assert outcome.code == 3
    assert "no plan exists" in outcome.out
    document = solve(planner, path, "--json").document
    assert document["status"] == "INFEASIBLE"
    assert document["plan"] is None


def test_a_required_job_that_no_size_can_run_is_named_with_the_reason(planner: Planner, tmp_path: Path) -> None:
    content = fields()
    content["jobs"][0] |= {
        "required": True,
        "accelerators": 2,
        "workload": {"kind": "transformer_inference", "model": "llama-3.1-405b", "concurrency": 8, "input_tokens": 64,
                     "output_tokens": 64},
    }  # fmt: skip
    outcome = planner("solve", written(tmp_path, content))
    assert outcome.code == 3
    assert "no plan exists: big must run, and is impossible alone: each accelerator would hold" in outcome.out


def test_a_cluster_of_which_nothing_works_is_told(planner: Planner, tmp_path: Path) -> None:
    content = fields()
    content["cluster"]["health"] = {"failed_tiles": ["s0.t0", "s0.t1", "s1.t0", "s1.t1"]}
    outcome = solve(planner, written(tmp_path, content))
    assert "2 jobs not placed: no accelerator of the cluster is healthy\n" in outcome.out
    assert "no way to run it" not in outcome.out
