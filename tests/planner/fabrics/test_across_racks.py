"""Parts of jobs by rack."""

from planner.candidates.expand import expand
from planner.fabrics.across_racks import in_racks, joined
from planner.fabrics.free_state import FreeState
from tests.planner.fabrics.joined_racks.racks import SWITCHES, racks


def test_parts_are_jobs_of_their_own_and_make_the_whole() -> None:
    instance = racks(SWITCHES, 8)
    options, free = expand(instance, prune=False).options[0], FreeState.empty(instance.cluster)
    rows = [row for row, demand in enumerate(options.shapes) if demand.racks == 2 and demand.block == 2]
    row = min(rows, key=lambda row: int(options.shapes[row].boundary.max()))
    first, second = in_racks(options, row, [(2, 1), (3, 1), (4, 1), (5, 1)])
    assert (first.options.job.name, second.options.job.name) == ("j0 in r1", "j0 in r2")
    assert (first.blocks, second.first) == ([(2, 1), (3, 1)], 4)
    parts = [free.assign_in_rack(part.options, 0, part.blocks) for part in (first, second)]
    whole = joined(options, row, [part for part in parts if part is not None], ())
    assert whole.job == "j0"
    assert len(whole.devices) == 8
    demand = options.shapes[row]
    assert [len(held.circuits) for held in whole.circuits] == [len(circuits) for _, circuits in demand.configurations]
    assert not demand.in_rack.is_single
    assert demand.in_rack.is_part


def test_parts_that_are_not_equal_are_none() -> None:
    options = expand(racks(SWITCHES, 8), prune=False).options[0]
    row = next(row for row, demand in enumerate(options.shapes) if demand.racks == 2 and demand.block == 2)
    assert in_racks(options, row, [(2, 2), (3, 1), (4, 1)]) == []
    assert in_racks(options, row, [(0, 1), (2, 1), (3, 1), (4, 1)]) == []
