"""The accelerators of a job, cut into pods."""

from types import SimpleNamespace
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.integrations.kubernetes.pod_assignment import (
    ASSIGNMENT,
    PodAssignment,
    SplitError,
    pod_assignments_of,
    written,
)
from planner.integrations.kubernetes.pods import Pod
from planner.placement.placement import Place
from tests.planner.integrations.kubernetes.extender_cases import Make, bound, gang, occupy
from tests.planner.integrations.kubernetes.pod_groups_cases import SHARED, SITE


def place(devices: list[tuple[int, int]]) -> Place:
    row = SimpleNamespace(options=SimpleNamespace(fabric=SITE.cluster.fabric))
    return cast(Place, SimpleNamespace(row=row, devices=tuple(devices)))


@pytest.mark.slow
@given(st.data(), st.integers(1, 4))
def test_seats_are_a_partition_or_there_are_none(data: st.DataObject, each: int) -> None:
    slots = [(server, slot) for server in range(4) for slot in range(8)]
    devices = data.draw(st.lists(st.sampled_from(slots), min_size=1, unique=True))
    counts = {server: sum(one == server for one, _ in devices) for server, _ in devices}
    if any(count % each for count in counts.values()):
        with pytest.raises(SplitError):
            pod_assignments_of(place(devices), each, SITE)
        return
    assignments = pod_assignments_of(place(devices), each, SITE)
    assert sorted(rank for assignment in assignments for rank in assignment.ranks) == list(range(len(devices)))
    for one in assignments:
        assert len(one.indices) == each
        assert [(int(one.node[1:]), index) for index in one.indices] == [devices[rank] for rank in one.ranks]
    assert [one.ranks[0] for one in assignments] == sorted(one.ranks[0] for one in assignments)


@given(st.permutations([(server, slot) for server in (1, 3) for slot in range(8)]), st.sampled_from([1, 2, 4]))
def test_pods_of_whole_servers_fill_each_of_their_nodes(devices: list[tuple[int, int]], each: int) -> None:
    assignments = pod_assignments_of(place(devices), each, SHARED)
    assert sorted(rank for one in assignments for rank in one.ranks) == list(range(16))
    for one in assignments:
        number = int(one.node[1:])
        assert [(number // 2, number % 2 * 4 + index) for index in one.indices] == [devices[rank] for rank in one.ranks]
        assert list(one.ranks) == sorted(one.ranks)
    assert [one.ranks[0] for one in assignments] == sorted(one.ranks[0] for one in assignments)


def test_a_node_that_gives_a_part_of_a_pod_is_named() -> None:
    with pytest.raises(SplitError, match="n0 would give 3 accelerators, no multiple of the 4 of a pod"):
        pod_assignments_of(place([(0, 0), (0, 1), (0, 2), (0, 4)]), 4, SHARED)


@pytest.mark.parametrize(
    "text",
    ["", "x", "null", "3", "[1]", "[{}]", '{"a": 1}', '[{"node": "n0"}]', "[" * 10**5,
     '[{"node": "n0", "indices": ["a"], "ranks": []}]', '[{"node": "n0", "indices": [Infinity], "ranks": []}]'],
)  # fmt: skip
def test_an_annotation_that_anybody_wrote_breaks_nothing(text: str) -> None:
    item = {"metadata": {"name": "p", "namespace": "a", "annotations": {ASSIGNMENT: text}}, "spec": {"nodeName": "n0"}}
    assert Pod(item).indices == frozenset()
    with pytest.raises(ValueError, match="not what the planner wrote"):
        written(text)


def test_what_was_written_is_read_again() -> None:
    assignments = (PodAssignment("n0", (0, 3), (1, 2)), PodAssignment("n1", (4, 5), (0, 3)))
    assert written(str([assignment.body() for assignment in assignments]).replace("'", '"')) == assignments


@pytest.mark.slow
def test_a_place_that_splits_a_pod_is_exchanged_for_an_even_one(make_world: Make) -> None:
    world = make_world(kueue=None)
    occupy(world, [3, 4, 8, 8])
    gang(world, "wide", 2, 3)
    world.loop.tick()
    assert world.schedule() == {}
    world.require_sound()
    assert world.jobs()["team/pods/wide"].request.constraints.per_server == 3
    assert {place for name, (place, _) in bound(world).items() if name.startswith("wide")} == {"n0", "n1"}


@pytest.mark.slow
def test_a_gang_waits_where_every_place_splits_a_pod(make_world: Make) -> None:
    world = make_world(kueue=None)
    occupy(world, [6, 4, 6, 4])
    gang(world, "wide", 4, 3)
    world.loop.tick()
    assert set(world.schedule()) == {f"wide-{i}" for i in range(4)}
    assert world.jobs()["team/pods/wide"].request.constraints.per_server == 6
    seq = world.controller.seq
    world.loop.tick()
    world.schedule()
    assert world.controller.seq == seq, "it is not submitted again and again"
