"""On rails those rows stay that no other one replaces, by what their demands say."""

from collections.abc import Sequence

import pytest

from planner.candidates.expand import list_options
from planner.fabrics.ocs_rail.dominance import RailDominance
from planner.fabrics.problem import JobOptions
from planner.model.cluster import Cluster
from planner.model.instance import Instance
from tests.planner.fabrics.ocs_rail.step2_cases import tiny, tiny_in_turns, tiny_with_circulants

Asked = tuple[int, int, bool, int, float, float]


def _asked(options: JobOptions, cluster: Cluster) -> Sequence[Asked]:
    """Ranks, block, whether it has ports, those that not every rail has; value to lose, energy; by row."""
    working = [
        sum((rail, i) not in cluster.failed_switches for i in range(cluster.fabric.switches))  # type: ignore[attr-defined]
        for rail in range(cluster.fabric.devices_per_server)
    ]
    shapes = [options.shapes[row] for row in range(len(options))]
    return [
        (s.num_ranks, s.block, s.num_ports > 0, max(s.num_ports, min(working)), -float(value), float(energy))
        for s, value, energy in zip(shapes, options.value, options.energy, strict=True)
    ]


def _replaces(one: Asked, other: Asked) -> bool:
    return one[:2] == other[:2] and all(mine <= its for mine, its in zip(one[2:], other[2:], strict=True))


@pytest.mark.parametrize("instance_of", [tiny, tiny_in_turns, tiny_with_circulants])
@pytest.mark.parametrize("seed", range(8))
def test_a_row_is_left_out_where_one_that_stays_replaces_it_and_only_there(instance_of: type, seed: int) -> None:
    instance: Instance = instance_of(seed)
    for options in (list_options(instance, job) for job in instance.jobs):
        asked, kept = _asked(options, instance.cluster), RailDominance().kept_rows(options, instance).tolist()
        for row in range(len(options)):
            others = [other for other in kept if other != row]
            assert (row in kept) != any(_replaces(asked[other], asked[row]) for other in others)


def test_rows_are_left_out_and_others_differ_in_ports() -> None:
    """Instances on which the rule has something to decide."""
    instances = [tiny_in_turns(seed) for seed in range(8)]
    every = [(each, list_options(each, job)) for each in instances for job in each.jobs]
    kept = [RailDominance().kept_rows(options, instance) for instance, options in every]
    assert any(len(rows) < len(options) for rows, (_, options) in zip(kept, every, strict=True))
    ports = [
        {options.shapes[row].num_ports for row in rows.tolist()} for rows, (_, options) in zip(kept, every, strict=True)
    ]
    assert any(len(each - {0}) > 1 for each in ports)
