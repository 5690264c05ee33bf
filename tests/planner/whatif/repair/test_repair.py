"""Repairs that are known beforehand, names of failures, and the quick repair of a full rack."""

import pytest

from planner.checks import check
from planner.cli.commands.repair import words_of
from planner.cpsat.repair import RepairLimits
from planner.model.errors import InputError
from planner.model.instance import Instance
from planner.model.plan import Plan
from planner.model.result import SolveOptions
from planner.pipeline import solve
from planner.whatif.failures import damaged, parse_failure, parse_failures
from planner.whatif.repair import repair
from tests.paths import ROOT
from tests.planner.explain.test_explain import rack, serving, single, training

RACK256 = ROOT / "instances" / "lumorph" / "rack256.yaml"


@pytest.fixture(scope="module")
def full_rack() -> tuple[Instance, Plan]:
    """Every tile but one is in use."""
    instance = Instance.load(RACK256)
    spare = damaged(instance, parse_failures(instance.cluster, ["s1.t31"]))
    plan = solve(spare, policy="first_fit", options=SolveOptions()).plan
    assert plan is not None
    used = {name for a in plan.assignments for name in a.devices}
    free = [n for n in _tiles(instance) if n not in used and n != "s1.t31"]
    fill = damaged(instance, parse_failures(instance.cluster, free))
    assert check(fill, plan.model_copy(update={"objectives": {}})) == []
    return fill, plan.model_copy(update={"objectives": {"value": plan.objectives["value"]}})


def _tiles(instance: Instance) -> list[str]:
    fabric = instance.cluster.fabric
    return [fabric.device_name(s, i) for s in range(fabric.num_servers) for i in range(fabric.devices_per_server)]


@pytest.mark.slow
@pytest.mark.parametrize("server", range(8))
def test_a_spare_replaces_one_tile_of_a_full_rack_at_once(full_rack: tuple[Instance, Plan], server: int) -> None:
    instance, plan = full_rack
    held = next(n for a in plan.assignments for n in a.devices if n.startswith(f"s{server}.") and _is_loose(a))
    found = repair(instance, plan, [held])
    assert [(m.source, m.destination) for m in found.moves] == [(held, "s1.t31")]
    assert found.is_fewest
    assert found.plan is not None
    assert check(found.instance, found.plan) == []
    assert found.transition is not None
    assert found.transition.paused == ()


def _is_loose(assignment: object) -> bool:
    """Whether a rank may lie on another server than the others."""
    configuration = getattr(assignment, "configuration")  # noqa: B009
    return int(configuration.block) == 1


def plan_of(data: dict[str, object]) -> tuple[Instance, Plan]:
    instance = Instance.parse(data)
    plan = solve(instance, policy="first_fit").plan
    assert plan is not None
    return instance, plan


def test_a_failed_fiber_moves_light_alone() -> None:
    instance, plan = plan_of(rack(training("p", 6, constraints={"collective": "ring"}), fibers=4))
    used = next(f for h in plan["p"].circuits for c in h.circuits for f in c.fibers)
    found = repair(instance, plan, [used])
    assert found.outcome == "repaired"
    assert found.moves == ()
    assert found.changed_circuits == found.least_changes > 0
    assert found.is_fewest


def test_without_a_spare_the_least_valuable_gives_way() -> None:
    instance, plan = plan_of(rack(training("dear", 2, weight=3), training("cheap", 2), servers=1))
    found = repair(instance, plan, [plan["dear"].devices[0]])
    assert found.outcome == "reduced"
    assert found.is_impossible
    assert found.dropped == ("cheap",)
    assert found.lost_value == pytest.approx(plan["cheap"].value)


def test_a_job_runs_smaller_rather_than_not_at_all() -> None:
    instance, plan = plan_of(rack(training("p", {"min": 1, "max": 4}, required=True), servers=1))
    found = repair(instance, plan, [plan["p"].devices[1]])
    assert found.outcome == "reduced"
    assert found.resized == ("p",)
    assert found.plan is not None
    assert check(found.instance, found.plan) == []


def test_what_must_run_and_cannot_leaves_no_plan() -> None:
    instance, plan = plan_of(rack(training("p", 4, required=True), servers=1))
    found = repair(instance, plan, ["s0.t0"])
    assert (found.outcome, found.plan, found.is_impossible) == ("none", None, True)


def test_a_single_device_job_outlives_its_port_but_not_its_tile() -> None:
    data = rack(servers=1, residents=[single("r", "s0.t0")])
    instance, plan = plan_of(data)
    assert repair(instance, plan, ["s0.t0:port"]).outcome == "intact"
    moved = repair(instance, plan, ["s0.t0"])
    assert [m.destination for m in moved.moves] == ["s0.t1"]
    assert moved.plan is not None
    assert moved.plan["r"].is_moved


@pytest.mark.parametrize(
    ("name", "kind", "part"),
    [
        ("s0.t1", "tile", "s0.t1"), ("s0.t1:port", "port", "s0.t1"), ("s0.t1:tx", "port", "s0.t1"),
        ("s0.t1:rx", "port", "s0.t1"), ("s0.t1:w3", "laser", "s0.t1:w3"), ("s0.t1:rx:w3", "receiver", "s0.t1:rx:w3"),
        ("s0>s1#1", "fiber", "s0>s1#1"), ("s0>s1#1:w0", "fiber", "s0>s1#1"),
    ],
)  # fmt: skip
def test_names_of_failures(name: str, kind: str, part: str) -> None:
    failure = parse_failure(Instance.parse(rack(training("p", 2), fibers=2)).cluster, name)
    assert (failure.kind, failure.part) == (kind, part)
    assert part in failure.words


@pytest.mark.parametrize(
    "name",
    [
        "", "s0", "t1", "s9.t0", "s0.t9", "s0.t1:w4", "s0.t1:rx:w4", "s0.t1:tx:w0", "s0.t1:laser", "s0>s1", "s0>s1#2",
        "s0>s0#0", "s0>s1#0:tx", "s0>s1#0:rx:w0",
    ],
)  # fmt: skip
def test_unknown_parts_are_refused(name: str) -> None:
    cluster = Instance.parse(rack(training("p", 2), fibers=2)).cluster
    with pytest.raises(InputError, match="failed"):
        parse_failure(cluster, name)


def test_a_resident_that_may_not_move_is_named() -> None:
    instance, plan = plan_of(rack(training("p", 2), residents=[single("r", "s0.t0", movable=False)]))
    with pytest.raises(InputError, match="may not move"):
        repair(instance, plan, ["s0.t0"])


@pytest.mark.parametrize(("end", "form"), [("source", "{}:w{}"), ("destination", "{}:rx:w{}")])
def test_a_failed_laser_or_receiver_changes_one_circuit_and_moves_nobody(end: str, form: str) -> None:
    """Each of four tiles sends on three of its four wavelengths; the circuit takes the fourth."""
    instance, plan = plan_of(rack(training("p", 4, constraints={"collective": "exchange"}), servers=1))
    circuit = plan["p"].circuits[0].circuits[0]
    done = repair(instance, plan, [form.format(getattr(circuit, end), circuit.wavelengths[0])])
    assert (done.outcome, done.moves, done.changed_circuits, done.is_fewest) == ("repaired", (), 1, True)
    assert done.plan is not None
    assert check(done.instance, done.plan) == []


def test_a_tile_without_enough_lasers_is_left() -> None:
    """Two of four lasers are not enough for three peers; a spare tile is."""
    data = rack(training("p", 4, constraints={"collective": "exchange"}), servers=1, tiles=5)
    instance, plan = plan_of(data)
    tile = plan["p"].devices[0]
    done = repair(instance, plan, [f"{tile}:w0", f"{tile}:w1"])
    assert [(m.source, m.destination) for m in done.moves] == [(tile, "s0.t4")]
    assert done.is_fewest


def test_what_keeps_every_job_is_no_loss_however_it_was_found() -> None:
    """A job makes room for a pair; without a search that is found by asking one job to give way."""
    health = {"failed_tiles": ["s0.t3", "s1.t2", "s1.t3"]}
    instance, plan = plan_of(rack(training("pair", 2), serving("near", 1), serving("far", 1), health=health))
    assert [plan[name].devices[0] for name in plan.admitted] == ["s0.t0", "s0.t2", "s1.t0"]
    found = repair(instance, plan, ["s0.t0"], limits=RepairLimits(deterministic=1e-9, workers=1))
    assert found.plan is not None
    assert [(m.job, m.destination) for m in found.moves] == [("pair", "s0.t2"), ("near", "s1.t1")]
    assert (found.dropped, found.resized, found.lost_value) == ((), (), 0.0)
    assert (found.outcome, found.is_impossible) == ("repaired", False)
    assert "every job runs as before" in words_of(found)
