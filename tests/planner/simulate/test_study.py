"""Studies give the same bytes on one or two processes, and go on where they were stopped."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from planner.model.errors import InputError
from planner.placement.job_mix import Mix
from planner.simulate.run_one import Outcome, SimulationRun, Study
from planner.simulate.study import cells_of, prepare_study, run_study
from planner.simulate.summary import summarize, to_csv, to_records
from planner.simulate.workloads import assign
from planner.statistics import estimate
from tests.planner.simulate.grounds import BERT, SMALL_DEMAND, cluster, mix, trace


@pytest.fixture(scope="module")
def study() -> Study:
    clusters = {name: cluster(name) for name in ("fat_tree", "torus")}
    return prepare_study(SMALL_DEMAND, mix(), clusters, jobs=120)


@pytest.fixture(scope="module")
def cells(study: Study) -> list[SimulationRun]:
    return cells_of(study, ["first_fit", "best_fit", "random_fit"], [0.5, 1.0], 2)


@pytest.fixture(scope="module")
def text(study: Study, cells: list[SimulationRun], tmp_path_factory: pytest.TempPathFactory) -> str:
    return to_csv(summarize(run_study(study, cells, tmp_path_factory.mktemp("one"))))


@pytest.mark.slow
def test_two_processes_give_the_same_bytes(study: Study, cells: list[SimulationRun], text: str, tmp_path: Path) -> None:
    assert to_csv(summarize(run_study(study, cells, tmp_path, workers=2))) == text


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
    assert to_csv(summarize(outcomes)) == text


def test_other_inputs_are_other_cells(study: Study, cells: list[SimulationRun], tmp_path: Path) -> None:
    run_study(study, cells[:1], tmp_path)
    run_study(replace(study, warm_up=0.2), cells[:1], tmp_path)
    assert len(list(tmp_path.iterdir())) == 2


def test_jobs_are_the_same_for_all(study: Study) -> None:
    """Policies, loads and clusters of a seed see the same jobs and workloads."""
    drawn = study.demand.draw(1)
    numbers = assign(drawn, study.demand.mix, study.demand.able, 1)
    again = assign(drawn.at_load(0.3, 32), study.demand.mix, study.demand.able, 1)
    assert numbers.tolist() == again.tolist() != assign(drawn, study.demand.mix, study.demand.able, 2).tolist()


def test_rows_hold_intervals_and_paired_differences() -> None:
    values = {"first": [1.0, 2.0, 3.0, 4.0, 5.0], "second": [1.5, 2.6, 3.4, 4.5, 5.5]}
    outcomes = {
        SimulationRun("c", policy, 0.5, seed): Outcome({"goodput": value}, {})
        for policy, column in values.items()
        for seed, value in enumerate(column)
    }
    rows = {(row.policy, row.measure): row for row in summarize(outcomes)}
    second = rows["second", "goodput"]
    assert (second.mean, second.seeds) == (pytest.approx(3.5), 5)
    assert second.less_policy == pytest.approx(0.5)
    assert second.less_policy_half_width is not None
    assert second.half_width is not None
    assert second.less_policy_half_width < 0.2 < second.half_width
    import numpy as np

    assert second.half_width == pytest.approx(estimate(np.array(values["second"])[:, None]).half_width[0])
    assert rows["first", "goodput"].less_policy is None
    assert rows["first", "admitted"].mean is None
    json.dumps(to_records(rows.values()), allow_nan=False)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"num_gpus": [1, 7]}, "line 2, column 'num_gpus'"),
        ({"workload": "chess"}, "'chess' is no workload"),
        ({"workload": "chat"}, "'chat' does not run on 16"),
    ],
)
def test_jobs_without_a_workload_are_named(change: dict[str, object], told: str) -> None:
    import numpy as np

    sizes = change.get("num_gpus", [1, 16])
    jobs = trace([0, 1], [1, 1], sizes)  # type: ignore[arg-type]
    if "workload" in change:
        jobs = replace(jobs, workload=np.array(["", change["workload"]]))
    with pytest.raises(InputError, match=told):
        prepare_study(jobs, mix(), {"g": cluster("fat_tree")})


@pytest.mark.slow
def test_clusters_must_be_of_one_size_and_policies_fit() -> None:
    with pytest.raises(InputError, match="as many accelerators"):
        prepare_study(SMALL_DEMAND, mix(), {"a": cluster("fat_tree"), "b": cluster("fat_tree", servers=2)}, jobs=5)
    with pytest.raises(InputError, match="slices of its own"):
        cells_of(prepare_study(SMALL_DEMAND, mix(), {"a": cluster("sipac")}, jobs=5), ["torus_slices"], [None], 1)
    with pytest.raises(InputError, match="policies are"):
        cells_of(prepare_study(SMALL_DEMAND, mix(), {"a": cluster("sipac")}, jobs=5), ["nearest"], [None], 1)


def test_names_of_a_mix_differ() -> None:
    twice = [{"name": "a", "workload": BERT}, {"name": "a", "workload": BERT}]
    with pytest.raises(ValueError, match="'a' is used 2 times"):
        Mix.model_validate({"name": "m", "reference": cluster("fat_tree").model_dump(), "workloads": twice})
