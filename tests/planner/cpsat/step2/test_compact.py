"""Jobs are kept together where no objective is worse, and nothing is searched for where they are."""

import pytest

import planner.cpsat.step2.compact as module
from planner.candidates.expand import expand
from planner.cpsat.search import Search
from planner.model.instance import Instance
from planner.pipeline import solve
from tests.planner.cpsat.search_cases import OPTIONS
from tests.planner.small_racks import rack, serving


def _planned(accelerators: int, *devices: str) -> Search:
    """A plan of one job on two servers of 4, whose replicas lie anywhere; on these devices where they are given."""
    instance = Instance.parse(rack(serving("x", accelerators)))
    plan = solve(instance, options=OPTIONS).plan
    assert plan is not None
    own = plan["x"]
    search = Search(expand(instance), OPTIONS)
    search.assignments = (own.model_copy(update={"devices": devices}) if devices else own,)
    return search


def _servers(search: Search) -> set[str]:
    assert search.assignments is not None
    return {name.partition(".")[0] for name in search.assignments[0].devices}


def test_a_job_whose_replicas_lie_apart_is_brought_together() -> None:
    search = _planned(2, "s0.t0", "s1.t0")
    module.compact(search)
    assert len(_servers(search)) == 1


@pytest.mark.parametrize(("accelerators", "servers"), [(2, 1), (8, 2)])
def test_nothing_is_searched_for_where_no_plan_touches_fewer_servers(
    monkeypatch: pytest.MonkeyPatch, accelerators: int, servers: int
) -> None:
    search, asked = _planned(accelerators), list[int]()
    assert len(_servers(search)) == servers
    monkeypatch.setattr(module, "fix_configurations", lambda *_: asked.append(1))
    module.compact(search)
    assert not asked
