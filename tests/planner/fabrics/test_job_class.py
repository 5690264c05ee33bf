"""What rows of a class of jobs know before their demands are made is what these say."""

import pytest

from planner.controller.job_classes import JobClasses
from planner.fabrics.lightpath.job_class import LightpathJobClass
from planner.model.cluster import Cluster
from planner.model.job import Job
from tests.planner.fabrics.joined_racks.racks import FABRIC, PACKETS, TRAINING
from tests.planner.simulate.grounds import BERT, FABRICS, cluster


@pytest.mark.parametrize(
    ("fabric", "asked"),
    [*((fabric, {}) for fabric in FABRICS), ("fat_tree", {"per_server": 2}), ("lightpath", {"per_server": 2})],
)
def test_rows_of_every_fabric(fabric: str, asked: dict[str, int]) -> None:
    job = {"name": "j", "workload": BERT, "accelerators": 8, "constraints": asked}
    _compare(cluster(fabric), Job.model_validate(job))


def test_rows_over_joined_racks() -> None:
    of = Cluster.model_validate({"device": "h100-sxm", "fabric": FABRIC | {"upper": PACKETS}})
    _compare(of, Job.model_validate({"name": "j", "workload": TRAINING, "accelerators": [4, 16]}))


def _compare(of: Cluster, job: Job) -> None:
    kinds = JobClasses(of, 1e9, set, str)
    kind = kinds[kinds.list(job)]
    shapes = [row.shape for row in kind.rows]
    assert [row.size for row in kind.rows] == [shape.num_ranks for shape in shapes]
    assert [row.racks for row in kind.rows] == [shape.racks for shape in shapes]
    assert [row.part for row in kind.rows] == [shape.part for shape in shapes]
    assert {shape.is_even for shape in shapes} == {kind.is_even} == {job.constraints.per_server is not None}
    assert kind.held == min(shape.num_ranks for shape in shapes)
    if isinstance(kind, LightpathJobClass):
        assert [{shapes[number].key for number in numbers} for numbers in kind.numbers] == [
            {key} for key in dict.fromkeys(shape.key for shape in shapes)
        ]
