"""Short lists of jobs that may span racks."""

from planner.candidates.expand import expand
from planner.fabrics.lightpath.shortlist import listed_shortly
from tests.planner.fabrics.joined_racks.racks import FIBERS, racks


def test_ways_in_one_rack_stay_beside_ways_over_several() -> None:
    problem = expand(racks(FIBERS | {"wavelengths_per_fiber": 8}, 4))
    demands = list(listed_shortly(problem).options[0].shapes)
    assert {demand.racks for demand in demands} >= {1, 2}
    assert {demand.links for demand in demands if demand.racks == 2} >= {1, 8}
