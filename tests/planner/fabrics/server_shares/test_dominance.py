"""Candidates that no server's appliances can hold are dropped, and no plan is lost by it."""

from planner.candidates.expand import expand
from planner.fabrics.server_shares.free_shares import FreeShares
from planner.model.instance import Instance
from tests.paths import ROOT


def test_some_server_has_room_for_a_part_of_each_row() -> None:
    """Of 32 ports and modules, beside 8 accelerators."""
    instance = Instance.load(ROOT / "instances" / "providers" / "appliance.yaml")
    kept, every = (expand(instance, prune=prune) for prune in (True, False))
    shares = FreeShares.of(instance.cluster)
    for few, all_ in zip(kept.options, every.options, strict=True):
        held = [shares.room(shape, 0, 8) >= shape.part for shape in all_.shapes]
        assert all(shares.room(shape, 0, 8) >= shape.part for shape in few.shapes)
        assert few.value.max() == max(all_.value[row] for row, fits in enumerate(held) if fits)
    assert sum(shape.part * shape.held_io > 32 for options in every.options for shape in options.shapes) > 0
