"""What a page is told of the layer above racks."""

from planner.report.rack_links import rack_circuits, rack_links
from tests.planner.fabrics.joined_racks.racks import FIBERS, PACKETS, SWITCHES, best, racks
from tests.planner.fabrics.sipam.joined_pools import joined_pools, plan_of

INDEX = {"j0": 0}


def test_arcs_have_the_links_in_use() -> None:
    told = {
        upper["kind"]: rack_links(racks(upper, 8), best(racks(upper, 8)), INDEX)
        for upper in (PACKETS, SWITCHES, FIBERS)
    }
    arc = {"from": 0, "to": 1, "used": 2, "total": 2, "jobs": [0]}
    assert told["switches"] is not None
    assert told["fibers"] is not None
    assert told["packets"] is not None
    assert told["switches"]["arcs"][0] == arc
    assert told["fibers"]["arcs"] == [arc, {**arc, "from": 1, "to": 0}]
    assert told["packets"]["arcs"] == [{**arc, "to": None}, {**arc, "from": 1, "to": None}]
    assert (told["packets"]["racks"], told["packets"]["link"]) == (["r0", "r1", "r2"], "uplink")
    assert rack_links(racks(None, 4), None, INDEX) is None


def test_circuits_between_racks_are_told_beside_those_of_accelerators() -> None:
    (held,) = rack_circuits(best(racks(SWITCHES, 8))["j0"])
    assert (held["dimension"], len(held["circuits"])) == ("between racks", 4)
    assert held["circuits"][0]["cells"] == ["r0.p0", "r1.p0", "–", "u0"]
    assert rack_circuits(best(racks(PACKETS, 8))["j0"]) == []


def test_links_between_racks_of_pools_are_drawn() -> None:
    plan = plan_of(8)
    links = rack_links(joined_pools(8), plan, {"j0": 0})
    assert links is not None
    number = plan["j0"].configuration.data_collective.links
    told = [(arc["from"], arc["to"], arc["used"], arc["total"], arc["jobs"]) for arc in links["arcs"]]
    assert told == [(0, 1, number, 2, [0]), (1, 0, number, 2, [0])]
