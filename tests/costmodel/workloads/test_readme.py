"""The workload of the page: listed and scored by the cost model; entered in the union, solved and checked."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from costmodel.hardware.device import load_device
from costmodel.pricing.candidates import enumerate_candidates
from costmodel.pricing.score import score
from planner.model.cluster import Cluster
from tests.fabrics import FABRICS
from tests.paths import ROOT

PAGE = (ROOT / "costmodel/workloads/README.md").read_text("utf-8")
MODULE, ENTRY = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
UNION = (ROOT / "costmodel/workloads/__init__.py").read_text("utf-8")
FIELDS = {"parameters": 10**8, "batch": 2**16}
CLUSTER = {"device": "h100-sxm", "fabric": FABRICS["fat_tree"] | {"servers": 2, "gpus_per_server": 4}}
SOLVE_AND_CHECK = """
from planner.cli import main
limits = ["--threads", "1", "--time-limit", "10"]
solved = main(["solve", "site.json", *limits, "--plan-out", "plan.json"])
raise SystemExit(solved or main(["check", "site.json", "plan.json"]))
"""


@pytest.fixture
def workload() -> Any:
    found: dict[str, Any] = {"__name__": "replicated"}
    exec(compile(MODULE, "costmodel/workloads/README.md", "exec"), found)
    return found["Replicated"](**FIELDS)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """This project with the module of the page in its place and its line in the union."""
    workloads = tmp_path / "costmodel/workloads"
    workloads.mkdir(parents=True)
    (tmp_path / "planner").symlink_to(ROOT / "planner")
    for folder, entered in ((ROOT / "costmodel", "workloads"), (ROOT / "costmodel/workloads", "__init__.py")):
        for path in folder.iterdir():
            if path.name != entered:
                (tmp_path / path.relative_to(ROOT)).symlink_to(path)
    (workloads / "replicated.py").write_text(MODULE, encoding="utf-8")
    added, line = filter(None, ENTRY.splitlines())
    known = line.replace(" | Replicated", "")
    assert known in UNION
    (workloads / "__init__.py").write_text(UNION.replace(known, f"{added}\n{line}"), encoding="utf-8")
    return tmp_path


def test_the_page_is_short() -> None:
    assert len(PAGE.splitlines()) <= 68


def test_it_is_listed_and_scored(workload: Any) -> None:
    """One row for each size that divides the batch; ranks share the work, and several all-reduce."""
    fabric = Cluster.model_validate(CLUSTER).fabric
    device = load_device("h100-sxm")
    rows = enumerate_candidates(workload, (1, 3, 8), device, fabric)
    assert sorted(set(rows.num_devices.tolist())) == [1, 8]
    scores = score(rows, device, fabric)
    alone = rows.num_devices == 1
    assert np.all(scores.communication_s[:, alone] == 0)
    assert np.all(scores.communication_s.sum(axis=0)[~alone] > 0)
    computed = scores.step_s - scores.communication_s.sum(axis=0)
    assert np.all(computed[~alone] < computed[alone].min())
    assert np.all(scores.work == FIELDS["batch"])


def test_what_does_not_fit_is_not_listed(workload: Any) -> None:
    fabric, device = Cluster.model_validate(CLUSTER).fabric, load_device("h100-sxm")
    rows = enumerate_candidates(workload.model_copy(update={"parameters": 10**10}), (1, 8), device, fabric)
    assert len(rows) == 0


def test_entered_in_the_union_it_is_solved_and_checked(checkout: Path) -> None:
    jobs = [{"name": f"j{size}", "workload": FIELDS | {"kind": "replicated"}, "accelerators": size} for size in (4, 2)]
    given = {"schema_version": 2, "name": "site", "cluster": CLUSTER, "jobs": jobs}
    (checkout / "site.json").write_text(json.dumps(given), encoding="utf-8")
    argv = [sys.executable, "-B", "-c", SOLVE_AND_CHECK]
    done = subprocess.run(argv, capture_output=True, text=True, cwd=checkout, timeout=120)
    assert done.returncode == 0, done.stderr
    placed = json.loads((checkout / "plan.json").read_text("utf-8"))["assignments"]
    assert {each["job"]: len(each["devices"]) for each in placed} == {"j4": 4, "j2": 2}
