"""Instances of pages: what is refused, and with which words."""

from collections.abc import Callable
from typing import Any

import pytest

from planner.model.errors import InputError
from planner.model.page_instance import PageInstance
from planner.pages.problem import PageProblem
from tests.planner.page_cases import FOLDER, fields

Change = Callable[[dict[str, Any]], object]


def _job(data: dict[str, Any]) -> dict[str, Any]:
    job: dict[str, Any] = data["jobs"][0]
    return job


@pytest.mark.parametrize(
    ("change", "field", "message"),
    [
        (lambda d: d.update(study="mcdla"), "study", "mc-dla"),
        (lambda d: d.update(page=0), "page", "must be above 0"),
        (lambda d: d.update(page="1 B"), "page", "more than 1048576 pages"),
        (lambda d: d["jobs"].append(_job(d)), "jobs", "used 2 times"),
        (lambda d: _job(d)["ways"].append({"memory": "node 7"}), "jobs[a].ways", "no memory 'node 7'"),
        (lambda d: _job(d)["ways"].append({"memory": "node 0"}), "jobs[a].ways", "2 lead to 'node 0'"),
        (lambda d: _job(d)["ways"][0].update(failed_links=4), "jobs[a].ways", "4 of 3 links"),
        (lambda d: _job(d)["step"].update(network="alexnet"), "jobs[a].network", "it has AlexNet"),
        (lambda d: _job(d)["step"].update(system="oracle"), "jobs[a].system", "no store"),
        (lambda d: _job(d)["step"].update(kind="convolutional"), "jobs[0].step", "kind"),
        (lambda d: _job(d).update(locl="1 GB"), "jobs[a].locl", "no known field"),
    ],
)
def test_what_is_wrong_is_named(change: Change, field: str, message: str) -> None:
    data = fields()
    change(data)
    with pytest.raises(InputError) as error:
        PageInstance.parse(data, "file.yaml")
    assert error.value.where == "file.yaml"
    assert message in str(error.value)
    assert field.replace("jobs[0]", "jobs[a]") in str(error.value)


def test_bandwidths_are_those_of_links_that_work() -> None:
    ways = [
        {"memory": "node 0", "links": 3, "failed_links": 1},
        {"memory": "node 1", "links": 2, "failed_links": 2},
        {"memory": "host", "bandwidth": "8 GB/s"},
    ]
    instance = PageInstance.parse(fields(ways=ways))
    links = list(instance.links(instance.jobs[0]))
    assert [(link.name, link.bandwidth_bytes_per_s) for link in links] == [("node 0", 50e9), ("host", 8e9)]
    data = fields(ways=ways)
    data["memories"]["host"] = {"failed": True}
    failed = PageInstance.parse(data)
    assert [link.name for link in failed.links(failed.jobs[0])] == ["node 0"]


def test_pages_are_whole_and_capacities_too() -> None:
    data = fields(local="9 MiB")
    data["memories"]["node 0"] = {"capacity": "7.9 MiB"}
    problem = PageProblem.of(PageInstance.parse(data))
    (task,) = problem.tasks
    assert (task.count * problem.page_bytes >= task.program.size_bytes).all()
    assert ((task.count - 1) * problem.page_bytes < task.program.size_bytes).all()
    assert (task.local_pages, problem.capacity_pages) == (2, (1, None, None))


def test_a_transformer_moves_what_it_is_told_to() -> None:
    kinds = ["activation", "weight", "gradient", "optimizer"]
    step = {"kind": "transformer", "model": "bert-base", "micro_batch": 1, "sequence": 128, "tensors": kinds}
    problem = PageProblem.of(PageInstance.parse(fields(step=step)))
    (task,) = problem.tasks
    tensors = {task.program.graph.tensors[each.tensor].kind for each in task.program.absences}
    assert tensors == set(kinds)
    assert (task.home >= 0).sum() == sum(
        task.program.graph.tensors[each.tensor].kind in ("weight", "optimizer") for each in task.program.absences
    )


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.yaml")), ids=lambda path: path.stem)
def test_shipped_instances_load(path: Any) -> None:
    assert PageProblem.of(PageInstance.load(path)).tasks
