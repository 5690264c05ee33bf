"""Each job of a trace runs a workload of the mix."""

from dataclasses import replace

import pytest

from planner.model.errors import InputError
from planner.simulate.run_one import Study
from planner.simulate.study import prepare_study
from planner.simulate.workloads import assign
from tests.planner.simulate.grounds import cluster, mix, trace


def test_jobs_are_the_same_for_all(study: Study) -> None:
    """Policies, loads and clusters of a seed see the same jobs and workloads."""
    drawn = study.demand.draw(1)
    numbers = assign(drawn, study.demand.mix, study.demand.able, 1)
    again = assign(drawn.at_load(0.3, 32), study.demand.mix, study.demand.able, 1)
    assert numbers.tolist() == again.tolist() != assign(drawn, study.demand.mix, study.demand.able, 2).tolist()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"num_gpus": [1, 97]}, "line 2, column 'num_gpus'"),
        ({"workload": "chess"}, "'chess' is no workload"),
        ({"workload": "chat"}, "'chat' does not run on 16"),
    ],
)
def test_jobs_without_a_workload_are_named(change: dict[str, object], told: str) -> None:
    import numpy as np

    sizes = change.get("num_gpus", [1, 16])
    jobs = trace([0, 1], [1, 1], sizes)  # type: ignore[arg-type]
    if "workload" in change:
        jobs = replace(jobs, workload=np.array(["", change["workload"]]))
    with pytest.raises(InputError, match=told):
        prepare_study(jobs, mix(), {"g": cluster("fat_tree")})
