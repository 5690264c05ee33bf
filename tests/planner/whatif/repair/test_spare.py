"""Lost parts are replaced by free ones, nothing else moves."""

import pytest

from planner.checks import check
from planner.cpsat.repair import RepairLimits
from planner.model.instance import Instance
from planner.model.plan import Plan
from planner.model.result import SolveOptions
from planner.pipeline import solve
from planner.whatif.failures import damaged, parse_failures
from planner.whatif.repair import repair
from tests.paths import ROOT
from tests.planner.small_racks import rack, single
from tests.planner.whatif.repair.pools_cases import Pool
from tests.planner.whatif.repair.racks import plan_of


@pytest.mark.slow
def test_a_unit_is_replaced_where_there_is_a_free_one(pool: Pool) -> None:
    instance, plan = pool
    job = min((a for a in plan.assignments if a.memory), key=lambda a: len(a.memory))
    tray = job.memory[0].units[0].rpartition(".")[0]
    used = {unit for a in plan.assignments for plug in a.memory for unit in plug.units}
    free = {f"{tray}.u{i}" for i in range(instance.cluster.fabric.units_per_tray)} - used  # type: ignore[union-attr]
    found = repair(instance, plan, [job.memory[0].units[0]], limits=RepairLimits(time_limit_s=600.0))
    assert found.plan is not None
    if free:
        assert found.outcome == "repaired"
        assert found.moves == ()
        assert found.changed_circuits > 0
    lost = {failure.name for failure in found.failures}
    assert not lost & {unit for a in found.plan.assignments for plug in a.memory for unit in plug.units}
    untouched = [a for a in plan.assignments if not lost & {u for plug in a.memory for u in plug.units}]
    if found.outcome == "repaired":
        assert all(found.plan[a.job] == a for a in untouched)


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


def test_a_single_device_job_outlives_its_port_but_not_its_tile() -> None:
    data = rack(servers=1, residents=[single("r", "s0.t0")])
    instance, plan = plan_of(data)
    assert repair(instance, plan, ["s0.t0:port"]).outcome == "intact"
    moved = repair(instance, plan, ["s0.t0"])
    assert [m.destination for m in moved.moves] == ["s0.t1"]
    assert moved.plan is not None
    assert moved.plan["r"].is_moved
