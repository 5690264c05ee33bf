"""Policies of a replay are called what they are: the solver is the solver, and what moves neighbours says so."""

from collections.abc import Callable

import pytest

from planner.fabrics.free_state import FreeState
from planner.model.edit import edited
from planner.model.errors import InputError
from planner.model.instance import Instance, Objective
from planner.model.result import SolveOptions
from planner.pipeline import solve
from planner.simulate.outside import OutsidePlacer
from planner.simulate.placers import MEANINGS, PLACERS, placer_of
from planner.simulate.run_one import Outcome, SimulationRun, replay
from planner.simulate.study import cells_of, prepare_study
from tests.planner.simulate.grounds import SMALL_DEMAND, cluster, ground, mix, state_of

Run = Callable[[str], Outcome]


@pytest.fixture(scope="module")
def run() -> Run:
    study = prepare_study(SMALL_DEMAND, mix(), {"c": cluster("ocs_rail")}, jobs=300)
    return lambda policy: replay(study, cells_of(study, [policy], [0.9], 1)[0])


@pytest.mark.slow
def test_only_the_policy_that_says_so_moves_neighbours(run: Run) -> None:
    moved = {name: run(name).figures["moves"] for name in ("best_fit", "best_fit_moving", "solver")}
    assert moved["best_fit_moving"]
    assert not moved["best_fit"]
    assert not moved["solver"]


def test_the_old_name_is_that_of_what_it_was(run: Run) -> None:
    study = prepare_study(SMALL_DEMAND, mix(), {"c": cluster("fat_tree")}, jobs=5)
    cells = cells_of(study, ["cpsat", "best_fit_moving"], [None], 1)
    assert cells == [SimulationRun("c", "best_fit_moving", None, 0)]
    assert run("cpsat").figures == run("best_fit_moving").figures


def _held(state: FreeState) -> list[str]:
    fabric = state.cluster.fabric
    slots = range(fabric.devices_per_server)
    return [fabric.device_name(s, t) for s, free in enumerate(state.free) for t in slots if not free >> t & 1]


@pytest.mark.slow
@pytest.mark.parametrize("fabric", ["fat_tree", "lightpath", "ocs_rail"])
def test_the_solver_is_the_solver(fabric: str) -> None:
    """Each decision is worth what `solve` proves best for one job on what is free."""
    of = ground(fabric, cluster(fabric), [1, 8])
    state = state_of(of.cluster)
    single, kind = (next(each for (_, size), each in of.kinds.items() if size == wanted) for wanted in (1, 8))
    scatter = placer_of("random_fit", 0)(state)
    assert all(scatter.place(single) is not None for _ in range(20))
    health = edited(of.cluster.health, failed_tiles=tuple(_held(state)))
    placer = placer_of("solver", 0)(state)
    assert isinstance(placer, OutsidePlacer)
    placement = placer.place(kind)
    assert placement is not None
    job = edited(kind.rows[0].options.job, accelerators=8)
    instance = Instance(
        schema_version=2, name="i", cluster=edited(of.cluster, health=health), jobs=(job,),
        objectives=(Objective(name="value"),),
    )  # fmt: skip
    best = solve(instance, options=SolveOptions(workers=1)).objective
    assert best is not None
    assert placement.row.options.value[placement.row.number] == pytest.approx(best, rel=1e-6)


@pytest.mark.slow
def test_where_slices_cannot_be_cut_is_told() -> None:
    for fabric, policy in (("torus", "bcube_slices"), ("sipac", "torus_slices"), ("sipam", "torus_slices")):
        study = prepare_study(SMALL_DEMAND, mix(), {"t": cluster(fabric)}, jobs=5)
        with pytest.raises(InputError, match=r"slices.*; take first_fit"):
            cells_of(study, [policy], [None], 1)


def test_every_policy_says_what_it_does() -> None:
    assert set(MEANINGS) == set(PLACERS)
    assert all(meaning and "cpsat" not in meaning for meaning in MEANINGS.values())
