"""What more would add: known gains, gains against plain solves of edited files, and the derived instances."""

from dataclasses import replace
from math import sqrt

import pytest

from planner.explain.marginal import Marginal, marginal
from planner.model.edit import with_fabric
from planner.model.instance import Instance
from planner.model.result import SolveOptions
from planner.pipeline import solve
from tests.planner.explain.marginal_cases import OPTIONS, fastest, gains
from tests.planner.explain.remedies_cases import FAT_TREE
from tests.planner.small_racks import Fields, rack, single, training


def value(data: Fields) -> float:
    result = solve(Instance.parse(data | {"objectives": ["value"]}), options=OPTIONS)
    assert result.objective is not None
    return result.objective


@pytest.mark.slow
def test_fibers_of_one_pair_and_of_all() -> None:
    """Two trainings that span: one wavelength between the servers carries one of them."""
    residents = [single("r0", "s0.t0", movable=False), single("r1", "s1.t0", movable=False)]
    jobs = [training("p", 3), training("x", 3)]
    data = rack(*jobs, tiles=4, residents=residents, servers=2, fibers=0)
    jobs_spanning = data | {"jobs": [training("p", 6)]}
    found = gains(jobs_spanning)
    assert found["one more fiber between all servers"] == pytest.approx(1.0)
    assert found["one more server with no fibers to and from each other"] == 0.0
    more = rack(training("p", 6), tiles=4, residents=residents, servers=2, fibers=1)
    assert value(more) - value(jobs_spanning) == pytest.approx(1.0)


@pytest.mark.slow
def test_full_pairs_are_asked_about_one_by_one() -> None:
    data = rack(training("p", 8, weight=2), fibers=1, wavelengths_per_fiber=1)
    found = gains(data)
    asked = [change for change in found if "->" in change and change.startswith("one more fiber")]
    assert sorted(asked) == ["one more fiber s0 -> s1", "one more fiber s1 -> s0"]
    both = gains(data)["one more fiber between all servers"]
    bundles = [{"from": "s0", "to": "s1", "count": 2}, {"from": "s1", "to": "s0", "count": 1}]
    cluster = data["cluster"] | {"fabric": data["cluster"]["fabric"] | {"fibers": bundles}}
    assert found["one more fiber s0 -> s1"] == pytest.approx(value(data | {"cluster": cluster}) - value(data))
    assert both == pytest.approx(
        value(rack(training("p", 8, weight=2), fibers=2, wavelengths_per_fiber=1)) - value(data)
    )
    assert both >= found["one more fiber s0 -> s1"]


def test_fat_tree() -> None:
    data = rack(training("x", 8), training("y", 8))
    data["cluster"]["fabric"] = FAT_TREE
    instance = Instance.parse(data)
    faster = with_fabric(instance, network_bandwidth_bytes_per_s=100e9)
    found = gains(data)
    assert found["twice the network bandwidth"] == pytest.approx(
        sqrt(fastest(faster, "x") / fastest(instance, "x")) - 1, abs=1e-6
    )
    assert found["one more server"] == 0.0


@pytest.mark.slow
def test_without_a_plan_no_gain_is_claimed() -> None:
    data = rack(training("x", 8, required=True))
    found = {m.change: m for m in marginal(Instance.parse(data), options=OPTIONS)}
    assert found["one more fiber between all servers"] == Marginal(
        "one more fiber between all servers", None, None, "OPTIMAL"
    )
    assert found["max_peers 3 -> 4"].status == "INFEASIBLE"


def test_without_time_the_interval_still_holds_the_gain() -> None:
    data = rack(training("a", 2), training("b", 2, weight=3), tiles=2, servers=1)
    for found in marginal(Instance.parse(data), time_limit_s=0.0, options=SolveOptions(workers=1)):
        if found.change == "one more server" and found.gain is not None and found.gain_at_most is not None:
            assert found.gain <= 1.0 + 1e-9 <= found.gain_at_most + 2e-9


def test_what_is_done_when_it_is_stopped_stays() -> None:
    data = rack(training("x", 8), training("y", 8))
    data["cluster"]["fabric"] = FAT_TREE
    told = list[tuple[int, int]]()
    options = replace(OPTIONS, should_stop=lambda: bool(told) and told[-1][0] >= 1)
    found = marginal(Instance.parse(data), options=options, on_change=lambda *counts: told.append(counts))
    whole = marginal(Instance.parse(data), options=OPTIONS)
    assert len(found) == 1
    assert found[0] in whole
    assert told[0] == (0, len(whole))
    assert told[-1] == (1, len(whole))
