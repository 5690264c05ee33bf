"""What jobs over several racks claim."""

from planner.fabrics import plugin_of
from planner.fabrics.claims import lost
from planner.fabrics.rack_claims import links_held, uplinks_there
from tests.planner.fabrics.joined_racks.racks import FIBERS, PACKETS, SWITCHES, best, racks


def test_links_are_owned_where_they_have_names_and_counted_where_they_have_none() -> None:
    for upper, owned, relied, counted in (
        (PACKETS, {}, [], {"uplinks of r0": 2, "uplinks of r1": 2}),
        (SWITCHES, {"r0.p0 out": 1, "r1.p1 in": 1}, ["u0"], {}),
        (FIBERS, {"r0>r1#0": 3, "r1>r0#0": 3}, [], {}),
    ):
        instance = racks(upper, 8)
        fabric, job = instance.cluster.fabric, best(instance)["j0"]
        claims = plugin_of(fabric).claims.of(fabric, job)
        assert owned.items() <= claims.owned.items()
        assert {*relied} <= {*claims.relies_on}
        assert claims.counted == counted
        failed = frozenset({"u0", "r0>r1#0"})
        assert lost(claims, failed) == [
            part for part in ("u0", "r0>r1#0") if part in (*claims.relies_on, *claims.owned)
        ]
        assert plugin_of(fabric).claims.named("r0.p0 out", 1) == "port r0.p0 out"


def test_a_job_in_one_rack_holds_none() -> None:
    instance = racks(PACKETS, 4)
    job = best(instance)["j0"]
    assert links_held(instance.cluster.fabric, job.configuration, job.devices) == {}
    assert uplinks_there(instance.cluster) == {"uplinks of r0": 2, "uplinks of r1": 2, "uplinks of r2": 2}
    assert uplinks_there(racks(SWITCHES, 4).cluster) == {}
