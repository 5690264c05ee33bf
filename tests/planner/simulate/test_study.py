"""Studies give the same bytes on one or two processes, and go on where they were stopped."""

from dataclasses import replace
from pathlib import Path

import pytest

from planner.model.errors import InputError
from planner.simulate.run_one import SimulationRun, Study
from planner.simulate.study import cells_of, prepare_study, run_study
from planner.simulate.summary import summarize, to_records
from planner.tables import csv_text
from tests.planner.simulate.grounds import SMALL_DEMAND, cluster, mix


@pytest.fixture(scope="module")
def cells(study: Study) -> list[SimulationRun]:
    return cells_of(study, ["first_fit", "best_fit", "random_fit"], [0.5, 1.0], 2)


@pytest.fixture(scope="module")
def text(study: Study, cells: list[SimulationRun], tmp_path_factory: pytest.TempPathFactory) -> str:
    return csv_text(to_records(summarize(run_study(study, cells, tmp_path_factory.mktemp("one")))))


@pytest.mark.slow
def test_two_processes_give_the_same_bytes(study: Study, cells: list[SimulationRun], text: str, tmp_path: Path) -> None:
    assert csv_text(to_records(summarize(run_study(study, cells, tmp_path, workers=2)))) == text


@pytest.mark.slow
def test_a_stopped_run_goes_on(study: Study, cells: list[SimulationRun], text: str, tmp_path: Path) -> None:
    def stop(done: int, total: int, left_s: float | None) -> None:
        if done == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_study(study, cells, tmp_path, on_cell=stop)
    assert len(list(tmp_path.glob("*.json"))) == 5
    next(tmp_path.glob("*.json")).write_text("{", encoding="utf-8")
    told: list[tuple[int, int]] = []
    outcomes = run_study(study, cells, tmp_path, on_cell=lambda done, total, left_s: told.append((done, total)))
    assert told[0] == (4, len(cells))
    assert told[-1] == (len(cells), len(cells))
    assert csv_text(to_records(summarize(outcomes))) == text


def test_other_inputs_are_other_cells(study: Study, cells: list[SimulationRun], tmp_path: Path) -> None:
    run_study(study, cells[:1], tmp_path)
    run_study(replace(study, warm_up=0.2), cells[:1], tmp_path)
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.slow
def test_clusters_must_be_of_one_size_and_policies_fit() -> None:
    with pytest.raises(InputError, match="as many accelerators"):
        prepare_study(SMALL_DEMAND, mix(), {"a": cluster("fat_tree"), "b": cluster("fat_tree", servers=2)}, jobs=5)
    with pytest.raises(InputError, match="slices of its own"):
        cells_of(prepare_study(SMALL_DEMAND, mix(), {"a": cluster("sipac")}, jobs=5), ["torus_slices"], [None], 1)
    with pytest.raises(InputError, match="policies are"):
        cells_of(prepare_study(SMALL_DEMAND, mix(), {"a": cluster("sipac")}, jobs=5), ["nearest"], [None], 1)
