"""Racks planned anew apart from each other: better plans that hold, whatever becomes of the workers."""

import json
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from planner.candidates.expand import expand
from planner.checks import check
from planner.cli import main
from planner.cli.tables.summary import totals_line
from planner.cpsat import core
from planner.cpsat.lns.racks import Racks, asked_of, has_racks, improve_racks
from planner.cpsat.search import Search
from planner.cpsat.solve import plan_of
from planner.fabrics import fabrics
from planner.heuristics.greedy import place_all
from planner.heuristics.strategies import in_order
from planner.model.clock import Clock
from planner.model.instance import Instance
from planner.model.result import SolveOptions, Status
from planner.policies.cpsat import cpsat
from planner.sweep.over_ray import LostCellError
from tests.fabrics import FABRICS
from tests.planner.simulate.grounds import BERT


class Here:
    """A cluster that is this process; it loses the first so many racks of each round."""

    num_cores = 1

    def __init__(self, num_lost: int = 0) -> None:
        self.num_lost, self.asked = num_lost, list[Racks]()

    def sharing(self, do: Any, shared: Any) -> list[Any]:
        return [do, shared]

    def finished(
        self, given: list[Any], cells: Sequence[Racks], cores: int, left_s: Callable[[], float | None]
    ) -> Iterator[tuple[Racks, dict[str, Any]]]:
        for number, cell in enumerate(cells):
            if number < self.num_lost:
                raise LostCellError("--ray", "here", "a cell failed 4 times")
            self.asked.append(cell)
            yield cell, given[0](given[1], cell, bool)


def _instance(fabric: str, weights: Sequence[int], **cluster: Any) -> Instance:
    jobs = [{"name": f"j{i}", "workload": BERT, "accelerators": 8, "weight": w} for i, w in enumerate(weights)]
    parts = {"device": "h100-sxm", "fabric": FABRICS[fabric] | {"racks": 3}, **cluster}
    return Instance.parse({"schema_version": 2, "name": "n", "cluster": parts, "jobs": jobs, "objectives": ["value"]})


def _poor(instance: Instance) -> Search:
    """Jobs of little weight come first."""
    problem = expand(instance)
    assert has_racks(problem)
    start = place_all(problem, in_order, job_order=range(len(problem.options)))
    search = Search(problem, SolveOptions(time_limit_s=600.0, workers=1, deterministic_limit=1.0))
    search.assignments = tuple(start or ())
    return search


@pytest.mark.parametrize("fabric", ["lightpath", "fat_tree", "ocs_rail", "torus", "sipac", "divided_ports"])
def test_a_poor_plan_becomes_better_and_stays_right(fabric: str) -> None:
    letter = fabrics()[fabric].schema.device_letter
    lost = {"health": {"failed_tiles": [f"r1.s0.{letter}0"]}}
    instance = _instance(fabric, [1] * 6 + [5] * 6, **lost)
    search = _poor(instance)
    before, places = search.value("value") or 0.0, {a.devices[0].partition(".")[0] for a in search.assignments or ()}
    assert len(places) > 1
    cluster = Here()
    improve_racks(search, core._planned, Clock.of(60), cluster)
    assert (search.value("value") or 0.0) > before
    assert not check(instance, plan_of(search.full, search.assignments or ()))
    assert {len(each.numbers) for each in cluster.asked} == {1, 2}
    for each in cluster.asked:
        assert {a.devices[0].partition(".")[0] for a in each.start} <= {f"r{number}" for number in each.numbers}


def test_nothing_is_asked_twice_in_a_round() -> None:
    search = _poor(_instance("lightpath", [1] * 12))
    for together in (1, 2):
        asked = asked_of(search, random.Random(0), together, 1.0)
        assert sorted(rack for each in asked for rack in each.numbers) == [0, 1, 2]
        jobs = [job for each in asked for job in (*(a.job for a in each.start), *each.waiting)]
        assert len(jobs) == len(set(jobs))


def test_racks_of_lost_workers_stay_as_they_are() -> None:
    search = _poor(_instance("lightpath", [1] * 6 + [5] * 6, health={"failed_tiles": ["r1.s0.t0"]}))
    before = search.assignments
    improve_racks(search, core._planned, Clock.of(60), Here(num_lost=1))
    assert search.assignments == before
    improve_racks(search, core._planned, Clock.of(60), Here())
    assert sum(a.value for a in search.assignments or ()) > sum(a.value for a in before or ())


def test_ray_starts_before_the_time_limit_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    real, late_s = time.perf_counter, [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: real() + late_s[0])

    @contextmanager
    def starting(address: str) -> Iterator[Here]:
        late_s[0] += 1000.0
        yield Here()
        late_s[0] += 500.0

    monkeypatch.setattr(sys.modules[cpsat.__module__], "ray_cluster", starting)
    problem = expand(_instance("lightpath", [1] * 6 + [5] * 6, health={"failed_tiles": ["r1.s0.t0"]}))
    result = cpsat(problem, SolveOptions(time_limit_s=200.0, workers=1, ray="here"))
    assert result.plan is not None
    assert result.status is Status.OPTIMAL
    assert 1500.0 <= result.statistics["ray_s"] < 1700.0
    assert "1,500 s, 1,500 s of them until Ray" in totals_line(
        problem.instance, result.plan, replace(result, wall_time_s=1500.0)
    )


def test_one_rack_has_nothing_to_spread(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fields = {
        "schema_version": 2,
        "name": "one",
        "cluster": {"device": "h100-sxm", "fabric": FABRICS["lightpath"]},
        "jobs": [
            {"name": "j", "workload": BERT, "accelerators": 8},
            {"name": "k", "workload": BERT, "accelerators": 4},
        ],
    }
    (tmp_path / "one.json").write_text(json.dumps(fields), encoding="utf-8")
    assert main(["solve", str(tmp_path / "one.json"), "--ray", "local"]) == 2
    assert "the racks of this cluster are not planned apart" in capsys.readouterr().err
    assert main(["solve", str(tmp_path / "one.json"), "--ray", "local", "--policy", "first_fit"]) == 2
    assert "is of no use to policy first_fit" in capsys.readouterr().err
