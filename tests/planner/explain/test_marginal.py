"""What more would add: known gains, gains against plain solves of edited files, and the derived instances."""

from math import sqrt

import pytest

from planner.candidates.expand import expand
from planner.explain.marginal import Marginal, marginal
from planner.fabrics.lightpath.more_fibers import with_fibers, with_joined_server
from planner.model.edit import edited, only, pinned, repaired, with_fabric
from planner.model.errors import InputError
from planner.model.instance import Instance
from planner.model.result import SolveOptions
from planner.pipeline import solve
from planner.whatif.comparable import expand_as, references
from tests.planner.explain.test_explain import FAT_TREE, Fields, rack, serving, single, training

OPTIONS = SolveOptions(workers=1, deterministic_limit=5.0)


def gains(data: Fields) -> dict[str, float]:
    """Proven gain by change."""
    found = marginal(Instance.parse(data), options=OPTIONS)
    assert all(m.status == "OPTIMAL" and m.gain == m.gain_at_most for m in found)
    assert [m.gain for m in found] == sorted((m.gain or 0.0 for m in found), reverse=True)
    return {m.change: m.gain for m in found if m.gain is not None}


def value(data: Fields) -> float:
    result = solve(Instance.parse(data | {"objectives": ["value"]}), options=OPTIONS)
    assert result.objective is not None
    return result.objective


def fastest(instance: Instance, name: str) -> float:
    return references(instance)[name].speed


def test_a_server_a_tile_and_a_repair_that_each_admit_one_more_job() -> None:
    jobs = [training("a", 2), training("b", 2, weight=3)]
    data = rack(*jobs, servers=1, fibers=1, health={"failed_tiles": ["s0.t1"]})
    found = gains(data)
    assert found["repair of s0.t1"] == pytest.approx(1.0)
    assert found["one more server"] == pytest.approx(1.0)
    assert found["one more tile per server"] == pytest.approx(1.0)
    assert found["max_peers 3 -> 4"] == 0.0


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


def test_faster_switch_and_more_peers_count_against_the_old_fastest() -> None:
    job = training("x", 8, constraints={"collective": "radix"})
    data = rack(job, servers=1, tiles=8, max_peers=1, reconfiguration="2 ms")
    instance = Instance.parse(data)
    now = fastest(instance, "x")
    found = gains(data)
    changes: dict[str, Fields] = {
        "reconfiguration 2000 us -> 0 us": {"reconfiguration_s": 0.0},
        "max_peers 1 -> 2": {"max_peers": 2},
    }
    for change, fields in changes.items():
        then = fastest(with_fabric(instance, **fields), "x")
        assert then > now
        assert found[change] == pytest.approx(sqrt(then / now) - 1, abs=1e-6)


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


def test_step_utility_keeps_its_threshold_on_a_faster_fabric() -> None:
    """Every row that reaches the old threshold is worth the weight, far behind the new fastest one or not."""
    job = training("x", 8, utility="step", step_at=0.99)
    data = rack(job, servers=1, tiles=8, max_peers=2, reconfiguration="9 ms")
    instance = Instance.parse(data)
    measured = references(instance)
    problem = expand_as(with_fabric(instance, reconfiguration_s=0.0), measured)
    options = problem.options[0]
    assert set(options.value) == {0.0, 1.0}
    assert ((options.scores.speed >= 0.99 * measured["x"].speed) == (options.value == 1.0)).all()


def test_derived_instances_leave_the_original_alone_and_forget_what_was_cached() -> None:
    instance = Instance.parse(rack(serving("x", 2), fibers=1, health={"failed_tiles": ["s0.t1"]}))
    assert instance.cluster.num_healthy == 7
    assert len(instance.cluster.failed_devices) == 1
    assert repaired(instance).cluster.num_healthy == 8
    assert repaired(instance, "s0.t1").cluster.num_healthy == 8
    assert with_joined_server(instance).cluster.fabric.num_fibers(0, 2) == 1
    more = with_fibers(instance, {(0, 1): 2}).cluster.fabric
    assert (more.num_fibers(0, 1), more.num_fibers(1, 0)) == (3, 1)
    assert with_joined_server(with_fibers(instance, {(0, 1): 2})).cluster.fabric.num_fibers(2, 0) == 1
    assert only(instance, "x").jobs[0].required
    assert instance == Instance.parse(rack(serving("x", 2), fibers=1, health={"failed_tiles": ["s0.t1"]}))
    with pytest.raises(ValueError, match="greater than"):
        edited(instance.jobs[0], weight=-1.0)


def test_pinned_jobs_keep_one_configuration_and_their_value() -> None:
    data = rack(serving("a", [1, 2]), serving("x", 2), servers=1)
    instance = Instance.parse(data)
    plan = solve(instance, options=OPTIONS).plan
    assert plan is not None
    derived = pinned(instance, plan, "x")
    problem = expand_as(derived, references(instance))
    assert [len(options) for options in problem.options] == [1, len(expand(instance).options[1])]
    assert problem.options[0].value[0] == pytest.approx(plan["a"].value)
    with pytest.raises(InputError, match="does not fit this instance"):
        pinned(Instance.parse(rack(serving("a", 1), serving("x", 1), tiles=1)), plan, "x")
