"""Parts in several racks as one job, and back."""

from planner.fabrics.placed_parts import joined, parted, parted_circuits, put_together
from planner.fabrics.placement import HeldLinks, Owned, Placement
from planner.fabrics.wiring import NO_WIRING, Wire, Wiring
from planner.model.cluster import Cluster
from planner.model.plan import Circuit, HeldCircuits
from planner.placement.job_classes import Site
from tests.planner.fabrics.joined_racks.racks import FABRIC, PACKETS
from tests.planner.simulate.grounds import ground, mix

RUNS = (((0, 0), (0, 1), (1, 0)), ((2, 0), (3, 1), (3, 0)))


def _site() -> Site:
    cluster = Cluster.model_validate({"device": "h100-sxm", "fabric": FABRIC | {"upper": PACKETS}})
    return ground("g", cluster, [6], mix(chat=False))


def _wiring(mask: int, *, through: str) -> Wiring:
    wires = (Wire(0, 2, mask, ((0, 1, 0),)), Wire(2, 1, mask, (through, (1, 0, 1))))
    return Wiring((("data", wires), ("pipeline", (Wire(1, 0, 3, ()),))))


def _parts(of: Site) -> list[Placement]:
    row = of.kinds[0, 6].rows[0]
    owned = Owned((((0, 1, 0), 2),), ((0, 2, 0), (2, 0, 2))), Owned((((2, 3, 0), 4),), ((1, 4, 4),))
    return [Placement(row.in_rack, run, run, own) for run, own in zip(RUNS, owned, strict=True)]


def test_ranks_and_servers_go_on_counting_from_rack_to_rack() -> None:
    of = _site()
    parts, links = _parts(of), HeldLinks((((0,), 1), ((1,), 1)))
    placement = put_together(of.kinds[0, 6].rows[0], parts, links)
    assert placement.devices == RUNS[0] + RUNS[1]
    assert placement.owned == Owned((((0, 1, 0), 2), ((2, 3, 0), 4)), ((0, 2, 0), (2, 0, 2), (4, 4, 4)))
    assert placement.links is links
    wirings = [_wiring(1, through="s9>s0#0"), _wiring(4, through="s9>s0#1")]
    both = joined(wirings, parts)
    assert dict(both.configurations)["data"][2:] == (
        Wire(3, 5, 4, ((2, 3, 0),)), Wire(5, 4, 4, ("s9>s0#1", (3, 2, 1))),
    )  # fmt: skip
    assert parted(both, RUNS) == wirings


def test_circuits_by_name_go_with_their_wires() -> None:
    of = _site()
    both = joined([_wiring(1, through="a"), _wiring(2, through="b")], _parts(of))
    names = [f"s{server}.t{slot}" for run in RUNS for server, slot in run]
    held = [
        HeldCircuits(
            dimension="data",
            circuits=tuple(Circuit(source=names[a], destination=names[b], wavelengths=(0,)) for a, b, _, _ in wires),
        )
        for _, wires in both.configurations
    ]
    first, second = parted_circuits(both, held, RUNS)
    assert [circuit.source for each in first for circuit in each.circuits] == [names[0], names[2], names[1]]
    assert [circuit.source for each in second for circuit in each.circuits] == [names[3], names[5], names[4]]


def test_jobs_without_circuits_have_none_together() -> None:
    of = _site()
    assert joined([NO_WIRING, NO_WIRING], _parts(of)) == NO_WIRING
    assert parted(NO_WIRING, RUNS) == [NO_WIRING, NO_WIRING]
