"""Shapes of jobs that can ever run, as the hold script knows them: what it lets through starts, what it refuses never
could."""

import re
from pathlib import Path

import pytest

from planner.controller.controller import Controller
from planner.controller.settings import Request
from planner.integrations.slurm.config import load_site
from planner.integrations.slurm.scripts import lua_module
from planner.integrations.slurm.shapes import shapes_of
from tests.planner.integrations.slurm.lua import submit
from tests.planner.simulate.grounds import BERT as BERT_OF_ANY_STAGES
from tests.slurm.sites import write_site

BERT = {**BERT_OF_ANY_STAGES, "uneven_stages": False}
"""seven accelerators cannot share its layers"""


@pytest.mark.slow
def test_what_the_script_lets_through_starts_on_an_empty_cluster(tmp_path: Path) -> None:
    """All 32 shapes of 4 nodes with 8 GPUs, asked of slurmctld's script and of a controller."""
    site = load_site(write_site(tmp_path / "site", 4, 8, workloads={"bert": BERT}, default_workload="bert").config)
    (line,) = re.findall(r"^local site = (.*)$", lua_module(site, {0}, shapes_of(site), ()), re.M)
    shapes = [(gpus, nodes) for gpus in range(1, 9) for nodes in range(1, 5)]
    jobs = [{"tres_per_node": f"gpu:{gpus}", "min_nodes": nodes, "max_nodes": nodes} for gpus, nodes in shapes]
    answers = dict(zip(shapes, submit(jobs, site=line), strict=True))
    assert {shape for shape, answer in answers.items() if answer.code == 0} == {
        shape for shape in shapes if starts(site.cluster, *shape)
    }
    refused = [answer.said for answer in answers.values() if answer.code]
    assert 0 < len(refused) < len(shapes)
    assert all("can never run" in said for said in refused)


def starts(cluster: object, gpus: int, nodes: int) -> bool:
    """Whether a job of this shape runs at once where nobody else does."""
    from planner.model.errors import InputError

    with Controller(cluster) as controller:  # type: ignore[arg-type]
        body = {"name": "a", "workload": BERT, "accelerators": gpus * nodes, "constraints": {"per_server": gpus}}
        try:
            controller.submit(Request.model_validate(body))
        except InputError:
            return False
        controller.replan(1.0)
        return "a" in controller.running
