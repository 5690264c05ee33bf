"""RFold on cubes of a torus: chips are held once, hold the links asked for, and are chosen in the published order."""

from itertools import pairwise, product
from random import Random

import networkx as nx
import pytest

from planner.fabrics.free_state import FreeState
from planner.fabrics.placement import Placement
from planner.model.cluster import Cluster
from planner.model.errors import InputError
from planner.placement.asked_box import box_named
from planner.placement.job_classes import Site, prepare, reference_speeds
from planner.placement.job_mix import load_mix
from planner.simulate.demand import load_demand
from planner.simulate.placers import PLACERS, require_placer
from planner.simulate.run_one import SimulationRun, replay
from planner.simulate.study import prepare_study
from tests.planner.simulate.grounds import cluster
from tests.planner.simulate.shipped_cases import FOLDER, shipped

SIDE = 4
MIX = load_mix(FOLDER / "mixes" / "slices.yaml")
SHAPES = ("1x1x1", "1x1x2", "1x1x4", "1x2x2", "2x2x2", "1x2x4", "2x2x4", "2x4x4", "4x4x4", "4x4x8", "4x4x12")


def _torus(*shape: int) -> "nx.Graph[tuple[int, ...]]":
    """A grid whose axes close where they are as long as a cube."""
    closes = [extent == SIDE for extent in reversed(shape)]
    graph: nx.Graph[tuple[int, ...]] = nx.grid_graph(tuple(reversed(shape)), periodic=closes)
    return graph


CUBE = nx.convert_node_labels_to_integers(_torus(SIDE, SIDE, SIDE), ordering="sorted")


@pytest.fixture(scope="module")
def pod() -> Site:
    """Eight cubes."""
    torus = shipped("torus4096")
    small = torus.model_copy(update={"fabric": torus.fabric.model_copy(update={"servers": 8})})
    return prepare("pod", small, MIX, reference_speeds(MIX, [1, 2, 4, 8, 16, 32, 64, 128, 192]), SHAPES)


def _chips(placement: Placement) -> list[int]:
    return [slot for _, slot in placement.held]


def _place(pod: Site, state: FreeState, shape: str) -> Placement:
    placement = PLACERS["rfold"](state, 0).place(pod.boxes[0, shape])
    assert placement is not None
    return placement


def test_no_chip_is_held_twice_and_every_job_has_the_links_of_its_box(pod: Site) -> None:
    state, random = FreeState.empty(pod.cluster), Random(5)
    placer, running = PLACERS["rfold"](state, 0), list[Placement]()
    for _ in range(250):
        shape = random.choice(SHAPES)
        placement = placer.place(pod.boxes[0, shape]) if random.random() < 0.6 else None
        if placement is None:
            if running:
                state.release(running.pop(random.randrange(len(running))))
            continue
        running.append(placement)
        held = [device for each in running for device in each.held]
        assert len(held) == len(set(held)) == 8 * SIDE**3 - state.num_free
        extents, servers = box_named(shape), {server for server, _ in placement.held}
        if len(placement.held) >= SIDE**3:
            assert len(servers) * SIDE**3 == len(placement.held)
        elif len(placement.held) > 1:
            assert len(servers) == 1
            graph = CUBE.subgraph(_chips(placement))
            assert nx.isomorphism.GraphMatcher(graph, _torus(*extents)).subgraph_is_monomorphic()
    assert len(running) > 5


def test_each_place_of_a_cube_is_tried_in_all_cubes_before_the_next(pod: Site) -> None:
    state = FreeState.empty(pod.cluster)
    taken = [_place(pod, state, "2x2x2") for _ in range(9)]
    assert [placement.held[0][0] for placement in taken] == [*range(8), 0]
    assert {min(_chips(placement)) for placement in taken[:8]} == {0}
    assert min(_chips(taken[8])) > 0


def test_a_job_with_one_dimension_is_a_chain_on_the_used_cube_with_the_most_free_chips(pod: Site) -> None:
    state = FreeState.empty(pod.cluster)
    for shape in ("2x4x4", "2x2x4"):
        _place(pod, state, shape)
    ring = _place(pod, state, "1x1x4")
    assert {server for server, _ in ring.held} == {1}
    chips = _chips(ring)
    assert all(CUBE.has_edge(one, other) for one, other in pairwise([*chips, chips[0]]))


def test_where_the_shape_has_no_room_a_folding_has(pod: Site) -> None:
    state = FreeState.empty(pod.cluster)
    square = {(x * SIDE + y) * SIDE + z for x, y, z in product((0, 1), (0, 1), (0, 1))}
    row = pod.boxes[0, "4x4x4"].rows[0]
    others = tuple((s, c) for s in range(8) for c in range(SIDE**3) if s or c not in square)
    state.take(Placement(row, others, others))
    assert {*_chips(_place(pod, state, "1x2x4"))} == square


def test_it_goes_with_cubes_that_switches_join_alone() -> None:
    without = cluster("torus", switches=None)
    unequal = cluster("torus", sides=[2, 4, 2])
    for given in (cluster("fat_tree"), without, unequal):
        with pytest.raises(InputError, match=r"rfold.*cubes of a torus"):
            require_placer("rfold", given, "--policies")
    require_placer("rfold", cluster("torus"), "--policies")


def test_a_replay_orders_the_policies() -> None:
    """Drawn slices on 4,096 chips: the order of waiting jobs decides, where small jobs lie decides little."""
    torus: dict[str, Cluster] = {"torus": shipped("torus4096")}
    study = prepare_study(load_demand(FOLDER / "tpu_v4_slices.yaml"), MIX, torus, jobs=250, samples=0)
    found = {
        policy: replay(study, SimulationRun("torus", policy, 0.8, 100)).figures
        for policy in ("first_fit", "rfold", "best_fit_wfp")
    }
    mean_s = {policy: figures["completion_s_mean"] or 0.0 for policy, figures in found.items()}
    assert mean_s["rfold"] == pytest.approx(mean_s["first_fit"], rel=0.1)
    assert 0 < mean_s["best_fit_wfp"] < 0.9 * min(mean_s["rfold"], mean_s["first_fit"])
